"""An OpenAI-compatible endpoint, against a real server; whatever it answers, nothing breaks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from hardwon import BadConfig, NoModel
from hardwon.recall.embedder import KEY_VARIABLE, Endpoint

Answer = Callable[[dict[str, Any]], tuple[int, bytes]]


class Server(ThreadingHTTPServer):
    answer: Answer
    seen: list[tuple[str, str | None, dict[str, Any]]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, self.headers["Authorization"], asked))
        status, body = self.server.answer(asked)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def as_openai(asked: dict[str, Any]) -> tuple[int, bytes]:
    rows = [{"index": at, "embedding": [len(text), 1.0]} for at, text in enumerate(asked["input"])]
    return 200, json.dumps({"data": rows[::-1]}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    server.answer, server.seen = as_openai, []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def endpoint(server: Server) -> Endpoint:
    return Endpoint(f"http://127.0.0.1:{server.server_port}/v1/", "tiny")


def test_vectors_come_in_the_order_of_the_texts(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "k")
    texts = ["x" * at for at in range(1, 150)]
    assert endpoint(server).embed(texts) == [[len(text), 1.0] for text in texts]
    path, key, asked = server.seen[0]
    assert (path, key, asked["model"]) == ("/v1/embeddings", "Bearer k", "tiny")
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((401, b"{}"), "answered with HTTP 401"),
        ((302, b""), "answered with HTTP 302"),
        ((200, b"<html>"), "did not answer like"),
        ((200, b'{"data": []}'), "did not answer like"),
        ((200, b'{"data": [{"index": 0, "embedding": []}]}'), "did not answer like"),
        ((200, b'{"data": [{"index": 0, "embedding": [1, NaN]}]}'), "did not answer like"),
        ((200, b'{"data": [{"index": 0, "embedding": "AAAA"}]}'), "did not answer like"),
        ((200, b"[1]"), "did not answer like"),
    ],
)
def test_a_bad_answer_is_one_clear_line(server: Server, answer: tuple[int, bytes], says: str) -> None:
    server.answer = lambda _: answer
    with pytest.raises(NoModel, match=says):
        endpoint(server).embed(["x"])
    assert len(server.seen) == 1


def test_settings_that_cannot_work_are_refused() -> None:
    with pytest.raises(BadConfig, match="is not a URL"):
        Endpoint("file:///etc/passwd", "m")
    with pytest.raises(BadConfig, match="embedding_model"):
        Endpoint("http://localhost/v1", "")


def test_a_key_that_cannot_be_sent_is_no_reason_to_crash(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "k\n1")
    with pytest.raises(NoModel, match=f"{KEY_VARIABLE} contains characters"):
        endpoint(server).embed(["x"])
    assert server.seen == []
