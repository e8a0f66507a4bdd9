"""A bootstrap as the hook needs it: its lines with their cost, what is never withheld, and what may step in."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.bootstrap.compose import cost, section
from hardwon.bootstrap.lanes import Candidates
from hardwon.model.bootstrap import Bootstrap, Line
from hardwon.store import lessons
from hardwon.store.assignment import Standing, exempt
from hardwon.store.database import Database

_MOST_SPARE = 16


def standing_lines(db: Database, found: Candidates, chosen: Bootstrap) -> list[Standing]:
    """The lines in the order they are read, then the next best ones."""
    taken = {line.id for line in chosen.lines}
    rest = [line for line in (*found.lessons, *found.failures, *found.spare) if line.id not in taken]
    spare = sorted(rest, key=lambda line: (-line.score, line.id))[:_MOST_SPARE]
    never = _exempt(db, [*chosen.lines, *spare])
    return [_standing(line, never, 0) for line in chosen.lines] + [_standing(line, never, 1) for line in spare]


def _standing(line: Line, never: set[str], spare: int) -> Standing:
    return section(line), line.id, line.text, cost(f"- {line.text}"), int(line.id in never), spare, line.score


def _exempt(db: Database, lines: Sequence[Line]) -> set[str]:
    known = lessons.named(db, [line.id for line in lines if line.kind != "failure"])
    return {each.id for each in known if exempt(each.kind, each.trust, pinned=each.pinned)}
