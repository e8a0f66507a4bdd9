"""Count every session of many files: on all cores, and only what is new since the last time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from hardwon.errors import NotASession, NotFound
from hardwon.model.session import SessionOutcome, Summary
from hardwon.sessions import scan_cache
from hardwon.sessions.scan_cache import Folders, Scanned, States
from hardwon.sessions.summary import Reached, count
from hardwon.sessions.workers import Workers, cores, serve
from hardwon.text.paths import tilde

CACHE = "scan.cache"
CACHES = (CACHE, "scan.states")
"""Files that a scan leaves in the home folder, and makes again when they are gone."""
_SMALL = 24 * 1024 * 1024
"""Bytes that are counted before other processes would have started."""
_SHARE = 2 * 1024 * 1024
"""Bytes that a process is given to count at a time."""
_FINISHED = 30 * 86_400 * 1_000_000_000
"""Nanoseconds after which a file that nobody has written to will hardly grow."""
_NOTHING = Raw(b"\xc0")
_WORST: dict[SessionOutcome, int] = {"unknown": 0, "completed": 1, "failure": 2}

Progress = Callable[[str, int, int], None]


class _Task(Struct, array_like=True, gc=False):
    """A file to count, and how far it has been counted before."""

    path: str
    before: Raw


class _Answer(Struct, array_like=True, gc=False):
    found: Scanned
    reached: Raw


class _Fresh(NamedTuple):
    """A file that is new or has changed."""

    path: str
    status: os.stat_result


_tasks = msgspec.msgpack.Decoder(list[_Task])
_answers = msgspec.msgpack.Decoder(list[_Answer])
_reached = msgspec.msgpack.Decoder(Reached | None)
_encode = msgspec.msgpack.Encoder().encode


def scan(
    paths: Iterable[Path | str], cache: Path | None = None, progress: Progress | None = None
) -> dict[str, Scanned]:
    """Path → what it holds, for every path that is a file. `cache` is read, and written when it changed."""
    known = scan_cache.load(cache) if cache else {}
    found, fresh = _compared(paths, known)
    if fresh:
        states = scan_cache.load_states(cache) if cache else {}
        added = _counted(fresh, states, found, progress or (lambda *_: None))
        if cache:
            folders = _by_folder(found)
            scan_cache.save(cache, known | folders, _kept_states(states, folders, added))
    return found


def _compared(paths: Iterable[Path | str], known: Folders) -> tuple[dict[str, Scanned], list[_Fresh]]:
    """What is known of files that are as they were, and the other files."""
    found: dict[str, Scanned] = {}
    fresh: list[_Fresh] = []
    folders: dict[str, dict[str, Scanned]] = {}
    for path in map(str, paths):
        folder, _, name = path.rpartition(os.sep)
        names = folders.get(folder)
        if names is None:
            names = folders[folder] = known.get(tilde(folder), {})
        try:
            status = os.stat(path)
        except OSError:
            continue
        kept = names.get(name)
        if kept is not None and kept.modified == status.st_mtime_ns and kept.size == status.st_size:
            found[path] = kept
        else:
            fresh.append(_Fresh(path, status))
    return found, fresh


def _counted(fresh: list[_Fresh], states: States, found: dict[str, Scanned], told: Progress) -> States:
    """Count the files and put them with what is found; returns how far each has been counted."""
    added: States = {}
    done = 0
    for share, answers in _answered(list(_shares(fresh)), states):
        for (path, status), answer in zip(share, answers, strict=True):
            answer.found.size, answer.found.modified = status.st_size, status.st_mtime_ns
            found[path] = answer.found
            folder, name = _place(path)
            added.setdefault(folder, {})[name] = answer.reached
        done += len(share)
        told("counting", done, len(fresh))
    return added


def _shares(fresh: list[_Fresh]) -> Iterator[list[_Fresh]]:
    share: list[_Fresh] = []
    size = 0
    for file in fresh:
        share.append(file)
        size += file.status.st_size
        if size >= _SHARE:
            yield share
            share, size = [], 0
    if share:
        yield share


def _answered(shares: list[list[_Fresh]], states: States) -> Iterator[tuple[list[_Fresh], list[_Answer]]]:
    """Each share with its counts; what no worker answers is counted here."""
    size = sum(file.status.st_size for share in shares for file in share)
    with Workers(__name__, min(cores(), len(shares)) if size > _SMALL else 0) as workers:
        questions = [_encode([_task(file, states) for file in share]) for share in shares]
        for share, question, answer in zip(shares, questions, workers.answers(questions), strict=True):
            yield share, _answers.decode(answer or _answer(question))


def _task(file: _Fresh, states: States) -> _Task:
    folder, name = _place(file.path)
    return _Task(file.path, states.get(folder, {}).get(name, _NOTHING))


def _place(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition(os.sep)
    return _shortened(folder), name


_shortened = lru_cache(maxsize=4096)(tilde)


def work() -> None:
    """What a worker does: files in, counts out."""
    serve(_answer)


def _answer(question: bytes) -> bytes:
    return _encode([_count(task) for task in _tasks.decode(question)])


def _count(task: _Task) -> _Answer:
    try:
        counted = count(task.path, _reached.decode(task.before))
    except (NotASession, NotFound, OSError) as error:
        reason = str(error).partition("is not a session: ")[2] or "it cannot be read"
        return _Answer(Scanned(refused=reason), _NOTHING)
    return _Answer(_together(counted.sessions), Raw(_encode(counted.reached)))


def _together(sessions: list[Summary]) -> Scanned:
    if not sessions:
        return Scanned()
    if len(sessions) == 1:  # nearly always, and ten times faster
        (only,) = sessions
        return Scanned(
            0,
            0,
            only.format,
            only.messages,
            only.tool_calls,
            only.errors,
            only.started_at,
            only.ended_at,
            only.outcome,
            (only.project,) if only.project else (),
        )
    return Scanned(
        format=sessions[0].format,
        messages=sum([session.messages for session in sessions]),
        tool_calls=sum([session.tool_calls for session in sessions]),
        errors=sum([session.errors for session in sessions]),
        started_at=min((session.started_at for session in sessions if session.started_at is not None), default=None),
        ended_at=max((session.ended_at for session in sessions if session.ended_at is not None), default=None),
        outcome=max((session.outcome for session in sessions), key=_WORST.__getitem__),
        projects=tuple(dict.fromkeys(session.project for session in sessions if session.project)),
    )


def _by_folder(found: dict[str, Scanned]) -> Folders:
    """Of the folders that were looked at; what is gone from them is not in it."""
    folders: Folders = {}
    for path, scanned in found.items():
        folder, name = _place(path)
        folders.setdefault(folder, {})[name] = scanned
    return folders


def _kept_states(states: States, folders: Folders, added: States) -> States:
    """How to go on with every file that is there and may still grow."""
    newest = time.time_ns() - _FINISHED
    kept = dict(states)
    for folder, names in folders.items():
        known = states.get(folder, {}) | added.get(folder, {})
        kept[folder] = {
            name: known[name] for name, scanned in names.items() if name in known and scanned.modified > newest
        }
    return kept
