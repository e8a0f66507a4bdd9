"""Is the store sound? Every check says what it saw."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from hardwon.clock import now
from hardwon.errors import StoreCorrupt
from hardwon.store import fulltext, integrity, migrations, schema, sessions
from hardwon.store.database import Check, Database, Row
from hardwon.text.shown import ago, one_line

SOUND = frozenset(("integrity", "references", "rows", "audit"))
"""The checks that a copy must pass to be worth keeping: the others are about what can be made again."""

_PLACES = ("session", "attempt")
"""Whose evidence goes with them. Of an interaction or a document that was removed, lessons keep the quotes."""
_QUOTES = "lesson_source"
"""The one table whose rows may come from elsewhere."""
_OUR_ID = re.compile(r"[SA](?:[0-9a-f]{16}|[0-9a-f]{32})")


def store(db: Database) -> list[Check]:
    """All of them; one that cannot be made because of the damage it meets has failed."""
    found = [Check("store", True, f"{db.place}, {db.engine}, schema {migrations.NEWEST}")]
    for name, run in _CHECKS:
        try:
            found += run(db)
        except StoreCorrupt:
            found.append(Check(name, False, "cannot be checked: the file is damaged"))
        except Exception as error:  # damaged bytes break anything: decoding, comparing, counting
            found.append(Check(name, False, f"cannot be checked: {one_line(str(error)) or type(error).__name__}"))
    return found


def sound(checks: Iterable[Check]) -> bool:
    return all(check.ok for check in checks if check.name in SOUND)


def _engine(db: Database) -> list[Check]:
    return db.check()


def _search(db: Database) -> list[Check]:
    lost = fulltext.disagreements(db)
    said = f"{lost} entries differ: run `hardwon reindex`" if lost else "index and store agree"
    return [Check("search", lost == 0, said)]


def _rows(db: Database) -> list[Check]:
    wrong = {table: integrity.broken_seals(db, table) for table in schema.TABLES.sealed}
    return [
        Check("rows", not ids, f"{len(ids)} of {table} were changed or damaged: {', '.join(ids[:5])}")
        for table, ids in wrong.items()
        if ids
    ] or [Check("rows", True, "every row is intact")]


def _audit(db: Database) -> list[Check]:
    broken = integrity.broken_events(db)
    count = db.query("SELECT count(*) FROM event")[0][0]
    return [Check("audit", not broken, f"broken at event {broken[0]}" if broken else f"{count} events, chain intact")]


def _counts(db: Database) -> list[Check]:
    """Failures are counted from their occurrences; what is marked stale is known to be behind."""
    wrong = db.query(
        "SELECT f.id FROM failure f LEFT JOIN (SELECT failure, count(*) AS n, count(DISTINCT root) AS roots "
        "FROM occurrence GROUP BY failure) o ON o.failure = f.id WHERE (coalesce(o.n, 0) <> f.occurrences "
        "OR coalesce(o.roots, 0) <> f.sessions) AND f.id NOT IN (SELECT item FROM stale)"
    )
    return [Check("counts", not wrong, f"{len(wrong)} failures are miscounted" if wrong else "failures add up")]


def _orphans(db: Database) -> list[Check]:
    lost = {table: len(orphans(db, table)) for table in schema.TABLES.evidence}
    said = ", ".join(f"{count} in {table}" for table, count in lost.items() if count)
    return [Check("orphans", not said, f"rows of sources that are gone: {said}" if said else "every source is there")]


def orphans(db: Database, table: str) -> list[str]:
    """The sources that rows of a table name and nothing else knows; what was imported has names of its own."""
    gone = " AND ".join(f"NOT EXISTS (SELECT 1 FROM {place} p WHERE p.id = e.source)" for place in _PLACES)
    rows = db.query(f"SELECT DISTINCT e.source FROM {table} e WHERE {gone} ORDER BY 1")
    return [source for (source,) in rows if table != _QUOTES or names_a_source(source)]


def names_a_source(name: str) -> bool:
    """Whether it can only be the id of a session or an attempt of this store."""
    return _OUR_ID.fullmatch(name) is not None


def _vectors(db: Database) -> list[Check]:
    models = db.query("SELECT model, dimensions, count(*) FROM embedding GROUP BY model, dimensions ORDER BY model")
    said = ", ".join(f"{count} of {model} ({size})" for model, size, count in models)
    return [Check("vectors", len(models) <= 1, said or "none")]


def _sources(db: Database) -> list[Check]:
    files, _, damaged = sessions.file_totals(db)
    reasons = db.query(
        "SELECT refused, count(*), max(path) FROM source WHERE refused <> '' GROUP BY 1 ORDER BY 2 DESC LIMIT 5"
    )
    return [
        Check("sources", True, f"{files} files seen, {damaged} damaged parts skipped"),
        *(
            Check("refused", True, f"not read: {f'{count} files, such as ' if count > 1 else ''}{path}: {why}")
            for why, count, path in reasons
        ),
    ]


_CHECKS: tuple[tuple[str, Callable[[Database], list[Check]]], ...] = (
    ("integrity", _engine),
    ("search", _search),
    ("rows", _rows),
    ("audit", _audit),
    ("counts", _counts),
    ("orphans", _orphans),
    ("vectors", _vectors),
    ("sources", _sources),
)


_NO_JSON = "JSONDecodeError at decoder.py"
_OFTEN = 3
"""So many times it is no slip of somebody who tried a hook."""


def slips(runs: Sequence[Row]) -> list[Row]:
    """The runs that failed because they were given no JSON, where these are few: nothing is to be done about them."""
    garbage = [run for run in runs if run[5].startswith(_NO_JSON)]
    return garbage if len(garbage) < _OFTEN else []


def hooks(runs: Sequence[Row], days: int) -> list[Check]:
    """What the hooks did lately, from rows of `hook_run`."""
    if not runs:
        return [Check("hooks", True, f"none ran in the last {days} days")]
    by_event: dict[str, list[int]] = {}
    for _, _, event, _, microseconds, _ in runs:
        by_event.setdefault(event, []).append(microseconds)
    by_event.pop("spool", None)
    timings = ", ".join(
        f"{event} {len(taken)}x p50 {_share(taken, 0.5):.0f} ms p95 {_share(taken, 0.95):.0f} ms"
        for event, taken in sorted(by_event.items())
    )
    failed = [run for run in sorted(runs, key=lambda run: run[1]) if run[5]]
    garbage = [run for run in failed if run[5].startswith(_NO_JSON)]
    errors = [run for run in failed if run not in garbage]
    checks = [Check("hooks", True, timings or "none ran")]
    if errors:
        on = f"{_last_of(errors, days)}: {one_line(errors[-1][5])}. The agent went on without an answer"
        checks.append(Check("hook errors", False, f"{on}; if it goes on, report it with this line"))
    if garbage:
        often = not slips(garbage)
        todo = f"report it with this line ({_NO_JSON})" if often else "nothing to do unless it comes again"
        why = "whoever called it gave it no JSON, and it said nothing"
        checks.append(Check("hook input", not often, f"{_last_of(garbage, days)}: {why}; {todo}"))
    return checks


def _last_of(runs: Sequence[Row], days: int) -> str:
    """How often, and which hook it was when."""
    _, at, event, agent, *_ = runs[-1]
    which = f"the hook {event}{f' of {agent}' if agent else ''}"
    times = "once" if len(runs) == 1 else f"{len(runs)} times, the last time"
    return f"{times} in the last {days} days, {which}, {ago(at, now())}"


def _share(taken: list[int], share: float) -> float:
    """Milliseconds that this share of the runs stayed within."""
    return sorted(taken)[min(len(taken) - 1, int(len(taken) * share))] / 1000
