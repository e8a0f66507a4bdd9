"""What a family finds, without typing or dataclasses: they would double the hook's cold start."""

from __future__ import annotations


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


LIBRARY = r"site-packages|dist-packages|[\\/]lib[\\/]python\d|<frozen|<string>|node_modules|node:internal"
"""Frames that are not one's own code."""
