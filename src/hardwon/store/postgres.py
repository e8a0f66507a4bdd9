"""PostgreSQL through psycopg: one store for a team.

The tables are those of SQLite; a workspace is a schema, chosen by the connection's search path.

A writing transaction first takes the store's lock, so that both engines promise the same: alone, and true until
committed. Who writes to one project shares the store's lock, has that of the project's lane, and then, at once, those
of the failures that are concerned: always in this order, so that nobody waits in a circle.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from zlib import crc32

import psycopg
from msgspec import Struct
from psycopg.sql import SQL, Identifier, Literal

from hardwon.errors import NoModel, NotAllowed, NotFound, StoreError, StoreOutdated
from hardwon.store import database, fulltext, meta, migrations, schema
from hardwon.store.database import (
    LEAST_SIMILARITY,
    LONGEST_STATEMENT_MILLISECONDS,
    WAIT_MILLISECONDS,
    Check,
    Entry,
    Neighbour,
    Row,
    Vector,
    insert,
    marks,
)
from hardwon.store.fulltext import Corpus, best_matches
from hardwon.store.vectors import (
    COMPARED_EXACTLY,
    compared,
    nearest_first,
    next_version,
    packed,
    refuse_other_model,
    refuse_other_size,
)

_ROWS_PER_STATEMENT = 500
_MOST_WAITING = 1 << 18
"""Characters of statements that go to the server together."""
_NOT_YET = "the database system is"
"""… starting up, in recovery mode, shutting down."""
_NAP_SECONDS = 0.05
_OFTEN = 5
_EXTENSIONS = ("vector", "pg_trgm")
_LIKELY_PER_WANTED = 2
_ITEMS_COUNTED_EXACTLY = 100_000
"""Of a larger index it is estimated how many items hold a term."""
_ITEMS_LOOKED_AT = 2 * fulltext.MAX_POSTINGS
"""Where even the rarest term of a question is common."""
_INDEXED_DIMENSIONS = 384
"""Of the model that Hardwon ships; vectors of others are compared without an index."""

_ONE_ROW = re.compile(r"(?s)(INSERT INTO .*?\bVALUES )(\([?, ]+\))(.*)")

_LANES = 256
"""Projects that have a lane in common wait for each other; every lane has a row of the index's count."""
_LOCKS = "hashtext('hardwon ' || current_schema()), hashtext('hardwon failures ' || current_schema())"
_NUMBERED = ("attempt", "event")
"""Tables whose rows are numbered by a sequence: who takes a number waits for nobody."""

_INDEX = """
CREATE TABLE {name} (
    item  TEXT COLLATE "C" PRIMARY KEY,
    type  TEXT NOT NULL,
    terms TEXT NOT NULL,
    hash  TEXT NOT NULL,
    size  BIGINT NOT NULL,
    lexemes tsvector NOT NULL
);
CREATE TABLE {total} (part BIGINT PRIMARY KEY, items BIGINT NOT NULL, words BIGINT NOT NULL);
CREATE INDEX {name}_lexemes ON {name} USING gin (lexemes);
"""
_REPLACED = "ON CONFLICT (item) DO UPDATE SET " + ", ".join(
    f"{column} = excluded.{column}" for column in ("type", "terms", "hash", "size", "lexemes")
)
_TOTALS = {fulltext.KNOWN: "search_total", fulltext.SAID: "search_passage_total"}
_SINCE = {fulltext.KNOWN: 2, fulltext.SAID: 4}
"""The schema that brought each index."""
_SEQUENCES_SINCE = 5


class PostgresDatabase:
    """A database on a server."""

    engine = "postgresql"

    def __init__(
        self,
        url: str,
        *,
        write: bool = False,
        create: bool = True,
        wait: int = WAIT_MILLISECONDS,
        longest: int = LONGEST_STATEMENT_MILLISECONDS,
    ) -> None:
        """`create` lets one that writes make the store if there is none; without, a server that is away is waited for.

        `longest` is how many milliseconds a statement may take; 0 for any.
        """
        self.place = _without_password(url)
        self._explained = _Explained(self._told)
        self._url, self._write, self._wait, self._longest = url, write, wait, longest
        self._may_create = create
        self._inside = self._unsent = self._is_done = False
        """In a transaction or snapshot; of which the server does not know yet; closed by who opened it."""
        self._waiting: list[str] = []
        self._waiting_size = self._journeys = self._depth = 0
        self._failures: set[int] | None = None
        self.lane = 0
        with self._explained:
            self._open(await_server=not create)

    def _open(self, *, await_server: bool) -> None:
        self._connection = _connected(self._url, self._wait / 1000, await_server=await_server)
        self._cursor = psycopg.ClientCursor(self._connection)
        self._times: dict[str, int] = {}
        try:
            self._connection.execute(f"SET lock_timeout = {self._wait}")
            self._bring_up_to_date(write=self._write)
            self._connection.execute(f"SET statement_timeout = {self._longest}")
            self._look_far_enough()
            if not self._write:
                self._connection.execute("SET default_transaction_read_only = on")
        except BaseException:
            self._connection.close()
            raise

    def _look_far_enough(self) -> None:
        """By itself an HNSW index gives up after forty neighbours; four hundred are enough for a hundred."""
        for setting in ("hnsw.ef_search = 400", "hnsw.iterative_scan = relaxed_order"):
            with suppress(psycopg.Error):  # an older pgvector does not know the second
                self._connection.execute(f"SET {setting}")

    @contextmanager
    def transaction(self, project: str | None = None) -> Iterator[None]:
        lane = 1 + crc32(project.encode()) % _LANES if project else 0
        if self._inside:
            if self.lane not in (0, lane):
                raise RuntimeError("a transaction of one project cannot have another, or the whole store, to itself")
            with self._explained, self._savepoint():
                yield
            return
        with self._explained, self._begun(f"BEGIN; SELECT {self._locks(lane)}", at_once=not lane):
            self.lane, self._failures = lane, None
            try:
                yield
            finally:
                self.lane = 0

    @contextmanager
    def _begun(self, first: str, *, at_once: bool = False) -> Iterator[None]:
        """A transaction that begins with a statement, which goes with the first that needs an answer."""
        self._waiting.append(first)
        self._inside, self._unsent = True, True
        try:
            if at_once:
                self._sent()
            yield
            if self._unsent and len(self._waiting) > 1:
                self._sent()
            if not self._unsent:
                ended = self._sent("COMMIT").statusmessage
                if ended != "COMMIT":  # the server says so, and no more, where an error was passed over
                    raise StoreError(f"{self.place} took back what was written, for a part of it failed: try again")
        except BaseException:
            if not self._unsent and not self._connection.closed:
                self._waiting.clear()
                with suppress(psycopg.Error):  # a lost connection takes everything back as well
                    self._sent("ROLLBACK")
            raise
        finally:
            self._waiting.clear()
            self._inside = self._unsent = False

    @contextmanager
    def _savepoint(self) -> Iterator[None]:
        """What is done inside can be taken back by itself; its errors are met inside."""
        if self._waiting:
            self._sent()
        name = f"part_{self._depth}"
        self._depth += 1
        self._waiting.append(f"SAVEPOINT {name}")
        journeys = self._journeys
        try:
            yield
            if self._journeys != journeys or len(self._waiting) > 1:
                self._sent(f"RELEASE {name}")
            self._waiting.clear()
        except BaseException:
            self._waiting.clear()
            if self._journeys != journeys and not self._connection.closed:
                with suppress(psycopg.Error):
                    self._sent(f"ROLLBACK TO {name}; RELEASE {name}")
            raise
        finally:
            self._depth -= 1

    def _sent(self, last: str = "") -> psycopg.Cursor[Any]:
        """What waits, and a statement that ends it, in one journey to the server; stands at the last answer.

        On a new connection, if the server ended the one there was while nothing was under way.
        """
        if last:
            self._waiting.append(last)
        whole, self._waiting = "; ".join(self._waiting).encode(), []
        self._waiting_size = 0
        nothing_under_way = self._unsent or not self._inside
        self._unsent = False
        self._journeys += 1
        try:
            found = self._cursor.execute(whole)
        except psycopg.OperationalError:
            if not (nothing_under_way and self._connection.closed) or self._is_done:
                raise
            self._may_create = False
            self._open(await_server=True)
            found = self._cursor.execute(whole)
        found.set_result(-1)
        return found

    def _locks(self, lane: int) -> str:
        """The locks of a transaction, in the order in which everybody takes them."""
        if not lane:
            return f"pg_advisory_xact_lock({self._store_lock})"
        return f"pg_advisory_xact_lock_shared({self._store_lock}), pg_advisory_xact_lock({self._store_lock}, {lane})"

    def share_failures(self, ids: Iterable[str]) -> None:
        wanted = {crc32(id.encode()) - (1 << 31) for id in ids}
        if not self.lane or not wanted:
            return
        if self._failures is None:
            self._failures = wanted
            self.execute(
                "SELECT " + ", ".join(f"pg_advisory_xact_lock({self._failures_lock}, {one})" for one in sorted(wanted))
            )
        elif not wanted <= self._failures:
            raise RuntimeError("a transaction of one project asked twice for failures: it could wait in a circle")

    def next_numbers(self, table: str, count: int, beside: str = "NULL") -> tuple[list[int], Any]:
        one = f"nextval('{table}_number')"
        newest = f"(SELECT max(number) FROM {table})"
        while count:
            numbers = one if count == 1 else f"ARRAY(SELECT {one} FROM generate_series(1, {count}))"
            ((taken, last, known),) = self.query(f"SELECT {numbers}, {newest}, {beside}")
            taken = [taken] if count == 1 else taken
            if taken[0] > (last or 0):
                return taken, known
            # Rows came with numbers of their own, as a copy or an import brings them.
            self.query(f"SELECT count({one}) FROM generate_series(1, ?)", (last - taken[-1],))
        return [], None

    @contextmanager
    def unhurried(self) -> Iterator[None]:
        before, self._longest = self._longest, 0
        self.execute("SET statement_timeout = 0")
        try:
            yield
        finally:
            self._longest = before
            with suppress(StoreError, psycopg.Error):  # a new connection, or one that goes back, is told anyway
                self.execute(f"SET statement_timeout = {before}")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        if self._inside:  # which is alone anyway
            yield
            return
        with self._explained, self._begun("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with self._explained:
            return self._sent(self._filled_in(sql, parameters)).fetchall()

    def changed(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        with self._explained:
            return self._sent(self._filled_in(sql, parameters)).rowcount

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Inside a transaction it waits for the next statement that needs an answer: each journey costs more than it.

        Its error is met there, at the latest where the transaction ends.
        """
        with self._explained:
            self._later(self._filled_in(sql, parameters))

    def _later(self, statement: str) -> None:
        self._waiting.append(statement)
        self._waiting_size += len(statement)
        if not self._inside or self._waiting_size > _MOST_WAITING:
            self._sent()

    def _filled_in(self, sql: str, parameters: Sequence[Any]) -> str:
        if not parameters:
            return sql
        first, *parts = sql.split("?")
        filled = [first]
        for value, part in zip(parameters, parts, strict=True):
            filled += (self._literal(value), part)
        return "".join(filled)

    def _literal(self, value: Any) -> str:
        """As SQL has it. Plain text and whole numbers, which most values are, by ourselves: psycopg takes its time."""
        kind = value.__class__
        if kind is str and "\\" not in value and "\0" not in value:
            return "'" + str.replace(value, "'", "''") + "'"
        if kind is int:
            return f" {value}"
        return "NULL" if value is None else Literal(value).as_string(self._connection)

    def bulk(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Inserts go as many rows a statement, which the server understands once."""
        one = _one_row(sql)
        if one is None:
            for row in rows:
                self.execute(sql, row)
            return
        head, group, tail = one
        left = iter(rows)
        while some := list(islice(left, _ROWS_PER_STATEMENT)):
            if len(some) == 1:
                self._often(sql, some[0])
                continue
            values = [value for row in some for value in row]
            self.execute(head + ", ".join([group] * len(some)) + tail, values)

    def _often(self, sql: str, values: Sequence[Any]) -> None:
        """A statement that is run again and again, and whose values have the types of columns: understood once."""
        times = self._times.get(sql, 0)
        name = f"often_{crc32(sql.encode())}"
        with self._explained:
            if times == _OFTEN:
                parts = sql.split("?")
                numbered = "".join(f"{part}${at}" for at, part in enumerate(parts[:-1], start=1)) + parts[-1]
                self._sent(f"PREPARE {name} AS {numbered}")  # which stays, whatever becomes of the transaction
            if times < _OFTEN:
                self._later(self._filled_in(sql, values))
            else:
                self._later(f"EXECUTE {name} ({', '.join(map(self._literal, values))})")
        self._times[sql] = times + 1

    def claim(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        return self.query(f"{sql} FOR UPDATE SKIP LOCKED", parameters)

    def index(self, entries: Iterable[Entry]) -> None:
        rows = {entry.item: (*entry, len(entry.terms.split())) for entry in entries}
        for index, items in fulltext.by_index(rows):
            self._count(index, items, len(items), sum(rows[item][-1] for item in items))
            self.bulk(
                f"INSERT INTO {index.items} (item, type, terms, hash, size, lexemes) SELECT v.item, v.type, v.terms, "
                "v.hash, v.size::bigint, array_to_tsvector(string_to_array(v.terms, ' ')) "
                f"FROM (VALUES (?, ?, ?, ?, ?)) AS v (item, type, terms, hash, size) {_REPLACED}",
                map(rows.__getitem__, items),
            )

    def unindex(self, items: Iterable[str]) -> None:
        for index, some in fulltext.by_index(items):
            self._count(index, some, 0, 0)
            self.execute(f"DELETE FROM {index.items} WHERE item = ANY (?)", (some,))

    def _count(self, index: fulltext.Index, gone: Sequence[str], items: int, words: int) -> None:
        """So many items come, of so many words, for those of these that the index has."""
        total = _TOTALS[index]
        counted = ", ".join(f"{column} = {total}.{column} + excluded.{column}" for column in ("items", "words"))
        self._often(
            f"INSERT INTO {total} (part, items, words) SELECT ?::bigint, ?::bigint - count(*), "
            "?::bigint - coalesce(sum(size), 0) "
            f"FROM {index.items} WHERE item = ANY (?) ON CONFLICT (part) DO UPDATE SET {counted}",
            (self.lane, items, words, gone),
        )

    def matches(
        self,
        terms: Sequence[str],
        limit: int,
        types: Sequence[str] = (),
        *,
        phrases: Sequence[Sequence[str]] = (),
        also: Sequence[str] = (),
    ) -> list[tuple[str, str, float]]:
        if not terms:
            return []
        index = fulltext.index_of_types(types)
        corpus = self._corpus(terms, index)
        found = {row[0]: row for row in self._candidates(corpus, fulltext.CANDIDATES_PER_RESULT * limit, types)}
        missing = [item for item in also if item not in found]
        # What holds none of the terms has no score: of thousands that are given, few are worth the journey.
        given = self.query(
            f"SELECT item, type, terms FROM {index.items} WHERE item = ANY (?) AND lexemes @@ ?::tsquery",
            (missing, " | ".join(map(_lexeme, terms))),
        )
        found |= {row[0]: row for row in given}
        corpus = fulltext.as_searched(corpus, limit, also, found.values())
        return best_matches(fulltext.ranked(corpus, phrases, found.values()), limit, also)

    def _candidates(self, corpus: Corpus, limit: int, types: Sequence[str]) -> list[Row]:
        """By their rarest terms, as FTS5 does: the more often a text holds them and the shorter it is, the better."""
        rarest = fulltext.rarest_first(corpus, fulltext.MAX_POSTINGS)
        if not rarest or limit <= 0:
            return []
        # How often: each word between spaces of its own, for two that stand side by side would share one.
        spaced = "' ' || replace(terms, ' ', '  ') || ' '"
        damping = f"{fulltext.K1} * ({1 - fulltext.B} + {fulltext.B} * size / ?)"
        held = "(length(spaced) - length(replace(spaced, ?, '')))::float / ?"
        one = f"CASE WHEN lexemes @@ ?::tsquery THEN ? / (1 + damping / ({held})) ELSE 0 END"
        per_term = [
            value for term in rarest for value in (_lexeme(term), corpus.rarity(term), f" {term} ", len(term) + 2)
        ]
        typed = f"AND type IN ({marks(types)})" if types else ""
        average = max(1.0, corpus.words / max(1, corpus.items))
        return self.query(
            f"SELECT item, type, terms FROM (SELECT * FROM {fulltext.index_of_types(types).items} "
            f"WHERE lexemes @@ ?::tsquery {typed} LIMIT {_ITEMS_LOOKED_AT}) i, "
            f"LATERAL (SELECT {spaced} AS spaced, {damping} AS damping) w "
            f"ORDER BY {' + '.join([one] * len(rarest))} DESC, item DESC LIMIT ?",
            (" | ".join(map(_lexeme, rarest)), *types, average, *per_term, limit),
        )

    def _corpus(self, terms: Sequence[str], index: fulltext.Index) -> Corpus:
        total = ", ".join(f"(SELECT coalesce(sum({one}), 0) FROM {_TOTALS[index]})" for one in ("items", "words"))
        (found,) = self.query(f"SELECT {total}")
        items = int(found[0])
        one = f"SELECT 1 FROM {index.items} WHERE lexemes @@ ?::tsquery"
        if items <= _ITEMS_COUNTED_EXACTLY:
            counted = ", ".join(f"(SELECT count(*) FROM ({one}) c)" for _ in terms)
            (held,) = self.query(f"SELECT {counted}", list(map(_lexeme, terms)))
        else:
            # To count what a common word stands in, each row would be visited: the server's own statistics will do.
            asked = " UNION ALL ".join([one] * len(terms))
            ((plan,),) = self.query(f"EXPLAIN (FORMAT JSON) {asked}", list(map(_lexeme, terms)))
            parts = plan[0]["Plan"]["Plans"] if len(terms) > 1 else [plan[0]["Plan"]]
            held = tuple(int(part["Plan Rows"]) for part in parts)
        return Corpus(items, int(found[1]), dict(zip(terms, held, strict=True)))

    def put_vectors(self, model: str, vectors: Iterable[Vector]) -> None:
        if not self._has("vector"):
            raise NoModel(
                f"{self.place} has no pgvector: ask its owner to run `CREATE EXTENSION vector`, then make a new store"
            )
        version = next_version(self)
        columns = ("item", "model", "dimensions", "value", "hash", "version", "direction")
        replace = ", ".join(f"{column} = excluded.{column}" for column in columns[1:])
        self.bulk(
            insert("embedding", columns, f"ON CONFLICT (item) DO UPDATE SET {replace}"),
            (
                (item, model, len(value), packed(value), hash, version, _as_vector(value))
                for item, value, hash in vectors
            ),
        )

    def nearest(
        self,
        model: str,
        vector: Sequence[float],
        limit: int,
        *,
        also: Sequence[str] = (),
        least: float = LEAST_SIMILARITY,
    ) -> list[Neighbour]:
        refuse_other_model(self, model)
        refuse_other_size(self, model, len(vector))
        # The index knows the vectors as the model gave them: what they are at rest decides, as in a file.
        likely = self._nearest_rows(model, vector, _LIKELY_PER_WANTED * limit) if limit > 0 else []
        found = compared(likely, vector, limit, least)
        seen = {near.item for near in found}
        missing = [item for item in also if item not in seen]
        rows = self.query("SELECT item, value FROM embedding WHERE model = ? AND item = ANY (?)", (model, missing))
        return sorted((*found, *compared(rows, vector, len(rows), LEAST_SIMILARITY)), key=nearest_first)

    def _nearest_rows(self, model: str, vector: Sequence[float], limit: int) -> list[Row]:
        typed = f"vector({len(vector)})"
        some = f"SELECT 1 FROM embedding LIMIT {COMPARED_EXACTLY + 1}"
        few = self.query(f"SELECT count(*) FROM ({some}) s")[0][0] <= COMPARED_EXACTLY
        exactly = " + 0" if few else ""  # not what the index is of
        return self.query(
            f"SELECT item, value FROM embedding WHERE model = ? AND dimensions = {len(vector)} "
            f"ORDER BY (direction::{typed} <=> ?::{typed}){exactly} LIMIT ?",
            (model, _as_vector(vector), limit),
        )

    def columns(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for table, column in self.query(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() "
            "AND left(table_name, 7) <> 'search_' AND table_name <> 'schema_version' AND column_name <> 'direction' "
            "AND left(table_name, 14) <> 'procrastinate_' "
            'ORDER BY table_name COLLATE "C", ordinal_position'
        ):
            found.setdefault(table, []).append(column)
        return found

    def check(self) -> list[Check]:
        version = str(self.query("SHOW server_version")[0][0])
        sums = str(self.query("SHOW data_checksums")[0][0])
        missing = [name for name in _EXTENSIONS if not self._has(name)]
        counts = (self.query(f"SELECT count(*) FROM {index.items}") for index in fulltext.INDEXES)
        entries = sum(int(found[0][0]) for found in counts)
        return [
            Check("server", int(version.split(".", maxsplit=1)[0]) >= 15, f"PostgreSQL {version}"),
            Check("integrity", True, f"page checksums are {sums}"),
            Check("extensions", not missing, f"missing: {', '.join(missing)}" if missing else ", ".join(_EXTENSIONS)),
            Check("index", True, f"{entries} items"),
        ]

    def _has(self, extension: str) -> bool:
        return bool(self.query("SELECT 1 FROM pg_extension WHERE extname = ?", (extension,)))

    def is_current(self) -> bool:
        return self._inside or not self._connection.closed  # what was begun must not go on elsewhere

    def close(self) -> None:
        self._is_done = True
        self._connection.close()

    def _bring_up_to_date(self, *, write: bool) -> None:
        self._need_workspace()
        current = self._version()
        if current == migrations.NEWEST:
            return
        migrations.refuse_newer(current, self.place)
        if not write:
            raise StoreOutdated(f"{self.place} has no store or an older one: run `hardwon up` once")
        if not (current or self._may_create):
            raise StoreError(f"the store in {self.place} is gone: run again to make it anew, or put it back")
        for extension in _EXTENSIONS:
            with suppress(psycopg.Error):  # `doctor` says what is missing
                self._connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension} WITH SCHEMA public")
        with self._begun(f"BEGIN; SELECT {self._locks(0)}", at_once=True):
            current = self._version()
            if current == migrations.NEWEST:  # another process was first
                return
            migrations.refuse_newer(current, self.place)
            if current:
                migrations.upgrade(self, current)
            else:
                self._create()
            for statement in _index_statements(current):
                self._later(statement)
            self._later("DELETE FROM schema_version")
            self._later(f"INSERT INTO schema_version VALUES ({migrations.NEWEST})")

    def _create(self) -> None:
        steps = [statement for table in schema.TABLES.in_order for statement in database.create_sql(table, self.engine)]
        steps.append("CREATE TABLE schema_version (version BIGINT)")
        if self._has("vector"):
            typed = f"vector({_INDEXED_DIMENSIONS})"
            steps.append("ALTER TABLE embedding ADD COLUMN direction vector NOT NULL")
            steps.append(
                f"CREATE INDEX embedding_direction ON embedding USING hnsw ((direction::{typed}) vector_cosine_ops) "
                f"WHERE dimensions = {_INDEXED_DIMENSIONS}"
            )
        for step in steps:
            self._later(step)

    def _need_workspace(self) -> None:
        """The search path skips a schema that is not there or closed: what was meant for it would go to the next."""
        asked = self._connection.execute(f"SELECT current_setting('search_path'), current_schema(), {_LOCKS}")
        ((path, chosen, self._store_lock, self._failures_lock),) = asked.fetchall()
        wanted = path.partition(",")[0].strip().strip('"')
        if wanted not in ("$user", chosen):
            raise StoreError(
                f"{self.place} has no workspace '{wanted}' that you may use: `hardwon workspace make {wanted}` makes it"
            )

    def _version(self) -> int:
        # Not by `to_regclass`: a connection that found no such table goes on finding none, whoever has made it since.
        known = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version'"
        if self._connection.execute(known).fetchone() is None:
            return 0
        found = self._connection.execute("SELECT version FROM schema_version").fetchone()
        return int(found[0]) if found else 0

    def _told(self, error: psycopg.Error) -> StoreError | None:
        """The server's errors as one sentence that says what to do."""
        place, first = self.place, _first_line(error)
        match error:
            case psycopg.errors.LockNotAvailable() | psycopg.errors.DeadlockDetected():
                says = f"{place} is in use by another process: try again"
            case psycopg.errors.QueryCanceled():
                says = f"{place} took longer than {self._longest / 1000:g} seconds: see the setting statement_seconds"
            case psycopg.errors.ReadOnlySqlTransaction():
                says = f"{place} was opened for reading only"
            case psycopg.errors.InsufficientPrivilege():
                says = f"no permission on {place}: {first}; ask its owner for it"
            case psycopg.errors.DiskFull():
                says = f"the disk of {place} is full: free some space and run again"
            case psycopg.IntegrityError() | psycopg.DataError():
                says = f"{place} refuses a row: {first}"
            case psycopg.OperationalError() if _NOT_YET in str(error):
                says = f"{place} is starting or recovering from a crash: try again"
            case psycopg.OperationalError() if hasattr(self, "_connection"):
                says = f"lost the connection to {place}: {first}; try again"
            case psycopg.OperationalError():
                says = f"cannot reach {place}: {first}; check HARDWON_DATABASE"
            case _:
                return None
        return StoreError(says)


class _Explained:
    """Around what asks the server: its errors are told as ours."""

    def __init__(self, told: Callable[[psycopg.Error], StoreError | None]) -> None:
        self._told = told

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, psycopg.Error) and (told := self._told(error)):
            raise told from error


def _index_statements(after: int) -> list[str]:
    """What brings indexes and sequences of a schema up to date; 0 is no store."""
    return [
        _INDEX.format(name=index.items, total=_TOTALS[index]) for index, since in _SINCE.items() if since > after
    ] + [f"CREATE SEQUENCE {table}_number" for table in _NUMBERED if after < _SEQUENCES_SINCE]


def _connected(url: str, seconds: float, *, await_server: bool) -> psycopg.Connection[Any]:
    """A server that is starting, or recovering from a crash, is waited for; one that is away, where that is asked."""
    until = time.monotonic() + seconds
    while True:
        try:
            return psycopg.connect(url, autocommit=True, connect_timeout=max(2, int(seconds)), client_encoding="utf8")
        except psycopg.OperationalError as error:
            if not (await_server or _NOT_YET in str(error)) or time.monotonic() > until:
                raise
            time.sleep(_NAP_SECONDS)


@lru_cache(256)
def _one_row(sql: str) -> tuple[str, str, str] | None:
    """An insert of one row, parted where more can be put in."""
    found = _ONE_ROW.fullmatch(sql)
    return found and (found[1], found[2], found[3])


def _lexeme(term: str) -> str:
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def _as_vector(vector: Sequence[float]) -> str:
    return "[" + ",".join(map(repr, map(float, vector))) + "]"


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    host = parts.hostname or ""
    user = f"{parts.username}@" if parts.username else ""
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit((parts.scheme, user + host + port, parts.path, "", ""))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


# Several teams on one server: a workspace is a schema, which the address of a connection names; no statement knows it.
# Where it has a role of its own, the server itself lets nobody else in, whatever is asked.

_IS_A_STORE = (
    "EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'schema_version' "
    "AND c.relkind = 'r') AND EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'lesson')"
)


class Workspace(Struct, frozen=True):
    name: str
    owner: str
    """The role of PostgreSQL that it belongs to."""
    bytes: int
    sessions: int | None
    """None where this role may not look inside."""
    lessons: int | None
    limits: meta.Limits | None


class NewWorkspace(Struct, frozen=True):
    name: str
    role: str
    """Its own role, or empty where it belongs to who made it."""
    address: str
    """What its service has as the setting `database`; with a role, this once, for it holds the password."""


def make_workspace(server: str, name: str, *, role: bool = False) -> NewWorkspace:
    """A new workspace with an empty store; with `role`, of a role of its own that may use nothing else.

    Raises `NotAllowed` for a name that cannot be or is taken, `StoreError` where the server does not allow it.
    """
    database.need_workspace_name(name)
    address = database.address_of(server, name)
    with _connected_to(server) as connection:
        if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (name,)).fetchone():
            raise NotAllowed(f"{name} exists already: `hardwon workspace list` shows what there is")
        with connection.transaction():
            # Who could make a function there could have it run by others, whose search path it is on.
            connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        for extension in _EXTENSIONS:
            with suppress(psycopg.Error), connection.transaction():  # `doctor` says what is missing
                connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension} WITH SCHEMA public")
        with connection.transaction():
            if role:
                address = _with_role(connection, name, address)
            else:
                connection.execute(f"CREATE SCHEMA {name}")
            connection.execute(f"REVOKE ALL ON SCHEMA {name} FROM PUBLIC")
    with closing(PostgresDatabase(address, write=True)) as db:
        meta.prepare(db)
    return NewWorkspace(name, _role_of(name) if role else "", address)


def _with_role(connection: psycopg.Connection[Any], name: str, address: str) -> str:
    """The workspace of a new role, and the address by which that comes in."""
    role, password = _role_of(name), secrets.token_urlsafe(24)
    connection.execute(
        SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT PASSWORD {}").format(
            Identifier(role), Literal(password)
        )
    )
    (is_superuser,) = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() or (
        0,
    )
    if not is_superuser:  # who makes a role may give it something only as a member
        connection.execute(f"GRANT {role} TO CURRENT_USER")
    connection.execute(f"CREATE SCHEMA {name} AUTHORIZATION {role}")
    connection.execute(f"ALTER ROLE {role} SET search_path = {name}, public")
    parts = urlsplit(address)
    where = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{role}:{password}@{where}"))


def _role_of(name: str) -> str:
    return f"hardwon_{name}"


def workspaces(server: str) -> list[Workspace]:
    """Every workspace of a database, by name."""
    with _connected_to(server) as connection:
        found = connection.execute(
            "SELECT n.nspname, r.rolname, "
            "(SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
            "WHERE c.relnamespace = n.oid AND c.relkind = 'r'), has_schema_privilege(n.oid, 'USAGE') "
            f"FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE {_IS_A_STORE} ORDER BY 1"
        ).fetchall()
        return [
            Workspace(name, owner, size, *(_inside(connection, name) if open_ else (None, None, None)))
            for name, owner, size, open_ in found
        ]


def _inside(connection: psycopg.Connection[Any], name: str) -> tuple[int | None, int | None, meta.Limits | None]:
    counted = "SELECT (SELECT count(*) FROM {0}.session), (SELECT count(*) FROM {0}.lesson)"
    noted = ", (SELECT value FROM {0}.meta WHERE key = 'limits')"
    with suppress(psycopg.errors.InsufficientPrivilege):
        row = connection.execute(SQL(counted + noted).format(Identifier(name))).fetchone()
        return (row[0], row[1], meta.decoded_limits(row[2] or "")) if row else (None, None, None)
    return None, None, None


def drop_workspace(server: str, name: str) -> None:
    """The workspace with all that is in it, and its own role, are gone for good. Raises `NotFound`."""
    database.need_workspace_name(name)
    with _connected_to(server) as connection, connection.transaction():
        if not connection.execute(
            f"SELECT 1 FROM pg_namespace n WHERE nspname = %s AND {_IS_A_STORE}", (name,)
        ).fetchone():
            raise NotFound(f"no workspace '{name}': `hardwon workspace list` shows what there is")
        connection.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(name)))
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (_role_of(name),)).fetchone():
            connection.execute(SQL("DROP OWNED BY {}").format(Identifier(_role_of(name))))
            connection.execute(SQL("DROP ROLE {}").format(Identifier(_role_of(name))))


@contextmanager
def _connected_to(server: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection to the server itself, whose errors are told as one sentence."""
    if not server.startswith(("postgresql://", "postgres://")):
        raise NotAllowed("workspaces need PostgreSQL: `hardwon config database postgresql://…` names the server")
    try:
        with closing(psycopg.connect(server, autocommit=True, connect_timeout=10)) as connection:
            yield connection
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreError(
            f"no permission for this: {_first_line(error)}; connect as the owner of the database"
        ) from error
    except psycopg.OperationalError as error:
        raise StoreError(f"cannot reach the server: {_first_line(error)}; check HARDWON_DATABASE") from error
    except psycopg.Error as error:
        raise StoreError(f"the server refuses: {_first_line(error)}") from error
