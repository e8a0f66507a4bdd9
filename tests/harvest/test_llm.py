"""A model's claims are kept only as far as the words they cite bear them out; its bad days cost nothing but time."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from oldhand import Oldhand
from oldhand.errors import BadConfig
from tests.conftest import ClaudeSession, Run

SAID = "`make test` needs the database; after `make up` it passes."
GOOD = {
    "message": 1,
    "quote": SAID,
    "claim": "Run `make up` before `make test`: it needs the database.",
    "category": "pitfall",
    "confidence": 0.9,
}
Reply = tuple[int, Any] | Callable[[dict[str, Any]], tuple[int, Any]]


class Server:
    """Speaks the protocol of chat completions; `replies` are given in turn, the last one for ever."""

    def __init__(self, *replies: Reply) -> None:
        self.asked: list[dict[str, Any]] = []
        self.replies = list(replies)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append({"path": self.path, "headers": dict(self.headers), **body})
                reply = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                status, value = reply(body) if callable(reply) else reply
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def said(value: Any, *, finish: str = "stop", tokens: int = 50) -> tuple[int, Any]:
    content = value if isinstance(value, str) else json.dumps(value)
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": finish}
    return 200, {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": tokens}}


def answering(*items: dict[str, Any], supports: list[int] | None = None) -> Reply:
    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        asks_for = body["response_format"]["json_schema"]["schema"]["required"]
        return said(
            {"items": items} if asks_for == ["items"] else {"supported": supports if supports is not None else [0]}
        )

    return reply


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def start(*replies: Reply) -> Server:
        made.append(Server(*replies))
        monkeypatch.setenv("OLDHAND_LLM_URL", made[-1].url)
        monkeypatch.setenv("OLDHAND_LLM_MODEL", "small")
        return made[-1]

    yield start
    for server in made:
        server.close()


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return ClaudeSession().user("why is it red?").says(SAID).write(tmp_path)


def run(home: Path, *paths: Path) -> tuple[Any, list[Any]]:
    pauses: list[float] = []
    with Oldhand(home) as memory:
        memory.harvest(paths)
        report = memory.distil.run(list(paths), pause=pauses.append)
        return report, [*memory.lessons(), *pauses]


def test_a_claim_that_its_quote_bears_out_waits_for_a_person(
    home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    server = serve(answering(GOOD))
    report, (lesson,) = run(home, session)
    assert (report.sessions, report.lessons, report.left) == (1, 1, 0)
    assert (lesson.text, lesson.status, lesson.trust) == (GOOD["claim"], "candidate", "claimed")
    assert server.asked[0]["path"] == "/v1/chat/completions"
    second = server.asked[1]["messages"][1]["content"]
    assert SAID.partition(";")[0] in second
    assert "why is it red" not in second  # the second look sees quote and claim alone


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"quote": "the database is needed by make test"}, "the quote does not stand in the message"),
        ({"message": 0}, "the quote does not stand in the message"),
        ({"message": 99}, "the quote does not stand in the message"),
        ({"claim": "Run `make up` before `make deploy`: it needs it."}, "names what the quote does not"),
        ({"claim": "Run `make up` before `make test` on port 5432."}, "names what the quote does not"),
        ({"claim": "x"}, "too short or too long"),
        ({"confidence": 7}, "no confidence"),
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
    assert report.rejected_by_reason == {"does not follow from its quote": 1}
    assert found == []


BAD_DAYS: list[Reply] = [
    (429, {"error": "slow down"}),
    (503, b"<html>overloaded</html>"),
    (200, b"not json"),
    (200, {"unexpected": True}),
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
    monkeypatch.setenv("OLDHAND_LLM_TOKENS_PER_DAY", "10")
    report, _ = run(home, session)
    assert (report.sessions, report.left, server.asked) == (0, 1, [])
    assert report.trouble == "the day's cap is reached"


@pytest.mark.parametrize(
    "useless", [said("Sorry, no.", tokens=2_000), said({"items": []}, finish="length", tokens=2_000)]
)
def test_answers_of_no_use_are_paid_for_and_end_at_the_cap(
    useless: Reply, home: Path, session: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(useless)
    monkeypatch.setenv("OLDHAND_LLM_TOKENS_PER_DAY", "6000")
    report, _ = run(home, session)
    assert (report.sessions, report.left, len(server.asked)) == (0, 1, 2)
    assert report.tokens == 8_000
    assert report.trouble == "the day's cap is reached"


def test_a_rehearsal_asks_nobody(
    oldhand: Run, session: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(answering(GOOD))
    monkeypatch.setenv("OLDHAND_LLM_PRICE_IN", "3")
    answer = json.loads(oldhand("harvest", session, "--llm", "--dry-run", "--json").stdout)["llm"]
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
    monkeypatch.setenv("OLDHAND_LLM_URL", f"{server.url}/messages")
    monkeypatch.setenv("OLDHAND_LLM_KEY", "k-1")
    report, found = run(home, session)
    assert (report.sessions, len(found), report.tokens) == (1, 1, 40)
    assert server.asked[0]["headers"]["X-Api-Key"] == "k-1"


def test_a_command_in_place_of_an_endpoint(
    home: Path, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "model.py"
    script.write_text(
        "import json, sys\nasked = sys.stdin.read()\n"
        f"good = {GOOD!r}\n"
        "print('Here it is:', json.dumps({'supported': [0]} if 'supported' in asked else {'items': [good]}))\n"
    )
    monkeypatch.setenv("OLDHAND_LLM_COMMAND", f"{sys.executable} {script}")
    report, found = run(home, session)
    assert (report.sessions, len(found)) == (1, 1)


def test_without_a_model_it_says_what_to_set(home: Path, session: Path) -> None:
    with Oldhand(home) as memory:
        memory.harvest([session])
        with pytest.raises(BadConfig, match="llm_url"):
            memory.distil.run([session])
