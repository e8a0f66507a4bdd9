"""A `knowledge/` tree that another system or another store wrote: `index.json`, Markdown and YAML.

Everything in it is data of unknown worth. Facts become lessons that wait for review; the files themselves are
kept as documents when a person asks for the whole tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from hardwon.errors import HardwonError, NotFound
from hardwon.exchange import markdown_format
from hardwon.exchange.intake import ACTOR, Intake, Taken
from hardwon.exchange.markdown import TreeEntry, entries
from hardwon.exchange.markdown_format import below, text_of
from hardwon.model.lesson import KINDS, SCOPES, STATUSES
from hardwon.store import documents, lifecycle
from hardwon.store.database import Database
from hardwon.store.documents import DocumentRow
from hardwon.store.lessons import Cited, LessonRow
from hardwon.text.normalise import MARK, derived, digest, normalised
from hardwon.text.sections import markup_of, sections

# A file of another system as a document with a chunk a heading.

_DATA = {".yaml": "yaml", ".yml": "yaml"}
_FIELDS = frozenset(
    (
        *"id fact category domain repo confidence tags source_count first_seen last_confirmed expires related".split(),
        *"source_sessions times_referenced lesson kind scope project agent status trust".split(),
    )
)
_LISTS = ("facts", "knowledge", "items")
"""What the list of facts may be called in a file; a harvester prints just the list."""
_DEFAULT_CONFIDENCE = 0.5
"""The confidence of what does not tell its own, and nobody vouches for."""


def save(intake: Intake, path: Path, text: str) -> None:
    """Keep a file as it is now, in place of what an earlier import kept of it."""
    content = intake.text(text)
    place = intake.text(path.resolve())
    id = documents.document_id(place)
    hashed = digest(content, size=16)
    known = documents.at_paths(intake.db, [place])
    intake.count("documents", new=not known)
    if [(row.id, row.hash) for row in known] == [(id, hashed)]:
        return
    at = path.stat().st_mtime_ns // 1000
    kind = markup_of(path.suffix)
    parts = sections(content, kind)
    title = next((part.heading for part in parts if part.heading), path.stem)
    row = DocumentRow(id, place, None, hashed, title, _DATA.get(path.suffix, kind), "[]", at, at)
    documents.save(intake.db, row, parts)
    for _ in parts:
        intake.count("chunks", new=True)


Worth = Literal["untrusted", "claimed", "human"]

Record = dict[str, Any]


def take(db: Database, path: Path, *, worth: Worth, documents: bool) -> Taken:
    """Inside a transaction. Only what a person vouches for (`human`) keeps its status or becomes active.

    Instead of a tree it may be a file: the index of one, or the list of items that a harvester printed.
    """
    if path.is_file():
        return _of_file(db, path, worth)
    folder = _folder(path)
    intake = Intake(db, "knowledge", folder.stat().st_mtime_ns // 1000)
    work = _KnowledgeImport(intake, folder, worth)
    for fact in _facts(folder / markdown_format.NAME) if (folder / markdown_format.NAME).is_file() else ():
        work.fact(fact)
    for entry in entries(folder):
        work.line(entry)
    work.links()
    if documents:
        for file in (*below(folder, ".md"), *below(folder, ".yaml"), *below(folder, ".yml")):
            save(intake, file, text_of(file))
    return intake.report()


def _of_file(db: Database, path: Path, worth: Worth) -> Taken:
    intake = Intake(db, "knowledge", path.stat().st_mtime_ns // 1000)
    work = _KnowledgeImport(intake, path.parent, worth)
    for fact in _facts(path):
        work.fact(fact)
    work.links()
    return intake.report()


def _folder(directory: Path) -> Path:
    if not directory.is_dir():
        raise NotFound(f"no such file or folder: {directory}")
    for folder in (directory / "knowledge", directory):
        if (folder / markdown_format.NAME).is_file() or any(entries(folder)):
            return folder
    raise HardwonError(f"no knowledge tree in {directory}: there is no knowledge/{markdown_format.NAME}")


def _facts(path: Path) -> Iterator[Record]:
    try:
        content = msgspec.json.decode(text_of(path))
    except (msgspec.DecodeError, RecursionError) as error:
        raise HardwonError(f"{path} is damaged: {error}; nothing was imported") from error
    if isinstance(content, dict):
        content = next((content[name] for name in _LISTS if isinstance(content.get(name), list)), None)
    if not isinstance(content, list):
        raise HardwonError(f'{path} holds no knowledge: it is no list, and has no list "facts"')
    yield from (fact for fact in content if isinstance(fact, dict))


class _KnowledgeImport:
    def __init__(self, intake: Intake, folder: Path, worth: Worth) -> None:
        self._intake = intake
        self._folder = folder
        self._worth = worth
        self._ids: dict[str, str] = {}
        self._related: list[tuple[str, list[str]]] = []
        self._texts: set[str] = set()
        self._unknown: set[str] = set()

    def fact(self, fact: Record) -> None:
        intake = self._intake
        name, text = intake.text(fact.get("id")), intake.text(fact.get("fact")).strip()
        if not text:
            intake.leave_out(f"fact {name or 'without an id'}: it is empty")
            return
        for field in sorted(set(fact) - _FIELDS - self._unknown):
            self._unknown.add(field)
            intake.leave_out(f"{intake.text(field)}: not a field of a fact")
        self._texts.add(normalised(text))
        category = intake.text(fact.get("category"))
        kind = next((kind for kind in (fact.get("kind"), category) if kind in KINDS), "fact")
        tags = [intake.text(tag) for tag in _list(fact.get("tags"))]
        row = self._row(
            name,
            text,
            kind=kind,
            tags=tags if category in KINDS or not category else [*tags, f"category:{category}"],
            confidence=self._confidence(fact.get("confidence")),
            first_seen=intake.time(fact.get("first_seen")),
            last_confirmed=intake.time_or_none(fact.get("last_confirmed")),
            status=self._status(fact.get("status")),
            source_count=_count(fact.get("source_count"), 1),
            valid_until=intake.time_or_none(fact.get("expires")),
            reference_count=_count(fact.get("times_referenced"), 0),
            **self._owner(fact),
        )
        sessions = [intake.text(session) for session in _list(fact.get("source_sessions"))]
        self._ids[name] = self._add(row, f"fact {name}", [f"fact:{name}", *sessions])
        self._related.append((self._ids[name], [intake.text(other) for other in _list(fact.get("related"))]))

    def line(self, entry: TreeEntry) -> None:
        """A line of Markdown that the index does not have."""
        text = self._intake.text(entry.line.text).strip()
        if not text or normalised(text) in self._texts:
            return
        self._texts.add(normalised(text))
        scope, holder = entry.holder
        row = self._row(
            entry.file,
            text,
            kind=entry.kind or "fact",
            tags=[],
            confidence=self._confidence(entry.line.confidence),
            first_seen=(self._folder / entry.file).stat().st_mtime_ns // 1000,
            last_confirmed=None,
            status=self._status(entry.line.status),
            source_count=1,
            scope=scope,
            project=self._intake.project(self._intake.text(holder)) if scope == "project" else None,
            agent=self._intake.text(holder) if scope == "agent" else "",
        )
        self._add(row, entry.file, [entry.file])

    def links(self) -> None:
        known = dict.fromkeys(
            (id, self._ids[other]) for id, names in self._related for other in names if other in self._ids
        )
        db = self._intake.db
        for id, other in known:
            there = "SELECT 1 FROM lesson_link WHERE relation = 'related' AND lesson = ? AND other = ?"
            if id != other and not db.query(there, (id, other)):
                lifecycle.link(db, id, "related", other, actor=ACTOR)
        lost = sum(other not in self._ids for _, names in self._related for other in names)
        if lost:
            self._intake.leave_out(f"related: {lost} links to facts that are not in the tree")

    def _row(self, name: str, text: str, *, confidence: float, tags: list[str], **fields: Any) -> LessonRow:
        fields["last_confirmed"] = fields["last_confirmed"] or fields["first_seen"]
        return LessonRow(
            id=derived("L", "knowledge", name, normalised(MARK.sub("", text))),
            text=text,
            base_confidence=confidence,
            confidence=confidence,
            trust=self._worth,
            tags=msgspec.json.encode(tags).decode(),
            rule="",
            failure="",
            harvester_version=0,
            **fields,
        )

    def _add(self, row: LessonRow, what: str, sources: list[str]) -> str:
        named = dict.fromkeys(f"import:knowledge:{source}" for source in sources)
        cited = [Cited("", source, 0, source, row.first_seen, row.text, "import") for source in named]
        return self._intake.lesson(row, cited, f"{what} of a knowledge tree")

    def _confidence(self, given: object) -> float:
        """Its own; without one, enough to be told where somebody vouches for it."""
        default = lifecycle.LEAST_CONFIDENCE_PROMOTED if self._worth == "human" else _DEFAULT_CONFIDENCE
        return _confidence(given, default)

    def _status(self, given: object) -> str:
        if self._worth != "human":
            return "candidate"
        return str(given) if given in STATUSES else "active"

    def _owner(self, fact: Record) -> dict[str, Any]:
        """By our own fields where they are there, else by the domain and the file that is named after it."""
        text = self._intake.text
        domain = text(fact.get("domain") or fact.get("repo")) or "global"
        scope = fact.get("scope")
        if scope not in SCOPES:
            is_agent = (self._folder / "agents" / f"{domain}.md").is_file()
            is_repo = (self._folder / "repos" / f"{domain}.md").is_file()
            scope = "global" if domain == "global" else "agent" if is_agent and not is_repo else "project"
        project, agent = text(fact.get("project")) or domain, text(fact.get("agent")) or domain
        return {
            "scope": scope,
            "project": self._intake.project(project) if scope == "project" else None,
            "agent": agent if scope == "agent" else "",
        }


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _count(value: object, default: int) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**31 else default


def _confidence(value: object, default: float) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else default
    except (ValueError, OverflowError):
        return default
    return number if 0 <= number <= 1 else default
