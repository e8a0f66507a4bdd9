"""How well it is told that two sentences say the same, on the pairs of STS-B beside the checkout.

`python -m benchmarks.duplicates` prints the tables in docs/trust.md; the second takes minutes and needs the model.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from benchmarks.timing import markdown
from hardwon.harvest.alike import gist, relation, shared
from hardwon.recall.minilm import MiniLM, installed

PAIRS = Path(__file__).parent.parent.parent / "shared" / "data" / "bench" / "stsb" / "PhilipMay__stsb-multi-mt" / "data"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
IN_MEANING = (0.75, 0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98)


def rated() -> list[tuple[str, str, float]]:
    rows = [row for file in sorted(PAIRS.glob("stsb-en-*.csv")) for row in csv.reader(file.open(encoding="utf-8"))]
    return [(row[0], row[1], float(row[2])) for row in rows]


def by_words() -> str:
    """The share of what both are about, whatever it is; 0 where merging would not look at it."""
    scored = [(shared(gist(one), gist(other)), rating) for one, other, rating in rated()]
    return _table("Duplicates by words", "share", THRESHOLDS, scored)


def in_meaning() -> str:
    """The cosine of what the model makes of them; 0 where words tell that they differ."""
    import numpy

    pairs = rated()
    texts = sorted({text for one, other, _ in pairs for text in (one, other)})
    vectors = dict(zip(texts, MiniLM().embed(texts), strict=True))
    scored = [
        (float(numpy.dot(vectors[one], vectors[other])) if _agree(one, other) else 0.0, rating)
        for one, other, rating in pairs
    ]
    return _table("Duplicates in meaning", "cosine", IN_MEANING, scored)


def _agree(one: str, other: str) -> bool:
    a, b = gist(one), gist(other)
    return bool(a.unwanted) == bool(b.unwanted) and a.values == b.values and relation(a, b) in ("same", "unrelated")


def _table(title: str, measure: str, thresholds: Sequence[float], scored: Sequence[tuple[float, float]]) -> str:
    same = sum(rating >= 4 for _, rating in scored)
    rows = []
    for threshold in thresholds:
        chosen = [rating for score, rating in scored if score >= threshold]
        rough, exact = (sum(rating >= least for rating in chosen) for least in (3, 4))
        shares = (rough / len(chosen), exact / len(chosen), exact / same)
        rows.append((f"{threshold}", f"{len(chosen)}", *(f"{one:.3f}" for one in shares)))
    headings = (measure, "pairs", "rated ≥ 3", "rated ≥ 4", "of all rated ≥ 4 found")
    return markdown(title, headings, rows, f"{len(scored)} pairs of STS-B.")


if __name__ == "__main__":
    print(by_words())
    if installed():
        print(in_meaning())
