"""Look at files and learn from them, here or on all cores; what is found comes in the order of the files.

No worker touches the store, so that it can be killed at any time and nothing is lost.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from hardwon.errors import HardwonError, NotASession, NotFound, ScrubTimeout
from hardwon.failures.ledger import read
from hardwon.harvest.learn import Learned, content_hash, learn
from hardwon.map.draw import Plot, drawn, plot_of
from hardwon.model.session import Session
from hardwon.scrub.scrubber import Scrubbing, prepare
from hardwon.sessions.reader import peek
from hardwon.sessions.workers import Workers as Processes
from hardwon.sessions.workers import cores, few_collections, serve
from hardwon.store.database import Database
from hardwon.store.projects import Drawn
from hardwon.text import patterns
from hardwon.text.shown import QUESTION

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_BYTES_READ_WITHOUT_WORKERS = 6 * 1024 * 1024
"""Bytes that are learned from before other processes would have started."""
_BYTES_WORTH_COMPILING = 50_000_000
"""Half as many as take as much longer to scrub as hyperscan takes to compile its patterns, which it does but once."""
_BYTES_PER_REQUEST = 128 * 1024
"""Bytes that a process is given at a time."""
_HEADS_MEANWHILE = 1000
"""Files that are looked at here while other processes start."""
_QUESTIONS_UNDER_WAY = 256
"""Of an executor: what is answered too early only fills memory."""
_SECONDS_TO_CONNECT = 10
_FIRST_MESSAGES = 8
_CHARACTERS_OF_AN_OPENING = 200
_DATABASES = (".db", ".vscdb", ".sqlite", ".sqlite3")

Stamp = tuple[int, int]
"""A file's size and the time of its last change, in microseconds."""


class FileHead(Struct, array_like=True):
    """What the beginning of a file tells: what it is, where and when it ran."""

    path: str
    stamp: Stamp
    is_there: bool = True
    refused: str = ""
    cwd: str = ""
    remote: str = ""
    started_at: int | None = None


class SessionResult(Struct, array_like=True):
    """What one session teaches, and where it ran: its project is for the store to say."""

    learned: Learned
    cwd: str
    remote: str


class FileResult(Struct, array_like=True):
    """What a file teaches, without the sessions whose content is known."""

    path: str
    stamp: Stamp
    is_read: bool
    damaged: int = 0
    sessions: list[SessionResult] = []
    waiting: int = 0
    """Sessions that could not be scrubbed in the time there is."""


class _Question(Struct, array_like=True):
    paths: list[str]
    known: dict[str, list[str]] | None
    """Path → hashes of the sessions that need not be learned again; None when only a first look is wanted."""
    scrubbing: Scrubbing
    plot: Plot | None = None
    """Of a map that is to be drawn; nothing else is asked then."""


_questions = msgspec.msgpack.Decoder(_Question)
_heads = msgspec.msgpack.Decoder(list[FileHead])
_results = msgspec.msgpack.Decoder(list[FileResult])
_maps = msgspec.msgpack.Decoder(list[Drawn])
_encode = msgspec.msgpack.Encoder().encode


class Workers:
    """Read files together, and draw maps; to be used in a `with`."""

    def __init__(self, scrubbing: Scrubbing, executor: Executor | None = None) -> None:
        """Without an executor, processes of our own on the other cores."""
        self._scrubbing = scrubbing
        self._executor = executor
        self._workers = Processes(__name__, 0)
        self._plots: dict[str, Plot] = {}
        self._maps: Iterator[Drawn] = iter(())
        self._drawn: dict[str, Drawn] = {}
        self._stack = ExitStack()

    def start(self, size: int) -> None:
        """If there is enough to read."""
        if self._executor is None and size > _BYTES_READ_WITHOUT_WORKERS:
            self._workers = self._stack.enter_context(Processes(__name__, cores() - 1))
        if self._scrubbing.cache and size > _BYTES_WORTH_COMPILING:
            compiling = Thread(target=prepare, args=(Path(self._scrubbing.cache),))  # who scrubs meanwhile needs it not
            compiling.start()
            self._stack.callback(compiling.join)

    def __enter__(self) -> Workers:
        self._stack.enter_context(few_collections())
        patterns.use_kept()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        patterns.keep()

    def heads(self, paths: Sequence[Path]) -> Iterator[FileHead]:
        if self._executor is None:
            yield from map(_head, paths[:_HEADS_MEANWHILE])
            paths = paths[_HEADS_MEANWHILE:]
        yield from self._asked([_Question(share, None, self._scrubbing) for share in _shares(paths)], _heads)

    def results(self, paths: Sequence[Path], known: dict[str, list[str]]) -> Iterator[FileResult]:
        questions = [
            _Question(share, {path: known[path] for path in share if path in known}, self._scrubbing)
            for share in _shares(paths)
        ]
        return self._asked(questions, _results)

    def begin_maps(self, db: Database, projects: Sequence[str]) -> None:
        """Let those of these projects be drawn while there is other work to do here."""
        if self._workers.processes:
            self._plots = {project: plot_of(db, project) for project in projects}
            questions = [_Question([], None, self._scrubbing, plot) for plot in self._plots.values()]
            self._maps = self._asked(questions, _maps)

    def map_of(self, project: str, plot: Plot) -> Drawn:
        """As it was begun; drawn here if it was not, or of something else."""
        if self._plots.get(project) != plot:
            return drawn(plot)
        while project not in self._drawn:
            self._drawn[next(at for at in self._plots if at not in self._drawn)] = next(self._maps)
        return self._drawn[project]

    def _asked(self, questions: list[_Question], decoder: msgspec.msgpack.Decoder[list[Any]]) -> Iterator[Any]:
        """What no worker answers is answered here, and so is what none has taken yet. They are asked at once."""
        packed = map(_encode, questions)
        here = answered if self._workers.processes else None
        answers = _by(self._executor, packed) if self._executor else self._workers.answers(packed, here)
        return chain.from_iterable(
            decoder.decode(answer) if answer is not None else _answers(question)
            for question, answer in zip(questions, answers, strict=True)
        )


def answered(question: bytes) -> bytes:
    """What an executor is given to do, wherever it runs: a pure function of files that are there, too."""
    return _encode(list(_answers(_questions.decode(question))))


def _by(executor: Executor, questions: Iterable[bytes]) -> Iterator[bytes | None]:
    """The answers in their order; None where the executor failed, or lost who was at it."""
    waiting: deque[Future[bytes]] = deque()
    for question in questions:
        waiting.append(executor.submit(answered, question))
        if len(waiting) >= _QUESTIONS_UNDER_WAY:
            yield _got(waiting.popleft())
    while waiting:
        yield _got(waiting.popleft())


def _got(future: Future[bytes]) -> bytes | None:
    try:
        return future.result()
    except Exception:  # of a worker far away, anything; what it was asked is then answered here
        return None


@contextmanager
def executor_at(address: str) -> Iterator[Executor]:
    """`dask://host:8786` or `ray://host:10001`: whose workers have this version of Hardwon, and see the same files.

    Raises `HardwonError` where it is not installed or not there.
    """
    scheme, _, place = address.partition("://")
    if scheme not in ("dask", "ray") or not place:
        raise HardwonError(f"unknown executor '{address}': write it as dask://host:8786 or ray://host:10001")
    try:
        with _dask(place) if scheme == "dask" else _ray(address) as found:
            yield found
    except ModuleNotFoundError as error:
        raise HardwonError(f"{scheme} is not installed: `hardwon extras add {scheme}`") from error


@contextmanager
def _dask(place: str) -> Iterator[Executor]:
    import distributed  # noqa: PLC0415 - an extra, and slow to load

    connect: Any = distributed.Client
    try:
        client = connect(f"tcp://{place}", timeout=_SECONDS_TO_CONNECT)
    except (OSError, TimeoutError) as error:
        raise HardwonError(f"no Dask scheduler answers at {place}: start one with `dask scheduler`") from error
    with client, client.get_executor(pure=False) as executor:
        yield executor


@contextmanager
def _ray(address: str) -> Iterator[Executor]:
    from concurrent.futures import Executor  # noqa: PLC0415 - loads logging, which a worker needs not

    import ray  # noqa: PLC0415 - an extra, and slow to load

    class RayExecutor(Executor):
        def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
            reference: Any = ray.remote(function).remote(*arguments, **named)
            future: Future[Any] = reference.future()
            return future

    try:
        ray.init(address=address, log_to_driver=False)
    except (ConnectionError, TimeoutError) as error:
        raise HardwonError(f"no Ray answers at {address}: start one with `ray start --head`") from error
    try:
        yield RayExecutor()
    finally:
        ray.shutdown()


def stamp_of(path: Path | str) -> Stamp:
    """A database's journal counts as a part of it: what was written last may stand there alone for long."""
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    size, changed = status.st_size, status.st_mtime_ns // 1000
    if str(path).endswith(_DATABASES):
        with suppress(OSError):
            journal = os.stat(f"{path}-wal")
            return size + journal.st_size, max(changed, journal.st_mtime_ns // 1000)
    return size, changed


def work() -> None:
    """What a worker does: files in, lessons out."""
    patterns.use_kept()
    serve(answered)


def _answers(question: _Question) -> Iterator[FileHead | FileResult | Drawn]:
    if question.plot:
        yield drawn(question.plot)
    for path in map(Path, question.paths):
        if question.known is None:
            yield _head(path)
        else:
            yield _result(path, question.known.get(str(path), []), question.scrubbing)


def _shares(paths: Iterable[Path]) -> Iterator[list[str]]:
    share: list[str] = []
    size = 0
    for path in paths:
        share.append(str(path))
        size += stamp_of(path)[0]
        if size >= _BYTES_PER_REQUEST:
            yield share
            share, size = [], 0
    if share:
        yield share


def _head(path: Path) -> FileHead:
    stamp = stamp_of(path)
    try:
        session = peek(path) or Session(external_id=path.stem, agent="", format="")
    except NotFound:
        return FileHead(str(path), stamp, is_there=False)
    except NotASession as error:
        reason = str(error).partition("is not a session: ")[2] or "not readable"
        return FileHead(str(path), stamp, refused=reason)
    return FileHead(str(path), stamp, True, "", session.cwd, session.remote, session.started_at)


def _is_a_question_of_ours(session: Session) -> bool:
    """Whether it is what an agent kept of being asked by `hardwon distil`."""
    return any(QUESTION in message.text[:_CHARACTERS_OF_AN_OPENING] for message in session.messages[:_FIRST_MESSAGES])


def _result(path: Path, known: Sequence[str], scrubbing: Scrubbing) -> FileResult:
    stamp = stamp_of(path)
    try:
        transcript = read(path)
    except (NotFound, NotASession):
        return FileResult(str(path), stamp, is_read=False)
    found = FileResult(str(path), stamp, True, len(transcript.damaged), [])
    for session in transcript.sessions:
        if (known and content_hash(session) in known) or _is_a_question_of_ours(session):
            continue
        try:
            learned = learn(session, None, transcript, stamp[1], scrubbing)
        except ScrubTimeout:
            found.waiting += 1
            continue
        ran = transcript.sessions[0] if session.subagent else session  # a sub-agent works for whoever sent it
        found.sessions.append(SessionResult(learned, ran.cwd or session.cwd, ran.remote or session.remote))
    return found
