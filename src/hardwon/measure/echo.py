"""Whether a session did what a line says: seen in its calls, for withheld lines by the same rule as for shown ones."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from hardwon.store.database import Database

_RECENT = 30 * 24 * 3600 * 1_000_000
_SHORTEST = 4
_CODE = re.compile(r"`([^`\n]{2,200})`")


def settle(db: Database, now: int) -> int:
    """Say of every line whether it was used, where its session is harvested and not long over; returns how many."""
    rows = db.query(
        "SELECT e.bootstrap, e.item, b.session, b.created_at, e.used FROM exposure e "
        "JOIN bootstrap b ON b.id = e.bootstrap WHERE (e.used IS NULL OR e.used = 0) AND b.created_at >= ? "
        "AND b.session IN (SELECT root FROM session)",
        (now - _RECENT,),
    )
    if not rows:
        return 0
    said = _fragments(db, {row[1] for row in rows})
    calls = _calls(db, min(row[3] for row in rows))
    changed = []
    for bootstrap, item, root, at, before in rows:
        if item not in said:
            continue
        known = [text for learned, text in said[item] if learned < at]
        if not known:
            continue
        used = int(_done(known, (subject for when, subject in calls.get(root, ()) if when >= at)))
        if used != before:
            changed.append((used, bootstrap, item))
    with db.transaction():
        db.bulk("UPDATE exposure SET used = ? WHERE bootstrap = ? AND item = ?", changed)
    return len(changed)


def _done(fragments: Sequence[str], subjects: Iterable[str]) -> bool:
    return any(fragment in subject for subject in subjects for fragment in fragments)


def _fragments(db: Database, items: set[str]) -> dict[str, list[tuple[int, str]]]:
    """Item → (since when it is known, command that it names); items that name none cannot be seen to be used."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for failure, steps, succeeded_as, at in db.query(
        "SELECT f.failure, f.steps, f.succeeded_as, min(e.at) FROM fix f JOIN fix_evidence e ON e.fix = f.id "
        "WHERE f.status = 'active' GROUP BY f.id, f.failure, f.steps, f.succeeded_as ORDER BY f.failure, f.id"
    ):
        if failure in items:
            texts = [text for action, text in _steps(steps) if action == "run"]
            found[failure] += [(at, _flat(text)) for text in (*texts, succeeded_as)]
    for id, text, at in db.query("SELECT id, text, first_seen FROM lesson WHERE status = 'active' ORDER BY id"):
        if id in items:
            found[id] += [(at, _flat(code)) for code in _CODE.findall(text)]
    return {item: [part for part in parts if len(part[1]) >= _SHORTEST] for item, parts in found.items()}


def _steps(encoded: str) -> list[tuple[str, str]]:
    return [(step[0], step[1]) for step in json.loads(encoded)]


def _calls(db: Database, since: int) -> dict[str, list[tuple[int, str]]]:
    """Root → (when, command) of what did not fail."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for root, at, subject in db.query(
        "SELECT s.root, coalesce(c.at, s.ended_at), c.subject FROM call c JOIN session s ON s.id = c.session "
        "WHERE s.ended_at >= ? AND c.outcome <> 'error' AND c.subject <> '' "
        "AND s.root IN (SELECT session FROM bootstrap)",
        (since,),
    ):
        found[root].append((at, _flat(subject)))
    return found


def _flat(text: str) -> str:
    return " ".join(text.split())
