"""Every lesson that the real sessions beside the checkout teach, with the verdict that a person gave it.

`python -m benchmarks.lessons_audit` harvests them into a new store and prints each lesson with its verdict and the
share of junk; `--table` prints the table of docs/quality.md, which holds none of the sessions' words.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from hardwon import Hardwon, Lesson
from hardwon.sessions.discover import below
from hardwon.text.digest import digest, normalised

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared" / "data"
VERDICTS = REPOSITORY / "tests" / "data" / "lesson_verdicts.json"
FOLDERS = ("transcripts", "replay")
MOST, SEED = 150, 20260401


class Judged(NamedTuple):
    key: str
    lesson: Lesson
    verdict: str
    """`keep`, `junk` or `wrong`; empty when nobody has judged it yet."""
    why: str


def audit(shared: Path = SHARED) -> list[Judged]:
    """All lessons, or 150 of them chosen by a fixed seed."""
    known: dict[str, dict[str, str]] = json.loads(VERDICTS.read_text()) if VERDICTS.exists() else {}
    with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
        memory.harvest([path for folder in FOLDERS for path in below(shared / folder)], mine=True)
        found = sorted(memory.lessons.list(), key=lambda one: (one.kind, one.rule, key(one)))
    chosen = found if len(found) <= MOST else random.Random(SEED).sample(found, MOST)
    return [
        Judged(key(one), one, known.get(key(one), {}).get("verdict", ""), known.get(key(one), {}).get("why", ""))
        for one in chosen
    ]


def key(lesson: Lesson) -> str:
    """The same wherever the sessions lie: a lesson's id depends on its project's folder."""
    return digest(lesson.kind, lesson.rule, normalised(lesson.text))


def junk(judged: list[Judged]) -> float:
    return sum(one.verdict != "keep" for one in judged) / len(judged) if judged else 0.0


def main() -> None:
    judged = audit()
    for one in judged:
        lesson = one.lesson
        if "--table" in sys.argv:
            row = (one.key, lesson.kind, lesson.rule, lesson.status, str(lesson.source_count), one.verdict, one.why)
            print(f"| {' | '.join(row)} |")
            continue
        print(f"{one.key} {one.verdict or 'NOT JUDGED':<10} {lesson.kind:<10} {lesson.rule:<20} {lesson.status:<10}")
        print(f"    {lesson.text}\n    {one.why}")
    counts = Counter(one.verdict or "not judged" for one in judged)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    print(f"\n{len(judged)} lessons: {said}; {junk(judged):.1%} junk, wrong or not judged")


if __name__ == "__main__":
    main()
