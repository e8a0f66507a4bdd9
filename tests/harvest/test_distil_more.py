"""A model may ask to see passages in full; and of a claim that would wait, the clauses are told that need not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon
from hardwon.harvest.distil.claims import Claim, Quote
from hardwon.harvest.distil.deciding import decided
from hardwon.harvest.trust import Admission
from tests.conftest import ClaudeSession
from tests.harvest.chat import GOOD, Reply, Server, asks_for
from tests.harvest.conftest import serve as serve  # noqa: PLC0414

PLAN = (
    "Here is what I would do about the slow report. "
    + "The rows are read one by one today, which is the slow part. " * 8
    + "Let me recommend typed nodes for the report, since the editor builds them one by one. "
    + "There are some other ways, and each of them would take a little longer to build. " * 4
)
AGREED = "let us do the recommendation then"


def _item(claim: str, *quotes: tuple[str, str], **more: Any) -> dict[str, Any]:
    return {
        **GOOD,
        "claim": claim,
        "kind": "decision",
        "quotes": [{"at": at, "text": text} for at, text in quotes],
        **more,
    }


def _given(*replies: dict[str, Any]) -> Reply:
    """The first for the first question, the second for what it asked to see, a yes to all in the second look."""
    left = list(replies)

    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        if asks_for(body) == "verdicts":
            seen = [
                {"number": number, "keep": True, "alone": False, "wide": True, "claim": ""} for number in range(1, 9)
            ]
            return 200, _chat({"verdicts": seen})
        return 200, _chat(left.pop(0))

    return reply


def _chat(value: dict[str, Any]) -> dict[str, Any]:
    import json

    return {
        "choices": [{"message": {"content": json.dumps(value)}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }


def _read(home: Path, session: ClaudeSession, tmp_path: Path) -> str:
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path)])
        memory.sessions.distil(pause=lambda _: None)
        return memory.bootstrap("reef").text


def _session() -> ClaudeSession:
    return ClaudeSession().user("why is the report slow?").says(PLAN).user(AGREED).says("Done.")


def test_what_a_model_asks_to_see_is_shown_in_full_and_completes_an_item(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    vague = _item("The user agreed to the recommendation.", ("S1:2", AGREED))
    whole = _item(
        "The report has typed nodes since the editor builds them one by one.",
        ("S1:1", "Let me recommend typed nodes for the report, since the editor builds them one by one."),
        ("S1:2", AGREED),
        replaces=1,
    )
    server = serve(_given({"items": [vague], "see": ["S1:2"]}, {"items": [whole]}))
    text = _read(home, _session(), tmp_path)
    first, second = (body["messages"][1]["content"] for body in server.asked[:2])
    assert "typed nodes" not in first
    assert "typed nodes" in second
    assert "1. The user agreed to the recommendation." in second
    assert "typed nodes since the editor builds them" in text
    assert "agreed to the recommendation" not in text


@pytest.mark.parametrize("see", [["S9:1"], ["S1:999"], ["nonsense"], ["S1:-1"], ["S²:1"], [7], "S1:1"])
def test_what_is_not_there_cannot_be_seen(see: Any, home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    vague = _item("The user agreed to the recommendation.", ("S1:2", AGREED))
    server = serve(_given({"items": [vague], "see": see}))
    _read(home, _session(), tmp_path)
    assert [asks_for(body) for body in server.asked] == ["items", "verdicts"]


def test_a_page_that_is_asked_for_is_not_shown(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    server = serve(_given({"items": [], "see": ["S1:1", "S1:2"]}))
    session = ClaudeSession().user("look it up").call("WebFetch", {"url": "https://docs.example"}, "the page says zorb")
    _read(home, session.run("curl docs.example", "the page says zorb").says("Done.").user("thanks a lot"), tmp_path)
    assert not any("zorb" in body["messages"][1]["content"] for body in server.asked)


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (
            "Rows of the report are sorted by the day of booking; `zebra_index` is rebuilt.",
            "Rows of the report are sorted by the day of booking.",
        ),
        (
            "Rows of the report are sorted by the day of booking (`zebra_index`).",
            "Rows of the report are sorted by the day of booking.",
        ),
        ("Rows of the report are sorted by the day of booking; only `zebra_index` is rebuilt.", ""),
        ("Rows of the report are sorted by the day of booking: never in `zebra_index`.", ""),
        ("Use `zebra_index`; rows of the report are sorted by the day of booking.", ""),
    ],
)
def test_clauses_that_nobody_said_are_cut_unless_they_limit_the_others(claim: str, told: str) -> None:
    quote = Quote("s", "s", 0, 2, "user", "rows of the report are sorted by the day of booking", typed=True, how="user")
    found = decided(Claim(claim, "decision", 0.9, [quote], ["zebra_index"], own=True))
    assert found.admission == (Admission("active", "human") if told else Admission("candidate", "untrusted"))
    assert found.text == (told or claim)
