"""A tool's use in SpecStory's Markdown: which lines went in, which came out, and how it ended.

No provider's rendering says failure by a mark of its own but Droid's (`Output (error):`) and the general one
(`**Error:**`). Claude Code begins each failure with one of a few wordings, so what begins otherwise went well;
Codex prints the exit code; of the others nothing is known.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from hardwon.model.session import Evidence, Outcome, ToolCall, ToolResult
from hardwon.sessions.tool_calls import result_origin, tool_call

FENCE = re.compile(r"(`{3,})([\w.+-]*)\s*$")
UNTAGGED = re.compile(r"Tool use: \*\*([^*]{1,80})\*\*")

_LABEL = re.compile(r"(\*\*(?:Result|Error|Answer):\*\*|(?:Result|Output|Output \(error\)):)(?: (.*))?$")
_CODE_MODE_INPUT = re.compile(r"Input(?: \(truncated\))?: `{3,}$")
_MARKS = "`*ROI"  # what any of the three begins with
_PLAIN = ("", "text")
_SHELLS = frozenset("bash sh shell zsh powershell pwsh cmd".split())
_WHOLE_FILE = frozenset("write write_file create create_file".split())
_STANDS_FOR = {"write": "write", "read": "read", "search": "grep"}
_NO_COMMAND = frozenset("ls list_directory taskoutput killshell bashoutput".split())

_SUMMARY_HEAD = re.compile(r"(?:Tool use: )?(?:\*\*[^*]*\*\*)?[\s•]*")
_MAX_SUMMARY_LINES = 50
_VALUE = re.compile(r"\b(path|pattern|Path|Pattern|URL|Update|Add|Delete|Modify):? `([^`]+)`")
_PATCHES = frozenset("update add delete modify".split())
_QUOTED = re.compile(r"`([^`]+)`")
_CURSOR_FILE = re.compile(r"(?:Read|Edit|Delete) file: (\S.*)")
_CURSOR_COMMAND = "Run command: "
_CODE_MODE_COMMAND = re.compile(r'tools\.exec_command\(\{\s*"?cmd"?\s*:\s*"((?:[^"\\\n]|\\.)*)')
_EDITED = re.compile(
    r"The file (.+?) has been (?:updated|created|overwritten)|File created successfully at: (.+?)(?= \(|$)",
    re.MULTILINE,
)

_FAILED = ("**Error:**", "Output (error):")
_CLAUDE_EXIT = re.compile(r"Exit code (\d{1,9})(?:\n|$)")
_CLAUDE_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "Claude requested permissions to",
)
_CLAUDE_INTERRUPTED = "[Request interrupted by user"
_CLAUDE_ERROR = "<tool_use_error>"
_CLAUDE_FILE_TOOLS = frozenset("Read Edit Write MultiEdit NotebookEdit".split())
_CLAUDE_FILE_ERROR = re.compile(
    r"File content \([^)]*\) exceeds maximum|File has been unexpectedly modified|(?:EISDIR|ENOENT|EACCES): "
)
_CODEX_EXIT = re.compile(r"(?:Exit code: |(?:[A-Z][^\n]{0,200}\n){0,4}?Process exited with code )(-?\d{1,9})(?:\n|$)")
_CODEX_OUTPUT = re.compile(r"^Output:(?:\n|$)", re.MULTILINE)
_CODEX_FAILED = ("apply_patch verification failed", "exec_command failed", "failed in sandbox", "execution error")
_CODEX_REFUSED = re.compile(r"(?:exec command )?(?:rejected|aborted) by user")


class Tool(NamedTuple):
    """A tool's use, taken apart: what went in, plain and fenced, and what came out under which label."""

    kind: str
    """SpecStory's own: shell, read, write, search, task, generic, unknown; empty where tools have no tags."""
    name: str
    summary: str
    inputs: str
    fenced: str
    output: str | None
    label: str

    @property
    def is_empty(self) -> bool:
        return not (self.summary or self.inputs or self.fenced or self.output)


def parse(kind: str, name: str, lines: list[str]) -> Tool:
    """Take apart the lines between the tags, or those from an untagged `Tool use:` on."""
    summary, lines = _summary(kind, lines)
    marks = [at for at, line in enumerate(lines) if line[:1] in _MARKS and _is_mark(line)]
    begins = _output_begins(kind, name.lower(), lines, marks)
    inner = [at for at in marks if (begins is None or at < begins) and not _LABEL.match(lines[at])]
    fenced = "\n".join(lines[inner[0] + 1 : inner[-1] if len(inner) > 1 else begins]) if inner else ""
    plain = lines[: inner[0] if inner else begins]
    output, label = _output(lines, begins) if begins is not None else (None, "")
    return Tool(kind, name, summary, "\n".join(plain).rstrip(), fenced, output, label)


def _summary(kind: str, lines: list[str]) -> tuple[str, list[str]]:
    end = len(lines)
    while end and lines[end - 1].strip() in ("", "</details>"):
        end -= 1
    start, summary = (0, "") if kind else (1, lines[0])
    closed = next((at for at, line in enumerate(lines[:_MAX_SUMMARY_LINES]) if "</summary>" in line), None)
    if closed is not None:
        inside = "\n".join(lines[: closed + 1]).partition("</summary>")[0].rpartition("<summary>")[2]
        start, summary = closed + 1, inside if kind else f"{summary} {inside}"
    return _SUMMARY_HEAD.sub("", summary.strip(), count=1), lines[start:end]


def _is_mark(line: str) -> bool:
    return bool(FENCE.match(line) or _LABEL.match(line) or _CODE_MODE_INPUT.match(line))


def _output_begins(kind: str, name: str, lines: list[str], marks: list[int]) -> int | None:
    """The line of the fence or the label that the output stands under."""
    if answers := [at for at in marks if lines[at].startswith("**Answer:**")]:
        return answers[-1]
    if not marks:
        return None
    first = lines[marks[0]]
    if _LABEL.match(first) or not _is_input(kind, name, first):
        return marks[0]
    if kind == "write":
        return _answer_to_a_write(lines, marks)
    fence = "`" * max(len(first) - len(first.lstrip("`")), 3)
    for at, following in pairwise(marks[1:]):
        closes = lines[at].startswith(fence) and not lines[at].strip("`")
        if closes and not any(lines[at + 1 : following]) and _holds_output(lines[following]):
            return following
    return None


def _is_input(kind: str, name: str, line: str) -> bool:
    fence = FENCE.match(line)
    if fence is None:
        return True
    language = fence.group(2)
    if kind == "shell":
        return language in _SHELLS
    return name in _WHOLE_FILE or (language not in _PLAIN and kind not in ("read", "search"))


def _answer_to_a_write(lines: list[str], marks: list[int]) -> int | None:
    """What was written may hold any fence, the tool's answer holds none: it is the last one."""
    if _LABEL.match(lines[marks[-1]]):
        return marks[-1]
    at = marks[-2] if len(marks) > 2 else marks[0]
    before = at - 1
    while before > 0 and not lines[before]:
        before -= 1
    return at if at != marks[0] and lines[before].startswith("```") and _holds_output(lines[at]) else None


def _holds_output(line: str) -> bool:
    fence = FENCE.match(line)
    return fence.group(2) in _PLAIN if fence else _LABEL.match(line) is not None


def _output(lines: list[str], begins: int) -> tuple[str, str]:
    label = ""
    if found := _LABEL.match(lines[begins]):
        label, inline = found.groups("")
        begins += 1
        if inline:
            return "\n".join([inline, *lines[begins:]]), label
        while begins < len(lines) and not lines[begins]:
            begins += 1
    fence = FENCE.match(lines[begins]) if begins < len(lines) else None
    if fence is None:
        return "\n".join(lines[begins:]), label
    closings = (at for at in range(len(lines) - 1, begins, -1) if lines[at].startswith(fence.group(1)))
    end = next((at for at in closings if not lines[at].strip("`")), len(lines))
    return "\n".join(lines[begins + 1 : end]), label


def call_of(call_id: str, tool: Tool) -> ToolCall:
    said = f"{tool.summary}\n{tool.inputs}"
    arguments = {name.lower(): value for name, value in reversed(_VALUE.findall(said))}
    for verb in _PATCHES & arguments.keys():
        arguments["path"] = arguments.pop(verb)
    if command := _command(tool):
        arguments["command"] = command
    elif edited := _EDITED.match(tool.output or ""):
        arguments["path"] = edited.group(1) or edited.group(2)
    elif named := _CURSOR_FILE.search(said) or _QUOTED.match(said.strip()):
        arguments.setdefault("path", named.group(1))
    if tool.fenced and not command:
        arguments["content"] = _written(tool)
    call = tool_call(call_id, tool.name, arguments)
    if call.action == "other" and tool.kind in _STANDS_FOR:
        call = replace(tool_call(call_id, _STANDS_FOR[tool.kind], arguments), name=tool.name)
    return call


def _written(tool: Tool) -> str:
    if tool.name.lower() in _WHOLE_FILE:
        return tool.fenced
    added = [line[1:] for line in tool.fenced.split("\n") if line.startswith("+")]
    return "\n".join(added) or tool.fenced


def _command(tool: Tool) -> str:
    if code := _CODE_MODE_COMMAND.search(tool.fenced):
        return _unescaped(code.group(1))
    runs = tool.kind == "shell" or (not tool.kind and tool_call("", tool.name, None).action == "run")
    if not runs or tool.name.lower() in _NO_COMMAND:
        return ""
    if tool.fenced:
        return tool.fenced
    if tool.summary.startswith(_CURSOR_COMMAND):
        return tool.summary.removeprefix(_CURSOR_COMMAND)
    said = [tool.summary, *tool.inputs.split("\n")]
    return next((line[1:-1] for line in said if len(line) > 2 and line[0] == line[-1] == "`"), _listed(tool.inputs))


def _listed(inputs: str) -> str:
    """The command of an argument list: "- command: `[bash -lc make]`", over as many lines as it has."""
    _, found, value = f"\n{inputs}".partition("\n- command: `")
    words = value.rpartition("`")[0] if found else ""
    if words.startswith("[") and words.endswith("]"):
        words = re.sub(r"^\S+ -l?c ", "", words[1:-1])
    return words


def _unescaped(text: str) -> str:
    """A JSON string that may have been cut off within an escape."""
    for end in (len(text), text.rfind("\\")):
        try:
            return msgspec.json.decode(f'"{text[:end]}"', type=str)
        except (msgspec.DecodeError, ValueError):
            continue
    return text


def result_of(agent: str, call: ToolCall, tool: Tool) -> ToolResult:
    text = tool.output or ""
    outcome: Outcome = "unknown"
    evidence: Evidence = "none"
    exit_code: int | None = None
    if tool.label in _FAILED:
        outcome, evidence = "error", "flag"
    elif agent == "claude-code":
        outcome, evidence, exit_code = _claude_outcome(call, text)
        text = text.partition("\n")[2] if exit_code is not None else text
    elif agent == "codex":
        outcome, evidence, exit_code = _codex_outcome(text)
        body = _CODEX_OUTPUT.search(text) if exit_code is not None else None
        text = text[body.end() :] if body else text
    elif tool.label == "**Result:**" or (agent == "droid" and tool.label == "Output:"):
        outcome, evidence = "ok", "no-flag"
    return ToolResult(
        call_id=call.id,
        outcome=outcome,
        evidence=evidence,
        text=text,
        exit_code=exit_code,
        origin=result_origin(call),
    )


def _claude_outcome(call: ToolCall, text: str) -> tuple[Outcome, Evidence, int | None]:
    if text.startswith(_CLAUDE_REFUSED):
        return "error", "rejected", None
    if text.startswith(_CLAUDE_INTERRUPTED):
        return "error", "interrupted", None
    if call.action == "run" and (found := _CLAUDE_EXIT.match(text)):
        stopped = text.startswith(_CLAUDE_INTERRUPTED, found.end())
        return "error", "interrupted" if stopped else "exit-code", int(found.group(1))
    if text.startswith(_CLAUDE_ERROR) or (call.name in _CLAUDE_FILE_TOOLS and _CLAUDE_FILE_ERROR.match(text)):
        return "error", "text", None
    return "ok", "no-flag", None


def _codex_outcome(text: str) -> tuple[Outcome, Evidence, int | None]:
    if found := _CODEX_EXIT.match(text):
        code = int(found.group(1))
        return "error" if code else "ok", "exit-code", code
    if text.startswith(_CODEX_FAILED):
        return "error", "text", None
    return ("error", "rejected", None) if _CODEX_REFUSED.match(text) else ("unknown", "none", None)
