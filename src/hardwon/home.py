"""Where Hardwon keeps everything. Standard library only: the hook starts here."""

from __future__ import annotations

import os
import sys

DATABASE = "hardwon.db"
MIRROR = "hooks.db"
"""What hooks read of a store that is on a server."""


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
