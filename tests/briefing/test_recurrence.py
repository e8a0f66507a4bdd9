"""Which failures are likely to come back: what recurs, was met lately and names no single place."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.briefing.rank import Chances, names_something
from hardwon.store.failures import FailureRow, Likely

DAY = 86_400_000_000
NOW = 1_000 * DAY
STARTS = [day * DAY for day in range(900, 1_000)]


def met(*days_ago: int, signature: str = "File does not exist", agents: str = "claude-code") -> Likely:
    visits = tuple(NOW - days * DAY for days in sorted(days_ago))
    row = FailureRow("F1", "agent", signature, len(visits), len(visits), visits[-1], visits[0], "Read", agents)
    return Likely(row, "", visits)


def chance(one: Likely, agent: str = "claude-code") -> float:
    return Chances([one], STARTS, agent, NOW).of(one).value


@pytest.mark.parametrize(
    ("signature", "names"),
    [
        ("File does not exist", False),
        ("String to replace not found in file", False),
        ("command not found: python", False),
        ("ModuleNotFoundError: No module named 'asyncpg'", False),
        ("F401: 'os.path' imported but unused (main.py)", True),
        ("Directory does not exist: sessions", True),
        ("AssertionError: 3 is not 4 (test_gauge.py test_tide)", True),
        ("unknown flag: --no-stat", True),
    ],
)
def test_an_error_that_names_a_place_is_told_from_one_that_can_happen_anywhere(signature: str, names: bool) -> None:
    assert names_something(signature) is names


def test_what_names_a_place_is_less_likely_until_the_project_proves_otherwise() -> None:
    anywhere, there = met(2), met(2, signature="undefined: tideGauge (main.go)")
    assert chance(anywhere) > 2 * chance(there)
    recurring = [met(2, 3, signature=f"undefined: gauge{n} (main.go)") for n in range(40)]
    once = [met(2) for _ in range(40)]
    chances = Chances([*recurring, *once], STARTS, "", NOW)
    assert chances.of(recurring[0]).came_back > chances.of(once[0]).came_back


@given(st.lists(st.integers(0, 90), min_size=1, max_size=12), st.integers(0, 90))
def test_another_session_that_met_it_never_makes_it_less_likely(days: list[int], more: int) -> None:
    before, after = Chances([], STARTS, "", NOW).of(met(*days)), Chances([], STARTS, "", NOW).of(met(*days, more))
    assert after.value >= before.value


def test_it_fades_with_days_and_with_sessions() -> None:
    by_days = [chance(met(days)) for days in (0, 1, 7, 30, 90)]
    assert all(later < earlier for earlier, later in pairwise(by_days))
    crowded = Chances([], sorted(STARTS + [NOW - DAY // 2] * 50), "", NOW).of(met(1)).value
    assert crowded < Chances([], STARTS, "", NOW).of(met(1)).value


def test_what_only_another_agent_met_counts_for_less() -> None:
    assert chance(met(1), agent="codex") < chance(met(1)) == chance(met(1), agent="")
