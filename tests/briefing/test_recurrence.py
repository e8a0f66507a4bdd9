"""Which failures are likely to come back: what many sessions met, lately, where errors do come back."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hardwon.briefing.policy import least_chance
from hardwon.briefing.rank import Chances
from hardwon.store.failures import FailureRow, Likely

DAY = 86_400_000_000
NOW = 1_000 * DAY
STARTS = [day * DAY for day in range(900, 1_000)]
ALL_COME_BACK, NONE_COMES_BACK = (100, 5), (100, 100)


def met(*days_ago: int) -> Likely:
    visits = tuple(NOW - days * DAY for days in sorted(days_ago))
    words = "fatal: the tide is out"
    row = FailureRow("F1", "git", words, words, len(visits), len(visits), visits[-1], visits[0], "git", "codex")
    return Likely(row, "", visits)


def chance(one: Likely, errors: tuple[int, int] = (20, 10)) -> float:
    return Chances(*errors, STARTS).of(one).value


@given(st.lists(st.integers(0, 90), min_size=1, max_size=12), st.integers(0, 90))
def test_another_session_that_met_it_never_makes_it_less_likely(days: list[int], more: int) -> None:
    assert chance(met(*days, more)) >= chance(met(*days))


def test_it_fades_with_every_session_that_did_not_meet_it() -> None:
    assert all(later < earlier for earlier, later in pairwise(chance(met(days)) for days in (1, 2, 7, 30, 90)))


def test_what_half_of_the_sessions_meet_is_about_as_likely_as_that() -> None:
    assert 0.4 < chance(met(*range(1, 100, 2)), errors=ALL_COME_BACK) < 0.55


def test_where_errors_come_back_a_second_time_is_told_and_where_none_does_it_is_not() -> None:
    assert chance(met(1, 3), errors=ALL_COME_BACK) > least_chance(600) > chance(met(1, 3), errors=NONE_COMES_BACK)


def test_the_less_room_the_surer_it_must_be() -> None:
    assert least_chance(150) > least_chance(300)
