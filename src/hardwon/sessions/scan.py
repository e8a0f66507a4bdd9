"""Count every session of many files: on all cores, and only what is new since the last time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Raw, Struct

from hardwon.errors import NotASession, NotFound
from hardwon.home import private, private_folder
from hardwon.model.session import Session, SessionOutcome, Summary
from hardwon.sessions import claude_code, codex, hermes, tool_calls
from hardwon.sessions.counter import Counting, CountingFormat
from hardwon.sessions.lines import is_compressed
from hardwon.sessions.origin import outcome
from hardwon.sessions.project import project_key
from hardwon.sessions.reader import Source, recognised
from hardwon.sessions.workers import Workers, cores, serve
from hardwon.text.normalise import tilde

# What the last scan found, kept for the next: the counts of every file, and apart from them how to go on counting
# those that grow.

_SIGNATURE = b"hardwon scan 3\n"
T = TypeVar("T")


class Scanned(Struct, array_like=True, gc=False):
    """What a file holds, all its sessions together, as of its size and time."""

    size: int = 0
    modified: int = 0
    """In nanoseconds, as the system tells it."""
    format: str = ""
    """Empty when it holds no session."""
    messages: int = 0
    tool_calls: int = 0
    errors: int = 0
    started_at: int | None = None
    ended_at: int | None = None
    outcome: SessionOutcome = "unknown"
    """The worst of them."""
    projects: tuple[str, ...] = ()
    """Their keys, each once."""
    refused: str = ""
    """Why it is no session."""


Folders = dict[str, dict[str, Scanned]]
"""Folder → name of a file → what it holds."""
States = dict[str, dict[str, Raw]]
"""Folder → name of a file → how far it has been counted, still encoded."""


def load(cache: Path) -> Folders:
    """The counts; a cache that cannot be read is as good as none."""
    return _load(cache, Folders) or {}


def load_states(cache: Path) -> States:
    """Read only when a file has grown."""
    return _load(_states(cache), States) or {}


def save(cache: Path, folders: Folders, states: States) -> None:
    """Write both; that it cannot be written is no error, for it is only a cache."""
    _save(_states(cache), states)
    _save(cache, folders)


def _states(cache: Path) -> Path:
    return cache.with_suffix(".states")


def _load(cache: Path, kind: type[T]) -> T | None:
    try:
        content = cache.read_bytes()
        if not content.startswith(_SIGNATURE):
            return None
        return msgspec.msgpack.decode(memoryview(content)[len(_SIGNATURE) :], type=kind)
    except (OSError, msgspec.DecodeError, ValueError):
        return None


def _save(cache: Path, content: object) -> None:
    temporary = cache.with_name(f"{cache.name}.{os.getpid()}.new")
    try:
        private_folder(cache.parent)
        with open(temporary, "wb", opener=private) as file:
            file.write(_SIGNATURE)
            file.write(msgspec.msgpack.encode(content))
        temporary.replace(cache)
    except OSError:
        temporary.unlink(missing_ok=True)  # it is only a cache


# Counts of a session: from the whole of it, or by a format's own way of counting without building it. Formats of
# which a machine may hold thousands have such a way; the others are read whole.
_COUNTERS: dict[str, CountingFormat] = {
    claude_code.NAME: claude_code,
    codex.NAME: codex,
    hermes.NAME: hermes,
}
_encode = msgspec.msgpack.Encoder().encode
_decoders = {name: msgspec.msgpack.Decoder(format.Counting) for name, format in _COUNTERS.items()}


class Reached(Struct, array_like=True, gc=False):
    """How far a file has been counted, and the counts up to there: all that is needed to go on."""

    format: str
    offset: int
    mark: bytes
    counts: bytes


class Counted(NamedTuple):
    sessions: list[Summary]
    reached: Reached | None
    """None for a file that must be read whole when it grows."""


def summaries(path: Path) -> list[Summary]:
    """The counts of every session in a file. Raises NotFound, or NotASession with the reason."""
    return count(path).sessions


def count(path: Path | str, before: Reached | None = None, *, to_go_on: bool = True) -> Counted:
    """Count what is in a file; of one that only grew since `before`, no more than what is new is read.

    Not `to_go_on`, it is not told how far.
    """
    if before is not None and (more := _count_on(path, before)) is not None:
        return more
    source = Source(path)
    format = recognised(source)
    if counter := _COUNTERS.get(format.NAME):
        counted = _counted(source, format.NAME, counter.Counting(stem=source.stem), to_go_on=to_go_on)
        if counted is not None:
            return counted
    return Counted([summary(tool_calls.judge(session)) for session in format.read(source)], None)


def _count_on(path: Path | str, before: Reached) -> Counted | None:
    """None when the file is not what was counted, with more behind it."""
    source = Source(path, start=before.offset)
    try:
        if source.mark(before.offset) != before.mark:
            return None
        return _counted(source, before.format, _decoders[before.format].decode(before.counts))
    except (OSError, KeyError, msgspec.DecodeError):
        return None


def _counted(source: Source, format: str, counting: Counting, *, to_go_on: bool = True) -> Counted | None:
    line = _COUNTERS[format].Line
    for batch in source.finished(line):
        counting.add(batch)
    offset = source.offset
    reached = None
    if to_go_on and offset and not is_compressed(source.name):
        reached = Reached(format, offset, source.mark(offset), _encode(counting))
    if rest := source.unfinished(line):
        counting.add(rest)
    found = counting.summaries()
    return Counted(found, reached) if found is not None else None


def summary(session: Session) -> Summary:
    """The counts of a session that was read whole."""
    return Summary(
        external_id=session.external_id,
        agent=session.agent,
        format=session.format,
        subagent=session.subagent,
        project=project_key(session.cwd, session.remote),
        started_at=session.started_at,
        ended_at=session.ended_at,
        messages=len(session.messages),
        tool_calls=session.tool_calls,
        errors=sum(result.outcome == "error" for result in session.results()),
        outcome=outcome(session),
    )


CACHE = "scan.cache"
CACHES = (CACHE, "scan.states")
"""Files that a scan leaves in the home folder, and makes again when they are gone."""
_MAX_BYTES_COUNTED_ALONE = 24 * 1024 * 1024
"""So much is counted before other processes would have started."""
_BYTES_PER_SHARE = 2 * 1024 * 1024
"""What a process is given to count at a time."""
_FINISHED_AFTER_NANOSECONDS = 30 * 86_400 * 1_000_000_000
"""After so long a file that nobody has written to will hardly grow."""
_NOTHING = Raw(b"\xc0")
_WORST: dict[SessionOutcome, int] = {"unknown": 0, "completed": 1, "failure": 2}

Progress = Callable[[str, int, int], None]


class _Task(Struct, array_like=True, gc=False):
    """A file to count, and how far it has been counted before."""

    path: str
    before: Raw
    has_grown: bool
    """Or changed, since it was counted before: only of such a file it is kept how to go on, for most never grow again
    and what is kept must be looked through for what may not be stored."""


class _Answer(Struct, array_like=True, gc=False):
    found: Scanned
    reached: Raw


class _Fresh(NamedTuple):
    """A file that is new or has changed."""

    path: str
    status: os.stat_result
    is_known: bool


_tasks = msgspec.msgpack.Decoder(list[_Task])
_answers = msgspec.msgpack.Decoder(list[_Answer])
_reached = msgspec.msgpack.Decoder(Reached | None)


def scan(
    paths: Iterable[Path | str],
    cache: Path | None = None,
    progress: Progress | None = None,
    seen: Mapping[str, os.stat_result | None] | None = None,
) -> dict[str, Scanned]:
    """Path → what it holds, for every path that is a file. `cache` is read, and written when it changed.

    `seen` has what the system says of files that somebody has just looked at.
    """
    known = load(cache) if cache else {}
    found, fresh = _compared(paths, known, seen or {})
    if fresh:
        states = load_states(cache) if cache else {}
        added = _count_fresh(fresh, states, found, progress or (lambda *_: None))
        if cache:
            folders = _by_folder(found)
            kept = _kept_states(states, folders, added)
            for folder in _telling(folders, added, kept):  # counted anew each time, and never written down
                folders.pop(folder)
                kept.pop(folder)
            save(cache, known | folders, kept)
    return found


def _compared(
    paths: Iterable[Path | str], known: Folders, seen: Mapping[str, os.stat_result | None]
) -> tuple[dict[str, Scanned], list[_Fresh]]:
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
            status = seen.get(path) or os.stat(path)
        except OSError:
            continue
        kept = names.get(name)
        if kept is not None and kept.modified == status.st_mtime_ns and kept.size == status.st_size:
            found[path] = kept
        else:
            fresh.append(_Fresh(path, status, kept is not None))
    return found, fresh


def _count_fresh(fresh: list[_Fresh], states: States, found: dict[str, Scanned], told: Progress) -> States:
    """Count the files and put them with what is found; returns how far each has been counted."""
    added: States = {}
    done = 0
    for share, answers in _answered(list(_shares(fresh)), states):
        for (path, status, is_known), answer in zip(share, answers, strict=True):
            answer.found.size, answer.found.modified = status.st_size, status.st_mtime_ns
            found[path] = answer.found
            folder, name = _place(path)
            names = added.setdefault(folder, {})
            if is_known:
                names[name] = answer.reached
        done += len(share)
        told("counting", done, len(fresh))
    return added


def _shares(fresh: list[_Fresh]) -> Iterator[list[_Fresh]]:
    share: list[_Fresh] = []
    size = 0
    for file in fresh:
        share.append(file)
        size += file.status.st_size
        if size >= _BYTES_PER_SHARE:
            yield share
            share, size = [], 0
    if share:
        yield share


def _answered(shares: list[list[_Fresh]], states: States) -> Iterator[tuple[list[_Fresh], list[_Answer]]]:
    """Each share with its counts; what no worker answers is counted here."""
    size = sum(file.status.st_size for share in shares for file in share)
    others = min(cores(), len(shares)) - 1 if size > _MAX_BYTES_COUNTED_ALONE else 0
    with Workers(__name__, others) as workers:
        questions = [_encode([_task(file, states) for file in share]) for share in shares]
        for share, question, answer in zip(shares, questions, workers.answers(questions, _answer), strict=True):
            yield share, _answers.decode(answer or _answer(question))


def _task(file: _Fresh, states: States) -> _Task:
    folder, name = _place(file.path)
    return _Task(file.path, states.get(folder, {}).get(name, _NOTHING), file.is_known)


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
        counted = count(task.path, _reached.decode(task.before), to_go_on=task.has_grown)
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


def _telling(folders: Folders, added: States, kept: States) -> list[str]:
    """Of the folders with new files those whose name, project or counts, as far as they are kept, hold what may not be
    stored."""
    from hardwon.scrub.scrubber import Scrubber  # noqa: PLC0415 - a third of what a worker would load, and none needs it

    scrubber = Scrubber()
    found = []
    for folder, names in added.items():
        projects = (project for scanned in folders[folder].values() for project in scanned.projects)
        reached = (bytes(kept[folder][name]).decode("utf-8", "ignore") for name in names if name in kept[folder])
        before = scrubber.redactions
        for text in chain({folder, *projects}, reached):  # one by one: together they may be many megabytes
            scrubber.scrub(text)
        if scrubber.redactions > before:
            found.append(folder)
    return found


def _kept_states(states: States, folders: Folders, added: States) -> States:
    """How to go on with every file that is there and may still grow."""
    newest = time.time_ns() - _FINISHED_AFTER_NANOSECONDS
    kept = dict(states)
    for folder, names in folders.items():
        known = states.get(folder, {}) | added.get(folder, {})
        kept[folder] = {
            name: known[name] for name, scanned in names.items() if name in known and scanned.modified > newest
        }
    return kept
