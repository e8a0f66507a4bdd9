"""Processes of our own that read sessions on the other cores.

A worker is a fresh Python that is asked on its standard input and answers on its standard output, one question at
a time. It ends when its input does, however we ended, so that none is left behind.
"""

from __future__ import annotations

import gc
import os
import signal
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Semaphore, Thread
from types import TracebackType
from typing import IO

_LENGTH = struct.Struct("<Q")
_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import hardwon  # the same code as ours, wherever it is
del sys.path[0]
import importlib
importlib.import_module(sys.argv[2]).work()
"""
_PACKAGES = str(Path(__file__).absolute().parents[2])
_SECONDS_BETWEEN_LOOKS = 5.0
_ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000
_ANSWERS_WAITING = 16
"""Answers that may wait to be taken, of each worker and of who asks: what is read too early only fills memory."""


class Workers:
    """Some workers, each of which runs the function `work` of a module of ours."""

    def __init__(self, module: str, count: int) -> None:
        self.processes = list(_started(module, count))
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
        self, questions: Iterable[bytes], own: Callable[[bytes], bytes] | None = None
    ) -> Iterator[bytes | None]:
        """The answer to each question, in their order; None where a worker failed.

        With `own`, whoever asks does not only wait, but answers what no worker has taken yet.
        """
        self._rounds.append(_Round(self.processes, questions))
        return self._rounds[-1].answers(own)


class _Round:
    """Questions, and the threads that put them to the workers."""

    def __init__(self, processes: list[subprocess.Popen[bytes]], questions: Iterable[bytes]) -> None:
        self._processes = processes
        self._waiting = deque(enumerate(questions))
        self._count = len(self._waiting)
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
                    elif taken := self._taken():
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
        self._waiting.clear()
        for _ in self._threads:
            self._room.release()
        for thread in self._threads:
            thread.join()

    def _taken(self) -> tuple[int, bytes] | None:
        """A question that nobody is at yet."""
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def _ask(self, process: subprocess.Popen[bytes]) -> None:
        """Put questions to a worker until there are none, or it fails."""
        assert process.stdin
        assert process.stdout
        answer: bytes | None = b""
        while answer is not None:
            self._room.acquire()
            taken = self._taken()
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


def _started(module: str, count: int) -> Iterator[subprocess.Popen[bytes]]:
    """As many as can be had."""
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
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
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
