"""The weights of the map are learned: what led to the edited files gets the weight."""

from __future__ import annotations

import random

import numpy as np
from benchmarks.map_replay import at_most
from benchmarks.map_train import (
    PAGE,
    Choice,
    Project,
    Stretch,
    Weights,
    choices,
    cut_short,
    fit,
    learned,
    recall,
    tasks,
)

from hardwon.map.signals import SIGNALS, WEIGHTS, WITHOUT_TASK
from tests.measure.test_map_replay import trip


def test_the_signal_that_tells_gets_the_weight() -> None:
    chance = random.Random(3)
    found = []
    for _ in range(60):
        signals = np.array([[chance.random() for _ in SIGNALS] for _ in range(30)])
        needed = np.zeros(30)
        needed[int(np.argmax(signals[:, 5]))] = 1.0
        found.append(Choice(signals, needed, 1.0))
    assert int(np.argmax(fit(found))) == 5


def test_a_signal_that_nearly_parts_them_does_not_make_the_weights_run_away() -> None:
    signals = np.array([[1.0, 0.0], [0.0, 1e-3], [0.0, 0.0]])
    made = fit([Choice(signals, np.array([1.0, 0.0, 0.0]), 1.0)] * 200)
    assert np.isfinite(made).all()
    assert made[0] > 0


def test_tasks_are_choices_among_the_files_known_at_the_time() -> None:
    past = [trip(1, "tide", "a.py", "b.py"), trip(2, "tide", "a.py", "new.py"), trip(3, "reef", "elsewhere.py")]
    later = {"r2": [Stretch("now the other one", frozenset({"b.py"}), frozenset())]}
    (only,), (prompt,), pieces = tasks(Project("sea", past, later))
    assert pieces == [], "a short history is a piece already"
    assert only.signals.shape == (2, len(SIGNALS))
    assert list(only.edited) == [1.0, 0.0]
    assert list(prompt.edited) == [0.0, 1.0]
    weights = Weights(np.array(WEIGHTS), np.array(WITHOUT_TASK))
    assert recall([only], weights, "edited") == 1.0
    assert recall([only], weights, "read") is None


def test_a_long_history_is_also_learned_from_as_if_it_were_young() -> None:
    past = [trip(number, "tide", "a.py", "b.py") for number in range(1, 25)]
    pieces = tasks(Project("sea", past, {})).pieces
    assert [max(len(task.known.visits) for task in several) for several in pieces] == [5, 14]
    found = cut_short([Project("sea", past, {})], {"sea": Weights(np.array(WEIGHTS), np.zeros(2))})
    assert [(one.length, one.projects, one.sessions) for one in found if one.what == "edited"] == [
        (4, 1, 18), (6, 1, 20), (10, 1, 21), (15, 1, 22),
    ]  # fmt: skip
    assert all(one.shares == (1.0,) * 4 for one in found if one.projects)


def test_what_is_edited_and_what_is_only_read_count_as_much() -> None:
    past = [trip(number, "tide", "a.py", "b.py") for number in range(1, 9)]
    looked = [one._replace(looked=frozenset({"c.py"})) for one in past]
    found = tasks(Project("sea", looked, {}))
    apart = [fit(choices(found, what, "signals")) for what in ("edited", "read")]
    assert np.allclose(learned({"sea": found}).of_signals, np.mean(apart, axis=0))


def test_a_perfect_order_finds_ten_and_only_what_is_on_the_map() -> None:
    crowd = [f"f{number:02}.py" for number in range(20)]
    past = [trip(number, "all", *crowd, ran="./zorb" if number % 2 else "make test") for number in range(1, 6)]
    assert "| sea | 0.500 | - | 1.000 |" in at_most([Project("sea", past, {})])
    named = [one._replace(ran=tuple(run._replace(proposed=1) for run in one.ran)) for one in past]
    assert "| sea | 0.500 | - | 0.333 |" in at_most([Project("sea", named, {})]), "an output had named `./zorb`"


def test_projects_of_one_hand_are_left_out_together() -> None:
    assert Project("specstory-cli", [], {}).family == Project("specstory specstoryai__getspecstory", [], {}).family
    assert Project("ktsu-dev__Coder", [], {}).family == Project("ktsu-dev__Keybinding", [], {}).family


def test_there_is_a_weight_for_each_signal_and_a_place_to_write_them() -> None:
    assert len(WEIGHTS) == len(SIGNALS)
    assert len(WITHOUT_TASK) == 2
    page = PAGE.read_text(encoding="utf-8")
    for name in ("WEIGHTS", "WITHOUT_TASK"):
        assert page.count(f"\n{name} = (") == 1
