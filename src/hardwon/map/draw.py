"""Draw the map of a project from what its sessions left in the store."""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import mul
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hardwon.errors import HardwonError
from hardwon.map.commands_told import WorkOfSession, commands_told, scripts_of, work_of_session
from hardwon.map.known import COMMANDS_KEPT, FILES_KEPT, VISITS_KEPT, File, Known, Visit, packed
from hardwon.map.signals import Ranked, asked, cut, mark, name_terms, norms, path_terms, worth_telling
from hardwon.map.touched import tellable
from hardwon.map.wording import VISITS_TRIED
from hardwon.store import projects
from hardwon.store.database import Database
from hardwon.store.lessons import roots_of
from hardwon.store.projects import Drawn, RanRow, TouchRow
from hardwon.text.shown import one_line
from hardwon.text.words import unique_terms

if TYPE_CHECKING:
    from hardwon.sessions.git_objects import Repository

SYMBOLS_KEPT = 40
"""Of a file: so many marks tell it from the others."""
_TERMS_KEPT = 120
_CHARACTERS_OF_A_TASK = 1_500


class Trip(NamedTuple):
    """One session with its sub-agents."""

    root: str
    at: int
    ended_at: int
    branch: str
    words: str
    outcome: str
    edited: frozenset[str]
    looked: frozenset[str]
    deleted: frozenset[str]
    ran: tuple[RanRow, ...]
    looks: int | None = None
    """Calls that only looked around before its first edit; None where nothing was edited."""
    symbols: Mapping[str, str] = MappingProxyType({})
    """File → marks of words that stood in it."""
    session: str = ""
    """The id of the one that a person started."""


class Plot(NamedTuple):
    """All that a map is drawn of."""

    history: list[Trip]
    """The newest sessions, in the order of time."""
    declared: frozenset[str]
    """The scripts that the project's own manifest names."""


def known_of(db: Database, project: str, *, for_a_task: bool = True) -> Known:
    """The map of a project as it is now, tried on its newest sessions: what it is to tell of a task depends on that.

    Not `for_a_task`, it has no words, and is drawn in a third of the time.
    """
    history, declared = plot = plot_of(db, project)
    return _tried(plot) if for_a_task else draw(history, worded=False, declared=declared)


def refresh(db: Database, project: str, by: Callable[[str, Plot], Drawn] | None = None) -> None:
    """Keep the map ready for hooks, drawn here or `by` somebody else. Called inside a transaction."""
    plot = plot_of(db, project)
    projects.replace_map(db, project, by(project, plot) if by else drawn(plot))


def drawn(plot: Plot) -> Drawn:
    """A map as the store keeps it for hooks."""
    return rows(_tried(plot))


def _tried(plot: Plot) -> Known:
    history = plot.history
    known = draw(history, declared=plot.declared)
    sketch = Sketch()
    for number in range(max(0, len(history) - VISITS_TRIED), len(history)):
        visit = known.visits[number]
        visit.told, visit.came_true = tried(history[:number], history[number], sketch)
    return known


def tried(before: Sequence[Trip], trip: Trip, sketch: Sketch) -> tuple[int, int]:
    """(files that the map would have told a session, those of them that it touched)."""
    if not before:
        return 0, 0
    ended = [past for past in before if past.ended_at <= trip.at]
    told = worth_telling(Ranked(sketch.draw(ended, trip.words), trip.words))
    return len(told), sum(file.path in trip.edited or file.path in trip.looked for file in told)


def plot_of(db: Database, project: str) -> Plot:
    folders = here(db, project)
    return Plot(_followed(trips(db, project)[-VISITS_KEPT:], folders), scripts_of(folders))


# The sessions of a project.

_ROWS_PER_VISIT = 8
"""A session has some sub-agents: so many rows are read for each session that is wanted."""


def trips(db: Database, project: str, limit: int = VISITS_KEPT * _ROWS_PER_VISIT) -> list[Trip]:
    """The newest sessions of a project that touched or ran anything, in the order of time."""
    found = projects.newest_visits(db, project, limit)
    ids = [visit.id for visit in found]
    went: dict[str, list[TouchRow]] = defaultdict(list)
    for row in projects.touches(db, ids):
        went[row.source].append(row)
    ran: dict[str, list[RanRow]] = defaultdict(list)
    for run in projects.runs(db, ids):
        ran[run.source].append(run)
    together: dict[str, list[projects.Visit]] = defaultdict(list)
    for visit in found:
        together[visit.root].append(visit)
    went_anywhere = went.keys() | ran.keys()
    trips = (_trip(own, went, ran) for own in together.values() if not went_anywhere.isdisjoint(one.id for one in own))
    return sorted(
        (trip for trip in trips if trip.edited or trip.looked or trip.ran), key=lambda trip: (trip.at, trip.root)
    )


def _trip(own: list[projects.Visit], went: dict[str, list[TouchRow]], ran: dict[str, list[RanRow]]) -> Trip:
    first = next((visit for visit in own if not visit.subagent), own[0])
    rows = [row for visit in own for row in went[visit.id]]
    edited = frozenset(row.path for row in rows if row.used == "edit")
    return Trip(
        root=first.root,
        at=first.started_at,
        ended_at=max(visit.ended_at for visit in own),
        branch=first.branch,
        words=first.words or first.task,
        outcome=first.outcome,
        edited=edited,
        looked=frozenset(row.path for row in rows if row.used in ("read", "run")),
        deleted=frozenset(row.path for row in rows if row.used == "delete"),
        ran=tuple(run for visit in own for run in ran[visit.id]),
        looks=first.looks_before_edit,
        symbols=_symbols(rows),
        session=first.id,
    )


def _symbols(rows: Sequence[TouchRow]) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in rows:
        if row.symbols:
            found[row.path] = f"{found.get(row.path, '')} {row.symbols}"
    return found


# What became of their files in the checkout on this machine: gone, renamed, or huge.

HUGE_BYTES = 1_000_000
"""A larger file is data or made by a program: nobody is sent there."""
_COMMITS_READ = 500
_SECONDS = 10.0
_MOST_GONE = 0.5
"""Where more of the files are not there, it is another checkout, and tells nothing."""


def here(db: Database, project: str) -> list[Path]:
    """The folders of a project that are on this machine."""
    return [path for root in roots_of(db, project) if (path := Path(os.path.expanduser(root))).is_dir()]


def _followed(history: Sequence[Trip], folders: Sequence[Path]) -> list[Trip]:
    """The sessions with the names that files have now, without those that are gone or huge, where a root is here."""
    names = _became({path for trip in history for path in (*trip.edited, *trip.looked)}, folders) if folders else {}
    if not names:
        return list(history)

    def now(paths: Iterable[str]) -> frozenset[str]:
        return frozenset(name for path in paths if (name := names.get(path, path)))

    return [
        trip._replace(
            edited=now(trip.edited),
            looked=now(trip.looked),
            deleted=trip.deleted - names.keys(),
            symbols={name: marks for path, marks in trip.symbols.items() if (name := names.get(path, path))},
        )
        for trip in history
    ]


def _became(paths: Iterable[str], folders: Sequence[Path]) -> dict[str, str]:
    """Path → what it is called now, empty if it is not to be told; only of those that changed."""
    sizes = {path: _size(path, folders) for path in paths}
    gone = [path for path, size in sizes.items() if size is None]
    if len(gone) > _MOST_GONE * len(sizes):
        return {}
    found = {path: "" for path, size in sizes.items() if size and size > HUGE_BYTES}
    renamed = {old: new for folder in folders for old, new in _renamed(folder).items()} if gone else {}
    for path in gone:
        new = renamed.get(path, "")
        found[path] = new if new and (_size(new, folders) or HUGE_BYTES) < HUGE_BYTES else ""
    return found


def _size(path: str, folders: Sequence[Path]) -> int | None:
    """None if there is no such file."""
    for folder in folders:
        try:
            return os.stat(folder / path, follow_symlinks=False).st_size
        except (OSError, ValueError):
            continue
    return None


def _renamed(folder: Path) -> dict[str, str]:
    try:
        with _repository(folder) as repository:
            return _by_commit(folder, repository.resolved("HEAD"))
    except HardwonError:  # no repository, or one that cannot be read: what is gone is gone
        return {}


def _repository(folder: Path) -> Repository:
    from hardwon.sessions.git_objects import Repository  # noqa: PLC0415 - few maps are of a folder that is here

    return Repository(folder, _SECONDS)


@lru_cache(maxsize=64)
def _by_commit(folder: Path, head: str) -> dict[str, str]:
    """Old path → the newest name, by the commits that lead to one."""
    found: dict[str, str] = {}
    with _repository(folder) as repository:
        for old, new in repository.renames(head, _COMMITS_READ):
            found.setdefault(old, found.get(new, new))
    return found


# The map after some of the sessions.


def draw(history: Sequence[Trip], *, worded: bool = True, declared: Collection[str] = ()) -> Known:
    """The map after these sessions, which are in the order of time; with the words of tasks and files, or without.

    `declared` are the scripts that the project's own manifest names.
    """
    return Sketch(worded=worded, declared=declared).draw(history)


class Sketch:
    """Draws the map of a project again and again: what it counted of a session is kept while that is drawn."""

    def __init__(self, *, worded: bool = True, declared: Collection[str] = ()) -> None:
        self._worded = worded
        self._declared = declared
        self._work: dict[str, WorkOfSession] = {}
        self._tasks: Counter[str] = Counter()
        """Word → in how many tasks it is."""
        self._marks: dict[str, Counter[str]] = defaultdict(Counter)
        """File → marks of words that stood in it, and in how many sessions."""
        self._marked: Counter[str] = Counter()
        """Mark → how many of the files that were drawn last have it."""
        self._described: dict[str, list[str]] = {}
        """Those files, and the marks of each in their order."""
        self._drawn: dict[str, Trip] = {}

    def draw(self, history: Sequence[Trip], task: str | None = None) -> Known:
        """The map after these sessions, which are in the order of time; for one task, or for any."""
        self._count(history)
        kept = self._files(history)
        if self._worded:
            self._describe(kept, None if task is None else set(map(mark, asked(task).terms)))
        kept.sort(key=lambda file: file.path)
        tasks = [_task(trip.words) if self._worded else frozenset[str]() for trip in history]
        lengths = norms(tasks, self._tasks)
        visits = [
            Visit(trip.at, trip.branch, title(trip.words), task, length, trip.outcome)
            for trip, task, length in zip(history, tasks, lengths, strict=True)
        ]
        commands = commands_told([self._work[trip.root] for trip in history], self._declared)
        return Known(visits, kept, commands[:COMMANDS_KEPT])

    def _count(self, history: Sequence[Trip]) -> None:
        wanted = {trip.root: trip for trip in history}
        for root in self._drawn.keys() - wanted.keys():
            self._change(self._drawn.pop(root), -1)
            del self._work[root]
        for root, trip in wanted.items():
            if root not in self._drawn:
                self._drawn[root] = trip
                self._change(trip, 1)
                self._work[root] = work_of_session(trip.ran, trip.edited)

    def _change(self, trip: Trip, by: int) -> None:
        if not self._worded:
            return
        _add(self._tasks, _task(trip.words), by)
        for path, marks in trip.symbols.items():
            _add(self._marked, self._described.pop(path, ()), -1)
            _add(self._marks[path], cut(marks), by)

    def _files(self, history: Sequence[Trip]) -> list[File]:
        edited: dict[str, list[int]] = defaultdict(list)
        looked: dict[str, list[int]] = defaultdict(list)
        for number, trip in enumerate(history):
            for path in trip.deleted:  # by this session: what it edited before, it has no more
                edited.pop(path, None)
                looked.pop(path, None)
            for path in trip.edited - trip.deleted:
                edited[path].append(number)
            for path in trip.looked - trip.deleted:
                looked[path].append(number)
        weights = [0.9 ** (len(history) - number) for number in range(len(history))]
        weighed = [
            (-_weight(edited.get(path, ()), looked.get(path, ()), weights), path)
            for path in {*edited, *looked}
            if tellable(path)
        ]
        kept = sorted(weighed)[:FILES_KEPT]
        return [
            File(path, edited.get(path, []), looked.get(path, []), *_terms(path, worded=self._worded), "")
            for _, path in kept
        ]

    def _describe(self, files: Sequence[File], asked: set[str] | None) -> None:
        """Give each file the marks that tell it best from the others; where only some are asked for, if it has any."""
        paths = {file.path for file in files}
        for path in self._described.keys() - paths:
            _add(self._marked, self._described.pop(path), -1)
        for path in paths - self._described.keys():
            self._described[path] = sorted(self._marks[path])
            _add(self._marked, self._described[path], 1)
        rare = [0.0, *(-math.log(1 + len(files) / number) for number in range(1, len(files) + 1))]
        for file in files:
            own, best = self._marks[file.path], self._described[file.path]
            if asked is not None and asked.isdisjoint(own):
                continue
            if len(best) > SYMBOLS_KEPT:
                rareness = map(rare.__getitem__, map(self._marked.__getitem__, best))
                worth = dict(zip(best, map(mul, map(own.__getitem__, best), rareness), strict=True))
                best = sorted(sorted(best, key=worth.__getitem__)[:SYMBOLS_KEPT])
            file.symbols = " ".join(best)


def _add(count: Counter[str], some: Iterable[str], by: int) -> None:
    """Count these once more, or once less."""
    if by > 0:
        count.update(iter(some))
        return
    for one in some:
        count[one] -= 1
        if not count[one]:
            del count[one]


def _terms(path: str, *, worded: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (name_terms(path), path_terms(path)) if worded else ((), ())


@lru_cache(maxsize=2048)
def _task(words: str) -> frozenset[str]:
    return frozenset(unique_terms(words[:_CHARACTERS_OF_A_TASK])[:_TERMS_KEPT])


def _weight(edited: Sequence[int], looked: Sequence[int], weights: Sequence[float]) -> float:
    """What is kept where a project has more files than are kept: often and lately touched, edits twice."""
    weight = weights.__getitem__
    return 2.0 * sum(map(weight, edited)) + sum(map(weight, looked))


# The map as the store keeps it for hooks.

_TITLE_CHARACTERS = 80
_LEAD_OF_A_PLAN = "Implement the following plan: "


@lru_cache(maxsize=2048)
def title(words: str, longest: int = _TITLE_CHARACTERS) -> str:
    """The beginning of a task, in a line; of a plan that a client hands over, what it is called."""
    flat = one_line(words)
    if flat.startswith(_LEAD_OF_A_PLAN):
        flat = flat.removeprefix(_LEAD_OF_A_PLAN).lstrip("# ").removeprefix("Plan: ").partition(" ## ")[0]
    return flat if len(flat) <= longest else flat[: longest - 1].rpartition(" ")[0] + " …"


def rows(known: Known) -> Drawn:
    """As the store keeps it for hooks."""
    return (
        [
            (
                number,
                visit.at,
                visit.branch,
                visit.title,
                " ".join(sorted(visit.terms)),
                visit.norm,
                visit.outcome,
                visit.told,
                visit.came_true,
            )
            for number, visit in enumerate(known.visits)
        ],
        [
            (
                file.path,
                packed(file.edited),
                packed(file.looked),
                " ".join(file.terms),
                " ".join(file.path_terms),
                file.symbols,
            )
            for file in known.files
        ],
        [
            (
                command.key,
                command.text,
                command.purpose,
                packed(command.worked),
                packed(command.failed),
                packed(command.broken),
            )
            for command in known.commands
        ],
    )
