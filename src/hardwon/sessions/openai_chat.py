"""OpenAI-style chats: one conversation a line, or a list of them; tools as calls or as XML in the text."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "openai-chat"
AGENT = "openai-chat"
READS = "conversations as `messages` or `traj`: JSON lines or a JSON list, with tool calls or SWE-smith's XML"
VERSIONS = "tau-bench's trajectories and SWE-smith's XML rows"

_CHATS = ("messages", "traj")
_ROLES = frozenset("system developer user assistant tool function".split())
_MESSAGE_KEYS = frozenset(
    "role content name tool_calls tool_call_id function_call refusal annotations audio reasoning_content weight".split()
)
# Other agents write their own sessions around a list of messages.
_FOREIGN_KEYS = ("session_id", "sessionId", "info", "trajectory_format")
_ROW_IDS = ("id", "conversation_id", "traj_id", "instance_id", "task_id", "timestamp")

# An object that is written over many lines is not tried line by line.
_ONE_LINE = re.compile(r"\s*\{[ \t]*\S")
_FUNCTION = re.compile(r"<function=([\w.-]{1,100})>")
_PARAMETER = re.compile(r"<parameter=([\w.-]{1,100})>")
_OBSERVATION = re.compile(r"OBSERVATION:\n|Observation: ")
_NO_OUTPUT = "Your command ran successfully and did not produce any output."
_EDIT_REFUSED = "No replacement was performed"


def recognises(source: Source) -> bool:
    beginning = source.beginning
    if '"messages"' not in beginning and '"traj"' not in beginning and '"role"' not in beginning:
        return False
    return _is_chat(next(rows(source, _is_chat), {}))


def read(source: Source) -> list[Session]:
    return [_session(row, name) for name, row in named(source.stem, rows(source, _is_chat))]


def rows(source: Source, wanted: Callable[[Record], bool]) -> Iterator[Record]:
    """The conversations of a file: its lines, the elements of its list, or the one object it is."""
    if source.beginning.lstrip("\ufeff \t\r\n").startswith("["):
        document = source.document
        yield from (row for row in document if isinstance(row, dict)) if isinstance(document, list) else ()
    elif _ONE_LINE.match(source.beginning):
        if wanted(next(source.records(), {})):
            yield from source.records()
    elif isinstance(source.document, dict):
        yield source.document


def named(stem: str, conversations: Iterable[Record]) -> Iterator[tuple[str, Record]]:
    """Each with a name: the file's and its own id, or its place in the file; none has one twice."""
    names: set[str] = set()
    for number, row in enumerate(conversations, 1):
        own = next((row[key] for key in _ROW_IDS if isinstance(row.get(key), int | str)), number)
        trial = row.get("trial")
        name = f"{stem}/{own}" + (f"-{trial}" if isinstance(trial, int) else "")
        if name in names:
            name = f"{name}/{number}"
        names.add(name)
        yield name, row


def _is_chat(row: Record) -> bool:
    if "reward" not in row and any(key in row for key in _FOREIGN_KEYS):
        return False
    messages = _messages_of(row)
    return bool(messages) and all(
        isinstance(message, dict)
        and message.keys() <= _MESSAGE_KEYS
        and "content" in message
        and text_of(message.get("role")) in _ROLES
        for message in messages[:8]
    )


def _messages_of(row: Record) -> list[object]:
    return next((row[key] for key in _CHATS if isinstance(row.get(key), list)), [])


def _session(row: Record, name: str) -> Session:
    conversation = Conversation()
    conversation.add_all(_messages_of(row))
    period = Period()
    for key in ("created_at", "created", "timestamp"):
        period.add(row.get(key))
    return Session(
        external_id=name,
        agent=AGENT,
        format=NAME,
        started_at=period.first,
        ended_at=period.last,
        messages=tuple(conversation.messages),
        unknown_records=conversation.unknown,
    )


class Conversation:
    """Chat messages become ours. An id may be given to several calls: the first that waits is answered."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.unknown = 0
        self._made: set[str] = set()
        self._waiting: defaultdict[str, deque[ToolCall]] = defaultdict(deque)
        self._as_text: ToolCall | None = None

    def add_all(self, messages: Iterable[object]) -> None:
        for message in messages:
            role = message.get("role") if isinstance(message, dict) else None
            if isinstance(message, dict) and isinstance(role, str) and role in _ROLES:
                self._add(message, role)
            else:
                self.unknown += 1

    def _add(self, message: Record, role: str) -> None:
        text = joined(message.get("content"))
        if role == "assistant":
            self._add_assistant(message, text)
        elif role in ("tool", "function"):
            call_id = text_of(message.get("tool_call_id")) or text_of(message.get("name"))
            waiting = self._waiting[call_id]
            call = waiting.popleft() if waiting else None
            self._answer(call, call.id if call else call_id, text, failed=text.startswith("Error:"))
        elif role == "user" and self._as_text is not None:
            self._answer_as_text(self._as_text, text)
        elif role == "user":
            self.messages.append(user_message(text))
        else:
            self.messages.append(Message(role="system", origin="injected", text=text))

    def _add_assistant(self, message: Record, text: str) -> None:
        calls = [self._call(*made) for made in _calls(message)]
        self._as_text = None
        if not calls and (written := _written_call(text)):
            said, name, arguments = written
            self._as_text = tool_call(self._unique("call"), name, arguments)
            calls, text = [self._as_text], said
        self.messages.append(Message(role="assistant", origin="agent", text=text, calls=tuple(calls)))

    def _call(self, call_id: str, name: str, arguments: object) -> ToolCall:
        call = tool_call(self._unique(call_id), name, arguments)
        self._waiting[call_id].append(call)
        return call

    def _unique(self, call_id: str) -> str:
        unique = call_id if call_id not in self._made else f"{call_id}#{len(self._made)}"
        self._made.add(unique)
        return unique

    def _answer_as_text(self, call: ToolCall, text: str) -> None:
        self._as_text = None
        prefix = _OBSERVATION.match(text)
        if prefix is None and text != _NO_OUTPUT:
            self.messages.append(user_message(text))
            return
        output = text[prefix.end() :] if prefix else ""
        refused = call.action == "edit" and output.startswith(_EDIT_REFUSED)
        self._answer(call, call.id, output, failed=refused)

    def _answer(self, call: ToolCall | None, call_id: str, text: str, *, failed: bool) -> None:
        outcome: Outcome = "error" if failed else "unknown"
        evidence: Evidence = "text" if failed else "none"
        result = ToolResult(call_id=call_id, outcome=outcome, evidence=evidence, text=text, origin=result_origin(call))
        self.messages.append(Message(role="tool", origin="tool", results=(result,)))


def _calls(message: Record) -> Iterator[tuple[str, str, object]]:
    made = message.get("tool_calls")
    for entry in made if isinstance(made, list) else ():
        function = entry.get("function") if isinstance(entry, dict) else None
        if isinstance(function, dict):
            yield text_of(entry.get("id")), text_of(function.get("name")), function.get("arguments")
    function = message.get("function_call")  # before there were tools
    if isinstance(function, dict):
        name = text_of(function.get("name"))
        yield name, name, function.get("arguments")


def _written_call(text: str) -> tuple[str, str, Record] | None:
    """`<function=name><parameter=key>value</parameter></function>` at the end of what was said."""
    start = _FUNCTION.search(text)
    if start is None:
        return None
    end = text.find("</function>", start.end())
    body = text[start.end() : end if end >= 0 else len(text)]
    arguments: Record = {}
    found = _PARAMETER.search(body)
    while found:
        end = body.find("</parameter>", found.end())
        if end < 0:
            break
        arguments[found[1]] = body[found.end() : end].strip("\n")
        found = _PARAMETER.search(body, end)
    return text[: start.start()].strip(), start[1], arguments
