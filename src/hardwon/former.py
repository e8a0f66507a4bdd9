"""What was made under the project's former name, found and moved over once. Standard library only: hooks import it."""

from __future__ import annotations

import os

from hardwon.home import private

NAME = "oldhand"
TAG = f"{NAME}-memory"
"""Briefings in older transcripts stand between marks of this name."""
RECORD = "moved-from-former-name.txt"
"""Says in a home folder what was moved there, and when."""

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Mapping


def move_home(home: str, usual: str, database: str, stamp: str) -> None:
    """Take over the former home and store, where `home` has none of its own; `usual` is the home that nobody moved.

    Raises OSError where they cannot be moved, and leaves them as they are.
    """
    moved = []
    former_home = os.path.join(os.path.dirname(usual), NAME)
    if home == usual and not os.path.exists(home) and os.path.isdir(former_home):
        os.rename(former_home, home)
        moved.append(former_home)
    store, former_store = os.path.join(home, database), os.path.join(home, f"{NAME}.db")
    if os.path.isfile(former_store) and not os.path.exists(store):
        _settle(former_store)
        os.rename(former_store, store)
        moved.append(former_store)
    if moved:
        with open(os.path.join(home, RECORD), "a", encoding="utf-8", opener=private) as file:
            file.writelines(f"{stamp} {path}\n" for path in moved)


def moved_to(home: str) -> list[str]:
    """What was moved to a home folder, a line each."""
    try:
        with open(os.path.join(home, RECORD), encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def variables(environment: Mapping[str, str]) -> list[str]:
    """Variables of the former name that are set: nothing reads them any more."""
    return sorted(name for name in environment if name.startswith(f"{NAME.upper()}_"))


def _settle(store: str) -> None:
    """Bring what stands in the store's log into the store itself; a log left over means that somebody uses it."""
    import apsw  # noqa: PLC0415

    database = apsw.Connection(store)
    try:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        database.close()
    if os.path.exists(f"{store}-wal"):
        raise OSError(f"{store} is in use by a program of the former name: end that and try again")
