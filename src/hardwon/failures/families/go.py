"""Go: the compiler, vet and golangci-lint, failed tests, panics, and what the go command says."""

from __future__ import annotations

import re

from hardwon.failures.families.span import LIBRARY, Span
from hardwon.text.normalise import tail

_COMPILE = re.compile(r"^(?:vet: )?(\S+?\.go):\d+:\d+: (.+)$", re.MULTILINE)
_LINTER = re.compile(r"^(.+) \(([a-z]\w+)\)$")
_FAIL = re.compile(r"^([ \t]*)--- FAIL: (\S+)(?: \([\d.]+s\))?$", re.MULTILINE)
_SAYS = re.compile(r"^[ \t]+(?:\S+: )?(\S+?\.go):\d+: ?(.*)$", re.MULTILINE)
_WORRYING = re.compile(
    r"(?i)\b(?:want|expect\w*|got|errors?|fail\w*|should|unexpected|not|missing|invalid|mismatch|Error Trace)\b|"
    r"[!=]=| = "
)
_TESTIFY = re.compile(r"^[ \t]+Error:\s+(\S.*)$", re.MULTILINE)
_PANIC = re.compile(r"^[ \t]*(panic|fatal error): (.+?)(?: \[recovered\].*)?$", re.MULTILINE)
_FRAME = re.compile(r"^(\S+)\(.*\)\n\t(\S+?\.go):\d+", re.MULTILINE)
_COMMAND = re.compile(
    r"^(?:go: |go (?:build|vet|test|run|mod|get|install|generate|list): )(?!downloading|finding|extracting|added|"
    r"upgraded|warning)(.+)$",
    re.MULTILINE,
)
_REASON = re.compile(r"^\t\S+: (.+)$", re.MULTILINE)
_PACKAGE = re.compile(
    r"^(?:package (\S+) is not in (?:std|GOROOT)|no (?:required module provides|Go files in).*)", re.MULTILINE
)
_BUILD = re.compile(r"^FAIL\t(\S+)(?: \[(.+)\]|\t[\d.]+s)$", re.MULTILINE)
_MISSING = (
    "no required module provides package",
    "cannot find module providing",
    "missing go.sum entry",
    "cannot find package",
)


def find(text: str) -> Span | None:
    compiled = _COMPILE.search(text)
    if compiled and (not re.match(r"\s", compiled.group(1)) and "/go/src/" not in compiled.group(1)):
        return _compiled(compiled)
    if "goroutine " in text and (panic := _PANIC.search(text)):
        return _panicked(text, panic)
    if failed := _deepest(text):
        return _failed(text, failed)
    if command := _COMMAND.search(text):
        return _command(text, command)
    if package := _PACKAGE.search(text):
        return Span("go", "go", package.group(), "", package.group())
    if build := _BUILD.search(text):
        return Span("go", build.group(2) or "FAIL", "", build.group(1), build.group())
    return None


def _command(text: str, found: re.Match[str]) -> Span:
    message = re.split(r"; see |, but found |: git ls-remote ", found.group(1))[0]
    if message.endswith((" imports", " tested by")) and (reason := _REASON.search(text, found.end())):
        message = re.split(r": git ls-remote ", reason.group(1))[0]
    return Span("go", "go", message, "", found.group())


def _compiled(found: re.Match[str]) -> Span:
    message = found.group(2).strip()
    linter = _LINTER.match(message)
    error_type, message = (linter.group(2), linter.group(1)) if linter else ("error", message)
    message = re.sub(r'^"([\w.-]+/[\w./-]+)"(?= imported)', r"<\1>", message)
    anywhere = any(words in message for words in _MISSING)
    message = re.split(r"; to add|: git ls-remote ", message)[0]
    return Span("go", error_type, message, "" if anywhere else tail(found.group(1)), found.group())


def _deepest(text: str) -> re.Match[str] | None:
    """The first failed test, or the first of its parts that failed."""
    chosen: re.Match[str] | None = None
    for found in _FAIL.finditer(text):
        if chosen is None or found.group(2).startswith(chosen.group(2) + "/"):
            chosen = found
    return chosen


def _failed(text: str, failed: re.Match[str]) -> Span:
    name = failed.group(2)
    following = re.search(r"^(?:[ \t]*--- |FAIL|=== )", text[failed.end() + 1 :], re.MULTILINE)
    end = failed.end() + 1 + following.start() if following else len(text)
    says = _complaint(text, failed.end(), end)
    if not says:  # in verbose mode a test speaks before it is said to have failed
        begin = text.rfind(f"=== RUN   {name}\n", 0, failed.start())
        says = _complaint(text, begin, failed.start()) if begin >= 0 else None
        end = failed.start()
    message = says.group(2).strip() if says else ""
    if says and (not message or message.startswith("Error Trace")):
        testify = _TESTIFY.search(text, says.end(), end)
        message = testify.group(1) if testify else message
    return Span("go", "FAIL", message, name.replace("/", " > "), f"{failed.group().strip()}\n{message}".strip())


def _complaint(text: str, start: int, end: int) -> re.Match[str] | None:
    """What a test says of its failure; what it merely logs stands before."""
    said = list(_SAYS.finditer(text, start, end))
    return next(
        (one for one in said if not one.group(2).strip() or _WORRYING.search(one.group(2))), said[-1] if said else None
    )


def _panicked(text: str, panic: re.Match[str]) -> Span:
    frames = [
        frame
        for frame in _FRAME.finditer(text, panic.end())
        if not re.search(LIBRARY, frame.group(2)) and not frame.group(1).startswith(("panic", "runtime.", "testing."))
    ]
    place = (
        f"{tail(frames[0].group(2))} {re.sub(r'[(*)]', '', frames[0].group(1).rpartition('/')[2])}" if frames else ""
    )
    return Span("go", panic.group(1), panic.group(2), place, panic.group().strip())
