"""Searching a store as large as years of work make it. `--million` adds a store of a million lessons.

Machines are noisy and shared: times are those of the processor, in this process, and ratios are to the plain
question that a full-text index would be asked.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import resources
from itertools import accumulate
from pathlib import Path

from benchmarks.timing import markdown
from hardwon.recall.embedder import Embedder
from hardwon.recall.minilm import MiniLM, installed
from hardwon.recall.search import SearchFilter, SearchSettings, search
from hardwon.store import fulltext, lessons
from hardwon.store.database import Database, Vector
from hardwon.store.fulltext import ranked
from hardwon.store.lessons import LessonRow
from hardwon.store.sqlite import SqliteDatabase
from hardwon.store.vectors import record
from hardwon.text.words import unique_terms

SIZES = (10_000, 100_000)
MILLION = 1_000_000
QUESTIONS = 60
TIMES = 5
"""Each is asked: the best time is that which other processes disturbed least."""
COMPARED = 20
EMBEDDED = 2_000
ASIDE = 0.75
"""How far from a real vector the others are: a cosine of 0.8."""
GOALS = {100_000: ("≤ 10 ms", "≤ 25 ms"), MILLION: ("≤ 100 ms", "")}
_VOCABULARY = 60_000
_START = 1_760_000_000_000_000


class Corpus:
    """Lessons of words as frequent as those of a language: the second is half as frequent as the first, and so on."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)
        self.words = _vocabulary()
        self.weights = list(accumulate(1 / (at + 1) for at in range(_VOCABULARY)))

    def text(self, mean: float = 2.6) -> str:
        length = min(60, max(4, int(self.random.lognormvariate(mean, 0.5))))
        return " ".join(self.random.choices(self.words, cum_weights=self.weights, k=length))

    def question(self) -> str:
        return " ".join(self.random.choices(self.words, cum_weights=self.weights, k=self.random.randrange(3, 9)))


def table(sizes: Sequence[int] = SIZES) -> str:
    if "--million" in sys.argv[1:]:
        sizes = (*sizes, MILLION)
    rows = [row for size in sizes for row in _measured(size)]
    note = (
        f"{QUESTIONS} questions of 3 to 8 words, drawn as the lessons' words are, each asked warm, the best of {TIMES} "
        "times; processor time. "
        f"`same first` and `of the ten`: against scoring every lesson that holds any of the words, {COMPARED} "
        f"questions. Vectors are those of {EMBEDDED:,} lessons, and others beside these; embedding the question is "
        "part of the hybrid time; there the two columns are about neighbours, against comparing with every vector."
    )
    headings = ("lessons", "search", "p50", "p95", "× plain", "same first", "of the ten", "goal p50")
    return markdown("Search", headings, rows, note)


def _measured(size: int) -> list[tuple[object, ...]]:
    corpus = Corpus()
    with tempfile.TemporaryDirectory() as folder:
        db = SqliteDatabase(Path(folder) / "hardwon.db", write=True)
        fill(db, corpus, size)
        questions = [corpus.question() for _ in range(QUESTIONS)]
        whole = {question: best_of_all(db, question) for question in questions[:COMPARED]}
        found = {question: _ids(db, question, None) for question in whole}
        lexical_goal, hybrid_goal = GOALS.get(size, ("", ""))
        base = _times(lambda question: plain_best(db, question), questions)
        lexical = _times(lambda question: _ids(db, question, None), questions)
        rows = [
            _row(size, "plain FTS5 question", base, base, "", "", ""),
            _row(size, "lexical", lexical, base, *_agreement(whole, found), lexical_goal),
        ]
        if installed() and size < MILLION:
            embedder = MiniLM()
            give_vectors(db, embedder)
            hybrid = _times(lambda question: _ids(db, question, embedder), questions)
            rows.append(_row(size, "hybrid", hybrid, base, *_same_neighbours(db, embedder, questions), hybrid_goal))
        db.close()
    return rows


def _row(size: int, name: str, times: list[float], base: list[float], *rest: str) -> tuple[object, ...]:
    middle = statistics.median(times)
    high = sorted(times)[int(len(times) * 0.95)]
    return (f"{size:,}", name, f"{middle:.1f} ms", f"{high:.1f} ms", f"{middle / statistics.median(base):.2f}", *rest)


def _agreement(whole: dict[str, list[str]], found: dict[str, list[str]]) -> tuple[str, str]:
    first = sum(found[question][:1] == whole[question][:1] for question in whole) / len(whole)
    shared = sum(len(set(found[q]) & set(whole[q])) / max(1, len(whole[q])) for q in whole) / len(whole)
    return f"{first:.0%}", f"{shared:.0%}"


def _same_neighbours(db: SqliteDatabase, embedder: Embedder, questions: Sequence[str]) -> tuple[str, str]:
    import numpy

    rows = db.query("SELECT item, value FROM embedding")
    stored = numpy.frombuffer(b"".join(row[1] for row in rows), dtype=record(len(embedder.embed(["x"])[0])))
    whole, found = {}, {}
    for question, vector in zip(questions, embedder.embed(questions), strict=True):
        similarity = (stored["steps"] @ numpy.asarray(vector)) * stored["scale"]
        whole[question] = [rows[at][0] for at in numpy.argsort(-similarity)[:10]]
        found[question] = [near.item for near in db.nearest(embedder.name, vector, 10)]
    return _agreement(whole, found)


def _times(run: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    for question in questions[:5]:
        run(question)
    return [min(_time(run, question) for _ in range(TIMES)) for question in questions]


def _time(run: Callable[[str], object], question: str) -> float:
    began = time.process_time()
    run(question)
    return (time.process_time() - began) * 1000


def _ids(db: Database, question: str, embedder: Embedder | None) -> list[str]:
    settings = SearchSettings(embedder=embedder, now=_START)
    return [hit.id for hit in search(db, question, SearchFilter(), settings, 10).hits]


def plain_best(db: Database, question: str) -> list[str]:
    """What FTS5 ranks first when it is simply asked for any of the words."""
    expression = " OR ".join(f'"{term}"' for term in unique_terms(question))
    rows = db.query(
        "SELECT s.item FROM search_index JOIN search_item s ON s.id = search_index.rowid "
        "WHERE search_index MATCH ? ORDER BY rank LIMIT 10",
        (expression,),
    )
    return [row[0] for row in rows]


def best_of_all(db: Database, question: str) -> list[str]:
    """The best by our own scores when nothing is left out for the sake of time."""
    terms = unique_terms(question)
    expression = " OR ".join(f'"{term}"' for term in terms)
    rows = db.query(
        "SELECT s.item, s.type, c.c0 FROM search_index JOIN search_item s ON s.id = search_index.rowid "
        "JOIN search_index_content c ON c.id = s.id WHERE search_index MATCH ?",
        (expression,),
    )
    return [item for item, _, _ in ranked(fulltext.corpus(db, terms), (), rows)[:10]]


def fill(db: Database, corpus: Corpus, size: int) -> None:
    for start in range(0, size, 20_000):
        with db.transaction():
            lessons.add(db, [_lesson(corpus, at) for at in range(start, min(size, start + 20_000))], [])


def give_vectors(db: SqliteDatabase, embedder: Embedder, embedded: int = EMBEDDED) -> None:
    """Of some lessons the model's own; each of the others is beside one of these, as texts on one matter are."""
    import numpy

    chance = numpy.random.default_rng(7)
    items = [row[0] for row in db.query("SELECT item FROM search_item")]
    texts = [row[0] for row in db.query("SELECT text FROM lesson LIMIT ?", (embedded,))]
    real = numpy.array(embedder.embed(texts))
    for start in range(0, len(items), 20_000):
        some = items[start : start + 20_000]
        aside = chance.standard_normal((len(some), real.shape[1]), dtype="float32") * ASIDE / real.shape[1] ** 0.5
        values = real[chance.integers(0, len(real), len(some))] + aside
        with db.transaction():
            db.put_vectors(embedder.name, (Vector(*pair) for pair in zip(some, values.tolist(), strict=True)))
    db.comparison.keep(embedder.name)


def _vocabulary() -> list[str]:
    """Words of the language, and after them names of code made of two."""
    known = (resources.files("hardwon.recall") / "data" / "vocab.txt").read_text(encoding="utf-8").split()
    words = [word for word in known if word.isascii() and word.isalpha() and len(word) > 3]
    return words + [f"{words[at % 5000]}_{words[at * 7 % 9973]}" for at in range(_VOCABULARY - len(words))]


def _lesson(corpus: Corpus, number: int) -> LessonRow:
    return LessonRow(
        id=f"L{number * 2_654_435_761 % 2**40:010x}",
        kind="fact",
        text=corpus.text(),
        scope="global",
        project=None,
        agent="",
        base_confidence=0.75,
        confidence=0.75,
        status="active",
        trust="human",
        rule="user-directive",
        failure="",
        first_seen=_START,
        last_confirmed=_START,
        source_count=1,
        harvester_version=1,
    )


if __name__ == "__main__":
    print(table())
