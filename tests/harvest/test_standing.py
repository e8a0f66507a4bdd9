"""A rule is told from a task by several weak signs together, and by being said twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardwon.harvest.rules.sentences import plain, spelled
from hardwon.harvest.rules.user_statements import laid_down
from tests.conftest import ClaudeSession
from tests.harvest.test_user_rule import kept


def weight(sentence: str) -> int:
    laid = laid_down(sentence, first=False)
    return laid.weight if laid else 0


@pytest.mark.parametrize(
    "sign",
    [
        "use the `queue` module for every upload",
        "use the `queue` module when adding an upload",
        "use the `queue` module because uploads are slow",
        "use the `queue` module instead of threads for uploads",
    ],
)
def test_a_sign_of_generality_or_a_reason_makes_an_order_a_rule(sign: str) -> None:
    assert weight("use the `queue` module for the upload") == 0
    assert weight(sign)


@pytest.mark.parametrize(
    "doubt", ["use the `queue` module for every upload for now", "then add the `queue` module for every upload"]
)
def test_the_moment_and_the_task_speak_against_it(doubt: str) -> None:
    assert weight(doubt) < weight("use the `queue` module for every upload")
    assert weight(doubt) == 0


def test_more_is_asked_of_a_first_request() -> None:
    said = "use the `queue` module because uploads are slow"
    assert laid_down(said, first=False) is not None
    assert laid_down(said, first=True) is None


def test_an_order_that_comes_back_is_a_rule_in_its_shortest_form(tmp_path: Path) -> None:
    session = ClaudeSession().user("hello there").says("Hi.")
    session.user("Make the form faster. Use the forms agent.").says("Done.")
    session.user("Use the forms agent to add a field for the address to the form.").says("Done.")
    assert [(draft.text, draft.rule) for draft in kept(session, tmp_path)] == [
        ("Use the forms agent.", "user-standing")
    ]


def test_a_message_that_was_only_sent_again_says_nothing_twice(tmp_path: Path) -> None:
    session = ClaudeSession().user("hello there").says("Hi.")
    session.user("Use the forms agent.").says("I could not.").user("Use the forms agent.").says("Done.")
    assert kept(session, tmp_path) == []


def test_apostrophes_that_were_left_out_are_put_back() -> None:
    assert spelled("we dont want that and it wont help") == "we don't want that and it won't help"
    assert spelled("the want of it") == "the want of it"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("We must never print in lib/, please move that.", "We must never print in lib/."),
        ("yeah for v2 we have to keep `legacy.db`", "For v2 we have to keep `legacy.db`."),
        ("please always run `make fmt`", "Always run `make fmt`."),
    ],
)
def test_a_lesson_is_told_without_what_was_only_for_the_moment(said: str, told: str) -> None:
    assert plain(said) == told
