"""The store's lessons as a tree of files: `index.json` for machines, Markdown for people.

Every line is written from the store alone and in a stable order: an unchanged store gives the same bytes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from hardwon.clock import iso
from hardwon.errors import HardwonError
from hardwon.exchange import index
from hardwon.exchange.facts import HEADINGS, Item, items
from hardwon.exchange.files import removed, replace
from hardwon.exchange.index import Index, Own
from hardwon.exchange.markdown import Line, escaped, written
from hardwon.exchange.tree_read import confidence, differences, entries
from hardwon.store import meta
from hardwon.store.database import Database

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
        version=index.VERSION,
        last_updated=iso(_last_change(db)),
        total_facts=len(found),
        facts=tuple(item.fact for item in found),
        hardwon=Own(store=meta.store_id(db), everything=everything, files=files),
    )
    gone = sorted(set(before.hardwon.files) - set(pages)) if before else []
    changed = sum(replace(folder / file, page) for file, page in pages.items())
    changed += replace(folder / index.NAME, index.encoded(listed))
    return Exported(str(folder), len(found), len(pages) + 1, changed, sum(removed(folder, file) for file in gone))


def _earlier(folder: Path, store: str) -> Index | None:
    """The index of the last export to the same place; nothing of anybody else's is written over."""
    if not (folder / index.NAME).exists():
        return None
    before = index.written_here(folder, store)
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
