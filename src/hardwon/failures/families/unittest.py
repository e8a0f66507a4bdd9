"""unittest and Django's runner: the first failed test and the last line of its traceback."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Span

_HEAD = re.compile(r"^(?:FAIL|ERROR): (\S+) \(([\w.]+)(?:\.\.\.)?\).*\n(?:.*\n){0,3}?-{20,}\n", re.MULTILINE)
_ERROR = re.compile(r"^(?:[\w.]+\.)?([A-Za-z_]\w*)(?:: (.*))?$", re.MULTILINE)


def find(text: str) -> Span | None:
    head = _HEAD.search(text)
    if not head:
        return None
    end = re.search(r"^(?:={20,}|-{20,})$", text[head.end() :], re.MULTILINE)
    body = text[head.end() : head.end() + end.start()] if end else text[head.end() :]
    _, _, trace = body.rpartition("Traceback (most recent call last):\n")
    error = _ERROR.search(trace)
    if not error:
        return None
    name = head.group(1)
    case = head.group(2).removesuffix(f".{name}").rpartition(".")[2]
    anywhere = error.group(1) in ("ModuleNotFoundError", "ImportError")
    return Span("unittest", error.group(1), error.group(2) or "", "" if anywhere else f"{case}.{name}", error.group())
