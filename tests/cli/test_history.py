"""`hardwon history` and `hardwon undo`."""

from __future__ import annotations

import json

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


def test_an_event_that_is_not_there_is_said(hardwon: Run) -> None:
    with Hardwon() as memory:
        memory.lessons.add("Deploy on Tuesdays only.", scope="global")
    assert "no event 99" in hardwon("undo", 99).stderr
    assert hardwon("undo", "x").returncode == 2
