"""Amp: a thread a document, messages of blocks; how a tool's run ended stands in its result.

Shapes from published readers of real threads (`v` 1 to 7, 2025 and 2026), kept by the CLI and before by the editors.
"""

from __future__ import annotations

import msgspec

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.discover import local_path
from hardwon.sessions.lines import joined, text_of
from hardwon.sessions.origin import INTERRUPTED, user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "amp"
AGENT = "amp"
READS = "threads: messages, tool calls and results"
VERSIONS = "threads of 2025 and 2026, read from published descriptions, *unverified*"

_OUTPUT_KEYS = ("output", "content", "diff", "message")
_REFUSED = ("rejected-by-user", "rejected")


def recognises(source: Source) -> bool:
    return '"T-' in source.beginning and _is_thread(source.document)


def _is_thread(found: object) -> bool:
    if not isinstance(found, dict) or not text_of(found.get("id")).startswith("T-"):
        return False
    messages = found.get("messages")
    return isinstance(messages, list) and all(isinstance(one, dict) and "role" in one for one in messages[:3])


def read(source: Source) -> list[Session]:
    thread = source.document if isinstance(source.document, dict) else {}
    conversation = _Conversation(thread)
    messages = thread.get("messages")
    for message in messages if isinstance(messages, list) else ():
        conversation.add(message)
    return [conversation.session(text_of(thread.get("id")) or source.stem)]


class _Conversation:
    def __init__(self, thread: Record) -> None:
        tree = _tree(thread)
        repository = tree.get("repository")
        told: Record = repository if isinstance(repository, dict) else {}
        self._cwd = local_path(tree.get("uri"))
        self._remote = text_of(told.get("url"))
        self._branch = text_of(told.get("ref")).removeprefix("refs/heads/")
        self._messages: list[Message] = []
        self._calls: dict[str, ToolCall] = {}
        self._unknown = 0
        self._period = Period()
        self._period.add(thread.get("created"))
        self._period.add(thread.get("updatedAt"))

    def add(self, message: object) -> None:
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(message, dict) or role not in ("user", "assistant"):
            self._unknown += 1
            return
        content = message.get("content")
        listed = content if isinstance(content, list) else [{"type": "text", "text": content}]
        blocks = [block for block in listed if isinstance(block, dict)]
        at = self._period.add(_time(message))
        results = tuple(self._result(block) for block in blocks if block.get("type") == "tool_result")
        if results:
            self._messages.append(Message(role="tool", origin="tool", at=at, results=results))
        text = joined([block for block in blocks if block.get("type") == "text"])
        if role == "user":
            if text.strip():
                self._messages.append(user_message(text, at))
            return
        uses = [block for block in blocks if block.get("type") == "tool_use"]
        calls = tuple(tool_call(text_of(use.get("id")), text_of(use.get("name")), use.get("input")) for use in uses)
        self._calls.update((call.id, call) for call in calls)
        if text or calls:
            self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=calls))
        state = message.get("state")
        if isinstance(state, dict) and state.get("type") == "cancelled":
            self._messages.append(Message(role="user", origin="injected", at=at, text=INTERRUPTED))

    def _result(self, block: Record) -> ToolResult:
        id = text_of(block.get("toolUseID"))
        call = self._calls.get(id)
        ran = block.get("run")
        run: Record = ran if isinstance(ran, dict) else {}
        result, status = run.get("result"), run.get("status")
        code = _exit_code(result)
        outcome: Outcome = "error"
        evidence: Evidence = "flag"
        if status in _REFUSED:
            evidence = "rejected"
        elif status == "cancelled":
            evidence = "interrupted"
        elif code is not None:
            outcome, evidence = ("error" if code else "ok"), "exit-code"
        elif status == "error" or (isinstance(result, dict) and result.get("success") is False):
            pass
        elif status == "done" and call is not None and call.action != "run":
            outcome = "ok"
        else:
            outcome, evidence = "unknown", "none"
        return ToolResult(
            call_id=id,
            outcome=outcome,
            evidence=evidence,
            text=_output(result) or _error(run.get("error")),
            exit_code=code,
            origin=result_origin(call),
        )

    def session(self, id: str) -> Session:
        return Session(
            external_id=id,
            agent=AGENT,
            format=NAME,
            cwd=self._cwd,
            remote=self._remote,
            branch=self._branch,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )


def _tree(thread: Record) -> Record:
    """The first of the folders that the thread was begun in."""
    env = thread.get("env")
    initial = env.get("initial") if isinstance(env, dict) else None
    trees = initial.get("trees") if isinstance(initial, dict) else None
    first = trees[0] if isinstance(trees, list) and trees else None
    return first if isinstance(first, dict) else {}


def _time(message: Record) -> object:
    """A user's message has the time it was sent at, an agent's that of its bill."""
    for key, inner in (("meta", "sentAt"), ("usage", "timestamp")):
        told = message.get(key)
        if isinstance(told, dict) and told.get(inner) is not None:
            return told[inner]
    return message.get("timestamp")


def _exit_code(result: object) -> int | None:
    code = result.get("exitCode") if isinstance(result, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _output(result: object) -> str:
    if isinstance(result, dict):
        for key in _OUTPUT_KEYS:
            if isinstance(result.get(key), str):
                return str(result[key])
        return msgspec.json.encode(result).decode() if result else ""
    return joined(result)


def _error(error: object) -> str:
    return text_of(error.get("message")) if isinstance(error, dict) else text_of(error)
