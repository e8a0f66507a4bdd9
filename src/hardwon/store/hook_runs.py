"""What the agents' hooks did: taken from the spool by whoever writes to the store next."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from hardwon.store import spool
from hardwon.store.database import Database, Row, insert
from hardwon.store.scrubbing import scrubber

KEPT_FOR = 30 * 24 * 3600 * 1_000_000
_INSERT = insert("hook_run", spool.COLUMNS, "ON CONFLICT (id) DO NOTHING")


def drain(db: Database, home: str) -> int:
    """Store what hooks have left; returns how many runs there were. Called outside a transaction."""
    folder = os.path.join(home, spool.FOLDER)
    if not os.path.isdir(folder):
        return 0
    _move_aside(folder)
    count = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".jsonl") or name == spool.OPEN:
            continue
        runs = list(spool.runs(os.path.join(folder, name)))
        with db.transaction():
            _store(db, runs)
        count += len(runs)
        with suppress(OSError):  # another writer was quicker
            os.remove(os.path.join(folder, name))
    return count


def _move_aside(folder: str) -> None:
    path = os.path.join(folder, spool.OPEN)
    if os.path.exists(path):
        with suppress(OSError):  # Windows, while a hook writes: the next writer gets it
            os.replace(path, os.path.join(folder, f"{time.time_ns()}-{os.getpid()}.jsonl"))


def _store(db: Database, runs: list[Row]) -> None:
    scrub = scrubber(db).scrub
    clean = [(id, at, scrub(event), scrub(agent), took, scrub(error)) for id, at, event, agent, took, error in runs]
    db.bulk(_INSERT, clean)
    db.execute("DELETE FROM hook_run WHERE at < ?", (time.time_ns() // 1000 - KEPT_FOR,))


def since(db: Database, at: int) -> list[Row]:
    return db.query(f"SELECT {', '.join(spool.COLUMNS)} FROM hook_run WHERE at >= ?", (at,))
