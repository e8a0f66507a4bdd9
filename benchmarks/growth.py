"""What grows with what: the processor's time of each thing at several sizes, and the slope of a line through them.

    python -m benchmarks.growth COSTS [--only files|sessions|replay|lessons] [--sizes 1000 10000 …] [--write]

Sessions lie in projects of a hundred, as real ones do, each with errors, lessons, files and commands; lessons in one
project, with as many failures. Each cost is added to the file COSTS as soon as it is known, so that the largest sizes
can have a run of their own; `--write` makes the table of all that are in it. The slope is that of a fit on logarithms:
1 is proportional, 0 is flat.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import msgspec

from benchmarks import pages, scan
from benchmarks.cold_start import PROMPT, START, START_FOLDER, hook
from benchmarks.filled import PROMPTED, a_session, error, fill
from benchmarks.filled import START as FIRST
from benchmarks.service import serving
from benchmarks.timing import markdown
from hardwon import Hardwon
from hardwon.failures.fingerprint import VERSION, Fingerprint, fingerprint
from hardwon.measure import replay
from hardwon.sessions.discover import below
from hardwon.sessions.project import Project
from hardwon.store import failures, lessons, meta, projects
from hardwon.store.database import Database, insert
from hardwon.store.lessons import Cited, LessonRow
from hardwon.store.projects import OpenedRow, RanRow, TouchRow
from hardwon.store.sessions import SessionRow
from hardwon.text.normalise import tilde

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
SESSIONS, LESSONS, FILES = (1_000, 10_000), (10_000, 100_000), (250, 1_000, 4_000)
REPLAYED = (1_000, 3_000, 10_000)
SESSIONS_OF_A_PROJECT = 100
FAILURES_OF_A_PROJECT = 30
_DAY = 86_400_000_000
_ROUNDS = 7
PER_SESSION, FLAT = "at most 1.1", "flat"
QUESTION = "why must the parser pool be closed before the socket worker is drained"


class Cost(NamedTuple):
    """What something took: of the processors, in seconds, at a size."""

    name: str
    size: int
    seconds: float
    goal: str
    load: float = 0.0
    """Of the machine."""


def fill_sessions(home: Path, count: int) -> None:
    """Each with some files and commands, every second one with an error that others of its project have met, too."""
    chance = random.Random(5)
    with Hardwon(home) as memory:
        db = memory.writing()
        for number in range(0, count, SESSIONS_OF_A_PROJECT):
            folder = tilde(START_FOLDER) if number == 0 else f"/srv/work/p{number}"
            with db.transaction():
                _fill_project(db, Project(folder, folder), number, min(count - number, SESSIONS_OF_A_PROJECT), chance)
        meta.recount_stale(db)
        memory.refresh_standing()


def _fill_project(db: Database, project: Project, first: int, count: int, chance: random.Random) -> None:
    projects.save(db, project)
    said = [error(first * 7 + number) for number in range(FAILURES_OF_A_PROJECT)]
    known = [(found, text) for text in said if (found := fingerprint(text)) is not None]
    db.bulk(
        insert("failure", failures.FAILURE_COLUMNS, "ON CONFLICT (id) DO NOTHING"),
        ((one.id, VERSION, one.family, one.error_type, text, FIRST, FIRST, 1, 1) for one, text in known),
    )
    lesson = _lesson(project, first)
    lessons.add(db, [lesson], [])
    rows = [_session(project, number) for number in range(first, first + count)]
    db.bulk(insert("session", SessionRow._fields), rows)
    db.bulk(
        insert("occurrence", failures.OCCURRENCE_COLUMNS),
        (_occurrence(row, *chance.choice(known)) for row in rows[::2]),
    )
    lessons.cite(db, (Cited(lesson.id, row.id, 0, row.root, row.started_at, lesson.text, "typed") for row in rows[::9]))
    for row in rows:
        paths = {f"src/part{chance.randrange(8)}/file{chance.randrange(60)}.py": None for _ in range(6)}
        touched = [TouchRow(row.id, path, ("edit", "read")[at % 2], at, 1) for at, path in enumerate(paths)]
        ran = [RanRow(row.id, f"make part{at}", f"make part{at}", "test", 1, 0, 0) for at in range(chance.randrange(3))]
        projects.add_visits(db, touched, ran, OpenedRow(row.id, row.task, 3, 2))
    meta.mark_stale(db, [*(one.id for one, _ in known), lesson.id, project.id])


def _session(project: Project, number: int) -> SessionRow:
    at = FIRST + number * _DAY // 24
    row = a_session(f"S{number:024}", project, number)
    return row._replace(task=f"{PROMPTED} in part {number % 8}", started_at=at, ended_at=at + _DAY // 48)


def _occurrence(row: SessionRow, met: Fingerprint, said: str) -> tuple[object, ...]:
    where = (row.id, 0, met.id, row.project, row.root, row.agent, 3, row.started_at)
    return (*where, "pytest -q", 1, "", "", 40, said, said, "")


def _lesson(project: Project, number: int) -> LessonRow:
    text = f"Close the parser pool of part {number} before the socket worker is drained."
    id = lessons.harvested_id("fact", "project", project.id, "", text)
    rule = "user-directive"
    return LessonRow(
        id, "fact", text, "project", project.id, "", 0.75, 0.75, "active", "human", rule, "", FIRST, FIRST, 1, 1
    )


def spent() -> float:
    """Of this process and of those that it started and that have ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def took(run: Callable[[], object], rounds: int = 1) -> float:
    found = []
    for _ in range(rounds):
        before = spent()
        run()
        found.append(spent() - before)
    return statistics.median(found)


def harvests(sizes: Iterable[int]) -> Iterable[Cost]:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            scan.generate(Path(folder, "sessions"), size)

            def run(folder: str = folder) -> None:
                with Hardwon(Path(folder, "home")) as memory:
                    memory.harvest(below(Path(folder, "sessions")), mine=True)

            yield Cost("harvest of as many new sessions", size, took(run), PER_SESSION)


def asked(home: Path, size: int, of: str, known: str) -> Iterable[Cost]:
    """What hooks, commands and pages take in a store."""
    failed = {"error": f"Exit code 1\n{known}", "cwd": START_FOLDER}
    for event, payload in (("session-start", START), ("prompt", PROMPT), ("tool-failed", failed)):
        yield Cost(f"hook {event}, {of}", size, took(hook(home, event, payload), _ROUNDS), FLAT)
    with Hardwon(home) as memory:
        project = tilde(START_FOLDER)
        memory.bootstrap(project)
        memory.search(QUESTION)
        yield Cost(f"bootstrap, {of}", size, took(lambda: memory.bootstrap(project), _ROUNDS), PER_SESSION)
        task = took(lambda: memory.bootstrap(project, task=QUESTION), _ROUNDS)
        yield Cost(f"bootstrap for a task, {of}", size, task, PER_SESSION)
        yield Cost(f"search, {of}", size, took(lambda: memory.search(QUESTION), _ROUNDS), PER_SESSION)
        yield Cost(f"metrics, {of}", size, took(memory.measure), PER_SESSION)
    with patch.object(pages, "ROUNDS", 3), serving(home) as service:
        for path in ("/", "/failures", "/lessons", "/sessions"):
            first = pages._times(service, path, home).after_a_write / 1000
            yield Cost(f"page {path} after a write, {of}", size, first, PER_SESSION)


def of_sessions(sizes: Iterable[int]) -> Iterable[Cost]:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            fill_sessions(home, size)
            yield from asked(home, size, "sessions", error(3))


def replayed(sizes: Iterable[int]) -> Iterable[Cost]:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            fill_sessions(Path(folder), size)
            with Hardwon(folder) as memory, patch.object(replay, "cores", lambda: 1):
                yield Cost("replay, one process", size, took(memory.replay), PER_SESSION)


def of_lessons(sizes: Iterable[int]) -> Iterable[Cost]:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            fill(home, Project(tilde(START_FOLDER), tilde(START_FOLDER)), size)
            yield from asked(home, size, "lessons", error(size // 2))


def slope(points: Sequence[tuple[int, float]]) -> float:
    """Of the line that fits best where both axes are logarithms."""
    sizes = [math.log(size) for size, _ in points]
    costs = [math.log(seconds) for _, seconds in points]
    return statistics.linear_regression(sizes, costs).slope


def table(found: Iterable[Cost]) -> str:
    costs: dict[tuple[str, str], dict[int, float]] = {}
    loads = []
    for one in found:
        costs.setdefault((one.name, one.goal), {})[one.size] = one.seconds
        loads.append(one.load)
    rows = []
    for (name, goal), of_size in costs.items():
        points = sorted(of_size.items())
        sizes, times = ", ".join(f"{size:,}" for size, _ in points), ", ".join(_told(seconds) for _, seconds in points)
        rows.append((name, sizes, times, f"{slope(points):.2f}" if len(points) > 1 else "-", goal))
    note = (
        f"Processor time, one run each on {datetime.now(UTC):%F} at load averages of {min(loads):.0f} to "
        f"{max(loads):.0f} on {os.cpu_count()} cores; hooks with the start of Python, median of {_ROUNDS}. Sessions "
        f"lie in projects of {SESSIONS_OF_A_PROJECT}; lessons in one, with as many failures. The slope is that of a "
        "fit on logarithms: 1 is proportional, 0 flat."
    )
    return markdown("Growth", ("what", "sizes", "took", "slope", "goal"), rows, note)


def _told(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def write(told: str) -> None:
    """In the place of the table that was there, or at the end."""
    rest = re.sub(r"## Growth\n.*?(?=\n## |\Z)", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    PAGE.write_text(f"{rest.rstrip()}\n\n{told}\n", encoding="utf-8")


PARTS: dict[str, tuple[Callable[[Iterable[int]], Iterable[Cost]], Sequence[int]]] = {
    "files": (harvests, FILES),
    "sessions": (of_sessions, SESSIONS),
    "replay": (replayed, REPLAYED),
    "lessons": (of_lessons, LESSONS),
}


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("costs", type=Path)
    arguments.add_argument("--only", choices=PARTS, default="")
    arguments.add_argument("--sizes", type=int, nargs="*", default=[])
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    if given.write:
        lines = given.costs.read_bytes().splitlines()
        told = table(msgspec.json.decode(line, type=Cost) for line in lines)
        print(told)
        write(told)
        return
    for name, (part, sizes) in PARTS.items():
        for one in part(given.sizes or sizes) if given.only in ("", name) else ():
            print(one, flush=True)
            with given.costs.open("ab") as file:
                file.write(msgspec.json.encode(one._replace(load=os.getloadavg()[0])) + b"\n")


if __name__ == "__main__":
    main()
