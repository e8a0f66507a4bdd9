"""Fit the weights of `hardwon/harvest/score.py` to labelled statements, and tell how well they do elsewhere.

`make train` (or `python -m benchmarks.train_worth`) reads the labels beside the checkout (`../shared/judge`) and
those of `data/statements.tsv` (the same ids and letters, no sentences; three readers, one each), of the projects to
tune on and of the other sessions that are not set aside, finds each statement again in the sessions, tests on each
project with weights fitted on the others, prints that, and writes `worth.json` fitted on all of them. `--dry` writes
nothing.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from hardwon.errors import HardwonError
from hardwon.failures.ledger import read
from hardwon.harvest.rules import sentences
from hardwon.harvest.rules.sentences import Statement, statements
from hardwon.sessions.discover import below

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"
OWN_LABELS = Path(__file__).parent / "data" / "statements.tsv"
WEIGHTS = REPOSITORY / "src" / "hardwon" / "harvest" / "worth.json"
TARGET = {"k": 1.0, "m": 0.6, "n": 0.0}
"""Arguable ones are nearer to the kept than to the others: told, they do no harm."""
LABELS = {"k": "clear", "m": "arguable", "n": "no"}
RIDGE, RIDGE_OF_WORDS = 3.0, 10.0
PROJECTS_OF_A_WORD = 5
"""In so many a word must stand to have a weight: what one project speaks of tells nothing of others."""


class Labelled(NamedTuple):
    project: str
    said: Statement
    keep: str
    alone: str


def labelled(shared: Path = SHARED) -> list[Labelled]:
    """The statements of the projects to tune on that somebody labelled, each with what stood around it."""
    labels: dict[str, dict[str, str]] = {}
    for path in (OWN_LABELS, shared / "judge" / "statements.tsv"):
        with path.open() as file:
            labels |= {row["id"]: row for row in csv.DictReader(file, delimiter="\t")}
    found: dict[str, Labelled] = {}
    for project, path in _to_tune_on(shared):
        try:
            sessions = read(path).sessions
        except HardwonError:
            continue
        for said in (one for session in sessions for one in statements(session)):
            id = _id(project, said.text)
            if id in labels and id not in found:
                found[id] = Labelled(project, said, labels[id]["keep"], labels[id]["alone"])
    return [found[id] for id in sorted(found)]


def _to_tune_on(shared: Path) -> Iterator[tuple[str, Path]]:
    """(the name of a project, a log of it): the projects to tune on, and collections that are of no project."""
    lines = (shared / "judge" / "split.txt").read_text().splitlines()
    tune = {line.split()[1] for line in lines if line.startswith("tune")}
    for folder in sorted((shared / "data" / "projects").glob("*/*")):
        yield from ((folder.name, path) for path in below(folder) if folder.name in tune)
    for kind in ("transcripts", "replay"):
        for folder in sorted((shared / "data" / kind).glob("*")):
            yield from ((f"{kind[0]}-{folder.name}", path) for path in below(folder))


def _id(project: str, text: str) -> str:
    flat = re.sub(r"\W+", " ", text.lower()).strip()
    return hashlib.blake2b(f"{project}\0{flat}".encode(), digest_size=8).hexdigest()


def seen(said: Statement) -> list[str]:
    return sentences.features(
        said.text, first=said.first, item=said.item, nth=said.nth, length=said.length, stopped=said.stopped
    )


def named(rows: list[Labelled]) -> list[str]:
    """What has a weight: every form, and the words of several projects."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name in seen(row.said):
            found[name].add(row.project)
    return sorted(name for name in found if not name.startswith("«") or len(found[name]) >= PROJECTS_OF_A_WORD)


def fitted(rows: list[Labelled], names: list[str]) -> np.ndarray:
    """The weights, the bias first; a project of many statements counts for less than their number."""
    matrix = _matrix(rows, names)
    target = np.array([TARGET[row.keep] for row in rows])
    counts = Counter(row.project for row in rows)
    weight = np.array([counts[row.project] ** -0.5 for row in rows])
    weight *= len(rows) / weight.sum()
    ridge = np.array([0.0, *(RIDGE_OF_WORDS if name.startswith("«") else RIDGE for name in names)])

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        z = matrix @ b
        value = float((weight * (np.logaddexp(0, z) - target * z)).sum() + 0.5 * (ridge * b * b).sum())
        return value, matrix.T @ (weight * (1 / (1 + np.exp(-z)) - target)) + ridge * b

    found = minimize(loss, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 400})
    return np.asarray(found.x)


def _matrix(rows: list[Labelled], names: list[str]) -> np.ndarray:
    place = {name: at for at, name in enumerate(names, 1)}
    matrix = np.zeros((len(rows), len(names) + 1))
    matrix[:, 0] = 1
    for row, one in enumerate(rows):
        for name in seen(one.said):
            if name in place:
                matrix[row, place[name]] = 1
    return matrix


def elsewhere(rows: list[Labelled], names: list[str]) -> np.ndarray:
    """The worth of each statement by weights fitted on all other projects."""
    found = np.zeros(len(rows))
    for project in sorted({row.project for row in rows}):
        there = [at for at, row in enumerate(rows) if row.project == project]
        weights = fitted([row for row in rows if row.project != project], names)
        found[there] = 1 / (1 + np.exp(-_matrix([rows[at] for at in there], names) @ weights))
    return found


def auc(worth: np.ndarray, positive: np.ndarray) -> float:
    rank = np.empty(len(worth))
    rank[np.argsort(worth, kind="stable")] = np.arange(1, len(worth) + 1)
    count = positive.sum()
    return float((rank[positive].sum() - count * (count + 1) / 2) / (count * (len(worth) - count)))


def main() -> None:
    rows = labelled()
    names = named(rows)
    worth = elsewhere(rows, names)
    keep = np.array([row.keep for row in rows])
    projects = len({row.project for row in rows})
    counts = ", ".join(f"{what} {np.sum(keep == key)}" for key, what in LABELS.items())
    print(f"{len(rows)} statements of {projects} projects ({counts}), each tested on weights of the other projects")
    print(f"AUC: clear ones {auc(worth, keep == 'k'):.3f}, clear or arguable ones {auc(worth, keep != 'n'):.3f}")
    for bar in (0.2, 0.3, 0.4, 0.5, 0.6):
        told = keep[worth >= bar]
        if len(told):
            shares = ", ".join(f"{what} {np.mean(told == key):.0%}" for key, what in LABELS.items())
            found = np.sum(told == "k") / np.sum(keep == "k")
            print(f"worth ≥ {bar}: {len(told)} statements ({shares}), {found:.0%} of the clear ones")
    if "--dry" not in sys.argv:
        weights = zip(["bias", *names], (round(float(weight), 3) for weight in fitted(rows, names)), strict=True)
        kept = {name: weight for name, weight in weights if weight or not name.startswith("«")}
        WEIGHTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
