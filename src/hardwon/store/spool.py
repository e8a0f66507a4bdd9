"""What hooks leave for the next writer: a hook never waits for a lock. Standard library only: it starts cold.

A run is one line, written in one call to the end of a file that any number of hooks write to. The next writer
moves the file aside, stores its lines in one transaction and removes it (`hook_data.py`); each line has an id, so
that storing it twice adds nothing.
"""

from __future__ import annotations

import json
import os
import time

from hardwon.home import FOLDER_MODE, private

TYPE_CHECKING = False  # of `typing`, which takes as long to load as all the rest here

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


FOLDER = "spool"
OPEN = "open.jsonl"
DEALT = "dealt.open"
"""What sessions were shown and what was withheld from them: `hook_data.py` stores it."""
MAX_LINE_BYTES = 4096
MAX_DEAL_BYTES = 64 * 1024
MAX_FILE_BYTES = 1024 * 1024
"""Nobody has written to the store for thousands of runs: no more is kept of them."""
_TRIES = 5
COLUMNS = ("id", "at", "event", "agent", "microseconds", "error")


def leave(home: str, event: str, agent: str, microseconds: int, error: str) -> bool:
    """Append a hook's run; False if it could not be kept."""
    run = (os.urandom(12).hex(), time.time_ns() // 1000, event, agent, microseconds, error[:500])
    return append(home, OPEN, json.dumps(dict(zip(COLUMNS, run, strict=True))).encode(), MAX_LINE_BYTES)


def append(home: str, name: str, record: bytes, longest: int) -> bool:
    """Put a line at the end of a file of the spool; False if it could not be kept."""
    line = b"\n" + record + b"\n"
    if len(line) > longest:
        return False
    folder = os.path.join(home, FOLDER)
    try:
        if not is_there(home):
            os.mkdir(folder, FOLDER_MODE)
            os.chmod(folder, FOLDER_MODE)  # a umask may have taken from it
    except FileExistsError:
        if os.path.islink(folder):
            return False
    except OSError:
        return False
    return any(_append(os.path.join(folder, name), line) for _ in range(_TRIES))


def _append(path: str, line: bytes) -> bool:
    """Whether the line is in the file that the next writer will read."""
    try:
        file = private(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    except OSError:
        return False
    try:
        if os.fstat(file).st_size + len(line) > MAX_FILE_BYTES:
            return False
        os.write(file, line)
        # A file that was moved away meanwhile may have been read already; a line that is there twice counts once.
        return os.path.samestat(os.lstat(path), os.fstat(file))
    except OSError:
        return False
    finally:
        os.close(file)


def is_there(home: str) -> bool:
    """Whether there is a spool; a link in its place may lead anywhere and is none."""
    folder = os.path.join(home, FOLDER)
    return os.path.isdir(folder) and not os.path.islink(folder)


def waiting(home: str) -> list[tuple[Any, ...]]:
    """The runs that no writer has stored yet, as rows of `hook_run`."""
    folder = os.path.join(home, FOLDER)
    names = sorted(os.listdir(folder)) if is_there(home) else []
    return [run for name in names if name.endswith(".jsonl") for run in runs(os.path.join(folder, name))]


def runs(path: str) -> Iterator[tuple[Any, ...]]:
    """The file's lines as rows; what is damaged among them, as one more row that says so."""
    damaged = 0
    try:
        with open(path, "rb", opener=private) as file:
            lines = file.read(2 * MAX_FILE_BYTES).split(b"\n")
        modified = os.stat(path).st_mtime_ns // 1000
    except OSError:
        return  # another writer was quicker
    for line in filter(None, lines):
        run = _run(line)
        if run:
            yield run
        else:
            damaged += 1
    if damaged:
        yield os.path.basename(path), modified, "spool", "", 0, f"{damaged} damaged lines were skipped"


def _run(line: bytes) -> tuple[Any, ...] | None:
    try:
        fields = json.loads(line)
        run = tuple(fields[name] for name in COLUMNS)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    expected = (str, int, str, str, int, str)
    fits = all(type(value) is kind for value, kind in zip(run, expected, strict=True))
    small = fits and all(abs(number) < 1 << 63 for number in (run[1], run[4]))
    return run if small and not any("\0" in run[at] for at in (0, 2, 3, 5)) else None
