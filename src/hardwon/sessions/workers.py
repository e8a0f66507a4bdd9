"""Processes of our own that read sessions on the other cores.

A worker is asked through one pipe and answers through another, one question at a time. It ends when its input does,
however we ended, so that none is left behind. Where that is safe it is forked, which takes a tenth of a second less of
a processor than a fresh Python does.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Semaphore, Thread
from types import TracebackType
from typing import IO, NoReturn

_LENGTH = struct.Struct("<Q")
_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import hardwon  # the same code as ours, wherever it is
del sys.path[0]
import importlib
importlib.import_module(sys.argv[2]).work()
"""
_ENDING = (signal.SIGINT, signal.SIGTERM)
_STANDARD_ERROR = 2
_asked_at, _answers_at = 0, 1
"""The pipes of this process, if it is a worker."""
_PACKAGES = str(Path(__file__).absolute().parents[2])
_SECONDS_BETWEEN_LOOKS = 5.0
_ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000
_ANSWERS_WAITING = 16
"""Answers that may wait to be taken, of each worker and of who asks: what is read too early only fills memory."""


class Workers:
    """Some workers, each of which runs the function `work` of a module of ours."""

    def __init__(self, module: str, count: int) -> None:
        self.processes: list[Process] = list(_started(module, count))
        self._rounds: list[_Round] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        for each in self._rounds:
            each.end()
        for process in self.processes:
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # what was still to be written has nobody to read it
                    pipe.close()  # type: ignore[union-attr]

    def answers(
        self,
        questions: Iterable[bytes],
        own: Callable[[bytes], bytes] | None = None,
        theirs: Collection[int] = (),
    ) -> Iterator[bytes | None]:
        """The answer to each question, in their order; None where a worker failed.

        With `own`, whoever asks does not only wait, but answers what no worker has taken yet. Workers begin with the
        questions numbered in `theirs`, and who asks with the others.
        """
        self._rounds.append(_Round(self.processes, questions, theirs))
        return self._rounds[-1].answers(own)


class _Round:
    """Questions, and the threads that put them to the workers."""

    def __init__(self, processes: list[Process], questions: Iterable[bytes], theirs: Collection[int]) -> None:
        self._processes = processes
        self._theirs: deque[tuple[int, bytes]] = deque()
        self._others: deque[tuple[int, bytes]] = deque()
        for number, question in enumerate(questions):
            (self._theirs if number in theirs else self._others).append((number, question))
        self._count = len(self._theirs) + len(self._others)
        self._answered: SimpleQueue[tuple[int, bytes | None] | None] = SimpleQueue()
        self._room = Semaphore(_ANSWERS_WAITING * len(processes))
        self._threads = [Thread(target=self._ask, args=(process,), daemon=True) for process in processes]
        for thread in self._threads:
            thread.start()

    def answers(self, own: Callable[[bytes], bytes] | None) -> Iterator[bytes | None]:
        early: dict[int, bytes | None] = {}
        mine: set[int] = set()
        asking = len(self._threads)
        for number in range(self._count):
            while number not in early and (asking or own):
                goes_on = own if len(mine) < _ANSWERS_WAITING else None
                try:
                    found = self._answered.get(block=not goes_on, timeout=_SECONDS_BETWEEN_LOOKS)
                except Empty:
                    if not goes_on:
                        self._end_stopped()
                    elif taken := _first_of(self._others, self._theirs):
                        early[taken[0]] = goes_on(taken[1])
                        mine.add(taken[0])
                    else:
                        own = None  # from now on there is nothing but waiting
                    continue
                if found is None:
                    asking -= 1
                else:
                    early[found[0]] = found[1]
            yield early.pop(number, None)
            if number in mine:
                mine.remove(number)
            else:
                self._room.release()

    def _end_stopped(self) -> None:
        """Who was stopped by a signal would never answer; what it was asked is answered by who asked."""
        for process in self._processes:
            if process.poll() is None and _is_stopped(process.pid):
                process.kill()

    def end(self) -> None:
        self._theirs.clear()
        self._others.clear()
        for _ in self._threads:
            self._room.release()
        for thread in self._threads:
            thread.join()

    def _ask(self, process: Process) -> None:
        """Put questions to a worker until there are none, or it fails."""
        assert process.stdin
        assert process.stdout
        answer: bytes | None = b""
        while answer is not None:
            self._room.acquire()
            taken = _first_of(self._theirs, self._others)
            if taken is None:
                self._room.release()
                break
            number, question = taken
            try:
                _send(process.stdin, question)
                answer = _received(process.stdout)
            except (OSError, ValueError):
                answer = None
            self._answered.put((number, answer))
        self._answered.put(None)


def _first_of(*waiting: deque[tuple[int, bytes]]) -> tuple[int, bytes] | None:
    """A question that nobody is at yet."""
    for questions in waiting:
        with suppress(IndexError):
            return questions.popleft()
    return None


class Forked:
    """A worker that goes on from what this process has loaded; as much of a `Popen` as is asked for.

    It never returns into the code of whoever forked it, and touches nothing of theirs: it has none of their files
    open, and what they hold is never collected there, so that no database of theirs is closed.
    """

    def __init__(self, module: str) -> None:
        asked_at, questions = os.pipe()
        answers, answers_at = os.pipe()
        self.stdin, self.stdout = open(questions, "wb"), open(answers, "rb")  # noqa: SIM115 - closed with the others
        collects = gc.isenabled()
        gc.disable()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # or it might go on in the code of whoever forked
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _work_forked(module, asked_at, answers_at)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            if collects:
                gc.enable()
            os.close(asked_at)
            os.close(answers_at)
        self._has_ended = False

    def poll(self) -> int | None:
        """Not None once it has ended."""
        self._has_ended = self._has_ended or os.waitpid(self.pid, os.WNOHANG)[0] != 0
        return 0 if self._has_ended else None

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        if not self._has_ended:
            os.waitpid(self.pid, 0)
            self._has_ended = True
        return 0


Process = subprocess.Popen[bytes] | Forked


def _work_forked(module: str, asked_at: int, answers_at: int) -> NoReturn:
    global _asked_at, _answers_at
    try:
        gc.freeze()
        gc.enable()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        for number in map(int, os.listdir("/proc/self/fd")):  # up to the limit there may be a thousand million
            if number > _STANDARD_ERROR and number not in (asked_at, answers_at):
                with suppress(OSError):
                    os.close(number)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):  # what was still to be printed here is printed by who forked
            os.dup2(nowhere, standard)
        _asked_at, _answers_at = asked_at, answers_at
        importlib.import_module(module).work()
    finally:
        os._exit(0)


def _may_fork() -> bool:
    """Whether this process has one thread, of Python or not: a lock that another holds would be held for ever."""
    with suppress(OSError):
        return len(os.listdir("/proc/self/task")) == 1  # of Linux alone
    return False


def _started(module: str, count: int) -> Iterator[Process]:
    """As many as can be had."""
    if _may_fork():
        with suppress(OSError):
            for _ in range(count):
                yield Forked(module)
        return
    # -P: nothing is imported from the folder we happen to be in.
    line = [sys.executable, "-P", "-c", _PROGRAM, _PACKAGES, module]
    with suppress(OSError):
        for _ in range(count):
            yield subprocess.Popen(  # noqa: S603
                line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # On Windows a process without a console, as the one after a session is, would open a window for each.
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )


def _is_stopped(pid: int) -> bool:
    if not hasattr(os, "waitid"):  # Windows stops nobody; macOS cannot be asked without taking the news from Popen
        return False
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    return False


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def few_collections() -> Iterator[None]:
    """What is read has no cycles: to look for them as often as is usual takes up to a sixth of the time."""
    before = gc.get_threshold()
    if not 0 < before[0] < _ALLOCATIONS_BETWEEN_COLLECTIONS:  # somebody else sees to it
        yield
        return
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def serve(answer: Callable[[bytes], bytes]) -> None:
    """What a worker does until there is nothing more to answer."""
    # What is loaded stays, and what is read has no cycles: to look for them takes a fiftieth of the time.
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks decides when to stop
    questions, answers = open(_asked_at, "rb"), open(_answers_at, "wb")  # noqa: SIM115 - as long as it lives
    sys.stdout = sys.stderr  # nothing else may come between the answers
    while (question := _received(questions)) is not None:
        _send(answers, answer(question))


def _send(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(_LENGTH.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def _received(pipe: IO[bytes]) -> bytes | None:
    """The next message; None when there is no whole one."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = pipe.read(length)
    return message if len(message) == length else None
