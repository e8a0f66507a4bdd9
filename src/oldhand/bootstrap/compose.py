"""Fit the best lines into the budget and fence them."""

from __future__ import annotations

from oldhand.bootstrap.lanes import Candidates
from oldhand.model.bootstrap import Bootstrap, LeftOut, Line
from oldhand.text.briefing import FAILURES, INTRODUCTION, KNOWN, render
from oldhand.text.fence import closing, opening
from oldhand.text.tokens import estimate

_ANY_MARK = "abcdefgh"


def compose(found: Candidates, budget: int, key: bytes) -> Bootstrap:
    """Take lines best first while they fit; say nothing when none does."""
    frame = _cost([opening(_ANY_MARK), INTRODUCTION, closing(_ANY_MARK)])
    headings = {KNOWN: _cost([KNOWN]), FAILURES: _cost([FAILURES])}
    chosen: dict[str, list[Line]] = {KNOWN: [], FAILURES: []}
    left_out = list(found.left_out)
    spent = frame
    for line in sorted(found.lessons + found.failures, key=lambda line: (-line.score, line.id)):
        heading = section(line)
        cost = _cost([f"- {line.text}"]) + (0 if chosen[heading] else headings[heading])
        if spent + cost > budget:
            left_out.append(LeftOut(id=line.id, reason="over the budget"))
            continue
        spent += cost
        chosen[heading].append(line)
    lines = tuple(chosen[KNOWN] + chosen[FAILURES])
    text = render({heading: [line.text for line in taken] for heading, taken in chosen.items()}, key)
    return Bootstrap(text=text, tokens=estimate(text), budget=budget, lines=lines, left_out=tuple(left_out))


def section(line: Line) -> str:
    return FAILURES if line.kind == "failure" else KNOWN


def _cost(lines: list[str]) -> int:
    """What lines cost at the most: the estimate of a text never exceeds its lines' and one each."""
    return sum(estimate(line) + 1 for line in lines)
