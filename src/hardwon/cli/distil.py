"""Asking a model that the user already has: `distil`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import Json, ProjectOption, cost_of, print_json, progress_bar, say, say_pending, shown

if TYPE_CHECKING:
    from hardwon.harvest.distil.asking import Distilled, Estimate
    from hardwon.harvest.distil.model import Model


def distil(
    project: ProjectOption = None,
    with_: Annotated[
        str, typer.Option("--with", help="claude, codex, gemini, opencode, ollama, llama.cpp, or an address.")
    ] = "",
    model: Annotated[str, typer.Option("--model", help="Which of its models.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what it would cost; ask nobody.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before it is sent.")] = False,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="Write the questions into this folder; ask nobody.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option("--answers", help="Take the answers from this folder; write what is asked next.")
    ] = None,
    json: Json = False,
) -> None:
    """Let a model that you already have read what sessions hold, cheaply, and keep what it can prove.

    It is shown a few hundredths of each session: what you typed, what failed and what then worked. Every claim must
    cite words that stand there. Without --with it is the model of the settings, or the first agent on this machine.
    What was read is not read again; Ctrl-C keeps what is done. `hardwon config distil claude` does it by itself.

    Example: hardwon distil --with claude

    Example: hardwon distil --questions ./ask && hardwon distil --answers ./ask
    """
    from hardwon.api import Hardwon
    from hardwon.harvest.distil.chosen import chosen
    from hardwon.harvest.distil.model import Files

    with Hardwon() as memory:
        recorded = Files(questions, answers) if questions or answers else None
        using: Model | None = recorded or (
            None if dry_run and not with_ else chosen(memory.config, memory.home, with_, model)
        )
        cost = memory.sessions.distil_cost(project=project, room=using.room if using else 0)
        if dry_run or not cost.sessions:
            print_json(cost) if json else tell(cost)
            if cost.sessions and not json:
                _say_how(with_)
            return
        if using is None or not (recorded or yes or _agreed(cost, using)):
            raise typer.Exit(1)
        with progress_bar() as progress:
            done = memory.sessions.distil(project=project, using=using, progress=progress)
        if json:
            print_json(done)
            return
        tell(done)
        if recorded and recorded.written:
            say(
                f"{len(recorded.written)} questions in {questions or answers}: put the answer to each beside it, as "
                f"{recorded.written[0].removesuffix('.md')}.answer.md, and run `hardwon distil --answers`."
            )
        say_pending(memory)


def _say_how(with_: str) -> None:
    from hardwon.harvest.distil.chosen import installed

    model = with_ or next(iter(installed()), "MODEL")
    say(f"`hardwon distil --with {model}` asks it; `hardwon distil --help` lists what can be asked.")


def _agreed(cost: Estimate, using: Model) -> bool:
    say(cost_of(cost), err=True)
    where = "It leaves this machine, scrubbed" if using.leaves else "It stays on this machine"
    say(f"{shown(using.name)} would be asked. {where}; `--dry-run` only tells this.", err=True)
    if not sys.stdin.isatty():
        say("hardwon: nobody is here to agree; --yes does without", err=True)
        return False
    return typer.confirm("Ask?", err=True)


def tell(done: Distilled | Estimate) -> None:
    """What a run would cost, or what came of it."""
    from hardwon.harvest.distil.asking import Estimate

    if isinstance(done, Estimate):
        say(cost_of(done) if done.sessions else "Nothing new to ask about: all sessions that are there were read.")
        return
    say(
        f"{done.sessions:,} sessions read in {done.questions:,} questions: {done.active:,} lessons hold, "
        f"{done.candidates:,} wait for `hardwon review`, {done.repeated:,} claims support what was known. "
        f"{done.tokens:,} tokens" + (f", {done.cost:.2f}." if done.cost else ".")
    )
    for heading, counts in (("Not kept", done.rejected_by_reason), ("Wait", done.waits_by_reason)):
        if counts:
            say(f"{heading}: " + ", ".join(f"{count} {why}" for why, count in counts.items()) + ".")
    if done.left:
        say(f"{done.left:,} sessions left for the next time{': ' if done.trouble else ''}{done.trouble}", err=True)
