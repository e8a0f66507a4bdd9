"""git: a rejected push, a conflict, a `fatal:` or `error:` line."""

from __future__ import annotations

import re

from oldhand.failures.families.span import Span

_LINE = re.compile(r"^(fatal|error): (.+)$", re.MULTILINE)
_REJECTED = re.compile(r"^ ?! \[(?:remote )?rejected\].*\((.+)\)$", re.MULTILINE)
_CONFLICT = re.compile(r"^CONFLICT \(([^)]+)\): (.+)$", re.MULTILINE)
_HINT = re.compile(r"^hint: .*\bgit\b", re.MULTILINE)
_WORDS = re.compile(
    r"\b(?:git|refs?|worktree|branch(?:es)?|repository|pathspec|commits?|merge|rebase|remote|stash|index|revision)\b"
)


def find(text: str) -> Span | None:
    if rejected := _REJECTED.search(text):
        return Span("git", "rejected", rejected.group(1), "", rejected.group().strip())
    if conflict := _CONFLICT.search(text):
        return Span("git", "conflict", f"{conflict.group(1)}: {conflict.group(2)}", "", conflict.group())
    lines = list(_LINE.finditer(text))
    chosen = next((found for found in lines if found.group(1) == "fatal"), lines[0] if lines else None)
    if chosen is None or not (_WORDS.search(chosen.group(2)) or _HINT.search(text)):
        return None
    message = chosen.group(2).split("... ")[0]  # what follows is a commit's subject
    return Span("git", chosen.group(1), message, "", f"{chosen.group(1)}: {message}")
