"""What a replay found, in numbers that say how many they rest on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from hardwon.measure import judge
from hardwon.measure.map_replay import ProjectMap
from hardwon.measure.replay import AGAINST, FILLING, ReplayStep, Shown
from hardwon.model.metric import wilson

OURS = "ours"
WITH_PROMPT = "with_prompt"
_CURVE_POINTS = 10


class Rate(Struct, frozen=True):
    """A share of `n`, with the 95 % interval that whole sessions allow."""

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
    failure_tokens: int
    """Of all sessions together."""
    intervals: dict[str, Rate]
    ours: Way | None = None
    """Of a baseline: our best lines in no more tokens than it took in each session."""
    filling: Way | None = None
    """Of a baseline: with the whole budget, though we leave some of it unspent."""


class ProjectReport(Struct, frozen=True, kw_only=True):
    project: str
    sessions: int
    errors: int
    foreseeable: int
    foreseen: int
    recalled: int
    lines_shown: int
    precision: float | None


class Period(Struct, frozen=True, kw_only=True):
    """A tenth of the walk."""

    day: str
    sessions: int
    errors: int
    foreseeable: int
    foreseen: int


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
    failure_tokens: int
    repeated_calls: int
    repeated_tokens: int
    intervals: dict[str, Rate]
    with_prompt: Way
    baselines: dict[str, Way]
    curve: list[tuple[str, float | None, int]]
    """(day, share of errors that an earlier session had met, errors) over the walk."""
    periods: list[Period]
    projects: list[ProjectReport]
    maps: list[ProjectMap] = []
    """Whether the map would have led each project's sessions where they went."""


def summarise(steps: Sequence[ReplayStep], names: dict[str, str], days: Callable[[int], str]) -> Report:
    """`names` are the projects' names by id."""
    ours = _way(steps, OURS)
    recalled = _rate(steps, lambda step: step.recalled, lambda step: step.foreseeable_anywhere)
    ways = dict.fromkeys(name for step in steps for name in step.shown if not name.startswith((AGAINST, FILLING)))
    periods = _periods(steps, days)
    return Report(
        judge=judge.VERSION,
        sessions=_sessions(steps),
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
        failure_tokens=ours.failure_tokens,
        repeated_calls=sum(step.repeated_calls for step in steps),
        repeated_tokens=sum(step.repeated_tokens for step in steps),
        intervals={
            **ours.intervals,
            "recalled_rate": recalled,
            "foreseeable_rate": _rate(steps, lambda step: step.foreseeable, lambda step: step.errors),
        },
        with_prompt=_way(steps, WITH_PROMPT),
        baselines={
            name: replace(_way(steps, name), ours=_way(steps, AGAINST + name), filling=_way(steps, FILLING + name))
            for name in ways
            if name not in (OURS, WITH_PROMPT)
        },
        curve=[(each.day, _share(each.foreseeable, each.errors), each.errors) for each in periods],
        periods=periods,
        projects=_projects(steps, names),
    )


_NOTHING = Shown(0, 0, 0, 0, 0)


def _way(steps: Sequence[ReplayStep], name: str) -> Way:
    def of(step: ReplayStep) -> Shown:
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
        failure_tokens=sum(of(step).failure_tokens for step in steps),
        intervals={"foreseen_rate": foreseen, "precision": precision},
    )


def _sessions(steps: Sequence[ReplayStep]) -> int:
    """As every command counts them."""
    return sum(step.past.is_session for step in steps)


def _median(values: Iterable[int]) -> int:
    found = list(values)
    return int(median(found)) if found else 0


def _rate(steps: Sequence[ReplayStep], part: Callable[[ReplayStep], int], whole: Callable[[ReplayStep], int]) -> Rate:
    """With Wilson's interval for as many independent cases as the spread between sessions leaves of `n`."""
    pairs = [(part(step), whole(step)) for step in steps if whole(step)]
    n = sum(pair[1] for pair in pairs)
    if not n:
        return Rate(None, 0)
    value = sum(pair[0] for pair in pairs) / n
    spread = sum((some - value * all_) ** 2 for some, all_ in pairs) * len(pairs) / max(1, len(pairs) - 1)
    cases = min(n, value * (1 - value) * n * n / spread) if spread else n
    low, high = wilson(value, cases)
    return Rate(round(value, 4), n, round(low, 4), round(high, 4))


def _periods(steps: Sequence[ReplayStep], days: Callable[[int], str]) -> list[Period]:
    """How much of what goes wrong had gone wrong before, as the history grows."""
    size = max(1, -(-len(steps) // _CURVE_POINTS))
    parts = [steps[start : start + size] for start in range(0, len(steps), size)]
    return [
        Period(
            day=days(part[0].past.started_at),
            sessions=_sessions(part),
            errors=sum(step.errors for step in part),
            foreseeable=sum(step.foreseeable for step in part),
            foreseen=sum(step.shown.get(OURS, _NOTHING).foreseen for step in part),
        )
        for part in parts
    ]


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _projects(steps: Sequence[ReplayStep], names: dict[str, str]) -> list[ProjectReport]:
    grouped: dict[str, list[ReplayStep]] = defaultdict(list)
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
                sessions=_sessions(own),
                errors=sum(step.errors for step in own),
                foreseeable=sum(step.foreseeable for step in own),
                foreseen=sum(each.foreseen for each in shown),
                recalled=sum(step.recalled for step in own),
                lines_shown=lines,
                precision=round(sum(each.came_true for each in shown) / lines, 4) if lines else None,
            )
        )
    return sorted(reports, key=lambda report: (-report.foreseeable, -report.sessions, report.project))
