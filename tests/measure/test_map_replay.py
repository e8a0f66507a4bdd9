"""The map is proved by walking past sessions: each is led by the earlier ones alone."""

from __future__ import annotations

import random
from pathlib import Path

from hardwon import Hardwon
from hardwon.map.draw import Sketch, Trip, draw, rows
from hardwon.map.known import FILES_KEPT
from hardwon.map.signals import Ranked, mark
from hardwon.map.wording import for_task
from hardwon.measure.map_replay import Recall, outcomes, scenes, share, summarise
from hardwon.store.projects import RanRow
from tests.conftest import ClaudeSession, Run
from tests.map.test_map import ROOT, history

HOUR = 3_600_000_000


def trip(number: int, words: str, *edited: str, hours: float = 0.5, ran: str = "") -> Trip:
    at = number * HOUR
    done = (RanRow("", ran, ran, "test", 1, 0, 0),) if ran else ()
    ended = at + int(hours * HOUR)
    return Trip(f"r{number}", at, ended, "", words, "unknown", frozenset(edited), frozenset(), frozenset(), done, 3)


def test_a_session_knows_only_sessions_that_had_ended() -> None:
    past = [trip(1, "one", "a.py", hours=5), trip(2, "two", "b.py"), trip(4, "three", "c.py")]
    known = [{file.path for file in scene.known.files} for scene in scenes(past)]
    assert known == [set(), set(), {"b.py"}], "the first was still running, and nobody knows its own files"


def test_what_was_needed_and_known_is_counted_and_nothing_else() -> None:
    past = [
        trip(1, "fix the tide", "tide.py", "new.py", ran="make tide"),
        trip(2, "fix the tide", "tide.py", ran="make tide"),
    ]
    first, second = outcomes(past)
    assert first.edited == first.commands == {}
    assert (first.told, first.tokens) == (0, 0), "silent where nothing is known"
    assert second.edited["the map"] == Recall(1, 1)
    told = second.commands
    assert (told["the map"], told["how often"]) == (Recall(1, 1), Recall(1, 1)), "a usual command is told after one"
    assert second.unnamed["the map"] == Recall(1, 1)


def test_a_file_that_the_map_has_no_room_for_counts_as_missed() -> None:
    crowd = [f"f{number:03}.py" for number in range(FILES_KEPT + 5)]
    first, second = outcomes([trip(1, "all", *crowd), trip(2, "all", *crowd)])
    assert first.edited == {}
    assert second.known_files == FILES_KEPT
    assert second.edited["the map"] == Recall(len(crowd), 10)


def test_shares_are_means_of_sessions_with_their_interval() -> None:
    found = share([Recall(2, 1), Recall(1, 1), Recall(0, 0), None])
    assert (found.value, found.n) == (0.75, 2)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 0.75 <= found.high
    assert share([]).value is None


def test_in_a_young_project_what_every_session_touched_counts_beside_the_task() -> None:
    past = [trip(number, "the tide", "main.py", f"tide/table_{number}.py") for number in range(4)]
    known = draw(past)
    ranked = Ranked(known, "the tide of tide/table_0.py, tide/table_1.py, tide/table_2.py and tide/table_3.py")
    chances = {file.path: chance for chance, file in ranked.files}
    assert abs(sum(chances.values()) - 1) < 1e-9
    assert chances["main.py"] >= 0.25, "it has half of all touches, and after four sessions that counts for half"


def test_where_what_was_told_did_not_come_true_the_map_keeps_silent_until_it_would_have() -> None:
    past = [trip(number, "the tide table", "tide/table.py", "tide/moon.py") for number in range(8)]
    known = draw(past)
    assert for_task(known, "the tide table", 0), "nothing was told yet: it begins by telling"
    for visit, came_true in zip(known.visits, (1, 0, 0, 0, 0, 0, 0, 0), strict=True):
        visit.told, visit.came_true = 1, came_true
    assert not for_task(known, "the tide table", 0)
    known.visits[1].came_true = 1
    assert for_task(known, "the tide table", 0), "a quarter is enough"


def test_a_project_whose_tasks_return_is_led_well_and_frequency_alone_is_not() -> None:
    topics = [
        (f"work on {name}", [f"{name}/{part}.py" for part in "abcd"]) for name in ("tide", "reef", "shoal", "kelp")
    ]
    past = [trip(number, *_work(topics, number)) for number in range(40)]
    found = summarise("sea", outcomes(past))
    assert (found.edited["the map"].value or 0) > 0.95 > (found.edited["how often edited"].value or 1)
    assert found.precision is not None
    assert found.precision > 0.8
    assert found.tokens_p50 <= 150
    assert found.looks == 40 * 3
    assert 0 < found.looks_led <= found.looks


def _work(topics: list[tuple[str, list[str]]], number: int) -> tuple[str, ...]:
    words, files = topics[number * 7 % 4]
    return (words, *files)


def test_replay_reports_the_map(home: Path, tmp_path: Path, hardwon: Run) -> None:
    with Hardwon(home) as memory:
        memory.harvest(history(tmp_path))
        (found,) = memory.replay().maps
    assert found.sessions == 12
    assert found.edited["the map"].n == 9, "each of the three tasks is new once"
    assert found.edited["the map"].value == 1.0
    assert found.commands["the map"].value == 1.0
    shown = hardwon("replay")
    assert "how many `hardwon map` had in its top ten" in shown.stdout


def test_the_experiment_counts_calls_before_the_first_edit_and_reads_of_known_files(home: Path, tmp_path: Path) -> None:
    from hardwon.measure import outcomes as experiment

    with Hardwon(home) as memory:
        memory.harvest(history(tmp_path))
        memory.bootstrap("reef", agent="claude-code", session="late")
        late = ClaudeSession("late", month=11).user("the tide table again").run("ls")
        for file in ("README.md", "src/tide/table.py", "src/new.py"):
            late.call("Read", {"file_path": f"{ROOT}/{file}"}, "x")
        memory.harvest([late.edit(f"{ROOT}/src/new.py", "x").write(tmp_path / "late")])
        db = memory.reading()
        assert experiment._calls_before_edit(db) == {"claude-code:late": 4}
        assert experiment._known_reads(db) == {"claude-code:late": 2}


def test_a_map_that_is_drawn_again_is_as_if_drawn_anew() -> None:
    """Sessions come, go and change places; files are deleted and have too many marks to keep."""
    chance = random.Random(3)
    words = [f"word{number}" for number in range(90)]
    past = []
    for number in range(40):
        edited = frozenset(chance.sample([f"src/f{at}.py" for at in range(12)], 3))
        told = trip(number, " ".join(chance.sample(words, 8)), ran=chance.choice(["make tide", "cd reef && make", ""]))
        marks = {path: " ".join(map(mark, chance.sample(words, 30))) for path in edited}
        gone = frozenset(chance.sample(sorted(edited), 1)) if number % 9 == 8 else frozenset[str]()
        past.append(told._replace(edited=edited, deleted=gone, symbols=marks))
    sketch = Sketch()
    for _ in range(12):
        history = sorted(chance.sample(past, 25), key=lambda one: one.at)
        assert rows(sketch.draw(history)) == rows(draw(history))
        task = history[-1].words
        assert Ranked(sketch.draw(history, task), task).evidence.rows == Ranked(draw(history), task).evidence.rows
