"""What hooks deal out, and what they leave behind for the next writer. Standard library only: a hook starts here."""

from __future__ import annotations

import json
import os
import time

from hardwon.home import FOLDER_MODE, is_real_folder, private
from hardwon.text.normalise import digest

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any


FOLDER = "spool"
OPEN = "open.jsonl"
DEALT = "dealt.open"
"""What sessions were shown and what was withheld from them: `hook_data.py` stores it."""
MAX_LINE_BYTES = 4096
MAX_DEAL_BYTES = 64 * 1024
MAX_FILE_BYTES = 1024 * 1024
"""Nobody has written to the store for thousands of runs: no more is kept of them."""
TOLD = "told something"
UNKNOWN_FOLDER = "silent: no known project in this folder"
LEFT_OUT = "silent: the experiment leaves this session without notes"
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
    return _is_made(folder) and any(_append(os.path.join(folder, name), line) for _ in range(_TRIES))


def _is_made(folder: str) -> bool:
    try:
        if not is_real_folder(folder):
            os.mkdir(folder, FOLDER_MODE)
            os.chmod(folder, FOLDER_MODE)  # a umask may have taken from it
    except FileExistsError:
        return not os.path.islink(folder)
    except OSError:
        return False
    return True


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


def note(home: str, agent: str, event: str, what: str) -> None:
    """What came of a hook's last run: silence is usual, and looks like trouble."""
    folder = os.path.join(home, FOLDER)
    try:
        if os.path.isdir(home) and _is_made(folder):
            file = private(os.path.join(folder, _last(agent, event)), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.write(file, what.encode())
            os.close(file)
    except OSError:
        return  # nothing depends on it


def noted(home: str, agent: str, event: str) -> str:
    """What `note` was told last."""
    try:
        with open(os.path.join(home, FOLDER, _last(agent, event)), "rb", opener=private) as file:
            return file.read(MAX_LINE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _last(agent: str, event: str) -> str:
    return f"{digest(agent, event)}.last"


def waiting(home: str) -> list[tuple[Any, ...]]:
    """The runs that no writer has stored yet, as rows of `hook_run`."""
    folder = os.path.join(home, FOLDER)
    names = sorted(os.listdir(folder)) if is_real_folder(folder) else []
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


# Who gets what in the experiment: coins that fall the same way whenever the same thing is asked.
#
# A session is held out, or an item withheld from it, by a keyed hash of the *root* session: resuming it, compacting
# it and its sub-agents change nothing. Nobody without the store's key can tell how a coin falls. Standard library
# only: a hook starts here.

SESSIONS_HELD_OUT = 0.10
ITEMS_WITHHELD = 0.20
TREATED, HELD_OUT, OFF = "treated", "held-out", "off"
_PERSONAL = ("preference", "decision")
_RANGE = float(1 << 64)

Prepared = tuple[str, str, str, int, int, float]
"""(section, item, text, tokens, exempt, score)"""
Standing = tuple[str, str, str, int, int, int, float]
"""(section, item, text, tokens, exempt, spare, score)"""
Placed = tuple[str, int, int, int, float, float]
"""(item, rank, tokens, shown, chance of being shown in a session that is not held out, score)"""


def told_in(project: str, confirmed_in: str, *, only_here: bool = False) -> bool:
    """Whether a fix that worked in these projects (with commas) may be told in this one."""
    projects = [name for name in confirmed_in.split(",") if name]
    return project in projects or (not only_here and len(projects) != 1)


def held_out(key: bytes, root: str) -> bool:
    return _fraction(key, "session", root) < SESSIONS_HELD_OUT


def withheld(key: bytes, root: str, item: str) -> bool:
    return _fraction(key, "item", root, item) < ITEMS_WITHHELD


def dealer(key: bytes) -> str:
    """Whose coins they were, without giving the key away: the store's id."""
    return digest("store", key=key)


def exempt(kind: str, trust: str, *, pinned: bool) -> bool:
    """What a person said or wants to be said is never withheld from a session that is told anything."""
    return pinned or trust == "human" or kind in _PERSONAL


def deal(lines: Iterable[Standing], key: bytes, root: str) -> tuple[list[tuple[str, str]], list[Placed]]:
    """What a session is shown as (section, text), and what is to be remembered of every line.

    A spare line takes the room of a withheld one, in its section. Whether one is needed depends on other lines'
    coins, so it is shown for certain and proves nothing (its chance is 1).
    """
    out = held_out(key, root)
    shown: list[tuple[str, str]] = []
    placed: list[Placed] = []
    places: dict[str, int] = {}
    room = 0
    for rank, (section, item, text, tokens, is_exempt, spare, score) in enumerate(lines):
        coin = not is_exempt and withheld(key, root, item)
        if spare and (out or coin or not places.get(section) or tokens > room):
            continue
        is_shown = not out and not coin
        if is_shown:
            shown.append((section, text))
        if spare or coin:
            places[section] = places.get(section, 0) + (-1 if spare else 1)
            room += -tokens if spare else tokens
        chance = 1.0 if is_exempt or spare else 1 - ITEMS_WITHHELD
        placed.append((item, rank, tokens, int(is_shown), chance, score))
    return shown, placed


def _fraction(key: bytes, *parts: str) -> float:
    return int(digest("experiment", *parts, key=key), 16) / _RANGE
