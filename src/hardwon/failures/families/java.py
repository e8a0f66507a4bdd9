"""Java and Kotlin: the compiler, Maven, Gradle, failed tests and stack traces."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first
from hardwon.text.normalise import tail

_COMPILERS: tuple[Rule, ...] = (
    ("", ".java:", r"^(?P<file>\S+\.java):\d+: error: (?P<message>.+)$"),
    ("", ".java:[", r"^\[ERROR\] (?P<file>\S+\.java):\[\d+,\d+\] (?:error: )?(?P<message>.+)$"),
    ("", ".kt:", r"^e: (?:file://)?(?P<file>\S+\.kts?):\d+:\d+:? (?P<message>.+)$"),
)
_SYMBOL = re.compile(r"^(?:\[ERROR\])?[ \t]+symbol:[ \t]+(.+)$", re.MULTILINE)
_LAUNCHER: tuple[Rule, ...] = (
    ("java", "main class", r"^(?:Error: )?(Could not find or load main class \S+)"),
    ("java", "jarfile", r"^(?:Error: )?(Unable to access jarfile \S+)"),
    ("java", "JAVA_HOME", r"^(?:ERROR: |Error: )?(.*JAVA_HOME.*(?:not|invalid).*)$"),
    ("java", "release version", r"^(?:error: )?(release version \d+ not supported)"),
    ("maven", "[ERROR] Unknown", r"^\[ERROR\] (Unknown lifecycle phase \"[^\"]+\")"),
    ("maven", "[ERROR] No plugin", r"^\[ERROR\] (No plugin found for prefix '[^']+')"),
    ("maven", "no POM", r"^\[ERROR\] .*(there is no POM in this directory)"),
)
_TESTS: tuple[Rule, ...] = (
    ("", "FAILED", r"^(?P<case>\w+)(?: > .+?)* > (?P<test>\S.*?) FAILED\n\s+(?P<type>[\w.]+)(?:: (?P<message>.+))?$"),
    ("", "[ERROR] ",
     r"^\[ERROR\]\s+(?P<case>\w+)\.(?P<test>\w+):\d+(?:->\S+)? (?:(?:»|¬) (?P<type>\w+)(?: |$))?(?P<message>.*)$"),
)  # fmt: skip
_GOAL = re.compile(
    r"^\[ERROR\] Failed to execute goal (?:on project \S+|\S+?:([\w-]+):[\d.]+:([\w-]+)(?: \(.+?\))? on project"
    r" \S+): (.+)$",
    re.MULTILINE,
)
_WRONG = re.compile(r"^\* What went wrong:\n((?:.+\n){0,40}.*)", re.MULTILINE)
_THROWN = re.compile(
    r"^(?:Exception in thread \"[^\"\n]+\" |Caused by: |\[ERROR\] )?((?:[a-z]\w*\.)+[A-Z][\w$]*)(?:: (.+))?$",
    re.MULTILINE,
)
_FRAME = re.compile(r"^[ \t]+at (?:[\w.]+/)?((?:[\w$]+\.)+)([\w$<>]+)\(([\w$]+\.\w+):\d+\)", re.MULTILINE)
_LIBRARY = ("java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin", "org.junit", "org.gradle", "org.springframework",
            "org.apache", "org.hibernate", "com.fasterxml", "org.opentest4j", "org.assertj", "scala.",
            "io.netty")  # fmt: skip
_ADVICE = re.compile(r"\s*(?:-> \[Help \d+\]|See the report at:.*|> Run with .*)$")


def find(text: str) -> Span | None:
    if found := first(text, _COMPILERS):
        return _compiled(text, found[1])
    if found := first(text, _LAUNCHER):
        return Span("java", found[0], found[1].group(1), "", found[1].group())
    if found := first(text, _TESTS):
        return _tested(found[1])
    if wrong := _WRONG.search(text):
        return _went_wrong(wrong)
    if "\tat " in text or "    at " in text:
        return _thrown(text)
    if goal := _GOAL.search(text):
        message = _ADVICE.sub("", goal.group(3))
        return Span("java", f"{goal.group(1)}:{goal.group(2)}" if goal.group(1) else "maven", message, "", goal.group())
    return None


def _compiled(text: str, found: re.Match[str]) -> Span:
    message = found.group("message").strip()
    if message == "cannot find symbol" and (symbol := _SYMBOL.search(text, found.end())):
        message = f"cannot find symbol {symbol.group(1).strip()}"
    return Span("java", "error", message, tail(found.group("file")), f"{found.group()}\n{message}")


def _tested(found: re.Match[str]) -> Span:
    parts = found.groupdict()
    error_type = (parts["type"] or "failed").rpartition(".")[2]
    test = parts["test"].removesuffix("()")
    return Span("java", error_type, (parts["message"] or "").strip(), f"{parts['case']} {test}", found.group())


def _went_wrong(wrong: re.Match[str]) -> Span | None:
    lines = [line.lstrip(" >").rstrip() for line in wrong.group(1).splitlines() if line.strip(" >")]
    if not lines:
        return None
    causes = [line for line in lines if not line.startswith("Execution failed for task")]
    message = causes[0] if causes else lines[0]
    if message.endswith(":") and len(causes) > 1:
        message = f"{message} {causes[1]}"
    return Span("java", "gradle", _ADVICE.sub("", message), "", wrong.group().strip())


def _thrown(text: str) -> Span | None:
    thrown = list(_THROWN.finditer(text))
    if not thrown:
        return None
    causes = [found for found in thrown if found.group().startswith("Caused by")]
    cause = causes[-1] if causes else thrown[0]
    frames = [frame for frame in _FRAME.finditer(text, cause.end()) if not frame.group(1).startswith(_LIBRARY)]
    frames = frames or [frame for frame in _FRAME.finditer(text) if not frame.group(1).startswith(_LIBRARY)]
    place = f"{frames[0].group(3)} {frames[0].group(2)}" if frames else ""
    return Span("java", cause.group(1).rpartition(".")[2], cause.group(2) or "", place, cause.group())
