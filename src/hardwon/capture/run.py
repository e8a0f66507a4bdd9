"""Run a command as if it had been run without us, and remember the end of what it said.

Streams pass through byte for byte as they come: a terminal stays a terminal for the child, streams that go to
the same place keep their order, and signals sent to us reach it. Only POSIX systems have the means; elsewhere
the child has our own streams, and only its exit code is known.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

KEPT_BYTES = 64 * 1024
_BYTES_PER_READ = 64 * 1024
NOT_FOUND, NOT_EXECUTABLE = 127, 126
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT", "SIGUSR1", "SIGUSR2")
_FROM_THE_TERMINAL = ("SIGINT", "SIGQUIT")


class Ran(NamedTuple):
    exit_code: int
    """As a shell tells it: 128 and the signal for what a signal ended."""
    output: str
    """The end of stdout, and of stderr where both went to one place."""
    errors: str
    began: float
    seconds: float


class Tail:
    """The last bytes of a stream."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def add(self, chunk: bytes) -> None:
        self._kept += chunk
        if len(self._kept) > 2 * KEPT_BYTES:
            del self._kept[:-KEPT_BYTES]

    def text(self) -> str:
        return bytes(self._kept[-KEPT_BYTES:]).decode("utf-8", "replace")


class Stream(NamedTuple):
    """One way out of the child: what we read, what it writes to, where it goes."""

    ours: int
    childs: int
    target: int
    tail: Tail


def run(command: Sequence[str]) -> Ran:
    """Run a command to its end. A command that cannot be started ends as a shell would say it."""
    began, clock = time.time(), time.perf_counter()
    streams = _streams()
    try:
        child = _started(command, streams)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        problem = f"{command[0]}: {'command not found' if missing else error.strerror}"
        sys.stderr.write(f"hardwon: {problem}\n")
        code = NOT_FOUND if missing else NOT_EXECUTABLE
        return Ran(code, "", problem, began, time.perf_counter() - clock)
    with _forwarding(child, streams):
        if streams:
            _pass_on(child, streams)
        code = child.wait()
    output, errors, *_ = [stream.tail.text() for stream in streams] + ["", ""]
    return Ran(128 - code if code < 0 else code, output, errors, began, time.perf_counter() - clock)


def _started(command: Sequence[str], streams: list[Stream]) -> subprocess.Popen[bytes]:
    out = streams[0].childs if streams else None
    err = streams[-1].childs if streams else None
    try:
        return subprocess.Popen(command, stdout=out, stderr=err)  # noqa: S603 - running it is what we are asked
    except OSError:
        for stream in streams:
            os.close(stream.ours)
        raise
    finally:
        for stream in streams:
            os.close(stream.childs)


def _pass_on(child: subprocess.Popen[bytes], streams: list[Stream]) -> None:
    """Copy until the streams end, or the child has ended and left nothing to copy.

    What it started in the background may hold the streams open for ever: that is not waited for.
    """
    ended, end = os.pipe()

    def wait() -> None:
        child.wait()
        os.close(end)

    threading.Thread(target=wait, daemon=True).start()
    left = {stream.ours: stream for stream in streams}
    while left:
        ready, _, _ = select.select([*left, ended], [], [])
        if ready == [ended]:
            break
        for fd in ready:
            if fd != ended and not _copied(left[fd]):
                os.close(fd)  # where nobody listens any more, the child is told so, as it would be without us
                del left[fd]
    for fd in (*left, ended):
        os.close(fd)


def _copied(stream: Stream) -> bool:
    """Pass on what is there; False when the stream has ended or its target is gone."""
    try:
        chunk = os.read(stream.ours, _BYTES_PER_READ)
    except OSError:  # a terminal that was closed
        return False
    stream.tail.add(chunk)
    left = memoryview(chunk)
    while left:
        try:
            left = left[os.write(stream.target, left) :]
        except BlockingIOError:
            select.select([], [stream.target], [])
        except OSError:
            return False
    return bool(chunk)


def _streams() -> list[Stream]:
    """Pipes, or terminals for what is a terminal; one for both where both go to the same place."""
    if sys.platform == "win32":
        return []
    return [_stream(target) for target in ((1,) if _same(1, 2) else (1, 2))]


def _stream(target: int) -> Stream:
    ours, childs = _terminal(target) if os.isatty(target) else os.pipe()
    return Stream(ours, childs, target, Tail())


def _terminal(like: int) -> tuple[int, int]:
    """A terminal of the same size that changes nothing of what is written to it."""
    import termios  # noqa: PLC0415 - there is none on Windows

    ours, childs = os.openpty()
    settings = termios.tcgetattr(childs)
    settings[1] &= ~termios.OPOST
    termios.tcsetattr(childs, termios.TCSANOW, settings)
    _resize(ours, like)
    return ours, childs


def _resize(fd: int, like: int) -> None:
    import fcntl  # noqa: PLC0415 - there is none on Windows
    import termios  # noqa: PLC0415

    with suppress(OSError):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, fcntl.ioctl(like, termios.TIOCGWINSZ, b"\0" * 8))


def _same(one: int, other: int) -> bool:
    try:
        a, b = os.fstat(one), os.fstat(other)
    except OSError:
        return False
    return (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)


@contextmanager
def _forwarding(child: subprocess.Popen[bytes], streams: list[Stream]) -> Iterator[None]:
    """While the child runs, signals are its business. What the terminal sends, it gets without us."""
    before: dict[int, Any] = {}

    def forward(number: int, _: object) -> None:
        if not (signal.Signals(number).name in _FROM_THE_TERMINAL and _in_foreground()):
            with suppress(ProcessLookupError):
                child.send_signal(number)

    def resize(*_: object) -> None:
        for stream in streams:
            if os.isatty(stream.target):
                _resize(stream.ours, stream.target)

    wanted: dict[str, Callable[..., None]] = {**dict.fromkeys(_FORWARDED, forward), "SIGWINCH": resize}
    for name, handler in wanted.items():
        number = getattr(signal, name, None)
        # What we were started with ignored, the child is to ignore as well.
        if number is not None and (name == "SIGWINCH" or signal.getsignal(number) != signal.SIG_IGN):
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _in_foreground() -> bool:
    """Whether a terminal's Ctrl-C reaches the child by itself."""
    if not hasattr(os, "tcgetpgrp"):
        return True
    for fd in (0, 1, 2):
        with suppress(OSError):
            return os.tcgetpgrp(fd) == os.getpgrp()
    return False
