"""Would it have helped? Walk the sessions in time; brief each from the earlier ones alone; see what it then met.

No peeking: a session knows only sessions that ended before it began. Whether two errors are the same is decided
by `judge`, never by the ledger that is being judged; a line stands for the one error that it shows.
"""

from __future__ import annotations

import heapq
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hardwon.briefing.compose import compose, failures_within
from hardwon.briefing.foreseen import as_line
from hardwon.briefing.policy import against_failure
from hardwon.briefing.rank import Candidates, Request, candidates, cost
from hardwon.config import Config
from hardwon.home import private
from hardwon.map.draw import Trip
from hardwon.measure import judge
from hardwon.measure.map_replay import ProjectMap, Tried, in_turn, outcomes, summarise, tries
from hardwon.model.failure import UNNOTICED
from hardwon.model.nouns import Line
from hardwon.sessions.workers import Workers, cores, serve
from hardwon.store import failures, integrity, lessons, meta
from hardwon.store.database import Database, Entry, Row, insert, kept
from hardwon.store.fulltext import SmallIndex
from hardwon.store.lessons import Cited, LessonRow
from hardwon.store.sqlite import IN_MEMORY, SqliteDatabase
from hardwon.text.shown import FAILURES

if TYPE_CHECKING:
    from hardwon.harvest.walk import Progress

# The sessions of a store in the order of time, each with everything that the store learned from it.

_TABLES = {
    "occurrence": failures.OCCURRENCE_COLUMNS,
    "fix_evidence": failures.FIX_EVIDENCE_COLUMNS,
    "tried": ("source", "failure", "position", "steps", "tried_as", "root"),
    "lesson_source": ("lesson", "source", "message_index", "root", "at", "quote", "origin"),
}
"""What a session leaves in the store; each has a column `root`."""


class Met(NamedTuple):
    """One failed call."""

    key: str
    """What the judge calls the error."""
    failure: str
    tokens: int
    at: int


class Past(NamedTuple):
    """One session, with its sub-agents."""

    root: str
    project: str | None
    agent: str
    task: str
    started_at: int
    ended_at: int
    met: tuple[Met, ...]
    left: dict[str, list[Row]]
    """Table → the rows that it left."""
    sessions: list[Row]

    @property
    def is_session(self) -> bool:
        """Not where a sub-agent's file is all that there is of one."""
        return any(not row[_SUBAGENT] for row in self.sessions)


_FAILURE = failures.OCCURRENCE_COLUMNS.index("failure")
_EXIT_CODE = failures.OCCURRENCE_COLUMNS.index("exit_code")
SESSION_COLUMNS = (
    "id agent external_id subagent root project format version path branch task started_at ended_at messages "
    "user_messages tool_calls errors unknown_records redactions outcome content_hash harvester_version"
).split()
_SUBAGENT = SESSION_COLUMNS.index("subagent")


def load(db: Database, project: str | None = None) -> list[Past]:
    """Every session (of a project), the earliest first."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in db.query(f"SELECT {', '.join(SESSION_COLUMNS)} FROM session ORDER BY started_at, id"):
        rows[row[4]].append(row)
    left = {table: _by_root(db, table, columns) for table, columns in _TABLES.items()}
    own_tools = {row[0] for row in db.query("SELECT id FROM failure WHERE family = 'agent'")}
    found = (
        _past(root, own, {table: left[table].get(root, []) for table in left}, own_tools) for root, own in rows.items()
    )
    return sorted(
        (past for past in found if project is None or past.project == project),
        key=lambda past: (past.started_at, past.root),
    )


def _by_root(db: Database, table: str, columns: Iterable[str]) -> dict[str, list[Row]]:
    names = list(columns)
    place = names.index("root")
    found: dict[str, list[Row]] = defaultdict(list)
    for row in db.query(f"SELECT {', '.join(names)} FROM {table} ORDER BY source"):
        found[row[place]].append(row)
    return found


def _past(root: str, rows: list[Row], left: dict[str, list[Row]], own_tools: set[str]) -> Past:
    """`own_tools` are the failures of agents' own tools: every agent knows them, and none is to be foreseen.

    Nor is what a pipe hid from the agent.
    """
    first = next((row for row in rows if not row[_SUBAGENT]), rows[0])
    return Past(
        root=root,
        project=first[5],
        agent=first[1],
        task=first[10],
        started_at=min(row[11] for row in rows),
        ended_at=max(row[12] for row in rows),
        met=tuple(
            _met(row) for row in left["occurrence"] if row[_FAILURE] not in own_tools and row[_EXIT_CODE] != UNNOTICED
        ),
        left=left,
        sessions=rows,
    )


def _met(row: Row) -> Met:
    fields = dict(zip(failures.OCCURRENCE_COLUMNS, row, strict=True))
    return Met(judge.key(fields["excerpt"]), fields["failure"], fields["tokens"], fields["at"])


# A store in memory that knows just what was known at a moment: sessions are added to it as they end.

_MOST_INDEXED = 50_000
"""Items that are searched in memory: all of them, where the engine looks at the best 2,000 by its own measure."""
_NEW_SESSION = insert("session", SESSION_COLUMNS)
_TRIED = ("source", "failure", "position", "steps", "tried_as", "root")


class _Remembering(SqliteDatabase):
    """Answers the same question once between two changes: every session is briefed several times."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, tuple[Any, ...]], list[Row]] = {}
        self.kept: dict[Any, Any] = {}
        """What was made of answers; sessions that left nothing change none of it."""
        self._index: SmallIndex | None = SmallIndex()
        self._changing = True
        super().__init__(IN_MEMORY, write=True)
        self._changing = False
        self._connection.preupdate_hook(None)  # sums against flipped bits: of a file
        self._sums = None

    @contextmanager
    def transaction(self, project: str | None = None) -> Iterator[None]:
        self.kept.clear()
        self._answers.clear()
        with self._changed(project):
            yield

    @contextmanager
    def of_sessions(self) -> Iterator[None]:
        """A transaction that writes sessions and nothing else: what does not speak of these is as it was."""
        self._answers = {asked: rows for asked, rows in self._answers.items() if "session" not in asked[0]}
        with self._changed(None):
            yield

    @contextmanager
    def _changed(self, project: str | None) -> Iterator[None]:
        self._changing = True
        try:
            with super().transaction(project):
                yield
        finally:
            self._changing = False

    def index(self, entries: Iterable[Entry]) -> None:
        entered = list(entries)
        super().index(entered)
        if self._index is not None:
            for entry in entered:
                self._index.put(entry)
            if len(self._index) > _MOST_INDEXED:
                self._index = None

    def unindex(self, items: Iterable[str]) -> None:
        left = list(items)
        super().unindex(left)
        if self._index is not None:
            for item in left:
                self._index.drop(item)

    def matches(
        self,
        terms: Sequence[str],
        limit: int,
        types: Sequence[str] = (),
        *,
        phrases: Sequence[Sequence[str]] = (),
        also: Sequence[str] = (),
    ) -> list[tuple[str, str, float]]:
        if phrases or also or self._index is None:
            return super().matches(terms, limit, types, phrases=phrases, also=also)
        return self._index.matches(terms, limit, types)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        if self._changing:
            return super().query(sql, parameters)
        asked = (sql, tuple(parameters))
        if asked not in self._answers:
            self._answers[asked] = super().query(sql, parameters)
        return list(self._answers[asked])

    def new_roots(self) -> set[str]:
        """The sessions of which something came in since this was asked last."""
        return {row[0] for row in super().query("DELETE FROM new_root RETURNING root")}


_OF_PROJECTS = {"project": ("id", "key", "name"), "project_root": ("path", "project")}


class Rows(NamedTuple):
    """What a store holds beside what its sessions left; by id, or by table."""

    failures: dict[str, Row]
    fixes: dict[str, Row]
    lessons: dict[str, Row]
    first_status: dict[str, str]
    projects: dict[str, list[Row]]


def _rows(source: Database) -> Rows:
    return Rows(
        _by_id(source, "failure", failures.FAILURE_COLUMNS),
        _by_id(source, "fix", failures.FIX_COLUMNS),
        _by_id(source, "lesson", LessonRow._fields),
        {
            event.item: event.after["status"]
            for event in integrity.recent_events(source, 1_000_000)
            if event.action == "create" and event.item  # a forgotten one says no more than that it was
        },
        {table: source.query(f"SELECT {', '.join(columns)} FROM {table}") for table, columns in _OF_PROJECTS.items()},
    )


class Scratch:
    """Filled from a store's own rows, session by session."""

    def __init__(self, source: Database | Rows) -> None:
        self.db = _Remembering()
        meta.prepare(self.db)
        rows = source if isinstance(source, Rows) else _rows(source)
        self._failures, self._fixes, self._lessons, self._first_status, of_projects = rows
        with self.db.transaction():
            for table, columns in _OF_PROJECTS.items():
                self.db.bulk(insert(table, columns), of_projects[table])
            self.db.execute("CREATE TEMP TABLE new_root (root TEXT PRIMARY KEY) WITHOUT ROWID")
            for table in ("session", *_TABLES):
                self.db.execute(
                    f"CREATE TEMP TRIGGER new_{table} AFTER INSERT ON {table} "
                    "BEGIN INSERT OR IGNORE INTO new_root VALUES (new.root); END"
                )

    def add(self, sessions: Iterable[Past]) -> None:
        """What these sessions taught is known from now on."""
        added = list(sessions)
        if not added:
            return
        if not any(rows for past in added for rows in past.left.values()):
            with self.db.of_sessions():
                for past in added:
                    self.db.bulk(_NEW_SESSION, past.sessions)
            return
        with self.db.transaction():
            for past in added:
                self._add(past)
        meta.recount_stale(self.db)

    def _add(self, past: Past) -> None:
        db, left = self.db, past.left
        db.bulk(_NEW_SESSION, past.sessions)
        known = "ON CONFLICT (id) DO NOTHING"
        met = {row[2] for row in left["occurrence"]} | {row[1] for row in left["tried"]}
        db.bulk(insert("failure", failures.FAILURE_COLUMNS, known), (self._failures[id] for id in sorted(met)))
        db.bulk(insert("occurrence", failures.OCCURRENCE_COLUMNS), left["occurrence"])
        worked = sorted({row[0] for row in left["fix_evidence"]})
        db.bulk(insert("fix", failures.FIX_COLUMNS, known), (self._fixes[id] for id in worked))
        db.bulk(insert("fix_evidence", failures.FIX_EVIDENCE_COLUMNS), left["fix_evidence"])
        db.bulk(insert("tried", _TRIED), left["tried"])
        taught = sorted({row[0] for row in left["lesson_source"]})
        fresh = [self._lesson(id) for id in taught if lessons.get(db, id) is None]
        lessons.add(db, fresh, [])
        lessons.cite(db, (Cited(*row) for row in left["lesson_source"]))
        meta.mark_stale(db, [*met, *taught])

    def _lesson(self, id: str) -> LessonRow:
        """As it was when it was first harvested, before anybody decided on it."""
        row = LessonRow(*self._lessons[id])
        return row._replace(status=self._first_status.get(id, row.status), confidence=row.base_confidence, kept=0)

    def close(self) -> None:
        self.db.close()


def _by_id(db: Database, table: str, columns: Iterable[str]) -> dict[str, Row]:
    return {row[0]: row for row in db.query(f"SELECT {', '.join(columns)} FROM {table}")}


NEWEST_FAILURES_SHOWN = 3
"""The source system shows the newest three failures."""
_MAX_FAILURES_RANKED = 500
AGAINST = "ours against "
"""Before the name of a baseline: the best of our lines that fit into the tokens which it took."""
FILLING = "filling "
"""Before the name of a baseline: with the whole budget, though we would leave some of it unspent."""


class Shown(NamedTuple):
    """What one way of choosing put before a session, and how much of it came true."""

    lines: int
    came_true: int
    foreseen: int
    tokens: int
    failure_tokens: int


class ReplayStep(NamedTuple):
    """One session of the walk."""

    past: Past
    errors: int
    foreseeable: int
    """Errors that an earlier session of the project had met."""
    foreseeable_anywhere: int
    recalled: int
    recalled_with_fix: int
    fix_existed: int
    """Of the errors met anywhere before, those for which some fix had been seen."""
    repeated_calls: int
    repeated_tokens: int
    shown: dict[str, Shown]


class ReplaySettings(NamedTuple):
    config: Config
    budget: int
    failure_budget: int | None = None
    seed: int = 7


class Peeked(Exception):
    """Something was known that nobody could have known yet: the numbers would be worthless."""


def walk(
    db: Database, history: Sequence[Past], settings: ReplaySettings, known: type[Scratch] = Scratch
) -> Iterator[ReplayStep]:
    """Every session in turn, with what was known when it began."""
    yield from _Walk(known(db), history, settings).steps(0, len(history))


class _Walk:
    """Goes through sessions in their order, and briefs some of them."""

    def __init__(self, scratch: Scratch, history: Sequence[Past], settings: ReplaySettings) -> None:
        self._scratch = scratch
        self._history = history
        self._settings = settings
        self._seen = _Seen()
        self._running: list[tuple[int, str, Past]] = []
        self._next = 0

    def steps(self, first: int, last: int) -> Iterator[ReplayStep]:
        """Of the sessions from one up to another; those before only become known. To be asked for in order."""
        for number in range(self._next, last):
            past = self._history[number]
            ended: list[Past] = []
            while self._running and self._running[0][0] <= past.started_at:
                ended.append(heapq.heappop(self._running)[2])
            self._scratch.add(ended)
            self._seen.add(ended)
            if number >= first:
                _refuse_to_peek(self._scratch.db, self._seen, past)
                yield _step(self._scratch.db, self._seen, past, self._settings)
            heapq.heappush(self._running, (past.ended_at, past.root, past))
        self._next = last
        if last == len(self._history):
            self._scratch.close()


# The same by several processes: each goes through all sessions, and briefs those that it is asked for.

_SESSIONS_WITHOUT_WORKERS = 60
"""Sessions that are walked before other processes would have started."""
_SESSIONS_PER_REQUEST = 25


class _Material(NamedTuple):
    """What a walk is made from."""

    rows: Rows
    history: list[Past]
    settings: ReplaySettings
    trips: list[tuple[str, list[Trip]]]
    """The sessions of each project, for its map."""


class _Question(NamedTuple):
    material: str
    """The file it is in."""
    first: int
    last: int
    project: int = -1
    """Asks for what the map of a project would have told these of its sessions, instead of for a part of the walk."""


class _Answer(NamedTuple):
    steps: list[ReplayStep]
    """Without what their sessions left, which is known."""
    maps: list[Tried]


_pack = msgspec.msgpack.Encoder().encode


def work() -> None:
    """What a worker does."""
    decode = msgspec.msgpack.Decoder(_Question).decode
    serve(lambda question: _pack(_answer(decode(question))))


def _answer(question: _Question) -> _Answer:
    return _at_work(question.material).answer(question)


class _AtWork:
    """Answers questions in their order; what is gone on with is not begun anew."""

    def __init__(self, material: _Material) -> None:
        self._trips = [trips for _, trips in material.trips]
        self._walk = _Walk(Scratch(material.rows), material.history, material.settings)
        self._reached = -1, 0
        self._tried: Iterator[Tried] = iter(())

    def answer(self, question: _Question) -> _Answer:
        _, first, last, project = question
        if project < 0:
            return _Answer([_without_left(step) for step in self._walk.steps(first, last)], [])
        if self._reached != (project, first):
            self._tried = tries(self._trips[project], first)
        self._reached = project, last
        return _Answer([], list(islice(self._tried, last - first)))


@lru_cache(maxsize=1)
def _at_work(file: str) -> _AtWork:
    return _AtWork(msgspec.msgpack.decode(Path(file).read_bytes(), type=_Material))


def _without_left(step: ReplayStep) -> ReplayStep:
    return step._replace(past=step.past._replace(met=(), left={}, sessions=[]))


def walked(
    db: Database,
    project: str | None,
    settings: ReplaySettings,
    progress: Progress | None = None,
    maps: Callable[[str], tuple[str, list[Trip]]] | None = None,
) -> tuple[list[ReplayStep], list[ProjectMap]]:
    """The whole walk, of a project or of all, and what the maps of these would have told: `maps` gives a project's
    name and sessions."""
    history = load(db, project)
    told = progress or (lambda *_: None)
    there = dict.fromkeys(past.project for past in history if past.project) if maps else {}
    trips = [maps(id) for id in there] if maps else []
    if len(history) <= _SESSIONS_WITHOUT_WORKERS or cores() == 1:
        steps = []
        for step in _Walk(Scratch(db), history, settings).steps(0, len(history)):
            steps.append(step)
            told("replaying", len(steps), len(history))
        return steps, [summarise(name, outcomes(own)) for name, own in trips]
    with tempfile.TemporaryDirectory() as folder, Workers(__name__, cores() - 1) as workers:
        material = _Material(_rows(db), history, settings, trips)
        file = Path(folder, "walk")
        with open(file, "wb", opener=private) as shared:
            shared.write(_pack(material))
        # Each process does one kind as long as there is some: who briefs goes through all sessions before.
        walks = (_Question(str(file), *part) for part in _parts(len(history), _SESSIONS_PER_REQUEST))
        drawn = (
            _Question(str(file), *part, at)
            for at in sorted(range(len(trips)), key=lambda at: -len(trips[at][1]))
            for part in _parts(len(trips[at][1]), _SESSIONS_PER_REQUEST)
        )
        questions = [one for pair in zip_longest(walks, drawn) for one in pair if one]
        maps_first = {number for number, one in enumerate(questions) if one.project >= 0}
        found: list[ReplayStep] = []
        tried: list[list[Tried]] = [[] for _ in trips]
        asked, decode = msgspec.msgpack.Decoder(_Question).decode, msgspec.msgpack.Decoder(_Answer).decode
        here = _AtWork(material)

        def own(question: bytes) -> bytes:
            return _pack(here.answer(asked(question)))

        for question, answer in zip(questions, workers.answers(map(_pack, questions), own, maps_first), strict=True):
            part = decode(answer) if answer is not None else _answer(question)
            found += part.steps
            if question.project >= 0:
                tried[question.project] += part.maps
            told("replaying", len(found), len(history))
        _at_work.cache_clear()
    steps = [step._replace(past=past) for step, past in zip(found, history, strict=True)]
    return steps, [summarise(name, in_turn(those)) for (name, _), those in zip(trips, tried, strict=True)]


def _parts(count: int, size: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + size, count)) for first in range(0, count, size))


def _refuse_to_peek(db: _Remembering, seen: _Seen, past: Past) -> None:
    """The scratch store holds the sessions that have ended, and nothing that comes from any other."""
    if early := sorted(db.new_roots() - seen.roots):
        raise Peeked(f"{past.root} would have known of {early[0]}, which had not ended")


class _Seen:
    """What the judge has seen so far."""

    def __init__(self) -> None:
        self.roots: set[str] = set()
        self.anywhere: set[str] = set()
        self.in_project: dict[str | None, set[str]] = defaultdict(set)
        self.shows: dict[str, str] = {}
        """Failure → the error that a line about it shows: the latest."""
        self.holds: dict[str, set[str]] = defaultdict(set)
        """Failure → every error that was ever counted as it."""
        self.held_by: dict[str, set[str]] = defaultdict(set)
        """The same the other way."""

    def add(self, sessions: Sequence[Past]) -> None:
        for past in sessions:
            self.roots.add(past.root)
            for met in sorted(past.met, key=lambda met: met.at):
                self.anywhere.add(met.key)
                self.in_project[past.project].add(met.key)
                self.shows[met.failure] = met.key
                self.holds[met.failure].add(met.key)
                self.held_by[met.key].add(met.failure)


def _step(db: Database, seen: _Seen, past: Past, settings: ReplaySettings) -> ReplayStep:
    errors = {met.key for met in past.met if met.key}
    before = errors & seen.in_project[past.project] if past.project else set()
    anywhere = errors & seen.anywhere
    first = {met.key: met.failure for met in reversed(past.met)}
    known = {key for key in anywhere if key in seen.holds.get(first[key], ())}
    fixes = failures.fixes(db, [first[key] for key in known])
    return ReplayStep(
        past=past,
        errors=len(errors),
        foreseeable=len(before),
        foreseeable_anywhere=len(anywhere),
        recalled=len(known),
        recalled_with_fix=sum(any(fix.status == "active" for fix in fixes[first[key]]) for key in known),
        fix_existed=_fix_existed(db, seen, anywhere),
        repeated_calls=sum(met.key in before for met in past.met),
        repeated_tokens=sum(met.tokens for met in past.met if met.key in before),
        shown=_all_ways(db, seen, past, errors, before, settings) if past.project else {},
    )


def _fix_existed(db: Database, seen: _Seen, keys: set[str]) -> int:
    """For how many of these errors any failure that held them had a fix."""
    holding = {failure for key in keys for failure in seen.held_by[key]}
    fixed = {id for id, fixes in failures.fixes(db, holding).items() if any(fix.status == "active" for fix in fixes)}
    return len(keys & set().union(*(seen.holds[id] for id in fixed)))


def _all_ways(
    db: Database, seen: _Seen, past: Past, errors: set[str], before: set[str], settings: ReplaySettings
) -> dict[str, Shown]:
    """Ours without and with the first prompt; each baseline with as many tokens as ours took at the most, and ours
    with as many as it then took, for not all of them use what they may."""

    def judged(lines: Sequence[Line], tokens: int, failure_tokens: int) -> Shown:
        keys = [seen.shows.get(line.id, line.id) for line in lines]  # of what nobody noticed, its own
        return Shown(len(keys), sum(key in errors for key in keys), len(before & set(keys)), tokens, failure_tokens)

    found = _found(db, past, "", settings)
    ours, tokens, allowance = _ours(found, settings)
    told = {"ours": judged(ours, tokens, allowance)}
    prompted = _found(db, past, past.task, settings) if past.task else found
    told["with_prompt"] = judged(*_ours(prompted, settings))
    pool = kept(db, _pool, past.project)
    for name, order in _BASELINES.items():
        ordered = order(pool, f"{settings.seed} {past.root}")
        told[name] = judged(*_cut(ordered, allowance))
        told[AGAINST + name] = judged(*_cut(ours, told[name].failure_tokens))
        whole = settings.budget if settings.failure_budget is None else settings.failure_budget
        told[FILLING + name] = judged(*_cut(ordered, whole))
    return told


def _cut(lines: Sequence[Line], tokens: int) -> tuple[list[Line], int, int]:
    chosen = failures_within(lines, tokens)
    block = _block(chosen)
    return chosen, block, block


def _found(db: Database, past: Past, task: str, settings: ReplaySettings) -> Candidates:
    request = Request(project=past.project or "", agent=past.agent, task=task)
    return candidates(db, request, settings.config, past.started_at)


def _ours(found: Candidates, settings: ReplaySettings) -> tuple[list[Line], int, int]:
    made = compose(found, settings.budget, b"", failure_budget=settings.failure_budget)
    lines = [line for line in made.lines if line.kind == "failure"]
    return lines, made.tokens, _block(lines)


def _block(lines: Sequence[Line]) -> int:
    """What the failure block of these lines costs."""
    return cost(FAILURES, *(f"- {line.text}" for line in lines)) if lines else 0


class _Pool(NamedTuple):
    """Every failure of a project that is known, as a line: what the baselines choose from."""

    newest: list[Line]
    most_frequent: list[Line]
    by_id: list[Line]


def _pool(db: Database, project: str) -> _Pool:
    met = kept(db, failures.likely, project, _MAX_FAILURES_RANKED)
    known = [one for one in met if not against_failure(one.row.family)]
    fixes = failures.fixes(db, [one.row.id for one in known], project)
    lines = sorted(((one.row, as_line(one, fixes[one.row.id])) for one in known), key=lambda entry: entry[0].id)
    return _Pool(
        [line for _, line in sorted(lines, key=lambda entry: -entry[0].last_seen)],
        [line for _, line in sorted(lines, key=lambda entry: -entry[0].occurrences)],
        [line for _, line in lines],
    )


def _at_random(pool: _Pool, seed: str) -> list[Line]:
    lines = list(pool.by_id)
    random.Random(seed).shuffle(lines)  # noqa: S311 - the same draw every time
    return lines


_BASELINES: dict[str, Callable[[_Pool, str], list[Line]]] = {
    "nothing": lambda *_: [],
    "newest_three": lambda pool, _: pool.newest[:NEWEST_FAILURES_SHOWN],
    "most_recent": lambda pool, _: pool.newest,
    "most_frequent": lambda pool, _: pool.most_frequent,
    "random": _at_random,
}
