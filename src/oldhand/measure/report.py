"""What a replay found, in numbers that say how many they rest on."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from msgspec import Struct

from oldhand.measure import judge
from oldhand.measure.replay import Shown, Step

OURS = "ours"
WITH_PROMPT = "with_prompt"
_RESAMPLES = 400
_CURVE_POINTS = 10


class Rate(Struct, frozen=True):
    """A share of `n`, with the interval that resampling whole sessions gives it."""

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None


class Way(Struct, frozen=True, kw_only=True):
    """One way of choosing lines."""

    foreseen: int
    foreseen_rate: float | None
    lines_shown: int
    precision: float | None
    tokens_p50: int
    failure_tokens_p50: int
    intervals: dict[str, Rate]


class ProjectReport(Struct, frozen=True, kw_only=True):
    project: str
    sessions: int
    errors: int
    foreseeable: int
    foreseen: int
    recalled: int
    lines_shown: int
    precision: float | None


class Report(Struct, frozen=True, kw_only=True):
    """See docs/proof.md for what each number means."""

    judge: int
    sessions: int
    errors: int
    foreseeable: int
    foreseeable_anywhere: int
    foreseen: int
    foreseen_rate: float | None
    recalled: int
    recalled_rate: float | None
    recalled_with_fix: int
    fix_existed: int
    lines_shown: int
    precision: float | None
    tokens_p50: int
    failure_tokens_p50: int
    repeated_calls: int
    repeated_tokens: int
    intervals: dict[str, Rate]
    with_prompt: Way
    baselines: dict[str, Way]
    curve: list[tuple[str, float | None, int]]
    """(day, share of errors that an earlier session had met, errors) over the walk."""
    projects: list[ProjectReport]


def summarise(steps: Sequence[Step], names: dict[str, str], days: Callable[[int], str]) -> Report:
    """`names` are the projects' names by id."""
    ours = _way(steps, OURS)
    recalled = _rate(steps, lambda step: step.recalled, lambda step: step.foreseeable_anywhere)
    ways = dict.fromkeys(name for step in steps for name in step.shown)
    return Report(
        judge=judge.VERSION,
        sessions=len(steps),
        errors=sum(step.errors for step in steps),
        foreseeable=sum(step.foreseeable for step in steps),
        foreseeable_anywhere=sum(step.foreseeable_anywhere for step in steps),
        foreseen=ours.foreseen,
        foreseen_rate=ours.foreseen_rate,
        recalled=sum(step.recalled for step in steps),
        recalled_rate=recalled.value,
        recalled_with_fix=sum(step.recalled_with_fix for step in steps),
        fix_existed=sum(step.fix_existed for step in steps),
        lines_shown=ours.lines_shown,
        precision=ours.precision,
        tokens_p50=ours.tokens_p50,
        failure_tokens_p50=ours.failure_tokens_p50,
        repeated_calls=sum(step.repeated_calls for step in steps),
        repeated_tokens=sum(step.repeated_tokens for step in steps),
        intervals={**ours.intervals, "recalled_rate": recalled},
        with_prompt=_way(steps, WITH_PROMPT),
        baselines={name: _way(steps, name) for name in ways if name not in (OURS, WITH_PROMPT)},
        curve=_curve(steps, days),
        projects=_projects(steps, names),
    )


_NOTHING = Shown(0, 0, 0, 0, 0)


def _way(steps: Sequence[Step], name: str) -> Way:
    def of(step: Step) -> Shown:
        return step.shown.get(name, _NOTHING)

    foreseen = _rate(steps, lambda step: of(step).foreseen, lambda step: step.foreseeable)
    precision = _rate(steps, lambda step: of(step).came_true, lambda step: of(step).lines)
    return Way(
        foreseen=sum(of(step).foreseen for step in steps),
        foreseen_rate=foreseen.value,
        lines_shown=sum(of(step).lines for step in steps),
        precision=precision.value,
        tokens_p50=_median(of(step).tokens for step in steps if of(step).tokens),
        failure_tokens_p50=_median(of(step).failure_tokens for step in steps if of(step).failure_tokens),
        intervals={"foreseen_rate": foreseen, "precision": precision},
    )


def _median(values: Iterable[int]) -> int:
    found = list(values)
    return int(median(found)) if found else 0


def _rate(steps: Sequence[Step], part: Callable[[Step], int], whole: Callable[[Step], int]) -> Rate:
    pairs = [(part(step), whole(step)) for step in steps if whole(step)]
    n = sum(pair[1] for pair in pairs)
    if not n:
        return Rate(None, 0)
    chance = random.Random(0)  # noqa: S311 - the same interval every time
    drawn = []
    for _ in range(_RESAMPLES):
        sample = chance.choices(pairs, k=len(pairs))
        drawn.append(sum(pair[0] for pair in sample) / sum(pair[1] for pair in sample))
    drawn.sort()
    tail = _RESAMPLES // 40
    value = sum(pair[0] for pair in pairs) / n
    return Rate(round(value, 4), n, round(drawn[tail], 4), round(drawn[-1 - tail], 4))


def _curve(steps: Sequence[Step], days: Callable[[int], str]) -> list[tuple[str, float | None, int]]:
    """How much of what goes wrong had gone wrong before, as the history grows."""
    points = []
    size = max(1, -(-len(steps) // _CURVE_POINTS))
    for start in range(0, len(steps), size):
        part = steps[start : start + size]
        errors = sum(step.errors for step in part)
        before = sum(step.foreseeable for step in part)
        points.append((days(part[0].past.started_at), round(before / errors, 4) if errors else None, errors))
    return points


def _projects(steps: Sequence[Step], names: dict[str, str]) -> list[ProjectReport]:
    grouped: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        if step.past.project:
            grouped[step.past.project].append(step)
    reports = []
    for project, own in grouped.items():
        shown = [step.shown[OURS] for step in own]
        lines = sum(each.lines for each in shown)
        reports.append(
            ProjectReport(
                project=names.get(project, project),
                sessions=len(own),
                errors=sum(step.errors for step in own),
                foreseeable=sum(step.foreseeable for step in own),
                foreseen=sum(each.foreseen for each in shown),
                recalled=sum(step.recalled for step in own),
                lines_shown=lines,
                precision=round(sum(each.came_true for each in shown) / lines, 4) if lines else None,
            )
        )
    return sorted(reports, key=lambda report: (-report.foreseeable, -report.sessions, report.project))
