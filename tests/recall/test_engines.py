"""One ranking: SQLite and PostgreSQL give the same results in the same order, with the same scores."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy
import pytest
from benchmarks.search import Corpus, fill

from hardwon.recall.embedder import embed
from hardwon.recall.search import SearchFilter, SearchSettings, search
from hardwon.store import fulltext
from hardwon.store.database import Database, connect

LESSONS, QUESTIONS = 2_500, 60
NOW = 1_760_000_000_000_000


class OfWords:
    """A vector is the sum of those of its words, which point anywhere."""

    name = "of-words"

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [sum(map(self._of_word, text.split()), numpy.zeros(384)).tolist() for text in texts]

    def _of_word(self, word: str) -> numpy.ndarray:
        return numpy.random.default_rng(zlib.crc32(word.encode())).standard_normal(384)


def filled(db: Database) -> Database:
    corpus = Corpus()
    fill(db, corpus, LESSONS)
    with db.transaction():  # the same text under several ids: only the tie decides
        db.execute("UPDATE lesson SET text = (SELECT text FROM lesson WHERE id = 'L0000000000') WHERE id LIKE 'L10%'")
    fulltext.mend(db)
    embed(db, OfWords())
    return db


@pytest.mark.parametrize("model", [None, OfWords()], ids=["words", "words and meaning"])
def test_both_engines_rank_alike(tmp_path: Path, postgres: str, model: OfWords | None) -> None:
    with (
        closing(connect(tmp_path / "hardwon.db", write=True)) as file,
        closing(connect(postgres, write=True)) as server,
    ):
        first, second = filled(file), filled(server)
        corpus = Corpus(seed=11)
        same = first.query("SELECT text FROM lesson WHERE id = 'L0000000000'")[0][0]
        questions = [same, *(corpus.question() for _ in range(QUESTIONS - 1))]
        settings = SearchSettings(embedder=model, now=NOW)
        for question in questions:
            one, other = (
                [(hit.id, hit.score, hit.parts) for hit in search(db, question, SearchFilter(), settings, 10).hits]
                for db in (first, second)
            )
            assert one
            assert one == other, question
