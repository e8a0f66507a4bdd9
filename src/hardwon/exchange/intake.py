"""What all imports from other systems share: the one door that their rows pass, and the account of what came in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec
from msgspec import Struct, field

from hardwon.capture import record, reflections
from hardwon.clock import microseconds, now
from hardwon.errors import HardwonError, NotFound
from hardwon.model.lesson import STATUSES
from hardwon.sessions.project import Project
from hardwon.sessions.reader import Source, columns, opened_database
from hardwon.store import attempts, failures, integrity, lessons, lifecycle, meta, projects
from hardwon.store.attempts import AttemptRow
from hardwon.store.database import Database
from hardwon.store.integrity import Happened
from hardwon.store.lessons import Cited, LessonRow
from hardwon.store.meta import scrubber

ACTOR = "import"
_MAX_DEPTH = 50
_HEADER = b"SQLite format 3\x00"


class Taken(Struct):
    """What an import brought in."""

    system: str
    added: dict[str, int] = field(default_factory=dict)
    """By noun: attempts, lessons, documents, …"""
    known: dict[str, int] = field(default_factory=dict)
    """Those that an earlier import has brought, or that say the same as a lesson of the store."""
    redactions: int = 0
    left_out: list[str] = field(default_factory=list)
    """What has no place in the store, and why."""


class Intake:
    """Scrubs, counts and stores; inside a transaction."""

    def __init__(self, db: Database, system: str, fallback: int) -> None:
        self.db = db
        self.system = system
        self._fallback = fallback
        self._scrubber = scrubber(db)
        self._added: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._left_out: list[str] = []
        self._projects: dict[str, str] = {}
        self._no_lessons = 0

    def report(self) -> Taken:
        if self._no_lessons:
            self.leave_out(f"reflections: {self._no_lessons} too short for a lesson; told with their attempt")
        return Taken(self.system, dict(self._added), dict(self._known), self._scrubber.redactions, list(self._left_out))

    def leave_out(self, what: str) -> None:
        self._left_out.append(what)

    def count(self, noun: str, *, new: bool) -> None:
        (self._added if new else self._known)[noun] += 1

    def text(self, value: object) -> str:
        """Whatever a database holds, as text that may be stored."""
        return "" if value is None else self._scrubber.scrub(str(value)).replace("\x00", "")

    def json(self, value: object, empty: str) -> str:
        """A JSON column with every string in it scrubbed; what is no JSON is kept as one string."""
        if value is None or value == "":
            return empty
        try:
            content = msgspec.json.decode(str(value))
        except (msgspec.DecodeError, RecursionError):
            content = str(value)
        return msgspec.json.encode(self._clean(content)).decode()

    def names(self, value: object) -> list[str]:
        """A JSON column that is a list of strings; what is no list is its only entry."""
        content = msgspec.json.decode(self.json(value, "[]"))
        listed = content if isinstance(content, list) else [content]
        return [entry if isinstance(entry, str) else msgspec.json.encode(entry).decode() for entry in listed]

    def time(self, value: object) -> int:
        """Naive times are UTC; one that cannot be read is that of the file."""
        return self.time_or_none(value) or self._fallback

    def time_or_none(self, value: object) -> int | None:
        return microseconds(value)

    def project(self, name: str) -> str:
        """The id of the one project that is called so; made if there is none."""
        if name not in self._projects:
            found = projects.find(self.db, name)
            exact = [row for row in found if row[1] == name]
            if len(found) != 1 and not exact:
                made = Project(name, "")
                projects.save(self.db, made)
                self.count("projects", new=True)
                self._projects[name] = made.id
            else:
                self.count("projects", new=False)
                self._projects[name] = (exact or found)[0][0]
        return self._projects[name]

    def lesson(self, row: LessonRow, sources: list[Cited], why: str) -> str:
        """Add a lesson unless it is there, or one that says the same; returns the id of what stands for it.

        What is only proposed is not proposed again when it was decided on, whatever the decision was.
        """
        if self.db.query("SELECT 1 FROM lesson WHERE id = ?", (row.id,)):
            self.count("lessons", new=False)
            if (row.status, row.trust) == ("active", "human"):
                lifecycle.vouch(self.db, row.id, row.base_confidence, actor=ACTOR, why=why)
            return row.id
        statuses = STATUSES if row.status == "candidate" else ()
        if decided := next(filter(None, (lifecycle.duplicate(self.db, row._replace(status=s)) for s in statuses)), ""):
            lessons.cite(self.db, (source._replace(lesson=decided) for source in sources))
            self.count("lessons", new=False)
            return decided
        id = lifecycle.create(self.db, row, sources, actor=ACTOR, why=why)
        self.count("lessons", new=id == row.id)
        return id

    def attempt(self, row: AttemptRow, *, trusted: bool) -> None:
        """Keep an attempt, the error in its output and, as a lesson, what was learned from it."""
        before = lessons.count(self.db)
        record.logged(self.db, row, actor=ACTOR, vouched=trusted)
        self.count("attempts", new=True)
        if lessons.count(self.db) > before:
            self.count("lessons", new=True)
        elif row.reflection and not reflections.lesson_in(row.reflection):
            self._no_lessons += 1

    def known_attempt(self, id: str, project: str | None, *, trusted: bool) -> bool:
        """Whether an earlier import brought it. One that had no project gets it now, with all that came of it.

        Who vouches for it now vouches for that, too.
        """
        known = attempts.by_id(self.db, [id]).get(id)
        if known is None:
            return False
        self.count("attempts", new=False)
        if self.give_project(known, project) or trusted:
            holder = known.project or project
            reflections.propose(self.db, known._replace(project=holder), actor=ACTOR, vouched=trusted)
        if trusted:
            failures.vouch(self.db, id)
        return True

    def give_project(self, known: AttemptRow, project: str | None) -> bool:
        """Whether an attempt that had none has this project now, with what failed in it."""
        if not project or known.project is not None:
            return False
        attempts.give_project(self.db, known.id, project)
        met = [row[0] for row in self.db.query("SELECT failure FROM occurrence WHERE source = ?", (known.id,))]
        failures.refresh(self.db, met)
        meta.mark_stale(self.db, [project])
        return True

    def remember(self, item: str, fields: dict[str, Any]) -> None:
        """Fields that the store has no column for: the audit trail keeps them."""
        integrity.record_events(self.db, ACTOR, now(), [Happened("import", item, {}, fields, f"from {self.system}")])

    def _clean(self, value: object, depth: int = 0) -> object:
        if depth > _MAX_DEPTH:
            return None
        if isinstance(value, dict):
            return {self.text(name): self._clean(entry, depth + 1) for name, entry in value.items()}
        if isinstance(value, list):
            return [self._clean(entry, depth + 1) for entry in value]
        return self.text(value) if isinstance(value, str) else value


class Foreign:
    """Another system's SQLite database: read only, trusted in nothing. Every question to it may raise `apsw.Error`."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self.path = path
        self._connection = connection

    @property
    def changed(self) -> int:
        """When the file was written last, in microseconds: for rows that do not say when."""
        return self.path.stat().st_mtime_ns // 1000

    def refuse_damage(self) -> None:
        """Before anything is taken: a page that cannot be read may come late, or not be noticed at all."""
        said = str(self._value("PRAGMA quick_check(1)"))
        if said != "ok":
            raise apsw.CorruptError(" ".join(said.split()))

    def columns(self, table: str) -> set[str]:
        return columns(self._connection, table)

    def rows(self, table: str, defaults: Mapping[str, object], order: str = "id") -> Iterator[dict[str, Any]]:
        """The named columns of every row; those that an older database lacks have their default."""
        there = [name for name in defaults if name in self.columns(table)]
        if not there:
            return
        # As bytes, for nothing says that what such a database calls text is UTF-8.
        wanted = ", ".join(f"iif(typeof({name}) = 'text', CAST({name} AS BLOB), {name})" for name in there)
        for row in self._connection.execute(f"SELECT {wanted} FROM {table} ORDER BY {order}"):
            yield {**defaults, **dict(zip(there, map(_decoded, row), strict=True))}

    def count(self, table: str, where: str = "TRUE") -> int:
        return int(self._value(f"SELECT count(*) FROM {table} WHERE {where}"))

    def largest(self, table: str, column: str) -> int:
        value = self._value(f"SELECT max({column}) FROM {table}")
        return value if isinstance(value, int) else 0

    def others(self, known: Mapping[str, Collection[str]]) -> list[str]:
        """Tables and columns that hold something and are not among the known ones."""
        names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name"
        tables = [str(name) for (name,) in self._connection.execute(names)]
        found = [name for name in tables if name not in known and self._holds(name)]
        for table in known:
            found += [f"{table}.{column}" for column in sorted(self.columns(table) - set(known[table]))]
        return found

    def _holds(self, table: str) -> bool:
        quoted = table.replace('"', '""')
        return bool(self._value(f'SELECT EXISTS (SELECT 1 FROM "{quoted}")'))

    def _value(self, sql: str) -> Any:
        return next(iter(self._connection.execute(sql)))[0]


def _decoded(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def is_database(path: Path) -> bool:
    """Whether a file begins as SQLite databases do. Raises NotFound, or HardwonError where it cannot be read."""
    if not path.is_file():
        raise NotFound(f"no such file: {path}")
    try:
        with path.open("rb") as file:
            return file.read(len(_HEADER)) == _HEADER
    except OSError as error:
        raise HardwonError(f"cannot read {path}: {error.strerror}") from error


@contextmanager
def database(path: Path, name: str, needs: Mapping[str, frozenset[str]]) -> Iterator[Foreign]:
    """Open a database that has at least these columns. Raises NotFound, or HardwonError with what is wrong with it."""
    try:
        if not is_database(path):
            raise HardwonError(f"{path} is not a SQLite database")
        connection = opened_database(Source(path))
    except (OSError, apsw.Error) as error:
        raise HardwonError(f"cannot read {path}: {error}") from error
    try:
        foreign = Foreign(path, connection)
        if not any(foreign.columns(table) >= wanted for table, wanted in needs.items()):
            raise HardwonError(f"{path} is not {name}: it has no table {' or '.join(needs)} with the expected columns")
        connection.execute("BEGIN")
        foreign.refuse_damage()
        yield foreign
    except apsw.Error as error:
        raise HardwonError(f"{path} is damaged: {error}; nothing was imported") from error
    finally:
        connection.close()
