"""Tie lessons to the file they speak of, and see whether it is still what it was."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from hardwon.model.lesson import StoredLesson
from hardwon.store import lessons
from hardwon.store.database import Database
from hardwon.store.lessons import Anchor
from hardwon.text.paths import named_in
from hardwon.text.words import terms

# A few numbers that tell how much of one text is in another, without keeping either.

_NUMBERS_PER_SKETCH = 32
_EMPTY = "0" * (4 * _NUMBERS_PER_SKETCH)


def sketch(text: str) -> str:
    """Of the set of its lines: for each of some hash functions the smallest value, 16 bits of it in hexadecimal."""
    lines = {line.strip() for line in text.splitlines()} - {""}
    if not lines:
        return _EMPTY
    hashes = [
        blake2b(line.encode("utf-8", "surrogatepass"), digest_size=2 * _NUMBERS_PER_SKETCH).digest() for line in lines
    ]
    return "".join(min(found[at : at + 2] for found in hashes).hex() for at in range(0, 2 * _NUMBERS_PER_SKETCH, 2))


def likeness(one: str, other: str) -> float:
    """About the share of all lines of two texts that both have."""
    pairs = [(one[at : at + 4], other[at : at + 4]) for at in range(0, 4 * _NUMBERS_PER_SKETCH, 4)]
    return sum(a == b for a, b in pairs) / _NUMBERS_PER_SKETCH


MIN_LIKENESS = 0.15
"""Below this share of common lines, a file is another one now."""
_BYTES_PER_FILE = 2_000_000


def tie(db: Database, projects: Iterable[str]) -> int:
    """Note the one file that a lesson names, where it is there; returns how many lessons that were."""
    count = 0
    for project in projects:
        folders = _folders(db, project)
        found = [anchor for id, text in lessons.without_anchor(db, project) if (anchor := _anchor(id, text, folders))]
        if found:
            with db.transaction():
                lessons.save_anchors(db, found)
        count += len(found)
    return count


def adrift(db: Database, project: str) -> dict[str, str]:
    """Lesson → why not to believe it: its file is gone, or another one now. None where no root is on this machine."""
    folders = _folders(db, project)
    if not folders:
        return {}
    return dict(_judged(lessons.anchors_of(db, project), folders))


# What the repository tells its agents already.

_READ_BY_AGENTS = (
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "README.md",
    "CONTRIBUTING.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
)
_SHARE_WRITTEN_DOWN = 0.8
_FEWEST_TERMS = 3
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")


def written_down(db: Database, project: str, known: Iterable[StoredLesson]) -> dict[str, str]:
    """Lesson → the file of the checkout that says the same, so that agents read it anyway."""
    wanted = {one.id: frozenset(terms(one.text)) for one in known if one.project == project and not one.pinned}
    found: dict[str, str] = {}
    for name, sentences in _written(_folders(db, project)) if wanted else ():
        for id, words in wanted.items():
            enough = len(words) >= _FEWEST_TERMS and id not in found
            if enough and any(len(words & said) >= _SHARE_WRITTEN_DOWN * len(words) for said in sentences):
                found[id] = f"stands in {name}"
    return found


def _written(folders: Iterable[Path]) -> Iterator[tuple[str, list[frozenset[str]]]]:
    for path, name in ((folder / name, name) for folder in folders for name in _READ_BY_AGENTS):
        with suppress(OSError):
            if path.is_file() and path.stat().st_size <= _BYTES_PER_FILE:
                text = _without_block(path.read_text(encoding="utf-8", errors="replace"))
                yield name, [frozenset(terms(part)) for part in _SENTENCE.split(text) if part.strip()]


def _without_block(text: str) -> str:
    """The text of such a file without the block that Hardwon keeps in it."""
    before, mark, rest = text.partition("<!-- hardwon:begin")
    return before + rest.partition("<!-- hardwon:end -->")[2] if mark else text


def _judged(known: Iterable[Anchor], folders: list[Path]) -> Iterator[tuple[str, str]]:
    now: dict[str, str | None] = {}
    for lesson, path, then in known:
        if path not in now:
            now[path] = next(filter(None, (_sketch(folder / path) for folder in folders)), None)
        seen = now[path]
        if seen is None:
            yield lesson, f"{path} is gone"
        elif likeness(then, seen) < MIN_LIKENESS:
            yield lesson, f"{path} has changed beyond recognition"


def _anchor(lesson: str, text: str, folders: list[Path]) -> Anchor | None:
    """None where several files are named: the lesson may hold for any of them."""
    there = {
        path: seen
        for path in named_in(text)
        if not os.path.isabs(path) and ".." not in Path(path).parts
        if (seen := next(filter(None, (_sketch(folder / path) for folder in folders)), None))
    }
    return Anchor(lesson, *next(iter(there.items()))) if len(there) == 1 else None


def _folders(db: Database, project: str) -> list[Path]:
    return [path for root in lessons.roots_of(db, project) if (path := Path(os.path.expanduser(root))).is_dir()]


def _sketch(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > _BYTES_PER_FILE:
            return None
        return sketch(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
