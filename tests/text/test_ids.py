"""Ids that people type: the few characters that commands show tell everything apart, however quickly it was made."""

from __future__ import annotations

from hardwon.text.normalise import derived, made


def test_the_short_ids_of_things_made_at_once_differ() -> None:
    shown = {made("L")[:9] for _ in range(1_000)}
    assert len(shown) == 1_000


def test_what_is_made_looks_like_what_is_derived() -> None:
    assert len(made("L")) == len(derived("L", "a sentence"))
    assert made("L").startswith("L")
