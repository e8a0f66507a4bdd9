"""What the last scan found: the counts of every file, and apart from them how to go on counting those that grow."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from hardwon.model.session import SessionOutcome

_SIGNATURE = b"hardwon scan 2\n"
T = TypeVar("T")


class Scanned(Struct, array_like=True, gc=False):
    """What a file holds, all its sessions together, as of its size and time."""

    size: int = 0
    modified: int = 0
    """In nanoseconds, as the system tells it."""
    format: str = ""
    """Empty when it holds no session."""
    messages: int = 0
    tool_calls: int = 0
    errors: int = 0
    started_at: int | None = None
    ended_at: int | None = None
    outcome: SessionOutcome = "unknown"
    """The worst of them."""
    projects: tuple[str, ...] = ()
    """Their keys, each once."""
    refused: str = ""
    """Why it is no session."""


Folders = dict[str, dict[str, Scanned]]
"""Folder → name of a file → what it holds."""
States = dict[str, dict[str, Raw]]
"""Folder → name of a file → how far it has been counted, still encoded."""


def load(cache: Path) -> Folders:
    """The counts; a cache that cannot be read is as good as none."""
    return _load(cache, Folders) or {}


def load_states(cache: Path) -> States:
    """Read only when a file has grown."""
    return _load(_states(cache), States) or {}


def save(cache: Path, folders: Folders, states: States) -> None:
    _save(_states(cache), states)
    _save(cache, folders)


def _states(cache: Path) -> Path:
    return cache.with_suffix(".states")


def _load(cache: Path, kind: type[T]) -> T | None:
    try:
        content = cache.read_bytes()
        if not content.startswith(_SIGNATURE):
            return None
        return msgspec.msgpack.decode(memoryview(content)[len(_SIGNATURE) :], type=kind)
    except (OSError, msgspec.DecodeError, ValueError):
        return None


def _save(cache: Path, content: object) -> None:
    temporary = cache.with_name(f"{cache.name}.{os.getpid()}.new")
    try:
        cache.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with temporary.open("wb") as file:
            file.write(_SIGNATURE)
            file.write(msgspec.msgpack.encode(content))
        temporary.replace(cache)
    except OSError:
        temporary.unlink(missing_ok=True)  # it is only a cache
