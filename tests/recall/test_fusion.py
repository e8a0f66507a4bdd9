"""Words and meaning together find what the better of them finds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import pytest
from benchmarks.quality import coding_memory
from benchmarks.retrieval import measure

from hardwon.recall.embedder import MiniLM, embed, installed
from hardwon.recall.fusion import is_code, meaning_weight, singled_out, without_names
from hardwon.recall.search import SearchFilter, SearchSettings, search
from hardwon.store.database import Database
from tests.recall.conftest import NOW, Axes, Learn

needs_model = pytest.mark.skipif(not installed(), reason="the extra `semantic` is not installed")


@needs_model
def test_the_two_together_are_not_behind_the_better_of_them_on_our_own_questions() -> None:
    found = {way: fmean(scores["nDCG@10"]) for way, scores in measure(*coding_memory()).items()}
    assert found["fused"] >= max(found["lexical"], found["vector"]) - 0.005


@needs_model
@pytest.mark.parametrize(
    "question",
    [
        "dubious ownership",
        '"dubious ownership"',
        "fatal: detected dubious ownership in repository at '/srv/tides'",
        "git config --global --add safe.directory /srv/tides",
        'Traceback (most recent call last):\n  File "tools/clone.py", line 12\nfatal: detected dubious ownership',
        "tools/clone.py",
    ],
)
def test_an_error_a_command_a_path_is_found_by_what_it_is(db: Database, learn: Learn, question: str) -> None:
    for text in (
        "Who owns a repository is unclear; permissions of the folder look suspicious.",
        "Check out the repository again when git does not trust the directory.",
        "fatal: not a git repository (or any of the parent directories)",
        "A script that copies repositories fails with an exception of a child process.",
        "git config --global user.name must be set before the first commit.",
        "tools/release.py makes the archive.",
    ):
        learn(text)
    wanted = learn(
        "tools/clone.py: fatal: detected dubious ownership in repository; git config --add safe.directory /srv/tides"
    )
    embed(db, MiniLM())
    hits = search(db, question, SearchFilter(), SearchSettings(embedder=MiniLM(), now=NOW)).hits
    assert hits[0].id == wanted


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("When did Ada sign up for the race?", "When did sign up for the race?"),
        ("what did Ada's sister give to Bob", "what did sister give to"),
        ("Who is Ada?", "Who is Ada?"),  # nothing would be left
        ("TypeError: Object of type Record is not JSON serializable", None),
        ("Reef sensors lose Saturday's readings", None),
        ("which tests fail in CI with PostgreSQL and src/Main.java", None),
    ],
)
def test_the_meaning_of_a_question_is_that_of_what_is_asked_not_of_who(question: str, rest: str | None) -> None:
    assert without_names(question) == (rest or question)


def test_a_question_about_somebody_is_not_answered_by_their_name(db: Database, learn: Learn) -> None:
    asked: list[Sequence[str]] = []

    class Noting(Axes):
        def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
            asked.append(texts)
            return super().embed(texts)

    learn("Forest likes it here.")
    car = learn("The automobile is red.")
    embed(db, Axes())
    hits = search(db, "What car does Forest drive?", SearchFilter(), SearchSettings(embedder=Noting(), now=NOW)).hits
    assert asked == [["What car does Forest drive?", "What car does drive?"]]
    vectors = {hit.id: hit.parts["vector"] for hit in hits}
    assert vectors[car] == max(vectors.values())


def test_how_far_the_best_is_ahead() -> None:
    assert singled_out([]) == 0
    assert singled_out([0.4] * 10) == 0
    assert singled_out([0.4]) > singled_out([0.4] + [0.2] * 20) > 0.4


@pytest.mark.parametrize("in_talk", [False, True])
@pytest.mark.parametrize("text", ["how do we deploy", "src/app/main.py"])
def test_a_setting_of_all_or_nothing_is_kept_to(text: str, in_talk: bool) -> None:
    assert [meaning_weight(text, 0.5, in_talk=in_talk, setting=setting) for setting in (0.0, 1.0)] == [0, 1]
    less, as_is, more = (meaning_weight(text, 0.5, in_talk=in_talk, setting=setting) for setting in (0.2, 0.5, 0.8))
    assert less < as_is < more


def test_code_is_told_from_what_somebody_would_say() -> None:
    for text in (
        "ERR_PNPM_OUTDATED_LOCKFILE",
        "npm run build --silent",
        "lookup.py",
        "TypeError: 'int' object",
        "`cc`",
    ):
        assert is_code(text)
    for text in (
        "",
        "how do we deploy",
        "Where is the state-of-the-art model?",
        "what is the cat's name; and the dog's?",
    ):
        assert not is_code(text)
