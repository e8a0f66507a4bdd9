"""Processor time compared inside one test, on a machine that others may use at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

ROUNDS = 8
BUSY = 10
"""How much longer than on an idle machine anything may take before it counts as slow."""


def spent(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began


def assert_growth(small: Callable[[], float], large: Callable[[], float], most: float, noise: float = 0.0) -> None:
    """The best rounds count, as many as it takes: other processes can only make a round longer."""
    few, many = float("inf"), float("inf")
    for _ in range(ROUNDS):
        few, many = min(few, small()), min(many, large())
        if many <= most * few + noise:
            return
    assert many <= most * few + noise


def assert_quick(work: Callable[[], object], seconds: float) -> None:
    """What grows with the square of its input takes far longer than a busy machine makes of a few seconds."""
    assert any(spent(work) < BUSY * seconds for _ in range(3))
