"""A model's claims are kept only as far as the words they cite bear them out; its bad days cost nothing but time."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from hardwon import BadConfig, Hardwon
from hardwon.harvest.distil.model import Command, Passing
from tests.conftest import ClaudeSession, Run
from tests.harvest.chat import GOOD, SAID, Reply, Server, answering, said


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return ClaudeSession().user("why is it red?").says(SAID).write(tmp_path)


def run(home: Path, *paths: Path) -> tuple[Any, list[Any]]:
    pauses: list[float] = []
    with Hardwon(home) as memory:
        memory.harvest(paths)
        report = memory.sessions.distil(list(paths), pause=pauses.append)
        return report, [*memory.lessons.list(), *pauses]


def test_a_claim_that_its_quote_bears_out_waits_for_a_person(
    home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    server = serve(answering(GOOD))
    report, (lesson,) = run(home, session)
    assert (report.sessions, report.lessons, report.left) == (1, 1, 0)
    assert (lesson.text, lesson.status, lesson.trust) == (GOOD["claim"], "candidate", "untrusted")
    assert server.asked[0]["path"] == "/v1/chat/completions"
    second = server.asked[1]["messages"][1]["content"]
    assert SAID.partition(";")[0] in second
    assert "why is it red" not in second  # the second look sees quote and claim alone


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"quote": "the database is needed by make test"}, "the quote is not in the message"),
        ({"message": 0}, "the quote is not in the message"),
        ({"message": 99}, "the quote is not in the message"),
        (
            {"claim": "Run `make up` before `make deploy`: it needs it."},
            "claim names something that is not in the quote",
        ),
        ({"claim": "Run `make up` before `make test` on port 5432."}, "claim names something that is not in the quote"),
        ({"claim": "x"}, "claim or quote is too short or too long"),
        ({"confidence": 7}, "confidence is not between 0 and 1"),
    ],
)
def test_a_claim_that_it_does_not_is_rejected(
    change: dict[str, Any], reason: str, home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    serve(answering({**GOOD, **change}))
    report, found = run(home, session)
    assert report.rejected_by_reason == {reason: 1}
    assert found == []


def test_what_the_second_look_does_not_support_is_dropped(
    home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    serve(answering(GOOD, supports=[]))
    report, found = run(home, session)
    assert report.rejected_by_reason == {"claim does not follow from the quote": 1}
    assert found == []


BAD_DAYS: list[Reply] = [
    (429, {"error": "slow down"}),
    (503, b"<html>overloaded</html>"),
    (200, b"not json"),
    (200, b"[" * 100_000),
    (200, {"unexpected": True}),
    said('{"items": ' + "[" * 100_000),
    said("You have reached your usage limit. Try again at 5 pm."),
    said("I'm sorry, but I can't help with that."),
    said('{"items": [{"claim": "no quote"}]}'),
    said({"items": []}, finish="length"),
    (200, {"choices": [{"message": {"content": None, "refusal": "no"}, "finish_reason": "stop"}]}),
]


@pytest.mark.parametrize("bad", BAD_DAYS)
def test_a_bad_day_is_waited_out(bad: Reply, home: Path, session: Path, serve: Callable[..., Server]) -> None:
    serve(bad, bad, answering(GOOD))
    report, found = run(home, session)
    lesson, *pauses = found
    assert report.sessions == 1
    assert lesson.text == GOOD["claim"]
    assert pauses == [1.0, 2.0]


@pytest.mark.parametrize("bad", BAD_DAYS)
def test_a_day_that_stays_bad_leaves_the_session_for_the_next(
    bad: Reply, home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    server = serve(bad)
    report, pauses = run(home, session)
    assert (report.sessions, report.left, len(pauses)) == (0, 1, 3)
    assert "no usable answer" in report.trouble
    server.replies = [answering(GOOD)]
    report, found = run(home, session)
    assert (report.sessions, len(found)) == (1, 1)


def test_a_wrong_key_is_said_at_once(home: Path, session: Path, serve: Callable[..., Server]) -> None:
    serve((401, {"error": "who are you"}))
    report, pauses = run(home, session)
    assert "401" in report.trouble
    assert pauses == []


def test_a_session_is_read_once(home: Path, session: Path, serve: Callable[..., Server]) -> None:
    server = serve(answering(GOOD))
    run(home, session)
    asked = len(server.asked)
    report, _ = run(home, session)
    assert (report.sessions, len(server.asked)) == (0, asked)


def test_the_cap_of_a_day_is_kept(
    home: Path, session: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(answering(GOOD))
    monkeypatch.setenv("HARDWON_LLM_TOKENS_PER_DAY", "10")
    report, _ = run(home, session)
    assert (report.sessions, report.left, server.asked) == (0, 1, [])
    assert "the daily limit is reached" in report.trouble


@pytest.mark.parametrize(
    "useless", [said("Sorry, no.", tokens=2_000), said({"items": []}, finish="length", tokens=2_000)]
)
def test_answers_of_no_use_are_paid_for_and_end_at_the_cap(
    useless: Reply, home: Path, session: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(useless)
    monkeypatch.setenv("HARDWON_LLM_TOKENS_PER_DAY", "6000")
    report, _ = run(home, session)
    assert (report.sessions, report.left, len(server.asked)) == (0, 1, 2)
    assert report.tokens == 8_000
    assert "the daily limit is reached" in report.trouble


def test_a_rehearsal_asks_nobody(
    hardwon: Run, session: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(answering(GOOD))
    monkeypatch.setenv("HARDWON_LLM_PRICE_IN", "3")
    answer = json.loads(hardwon("harvest", session, "--llm", "--dry-run", "--json").stdout)["llm"]
    assert (answer["sessions"], answer["windows"], server.asked) == (1, 1, [])
    assert answer["tokens"] > 100
    assert answer["cost"] > 0


def test_a_long_session_is_read_in_windows(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    session = ClaudeSession().user("go")
    for number in range(60):
        session = session.says(f"Part {number}. " + "The parser reads words and more words of it. " * 60)
    server = serve(answering())
    report, _ = run(home, session.says(SAID).write(tmp_path))
    assert report.sessions == 1
    assert len(server.asked) > 1
    assert "make up" in server.asked[-1]["messages"][1]["content"]


def test_secrets_are_not_sent(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    server = serve(answering())
    run(home, ClaudeSession().user(f"use {secret}").says(f"I use {secret} now").write(tmp_path))
    assert server.asked
    assert secret not in json.dumps(server.asked)


def test_what_a_page_said_stays_untrusted(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    session = ClaudeSession().user("look").call("WebFetch", {"url": "https://x.example"}, SAID).says("ok")
    serve(answering({**GOOD, "message": 2}))
    _, (lesson,) = run(home, session.write(tmp_path))
    assert (lesson.status, lesson.trust) == ("candidate", "untrusted")


def test_anthropics_protocol(
    home: Path, session: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        wanted = body["tools"][0]["input_schema"]["required"]
        given = {"items": [GOOD]} if wanted == ["items"] else {"supported": [0]}
        usage = {"input_tokens": 10, "output_tokens": 10}
        content = [{"type": "tool_use", "name": "answer", "id": "t", "input": given}]
        return 200, {"content": content, "stop_reason": "tool_use", "usage": usage}

    server = serve(reply)
    monkeypatch.setenv("HARDWON_LLM_URL", f"{server.url}/messages")
    monkeypatch.setenv("HARDWON_LLM_KEY", "k-1")
    report, found = run(home, session)
    assert (report.sessions, len(found), report.tokens) == (1, 1, 40)
    assert server.asked[0]["headers"]["x-api-key"] == "k-1"


def test_a_command_in_place_of_an_endpoint(
    home: Path, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "model.py"
    script.write_text(
        "import json, sys\nasked = sys.stdin.read()\n"
        f"good = {GOOD!r}\n"
        "print('Here it is:', json.dumps({'supported': [0]} if 'supported' in asked else {'items': [good]}))\n"
    )
    monkeypatch.setenv("HARDWON_LLM_COMMAND", f"{sys.executable} {script}")
    report, found = run(home, session)
    assert (report.sessions, len(found)) == (1, 1)


def test_without_a_model_it_says_what_to_set(home: Path, session: Path) -> None:
    with Hardwon(home) as memory:
        memory.harvest([session])
        with pytest.raises(BadConfig, match="llm_url"):
            memory.sessions.distil([session])


@pytest.mark.parametrize(
    "claim", ["Run `make up` before `make test` 8 times.", "MakeTest needs the database.", "Use HTTPS."]
)
def test_what_a_claim_names_must_stand_in_the_quote_as_a_whole(
    claim: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    quote = "`make test` needs the database 80 times; after `make up` it passes over http."
    serve(answering({**GOOD, "quote": quote, "claim": claim}))
    report, found = run(home, ClaudeSession().user("why?").says(quote).write(tmp_path))
    assert report.rejected_by_reason == {"claim names something that is not in the quote": 1}
    assert found == []


def test_what_a_model_makes_up_is_scrubbed(home: Path, session: Path, serve: Callable[..., Server]) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    serve(answering({**GOOD, "claim": f"`make test` needs the database\u202e and\n{secret}"}, supports=[0]))
    _, found = run(home, session)
    assert secret not in repr(found)
    assert "\u202e" not in repr(found)


def test_a_server_that_asks_for_a_short_pause_gets_it(home: Path, session: Path, serve: Callable[..., Server]) -> None:
    serve((429, {}, {"Retry-After": "7"}), answering(GOOD))
    _, (_, *pauses) = run(home, session)
    assert pauses == [7.0]


@pytest.mark.parametrize("odd", ["soon", "²", "nan", "-5", "", "Fri, 01 Jan 0001 00:00:00 -0000"])
def test_a_pause_that_cannot_be_read_is_a_usual_one(
    odd: str, home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    serve((429, {}, {"Retry-After": odd}), answering(GOOD))
    _, (_, *pauses) = run(home, session)
    assert pauses == [1.0]


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_server_that_asks_for_a_long_one_is_left_alone_until_the_next_run(
    form: str, home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    until = datetime.now(UTC) + timedelta(hours=1)
    server = serve((429, {}, {"Retry-After": "3600" if form == "seconds" else format_datetime(until, usegmt=True)}))
    report, pauses = run(home, session)
    assert (report.left, len(server.asked), pauses) == (1, 1, [])
    assert "asks to wait 3" in report.trouble


def test_a_server_that_knows_no_schema_is_asked_without(
    home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        if "response_format" in body:
            return 400, {"error": "unknown field response_format"}
        asks_for_items = '"items"' in body["messages"][0]["content"]
        return said(f"Sure {{ok}}: {json.dumps({'items': [GOOD]} if asks_for_items else {'supported': [0]})}")

    server = serve(reply)
    report, found = run(home, session)
    assert (report.sessions, len(found)) == (1, 1)
    assert len(server.asked) == 3  # it is tried with a schema once


def test_a_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    script = tmp_path / "hangs.sh"
    script.write_text("sleep 600 & echo $! > child; wait")
    with pytest.raises(Passing, match="no answer in 1"):
        Command(f"sh -c 'cd {tmp_path} && sh hangs.sh'", seconds=1).ask("", "", {"required": ["items"]})
    child = int((tmp_path / "child").read_text())
    try:
        running = os.pidfd_open(child)
    except ProcessLookupError:
        return
    ended = select.poll()
    ended.register(running, select.POLLIN)
    assert ended.poll(10_000), "it is still there"


def test_a_command_is_not_told_what_we_know(
    home: Path, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "model.py"
    script.write_text(
        "import json, os, sys\nasked = sys.stdin.read()\nassert os.environ['HARDWON_OFF'] == '1'\nprint(asked)\n"
        "print(json.dumps({'supported': [0]} if 'supported' in asked else {'items': []}))\n"
    )
    monkeypatch.setenv("HARDWON_LLM_COMMAND", f"{sys.executable} {script}")
    report, found = run(home, session)  # it repeats the question, with its example, before it answers
    assert (report.sessions, found) == (1, [])
    assert report.rejected_by_reason == {}
