"""Brings what people changed in an exported tree back into the store, as their decisions.

Three states are compared: what was exported (the index), what the tree says now, what the store says now.
What only the person changed is done; what the store changed since as well is a conflict, and the store's stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field

from hardwon.clock import now
from hardwon.errors import HardwonError, NotAllowed, NotFound
from hardwon.exchange.markdown import Edit, Entry, Told, differences, edit_of, entries, told, told_of
from hardwon.exchange.markdown_format import LIVE, Fact, Holder, Index, items
from hardwon.model.lesson import STATUSES
from hardwon.store import lifecycle, projects
from hardwon.store.database import Database
from hardwon.store.lessons import LessonRow
from hardwon.store.meta import scrubber

What = Literal["edit", "archive", "add", "conflict", "refused"]
_WHY = "edited in the exported tree"


class Change(Struct, frozen=True):
    """One line of the tree and what became of it."""

    what: What
    lesson: str
    file: str
    line: int
    """0 for a line that is not there any more."""
    says: str


class Merged(Struct):
    """What an import of a tree did."""

    changes: list[Change] = field(default_factory=list)
    unchanged: int = 0
    redactions: int = 0
    rewritten: int = 0
    """Files of the tree that were written anew to say what the store says."""

    @property
    def settled(self) -> bool:
        """Whether the tree and the store agree now."""
        return not any(change.what in ("conflict", "refused") for change in self.changes)


def merge(db: Database, folder: Path, index: Index, *, actor: str, theirs: bool = False) -> Merged:
    """Inside a transaction. With `theirs` the tree wins where the store has changed since."""
    found = list(entries(folder, index))
    if index.facts and not found:
        raise HardwonError(
            f"{folder} has no Markdown files: to import it would archive every lesson; run `hardwon export` again first"
        )
    differ = differences(index, found)
    work = _Merge(db, actor, theirs=theirs)
    for edit in differ.edits:
        work.take(edit)
    for entry in differ.added:
        work.add(entry)
    for entry in differ.twice:
        work.tell("refused", entry.line.id, entry, "the same lesson has another line; only the first one counts")
    work.report.unchanged = len(index.facts) - len(differ.edits)
    work.report.redactions = work.scrubber.redactions
    return work.report


class _Merge:
    def __init__(self, db: Database, actor: str, *, theirs: bool) -> None:
        self.report = Merged()
        self.scrubber = scrubber(db)
        self._db = db
        self._actor = actor
        self._theirs = theirs
        self._stored = {item.fact.lesson: item.fact for item in items(db, everything=True)}

    def tell(self, what: What, lesson: str, entry: Entry | None, says: str, file: str = "") -> None:
        self.report.changes.append(
            Change(what, lesson, entry.file if entry else file, entry.number if entry else 0, says)
        )

    def take(self, edit: Edit) -> None:
        """An exported lesson whose line was changed or deleted."""
        stored = self._stored.get(edit.fact.lesson)
        if stored is None:
            if edit.entry:
                self.tell("conflict", edit.fact.lesson, edit.entry, "this lesson is no longer in the store")
        elif edit.entry is None:
            self._delete(edit.fact, stored)
        else:
            self._change(edit, edit.entry, stored)

    def add(self, entry: Entry) -> None:
        """A line that was not exported: a new lesson, or an old one that a person brings back."""
        known = self._stored.get(entry.line.id)
        if known is not None:
            edit = edit_of(known, entry)
            if edit.fields:
                self.take(edit)
            return
        try:
            self._create(entry)
        except (NotAllowed, NotFound) as error:
            self.tell("refused", "", entry, str(error))

    def _delete(self, exported: Fact, stored: Fact) -> None:
        if stored.status not in LIVE:
            return
        if (stored.fact, stored.status) != (exported.fact, exported.status) and not self._theirs:
            self.tell("conflict", stored.lesson, None, f"deleted, but the store now says: {stored.fact}")
            return
        lifecycle.archive(self._db, stored.lesson, actor=self._actor, why="deleted in the exported tree")
        self.tell("archive", stored.lesson, None, stored.fact)

    def _change(self, edit: Edit, entry: Entry, stored: Fact) -> None:
        ours, base, theirs = told_of(stored), told_of(edit.fact), told(entry, edit.fact)
        theirs = theirs._replace(text=self.scrubber.scrub(theirs.text) if "text" in edit.fields else ours.text)
        wanted = [name for name in sorted(edit.fields) if getattr(theirs, name) != getattr(ours, name)]
        clash = [name for name in wanted if getattr(ours, name) != getattr(base, name)]
        if not wanted:
            return
        if clash and not self._theirs:
            says = "; ".join(f"{name} is now {_shown(getattr(ours, name))}" for name in clash)
            self.tell("conflict", stored.lesson, entry, f"changed in the store as well: {says}")
            return
        try:
            self._apply(stored, theirs, wanted)
        except (NotAllowed, NotFound) as error:
            self.tell("refused", stored.lesson, entry, str(error))
            return
        says = "; ".join(f"{name} {_shown(getattr(ours, name))} → {_shown(getattr(theirs, name))}" for name in wanted)
        self.tell("edit", stored.lesson, entry, says)

    def _apply(self, stored: Fact, theirs: Told, wanted: list[str]) -> None:
        """The status first: it is the one that the store may refuse."""
        values: dict[str, Any] = {}
        if "text" in wanted:
            values["text"] = _not_empty(theirs.text)
        if "kind" in wanted:
            values["kind"] = theirs.kind
        if "confidence" in wanted:
            values["base_confidence"] = _confidence(theirs.confidence)
        if "holder" in wanted:
            values |= self._owner(theirs.holder)
        if "status" in wanted:
            self._become(stored, theirs.status)
        if values:
            lifecycle.edit(self._db, stored.lesson, values, actor=self._actor, why=_WHY)

    def _become(self, stored: Fact, status: str) -> None:
        if status not in STATUSES or status == "superseded":
            may = ", ".join(name for name in STATUSES if name != "superseded")
            raise NotAllowed(f"'{status}' is not a status that can be set here: use one of {may}")
        id, was = stored.lesson, stored.status
        if status in LIVE and was not in LIVE:
            lifecycle.restore(self._db, id, actor=self._actor, why=_WHY)
            was = lifecycle.known(self._db, id).status
        if status == was:
            return
        if status == "candidate":
            raise NotAllowed(f"{id} is {was}: it cannot become a candidate again")
        gone = lifecycle.reject if was == "candidate" else lifecycle.invalidate
        steps = {"active": lifecycle.promote, "archived": lifecycle.archive, "invalid": gone}
        steps[status](self._db, id, actor=self._actor, why=_WHY)

    def _create(self, entry: Entry) -> None:
        line = entry.line
        status = line.status or "active"
        if status not in LIVE:
            raise NotAllowed(f"there is no lesson {line.id}, and a new one cannot be {status}")
        at, sure = now(), _confidence(line.confidence or "1")
        row = LessonRow(
            id="",
            kind=entry.kind or "fact",
            text=_not_empty(self.scrubber.scrub(line.text.strip())),
            base_confidence=sure,
            confidence=sure,
            status=status,
            trust="human",
            rule="",
            failure="",
            first_seen=at,
            last_confirmed=at,
            source_count=0,
            harvester_version=0,
            **self._owner(entry.holder),
        )
        if not lifecycle.duplicate(self._db, row):
            id = lifecycle.create(self._db, row, [], actor=self._actor, why="added in the exported tree")
            self.tell("add", id, entry, row.text)

    def _owner(self, holder: Holder) -> dict[str, Any]:
        project = None
        if holder.scope == "project":
            found = projects.find(self._db, holder.name)
            if len(found) != 1:
                raise NotFound(f"{'several projects are' if found else 'no project is'} called '{holder.name}'")
            project = found[0][0]
        agent = holder.name if holder.scope == "agent" else ""
        return {"scope": holder.scope, "project": project, "agent": agent}


def _not_empty(text: str) -> str:
    if not text.strip():
        raise NotAllowed("a lesson cannot be empty: delete its line to archive it")
    return text


def _confidence(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise NotAllowed(f"a confidence must be a number from 0 to 1, not {text}")
    return value


def _shown(value: object) -> str:
    if isinstance(value, Holder):
        return value.name or value.scope
    return f"“{value}”" if " " in str(value) else str(value)
