"""Which sessions to read first when there are more than can be read."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from oldhand.model.session import Session

_DAY = 86_400_000_000


class Entry(NamedTuple):
    """A transcript before it is harvested: what its beginning tells."""

    path: Path
    session: Session
    project: str


class Score(NamedTuple):
    recency: int
    length: int
    repo_unique: int
    outcome: int
    tool_calls: int

    @property
    def total(self) -> int:
        return sum(self)


def best(entries: list[Entry], count: int, now: int) -> list[Entry]:
    """The `count` most valuable entries; ties go to the newer, then to the lower path."""
    if len(entries) <= count:
        return entries
    scored = sorted(
        ((score(entry.session, now), entry) for entry in entries),
        key=lambda pair: (-pair[0].total, -_time(pair[1].session), str(pair[1].path)),
    )
    seen: set[str] = set()
    ranked = []
    for parts, entry in scored:
        first = bool(entry.project) and entry.project not in seen
        seen.add(entry.project)
        ranked.append((parts.total + (5 if first else 1 if entry.project else 0), entry))
    ranked.sort(key=lambda pair: -pair[0])
    return [entry for _, entry in ranked[:count]]


def score(session: Session, now: int) -> Score:
    """The parts of a session's value, but for the bonus of its project's best session."""
    days = (now - _time(session)) / _DAY
    length = len(session.messages)
    errors = any(result.outcome == "error" for result in session.results())
    return Score(
        recency=3 if days <= 7 else 2 if days <= 30 else 1,
        length=3 if length > 50 else 2 if length > 20 else 1,
        repo_unique=0,
        outcome=3 if errors else 2 if length else 1,
        tool_calls=2 if session.tool_calls > 10 else 0,
    )


def _time(session: Session) -> int:
    return session.started_at or 0
