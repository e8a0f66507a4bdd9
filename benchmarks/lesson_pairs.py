"""How well two lessons are told to be the same, in conflict, or two; on pairs of our own (tests/data/lesson_pairs.txt).

`python -m benchmarks.lesson_pairs` prints the tables in docs/trust.md; `--wrong` prints the pairs of the half that
rules may be tuned on which go wrong. The other half is for counting alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks.timing import markdown
from oldhand.harvest.alike import gist, relation

PAIRS = Path(__file__).parent.parent / "tests" / "data" / "lesson_pairs.txt"
VERDICTS = ("same", "conflict", "two")
_MEANT = {"same": "same", "opposite": "conflict", "value": "conflict", "related": "two", "special": "two"}
_FOUND = {"same": "same", "opposite": "conflict", "other value": "conflict", "unrelated": "two"}


class Pair(NamedTuple):
    kind: str
    one: str
    other: str

    @property
    def meant(self) -> str:
        return _MEANT[self.kind]

    @property
    def found(self) -> str:
        return _FOUND[relation(gist(self.one), gist(self.other))]

    @property
    def is_for_tuning(self) -> bool:
        return sha256(f"{self.one}|{self.other}".encode()).digest()[0] % 2 == 0


def pairs() -> list[Pair]:
    lines = [line for line in PAIRS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [Pair(*(part.strip() for part in line.split(" | "))) for line in lines]


def table(title: str, some: Sequence[Pair]) -> str:
    rows = [_row(verdict, some) for verdict in VERDICTS]
    right = sum(pair.found == pair.meant for pair in some)
    wrong = sum(pair.found == "same" and pair.meant != "same" for pair in some)
    note = f"{right} of {len(some)} pairs as meant; {wrong} wrong merges."
    return markdown(title, ("verdict", "meant", "found", "precision", "recall"), rows, note)


def _row(verdict: str, some: Iterable[Pair]) -> tuple[str, ...]:
    verdicts = [(pair.meant, pair.found) for pair in some]
    meant, found = (sum(both[at] == verdict for both in verdicts) for at in (0, 1))
    right = verdicts.count((verdict, verdict))
    return verdict, f"{meant}", f"{found}", f"{right / max(1, found):.3f}", f"{right / max(1, meant):.3f}"


if __name__ == "__main__":
    every = pairs()
    halves = [pair for pair in every if pair.is_for_tuning], [pair for pair in every if not pair.is_for_tuning]
    print(table("Pairs to tune on", halves[0]))
    print(table("Pairs held out", halves[1]))
    for pair in halves[0]:
        if "--wrong" in sys.argv and pair.found != pair.meant:
            print(f"{pair.kind}, found {pair.found}: {pair.one} | {pair.other}")
