"""What is not to be kept: `forget`, `purge`, `scrub`."""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import Json, ProjectOption, count, doing, print_json, say, short_path, shown, table
from hardwon.errors import HardwonError, NotFound

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.forget import Forgot


_NOUNS = {
    "lesson": "lessons", "failure": "failures", "fix": "fixes", "session": "sessions", "call": "calls",
    "occurrence": "occurrences of failures", "fix_evidence": "evidence for fixes", "tried": "failed tries",
    "lesson_source": "quotes", "attempt": "attempts", "attempt_file": "files of attempts",
    "interaction": "interactions", "document": "documents", "chunk": "chunks", "event": "audit entries",
    "project": "projects", "project_root": "folders of projects", "source": "known files", "embedding": "vectors",
    "standing": "prepared briefing lines", "bootstrap": "briefings",
    "exposure": "lines shown", "hook_run": "hook runs",
}  # fmt: skip

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")]


class What(StrEnum):
    sessions = "sessions"
    interactions = "interactions"
    all = "all"


def forget(
    id: Annotated[
        str | None,
        typer.Argument(help="A lesson, failure, session or attempt, by the beginning of its id.", show_default=False),
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="A session and its sub-agents, by id or by the path of its file.")
    ] = None,
    project: ProjectOption = None,
    text: Annotated[
        str | None,
        typer.Option(help="Every place that contains these words, ignoring case; `-` reads them from stdin."),
    ] = None,
    dry_run: DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete something for good: from every table, index, copy and export.

    Afterwards every byte of Hardwon's own folder is searched to verify that it is gone; exits 1 if it is not. It does
    not come back when the same sessions are harvested again. The agents' own files are not touched.

    Example: hardwon forget --text "project nightjar" --dry-run
    """
    from hardwon.api import Hardwon

    named = {"id": id, "session": session, "project": project, "text": text}
    given = [name for name, value in named.items() if value is not None]
    if len(given) != 1:
        raise typer.BadParameter("name exactly one thing to forget: an ID, --session, --project or --text")
    (way,) = given
    value = sys.stdin.readline().strip() if way == "text" and text == "-" else str(named[way])
    with Hardwon() as memory:
        if not (dry_run or yes):
            _ask(_forget(memory, way, value, dry_run=True), _named(memory, way, value))
        with doing(
            "Looking for all that goes with it …"
            if dry_run
            else "Removing all that goes with it, writing the store anew and searching every byte …"
        ):
            done = _forget(memory, way, value, dry_run=dry_run)
    _tell(done, json=json)
    if way == "id" and value.startswith("F") and not json:
        say("What sessions said of it can still be searched: `hardwon forget --text WORDS` takes that, too.")
    if done.left:
        more = [f"and {len(done.left) - _FILES_NAMED} more"] if len(done.left) > _FILES_NAMED else []
        raise HardwonError("\n".join(done.left[:_FILES_NAMED] + more))


def _forget(memory: Hardwon, way: str, value: str, *, dry_run: bool) -> Forgot:
    return memory.store.forget(**{way: value}, dry_run=dry_run)


def _named(memory: Hardwon, way: str, value: str) -> str:
    """What is to be forgotten, in its own words."""
    from hardwon.api.connection import full_id
    from hardwon.store import attempts

    if way == "project":
        return f"All that is known of {shown(value)}."
    if way == "text":
        return "Every place with these words."  # which may be a secret, and are not shown again
    try:
        id = full_id(memory, value, sessions=True)
    except NotFound:
        return f"{way}: {shown(value, _LONGEST_NAMED)}"  # the path of a session's file
    texts = {
        "L": lambda: memory.lessons.get(id).lesson.text,
        "F": lambda: memory.failures.get(id).failure.error,
        "A": lambda: memory.journal.get(attempts.numbers(memory.reading(), [id])[id]).task,
        "S": lambda: memory.sessions.get(id).session.task,
    }
    return f"{id}: {shown(texts[id[0]](), _LONGEST_NAMED)}" if id[0] in texts else id


def _ask(plan: Forgot, named: str) -> None:
    if not sys.stdin.isatty():
        raise HardwonError("cannot ask for confirmation without a terminal: check with --dry-run, then pass --yes")
    _say_rows(plan, err=True)
    if files := len(plan.transcripts):
        say(f"{count(files, 'file')} of your agents will still contain it: --dry-run lists them.", err=True)
    say(named, err=True)
    if not typer.confirm("Forget this for good?", err=True):
        raise HardwonError("nothing was forgotten")


def purge(
    older_than: Annotated[
        str | None, typer.Option(help="An age such as 180d or 26w. Default: the setting retain_days.")
    ] = None,
    project: ProjectOption = None,
    what: Annotated[What, typer.Option(help="What to delete.")] = What.all,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Delete data older than a given age.

    Lessons that rest only on deleted sessions are deleted too. Lessons that a newer session confirmed, or that you
    decided on, stay.

    Example: hardwon purge --older-than 180d --dry-run
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        days = _days(older_than) if older_than is not None else memory.retain_days
        if not days:
            raise HardwonError(
                "missing age: pass --older-than 180d, or set a default with `hardwon config retain_days 180`"
            )
        _tell(memory.store.purge(days, what=what.value, project=project, dry_run=dry_run), json=json)


def _days(text: str) -> int:
    found = re.fullmatch(r"(\d{1,5})\s*([dwmy]?)", text.strip().lower())
    days = int(found[1]) * {"": 1, "d": 1, "w": 7, "m": 30, "y": 365}[found[2]] if found else 0
    if not days:
        raise HardwonError(f"--older-than {text} is not a valid age: write it as 180d, 26w, 6m or 1y")
    return days


_FILES_NAMED = 20
_LONGEST_NAMED = 200


def _tell(done: Forgot, *, json: bool) -> None:
    if json:
        print_json(done)
        return
    _say_rows(done, err=False)
    if done.checked and not done.dry_run and not done.left:
        looked_for = "1 text or id" if done.checked == 1 else f"{done.checked:,} texts and ids"
        say(f"Verified: searched every byte of Hardwon's folder for {looked_for}; none is left.")
    of = f" {len(done.transcripts):,} of the {done.looked_at:,} that were searched:" if done.looked_at else ""
    if done.transcripts:
        say(f"These files of your agents still contain it; delete them yourself if you want to:{of}")
        for path in done.transcripts[:_FILES_NAMED]:
            say(f"  {short_path(path)}")
        if (more := len(done.transcripts) - _FILES_NAMED) > 0:
            say(f"  … and {more} more (--json lists all)")
    elif done.looked_at:
        say(f"None of the {count(done.looked_at, 'file')} of your agents contains it.")
    if done.unreadable:
        say(f"{count(len(done.unreadable), 'file')} could not be searched, such as {short_path(done.unreadable[0])}")


def _say_rows(done: Forgot, *, err: bool) -> None:
    verb = "Would remove or change" if done.dry_run else "Removed or changed"
    if done.what == "unfinished":
        say("It was removed before; cleaned and searched again.", err=err)
    elif not done.rows:
        say("Nothing in the store itself." if done.files else "Nothing to remove.", err=err)
    else:
        say(f"{verb}:", err=err)
    told = {noun: done.rows[name] for name, noun in _NOUNS.items() if name in done.rows}
    if derived := sum(done.rows.values()) - sum(told.values()):
        told["derived entries"] = derived
    for noun, number in told.items():
        say(f"  {noun:<24}{number:>9,}", err=err)
    for file in done.files:
        say(f"  {shown(file.path)}: {file.what}", err=err)


# Secrets out of a text, or out of what is kept: `scrub`.


def scrub(
    file: Annotated[Path | None, typer.Argument(help="A text file; without it, standard input.")] = None,
    personal: Annotated[
        bool,
        typer.Option("--personal", help="Also redact every phone number, IP address and web address."),
    ] = False,
    audit: Annotated[
        bool,
        typer.Option("--audit", help="Check the store and Hardwon's folder for anything the rules would redact today."),
    ] = False,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules.")] = False,
    json: Json = False,
) -> None:
    """Redact the secrets and personal data in a text; nothing is stored.

    With --json: the position of each one (not counting hidden characters) and its kind, never the value.

    Example: hardwon scrub < deploy.log
    """
    if audit:
        _audit(json)
    elif rules:
        _rules(json)
    else:
        _filter(file, personal, json)


def _filter(file: Path | None, personal: bool, json: bool) -> None:
    from hardwon.scrub.scrubber import Scrubber

    scrubber = Scrubber(personal=personal)
    if file is not None and not file.is_file():
        raise NotFound(f"there is no file {file}")
    if file is None and sys.stdin.isatty():
        say("Type or paste a text, then press Ctrl-D on a line of its own.", err=True)
    data = file.read_bytes() if file else sys.stdin.buffer.read()
    text = data.decode("utf-8", "replace")
    if json:
        spans = [{"kind": label, "start": start, "end": end} for start, end, label in scrubber.find(text)]
        print_json({"text": scrubber.scrub(text), "spans": spans})
    else:
        sys.stdout.buffer.write(scrubber.scrub(text).encode())


def _audit(json: bool) -> None:
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        leaks = memory.store.audit()
    if json:
        print_json(leaks)
    elif leaks:
        rows = [(leak.place, leak.row, leak.column, leak.count, leak.kind) for leak in leaks]
        table(("PLACE", "ROW", "COLUMN", "COUNT", "KIND"), rows, right=(3,))
        say(
            f"{len(leaks)} places contain what today's rules redact: delete such files; "
            "`hardwon forget` removes rows from the store",
            err=True,
        )
    else:
        say("Found nothing that today's rules would redact.", err=True)
    if leaks:
        raise typer.Exit(1)


def _rules(json: bool) -> None:
    from hardwon.scrub.scrubber import listed

    rows = listed()
    if json:
        print_json([{"mark": mark, "about": about, "where": where} for mark, about, where in rows])
    else:
        table(("MARK", "ABOUT", "WHERE"), rows)
