"""Files that are either whole or not there, also after a power failure."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def settle(unfinished: Path, path: Path) -> None:
    """Give a file that was written under another name its own, on the disk before this returns."""
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # it has no such thing
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems refuse
            os.fsync(handle)
    finally:
        os.close(handle)
