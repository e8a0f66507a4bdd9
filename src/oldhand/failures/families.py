"""Find the error in a tool's output: which family of tools wrote it, its type, words and place."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from oldhand.text.paths import base_name


class Span(NamedTuple):
    """The part of an output that says what went wrong."""

    family: str
    error_type: str
    message: str
    frame: str = ""
    """The first place of one's own code: file name and function."""
    excerpt: str = ""


_PYTHON_ERROR = re.compile(
    r"^(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Timeout|NotFound|DoesNotExist)"
    r"|StopIteration|KeyboardInterrupt)(?:: ?(.*))?$",
    re.MULTILINE,
)
_PYTHON_FRAME = re.compile(r'^\s*File "([^"\n]+)", line \d+(?:, in (\S+))?', re.MULTILINE)
_LIBRARY = re.compile(r"site-packages|dist-packages|[\\/]lib[\\/]python\d|<frozen|<string>|node_modules|node:internal")
_TRACEBACK = "Traceback (most recent call last)"


def python(text: str) -> Span | None:
    errors = list(_PYTHON_ERROR.finditer(text))
    if not errors or (_TRACEBACK not in text and not _PYTHON_FRAME.search(text) and len(errors) != 1):
        return None
    if _TRACEBACK not in text and re.search(r"^\s+at .+[(:]", text, re.MULTILINE):
        return None  # a JavaScript stack
    last = errors[-1]
    before = text[: last.start()].rpartition(_TRACEBACK)[2]
    frames = [found for found in _PYTHON_FRAME.finditer(before) if not _LIBRARY.search(found.group(1))]
    frame = f"{base_name(frames[-1].group(1))} {frames[-1].group(2) or ''}".strip() if frames else ""
    place = frames[-1].group().strip() + "\n" if frames else ""
    return Span("python", last.group(1), last.group(2) or "", frame, place + last.group())


_PYTEST_MARKS = re.compile(
    r"^(?:=+ (?:FAILURES|ERRORS|short test summary info|test session starts) =+|FAILED \S+::|ERROR \S+\.py)",
    re.MULTILINE,
)
_PYTEST_LINE = re.compile(
    r"^E {2,}(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Exit|Warning|Failed)): ?(.*)$", re.MULTILINE
)
_PYTEST_ASSERT = re.compile(r"^E {2,}(assert .*|Failed: .*|.+)$", re.MULTILINE)
_PYTEST_SUMMARY = re.compile(
    r"^(?:FAILED|ERROR) (\S+?)(?: - (?:[\w.]+\.)?(?:(\w+(?:Error|Exception|Exit|Failed))(?:: ?(.*))?|(.*)))?$",
    re.MULTILINE,
)


def pytest(text: str) -> Span | None:
    if not _PYTEST_MARKS.search(text):
        return None
    summary = _PYTEST_SUMMARY.search(text)
    line = _PYTEST_LINE.search(text)
    if line:
        error_type, message = line.group(1), line.group(2)
    elif summary and summary.group(2):
        error_type, message = summary.group(2), summary.group(3) or ""
    elif asserted := _PYTEST_ASSERT.search(text):
        error_type, message = "AssertionError", asserted.group(1)
    elif summary:
        error_type, message = "failed", ""
    else:
        return None
    test = summary.group(1) if summary else ""
    # An import fails wherever it is imported first: the test it hits says nothing.
    frame = "" if error_type in ("ModuleNotFoundError", "ImportError") else _test_name(test)
    shown = line.group() if line else f"{error_type}: {message}".rstrip(": ")
    return Span("pytest", error_type, message, frame, "\n".join(filter(None, (shown, summary and summary.group()))))


def _test_name(test: str) -> str:
    path, _, name = test.partition("::")
    return f"{base_name(path)} {name.split('[')[0]}".strip()


_AGENT_ERROR = re.compile(r"<tool_use_error>(.*?)(?:</tool_use_error>|\Z)", re.DOTALL)
_AGENT_WORDS = re.compile(
    r"^(?:File has not been read yet|String to replace not found in file|Found \d+ matches of the string"
    r"|File has been (?:modified|unexpectedly modified) since|No changes to make|File does not exist"
    r"|InputValidationError|EISDIR|ENOENT|Path does not exist|apply_patch verification failed"
    r"|File content \([\d.]+\w+\) exceeds maximum|No such tool available|Unknown skill)"
)


def agent(text: str) -> Span | None:
    """The agent's own tools refusing a call."""
    wrapped = _AGENT_ERROR.search(text)
    body = (wrapped.group(1) if wrapped else text).strip()
    if not wrapped and not _AGENT_WORDS.match(body):
        return None
    first = re.split(r"\n|(?<=[a-z])\. |: ?old_string|\.\s*$", body, maxsplit=1)[0]
    issue = re.search(r"(?:required parameter|unexpected parameter|parameter) `(\w+)`[^\n]*", body)
    message = f"{first.split(' failed due')[0]} {issue.group()}" if issue else first
    return Span("agent", "refused", message, "", message)


_TSC = re.compile(r"^(.+?)(?:\(\d+,\d+\)|:\d+:\d+)(?: -|:) error (TS\d+): (.+)$", re.MULTILINE)


def tsc(text: str) -> Span | None:
    found = _TSC.search(text)
    if not found:
        return None
    return Span("tsc", found.group(2), found.group(3), base_name(found.group(1)), found.group())


_GIT = re.compile(r"^(fatal|error): (.+)$", re.MULTILINE)
_GIT_REJECTED = re.compile(r"^ ?! \[(?:remote )?rejected\].*\((.+)\)$", re.MULTILINE)
_GIT_CONFLICT = re.compile(r"^CONFLICT \(([^)]+)\): (.+)$", re.MULTILINE)
_GIT_WORDS = re.compile(
    r"^hint: |\b(?:git|refs?|worktree|branch(?:es)?|repository|pathspec|commits?|merge|rebase|remote|stash|index)\b"
)


def git(text: str) -> Span | None:
    if rejected := _GIT_REJECTED.search(text):
        return Span("git", "rejected", rejected.group(1), "", rejected.group().strip())
    if conflict := _GIT_CONFLICT.search(text):
        return Span("git", "conflict", f"{conflict.group(1)}: {conflict.group(2)}", "", conflict.group())
    lines = list(_GIT.finditer(text))
    chosen = next((found for found in lines if found.group(1) == "fatal"), lines[0] if lines else None)
    if chosen is None or not (_GIT_WORDS.search(chosen.group(2)) or re.search(r"^hint: ", text, re.MULTILINE)):
        return None
    message = chosen.group(2).split("... ")[0]  # what follows is a commit's subject
    return Span("git", chosen.group(1), message, "", chosen.group(1) + ": " + message)


_NODE = re.compile(r"^(?:Uncaught )?\[?((?:[A-Z]\w*)?Error(?: \[[A-Z_]+\])?): (.+?)\]?$", re.MULTILINE)
_NODE_FRAME = re.compile(r"^\s+at (?:(?:async )?(\S+) \()?(?:file://)?([^\s():]+):\d+:\d+\)?$", re.MULTILINE)
_NPM_CODE = re.compile(r"^npm (?:ERR!|error) code (\w+)$", re.MULTILINE)
_NPM_LINE = re.compile(r"^npm (?:ERR!|error) (?!code |path |A complete log|\s*$)(.+)$", re.MULTILINE)
_PNPM = re.compile(r"^\s?\u2009?(ERR_PNPM_\w+)\u2009?\s+(.+)$", re.MULTILINE)


def node(text: str) -> Span | None:
    if pnpm := _PNPM.search(text):
        return Span("npm", pnpm.group(1), pnpm.group(2), "", pnpm.group().strip())
    npm_line = _NPM_LINE.search(text)
    if npm_line:
        code = _NPM_CODE.search(text)
        return Span("npm", code.group(1) if code else "error", npm_line.group(1), "", npm_line.group())
    found = _NODE.search(text)
    if not found:
        return None
    frames = [frame for frame in _NODE_FRAME.finditer(text) if not _LIBRARY.search(frame.group(2))]
    place = f"{base_name(frames[0].group(2))} {frames[0].group(1) or ''}".strip() if frames else ""
    return Span("node", found.group(1), found.group(2), place, found.group())


_SHELL_RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.MULTILINE))
    for name, pattern in (
        ("command not found", r"^(?:.*?: )?(?:\d+: )?([^\s:]+): (?:command )?not found$"),
        ("command not found", r"^.*?: command not found: (\S+)$"),
        ("command not found", r"^'?([^'\s]+)'? is not recognized as (?:an internal|the name)"),
        ("no such file or directory", r"^(?:.*?: )?no such file or directory: (\S+)$"),
        (
            "no such file or directory",
            r"^(\S+: (?:[^:\n]+: )*[^:\n]+): No such file or directory(?: \(os error 2\))?\.?$",
        ),
        ("permission denied", r"^(?:.*?: )?([^:\n]+): [Pp]ermission denied$"),
        ("permission denied", r"^.*?: permission denied: (\S+)$"),
        ("operation not permitted", r"^(?:.*?: )?([^:\n]+): Operation not permitted$"),
        ("is a directory", r"^(?:.*?: )?([^:\n]+): [Ii]s a directory$"),
        ("not a directory", r"^(?:.*?: )?([^:\n]+): [Nn]ot a directory$"),
        ("file exists", r"^(?:.*?: )?([^:\n]+): File exists$"),
        ("syntax error", r"^.*(?:bash|sh|zsh|eval).*: ((?:syntax|parse) error near .*)$"),
        ("invalid option", r"^(\S+: (?:invalid|unrecognized|illegal|unknown) (?:option|argument|flag).*)$"),
        ("no rule to make target", r"^make: \*\*\* No rule to make target ['`]([^']+)'.*$"),
        ("timed out", r"^Command timed out after ([\dhms. ]+).*$"),
    )
)
_SHELL_PREFIX = re.compile(r"^(?:(?:-?(?:ba|z|da)?sh|/\S*sh|\(eval\)|eval)(?::| ) ?(?:line )?(?:\d+: ?)?)+")


def shell(text: str) -> Span | None:
    last: tuple[int, Span] | None = None
    for name, pattern in _SHELL_RULES:
        for found in pattern.finditer(text):
            if last is None or found.start() > last[0]:
                subject = _SHELL_PREFIX.sub("", found.group(1).strip())
                last = found.start(), Span("shell", name, subject, "", found.group().strip())
    return last[1] if last else None


_WORRYING = re.compile(
    r"\b(?:error|fatal|fail(?:ed|ure|s)?|exception|cannot|can't|could not|couldn't|unable to|denied|refused|"
    r"not found|no such|missing|invalid|unexpected|unrecognized|unknown|timed? ?out|panic(?:ked)?|aborted|"
    r"not defined|not supported|undefined|does not exist|conflict|issues? found)\b",
    re.IGNORECASE,
)
_REASSURING = re.compile(
    r"\b(?:no|0|zero) (?:errors?|failures?|failed|problems|issues)\b|\bwithout errors?\b|^\s*npm warn"
    # What every failing script ends with says nothing about this one.
    r"|\bELIFECYCLE\b|\bcommand failed with exit code\b|\bhusky - |\bscript failed \(code \d+\)",
    re.IGNORECASE,
)
_TYPED = re.compile(
    r"^\W{0,3}(?:\w+[\w.:/-]*: )?\[?([A-Z]\w*(?:Error|Exception|Failure)|[Ee]rror|ERROR|FATAL|panic)\b[\]:!]*\s*(.*)$"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_SHORT_OUTPUT = 3


def generic(text: str) -> Span | None:
    """The first line that speaks of failure, or the last of a short output; else nothing to go by."""
    lines = [line.strip() for line in text.splitlines() if _WORD.search(line) and "│" not in line]
    worrying = [line for line in lines if _WORRYING.search(line) and not _REASSURING.search(line)]
    chosen = next((line for line in worrying if len(_WORD.findall(line)) > 1), None)
    if chosen is None and len(lines) <= _SHORT_OUTPUT:
        chosen = next((line for line in reversed(lines) if len(_WORD.findall(line)) > 1), None)
    if chosen is None:
        return None
    chosen = chosen[:400]
    typed = _TYPED.match(chosen)
    if typed and typed.group(2):
        name = typed.group(1)
        return Span("generic", name.lower() if name.isupper() else name, typed.group(2), "", chosen)
    return Span("generic", "error", chosen, "", chosen)


FAMILIES: tuple[Callable[[str], Span | None], ...] = (pytest, python, agent, tsc, git, node, shell, generic)
