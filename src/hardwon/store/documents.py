"""Documents and their chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hardwon.store import fulltext
from hardwon.store.database import Database, insert, marks
from hardwon.text.normalise import derived, digest
from hardwon.text.sections import Section


class DocumentRow(NamedTuple):
    id: str
    path: str
    project: str | None
    hash: str
    title: str
    type: str
    tags: str
    ingested_at: int
    updated_at: int


class ChunkRow(NamedTuple):
    id: str
    document: str
    position: int
    heading_path: str
    content: str
    hash: str
    metadata: str
    created_at: int


def document_id(path: str) -> str:
    return derived("D", path)


def save(db: Database, row: DocumentRow, parts: Sequence[Section]) -> None:
    """Put a document in the place of what is known of its path. Inside a transaction."""
    remove(db, [known.id for known in at_paths(db, [row.path])])
    remove(db, [row.id])
    db.execute(insert("document", DocumentRow._fields), row)
    chunks = [
        ChunkRow(
            derived("C", row.id, str(position)), row.id, position, part.heading, part.text, digest(part.text), "{}",
            row.updated_at,
        )
        for position, part in enumerate(parts)
    ]  # fmt: skip
    db.bulk(insert("chunk", ChunkRow._fields), chunks)
    db.index(fulltext.entry(chunk.id, "chunk", f"{chunk.heading_path} {chunk.content}") for chunk in chunks)


def move(db: Database, id: str, path: str, at: int) -> None:
    """The same text at another place; its chunks stay."""
    db.execute("UPDATE document SET path = ?, ingested_at = ? WHERE id = ?", (path, at, id))


def remove(db: Database, ids: Sequence[str]) -> None:
    """With their chunks; a lesson that cites one keeps its quote. Inside a transaction."""
    if not ids:
        return
    rows = db.query(f"SELECT id FROM chunk WHERE document IN ({marks(ids)})", ids)
    db.unindex(row[0] for row in rows)
    db.execute(f"DELETE FROM document WHERE id IN ({marks(ids)})", ids)


def at_paths(db: Database, paths: Sequence[str]) -> list[DocumentRow]:
    rows = db.query(f"SELECT {_COLUMNS} FROM document WHERE path IN ({marks(paths)}) ORDER BY path", paths)
    return [DocumentRow(*row) for row in rows]


def get(db: Database, id: str) -> tuple[DocumentRow, list[ChunkRow]] | None:
    """A document with its chunks in their order."""
    rows = db.query(f"SELECT {_COLUMNS} FROM document WHERE id = ?", (id,))
    chunks = db.query(f"SELECT {', '.join(ChunkRow._fields)} FROM chunk WHERE document = ? ORDER BY position", (id,))
    return (DocumentRow(*rows[0]), [ChunkRow(*chunk) for chunk in chunks]) if rows else None


def listed(db: Database, project: str | None = None) -> list[DocumentRow]:
    rows = db.query(
        f"SELECT {_COLUMNS} FROM document WHERE (? IS NULL OR project = ?) ORDER BY path", (project, project)
    )
    return [DocumentRow(*row) for row in rows]


def any_there(db: Database) -> bool:
    return bool(db.query("SELECT 1 FROM chunk LIMIT 1"))


def chunks(db: Database, ids: Sequence[str]) -> dict[str, tuple[ChunkRow, DocumentRow]]:
    """Chunk id → the chunk and the document it is of."""
    if not ids:
        return {}
    both = [f"c.{name}" for name in ChunkRow._fields] + [f"d.{name}" for name in DocumentRow._fields]
    rows = db.query(
        f"SELECT {', '.join(both)} FROM chunk c JOIN document d ON d.id = c.document WHERE c.id IN ({marks(ids)})", ids
    )
    size = len(ChunkRow._fields)
    return {row[0]: (ChunkRow(*row[:size]), DocumentRow(*row[size:])) for row in rows}


_COLUMNS = ", ".join(DocumentRow._fields)
