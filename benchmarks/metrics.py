"""How long `hardwon measure` takes on a store of 12,000 sessions and 200,000 messages, as a multiple of one count."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from benchmarks.filled import error, fill
from benchmarks.timing import markdown, medians
from hardwon import Hardwon
from hardwon.failures.fingerprint import fingerprint
from hardwon.sessions.project import Project
from hardwon.store import failures, hook_data, meta, spool
from hardwon.store.database import Database, insert
from hardwon.store.hook_data import Dealt
from hardwon.store.sessions import CallRow, SessionRow
from hardwon.store.spool import HELD_OUT, TREATED, held_out, withheld

SESSIONS = 12_000
MESSAGES = 200_000
LINES = 8
KINDS = 400
_HOUR = 3_600_000_000
_FOLDER = "/home/dev/src/tidepool"


def build(home: Path, sessions: int = SESSIONS, *, base: float = 0.05, ratio: float = 0.5) -> None:
    """Sessions over two years, each dealt eight lines by the store's own key; `ratio` is what showing does."""
    project = Project(_FOLDER, _FOLDER)
    fill(home, project, KINDS)
    chance = random.Random(1)
    known = [found.id for number in range(KINDS) if (found := fingerprint(error(number)))]
    first = time.time_ns() // 1000 - 2 * 365 * 24 * _HOUR
    step = 2 * 365 * 24 * _HOUR // sessions
    with Hardwon(home) as memory:
        db = memory.writing()
        key = meta.fence_key(db)
        with db.transaction():
            for start in range(0, sessions, 500):
                numbers = range(start, min(sessions, start + 500))
                _write(db, [_session(number, first + number * step, project.id, chance) for number in numbers])
                begun = [(number, first + number * step) for number in numbers]
                _occurrences(db, begun, key, known, project.id, chance, base, ratio)
            _attempts(db, sessions, first, step, project.id, chance)
            _hook_runs(db, first, chance)
            meta.mark_stale(db, known)
        memory.refresh_standing()


def _session(number: int, at: int, project: str, chance: random.Random) -> SessionRow:
    messages = max(2, round(chance.gauss(MESSAGES / SESSIONS, 4)))
    return SessionRow(
        id=f"S{number:016x}", agent="claude-code", external_id=str(number), subagent="", root=f"claude-code:{number}",
        project=project, format="claude-code", version="2", path=f"{number}.jsonl", branch="main", task="mend it",
        started_at=at, ended_at=at + _HOUR, messages=messages, user_messages=messages // 4, tool_calls=messages // 2,
        errors=messages // 12, unknown_records=0, redactions=number % 3, outcome="completed", content_hash=str(number),
        harvester_version=2, tokens_in=messages * 400, tokens_out=messages * 150,
    )  # fmt: skip


def _write(db: Database, rows: list[SessionRow]) -> None:
    db.bulk(insert("session", SessionRow._fields), rows)
    db.bulk(
        insert("call", CallRow._fields),
        (
            CallRow(row.id, at, at, row.started_at, "Bash", "run", "pytest -q", "ok", "exit-code", 0, 0)
            for row in rows
            for at in range(row.tool_calls)
        ),
    )


def _occurrences(
    db: Database,
    sessions: list[tuple[int, int]],
    key: bytes,
    known: list[str],
    project: str,
    chance: random.Random,
    base: float,
    ratio: float,
) -> None:
    rows = []
    for number, at in sessions:
        root, out = f"claude-code:{number}", held_out(key, f"claude-code:{number}")
        placed: list[spool.Placed] = []
        for rank, item in enumerate(chance.sample(known, LINES)):
            shown = not out and not withheld(key, root, item)
            placed.append((item, rank, 40, int(shown), 0.8, 0.5))
            if chance.random() < base * (ratio if shown else 1):
                rows.append((f"S{number:016x}", rank, item, project, root, "claude-code", rank, at + 60_000_000 * rank,
                             "pytest -q", 1, "", "", 180, "x"))  # fmt: skip
        whose = spool.dealer(key)
        arm, propensity = (HELD_OUT, 0.1) if out else (TREATED, 0.9)
        dealt = Dealt(
            f"B{number}", root, project, "claude-code", "session-start", arm, propensity, whose, "", at, placed
        )
        hook_data.record_exposure(db, dealt)
    db.bulk(insert("occurrence", failures.OCCURRENCE_COLUMNS), rows)
    db.bulk(
        "UPDATE exposure SET used = ? WHERE bootstrap = ?",
        ((int(number % 9 == 0), f"B{number}") for number, _ in sessions if number % 3 == 0),
    )


def _attempts(db: Database, sessions: int, first: int, step: int, project: str, chance: random.Random) -> None:
    columns = (
        "id number source session root project agent task approach phase outcome evidence diff test_results "
        "failure_analysis reflection retry_count retry_of git_commit started_at seal"
    ).split()
    ends = ("success", "success", "success", "failure", "unknown", "unknown")
    db.bulk(
        insert("attempt", columns),
        (
            (f"A{number:032x}", number + 1, "session", f"S{number:016x}", f"claude-code:{number}", project,
             "claude-code", "t", "", "", chance.choice(ends), "", "", "", "", "", 0, "", "", first + number * step, "")
            for number in range(sessions)
        ),
    )  # fmt: skip


def _hook_runs(db: Database, first: int, chance: random.Random) -> None:
    rows = [
        (
            f"{number:024x}",
            first + number * _HOUR,
            "session-start",
            "codex",
            round(chance.lognormvariate(10.5, 0.3)),
            "",
        )
        for number in range(17_000)
    ]
    db.bulk(insert("hook_run", "id at event agent microseconds error".split()), rows)


def table() -> str:
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        with Hardwon(folder) as memory:
            db = memory.reading()
            messages = db.query("SELECT sum(messages) FROM session")[0][0]
            taken = medians(
                {
                    "count of calls": lambda: db.query("SELECT count(*) FROM call"),
                    "hardwon measure, all of it": memory.measure,
                    "hardwon measure, the last 30 days": lambda: memory.measure(days=30),
                    "hardwon measure, one project": lambda: memory.measure(project=_FOLDER),
                    "hardwon measure --experiment": memory.experiment,
                },
                5,
            )
    base = taken["count of calls"]
    goals = {"hardwon measure --experiment": "-", "count of calls": "-"}
    rows = [
        (name, f"{seconds * 1000:.0f} ms", f"{seconds / base:.0f}", goals.get(name, "1000 ms"))
        for name, seconds in taken.items()
    ]
    note = f"{SESSIONS:,} sessions, {messages:,} messages, {SESSIONS * LINES:,} exposures; on SQLite."
    return markdown("Metrics", ("what", "time", "× a count of the calls", "goal"), rows, note)


if __name__ == "__main__":
    print(table())
