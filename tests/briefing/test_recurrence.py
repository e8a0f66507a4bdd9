"""Which failures are likely to come back: what many sessions met, lately, where errors do come back."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hardwon.briefing.foreseen import Chances, of_one_day
from hardwon.briefing.policy import FAILURES_TOLD, most_told, unlikely
from hardwon.store.failures import FailureRow, Likely

DAY = 86_400_000_000
NOW = 1_000 * DAY
STARTS = [day * DAY for day in range(900, 1_000)]
ALL_COME_BACK, NONE_COMES_BACK = (100, 5), (100, 100)


def met(*days_ago: int, family: str = "git", words: str = "fatal: the tide is out") -> Likely:
    visits = tuple(NOW - days * DAY for days in sorted(days_ago))
    row = FailureRow("F1", family, words, words, len(visits), len(visits), visits[-1], visits[0], "git", "codex")
    return Likely(row, "", visits)


def chance(one: Likely, errors: tuple[int, int] = (20, 10)) -> float:
    return Chances(*errors, STARTS, STARTS[-10:] * errors[1]).of(one).value


@given(st.lists(st.integers(0, 90), min_size=1, max_size=12), st.integers(0, 90))
def test_another_session_that_met_it_since_never_makes_it_less_likely(days: list[int], more: int) -> None:
    assert chance(met(*days, min(more, max(days)))) >= chance(met(*days))


def test_it_fades_with_every_session_that_did_not_meet_it() -> None:
    assert all(later < earlier for earlier, later in pairwise(chance(met(days)) for days in (1, 2, 7, 30, 90)))


def test_what_half_of_the_sessions_meet_is_about_as_likely_as_that() -> None:
    assert 0.25 < chance(met(*range(1, 100, 2)), errors=ALL_COME_BACK) < 0.55


def test_what_the_surroundings_refuse_is_likelier_than_a_mistake_in_the_code_of_the_day() -> None:
    mistake = met(1, family="tsc", words="a.ts(3,7): error TS2304: Cannot find name 'tide'.")
    missing = met(1, family="shell", words="command not found: pnpm")
    folder = met(1, family="shell", words="ls: docs/: No such file or directory")
    module = met(1, family="python", words="ModuleNotFoundError: No module named 'tide'")
    assert chance(mistake) < min(chance(other) for other in (missing, folder, module))
    test = met(1, family="jest", words="expect(tide).toBe(3): Received: 4 (says so if the gauge does not exist)")
    assert chance(test) == chance(mistake)


def test_one_line_is_told_where_less_than_a_tenth_of_the_errors_comes_back() -> None:
    assert most_told(*ALL_COME_BACK) == most_told(20, 16) == most_told(1, 1) == most_told(8, 8) == FAILURES_TOLD
    assert most_told(*NONE_COMES_BACK) == most_told(109, 106) == most_told(9, 9) == 1


def test_what_is_unlikely_is_not_told_at_all() -> None:
    missing = met(1, family="shell", words="command not found: pnpm")
    young = Chances(1, 1, STARTS[-2:], [missing.row.first_seen]).of(missing).value
    assert not unlikely(young, young)
    seldom = Chances(109, 106, STARTS, [day for day in STARTS[-40:] for _ in range(3)]).of(missing).value
    assert unlikely(seldom, seldom)


def test_what_is_far_less_likely_than_the_likeliest_is_not_worth_a_line() -> None:
    often, seldom = chance(met(*range(1, 60))), chance(met(50))
    assert unlikely(seldom, often)


def test_a_mistake_of_one_session_needs_a_fix() -> None:
    mistake = met(1, family="tsc", words="a.ts(3,7): error TS2304: Cannot find name 'tide'.")
    missing = met(1, family="shell", words="command not found: pnpm")
    both = Chances(20, 10, STARTS, STARTS[-10:])
    assert of_one_day(both.of(mistake), 1, fixed=False)
    assert not of_one_day(both.of(mistake), 1, fixed=True)
    assert not of_one_day(both.of(mistake), 2, fixed=False)
    assert not of_one_day(both.of(missing), 1, fixed=False)
