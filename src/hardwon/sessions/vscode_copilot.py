"""Copilot's chats in VS Code: a document, or since 2026 a log of changes to one, of requests and their responses.

Shapes from VS Code's published source (`chatModel.ts`, `objectMutationLog.ts`, versions 1 to 3 of the data) and from
exported chats. A response shows each tool that ran; what the model was told of it stands in the request's metadata.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.discover import local_path, workspace_folder
from hardwon.sessions.lines import json_object, text_of
from hardwon.sessions.origin import INTERRUPTED, user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import MAX_COMMAND_CHARACTERS, result_origin, tool_call
from hardwon.text.normalise import base_name

NAME = "vscode-copilot"
AGENT = "vscode"
READS = "chat sessions and exported chats, documents and logs of changes: messages, tool calls and results"
VERSIONS = "data versions 1 to 3 of 2024 to 2026, read from VS Code's published source, *unverified*"

_LOG = re.compile(r'\s*\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:\s*\{')
_OF_A_CHAT = ('"responderUsername"', '"requesterUsername"', '"initialLocation"', '"creationDate"')
_INITIAL, _SET, _PUSH, _DELETE = range(4)
_MAX_PATH_STEPS = 32
_TOOL = ("toolInvocationSerialized", "toolInvocation")
_SAID = ("markdownContent", "markdownVuln")
_SILENT = frozenset(
    "thinking inlineReference codeblockUri undoStop progressMessage progressTask progressTaskSerialized textEditGroup "
    "notebookEditGroup mcpServersStarting mcpServersStartingSerialized prepareToolInvocation confirmation command "
    "warning elicitation elicitation2 elicitationSerialized questionCarousel hook treeData multiDiffData extensions "
    "pullRequest references codeCitation usedContext move clearToPreviousToolInvocation disabledClaudeHooks "
    "workspaceEdit externalEdit autoModeResolution planReview".split()
)
_DENIED, _SKIPPED = 0, 5
_CANCELLED = 2
_FAILED = "ERROR while calling tool"
_REFUSED = ("The user chose to skip the tool call", "The user cancelled the tool call")
_SUFFIX = "__vscode-"
"""Behind a call's id in the metadata, and a number behind it; the response shows the id alone."""
_MAX_NODES = 10_000


def recognises(source: Source) -> bool:
    beginning = source.beginning.lstrip("\ufeff")
    if not any(word in beginning for word in _OF_A_CHAT):
        return False
    return _LOG.match(beginning) is not None or _is_chat(source.document if '"requests"' in beginning else None)


def _is_chat(found: object) -> bool:
    requests = found.get("requests") if isinstance(found, dict) else None
    return isinstance(requests, list) and all(isinstance(one, dict) and "message" in one for one in requests[:3])


def read(source: Source) -> list[Session]:
    conversation = _Conversation()
    if _LOG.match(source.beginning.lstrip("\ufeff")):
        chat = _replayed(source, conversation)
    else:
        chat = source.document if isinstance(source.document, dict) else {}
    conversation.begin(chat, _folder(source.path))
    requests = chat.get("requests")
    for request in requests if isinstance(requests, list) else ():
        conversation.add(request)
    return [conversation.session(text_of(chat.get("sessionId")) or source.stem)]


def _folder(path: Path) -> str:
    return workspace_folder(path.parent.parent) if path.parent.name == "chatSessions" else ""


def _replayed(source: Source, conversation: _Conversation) -> Record:
    """The document that a log leads to; a change that fits nowhere, for a line before it is lost, is left out."""
    chat: Record = {}
    for entry in source.records():
        value, kind = entry.get("v"), entry.get("kind")
        if kind == _INITIAL and isinstance(value, dict):
            chat = value
        elif not _changed(chat, kind, entry.get("k"), value, entry.get("i")):
            conversation.unknown += 1
    return chat


def _changed(chat: Record, kind: object, steps: object, value: object, keep: object) -> bool:
    if not isinstance(steps, list) or not 0 < len(steps) <= _MAX_PATH_STEPS:
        return False
    place: object = chat
    for step in steps[:-1]:
        place = _at(place, step)
    last = steps[-1]
    if kind == _PUSH:
        kept = _at(place, last)
        kept = kept if isinstance(kept, list) else []
        if isinstance(keep, int) and 0 <= keep < len(kept):
            del kept[keep:]
        kept += value if isinstance(value, list) else []
        value = kept
    elif kind == _DELETE:
        value = None
    elif kind != _SET:
        return False
    if isinstance(place, dict) and isinstance(last, str):
        place[last] = value
        return True
    if isinstance(place, list) and isinstance(last, int) and 0 <= last <= len(place):
        place[last : last + 1] = [value]
        return True
    return False


def _at(place: object, step: object) -> object:
    if isinstance(place, dict) and isinstance(step, str):
        return place.get(step)
    if isinstance(place, list) and isinstance(step, int) and 0 <= step < len(place):
        return place[step]
    return None


class _Conversation:
    def __init__(self) -> None:
        self.unknown = 0
        self._cwd = ""
        self._messages: list[Message] = []
        self._period = Period()

    def begin(self, chat: Record, folder: str) -> None:
        self._cwd = folder or local_path(chat.get("workingDirectory"))
        self._period.add(chat.get("creationDate"))
        self._period.add(chat.get("lastMessageDate"))

    def add(self, request: object) -> None:
        if not isinstance(request, dict):
            self.unknown += 1
            return
        if request.get("isHidden") is True or request.get("shouldBeRemovedOnSend"):
            return  # undone
        at = self._period.add(request.get("timestamp"))
        self._add_user(request, at)
        stopped = request.get("isCanceled") is True or _state(request) == _CANCELLED
        self._add_response(request, at, stopped=stopped)
        if stopped:
            self._messages.append(Message(role="user", origin="injected", at=at, text=INTERRUPTED))

    def _add_user(self, request: Record, at: int | None) -> None:
        if (text := _typed(request.get("message"))).strip():
            # Where a button was pressed, the words are the client's.
            self._messages.append(user_message(text, at, "injected" if request.get("confirmation") else "user"))
        if attached := "\n".join(filter(None, _attached(request.get("variableData")))):
            self._messages.append(Message(role="user", origin="injected", at=at, text=attached))

    def _add_response(self, request: Record, at: int | None, *, stopped: bool) -> None:
        response = request.get("response")
        parts = [part for part in response if isinstance(part, dict)] if isinstance(response, list) else []
        told = _Told(request, sum(part.get("kind") in _TOOL for part in parts))
        words: list[str] = []
        for part in parts:
            kind = part.get("kind")
            if kind in _TOOL:
                call, result = _tool(part, told.of(part), f"{len(self._messages)}", stopped=stopped)
                self._say(words, at, call, result)
                self._cwd = self._cwd or _cwd_of(part)
                words = []
            elif kind is None or kind in _SAID:
                words.append(_markdown(part if kind is None else part.get("content")))
                self._cwd = self._cwd or _base(part)
            elif kind == "inlineReference":
                words.append(_reference(part))
            elif text_of(kind) not in _SILENT:
                self.unknown += 1
        for call, result in told.alone() if not any(part.get("kind") in _TOOL for part in parts) else ():
            self._say(words, at, call, result)
            words = []
        self._say(words, at, None, None)
        edited = [] if any(call.action == "edit" for call in told.calls) else [*map(_edit, parts)]
        if calls := tuple(filter(None, edited)):
            self._messages.append(Message(role="assistant", origin="agent", at=at, calls=calls))

    def _say(self, words: list[str], at: int | None, call: ToolCall | None, result: ToolResult | None) -> None:
        text, calls = "".join(words).strip(), (call,) if call is not None else ()
        if text or calls:
            self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=calls))
        if result is not None:
            self._messages.append(Message(role="tool", origin="tool", at=at, results=(result,)))

    def session(self, id: str) -> Session:
        return Session(
            external_id=id,
            agent=AGENT,
            format=NAME,
            cwd=self._cwd,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self.unknown,
        )


def _state(request: Record) -> object:
    state = request.get("modelState")
    return state.get("value") if isinstance(state, dict) else state


def _typed(message: object) -> str:
    if isinstance(message, dict):
        parts = message.get("parts")
        listed = parts if isinstance(parts, list) else []
        return text_of(message.get("text")) or "".join(
            text_of(part.get("text")) for part in listed if isinstance(part, dict)
        )
    return text_of(message)


def _attached(data: object) -> Iterator[str]:
    """The words of what was attached, where they are kept at all: mostly only the file's name is."""
    variables = data.get("variables") if isinstance(data, dict) else None
    for variable in variables if isinstance(variables, list) else ():
        if isinstance(variable, dict):
            yield text_of(variable.get("code")) or text_of(variable.get("value"))


def _markdown(content: object) -> str:
    return text_of(content.get("value")) if isinstance(content, dict) else text_of(content)


def _reference(part: Record) -> str:
    target = part.get("inlineReference")
    inner = target.get("location") or target.get("uri") or target if isinstance(target, dict) else {}
    place = local_path(inner.get("uri") or inner if isinstance(inner, dict) else inner)
    return text_of(part.get("name")) or base_name(place)


def _base(part: Record) -> str:
    """The folder that links in a text are relative to, which is the workspace's."""
    return local_path(part.get("baseUri"))


def _cwd_of(part: Record) -> str:
    data = part.get("toolSpecificData")
    return local_path(data.get("cwd")) if isinstance(data, dict) else ""


def _edit(part: Record) -> ToolCall | None:
    """An edit in a chat without tools."""
    if part.get("kind") != "textEditGroup":
        return None
    edits = part.get("edits")
    groups = [group for group in edits if isinstance(group, list)] if isinstance(edits, list) else []
    texts = [text_of(one.get("text")) for group in groups for one in group if isinstance(one, dict)]
    path = local_path(part.get("uri"))
    return tool_call(f"edit {path}", "edit_file", {"path": path, "content": "".join(texts)}) if path else None


class _Told:
    """What the model asked for and was told, which names and numbers the calls in its own way."""

    def __init__(self, request: Record, shown: int) -> None:
        result = request.get("result")
        metadata = result.get("metadata") if isinstance(result, dict) else None
        data: Record = metadata if isinstance(metadata, dict) else {}
        answers = data.get("toolCallResults")
        self._answers: Record = answers if isinstance(answers, dict) else {}
        asked = _asked(data.get("toolCallRounds"))
        self._waiting = {text_of(call.get("id")).partition(_SUFFIX)[0]: call for call in asked}
        self._in_line = deque(self._waiting if len(self._waiting) == shown else ())
        self._by_command: dict[str, deque[str]] = {}
        for id, call in self._waiting.items():
            self._by_command.setdefault(_asked_command(call), deque()).append(id)
        self.calls: list[ToolCall] = []

    def of(self, part: Record) -> tuple[ToolCall | None, str]:
        """The call that a part of the response shows: of the same id, the same command, or the same place in line."""
        command = _command(part)
        found = self._waiting.pop(text_of(part.get("toolCallId")), None)
        found = found or self._next(self._by_command.get(command) if command else None) or self._next(self._in_line)
        return (None, "") if found is None else self._taken(found)

    def _next(self, ids: deque[str] | None) -> Record | None:
        while ids:
            if (found := self._waiting.pop(ids.popleft(), None)) is not None:
                return found
        return None

    def alone(self) -> Iterator[tuple[ToolCall, ToolResult | None]]:
        """The calls of a response that shows none."""
        for call in list(self._waiting.values()):
            asked, text = self._taken(call)
            yield asked, _judged(asked, text, None) if text_of(call.get("id")) in self._answers else None

    def _taken(self, asked: Record) -> tuple[ToolCall, str]:
        id = text_of(asked.get("id"))
        call = tool_call(id, text_of(asked.get("name")), asked.get("arguments"))
        self.calls.append(call)
        return call, _answer(self._answers.get(id))


def _asked(rounds: object) -> Iterator[Record]:
    for one in rounds if isinstance(rounds, list) else ():
        calls = one.get("toolCalls") if isinstance(one, dict) else None
        yield from (call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else ()


def _asked_command(call: Record) -> str:
    return text_of((json_object(call.get("arguments")) or {}).get("command"))


def _answer(answer: object) -> str:
    """A tool's answer: texts, or trees that a text is made of."""
    content = answer.get("content") if isinstance(answer, dict) else None
    parts = content if isinstance(content, list) else []
    return "".join(_leaves([part.get("value") for part in parts if isinstance(part, dict)]))


def _leaves(values: list[object]) -> Iterator[str]:
    waiting = values[::-1]
    for _ in range(_MAX_NODES):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            children = value.get("children")
            waiting += [value.get("node"), value.get("text"), *(children if isinstance(children, list) else [])][::-1]


def _command(part: Record) -> str:
    data = part.get("toolSpecificData")
    if not isinstance(data, dict) or data.get("kind") != "terminal":
        return ""
    line = data.get("commandLine")
    return text_of(line.get("original")) if isinstance(line, dict) else text_of(data.get("command"))


def _edited_command(data: Record) -> str:
    """The command that the user made of the agent's."""
    line = data.get("commandLine")
    return text_of(line.get("userEdited")) if isinstance(line, dict) else ""


def _tool(
    part: Record, told: tuple[ToolCall | None, str], fallback_id: str, *, stopped: bool
) -> tuple[ToolCall, ToolResult | None]:
    asked, text = told
    data = part.get("toolSpecificData")
    specific: Record = data if isinstance(data, dict) else {}
    command = _command(part)
    call = asked or tool_call(
        text_of(part.get("toolCallId")) or fallback_id,
        text_of(part.get("toolId")),
        {"command": command} if command else specific.get("rawInput") or {"path": _target(part)},
    )
    if edited := _edited_command(specific):
        call = replace(call, command=edited[:MAX_COMMAND_CHARACTERS])
    confirmed = part.get("isConfirmed")
    kind = confirmed.get("type") if isinstance(confirmed, dict) else _DENIED if confirmed is False else None
    if kind in (_DENIED, _SKIPPED) and _exit_code(part) is None:
        evidence: Evidence = "interrupted" if stopped and kind == _DENIED else "rejected"
        return call, ToolResult(call_id=call.id, outcome="error", evidence=evidence, text=text)
    if part.get("isComplete") is False:
        return call, None
    return call, _judged(call, text or _shown(part, specific), part)


def _judged(call: ToolCall, text: str, part: Record | None) -> ToolResult:
    code = _exit_code(part)
    outcome: Outcome = "error"
    evidence: Evidence = "text"
    if text.startswith(_REFUSED):
        evidence = "rejected"
    elif code is not None:
        outcome, evidence = ("error" if code else "ok"), "exit-code"
    elif part is not None and _details(part).get("isError") is True:
        evidence = "flag"
    elif text.startswith(_FAILED):
        pass
    elif call.action == "run":
        outcome, evidence = "unknown", "none"
    else:
        outcome, evidence = "ok", "no-flag"
    return ToolResult(
        call_id=call.id, outcome=outcome, evidence=evidence, text=text, exit_code=code, origin=result_origin(call)
    )


def _exit_code(part: Record | None) -> int | None:
    data = part.get("toolSpecificData") if part is not None else None
    state = data.get("terminalCommandState") if isinstance(data, dict) else None
    code = state.get("exitCode") if isinstance(state, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _details(part: Record) -> Record:
    details = part.get("resultDetails")
    return details if isinstance(details, dict) else {}


def _shown(part: Record, specific: Record) -> str:
    """What was kept of a result for the user, or else what the terminal showed."""
    listed = _details(part).get("output")
    parts = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    kept = "\n".join(text_of(one.get("value")) for one in parts if one.get("base64Data") is None)
    output = specific.get("terminalCommandOutput")
    return kept or text_of(listed) or (text_of(output.get("text")) if isinstance(output, dict) else "")


def _target(part: Record) -> str:
    """The file that the line above a tool's result links to."""
    for key in ("invocationMessage", "pastTenseMessage"):
        message = part.get(key)
        uris = message.get("uris") if isinstance(message, dict) else None
        for uri in uris.values() if isinstance(uris, dict) else ():
            if path := local_path(uri):
                return path
    return ""
