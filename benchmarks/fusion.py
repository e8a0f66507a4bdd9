"""Choose the weights of `hardwon/recall/fusion.py`, and tell how well they do on a set that had no say.

    make train-fusion

Every combination is tried on the questions to tune on, by the code of `hardwon search`. What is not tuned on: the
test questions of CoSQA and STS and the talks to check by, which `python -m benchmarks.quality` asks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import NamedTuple

from benchmarks.quality import Set, coding_memory, cosqa, cranfield, sts, tuned_talks
from benchmarks.retrieval import Question, Scores, asking
from benchmarks.timing import markdown
from hardwon.recall import fusion

QUESTIONS = 150
"""Of each set, drawn at random."""
AVERSION = 3.0
"""How much worse it is to fall behind the better part than it is good to be ahead of it."""
_METRIC = "nDCG@10"


class Weights(NamedTuple):
    WEIGHT: float
    TALK_WEIGHT: float
    SLOPE: float
    CODE_FACTOR: float

    def put(self) -> None:
        for name, value in self._asdict().items():
            setattr(fusion, name, value)


IN_USE = Weights(fusion.WEIGHT, fusion.TALK_WEIGHT, fusion.SLOPE, fusion.CODE_FACTOR)
TRIED = [
    Weights(weight, round(weight - fewer, 2), slope, code)
    for weight, fewer, slope, code in product((0.5, 0.6, 0.7, 0.8), (0.0, 0.15), (0.0, 0.15, 0.4), (0.4, 1.0))
]
Gains = Mapping[Weights, float]
"""How far each is ahead of the better of words alone and meaning alone."""


def lessons_and_attempts() -> Set:
    items, questions = coding_memory()
    return [item for item in items if not item.group], [question for question in questions if not question.group]


def talks() -> Set:
    """All as one talk: in one of a dozen turns, ten results are nearly all of them."""
    items, questions = coding_memory()
    together = [item._replace(group="talks") for item in items if item.group]
    return together, [question._replace(group="talks") for question in questions if question.group]


TUNED_ON: dict[str, Callable[[], Set | None]] = {
    "Cranfield": cranfield,
    "CoSQA, dev": lambda: cosqa("dev"),
    "STS, dev": lambda: sts("dev"),
    "coding memory": lessons_and_attempts,
    "coding talks": talks,
    "dated talks": tuned_talks,
}


def gains(of: Set, tried: Iterable[Weights]) -> dict[Weights, float]:
    items, questions = of
    some = random.Random(1).sample(questions, min(QUESTIONS, len(questions)))
    with asking(items) as asked:
        best = max(_mean(asked(some, weight)) for weight in (0.0, 1.0))
        try:
            return {weights: _gain(weights, asked, some) - best for weights in tried}
        finally:
            IN_USE.put()


def _gain(
    weights: Weights, asked: Callable[[Sequence[Question], float], Scores], questions: Sequence[Question]
) -> float:
    weights.put()
    return _mean(asked(questions, 0.5))


def _mean(scores: Scores) -> float:
    return fmean(scores[_METRIC])


def chosen(of: Iterable[Gains]) -> Weights:
    """The best all in all, to which falling behind on one set counts more than being ahead on another."""
    listed = list(of)
    return max(listed[0], key=lambda weights: fmean(_judged(each[weights]) for each in listed))


def _judged(gain: float) -> float:
    return gain if gain > 0 else AVERSION * gain


def table() -> str:
    sets = {name: found for name, load in TUNED_ON.items() if (found := load()) is not None}
    tried = list(dict.fromkeys((IN_USE, *TRIED)))
    measured = {name: gains(found, tried) for name, found in sets.items()}
    rows = []
    for name, own in measured.items():
        others = chosen(each for other, each in measured.items() if other != name)
        rows.append((name, f"{own[IN_USE]:+.3f}", f"{own[others]:+.3f}", _told(others)))
    best = chosen(measured.values())
    note = (
        f"{_METRIC} against the better of words alone and meaning alone, at most {QUESTIONS} questions of each set. "
        f"In use: {_told(IN_USE)}; the best on all of them: {_told(best)}."
    )
    return markdown("Fusion", ("set", "in use", "chosen on the other sets", "which are"), rows, note)


def _told(weights: Weights) -> str:
    return ", ".join(f"{value:.2f}" for value in weights)


if __name__ == "__main__":
    print(table())
