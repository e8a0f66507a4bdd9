"""Which sessions to harvest first when there are more than can be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from oldhand.harvest.value import Value
from oldhand.sessions.scan import Scanned
from oldhand.text.paths import base_name

_DAY = 86_400_000_000


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
    found = [_sample(path, entry, now) for path, entry in scanned.items() if entry.sessions]
    wanted = [(sample, score) for sample, score in found if _matches(sample, project) and sample.ended_at >= since]
    wanted.sort(key=lambda pair: _order(pair[0]))
    seen: set[str] = set()
    scored = []
    for sample, score in wanted:
        bonus = 0 if not sample.projects else 5 if set(sample.projects) - seen else 1
        seen.update(sample.projects)
        scored.append(sample._replace(score=score._replace(repo_unique=bonus)))
    return sorted(scored, key=_order)


def _order(sample: Sample) -> tuple[int, int, str]:
    return -sample.score.total, -sample.ended_at, sample.path


def _matches(sample: Sample, project: str) -> bool:
    return not project or any(project in (key, base_name(key)) for key in sample.projects)


def _sample(path: str, entry: Scanned, now: int) -> tuple[Sample, Score]:
    sessions = entry.sessions
    messages = sum(session.messages for session in sessions)
    calls = sum(session.tool_calls for session in sessions)
    started = [session.started_at for session in sessions if session.started_at is not None]
    ended = [session.ended_at for session in sessions if session.ended_at is not None]
    last = max(ended, default=entry.modified // 1000)
    # A clock that runs ahead makes a session new, not newer than new.
    days = max(0.0, (now - last) / _DAY)
    outcomes = {session.outcome for session in sessions}
    score = Score(
        recency=3 if days <= 7 else 2 if days <= 30 else 1,
        length=3 if messages > 50 else 2 if messages > 20 else 1,
        outcome=3 if "failure" in outcomes else 2 if "completed" in outcomes else 1,
        tool_calls=2 if calls > 10 else 0,
    )
    sample = Sample(
        path=path,
        score=score,
        messages=messages,
        tool_calls=calls,
        errors=sum(session.errors for session in sessions),
        projects=_distinct(session.project for session in sessions),
        failed="failure" in outcomes,
        started_at=min(started, default=None),
        ended_at=last,
        format=sessions[0].format,
    )
    return sample, score


def _distinct(projects: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(project for project in projects if project))
