"""Which sessions to harvest first: what a file holds, and what that is worth."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hardwon.errors import NotASession, NotFound
from hardwon.sessions.scan import Scanned
from hardwon.store.database import Database
from hardwon.text.normalise import base_name

# Rank sessions by what they would add to what is known: failures, fixes and user's words not met yet.

_WORTH_OF_A_FAILURE, _WORTH_OF_A_FIX, _WORTH_OF_A_STATEMENT = 1, 2, 3
"""A failure is a hint; a fix saves the next session its search; a user's words are said once."""


class Holds(NamedTuple):
    """What a file could teach."""

    failures: frozenset[str] = frozenset()
    fixes: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


class Value(NamedTuple):
    """What a file adds, in points."""

    failures: int
    fixes: int
    words: int

    @property
    def total(self) -> int:
        return sum(self)


def contents(path: Path) -> Holds:
    """Read a file for what it could teach; nothing of it is kept."""
    # To rank by counts needs none of it, and takes as long as to load it.
    from hardwon.failures.ledger import examine, read  # noqa: PLC0415
    from hardwon.harvest.rules import pitfalls, said  # noqa: PLC0415
    from hardwon.harvest.rules.sentences import statements  # noqa: PLC0415

    failures: set[str] = set()
    fixes: set[str] = set()
    words: set[str] = set()
    with suppress(NotASession, NotFound):
        for session in read(path).sessions:
            found = examine(session)
            failures.update(occurrence.fingerprint for occurrence in found.occurrences)
            fixes.update(f"{fix.occurrence.fingerprint} {fix.steps} {fix.succeeded_as}" for fix in found.fixes)
            words.update(draft.text for draft in said.drafts(list(statements(session))) if not draft.dropped)
            words.update(draft.text for draft in pitfalls.fix_drafts(found.fixes))
    return Holds(frozenset(failures), frozenset(fixes), frozenset(words))


def known(db: Database) -> Holds:
    """What the store knows already."""
    return Holds(
        frozenset(row[0] for row in db.query("SELECT id FROM failure")),
        frozenset(),
        frozenset(row[0] for row in db.query("SELECT text FROM lesson")),
    )


def best_first(files: Mapping[Path, Holds], already: Holds) -> list[tuple[Path, Value]]:
    """Every file with what it adds to all before it, the one that adds most first."""
    said = [set(part) for part in already]
    waiting = [(-_value(holds, said).total, str(path), path) for path, holds in files.items()]
    heapq.heapify(waiting)
    chosen = []
    while waiting:
        _, name, path = heapq.heappop(waiting)
        value = _value(files[path], said)
        # What others added since may have made it worth less than the next one.
        if waiting and -value.total > waiting[0][0]:
            heapq.heappush(waiting, (-value.total, name, path))
            continue
        chosen.append((path, value))
        for part, new in zip(said, files[path], strict=True):
            part.update(new)
    return chosen


def _value(holds: Holds, said: list[set[str]]) -> Value:
    new = [len(part - before) for part, before in zip(holds, said, strict=True)]
    return Value(_WORTH_OF_A_FAILURE * new[0], _WORTH_OF_A_FIX * new[1], _WORTH_OF_A_STATEMENT * new[2])


_MICROSECONDS_PER_DAY = 86_400_000_000
_WORTH_OF_OUTCOME = {"failure": 3, "completed": 2, "unknown": 1}


class Score(NamedTuple):
    recency: int = 0
    length: int = 0
    repo_unique: int = 0
    outcome: int = 0
    tool_calls: int = 0

    @property
    def total(self) -> int:
        return sum(self)


class Sample(NamedTuple):
    """One file of sessions and what it is worth."""

    path: str
    score: Score | Value
    messages: int
    tool_calls: int
    errors: int
    projects: tuple[str, ...]
    failed: bool
    started_at: int | None
    ended_at: int
    format: str


def ranked(scanned: Mapping[str, Scanned], now: int, *, project: str = "", since: int = 0) -> list[Sample]:
    """Every file that holds a session, the most valuable first; then the newest, then by path.

    The bonus for a project's first session goes to its best one, after the filters.
    """
    drafts = []
    for path, entry in scanned.items():
        ended = entry.ended_at or entry.modified // 1000
        if entry.format and ended >= since and (not project or _matches(entry.projects, path, project)):
            parts = _parts(entry, now - ended)
            drafts.append((-sum(parts), -ended, path, parts, entry))
    drafts.sort()  # paths differ, so nothing behind them is compared
    seen: set[str] = set()
    ordered = []
    for points, ended, path, parts, entry in drafts:
        bonus = _bonus(entry.projects, seen)
        ordered.append((points - bonus, ended, path, _score(parts, bonus), entry))
    ordered.sort()
    return [
        Sample(
            path,
            score,
            entry.messages,
            entry.tool_calls,
            entry.errors,
            entry.projects,
            entry.outcome == "failure",
            entry.started_at,
            -ended,
            entry.format,
        )
        for _, ended, path, score, entry in ordered
    ]


def _matches(projects: tuple[str, ...], path: str, wanted: str) -> bool:
    """By a project that the session was in, or by the name of its file; in any case."""
    name = wanted.casefold()
    return name in base_name(path).casefold() or any(
        name in (key.casefold(), base_name(key).casefold()) for key in projects
    )


def _parts(entry: Scanned, age: int) -> tuple[int, int, int, int]:
    """Recency, length, outcome, tool calls; of a clock that runs ahead, no more recent than new."""
    messages = entry.messages
    return (
        3 if age <= 7 * _MICROSECONDS_PER_DAY else 2 if age <= 30 * _MICROSECONDS_PER_DAY else 1,
        3 if messages > 50 else 2 if messages > 20 else 1,
        _WORTH_OF_OUTCOME[entry.outcome],
        2 if entry.tool_calls > 10 else 0,
    )


def _bonus(projects: tuple[str, ...], seen: set[str]) -> int:
    if not projects:
        return 0
    if seen.issuperset(projects):
        return 1
    seen.update(projects)
    return 5


@cache
def _score(parts: tuple[int, int, int, int], bonus: int) -> Score:
    """Made once: there are few, for many files."""
    recency, length, outcome, tool_calls = parts
    return Score(recency, length, bonus, outcome, tool_calls)
