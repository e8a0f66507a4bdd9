"""Paths of files as the journal keeps them: relative to the root of their repository."""

from __future__ import annotations

import os
import posixpath
import re

_WINDOWS_ROOT = re.compile(r"^(?:[A-Za-z]:[\\/]|\\\\)")


def relative(path: str) -> str:
    """A path relative to the repository it lies in; one that is relative already is only tidied."""
    if os.path.isabs(path):
        root = _repository(os.path.dirname(path))
        return tidied(os.path.relpath(path, root)) if root else path
    return tidied(path)


def from_folder(path: str, folder: str) -> str:
    """The same for a path that a person typed in `folder`."""
    return relative(os.path.join(folder, path) if _repository(folder) else path)


def tidied(path: str) -> str:
    """Without `./`, `//` and `..`, where the path has slashes; the root itself is empty."""
    if _WINDOWS_ROOT.match(path):
        return path
    clean = posixpath.normpath(path) if path else ""
    return "" if clean == "." else clean


def spellings(path: str) -> list[str]:
    """The ways the same path may have been written down: as it is, and with the separators of another system."""
    return list(dict.fromkeys((path, path.replace("\\", "/"), path.replace("/", "\\"))))


def _repository(folder: str) -> str:
    """The nearest folder upwards with a `.git`; empty without one."""
    while folder:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return ""
