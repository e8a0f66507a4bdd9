"""mini-swe-agent's list of chat messages: a command in a code block, then a message with its return code."""

from __future__ import annotations

import re

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.loose import joined, json_object
from hardwon.sessions.loose import text as text_of
from hardwon.sessions.origin import user_text
from hardwon.sessions.tools import result_origin, tool_call

AGENT = "mini-swe-agent"

_BLOCK_START = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\n")
_RETURN_CODE = re.compile(r"<returncode>(-?\d{1,9})</returncode>\s*")
_NO_ACTION = ("Please always provide EXACTLY ONE action", "Format error:", "Tool call error:")
_REJECTED = "Command not executed. The user rejected your command"
_KILLED = "The last command <command>"
_SUBMITS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")


def is_mini(document: Record) -> bool:
    info, messages = document.get("info"), document.get("messages")
    if not isinstance(messages, list):
        return False
    if text_of(document.get("trajectory_format")).startswith(AGENT):
        return True
    return isinstance(info, dict) and "exit_status" in info and is_bare_chat(messages)


def is_bare_chat(messages: list[object]) -> bool:
    return any(
        isinstance(message, dict)
        and message.get("role") == "user"
        and text_of(message.get("content")).startswith("<returncode>")
        for message in messages[:12]
    )


class Chat:
    """mini-swe-agent: an assistant's command, then a message that begins with its return code."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._period = Period()
        self._waiting: dict[str, ToolCall] = {}
        self._unknown = 0

    def session(self, document: object, name: str, format: str) -> Session:
        whole = document if isinstance(document, dict) else {"messages": document}
        messages = whole.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict):
                self._add(message, text_of(message.get("role")))
            else:
                self._unknown += 1
        info = json_object(whole.get("info")) or {}
        config = json_object(info.get("config")) or {}
        environment = json_object(config.get("environment")) or {}
        return Session(
            # The last run is always kept under one name; when it began tells the runs apart.
            external_id=f"{name}@{self._period.first}" if self._period.first else name,
            agent=AGENT,
            format=format,
            version=text_of(info.get("mini_version")),
            cwd=text_of(environment.get("cwd")),
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )

    def _add(self, message: Record, role: str) -> None:
        extra = json_object(message.get("extra")) or {}
        at = self._period.add(extra.get("timestamp", message.get("timestamp")))
        text = joined(message.get("content"))
        if role == "assistant":
            calls = self._calls(message, extra, text)
            self._waiting = {call.id: call for call in calls}
            said = text if "tool_calls" in message else _without_command(text)[0]
            self._messages.append(Message(role="assistant", origin="agent", at=at, text=said, calls=calls))
        elif role in ("user", "tool", "exit") and self._answers(text, role, extra):
            result = self._result(message, extra, text)
            self._messages.append(Message(role="tool", origin="tool", at=at, results=(result,)))
        elif role == "user":
            typed, origin = user_text(text)
            if typed.startswith(_NO_ACTION):
                origin = "injected"
            self._messages.append(Message(role="user", origin=origin, at=at, text=typed))
        elif role in ("system", "exit"):
            self._messages.append(Message(role="system", origin="injected", at=at, text=text))
        else:
            self._unknown += 1

    def _calls(self, message: Record, extra: Record, text: str) -> tuple[ToolCall, ...]:
        made = message.get("tool_calls")
        if isinstance(made, list):
            functions = [(entry, entry.get("function")) for entry in made if isinstance(entry, dict)]
            return tuple(
                tool_call(text_of(entry.get("id")), text_of(function.get("name")), function.get("arguments"))
                for entry, function in functions
                if isinstance(function, dict)
            )
        actions = extra.get("actions")
        if isinstance(actions, list):
            commands = [text_of(action.get("command")) for action in actions if isinstance(action, dict)]
        else:
            commands = [command] if (command := _without_command(text)[1]) else []
        number = len(self._messages)
        return tuple(
            tool_call(f"message-{number}-{place}", "bash", {"command": command})
            for place, command in enumerate(commands)
        )

    def _answers(self, text: str, role: str, extra: Record) -> bool:
        """Whether a message is the output of a call; the user may also speak right after one."""
        if role == "tool" or "returncode" in extra:
            return True
        if not self._waiting:
            return False
        if _return_code(text)[0] is not None or text.startswith((_REJECTED, _KILLED)):
            return True
        return any(submit in call.command for call in self._waiting.values() for submit in _SUBMITS)

    def _result(self, message: Record, extra: Record, text: str) -> ToolResult:
        call_id = text_of(message.get("tool_call_id")) or next(iter(self._waiting), "")
        call = self._waiting.pop(call_id, None)
        written, output = _return_code(text)
        code = extra.get("returncode", written)
        outcome: Outcome = "unknown"
        evidence: Evidence = "none"
        if isinstance(code, int) and not isinstance(code, bool):
            outcome, evidence = ("error" if code else "ok"), "exit-code"
        elif text.startswith(_REJECTED):
            outcome, evidence = "error", "rejected"
        elif text.startswith(_KILLED):
            outcome, evidence = "error", "text"
        return ToolResult(
            call_id=call_id,
            outcome=outcome,
            evidence=evidence,
            text=text_of(extra.get("raw_output")) or output,
            exit_code=code if evidence == "exit-code" else None,
            origin=result_origin(call),
        )


def _without_command(text: str) -> tuple[str, str]:
    """What an assistant said, and the command in the code block of it."""
    start = _BLOCK_START.search(text)
    if start is None:
        return text, ""
    end = text.find("\n```", start.end() - 1)
    if end < 0:
        return text, ""
    said = text[: start.start()] + text[end + 4 :]
    return said.strip(), text[start.end() : end].strip()


def _return_code(text: str) -> tuple[int | None, str]:
    """The return code that an observation begins with, and the output without its tags."""
    body = text.partition("</exception>")[2].lstrip() if text.startswith("<exception>") else text
    found = _RETURN_CODE.match(body)
    if found is None:
        return None, text
    output = body[found.end() :]
    return int(found[1]), output.removeprefix("<output>\n").removesuffix("</output>").removesuffix("\n")
