"""Earlier tries at something like a task: what was tried, what came of it, and what was learned."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hardwon.failures.signature import reads_like_an_order
from hardwon.failures.tools import danger
from hardwon.model.attempt import FAILED, Outcome
from hardwon.model.nouns import Line
from hardwon.recall.similar_attempts import similar
from hardwon.store import attempts
from hardwon.store.attempts import AttemptLine
from hardwon.store.database import Database
from hardwon.text.normalise import named_in
from hardwon.text.shown import day, one_line
from hardwon.text.words import terms, unique_terms

_FAILURES_TOLD = 3
_SUCCESSES_TOLD = 2
_LEAST_ALIKE = 0.5
"""How like an earlier try must be; half of the words alone are a coincidence."""
_LEAST_WORDS_SHARED = 2
_LEAST_SHARE_OF_WORDS = 0.5
_CONSIDERED = 20
_FILES_NAMED = 2
_LEAST_WORDS_OF_A_TASK = 2
_LINE_CHARACTERS = 240
_TASK_CHARACTERS = 100
_QUOTE_CHARACTERS = 140
_WEIGHT = 0.7
_MORE_FOR_A_NAMED_FILE = 0.3
_OF_A_MOMENT = re.compile(r"(?i)\$|(?:^|[\\/])(?:te?mp|scratch(?:pad)?)[\\/]")
"""A path with a variable of its shell, or of a folder that is emptied."""
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_WHOLE_PATH = re.compile(r"[/~\\]|[A-Za-z]:[\\/]")
_OUTCOMES = (*FAILED, Outcome.SUCCESS)


def attempt_lines(db: Database, project: str, task: str, fresh: Callable[[int], float]) -> list[Line]:
    """Tries most like the task in the journal's order, failed ones first; to have touched a file that it names counts.

    They must speak of it themselves: words that only a path or an output shares with it are a coincidence. Of those
    that worked only what says how it was done. `fresh` tells what is left of a line's worth after so long.
    """
    if not attempts.any_there(db):
        return []
    files = named_in(task)
    said = set(unique_terms(task))
    alike = similar(db, task, files=files, project=project, limit=_CONSIDERED)
    told = {row.id: row for row in attempts.told(db, [found.id for found in alike])}
    failed: list[Line] = []
    worked: list[Line] = []
    for found in alike:
        row = told[found.id]
        touched = sorted(path for path in row.files if any(_same(path, name) for name in files))
        score = min(1.0, found.score + (_MORE_FOR_A_NAMED_FILE if touched else 0.0))
        about = touched or _speaks_of(said, row)
        if row.outcome in _OUTCOMES and score >= _LEAST_ALIKE and about and may_be_told(row):
            lines = worked if row.outcome == Outcome.SUCCESS else failed
            lines.append(_line(row, score, fresh(row.started_at), touched))
    for lines in (failed, worked):
        lines.sort(key=lambda line: (-line.score, line.id))
    return failed[:_FAILURES_TOLD] + worked[:_SUCCESSES_TOLD]


def _speaks_of(said: set[str], row: AttemptLine) -> bool:
    """Whether who wrote it down used half of the words of the task, two at least where it has so many."""
    own = {*terms(row.task), *terms(row.approach), *terms(row.reflection)}
    return len(said & own) >= max(min(len(said), _LEAST_WORDS_SHARED), len(said) * _LEAST_SHARE_OF_WORDS)


def gives_orders(text: str) -> bool:
    """Whether a sentence of it asks its reader for something, or does what should be looked at twice."""
    return bool(danger(text)) or any(reads_like_an_order(one_line(part)) for part in _SENTENCE.split(text))


def quoted(text: str, *, of_stranger: bool, longest: int = _QUOTE_CHARACTERS) -> str:
    """Somebody's words as data. What came with a token or from a file is not repeated where it gives orders."""
    if not text.strip() or (of_stranger and gives_orders(text)):
        return ""
    return '"' + shortened(one_line(text).replace('"', "'"), longest) + '"'


def shortened(text: str, longest: int = _LINE_CHARACTERS) -> str:
    """Cut between words, if one ends near."""
    if len(text) <= longest:
        return text
    start = text[: longest - 1]
    return (start[: start.rfind(" ")] if start.rfind(" ") > longest * 0.8 else start).rstrip() + "…"


def may_be_told(row: AttemptLine) -> bool:
    """A task such as `address 3 and 8` means nothing without the talk that it was part of.

    A task is an order by nature; a stranger's must order nothing beside it.
    """
    if row.of_stranger and gives_orders(f"to {row.task}"):
        return False
    if row.outcome == Outcome.SUCCESS and not (_by(row) or _learned(row)):
        return False
    return bool(row.signature) or sum(term.isalpha() for term in unique_terms(row.task)) >= _LEAST_WORDS_OF_A_TASK


def _line(row: AttemptLine, score: float, fresh: float, touched: list[str]) -> Line:
    named = f", touched {', '.join(touched[:_FILES_NAMED])}" if touched else ""
    return Line(
        id=row.id,
        kind="attempt",
        text=said_of(row, touched),
        score=round(score * fresh * _WEIGHT, 9),
        why=f"an attempt like the task {score:.2f} × recency {fresh:.2f}{named}; outcome by {row.evidence or 'nobody'}",
        source=f"attempt {row.number}",
    )


def said_of(row: AttemptLine, touched: Sequence[str] = ()) -> str:
    """In words of our own and of whoever wrote it down; of its output no more than the error's signature."""
    worked = row.outcome == Outcome.SUCCESS
    about = (
        f"{'Worked' if worked else 'Tried'} {day(row.started_at)}: {shortened(one_line(row.task), _TASK_CHARACTERS)}"
    )
    by = f", by {_by(row)}" if _by(row) else ""
    came = "" if worked else f" → {row.outcome}"
    error = f" with {row.signature}" if row.signature and not worked else ""
    shown = [path for path in dict.fromkeys([*touched, *row.files]) if not _OF_A_MOMENT.search(path)][:_FILES_NAMED]
    files = f" ({', '.join(one_line(_short(path)) for path in shown)})" if shown else ""
    learned = f" Learned: {_learned(row)}." if _learned(row) else ""
    return shortened(f"{about}{by}{came}{error}{files}.") + learned


def _by(row: AttemptLine) -> str:
    return quoted(row.approach, of_stranger=row.of_stranger)


def _learned(row: AttemptLine) -> str:
    """What to do another time; where nobody wrote that down, why it failed."""
    said = (row.reflection, row.failure_analysis)
    return next(filter(None, (quoted(text, of_stranger=row.of_stranger) for text in said)), "")


def _same(path: str, name: str) -> bool:
    """Whether a file is the one that is named, or lies in the folder that is."""
    return path == name or path.endswith(f"/{name}") or name.endswith(f"/{path}") or path.startswith(f"{name}/")


def _short(path: str) -> str:
    """A path of this machine by its last two names: the folders above are the same for all."""
    return "/".join(re.split(r"[\\/]", path)[-2:]) if _WHOLE_PATH.match(path) else path
