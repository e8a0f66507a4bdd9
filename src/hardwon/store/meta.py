"""Facts about the store itself."""

from __future__ import annotations

import secrets

from hardwon.store.assignment import dealer
from hardwon.store.database import Database, insert

_KEYS = ("fence_key", "forget_key", "scrub_key")


def prepare(db: Database) -> None:
    """Give a new store its own keys; an old one keeps those it has."""
    known = {row[0] for row in db.query("SELECT key FROM meta")}
    if missing := [name for name in _KEYS if name not in known]:
        keys = [(name, secrets.token_hex(16)) for name in missing]
        with db.transaction():
            db.bulk(insert("meta", ("key", "value"), "ON CONFLICT (key) DO NOTHING"), keys)


def fence_key(db: Database) -> bytes:
    return _key(db, "fence_key")


def forget_key(db: Database) -> bytes:
    """What tombstones are hashed with, so that nobody can guess at what they stand for."""
    return _key(db, "forget_key")


def store_id(db: Database) -> str:
    """What tells this store from others: the same wherever it is moved to, and no way back to its keys."""
    return dealer(fence_key(db))


def exports(db: Database) -> list[str]:
    """The folders and files outside the home folder that something was exported to."""
    rows = db.query("SELECT value FROM meta WHERE key = 'exports'")
    return sorted(rows[0][0].split("\n")) if rows and rows[0][0] else []


def remember_export(db: Database, path: str) -> None:
    """So that `forget` reaches it; called inside a transaction."""
    known = "\n".join(sorted({*exports(db), path}))
    replace = "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    db.execute(insert("meta", ("key", "value"), replace), ("exports", known))


def scrub_key(db: Database) -> bytes | None:
    """What the marks of secrets are hashed with; a store that was never written by this version has none."""
    return _key(db, "scrub_key") if db.query("SELECT 1 FROM meta WHERE key = 'scrub_key'") else None


def rules_version(db: Database) -> int:
    """Of the rules that were last applied to all sessions."""
    return int(note(db, "rules") or 0)


def remember_rules(db: Database, version: int) -> None:
    """Called inside a transaction."""
    set_note(db, "rules", str(version))


def note(db: Database, name: str) -> str:
    rows = db.query("SELECT value FROM meta WHERE key = ?", (name,))
    return str(rows[0][0]) if rows else ""


def set_note(db: Database, name: str, value: str) -> None:
    """Called inside a transaction."""
    replace = "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    db.execute(insert("meta", ("key", "value"), replace), (name, value))


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
