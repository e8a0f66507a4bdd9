"""Vectors are made for what has none, of the text as it is now, and never in the way of anything."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hardwon import Hardwon, Interaction, NoModel
from hardwon.config import Config
from hardwon.recall import minilm
from hardwon.recall.embedder import choose, embed, pending
from hardwon.recall.search import SearchFilter, SearchSettings, search
from hardwon.store import fulltext, lifecycle
from hardwon.store.database import Database
from tests.conftest import EXAMPLES
from tests.recall.conftest import Axes, Learn


class Counting(Axes):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        self.texts += texts
        return super().embed(texts)


def test_only_what_is_new_or_changed_is_embedded(db: Database, learn: Learn) -> None:
    model = Counting()
    first = learn("The ship is late.")
    learn("The oak is old.")
    assert embed(db, model).done == 2
    assert embed(db, model).done == 0
    with db.transaction():
        lifecycle.edit(db, first, {"text": "The ship is early."}, actor="ada")
    assert embed(db, model).done == 1
    assert model.texts[-1] == "The ship is early."
    fulltext.rebuild(db)
    assert pending(db, model.name) == 0


def test_a_change_of_model_renews_all(db: Database, learn: Learn) -> None:
    learn("The ship is late.")
    embed(db, Axes())
    other = Counting()
    other.name = "other"
    assert embed(db, other).done == 1
    assert db.query("SELECT DISTINCT model FROM embedding") == [("other",)]


def test_vectors_of_what_is_gone_go_too(db: Database, learn: Learn) -> None:
    id = learn("The ship is late.")
    embed(db, Axes())
    with db.transaction():
        db.execute("DELETE FROM lesson WHERE id = ?", (id,))
    fulltext.mend(db)
    embed(db, Axes())
    assert db.query("SELECT count(*) FROM embedding") == [(0,)]


def test_time_is_bounded_and_what_was_done_stays(db: Database, learn: Learn) -> None:
    for at in range(150):
        learn(f"Ship {at} is late.")
    assert embed(db, Axes(), seconds=0).left == 150
    slow = Counting()
    stopped = embed(db, slow, seconds=0.0001)
    assert stopped.done + stopped.left == 150
    assert embed(db, Axes()).left == 0


def test_a_model_that_fails_harms_no_harvest(memory: Hardwon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_FUSION_WEIGHT", "0.5")
    monkeypatch.setenv("HARDWON_EMBEDDING_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("HARDWON_EMBEDDING_MODEL", "m")
    with Hardwon(memory.home) as other:
        other.harvest(sorted(EXAMPLES.rglob("*.jsonl"))[:1])
        assert other.store.embed(seconds=5).done == 0
        results = other.search("tests")
        assert "words alone" in results.notice
        with pytest.raises(NoModel, match="cannot connect to"):
            other.store.reindex()


def test_without_meaning_there_is_no_model() -> None:
    assert choose(Config(fusion_weight=0)).embedder is None


@pytest.mark.skipif(not minilm.installed(), reason="the extra `semantic` is not installed")
def test_the_model_on_this_machine_knows_what_is_alike() -> None:
    texts = [
        "The staging database is dropped and seeded every night.",
        "My test records vanished overnight.",
        "Use tabs in Makefiles.",
        "",
    ]
    vectors = minilm.MiniLM().embed(texts)
    alike = [sum(a * b for a, b in zip(vectors[0], other, strict=True)) for other in vectors]
    assert alike[0] == pytest.approx(1.0, abs=1e-5)
    assert alike[1] > 0.3 > alike[2]
    alone = minilm.MiniLM().embed(texts[:1])[0]
    assert sum(a * b for a, b in zip(vectors[0], alone, strict=True)) > 0.99


@pytest.mark.skipif(not minilm.installed(), reason="the extra `semantic` is not installed")
def test_a_text_has_the_vector_that_stores_have_of_it() -> None:
    """Computed with onnxruntime, as all vectors were before: the first six numbers."""
    known = {
        "how do we test the database in ci": [0.02644, -0.03505, -0.09621, 0.03823, -0.10074, -0.0227],
        "how do we test": [-0.01113, 0.00207, -0.00963, 0.02722, 0.02583, -0.02382],
    }
    alone = [minilm.MiniLM().embed([text])[0] for text in known]
    among = minilm.MiniLM().embed([*known, *(f"{word} " * 300 for word in ("harbour", "ferry", "", "x", "y", "z"))])
    for numbers, one, other in zip(known.values(), alone, among, strict=False):
        assert list(one[:6]) == pytest.approx(numbers, abs=1e-4)
        assert list(other) == pytest.approx(list(one), abs=1e-5)


@pytest.mark.skipif(not minilm.installed(), reason="the extra `semantic` is not installed")
@pytest.mark.parametrize("loaded", ["", "import numpy"])
def test_the_threads_of_numpy_are_left_as_they_are(loaded: str) -> None:
    code = (
        f"{loaded}\nimport os\nfrom hardwon.recall import minilm\nblas = minilm._blas()\n"
        "count = blas.scipy_openblas_get_num_threads64_ if blas else lambda: 1\nbefore = count()\n"
        "with minilm._one_thread(): print(count())\n"
        "print(count() - before, os.environ.get('OPENBLAS_NUM_THREADS'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "0", os.environ.get("OPENBLAS_NUM_THREADS", "None")]


@pytest.mark.skipif(not minilm.installed(), reason="the extra `semantic` is not installed")
def test_a_short_answer_is_found_by_what_was_asked_before_it(memory: Hardwon) -> None:
    for said in ("Which harbour does the ferry leave from?", "The northern one.", "Do you like olives?", "Not at all."):
        memory.interactions.record(Interaction(prompt=said, session="talk"))
    memory.interactions.record(Interaction(prompt="The northern lights were bright.", session="another talk"))
    db, model = memory.writing(), minilm.MiniLM()
    embed(db, model)
    hits = search(db, "Where does the boat depart?", SearchFilter(), SearchSettings(embedder=model)).hits
    found = [hit.text for hit in hits]
    assert found[:2] == ["The northern one.", "Which harbour does the ferry leave from?"]


@pytest.mark.skipif(not minilm.installed(), reason="the extra `semantic` is not installed")
def test_letters_that_mean_nothing_find_nothing(memory: Hardwon) -> None:
    for said in ("Which harbour does the ferry leave from?", "The northern one.", "qq", "Pick a colour."):
        memory.interactions.record(Interaction(prompt=said, session="talk"))
    db, model = memory.writing(), minilm.MiniLM()
    embed(db, model)
    assert not search(db, "zzzqqq", SearchFilter(), SearchSettings(embedder=model)).hits


@pytest.mark.skipif(not minilm.installed(), reason="the extra `semantic` is not installed")
def test_the_model_leaves_nothing_on_this_machine_and_tells_nobody(tmp_path: Path) -> None:
    code = "from hardwon.recall.minilm import MiniLM; print(len(MiniLM().embed(['a harbour'])[0]))"
    places = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "LOCALAPPDATA")}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **places}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "384"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.skipif(not minilm.installed(), reason="the extra `semantic` is not installed")
def test_weights_that_are_not_the_expected_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_SHA256", "0" * 64)
    with pytest.raises(NoModel, match="extras add semantic"):
        minilm.MiniLM().embed(["x"])
