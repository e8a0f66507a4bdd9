"""Where Hardwon keeps everything. Standard library only: the hook starts here."""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Mapping


DATABASE = "hardwon.db"
MIRROR = "hooks.db"
"""What hooks read of a store that is on a server."""
FOLDER_MODE = 0o700
FILE_MODE = 0o600
_OURS = (DATABASE, MIRROR, "config.toml", "spool", "installs.json")
_OTHERS = 0o077
LINKED = "it is a symbolic link, which is not followed"


def home_directory() -> str:
    """`HARDWON_HOME`, else the platform's place for a user's data."""
    if moved := os.environ.get("HARDWON_HOME"):
        return os.path.abspath(os.path.expanduser(moved))
    return usual_home()


def usual_home() -> str:
    """The home that no variable has moved."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Application Support")
    else:
        base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(base, "hardwon")


def switched_off() -> bool:
    """`HARDWON_OFF=1` stops all reading of sessions and all injection."""
    return os.environ.get("HARDWON_OFF", "") not in ("", "0")


def failure_memory_off() -> bool:
    """`HARDWON_FAILURE_MEMORY=0` stops the capture of failures and the block that tells of them."""
    return switched_off() or os.environ.get("HARDWON_FAILURE_MEMORY", "1") == "0"


# For its owner alone, whoever makes it first and whatever the umask is. Windows has no such modes: there the folder of
# the user's own data is closed to others by itself.


def private_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder that only its owner can look into, and those above it that are missing.

    One that is there is closed if it is empty or one of ours. Raises OSError.
    """
    try:
        os.mkdir(path, FOLDER_MODE)
        os.chmod(path, FOLDER_MODE)  # a umask may have taken from it
    except FileNotFoundError:
        above = os.path.dirname(path)
        if os.path.isdir(above):  # where nothing can be made, as in /proc
            raise
        private_folder(above)
        private_folder(path)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        found = os.stat(path)
        if found.st_mode & _OTHERS and _is_own(found) and _is_our_folder(path):
            os.chmod(path, FOLDER_MODE)


def is_real_folder(path: str) -> bool:
    """Whether a folder is there; a link in its place may lead anywhere and is none."""
    return os.path.isdir(path) and not os.path.islink(path)


def _is_own(found: os.stat_result) -> bool:
    """Whether it is this user's, and no place for everybody such as /tmp."""
    return hasattr(os, "getuid") and found.st_uid == os.getuid() and not found.st_mode & stat.S_ISVTX


def _is_our_folder(path: str | os.PathLike[str]) -> bool:
    names = os.listdir(path)
    return not names or any(name in _OURS for name in names)


def private(path: str, flags: int) -> int:
    """For `open(…, opener=private)`: a file for its owner alone; a link in its place is an OSError, not followed."""
    file = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), FILE_MODE)
    if flags & os.O_CREAT and hasattr(os, "fchmod"):
        found = os.fstat(file)
        if stat.S_IMODE(found.st_mode) != FILE_MODE and _is_own(found):
            os.fchmod(file, FILE_MODE)
    return file


def private_database(path: str | os.PathLike[str], *, create: bool = True) -> None:
    """Make an empty file that SQLite may open, or close the one that is there; its journals get the same mode.

    One that is there is not opened: closing it again would give away the locks that this process has on it.
    Raises OSError, also for a link, and where there is none and none is to be made.
    """
    if create:
        try:
            os.close(private(os.fspath(path), os.O_RDWR | os.O_CREAT | os.O_EXCL))
            return
        except FileExistsError:
            pass
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        raise OSError(0, LINKED)
    if stat.S_IMODE(found.st_mode) & _OTHERS and _is_own(found):
        os.chmod(path, FILE_MODE)


def too_open(home: str | os.PathLike[str]) -> tuple[list[str], list[str]]:
    """What of a home others can read or write, the folder itself first, and what in it is a link; not on Windows."""
    wide: list[str] = []
    links: list[str] = []
    if not hasattr(os, "getuid") or not os.path.isdir(home):
        return wide, links
    if os.stat(home).st_mode & _OTHERS:
        wide.append(os.fspath(home))
    for folder, folders, files in os.walk(home):
        for path in (os.path.join(folder, name) for name in sorted((*folders, *files))):
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:
                continue  # a journal, which is gone again
            if stat.S_ISLNK(mode):
                links.append(path)
            elif mode & _OTHERS:
                wide.append(path)
    return wide, links


def close_to_others(paths: list[str]) -> None:
    """Take from files and folders what others may do with them."""
    for path in paths:
        mode = os.lstat(path).st_mode
        if not stat.S_ISLNK(mode):
            os.chmod(path, stat.S_IMODE(mode) & ~_OTHERS)


# What was made under the project's former name, found and moved over once.

FORMER_NAME = "oldhand"
FORMER_TAG = f"{FORMER_NAME}-memory"
"""Briefings in older transcripts stand between marks of this name."""
MOVED_RECORD = "moved-from-former-name.txt"
"""Says in a home folder what was moved there, and when."""


def move_former_home(home: str, usual: str, database: str, stamp: str) -> None:
    """Take over the former home and store, where `home` has none of its own; `usual` is the home that nobody moved.

    Raises OSError where they cannot be moved, and leaves them as they are.
    """
    moved = []
    former_home = os.path.join(os.path.dirname(usual), FORMER_NAME)
    if home == usual and not os.path.exists(home) and os.path.isdir(former_home):
        os.rename(former_home, home)
        moved.append(former_home)
    store, former_store = os.path.join(home, database), os.path.join(home, f"{FORMER_NAME}.db")
    if os.path.isfile(former_store) and not os.path.exists(store):
        _settle_former_store(former_store)
        os.rename(former_store, store)
        moved.append(former_store)
    if moved:
        with open(os.path.join(home, MOVED_RECORD), "a", encoding="utf-8", opener=private) as file:
            file.writelines(f"{stamp} {path}\n" for path in moved)


def moved_to_home(home: str) -> list[str]:
    """What was moved to a home folder, a line each."""
    try:
        with open(os.path.join(home, MOVED_RECORD), encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def former_variables(environment: Mapping[str, str]) -> list[str]:
    """Variables of the former name that are set: nothing reads them any more."""
    return sorted(name for name in environment if name.startswith(f"{FORMER_NAME.upper()}_"))


def _settle_former_store(store: str) -> None:
    """Bring what stands in the store's log into the store itself; a log left over means that somebody uses it."""
    import apsw  # noqa: PLC0415

    database = apsw.Connection(store)
    try:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        database.close()
    if os.path.exists(f"{store}-wal"):
        raise OSError(f"{store} is in use by a program of the former name: end that and try again")
