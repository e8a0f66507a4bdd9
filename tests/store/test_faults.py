"""The campaigns of `make faults`, a few trials of each: nothing lost, nothing stored twice, no false alarm."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.faults import damage, disk, power, process, service, trial
from benchmarks.faults.trial import Outcome

from hardwon import Attempt, Hardwon

SEED = 7


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot fork, and has no signal that nobody can catch")
@pytest.mark.parametrize(
    ("campaign", "trials"),
    [
        (process.kills, 8),
        (power.power_failures, 25),
        (disk.disk_errors, 3),
        (process.full_disks, 5),
        (damage.damaged_stores, 8),
        (process.clocks, 3),
        (service.restarts, 1),
        (service.server_crashes, 2),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_what_was_acknowledged_is_there_once(campaign: Callable[[int, int], Outcome], trials: int) -> None:
    found = campaign(trials, SEED)
    if not found.trials:
        pytest.skip("what it needs is not installed")
    assert (found.trials, found.lost, found.twice, found.alarms) == (trials, 0, 0, 0)


def test_a_loss_would_be_seen(tmp_path: Path) -> None:
    with Hardwon(tmp_path / "home") as memory:
        for number in range(3):
            trial.write(memory, number)
        memory.journal.log(Attempt(trial.text_of(1)))
    found = trial.judged(tmp_path / "home", [0, 1, 2, 5])
    assert (found.acknowledged, found.lost, found.twice) == (4, 1, 1)


def test_an_unsynced_write_may_be_gone_and_a_synced_one_is_not() -> None:
    calls = [("write", "f", 0, b"a" * 512), ("sync", "f"), ("write", "f", 512, b"b" * 512), ("done", 1)]
    seen = {bytes(power.image(calls, 4, random.Random(seed))["f"]) for seed in range(20)}
    assert {content[:512] for content in seen} == {b"a" * 512}
    assert b"a" * 512 in seen
    assert b"a" * 512 + b"b" * 512 in seen
