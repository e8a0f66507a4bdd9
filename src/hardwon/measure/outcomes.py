"""What became of the sessions in the experiment: every line that was shown or withheld, and what happened then.

The assignment comes from the `bootstrap` and `exposure` that were stored before the session ran, the outcome from
what was harvested of its transcript. A session that is not harvested yet is pending: it is counted, not judged.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from hardwon.failures import tools
from hardwon.failures.shell import commands
from hardwon.harvest.attempts import CORRECTED
from hardwon.store.database import Database, Row
from hardwon.store.spool import HELD_OUT, OFF


class Unit(NamedTuple):
    """One line and one session."""

    root: str
    item: str
    rank: int
    shown: bool
    chance: float
    """Of being shown, had the session not been held out; below 1 for what takes part in the experiment."""
    recurred: bool | None
    """Whether its failure came back; None for a line that speaks of none."""
    used: bool | None
    """Whether the session did what the line says; None where that cannot be seen."""


class SessionOutcome(NamedTuple):
    """A session of the experiment with its sub-agents, and what became of it."""

    root: str
    project: str
    at: int
    is_held_out: bool
    held_out_chance: float
    dealer: str
    tool_calls: int
    failed_calls: int
    user_messages: int
    corrections: int
    tokens: int
    """Spent on failed calls and on the briefing."""
    calls_to_green: int | None
    """Calls until tests first passed, all of them if they never did; None where no tests ran."""
    calls_before_edit: int | None = None
    """None where nothing was edited."""
    known_reads: int | None = None
    """Files it read that an earlier session of the project had touched; None where no file was read."""


class Trial(NamedTuple):
    """All that the experiment has seen."""

    sessions: list[SessionOutcome]
    units: list[Unit]
    dealt: dict[str, tuple[int, int]]
    """Arm → (sessions that started in it, of which harvested)."""
    pending: int
    off: int
    crossed: int
    """Lines that a session was both shown and not shown, by a changed setting or another hook."""


class _Start(NamedTuple):
    root: str
    project: str
    at: int
    arm: str
    propensity: float
    tokens: int
    dealer: str

    @property
    def held_out_chance(self) -> float:
        return self.propensity if self.arm == HELD_OUT else 1 - self.propensity


def load(db: Database, *, project: str | None = None, since: int = 0) -> Trial:
    """The sessions that took part since then, each as it first started, and every line that a coin decided on."""
    starts = _starts(db, project, since)
    taking_part = {root: start for root, start in starts.items() if start.arm != OFF}
    harvested = _harvested(db)
    units, crossed = _units(db, {root: start for root, start in taking_part.items() if root in harvested})
    sessions = _sessions(db, taking_part, harvested)
    dealt: dict[str, tuple[int, int]] = {}
    for root, start in taking_part.items():
        begun, known = dealt.get(start.arm, (0, 0))
        dealt[start.arm] = (begun + 1, known + (root in harvested))
    return Trial(sessions, units, dealt, len(taking_part) - len(sessions), len(starts) - len(taking_part), crossed)


def _starts(db: Database, project: str | None, since: int) -> dict[str, _Start]:
    """Each root session as it first started: what came later cannot change its arm."""
    rows = db.query(
        "SELECT session, coalesce(project, ''), created_at, arm, propensity, tokens, dealer FROM bootstrap "
        "WHERE created_at >= ? AND (? = '' OR project = ?) ORDER BY created_at DESC, id DESC",
        (since, project or "", project or ""),
    )
    return {row[0]: _Start(*row) for row in rows}


def _harvested(db: Database) -> dict[str, tuple[int, int, int]]:
    """Root → (calls, failed calls, messages of the user) of it and its sub-agents."""
    rows = db.query(
        "SELECT root, sum(tool_calls), sum(errors), sum(user_messages) FROM session "
        "WHERE root IN (SELECT session FROM bootstrap) GROUP BY root"
    )
    return {row[0]: (int(row[1]), int(row[2]), int(row[3])) for row in rows}


def _units(db: Database, starts: dict[str, _Start]) -> tuple[list[Unit], int]:
    rows = db.query(
        "SELECT b.session, e.item, e.rank, e.shown, e.chance, e.used, b.created_at, coalesce(l.failure, '') "
        "FROM exposure e JOIN bootstrap b ON b.id = e.bootstrap LEFT JOIN lesson l ON l.id = e.item "
        "ORDER BY b.created_at, b.id, e.rank"
    )
    last_seen = _last_seen(db)
    found: dict[tuple[str, str], Unit] = {}
    crossed = set()
    for root, item, rank, shown, chance, used, at, failure in rows:
        if root not in starts:
            continue
        first = found.get((root, item))
        if first is not None:
            if first.shown != bool(shown):
                crossed.add((root, item))
            continue
        error = item if item.startswith("F") else failure
        recurred = last_seen.get((root, error), 0) >= at if error else None
        found[root, item] = Unit(root, item, rank, bool(shown), chance, recurred, None if used is None else bool(used))
    return list(found.values()), len(crossed)


def _last_seen(db: Database) -> dict[tuple[str, str], int]:
    rows = db.query(
        "SELECT root, failure, max(at) FROM occurrence WHERE root IN (SELECT session FROM bootstrap) "
        "GROUP BY root, failure"
    )
    return {(root, failure): at for root, failure, at in rows}


def _sessions(
    db: Database, starts: dict[str, _Start], harvested: dict[str, tuple[int, int, int]]
) -> list[SessionOutcome]:
    corrections = _counts(db.query("SELECT root, count(*) FROM attempt WHERE evidence = ? GROUP BY root", (CORRECTED,)))
    wasted = _counts(
        db.query("SELECT root, sum(tokens) FROM occurrence WHERE root IN (SELECT session FROM bootstrap) GROUP BY root")
    )
    green = _calls_to_green(db)
    before_edit = _calls_before_edit(db)
    known_reads = _known_reads(db)
    found = []
    for root, start in sorted(starts.items(), key=lambda entry: (entry[1].at, entry[0])):
        if root not in harvested:
            continue
        calls, failed, said = harvested[root]
        found.append(
            SessionOutcome(
                root=root,
                project=start.project,
                at=start.at,
                is_held_out=start.arm == HELD_OUT,
                held_out_chance=start.held_out_chance,
                dealer=start.dealer,
                tool_calls=calls,
                failed_calls=failed,
                user_messages=said,
                corrections=corrections.get(root, 0),
                tokens=wasted.get(root, 0) + start.tokens,
                calls_to_green=green.get(root),
                calls_before_edit=before_edit.get(root),
                known_reads=known_reads.get(root),
            )
        )
    return found


def _counts(rows: list[Row]) -> dict[str, int]:
    return {row[0]: int(row[1]) for row in rows}


def _calls_to_green(db: Database) -> dict[str, int]:
    rows = db.query(
        "SELECT s.root, c.action, c.subject, c.outcome FROM call c JOIN session s ON s.id = c.session "
        "WHERE s.subagent = '' AND s.root IN (SELECT session FROM bootstrap) ORDER BY s.root, s.id, c.position"
    )
    calls: dict[str, int] = defaultdict(int)
    tested: set[str] = set()
    green: dict[str, int] = {}
    for root, action, subject, outcome in rows:
        calls[root] += 1
        if root not in green and action == "run" and _runs_tests(subject):
            tested.add(root)
            if outcome == "ok":
                green[root] = calls[root]
    return {root: green.get(root, calls[root]) for root in tested}


def _calls_before_edit(db: Database) -> dict[str, int]:
    return _counts(
        db.query(
            "SELECT s.root, min(o.calls_before_edit) FROM opened o JOIN session s ON s.id = o.source "
            "WHERE s.subagent = '' AND o.calls_before_edit IS NOT NULL AND s.root IN (SELECT session FROM bootstrap) "
            "GROUP BY s.root"
        )
    )


def _known_reads(db: Database) -> dict[str, int]:
    """How many of the files that a session read an earlier one of its project had read or edited."""
    return _counts(
        db.query(
            "SELECT s.root, count(DISTINCT CASE WHEN EXISTS (SELECT 1 FROM touched e JOIN session p ON p.id = e.source "
            "WHERE e.path = t.path AND p.project = s.project AND p.root <> s.root AND p.started_at < s.started_at) "
            "THEN t.path END) FROM touched t JOIN session s ON s.id = t.source "
            "WHERE t.used = 'read' AND s.root IN (SELECT session FROM bootstrap) GROUP BY s.root"
        )
    )


@lru_cache(maxsize=8192)
def _runs_tests(command: str) -> bool:
    return any(tools.tests(part) for part in commands(command))
