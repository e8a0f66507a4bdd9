"""A tool's use in SpecStory's Markdown: which lines went in, which came out, and how it ended.

Before tools had tags, each was a part of its own between two rules, and told by its form: a shell's fence and the
fence of what it printed, with nothing beside them; fences of a diff; a card (`<details>`) whose summary begins with
one of a few wordings; `Read file:` and a path. A command that an agent only proposes stands among its words.

No provider's rendering says failure by a mark of its own but Droid's (`Output (error):`) and the general one
(`**Error:**`). Claude Code begins each failure with one of a few wordings, so what begins otherwise went well;
Codex prints the exit code; of the others nothing is known here.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from hardwon.model.session import Evidence, Outcome, Record, ToolCall, ToolResult
from hardwon.sessions.lines import json_object
from hardwon.sessions.specstory_page import CARD, FENCE, SHELLS, UNTAGGED
from hardwon.sessions.tool_calls import result_origin, tool_call

_LABEL = re.compile(r"(\*\*(?:Result|Error|Answer):\*\*|(?:Result|Output|Output \(error\)):)(?: (.*))?$")
_CODE_MODE_INPUT = re.compile(r"Input(?: \(truncated\))?: `{3,}$")
_MARKS = "`*ROI"  # what any of the three begins with
_PLAIN = ("", "text")

_WHOLE_FILE = frozenset("write write_file create create_file".split())
_STANDS_FOR = {"write": "write", "read": "read", "search": "grep"}
_NO_COMMAND = frozenset("ls list_directory taskoutput killshell bashoutput".split())

_SUMMARY_HEAD = re.compile(r"(?:Tool use: )?(?:\*\*[^*]*\*\*)?[\s•]*")
_MAX_SUMMARY_LINES = 50
_VALUE = re.compile(r"\b(path|pattern|Path|Pattern|URL|Update|Add|Delete|Modify):? `([^`]+)`")
_PATCHES = frozenset("update add delete modify".split())
_QUOTED = re.compile(r"`([^`]+)`")
_CURSOR_FILE = re.compile(r"(?:Read|Edit|Delete) file: (\S.*)|\[\]\(file://([^)#\n]+)")
_CURSOR_COMMAND = "Run command: "
_CARD_TOOLS = (
    ("Searched codebase ", "search", "codebase_search"),
    ("Grep search for ", "search", "grep_search"),
    ("Grep for ", "search", "grep"),
    ("Listed ", "search", "list_dir"),
    ("Searched web ", "search", "web_search"),
    ("Read file", "read", "read_file"),
    ("Edit file", "write", "edit_file"),
    ("Read lints", "generic", "read_lints"),
    ("MCP tool call", "mcp", ""),
)
"""How the summary of a card begins, the kind and the name of its tool."""
_SEARCHED = re.compile(r'(?:Searched codebase|Grep search for|Grep for|Searched web) "(.*?)"(?: in "([^"]+)")? • ')
_LISTED_FOLDER = re.compile(r"Listed directory (\S.*?) • ")
_MCP = re.compile(
    r"\s*\*Called tool\*: (?:\S+ - )?(?P<name>\S+?):.*?^\*Parameters\*:$"
    r"(?P<given>.*?)(?:^\*Result\*:$(?P<result>.*))?\Z",
    re.MULTILINE | re.DOTALL,
)
_TURNED_DOWN = (
    ("The string to replace was not found in the file", "search_replace", "write"),
    ("The model provided an ambiguous search string", "search_replace", "write"),
    ("Model supplied an ambiguous edit", "edit_file", "write"),
    ("Unable to write file ", "edit_file", "write"),
    ("Model provided invalid arguments to terminal tool", "run_terminal_cmd", "shell"),
    ("Model provided invalid arguments to grep tool", "grep_search", "search"),
    ("Model provided invalid arguments to read file tool", "read_file", "read"),
    ("Could not find file ", "read_file", "read"),
    ("File is too large, >", "read_file", "read"),
    ("Tool call timed out after ", "tool", "unknown"),
)
"""What Cursor says instead, the name and the kind of the tool."""
TURNED_DOWN = tuple(words for words, _, _ in _TURNED_DOWN)
_TURNED_DOWN_LABEL = "turned down"
_FILE_NAMED = re.compile(r"^Could not find file '?(.+?)'? in the workspace")
_MATCHES = ("| ", "No results found", "_No matches found_", "**No lint errors found**")
_JSON_SECTIONS = ("Parameters:", "Additional data:", "Result:")
_STATUS = re.compile(r"Status: \*\*\w+\*\*")
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
    parameters: Record | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.summary or self.inputs or self.fenced or self.output or self.parameters is not None)

    def is_second_to(self, before: Tool) -> bool:
        """Some of Cursor's come twice, the second time with nothing in them."""
        return self.name == before.name and self.is_empty and not before.is_empty


def turned_down(lines: list[str]) -> Tool | None:
    """A call that Cursor did not carry out: it writes nothing but why, in a line that is a part of its own."""
    for words, name, kind in _TURNED_DOWN:
        if lines[0].startswith(words) and ". " not in lines[0] and not any(lines[1:]):
            named = _FILE_NAMED.search(lines[0])
            summary = f"Read file: {named.group(1)}" if named else ""
            return Tool(kind, name, summary, "", "", lines[0], _TURNED_DOWN_LABEL)
    return None


def untagged(lines: list[str]) -> Tool | None:
    """The tool that a part between two rules is the use of, if it is one."""
    first = lines[0]
    if found := UNTAGGED.match(first):
        return parse("", found.group(1), lines)
    if first.startswith(CARD):
        return _card(lines)
    if first.startswith("Read file: "):
        return None if any(lines[1:]) else Tool("read", "read_file", first, "", "", None, "")
    fence = FENCE.match(first)
    if fence and fence.group(2) in SHELLS:
        return _run(lines, fence.group(1))
    return _diffs(lines) if fence and fence.group(2) == "diff" else None


def _run(lines: list[str], fence: str) -> Tool | None:
    closed = next((at for at, line in enumerate(lines) if at and line == fence), len(lines))
    command = "\n".join(lines[1:closed])
    if not any(lines[closed + 1 :]):
        return Tool("shell", "run_terminal_cmd", "", "", command, None, "")
    if lines[closed + 1] or (printed := FENCE.match(lines[closed + 2])) is None or printed.group(2):
        return None
    end = len(lines) - 1
    while not lines[end]:
        end -= 1
    whole = end > closed + 2 and lines[end] == printed.group(1)
    return Tool("shell", "run_terminal_cmd", "", "", command, "\n".join(lines[closed + 3 : end]), "") if whole else None


def _diffs(lines: list[str]) -> Tool | None:
    inside, held = False, []
    for line in lines:
        if line.startswith("```"):
            if inside == (line != "```"):
                return None
            inside = not inside
        elif inside:
            held.append(line)
        elif line:
            return None
    return Tool("write", "edit_file", "", "", "\n".join(held), None, "")


def _card(lines: list[str]) -> Tool | None:
    summary, body = _summary("card", lines)
    kind, name = next(((kind, name) for words, kind, name in _CARD_TOOLS if summary.startswith(words)), ("", ""))
    if kind != "mcp":
        return parse(kind, name, lines) if kind else None
    called = _MCP.match("\n".join(body))
    if called is None:
        return None
    output = called.group("result")
    return Tool(kind, called.group("name"), "", called.group("given").strip(), "", output and output.strip("\n"), "")


def parse(kind: str, name: str, lines: list[str]) -> Tool:
    """Take apart the lines between the tags, or those from an untagged `Tool use:` on."""
    summary, lines = _summary(kind, lines)
    if sections := _json_sections(lines):
        return _json_card(kind, name, summary, sections, lines)
    marks = [at for at, line in enumerate(lines) if line[:1] in _MARKS and _is_mark(line)]
    begins = _output_begins(kind, name.lower(), lines, marks)
    inner = [at for at in marks if (begins is None or at < begins) and not _LABEL.match(lines[at])]
    fenced = "\n".join(lines[inner[0] + 1 : inner[-1] if len(inner) > 1 else begins]) if inner else ""
    plain = lines[: inner[0] if inner else begins]
    output, label = _output(lines, begins) if begins is not None else (None, "")
    inputs = "\n".join(plain).rstrip()
    if output is None and not fenced and any(line.startswith(_MATCHES) for line in plain):
        inputs, output = "", inputs.strip()
    return Tool(kind, name, summary, inputs, fenced, output, label)


def without_entities(tool: Tool) -> Tool:
    """The editors' extension escapes for HTML what came out, SpecStory's own program does not."""
    return tool._replace(output=unescape(tool.output)) if tool.output and "&" in tool.output else tool


def _json_sections(lines: list[str]) -> dict[str, str]:
    if "```json" not in lines:
        return {}
    sections: dict[str, str] = {}
    label, begun = "", 0
    for at, line in enumerate(lines):
        if not label and line == "```json" and at > 1 and lines[at - 2] in _JSON_SECTIONS:
            label, begun = lines[at - 2], at + 1
        elif label and line == "```":
            sections[label] = "\n".join(lines[begun:at])
            label = ""
    return sections


def _json_card(kind: str, name: str, summary: str, sections: dict[str, str], lines: list[str]) -> Tool:
    """Cursor's and Copilot's general one: what went in, what the editor noted, and what came out, as JSON."""
    given, noted = (json_object(_escaped(sections.get(label, ""))) for label in _JSON_SECTIONS[:2])
    line = (given or {}).get("commandLine")
    if isinstance(line, dict):
        given = {"command": line.get("toolEdited") or line.get("original")}
    output: str | None = unescape(sections.get("Result:", ""))
    if noted and "vscodeToolId" in noted:
        output = _told_by_copilot(json_object(_escaped(sections.get("Result:", ""))) or {}, ran=isinstance(line, dict))
    elif not output and noted:
        output = unescape(sections["Additional data:"])
    status = next((line for line in reversed(lines) if _STATUS.fullmatch(line)), "")
    return Tool(kind, name, summary, "", "", output or None, status, given or {})


def _told_by_copilot(result: Record, *, ran: bool) -> str:
    """What it printed, where that was kept; else what it said of it, which of a command is nothing."""
    kept = result.get("toolCallResult")
    told = kept if kept or ran else result.get("pastTenseMessage")
    return told if isinstance(told, str) else msgspec.json.encode(told).decode() if told else ""


def _escaped(encoded: str) -> str:
    """JSON was escaped for HTML after it was encoded; a quote is not, or it would end its string."""
    return unescape(encoded.replace("&quot;", '\\"').replace("&#34;", '\\"')) if "&" in encoded else encoded


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
        return language in SHELLS
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
    named_values = ((name.lower(), value) for name, value in reversed(_VALUE.findall(said)))
    arguments: Record = {"path" if name in _PATCHES else name: value for name, value in named_values}
    arguments |= tool.parameters or {}
    if searched := _SEARCHED.match(tool.summary):
        arguments |= {"query": searched.group(1)} | ({"path": searched.group(2)} if searched.group(2) else {})
    elif listed := _LISTED_FOLDER.match(tool.summary):
        arguments["path"] = listed.group(1)
    if command := _command(tool):
        arguments["command"] = command
    elif edited := _EDITED.match(tool.output or ""):
        arguments["path"] = edited.group(1) or edited.group(2)
    elif named := _CURSOR_FILE.search(said) or _QUOTED.match(said.strip()):
        arguments.setdefault("path", next(filter(None, named.groups())))
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
    elif tool.label == _TURNED_DOWN_LABEL:
        outcome, evidence = "error", "text"
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
