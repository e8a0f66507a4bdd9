"""Paths without the person: a home folder becomes `~`, whichever system wrote it."""

from __future__ import annotations

import re

HOME = re.compile(
    r"(?<![\w.~-])(?:/var/home|/home|/Users)/[^/\s\\:'\"<>|*?,;()\[\]{}`‹›]+"
    r"|(?<![\w.~/-])/root(?![\w.-])"
    r"|(?<![A-Za-z])[A-Za-z]:(?:\\\\|\\|/)Users(?:\\\\|\\|/)[^/\s\\:'\"<>|*?,;()\[\]{}`‹›]+"
)


def tilde(text: str) -> str:
    return HOME.sub("~", text)


def base_name(path: str) -> str:
    """The last part of a path of any system."""
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]
