"""Find transcripts: where each agent keeps them, or below a path that was named."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from hardwon.errors import NotFound
from hardwon.sessions.agent_folders import ROOTS, user_folders
from hardwon.sessions.reader import formats

SUFFIXES = (".jsonl", ".json", ".md", ".traj", ".db", ".vscdb", ".zst")
_NEVER = frozenset(("node_modules", ".git", ".venv", "__pycache__"))


def installed(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Every transcript of every known agent on this machine, in a fixed order."""
    places = {place for roots in ROOTS.values() for place in roots(environment, home)}
    return [Path(name) for name in sorted({name for place in places for name in _files(place)})]


def of_agent(agent: str, environment: Mapping[str, str], home: Path) -> list[Path]:
    """Every transcript that one agent keeps on this machine."""
    places = _places_by_agent(environment, home).get(agent, set())
    return [Path(name) for name in sorted({name for place in places for name in _files(place)})]


class OwnFolders:
    """Where this user's own sessions lie: in the agents' folders, and in those that the settings name."""

    def __init__(self, environment: Mapping[str, str], home: Path, named: str = "") -> None:
        """`named` are folders with the system's separator of paths between them."""
        folders = [place for roots in ROOTS.values() for place in roots(environment, home)]
        folders += [Path(name).expanduser() for name in named.split(os.pathsep) if name.strip()]
        self._own = {os.path.realpath(folder): True for folder in folders}
        """Real folder, or file, → whether it is one of them or lies in one."""
        self._links: dict[str, str] = {}

    def hold(self, path: Path | str) -> bool:
        """Whether a file lies in one of them, wherever links lead."""
        folder, name = os.path.split(os.path.abspath(path))
        if os.path.islink(path):
            return self._holds(os.path.realpath(path))
        return self._holds(os.path.join(self._real(folder), name))

    def _holds(self, place: str) -> bool:
        found = self._own.get(place)
        if found is None:
            above = os.path.dirname(place)
            found = self._own[place] = above != place and self._holds(above)
        return found

    def _real(self, folder: str) -> str:
        """Many files lie in one folder, and following links is slow."""
        if folder not in self._links:
            self._links[folder] = os.path.realpath(folder)
        return self._links[folder]


def counted(environment: Mapping[str, str], home: Path) -> dict[str, int]:
    """How many transcripts each agent keeps here."""
    places = _places_by_agent(environment, home)
    return {agent: sum(1 for place in own for _ in _files(place)) for agent, own in places.items()}


def _places_by_agent(environment: Mapping[str, str], home: Path) -> dict[str, set[Path]]:
    """Of every agent that can be read, those without a place of their own too."""
    places: dict[str, set[Path]] = {}
    for entry in formats():
        own = ROOTS[entry.NAME](environment, home) if entry.NAME in ROOTS else ()
        places.setdefault(entry.AGENT, set()).update(own)
    return places


class Unread(NamedTuple):
    """Sessions that are here and that no reader can read."""

    agent: str
    files: int
    why: str
    """And what can be done about it."""


_CLOSED = "only the editor can read them; save chats that matter as Markdown there and `hardwon ingest` them"
_NO_READER = "there is no reader for them yet"
_UNREAD = (
    ("windsurf", (".codeium/windsurf*/cascade/*.pb",), _CLOSED),
    ("antigravity", (".gemini/antigravity*/conversations/*.pb", ".gemini/antigravity*/conversations/*.db"), _CLOSED),
    (
        "kiro-cli before version 2",
        (".local/share/kiro-cli/data.sqlite3", ".local/share/amazon-q/data.sqlite3"),
        _NO_READER,
    ),
)
"""Agent, where below the home folder, why."""
_KIRO = "globalStorage/kiro.kiroagent/workspace-sessions/*/*-*.json"
_MAX_UNREAD_COUNTED = 10_000


def unread(environment: Mapping[str, str], home: Path) -> list[Unread]:
    """Of each agent whose sessions are here and cannot be read, how many and why."""
    places = [(agent, [home], patterns, why) for agent, patterns, why in _UNREAD]
    places.append(
        ("kiro", user_folders(environment, home, ("Kiro",)), (_KIRO,), f"{_NO_READER}; those of Kiro CLI are read")
    )
    found = []
    for agent, folders, patterns, why in places:
        files = (path for folder in folders for pattern in patterns for path in folder.glob(pattern))
        if count := sum(1 for _ in islice(files, _MAX_UNREAD_COUNTED)):
            found.append(Unread(agent, count, why))
    return found


def below(path: Path) -> list[Path]:
    """A file as it is, a folder's transcripts in a fixed order."""
    return [Path(name) for name in names_below(path)]


def names_below(path: Path) -> list[str]:
    """The same as text, for those who look at many and open few: making a Path takes longer than finding the file."""
    if path.is_file():
        return [str(path)]
    if not path.is_dir():
        raise NotFound(f"no such file or folder: {path}")
    return sorted(_files(path))


def _files(root: Path) -> Iterator[str]:
    """Regular files only, no symlink followed: loops, FIFOs and devices cannot hold us up."""
    if root.is_file() and not root.is_symlink():
        yield str(root)
        return
    waiting = [str(root)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name in _NEVER:
                            continue
                        waiting.append(entry.path)
                    elif (
                        entry.name.endswith(SUFFIXES) and entry.is_file(follow_symlinks=False) and _is_text(entry.path)
                    ):
                        yield entry.path
        except OSError:
            continue  # gone or not ours to read: there is nothing to find in it


def _is_text(name: str) -> bool:
    """Whether a name can be written down: on some systems it may be any bytes."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
