"""A test run can fail inside a call that exits 0: the report itself is the evidence."""

from __future__ import annotations

import re

from msgspec.structs import replace

from hardwon.model.session import Message, Session, ToolCall, ToolResult

_TAIL = 6_000
_WORDS = ("fail", "FAIL", "errors=", "Failures:", " errors in ", " error in ")

_ENCODED_WORDS = tuple(word.encode() for word in _WORDS)

# Each is a runner's own closing line, with a count above zero.
_FAILED = re.compile(
    r"^=+ .*\b[1-9]\d* (?:failed|errors?)\b.* in [\d.]+s.* =+$"  # pytest
    r"|^[1-9]\d* failed(?:, \d+ \w+)* in [\d.]+s"  # pytest -q
    r"|^FAILED \((?:failures|errors)=[1-9]"  # unittest
    r"|^test result: FAILED\. "  # cargo test
    r"|^\s*Tests?:? +(?:.*\| )?[1-9]\d* failed\b"  # jest, vitest
    r"|^\s+[1-9]\d* failing$"  # mocha
    r"|^FAIL\t\S+\t[\d.]+s$|^--- FAIL: \w+"  # go test
    r"|^\d+ examples?, [1-9]\d* failures?"  # RSpec
    r"|^Tests: \d+, Assertions: \d+, (?:Errors|Failures): [1-9]"  # PHPUnit
    r"|^Tests run: \d+, Failures: (?:[1-9]\d*|0, Errors: [1-9])"  # Surefire
    r"|^# fail [1-9]",  # node --test
    re.MULTILINE,
)


def judge(session: Session) -> Session:
    """The session with every call whose output is a failed test report counted as an error."""
    calls = {call.id: call for message in session.messages for call in message.calls}
    changed = False
    messages: list[Message] = []
    for message in session.messages:
        results = tuple(_judged(result, calls.get(result.call_id)) for result in message.results)
        if results != message.results:
            changed = True
            message = replace(message, results=results)  # noqa: PLW2901
        messages.append(message)
    return replace(session, messages=tuple(messages)) if changed else session


def worth_a_look(raw: bytes) -> bool:
    """Whether an output that is still encoded can hold a failed report at all."""
    for word in _ENCODED_WORDS:  # noqa: SIM110 - any() takes twice as long, for every output there is
        if word in raw:
            return True
    return False


def failed(output: str) -> bool:
    tail = output[-_TAIL:]
    # Most outputs hold none of these three, and so none of the words.
    if "ail" not in tail and "FAIL" not in tail and "error" not in tail:
        return False
    return any(word in tail for word in _WORDS) and _FAILED.search(tail) is not None


def _judged(result: ToolResult, call: ToolCall | None) -> ToolResult:
    if result.outcome == "error" or call is None or call.action != "run" or not failed(result.text):
        return result
    return replace(result, outcome="error", evidence="test-report")
