"""Measured: what is found of secrets where they really stand, and what is left alone of what only looks like them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from hardwon.scrub.scrubber import Scrubber

from .corpus import negatives, positives
from .scoring import PRESIDIO, presidio, score, together


@pytest.fixture(scope="module")
def texts() -> tuple[list, list[str]]:
    random = Random(2026)
    return list(positives(random)), list(negatives(random))


def test_there_are_enough_texts_to_measure_by(texts: tuple[list, list[str]]) -> None:
    assert len(texts[0]) >= 2_000
    assert len(texts[1]) >= 20_000


def test_secrets_are_found_and_what_only_looks_like_them_is_left_alone(texts: tuple[list, list[str]]) -> None:
    secrets, others = texts
    scrubber = Scrubber()
    fixed = score([secret for secret in secrets if secret.fixed], [], scrubber)
    every = score(secrets, others, scrubber)
    assert fixed.recall >= 0.99
    assert every.recall >= 0.95
    assert every.precision >= 0.90


@pytest.mark.parametrize("personal", [False, True])
def test_people_do_not_show_in_texts_about_them(shared: Path, personal: bool) -> None:
    scores = presidio(shared / PRESIDIO, Scrubber(personal=personal))
    every = together(scores.values())
    assert every.all == 365
    assert every.recall >= 0.97
    assert every.precision >= 0.95
