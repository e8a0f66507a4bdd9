"""What a family finds, without typing or dataclasses: they would double the hook's cold start."""

from __future__ import annotations

import re


class Span:
    """The part of an output that says what went wrong."""

    __slots__ = ("error_type", "excerpt", "family", "frame", "message")

    def __init__(self, family: str, error_type: str, message: str, frame: str = "", excerpt: str = "") -> None:
        self.family = family
        self.error_type = error_type
        self.message = message
        self.frame = frame
        """The first place of one's own code: file name and function."""
        self.excerpt = excerpt


LIBRARY = (
    r"site-packages|dist-packages|[\\/]lib[\\/]python\d|[\\/]Lib[\\/](?!site)|<frozen|<string>"
    r"|node_modules|node:|[\\/]\.cargo[\\/]|[\\/]rustc[\\/]|[\\/]go[\\/]pkg[\\/]mod|[\\/]go[\\/]src[\\/]"
)
"""Frames that are not one's own code."""

Rule = tuple[str, str, str]
"""(what went wrong, a word that must stand in the output, the line); compiled only when the word is there."""


def first(text: str, rules: tuple[Rule, ...]) -> tuple[str, re.Match[str]] | None:
    """The match that stands first in the text; of two at one place, that of the earlier rule."""
    best: tuple[str, re.Match[str]] | None = None
    for name, word, pattern in rules:
        found = re.search(pattern, text, re.MULTILINE) if word in text else None
        if found and (best is None or found.start() < best[1].start()):
            best = name, found
    return best


def last(text: str, rules: tuple[Rule, ...]) -> tuple[str, re.Match[str]] | None:
    """The match that stands last in the text; of two at one place, that of the earlier rule."""
    best: tuple[str, re.Match[str]] | None = None
    for name, word, pattern in rules:
        if word in text:
            for found in re.finditer(pattern, text, re.MULTILINE):
                if best is None or found.start() > best[1].start():
                    best = name, found
    return best


def module(name: str) -> str:
    """A module's name for a message: in angle brackets it is no path, and stays whole."""
    return f"<{name}>" if "/" in name and (bare(name) or name.startswith("@/")) else f"'{name}'"


def bare(name: str) -> bool:
    """A package, which is missing wherever it is imported; a relative module is missing in one place."""
    return bool(name) and not name.startswith((".", "/", "~", "@/", "#")) and name[1:2] != ":"
