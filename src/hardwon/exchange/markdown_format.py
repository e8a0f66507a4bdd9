"""The Markdown tree as files: its index, its pages, what a page says."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from hardwon.clock import iso
from hardwon.durable import write_whole
from hardwon.errors import HardwonError
from hardwon.model.lesson import Kind, Scope, Status, StoredLesson, Trust
from hardwon.store import lessons
from hardwon.store.database import Database
from hardwon.text.normalise import digest

# Files of a tree: names that every system allows, written whole or not at all, read without surprises.

MAX_FILE_BYTES = 64 * 1024 * 1024
_MAX_FILE_NAME_CHARACTERS = 80
_DEVICES = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
VERSION = 1
NAME = "index.json"
HEADINGS: dict[Kind, str] = {
    "pitfall": "Pitfalls",
    "pattern": "Patterns",
    "tool-quirk": "Tool quirks",
    "fact": "Facts",
    "question": "Questions",
    "preference": "Preferences",
    "decision": "Decisions",
    "identity": "Identity",
}
"""In the order that they stand in a file."""
LIVE = ("candidate", "active")
_ORDER = {kind: rank for rank, kind in enumerate(HEADINGS)}
_CATEGORIES = frozenset(("fact", "pitfall", "pattern", "tool-quirk", "question"))
"""Those that knowledge trees have; what is none of them is a fact there."""
_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_READ_BACK = re.compile(r"\\(?![A-Za-z0-9])|<(?=br>)|&(?=#\d+;)")
"""What `unescaped` would take for something else; it does not know about code."""
_MARKUP = re.compile(r"\\(?![A-Za-z0-9])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|!(?=\[)|(?<=\])[(\[]")
"""The same, and what Markdown would take for a tag, an entity, a picture or a link."""
_WRITTEN = re.compile(r"\\([!-/:-@\[-`{-~])|<br>|&#(\d{1,7});")
_UNSEEN = frozenset(("Cc", "Cf", "Zl", "Zp"))
_MAX_CODE_POINT = 0x10FFFF
_LINE = re.compile(r"`(L\w+) ([a-z]+) ([0-9.]+) (\S+)`(?: (.*))?")


def stems(names: Mapping[str, str]) -> dict[str, str]:
    """A file name for each key, from what it is called; those that would share one are told apart by their key."""
    plain = {key: _plain(name) for key, name in names.items()}
    folded = [stem.casefold() for stem in plain.values()]
    return {
        key: stem if folded.count(stem.casefold()) == 1 else f"{stem}-{digest(key, size=4)}"
        for key, stem in plain.items()
    }


def _plain(name: str) -> str:
    stem = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip(".-")[:_MAX_FILE_NAME_CHARACTERS]
    return f"{stem or 'unnamed'}_" if _DEVICES.fullmatch(stem) else stem or "unnamed"


def text_of(path: Path) -> str:
    """The text of a file. Raises HardwonError where it is too large, no UTF-8, or cannot be read."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise HardwonError(f"{path} is larger than {MAX_FILE_BYTES >> 20} MiB, the most that is read")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise HardwonError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise HardwonError(f"cannot read {path}: {error.strerror}") from error


def below(folder: Path, suffix: str) -> Iterable[Path]:
    """Files of a tree in a stable order; links are not followed, for they may lead anywhere."""
    found = (path for path in folder.rglob(f"*{suffix}") if path.is_file() and not path.is_symlink())
    inside = folder.resolve()
    return sorted(path for path in found if path.resolve().is_relative_to(inside))


def replace(path: Path, text: str) -> bool:
    """Write a file whole; returns whether that changed it."""
    content = text.encode()
    try:
        if path.is_file() and path.read_bytes() == content:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise HardwonError(f"cannot write {path}: {error.strerror}") from error
    return True


def removed(folder: Path, file: str) -> bool:
    """Take away a file of an earlier export, if it is still there and inside the folder."""
    path = folder / file
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        return False
    try:
        path.unlink()
    except OSError as error:
        raise HardwonError(f"cannot remove {path}: {error.strerror}") from error
    return True


# `index.json`: the tree for machines, by the schema that knowledge trees have, with our own fields beside.


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
    repo: str = ""
    """Whose it is, as harvesters name it: a repository, or `global`."""

    @property
    def holder(self) -> Holder:
        return Holder(self.scope, {"project": self.project, "agent": self.agent, "global": ""}[self.scope])


class TreeMeta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the next import must know: which store wrote the tree, and whose each file is."""

    store: str
    everything: bool
    """Whether lessons that are out of use are in it, too."""
    files: dict[str, Holder]
    project: str = ""
    """The key of the only project that is in it."""


class ExportedFailure(Struct, frozen=True, kw_only=True):
    """What keeps failing, and what fixed it; to be read, for it is counted and not edited."""

    id: str
    error: str
    repos: tuple[str, ...]
    occurrences: int
    sessions: int
    first_seen: str | None
    last_seen: str | None
    fixes: tuple[str, ...]


class TreeIndex(Struct, frozen=True, kw_only=True):
    version: int
    last_updated: str | None
    total_facts: int
    facts: tuple[Fact, ...]
    hardwon: TreeMeta
    failures: tuple[ExportedFailure, ...] = ()


class _Any(Struct):
    hardwon: msgspec.Raw = msgspec.Raw()


def encoded(index: TreeIndex) -> str:
    return msgspec.json.format(msgspec.json.encode(index), indent=2).decode() + "\n"


def is_tree(directory: Path) -> bool:
    """Whether an `index.json` is there, or in `knowledge/` below."""
    return any((folder / NAME).is_file() for folder in (directory / "knowledge", directory))


def folder_of(directory: Path) -> Path:
    """The folder that holds `index.json`: the one that was named, or `knowledge/` in it. Raises HardwonError."""
    for folder in (directory / "knowledge", directory):
        if (folder / NAME).is_file():
            return folder
    raise HardwonError(f"no knowledge tree in {directory}: there is no knowledge/{NAME}")


def written_here(folder: Path, store: str) -> TreeIndex | None:
    """The index of a tree that this store has exported; None for a foreign one."""
    path = folder / NAME
    text = text_of(path)
    try:
        mark = msgspec.json.decode(text, type=_Any).hardwon
        if not mark or msgspec.json.decode(mark, type=TreeMeta).store != store:
            return None
    except (msgspec.DecodeError, RecursionError):
        return None
    try:
        return msgspec.json.decode(text, type=TreeIndex)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HardwonError(f"{path} is damaged: {error}; restore it from git, or export again") from error


# The store's lessons as the tree tells them: which file each stands in, and its entry of the index.


class PlacedFact(NamedTuple):
    fact: Fact
    file: str
    title: str
    source: str
    """Where it was first heard, in a word, and how many other sources there are."""


class _Place(NamedTuple):
    holder: Holder
    domain: str
    title: str


def items(db: Database, *, everything: bool = False, project: str | None = None) -> list[PlacedFact]:
    """In the order that they are written, all or one project's own; those out of use only with `everything`."""
    found = sorted(lessons.listed(db), key=lambda lesson: (lesson.first_seen, lesson.id))
    places = _places(db, found)
    numbers = _numbered(found, places)
    shown = [
        lesson
        for lesson in found
        if (everything or lesson.status in LIVE) and (project is None or lesson.project == project)
    ]
    related = _related(db, {lesson.id: numbers[lesson.id] for lesson in shown})
    sources = _sources(db)
    made = [
        PlacedFact(
            _fact(lesson, numbers[lesson.id], places[lesson.id], related.get(lesson.id, ())),
            _file(lesson, places[lesson.id].domain),
            places[lesson.id].title,
            sources.get(lesson.id) or ("reviewer" if lesson.trust == "human" else "unknown"),
        )
        for lesson in shown
    ]
    return sorted(made, key=lambda item: (item.file, _ORDER[item.fact.kind]))


def _places(db: Database, found: Sequence[StoredLesson]) -> dict[str, _Place]:
    projects = {id: (key, name) for id, key, name in db.query("SELECT id, key, name FROM project")}
    repos = stems(dict(projects.values()))
    agents = stems({lesson.agent: lesson.agent for lesson in found if lesson.scope == "agent"})
    places = {}
    for lesson in found:
        if lesson.scope == "project":
            key, name = projects[lesson.project]
            places[lesson.id] = _Place(Holder("project", key), repos[key], name)
        elif lesson.scope == "agent":
            places[lesson.id] = _Place(Holder("agent", lesson.agent), agents[lesson.agent], lesson.agent)
        else:
            places[lesson.id] = _Place(Holder("global"), "global", "global")
    return places


def _numbered(found: Sequence[StoredLesson], places: dict[str, _Place]) -> dict[str, str]:
    """Also those that are not shown are counted, so that the others keep their numbers."""
    counts: Counter[str] = Counter()
    numbers = {}
    for lesson in found:
        group = f"{places[lesson.id].domain}:{_category(lesson)}"
        counts[group] += 1
        numbers[lesson.id] = f"{group}:{counts[group]:03}"
    return numbers


def _category(lesson: StoredLesson) -> str:
    return lesson.kind if lesson.kind in _CATEGORIES else "fact"


def _file(lesson: StoredLesson, domain: str) -> str:
    if lesson.scope == "global":
        return f"global/{HEADINGS[lesson.kind].lower().replace(' ', '-')}.md"
    return f"{'repos' if lesson.scope == 'project' else 'agents'}/{domain}.md"


def _related(db: Database, numbers: dict[str, str]) -> dict[str, tuple[str, ...]]:
    found = defaultdict(set)
    for one, other in db.query("SELECT lesson, other FROM lesson_link"):
        if one in numbers and other in numbers:
            found[one].add(numbers[other])
            found[other].add(numbers[one])
    return {id: tuple(sorted(others)) for id, others in found.items()}


def _sources(db: Database) -> dict[str, str]:
    heard: dict[str, list[str]] = defaultdict(list)
    rows = db.query("SELECT lesson, origin, source FROM lesson_source ORDER BY lesson, at, source, message_index")
    for lesson, origin, source in rows:
        name = re.sub(r"[\s`]", "_", f"{origin}:{source}")
        if name not in heard[lesson]:
            heard[lesson].append(name)
    return {id: names[0] + (f"+{len(names) - 1}" if len(names) > 1 else "") for id, names in heard.items()}


def _fact(lesson: StoredLesson, number: str, place: _Place, related: tuple[str, ...]) -> Fact:
    return Fact(
        id=number,
        fact=lesson.text,
        category=_category(lesson),
        domain=place.domain,
        confidence=round(lesson.confidence, 4),
        tags=lesson.tags,
        source_count=lesson.source_count,
        first_seen=iso(lesson.first_seen),
        last_confirmed=iso(lesson.last_confirmed),
        expires=iso(lesson.valid_until),
        related=related,
        lesson=lesson.id,
        kind=lesson.kind,
        scope=lesson.scope,
        project=place.holder.name if lesson.scope == "project" else "",
        agent=lesson.agent,
        status=lesson.status,
        trust=lesson.trust,
        repo=place.domain if lesson.scope == "project" else "global",
    )


# One lesson, one line of Markdown: any text can stand in it, reads as it was meant, and comes back the same.


class LessonLine(NamedTuple):
    """A lesson as it stands in a file. A person who adds one gives its text alone."""

    text: str
    id: str = ""
    status: str = ""
    confidence: str = ""
    source: str = ""


def written(line: LessonLine) -> str:
    """The line as it stands in a file, bullet included; `read` takes it apart again."""
    return f"- `{line.id} {line.status} {line.confidence} {line.source}` {escaped(line.text)}".rstrip(" ")


def read(item: str) -> LessonLine:
    """What stands behind the bullet of a list."""
    known = _LINE.fullmatch(item)
    if known is None:
        return LessonLine(unescaped(item))
    id, status, confidence, source, text = known.groups()
    return LessonLine(unescaped(text or ""), id, status, confidence, source)


def escaped(text: str) -> str:
    """A text that keeps to one line and makes no markup but code and emphasis."""
    pieces: list[str] = []
    done = 0
    for code in _CODE.finditer(text):
        pieces += (_MARKUP.sub(r"\\\g<0>", text[done : code.start()]), _READ_BACK.sub(r"\\\g<0>", code[0]))
        done = code.end()
    pieces.append(_MARKUP.sub(r"\\\g<0>", text[done:]))
    seen = "".join(map(_seen, "".join(pieces)))
    if seen.endswith(" "):  # editors cut it off
        seen = seen[:-1] + _number(" ")
    return _number(" ") + seen[1:] if seen.startswith(" ") else seen


def unescaped(text: str) -> str:
    """The text that `escaped` was given."""
    return _WRITTEN.sub(_meant, text)


def _seen(character: str) -> str:
    if character == "\n":
        return "<br>"
    return _number(character) if unicodedata.category(character) in _UNSEEN else character


def _number(character: str) -> str:
    return f"&#{ord(character)};"


def _meant(found: re.Match[str]) -> str:
    if found[1]:
        return found[1]
    if found[2]:
        return chr(int(found[2])) if int(found[2]) <= _MAX_CODE_POINT else found[0]
    return "\n"
