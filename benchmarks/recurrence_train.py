"""Fit the weights by which failures are ranked, `recurrence.json`: `python -m benchmarks.recurrence_train`.

The real sessions beside the checkout are walked in time, those of the projects to tune on and the other histories. At
each session's start every failure that is known is a sample: did the session meet it? Long histories are learned from
in pieces of 8 and 16 sessions, too, so that the weights hold where few sessions are known. Printed is what the rule
foresees in each project by weights of all the *others*, whole and in pieces, beside two naive ways to choose (the table
goes into docs/tables.md); then the weights of all projects are written. `--dry` writes nothing.
"""

from __future__ import annotations

import heapq
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from hardwon.api import Hardwon
from hardwon.briefing import rank
from hardwon.briefing.policy import FAILURES_TOLD, most_told, unlikely
from hardwon.briefing.rank import SESSIONS_REMEMBERED, Chances, Signals
from hardwon.measure.replay import Scratch, load
from hardwon.store import failures, sessions
from hardwon.store.failures import Likely
from hardwon.text.shown import FAILURES, FRAME_TOKENS, HEADING_TOKENS

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"
PAGE = REPOSITORY / "docs" / "tables.md"
WEIGHTS = REPOSITORY / "src" / "hardwon" / "briefing" / "recurrence.json"
OTHER_HISTORIES = ("replay/specstory-cli", "transcripts/opencode", "transcripts/codex", "transcripts/specstory")
BUDGETS = (150, 300, 600)
PIECES = (8, 16)
WHOLE = "whole"
_RIDGE = 5.0
_WEIGHT_OF_A_PIECE = 0.5
_MOST_OF_A_PROJECT = 40.0
"""Failures that came back, so that one long history does not decide for all."""
_LEAST_FORESEEABLE = 5
_LEAST_SHARE = 0.1

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


class Known(NamedTuple):
    """A failure that may be told when a session starts."""

    one: Likely
    tokens: int
    fix: bool


class Start(NamedTuple):
    """What was known when a session of a project started, and what it then met."""

    project: str
    at: int
    starts: list[int]
    known: list[Known]
    met: frozenset[str]


class Choice(NamedTuple):
    """The same, as the rule sees it."""

    signals: Matrix
    tokens: list[int]
    came_true: Vector
    most: int
    errors: int
    ages: Vector


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
        running: list[tuple[int, str, object]] = []
        for past in load(memory.reading()):
            while running and running[0][0] <= past.started_at:
                scratch.add([heapq.heappop(running)[2]])  # type: ignore[list-item]
            if past.project:
                found.append(_start(scratch, past.project, past.started_at, {met.failure for met in past.met}))
            heapq.heappush(running, (past.ended_at, past.root, past))
        scratch.close()
    return found


def _start(scratch: Scratch, project: str, at: int, met: Iterable[str]) -> Start:
    db = scratch.db
    known = [one for one in failures.likely(db, project, 500) if not rank._not_told(one.row)]
    fixes = failures.fixes(db, [one.row.id for one in known], project)
    lines = [(one, rank.as_line(one, fixes[one.row.id])) for one in known]
    told = [Known(one, rank.cost(f"- {line.text}"), bool(line.fix)) for one, line in lines]
    return Start(project, at, sessions.starts(db, project, SESSIONS_REMEMBERED), told, frozenset(met))


def choices(history: Sequence[Start]) -> list[Choice]:
    """As if the first of these sessions were the first of its project."""
    begun: dict[str, int] = {}
    found = []
    for start in history:
        since = begun.setdefault(start.project, start.at)
        known = [
            Known(Likely(one.row._replace(sessions=len(visits)), one.place, visits), tokens, fix)
            for one, tokens, fix in start.known
            if (visits := tuple(at for at in one.visits if at >= since))
        ]
        errors, different = sum(len(each.one.visits) for each in known), len(known)
        chances = Chances(errors, different, [at for at in start.starts if at >= since])
        seen = [chances.signals(each.one, fix=each.fix) for each in known]
        found.append(
            Choice(
                np.array([(1.0, *each) for each in seen]).reshape(len(seen), len(Signals._fields) + 1),
                [each.tokens for each in known],
                np.array([float(each.one.row.id in start.met) for each in known]),
                most_told(errors, different),
                len(start.met),
                np.array([each.age for each in seen]),
            )
        )
    return found


def _piece(length: int) -> str:
    return f"pieces of {length}"


def pieces(history: Sequence[Start], length: int) -> list[Choice]:
    if len(history) <= 2 * length:
        return []
    return [
        choice
        for first in range(0, len(history) - length // 2, length // 2)
        for choice in choices(history[first : first + length])
    ]


History = dict[str, list[Choice]]
"""Whole, and in pieces of each length."""


def fitted(histories: Iterable[History]) -> Vector:
    """The weights, the bias first."""
    matrices, targets, weights = [], [], []
    for history in histories:
        parts = [(choice, 1.0 if name == WHOLE else _WEIGHT_OF_A_PIECE) for name in history for choice in history[name]]
        target = np.concatenate([choice.came_true for choice, _ in parts])
        weight = np.concatenate([np.full(len(choice.came_true), each) for choice, each in parts])
        matrices.append(np.vstack([choice.signals for choice, _ in parts]))
        targets.append(target)
        weights.append(weight * min(1.0, _MOST_OF_A_PROJECT / max(1.0, float(target @ weight))))
    matrix, target, weight = np.vstack(matrices), np.concatenate(targets), np.concatenate(weights)
    ridge = np.full(matrix.shape[1], _RIDGE)
    ridge[0] = 0.0

    def loss(b: Vector) -> tuple[float, Vector]:
        z = matrix @ b
        value = float((weight * (np.logaddexp(0, z) - target * z)).sum() + 0.5 * (ridge * b * b).sum())
        return value, matrix.T @ (weight * (1 / (1 + np.exp(-z)) - target)) + ridge * b

    return np.asarray(minimize(loss, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B").x)


Rule = Callable[[Choice], list[int]]
"""The positions of the failures that are told, best first."""


def by_weights(weights: Vector) -> Rule:
    def told(choice: Choice) -> list[int]:
        chance = 1 / (1 + np.exp(-choice.signals @ weights))
        best = [int(at) for at in np.argsort(-chance, kind="stable")]
        return [at for at in best[: choice.most] if not unlikely(chance[at], chance[best[0]])]

    return told


def newest_three(choice: Choice) -> list[int]:
    return [int(at) for at in np.argsort(choice.ages, kind="stable")][:3]


def most_frequent(choice: Choice) -> list[int]:
    return [int(at) for at in np.argsort(-choice.signals[:, 1], kind="stable")][:FAILURES_TOLD]


class Row(NamedTuple):
    foreseeable: int
    errors: int
    sessions: int
    told: tuple[tuple[int, int], ...]
    """(came true, lines) at each budget."""


def judged(history: Sequence[Choice], rule: Rule) -> Row:
    tallies = [[0, 0] for _ in BUDGETS]
    for choice in history:
        order = rule(choice) if choice.tokens else []
        for tally, budget in zip(tallies, BUDGETS, strict=True):
            room = budget - FRAME_TOKENS - HEADING_TOKENS[FAILURES]
            for at in order:
                if choice.tokens[at] <= room:
                    room -= choice.tokens[at]
                    tally[0] += int(choice.came_true[at])
                    tally[1] += 1
    foreseeable = int(sum(choice.came_true.sum() for choice in history))
    errors = sum(choice.errors for choice in history)
    return Row(foreseeable, errors, len(history), tuple((true, lines) for true, lines in tallies))


def report(part: str, histories: dict[str, History], rules: dict[str, dict[str, Rule]]) -> list[str]:
    """A line of the table for each way to choose; what each project has to say is printed."""
    lines = []
    for way, of_project in rules.items():
        shares, quiet = [], []
        for name, history in histories.items():
            row = judged(history.get(part, []), of_project[name])
            if not row.errors:
                continue
            if row.foreseeable < _LEAST_SHARE * row.errors:
                quiet.append(row.told[-1][1] / row.sessions)
            elif row.foreseeable >= _LEAST_FORESEEABLE:
                shares.append(
                    [(true / row.foreseeable, true / max(1, lines), lines / row.sessions) for true, lines in row.told]
                )
            if row.foreseeable and part == WHOLE:
                cells = ", ".join(f"{true} in {lines} lines" for true, lines in row.told)
                print(f"{way}, {name}: {row.foreseeable} of {row.errors} errors in {row.sessions} sessions; {cells}")
        means = np.array(shares).mean(axis=0) if shares else np.zeros((len(BUDGETS), 3))
        told = [f"{foreseen:.2f}, {true:.0%}, {lines:.1f}" for foreseen, true, lines in means]
        few = f"{np.mean(quiet or [0]):.1f}, {max(quiet, default=0):.1f}"
        lines.append(f"| {' | '.join((part, way, *told, few))} |\n")
    return lines


def write_table(lines: Iterable[str]) -> None:
    """Into the page, between its marks."""
    head = (
        "history",
        "chosen by",
        *(f"{budget} tokens" for budget in BUDGETS),
        "lines a session where few come back: mean, most",
    )
    made = f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n{''.join(lines)}"
    before, begin, rest = PAGE.read_text().partition("<!-- recurrence: begin -->\n")
    PAGE.write_text(before + begin + made + "<!-- recurrence: end -->" + rest.partition("<!-- recurrence: end -->")[2])


def main() -> None:
    found = {folder.name: starts(folder) for folder in tune_folders() if folder.exists()}
    histories: dict[str, History] = {}
    for name, history in found.items():
        whole = choices(history)
        if any(choice.tokens for choice in whole):
            histories[name] = {WHOLE: whole, **{_piece(length): pieces(history, length) for length in PIECES}}
    others = {
        name: by_weights(fitted(history for other, history in histories.items() if other != name)) for name in histories
    }
    rules: dict[str, dict[str, Rule]] = {
        "by weights of the others": others,
        "newest three": dict.fromkeys(histories, newest_three),
        "most frequent": dict.fromkeys(histories, most_frequent),
    }
    table = [line for part in (WHOLE, *map(_piece, PIECES)) for line in report(part, histories, rules)]
    print("".join(table))
    weights = dict(
        zip(("bias", *Signals._fields), (round(float(w), 3) for w in fitted(histories.values())), strict=True)
    )
    print(json.dumps(weights))
    if "--dry" not in sys.argv:
        WEIGHTS.write_text(json.dumps(weights, indent=1) + "\n")
        write_table(table)


if __name__ == "__main__":
    main()
