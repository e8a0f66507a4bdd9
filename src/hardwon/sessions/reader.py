"""Which format a file is, told from its content; and the one way to read it."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Protocol, TypeVar, cast, overload
from urllib.parse import quote

import apsw
import msgspec

from hardwon.errors import NotASession, NotFound
from hardwon.model.session import Damage, Record, Session, Transcript
from hardwon.sessions import tool_calls
from hardwon.sessions.lines import Lines, decoded, first_bytes, is_compressed, mended, opened

# A file and the ways a format may read it: as JSON lines, as one JSON document, as text.

_SQLITE = b"SQLite format 3\x00"
"""How the file of a database begins."""
HEAD_BYTES = 32 * 1024
_MAX_HEAD_RECORDS = 8
_BYTES_PER_BLOCK = 4 * 1024 * 1024
_MARK_BYTES = 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_DOCUMENT_BYTES = 512 * 1024 * 1024

T = TypeVar("T")


class Head(Sequence[Record]):
    """The first records of a file, each decoded when it is looked at: the first alone tells most formats."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._done = 0
        self._records: list[Record] = []

    def mentions(self, *words: bytes) -> bool:
        """Whether any of the words stands there at all: a look before records are decoded in vain."""
        for word in words:  # noqa: SIM110 - any() takes longer than the search
            if word in self._content:
                return True
        return False

    def _reaches(self, count: int) -> bool:
        content, records = self._content, self._records
        while len(records) < count and self._done < len(content):
            end = content.find(b"\n", self._done)
            end = len(content) if end < 0 else end
            record = decoded(content[self._done : end])
            if record is None:  # damaged, or no record a line
                records += Lines().records(iter((content[self._done :],)))
                end = len(content)
            else:
                records.append(record)
            self._done = end + 1
        return len(records) >= count

    def __iter__(self) -> Iterator[Record]:
        at = 0
        while self._reaches(at + 1):
            yield self._records[at]
            at += 1

    def __bool__(self) -> bool:
        return self._reaches(1)

    def __len__(self) -> int:
        self._reaches(sys.maxsize)
        return len(self._records)

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> list[Record]: ...
    def __getitem__(self, at: int | slice) -> Record | list[Record]:
        self._reaches(at + 1 if isinstance(at, int) and at >= 0 else sys.maxsize)
        return self._records[at]


class Source:
    """What a format is given. Nothing here raises for bad content: what is lost is in `damaged`."""

    def __init__(self, path: Path | str, *, head_only: bool = False, head: int = HEAD_BYTES, start: int = 0) -> None:
        """`head_only` reads no more than so many bytes of `head`; `start` reads records from an offset on."""
        self.name = os.fspath(path)
        self.stem = os.path.basename(self.name).split(".")[0]
        self.head_only = head_only
        self._head_bytes = head
        self._start = start
        self._lines = Lines(start)

    @cached_property
    def path(self) -> Path:
        """Made when it is asked for: of the thousands that are counted, nobody does."""
        return Path(self.name)

    @cached_property
    def status(self) -> os.stat_result:
        return os.stat(self.name)

    @cached_property
    def head(self) -> Head:
        """The first records, if the file is one of JSON lines."""
        first = self._first
        end = 0
        for _ in range(_MAX_HEAD_RECORDS):
            end = first.find(b"\n", end, HEAD_BYTES) + 1 or end
        if not end:  # a first line longer than that
            end = first.find(b"\n") + 1
        return Head(first[: end - 1] if end else first)

    def records(self) -> Iterator[Record]:
        """Every record of a file of JSON lines."""
        return self._lines.records(self._blocks())

    def typed(self, struct: type[T]) -> Iterator[T]:
        """Every record as a struct, which is read faster; a field of a wrong type has its default."""
        return self._lines.typed(self._blocks(), struct)

    def finished(self, struct: type[T]) -> Iterator[list[T]]:
        """As `typed`, many at a time, without a last line that has no end yet."""
        return self._lines.finished(self._blocks(), struct)

    def unfinished(self, struct: type[T]) -> list[T]:
        """What can be read of that last line, after the finished ones."""
        return self._lines.unfinished(struct)

    @property
    def offset(self) -> int:
        """Where the finished lines end, after they were taken."""
        return self._lines.offset

    def mark(self, offset: int) -> bytes:
        """What tells whether a file still is the one that was read up to an offset: a digest of both its ends."""
        tail = max(0, offset - _MARK_BYTES)
        if self._start or offset > len(self._first):
            with opened(self.name) as file:
                ends = file.read(min(_MARK_BYTES, offset))
                file.seek(tail)
                ends += file.read(offset - tail)
        else:
            ends = self._first[: min(_MARK_BYTES, offset)] + self._first[tail:offset]
        return hashlib.blake2b(ends, digest_size=8).digest()

    @property
    def damaged(self) -> list[Damage]:
        """What was lost while the records were taken."""
        return self._lines.damaged

    @property
    def is_json(self) -> bool:
        """Whether it begins as JSON does, lines or a document."""
        return self._first[:1024].lstrip(b"\xef\xbb\xbf \t\r\n\x00")[:1] in (b"{", b"[")

    @property
    def is_database(self) -> bool:
        return self._first.startswith(_SQLITE)

    @cached_property
    def beginning(self) -> str:
        """The first 32 KiB as text."""
        return self._first[:HEAD_BYTES].decode("utf-8", "replace")

    def mentions(self, *words: bytes) -> bool:
        """Whether any of the words stands in the first 32 KiB."""
        first = self._first
        for word in words:  # noqa: SIM110 - any() takes longer than the search
            if first.find(word, 0, HEAD_BYTES) >= 0:
                return True
        return False

    @cached_property
    def document(self) -> object:
        """The whole file as one JSON value; None when it is not one."""
        if self._is_lines or self.status.st_size > _MAX_DOCUMENT_BYTES:
            return None  # reading all of many records to find out that they are no single value is slow
        if self.beginning.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
            return None
        with opened(self.name) as file:
            content = file.read(_MAX_DOCUMENT_BYTES).removeprefix(_BYTE_ORDER_MARK)
        for mend in (None, mended):
            try:
                return msgspec.json.decode(mend(content) if mend else content)
            except (msgspec.DecodeError, RecursionError, ValueError):
                continue
        return None

    @cached_property
    def text(self) -> str:
        """The whole file as text, or the lines that its beginning holds."""
        if self.head_only:
            content = self._first[: self._first.rfind(b"\n") + 1] or self._first
        else:
            with opened(self.name) as file:
                content = file.read(_MAX_DOCUMENT_BYTES)
        return content.decode("utf-8-sig", "replace")

    @cached_property
    def _first(self) -> bytes:
        """The first block, which is all of most files: read once for recognising and reading."""
        if not self.head_only and not is_compressed(self.name):
            return first_bytes(self.name, self._start, min(_BYTES_PER_BLOCK, self.status.st_size - self._start))
        with opened(self.name) as file:
            if self.head_only:
                first = file.read(self._head_bytes)
                return first if b"\n" in first else first + file.readline(_BYTES_PER_BLOCK)
            return file.read(_BYTES_PER_BLOCK)

    @property
    def _is_lines(self) -> bool:
        """Whether the first line is a record by itself, with more behind it."""
        line, _, more = self._first.partition(b"\n")
        return bool(self.head) and line.rstrip().endswith(b"}") and bool(more[:1024].strip())

    def _blocks(self) -> Iterator[bytes]:
        first = self._first
        if self.head_only:
            # Without the last line, which is cut off only here.
            yield first[: first.rfind(b"\n") + 1] or first
            return
        yield first
        if len(first) == _BYTES_PER_BLOCK:
            with opened(self.name) as file:
                file.seek(self._start + _BYTES_PER_BLOCK)
                while block := file.read(_BYTES_PER_BLOCK):
                    yield block


# Agents' own SQLite databases: opened read-only, trusted in nothing.

_BUSY_MILLISECONDS = 1_000
_WAL = "\x02"
"""The byte of the file's header that says it is in WAL mode."""


def opened_database(source: Source) -> apsw.Connection:
    """Read-only. What nobody has open is not even locked: that would leave files beside it."""
    path = source.path.absolute()
    in_use = path.with_name(path.name + "-wal").exists()
    unlocked = source.beginning[18:19] == _WAL and not in_use
    uri = f"file:{quote(str(path))}?mode=ro" + ("&immutable=1" if unlocked else "")
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def columns(database: apsw.Connection, table: str) -> set[str]:
    """Of a table only: a view could be made to never end."""
    query = "SELECT c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name = ?"
    return {str(name) for (name,) in database.execute(query, (table,))}


class Format(Protocol):
    """What a format module provides. To add a format: write the module, add its name and what its files have to
    `_TESTS`, and where the agent keeps its transcripts to `discover.py`."""

    NAME: str
    AGENT: str
    READS: str
    VERSIONS: str

    def recognises(self, source: Source) -> bool:
        """Whether a file is of this format, told from its beginning."""

    def read(self, source: Source) -> list[Session]:
        """Its sessions; what cannot be read is added to `source.damaged`. Raises OSError."""


Test = Callable[[Source], bool]


def _lines(*words: bytes) -> Test:
    """Its first records have one of the words."""
    return lambda file: file.head.mentions(*words)


def _begins(*words: bytes) -> Test:
    """One of the words stands in its first 32 KiB."""
    return lambda file: file.mentions(*words)


def _lines_or_document(in_lines: Sequence[bytes], in_document: Sequence[bytes]) -> Test:
    return lambda file: file.head.mentions(*in_lines) if any(file.head) else file.mentions(*in_document)


def _has_role(file: Source) -> bool:
    return bool(file.head) and "role" in file.head[0]


def _is_database(file: Source) -> bool:
    return file.is_database


# Each format's module, and what every file of the format has: only of files that have it is the module asked, and only
# then is it loaded. Those of which there are thousands first, the quickest to say no before the others; Qwen before
# Claude Code, whose envelope it wears.
_TESTS: dict[str, Test] = {
    "specstory": _begins(b"SpecStory", b"_**User"),
    "aider": _begins(b"# aider chat started at "),
    "hermes": _has_role,
    "codex": _lines(b'"payload"', b'"instructions"'),
    "qwen": _lines_or_document(
        (b'"parts"', b'"systemPayload"', b'"projectHash"'), (b'"parentUuid"', b'"projectHash"', b'"lastUpdated"')
    ),
    "claude_code": _lines(b'"message"', b'"leafUuid"', b'"sessionId"', b'"messageId"', b'"loglines"'),
    "gemini": _lines_or_document((b'"gemini"', b'"projectHash"'), (b'"projectHash"', b'"lastUpdated"')),
    "copilot": _lines(b'"parentId"'),
    "vscode_copilot": _begins(b'"responderUsername"', b'"requesterUsername"', b'"initialLocation"', b'"creationDate"'),
    "droid": _lines(b"session_start"),
    "kiro": _lines(b'"kind"'),
    "amp": _begins(b'"T-'),
    "cursor": _is_database,
    "cursor_cli": _has_role,
    "zed": _is_database,
    "continue_dev": _begins(b'"history"', b'"workspaceDirectory"'),
    "hermes_cli": _begins(b'"session_start"', b'"last_updated"', b'"platform"', b'"base_url"', b'"producer"'),
    "hermes_state": _is_database,
    "opencode": lambda file: file.is_database or file.mentions(b'"ses_'),
    "pi": _lines(b'"session"'),
    "cline": _begins(b'"updated_at"', b'"<task>', b'"<user_message>'),
    "goose": lambda file: file.is_database or file.head.mentions(b'"created"', b'"message_count"'),
    "atif": _begins(b'"steps"', b'"schema_version"'),
    "openhands": _begins(b'"source"', b'"instruction"', b'"history"', b'"workspace"'),
    "swe_agent": _begins(b'"trajectory"', b'"history"', b'"messages"', b'"role"'),
    "sharegpt": _begins(b'"conversations"'),
    "openai_chat": _begins(b'"messages"', b'"traj"', b'"role"'),
}
# Markdown and databases, which can quote JSON anywhere but at their beginning.
_OF_TEXT = ("specstory", "aider", "cursor", "zed", "hermes_state", "opencode", "goose")
_OF_JSON = tuple(name for name in _TESTS if name not in ("specstory", "aider", "cursor", "zed", "hermes_state"))


@cache
def formats() -> tuple[Format, ...]:
    """All modules that read a format, in the order in which a file is tried."""
    return tuple(_module(name) for name in _TESTS)


@cache
def _module(name: str) -> Format:
    return cast(Format, import_module(f"hardwon.sessions.{name}"))


_FIRST_LOOK_BYTES = 8 * 1024
"""So much of a file mostly tells where and when it was written."""


def read(path: Path) -> Transcript:
    """Read a whole transcript. Raises NotFound, or NotASession with the reason."""
    source = Source(path)
    format, sessions = _read(source)
    return Transcript(path=str(path), format=format, sessions=tuple(sessions), damaged=tuple(source.damaged))


def peek(path: Path) -> Session | None:
    """The first session of a file from its beginning alone: enough for its place and start."""
    try:
        session = _beginning(Source(path, head_only=True, head=_FIRST_LOOK_BYTES))
        if session and session.cwd and session.started_at is not None:
            return session
    except NotASession:
        pass  # more of it may tell
    return _beginning(Source(path, head_only=True))


def _beginning(source: Source) -> Session | None:
    sessions = _sessions(recognised(source), source)
    return sessions[0] if sessions else None


def recognised(source: Source) -> Format:
    """The format of a file. Raises NotFound, or NotASession with the reason."""
    path = source.name
    try:
        mode = source.status.st_mode
    except OSError as error:
        raise NotFound(f"no such file: {path}") from error
    if not stat.S_ISREG(mode):
        raise NotASession(f"{path} is not a regular file")
    try:
        for name in _OF_JSON if source.is_json else _OF_TEXT:
            if _TESTS[name](source) and _module(name).recognises(source):
                return _module(name)
        reason = _why_not(source)
    except OSError as error:
        raise NotASession(f"{path} cannot be read: {error.strerror or error}") from error
    raise NotASession(f"{path} is not a session: {reason}")


def _read(source: Source) -> tuple[str, list[Session]]:
    format = recognised(source)
    return format.NAME, [
        tool_calls.judge(tool_calls.in_their_folders(session)) for session in _sessions(format, source)
    ]


def _sessions(format: Format, source: Source) -> list[Session]:
    try:
        return format.read(source)
    except OSError as error:
        raise NotASession(f"{source.name} cannot be read: {error.strerror or error}") from error


def _why_not(source: Source) -> str:
    head = source.head
    if not source.is_json:
        return "it is neither JSON nor the Markdown or database of a known agent"
    if not head:
        return "it is a JSON document of an unknown format" if source.document is not None else "it has no JSON records"
    keys = set(head[0])
    if {"session_id", "ts", "text"} <= keys or {"display", "project"} <= keys:
        return "it is a history of prompts alone, without the agent's answers and tool calls"
    if {"ts", "dir", "kind"} <= keys:
        return "it is a terminal UI's event log, not a transcript"
    if "session_id" in keys and head[0].get("type") in ("system", "user", "assistant"):
        return "it is an SDK stream (stream-json), not a transcript"
    return f"its records are of an unknown format (keys: {', '.join(sorted(keys)[:6])})"
