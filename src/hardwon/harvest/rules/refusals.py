"""What a project's sessions ran into again and again: commands that the user refuses, files too large to be read."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from hardwon.failures import tools
from hardwon.failures.shell import Command
from hardwon.failures.shell import commands as taken_apart
from hardwon.failures.tools import danger
from hardwon.harvest.rules import folders, lazily
from hardwon.harvest.rules.found import Found
from hardwon.harvest.rules.rule import Rule
from hardwon.model.lesson import Draft, Kind, Source
from hardwon.model.session import Origin
from hardwon.store.database import Database, Row
from hardwon.store.lessons import Cited

RULES = (
    Rule("refused-command", 1, ("preference",), "a command that the user refused in several sessions", "store"),
    Rule("large-file", 1, ("tool-quirk",), "a file that several sessions could not read in one piece", "store"),
)
_SEVERAL = 2
_MOST_SESSIONS = 200
_LONGEST_NAME = 60
_NAME = lazily.pattern(r"^[\w./:@+-]+(?: [\w./:@+-]+){0,2}$")


class _Seen(NamedTuple):
    session: str
    message_index: int
    root: str
    at: int
    quote: str


def found(db: Database, project: str) -> list[Found]:
    return [*_refused(db, project), *_large(db, project)]


def _refused(db: Database, project: str) -> list[Found]:
    """One refusal is of the moment; several, and hardly ever a run that was let through, are the user's will."""
    refused: dict[str, dict[str, _Seen]] = defaultdict(dict)
    for session, index, root, at, subject in _runs(db, project, "c.evidence = 'rejected'"):
        for name in _names(subject):
            refused[name].setdefault(root, _Seen(session, index, root, at, subject[:280]))
    often = {name: seen for name, seen in sorted(refused.items()) if len(seen) >= _SEVERAL}
    if not often:
        return []
    ran: dict[str, set[str]] = defaultdict(set)
    called = {name.split()[-1] for name in often}
    for _, _, root, _, subject in _runs(db, project, "c.outcome = 'ok'"):
        if any(word in subject for word in called):  # most lines need not be taken apart
            for name in _names(subject):
                ran[name].add(root)
    return [
        _found(
            "preference",
            f"The user refuses to have `{name}` run: ask before running it.",
            "refused-command",
            list(seen.values()),
        )
        for name, seen in often.items()
        if len(seen) > len(ran[name])
    ]


def _runs(db: Database, project: str, condition: str) -> list[Row]:
    return db.query(
        "SELECT c.session, c.message_index, s.root, s.started_at, c.subject FROM call c "
        "JOIN session s ON s.id = c.session WHERE s.id IN (SELECT id FROM session WHERE project = ? "
        f"ORDER BY started_at DESC, id LIMIT ?) AND c.action = 'run' AND {condition} "
        "ORDER BY s.started_at, c.session, c.position",
        (project, _MOST_SESSIONS),
    )


def _names(line: str) -> set[str]:
    """What a line runs, as it is called; what only looks is never the reason for a refusal."""
    found = [one for one in taken_apart(line) if not tools.looks(one) and not one.inline]
    named = {_as_called(one) for one in found}
    return {name for name in named if name and len(name) <= _LONGEST_NAME and not danger(name)}


def _as_called(command: Command) -> str:
    first, _, rest = command.text.partition(" ")
    program = command.program
    if rest.startswith(f"-m {program}"):
        program = f"{first} -m {program}"
    elif first.startswith("./"):
        program = first
    name = f"{program} {command.subcommand}".strip()
    return name if _NAME.match(name) else ""


def _large(db: Database, project: str) -> list[Found]:
    places = folders.roots(db, project)
    rows = db.query(
        "SELECT o.source, o.message_index, o.root, o.at, c.subject, o.excerpt FROM occurrence o "
        "JOIN failure f ON f.id = o.failure JOIN call c ON c.session = o.source AND c.position = o.position "
        "WHERE o.project = ? AND f.family = 'agent' AND f.signature >= 'File content' AND f.signature < 'File contenu' "
        "ORDER BY o.at, o.source",
        (project,),
    )
    seen: dict[str, dict[str, _Seen]] = defaultdict(dict)
    for source, index, root, at, subject, excerpt in rows:
        path = folders.within(subject, places)
        if path and len(path) <= _LONGEST_NAME:
            seen[path].setdefault(root, _Seen(source, index, root, at, excerpt[:280]))
    return [
        _found(
            "tool-quirk",
            f"`{path}` is too large to be read whole: search it first, then read the part that matters.",
            "large-file",
            list(places.values()),
        )
        for path, places in sorted(seen.items())
        if len(places) >= _SEVERAL
    ]


def _found(kind: Kind, text: str, rule: str, seen: list[_Seen]) -> Found:
    first = seen[0]
    origin: Origin = "user" if kind == "preference" else "tool"
    draft = Draft(
        kind=kind,
        text=text,
        confidence=0.66,
        rule=rule,
        measured=True,
        source=Source(message_index=first.message_index, quote=first.quote, origin=origin),
    )
    cited = [Cited("", one.session, one.message_index, one.root, one.at, one.quote, origin) for one in seen]
    return Found(draft, cited)
