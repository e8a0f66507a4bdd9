"""The parts that Gemini's messages are made of: text, function calls, and the responses to them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from hardwon.model.session import Evidence, Outcome, Record, ToolCall, ToolResult
from hardwon.sessions.loose import joined
from hardwon.sessions.loose import text as text_of
from hardwon.sessions.tools import result_origin, tool_call

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
