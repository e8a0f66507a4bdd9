"""Recognise failures anew after the fingerprint's version changed; only when asked, for it regroups them."""

from __future__ import annotations

from collections import defaultdict

from msgspec import Struct

from hardwon.clock import now
from hardwon.failures.fingerprint import VERSION, Fingerprint, fingerprint
from hardwon.failures.signature import signature
from hardwon.failures.told import error_line
from hardwon.store import integrity, meta
from hardwon.store.database import Database, insert
from hardwon.store.failures import FIX_EVIDENCE_COLUMNS, fix_id
from hardwon.store.integrity import Happened


class Regrouped(Struct, frozen=True):
    """What became of the failures: the same under a new id, or split, or joined with others."""

    before: int
    after: int
    unrecognised: int
    """Occurrences whose kept text says nothing to go by now; they stay where they were."""

    @property
    def said(self) -> str:
        rest = f"; {self.unrecognised} occurrences stay as they were" if self.unrecognised else ""
        return f"{self.before} failures became {self.after}{rest}."


def refingerprint(db: Database) -> Regrouped:
    """One transaction: every occurrence of an outdated failure goes to the failure it is now."""
    with db.transaction():
        outdated = [row[0] for row in db.query("SELECT id FROM failure WHERE version <> ? ORDER BY id", (VERSION,))]
        became: set[str] = set()
        unrecognised = 0
        for old in outdated:
            groups, lost = _regroup(db, old)
            unrecognised += lost
            became |= set(groups)
            _move_fixes(db, old, groups)
            _move_the_rest(db, old, groups)
            integrity.record_events(
                db, "refingerprint", now(), [Happened("regroup", old, {"failure": old}, {"failures": groups})]
            )
        meta.mark_stale(db, {*outdated, *became})
    meta.recount_stale(db)
    return Regrouped(len(outdated), len(became), unrecognised)


def _regroup(db: Database, old: str) -> tuple[dict[str, int], int]:
    """Move the occurrences of a failure; returns how many went where, and how many could not be told."""
    groups: dict[str, int] = defaultdict(int)
    lost = 0
    rows = db.query(
        "SELECT o.source, o.position, o.excerpt, o.at, o.command, f.family, f.signature FROM occurrence o "
        "JOIN failure f ON f.id = o.failure WHERE o.failure = ? ORDER BY o.at",
        (old,),
    )
    for source, position, excerpt, at, command, family, known_as in rows:
        found = fingerprint(excerpt, command)
        if found is None or _says_less(found, family, known_as):
            lost += 1
            db.execute("UPDATE failure SET version = ? WHERE id = ?", (VERSION, old))
            continue
        _keep(db, found, at)
        db.execute(
            "UPDATE occurrence SET failure = ?, words = ? WHERE source = ? AND position = ?",
            (found.id, error_line(found, command, command), source, position),
        )
        groups[found.id] += 1
    return dict(groups), lost


def _says_less(found: Fingerprint, family: str, known_as: str) -> bool:
    """Whether the excerpt lacks what the whole output had said: the tool that spoke, or the place."""
    return found.family != family or (known_as.endswith(")") and not found.frame and known_as != signature(found))


def _keep(db: Database, found: Fingerprint, at: int) -> None:
    columns = "id version family error_type signature first_seen last_seen occurrences sessions".split()
    current = "ON CONFLICT (id) DO UPDATE SET version = excluded.version, signature = excluded.signature"
    row = (found.id, VERSION, found.family, found.error_type, signature(found), at, at, 0, 0)
    db.execute(insert("failure", columns, current), row)


def _move_fixes(db: Database, old: str, groups: dict[str, int]) -> None:
    """A fix goes with the failure that its own session had; where that cannot be told, with the largest group."""
    for id, steps, succeeded_as in db.query("SELECT id, steps, succeeded_as FROM fix WHERE failure = ?", (old,)):
        rows = db.query(
            "SELECT o.failure, count(*) FROM fix_evidence e JOIN occurrence o ON o.source = e.source "
            "WHERE e.fix = ? GROUP BY o.failure ORDER BY 2 DESC, 1",
            (id,),
        )
        own = [failure for failure, _ in rows if failure in groups]
        owner = own[0] if own else _largest(groups, old)
        new = fix_id(owner, steps, succeeded_as)
        if new == id:
            continue
        db.execute(
            "INSERT INTO fix (id, failure, steps, succeeded_as, avoid, status, reviewed, untrusted, confirmed, "
            "failed_again, last_seen) SELECT ?, ?, steps, succeeded_as, avoid, status, reviewed, untrusted, confirmed, "
            "failed_again, last_seen FROM fix WHERE id = ? ON CONFLICT (id) DO NOTHING",
            (new, owner, id),
        )
        db.execute(
            f"INSERT INTO fix_evidence ({', '.join(FIX_EVIDENCE_COLUMNS)}) SELECT ?, "
            f"{', '.join(FIX_EVIDENCE_COLUMNS[1:])} FROM fix_evidence WHERE fix = ? "
            "ON CONFLICT (fix, source) DO NOTHING",
            (new, id),
        )
        db.execute("DELETE FROM fix WHERE id = ?", (id,))


def _move_the_rest(db: Database, old: str, groups: dict[str, int]) -> None:
    largest = _largest(groups, old)
    db.execute("UPDATE tried SET failure = ? WHERE failure = ?", (largest, old))
    db.execute("UPDATE lesson SET failure = ? WHERE failure = ?", (largest, old))
    db.execute(
        "UPDATE exposure SET item = ? WHERE item = ? AND NOT EXISTS "
        "(SELECT 1 FROM exposure e WHERE e.bootstrap = exposure.bootstrap AND e.item = ?)",
        (largest, old, largest),
    )


def _largest(groups: dict[str, int], old: str) -> str:
    return max(sorted(groups), key=groups.__getitem__, default=old)
