"""Fit the best lines into the budget and fence them; put on record what was handed out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from hardwon.briefing.foreseen import said_by_others
from hardwon.briefing.policy import SPARE_LINES, fitting
from hardwon.briefing.rank import Candidates, cost, heading, priced, reading_order
from hardwon.clock import now
from hardwon.map.known import HOW_IT_IS_RUN
from hardwon.map.wording import FOR_THIS_TASK
from hardwon.model.nouns import Bootstrap, LeftOut, Line
from hardwon.store import hook_data, lessons, meta
from hardwon.store.database import Database
from hardwon.store.hook_data import Dealt
from hardwon.store.sessions import root_of
from hardwon.store.spool import (
    HELD_OUT,
    OFF,
    SESSIONS_HELD_OUT,
    TREATED,
    Placed,
    Standing,
    deal,
    dealer,
    exempt,
    held_out,
)
from hardwon.text.normalise import digest, made
from hardwon.text.shown import FAILURES, FRAME_TOKENS, HEADING_TOKENS, estimate, render


def compose(found: Candidates, budget: int, key: bytes, *, failure_budget: int | None = None) -> Bootstrap:
    """Take lines best first while they fit; say nothing when none does.

    `failure_budget` limits what of the budget the failures may take.
    """
    offered = [*found.lessons, *found.failures]
    prices = [(heading(line.kind, noted=line.noted), line.id, cost(f"- {line.text}"), line.score) for line in offered]
    chosen = fitting(prices, budget, failure_budget)
    fits = set(chosen)
    over = [LeftOut(id=line.id, reason="over the budget") for at, line in enumerate(offered) if at not in fits]
    needed = min((price + HEADING_TOKENS[section] for section, _, price, _ in prices), default=-FRAME_TOKENS)
    lines = tuple(sorted((offered[at] for at in chosen), key=lambda line: (line.noted, reading_order(line.kind))))
    text = render(sections(lines), key)
    return Bootstrap(
        text=text,
        tokens=estimate(text),
        budget=budget,
        lines=lines,
        left_out=(*found.left_out, *over),
        task_type=found.task_type,
        lanes=dict(Counter(line.kind for line in lines)),
        least=0 if lines else needed + FRAME_TOKENS,
    )


def with_who_says_it(db: Database, found: Bootstrap) -> Bootstrap:
    """The same with what else tells of a failure that is left out, in the place of why it has no line of its own."""
    drawn = lessons.named(db, [line.id for line in found.lines if line.kind not in ("failure", "attempt", "chunk")])
    told = {line.id: line.id for line in found.lines if line.kind == "failure"}
    told |= {lesson.failure: lesson.id for lesson in drawn if lesson.failure}
    said = said_by_others(db, told, [one.id for one in found.left_out if one.id.startswith("F")]) if told else {}
    names = {id: f"said by the {'failure' if item.startswith('F') else 'lesson'} {item}" for id, item in said.items()}
    left_out = tuple(replace(one, reason=names.get(one.id, one.reason)) for one in found.left_out)
    return replace(found, left_out=left_out)


def with_map(found: Bootstrap, run: list[str], task: list[str] | None, key: bytes) -> Bootstrap:
    """The same with how the project is run before the rest and where a task leads behind it.

    Where the budget has no room for all of both, the task's; `task` is None where no task is known.
    """
    others = sections(found.lines)
    leads = task or []
    first_ones = [run[:many] for many in range(len(run), -1, -1)]
    for behind, before in product((leads, []), first_ones):
        told = {HOW_IT_IS_RUN: before, **others, FOR_THIS_TASK: behind}
        text = render({heading: lines for heading, lines in told.items() if lines}, key)
        if estimate(text) <= found.budget:
            places = before if task is None else behind
            shortest = [found.least] if found.least else []
            shortest += [estimate(render({HOW_IT_IS_RUN: run[:1]}, key))] if run else []
            least = 0 if text else min(shortest, default=0)
            return replace(found, text=text, tokens=estimate(text), places=tuple(places), least=least)
    return found


def failures_within(lines: Iterable[Line], failure_budget: int) -> list[Line]:
    """The first lines that a failure block of this size can hold."""
    chosen: list[Line] = []
    left = failure_budget
    for line in lines:
        price = cost(f"- {line.text}") + (0 if chosen else HEADING_TOKENS[FAILURES])
        if price <= left:
            chosen.append(line)
            left -= price
    return chosen


def sections(lines: Iterable[Line]) -> dict[str, list[str]]:
    """Heading → its lines, in the order they are read."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(heading(line.kind, noted=line.noted), []).append(line.text)
    return found


# A bootstrap in the forms that others take it.


_OF_THE_DAY = "- the last session ("
"""A line that a file does not keep: it is true for a day."""


def markdown_of(found: Bootstrap) -> str:
    """For people and files: headings in the place of the fence."""
    introduction, *lines = found.text.split("\n")[1:-1] or [""]
    body = [introduction]
    for line in lines:
        if not line.startswith("- "):
            body += ["", f"## {line.rstrip(':').capitalize()}", ""]
        elif not line.startswith(_OF_THE_DAY):
            body.append(line)
    return "\n".join(body)


def hook_json(found: Bootstrap) -> str:
    """What Claude Code takes from a hook at session start."""
    context = {"hookEventName": "SessionStart", "additionalContext": found.text}
    return msgspec.json.encode({"hookSpecificOutput": context}).decode()


# Lines for sessions that say who they are: handed out and put on record.


class Recipient(NamedTuple):
    """The session that a bootstrap is for."""

    project: str
    agent: str
    session: str
    task: str = ""


def expose(db: Database, found: Candidates, whole: Bootstrap, to: Recipient, *, experiment: bool) -> Bootstrap:
    """What of the whole this session is shown; on record before it is returned."""
    key = meta.fence_key(db)
    root = root_of(to.agent, to.session)
    lines = _placeable(db, found, whole)
    arm, propensity, placed = OFF, 1.0, _all(whole, lines)
    if experiment:
        out = held_out(key, root)
        arm, propensity = (HELD_OUT, SESSIONS_HELD_OUT) if out else (TREATED, 1 - SESSIONS_HELD_OUT)
        placed = deal(lines, key, root)[1]
    known = {line.id: line for line in (*whole.lines, *found.lessons, *found.failures, *found.spare)}
    told = tuple(known[item] for item, _, _, shown, _, _ in placed if shown)
    hash_ = digest(*(line.text for line in told)) if told else ""
    dealt = Dealt(made("B"), root, to.project, to.agent, "api", arm, propensity, dealer(key), hash_, now(), placed)
    with db.transaction(to.project):
        hook_data.record_exposure(db, dealt, task=to.task)
    text = render(sections(told), key)
    lanes = dict(Counter(line.kind for line in told))
    return replace(whole, text=text, tokens=estimate(text), lines=told, lanes=lanes)


def _all(whole: Bootstrap, lines: list[Standing]) -> list[Placed]:
    cost = {item: tokens for _, item, _, tokens, _, _, _ in lines}
    return [(line.id, rank, cost[line.id], 1, 1.0, line.score) for rank, line in enumerate(whole.lines)]


def _placeable(db: Database, found: Candidates, chosen: Bootstrap) -> list[Standing]:
    """The lines of a bootstrap in the order they are read, then the next best ones."""
    taken = {line.id for line in chosen.lines}
    rest = [line for line in (*found.lessons, *found.failures, *found.spare) if line.id not in taken]
    spare = sorted(rest, key=lambda line: (-line.score, line.id))[:SPARE_LINES]
    never = _exempt(db, [*chosen.lines, *spare])
    return [_standing(line, never, 0) for line in chosen.lines] + [_standing(line, never, 1) for line in spare]


def _standing(line: Line, never: set[str], spare: int) -> Standing:
    return (*priced(line.kind, line.id, line.text, noted=line.noted), int(line.id in never), spare, line.score)


def _exempt(db: Database, lines: Sequence[Line]) -> set[str]:
    known = lessons.named(db, [line.id for line in lines if line.kind != "failure"])
    return {each.id for each in known if exempt(each.kind, each.trust, pinned=each.pinned)}
