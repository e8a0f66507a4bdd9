"""Which failures are likely to come back: what many sessions met, lately, where errors do come back."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hardwon.briefing.policy import unlikely, worth_telling
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


def test_the_more_comes_back_the_more_is_told_and_nothing_where_hardly_anything_does() -> None:
    assert worth_telling(*ALL_COME_BACK, 100) > worth_telling(40, 20, 100) > worth_telling(20, 16, 100) >= 1
    assert worth_telling(*NONE_COMES_BACK, 100) == worth_telling(109, 106, 136) == 0


def test_a_new_project_is_told_a_line_or_two_of_what_its_first_session_met() -> None:
    assert 1 <= worth_telling(1, 1, 1) <= 2


def test_what_is_far_less_likely_than_the_likeliest_is_not_worth_a_line() -> None:
    often, seldom = chance(met(*range(1, 60))), chance(met(50))
    assert unlikely(seldom, often)
    assert not unlikely(seldom, seldom)
