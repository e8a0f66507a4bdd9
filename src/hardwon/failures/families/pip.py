"""Installers of Python packages: pip, uv, poetry, conda."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first

_RULES: tuple[Rule, ...] = (
    ("externally managed", "externally-managed", r"^error: (?P<message>externally-managed-environment)"),
    ("no matching distribution", "satisfies the requirement",
     r"^ERROR: Could not find a version that satisfies the requirement (?P<message>[\w.\[\]-]+)"),
    ("no matching distribution", "No matching distribution",
     r"^ERROR: No matching distribution found for (?P<message>[\w.\[\]-]+)"),
    ("conflict", "conflicting dependencies", r"^ERROR: (?P<message>Cannot install .+?) because these package versions"),
    ("conflict", "is incompatible", r"^ERROR: pip's dependency resolver .*\n(?P<message>.+)$"),
    ("build", "╰─>", r"╰─> \[\d+ lines? of output\]\n(?P<output>(?:.*\n){0,400}?)\s*\[end of output\]"),
    ("build", "Failed building wheel", r"^[ \t]*ERROR: (?P<message>Failed building wheel for \S+)"),
    ("build", "ailed to build", r"^[ \t]*(?:× |error: |ERROR: )?(?P<message>Failed to build:? .+)$"),
    ("pip", "ERROR: ",
     (r"^ERROR: (?P<message>(?:Could not open requirements|Could not install|Invalid requirement|Package |"
     r"Cannot uninstall|File \"(?:setup|pyproject)|Exception:|.*does not appear to be a Python project|"
     r"Directory ).*)$")),
    ("unsatisfiable", "No solution found",
     r"^.*No solution found when resolving .*\n\s*╰─▶ (?P<message>(?:.+\n){0,40}.*)"),
    ("unsatisfiable", "version solving failed",
     r"^[ \t]*(?P<message>(?:Because|So,|And because) .*?(?:\n.+){0,20}?version solving failed)"),
    ("uv", "error: Failed to spawn", r"^error: (?P<message>Failed to spawn: `[^`]+`)"),
    ("uv", "error: ",
     (r"^error: (?P<message>(?:No `pyproject|No virtual environment|The lockfile at|Failed to (?:download|parse|"
     r"fetch|prepare|install|inspect|resolve|initialize)|No interpreter found|Could not find root package|"
     r"Distribution not found|Group |Extra |Project |The requested interpreter|Dependency|Broken virtual).*)$")),
    ("poetry", "poetry.lock", r"^(?:Error: )?(?P<message>pyproject\.toml changed significantly.*?)(?:\.|$)"),
    ("poetry", "oetry could not find", r"(?P<message>Poetry could not find a pyproject\.toml file)"),
    ("command not found", "ommand not found: ", r"^Command not found: (?P<message>\S+)$"),
    ("poetry", 'The command "', r"^(?P<message>The command \"[^\"]+\" does not exist)"),
    ("conda", "PackagesNotFound", r"PackagesNotFoundError: .*\n\s*\n\s+- (?P<message>\S+)"),
)  # fmt: skip
_INNER = re.compile(r"^[ \t]*(?:\S+: )?(?:\w*[Ee]rror|ERROR)\b:? ?(.+)$", re.MULTILINE)
_REQUIREMENT = re.compile(r"(?<![\w'])([A-Za-z][\w.-]*(?:\[\w+\])?)(?:(?:[<>=!~]=|[<>]|===)[\w.*+]+,?)+")
_RANGE = re.compile(r" \([\^~<>=*\d].*?\)")
_PACKAGE = re.compile(r"(?<=Because )([\w.-]+)(?= (?:was not|depends|is not))|(?<=depends on )([\w.-]+)(?![\w.-])")
_STEPS = re.compile(r"\s*(?:╰─▶|├─▶|\n)\s*")


def find(text: str) -> Span | None:
    found = first(text, _RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    message = parts.get("message")
    if message is None:
        output = parts["output"]
        inner = _INNER.search(output)
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        message = inner.group().strip() if inner else lines[-1] if lines else ""
        package = re.search(r"^[ \t]*(?:Collecting|× Failed to build) `?([\w.-]+)", text, re.MULTILINE)
        message = re.sub(r"^\S+: (?=\w*[Ee]rror)", "", message)
        message = f"{package.group(1)}: {message}" if package else message
    message = _STEPS.sub(" ", message).split(", we can conclude")[0].split("; run ")[0].strip()
    if name in ("unsatisfiable", "conflict"):
        message = _REQUIREMENT.sub(r"'\1'", _RANGE.sub("", message))
        message = _PACKAGE.sub(lambda package: f"'{package.group()}'", message)
    return Span("pip", name, message, "", match.group().strip())
