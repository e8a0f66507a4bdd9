"""A confidence is judged by what became of the lesson."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.measure.tallies import Forecast, calibrate

forecasts = st.lists(
    st.builds(Forecast, st.floats(0, 1), st.sampled_from([True, False, None]), st.integers(1, 40)), max_size=30
)


def test_a_perfect_forecaster_scores_nothing_wrong() -> None:
    found = calibrate([Forecast(1.0, True, 30), Forecast(0.0, False, 10)])
    assert (found.brier, found.skill, found.ece, found.resolved) == (0.0, 1.0, 0.0, 40)


def test_saying_the_base_rate_is_calibrated_and_without_skill() -> None:
    found = calibrate([Forecast(0.75, True, 30), Forecast(0.75, False, 10)])
    assert (found.brier, found.skill) == (0.1875, 0.0)
    bad = calibrate([Forecast(0.95, True, 10), Forecast(0.95, False, 30)])
    assert bad.ece == pytest.approx(0.7)
    assert bad.skill is not None
    assert bad.skill < 0


def test_bands_show_where_confidence_is_too_high() -> None:
    found = calibrate(
        [Forecast(0.95, True, 9), Forecast(0.95, False, 1), Forecast(0.8, False, 4), Forecast(0.8, None, 6)]
    )
    by_band = {band.band: band for band in found.bands}
    assert (by_band["0.9-1.0"].confirmed.value, by_band["0.9-1.0"].mean_confidence) == (0.9, 0.95)
    assert (by_band["0.7-0.9"].confirmed.value, by_band["0.7-0.9"].unresolved) == (0.0, 6)
    assert (found.unresolved.successes, found.unresolved.n) == (6, 20)


def test_nothing_settled_is_not_called_good() -> None:
    found = calibrate([Forecast(0.9, None, 5)])
    assert (found.brier, found.skill, found.ece, found.resolved) == (None, None, None, 0)


@given(forecasts)
def test_scores_stay_in_their_ranges_and_every_lesson_is_counted_once(given: list[Forecast]) -> None:
    found = calibrate(given)
    assert found.resolved + found.unresolved.successes == sum(each.lessons for each in given)
    assert sum(band.confirmed.n + band.unresolved for band in found.bands) == found.unresolved.n
    if found.resolved:
        assert found.brier is not None
        assert found.ece is not None
        assert 0 <= found.brier <= 1
        assert 0 <= found.ece <= 1
