"""Rust: the compiler's first error, a panic, and what cargo and rustup say."""

from __future__ import annotations

import re

from hardwon.failures.families.span import LIBRARY, Span
from hardwon.text.normalise import tail

_ERROR = re.compile(r"^[ \t]*error(?:\[(E\d+)\])?: (.+)\n(?:.*\n){0,3}?\s*--> (\S+?):\d+:\d+", re.MULTILINE)
_PANIC = re.compile(
    r"^[ \t]*thread '([^'\n]+)'(?: \(\d+\))? panicked at (?:'(.*?)', (\S+?):\d+:\d+|(\S+?):\d+:\d+:\n(.+))",
    re.MULTILINE,
)
_LINK = re.compile(
    r"(?:rust-lld|ld|lld): (?:error: )?(.*(?:not found|cannot find|undefined|unable to find).*)$", re.MULTILINE
)
_CARGO = re.compile(
    r"^error: (?!could not compile|test failed|aborting|build failed|process didn't exit|doctest failed)(.+)$",
    re.MULTILINE,
)
_OURS = re.compile(
    r"\b(?:cargo|custom build command|Cargo\.toml|Cargo\.lock|crates?\b|crates-io|rustc|rustup|toolchain)|"
    r"^[ \t]+Compiling |\bfor `\w+",
    re.MULTILINE,
)
_FORMAT = re.compile(r"^Diff in (\S+?\.rs)(?::\d+| at line \d+):?$", re.MULTILINE)
_CAUSE = re.compile(r"^Caused by:\n\s+(?:\d+: )?(.+)$", re.MULTILINE)


def find(text: str) -> Span | None:
    if error := _ERROR.search(text):
        anywhere = error.group(1) in ("E0432", "E0433") and "unresolved import `crate" not in error.group(2)
        frame = "" if anywhere and "use of undeclared crate" in error.group(2) else tail(error.group(3))
        return Span("rust", error.group(1) or "error", error.group(2), frame, error.group())
    if panic := _PANIC.search(text):
        return _panic(panic)
    if formatted := _FORMAT.search(text):
        return Span("rust", "rustfmt", "Diff in", tail(formatted.group(1)), formatted.group())
    errors = list(_CARGO.finditer(text))
    if not errors or not _OURS.search(text):
        return None
    message = re.sub(r" in `[^`]*` or any parent directory", "", errors[0].group(1))
    message = re.sub(r"(?<=\w)-(?:x86_64|aarch64|i686|arm\w*)-[\w-]+", "", message)
    if message.startswith("linking with") and (link := _LINK.search(text)):
        return Span("rust", "linking", link.group(1), "", link.group())
    cause = _CAUSE.search(text, errors[0].end())
    if cause:
        message = f"{message}: {cause.group(1)}"
    return Span("rust", "cargo", message, "", errors[0].group())


def _panic(found: re.Match[str]) -> Span:
    thread, old, old_file, file, message = found.groups()
    place = old_file or file
    frame = "" if re.search(LIBRARY, place) else tail(place)
    name = "" if thread in ("main", "<unnamed>") or thread.startswith("tokio") else thread
    return Span("rust", "panic", old or message, f"{frame} {name}".strip(), found.group().strip())
