"""The verdict on real rows, and the law of the coins against coins that are really thrown."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from hardwon import Experiment, Hardwon
from hardwon.measure.randomisation import Kind, Randomisation, Risk, detectable, estimate, interval
from hardwon.store import hook_data, meta, spool
from hardwon.store.hook_data import Dealt
from hardwon.store.spool import HELD_OUT, TREATED, held_out, withheld
from tests.store.test_exposures import NOW, SECOND, failure, occurrence, session

LINES = 8


def lived(
    memory: Hardwon, sessions: int, *, base: float, ratio: float, seed: int = 1, forged: bool = False, whose: str = ""
) -> Experiment:
    """A store in which sessions were dealt lines by its own key, and failures came back by chance."""
    chance = random.Random(seed)
    db = memory.writing()
    with db.transaction():  # the same coins every time: one in twenty keys would give a false alarm
        db.execute("UPDATE meta SET value = ? WHERE key = 'fence_key'", ("01" * 16,))
    key = meta.fence_key(db)
    whose = whose or spool.dealer(key)
    with db.transaction():
        for line in range(LINES):
            failure(db, f"F{line}")
        for number in range(sessions):
            root, out = f"codex:{number}", held_out(key, f"codex:{number}")
            placed: list[spool.Placed] = []
            source = session(db, str(number), errors=chance.randrange(5))
            for line in range(LINES):
                hidden = chance.random() < 0.2 if forged else withheld(key, root, f"F{line}")
                shown = not out and not hidden
                placed.append((f"F{line}", line, 20, int(shown), 0.8, 0.5))
                if chance.random() < base * (ratio if shown else 1):
                    occurrence(db, source, f"F{line}", root=root, position=line, at=NOW + number * SECOND)
            arm, propensity = (HELD_OUT, 0.1) if out else (TREATED, 0.9)
            at = NOW + number * SECOND
            hook_data.record_exposure(
                db, Dealt(f"B{number}", root, "P", "codex", "start", arm, propensity, whose, "", at, placed)
            )
    return memory.experiment()


@pytest.mark.parametrize(
    ("base", "ratio", "verdict"), [(0.12, 0.3, "helps"), (0.06, 3.0, "harms"), (0.05, 1.0, "too early")]
)
def test_the_verdict_is_what_the_world_is_like(home: Path, base: float, ratio: float, verdict: str) -> None:
    with Hardwon(home) as memory:
        found = lived(memory, 300, base=base, ratio=ratio)
    assert (found.verdict, found.once.verdict) == (verdict, verdict)
    assert [check.name for check in found.checks if not check.ok] == []
    assert (found.sessions, found.lines, found.shown.n + found.withheld.n) == (300, 300 * LINES, 300 * LINES)
    assert found.once.low is not None
    assert found.once.high is not None
    assert found.once.low < ratio < found.once.high
    assert found.anytime.low is None or found.anytime.low < found.once.low
    assert found.recurrence.difference is not None
    assert found.recurrence.low is not None
    assert found.recurrence.low < found.recurrence.difference


def test_no_difference_worth_having_is_a_finding(home: Path) -> None:
    with Hardwon(home) as memory:
        assert lived(memory, 1500, base=0.4, ratio=1.0).verdict == "no difference worth having"


def test_an_assignment_that_is_not_the_keys_is_broken(home: Path) -> None:
    with Hardwon(home) as memory:
        found = lived(memory, 60, base=0.1, ratio=0.4, forged=True)
    assert found.verdict == found.once.verdict == "broken"
    assert [check.name for check in found.checks if not check.ok] == ["assignment as dealt"]


def test_what_another_stores_key_dealt_is_counted_and_not_called_broken(home: Path) -> None:
    with Hardwon(home) as memory:
        found = lived(memory, 300, base=0.12, ratio=0.3, forged=True, whose="another store")
    assert (found.verdict, found.sessions) == ("helps", 300)


def test_without_data_it_is_too_early_and_nothing_is_claimed(home: Path) -> None:
    with Hardwon(home) as memory:
        memory.writing()
        found = memory.experiment()
    assert (found.verdict, found.sessions, found.ratio, found.e_value) == ("too early", 0, None, 1.0)
    assert (found.shown.value, found.detectable_ratio, found.once.low, found.once.high) == (None, None, None, None)


def test_the_law_of_the_coins_is_that_of_throwing_them_again_with_other_keys() -> None:
    """200 sessions, some with several recurring lines; re-randomised by the very function that deals."""
    recurring = {f"s{n}": [f"F{line}" for line in range(1 + n % 3)] for n in range(200)}
    thrown = []
    for seed in range(400):
        key = seed.to_bytes(16, "big")
        told = {root: items for root, items in recurring.items() if not held_out(key, root)}
        thrown.append(sum(not withheld(key, root, item) for root, items in told.items() for item in items))
    sizes = [len(items) for items in recurring.values()]
    counts = np.array([[sizes.count(k) for k in (1, 2, 3)]])
    kinds = [Kind(0.1, (0.8,) * k) for k in (1, 2, 3)]
    law = Randomisation(kinds, counts, counts, np.array([0.0]), Risk(0.05)).law()[0]
    at = np.arange(len(law))
    mean, spread = law @ at, (law @ at**2 - (law @ at) ** 2) ** 0.5
    assert law.sum() == pytest.approx(1)
    assert abs(np.mean(thrown) - mean) < 4 * spread / 20
    assert np.std(thrown) == pytest.approx(spread, rel=0.15)


def coins(shown: int, recurring: int) -> Randomisation:
    counts = np.array([[recurring]])
    return Randomisation([Kind(0.0, (0.8,))], counts, counts, np.array([shown]), Risk(0.05))


def test_with_single_lines_the_test_is_the_binomial_one() -> None:
    from scipy import stats

    low, high = coins(60, 100).tails()
    assert low[0] == pytest.approx(stats.binom.cdf(60, 100, 0.8))
    assert high[0] == pytest.approx(stats.binom.sf(59, 100, 0.8))


def test_the_interval_holds_the_estimate_and_excludes_one_exactly_when_the_test_does() -> None:
    for shown in range(0, 61, 3):
        one = coins(shown, 60)
        low, high = interval(one, anytime=False)
        best = estimate(one)
        assert (low or 0.0) <= (best if best is not None else 1e9) <= (high or 1e9)
        excluded = not (low or 0.0) <= 1 <= (high or 1e9)
        assert excluded == (one.p_value()[0] <= 0.05)
        wide_low, wide_high = interval(one, anytime=True)
        assert (wide_low or 0.0) <= (low or 0.0)
        assert (wide_high or 1e9) >= (high or 1e9)


def test_the_evidence_is_worth_one_on_average_where_there_is_no_effect() -> None:
    from scipy import stats

    law = stats.binom.pmf(range(61), 60, 0.8)
    won = [float(np.exp(coins(shown, 60).log_evidence()[0])) for shown in range(61)]
    assert law @ won == pytest.approx(1)


def test_more_data_can_show_a_smaller_effect() -> None:
    found = [detectable(coins(0, n)) for n in (1, 50, 200, 800)]
    assert found[0] is None
    assert found[1] is not None
    assert found[2] is not None
    assert found[3] is not None
    assert found[1] < found[2] < found[3] < 1


def test_the_interval_is_about_the_likeliest_ratio_and_not_about_the_far_one_that_the_shown_alone_allow() -> None:
    # 130 sessions in which 155 of the lines came back, 80 of them shown.
    kinds = [Kind(0.1, (0.8,) * hits, (0.8,) * (LINES - hits)) for hits in (1, 2)]
    coins = Randomisation(kinds, np.array([[105.0, 25.0]]), np.array([[95.0, 22.0]]), np.array([80.0]), Risk(0.13))
    low, high = interval(coins, anytime=False)
    assert low is not None
    assert high is not None
    assert low < (estimate(coins) or 0) < high < 1
