"""Facts about the store itself."""

from __future__ import annotations

from oldhand.store.sqlite import Database


def prepare(db: Database, fence_key: str) -> None:
    """Give a new store its own key; an old one keeps the key it has."""
    if not db.query("SELECT 1 FROM meta WHERE key = 'fence_key'"):
        with db.transaction():
            db.execute(
                "INSERT INTO meta (key, value) VALUES ('fence_key', ?) ON CONFLICT (key) DO NOTHING", (fence_key,)
            )


def fence_key(db: Database) -> bytes:
    return bytes.fromhex(db.query("SELECT value FROM meta WHERE key = 'fence_key'")[0][0])


def ids_like(db: Database, beginning: str) -> list[str]:
    """Lessons and failures whose id begins so; at most two, which is enough to see ambiguity."""
    end = beginning + "\uffff"
    rows = db.query(
        "SELECT id FROM lesson WHERE id >= ? AND id < ? UNION ALL "
        "SELECT id FROM failure WHERE id >= ? AND id < ? ORDER BY 1 LIMIT 2",
        (beginning, end, beginning, end),
    )
    return [row[0] for row in rows]
