"""Who may use the service: tokens, of which only a hash is kept."""

from __future__ import annotations

from typing import NamedTuple

from hardwon.store.database import Database, insert


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


def add(db: Database, row: TokenRow) -> None:
    db.execute(insert("token", TokenRow._fields), row)


def get(db: Database, id: str) -> TokenRow | None:
    rows = db.query(f"SELECT {_COLUMNS} FROM token WHERE id = ?", (id,))
    return TokenRow(*rows[0]) if rows else None


def listed(db: Database) -> list[TokenRow]:
    return [TokenRow(*row) for row in db.query(f"SELECT {_COLUMNS} FROM token ORDER BY created_at, id")]


def revoke(db: Database, id: str, at: int) -> bool:
    return db.execute("UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (at, id)) > 0
