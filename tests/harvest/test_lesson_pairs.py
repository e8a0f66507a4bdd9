"""Pairs of lessons of our own, labelled: what is merged says the same, what is withheld contradicts."""

from __future__ import annotations

import pytest
from benchmarks.lesson_pairs import Pair, pairs
from hypothesis import given
from hypothesis import strategies as st

from hardwon.harvest.alike import gist, keys, relation
from tests.conftest import REPOSITORY

PAIRS = pairs()
ROWS = {
    "160 that the rules were tuned on": "tuned",
    "164 held out by hash": "held out",
    "94 written against the tuned rules": "second",
    "82 written when they were done": "third",
}
WORDS = st.lists(
    st.sampled_from(
        "use never pnpm npm not before after run tests in with for `make test` `make lint` 8080 9090 docker need "
        "instead of must , ; only without commit the".split(" ")
    ),
    max_size=10,
)


def test_there_are_enough_of_each_kind() -> None:
    assert len(PAIRS) >= 250
    assert {pair.kind for pair in PAIRS} == {"same", "opposite", "value", "related", "special"}


def test_nothing_is_merged_that_does_not_say_the_same() -> None:
    assert [pair for pair in PAIRS if pair.found == "same" and pair.meant != "same"] == []


def test_nothing_is_withheld_that_does_not_contradict() -> None:
    assert [pair for pair in PAIRS if pair.found == "conflict" and pair.meant != "conflict"] == []


@pytest.mark.parametrize(("verdict", "least"), [("same", 0.9), ("conflict", 0.9)])
def test_most_of_what_there_is_to_find_is_found(verdict: str, least: float) -> None:
    meant = [pair for pair in PAIRS if pair.meant == verdict]
    assert sum(pair.found == verdict for pair in meant) >= least * len(meant)


def test_the_half_that_rules_were_not_tuned_on_goes_as_well() -> None:
    held_out = [pair for pair in PAIRS if pair.group == "held out"]
    assert sum(pair.found == pair.meant for pair in held_out) >= 0.95 * len(held_out)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.found != "two"])
def test_what_is_not_unrelated_is_found_by_a_key(pair: Pair) -> None:
    assert set(keys(gist(pair.one))) & set(keys(gist(pair.other))) - {frozenset()}


@given(WORDS, WORDS)
def test_any_two_sentences_that_are_not_unrelated_share_a_key(one: list[str], other: list[str]) -> None:
    a, b = gist(" ".join(one)), gist(" ".join(other))
    assert relation(a, b) == relation(b, a)
    if relation(a, b) != "unrelated":
        assert set(keys(a)) & set(keys(b)) - {frozenset()}


@given(WORDS)
def test_a_sentence_says_the_same_as_itself(words: list[str]) -> None:
    sentence = " ".join(words)
    assert relation(gist(sentence), gist(f"  {sentence} ")) in ("same", "unrelated")


@pytest.mark.parametrize(("row", "group"), ROWS.items())
def test_the_page_has_the_figures_of_today(row: str, group: str) -> None:
    lines = (REPOSITORY / "docs" / "trust.md").read_text(encoding="utf-8").splitlines()
    cells = next([cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith(f"| {row}"))
    some = [pair for pair in PAIRS if pair.group == group]
    wrong = sum(pair.found == "same" and pair.meant != "same" for pair in some)
    assert row.startswith(f"{len(some)} ")
    assert (cells[2], cells[4]) == (f"{sum(pair.found == pair.meant for pair in some)}", f"{wrong}")
    assert cells[5:] == [_figures("same", some), _figures("conflict", some)]


def _figures(verdict: str, some: list[Pair]) -> str:
    right = sum(pair.found == pair.meant == verdict for pair in some)
    found, meant = (sum(getattr(pair, what) == verdict for pair in some) for what in ("found", "meant"))
    return f"{right / found:.3f}, {right / meant:.3f}"
