"""The store's lessons as a tree of files, `index.json` for machines and Markdown for people; and that tree read again.

Every line is written from the store alone and in a stable order: an unchanged store gives the same bytes again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from hardwon.clock import iso
from hardwon.errors import HardwonError
from hardwon.exchange import markdown_format
from hardwon.exchange.markdown_format import (
    HEADINGS,
    Fact,
    Holder,
    Index,
    Item,
    Line,
    Own,
    below,
    escaped,
    items,
    read,
    removed,
    replace,
    text_of,
    written,
)
from hardwon.model.lesson import KINDS, Kind, Scope
from hardwon.store import meta
from hardwon.store.database import Database

# A tree that people may have edited: what differs from what was exported.

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
    """All that a person did to an exported tree."""

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
                raise HardwonError(f"{path} has an unresolved merge conflict: resolve it in git first")
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
    """What the lines of a tree say other than the index that was exported with it."""
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
    """What differs between an exported lesson and its line; the line may be gone."""
    if entry is None:
        return Edit(fact, None, frozenset())
    now, was = told(entry, fact), told_of(fact)
    return Edit(fact, entry, frozenset(name for name in Told._fields if getattr(now, name) != getattr(was, name)))


def told(entry: Entry, fact: Fact) -> Told:
    """What a line says now of the lesson that `fact` was exported for."""
    line = entry.line
    return Told(line.text, line.status, line.confidence, entry.kind or fact.kind, entry.holder)


def told_of(fact: Fact) -> Told:
    """What the index says of a lesson."""
    return Told(fact.fact, fact.status, confidence(fact.confidence), fact.kind, fact.holder)


def confidence(value: float) -> str:
    return f"{value:.2f}"


_NOTE = (
    "<!-- Written by `hardwon export`. Change a text, status or confidence, delete a line to archive its lesson, "
    "add `- text` for a new one; then run `hardwon import`. -->"
)


class Exported(Struct, frozen=True):
    """What an export wrote."""

    folder: str
    lessons: int
    files: int
    changed: int
    """Files whose content is not what it was."""
    removed: int


def export(db: Database, directory: Path, *, everything: bool = False, force: bool = False) -> Exported:
    """Write the tree below `directory`; lessons that are out of use only with `everything`."""
    folder = directory / "knowledge"
    before = _earlier(folder, meta.store_id(db))
    if before and not force and any(differences(before, entries(folder, before))):
        raise HardwonError(
            f"{folder} has changes that were not imported: run `hardwon import {directory}` first, or export with "
            "--force to drop them"
        )
    return write(db, folder, before, everything=everything)


def write(db: Database, folder: Path, before: Index | None, *, everything: bool) -> Exported:
    """Write the tree as the store has it now; of an earlier export nothing is left."""
    found = items(db, everything=everything)
    pages = {file: _page(list(group)) for file, group in groupby(found, attrgetter("file"))}
    files = {item.file: item.fact.holder for item in found}
    listed = Index(
        version=markdown_format.VERSION,
        last_updated=iso(_last_change(db)),
        total_facts=len(found),
        facts=tuple(item.fact for item in found),
        hardwon=Own(store=meta.store_id(db), everything=everything, files=files),
    )
    gone = sorted(set(before.hardwon.files) - set(pages)) if before else []
    changed = sum(replace(folder / file, page) for file, page in pages.items())
    changed += replace(folder / markdown_format.NAME, markdown_format.encoded(listed))
    return Exported(str(folder), len(found), len(pages) + 1, changed, sum(removed(folder, file) for file in gone))


def _earlier(folder: Path, store: str) -> Index | None:
    """The index of the last export to the same place; nothing of anybody else's is written over."""
    if not (folder / markdown_format.NAME).exists():
        return None
    before = markdown_format.written_here(folder, store)
    if before is None:
        raise HardwonError(f"{folder} is the knowledge tree of another store: export to another folder")
    return before


def _last_change(db: Database) -> int | None:
    """Of any lesson, so that the index says the same until something changes."""
    changes = "SELECT e.at FROM event e JOIN lesson l ON l.id = e.item UNION ALL SELECT last_confirmed FROM lesson"
    last: int | None = db.query(f"SELECT max(at) FROM ({changes}) changes")[0][0]
    return last


def _page(found: Sequence[Item]) -> str:
    lines = [f"# {escaped(' '.join(found[0].title.split()))}", "", _NOTE]
    for kind, group in groupby(found, lambda item: item.fact.kind):
        lines += ["", f"## {HEADINGS[kind]}", ""]
        lines += [_line(item) for item in group]
    return "\n".join(lines) + "\n"


def _line(item: Item) -> str:
    fact = item.fact
    return written(Line(fact.fact, fact.lesson, fact.status, confidence(fact.confidence), item.source))
