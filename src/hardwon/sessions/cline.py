"""Cline: an SDK session beside its manifest, or a VS Code task whose tools and results may be text."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from hardwon.clock import Period, microseconds
from hardwon.model.session import Evidence, Message, Origin, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, json_object, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

# Cline's VS Code tasks: tools and their results may be XML and sentences in the text of a chat.

CONTEXT = "<environment_details>"
_USERS_OPENINGS = (
    "<task>",
    "<user_message>",
    "<feedback>",
    "<answer>",
    "The user provided the following feedback:\n<feedback>",
    "The user has provided feedback on the results.",
    "New instructions for task continuation:\n<user_message>",
    "New message to respond to with plan_mode_respond tool",
)
_USERS_TAG = re.compile(r"<(task|feedback|answer|user_message)>")
ASKING = frozenset("ask_followup_question attempt_completion plan_mode_respond act_mode_respond".split())
_XML_TOOLS = (
    "execute_command read_file write_to_file replace_in_file apply_diff insert_content search_and_replace "
    "search_files list_files list_code_definition_names browser_action use_mcp_tool access_mcp_resource new_task "
    "web_fetch web_search".split()
)
_XML_OPENING = re.compile(rf"<({'|'.join((*_XML_TOOLS, *sorted(ASKING)))})>")
_XML_PARAMETERS = ("command", "path", "content", "diff", "url", "result", "question", "response")
_THINKING = re.compile(r"<thinking>.*?</thinking>", re.DOTALL)
_THOUGHT = "</thinking>"
_RESULT_OF = re.compile(r"\[(\w+)")
_RESULT = "] Result:"
_FAILED = "The tool execution failed with the following error:"
_DENIED = "The user denied this operation"
_SAVED = "The content was successfully saved to "
_CANCELLED = "Command cancelled."
_EXITED = re.compile(
    r"Command (?:executed successfully \(exit code |failed with exit code |executed in terminal .{0,400}?Exit code: )"
    r"(-?\d{1,9})",
    re.DOTALL,
)
_OUTPUT = re.compile(r"Command [^\n]{0,500}\n(?:Exit code: [^\n]{0,20}\n)?Output:\n")
Verdict = tuple[str, Outcome, Evidence, int | None]


def blocks_of(content: object) -> list[Record]:
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return [{"type": "text", "text": content}]


def is_task(found: object) -> bool:
    if not isinstance(found, list) or not found:
        return False
    if not all(isinstance(entry, dict) and entry.get("role") in ("user", "assistant") for entry in found[:3]):
        return False
    texts = [text_of(block.get("text")) for block in blocks_of(found[0].get("content"))]
    return any(CONTEXT in text for text in texts) and texts[0].startswith(("<task>", "<user_message>"))


def without_xml(text: str) -> tuple[str, list[tuple[str, str, object]]]:
    """The text around the tools written in it, and each tool with its parameters."""
    kept: list[str] = []
    tools: list[tuple[str, str, object]] = []
    done = 0
    while opening := _XML_OPENING.search(text, done):
        name = opening.group(1)
        closing = text.find(f"</{name}>", opening.end())
        end = closing if closing >= 0 else len(text)
        kept.append(text[done : opening.start()])
        tools.append(("", name, _parameters(text[opening.end() : end])))
        done = end + len(name) + 3
    kept.append(text[done:])
    rest = "\n".join(filter(None, (part.strip() for part in kept)))
    thought = rest.rfind(_THOUGHT) + len(_THOUGHT) if _THOUGHT in rest else 0
    return _THINKING.sub("", rest[:thought]) + rest[thought:], tools


def _parameters(body: str) -> Record:
    found: Record = {}
    for name in _XML_PARAMETERS:
        start = body.find(f"<{name}>") + len(name) + 2
        # A file's text may hold the tag that closes it.
        end = body.rfind(f"</{name}>") if name in ("content", "diff") else body.find(f"</{name}>", start)
        if len(name) + 2 <= start <= end:
            found[name] = body[start:end].strip("\n")
    return found


def words_to_user(name: str, values: object) -> str:
    """What an agent says through a tool: its question, its answer, its report."""
    if name not in ASKING or not isinstance(values, dict):
        return ""
    return "\n".join(filter(None, (text_of(values.get(key)) for key in ("result", "question", "response"))))


def with_results(blocks: list[Record]) -> Iterator[Record]:
    """A task's results that are written as text, as the blocks they otherwise are."""
    name = ""
    for block in blocks:
        text = text_of(block.get("text")) if block.get("type") == "text" else ""
        found = _RESULT_OF.match(text)
        if name and text:
            yield {"type": "tool_result", "name": name, "content": text.strip("\n")}
            name = ""
        elif found and _RESULT in text:
            body = text.partition(_RESULT)[2]
            if body.strip():
                yield {"type": "tool_result", "name": found.group(1), "content": body.strip("\n")}
            else:  # early versions: the result is the next block
                name = found.group(1)
        else:
            yield block


def task_words(text: str) -> str:
    """A task's user speaks in tags; whatever stands outside them is the client's. Empty if nobody speaks."""
    opening = _USERS_TAG.search(text) if text.startswith(_USERS_OPENINGS) else None
    end = text.rfind(f"</{opening.group(1)}>") if opening else -1
    return text[opening.end() : end].strip() if opening and opening.end() <= end else ""


def task_verdict(block: Record, call: ToolCall | None) -> Verdict:
    """Told by the client's own sentence at the head of a result; most results have none."""
    text = joined(block.get("content"))
    if _RESULT_OF.match(text) and _RESULT in text:
        text = text.partition(_RESULT)[2].strip("\n")
    if text.startswith(_DENIED):
        return text, "error", "rejected", None
    if text.startswith(_FAILED):
        inner = text[len(_FAILED) :].strip().removeprefix("<error>").removesuffix("</error>").strip()
        return inner, "error", "text", None
    if call is not None and call.action == "run":
        return _command_verdict(text)
    if call is not None and call.action == "edit" and text.startswith(_SAVED):
        return text, "ok", "text", None
    if block.get("is_error") is True:
        return text, "error", "flag", None
    return text, "unknown", "none", None


def _command_verdict(text: str) -> Verdict:
    if text.startswith(_CANCELLED):
        return text, "error", "interrupted", None
    exited, output = _EXITED.match(text), _OUTPUT.match(text)
    plain = text[output.end() :] if output else "" if exited else text
    if exited is None:
        return plain, "unknown", "none", None
    code = int(exited.group(1))
    return plain, "error" if code else "ok", "exit-code", code


# Cline's SDK sessions: a document of messages, and beside it a manifest that tells where and when they were.

ROLES = ("user", "assistant", "error")
_MAX_MANIFEST_BYTES = 4 * 1024 * 1024
_USER_INPUT = re.compile(r"<user_input\b[^>]{0,200}>")
_REJECTED = "This tool call was rejected by the user"
_SDK_EXIT = re.compile(r"(?:Command failed: )?Command exited with code (-?\d{1,9})")


def is_session(found: object) -> bool:
    """The compacted copy that lies beside a session has its shape: it begins with a summary."""
    if not isinstance(found, dict) or not isinstance(found.get("sessionId"), str) or "updated_at" not in found:
        return False
    messages = found.get("messages")
    if not isinstance(messages, list) or "source_message_count" in found or "projectHash" in found:
        return False
    first = messages[0] if messages else None
    if isinstance(first, dict) and is_summary(first):
        return False
    return all(isinstance(entry, dict) and entry.get("role") in ROLES for entry in messages[:3])


def is_summary(entry: Record) -> bool:
    metadata = entry.get("metadata")
    return isinstance(metadata, dict) and text_of(metadata.get("kind")).startswith("compaction")


def manifest_of(path: Path) -> Record:
    """A session's own, or for a sub-agent's messages that of the session whose folder they lie in."""
    own = path.name.removesuffix(".json").removesuffix(".messages")
    for name in (own, path.parent.name):
        candidate = path.with_name(f"{name}.json")
        try:
            if candidate == path or candidate.stat().st_size > _MAX_MANIFEST_BYTES:
                continue
            found = json_object(candidate.read_bytes())
        except OSError:
            continue
        if found is not None and isinstance(found.get("session_id"), str):
            return found
    return {}


def forked_at(path: Path, manifest: Record) -> int | None:
    """A fork begins with a copy of the session it left, which is not told twice where that lies beside it."""
    metadata = manifest.get("metadata")
    fork = metadata.get("fork") if isinstance(metadata, dict) else None
    if not isinstance(fork, dict):
        return None
    left = os.path.basename(text_of(fork.get("forkedFromSessionId")))
    original = path.parent.parent / left / f"{left}.messages.json"
    return microseconds(fork.get("forkedAt")) if left and os.path.isfile(original) else None


def session_words(text: str) -> str:
    opening, end = _USER_INPUT.search(text), text.rfind("</user_input>")
    return text[opening.end() : end].strip() if opening and opening.end() <= end else text


def session_verdict(block: Record) -> Verdict:
    flagged = block.get("is_error") is True
    entries = _entries(block.get("content"), flagged=flagged)
    errors = [text for entry in entries if (text := text_of(entry.get("error")))]
    if entries:
        told = (part for entry in entries for part in (joined(entry.get("result")), text_of(entry.get("error"))))
        text = "\n".join(filter(None, told))
    else:
        text = joined(block.get("content"))
    if any(error.startswith(_REJECTED) for error in errors):
        return text, "error", "rejected", None
    if flagged or errors:
        code = next((int(found.group(1)) for error in errors if (found := _SDK_EXIT.match(error))), None)
        return text, "error", "flag", code
    if not entries:
        return text, "ok", "no-flag", None
    if all(entry.get("success") is True for entry in entries):
        return text, "ok", "flag", None
    return text, "unknown", "none", None  # a search without a match says no more


def _entries(content: object, *, flagged: bool) -> list[Record]:
    """What each part of a call came to, as `{query, result, success, error}`."""
    if isinstance(content, str):
        found = json_object(content) if content.startswith("{") else None
        return [found] if found is not None and (flagged or {"query", "success"} <= found.keys()) else []
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and "success" in block]


NAME = "cline"
AGENT = "cline"
READS = "SDK sessions with their manifest, and VS Code tasks with tools as blocks or as XML in the text"
VERSIONS = "SDK sessions of 2026; VS Code tasks *unverified*"

"""Cline, and Roo Code and Kilo Code, which were made from it."""
_TASK_FILE = "api_conversation_history"
_MAX_WAITING_CALLS_SEARCHED = 50

_FOLDER = re.compile(r"^# Current (?:Working|Workspace) Directory \((?!Primary: )(.+)\) Files$", re.MULTILINE)
_REMOTE = re.compile(r'"origin: ([^"\s]+)"')


def recognises(source: Source) -> bool:
    beginning = source.beginning.lstrip("\ufeff \t\r\n")
    if beginning.startswith("{") and '"sessionId"' in beginning and '"updated_at"' in beginning:
        return is_session(source.document)
    if beginning.startswith("[") and ('"<task>' in beginning or '"<user_message>' in beginning):
        return is_task(source.document)
    return False


def read(source: Source) -> list[Session]:
    found = source.document
    if isinstance(found, dict):
        return [_read_session(source, found)]
    conversation = _Conversation(is_task=True)
    for entry in found if isinstance(found, list) else ():
        conversation.add(entry)
    task_id = source.path.parent.name if source.stem == _TASK_FILE else source.stem
    return [conversation.session(task_id)]


def _read_session(source: Source, found: Record) -> Session:
    session_id = text_of(found.get("sessionId")) or source.stem
    manifest = manifest_of(source.path)
    agent = text_of(found.get("agent"))
    conversation = _Conversation(is_task=False, subagent=agent if agent != "lead" else "")
    conversation.cwd = text_of(manifest.get("cwd")) or text_of(manifest.get("workspace_root"))
    if manifest.get("session_id") == session_id:
        conversation.period.add(manifest.get("started_at"))
        conversation.period.add(manifest.get("ended_at"))
    if prompt := text_of(found.get("system_prompt")):
        conversation.messages.append(Message(role="system", origin="injected", text=prompt))
    left_at = forked_at(source.path, manifest)
    messages = found.get("messages")
    for entry in messages if isinstance(messages, list) else ():
        said_at = microseconds(entry.get("ts")) if isinstance(entry, dict) else None
        if left_at is None or said_at is None or said_at >= left_at:
            conversation.add(entry)
    return conversation.session(session_id)


class _Conversation:
    """Messages in order; a result without an id belongs to the first call that still waits for one."""

    def __init__(self, *, is_task: bool, subagent: str = "") -> None:
        self.messages: list[Message] = []
        self.period = Period()
        self.cwd = ""
        self._remote = ""
        self._is_task = is_task
        self._subagent = subagent
        self._calls: dict[str, ToolCall] = {}
        self._waiting: dict[str, ToolCall] = {}
        self._unknown = 0

    def add(self, entry: object) -> None:
        role = entry.get("role") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or role not in ROLES:
            self._unknown += 1
            return
        at = self.period.add(entry.get("ts"))
        blocks = blocks_of(entry.get("content"))
        if role == "assistant":
            self._add_assistant(blocks, at)
        elif role == "error":
            self.messages.append(Message(role="system", origin="injected", at=at, text=joined(blocks)))
        else:
            self._add_user(blocks, at, summary=is_summary(entry))

    def _add_assistant(self, blocks: list[Record], at: int | None) -> None:
        texts: list[str] = []
        calls: list[ToolCall] = []
        for block in blocks:
            text, used = self._taken_apart(block)
            texts.append(text)
            for call_id, name, values in used:
                arguments = {} if name in ASKING else _arguments(values)
                calls.append(tool_call(call_id or f"{len(self.messages)}#{len(calls)}", name, arguments))
                texts.append(words_to_user(name, values))
        self._calls.update((call.id, call) for call in calls)
        self._waiting = {call.id: call for call in calls}
        text = "\n".join(filter(None, (part.strip() for part in texts)))
        if text or calls:
            self.messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=tuple(calls)))

    def _taken_apart(self, block: Record) -> tuple[str, list[tuple[str, str, object]]]:
        if block.get("type") == "tool_use":
            return "", [(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))]
        text = text_of(block.get("text")) if block.get("type") == "text" else ""
        return without_xml(text) if self._is_task else (text, [])

    def _add_user(self, blocks: list[Record], at: int | None, *, summary: bool) -> None:
        results: list[ToolResult] = []
        said: list[Message] = []
        by: Origin = "injected" if summary else "agent" if self._subagent else "user"
        words_of = task_words if self._is_task else session_words
        for block in with_results(blocks) if self._is_task else blocks:
            text = text_of(block.get("text")).strip()
            if block.get("type") == "tool_result":
                results.append(self._result(block))
                answer = task_words(results[-1].text)
                if answer and self._name_of(results[-1]) in ASKING:
                    said.append(user_message(answer, at, by))
            elif block.get("type") == "text" and text:
                self._look_around(text)
                if not text.startswith(CONTEXT):
                    words = words_of(text)
                    said.append(user_message(words or text, at, by if words else "injected"))
        if results:
            self.messages.append(Message(role="tool", origin="tool", at=at, results=tuple(results)))
        self.messages.extend(said)

    def _look_around(self, text: str) -> None:
        if self.cwd or CONTEXT not in text:
            return
        folder, remote = _FOLDER.search(text), _REMOTE.search(text)
        self.cwd = folder.group(1) if folder else ""
        self._remote = remote.group(1) if remote else ""

    def _name_of(self, result: ToolResult) -> str:
        call = self._calls.get(result.call_id)
        return call.name if call is not None else ""

    def _result(self, block: Record) -> ToolResult:
        call = self._answered(text_of(block.get("tool_use_id")), text_of(block.get("name")))
        text, outcome, evidence, exit_code = task_verdict(block, call) if self._is_task else session_verdict(block)
        return ToolResult(
            call_id=call.id if call is not None else text_of(block.get("tool_use_id")),
            outcome=outcome,
            evidence=evidence,
            text=text,
            exit_code=exit_code,
            origin=result_origin(call),
        )

    def _answered(self, call_id: str, name: str) -> ToolCall | None:
        call = self._calls.get(call_id) if call_id else None
        if not call_id and self._waiting:
            waiting = list(islice(self._waiting.values(), _MAX_WAITING_CALLS_SEARCHED))
            call = next((one for one in waiting if one.name == name), waiting[0])
        if call is not None:
            self._waiting.pop(call.id, None)
        return call

    def session(self, session_id: str) -> Session:
        if self.period.first is None and session_id.isdecimal():
            self.period.add(int(session_id[:20]))  # a task is named by the moment it began
        return Session(
            external_id=session_id,
            agent=AGENT,
            format=NAME,
            subagent=self._subagent,
            cwd=self.cwd,
            remote=self._remote,
            started_at=self.period.first,
            ended_at=self.period.last,
            messages=tuple(self.messages),
            unknown_records=self._unknown,
        )


def _arguments(values: object) -> object:
    """A call for several commands or files at once, as one call is told."""
    if not isinstance(values, dict):
        return values
    commands = values.get("commands")
    if isinstance(commands, list):
        return {"command": "\n".join(filter(None, map(_command_line, commands)))}
    for key in ("files", "file_paths", "paths", "requests"):
        several = values.get(key)
        first = several[0] if isinstance(several, list) and several else several
        if isinstance(first, dict | str):
            return first if isinstance(first, dict) else {"path": first}
    return {"command": commands} if isinstance(commands, str) else values


def _command_line(command: object) -> str:
    if isinstance(command, dict):
        words = command.get("args")
        parts = [command.get("command"), *(words if isinstance(words, list) else ())]
        return shlex.join(part for part in parts if isinstance(part, str))
    return text_of(command)
