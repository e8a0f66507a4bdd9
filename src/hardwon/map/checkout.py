"""What became of the files that sessions touched, in the checkout on this machine: gone, renamed, or huge."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from hardwon.errors import HardwonError
from hardwon.sessions.git_objects import Repository

HUGE_BYTES = 1_000_000
"""A larger file is data or made by a program: nobody is sent there."""
_COMMITS_READ = 500
_SECONDS = 10.0
_MOST_GONE = 0.5
"""Where more of the files are not there, it is another checkout, and tells nothing."""


def became(paths: Iterable[str], folders: Sequence[Path]) -> dict[str, str]:
    """Path → what it is called now, empty if it is not to be told; only of those that changed."""
    known = list(paths)
    sizes = {path: _size(path, folders) for path in known}
    gone = [path for path in known if sizes[path] is None]
    if not folders or len(gone) > _MOST_GONE * len(known):
        return {}
    found = {path: "" for path in known if (sizes[path] or 0) > HUGE_BYTES}
    renamed = {old: new for folder in folders for old, new in _renamed(folder).items()} if gone else {}
    for path in gone:
        new = renamed.get(path, "")
        found[path] = new if new and (_size(new, folders) or HUGE_BYTES) < HUGE_BYTES else ""
    return found


def _size(path: str, folders: Sequence[Path]) -> int | None:
    """None if there is no such file."""
    for folder in folders:
        try:
            return os.stat(folder / path, follow_symlinks=False).st_size
        except (OSError, ValueError):
            continue
    return None


def _renamed(folder: Path) -> dict[str, str]:
    try:
        with Repository(folder, _SECONDS) as repository:
            return _by_commit(folder, repository.resolved("HEAD"))
    except HardwonError:  # no repository, or one that cannot be read: what is gone is gone
        return {}


@lru_cache(maxsize=64)
def _by_commit(folder: Path, head: str) -> dict[str, str]:
    """Old path → the newest name, by the commits that lead to one."""
    found: dict[str, str] = {}
    with Repository(folder, _SECONDS) as repository:
        for old, new in repository.renames(head, _COMMITS_READ):
            found.setdefault(old, found.get(new, new))
    return found
