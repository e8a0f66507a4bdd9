"""Would the map have led there? Tables of docs/tables.md: `python -m benchmarks.map_replay tune|look-once [--write]`.

The look-once projects were looked at once, when weights and rules were done; that table is kept. What they give after
the map was mended stands below it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np

from benchmarks.map_train import (
    LEAST_SESSIONS,
    CutShort,
    LeftOut,
    Project,
    cut_short,
    folders,
    left_out,
    of_the_others,
    others,
    projects,
)
from hardwon.map.known import parted
from hardwon.measure.map_replay import (
    COMMAND_WAYS,
    TOLD,
    ProjectMap,
    Scene,
    Share,
    needed,
    outcomes,
    scenes,
    summarise,
)

PAGE = Path(__file__).parent.parent / "docs" / "tables.md"
POOLED_SESSIONS = 20
WAYS = {
    "map": "the map", "no prompt": "the map without a prompt", "often": "how often edited",
    "touched": "how often touched", "lately": "how lately", "named": "named in the prompt",
    "words": "words of the paths",
}  # fmt: skip


def measured(found: Iterable[Project]) -> list[ProjectMap]:
    walked = [summarise(project.name, outcomes(project.history)) for project in found]
    return sorted(walked, key=lambda one: -one.edited["the map"].n)


def by_the_others(found: Sequence[LeftOut]) -> str:
    """What the map finds in each project by weights of all the others."""
    rows = [one for one in found if max(one.edits, one.reads) >= LEAST_SESSIONS]
    shown = [
        (one.name, one.edits, *map(_share, (one.edited, one.often_edited)),
         one.reads, *map(_share, (one.read, one.often_read)))
        for one in rows
    ]  # fmt: skip
    return table(("by weights of the others", "edited: n", "map", "often", "read: n", "map", "often"), shown)


def in_short_histories(found: Sequence[CutShort]) -> str:
    """The same where only so many sessions are known."""
    shown = [
        (one.length, one.what, one.projects, one.sessions, *map(_share, one.shares)) for one in found if one.projects
    ]
    return table(("pieces of", "files", "projects", "n", "map", "often", "touched", "lately"), shown)


def tables(found: Sequence[ProjectMap]) -> str:
    told = [one for one in found if one.edited["the map"].n >= LEAST_SESSIONS]
    large = [one for one in told if one.edited["the map"].n >= POOLED_SESSIONS]
    edited = table(
        ("edited files", "n", *WAYS, "not named: map", "often", "n"),
        [
            (
                one.project, one.edited["the map"].n, *(_of(one.edited[way]) for way in WAYS.values()),
                _of(one.unnamed["the map"]), _of(one.unnamed["how often edited"]), one.unnamed["the map"].n,
            )
            for one in told
        ] + [_means("mean", told), *([_means(f"mean of n ≥ {POOLED_SESSIONS}", large)] if large else [])],
    )  # fmt: skip
    known = [
        one for one in found if one.read["the map"].n >= LEAST_SESSIONS or one.commands["the map"].n >= LEAST_SESSIONS
    ]
    other = table(
        ("project", "sessions", "read: n", "map", "often", "commands: n", "map", "often", "often, tellable",
         "told lines", "came true", "sessions told", "tokens (p50)", "looks before the first edit", "of these led"),
        [
            (
                one.project, one.sessions,
                one.read["the map"].n, _of(one.read["the map"]), _of(one.read["how often touched"]),
                one.commands["the map"].n, *(_of(one.commands[way]) for way in COMMAND_WAYS), one.told,
                "-" if one.precision is None else f"{one.precision:.2f}",
                one.answered, one.tokens_p50, one.looks, one.looks_led,
            )
            for one in known
        ],
    )  # fmt: skip
    return f"{edited}\n\n{other}"


def _means(name: str, several: Sequence[ProjectMap]) -> tuple[object, ...]:
    def mean_of(shares: Iterable[Share]) -> str:
        values = [share.value for share in shares if share.value is not None]
        return f"{sum(values) / len(values):.3f}" if values else "-"

    return (
        f"**{name}**", sum(one.edited["the map"].n for one in several),
        *(mean_of(one.edited[way] for one in several) for way in WAYS.values()),
        mean_of(one.unnamed["the map"] for one in several),
        mean_of(one.unnamed["how often edited"] for one in several), "",
    )  # fmt: skip


def _of(share: Share) -> str:
    return _share(share.value)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


class Goal(NamedTuple):
    """What is measured, of which files or commands, and what the mean over projects is to be."""

    name: str
    kind: str
    way: str
    least: float


_GOALS = (
    Goal("edited files", "edited", "the map", 0.60),
    Goal("… how often edited", "edited", "how often edited", 0.60),
    Goal("commands", "commands", "the map", 0.80),
)
_DRAWS = 10_000


def by_chance(found: Iterable[Project]) -> str:
    """How far the means over projects may lie by chance: their sessions drawn again and again, with return."""
    walked = [list(outcomes(project.history)) for project in found]
    draw = np.random.default_rng(7)
    rows = []
    for goal in _GOALS:
        scored = [
            [one.told / one.needed for each in own if (one := getattr(each, goal.kind).get(goal.way)) and one.needed]
            for own in walked
        ]
        several = [np.array(own) for own in scored if len(own) >= LEAST_SESSIONS]
        means = np.mean([draw.choice(own, (_DRAWS, len(own))).mean(axis=1) for own in several], axis=0)
        low, high = np.quantile(means, (0.025, 0.975))
        value = np.mean([own.mean() for own in several])
        reached = (means >= goal.least).mean()
        rows.append(
            (goal.name, len(several), sum(map(len, several)), f"{value:.3f}", f"{low:.3f} to {high:.3f}",
             f"{goal.least:.2f}", f"{reached:.0%}")
        )  # fmt: skip
    return table(("mean over projects", "projects", "sessions", "share", "95 %", "goal", "draws that reach it"), rows)


def at_most(found: Iterable[Project]) -> str:
    """What a perfect order would find: ten at the most, of those that are on the map."""
    rows: list[tuple[str, list[float | None]]] = []
    for project in found:
        kinds = zip(*map(_best, scenes(project.history)), strict=True)
        own = [[share for share in shares if share is not None] for shares in kinds]
        rows.append((project.name, [mean(shares) if len(shares) >= LEAST_SESSIONS else None for shares in own]))
    shown = sorted((name, shares) for name, shares in rows if any(share is not None for share in shares))
    columns = [[shares[at] for _, shares in shown] for at in range(3)]
    known = [[share for share in column if share is not None] for column in columns]
    shown.append(("**mean**", [mean(shares) if shares else None for shares in known]))
    return table(
        ("a perfect order", "edited", "read", "commands that may be told"),
        [(name, *map(_share, shares)) for name, shares in shown],
    )


def _best(scene: Scene) -> list[float | None]:
    trip, earlier, known, touched = scene
    files, commands = {file.path for file in known.files}, {parted(command.key)[1] for command in known.commands}
    wanted = (
        (needed(trip.edited, touched), files),
        (needed(trip.looked - trip.edited, touched), files),
        ({run.command for run in trip.ran} & {run.command for past in earlier for run in past.ran}, commands),
    )
    return [min(TOLD, len(need & there)) / len(need) if need else None for need, there in wanted]


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else "tune"
    found = list(projects({**folders(), **others()} if part == "tune" else folders("look-once")))
    text = f"{tables(measured(found))}\n\n{by_chance(found)}\n\n{at_most(found)}"
    if part == "tune":
        made = of_the_others(found)
        text += f"\n\n{by_the_others(left_out(found, made))}\n\n{in_short_histories(cut_short(found, made))}"
    print(text)
    if "--write" in sys.argv:
        # The first look stays as it was found.
        write_between(PAGE, "map tune" if part == "tune" else "map after mending", text)


def write_between(page: Path, name: str, text: str) -> None:
    """Put a text between the marks that a page has for it."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    if not found:
        raise SystemExit(f"{page} has no {begin}")
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
