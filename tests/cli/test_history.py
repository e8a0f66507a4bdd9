"""`hardwon history` and `hardwon undo`."""

from __future__ import annotations

import json

import pytest

from hardwon import Hardwon
from tests.conftest import Run


def test_what_a_person_did_is_shown_and_can_be_undone(hardwon: Run) -> None:
    with Hardwon() as memory:
        id = memory.lessons.add("Deploy on Tuesdays only.", scope="global", kind="decision")
        memory.review.archive(id, why="no longer true")
    story = json.loads(hardwon("history", id[:12], "--json").stdout)
    assert [(event["action"], event["why"]) for event in story] == [("create", ""), ("archive", "no longer true")]
    assert "active → archived" in hardwon("history", id[:12]).stdout
    assert json.loads(hardwon("undo", story[1]["number"], "--json").stdout)["event"] == 3
    with Hardwon() as memory:
        assert memory.lessons.get(id).lesson.status == "active"
    again = hardwon("undo", story[1]["number"])
    assert (again.returncode, again.stderr) == (1, "hardwon: event 2 has been undone already\n")


def test_a_rejected_lesson_is_called_so_everywhere(hardwon: Run) -> None:
    id = hardwon("remember", "Lock, then open.", "--global").stdout.split()[0]
    hardwon("remember", "Never dredge at night.", "--global")
    hardwon("review", "--reject", id)
    shown = [
        hardwon("history", id),
        hardwon("why", id),
        hardwon("lessons"),
        hardwon("lessons", "--status", "unheard"),
        hardwon("search", "lock", "--status", "rejected", "--explain"),
    ]
    for done in shown:
        said = done.stdout + done.stderr
        assert "rejected" in said, said
        assert "invalid" not in said, said


def test_an_event_that_is_not_there_is_said(hardwon: Run) -> None:
    with Hardwon() as memory:
        memory.lessons.add("Deploy on Tuesdays only.", scope="global")
    assert "no event 99" in hardwon("undo", 99).stderr
    assert "no lesson, failure, fix, attempt or session begins with 'x'" in hardwon("undo", "x").stderr


def test_what_any_command_shows_can_be_asked_about_and_undone(hardwon: Run) -> None:
    id = hardwon("remember", "Lock, then open.", "--project", "reef").stdout.split()[0]
    assert hardwon("review", "--reject", id).returncode == 0
    assert json.loads(hardwon("undo", id, "--json").stdout)["undone"] == 2
    assert "nothing was changed" not in hardwon("undo", id).stderr
    assert "nothing was changed" in hardwon("undo", id).stderr
    number = hardwon("journal", "log", "--task", "Add a lock", "--project", "reef").stdout.strip()
    assert "Add a lock" in hardwon("why", number).stdout


def test_an_id_is_as_long_as_it_takes_to_tell_it_from_others(hardwon: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said, ids = ("Lock, then open.", "Never dredge at night."), ("L0123456789abcde0", "L0123456789abcde1")
    left = iter(ids)
    monkeypatch.setattr("hardwon.store.lifecycle.made", lambda _: next(left))
    with Hardwon() as memory:
        for text in said:
            memory.lessons.add(text, scope="global")
    shown = [line.split()[0] for line in hardwon("lessons").stdout.splitlines()[1:-1]]
    assert sorted(shown) == sorted(ids)
    assert all(text in hardwon("why", id).stdout for id, text in zip(ids, said, strict=True))
