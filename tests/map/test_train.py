"""The weights of the map are learned: what led to the edited files gets the weight."""

from __future__ import annotations

import random

import numpy as np
from benchmarks.map_train import PAGE, Task, fit, recall, tasks

from hardwon.map.signals import SIGNALS, WEIGHTS, WITHOUT_TASK
from tests.measure.test_map_replay import trip


def test_the_signal_that_tells_gets_the_weight() -> None:
    chance = random.Random(3)
    found = []
    for _ in range(60):
        signals = np.array([[chance.random() for _ in SIGNALS] for _ in range(30)])
        needed = np.zeros(30)
        needed[int(np.argmax(signals[:, 5]))] = 1.0
        found.append(Task(signals, signals[:, :2], needed))
    made = fit([task.signals for task in found], found)
    assert int(np.argmax(made)) == 5
    assert recall([task.signals for task in found], found, made) > 0.9


def test_tasks_are_choices_among_the_files_known_at_the_time() -> None:
    past = [trip(1, "tide", "a.py", "b.py"), trip(2, "tide", "a.py", "new.py"), trip(3, "reef", "elsewhere.py")]
    (only,) = tasks(past)
    assert only.signals.shape == (2, len(SIGNALS))
    assert list(only.needed) == [1.0, 0.0]


def test_there_is_a_weight_for_each_signal_and_a_place_to_write_them() -> None:
    assert len(WEIGHTS) == len(SIGNALS)
    assert len(WITHOUT_TASK) == 2
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("\nWEIGHTS = (") == page.count("\nWITHOUT_TASK = (") == 1
