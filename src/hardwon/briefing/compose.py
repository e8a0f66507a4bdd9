"""Fit the best lines into the budget and fence them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from hardwon.briefing.policy import fitting
from hardwon.briefing.rank import Candidates
from hardwon.model.nouns import Bootstrap, LeftOut, Line
from hardwon.text.fence import FAILURES, HEADING_TOKENS, KNOWN, markdown, render
from hardwon.text.tokens import estimate

# Fit the best lines into the budget and fence them.

_ORDER = (
    "preference",
    "decision",
    "identity",
    "pattern",
    "fact",
    "tool-quirk",
    "pitfall",
    "question",
    "attempt",
    "chunk",
    "failure",
)


def compose(found: Candidates, budget: int, key: bytes, *, failure_budget: int | None = None) -> Bootstrap:
    """Take lines best first while they fit; say nothing when none does.

    `failure_budget` limits what of the budget the failures may take.
    """
    offered = [*found.lessons, *found.failures]
    priced = [(section(line), line.id, cost(f"- {line.text}"), line.score) for line in offered]
    chosen = fitting(priced, budget, failure_budget)
    fits = set(chosen)
    over = [LeftOut(id=line.id, reason="over the budget") for at, line in enumerate(offered) if at not in fits]
    lines = tuple(sorted((offered[at] for at in chosen), key=lambda line: reading_order(line.kind)))
    text = render(sections(lines), key)
    return Bootstrap(
        text=text,
        tokens=estimate(text),
        budget=budget,
        lines=lines,
        left_out=(*found.left_out, *over),
        task_type=found.task_type,
        lanes=dict(Counter(line.kind for line in lines)),
    )


def with_section(found: Bootstrap, heading: str, told: list[str], key: bytes, *, first: bool) -> Bootstrap:
    """The same with a section more before or behind the others, where the budget has room for it."""
    others = sections(found.lines)
    text = render({heading: told, **others} if first else {**others, heading: told}, key)
    if not told or estimate(text) > found.budget:
        return found
    return msgspec.structs.replace(found, text=text, tokens=estimate(text), places=tuple(told))


def reading_order(kind: str) -> int:
    """Lessons by their kind, then failures."""
    return _ORDER.index(kind)


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


# A bootstrap in the forms that others take it.


def markdown_of(found: Bootstrap) -> str:
    return markdown(sections(found.lines))


def hook_json(found: Bootstrap) -> str:
    """What Claude Code takes from a hook at session start."""
    context = {"hookEventName": "SessionStart", "additionalContext": found.text}
    return msgspec.json.encode({"hookSpecificOutput": context}).decode()
