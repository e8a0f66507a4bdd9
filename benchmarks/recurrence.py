"""What is foreseen in long and in short histories, and at which bar: `python -m benchmarks.recurrence [--write]`.

The real sessions beside the checkout are walked in time, those of the projects to tune on and the other histories: at
each session's start, which of the failures that are known does the session then meet? Histories are also cut into
pieces, each as if it were a new project. Printed is what our rule foresees at several bars, beside two naive ways to
choose; `--write` puts the table into docs/tables.md.
"""

from __future__ import annotations

import heapq
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from hardwon.api import Hardwon
from hardwon.briefing import foreseen
from hardwon.briefing.foreseen import SESSIONS_REMEMBERED, Chances
from hardwon.briefing.policy import FAILURES_TOLD, LEAST_CHANCE, LEAST_CHANCE_OF_THE_FIRST
from hardwon.briefing.rank import cost
from hardwon.measure.replay import Past, Scratch, load
from hardwon.store import failures, sessions
from hardwon.store.failures import Likely
from hardwon.text.shown import FAILURES, FRAME_TOKENS, HEADING_TOKENS

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"
PAGE = REPOSITORY / "docs" / "tables.md"
BEGIN, END = "<!-- recurrence: begin -->\n", "<!-- recurrence: end -->"
OTHER_HISTORIES = ("replay/specstory-cli", "transcripts/opencode", "transcripts/codex", "transcripts/specstory")
BUDGETS = (150, 300, 600)
PIECES = (8, 13, 20)
WHOLE = 1 << 20
BARS = (0.02, 0.03, LEAST_CHANCE, 0.05, 0.08)
_LEAST_FORESEEABLE = 5
_LEAST_SHARE = 0.1


class Known(NamedTuple):
    """A failure that may be told when a session starts."""

    id: str
    tokens: int
    chance: float
    age: int
    met: int


class Start(NamedTuple):
    """What was known when a session of a project started, and what it then met."""

    project: str
    at: int
    starts: list[int]
    known: list[tuple[Likely, int]]
    met: frozenset[str]


class Choice(NamedTuple):
    """The same, as if the first session of a piece were the first of its project."""

    known: list[Known]
    met: frozenset[str]

    @property
    def foreseeable(self) -> int:
        return sum(one.id in self.met for one in self.known)


Rule = Callable[[Choice], list[Known]]
"""The failures that are told, best first."""


def tune_folders() -> list[Path]:
    lines = (SHARED / "judge" / "split.txt").read_text().splitlines()
    names = {line.split()[1] for line in lines if line.startswith("tune")}
    found = sorted(path for path in (SHARED / "data" / "projects").glob("*/*") if path.name in names)
    return [*found, *(SHARED / "data" / history for history in OTHER_HISTORIES)]


def starts(folder: Path) -> list[Start]:
    """Every session of a folder, the earliest first."""
    found: list[Start] = []
    with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
        memory.harvest([folder], mine=True)
        scratch = Scratch(memory.reading())
        running: list[tuple[int, str, Past]] = []
        for past in load(memory.reading()):
            while running and running[0][0] <= past.started_at:
                scratch.add([heapq.heappop(running)[2]])
            if past.project:
                found.append(_start(scratch, past.project, past))
            heapq.heappush(running, (past.ended_at, past.root, past))
        scratch.close()
    return found


def _start(scratch: Scratch, project: str, past: Past) -> Start:
    db = scratch.db
    known = [
        one
        for one in failures.likely(db, project, 500)
        if not foreseen._not_told(one.row.error, one.row.signature, one.row.family, one.row.command)
    ]
    fixes = failures.fixes(db, [one.row.id for one in known], project)
    lines = [foreseen.as_line(one, fixes[one.row.id]) for one in known]
    told = [(one, cost(f"- {line.text}")) for one, line in zip(known, lines, strict=True)]
    met = frozenset(one.failure for one in past.met)
    return Start(project, past.started_at, sessions.starts(db, project, SESSIONS_REMEMBERED), told, met)


def choices(piece: Sequence[Start]) -> list[Choice]:
    begun: dict[str, int] = {}
    found = []
    for start in piece:
        since = begun.setdefault(start.project, start.at)
        known = [
            (one._replace(visits=visits, row=one.row._replace(first_seen=visits[-1], sessions=len(visits))), tokens)
            for one, tokens in start.known
            if (visits := tuple(at for at in one.visits if at >= since))
        ]
        errors = sum(len(one.visits) for one, _ in known)
        starts = [at for at in start.starts if at >= since]
        chances = Chances(errors, len(known), starts, [one.row.first_seen for one, _ in known])
        told = [
            Known(one.row.id, tokens, chances.of(one).value, chances.age(one.visits[0]), len(one.visits))
            for one, tokens in known
        ]
        found.append(Choice(told, start.met))
    return found


def pieces(history: Sequence[Start], length: int) -> list[Choice]:
    firsts = range(0, max(1, len(history) - length // 2), length)
    return [choice for first in firsts for choice in choices(history[first : first + length])]


def likeliest(bar: float) -> Rule:
    def told(choice: Choice) -> list[Known]:
        best = sorted(choice.known, key=lambda one: -one.chance)[:FAILURES_TOLD]
        least = min(bar, LEAST_CHANCE_OF_THE_FIRST)
        return [one for at, one in enumerate(best) if one.chance >= (bar if at else least)]

    return told


def newest_three(choice: Choice) -> list[Known]:
    return sorted(choice.known, key=lambda one: one.age)[:3]


def most_frequent(choice: Choice) -> list[Known]:
    return sorted(choice.known, key=lambda one: -one.met)[:FAILURES_TOLD]


RULES: dict[str, Rule] = {
    **{f"a chance of {bar * 100:g}%{', ours' if bar == LEAST_CHANCE else ''}": likeliest(bar) for bar in BARS},
    "newest three": newest_three,
    "most frequent": most_frequent,
}


def told(history: Iterable[Choice], rule: Rule, budget: int) -> tuple[int, int]:
    """(lines that came true, lines)"""
    true = lines = 0
    for choice in history:
        room = budget - FRAME_TOKENS - HEADING_TOKENS[FAILURES]
        for one in rule(choice):
            if one.tokens <= room:
                room -= one.tokens
                lines += 1
                true += one.id in choice.met
    return true, lines


def row(histories: dict[str, list[Choice]], rule: Rule) -> list[str]:
    """Foreseen, came true and lines a session at each budget: the mean of the projects where errors come back."""
    back: dict[str, int] = {}
    few = []
    for name, history in histories.items():
        foreseeable, errors = sum(one.foreseeable for one in history), sum(len(one.met) for one in history)
        if foreseeable >= max(_LEAST_FORESEEABLE, _LEAST_SHARE * errors):
            back[name] = foreseeable
        elif errors and foreseeable < _LEAST_SHARE * errors:
            few.append(told(history, rule, BUDGETS[-1])[1] / len(history))
    cells = []
    for budget in BUDGETS:
        each = [
            (told(histories[name], rule, budget), foreseeable, len(histories[name]))
            for name, foreseeable in back.items()
        ]
        shares = (
            fmean(true / of for (true, _), of, _ in each),
            fmean(true / max(1, lines) for (true, lines), _, _ in each),
        )
        cells.append(f"{shares[0]:.2f}, {shares[1]:.0%}, {fmean(lines / held for (_, lines), _, held in each):.1f}")
    return [*cells, f"{fmean(few):.1f}, {max(few):.1f}"]


def main() -> None:
    found = {folder.name: starts(folder) for folder in tune_folders() if folder.exists()}
    head = (
        "history",
        "told",
        *(f"{budget} tokens" for budget in BUDGETS),
        "lines a session where few come back: mean, most",
    )
    lines = [head, ("---",) * len(head)]
    for length in (*PIECES, WHOLE):
        histories = {name: pieces(history, length) for name, history in found.items()}
        part = "whole" if length == WHOLE else f"pieces of {length}"
        lines += [(part, name, *row(histories, rule)) for name, rule in RULES.items()]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    print(table)
    if "--write" in sys.argv:
        before, begin, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(before + begin + table + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
