"""A model on this machine that says what it was told to say, in the four ways in which agents ask one.

Each conversation gets the same commands, one after the other, and then a sentence. All that is asked is kept.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

_SHELLS = ("Bash", "exec_command", "shell_command", "shell", "run_shell_command", "bash", "terminal")
_LAST_WORDS = "It works now."


class Asked(NamedTuple):
    path: str
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """All that the model would read, without the escapes of JSON."""
        return "\n".join(_texts(self.body))


class Model:
    def __init__(self) -> None:
        self.commands: list[str] = []
        self.asked: list[Asked] = []
        self.address = ""

    def conversation(self) -> list[Asked]:
        """What was asked with tools at hand: the talk itself, without titles and the like."""
        return [asked for asked in self.asked if _tools(asked.body)]

    def answer(self, asked: Asked) -> tuple[str, bytes]:
        """(content type, body)."""
        self.asked.append(asked)
        tool = next((name for name in _SHELLS if name in _tools(asked.body)), "")
        done = _results(asked.body)
        command = self.commands[done] if tool and done < len(self.commands) else ""
        for pattern, speak in _WAYS.items():
            if re.search(pattern, asked.path):
                return speak(asked, tool, command, f"call_{done}")
        return "application/json", b"{}"


@contextmanager
def listening() -> Iterator[Model]:
    model = Model()

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                body = json.loads(raw or b"{}")
            except ValueError:
                body = {}
            self._say(*model.answer(Asked(self.path, body if isinstance(body, dict) else {})))

        def do_GET(self) -> None:
            self._say("application/json", b'{"data": [], "models": [], "object": "list"}')

        def do_HEAD(self) -> None:
            self.do_GET()

        def _say(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    model.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _tools(body: dict[str, Any]) -> list[str]:
    names: list[str] = []
    for tool in body.get("tools") or ():
        if isinstance(tool, dict):
            names += [each.get("name", "") for each in tool.get("functionDeclarations") or ()]
            names.append(tool.get("name") or (tool.get("function") or {}).get("name") or tool.get("type", ""))
    return names


def _results(value: Any) -> int:
    """How many calls have been answered so far."""
    if isinstance(value, list):
        return sum(map(_results, value))
    if not isinstance(value, dict):
        return 0
    is_one = value.get("type") in ("tool_result", "function_call_output") or value.get("role") == "tool"
    return 1 if is_one or "functionResponse" in value else sum(map(_results, value.values()))


def _arguments(tool: str, command: str) -> dict[str, Any]:
    if tool == "exec_command":
        return {"cmd": command}
    if tool == "shell":
        return {"command": ["bash", "-lc", command]}
    return {"command": command, "description": "run it"}


def _events(named: list[tuple[str, dict[str, Any]]]) -> tuple[str, bytes]:
    lines = [f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in named]
    return "text/event-stream", "".join(lines).encode()


def _anthropic(asked: Asked, tool: str, command: str, id: str) -> tuple[str, bytes]:
    usage = {"input_tokens": 10, "output_tokens": 10}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.body.get("model", "m")}
    if command:
        block: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{id}", "name": tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(_arguments(tool, command))}
        whole = {**block, "input": _arguments(tool, command)}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": _LAST_WORDS}
        whole = {**block, "text": _LAST_WORDS}
    reason = "tool_use" if command else "end_turn"
    if not asked.body.get("stream"):
        told = {**head, "content": [whole], "stop_reason": reason, "stop_sequence": None, "usage": usage}
        return "application/json", json.dumps(told).encode()
    start = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    ends = {"stop_reason": reason, "stop_sequence": None}
    steps: list[dict[str, Any]] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ends, "usage": usage},
        {"type": "message_stop"},
    ]
    return _events([(step["type"], step) for step in steps])


def _responses(_: Asked, tool: str, command: str, id: str) -> tuple[str, bytes]:
    """OpenAI's way since 2025."""
    text = {"type": "output_text", "text": _LAST_WORDS, "annotations": []}
    item: dict[str, Any] = {"type": "message", "role": "assistant", "id": f"msg_{id}", "content": [text]}
    if command:
        arguments = json.dumps(_arguments(tool, command))
        item = {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": tool, "arguments": arguments}
    usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
    told = {"id": f"resp_{id}", "status": "completed", "output": [item], "usage": usage}
    steps: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": f"resp_{id}"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": told},
    ]
    return _events([(step["type"], step) for step in steps])


def _chat(asked: Asked, tool: str, command: str, id: str) -> tuple[str, bytes]:
    """OpenAI's older way, which everybody else took over."""
    message: dict[str, Any] = {"role": "assistant", "content": _LAST_WORDS}
    if command:
        function = {"name": tool, "arguments": json.dumps(_arguments(tool, command))}
        message = {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]}  # fmt: skip # noqa: E501
    reason = "tool_calls" if command else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    head = {"id": "chat_1", "created": 1, "model": asked.body.get("model", "m")}
    if not asked.body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        told = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        return "application/json", json.dumps(told).encode()
    for at, call in enumerate(message.get("tool_calls", ())):
        call["index"] = at
    parts = [
        {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
         "usage": usage},
    ]  # fmt: skip
    return "text/event-stream", "".join(
        f"data: {json.dumps(part)}\n\n" for part in [*parts]
    ).encode() + b"data: [DONE]\n\n"


def _gemini(asked: Asked, tool: str, command: str, _: str) -> tuple[str, bytes]:
    if "countTokens" in asked.path:
        return "application/json", b'{"totalTokens": 10}'
    part: dict[str, Any] = {"text": _LAST_WORDS}
    if command:
        part = {"functionCall": {"name": tool, "args": _arguments(tool, command)}}
    told = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
    }
    if "stream" in asked.path:
        return "text/event-stream", f"data: {json.dumps(told)}\n\n".encode()
    return "application/json", json.dumps(told).encode()


_WAYS = {
    r"/v1/messages(\?|$)": _anthropic,
    r"/responses(\?|$)": _responses,
    r"/chat/completions(\?|$)": _chat,
    r":(stream)?[gG]enerateContent|:countTokens": _gemini,
}
