"""A rule goes by the form of a sentence; a model that reads it knows better, and what it says of it holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon
from tests.conftest import ClaudeSession
from tests.harvest.chat import GOOD, RULE, TYPED, Server, answering
from tests.harvest.conftest import serve as serve  # noqa: PLC0414

KEPT = "Never push to main; always open a pull request with the label `ready`."


@pytest.fixture
def typed(tmp_path: Path) -> Path:
    return ClaudeSession().user("ship it").says("I push it to main now.").user(TYPED).write(tmp_path)


def _read(home: Path, path: Path) -> str:
    with Hardwon(home) as memory:
        memory.harvest([path])
        assert any(one.rule.startswith("user-") and one.status == "active" for one in memory.lessons.list())
        memory.sessions.distil(pause=lambda _: None)
        memory.harvest([path])
        return memory.bootstrap("reef").text


def test_what_a_model_sees_nothing_in_is_no_longer_told(home: Path, typed: Path, serve: Callable[..., Server]) -> None:
    serve(answering())
    assert "pull request" not in _read(home, typed)
    with Hardwon(home) as memory:
        guessed = [one for one in memory.lessons.list() if one.rule.startswith("user-")]
        assert {one.status for one in guessed} == {"candidate"}
        for one in guessed:
            memory.review.promote(one.id)
        assert "pull request" in memory.bootstrap("reef").text


def test_what_a_model_says_better_is_told_once(home: Path, typed: Path, serve: Callable[..., Server]) -> None:
    serve(answering(RULE))
    text = _read(home, typed)
    assert KEPT in text
    assert text.count("pull request") == 1


def test_a_rule_holds_where_a_models_words_cannot_be_told(
    home: Path, typed: Path, serve: Callable[..., Server]
) -> None:
    beyond: dict[str, Any] = {**RULE, "claim": "Releases are cut by hand on Fridays, as the whole company decided."}
    serve(answering(beyond))
    assert "pull request" in _read(home, typed)


def test_a_guess_is_not_shown_to_the_model_as_known(home: Path, typed: Path, serve: Callable[..., Server]) -> None:
    server = serve(answering(GOOD))
    _read(home, typed)
    assert "Known: nothing yet." in server.asked[0]["messages"][1]["content"]
