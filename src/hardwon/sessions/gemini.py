"""Gemini CLI: one JSON document, or a log that writes a message again when its tools are done."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hardwon.clock import Period, microseconds
from hardwon.model.session import Evidence, Message, Outcome, Part, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, text_of
from hardwon.sessions.origin import INTERRUPTED, user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

# The parts that Gemini's messages are made of: text, function calls, and the responses to them.

_SHELL_OPENINGS = ("Output: ", "Command: ", "Output too large", "Tool output was too large")
_SHELL_CLOSINGS = ("Process Group PGID: ", "Background PIDs: ", "Signal: ", "Exit Code: ", "Error: (none)")
_CODE = re.compile(r"-?\d{1,9}")
_CANCELLED = "[Operation Cancelled]"
_DENIED = re.compile(r"\[Operation Cancelled\] Reason: User (?:denied|did not allow)")
_STOPPED = "Command was cancelled by user"
_TIMED_OUT = ("Command was automatically cancelled because it exceeded", "Command timed out after")
_FENCE = ("<untrusted_context>\n", "\n</untrusted_context>")
_HOOKED = ("\n\n<hook_context>", "</hook_context>")
"""What hooks had to say stands behind the output."""


def parts_of(content: object) -> list[Any]:
    """Content is a part or a list of them, and a part may be a bare string."""
    return content if isinstance(content, list) else [content]


def plain(parts: list[Any]) -> str:
    return joined([part for part in parts if not (isinstance(part, dict) and part.get("thought"))])


def function_calls(parts: list[Any], message_id: str) -> Iterable[ToolCall]:
    for index, part in enumerate(parts):
        call = part.get("functionCall") if isinstance(part, dict) else None
        if isinstance(call, dict):
            call_id = text_of(call.get("id")) or f"{message_id}#{index}"
            yield tool_call(call_id, text_of(call.get("name")), call.get("args"))


def responses(parts: list[Any]) -> Iterable[Record]:
    for part in parts:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        if isinstance(response, dict):
            yield response


def result_of(call: ToolCall | None, answer: Record, status: str = "") -> ToolResult:
    """A function's response, judged by the call's status, the shell's exit code or its `error` field."""
    text, said, failed = _unwrap(answer.get("response"))
    is_shell = call.action == "run" if call is not None else answer.get("name") == "run_shell_command"
    exit_code: int | None = None
    if is_shell:
        text, exit_code = shell_output(text)
    outcome: Outcome = "error"
    evidence: Evidence = "flag"
    if status == "cancelled" or (failed and text.startswith(_CANCELLED)) or (is_shell and text.startswith(_STOPPED)):
        evidence = "rejected" if _DENIED.match(text) else "interrupted"
    elif exit_code:
        evidence = "exit-code"
    elif is_shell and text.startswith(_TIMED_OUT):
        evidence = "text"
    elif status == "error" or failed:
        evidence = "flag"
    elif exit_code == 0:
        outcome, evidence = "ok", "exit-code"
    elif status == "success":
        outcome = "ok"
    else:
        outcome, evidence = ("unknown", "none") if failed is None else ("ok", "no-flag")
    return ToolResult(
        call_id=call.id if call is not None else text_of(answer.get("id")),
        outcome=outcome,
        evidence=evidence,
        text=text + said,
        exit_code=exit_code,
        origin=result_origin(call),
    )


def _unwrap(response: object) -> tuple[str, str, bool | None]:
    """The text, what hooks added, and whether the response calls itself an error; None when it does not say."""
    if not isinstance(response, dict):
        return joined(response), "", None
    error = response.get("error")
    if error:
        return joined(error.get("message") if isinstance(error, dict) else error), "", True
    text, said = joined(response.get("output")), ""
    if text.endswith(_HOOKED[1]) and _HOOKED[0] in text:
        cut = text.rindex(_HOOKED[0])
        text, said = text[:cut], text[cut:]
    if text.startswith(_FENCE[0]) and text.endswith(_FENCE[1]):
        text = text[len(_FENCE[0]) : -len(_FENCE[1])]
    return text, said, False if "output" in response else None


def shell_output(text: str) -> tuple[str, int | None]:
    """The plain output and the exit code, out of the labelled lines that stand around them."""
    if not text.startswith(_SHELL_OPENINGS):
        return text, None
    body, exit_code = text, None
    for label in _SHELL_CLOSINGS:
        above, _, last = body.rpartition("\n")
        if last.startswith(label):
            body = above
            if label == "Exit Code: " and _CODE.fullmatch(last[len(label) :]):
                exit_code = int(last[len(label) :])
    if body.startswith("Command: ") and "\nDirectory: " in body:
        body = body.partition("\nDirectory: ")[2].partition("\n")[2]
    if body.startswith("Stdout: "):
        streams = body.removeprefix("Stdout: ").partition("\nStderr: ")
        body = "\n".join(stream for stream in (streams[0], streams[2]) if stream not in ("", "(empty)"))
    body = body.removeprefix("Output: ")
    return "" if body == "(empty)" else body, exit_code


NAME = "gemini-cli"
AGENT = "gemini-cli"
READS = "JSON documents and lines: messages, sub-agents, tool calls and results, the user's shell commands, rewinds"
VERSIONS = "a log of 2026, documents from fixtures; failed calls, rewinds and sub-agents *unverified*"


_CLIENT_TEXT = (
    "<session_context>",
    "<state_snapshot>",
    "System: Please continue.",
    "I ran the following shell command:",
)
_USER_RAN = "I ran the following shell command:\n```sh\n"
_USER_GOT = "\n```\n\nThis produced the following result:\n```\n"
_USER_EXIT = re.compile(r"Command exited with code (-?\d{1,9})\.(?:\n|\Z)")
_NO_OUTPUT = "(Command produced no output)"
_NOTICES = ("info", "warning", "error")
_REQUEST_CANCELLED = "Request cancelled."

_PATH_KEYS = ("file_path", "absolute_path", "path", "dir_path", "directory", "filePath")
_SEPARATOR = re.compile(r"[\\/]")
_MAX_PATH_CHARACTERS = 1_000
_MAX_FOLDERS_TRIED = 5_000


def recognises(source: Source) -> bool:
    for record in source.head:
        if record.get("type") == "gemini" and "content" in record and isinstance(record.get("id"), str):
            return True
        if _is_header(record) and "messages" not in record:
            return True
    found = document(source)
    return found is not None and "qwen" not in speakers(found)


def read(source: Source) -> list[Session]:
    recording = Recording("gemini")
    whole = document(source)
    for record in source.records() if whole is None else (whole,):
        recording.add(record)
    return [recording.session(source, NAME, AGENT)]


def document(source: Source) -> Record | None:
    """The one object that older versions kept a whole session in."""
    found: object = source.head[0] if source.head else None  # when it was written on one line
    if not any(source.head) and ('"projectHash"' in source.beginning or '"lastUpdated"' in source.beginning):
        found = source.document
    return found if isinstance(found, dict) and _is_header(found) and isinstance(found.get("messages"), list) else None


def speakers(found: Record) -> set[str]:
    return {text_of(message.get("type")) for message in found["messages"] if isinstance(message, dict)}


def _is_header(record: Record) -> bool:
    return (
        isinstance(record.get("sessionId"), str)
        and isinstance(record.get("projectHash"), str)
        and "startTime" in record
    )


class Recording:
    """A chat as its records leave it: the last version of each message, without what was rewound."""

    def __init__(self, speaker: str) -> None:
        self._speaker = speaker
        self._header: Record = {}
        self._said: dict[str, tuple[Message, ...]] = {}
        self._unknown = 0
        self._root = ""
        self._folders_tried: set[str] = set()

    def add(self, record: Record) -> None:
        if "$rewindTo" in record:
            self._rewind(text_of(record["$rewindTo"]))
        elif isinstance(record.get("id"), str):
            self._add_message(record["id"], record)
        elif isinstance(record.get("$set"), dict):
            self._describe(record["$set"])
        elif isinstance(record.get("sessionId"), str):
            self._describe(record)
        else:
            self._unknown += 1

    def _rewind(self, message_id: str) -> None:
        """The message goes too: the user went back to before it."""
        while message_id in self._said:
            self._said.popitem()

    def _describe(self, fields: Record) -> None:
        self._header.update((key, value) for key, value in fields.items() if key != "messages")
        folders = fields.get("directories")
        for folder in folders if isinstance(folders, list) else ():
            self._look_for_root(folder)
        messages = fields.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if not isinstance(message, dict):
                self._unknown += 1
                continue
            message_id = text_of(message.get("id")) or f"#{len(self._said)}"
            # A log repeats its history with outputs masked and old turns summed up: the first telling is whole.
            if message_id not in self._said:
                self._add_message(message_id, message)

    def _add_message(self, message_id: str, record: Record) -> None:
        kind = record.get("type")
        at = microseconds(record.get("timestamp"))
        parts = parts_of(record.get("content"))
        if kind == self._speaker:
            self._said[message_id] = tuple(self._replied(message_id, record, parts, at))
        elif kind == "user":
            self._said[message_id] = tuple(self._asked(message_id, record, parts, at))
        elif kind in _NOTICES:
            self._said[message_id] = (_notice(plain(parts), at),)
        else:
            self._unknown += 1

    def _asked(self, message_id: str, record: Record, parts: list[Any], at: int | None) -> Iterable[Message]:
        results = tuple(result_of(None, response) for response in responses(parts))
        if results:
            yield Message(role="tool", origin="tool", at=at, results=results)
        written = plain(parts)
        if not written.strip():
            return
        if written.startswith(_USER_RAN) and _USER_GOT in written:
            yield from _user_command(message_id, written, at)
            return
        if written.startswith("<session_context>"):
            for line in written.splitlines():
                if line.startswith("  - "):
                    self._look_for_root(line.strip()[2:])
        yield _user_message(written, record.get("displayContent"), at)

    def _replied(self, message_id: str, record: Record, parts: list[Any], at: int | None) -> Iterable[Message]:
        calls: dict[str, ToolCall] = {}
        results: list[ToolResult] = []
        entries = record.get("toolCalls")
        ended = at
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, dict):
                continue
            call_id = text_of(entry.get("id")) or f"{message_id}#{len(calls)}"
            calls[call_id] = call = tool_call(call_id, text_of(entry.get("name")), entry.get("args"))
            if (result := _recorded_result(call, entry)) is not None:
                results.append(result)
            ended = microseconds(entry.get("timestamp")) or ended
            self._look_at_paths(entry)
        for call in function_calls(parts, message_id):
            calls.setdefault(call.id, call)
        yield Message(role="assistant", origin="agent", at=at, text=plain(parts), calls=tuple(calls.values()))
        if results:
            yield Message(role="tool", origin="tool", at=ended, results=tuple(results))

    def _look_at_paths(self, entry: Record) -> None:
        for holder in (entry.get("args"), entry.get("resultDisplay")):
            if isinstance(holder, dict):
                for key in _PATH_KEYS:
                    self._look_for_root(holder.get(key))

    def _look_for_root(self, path: object) -> None:
        """The project is named only by the hash of its folder: try the folders that the session touched."""
        wanted = text_of(self._header.get("projectHash"))
        if self._root or len(wanted) < 16 or not isinstance(path, str) or len(path) > _MAX_PATH_CHARACTERS:
            return
        for folder in (*(path[: cut.start()] for cut in _SEPARATOR.finditer(path)), path):
            if folder in self._folders_tried or len(self._folders_tried) > _MAX_FOLDERS_TRIED:
                continue
            self._folders_tried.add(folder)
            if sha256(folder.encode("utf-8", "replace")).hexdigest().startswith(wanted):
                self._root = folder
                return

    def _look_beside(self, path: Path) -> None:
        """Newer versions keep the folder's name in a file above the chats; a sub-agent's chat lies one deeper."""
        for folder in list(path.parents)[1:3]:
            marker = folder / ".project_root"
            with suppress(OSError):
                if marker.is_file():
                    with marker.open("rb") as file:
                        self._look_for_root(file.read(_MAX_PATH_CHARACTERS).decode("utf-8", "replace").strip())

    def session(self, source: Source, name: str, agent: str) -> Session:
        self._look_beside(source.path)
        session_id = text_of(self._header.get("sessionId")) or source.stem
        is_subagent = self._header.get("kind") == "subagent"
        messages = tuple(_once(message for said in self._said.values() for message in said))
        if is_subagent:
            messages = tuple(replace(m, origin="agent") if m.origin == "user" else m for m in messages)
        period = Period()
        for time in (self._header.get("startTime"), self._header.get("lastUpdated"), *(m.at for m in messages)):
            period.add(time)
        return Session(
            external_id=session_id,
            agent=agent,
            format=name,
            subagent=session_id if is_subagent else "",
            cwd=self._root,
            started_at=period.first,
            ended_at=period.last,
            messages=messages,
            unknown_records=self._unknown,
        )


def _once(messages: Iterable[Message]) -> Iterable[Message]:
    """Calls and results also stand in the model's history, which newer versions record beside them."""
    called: dict[str, ToolCall] = {}
    answered: set[str] = set()
    for message in messages:
        calls = tuple(call for call in message.calls if call.id not in called)
        called.update((call.id, call) for call in calls)
        results = []
        for result in message.results:
            if not result.call_id or result.call_id not in answered:
                answered.add(result.call_id)
                results.append(replace(result, origin=result_origin(called.get(result.call_id))))
        if message.text or calls or results:
            yield replace(message, calls=calls, results=tuple(results))


def _user_message(written: str, shown: object, at: int | None) -> Message:
    """What the client shows is what was typed; what it sends may be a command's or a file's text."""
    typed = plain(parts_of(shown)) if shown is not None else written
    if not typed.strip() or typed.startswith(_CLIENT_TEXT):
        return user_message(written, at, "injected")
    message = user_message(typed, at)
    return message if typed == written else replace(message, beside=(*message.beside, Part("injected", written)))


def _user_command(message_id: str, written: str, at: int | None) -> tuple[Message, ...]:
    """A command the user ran with `!`: an act, not words."""
    command, _, output = written.removeprefix(_USER_RAN).partition(_USER_GOT)
    output = output.rstrip().removesuffix("```").removesuffix("\n")
    failed = _USER_EXIT.match(output)
    if failed:
        output = output[failed.end() :]
    call = tool_call(message_id, "run_shell_command", {"command": command})
    result = ToolResult(
        call_id=call.id,
        outcome="error" if failed else "ok",
        evidence="exit-code" if failed else "no-flag",
        text="" if output == _NO_OUTPUT else output,
        exit_code=int(failed.group(1)) if failed else None,
    )
    return (
        Message(role="user", origin="injected", at=at, calls=(call,)),
        Message(role="tool", origin="tool", at=at, results=(result,)),
    )


def _notice(text: str, at: int | None) -> Message:
    if text.strip() == _REQUEST_CANCELLED:
        return Message(role="user", origin="injected", at=at, text=INTERRUPTED)
    return Message(role="system", origin="injected", at=at, text=text)


def _recorded_result(call: ToolCall, entry: Record) -> ToolResult | None:
    status = text_of(entry.get("status"))
    answers = list(responses(parts_of(entry.get("result"))))
    own = [answer for answer in answers if answer.get("id") == call.id] or answers
    if len(own) == 1:
        return result_of(call, own[0], status)
    if status not in ("success", "error", "cancelled"):
        return None
    written = plain(parts_of(entry.get("result"))) or text_of(entry.get("resultDisplay"))
    return result_of(call, {"id": call.id, "response": written}, status)
