"""Full text and vectors on every engine: the same ranking, whatever the text, and never silently out of date."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from hardwon import StoreError
from hardwon.store import fulltext
from hardwon.store.database import Database, Entry, Vector, insert
from hardwon.store.sqlite import SqliteDatabase
from hardwon.text.words import unique_terms
from tests.recall.conftest import INTERACTION
from tests.store.conftest import Open

TEXTS = {
    "L1": "The staging database listens on port 5433.",
    "L2": "The production database listens on port 5432 and is read only.",
    "L3": "Run the tests with --no-cov when debugging.",
    "A1": "Attempt: move the database to another port. Rolled back.",
    "C1": "数据库迁移之前必须先备份。",
}


def fill(db: Database) -> None:
    with db.transaction():
        db.index(
            fulltext.entry(id, {"L": "lesson", "A": "attempt", "C": "chunk"}[id[0]], text) for id, text in TEXTS.items()
        )


def found(db: Database, question: str, limit: int = 9, **more: object) -> list[str]:
    return [row[0] for row in db.matches(unique_terms(question), limit, **more)]  # type: ignore[arg-type]


def textbook(question: str) -> dict[str, float]:
    """BM25 as it is written down, over TEXTS, as a share of the most that is possible."""
    words = {id: fulltext.entry(id, "", text).terms.split() for id, text in TEXTS.items()}
    average = sum(map(len, words.values())) / len(words)
    scores, most = dict.fromkeys(words, 0.0), 0.0
    for term in unique_terms(question):
        held = sum(term in some for some in words.values())
        rarity = math.log(1 + (len(words) - held + 0.5) / (held + 0.5))
        most += rarity * 2.2
        for id, some in words.items():
            count = some.count(term)
            scores[id] += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(some) / average))
    return {id: score / most for id, score in scores.items() if score}


@pytest.mark.parametrize("question", ["staging database port", "database port zeppelin", "备份", "--no-cov"])
def test_scores_are_bm25_as_a_share_of_what_is_possible(db: Database, question: str) -> None:
    fill(db)
    rows = db.matches(unique_terms(question), 9)
    assert {item: score for item, _, score in rows} == pytest.approx(textbook(question))
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)


def test_among_many_given_items_a_word_is_as_rare_as_it_is_there(db: Database) -> None:
    turns = [f"I{number}" for number in range(120)]
    talk = {id: f"Ada said something of day {number}" for number, id in enumerate(turns)} | {"I3": "the kiln is loud"}
    with db.transaction():
        db.index(fulltext.entry(f"L{number}", "lesson", "the kiln is loud") for number in range(900))
        db.index(fulltext.entry(id, "interaction", text) for id, text in talk.items())
    scores = {item: score for item, _, score in db.matches(["ada", "kiln"], 0, also=turns)}
    assert scores["I3"] > 10 * scores["I4"]
    fewer = {item: score for item, _, score in db.matches(["ada", "kiln"], 0, also=turns[:9])}
    assert fewer["I3"] < fewer["I4"]


def test_types_and_items_that_are_asked_for_in_any_case(db: Database) -> None:
    fill(db)
    assert found(db, "database", types=("attempt",)) == ["A1"]
    assert found(db, "staging port", 1) == ["L1"]
    assert found(db, "staging port", 1, also=["A1", "L3", "gone"]) == ["L1", "A1"]
    assert found(db, "staging port", 0, also=["L2"]) == ["L2"]


def test_a_phrase_counts_more_where_it_stands_word_for_word(db: Database) -> None:
    with db.transaction():
        db.index(
            [
                fulltext.entry("La", "lesson", "open the connection pool"),
                fulltext.entry("Lb", "lesson", "pool the open connection"),
            ]
        )
    terms = unique_terms("connection pool")
    plain = {item: score for item, _, score in db.matches(terms, 9)}
    phrased = {item: score for item, _, score in db.matches(terms, 9, phrases=[terms])}
    assert plain["La"] == plain["Lb"]
    assert phrased["La"] > phrased["Lb"]


def test_a_question_of_common_words_looks_at_few_entries_and_still_finds_the_best(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hardwon.store.fulltext.MAX_POSTINGS", 50)
    with db.transaction():
        db.index(Entry(f"L{n:04}", "lesson", f"common usual w{n}") for n in range(600))
        db.index([Entry("L0007", "lesson", "common rare")])
    assert found(db, "common rare", 3)[0] == "L0007"
    assert len(found(db, "common usual", 10)) == 10
    assert len(found(db, "common", 10)) == 10


def test_the_index_counts_what_it_holds_whatever_is_replaced_and_removed(db: Database) -> None:
    fill(db)
    fill(db)
    with db.transaction():
        db.unindex(["L3", "A1", "never there"])
    left = [text for id, text in TEXTS.items() if id not in ("L3", "A1")]
    scores = [score for _, _, score in db.matches(["port"], 9)]
    corpus = fulltext.Corpus(3, sum(len(fulltext.entry("", "", text).terms.split()) for text in left), {"port": 2})
    expected = fulltext.ranked(corpus, [], [("", "", fulltext.entry("", "", text).terms) for text in left])
    assert scores == pytest.approx([row[2] for row in expected])


def test_what_is_missing_from_the_index_is_mended(db: Database) -> None:
    with db.transaction():
        db.execute(
            insert("interaction", INTERACTION),
            ("I1", "s", None, "cli", "Why is the tide late?", "Because of the moon.", "", "", "[]", "[]", 5, ""),
        )
        db.index([Entry("Lgone", "lesson", "tide")])
    assert fulltext.disagreements(db) == 2
    assert fulltext.mend(db) == 2
    assert fulltext.disagreements(db) == 0
    assert found(db, "tide moon") == ["I1"]


def test_an_entry_of_another_text_is_a_disagreement(db: Database) -> None:
    with db.transaction():
        db.execute("INSERT INTO project (id, key, name) VALUES ('P1', 'reef', 'reef')")
        document = {"id": "D1", "path": "a.md", "project": "P1", "hash": "", "title": "", "type": "", "tags": "[]"}
        document |= {"ingested_at": 1, "updated_at": 1}
        db.execute(insert("document", list(document)), list(document.values()))
        chunk = {"id": "C1", "document": "D1", "position": 0, "heading_path": "Moon", "content": "It pulls."}
        chunk |= {"hash": "", "metadata": "{}", "created_at": 1}
        db.execute(insert("chunk", list(chunk)), list(chunk.values()))
    assert fulltext.mend(db) == 1
    with db.transaction():
        db.execute("UPDATE chunk SET content = 'It pushes.'")
    assert fulltext.disagreements(db) == 1
    assert fulltext.mend(db) == 1
    assert (found(db, "pulls"), found(db, "pushes")) == ([], ["C1"])


def unit(*values: float) -> tuple[float, ...]:
    return (*values, *[0.0] * (4 - len(values)))


def test_what_many_connections_put_in_and_take_out_is_counted_together(db: Database, open_store: Open) -> None:
    others = [open_store(write=True) for _ in range(3)]
    for at, (id, text) in enumerate(TEXTS.items()):
        other = others[at % 3]
        with other.transaction():
            other.index([fulltext.entry(f"gone{at}", "lesson", "database port"), fulltext.entry(id, "lesson", text)])
    with db.transaction():
        db.unindex([f"gone{at}" for at in range(len(TEXTS))])
    rows = open_store().matches(unique_terms("staging database port"), 9)
    assert {item: score for item, _, score in rows} == pytest.approx(textbook("staging database port"))


def test_vectors_of_given_items_are_compared_too(db: Database) -> None:
    with db.transaction():
        db.put_vectors("m", [Vector("La", unit(1)), Vector("Lb", unit(0, 1)), Vector("Lc", unit(1, 1))])
    assert [near.item for near in db.nearest("m", unit(1), 1)] == ["La"]
    assert [near.item for near in db.nearest("m", unit(1), 1, also=["Lb", "gone"])] == ["La", "Lb"]
    assert [near.item for near in db.nearest("m", unit(1), 0, also=["Lc"])] == ["Lc"]


def test_neighbours_that_are_not_near_enough_are_left_out_unless_asked_for(db: Database) -> None:
    with db.transaction():
        db.put_vectors("m", [Vector("La", unit(1)), Vector("Lb", unit(0, 1)), Vector("Lc", unit(1, 1))])
    assert [near.item for near in db.nearest("m", unit(1), 3, least=0.5)] == ["La", "Lc"]
    assert [near.item for near in db.nearest("m", unit(1), 3, also=["Lb"], least=0.5)] == ["La", "Lc", "Lb"]


def test_as_many_neighbours_as_asked_for_are_found(db: Database) -> None:
    chance = random.Random(5)
    with db.transaction():
        db.put_vectors("m", [Vector(f"L{n}", [chance.gauss(0, 1) for _ in range(384)]) for n in range(400)])
    question = [chance.gauss(0, 1) for _ in range(384)]
    near = db.nearest("m", question, 150)
    assert len({entry.item for entry in near}) == 150
    assert [entry.similarity for entry in near] == sorted((entry.similarity for entry in near), reverse=True)


@pytest.mark.parametrize("value", [(0.0, 0.0), (float("nan"), 1.0), (float("inf"), 1.0)])
def test_a_vector_without_a_direction_is_refused(db: Database, value: tuple[float, ...]) -> None:
    with pytest.raises(StoreError, match="no direction"), db.transaction():
        db.put_vectors("m", [Vector("La", value)])


def test_what_another_connection_writes_renews_or_deletes_is_seen_at_once(db: Database, open_store: Open) -> None:
    other = open_store()
    with db.transaction():
        db.put_vectors("m", [Vector(f"L{n}", unit(1, n)) for n in range(1, 9)])
    assert other.nearest("m", unit(1), 1)[0].item == "L1"
    with db.transaction():
        db.put_vectors("m", [Vector("L5", unit(1)), Vector("L9", unit(1, 0.5))])
    assert [near.item for near in other.nearest("m", unit(1), 3)] == ["L5", "L9", "L1"]
    with db.transaction():
        db.execute("DELETE FROM embedding WHERE item = 'L5'")
    assert [near.item for near in other.nearest("m", unit(1), 3)] == ["L9", "L1", "L2"]


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqliteDatabase:
    """A store whose vectors are worth a file, and have one."""
    monkeypatch.setattr("hardwon.store.vectors._VECTORS_WORTH_A_FILE", 10)
    db = SqliteDatabase(tmp_path / "store" / "hardwon.db", write=True)
    chance = random.Random(3)
    with db.transaction():
        db.put_vectors("m", [Vector(f"L{n:03}", [chance.uniform(-1, 1) for _ in range(8)]) for n in range(300)])
    db.comparison.keep("m")
    return db


QUESTION = [1.0, -0.5, 0.2, 0.0, 0.3, 0.0, -0.1, 0.4]


def files(db: SqliteDatabase) -> list[Path]:
    return sorted(db.path.parent.glob("vectors-*"))


def test_a_file_that_was_cut_off_is_as_good_as_none(many: SqliteDatabase) -> None:
    before = nearest(many)
    whole = files(many)[0].read_bytes()
    for length in (len(whole) - 4096, len(whole) // 2, 4096, 100):
        files(many)[0].write_bytes(whole[:length])
        assert nearest(SqliteDatabase(many.path)) == before


def test_when_the_nearest_are_gone_others_take_their_place(many: SqliteDatabase) -> None:
    order = [near.item for near in many.nearest("m", QUESTION, 300)]
    reader = SqliteDatabase(many.path)
    assert nearest(reader) == order[:10]
    with many.transaction():
        many.bulk("DELETE FROM embedding WHERE item = ?", [(item,) for item in order[:60]])
    assert nearest(reader) == order[60:70]


def nearest(db: SqliteDatabase) -> list[str]:
    return [near.item for near in db.nearest("m", QUESTION, 10)]


def test_the_file_of_vectors_gives_what_the_store_gives(many: SqliteDatabase) -> None:
    assert len(files(many)) == 1
    with_file = nearest(SqliteDatabase(many.path))
    files(many)[0].unlink()
    assert nearest(SqliteDatabase(many.path)) == with_file


def test_a_file_that_is_behind_is_completed_from_the_store(many: SqliteDatabase) -> None:
    first, second = nearest(many)[:2]
    with many.transaction():
        many.put_vectors("m", [Vector("Lnew", QUESTION), Vector(first, [-value for value in QUESTION])])
    assert nearest(SqliteDatabase(many.path))[:2] == ["Lnew", second]


def test_a_file_of_another_time_is_not_taken(many: SqliteDatabase) -> None:
    """A backup that is brought back does not know the file that was written since."""
    backup = many.path.with_name("backup.db")
    many.copy_to(backup)
    before = nearest(many)
    with many.transaction():
        many.put_vectors("m", [Vector(f"N{n}", QUESTION) for n in range(20)])
    many.comparison.keep("m")
    assert len(files(many)) == 1
    assert nearest(SqliteDatabase(backup)) == before


@pytest.mark.parametrize("damage", [b"", b"{", b'{"model": "m", "dimensions": 8, "version": 1, "items": 300}\nL001\n'])
def test_a_damaged_file_is_as_good_as_none(many: SqliteDatabase, damage: bytes) -> None:
    before = nearest(many)
    files(many)[0].write_bytes(damage)
    assert nearest(SqliteDatabase(many.path)) == before


def test_an_index_in_memory_finds_what_the_engines_find(db: Database) -> None:
    chance = random.Random(7)
    words = "tide reef buoy chart gauge harbour moor anchor knot swell".split()
    index = fulltext.SmallIndex()
    for _ in range(3):  # some are entered again with another text, some taken out
        entries = [
            fulltext.entry(f"L{number}", "lesson" if number % 3 else "failure", " ".join(chance.choices(words, k=6)))
            for number in chance.sample(range(60), 40)
        ]
        gone = [f"L{number}" for number in chance.sample(range(60), 5)]
        with db.transaction():
            db.index(entries)
            db.unindex(gone)
        for one in entries:
            index.put(one)
        for item in gone:
            index.drop(item)
        for types in ((), ("failure",)):
            asked = [*chance.sample(words, 4), "zeppelin"]
            there = db.matches(asked, 20, types)
            here = index.matches(asked, 20, types)
            assert [row[:2] for row in here] == [row[:2] for row in there]
            assert [row[2] for row in here] == pytest.approx([row[2] for row in there])
    assert index.matches(["zeppelin"], 5, ()) == []
