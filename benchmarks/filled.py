"""A store as large as years of work make it: one project, as many lessons and failures as asked for."""

from __future__ import annotations

from pathlib import Path

from hardwon import Hardwon
from hardwon.failures.fingerprint import VERSION, fingerprint
from hardwon.map import draw
from hardwon.map.signals import mark
from hardwon.map.touched import SYMBOLS_PER_TOUCH
from hardwon.sessions.project import Project
from hardwon.store import failures, lessons, meta, projects
from hardwon.store.database import Database, insert
from hardwon.store.fulltext import entry
from hardwon.store.lessons import LessonRow
from hardwon.store.projects import OpenedRow, RanRow, TouchRow
from hardwon.store.sessions import SessionRow, add

PROMPTED = "the parser_pool must be closed before the socket worker is drained"
START = 1_760_000_000_000_000
MINUTE = 60_000_000
WORDS = "pool cache token parser socket shard ledger buffer index worker router schema".split()


def fill(home: Path, project: Project, count: int) -> None:
    """`count` lessons and `count` failures, each failure with an occurrence and a fix."""
    with Hardwon(home) as memory:
        db = memory.writing()
        with db.transaction():
            projects.save(db, project)
            lessons.add(db, [_lesson(project, number) for number in range(count)], [])
            _failures(db, project, count)
            meta.mark_stale(db, [project.id])
        memory.refresh_standing()


def error(number: int) -> str:
    """The output of a failed call, another failure for each number."""
    return f"ModuleNotFoundError: No module named '{WORDS[number % 12]}_{_letters(number)}'"


def _letters(number: int) -> str:
    digits, number = [], abs(number)
    while number:
        number, digit = divmod(number, 26)
        digits.append(chr(ord("a") + digit))
    return "".join(digits) or "a"


def _lesson(project: Project, number: int) -> LessonRow:
    words = " ".join(WORDS[(number >> shift) % 12] for shift in (0, 3, 6, 9))
    text = f"The {words} of {_letters(number)} must be closed before the {WORDS[number % 12]} is drained."
    return LessonRow(
        id=lessons.harvested_id("fact", "project", project.id, "", text),
        kind="fact",
        text=text,
        scope="project",
        project=project.id,
        agent="",
        base_confidence=0.75,
        confidence=0.75,
        status="active",
        trust="human",
        rule="user-directive",
        failure="",
        first_seen=START + number * MINUTE,
        last_confirmed=START + number * MINUTE,
        source_count=1,
        harvester_version=1,
    )


def _failures(db: Database, project: Project, count: int) -> None:
    prints = [(number, found) for number in range(count) if (found := fingerprint(error(number)))]
    at = {number: START + number * MINUTE for number in range(count)}
    db.bulk(
        insert("failure", failures.FAILURE_COLUMNS),
        (
            (found.id, VERSION, found.family, found.error_type, error(number), at[number], at[number], 1, 1)
            for number, found in prints
        ),
    )
    db.bulk(
        insert("occurrence", failures.OCCURRENCE_COLUMNS),
        (
            (
                f"S{number}",
                0,
                found.id,
                project.id,
                f"claude-code:{number}",
                "claude-code",
                0,
                at[number],
                "pytest -q",
                1,
                "",
                "",
                20,
                error(number),
                error(number),
                "",
            )
            for number, found in prints
        ),
    )
    db.bulk(
        insert("fix", failures.FIX_COLUMNS),
        (
            (
                *(f"X{number}", found.id, f'[["run","uv add {_letters(number)}"]]', "", "[]", "active", "", 1, 0),
                *(at[number], project.id),
            )
            for number, found in prints
        ),
    )
    db.bulk(
        insert("failure_in_project", failures.IN_PROJECT_COLUMNS),
        (
            (project.id, found.id, 1, 1, at[number], at[number], "pytest -q", "claude-code", "", "", error(number))
            for number, found in prints
        ),
    )
    db.index(entry(found.id, "failure", error(number)) for number, found in prints)


def fill_sessions(home: Path, project: Project, count: int) -> None:
    """`count` sessions with their tasks, each of which met the failure of its number and left a candidate."""
    with Hardwon(home) as memory:
        db = memory.writing()
        with db.transaction():
            projects.save(db, project)
            for number in range(count):
                row = a_session(f"S{number}", project, number)
                at = START + number * MINUTE
                add(db, row._replace(task=f"{PROMPTED} {_letters(number)}", started_at=at, ended_at=at + MINUTE), [])
            waiting = (_lesson(project, number)._replace(status="candidate") for number in range(-count, 0))
            lessons.add(db, [row._replace(id=f"L{number:024}") for number, row in enumerate(waiting)], [])


def fill_map(home: Path, project: Project, sessions: int) -> None:
    """A project of many sessions, each of which went to a dozen files and ran some commands."""
    words = [_letters(number * 7919) for number in range(400)]
    with Hardwon(home) as memory:
        db = memory.writing()
        with db.transaction():
            projects.save(db, project)
            for number in range(sessions):
                id = f"S{number:024}"
                about = " ".join(words[(number * 13 + at * 7) % 400] for at in range(40))
                row = a_session(id, project, number)
                add(db, row, [])
                paths = [f"src/{words[(number + at) % 40]}/{words[(number * 3 + at) % 400]}.py" for at in range(12)]
                projects.add_visits(
                    db,
                    [
                        TouchRow(id, path, ("edit", "read")[at % 2], at, 1, _stood_in(words, number + at))
                        for at, path in enumerate(dict.fromkeys(paths))
                    ],
                    [RanRow(id, f"make {word}", f"make {word}", "test", 1, 0, 0) for word in words[:20]],
                    OpenedRow(id, f"{PROMPTED} {about}", 3, 2),
                )
            draw.refresh(db, project.id)


def _stood_in(words: list[str], number: int) -> str:
    return " ".join(sorted({mark(words[(number * 31 + at) % 400]) for at in range(SYMBOLS_PER_TOUCH)}))


def a_session(id: str, project: Project, number: int) -> SessionRow:
    at = (number + 1) * 3_600_000_000
    return SessionRow(
        id, "claude-code", id, "", f"claude-code:{id}", project.id, "claude-code", "", "", "main", "", at, at + 1, 9, 1,
        9, 0, 0, 0, "unknown", "", 0,
    )  # fmt: skip
