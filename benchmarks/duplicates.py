"""How well shared words tell that two sentences say the same, on the pairs of STS-B beside the checkout.

`python -m benchmarks.duplicates` prints the table in docs/trust.md.
"""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.timing import markdown
from oldhand.harvest.alike import gist, similarity

PAIRS = Path(__file__).parent.parent.parent / "shared" / "data" / "bench" / "stsb" / "PhilipMay__stsb-multi-mt" / "data"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)


def rated() -> list[tuple[str, str, float]]:
    rows = [row for file in sorted(PAIRS.glob("stsb-en-*.csv")) for row in csv.reader(file.open(encoding="utf-8"))]
    return [(row[0], row[1], float(row[2])) for row in rows]


def share(one: str, other: str) -> float:
    """As merging compares, without the threshold: 0 where it would not merge whatever the share."""
    a, b = gist(one), gist(other)
    holds = a.words <= b.words or b.words <= a.words
    return similarity(a, b) if holds and a.negated == b.negated and a.values == b.values else 0.0


def table() -> str:
    scored = [(share(one, other), rating) for one, other, rating in rated()]
    same = sum(rating >= 4 for _, rating in scored)
    rows = []
    for threshold in THRESHOLDS:
        chosen = [rating for score, rating in scored if score >= threshold]
        rough, exact = (sum(rating >= least for rating in chosen) for least in (3, 4))
        rows.append(
            (
                f"{threshold}",
                f"{len(chosen)}",
                f"{rough / len(chosen):.3f}",
                f"{exact / len(chosen):.3f}",
                f"{exact / same:.3f}",
            )
        )
    headings = ("share of words", "pairs", "rated ≥ 3", "rated ≥ 4", "of all rated ≥ 4 found")
    return markdown("Duplicates by words", headings, rows, f"{len(scored)} pairs of STS-B.")


if __name__ == "__main__":
    print(table())
