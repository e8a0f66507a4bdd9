"""The Markdown tree: the store written as files for people, and their changes read back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field

from hardwon.clock import iso, now
from hardwon.errors import HardwonError, NotAllowed, NotFound
from hardwon.exchange import markdown_format
from hardwon.exchange.markdown_format import (
    HEADINGS,
    LIVE,
    ExportedFailure,
    Fact,
    Holder,
    LessonLine,
    PlacedFact,
    TreeIndex,
    TreeMeta,
    below,
    escaped,
    items,
    read,
    removed,
    replace,
    text_of,
    written,
)
from hardwon.failures.told import titled
from hardwon.model.lesson import KINDS, STATUSES, Kind, Scope
from hardwon.scrub.scrubber import Scrubber
from hardwon.store import failures, lifecycle, meta, projects
from hardwon.store import pages as pages_of_store
from hardwon.store.database import Database
from hardwon.store.lessons import LessonRow
from hardwon.store.meta import scrubber
from hardwon.text.shown import remedy

# A tree that people may have edited: what differs from what was exported.

_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
_BULLET = re.compile(r"[-*+][ \t]+(.*)")
_KINDS: dict[str, Kind] = {heading.casefold(): kind for kind, heading in HEADINGS.items()} | {k: k for k in KINDS}
_FOLDERS: dict[str, Scope] = {"global": "global", "repos": "project", "agents": "agent"}
_NOTE = (
    "<!-- Written by `hardwon export`. Change a text, status or confidence, delete a line to archive its lesson, "
    "add `- text` for a new one; then run `hardwon import`. -->"
)
_WHY = "edited in the exported tree"
FAILURES_PAGE = "failures.md"
_MAX_FAILURES = 1_000
_UNREVIEWED = 0.5
"""The confidence of what nobody vouches for."""


class TreeEntry(NamedTuple):
    """A line of a list, with the file and the heading it stands under."""

    file: str
    number: int
    kind: Kind | None
    """None under no heading, or one of a person's own."""
    holder: Holder
    line: LessonLine


class Edit(NamedTuple):
    """What a person did to one exported lesson; without an entry, its line was deleted."""

    fact: Fact
    entry: TreeEntry | None
    fields: frozenset[str]
    """What of it differs."""


class EditableFields(NamedTuple):
    """All that a person can change about a lesson in the tree."""

    text: str
    status: str
    confidence: str
    kind: Kind
    holder: Holder


class Differences(NamedTuple):
    """All that a person did to an exported tree."""

    edits: list[Edit]
    added: list[TreeEntry]
    twice: list[TreeEntry]
    """Lines whose id another line has, too."""


def entries(folder: Path, index: TreeIndex | None = None) -> Iterator[TreeEntry]:
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


def _entries(file: str, holder: Holder, text: str) -> Iterator[TreeEntry]:
    kind: Kind | None = None
    item, at = "", 0
    for number, raw in enumerate([*text.split("\n"), "end"], start=1):
        line = raw.rstrip(" \t\r")
        bullet = _BULLET.fullmatch(line)
        if not bullet and line[:2].isspace() and item:  # a person's editor may wrap a long line
            item += " " + line.strip()
            continue
        if item:
            yield TreeEntry(file, at, kind, holder, read(item))
        item, at = (bullet[1].strip(" \t"), number) if bullet else ("", 0)
        if line.startswith("#"):
            kind = _KINDS.get(line.strip("# ").casefold())


def differences(index: TreeIndex, found: Iterable[TreeEntry]) -> Differences:
    """What the lines of a tree say other than the index that was exported with it."""
    exported = {fact.lesson: fact for fact in index.facts}
    seen: dict[str, TreeEntry] = {}
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


def edit_of(fact: Fact, entry: TreeEntry | None) -> Edit:
    """What differs between an exported lesson and its line; the line may be gone."""
    if entry is None:
        return Edit(fact, None, frozenset())
    now, was = told(entry, fact), told_of(fact)
    return Edit(
        fact, entry, frozenset(name for name in EditableFields._fields if getattr(now, name) != getattr(was, name))
    )


def told(entry: TreeEntry, fact: Fact) -> EditableFields:
    """What a line says now of the lesson that `fact` was exported for."""
    line = entry.line
    return EditableFields(line.text, line.status, line.confidence, entry.kind or fact.kind, entry.holder)


def told_of(fact: Fact) -> EditableFields:
    """What the index says of a lesson."""
    return EditableFields(fact.fact, fact.status, confidence(fact.confidence), fact.kind, fact.holder)


def confidence(value: float) -> str:
    return f"{value:.2f}"


class Exported(Struct, frozen=True):
    """What an export wrote."""

    folder: str
    lessons: int
    waiting: int
    """Of these, those that wait for review."""
    files: int
    changed: int
    """Files whose content is not what it was."""
    removed: int


def export(
    db: Database, directory: Path, *, project: str | None = None, everything: bool = False, force: bool = False
) -> Exported:
    """Write the tree below `directory`, all or one project's own; lessons out of use only with `everything`."""
    folder = directory / "knowledge"
    before = _earlier(folder, meta.store_id(db))
    if before and not force and any(differences(before, entries(folder, before))):
        raise HardwonError(
            f"{folder} has changes that were not imported: run `hardwon import {directory}` first, or export with "
            "--force to drop them"
        )
    return write(db, folder, before, project=project, everything=everything)


def write(
    db: Database, folder: Path, before: TreeIndex | None, *, project: str | None = None, everything: bool
) -> Exported:
    """Write the tree as the store has it now; of an earlier export nothing is left."""
    found = items(db, everything=everything, project=project)
    key = projects.find(db, project)[0][1] if project else ""
    pages = {file: _page(list(group)) for file, group in groupby(found, attrgetter("file"))}
    files = {item.file: item.fact.holder for item in found}
    listed = TreeIndex(
        version=markdown_format.VERSION,
        last_updated=iso(_last_change(db, project)),
        total_facts=len(found),
        facts=tuple(item.fact for item in found),
        hardwon=TreeMeta(store=meta.store_id(db), everything=everything, files=files, project=key),
        failures=tuple(_failures(db, project)),
    )
    if listed.failures:
        pages[FAILURES_PAGE] = _page_of_failures(listed.failures, scrubber(db))
    elif before and before.failures:
        removed(folder, FAILURES_PAGE)
    gone = sorted(set(before.hardwon.files) - set(pages)) if before else []
    changed = sum(replace(folder / file, page) for file, page in pages.items())
    changed += replace(folder / markdown_format.NAME, markdown_format.encoded(listed))
    return Exported(
        folder=str(folder),
        lessons=len(found),
        waiting=sum(item.fact.status == "candidate" for item in found),
        files=len(pages) + 1,
        changed=changed,
        removed=sum(removed(folder, file) for file in gone),
    )


def _earlier(folder: Path, store: str) -> TreeIndex | None:
    """The index of the last export to the same place; nothing of anybody else's is written over."""
    if not (folder / markdown_format.NAME).exists():
        return None
    before = markdown_format.written_here(folder, store)
    if before is None:
        raise HardwonError(f"{folder} is the knowledge tree of another store: export to another folder")
    return before


def _failures(db: Database, project: str | None) -> Iterator[ExportedFailure]:
    """Those of `hardwon failures` that one's own sessions met, the most widespread first."""
    names = projects.names(db)
    rows = pages_of_store.of_failures(db, project=project, after=None, limit=_MAX_FAILURES)
    left_out = {id for (id,) in db.query("SELECT id FROM failure WHERE status = 'muted' OR family = 'agent'")}
    own = [row for row in rows if row.id not in left_out and failures.met_by_own(db, row.id, project)]
    fixes = failures.fixes(db, [row.id for row in own], project, only_here=project is not None)
    for row in own:
        held = db.query(
            "SELECT DISTINCT project FROM occurrence WHERE failure = ? AND project IS NOT NULL ORDER BY project",
            (row.id,),
        )
        yield ExportedFailure(
            id=row.id,
            error=titled(row.error, row.family, row.command),
            repos=tuple(sorted({names[id] for (id,) in held if id in names and project in (None, id)})),
            occurrences=row.occurrences,
            sessions=row.sessions,
            first_seen=iso(row.first_seen),
            last_seen=iso(row.last_seen),
            fixes=tuple(remedy(fix.steps, fix.succeeded_as) for fix in fixes[row.id] if fix.status == "active"),
        )


def _page_of_failures(found: Sequence[ExportedFailure], scrub: Scrubber) -> str:
    lines = ["# Failures", "", "<!-- Written by `hardwon export`, to be read: changes here are not imported. -->", ""]
    for one in found:
        worked = f" Worked: {'; '.join(one.fixes)}." if one.fixes else ""
        where = f"{', '.join(one.repos)}: " if one.repos else ""
        # As it is written: clean parts may read like a secret once they are put together, or escaped.
        told = scrub.scrub(escaped(where + one.error + worked))
        lines.append(f"- `{one.id} {one.occurrences}x {one.sessions}` {told}")
    return "\n".join(lines) + "\n"


def _last_change(db: Database, project: str | None) -> int | None:
    """Of any lesson that is told, so that the index says the same until something changes."""
    of = pages_of_store.Conditions().equal("l.project", project)
    changes = (
        f"SELECT e.at FROM event e JOIN lesson l ON l.id = e.item {of.sql} "
        f"UNION ALL SELECT last_confirmed FROM lesson l {of.sql}"
    )
    last: int | None = db.query(f"SELECT max(at) FROM ({changes}) changes", (*of.values, *of.values))[0][0]
    return last


def _page(found: Sequence[PlacedFact]) -> str:
    lines = [f"# {escaped(' '.join(found[0].title.split()))}", "", _NOTE]
    for kind, group in groupby(found, lambda item: item.fact.kind):
        lines += ["", f"## {HEADINGS[kind]}", ""]
        lines += [_line(item) for item in group]
    return "\n".join(lines) + "\n"


def _line(item: PlacedFact) -> str:
    fact = item.fact
    return written(LessonLine(fact.fact, fact.lesson, fact.status, confidence(fact.confidence), item.source))


# Brings what people changed in an exported tree back into the store, as their decisions.

What = Literal["edit", "archive", "add", "conflict", "refused", "proposed", "waits"]


class TreeChange(Struct, frozen=True):
    """One line of the tree and what became of it."""

    what: What
    lesson: str
    file: str
    line: int
    """0 for a line that is not there any more."""
    says: str


class Merged(Struct):
    """What an import of a tree did."""

    changes: list[TreeChange] = field(default_factory=list)
    unchanged: int = 0
    redactions: int = 0
    rewritten: int = 0
    """Files of the tree that were written anew to say what the store says."""

    @property
    def settled(self) -> bool:
        """Whether the tree and the store agree now."""
        return not any(change.what in ("conflict", "refused", "proposed", "waits") for change in self.changes)


def merge(
    db: Database,
    folder: Path,
    index: TreeIndex,
    *,
    actor: str,
    project: str | None = None,
    theirs: bool = False,
    trusted: bool = False,
) -> Merged:
    """Inside a transaction. With `theirs` the tree wins where the store has changed since.

    A tree of one `project` changes nothing of others.

    Unless a person vouches for the changes, texts wait for review as lessons of their own, and the rest is only told.
    """
    found = list(entries(folder, index))
    if index.facts and not found:
        raise HardwonError(
            f"{folder} has no Markdown files: to import it would archive every lesson; run `hardwon export` again first"
        )
    differ = differences(index, found)
    work = _Merge(db, actor, project, theirs=theirs, trusted=trusted)
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
    def __init__(self, db: Database, actor: str, project: str | None, *, theirs: bool, trusted: bool) -> None:
        self.report = Merged()
        self._project = project
        self._trusted = trusted
        self.scrubber = scrubber(db)
        self._db = db
        self._actor = actor
        self._theirs = theirs
        self._stored = {item.fact.lesson: item.fact for item in items(db, everything=True)}

    def tell(self, what: What, lesson: str, entry: TreeEntry | None, says: str, file: str = "") -> None:
        self.report.changes.append(
            TreeChange(what, lesson, entry.file if entry else file, entry.number if entry else 0, says)
        )

    def take(self, edit: Edit) -> None:
        """An exported lesson whose line was changed or deleted."""
        stored = self._stored.get(edit.fact.lesson)
        if stored is None:
            if edit.entry:
                self.tell("conflict", edit.fact.lesson, edit.entry, "this lesson is no longer in the store")
        elif not self._trusted:
            self._wait(edit, stored)
        elif edit.entry is None:
            self._delete(edit.fact, stored)
        else:
            self._change(edit, edit.entry, stored)

    def add(self, entry: TreeEntry) -> None:
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

    def _wait(self, edit: Edit, stored: Fact) -> None:
        """Whoever changed the line may be anybody: its text becomes a candidate, and nothing happens to the lesson."""
        entry = edit.entry
        if entry and "text" in edit.fields:
            self._create(entry, kind=stored.kind, holder=stored.holder)
        others = sorted(edit.fields - {"text"})
        if others or not entry:
            said = f"{', '.join(others)} changed" if entry else "deleted"
            self.tell("waits", stored.lesson, entry, f"{said}: {stored.fact}")

    def _delete(self, exported: Fact, stored: Fact) -> None:
        if stored.status not in LIVE:
            return
        if (stored.fact, stored.status) != (exported.fact, exported.status) and not self._theirs:
            self.tell("conflict", stored.lesson, None, f"deleted, but the store now says: {stored.fact}")
            return
        lifecycle.archive(self._db, stored.lesson, actor=self._actor, why="deleted in the exported tree")
        self.tell("archive", stored.lesson, None, stored.fact)

    def _change(self, edit: Edit, entry: TreeEntry, stored: Fact) -> None:
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

    def _apply(self, stored: Fact, theirs: EditableFields, wanted: list[str]) -> None:
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

    def _create(self, entry: TreeEntry, kind: Kind | None = None, holder: Holder | None = None) -> None:
        line = entry.line
        status = (line.status or "active") if self._trusted else "candidate"
        if status not in LIVE:
            raise NotAllowed(f"there is no lesson {line.id}, and a new one cannot be {status}")
        at, sure = now(), _confidence(line.confidence or "1") if self._trusted else _UNREVIEWED
        row = LessonRow(
            id="",
            kind=kind or entry.kind or "fact",
            text=_not_empty(self.scrubber.scrub(line.text.strip())),
            base_confidence=sure,
            confidence=sure,
            status=status,
            trust="human" if self._trusted else "untrusted",
            rule="",
            failure="",
            first_seen=at,
            last_confirmed=at,
            source_count=0,
            harvester_version=0,
            **self._owner(holder or entry.holder),
        )
        statuses = (status,) if self._trusted else STATUSES  # what was decided on is not proposed again
        if not any(lifecycle.duplicate(self._db, row._replace(status=one)) for one in statuses):
            id = lifecycle.create(self._db, row, [], actor=self._actor, why="added in the exported tree")
            self.tell("add" if self._trusted else "proposed", id, entry, row.text)

    def _owner(self, holder: Holder) -> dict[str, Any]:
        project = None
        if holder.scope == "project":
            found = projects.find(self._db, holder.name)
            if len(found) != 1:
                raise NotFound(f"{'several projects are' if found else 'no project is'} called '{holder.name}'")
            project = found[0][0]
        if self._project and project != self._project:
            raise NotAllowed("this tree has one project's own lessons: for others, export without --project")
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
