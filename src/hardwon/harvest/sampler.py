"""Which sessions to harvest first when there are more than can be read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hardwon.harvest.value import Value
from hardwon.sessions.scan import Scanned
from hardwon.text.paths import base_name

_DAY = 86_400_000_000
_OUTCOMES = {"failure": 3, "completed": 2, "unknown": 1}


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
        if entry.format and ended >= since and (not project or _matches(entry.projects, project)):
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


def _matches(projects: tuple[str, ...], wanted: str) -> bool:
    return any(wanted in (key, base_name(key)) for key in projects)


def _parts(entry: Scanned, age: int) -> tuple[int, int, int, int]:
    """Recency, length, outcome, tool calls; of a clock that runs ahead, no more recent than new."""
    messages = entry.messages
    return (
        3 if age <= 7 * _DAY else 2 if age <= 30 * _DAY else 1,
        3 if messages > 50 else 2 if messages > 20 else 1,
        _OUTCOMES[entry.outcome],
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
