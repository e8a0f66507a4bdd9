"""Files that are either the old or the new one, whole, whatever happens in between."""

from __future__ import annotations

import os
from _thread import get_ident
from contextlib import suppress
from pathlib import Path

from hardwon.home import private


def write_whole(path: Path, content: str | bytes, *, shared: bool = False) -> None:
    """Write to a name beside it, make sure of the disk, and put it in place.

    For its owner alone; a `shared` one, such as a repository's AGENTS.md, keeps the mode it has or gets the usual one.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = beside(path)
    temporary.unlink(missing_ok=True)
    try:
        with open(temporary, "xb", opener=None if shared else private) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if shared:
            with suppress(FileNotFoundError):
                temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def beside(path: Path) -> Path:
    """A name that no other process or thread writes the same file under."""
    return path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.new")


def settle(unfinished: Path, path: Path) -> None:
    """Give a file that was written under another name its own, on the disk before this returns."""
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that a new name in a folder is on the disk; Windows has no such call and needs none."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
