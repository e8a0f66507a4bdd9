"""Which failures are likely to come back: what many sessions met, lately, where errors do come back."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hardwon.briefing.foreseen import Chances, comes_back
from hardwon.briefing.policy import unlikely
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


@given(st.lists(st.integers(2, 90), min_size=1, max_size=12, unique=True))
def test_to_be_met_by_the_last_session_never_makes_it_less_likely(days: list[int]) -> None:
    assert chance(met(*days, 1)) >= chance(met(*days))


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.floats(0.001, 0.5))
def test_a_chance_is_one(again: int, more: int, missed: int, rate: float) -> None:
    assert 0 < comes_back(again, again + more, again + more + missed, rate, (0.3, 20.0)) < 1


def test_what_was_met_often_and_then_never_again_is_gone_sooner_than_what_was_met_seldom() -> None:
    often, seldom = met(*range(41, 81)), met(41, 80)
    assert chance(often) < chance(seldom)
    assert chance(met(*range(1, 41))) > chance(met(1, 40))


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


def test_what_is_unlikely_is_not_told_at_all() -> None:
    missing = met(1, family="shell", words="command not found: pnpm")
    young = Chances(1, 1, STARTS[-2:], [missing.row.first_seen]).of(missing).value
    assert not unlikely(young, first=False)
    seldom = Chances(109, 106, STARTS, [day for day in STARTS[-40:] for _ in range(3)]).of(missing).value
    assert unlikely(seldom, first=True)


def test_the_likeliest_is_told_where_others_of_its_chance_are_not() -> None:
    missing = met(5, family="shell", words="command not found: pnpm")
    fading = Chances(1, 1, STARTS[-6:], [missing.row.first_seen]).of(missing).value
    assert not unlikely(fading, first=True)
    assert unlikely(fading, first=False)


def test_a_mistake_that_one_session_met_is_not_told_before_errors_come_back() -> None:
    mistake = met(1, family="tsc", words="a.ts(3,7): error TS2304: Cannot find name 'tide'.")
    assert unlikely(Chances(1, 1, STARTS[-2:], [mistake.row.first_seen]).of(mistake).value, first=True)
    assert not unlikely(chance(mistake, ALL_COME_BACK), first=False)
