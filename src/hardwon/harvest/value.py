"""Rank sessions by what they would add to what is known: failures, fixes and user's words not met yet.

The value of a session falls with every one chosen before it that says the same, so the choice is greedy: always
the session that adds most to the store and to what is chosen already.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hardwon.errors import NotASession, NotFound
from hardwon.failures.ledger import examine
from hardwon.harvest.rules import fixes as fix_rule
from hardwon.harvest.rules import user as user_rule
from hardwon.harvest.rules.typed import statements
from hardwon.sessions.reader import read
from hardwon.store.database import Database

_FAILURE, _FIX, _WORDS = 1, 2, 3
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
    failures: set[str] = set()
    fixes: set[str] = set()
    words: set[str] = set()
    with suppress(NotASession, NotFound):
        for session in read(path).sessions:
            found = examine(session)
            failures.update(occurrence.fingerprint for occurrence in found.occurrences)
            fixes.update(f"{fix.occurrence.fingerprint} {fix.steps} {fix.succeeded_as}" for fix in found.fixes)
            words.update(draft.text for draft in user_rule.drafts(list(statements(session))) if not draft.dropped)
            words.update(draft.text for draft in fix_rule.drafts(found.fixes))
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
    return Value(_FAILURE * new[0], _FIX * new[1], _WORDS * new[2])
