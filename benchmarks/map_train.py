"""Make the weights of the map: `python -m benchmarks.map_train [--write]`, on the real sessions beside the checkout.

Only projects that `judge/split.txt` lets one tune on are read, and the other histories. What the map finds in each
project by weights of all the *others* is in the report of `benchmarks.map_replay tune`. A task is a choice among the
files known at the time: the weights make the files likely that were then edited, or read (listwise softmax, Newton's
method). Every prompt of a session is a task; long histories are also learned from in pieces, so that the weights hold
where few sessions are known. Where a format does not name the files of edits, those read stand for them.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hardwon import Hardwon
from hardwon.failures.turns import turns
from hardwon.harvest.learn import touch_calls
from hardwon.map.draw import Trip, trips
from hardwon.map.known import Known
from hardwon.map.signals import SIGNALS, Evidence, lately, likely, without_task
from hardwon.map.touched import place, touches
from hardwon.measure.map_replay import TOLD, WAYS, scenes
from hardwon.model.session import Session
from hardwon.sessions.project import checkout
from hardwon.sessions.reader import read
from hardwon.store.database import Database
from hardwon.store.sessions import session_id

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"
PAGE = REPOSITORY / "src" / "hardwon" / "map" / "signals.py"
LEAST_SESSIONS = 3
"""A project with fewer sessions that needed a known file is learned from, but not reported."""
_RIDGE = 60.0
_TASKS_PER_PROJECT = 70
_PROMPTS_PER_PROJECT = 35
_TASKS_OF_PIECES = 40
"""More of them weigh no more than so many."""
_PIECES = (6, 15, 20)
"""Of so many sessions each."""
_LEAST_PIECE = 4
_LONG_HISTORY = 1.5
"""Times a piece: a shorter history is a piece already."""
CUTS = (4, 6, 10, 15)
OFTEN, TOUCHED, LATELY = PLAIN_WAYS = ("how often edited", "how often touched", "how lately")
_WEIGHT_OF_A_PROJECT = 30.0
"""So that one long history does not decide for all."""
_STEPS = 25
_LEAST_PROMPT_CHARACTERS = 16
_PROMPTS_PER_SESSION = 30
_NUMBERS_IN_A_LINE = 12

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


class Stretch(NamedTuple):
    """What followed a later prompt of a session."""

    words: str
    edited: frozenset[str]
    looked: frozenset[str]


class Project(NamedTuple):
    name: str
    history: list[Trip]
    later: dict[str, list[Stretch]]
    """Session → its prompts but for the first."""

    @property
    def family(self) -> str:
        """Projects of one hand, and copies of a repository, are left out together."""
        return re.split(r"[-_ ]", self.name.rpartition(" ")[2].removeprefix("specstoryai__get"))[0]


class Task(NamedTuple):
    signals: Matrix
    general: Matrix
    """What is known without a task."""
    edited: Vector
    """1 for the files that the session edited."""
    read: Vector
    """1 for those that it read only."""
    known: Known
    evidence: Evidence


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


def projects(wanted: dict[str, list[Path]]) -> Iterator[Project]:
    """The sessions of each project: of the one that most of the files belong to."""
    for name, paths in wanted.items():
        with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
            memory.harvest(paths)
            db = memory.reading()
            found = {row[0]: trips(db, row[0], limit=1_000_000) for row in db.query("SELECT id FROM project")}
            most = max(sorted(found), key=lambda id: len(found[id]), default="")
            if most and found[most]:
                yield Project(name, found[most], _later_prompts(db, most))


def _later_prompts(db: Database, project: str) -> dict[str, list[Stretch]]:
    found: dict[str, list[Stretch]] = {}
    rows = db.query("SELECT id, root, path FROM session WHERE project = ? AND subagent = ''", (project,))
    roots = {id: root for id, root, _ in rows}
    for path in sorted({row[2] for row in rows}):  # a file may hold many sessions
        for session in read(Path(path).expanduser()).sessions:
            if root := roots.get(session_id(session)):
                found[root] = list(_stretches(session))
    return found


def _stretches(session: Session) -> Iterator[Stretch]:
    done = turns(session)
    said = [
        (at, message.text)
        for at, message in enumerate(session.messages)
        if message.role == "user" and message.origin == "user" and message.text.strip() and not message.results
    ][: _PROMPTS_PER_SESSION + 1]
    where = place(session.cwd, checkout(session.cwd))
    for (at, words), (end, _) in zip(said[1:], [*said[2:], (len(session.messages), "")], strict=False):
        own = touches(touch_calls([turn for turn in done if at <= turn.message_index < end]), where)
        if len(words) >= _LEAST_PROMPT_CHARACTERS:
            edited = frozenset(touch.path for touch in own if touch.use == "edit")
            yield Stretch(words, edited, frozenset(touch.path for touch in own if touch.use in ("read", "run")))


def edits_or_reads(project: Project) -> Project:
    """Where nearly no session is known to have edited a file, what it read stands for it."""
    history = project.history
    if sum(bool(trip.edited) for trip in history) >= 0.2 * sum(bool(trip.looked) for trip in history):
        return project
    return Project(project.name, [trip._replace(edited=trip.edited | trip.looked) for trip in history], {})


class Tasks(NamedTuple):
    first: list[Task]
    """What sessions were opened with."""
    later: list[Task]
    """Their later prompts."""
    pieces: list[list[Task]]
    """Both, where only a piece of the history is known; a list for each length."""


def tasks(project: Project) -> Tasks:
    pieces = []
    for length in _PIECES:
        if len(project.history) >= _LONG_HISTORY * length:
            walked = [_walked(piece) for piece in cut(project, length)]
            pieces.append([task for first, later in walked for task in (*first, *later)])
    return Tasks(*_walked(project), pieces)


def cut(project: Project, length: int) -> list[Project]:
    """A history in pieces, as if the project were that young in each."""
    found = [project.history[at : at + length] for at in range(0, len(project.history), length)]
    return [project._replace(history=piece) for piece in found if len(piece) >= min(_LEAST_PIECE, len(project.history))]


def _walked(project: Project) -> tuple[list[Task], list[Task]]:
    first, later = [], []
    for trip, _, known, _ in scenes(project.history):
        if known.files:
            first.append(_task(known, trip.words, trip.edited, trip.looked))
            later += [_task(known, *stretch) for stretch in project.later.get(trip.root, ())]
    needed = [[task for task in several if task.edited.any() or task.read.any()] for several in (first, later)]
    return needed[0], needed[1]


def _task(known: Known, words: str, edited: frozenset[str], looked: frozenset[str]) -> Task:
    evidence = Evidence(known, words or "-")
    general = [without_task(file.edited, lately(len(known.visits))) for file in known.files]
    rows = evidence.rows or [(0.0,) * len(SIGNALS)] * len(known.files)
    return Task(
        np.array(rows),
        np.array(general),
        np.array([float(file.path in edited) for file in known.files]),
        np.array([float(file.path in looked and file.path not in edited) for file in known.files]),
        known,
        evidence,
    )


class Choice(NamedTuple):
    """Some files, and the share of the need that falls to each."""

    signals: Matrix
    wanted: Vector
    weight: float


def choices(found: Tasks, what: str, of: str) -> list[Choice]:
    """What is learned from a project; `what` is needed (edited, read) by what `of` tells (signals, general)."""
    pools = [(found.first, _TASKS_PER_PROJECT), (found.later, _PROMPTS_PER_PROJECT)]
    pools += [(piece, _TASKS_OF_PIECES) for piece in found.pieces]
    needing = [([task for task in several if getattr(task, what).any()], most) for several, most in pools]
    counted = sum(min(len(several), most) for several, most in needing)
    return [
        Choice(
            getattr(task, of),
            getattr(task, what) / getattr(task, what).sum(),
            min(1.0, _WEIGHT_OF_A_PROJECT / counted) * min(1.0, most / len(several)),
        )
        for several, most in needing
        for task in several
    ]


def fit(given: Sequence[Choice]) -> Vector:
    """The weights, in the signals' own units. All choices stand below one another."""
    signals_ = np.concatenate([one.signals for one in given])
    spread = signals_.std(axis=0) + 1e-9
    signals_ = signals_ / spread
    sizes = [len(one.wanted) for one in given]
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    of = np.repeat(np.arange(len(given)), sizes)
    weight = np.array([one.weight for one in given])
    wanted = weight[of] * np.concatenate([one.wanted for one in given])

    def tried(made: Vector) -> tuple[float, Vector]:
        scores = signals_ @ made
        most = np.maximum.reduceat(scores, first)
        grown = np.exp(scores - most[of])
        whole = np.add.reduceat(grown, first)
        lost = _RIDGE * (made @ made) / 2 + weight @ (most + np.log(whole)) - wanted @ scores
        return float(lost), grown / whole[of]

    made: Vector = np.zeros(len(spread))
    lost, chance = tried(made)
    for _ in range(_STEPS):
        usual = np.add.reduceat(signals_ * chance[:, None], first, axis=0)
        slope = _RIDGE * made + weight @ usual - wanted @ signals_
        bend = signals_.T @ (signals_ * (weight[of] * chance)[:, None]) - (usual * weight[:, None]).T @ usual
        step = np.linalg.solve(bend + _RIDGE * np.eye(len(made)), slope)
        while (now := tried(made - step))[0] > lost and np.abs(step).max() > 1e-6:  # a whole step may overshoot
            step = step / 2
        if lost - now[0] < 1e-4:
            break
        made, (lost, chance) = made - step, now
    weights_: Vector = made / spread
    return weights_


class Weights(NamedTuple):
    of_signals: Vector
    without_task: Vector


def learned(found: dict[str, Tasks]) -> Weights:
    """By what happened in some projects. What is edited and what is only read count as much, whichever is seen more."""
    to_edit, to_read, general = (
        fit([choice for several in found.values() for choice in choices(several, what, of)])
        for what, of in (("edited", "signals"), ("read", "signals"), ("edited", "general"))
    )
    return Weights((to_edit + to_read) / 2, general)


def recall(found: Sequence[Task], made: Weights, what: str) -> float | None:
    """How many of the needed files are among the first ten, told as the map tells them."""
    weights = tuple(map(float, made.of_signals))
    shares = []
    for task in found:
        needed = getattr(task, what)
        if needed.any():
            chances = np.array(likely(task.known, task.evidence, weights))
            shares.append(needed[np.argsort(-chances, kind="stable")[:TOLD]].sum() / needed.sum())
    return float(np.mean(shares)) if shares else None


class LeftOut(NamedTuple):
    """A project, and what the map finds there by weights of all the others."""

    name: str
    edits: int
    edited: float | None
    often_edited: float | None
    reads: int
    read: float | None
    often_read: float | None


class CutShort(NamedTuple):
    """The same over projects of which only pieces of some sessions are known: a mean for each way of choosing."""

    length: int
    what: str
    projects: int
    sessions: int
    shares: tuple[float, ...]


def of_the_others(read_: Sequence[Project]) -> dict[str, Weights]:
    """For each hand the weights that are learned without its projects."""
    learning = {project.name: tasks(edits_or_reads(project)) for project in read_}
    return {
        family: learned({one.name: learning[one.name] for one in read_ if one.family != family})
        for family in sorted({project.family for project in read_})
    }


def left_out(read_: Sequence[Project], made: dict[str, Weights]) -> list[LeftOut]:
    found = []
    for project in read_:
        own, _ = _walked(project)
        if len(own) < LEAST_SESSIONS:
            continue
        edits, reads = _needing(own, "edited"), _needing(own, "read")
        found.append(
            LeftOut(
                project.name, edits, recall(own, made[project.family], "edited"), _by(OFTEN, own, "edited"),
                reads, recall(own, made[project.family], "read"), _by(TOUCHED, own, "read"),
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (-one.edits, -one.reads, one.name))


def cut_short(read_: Sequence[Project], made: dict[str, Weights]) -> list[CutShort]:
    found = []
    for length in CUTS:
        walked = [
            (project, [task for piece in cut(project, length) for task in _walked(piece)[0]]) for project in read_
        ]
        for what in ("edited", "read"):
            own = [(project, several) for project, several in walked if _needing(several, what) >= LEAST_SESSIONS]
            shares = [
                (recall(several, made[project.family], what), *(_by(way, several, what) for way in PLAIN_WAYS))
                for project, several in own
            ]
            sessions = sum(_needing(several, what) for _, several in own)
            means = tuple(float(np.mean(several)) for several in zip(*shares, strict=True))
            found.append(CutShort(length, what, len(own), sessions, means))
    return found


def _needing(found: Sequence[Task], what: str) -> int:
    return sum(bool(getattr(task, what).any()) for task in found)


def _by(way: str, found: Sequence[Task], what: str) -> float | None:
    """The same for a plain way to choose, which knows no prompt."""
    shares = []
    for task in found:
        needed = getattr(task, what)
        if needed.any():
            at = {file.path: number for number, file in enumerate(task.known.files)}
            told = [at[file.path] for file in WAYS[way][0](task.known, "")[:TOLD]]
            shares.append(needed[told].sum() / needed.sum())
    return float(np.mean(shares)) if shares else None


def main() -> None:
    read_ = projects({**folders(), **others()})
    made = learned({project.name: tasks(edits_or_reads(project)) for project in read_})
    for name, weight in zip(SIGNALS, made.of_signals, strict=True):
        print(f"{weight:8.3f}  {name}")
    if "--write" in sys.argv:
        page = PAGE.read_text()
        for name, numbers in zip(("WEIGHTS", "WITHOUT_TASK"), made, strict=True):
            page = re.sub(rf"(?ms)^{name} = \(.*?\)$", f"{name} = ({_listed(numbers)})", page)
        PAGE.write_text(page)


def _listed(numbers: Vector) -> str:
    written = [f"{number:.3f}" for number in numbers]
    lines = [", ".join(written[at : at + _NUMBERS_IN_A_LINE]) for at in range(0, len(written), _NUMBERS_IN_A_LINE)]
    return lines[0] if len(lines) == 1 else "".join(f"\n    {line}," for line in lines) + "\n"


if __name__ == "__main__":
    main()
