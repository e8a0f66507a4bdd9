"""Find the error in a tool's output: one module per family of tools, loaded when the text has its words.

A module has `find(text) -> Span | None`. The hook starts cold at every failed call, and compiling a family's
patterns is most of its cost: the words in the table decide which families are worth loading.
"""

from __future__ import annotations

from importlib import import_module

from oldhand.failures.families.span import Span

# Tried in this order; the first that finds something wins.
FAMILIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("pytest", ("FAILED ", "ERROR ", "=== FAILURES", "=== ERRORS", "=== test session")),
    ("python", ("Error", "Exception", "Warning", "Exit", "Interrupt", "Timeout", "NotFound", "DoesNotExist", "StopIt")),
    ("agent", ("<tool_use_error>", "File ", "String to ", "Found ", "No changes", "InputValid", "EISDIR", "ENOENT",
               "Path does", "apply_patch", "No such tool", "Unknown skill")),
    ("tsc", ("error TS",)),
    ("git", ("fatal: ", "error: ", "rejected]", "CONFLICT (")),
    ("node", ("Error", "npm ", "ERR_PNPM")),
    ("shell", ("not found", "recognized", "o such file", "enied", "not permitted", "directory", "exists", "error near",
               "option", "argument", "flag", "No rule", "timed out")),
    ("generic", ("",)),
)  # fmt: skip


def find(text: str) -> Span | None:
    for name, words in FAMILIES:
        if any(word in text for word in words):
            span: Span | None = import_module(f"oldhand.failures.families.{name}").find(text)
            if span is not None:
                return span
    return None
