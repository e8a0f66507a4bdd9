"""Cline's VS Code tasks: tools and their results may be XML and sentences in the text of a chat."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hardwon.model.session import Evidence, Origin, Outcome, Record, ToolCall
from hardwon.sessions.loose import joined
from hardwon.sessions.loose import text as text_of
from hardwon.sessions.origin import user_text

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


def task_words(text: str) -> tuple[str, Origin]:
    """A task's user speaks in tags; whatever stands outside them is the client's."""
    opening = _USERS_TAG.search(text) if text.startswith(_USERS_OPENINGS) else None
    end = text.rfind(f"</{opening.group(1)}>") if opening else -1
    return user_text(text[opening.end() : end]) if opening and opening.end() <= end else (text, "injected")


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
