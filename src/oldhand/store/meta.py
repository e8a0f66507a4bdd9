"""Facts about the store itself."""

from __future__ import annotations

from oldhand.store.database import Database, insert


def prepare(db: Database, keys: dict[str, str]) -> None:
    """Give a new store its own keys; an old one keeps those it has."""
    known = {row[0] for row in db.query("SELECT key FROM meta")}
    if missing := {name: value for name, value in keys.items() if name not in known}:
        with db.transaction():
            db.bulk(insert("meta", ("key", "value"), "ON CONFLICT (key) DO NOTHING"), missing.items())


def fence_key(db: Database) -> bytes:
    return _key(db, "fence_key")


def forget_key(db: Database) -> bytes:
    """What tombstones are hashed with, so that nobody can guess at what they stand for."""
    return _key(db, "forget_key")


def scrub_key(db: Database) -> bytes | None:
    """What the marks of secrets are hashed with; a store that was never written by this version has none."""
    return _key(db, "scrub_key") if db.query("SELECT 1 FROM meta WHERE key = 'scrub_key'") else None


def _key(db: Database, name: str) -> bytes:
    return bytes.fromhex(db.query("SELECT value FROM meta WHERE key = ?", (name,))[0][0])


def ids_like(db: Database, beginning: str) -> list[str]:
    """Lessons, failures and attempts whose id begins so; at most two, which is enough to see ambiguity."""
    end = beginning + "\uffff"
    each = " UNION ALL ".join(
        f"SELECT id FROM {table} WHERE id >= ? AND id < ?" for table in ("lesson", "failure", "attempt")
    )
    rows = db.query(f"{each} ORDER BY 1 LIMIT 2", (beginning, end) * 3)
    return [row[0] for row in rows]
