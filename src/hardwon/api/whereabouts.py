"""Where to look: the map of a project, who was at a file, how things are done here."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePath

from msgspec.structs import replace

from hardwon.api import convert
from hardwon.clock import moment, now
from hardwon.map.commands_told import commands_told, scripts_of, work_of_session
from hardwon.map.draw import draw, here, known_of, title, trips
from hardwon.map.known import VISITS_KEPT, Command, Known
from hardwon.map.signals import Ranked
from hardwon.map.wording import command_why, commands_for, why
from hardwon.model.nouns import Habit, Map, Place, Visitor
from hardwon.store import projects, sessions
from hardwon.store.database import Database
from hardwon.text.shown import estimate
from hardwon.text.words import terms

_ROWS_READ = 1_000
_CHARACTERS_OF_A_TASK = 200


def map_of(db: Database, project: str, task: str, limit: int, folder: str = "") -> Map:
    """The files and commands that a task will most likely need; without one, those of any task."""
    ranked = Ranked(known_of(db, project), task, folder)
    at = now()
    files = tuple(
        Place(
            path=file.path,
            score=round(chance, 4),
            why=why(ranked, file, at),
            last=moment(ranked.known.visits[max(file.touched)].at),
        )
        for chance, file in ranked.files[:limit]
    )
    commands = tuple(_habit(command, score, ranked.known, at) for score, command in commands_for(ranked)[:limit])
    told = "\n".join([*(f"{one.path}: {one.why}" for one in files), *(f"{one.command}: {one.why}" for one in commands)])
    return Map(files=files, commands=commands, tokens=estimate(told))


def visitors(db: Database, project: str, path: str, limit: int) -> list[Visitor]:
    """The sessions that touched a file or a folder, the newest first; sub-agents count as their session."""
    wanted = PurePath(path).as_posix().removeprefix("./").strip("/")
    rows = projects.visits_of_path(db, project, wanted, _ROWS_READ)
    by_root: dict[str, list[projects.Toucher]] = defaultdict(list)
    for row in rows:
        by_root[row.root].append(row)
    told = list(by_root.values())[:limit]
    linked = sessions.commits_of(db, (own[0].external_id for own in told))
    found = []
    for own in told:
        first = own[0]
        used = {use: sum(row.times for row in own if row.used == use) for use in ("edit", "read", "run", "delete")}
        found.append(
            Visitor(
                session=first.session,
                agent=first.agent,
                at=moment(first.started_at),
                branch=first.branch,
                task=title(first.words or first.task, _CHARACTERS_OF_A_TASK),
                uses={use: count for use, count in used.items() if count},
                outcome=convert.outcome(first.outcome, linked.get(first.external_id, ())),
                commit=next((row.git_commit for row in own if row.git_commit), ""),
            )
        )
    return found


_EVERYDAY = re.compile(r"(?:git|curl)\b")
"""What is run in every project stands behind what is run in this one."""


def paths_ending(db: Database, project: str, name: str) -> list[str]:
    """The files that sessions touched whose path ends with these folders and this name."""
    wanted = PurePath(name).as_posix().strip("/").split("/")
    return [path for path in projects.paths_touched(db, project) if path.split("/")[-len(wanted) :] == wanted]


def how(db: Database, project: str, words: str, limit: int) -> list[Habit]:
    """The commands that ran here and worked, those that fit the words best first; counted as the map counts them.

    A command that is named as it is told stands before all others.
    """
    said = set(terms(words))
    wanted = said - {"run"} or said  # any command is run
    history = trips(db, project)[-VISITS_KEPT:]
    known = draw(history, worded=False)
    at = now()
    found = []
    work = [work_of_session(trip.ran, trip.edited) for trip in history]
    for command in commands_told(work, scripts_of(here(db, project)), sessions=1):
        own = {*terms(command.text), *terms(command.key), *terms(command.purpose)}
        shared = len(wanted & own) / len(wanted) if wanted else 1.0
        if shared and command.worked:
            passed, failed = (
                tuple(history[number].session for number in reversed(some)) for some in (command.worked, command.failed)
            )
            habit = replace(_habit(command, shared, known, at), passed=passed, failed=failed)
            order = (habit.command != words, -shared, bool(_EVERYDAY.match(command.key)), -len(command.worked))
            found.append((*order, habit.command, habit))
    return [habit for *_, habit in sorted(found, key=lambda one: one[:-1])[:limit]]


def _habit(command: Command, score: float, known: Known, at: int) -> Habit:
    last = moment(known.visits[command.worked[-1]].at) if command.worked else None
    return Habit(command=command.text, score=round(score, 4), why=command_why(command, known, at), last=last)
