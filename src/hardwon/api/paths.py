"""What a caller may name where the API takes files: one or many, as text or as a path, a folder for all in it."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from hardwon.sessions.discover import names_below

AnyPath = str | PathLike[str]
Paths = AnyPath | Iterable[AnyPath]
"""A path, or any number of them."""


def each_path(paths: Paths) -> list[Path]:
    return [Path(paths)] if isinstance(paths, str | PathLike) else [Path(path) for path in paths]


def session_names(paths: Paths) -> list[str]:
    """The files that are meant, each once, as text; NotFound for one that does not exist."""
    return list(dict.fromkeys(name for path in each_path(paths) for name in names_below(path)))


def session_files(paths: Paths) -> list[Path]:
    """The files that are meant, each once; NotFound for one that does not exist."""
    return [Path(name) for name in session_names(paths)]
