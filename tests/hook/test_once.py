"""What was done is remembered for a month, by any number of hooks at once, and never stands in the way."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hardwon.hook import once


def test_of_many_at_once_only_one_is_the_first(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        firsts = list(pool.map(lambda _: once.first(str(tmp_path), "told", "session", "item"), range(64)))
    assert firsts.count(True) == 1
    assert once.done(str(tmp_path), "told", "session", "item")
    assert not once.done(str(tmp_path), "told", "session", "another item")


def test_of_many_that_find_no_folder_yet_only_one_is_the_first(tmp_path: Path) -> None:
    at_once = threading.Barrier(16)

    def first(home: Path) -> bool:
        at_once.wait()
        return once.first(str(home), "told")

    for trial in range(40):
        home = tmp_path / str(trial)
        home.mkdir()
        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(first, [home] * 16)).count(True) == 1


def test_the_same_a_moment_later_is_the_same_firing(tmp_path: Path) -> None:
    assert not once.fired_twice(str(tmp_path), "prompt", "session", "words")
    assert once.fired_twice(str(tmp_path), "prompt", "session", "words")
    assert not once.fired_twice(str(tmp_path), "prompt", "session", "other words")


def test_where_nothing_can_be_written_everything_is_new(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "a file")
    Path(nowhere).write_text("")
    assert once.first(nowhere, "told")
    assert once.first(nowhere, "told")
    assert not once.fired_twice(nowhere, "prompt")


def test_what_is_a_month_old_is_removed_and_nothing_names_the_session(tmp_path: Path) -> None:
    once.first(str(tmp_path), "briefed", "my-session")
    (old,) = (tmp_path / once.FOLDER).iterdir()
    assert "my-session" not in old.name
    assert old.stat().st_size == 0
    once.prune(str(tmp_path))
    assert old.exists()
    os.utime(old, (0, 0))
    once.prune(str(tmp_path))
    assert not old.exists()
