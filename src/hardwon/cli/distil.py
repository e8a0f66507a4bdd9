"""Asking a model that the user already has: `distil`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import (
    Json,
    ProjectOption,
    confirmed,
    cost_of,
    doing,
    print_json,
    progress_bar,
    say,
    say_pending,
    shown,
)

if TYPE_CHECKING:
    from hardwon.harvest.distil.asking import Distilled, Estimate
    from hardwon.harvest.distil.model import Model


def distil(
    project: ProjectOption = None,
    with_: Annotated[
        str,
        typer.Option("--with", help="Who answers: claude, codex, gemini, opencode, ollama, llama.cpp, or an address."),
    ] = "",
    model: Annotated[str, typer.Option("--model", help="The model to use, if there are several.")] = "",
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            min=1,
            max=5,
            metavar="N",
            help="Show the model N times as much of the work. Default: distil_depth.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show how many tokens it would take.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="Only write the questions into this folder.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option("--answers", help="Read the answers from this folder and write the next questions.")
    ] = None,
    json: Json = False,
) -> None:
    """Ask a model you already use to find lessons in sessions, and keep what it can prove.

    The model sees a small part of each session: what you typed, what failed and what then worked. Every lesson must
    quote words that are really there. Without --with it uses the model in the settings, or the first agent found on
    this machine. A session is read only once, and again with a larger --depth; Ctrl-C keeps what is done. To do this
    for every session that ends: `hardwon config distil claude`.

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
        with doing("Counting what a model would read …"):
            cost = memory.sessions.distil_cost(project=project, room=using.room if using else 0, depth=depth or 0)
        if dry_run or not cost.sessions:
            print_json(cost) if json else tell(cost)
            if cost.sessions and not json:
                _say_how(with_)
            return
        if using is None or not (recorded or yes or _agreed(cost, using)):
            raise typer.Exit(1)
        with progress_bar() as progress:
            done = memory.sessions.distil(project=project, using=using, depth=depth or 0, progress=progress)
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
    say(f"To go ahead: `hardwon distil --with {model}` (others: `--help`).")


def _agreed(cost: Estimate, using: Model) -> bool:
    say(cost_of(cost), err=True)
    where = "The text leaves this machine, with secrets redacted" if using.leaves else "Nothing leaves this machine"
    say(f"This asks {shown(using.name)}. {where}. `--dry-run` shows only the cost.", err=True)
    if not sys.stdin.isatty():
        say("hardwon: cannot ask for confirmation without a terminal: pass --yes", err=True)
        return False
    return confirmed("Go ahead?", err=True)


def tell(done: Distilled | Estimate) -> None:
    """What a run would cost, or what came of it."""
    from hardwon.harvest.distil.asking import Estimate

    if isinstance(done, Estimate):
        say(cost_of(done) if done.sessions else "Nothing new: every session has been read.")
        return
    say(
        f"Read {done.sessions:,} sessions and sub-agents with {done.questions:,} questions: "
        f"{done.active:,} new lessons, "
        f"{done.candidates:,} waiting for `hardwon review`, {done.repeated:,} known ones confirmed. "
        f"{done.tokens:,} tokens" + (f", {done.cost:.2f}." if done.cost else ".")
    )
    for heading, counts in (("Not kept", done.rejected_by_reason), ("Waiting", done.waits_by_reason)):
        if counts:
            say(f"{heading}: " + ", ".join(f"{count} {why}" for why, count in counts.items()) + ".")
    if done.left:
        say(
            f"{done.left:,} sessions and sub-agents left for next time{': ' if done.trouble else ''}{done.trouble}",
            err=True,
        )
