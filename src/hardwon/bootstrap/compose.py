"""Fit the best lines into the budget and fence them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from hardwon.bootstrap.lanes import Candidates
from hardwon.model.bootstrap import Bootstrap, LeftOut, Line
from hardwon.text.briefing import FAILURES, INTRODUCTION, KNOWN, render
from hardwon.text.fence import closing, opening
from hardwon.text.tokens import estimate

_ANY_MARK = "abcdefgh"
_ORDER = (
    "pitfall",
    "pattern",
    "tool-quirk",
    "fact",
    "preference",
    "decision",
    "identity",
    "question",
    "attempt",
    "chunk",
)


def compose(found: Candidates, budget: int, key: bytes, *, failure_budget: int | None = None) -> Bootstrap:
    """Take lines best first while they fit; say nothing when none does.

    `failure_budget` limits what of the budget the failures may take.
    """
    frame = cost(opening(_ANY_MARK), INTRODUCTION, closing(_ANY_MARK))
    headings = {KNOWN: cost(KNOWN), FAILURES: cost(FAILURES)}
    chosen: dict[str, list[Line]] = {KNOWN: [], FAILURES: []}
    left_out = list(found.left_out)
    spent = frame
    left_for = {KNOWN: budget, FAILURES: budget if failure_budget is None else failure_budget}
    for line in sorted(found.lessons + found.failures, key=lambda line: (-line.score, line.id)):
        heading = section(line)
        price = cost(f"- {line.text}") + (0 if chosen[heading] else headings[heading])
        if spent + price > budget or price > left_for[heading]:
            left_out.append(LeftOut(id=line.id, reason="over the budget"))
            continue
        spent += price
        left_for[heading] -= price
        chosen[heading].append(line)
    chosen[KNOWN].sort(key=lambda line: _ORDER.index(line.kind))
    lines = tuple(chosen[KNOWN] + chosen[FAILURES])
    text = render(sections(lines), key)
    return Bootstrap(
        text=text,
        tokens=estimate(text),
        budget=budget,
        lines=lines,
        left_out=tuple(left_out),
        task_type=found.task_type,
        lanes=dict(Counter(line.kind for line in lines)),
    )


def fitting(lines: Iterable[Line], failure_budget: int) -> list[Line]:
    """The first lines that a failure block of this size can hold."""
    chosen: list[Line] = []
    left = failure_budget
    for line in lines:
        price = cost(f"- {line.text}") + (0 if chosen else cost(FAILURES))
        if price <= left:
            chosen.append(line)
            left -= price
    return chosen


def sections(lines: Iterable[Line]) -> dict[str, list[str]]:
    """Heading → its lines, in the order they are read."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(section(line), []).append(line.text)
    return found


def section(line: Line) -> str:
    return FAILURES if line.kind == "failure" else KNOWN


def cost(*lines: str) -> int:
    """What lines cost at the most: the estimate of a text never exceeds its lines' and one each."""
    return sum(map(_line_cost, lines))


@lru_cache(maxsize=4096)
def _line_cost(line: str) -> int:
    return estimate(line) + 1
