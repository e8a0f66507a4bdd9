"""Facts about the store itself: its keys, its service's tokens and answered requests, metrics at some moment."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from hardwon.store.assignment import dealer
from hardwon.store.database import Database, insert

if TYPE_CHECKING:
    from hardwon.scrub.scrubber import Scrubber

_KEYS = ("fence_key", "forget_key", "scrub_key")
ANSWERS_KEPT_MICROSECONDS = 24 * 3600 * 1_000_000
_ANSWERED_COLUMNS = ("caller", "key", "request", "item", "at")
_SNAPSHOTS_COLUMNS = ("at", "scope", "name", "value", "numerator", "denominator")


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


# A Scrubber for what goes into one store.


def scrubber(db: Database) -> Scrubber:
    """It gives a secret the same mark as everything else in this store."""
    from hardwon.scrub.scrubber import Scrubber  # noqa: PLC0415 - its tables take longer than most of what reads

    return Scrubber(key=scrub_key(db))


# Who may use the service: tokens, of which only a hash is kept.


class TokenRow(NamedTuple):
    id: str
    name: str
    hash: str
    scopes: str
    """Separated by spaces, as are the projects' ids; no project means all."""
    projects: str
    created_at: int
    expires_at: int | None
    revoked_at: int | None


_COLUMNS = ", ".join(TokenRow._fields)


def add_token(db: Database, row: TokenRow) -> None:
    db.execute(insert("token", TokenRow._fields), row)


def get_token(db: Database, id: str) -> TokenRow | None:
    rows = db.query(f"SELECT {_COLUMNS} FROM token WHERE id = ?", (id,))
    return TokenRow(*rows[0]) if rows else None


def list_tokens(db: Database) -> list[TokenRow]:
    return [TokenRow(*row) for row in db.query(f"SELECT {_COLUMNS} FROM token ORDER BY created_at, id")]


def revoke_token(db: Database, id: str, at: int) -> bool:
    return db.execute("UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (at, id)) > 0


def replace_token(db: Database, row: TokenRow, hash: str) -> bool:
    """Another in the place of the one with this hash, if that is still there."""
    values = (row.hash, row.scopes, row.created_at, row.expires_at, row.id, hash)
    changed = "UPDATE token SET hash = ?, scopes = ?, created_at = ?, expires_at = ? WHERE id = ? AND hash = ?"
    return db.execute(changed, values) > 0


def drop_tokens(db: Database, beginning: str, *, before: int) -> None:
    """Those that have ended whose scopes begin so."""
    db.execute(
        "DELETE FROM token WHERE substr(scopes, 1, ?) = ? AND expires_at < ?", (len(beginning), beginning, before)
    )


# Requests that were answered, so that one that is sent again is not done again.


class Answered(NamedTuple):
    request: str
    """A hash of what was asked."""
    item: str
    """What came of it."""


def answered(db: Database, caller: str, key: str, at: int) -> Answered | None:
    """What came of the request that had this key within a day. Inside the transaction that does what is asked."""
    # Older versions noted what was under way, without an item.
    db.execute("DELETE FROM answered WHERE at < ? OR item = ''", (at - ANSWERS_KEPT_MICROSECONDS,))
    rows = db.query("SELECT request, item FROM answered WHERE caller = ? AND key = ?", (caller, key))
    return Answered(*rows[0]) if rows else None


def remember_answer(db: Database, caller: str, key: str, answer: Answered, at: int) -> None:
    """Inside the transaction that did what was asked."""
    db.execute(insert("answered", _ANSWERED_COLUMNS), (caller, key, *answer, at))


# Metrics as they were at some moment, to see where they go.


def save_snapshot(db: Database, at: int, scope: str, values: Iterable[tuple[str, float | None, int]]) -> None:
    """(name, value, n) of each, for a project or, with an empty scope, for all. Called inside a transaction."""
    replace = "ON CONFLICT (at, scope, name) DO UPDATE SET value = excluded.value, denominator = excluded.denominator"
    rows = [(at, scope, name, value, None, float(n)) for name, value, n in values]
    db.bulk(insert("metric_snapshot", _SNAPSHOTS_COLUMNS, replace), rows)


def latest_snapshot(db: Database, scope: str) -> int:
    """When the last one was taken; 0 if none was."""
    return int(db.query("SELECT coalesce(max(at), 0) FROM metric_snapshot WHERE scope = ?", (scope,))[0][0])


def snapshot_before(db: Database, at: int, scope: str) -> dict[str, float]:
    """Name → value in the newest snapshot that is not younger than this."""
    rows = db.query(
        "SELECT name, value FROM metric_snapshot WHERE scope = ? AND value IS NOT NULL AND at = "
        "(SELECT max(at) FROM metric_snapshot WHERE scope = ? AND at <= ?)",
        (scope, scope, at),
    )
    return dict(rows)
