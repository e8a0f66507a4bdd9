"""Make the weights of the map: `python -m benchmarks.map_train [--write]`, on the real sessions beside the checkout.

Only projects that `judge/split.txt` lets one tune on are read, and the other histories. Printed is what the map finds
in each project by weights of all the *others*; written are the weights of all together. A task is a choice among the
files known at the time: the weights make the files that were then edited likely (listwise softmax, Newton's method).
Where a format does not name the files of edits, the files that were read stand for them.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hardwon import Hardwon
from hardwon.map.draw import Trip, trips
from hardwon.map.known import VISITS_KEPT
from hardwon.map.signals import SIGNALS, Evidence, without_task
from hardwon.measure.map_replay import TOLD, outcomes, scenes

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"
PAGE = REPOSITORY / "src" / "hardwon" / "map" / "signals.py"
LEAST_SESSIONS = 4
"""A project with fewer sessions that needed a known file is learned from, but not reported."""
_RIDGE = 20.0
_TASKS_PER_PROJECT = 70
"""So that one long history does not decide for all."""
_OTHER_FILES_PER_TASK = 50
_SHORT_HISTORY = 4
"""Each project is also learned from as if it were this young."""
_STEPS = 12

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


class Task(NamedTuple):
    signals: Matrix
    general: Matrix
    """What is known without a task."""
    needed: Vector
    """1 for the files that the session edited."""


def folders(part: str = "tune") -> dict[str, list[Path]]:
    """The projects of a part of the split, each with its folders."""
    found: dict[str, list[Path]] = {}
    for line in (SHARED / "judge" / "split.txt").read_text().splitlines():
        said, _, name = line.partition(" ")
        if said == part:
            found[name.strip()] = sorted((SHARED / "data" / "projects").glob(f"*/{name.strip()}"))
    return {name: paths for name, paths in found.items() if paths}


def others() -> dict[str, list[Path]]:
    """Histories that belong to no part."""
    found = {
        f"{path.parent.name} {path.name}": [path] for path in sorted((SHARED / "data" / "transcripts").glob("*/*"))
    }
    found["specstory-cli"] = [SHARED / "data" / "replay" / "specstory-cli"]
    return {name: paths for name, paths in found.items() if not name.startswith(("tau-bench", "swe-agent"))}


def histories(wanted: dict[str, list[Path]]) -> Iterator[tuple[str, list[Trip]]]:
    """The sessions of each project: of the one that most of the files belong to."""
    for name, paths in wanted.items():
        with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
            memory.harvest(paths)
            db = memory.reading()
            found = [trips(db, row[0], limit=1_000_000) for row in db.query("SELECT id FROM project ORDER BY id")]
        if found and (most := max(found, key=len)):
            yield name, most


def edits_or_reads(history: Sequence[Trip]) -> list[Trip]:
    """Where nearly no session is known to have edited a file, what it read stands for it."""
    if sum(bool(trip.edited) for trip in history) >= 0.2 * sum(bool(trip.looked) for trip in history):
        return list(history)
    return [trip._replace(edited=trip.edited | trip.looked) for trip in history]


def tasks(history: Sequence[Trip], visits: int = VISITS_KEPT) -> list[Task]:
    found = []
    for trip, _, known in scenes(history, visits):
        needed = [float(file.path in trip.edited) for file in known.files]
        if any(needed):
            evidence = Evidence(known, trip.words)
            rows = [evidence.of(file, len(known.visits)) for file in known.files]
            general = [without_task(file, len(known.visits)) for file in known.files]
            found.append(Task(np.array(rows), np.array(general), np.array(needed)))
    return found


def thinned(found: list[Task], most: int, chance: random.Random) -> list[Task]:
    chosen = found if len(found) <= most else chance.sample(found, most)
    return [_with_some_others(task, chance) for task in chosen]


def _with_some_others(task: Task, chance: random.Random) -> Task:
    rest = [at for at, needed in enumerate(task.needed) if not needed]
    if len(rest) > _OTHER_FILES_PER_TASK:
        lately = sorted(rest, key=lambda at: -task.signals[at, 0])[: _OTHER_FILES_PER_TASK // 2]
        rest = lately + chance.sample(sorted(set(rest) - set(lately)), _OTHER_FILES_PER_TASK // 2)
    kept = [at for at, needed in enumerate(task.needed) if needed] + rest
    return Task(task.signals[kept], task.general[kept], task.needed[kept])


def fit(signals_of: Sequence[Matrix], found: Sequence[Task]) -> Vector:
    """The weights, in the signals' own units."""
    spread = np.concatenate(signals_of).std(axis=0) + 1e-9
    scaled = [(own / spread, task.needed / task.needed.sum()) for own, task in zip(signals_of, found, strict=True)]
    made = np.zeros(len(spread))
    for _ in range(_STEPS):
        slope, bend = _RIDGE * made, np.diag(np.full(len(made), _RIDGE))
        for signals, wanted in scaled:
            score = signals @ made
            chance = np.exp(score - score.max())
            chance /= chance.sum()
            usual = signals.T @ chance
            slope = slope + usual - signals.T @ wanted
            bend = bend + (signals * chance[:, None]).T @ signals - np.outer(usual, usual)
        made = made - np.linalg.solve(bend, slope)
    weights_: Vector = made / spread
    return weights_


def recall(signals_of: Sequence[Matrix], found: Sequence[Task], made: Vector) -> float:
    shares = []
    for own, task in zip(signals_of, found, strict=True):
        told = np.argsort(-(own @ made), kind="stable")[:TOLD]
        shares.append(task.needed[told].sum() / task.needed.sum())
    return float(np.mean(shares))


def main() -> None:
    chance = random.Random(20260401)
    read = {name: edits_or_reads(history) for name, history in histories({**folders(), **others()})}
    whole = {name: found for name, history in read.items() if (found := tasks(history))}
    learned = {
        name: thinned(found, _TASKS_PER_PROJECT, chance)
        + thinned(tasks(read[name], _SHORT_HISTORY), _TASKS_PER_PROJECT // 5, chance)
        for name, found in whole.items()
    }
    print(f"Files edited, known before, among {TOLD}; the map by weights of all the other projects")
    print(f"{'project':40} {'n':>4} {'often':>6} {'lately':>6} {'bare':>6} {'map':>6}")
    for name, found in sorted(whole.items(), key=lambda one: -len(one[1])):
        if len(found) < LEAST_SESSIONS:
            continue
        rest = [task for other, several in learned.items() if other != name for task in several]
        made, plain = fit([task.signals for task in rest], rest), fit([task.general for task in rest], rest)
        walked = [one for one in outcomes(read[name]) if one.edited and one.edited["the map"].needed]
        naive = [
            np.mean([one.edited[way].told / one.edited[way].needed for one in walked])
            for way in ("how often edited", "how lately")
        ]
        without = recall([task.general for task in found], found, plain)
        mapped = recall([task.signals for task in found], found, made)
        print(f"{name:40} {len(found):4} {naive[0]:6.3f} {naive[1]:6.3f} {without:6.3f} {mapped:6.3f}")
    every = [task for several in learned.values() for task in several]
    made, plain = fit([task.signals for task in every], every), fit([task.general for task in every], every)
    for name, weight in zip(SIGNALS, made, strict=True):
        print(f"{weight:8.3f}  {name}")
    if "--write" in sys.argv:
        page = PAGE.read_text()
        for name, numbers in (("WEIGHTS", made), ("WITHOUT_TASK", plain)):
            page = re.sub(rf"^{name} = .*$", f"{name} = ({_listed(numbers)})", page, flags=re.MULTILINE)
        PAGE.write_text(page)


def _listed(numbers: Vector) -> str:
    return ", ".join(f"{number:.3f}" for number in numbers)


if __name__ == "__main__":
    main()
