"""What the store and hooks hand each other: prepared lines, a file that hooks read, and what they left in the spool."""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hardwon.clock import now
from hardwon.durable import beside, settle
from hardwon.errors import StoreError
from hardwon.home import MIRROR, is_real_folder, private
from hardwon.store import fulltext, meta, schema, spool
from hardwon.store.database import Database, Row, Table, insert
from hardwon.store.meta import scrubber
from hardwon.store.spool import HELD_OUT, OFF, TREATED, Placed, Prepared
from hardwon.store.sqlite import SqliteDatabase
from hardwon.text.shown import FAILURES, INTRODUCTION, estimate

# Bootstraps that sessions were given, and each line's exposure: shown, or withheld at random.

_BOOTSTRAP = "id session project agent task budget tokens arm propensity dealer text_hash created_at".split()
_EXPOSURE = "bootstrap item event rank parts tokens shown chance used".split()
_MOVED = ".dealt"
_FRAME = estimate(f"{INTRODUCTION}\n{FAILURES}")
_LINES_PER_DEAL = 200
RUNS_KEPT_MICROSECONDS = 30 * 24 * 3600 * 1_000_000
_INSERT = insert("hook_run", spool.COLUMNS, "ON CONFLICT (id) DO NOTHING")
_COLUMNS = "project agent rank section item text tokens exempt score".split()
_PREPARED_AS = "3"
"""Changes with the code that prepares them: lines of older code are prepared anew by the next refresh."""


class Dealt(NamedTuple):
    """What one session was shown and not shown, as a hook leaves it."""

    id: str
    session: str
    project: str
    agent: str
    event: str
    arm: str
    propensity: float
    dealer: str
    text_hash: str
    at: int
    lines: list[Placed]


def record_exposure(db: Database, dealt: Dealt, *, task: str = "") -> None:
    """Called inside a transaction; a second time it adds nothing."""
    scrub = scrubber(db).scrub
    paid = sum(tokens for _, _, tokens, shown, _, _ in dealt.lines if shown)
    row = (
        dealt.id,
        ":".join(map(scrub, dealt.session.partition(":")[::2])),  # as the harvest names its root
        dealt.project,
        scrub(dealt.agent),
        scrub(task),
        sum(tokens for _, _, tokens, _, _, _ in dealt.lines),
        paid + _FRAME if paid else 0,
        dealt.arm,
        dealt.propensity,
        dealt.dealer,
        dealt.text_hash,
        dealt.at,
    )
    if not db.changed(insert("bootstrap", _BOOTSTRAP, "ON CONFLICT (id) DO NOTHING"), row):
        return
    db.bulk(
        insert("exposure", _EXPOSURE, "ON CONFLICT (bootstrap, item) DO NOTHING"),
        (
            (dealt.id, item, dealt.event, rank, json.dumps({"score": score}), tokens, shown, chance, None)
            for item, rank, tokens, shown, chance, score in dealt.lines
        ),
    )


def drain_exposures(db: Database, home: str) -> int:
    """Store what hooks have left; returns how many sessions it was. Called outside a transaction."""
    folder = os.path.join(home, spool.FOLDER)
    if not is_real_folder(folder):
        return 0
    path = os.path.join(folder, spool.DEALT)
    if os.path.exists(path):
        with suppress(OSError):  # Windows, while a hook writes: the next writer gets it
            os.replace(path, os.path.join(folder, f"{time.time_ns()}-{os.getpid()}{_MOVED}"))
    count = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(_MOVED):
            continue
        found = list(_read(os.path.join(folder, name)))
        with db.transaction():
            for dealt in found:
                record_exposure(db, dealt)
        count += len(found)
        with suppress(OSError):  # another writer was quicker
            os.remove(os.path.join(folder, name))
    return count


def briefed_lately(home: str, project: str | None) -> int:
    """How many sessions were briefed that no writer has stored yet."""
    found = _read(os.path.join(home, spool.FOLDER, spool.DEALT))
    return sum(any(placed[3] for placed in dealt.lines) for dealt in found if project in (None, dealt.project))


def _read(path: str) -> Iterator[Dealt]:
    try:
        with open(path, "rb", opener=private) as file:
            lines = file.read(2 * spool.MAX_FILE_BYTES).split(b"\n")
    except OSError:
        return  # another writer was quicker
    for line in filter(None, lines):
        if dealt := _dealt(line):
            yield dealt


def _dealt(line: bytes) -> Dealt | None:
    """A torn or foreign line is none."""
    try:
        fields: dict[str, Any] = json.loads(line)
        dealt = Dealt(*(fields[name] for name in Dealt._fields))
        lines = [_placed(*placed) for placed in dealt.lines[:_LINES_PER_DEAL]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    texts = (dealt.id, dealt.session, dealt.project, dealt.agent, dealt.event, dealt.arm, dealt.dealer, dealt.text_hash)
    fits = all(isinstance(text, str) and "\0" not in text for text in texts) and dealt.arm in (TREATED, HELD_OUT, OFF)
    timed = type(dealt.at) is int and 0 <= dealt.at < 1 << 62 and type(dealt.propensity) is float
    return dealt._replace(lines=lines) if fits and timed and 0 < dealt.propensity <= 1 else None


def _placed(item: str, rank: int, tokens: int, shown: int, chance: float, score: float) -> Placed:
    counts = all(type(number) is int and 0 <= number < 1 << 31 for number in (rank, tokens, shown))
    if not (isinstance(item, str) and counts and shown in (0, 1) and 0 < chance <= 1 and math.isfinite(score)):
        raise ValueError(item)
    return item.replace("\0", ""), rank, tokens, shown, float(chance), float(score)


# What the agents' hooks did: taken from the spool by whoever writes to the store next.


def drain_runs(db: Database, home: str) -> int:
    """Store what hooks have left; returns how many runs there were. Called outside a transaction."""
    folder = os.path.join(home, spool.FOLDER)
    if not is_real_folder(folder):
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
    db.execute("DELETE FROM hook_run WHERE at < ?", (now() - RUNS_KEPT_MICROSECONDS,))


def runs_since(db: Database, at: int) -> list[Row]:
    return db.query(f"SELECT {', '.join(spool.COLUMNS)} FROM hook_run WHERE at >= ?", (at,))


# Standing lines: what a project's next session may be handed, kept ready for the hook.


def replace_standing(db: Database, project: str, agent: str, lines: Iterable[Prepared]) -> None:
    """`lines` in the order they are read; an empty agent is any other. Called inside a transaction."""
    db.execute("DELETE FROM standing WHERE project = ? AND agent = ?", (project, agent))
    db.bulk(
        insert("standing", _COLUMNS),
        ((project, agent, rank, *line) for rank, line in enumerate(lines)),
    )


def mark_if_prepared_otherwise(db: Database, half_life_days: float) -> None:
    """Lines that older code prepared, or another setting ranked, are behind."""
    prepared_as = f"{_PREPARED_AS} half_life_days={half_life_days:g}"
    if meta.note(db, "standing") != prepared_as and (
        db.query("SELECT 1 FROM standing LIMIT 1") or meta.stale_projects(db)
    ):
        with db.transaction():
            meta.mark_projects_stale(db, [None])
            meta.set_note(db, "standing", prepared_as)


# What hooks say, in a file on this machine, when the store itself is on a server: hooks read a file only.
# It has the tables of a store, with no more in them than hooks read, and is written anew as a whole.


def mirror_for_hooks(db: Database, home: Path, more: Callable[[Database], None] | None = None) -> None:
    """Hooks can do without it, and nobody else needs it: if it fails, the doctor hears of it and the work goes on."""
    try:
        write_mirror(db, home / MIRROR, more)
    except (OSError, StoreError) as error:
        spool.leave(str(home), "mirror", "", 0, f"{type(error).__name__}: {error}")


def write_mirror(db: Database, path: Path, more: Callable[[Database], None] | None = None) -> None:
    """`more` adds what hooks are to tell beside what this store knows."""
    unfinished = beside(path)
    _remove(unfinished)
    try:
        copy = SqliteDatabase(unfinished, write=True)
        try:
            with db.snapshot(), copy.transaction():
                for table in schema.TABLES.in_order:
                    if table.mirrored:
                        _copy_table(db, copy, table)
                if more is not None:
                    more(copy)
                fulltext.complete(copy)
            copy.query("PRAGMA journal_mode = DELETE")  # one file, which can be put in place of another
        finally:
            copy.close()
        settle(unfinished, path)
    finally:
        _remove(unfinished)


def _copy_table(db: Database, copy: Database, table: Table) -> None:
    rows = db.query(f"SELECT {', '.join(table.names)} FROM {table.name} WHERE {table.mirrored}")
    copy.bulk(insert(table.name, table.names, "ON CONFLICT DO NOTHING"), rows)


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).unlink()


# Whether a session did what a line says: seen in its calls, by one rule for withheld and for shown lines.

_RECENT_MICROSECONDS = 30 * 24 * 3600 * 1_000_000
_MIN_COMMAND_CHARACTERS = 4
_CODE = re.compile(r"`([^`\n]{2,200})`")


def settle_exposures(db: Database, now: int) -> int:
    """Say of every line whether it was used, where its session is harvested and not long over; returns how many."""
    rows = db.query(
        "SELECT e.bootstrap, e.item, b.session, b.created_at, e.used FROM exposure e "
        "JOIN bootstrap b ON b.id = e.bootstrap WHERE (e.used IS NULL OR e.used = 0) AND b.created_at >= ? "
        "AND b.session IN (SELECT root FROM session)",
        (now - _RECENT_MICROSECONDS,),
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
    return {item: [part for part in parts if len(part[1]) >= _MIN_COMMAND_CHARACTERS] for item, parts in found.items()}


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
