"""The same, the opposite and another value are told apart by words alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.harvest.alike import gist, relation, similarity

SENTENCES = st.lists(
    st.sampled_from("use never pnpm npm tabs 2 4 not before after run tests always".split()), max_size=8
)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("Use uv for all installs here.", "use uv for all installs here", "same"),
        ("Always use uv, never pip install.", "Always use uv, never pip install, in this project.", "same"),
        ("Use pnpm.", "Do not use pnpm.", "opposite"),
        ("Use pnpm.", "Don't use pnpm.", "opposite"),
        ("Run the migrations before the tests.", "Run the migrations after the tests.", "opposite"),
        ("Enable strict mode in tsconfig.", "Disable strict mode in tsconfig.", "opposite"),
        ("The API listens on port 8080.", "The API listens on port 9090.", "other value"),
        ("Use npm for installs.", "Use yarn for installs.", "other value"),
        ("Never use npm for installs.", "Never use yarn for installs.", "unrelated"),
        ("Run the tests with `make test`.", "Run the linter with `make lint`.", "unrelated"),
        ("Use uv.", "Use vitest.", "unrelated"),
    ],
)
def test_what_two_sentences_are_to_each_other(one: str, other: str, wanted: str) -> None:
    assert relation(gist(one), gist(other)) == relation(gist(other), gist(one)) == wanted


@given(SENTENCES, SENTENCES)
def test_it_does_not_matter_which_comes_first(one: list[str], other: list[str]) -> None:
    a, b = gist(" ".join(one)), gist(" ".join(other))
    assert relation(a, b) == relation(b, a)
    assert 0 <= similarity(a, b) <= 1


@given(SENTENCES)
def test_a_negation_is_never_the_same(words: list[str]) -> None:
    sentence = " ".join(word for word in words if word not in ("never", "not"))
    assert relation(gist(sentence), gist(f"not {sentence}")) != "same"
