"""`oldhand history` and `oldhand undo`."""

from __future__ import annotations

import json

from oldhand import Oldhand
from tests.conftest import Run


def test_what_a_person_did_is_shown_and_can_be_undone(oldhand: Run) -> None:
    with Oldhand() as memory:
        id = memory.review.add("Deploy on Tuesdays only.", scope="global", kind="decision")
        memory.review.archive(id, why="no longer true")
    story = json.loads(oldhand("history", id[:12], "--json").stdout)
    assert [(event["action"], event["why"]) for event in story] == [("create", ""), ("archive", "no longer true")]
    assert "active → archived" in oldhand("history", id[:12]).stdout
    assert json.loads(oldhand("undo", story[1]["number"], "--json").stdout)["event"] == 3
    with Oldhand() as memory:
        assert memory.lesson(id)[0].status == "active"
    again = oldhand("undo", story[1]["number"])
    assert (again.returncode, again.stderr) == (1, "oldhand: event 2 has been undone already\n")


def test_an_event_that_is_not_there_is_said(oldhand: Run) -> None:
    with Oldhand() as memory:
        memory.review.add("Deploy on Tuesdays only.", scope="global")
    assert "no event 99" in oldhand("undo", 99).stderr
    assert oldhand("undo", "x").returncode == 2
