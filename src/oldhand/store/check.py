"""Is the store sound? Every check says what it saw."""

from __future__ import annotations

import apsw
from msgspec import Struct

from oldhand.store import index, sources
from oldhand.store.sqlite import Database, migrations

FIRST_SAFE_SQLITE = (3, 51, 3)


class Check(Struct, frozen=True):
    name: str
    ok: bool
    says: str


def engine() -> Check:
    version = apsw.sqlite_lib_version()
    safe = tuple(int(part) for part in version.split(".")[:3]) >= FIRST_SAFE_SQLITE
    return Check("sqlite", safe, version + ("" if safe else ": may lose data when a WAL is reset; upgrade apsw"))


def store(db: Database) -> list[Check]:
    integrity = [row[0] for row in db.query("PRAGMA integrity_check(5)")]
    dangling = len(db.query("PRAGMA foreign_key_check"))
    lost = index.disagreements(db)
    files, refused, damaged = sources.totals(db)
    reasons = db.query("SELECT refused, count(*) FROM source WHERE refused <> '' GROUP BY 1 ORDER BY 2 DESC LIMIT 5")
    return [
        Check("store", True, f"{db.path}, schema {len(migrations())}"),
        Check("integrity", integrity == ["ok"], "; ".join(integrity)),
        Check("references", dangling == 0, f"{dangling} dangling"),
        Check("search", lost == 0, "index and store agree" if lost == 0 else f"{lost} entries differ"),
        Check("sources", True, f"{files} files seen, {damaged} damaged stretches skipped"),
        *(Check("refused", True, f"{count} of {refused}: {why}") for why, count in reasons),
    ]
