"""Agents' logs that are kept in git: Entire's checkpoints in both their layouts, and folders that people commit.

A checkpoint holds, for each session that led to a commit, the agent's own log up to then: `<n>/full.jsonl` (over 50 MB
in parts, `full.jsonl.001` …) with `metadata.json`, and `tasks/<call>/agent-<id>.jsonl` of its sub-agents. All of them
lie on one branch as `<aa>/<rest of the id>/`, or each is the tree of a ref of its own; the commit that it belongs to
names it in the trailer `Entire-Checkpoint`. Logs are cumulative: of a session's, the longest counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import msgspec
from msgspec import Struct

from hardwon.clock import microseconds
from hardwon.sessions.git_objects import Entry, Repository
from hardwon.sessions.project import checkout

_BRANCH = re.compile(r"refs/(?:heads|remotes/[^/]+)/entire/checkpoints/v1")
_REF = re.compile(r"refs/entire/checkpoints/(..)/([0-9A-Za-z]{12}|[0-9A-Z]{26})")
_OF_ENTIRE = re.compile(r"refs/(?:(?:heads|remotes/[^/]+)/)?entire/")
_ID = re.compile(r"[0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26}")
_FETCHED = "refs/entire/*:refs/entire/*"
_TRAILER_NAME = "Entire-Checkpoint:"
_TRAILER = re.compile(r"^Entire-Checkpoint: {0,8}([0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26})[ \t\r]*$", re.MULTILINE)
_PART = re.compile(r"full\.(?:jsonl(?:\.\d{3,6})?|log)")
_TASK = re.compile(r"agent-[\w.-]{1,80}\.jsonl")
_DAY = re.compile(r"^\d{4}-\d\d-\d\d-(?=.)")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
_BYTES_PER_NAME = 240
_CHARACTERS_PER_COMMIT = 12
_BYTES_PER_METADATA = 1024 * 1024
_BYTES_OF_REFS = 64 * 1024 * 1024
_BYTES_PER_HISTORY = 64 * 1024 * 1024
HISTORY = ".specstory/history"
_FOLDERS = (
    f":(glob)**/{HISTORY}/**/*.md",
    ":(glob)**/.claude/**/*.jsonl",
    ":(glob)**/.codex/**/*.jsonl",
)
"""What people commit of their agents' folders; settings and prompts in them are no sessions."""


class KeptLog(NamedTuple):
    """A log in the object database."""

    name: str
    """`ref:path`, as git would be asked for it."""
    parts: tuple[str, ...]
    """The ids of the files that it consists of, in order."""
    size: int
    at: int
    """When it was kept, in microseconds since 1970."""
    session: str
    """The session's id as the checkpoint has it; empty for other logs."""

    @property
    def file(self) -> str:
        """A name for a copy that every system takes; its own where it can be, for that may be the session's id."""
        last = self.name.rpartition("/")[2]
        plain = f"{self.session}.jsonl" if self.session else last
        safe = _UNSAFE.sub("_", plain).lstrip(".").rstrip(" .").encode("utf-8", "replace")[-_BYTES_PER_NAME:]
        return safe.decode("utf-8", "ignore") or "log.jsonl"


class CommitOf(NamedTuple):
    """A commit that a session made."""

    session: str
    sha: str
    at: int


class Kept(NamedTuple):
    """What a repository holds of agents' work."""

    logs: list[KeptLog]
    commits: list[CommitOf]
    checkpoints: int
    notes: list[str]
    """What is not there, in a line each."""


class Wanted(NamedTuple):
    """Which refs are looked at."""

    checkpoints: dict[str, str]
    """Of the checkpoints: name → commit."""
    others: dict[str, str]
    """Those whose history may hold folders of logs."""
    branches: dict[str, str]
    """Those whose history may hold commits that sessions made: all but the checkpoints', whatever was named."""


class _Metadata(Struct):
    session_id: str = ""
    created_at: str = ""


def wanted(repository: Repository, names: Sequence[str]) -> Wanted:
    """All refs, or those named: whole, or as people abbreviate them. Raises `NotFound`."""
    refs = repository.refs()
    chosen = {_whole(name, refs): repository.resolved(name) for name in names} if names else refs
    known = {name: sha for name, sha in chosen.items() if _BRANCH.fullmatch(name) or _checkpoint_id(name)}
    return Wanted(known, _not_of_entire(chosen), _not_of_entire(refs))


def _not_of_entire(refs: dict[str, str]) -> dict[str, str]:
    return {name: sha for name, sha in refs.items() if not _OF_ENTIRE.match(name)}


def _whole(name: str, refs: dict[str, str]) -> str:
    places = (name, f"refs/{name}", f"refs/heads/{name}", f"refs/remotes/{name}", f"refs/tags/{name}")
    return next((place for place in places if place in refs), name)


def _checkpoint_id(ref: str) -> str:
    """Of a ref that is one checkpoint; empty for others, such as those of a layout that was given up."""
    found = _REF.fullmatch(ref)
    return found[2] if found and _ID.fullmatch(found[2]) and found[2].endswith(found[1]) else ""


def kept(repository: Repository, refs: Wanted, known_tips: Iterable[str] | None) -> Kept:
    """All logs, each session's once. `known_tips` are commits whose history was looked through; None: do not look."""
    logs: dict[str, KeptLog] = {}
    sessions: dict[str, set[str]] = {}
    found = list(_checkpoints(repository, refs.checkpoints))
    there = _measured(repository, [log for _, log in found])
    for log in there:
        last = log.name.rpartition("/")[2]
        key = log.session or (last if _TASK.fullmatch(last) else log.name)
        best = logs.get(key)
        if best is None or (log.size, log.at) > (best.size, best.at):
            logs[key] = log
    for id, log in found:
        if log.session:
            sessions.setdefault(id, set()).add(log.session)
    chosen = sorted(logs.values())
    if known_tips is not None:
        chosen += _folders(repository, refs.others, known_tips)
    notes = []
    if missing := len(found) - len(there):
        notes.append(f"logs that are not in this clone: {missing}; if it is a partial one, let git fetch them first")
    if repository.unreadable_trees:
        notes.append(f"folders that are damaged or missing in the repository: {repository.unreadable_trees}")
    if not found and known_tips is not None and _names_checkpoints(repository, refs.branches):
        notes.append(f"commits name checkpoints that are not in this clone: git fetch origin '{_FETCHED}'")
    return Kept(chosen, _commits(repository, refs.branches, sessions), len({id for id, _ in found}), notes)


def _names_checkpoints(repository: Repository, refs: dict[str, str]) -> bool:
    tips = sorted(set(refs.values()))
    return any(_TRAILER.search(message.text) for message in repository.messages(tips, _TRAILER_NAME, most=1))


def _checkpoints(repository: Repository, refs: dict[str, str]) -> Iterator[tuple[str, KeptLog]]:
    seen: set[str] = set()
    for ref, commit in sorted(refs.items()):
        if id := _checkpoint_id(ref):
            yield from _logs_in(repository, id, f"{ref}:", repository.tree(commit))
            continue
        for shard in _folders_in(repository.tree(commit)):
            for rest in _folders_in(repository.tree(shard.sha)) if len(shard.name) == 2 else ():
                id = shard.name + rest.name
                if _ID.fullmatch(id) and rest.sha not in seen:  # a remote's branch mostly holds the same
                    seen.add(rest.sha)
                    yield from _logs_in(repository, id, f"{ref}:{shard.name}/{rest.name}/", repository.tree(rest.sha))


def _folders_in(entries: list[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.is_folder]


def _logs_in(repository: Repository, id: str, place: str, entries: list[Entry]) -> Iterator[tuple[str, KeptLog]]:
    """Those of a checkpoint: a folder for each session, and in the oldest the log itself."""
    yield from _log_of(repository, id, place, entries)
    for entry in _folders_in(entries):
        if entry.name.isdigit():
            inner = repository.tree(entry.sha)
            yield from _log_of(repository, id, f"{place}{entry.name}/", inner)
            for tasks in (one for one in _folders_in(inner) if one.name == "tasks"):
                yield from _tasks(repository, id, f"{place}{entry.name}/tasks/", repository.tree(tasks.sha))
        elif entry.name == "tasks":
            yield from _tasks(repository, id, f"{place}tasks/", repository.tree(entry.sha))


def _log_of(repository: Repository, id: str, place: str, entries: list[Entry]) -> Iterator[tuple[str, KeptLog]]:
    files = {entry.name: entry.sha for entry in entries if entry.is_file}
    parts = sorted(name for name in files if _PART.fullmatch(name))
    if not parts:
        return
    said = _metadata(repository, files.get("metadata.json", ""))
    session = _DAY.sub("", said.session_id)
    at = microseconds(said.created_at) or 0
    yield id, KeptLog(place + parts[0], tuple(files[name] for name in parts), 0, at, session)


def _tasks(repository: Repository, id: str, place: str, calls: list[Entry]) -> Iterator[tuple[str, KeptLog]]:
    for call in _folders_in(calls):
        for entry in repository.tree(call.sha):
            if entry.is_file and _TASK.fullmatch(entry.name):
                yield id, KeptLog(f"{place}{call.name}/{entry.name}", (entry.sha,), 0, 0, "")


def _metadata(repository: Repository, sha: str) -> _Metadata:
    content = repository.content(sha, _BYTES_PER_METADATA) if sha else None
    try:
        return msgspec.json.decode(content or b"{}", type=_Metadata)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, ValueError):
        return _Metadata()


def _measured(repository: Repository, logs: list[KeptLog]) -> list[KeptLog]:
    """With their sizes; those of which a part is missing are left out."""
    sizes = repository.sizes(sorted({part for log in logs for part in log.parts}))
    there = (log for log in logs if all(part in sizes for part in log.parts))
    return [log._replace(size=sum(sizes[part] for part in log.parts)) for log in there]


def _folders(repository: Repository, refs: dict[str, str], known: Iterable[str]) -> list[KeptLog]:
    """The newest version of every log that any commit holds, also of those that were deleted since."""
    newest: dict[str, KeptLog] = {}
    for change in repository.changes(sorted(set(refs.values())), known, _FOLDERS):
        if change.path not in newest:
            name = f"{change.commit[:_CHARACTERS_PER_COMMIT]}:{change.path}"
            newest[change.path] = KeptLog(name, (change.sha,), 0, change.at, "")
    return _measured(repository, list(newest.values()))


def histories(folder: str) -> list[Path]:
    """What SpecStory wrote into a folder, committed or not."""
    below = Path(folder, HISTORY)
    return sorted(path for path in below.rglob("*.md") if path.is_file() and not path.is_symlink())


def how_to_read(folder: str) -> tuple[str, int]:
    """The command that reads the histories of the repository that a folder lies in, and how many there are."""
    top = checkout(os.path.abspath(folder))
    return f"hardwon harvest {quote(os.path.relpath(os.path.join(top, HISTORY)))} --mine", len(histories(top))


def not_committed(repository: Repository) -> list[Path]:
    """Those of the work tree that git does not have as they are."""
    ids = {}
    for path in histories(repository.folder):
        with suppress(OSError):  # what may not be read is no session either
            if path.stat().st_size <= _BYTES_PER_HISTORY:
                ids[path] = repository.ids_of(path.read_bytes())
    there = repository.sizes([id for each in ids.values() for id in each])
    return [path for path, each in ids.items() if not any(id in there for id in each)]


def _commits(repository: Repository, refs: dict[str, str], sessions: dict[str, set[str]]) -> list[CommitOf]:
    if not sessions or not refs:
        return []
    return [
        CommitOf(session, message.sha, message.at)
        for message in repository.messages(sorted(set(refs.values())), _TRAILER_NAME)
        for id in _TRAILER.findall(message.text)
        for session in sorted(sessions.get(id, ()))
    ]


def keeps_checkpoints(folder: str) -> bool:
    """Whether a folder is a repository that may hold agents' logs in refs of their own; told without running git."""
    git = os.path.join(folder, ".git")
    if not os.path.isdir(git):
        return False
    remotes = os.path.join(git, "refs", "remotes")
    with suppress(OSError):
        named = [os.path.join(remotes, name, "entire") for name in os.listdir(remotes)]
        if any(map(os.path.isdir, named)):
            return True
    if any(
        os.path.isdir(os.path.join(git, "refs", *name)) for name in (("heads", "entire"), ("entire", "checkpoints"))
    ):
        return True
    with suppress(OSError), open(os.path.join(git, "packed-refs"), "rb") as file:
        return b"entire/checkpoints/" in file.read(_BYTES_OF_REFS)
    return False
