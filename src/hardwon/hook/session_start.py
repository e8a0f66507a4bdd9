"""A session starts: hand it the standing lines of its project."""

from __future__ import annotations

import os
import time

from hardwon.briefing.policy import against_lesson, below_bar, briefing_lines
from hardwon.hook.agents import CONTEXT_BYTES
from hardwon.hook.deal import keeps_silent, lines_for
from hardwon.map.known import HOW_IT_IS_RUN, at_start, from_rows
from hardwon.sessions.project import folders_above, repository_of, within_checkout
from hardwon.store import read
from hardwon.store.spool import LEFT_OUT, UNKNOWN_FOLDER
from hardwon.text.normalise import tilde
from hardwon.text.shown import estimate, render

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from hardwon.hook_config import HookConfig
    from hardwon.store.read import Lesson
    from hardwon.store.spool import Standing

_PATH_CHARACTERS = 4096


def briefing(database: str, payload: dict[str, object], config: HookConfig) -> str:
    db = read.connect(database)
    id = project_id(db, payload.get("cwd"))
    if not id:
        payload["silent"] = UNKNOWN_FOLDER
        return ""
    named = payload.get("agent")
    agent = named if isinstance(named, str) else "claude-code"
    key = read.fence_key(db)
    lines = lines_of_briefing(db, id, agent, config)
    # Before they are dealt, so that what is on record as shown is shown; spare ones come last and go first.
    while len(_rendered([(line[0], line[2]) for line in lines], key).encode()) > CONTEXT_BYTES:
        lines.pop()
    shown = lines_for(payload, agent, id, lines, key, config)
    if not keeps_silent(payload, agent, key, config):
        known = from_rows(*read.drawn_map(db, id))
        run = [(HOW_IT_IS_RUN, line) for line in at_start(known, folder=within_checkout(str(payload.get("cwd"))))]
        first_ones = (run[:many] for many in range(len(run), -1, -1))
        tried = (_if_it_fits([*some, *shown], shown, key, config.budget) for some in first_ones)
        shown = next((more for more in tried if len(more) > len(shown)), shown)
        if payload.get("source") in ("compact", "resume"):
            shown = _if_it_fits([*shown, *_so_far(payload)], shown, key, config.budget)
    else:
        payload["silent"] = LEFT_OUT
    payload.setdefault("silent", "silent: nothing is worth its tokens yet")
    return _rendered(shown, key)


def taken_up(database: str, payload: dict[str, object], config: HookConfig) -> str:
    """What a session that has its briefing already is told when it is resumed: how far it had come."""
    db = read.connect(database)
    key = read.fence_key(db)
    named = payload.get("agent")
    agent = named if isinstance(named, str) else "claude-code"
    payload["silent"] = "silent: resumed, and briefed before"
    if not project_id(db, payload.get("cwd")) or keeps_silent(payload, agent, key, config):
        return ""
    return _rendered(_if_it_fits(_so_far(payload), [], key, config.budget), key)


def _so_far(payload: dict[str, object]) -> list[tuple[str, str]]:
    from hardwon.hook.so_far import SO_FAR, so_far

    lines = so_far(str(payload.get("transcript_path") or ""), str(payload.get("cwd") or ""))
    return [(SO_FAR, line) for line in lines]


def _if_it_fits(
    more: list[tuple[str, str]], lines: list[tuple[str, str]], key: bytes, budget: int
) -> list[tuple[str, str]]:
    """The lines with a section more, where the budget and the agent have room for it."""
    if len(more) == len(lines):
        return lines
    text = _rendered(more, key)
    return more if estimate(text) <= budget and len(text.encode()) <= CONTEXT_BYTES else lines


def lines_of_briefing(db: apsw.Connection, project: str, agent: str, config: HookConfig) -> list[Standing]:
    """What a session is told by the settings of this moment, in the order it is read; then what may step in."""
    may = tellable(db, project, agent, config)
    known = read.prepared_lines(db, project, agent)
    return briefing_lines([line for line, of in known if of is None or may(line[1], of)], config.budget)


def tellable(db: apsw.Connection, project: str, agent: str, config: HookConfig) -> Callable[[str, Lesson], bool]:
    """Whether a lesson may be told here and now, by its id and what is known of it."""
    disputed = read.disputed(db)
    now = time.time_ns() // 1000

    def may(id: str, lesson: Lesson) -> bool:
        against = against_lesson(lesson, project=project, agent=agent, now=now, disputed=id in disputed)
        return not against and not below_bar(lesson.confidence, config.min_confidence)

    return may


def project_id(db: apsw.Connection, cwd: object) -> str:
    """The project of a folder, or an empty string."""
    if not isinstance(cwd, str) or not cwd or len(cwd) > _PATH_CHARACTERS:
        return ""
    folders = folders_above(cwd)
    if repository := tilde(repository_of(cwd)):  # a worktree's is elsewhere; what lies above it is not meant
        folders = [folder for folder in folders if folder.startswith(repository + os.sep)] + [repository]
    return read.project_of(db, folders)


def _rendered(lines: list[tuple[str, str]], key: bytes) -> str:
    sections: dict[str, list[str]] = {}
    for section, text in lines:
        sections.setdefault(section, []).append(text)
    return render(sections, key)
