"""Draw the map of a project from what its sessions left in the store."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hardwon.errors import HardwonError
from hardwon.failures import tools
from hardwon.map.known import (
    AND_MORE,
    COMMANDS_KEPT,
    FILES_KEPT,
    VISITS_KEPT,
    Command,
    File,
    Known,
    Visit,
    packed,
    parted,
)
from hardwon.map.signals import Ranked, asked, cut, mark, name_terms, norms, path_terms, worth_telling
from hardwon.map.touched import RUNNERS, arguments, in_folder, is_own_check, is_usual, tellable
from hardwon.map.wording import VISITS_TRIED
from hardwon.store import projects
from hardwon.store.database import Database
from hardwon.store.lessons import roots_of
from hardwon.store.projects import Drawn, RanRow, TouchRow
from hardwon.text.normalise import lazy_pattern
from hardwon.text.shown import clean, one_line
from hardwon.text.words import unique_terms

if TYPE_CHECKING:
    from hardwon.sessions.git_objects import Repository

SYMBOLS_KEPT = 40
"""Of a file: so many marks tell it from the others."""
_TITLE_CHARACTERS = 80
_TERMS_KEPT = 120
_CHARACTERS_OF_A_TASK = 1_500
_ROWS_PER_VISIT = 8
"""A session has some sub-agents: so many rows are read for each session that is wanted."""


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


def plot_of(db: Database, project: str) -> Plot:
    folders = here(db, project)
    return Plot(_followed(trips(db, project)[-VISITS_KEPT:], folders), scripts_of(folders))


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


def here(db: Database, project: str) -> list[Path]:
    """The folders of a project that are on this machine."""
    return [path for root in roots_of(db, project) if (path := Path(os.path.expanduser(root))).is_dir()]


def _followed(history: Sequence[Trip], folders: Sequence[Path]) -> list[Trip]:
    """The sessions with the names that files have now, without those that are gone or huge, where a root is here."""
    if not folders:
        return list(history)
    names = _became({path for trip in history for path in (*trip.edited, *trip.looked)}, folders)

    def now(paths: Iterable[str]) -> frozenset[str]:
        return frozenset(name for path in paths if (name := names.get(path, path)))

    return [
        trip._replace(
            edited=now(trip.edited),
            looked=now(trip.looked),
            deleted=trip.deleted - names.keys(),
            symbols={name: marks for path, marks in trip.symbols.items() if (name := names.get(path, path))},
        )
        if names
        else trip
        for trip in history
    ]


def tried(before: Sequence[Trip], trip: Trip, sketch: Sketch) -> tuple[int, int]:
    """(files that the map would have told a session, those of them that it touched)."""
    if not before:
        return 0, 0
    ended = [past for past in before if past.ended_at <= trip.at]
    told = worth_telling(Ranked(sketch.draw(ended, trip.words), trip.words))
    return len(told), sum(file.path in trip.edited or file.path in trip.looked for file in told)


def refresh(db: Database, project: str, by: Callable[[str, Plot], Drawn] | None = None) -> None:
    """Keep the map ready for hooks, drawn here or `by` somebody else. Called inside a transaction."""
    plot = plot_of(db, project)
    projects.replace_map(db, project, by(project, plot) if by else drawn(plot))


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
    )


def _symbols(rows: Sequence[TouchRow]) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in rows:
        if row.symbols:
            found[row.path] = f"{found.get(row.path, '')} {row.symbols}"
    return found


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
        self._ran: dict[str, list[_RanAs]] = {}
        """Session → what it ran, command by command."""
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
        ran = [self._ran[trip.root] for trip in history]
        commands = _told(ran, SESSIONS_OF_A_FORM, self._declared, [_folders_edited(trip.edited) for trip in history])
        return Known(visits, kept, commands[:COMMANDS_KEPT])

    def _count(self, history: Sequence[Trip]) -> None:
        wanted = {trip.root: trip for trip in history}
        for root in self._drawn.keys() - wanted.keys():
            self._change(self._drawn.pop(root), -1)
            del self._ran[root]
        for root, trip in wanted.items():
            if root not in self._drawn:
                self._drawn[root] = trip
                self._change(trip, 1)
                self._ran[root] = _ran_as(trip.ran)

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
                worth = {one: own[one] * rare[self._marked[one]] for one in best}
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


_LEAD_OF_A_PLAN = "Implement the following plan: "


@lru_cache(maxsize=2048)
def title(words: str) -> str:
    """The beginning of a task, in a line; of a plan that a client hands over, what it is called."""
    flat = one_line(words)
    if flat.startswith(_LEAD_OF_A_PLAN):
        flat = flat.removeprefix(_LEAD_OF_A_PLAN).lstrip("# ").removeprefix("Plan: ").partition(" ## ")[0]
    return flat if len(flat) <= _TITLE_CHARACTERS else flat[: _TITLE_CHARACTERS - 1].rpartition(" ")[0] + " …"


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


# The commands of a project that may be told, counted over its sessions.

_SHARE_OF_A_FORM = 1 / 2
_NEARLY_ALL = 4 / 5
_ALL_OF_IT = ("./...", ".")
"""What a command is given so that it takes all of a project: it is nobody's own, whoever proposed it."""
SESSIONS_OF_A_FORM = 2
"""A command is told as it was written once it worked so in that many sessions; before, by its name alone."""


def commands_told(
    history: Sequence[Trip], sessions: int = SESSIONS_OF_A_FORM, declared: Collection[str] = ()
) -> list[Command]:
    """Of what the sessions of a project ran, in the order of time: what may be told, most used first.

    That is what worked where no output had proposed it, as it was written in so many `sessions` or by its name; what
    every project has; and the project's own checks, which output may have named where its manifest declares them.
    """
    edited = [_folders_edited(trip.edited) for trip in history]
    return _told([_ran_as(trip.ran) for trip in history], sessions, declared, edited)


class _RanAs(NamedTuple):
    """A command, as one session ran it."""

    key: str
    folder: str
    worked: bool
    failed: bool
    broken: bool
    unproposed: bool
    plain: bool
    """Nothing had named it in any form."""
    forms: frozenset[str]
    runners: tuple[str, ...]
    """What stands before the command in each of them."""
    purpose: str


def _ran_as(ran: Sequence[RanRow]) -> list[_RanAs]:
    return [
        _RanAs(
            key,
            parted(own[-1].text)[0],
            any(run.worked for run in own),
            any(run.failed for run in own),
            bool(own[-1].broken),
            all(run.proposed in (0, 2) for run in own),
            all(run.proposed in (0, 3) for run in own),
            forms := frozenset(run.text for run in own if run.text),
            tuple(_runner(form, key) for form in forms),
            own[0].purpose,
        )
        for key, own in _by_command(ran).items()
    ]


def _told(
    history: Sequence[Sequence[_RanAs]],
    sessions: int,
    declared: Collection[str],
    edited: Sequence[Collection[str]],
) -> list[Command]:
    folders = _folders(history, edited)
    worked: dict[str, list[int]] = defaultdict(list)
    failed: dict[str, list[int]] = defaultdict(list)
    broken: dict[str, list[int]] = defaultdict(list)
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    """Command → in how many sessions each form of it worked unproposed."""
    called: dict[str, Counter[str]] = defaultdict(Counter)
    """Command → in how many sessions each form of it worked, whoever named it."""
    plain: Counter[str] = Counter()
    """In how many sessions it worked where nothing had named it in any form."""
    purposes: dict[str, str] = {}
    runners: dict[str, Counter[str]] = defaultdict(Counter)
    for number, ran in enumerate(history):
        for own in ran:
            folder = _belongs_to(own.folder, folders[own.key])
            name = in_folder(own.key, folder)
            for runner in own.runners:
                runners[name][runner] += 1
            if own.worked:
                worked[name].append(number)
                plain[name] += own.plain
            if own.failed:
                failed[name].append(number)
            if own.broken:
                broken[name].append(number)
            called[name].update(own.forms)
            for form in own.forms:
                if own.unproposed and parted(form)[0] == folder and not form.endswith(AND_MORE):
                    forms[name][form] += 1
            purposes[name] = own.purpose

    def is_known(name: str) -> bool:
        key = parted(name)[1]
        return plain[name] > 0 or is_usual(key) or _is_declared(key, purposes[name], declared)

    found = [
        Command(name, text, purposes[name], worked[name], failed[name], broken[name])
        for name in sorted(purposes)
        for bare in [_called_by(runners[name], name) if is_known(name) and _is_for_all(forms[name]) else ""]
        if (text := _told_as(bare, forms[name], called[name], len(worked[name]), sessions))
    ]
    return sorted(found, key=lambda command: (-len(command.worked), -len(command.failed), command.key))


def _told_as(name: str, forms: Counter[str], called: Counter[str], worked: int, sessions: int) -> str:
    """As a command is told: where what is counted are many forms of it, by its name, if that may be told.

    It is told with what nearly all of them were given. Where none of them was bare, its name alone is no command: it
    is told with what takes the whole project, if some were given that, else with a sign that something follows.
    """
    form = _form(forms, sessions)
    if form and (not name or forms[form] >= worked * _SHARE_OF_A_FORM):
        return form
    if not name or not called:
        return name
    bare = parted(name)[1]
    given = Counter[str]()
    for one, times in called.items():
        given.update(dict.fromkeys(arguments(parted(one)[1], bare), times))
    always = [word for word, times in given.items() if times >= _NEARLY_ALL * called.total()]
    if always and all(_is_own_argument(word, forms, sessions) for word in always):
        return " ".join((name, *always))
    if any(not one.endswith(AND_MORE) and not arguments(parted(one)[1], bare) for one in called):
        return name
    whole = next((word for word in _ALL_OF_IT if given[word] >= SESSIONS_OF_A_FORM and is_usual(bare)), "")
    if whole:
        return form if whole in form.split() else f"{name} {whole}"
    return f"{name}{AND_MORE}"


def _is_own_argument(word: str, forms: Counter[str], sessions: int) -> bool:
    """Whether so many sessions gave it unproposed, and not always as the value of an option."""
    given = [(words, times) for form, times in forms.items() if word in (words := form.split())]
    is_one = any(words[words.index(word) - 1][0] != "-" for words, _ in given)
    return is_one and sum(times for _, times in given) >= sessions


_OF_A_PART = re.compile(
    rf"(?:p?npm|yarn|bun|turbo|cargo|make|mvn|uv)\b.*?\s(?:{tools.CHOOSES_A_PART}|--features|--directory|-pl)[ =]"
)
"""Without its option such a tool does something else."""


def _is_for_all(forms: Iterable[str]) -> bool:
    """Whether a command ran as its bare name says, and not only for a part of the repository."""
    each = [parted(form)[1] for form in forms]
    return not each or not all(map(_OF_A_PART.match, each))


def _runner(form: str, key: str) -> str:
    """What stands before the command in a form of it, if that is a runner alone."""
    head, found, _ = parted(form)[1].partition(key.split(maxsplit=1)[0])
    return head.strip() if found and RUNNERS.issuperset(head.split()) else ""


def _called_by(runners: Counter[str], name: str) -> str:
    """The name of a command with its runner, where it mostly worked by that."""
    folder, bare = parted(name)
    runner, times = max(sorted(runners.items()), key=lambda one: one[1], default=("", 0))
    return in_folder(f"{runner} {bare}", folder) if runner and 2 * times > runners.total() else name


def _folders(history: Sequence[Sequence[_RanAs]], edited: Sequence[Collection[str]]) -> dict[str, list[str]]:
    """Command → the folders that it belongs to: where it passed in most sessions, and packages that have their own.

    Several sessions went there of their own accord, or had work there: output may have named it as well.
    """
    at_work = {"", *chain.from_iterable(edited)}
    times: dict[str, Counter[str]] = defaultdict(Counter)
    for ran in history:
        for own in ran:
            times[own.key][own.folder] += own.worked and (own.unproposed or own.folder in at_work)
    found = {}
    for key, counted in times.items():
        several = [folder for folder, count in counted.items() if folder and count >= SESSIONS_OF_A_FORM]
        most = min(counted, key=lambda folder: (-counted[folder], folder))
        home = most if most in several else ""
        found[key] = [home, *sorted(folder for folder in several if folder != home)]
    return found


@lru_cache(maxsize=2 * VISITS_KEPT)
def _folders_edited(paths: frozenset[str]) -> frozenset[str]:
    """Every folder that holds one of these files."""
    return frozenset(path[:at] for path in paths for at, sign in enumerate(path) if sign == "/")


def _belongs_to(folder: str, folders: Sequence[str]) -> str:
    """What ran at the top, or in a folder that hardly any session went to, ran where it mostly does."""
    return folder if folder in folders else folders[0]


def _is_declared(name: str, purpose: str, declared: Collection[str]) -> bool:
    """Whether it is a check that the project itself declares."""
    return is_own_check(name, purpose) and name.rpartition(" ")[2] in declared


def _by_command(ran: Sequence[RanRow]) -> dict[str, list[RanRow]]:
    found: dict[str, list[RanRow]] = defaultdict(list)
    for run in ran:
        found[run.command].append(run)
    return found


def _form(texts: Counter[str], sessions: int) -> str:
    """The form that was used most, in so many sessions at least; of those, the shortest. Else nothing."""
    sure = [text for text, count in texts.items() if count >= sessions]
    return min(sure, key=lambda text: (-texts[text], len(text), text), default="")


# What the manifests of a checkout call their scripts.

_MANIFEST_CHARACTERS = 200_000
_TARGET = lazy_pattern(r"(?m)^([\w.-]+)(?: [^:=\n]*)?:(?!=)")


def scripts_of(folders: Iterable[Path]) -> frozenset[str]:
    """The scripts that `package.json`, a Makefile or a justfile at the top of a checkout declares."""
    found: set[str] = set()
    for folder in folders:
        for name in ("Makefile", "makefile", "GNUmakefile", "justfile"):
            found.update(_TARGET.findall(_read(folder / name)))
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            found.update(json.loads(_read(folder / "package.json") or "{}")["scripts"])
    return frozenset(found)


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MANIFEST_CHARACTERS)
    except OSError:
        return ""


# What became of files in the checkout on this machine: gone, renamed, or huge.

HUGE_BYTES = 1_000_000
"""A larger file is data or made by a program: nobody is sent there."""
_COMMITS_READ = 500
_SECONDS = 10.0
_MOST_GONE = 0.5
"""Where more of the files are not there, it is another checkout, and tells nothing."""


def _became(paths: Iterable[str], folders: Sequence[Path]) -> dict[str, str]:
    """Path → what it is called now, empty if it is not to be told; only of those that changed."""
    known = list(paths)
    sizes = {path: _size(path, folders) for path in known}
    gone = [path for path in known if sizes[path] is None]
    if not folders or len(gone) > _MOST_GONE * len(known):
        return {}
    found = {path: "" for path in known if (sizes[path] or 0) > HUGE_BYTES}
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


# A picture of a project: folders as large as the sessions that touched them, coloured by how lately, errors marked.

_WIDTH, _HEIGHT = 960.0, 600.0
_DEPTH = 2
"""Folders of so many parts are told apart."""
_FOLDERS_SHOWN = 40
_LETTER = 7.0


_LEGEND = (
    f'<text x="{_WIDTH - 20:g}" y="16" font-size="11" fill="#555" text-anchor="end">'
    "size: sessions · colour: the darker, the more lately · dot: some ended in failure</text>"
    f'<circle cx="{_WIDTH - 10:g}" cy="12" r="4" fill="#c0392b"/>'
)


class Folder(NamedTuple):
    name: str
    sessions: int
    edits: int
    last: int
    """The newest session that touched it."""
    failed: int
    """Sessions that touched it and ended in failure."""


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float


def folders(known: Known) -> list[Folder]:
    """The folders of a project, those of most sessions first."""
    touched: dict[str, set[int]] = defaultdict(set)
    edited: dict[str, int] = defaultdict(int)
    for file in known.files:
        parts = file.path.split("/")[:-1]
        name = "/".join(parts[:_DEPTH]) or "(root)"
        touched[name] |= file.touched
        edited[name] += len(file.edited)
    failed = {number for number, visit in enumerate(known.visits) if visit.outcome == "failure"}
    found = [
        Folder(name, len(numbers), edited[name], max(numbers), len(numbers & failed))
        for name, numbers in touched.items()
    ]
    return sorted(found, key=lambda folder: (-folder.sessions, folder.name))[:_FOLDERS_SHOWN]


def svg(known: Known, name: str) -> str:
    """A tree map; every text in it is data out of transcripts, and escaped."""
    shown = folders(known)
    boxes = squares([float(folder.sessions) for folder in shown], Box(0, 24, _WIDTH, _HEIGHT - 24))
    parts = [_drawn(folder, box, len(known.visits)) for folder, box in zip(shown, boxes, strict=True)]
    title = _safe(f"{name}: {len(known.visits)} sessions, {len(known.files)} files")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>{title}</title>'
        f'<text x="4" y="16" font-weight="bold">{title}</text>{_LEGEND}{"".join(parts)}</svg>\n'
    )


def _drawn(folder: Folder, box: Box, count: int) -> str:
    fresh = (folder.last + 1) / (count or 1)
    colour = f"hsl(205 {20 + 60 * fresh:.0f}% {92 - 32 * fresh:.0f}%)"
    told = _safe(f"{folder.name}: {folder.sessions} sessions, {folder.edits} edits, {folder.failed} ended in failure")
    letters = max(0, int((box.width - 8) / _LETTER))
    label = folder.name if len(folder.name) <= letters else folder.name[: max(0, letters - 1)] + "…"
    text = _text(box.x + 4, box.y + 15, label) if letters > 3 and box.height > 18 else ""
    counted = f"{folder.sessions} sessions"
    if text and letters >= len(counted) and box.height > 36:
        text += _text(box.x + 4, box.y + 30, counted, 'font-size="10" fill="#234"')
    mark = (
        f'<circle cx="{box.x + box.width - 8:.1f}" cy="{box.y + box.height - 8:.1f}" r="4" fill="#c0392b"/>'
        if folder.failed and box.width > 16 and box.height > 16
        else ""
    )
    return (
        f'<g><title>{told}</title><rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" fill="{colour}" stroke="#fff"/>{text}{mark}</g>'
    )


def _text(x: float, y: float, text: str, look: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{_safe(text)}</text>'


def _safe(text: str) -> str:
    from html import escape  # noqa: PLC0415 - for pictures alone

    return escape(clean(text))


def squares(sizes: Sequence[float], box: Box) -> list[Box]:
    """Boxes of these sizes that fill a box: the larger half beside the smaller, again and again."""
    if len(sizes) <= 1:
        return [box] * len(sizes)
    whole = sum(sizes)
    at, taken = 1, sizes[0]
    while at < len(sizes) - 1 and taken + sizes[at] <= whole / 2:
        taken += sizes[at]
        at += 1
    share = taken / whole
    if box.width >= box.height:
        first = Box(box.x, box.y, box.width * share, box.height)
        rest = Box(box.x + first.width, box.y, box.width - first.width, box.height)
    else:
        first = Box(box.x, box.y, box.width, box.height * share)
        rest = Box(box.x, box.y + first.height, box.width, box.height - first.height)
    return [*squares(sizes[:at], first), *squares(sizes[at:], rest)]
