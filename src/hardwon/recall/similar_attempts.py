"""Which attempts were like the one in mind: all of them are asked, by task, files, words and errors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hardwon.store import attempts
from hardwon.store.attempts import SimilarAttempt
from hardwon.store.database import Database
from hardwon.text.words import terms, unique_terms

_MAX_QUERY_TERMS = 48
_MIN_LIKENESS = 0.1
_WORDS_WEIGHT = 0.7
"""The weight of the words themselves; the rest is the index's, which has seen test output, too."""
_FIELD_WEIGHTS = {"task": 1.0, "files": 0.8, "failure_analysis": 0.7, "approach": 0.6, "reflection": 0.5}
_MAX_FIELD_CHARACTERS = 2_000


class Alike(NamedTuple):
    """An attempt, how much it is like the task (0 to 1), and the words they share."""

    id: str
    score: float
    matched: tuple[str, ...]


def similar(
    db: Database,
    task: str,
    *,
    files: Sequence[str] = (),
    outcomes: Sequence[str] | None = None,
    project: str | None = None,
    limit: int = 5,
) -> list[Alike]:
    """The attempts most like a task, the newer first among equals."""
    wanted = unique_terms(" ".join((task, *files)))[:_MAX_QUERY_TERMS]
    if limit <= 0 or not wanted:
        return []
    found = attempts.matching(db, wanted, outcomes=outcomes, project=project)
    strengths = [_strengths(match, set(wanted)) for match in found]
    rarity = _rarity(wanted, strengths)
    best = max((match.score for match in found), default=0.0)
    scored = []
    for match, strength in zip(found, strengths, strict=True):
        words = sum(rarity[term] * strength[term] for term in strength) / sum(rarity.values())
        by_index = match.score / best if best > 0 else 0.0
        score = round(_WORDS_WEIGHT * words + (1 - _WORDS_WEIGHT) * by_index, 2)
        if score >= _MIN_LIKENESS:
            scored.append((score, match, strength))
    scored.sort(key=lambda entry: (-entry[0], -entry[1].started_at, -entry[1].number))
    return [Alike(match.id, score, _matched(task, strength)) for score, match, strength in scored[:limit]]


def _strengths(match: SimilarAttempt, wanted: set[str]) -> dict[str, float]:
    """Wanted term → the weight of the most telling field that has it."""
    texts = {**match._asdict(), "files": " ".join(file.path for file in match.files)}
    found: dict[str, float] = {}
    for name, weight in _FIELD_WEIGHTS.items():
        for term in wanted.intersection(terms(texts[name][:_MAX_FIELD_CHARACTERS])):
            found.setdefault(term, weight)
    return found


def _rarity(wanted: Sequence[str], strengths: Sequence[dict[str, float]]) -> dict[str, float]:
    """What all candidates have tells them apart least."""
    seen = Counter(term for strength in strengths for term in strength)
    total = len(strengths)
    return {term: 1 + math.log(1 + (total - seen[term] + 0.5) / (seen[term] + 0.5)) for term in wanted}


def _matched(task: str, strength: dict[str, float]) -> tuple[str, ...]:
    """The words of the task that were found, as they are written there."""
    words = (word.strip(".,;:!?()[]'\"`") for word in task.split())
    return tuple(dict.fromkeys(word for word in words if not strength.keys().isdisjoint(terms(word))))
