"""Does the experiment tell the truth? Run it in worlds of which the truth is known.

A world is many runs of 400 sessions with 8 lines each, of which 5 % would come back if nothing were shown, unless
the world says otherwise. The coins, the law, the verdicts and the checks are those that real sessions are judged by.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.timing import markdown
from hardwon.measure.experiment import ALARM_E_VALUE, WEIGHTS, log_e_value, log_unevenness
from hardwon.measure.randomisation import Kind, Randomisation, spread_of
from hardwon.measure.randomisation import Risk as RiskSeen
from hardwon.model.metric import rate
from hardwon.store.spool import ITEMS_WITHHELD, SESSIONS_HELD_OUT

SESSIONS, LINES, BASE, LOOKS = 400, 8, 0.05, 60
NIGHTLY = 2000
MOST_FOR_COVERAGE = 1000
_CHUNK = 100
_SHOWN = 1 - ITEMS_WITHHELD
_KINDS = [Kind(SESSIONS_HELD_OUT, (_SHOWN,) * count, (_SHOWN,) * (LINES - count)) for count in range(1, LINES + 1)]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Dealt(NamedTuple):
    """runs × sessions, and runs × sessions × lines."""

    held_out: Flags
    withheld: Flags


Coins = Callable[[np.random.Generator, int, Floats], Dealt]
Risk = Callable[[np.random.Generator, int], Floats]


class World(NamedTuple):
    name: str
    ratio: float
    risk: Risk
    coins: Coins
    goal: str


class Seen(NamedTuple):
    """Shares of the runs in which each verdict was given."""

    helps: float
    harms: float
    ever_helps: float
    """At any of the 60 looks, by the version that may be looked at daily."""
    ever_harms: float
    broken: float
    ever_broken: float
    peeking: float
    """What looking 60 times with the version for one look would have claimed: an effect either way."""


def same_risk(_: np.random.Generator, runs: int) -> Floats:
    return np.full((runs, SESSIONS, LINES), BASE)


def uneven_risk(rng: np.random.Generator, runs: int) -> Floats:
    """Bad days and bad items: what recurs, recurs together. On average 5 %."""
    days = rng.gamma(0.7, 1 / 0.7, (runs, SESSIONS, 1))
    items = rng.gamma(0.7, 1 / 0.7, (runs, 1, LINES))
    return np.minimum(0.9, BASE * days * items)


def after_bursts(rng: np.random.Generator, runs: int) -> Floats:
    """Items are made right after a burst of their error, which is over soon, whatever is shown."""
    born = rng.integers(0, SESSIONS, (runs, 1, LINES))
    age = (np.arange(SESSIONS)[None, :, None] - born) % 100
    return np.broadcast_to(0.4 * np.exp(-age / 8.0) + 0.02, (runs, SESSIONS, LINES))


def fair(rng: np.random.Generator, runs: int, _: Floats) -> Dealt:
    held_out = rng.random((runs, SESSIONS)) < SESSIONS_HELD_OUT
    return Dealt(held_out, rng.random((runs, SESSIONS, LINES)) < ITEMS_WITHHELD)


def biased(rng: np.random.Generator, runs: int, risk: Floats) -> Dealt:
    return fair(rng, runs, risk)._replace(withheld=rng.random((runs, SESSIONS, LINES)) < 0.3)


def one_coin_an_item(rng: np.random.Generator, runs: int, risk: Floats) -> Dealt:
    """The session is left out of the hash: an item is always shown or never."""
    coins = rng.random((runs, SESSIONS // 100, 1, LINES)) < ITEMS_WITHHELD
    every = np.broadcast_to(coins, (runs, SESSIONS // 100, 100, LINES)).reshape(runs, SESSIONS, LINES)
    return fair(rng, runs, risk)._replace(withheld=every)


def one_coin_a_session(rng: np.random.Generator, runs: int, risk: Floats) -> Dealt:
    """The item is left out of the hash: all of a session's lines share a coin."""
    coins = rng.random((runs, SESSIONS, 1)) < ITEMS_WITHHELD
    return fair(rng, runs, risk)._replace(withheld=np.broadcast_to(coins, (runs, SESSIONS, LINES)))


def seeking_risk(rng: np.random.Generator, runs: int, risk: Floats) -> Dealt:
    """What is likelier to come back is withheld more often; on average as often as it should be."""
    chance = ITEMS_WITHHELD * risk / risk.mean(axis=(1, 2), keepdims=True)
    return fair(rng, runs, risk)._replace(withheld=rng.random(risk.shape) < np.minimum(0.9, chance))


WORLDS = (
    World("no effect", 1.0, same_risk, fair, "alarms ≤ 5 %"),
    World("no effect, bad days and bad items", 1.0, uneven_risk, fair, "alarms ≤ 5 %"),
    World("no effect, items made after bursts", 1.0, after_bursts, fair, "no “helps”: ≤ 2.5 %"),
    World("recurrence halved", 0.5, same_risk, fair, "helps ≥ 80 %"),
    World("recurrence halved, bad days and bad items", 0.5, uneven_risk, fair, "reported"),
    World("recurrence doubled", 2.0, same_risk, fair, "harms ≥ 80 %"),
    World("broken: 30 % withheld instead of 20 %", 1.0, same_risk, biased, "broken ≥ 99 %"),
    World("broken: one coin an item", 1.0, same_risk, one_coin_an_item, "broken ≥ 99 %"),
    World("broken: one coin a session", 1.0, same_risk, one_coin_a_session, "broken ≥ 99 %"),
    World("broken: what is likely is withheld", 1.0, uneven_risk, seeking_risk, "broken ≥ 99 %"),
)


def run(world: World, runs: int, seed: int = 0) -> Seen:
    rng = np.random.default_rng(seed)
    parts = [_chunk(world, min(_CHUNK, runs - done), rng) for done in range(0, runs, _CHUNK)]
    weights = [min(_CHUNK, runs - done) for done in range(0, runs, _CHUNK)]
    return Seen(*(float(np.average(column, weights=weights)) for column in zip(*parts, strict=True)))


def _chunk(world: World, runs: int, rng: np.random.Generator) -> Seen:
    risk = world.risk(rng, runs)
    dealt = world.coins(rng, runs, risk)
    shown = ~dealt.withheld & ~dealt.held_out[:, :, None]
    recurred = rng.random(risk.shape) < np.where(shown, risk * world.ratio, risk)
    looks = np.linspace(SESSIONS / LOOKS, SESSIONS, LOOKS).astype(int) - 1
    each = np.eye(LINES + 1)[recurred.sum(axis=2)][:, :, 1:]
    kinds, told = (part.cumsum(axis=1)[:, looks] for part in (each, each * ~dealt.held_out[:, :, None]))
    hits = (recurred & shown).sum(axis=2).cumsum(axis=1)[:, looks]
    seen = _risk(recurred.reshape(-1, LINES), shown)
    daily = Randomisation(_KINDS, kinds.reshape(-1, LINES), told.reshape(-1, LINES), hits.reshape(-1), seen)
    last = Randomisation(_KINDS, kinds[:, -1], told[:, -1], hits[:, -1], seen)
    helps, harms, _ = last.verdicts(anytime=False)
    broken = _broken(dealt, shown, looks)
    ever_helps, ever_harms = (
        (flags.reshape(runs, LOOKS) & ~broken).any(axis=1).mean() for flags in daily.verdicts(anytime=True)[:2]
    )
    peeking = (daily.p_value().reshape(runs, LOOKS) <= 0.05).any(axis=1)
    return Seen(
        helps=(helps & ~broken[:, -1]).mean(),
        harms=(harms & ~broken[:, -1]).mean(),
        ever_helps=ever_helps,
        ever_harms=ever_harms,
        broken=broken[:, -1].mean(),
        ever_broken=broken.any(axis=1).mean(),
        peeking=peeking.mean(),
    )


def _risk(recurred: Flags, shown: Flags) -> RiskSeen:
    spread = spread_of(recurred.sum(axis=1), np.full(len(recurred), LINES))
    return RiskSeen(float(recurred.mean()), float(shown.mean()), spread)


def _broken(dealt: Dealt, shown: Flags, looks: NDArray[np.int_]) -> Flags:
    """The checks of `measure/experiment.py` that need no store, for all runs and looks at once."""
    told = ~dealt.held_out
    hidden = (~shown & told[:, :, None]).astype(float)
    own = np.arange(LINES + 1.0)  # lines that a session can have withheld, tabulated
    each = np.stack([log_e_value(own, np.full(LINES + 1, LINES), ITEMS_WITHHELD, weight) for weight in WEIGHTS])
    by_session = (each[:, hidden.sum(axis=2).astype(int)] * told).cumsum(axis=2)[:, :, looks]
    evidence = [special.logsumexp(by_session, axis=0) - np.log(len(WEIGHTS))]
    sessions, lines = told.cumsum(axis=1)[:, looks], hidden.cumsum(axis=1)[:, looks]
    evidence.append(log_e_value(looks + 1 - sessions, np.broadcast_to(looks + 1, sessions.shape), SESSIONS_HELD_OUT))
    evidence.append(log_e_value(lines.sum(axis=2), sessions * LINES, ITEMS_WITHHELD))
    evidence.append(log_unevenness(lines, sessions[:, :, None], ITEMS_WITHHELD))
    evidence.append(_by_item(hidden, told, looks))
    return np.asarray(np.max(evidence, axis=0) >= np.log(ALARM_E_VALUE))


def _by_item(hidden: Floats, told: Flags, looks: NDArray[np.int_]) -> Floats:
    """Every hundred sessions have items of their own."""
    parts = []
    for start in range(0, SESSIONS, 100):
        own = np.zeros((SESSIONS, 1))
        own[start : start + 100] = 1
        heads = (hidden * own).cumsum(axis=1)[:, looks]
        sizes = np.repeat((told * own[:, 0]).cumsum(axis=1)[:, looks][:, :, None], LINES, axis=2)
        parts.append((heads, sizes))
    heads, sizes = (np.concatenate(part, axis=2) for part in zip(*parts, strict=True))
    return log_unevenness(heads, sizes, ITEMS_WITHHELD)


class Covered(NamedTuple):
    once: float
    anytime: float


def covered(base: float, ratio: float, runs: int, *, uneven: bool = False, seed: int = 0) -> Covered:
    """In how many runs the interval holds the true ratio."""
    rng = np.random.default_rng(seed)
    risk = uneven_risk(rng, runs) * base / BASE if uneven else np.full((runs, SESSIONS, LINES), base)
    risk = np.minimum(risk, 0.98 / max(1.0, ratio))
    dealt = fair(rng, runs, risk)
    shown = ~dealt.withheld & ~dealt.held_out[:, :, None]
    recurred = rng.random(risk.shape) < np.where(shown, risk * ratio, risk)
    each = np.eye(LINES + 1)[recurred.sum(axis=2)][:, :, 1:]
    told = (each * ~dealt.held_out[:, :, None]).sum(axis=1)
    hits = (recurred & shown).sum(axis=(1, 2))
    found = [_holds(ratio, each[at].sum(axis=0), told[at], hits[at], recurred[at], shown[at]) for at in range(runs)]
    return Covered(*(float(np.mean(column)) for column in zip(*found, strict=True)))


def _holds(ratio: float, kinds: Floats, told: Floats, hits: int, recurred: Flags, shown: Flags) -> tuple[bool, bool]:
    """Of one experiment, from what it alone has seen."""
    coins = Randomisation(_KINDS, kinds, told, np.array([hits]), _risk(recurred, shown))
    low, high = coins.tails(float(np.log(ratio)))
    inside = coins.log_evidence(float(np.log(ratio)))[0] < np.log(20)
    return bool(min(low[0], high[0]) > 0.025), bool(inside)


def coverage_table(runs: int) -> str:
    ratios = (0.5, 0.8, 1.0, 1.25, 2.0)
    rows = []
    for uneven in (False, True):
        for base in (0.02, 0.05, 0.1, 0.2):
            seen = [covered(base, ratio, runs, uneven=uneven) for ratio in ratios]
            name = f"{base:.0%}{', bad days and bad items' if uneven else ''}"
            rows.append((name, *(f"{each.once:.1%} ({each.anytime:.1%})" for each in seen)))
    note = f"{runs} runs each. In brackets, the interval that may be looked at daily. Goal: 95 %."
    return markdown("How often the interval holds the true ratio", ("base", *map(str, ratios)), rows, note)


def table(runs: int = 300) -> str:
    began = time.perf_counter()
    rows = []
    for world in WORLDS:
        seen = run(world, runs)
        rows.append((world.name, *map(_share, seen), world.goal))
    headings = ("world", "helps", "harms", "helps, 60 looks", "harms, 60 looks", "broken", "broken, 60 looks",
                "peeking 60 times at p ≤ 0.05", "goal")  # fmt: skip
    half = rate(runs // 20, runs)
    note = (
        f"{runs} runs a world, {SESSIONS} sessions of {LINES} lines, base {BASE:.0%}, in "
        f"{time.perf_counter() - began:.0f} s. A share of 5 % is known to {half.low:.1%}–{half.high:.1%}. `helps` and "
        "`harms` are the verdicts of one look at the end; with `60 looks`, those that the anytime-valid version gave "
        "at any of 60 daily looks."
    )
    return (
        markdown("The experiment in simulated worlds", headings, rows, note)
        + "\n\n"
        + coverage_table(min(runs, MOST_FOR_COVERAGE))
    )


def _share(value: float) -> str:
    return f"{value:.1%}"


if __name__ == "__main__":
    print(table(int(sys.argv[1]) if len(sys.argv) > 1 else NIGHTLY))
