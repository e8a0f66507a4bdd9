"""What may be told: the one place that decides it, for `hardwon bootstrap`, session starts and prompts alike.

A line is told when nothing speaks against it (`against_lesson`, `against_failure`, `unlikely`), its confidence is
above the bar, it is among the best of its section, and the budget has room for it. Hooks find lines prepared for any
bar and budget, and apply all of this by the settings of their moment. Standard library only: a hook starts here.
"""

from __future__ import annotations

from hardwon.text.shown import FAILURES, FRAME_TOKENS, HEADING_TOKENS, ago

TYPE_CHECKING = False  # of `typing`, which takes long to load


if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol, TypeVar

    from hardwon.store.spool import Prepared, Standing

    Line = TypeVar("Line")

    class Lesson(Protocol):
        """What must be known of a lesson; an empty project is every project."""

        @property
        def status(self) -> str: ...
        @property
        def trust(self) -> str: ...
        @property
        def rule(self) -> str: ...
        @property
        def scope(self) -> str: ...
        @property
        def project(self) -> str: ...
        @property
        def agent(self) -> str: ...
        @property
        def confidence(self) -> float: ...
        @property
        def valid_from(self) -> int | None: ...
        @property
        def valid_until(self) -> int | None: ...


LESSONS_TOLD = 60
SAID_BY = "said by the failure "
"""Why something is not told again."""
FAILURES_TOLD = 16
SPARE_OF_EACH = 8
"""The next best lessons, and the next best failures, that may take the place of a line that is withheld."""
SPARE_LINES = 16
LEAST_CHANCE, LEAST_CHANCE_OF_THE_FIRST = 0.04, 0.02
"""What a failure's line needs, and the likeliest of them: where errors do not come back that is the only one."""
LEAST_CHANCE_OF_A_FIX = 0.005
"""That a failure comes back, where a lesson says what worked against it: other lessons do not fade like that."""
LESSON_TOKENS = 1_800
"""Most of a budget that lessons, and what else a task brings, may take."""
REMINDER_TOKENS = 300
"""Most that a prompt is answered with."""

Priced = tuple[str, str, int, float]
"""(section, item, tokens, score)"""


_MICROSECONDS_PER_DAY = 86_400_000_000
_DAYS_THAT_IT_HOLDS = 90


def against_lesson(lesson: Lesson, *, project: str, agent: str, now: int, disputed: bool) -> str:
    """Why a lesson is not told to this agent in this project, whatever the bar is; empty if it may be."""
    if lesson.status != "active" and not is_noted(lesson):
        return "candidate: waits for review" if lesson.status == "candidate" else lesson.status
    if lesson.project not in (project, ""):
        return "belongs to another project"
    if lesson.scope == "agent" and lesson.agent != agent:
        return f"speaks of {lesson.agent} only"
    if disputed:
        return "contradicts another lesson: waits for a person to decide"
    if (lesson.valid_from or now) > now or (lesson.valid_until or now) < now:
        return "not valid now"
    return ""


def is_noted(lesson: Lesson) -> bool:
    """What one session found out, in its own words, as a model chose it: told apart from what is believed."""
    return lesson.status == "candidate" and lesson.trust == "claimed" and lesson.rule == "distilled"


def is_by_hand(lesson: Lesson) -> bool:
    """What a person wrote into the store."""
    return lesson.trust == "human" and not lesson.rule


def outlived(rule: str, last_confirmed: int, now: int) -> str:
    """Why what a command once showed of a machine, its versions and ports, is not told; empty while it may hold."""
    held = now - last_confirmed <= _DAYS_THAT_IT_HOLDS * _MICROSECONDS_PER_DAY
    return "" if held or rule != "verified-by-command" else f"measured {ago(last_confirmed, now)}"


def against_failure(family: str) -> str:
    """Why failures of a family are not told; empty if they may be."""
    if family == "agent":
        return "every agent knows what its own tools refuse"
    return ""


def below_bar(confidence: float, min_confidence: float) -> str:
    """Why a lesson is not sure enough; empty if it is."""
    return f"confidence {confidence:.2f} is not above {min_confidence}" if confidence <= min_confidence else ""


def unlikely(chance: float, *, first: bool) -> str:
    """Why a failure is not worth a line; empty if it is (docs/measured.md)."""
    return "rare or long ago" if chance < (LEAST_CHANCE_OF_THE_FIRST if first else LEAST_CHANCE) else ""


def best(lessons: Sequence[Line], failures: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """(the lines that may be told, those that may step in for them), from all that clear the bar, best first."""
    return (
        [*lessons[:LESSONS_TOLD], *failures[:FAILURES_TOLD]],
        [
            *lessons[LESSONS_TOLD : LESSONS_TOLD + SPARE_OF_EACH],
            *failures[FAILURES_TOLD : FAILURES_TOLD + SPARE_OF_EACH],
        ],
    )


def fitting(lines: Sequence[Priced], budget: int, failure_budget: int | None = None) -> list[int]:
    """The positions of the lines that the budget has room for; `failure_budget` is of it for failures.

    Failures and the rest have half of it each, the best of each first, and then what the other half leaves; the
    likeliest failure goes before everything else.
    """
    order = sorted(range(len(lines)), key=lambda at: (-lines[at][3], lines[at][1]))
    failures = [at for at in order if lines[at][0] == FAILURES]
    others = [at for at in order if lines[at][0] != FAILURES]
    whole = budget - FRAME_TOKENS
    for_failures = whole if failure_budget is None else min(whole, failure_budget)
    likeliest = _taken(lines, failures[:1], for_failures)[1]
    first, spent = _taken(lines, failures, min(for_failures, whole if not others else max(likeliest, whole // 2)))
    rest, spent_on_others = _taken(lines, others, min(whole - spent, LESSON_TOKENS))
    if len(first) < len(failures):
        first, _ = _taken(lines, failures, min(for_failures, whole - spent_on_others))
    return [*first, *rest]


def _taken(lines: Sequence[Priced], order: Sequence[int], room: int) -> tuple[list[int], int]:
    """(the positions of the lines that fit, best first; what they cost)"""
    begun: set[str] = set()
    chosen = []
    spent = 0
    for at in order:
        section, _, tokens, _ = lines[at]
        price = tokens if section in begun else tokens + HEADING_TOKENS.get(section, 0)
        if spent + price <= room:
            spent += price
            begun.add(section)
            chosen.append(at)
    return chosen, spent


def briefing_lines(prepared: Sequence[Prepared], budget: int) -> list[Standing]:
    """What a session is told of lines that clear the bar, in the order they came; then those that may step in."""
    ranked = sorted(prepared, key=lambda line: (-line[5], line[1]))
    told, spare = best(
        [line for line in ranked if line[0] != FAILURES], [line for line in ranked if line[0] == FAILURES]
    )
    chosen = {told[at][1] for at in fitting([(line[0], line[1], line[3], line[5]) for line in told], budget)}
    rest = sorted((line for line in (*told, *spare) if line[1] not in chosen), key=lambda line: (-line[5], line[1]))
    return [
        *((*line[:5], 0, line[5]) for line in prepared if line[1] in chosen),
        *((*line[:5], 1, line[5]) for line in rest[:SPARE_LINES]),
    ]
