"""A text file as a document with a chunk a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from oldhand.exchange.intake import Intake
from oldhand.store import index
from oldhand.store.database import insert
from oldhand.store.ids import derived
from oldhand.text.digest import digest

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_TYPES = {".md": "markdown", ".yaml": "yaml", ".yml": "yaml"}


def save(intake: Intake, path: Path, text: str) -> None:
    """Keep a file as it is now, in place of what an earlier import kept of it."""
    db, content = intake.db, intake.text(text)
    place = intake.text(path.resolve())
    id = derived("D", place)
    hashed = digest(content, size=16)
    known = db.query("SELECT id, hash FROM document WHERE path = ?", (place,))
    intake.count("documents", new=not known)
    if known == [(id, hashed)]:
        return
    for old, _ in known:
        db.unindex(row[0] for row in db.query("SELECT id FROM chunk WHERE document = ?", (old,)))
        db.execute("DELETE FROM document WHERE id = ?", (old,))
    at = path.stat().st_mtime_ns // 1000
    parts = list(_sections(content)) if path.suffix == ".md" else [("", content)]
    title = next((heading for heading, _ in parts if heading), path.stem)
    columns = ("id", "path", "project", "hash", "title", "type", "tags", "ingested_at", "updated_at")
    kind = _TYPES.get(path.suffix, "text")
    db.execute(insert("document", columns), (id, place, None, hashed, title, kind, "[]", at, at))
    chunk = ("id", "document", "position", "heading_path", "content", "hash", "metadata", "created_at")
    for position, (heading, part) in enumerate(parts):
        part_id = derived("C", id, str(position))
        row = (part_id, id, position, heading, part, digest(part), "{}", at)
        db.execute(insert("chunk", chunk), row)
        index.add(db, part_id, "chunk", f"{heading} {part}")
        intake.count("chunks", new=True)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """(heading path, text below it); what stands in a code fence is no heading."""
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        heading = None if fenced else _HEADING.fullmatch(line.rstrip())
        if heading is None:
            lines.append(line)
            continue
        if any(map(str.strip, lines)):
            yield " > ".join(title for _, title in path), "\n".join(lines).strip("\n")
        lines = []
        level = len(heading[1])
        path = [*((depth, title) for depth, title in path if depth < level), (level, heading[2])]
    if any(map(str.strip, lines)):
        yield " > ".join(title for _, title in path), "\n".join(lines).strip("\n")
