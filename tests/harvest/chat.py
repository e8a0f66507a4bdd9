"""A real server on this machine that speaks the protocol of chat completions, on its good and bad days."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SAID = "`make test` needs the database; after `make up` it passes."
"""An agent's words."""
GOOD: dict[str, Any] = {
    "claim": "`make test` needs the database; `make up` first.",
    "kind": "pitfall",
    "quotes": [{"at": "S1:1", "text": SAID}],
    "relation": "new",
    "known": "",
    "confidence": 0.9,
    "alone": True,
    "wide": True,
}
TYPED = "no, never push to main. always open a pull request with the label `ready`"
"""A user's words."""
RULE: dict[str, Any] = {
    **GOOD,
    "claim": "Never push to main; always open a pull request with the label `ready`.",
    "kind": "preference",
    "quotes": [{"at": "S1:2", "text": TYPED.removeprefix("no, ")}],
}


Given = tuple[int, Any] | tuple[int, Any, dict[str, str]]
Reply = Given | Callable[[dict[str, Any]], Given]


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
                status, value, *headers = reply(body) if callable(reply) else reply
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                for name, text in (headers[0] if headers else {}).items():
                    self.send_header(name, text)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                with suppress(OSError):  # who asked may be dead
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


def answering(*items: dict[str, Any], tokens: int = 50) -> Reply:
    return said({"items": items}, tokens=tokens)
