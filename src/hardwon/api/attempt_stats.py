"""How attempts went: shares with their counts and intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from hardwon.capture.attempts import MEASURED
from hardwon.model.outcome import Outcome
from hardwon.model.rate import Rate, rate
from hardwon.store import attempts, projects
from hardwon.store.attempts import Tally
from hardwon.store.database import Database

_DAY_SECONDS = 86_400


class Group(Struct, frozen=True, kw_only=True):
    """How the attempts of one group went. The rate is of those whose outcome is known."""

    name: str
    attempts: int
    measured: int
    """Whose outcome rests on more than somebody's word."""
    outcomes: dict[str, int]
    success_rate: Rate


class Stats(Struct, frozen=True, kw_only=True):
    overall: Group
    project: list[Group]
    agent: list[Group]
    phase: list[Group]
    month: list[Group]


def stats(db: Database | None, project: str | None, since: int) -> Stats:
    """Without a store, that of an empty one."""

    def tallies(by: str) -> list[Tally]:
        return attempts.tallies(db, by, project=project, since=since) if db else []

    names = projects.names(db) if db else {}
    return Stats(
        overall=group("", tallies("")),
        project=_groups([tally._replace(group=names.get(tally.group, "")) for tally in tallies("project")]),
        agent=_groups(tallies("agent")),
        phase=_groups(tallies("phase")),
        month=_groups([tally._replace(group=_month(tally.group)) for tally in tallies("day")]),
    )


def group(name: str, tallies: Sequence[Tally]) -> Group:
    outcomes: Counter[str] = Counter({outcome.value: 0 for outcome in Outcome})
    for tally in tallies:
        outcomes[tally.outcome] += tally.attempts
    total = sum(outcomes.values())
    return Group(
        name=name,
        attempts=total,
        measured=sum(tally.attempts for tally in tallies if tally.evidence in MEASURED),
        outcomes=dict(outcomes),
        success_rate=rate(outcomes["success"], total - outcomes["unknown"]),
    )


def _groups(tallies: Sequence[Tally]) -> list[Group]:
    by_name: dict[str, list[Tally]] = {}
    for tally in tallies:
        by_name.setdefault(tally.group, []).append(tally)
    return [group(name, some) for name, some in by_name.items()]


def _month(day: str) -> str:
    return datetime.fromtimestamp(int(day) * _DAY_SECONDS, UTC).strftime("%Y-%m")
