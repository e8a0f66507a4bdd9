"""What two lessons are to each other: what differs is never merged, what does not contradict is never withheld."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.harvest.upkeep import claim, relation

PAIRS = Path(__file__).parent.parent / "data" / "lesson_pairs.txt"
MEANT = {"same": "same", "opposite": "conflict", "value": "conflict", "related": "two", "special": "two"}
FOUND = {"same": "same", "opposite": "conflict", "other value": "conflict", "unrelated": "two"}
WORDS = st.lists(
    st.sampled_from(
        "use never pnpm npm not before after run tests in with for `make test` `make lint` 8080 9090 docker need "
        "instead of must , ; only without commit the tabs 2 4".split(" ")
    ),
    max_size=10,
)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("Use uv for all installs here.", "use uv for all installs here", "same"),
        ("Always use uv, never pip install.", "Always use uv, never pip install, in this project.", "same"),
        ("Use pnpm, not npm.", "Please use pnpm instead of npm.", "same"),
        ("You must never edit files in gen/.", "Don't edit files in gen/.", "same"),
        ("Run `make lint` before every commit.", "Always run make lint before every commit.", "same"),
        ("Always use pnpm.", "Never use pnpm.", "opposite"),
        ("Use pnpm.", "Do not use pnpm.", "opposite"),
        ("Handlers should log errors.", "Handlers shouldn't log errors.", "opposite"),
        ("Use pnpm, not npm.", "Use npm rather than pnpm.", "opposite"),
        ("The API listens on port 8080.", "The API listens on port 9090.", "other value"),
        ("Run `pytest -n 4`.", "Run `pytest -n 8`.", "other value"),
        ("Use npm for installs.", "Use yarn for installs.", "unrelated"),
        ("Never use npm for installs.", "Never use yarn for installs.", "unrelated"),
        ("Use uv, not pip 23.", "Use uv, not pip 24.", "unrelated"),
        ("You may edit files in gen/.", "Edit files in gen/.", "unrelated"),
        ("Run the tests before the migrations.", "Run the migrations before the tests.", "unrelated"),
        ("Run the tests with `make test`.", "Run the linter with `make lint`.", "unrelated"),
        ("Use uv.", "Use vitest.", "unrelated"),
        ("Use uv for installs.", "Install everything with uv.", "unrelated"),
    ],
)
def test_what_two_sentences_are_to_each_other(one: str, other: str, wanted: str) -> None:
    assert relation(one, other) == relation(other, one) == wanted


def labelled() -> list[tuple[str, str, str]]:
    """Pairs of lessons of our own, each with what it is meant to be and what it is found to be."""
    lines = (line.split(" | ") for line in PAIRS.read_text(encoding="utf-8").splitlines() if " | " in line)
    return [
        (MEANT[kind], FOUND[relation(one, other)], f"{one} | {other}") for kind, one, other in lines if kind in MEANT
    ]


def test_of_500_pairs_none_is_merged_that_does_not_say_the_same_nor_withheld_that_does_not_contradict() -> None:
    found = labelled()
    assert len(found) == 500
    assert [pair for pair in found if pair[1] not in ("two", pair[0])] == []
    assert sum(verdict == "conflict" for _, verdict, _ in found) >= 70


@given(WORDS, WORDS)
def test_it_does_not_matter_which_comes_first_and_what_is_related_has_one_key(one: list[str], other: list[str]) -> None:
    a, b = " ".join(one), " ".join(other)
    assert relation(a, b) == relation(b, a)
    if relation(a, b) != "unrelated":
        assert claim(a).key == claim(b).key != []


@given(WORDS)
def test_a_sentence_says_the_same_as_itself_and_never_as_its_negation(words: list[str]) -> None:
    sentence = " ".join(words)
    assert relation(sentence, f"  {sentence} ") in ("same", "unrelated")
    assert relation(sentence, f"not {sentence}") != "same"
