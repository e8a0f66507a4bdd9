"""Reads a tree that people may have edited, and tells what differs from what was exported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hardwon.errors import HardwonError
from hardwon.exchange.facts import HEADINGS
from hardwon.exchange.files import below, text_of
from hardwon.exchange.index import Fact, Holder, Index
from hardwon.exchange.markdown import Line, read
from hardwon.model.lesson import KINDS, Kind, Scope

_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
_BULLET = re.compile(r"[-*+][ \t]+(.*)")
_KINDS: dict[str, Kind] = {heading.casefold(): kind for kind, heading in HEADINGS.items()} | {k: k for k in KINDS}


_FOLDERS: dict[str, Scope] = {"global": "global", "repos": "project", "agents": "agent"}


class Entry(NamedTuple):
    """A line of a list, with the file and the heading it stands under."""

    file: str
    number: int
    kind: Kind | None
    """None under no heading, or one of a person's own."""
    holder: Holder
    line: Line


class Edit(NamedTuple):
    """What a person did to one exported lesson; without an entry, its line was deleted."""

    fact: Fact
    entry: Entry | None
    fields: frozenset[str]
    """What of it differs."""


class Told(NamedTuple):
    """All that a person can change about a lesson in the tree."""

    text: str
    status: str
    confidence: str
    kind: Kind
    holder: Holder


class Differences(NamedTuple):
    edits: list[Edit]
    added: list[Entry]
    twice: list[Entry]
    """Lines whose id another line has, too."""


def entries(folder: Path, index: Index | None = None) -> Iterator[Entry]:
    """Every line of every list in the tree's three folders."""
    files = index.hardwon.files if index else {}
    for path in below(folder, ".md"):
        file = path.relative_to(folder).as_posix()
        if holder := files.get(file) or _by_name(file):
            text = text_of(path)
            if _CONFLICT.search(text):
                raise HardwonError(f"{path} has an unresolved merge conflict: settle it in git first")
            yield from _entries(file, holder, text)


def _by_name(file: str) -> Holder | None:
    """Whose a file is that no export knows."""
    place, _, name = file.partition("/")
    scope = _FOLDERS.get(place)
    if not scope or not name:
        return None
    return Holder(scope, "" if scope == "global" else name.removesuffix(".md"))


def _entries(file: str, holder: Holder, text: str) -> Iterator[Entry]:
    kind: Kind | None = None
    item, at = "", 0
    for number, raw in enumerate([*text.split("\n"), "end"], start=1):
        line = raw.rstrip(" \t\r")
        bullet = _BULLET.fullmatch(line)
        if not bullet and line[:2].isspace() and item:  # a person's editor may wrap a long line
            item += " " + line.strip()
            continue
        if item:
            yield Entry(file, at, kind, holder, read(item))
        item, at = (bullet[1].strip(" \t"), number) if bullet else ("", 0)
        if line.startswith("#"):
            kind = _KINDS.get(line.strip("# ").casefold())


def differences(index: Index, found: Iterable[Entry]) -> Differences:
    exported = {fact.lesson: fact for fact in index.facts}
    seen: dict[str, Entry] = {}
    added, twice = [], []
    for entry in found:
        if entry.line.id not in exported:
            added.append(entry)
        elif entry.line.id in seen:
            twice.append(entry)
        else:
            seen[entry.line.id] = entry
    edits = [edit for id, fact in exported.items() if (edit := edit_of(fact, seen.get(id))).fields or not edit.entry]
    return Differences(edits, added, twice)


def edit_of(fact: Fact, entry: Entry | None) -> Edit:
    if entry is None:
        return Edit(fact, None, frozenset())
    now, was = told(entry, fact), told_of(fact)
    return Edit(fact, entry, frozenset(name for name in Told._fields if getattr(now, name) != getattr(was, name)))


def told(entry: Entry, fact: Fact) -> Told:
    """What a line says now of the lesson that `fact` was exported for."""
    line = entry.line
    return Told(line.text, line.status, line.confidence, entry.kind or fact.kind, entry.holder)


def told_of(fact: Fact) -> Told:
    return Told(fact.fact, fact.status, confidence(fact.confidence), fact.kind, fact.holder)


def confidence(value: float) -> str:
    return f"{value:.2f}"
