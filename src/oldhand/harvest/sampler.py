"""Which sessions to read first when there are more than can be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from oldhand.model.session import Session

_DAY = 86_400_000_000


class Score(NamedTuple):
    recency: int
    length: int
    repo_unique: int
    outcome: int
    tool_calls: int

    @property
    def total(self) -> int:
        return sum(self)


class Entry(NamedTuple):
    """A transcript before it is harvested."""

    path: Path
    session: Session
    """What its beginning tells: the place and the start."""
    project: str
    value: Score = Score(0, 0, 0, 0, 0)


def best(entries: list[Entry], count: int) -> list[Entry]:
    """The `count` most valuable entries; ties go to the newer, then to the lower path."""
    ordered = sorted(entries, key=lambda entry: (-entry.value.total, -(entry.session.started_at or 0), str(entry.path)))
    seen: set[str] = set()
    ranked = []
    for entry in ordered:
        first = bool(entry.project) and entry.project not in seen
        seen.add(entry.project)
        ranked.append(entry._replace(value=entry.value._replace(repo_unique=5 if first else 1 if entry.project else 0)))
    return sorted(ranked, key=lambda entry: -entry.value.total)[:count]


def score(sessions: Sequence[Session], now: int) -> Score:
    """What a file is worth, but for the bonus of its project's best one."""
    days = (now - max((session.ended_at or 0 for session in sessions), default=0)) / _DAY
    length = sum(len(session.messages) for session in sessions)
    calls = sum(session.tool_calls for session in sessions)
    errors = any(result.outcome == "error" for session in sessions for result in session.results())
    return Score(
        recency=3 if days <= 7 else 2 if days <= 30 else 1,
        length=3 if length > 50 else 2 if length > 20 else 1,
        repo_unique=0,
        outcome=3 if errors else 2 if length else 1,
        tool_calls=2 if calls > 10 else 0,
    )
