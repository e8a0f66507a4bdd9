"""An ATOCore database: projects, documents with their chunks, memories, interactions.

Databases from before some of its columns were added are read as well: what is not there has its default.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from hardwon.exchange.intake import Intake, Taken, database
from hardwon.model.lesson import STATUSES, Kind
from hardwon.store import fulltext, integrity
from hardwon.store.database import Database, insert
from hardwon.store.lessons import Cited, LessonRow
from hardwon.text.normalise import derived, digest

_TABLES: dict[str, dict[str, object]] = {
    "projects": {
        "id": "", "name": "", "description": "", "status": "active", "created_at": None, "updated_at": None,
    },
    "source_documents": {
        "id": "", "file_path": "", "file_hash": "", "title": "", "doc_type": "markdown", "tags": "[]",
        "ingested_at": None, "updated_at": None,
    },
    "source_chunks": {
        "id": "", "document_id": "", "chunk_index": 0, "content": "", "heading_path": "", "metadata": "{}",
        "created_at": None,
    },
    "memories": {
        "id": "", "memory_type": "", "content": "", "project": "", "source_chunk_id": None, "confidence": 1.0,
        "status": "active", "last_referenced_at": None, "reference_count": 0, "created_at": None, "updated_at": None,
        "domain_tags": "[]", "valid_until": None,
    },
    "interactions": {
        "id": "", "prompt": "", "context_pack": "{}", "response_summary": "", "response": "", "memories_used": "[]",
        "chunks_used": "[]", "client": "", "session_id": "", "project": "", "project_id": None, "created_at": None,
    },
}  # fmt: skip
_COUNTED = frozenset(("char_count",))
"""What the store counts by itself."""
_NEEDS = {"memories": frozenset(("id", "memory_type", "content")), "interactions": frozenset(("id", "prompt"))}
_KINDS: dict[str, Kind] = {"identity": "identity", "preference": "preference", "adaptation": "decision"}
"""All other types of memory are facts; a tag keeps what it was."""
_HASH = re.compile(r"[0-9a-fA-F]{32,128}")


def take(db: Database, path: Path, *, trusted: bool = False) -> Taken:
    """Inside a transaction. A memory keeps its status, for that was decided by whoever owns the database.

    Nobody is known to have vouched for its words: they are `claimed`, unless the person who imports them does.
    """
    with database(path, "an ATOCore database", _NEEDS) as found:
        work = _AtocoreImport(Intake(db, "atocore", found.changed), "human" if trusted else "claimed")
        steps = (work.project, work.document, work.chunk, work.memory, work.interaction)
        for (table, columns), step in zip(_TABLES.items(), steps, strict=True):
            for row in found.rows(table, columns):
                step(row)
        for other in found.others({table: {*columns, *_COUNTED} for table, columns in _TABLES.items()}):
            work.intake.leave_out(f"{other}: the store has no place for it")
        return work.intake.report()


class _AtocoreImport:
    """One method a table, in the order of _TABLES; old ids are kept to find the new ones by."""

    def __init__(self, intake: Intake, trust: str) -> None:
        self.intake = intake
        self._trust = trust
        self._db = intake.db
        self._projects: dict[str, str] = {}
        self._documents: dict[str, str] = {}
        self._chunks: dict[str, tuple[str, int]] = {}
        self._lessons: dict[str, str] = {}
        self._positions: dict[str, set[int]] = {}

    def project(self, row: dict[str, Any]) -> None:
        name = self.intake.text(row["name"])
        id = self.intake.project(name)
        self._projects[str(row["id"])] = id
        if not self._is_new("project_alias", "name", name):
            return
        self._db.execute(insert("project_alias", ("name", "project")), (name, id))
        description = self.intake.text(row["description"])
        self._db.execute("UPDATE project SET description = ? WHERE id = ? AND description = ''", (description, id))
        status = self.intake.text(row["status"])
        if status == "archived":
            self._db.execute("UPDATE project SET status = 'archived' WHERE id = ?", (id,))
        times = {name: self.intake.text(row[name]) for name in ("created_at", "updated_at")}
        fields = {"id": self.intake.text(row["id"]), "name": name, "description": description, "status": status}
        self.intake.remember(id, fields | times)

    def document(self, row: dict[str, Any]) -> None:
        intake = self.intake
        id = derived("D", "atocore", str(row["id"]), str(row["ingested_at"]))
        self._documents[str(row["id"])] = id
        new = self._is_new("document", "id", id)
        intake.count("documents", new=new)
        if not new:
            return
        path, hashed = intake.text(row["file_path"]), str(row["file_hash"])
        if not self._is_new("document", "path", path):  # another text that was kept at the same place
            path = f"{path}#{id}"
        at = intake.time(row["ingested_at"])
        values = {
            "id": id,
            "path": path,
            "project": None,
            "hash": hashed if _HASH.fullmatch(hashed) else intake.text(hashed),
            "title": intake.text(row["title"]),
            "type": intake.text(row["doc_type"]),
            "tags": intake.json(row["tags"], "[]"),
            "ingested_at": at,
            "updated_at": intake.time_or_none(row["updated_at"]) or at,
        }
        self._db.execute(insert("document", tuple(values)), tuple(values.values()))

    def chunk(self, row: dict[str, Any]) -> None:
        intake = self.intake
        id = derived("C", "atocore", str(row["id"]), str(row["created_at"]))
        document = self._documents.get(str(row["document_id"]))
        if document is None:
            intake.leave_out(f"chunk {intake.text(row['id'])}: its document is not in the database")
            return
        position = self._position(document, row["chunk_index"])
        self._chunks[str(row["id"])] = id, position
        new = self._is_new("chunk", "id", id)
        intake.count("chunks", new=new)
        if not new:
            return
        content, heading = intake.text(row["content"]), intake.text(row["heading_path"])
        values = {
            "id": id,
            "document": document,
            "position": position,
            "heading_path": heading,
            "content": content,
            "hash": digest(content),
            "metadata": intake.json(row["metadata"], "{}"),
            "created_at": intake.time(row["created_at"]),
        }
        self._db.execute(insert("chunk", tuple(values)), tuple(values.values()))
        fulltext.add(self._db, id, "chunk", f"{heading} {content}")

    def memory(self, row: dict[str, Any]) -> None:
        intake = self.intake
        text = intake.text(row["content"]).strip()
        name = intake.text(row["id"])
        if not text:
            intake.leave_out(f"memory {name}: it is empty")
            return
        at, project = intake.time(row["created_at"]), intake.text(row["project"])
        type, status = intake.text(row["memory_type"]), intake.text(row["status"])
        tags = [*intake.names(row["domain_tags"]), f"memory:{type}"]
        if status not in STATUSES:
            tags.append(f"status:{status}")
        sure = row["confidence"] if isinstance(row["confidence"], int | float) else 1.0
        made = LessonRow(
            id=derived("L", "atocore", str(row["id"]), str(row["created_at"])),
            kind=_KINDS.get(type, "fact"),
            text=text,
            scope="project" if project else "global",
            project=intake.project(project) if project else None,
            agent="",
            base_confidence=min(1.0, max(0.0, float(sure))),
            confidence=min(1.0, max(0.0, float(sure))),
            status=status if status in STATUSES else "candidate",
            trust=self._trust,
            rule="",
            failure="",
            first_seen=at,
            last_confirmed=intake.time_or_none(row["updated_at"]) or at,
            source_count=1,
            harvester_version=0,
            tags=msgspec.json.encode(tags).decode(),
            valid_until=intake.time_or_none(row["valid_until"]),
            last_referenced=intake.time_or_none(row["last_referenced_at"]),
            reference_count=row["reference_count"] if isinstance(row["reference_count"], int) else 0,
        )
        why = f"memory {name} of ATOCore"
        self._lessons[str(row["id"])] = intake.lesson(made, self._sources(name, row, at, text), why)

    def _sources(self, name: str, row: dict[str, Any], at: int, text: str) -> list[Cited]:
        root = f"import:atocore:{name}"
        places = [(root, 0)]
        if chunk := self._chunks.get(str(row["source_chunk_id"])):
            places.append(chunk)
        return [Cited("", source, position, root, at, text, "import") for source, position in places]

    def interaction(self, row: dict[str, Any]) -> None:
        intake = self.intake
        id = derived("I", "atocore", str(row["id"]), str(row["created_at"]))
        prompt = intake.text(row["prompt"])
        if not prompt.strip():
            intake.leave_out(f"interaction {intake.text(row['id'])}: its prompt is empty")
            return
        new = self._is_new("interaction", "id", id)
        intake.count("interactions", new=new)
        if not new:
            return
        project = intake.text(row["project"])
        values = {
            "id": id,
            "session": intake.text(row["session_id"]),
            "project": intake.project(project) if project else self._projects.get(str(row["project_id"])),
            "client": intake.text(row["client"]),
            "prompt": prompt,
            "response": intake.text(row["response"]),
            "response_summary": intake.text(row["response_summary"]),
            "context": intake.json(row["context_pack"], "{}"),
            "lessons_used": _renamed(intake.names(row["memories_used"]), self._lessons),
            "chunks_used": _renamed(
                intake.names(row["chunks_used"]), {old: chunk[0] for old, chunk in self._chunks.items()}
            ),
            "created_at": intake.time(row["created_at"]),
        }
        sealed = integrity.seal_of_fields("interaction", values)
        self._db.execute(insert("interaction", (*values, "seal")), (*values.values(), sealed))
        answer = values["response"] or values["response_summary"]
        fulltext.add(self._db, id, "interaction", f"{prompt} {answer}")

    def _position(self, document: str, wanted: object) -> int:
        """ATOCore lets two chunks of a document have the same index; here the second one has the next free."""
        taken = self._positions.setdefault(document, set())
        position = wanted if isinstance(wanted, int) else len(taken)
        while position in taken:
            position += 1
        taken.add(position)
        return position

    def _is_new(self, table: str, column: str, value: str) -> bool:
        return not self._db.query(f"SELECT 1 FROM {table} WHERE {column} = ?", (value,))


def _renamed(names: list[str], ids: dict[str, str]) -> str:
    """Ids of the database as those of the store; what it had deleted keeps its old one."""
    return msgspec.json.encode([ids.get(name, name) for name in names]).decode()
