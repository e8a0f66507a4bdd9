"""A name for what a read gave, so that who has it already is not sent it again."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from hardwon.serve.asgi import App, Message, Receive, Scope, Send

_TAGGED = b"application/json"


def tagged(app: App) -> App:
    """Answers of JSON to a GET get an ETag; one that the client names is answered with 304."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await app(scope, receive, send)
            return
        wanted = next((value for name, value in scope["headers"] if name == b"if-none-match"), b"")
        await app(scope, receive, _Answer(send, wanted).take)

    return serve


class _Answer:
    """Holds an answer back until it is whole; what is no JSON of one piece goes through."""

    def __init__(self, send: Send, wanted: bytes) -> None:
        self._send = send
        self._known = {tag.strip().removeprefix(b"W/") for tag in wanted.split(b",")}
        self._start: Message | None = None
        self._body = b""

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200 and _is_json(message["headers"]):
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._finish(self._start)
        else:
            await self._send(message)

    async def _finish(self, start: Message) -> None:
        tag = b'"' + blake2b(self._body, digest_size=12).hexdigest().encode() + b'"'
        headers = [*start["headers"], (b"etag", tag)]
        if tag in self._known or b"*" in self._known:
            bare = [pair for pair in headers if pair[0] not in (b"content-length", b"content-type")]
            await self._send({"type": "http.response.start", "status": 304, "headers": bare})
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": self._body, "more_body": False})


def _is_json(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name == b"content-type" and value.startswith(_TAGGED) for name, value in headers)
