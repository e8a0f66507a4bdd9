"""Words and meaning together find what the better of them finds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import fmean

import pytest
from benchmarks.quality import coding_memory
from benchmarks.retrieval import measure

from hardwon import Hardwon, Interaction
from hardwon.clock import to_microseconds
from hardwon.recall.embedder import embed
from hardwon.recall.fusion import (
    asks_back,
    asks_when,
    in_month,
    in_the_past,
    is_code,
    meaning_weight,
    named_month,
    singled_out,
    speaker,
    tells_when,
    without_names,
)
from hardwon.recall.minilm import MiniLM, installed
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


@pytest.mark.parametrize(
    ("turn", "who"),
    [
        ("Ada: The boat is late.", "ada"),
        ("Ada Byron: The boat is late.", "ada"),
        ("(3 May 2023) Ada: The boat is late.", "ada"),
        ('[3 May 2023] Ada said, "The boat is late."', "ada"),
        ("The boat is late.", ""),
        ("src/app.py:12: error", ""),
        ("http://example.org: down", ""),
        ("", ""),
    ],
)
def test_who_says_a_turn_is_told_from_how_it_begins(turn: str, who: str) -> None:
    assert speaker(turn) == who


@pytest.mark.parametrize(
    ("question", "month"),
    [
        ("What did we decide in March 2025?", (2025, 3)),
        ("what broke on October 3, 2024", (2024, 10)),
        ("what broke on 3 October", (0, 10)),
        ("March 2025 deploy", (2025, 3)),
        ("May I merge?", None),
        ("may I march in", None),
        ("Mayor of 2024", None),
    ],
)
def test_a_month_that_a_question_names(question: str, month: tuple[int, int] | None) -> None:
    assert named_month(question) == month


def test_a_month_of_any_year_or_of_one() -> None:
    october = 1_728_000_000_000_000  # of 2024
    assert in_month(october, (0, 10))
    assert in_month(october, (2024, 10))
    assert not in_month(october, (2023, 10))
    assert not in_month(october, (2024, 9))


def talk(memory: Hardwon, *turns: str) -> Database:
    for turn in turns:
        memory.interactions.record(Interaction(prompt=turn, session="talk"))
    return memory.writing()


def test_a_question_about_somebody_is_answered_by_what_they_say(memory: Hardwon) -> None:
    db = talk(memory, "Ada: Bob, did the kiln arrive?", "Bob: The kiln came on Friday.", "Ada: Bob, your kiln is loud!")
    settings = SearchSettings(now=NOW)
    hits = search(db, "When did Bob get the kiln?", SearchFilter(), settings).hits
    assert hits[0].text == "Bob: The kiln came on Friday."
    asked = {hit.text: hit.parts.get("asked", 1.0) for hit in search(db, "Bob's kiln", SearchFilter(), settings).hits}
    assert asked[hits[0].text] == 1.0
    assert sorted(asked.values()) == [0.75, 0.75, 1.0]
    others = search(db, "Carl's kiln", SearchFilter(), settings).hits
    assert not any("asked" in hit.parts for hit in others)


def test_a_question_is_answered_by_what_is_said_not_by_the_same_question(memory: Hardwon) -> None:
    db = talk(memory, "Ada: Where is the kiln of the school?", "Bob: In the cellar, the kiln needs a stone floor.")
    found = {
        text: search(db, text, SearchFilter(), SearchSettings(now=NOW)).hits
        for text in ("Where does the school have its kiln?", "kiln of the school")
    }
    asked, told = (
        [hit.parts.get("asked", 1.0) for hit in sorted(hits, key=lambda hit: hit.text)] for hits in found.values()
    )
    assert asked == [0.75, 1.0]
    assert told == [1.0, 1.0]  # whoever looks for words may mean the question


@pytest.mark.parametrize(
    ("turn", "is_asked"),
    [
        ("Ada: Did the kiln arrive?", True),
        ("Ada: Wow! Did the kiln arrive? Was it heavy?", True),
        ("Ada: The kiln came on Friday and it is already warm. And you?", False),
        ("Did it? The kiln came on Friday.", False),
        ("Why does the build fail?", True),
        ("", False),
    ],
)
def test_a_turn_that_asks(turn: str, is_asked: bool) -> None:
    assert asks_back(turn) == is_asked


def test_when_is_answered_by_what_tells_a_time(memory: Hardwon) -> None:
    db = talk(memory, "Bob: The kiln is hot.", "Bob: The kiln came on Friday.")
    for question, factors in (("When did the kiln come?", [1.0, 0.9]), ("Why did the kiln come?", [1.0, 1.0])):
        hits = search(db, question, SearchFilter(), SearchSettings(now=NOW)).hits
        assert sorted((hit.parts.get("asked", 1.0) for hit in hits), reverse=True) == factors
        assert hits[0].text == "Bob: The kiln came on Friday."


def test_what_somebody_did_is_told_in_the_past(db: Database, learn: Learn) -> None:
    assert in_the_past("Where did Ada buy the kiln and what did she make?") == ["bought", "made"]
    assert in_the_past("where to buy a kiln") == in_the_past("") == []
    learn("The firewall is what keeps the proxy waiting.")
    wrote = learn("We wrote the proxy's settings by hand.")
    hits = search(db, "which proxy settings did we write?", SearchFilter(), SearchSettings(now=NOW)).hits
    assert hits[0].id == wrote
    (only,) = search(db, "did anybody write", SearchFilter(), SearchSettings(now=NOW)).hits
    assert only.id == wrote


def test_a_question_for_a_time_and_a_time() -> None:
    assert all(map(asks_when, ("When did it break?", "since when is it slow", "In which month did we move?")))
    assert not any(map(asks_when, ("What broke when we moved?", "why", "")))
    assert all(map(tells_when, ("It broke last week.", "on 3rd", "In June, I think", "Since 2019")))
    assert not any(map(tells_when, ("It broke.", "12 of them", "[3 May 2023] Ada: It broke.", "")))


def test_what_is_of_the_month_that_is_named_comes_first(db: Database, learn: Learn) -> None:
    march, june = (
        learn(
            f"The deploy on {day} was rolled back.",
            last_confirmed=to_microseconds(datetime(2025, month, 4, tzinfo=UTC)),
        )
        for day, month in (("Monday", 3), ("Friday", 6))
    )
    for question, first in (("deploy rolled back in March 2025", march), ("deploy rolled back in June", june)):
        assert search(db, question, SearchFilter(), SearchSettings(now=NOW)).hits[0].id == first
    hits = search(db, "deploy rolled back in May", SearchFilter(), SearchSettings(now=NOW)).hits
    assert not any("asked" in hit.parts for hit in hits)


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
