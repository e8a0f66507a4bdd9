"""Is the store sound? Every check says what it saw."""

from __future__ import annotations

from oldhand.store import events, index, migrations, seal, sessions, sources
from oldhand.store.database import Check, Database


def store(db: Database) -> list[Check]:
    lost = index.disagreements(db)
    files, refused, damaged = sources.totals(db)
    reasons = db.query("SELECT refused, count(*) FROM source WHERE refused <> '' GROUP BY 1 ORDER BY 2 DESC LIMIT 5")
    return [
        Check("store", True, f"{db.place}, {db.engine}, schema {migrations.newest()}"),
        *db.check(),
        Check(
            "search",
            lost == 0,
            "index and store agree" if lost == 0 else f"{lost} entries differ: run `oldhand reindex`",
        ),
        *_seals(db),
        _audit(db),
        _counts(db),
        _vectors(db),
        Check("sources", True, f"{files} files seen, {damaged} damaged stretches skipped"),
        *(Check("refused", True, f"{count} of {refused}: {why}") for why, count in reasons),
    ]


def _seals(db: Database) -> list[Check]:
    wrong = {table: seal.broken(db, table) for table in seal.SEALED} | {"session": sessions.broken(db)}
    return [
        Check("rows", not ids, f"{len(ids)} of {table} are not what was written: {', '.join(ids[:5])}")
        for table, ids in wrong.items()
        if ids
    ] or [Check("rows", True, "every row is what was written")]


def _audit(db: Database) -> Check:
    broken = events.broken(db)
    count = db.query("SELECT count(*) FROM event")[0][0]
    return Check("audit", not broken, f"broken at event {broken[0]}" if broken else f"{count} events, chain whole")


def _counts(db: Database) -> Check:
    """Failures are counted from their occurrences; what is marked stale is known to be behind."""
    wrong = db.query(
        "SELECT f.id FROM failure f LEFT JOIN (SELECT failure, count(*) AS n, count(DISTINCT root) AS roots "
        "FROM occurrence GROUP BY failure) o ON o.failure = f.id WHERE (coalesce(o.n, 0) <> f.occurrences "
        "OR coalesce(o.roots, 0) <> f.sessions) AND f.id NOT IN (SELECT item FROM stale)"
    )
    return Check("counts", not wrong, f"{len(wrong)} failures are miscounted" if wrong else "failures add up")


def _vectors(db: Database) -> Check:
    models = db.query("SELECT model, dimensions, count(*) FROM embedding GROUP BY model, dimensions ORDER BY model")
    said = ", ".join(f"{count} of {model} ({size})" for model, size, count in models)
    return Check("vectors", len(models) <= 1, said or "none")
