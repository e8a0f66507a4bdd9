"""The disk that a store is on: how much room it has, and whether it is another machine's."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from hardwon.store.database import Check

LEAST_ROOM = 100 * 1024 * 1024
NETWORK = frozenset(
    "nfs nfs4 cifs smb smbfs smb3 9p afs afpfs ceph glusterfs ncpfs fuse.sshfs fuse.s3fs fuse.rclone webdav".split()
)


def checks(home: Path) -> list[Check]:
    found = [_room(home)]
    if kind := network(home):
        found.append(Check("file system", False, f"{kind}: locks may fail there; set HARDWON_HOME to a local disk"))
    return found


def _room(home: Path) -> Check:
    there = _nearest(home)
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        return Check("disk", False, f"{there} cannot be read: {error.strerror}")
    if read_only(there):
        return Check("disk", False, f"{there} cannot be written to: nothing can be learned; set HARDWON_HOME")
    said = f"{free / 1e9:.1f} GB free"
    return Check("disk", free >= LEAST_ROOM, said if free >= LEAST_ROOM else f"only {said}: free some space")


def read_only(folder: Path) -> bool:
    return folder.is_dir() and not os.access(folder, os.W_OK)


def network(path: Path) -> str:
    """The kind of network file system that a path is on; empty for a local disk, and where nobody can tell."""
    there = str(_nearest(path).resolve())
    if sys.platform == "win32":
        return "a network share" if there.startswith("\\\\") else ""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
            mounts = [line.split() for line in file]
    except OSError:
        return ""
    return of_mounts(there, mounts)


def of_mounts(path: str, mounts: list[list[str]]) -> str:
    """Of the mounts that hold the path, the innermost and last one counts."""
    holding = [
        (len(point), number, kind)
        for number, (point, kind) in enumerate(
            (_unescaped(fields[1]), fields[2]) for fields in mounts if len(fields) > 2
        )
        if path == point or path.startswith(point.rstrip("/") + "/")
    ]
    kind = max(holding, default=(0, 0, ""))[2]
    return kind if kind in NETWORK else ""


def _unescaped(point: str) -> str:
    """The kernel writes a space as `\\040`."""
    return re.sub(r"\\([0-7]{3})", lambda digits: chr(int(digits[1], 8)), point)


def _nearest(path: Path) -> Path:
    """The path or the nearest folder above it that exists."""
    return next((each for each in (path, *path.parents) if each.exists()), Path("/"))
