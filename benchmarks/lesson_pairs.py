"""How well two lessons are told to be the same, in conflict, or two; on pairs of our own (tests/data/lesson_pairs.txt).

`python -m benchmarks.lesson_pairs` prints a table for each group; `--wrong` also the pairs that go wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks.timing import markdown
from hardwon.harvest.alike import gist, relation
from hardwon.recall.minilm import MiniLM, installed

COSINES = (0.75, 0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98)
PAIRS = Path(__file__).parent.parent / "tests" / "data" / "lesson_pairs.txt"
VERDICTS = ("same", "conflict", "two")
_MEANT = {"same": "same", "opposite": "conflict", "value": "conflict", "related": "two", "special": "two"}
_FOUND = {"same": "same", "opposite": "conflict", "other value": "conflict", "unrelated": "two"}


class Pair(NamedTuple):
    group: str
    kind: str
    one: str
    other: str

    @property
    def meant(self) -> str:
        return _MEANT[self.kind]

    @property
    def found(self) -> str:
        return _FOUND[relation(gist(self.one), gist(self.other))]


def pairs() -> list[Pair]:
    found: list[Pair] = []
    group = ""
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            group = line.strip("# ").partition(":")[0]
        elif line:
            kind, one, other = (part.strip() for part in line.split(" | "))
            found.append(Pair(_half(one, other) if group == "first" else group, kind, one, other))
    return found


def _half(one: str, other: str) -> str:
    """The rules were tuned on one half alone."""
    return "tuned" if sha256(f"{one}|{other}".encode()).digest()[0] % 2 == 0 else "held out"


def table(title: str, some: Sequence[Pair]) -> str:
    rows = [_row(verdict, some) for verdict in VERDICTS]
    right = sum(pair.found == pair.meant for pair in some)
    wrong = sum(pair.found == "same" and pair.meant != "same" for pair in some)
    note = f"{right} of {len(some)} pairs as meant; {wrong} wrong merges."
    return markdown(title, ("verdict", "meant", "found", "precision", "recall"), rows, note)


def in_meaning(some: Sequence[Pair]) -> str:
    """What would be merged if the model's vectors decided wherever words do not tell that two lessons differ."""
    texts = sorted({text for pair in some for text in (pair.one, pair.other)})
    vectors = dict(zip(texts, MiniLM().embed(texts), strict=True))
    near = [
        (sum(x * y for x, y in zip(vectors[pair.one], vectors[pair.other], strict=True)), pair)
        for pair in some
        if pair.found != "conflict" and _values_agree(pair)
    ]
    rows = []
    for least in COSINES:
        merged = [pair for cosine, pair in near if cosine >= least]
        right = sum(pair.meant == "same" for pair in merged)
        against = sum(pair.meant == "conflict" for pair in merged)
        found = right / sum(pair.meant == "same" for pair in some)
        rows.append((f"{least}", f"{len(merged)}", f"{right / max(1, len(merged)):.3f}", f"{against}", f"{found:.3f}"))
    headings = ("cosine", "merged", "precision", "of them contradict", "recall")
    return markdown("Merged in meaning", headings, rows, f"{len(some)} pairs of our own.")


def _values_agree(pair: Pair) -> bool:
    one, other = gist(pair.one), gist(pair.other)
    return one.values == other.values and bool(one.unwanted) == bool(other.unwanted)


def _row(verdict: str, some: Iterable[Pair]) -> tuple[str, ...]:
    verdicts = [(pair.meant, pair.found) for pair in some]
    meant, found = (sum(both[at] == verdict for both in verdicts) for at in (0, 1))
    right = verdicts.count((verdict, verdict))
    return verdict, f"{meant}", f"{found}", f"{right / max(1, found):.3f}", f"{right / max(1, meant):.3f}"


if __name__ == "__main__":
    every = pairs()
    for group in dict.fromkeys(pair.group for pair in every):
        some = [pair for pair in every if pair.group == group]
        print(table(f"Pairs: {group}", some), end="\n\n")
        for pair in some if "--wrong" in sys.argv else ():
            if pair.found != pair.meant:
                print(f"{pair.kind}, found {pair.found}: {pair.one} | {pair.other}")
    if installed():
        print(in_meaning(every))
