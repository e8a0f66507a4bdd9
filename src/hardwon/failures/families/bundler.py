"""Bundlers: vite and rollup, webpack, Next.js, esbuild: what could not be resolved or built."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, bare, first, module
from hardwon.text.normalise import tail

_RULES: tuple[Rule, ...] = (
    ("unresolved", "to resolve import",
     r"(?:Failed|failed) to resolve import ['\"](?P<name>[^'\"]+)['\"](?: from ['\"](?P<file>[^'\"]+)['\"])?"),
    ("unresolved", "Could not resolve",
     r"Could not resolve ['\"](?P<name>[^'\"]+)['\"](?: (?:from|in) ['\"]?(?P<file>[^'\"\n]+)['\"]?)?"),
    ("unresolved", "Module not found",
     r"Module not found: (?:Error: )?Can't resolve '(?P<name>[^']+)'(?: in '(?P<file>[^']+)')?"),
    ("build failed", "[ERROR]", r"^[ \t]*(?:✘|X) \[ERROR\] (?P<message>.+)$"),
    ("build failed", "RollupError", r"^(?:\[[\w:. -]+\] )?RollupError: (?P<message>.+)$"),
    ("build failed", "Module build failed", r"Module build failed \(from [^)\n]+\):\n(?P<message>.+)$"),
    ("build failed", "[plugin:", r"^.*\[plugin:(?P<message>.+)$"),
    ("build failed", "Failed to compile",
     r"^Failed to compile\.?\n\s*\n(?P<file>\.{0,2}/?\S+?)(?::\d+:\d+)?\n(?P<message>.+)$"),
)  # fmt: skip
_PLACE = re.compile(r"^[ \t]+(\S+\.\w+):\d+:\d+:?$", re.MULTILINE)


def find(text: str) -> Span | None:
    found = first(text, _RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    missing = parts.get("name")
    file = parts.get("file") or ""
    if not file and (place := _PLACE.search(text, match.end())):
        file = place.group(1)
    message = module(missing) if missing else parts["message"].strip()
    frame = "" if missing and bare(missing) else tail(file) if re.search(r"\.\w+$", file) else ""
    return Span("bundler", name, message, frame, match.group().strip())
