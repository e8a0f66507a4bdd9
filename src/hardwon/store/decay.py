"""What nobody needed for long goes to the archive; it comes back when it is seen again."""

from __future__ import annotations

from hardwon.store import lifecycle, seal
from hardwon.store.database import Database, marks

LOWEST = 0.3
_ACTOR = "decay"
_DAY = 86_400_000_000
_SPOKEN = ("preference", "decision", "identity")
"""What a person said does not grow old by silence."""


def settle(db: Database, at: int, half_life_days: float) -> list[str]:
    """Archive what is idle, take out what was seen again; returns the ids of both. Inside a transaction."""
    idle = _idle(db, at, half_life_days)
    for id, days in idle.items():
        lifecycle.archive(db, id, actor=_ACTOR, why=f"not seen, used or needed for {days:.0f} days")
    awake = _seen_again(db)
    for id in awake:
        lifecycle.restore(db, id, actor=_ACTOR, why="seen again")
    for id in (*idle, *awake):
        db.execute("UPDATE lesson SET kept = 0 WHERE id = ?", (id,))  # no person decided on it
        seal.renew(db, "lesson", [id])
    return [*idle, *awake]


def _idle(db: Database, at: int, half_life_days: float) -> dict[str, float]:
    """Id → days, of active lessons whose confidence has halved away and that no answer ever used.

    Idle is the time since a lesson was last confirmed, since it came into this store, and since its failure
    happened last: rare is not stale. What a person decided on or pinned stays.
    """
    rows = db.query(
        "SELECT l.id, l.confidence, l.last_confirmed, coalesce(f.last_seen, 0), coalesce(e.at, 0) FROM lesson l "
        "LEFT JOIN failure f ON f.id = l.failure LEFT JOIN event e ON e.item = l.id AND e.action = 'create' "
        "WHERE l.status = 'active' AND l.kept = 0 AND l.pinned = 0 AND l.reference_count = 0 "
        f"AND l.kind NOT IN ({marks(_SPOKEN)}) AND l.last_confirmed < ? ORDER BY l.id",
        (*_SPOKEN, at - round(half_life_days * _DAY)),
    )
    ages = {id: (confidence, max(0, at - max(times)) / _DAY) for id, confidence, *times in rows}
    return {id: days for id, (sure, days) in ages.items() if sure * 0.5 ** (days / half_life_days) < LOWEST}


def _seen_again(db: Database) -> list[str]:
    rows = db.query(
        "SELECT l.id FROM lesson l LEFT JOIN failure f ON f.id = l.failure "
        "JOIN event e ON e.item = l.id AND e.action = 'archive' AND e.actor = ? "
        "WHERE l.status = 'archived' AND l.kept = 0 GROUP BY l.id, l.last_confirmed, f.last_seen "
        "HAVING l.last_confirmed > max(e.at) OR f.last_seen > max(e.at) ORDER BY l.id",
        (_ACTOR,),
    )
    return [row[0] for row in rows]
