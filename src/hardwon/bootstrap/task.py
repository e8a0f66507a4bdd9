"""What kind of work a task is, and which lines help with that kind."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from hardwon.text.words import terms

TaskType = Literal["", "explore", "implement", "debug", "review", "refactor"]

_CUES: dict[TaskType, str] = {
    "debug": "fix bug debug error fail failing failure crash broken traceback exception regression flaky hang wrong "
    "investigate diagnose reproduce stack panic",
    "review": "review audit check verify approve critique inspect pr pull lint security",
    "refactor": "refactor rename extract split move simplify clean cleanup restructure deduplicate tidy migrate "
    "upgrade",
    "explore": "explain explore understand how why what where find describe overview document learn summarize read "
    "tell",
    "implement": "add implement build create write support make introduce integrate feature extend enable expose",
}
_WEIGHTS: dict[TaskType, dict[str, float]] = {
    "debug": {"failure": 1.5, "pitfall": 1.4, "tool-quirk": 1.2, "question": 0.8},
    "review": {"preference": 1.3, "decision": 1.3, "pattern": 1.1, "failure": 0.8},
    "refactor": {"pattern": 1.3, "decision": 1.2, "preference": 1.1, "pitfall": 1.1},
    "explore": {"fact": 1.3, "decision": 1.2, "question": 1.5, "failure": 0.7},
    "implement": {"pattern": 1.2, "preference": 1.1, "pitfall": 1.1},
}
_STEMS = {kind: frozenset(terms(words)) for kind, words in _CUES.items()}
_FIRST_WORDS = 12


@lru_cache(maxsize=64)
def task_type(task: str) -> TaskType:
    """By the words it is made of, those at its beginning counting double; empty when they do not tell."""
    said = terms(task)
    points = {
        kind: sum((2 if at < _FIRST_WORDS else 1) for at, word in enumerate(said) if word in stems)
        for kind, stems in _STEMS.items()
    }
    best = max(points, key=points.__getitem__)
    return best if points[best] else ""


def weight(task: TaskType, kind: str) -> float:
    """How much more a line of this kind is worth for such a task."""
    return _WEIGHTS.get(task, {}).get(kind, 1.0)
