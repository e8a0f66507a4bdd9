"""What only a task brings: earlier tries at something like it, and what documents say about it."""

from __future__ import annotations

from oldhand.failures.phrase import day
from oldhand.model.bootstrap import Line
from oldhand.model.outcome import FAILED
from oldhand.recall.attempts import similar
from oldhand.store import attempts, documents
from oldhand.store.attempts import Told
from oldhand.store.database import Database
from oldhand.text.fence import one_line
from oldhand.text.files import named_in
from oldhand.text.words import terms, unique_terms

_MOST_ATTEMPTS = 3
_ALIKE = 0.5
"""How like an earlier try must be; half of the words alone are a coincidence."""
_MOST_CHUNKS = 3
_FITTING = 0.25
_FEWEST_SHARED = 2
"""One common word is a coincidence."""
_POOL = 20
_MOST_TERMS = 48
_MOST_FILES = 3
_LONGEST = 240
_LONGEST_TASK = 100
_ATTEMPT_WEIGHT, _CHUNK_WEIGHT = 0.7, 0.5
_NAMES_THE_FILE = 0.3


def attempt_lines(db: Database, project: str, task: str) -> list[Line]:
    """Tries that failed, most like the task first; to have touched a file that the task names counts, too."""
    if not attempts.any_there(db):
        return []
    files = named_in(task)
    alike = similar(db, task, files=files, outcomes=[outcome.value for outcome in FAILED], project=project, limit=_POOL)
    told = {row.id: row for row in attempts.told(db, [found.id for found in alike])}
    lines = []
    for found in alike:
        row = told[found.id]
        touched = sorted(path for path in row.files if any(_same(path, name) for name in files))
        score = min(1.0, found.score + (_NAMES_THE_FILE if touched else 0.0))
        if score >= _ALIKE:
            lines.append(_attempt(row, score, touched))
    lines.sort(key=lambda line: (-line.score, line.id))
    return lines[:_MOST_ATTEMPTS]


def _attempt(row: Told, score: float, touched: list[str]) -> Line:
    """In words of our own and of whoever set the task; of its output no more than the error's signature."""
    about = f"Tried {day(row.started_at)}: {one_line(row.task)[:_LONGEST_TASK]} → {row.outcome}"
    error = f" with {row.signature}" if row.signature else ""
    files = f" ({', '.join(map(one_line, row.files[:_MOST_FILES]))})" if row.files else ""
    named = f", touched {', '.join(touched[:_MOST_FILES])}" if touched else ""
    return Line(
        id=row.id,
        kind="attempt",
        text=_cut(f"{about}{error}{files}."),
        score=round(score * _ATTEMPT_WEIGHT, 9),
        why=f"an attempt like the task {score:.2f}{named}; outcome by {row.evidence or 'nobody'}",
        source=f"attempt {row.number}",
    )


def chunk_lines(db: Database, project: str, task: str) -> list[Line]:
    """What the project's documents, or those of no project, say about a task."""
    if not documents.any_there(db):
        return []
    wanted = unique_terms(task)[:_MOST_TERMS]
    found = db.matches(wanted, _POOL, types=("chunk",))
    known = documents.chunks(db, [id for id, _, score in found if score >= _FITTING])
    lines = []
    for id, _, score in found:
        if id not in known or known[id][1].project not in (project, None):
            continue
        chunk, document = known[id]
        if len(set(wanted).intersection(terms(f"{chunk.heading_path} {chunk.content}"))) < _FEWEST_SHARED:
            continue
        place = f"{document.path} > {chunk.heading_path}" if chunk.heading_path else document.path
        text = _cut(f"{one_line(place)}: {one_line(chunk.content)}")
        why = f"a document that fits the task {score:.2f}"
        lines.append(
            Line(id=id, kind="chunk", text=text, score=round(score * _CHUNK_WEIGHT, 9), why=why, source=document.path)
        )
    return lines[:_MOST_CHUNKS]


def _same(path: str, name: str) -> bool:
    """Whether a file is the one that is named, or lies in the folder that is."""
    return path == name or path.endswith(f"/{name}") or name.endswith(f"/{path}") or path.startswith(f"{name}/")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
