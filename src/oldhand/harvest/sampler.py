"""Which sessions to harvest first when there are more than can be read."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import NamedTuple

from oldhand.harvest.value import Value
from oldhand.sessions.scan import Scanned
from oldhand.text.paths import base_name

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
    projects: list[str]
    failed: bool
    started_at: int | None
    ended_at: int
    format: str


def ranked(scanned: Mapping[str, Scanned], now: int, *, project: str = "", since: int = 0) -> list[Sample]:
    """Every file that holds a session, the most valuable first; then the newest, then by path.

    The bonus for a project's first session goes to its best one, after the filters.
    """
    found = []
    for path, entry in scanned.items():
        if entry.sessions:
            draft = _draft(path, entry, now)
            if draft.ended_at >= since and (not project or _matches(draft.projects, project)):
                found.append(draft)
    found.sort(key=lambda draft: (-draft.points, -draft.ended_at, draft.path))
    seen: set[str] = set()
    ordered = []
    for draft in found:
        projects = draft.projects
        bonus = 0 if not projects else 5 if not seen.issuperset(projects) else 1
        seen.update(projects)
        ordered.append((-draft.points - bonus, -draft.ended_at, draft.path, bonus, draft))
    ordered.sort(key=itemgetter(0, 1, 2))
    return [_sample(draft, bonus, scanned[draft.path]) for _, _, _, bonus, draft in ordered]


class _Draft(NamedTuple):
    """What the order needs to know of a file."""

    path: str
    points: int
    ended_at: int
    projects: tuple[str, ...]
    recency: int
    length: int
    outcome: int
    tool_calls: int


def _matches(projects: tuple[str, ...], wanted: str) -> bool:
    return any(wanted in (key, base_name(key)) for key in projects)


def _draft(path: str, entry: Scanned, now: int) -> _Draft:
    messages = calls = ended = 0
    projects: dict[str, None] = {}
    outcome = 1
    for session in entry.sessions:
        messages += session.messages
        calls += session.tool_calls
        ended = max(ended, session.ended_at or 0)
        outcome = max(outcome, _OUTCOMES[session.outcome])
        if session.project:
            projects[session.project] = None
    ended = ended or entry.modified // 1000
    days = (now - ended) / _DAY  # below 0 for a clock that runs ahead: new, not newer than new
    recency = 3 if days <= 7 else 2 if days <= 30 else 1
    length = 3 if messages > 50 else 2 if messages > 20 else 1
    used_tools = 2 if calls > 10 else 0
    points = recency + length + outcome + used_tools
    return _Draft(path, points, ended, tuple(projects), recency, length, outcome, used_tools)


def _sample(draft: _Draft, bonus: int, entry: Scanned) -> Sample:
    sessions = entry.sessions
    started = [session.started_at for session in sessions if session.started_at is not None]
    return Sample(
        draft.path,
        Score(draft.recency, draft.length, bonus, draft.outcome, draft.tool_calls),
        sum([session.messages for session in sessions]),
        sum([session.tool_calls for session in sessions]),
        sum([session.errors for session in sessions]),
        list(draft.projects),
        draft.outcome == _OUTCOMES["failure"],
        min(started, default=None),
        draft.ended_at,
        sessions[0].format,
    )
