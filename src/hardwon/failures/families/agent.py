"""The agent's own tools refusing a call."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Span

_WRAPPED = re.compile(r"<tool_use_error>(.*?)(?:</tool_use_error>|\Z)", re.DOTALL)
_LEAD = r"(?:Error: |\[)?"
_WORDS = re.compile(
    _LEAD + r"(?:File has not been read yet|String to replace not found in file|Found \d+ matches of the string"
    r"|File has been (?:modified|unexpectedly modified)|No changes to make|File does not exist|Directory does not exist"
    r"|InputValidationError|EISDIR|ENOENT|Path does not exist|apply_patch verification failed|Cannot read binary"
    r"|File content \([\d.,]+ ?\w+\) exceeds maximum|No such tool available|Unknown (?:skill|tool|slash command)"
    r"|No replacement was performed|Parameter `\w+` is required|Invalid `\w+` parameter|The path \S+ does not exist"
    r"|File already exists at|Your proposed edit has introduced|The LLM did not conform to the edit format"
    r"|Only \d+ reflections allowed|No exact match found|No filename provided before|EXECUTION TIMED OUT"
    r"|oldString not found|old_string not found|You must read (?:the )?file|File \S+ has been modified since"
    r"|Failed to edit, |MCP error -?\d+|unsupported call: |failed to parse function arguments|write_stdin failed"
    r"|Claude requested permissions|Permission to use \w+|cd in '|Agent type '|Tool \"[^\"\n]+\" not found in registry"
    r"|params must have required|File path must be within|Path not in workspace|exec_command failed for)"
)
# What follows is the text that was to be changed, or advice.
_END = re.compile(
    r"\n|(?<=[a-z\d)'`])\. |: ?old_string|[.:\]]$|; (?:use|read)\b| \(maximum\b|, either by\b|; run\b|"
    r"\bAvailable agents:"
)
_QUOTED_CODE = re.compile(r"old_str `.*?`(?= (?:did not appear|in lines)|\Z)", re.DOTALL)
_ISSUE = re.compile(r"(?:required parameter|unexpected parameter|parameter) `(\w+)`[^\n]*")
_REFUSING = re.compile(r"\b(\w+) failed due.*$")
_BLOCK = re.compile(r"^# \d+ SEARCH/REPLACE blocks? failed to match", re.MULTILINE)


def find(text: str) -> Span | None:
    wrapped = _WRAPPED.search(text)
    body = (wrapped.group(1) if wrapped else text).strip()
    if not wrapped and (not _WORDS.match(body) or "\n    at " in body):
        return None
    body = re.sub(f"^{_LEAD}", "", body)
    if "SEARCH/REPLACE" in body and _BLOCK.search(body):
        return Span("agent", "refused", "SEARCH block failed to match", "", "SEARCH block failed to match")
    body = _QUOTED_CODE.sub("old_str", body).removeprefix("No replacement was performed").lstrip(" .,")
    body = re.sub(r"^You must read (?:the )?file (\S+) before", r"file \1 was not read before", body)
    head = _END.split(body, maxsplit=1)[0].rstrip(" .:]")
    if head.endswith("new syntax error(s)") and (syntax := re.search(r"^[ \t]*- (\w+\d* .+)$", body, re.MULTILINE)):
        head = f"{head}: {syntax.group(1)}"
    issue = _ISSUE.search(body)
    message = f"{_REFUSING.sub(_quoted, head)} {issue.group()}" if issue else head
    return Span("agent", "refused", message, "", message)


def _quoted(found: re.Match[str]) -> str:
    return f"'{found.group(1)}'"
