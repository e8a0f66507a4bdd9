"""`index.json`: the tree for machines, by the schema that knowledge trees have, with our own fields beside."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from hardwon.errors import HardwonError
from hardwon.exchange.files import text_of
from hardwon.model.lesson import Kind, Scope, Status, Trust

VERSION = 1
NAME = "index.json"


class Holder(NamedTuple):
    """Whose a lesson is: everybody's, a project's (by its key) or an agent's."""

    scope: Scope
    name: str = ""


class Fact(Struct, frozen=True, kw_only=True):
    """A lesson. `id` counts within domain and category; `lesson` stays the same for ever."""

    id: str
    fact: str
    category: str
    domain: str
    confidence: float
    tags: tuple[str, ...]
    source_count: int
    first_seen: str | None
    last_confirmed: str | None
    expires: str | None
    related: tuple[str, ...]
    lesson: str
    kind: Kind
    scope: Scope
    project: str
    agent: str
    status: Status
    trust: Trust

    @property
    def holder(self) -> Holder:
        return Holder(self.scope, {"project": self.project, "agent": self.agent, "global": ""}[self.scope])


class Own(Struct, frozen=True, kw_only=True):
    """What the next import must know: which store wrote the tree, and whose each file is."""

    store: str
    everything: bool
    """Whether lessons that are out of use are in it, too."""
    files: dict[str, Holder]


class Index(Struct, frozen=True, kw_only=True):
    version: int
    last_updated: str | None
    total_facts: int
    facts: tuple[Fact, ...]
    hardwon: Own


class _Any(Struct):
    hardwon: msgspec.Raw = msgspec.Raw()


def encoded(index: Index) -> str:
    return msgspec.json.format(msgspec.json.encode(index), indent=2).decode() + "\n"


def is_tree(directory: Path) -> bool:
    return any((folder / NAME).is_file() for folder in (directory / "knowledge", directory))


def folder_of(directory: Path) -> Path:
    """The folder that holds `index.json`: the one that was named, or `knowledge/` in it."""
    for folder in (directory / "knowledge", directory):
        if (folder / NAME).is_file():
            return folder
    raise HardwonError(f"no knowledge tree at {directory}: it should hold knowledge/{NAME}")


def written_here(folder: Path, store: str) -> Index | None:
    """The index of a tree that this store has exported; None for a foreign one."""
    path = folder / NAME
    text = text_of(path)
    try:
        mark = msgspec.json.decode(text, type=_Any).hardwon
        if not mark or msgspec.json.decode(mark, type=Own).store != store:
            return None
    except (msgspec.DecodeError, RecursionError):
        return None
    try:
        return msgspec.json.decode(text, type=Index)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HardwonError(f"{path} is damaged: {error}; get it back from git, or export again") from error
