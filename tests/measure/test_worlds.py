"""The experiment tells the truth in worlds of which the truth is known. Nightly with 2,000 runs a world."""

from __future__ import annotations

import os

import numpy as np
import pytest
from benchmarks.worlds import WORLDS, Seen, World, covered, run

from hardwon.measure.randomisation import spread_of

RUNS = int(os.environ.get("WORLD_RUNS", "100"))
NOISE = 3 * (0.05 * 0.95 / RUNS) ** 0.5
"""Three standard deviations of a share of 5 % in this many runs."""


def seen_in(name: str) -> Seen:
    (world,) = (world for world in WORLDS if world.name == name)
    return run(world, RUNS, seed=7)


def worlds(begin: str) -> list[World]:
    return [world for world in WORLDS if world.name.startswith(begin)]


@pytest.mark.parametrize("name", [world.name for world in worlds("no effect")])
def test_where_there_is_no_effect_none_is_found(name: str) -> None:
    seen = seen_in(name)
    assert seen.helps + seen.harms <= 0.05 + NOISE
    assert seen.ever_helps + seen.ever_harms <= 0.05 + NOISE, "not by looking every day for two months either"
    assert seen.ever_broken <= 0.01 + NOISE
    assert seen.peeking > seen.ever_helps + seen.ever_harms, "as peeking at the version for one look would"


def test_halved_recurrence_is_found_in_four_hundred_sessions() -> None:
    seen = seen_in("recurrence halved")
    assert seen.helps >= 0.8
    assert seen.harms == 0
    assert seen.ever_helps >= 0.5


def test_harm_is_found() -> None:
    seen = seen_in("recurrence doubled")
    assert seen.harms >= 0.8
    assert seen.ever_harms >= 0.8
    assert (seen.helps, seen.ever_helps) == (0, 0)


@pytest.mark.parametrize("name", [world.name for world in worlds("broken")])
def test_a_broken_randomiser_is_found(name: str) -> None:
    assert seen_in(name).broken >= 0.99


def test_what_gets_better_by_itself_is_no_help() -> None:
    assert seen_in("no effect, items made after bursts").helps <= 0.025 + NOISE


@pytest.mark.parametrize("base", [0.02, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0])
def test_the_interval_holds_the_true_ratio(base: float, ratio: float) -> None:
    once, anytime = covered(base, ratio, RUNS)
    assert once >= 0.95 - NOISE
    assert anytime >= 0.95 - NOISE


@pytest.mark.parametrize("base", [0.05, 0.2])
@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0])
def test_the_interval_holds_where_some_days_and_items_are_far_worse_than_others(base: float, ratio: float) -> None:
    once, anytime = covered(base, ratio, RUNS, uneven=True)
    assert once >= 0.94 - NOISE
    assert anytime >= 0.95 - NOISE


def test_the_spread_between_sessions_is_seen_beyond_chance() -> None:
    rng = np.random.default_rng(3)
    lines = np.full(20_000, 8)
    assert spread_of(rng.binomial(8, 0.1, 20_000), lines) == pytest.approx(0, abs=0.05)
    assert spread_of(rng.binomial(8, rng.gamma(2, 0.025, 20_000)), lines) == pytest.approx(0.5, abs=0.1)
