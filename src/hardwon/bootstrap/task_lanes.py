"""What only a task brings: earlier tries at something like it, and what documents say about it."""

from __future__ import annotations

from collections.abc import Callable

from hardwon.failures.phrase import day
from hardwon.model.bootstrap import Line
from hardwon.model.outcome import FAILED
from hardwon.recall.similar_attempts import similar
from hardwon.store import attempts, documents
from hardwon.store.attempts import Told
from hardwon.store.database import Database
from hardwon.text.fence import one_line
from hardwon.text.paths import named_in
from hardwon.text.words import terms, unique_terms

_MOST_ATTEMPTS = 3
_ALIKE = 0.5
"""How like an earlier try must be; half of the words alone are a coincidence."""
_MOST_CHUNKS = 3
_FITTING = 0.25
_FEWEST_SHARED = 2
"""One common word is a coincidence."""
_POOL = 20
_MOST_TERMS = 48
_MOST_FILES = 2
_FEWEST_WORDS = 2
_LONGEST = 240
_LONGEST_TASK = 100
_ATTEMPT_WEIGHT, _CHUNK_WEIGHT = 0.7, 0.5
_NAMES_THE_FILE = 0.3


def attempt_lines(db: Database, project: str, task: str, fresh: Callable[[int], float]) -> list[Line]:
    """Tries that failed, most like the task first; to have touched a file that the task names counts, too.

    `fresh` tells what is left of a line's worth after so long.
    """
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
        if score >= _ALIKE and _says_something(row):
            lines.append(_attempt(row, score, fresh(row.started_at), touched))
    lines.sort(key=lambda line: (-line.score, line.id))
    return lines[:_MOST_ATTEMPTS]


def _says_something(row: Told) -> bool:
    """A task such as `address 3 and 8` means nothing without the talk that it was part of."""
    return bool(row.signature) or sum(term.isalpha() for term in unique_terms(row.task)) >= _FEWEST_WORDS


def _attempt(row: Told, score: float, fresh: float, touched: list[str]) -> Line:
    """In words of our own and of whoever set the task; of its output no more than the error's signature."""
    about = f"Tried {day(row.started_at)}: {_cut(one_line(row.task), _LONGEST_TASK)} → {row.outcome}"
    error = f" with {row.signature}" if row.signature else ""
    shown = list(dict.fromkeys([*touched, *row.files]))[:_MOST_FILES]
    files = f" ({', '.join(one_line(_short(path)) for path in shown)})" if shown else ""
    named = f", touched {', '.join(touched[:_MOST_FILES])}" if touched else ""
    return Line(
        id=row.id,
        kind="attempt",
        text=_cut(f"{about}{error}{files}."),
        score=round(score * fresh * _ATTEMPT_WEIGHT, 9),
        why=f"an attempt like the task {score:.2f} × recency {fresh:.2f}{named}; outcome by {row.evidence or 'nobody'}",
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


def _short(path: str) -> str:
    """A path of this machine by its last two names: the folders above are the same for all."""
    return "/".join(path.split("/")[-2:]) if path.startswith(("/", "~")) else path


def _cut(text: str, longest: int = _LONGEST) -> str:
    """Between words, if one ends near."""
    if len(text) <= longest:
        return text
    start = text[: longest - 1]
    return (start[: start.rfind(" ")] if start.rfind(" ") > longest * 0.8 else start).rstrip() + "…"
