"""How well search finds what it should, on anybody's set of questions.

    python -m benchmarks.retrieval --items items.jsonl --queries queries.jsonl [--json]

Items are `{"id", "text", "at"?, "group"?}`, questions `{"id", "text", "relevant": [ids], "group"?}`; `relevant` may
also be `{id: gain}`. A question with a group is asked among the items of that group. Items become interactions of a
store made for the purpose, in the order of `at` or else of the file, and are searched by the code of `hardwon search`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hardwon.clock import microseconds
from hardwon.config import Config
from hardwon.recall.embedder import Embedder, choose, embed
from hardwon.recall.search import SearchFilter, SearchSettings, search
from hardwon.sessions.project import Project
from hardwon.store import fulltext, projects
from hardwon.store.database import Database, connect, insert

DEPTH = 10
METRICS = ("R@5", "R@10", "MRR", "nDCG@10")
START = 1_600_000_000_000_000


class Question(NamedTuple):
    text: str
    gains: Mapping[str, float]
    group: str = ""


class Item(NamedTuple):
    id: str
    text: str
    at: int = 0
    group: str = ""


Scores = dict[str, list[float]]
"""Metric → one value for each question."""


def measure(
    items: Sequence[Item], questions: Sequence[Question], weight: float = Config().fusion_weight
) -> dict[str, Scores]:
    """Each way of searching → its scores; `fused` is what `hardwon search` does."""
    ways = {"lexical": 0.0, "vector": 1.0, "fused": weight}
    with asking(items) as asked:
        return {way: asked(questions, share) for way, share in ways.items()}


@contextmanager
def asking(items: Sequence[Item]) -> Iterator[Callable[[Sequence[Question], float], Scores]]:
    """What asks a store of these items: questions, how much meaning counts → scores."""
    chosen = choose(Config()).embedder
    if chosen is None:
        sys.exit("measuring vectors needs an extra: pip install 'hardwon[semantic]'")
    embedder = _Remembering(chosen)
    with tempfile.TemporaryDirectory() as folder:
        db = connect(Path(folder) / "store.db", write=True)
        names, groups = _fill(db, items)
        embed(db, embedder)
        yield lambda questions, weight: _asked(db, questions, names, groups, embedder, weight)
        db.close()


def _fill(db: Database, items: Sequence[Item]) -> tuple[dict[str, str], dict[str, str]]:
    """(our id → theirs, group → project)."""
    names = {f"I{at:08}": item.id for at, item in enumerate(items)}
    groups = {name: Project(f"group {name}", "") for name in {item.group for item in items} if name}
    columns = (
        "id session project client prompt response response_summary context lessons_used chunks_used created_at seal"
    )
    with db.transaction():
        for project in groups.values():
            projects.save(db, project)
        db.bulk(
            insert("interaction", columns.split()),
            (_row(id, item, at, groups) for at, (id, item) in enumerate(zip(names, items, strict=True))),
        )
        db.index(fulltext.entry(id, "interaction", item.text) for id, item in zip(names, items, strict=True))
    return names, {name: project.id for name, project in groups.items()}


def _row(id: str, item: Item, at: int, groups: Mapping[str, Project]) -> tuple[object, ...]:
    project = groups[item.group].id if item.group else None
    return id, item.group, project, "", item.text or "(empty)", "", "", "", "[]", "[]", item.at or START + at, ""


def _asked(
    db: Database,
    questions: Sequence[Question],
    names: Mapping[str, str],
    groups: Mapping[str, str],
    embedder: Embedder,
    weight: float,
) -> Scores:
    settings = SearchSettings(embedder=embedder, weight=weight)
    scores: Scores = {metric: [] for metric in METRICS}
    for question in questions:
        wanted = SearchFilter(types=("interaction",), project=groups.get(question.group, ""))
        hits = search(db, question.text, wanted, settings, DEPTH).hits
        for metric, value in judged([names[hit.id] for hit in hits], question.gains).items():
            scores[metric].append(value)
    return scores


def judged(found: Sequence[str], gains: Mapping[str, float]) -> dict[str, float]:
    """What a ranking of the best ten is worth."""
    relevant = [id for id, gain in gains.items() if gain > 0]
    first = next((at for at, id in enumerate(found) if gains.get(id, 0) > 0), None)
    reached = sum(gains.get(id, 0) / math.log2(at + 2) for at, id in enumerate(found[:DEPTH]))
    possible = sum(gain / math.log2(at + 2) for at, gain in enumerate(sorted(gains.values(), reverse=True)[:DEPTH]))
    return {
        "R@5": sum(id in found[:5] for id in relevant) / len(relevant),
        "R@10": sum(id in found[:DEPTH] for id in relevant) / len(relevant),
        "MRR": 0.0 if first is None else 1 / (first + 1),
        "nDCG@10": reached / possible,
    }


class _Remembering:
    """Embeds a question once, however often it is asked."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._known: dict[tuple[str, ...], list[Sequence[float]]] = {}

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        if len(texts) > 2:
            return self._embedder.embed(texts)
        asked = tuple(texts)
        if asked not in self._known:
            self._known[asked] = self._embedder.embed(texts)
        return self._known[asked]


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError:
                    sys.exit(f"{path} line {number} is not JSON")


def read_items(path: Path) -> list[Item]:
    rows = list(_lines(path))
    return [Item(str(row["id"]), str(row["text"]), _moment(row.get("at")), str(row.get("group") or "")) for row in rows]


def read_questions(path: Path) -> list[Question]:
    return [
        Question(str(row["text"]), _gains(row["relevant"]), str(row.get("group") or ""))
        for row in _lines(path)
        if row.get("relevant")
    ]


def _gains(relevant: object) -> dict[str, float]:
    if isinstance(relevant, dict):
        return {str(id): float(gain) for id, gain in relevant.items()}
    return {str(id): 1.0 for id in relevant} if isinstance(relevant, list) else {str(relevant): 1.0}


def _moment(at: object) -> int:
    """Microseconds since 1970; 0 when it cannot be told, so that the order of the file decides."""
    return microseconds(at) or 0


def main() -> None:
    options = argparse.ArgumentParser(description="How well search finds what it should.")
    options.add_argument("--items", type=Path, required=True)
    options.add_argument("--queries", type=Path, required=True)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    questions = read_questions(given.queries)
    if not questions:
        sys.exit(f"no question in {given.queries} has anything relevant")
    found = measure(read_items(given.items), questions)
    means = {
        way: {metric: round(sum(values) / len(values), 4) for metric, values in scores.items()}
        for way, scores in found.items()
    }
    if given.json:
        print(json.dumps(means, indent=2))
        return
    print(f"{'':10}" + "".join(f"{metric:>9}" for metric in METRICS))
    for way, values in means.items():
        print(f"{way:10}" + "".join(f"{values[metric]:9.3f}" for metric in METRICS))


if __name__ == "__main__":
    main()
