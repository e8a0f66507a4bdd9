"""The agent's own tools refusing a call."""

from __future__ import annotations

import re

from oldhand.failures.families.span import Span

_WRAPPED = re.compile(r"<tool_use_error>(.*?)(?:</tool_use_error>|\Z)", re.DOTALL)
_WORDS = re.compile(
    r"^(?:File has not been read yet|String to replace not found in file|Found \d+ matches of the string"
    r"|File has been (?:modified|unexpectedly modified) since|No changes to make|File does not exist"
    r"|InputValidationError|EISDIR|ENOENT|Path does not exist|apply_patch verification failed"
    r"|File content \([\d.]+\w+\) exceeds maximum|No such tool available|Unknown skill)"
)


def find(text: str) -> Span | None:
    wrapped = _WRAPPED.search(text)
    body = (wrapped.group(1) if wrapped else text).strip()
    if not wrapped and not _WORDS.match(body):
        return None
    first = re.split(r"\n|(?<=[a-z])\. |: ?old_string|\.\s*$", body, maxsplit=1)[0]
    issue = re.search(r"(?:required parameter|unexpected parameter|parameter) `(\w+)`[^\n]*", body)
    message = f"{first.split(' failed due')[0]} {issue.group()}" if issue else first
    return Span("agent", "refused", message, "", message)
