"""Installers and script runners of JavaScript: npm, pnpm, yarn, bun."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first

_CODE = re.compile(r"^npm (?:ERR!|error) code (\w+)$", re.MULTILINE)
_LINE = re.compile(
    r"^npm (?:ERR!|error) (?!code |path |errno |syscall |A complete log|Tracker|dest |command |signal |cwd |workspace "
    r"|Lifecycle script|\s*$)(?:[a-zE]\w+ (?=[A-Z(]))?(?:\d{3} +)?(.+)$",
    re.MULTILINE,
)
_PEER = re.compile(r"^npm (?:ERR!|error) (?:peer|peerOptional) (\S+?)@\S+ from (\S+?)@", re.MULTILINE)
_ABSENT = re.compile(r"^npm (?:ERR!|error) (?:404 )? *'?(\S+?)@\S*'? is not in", re.MULTILINE)
_IN_PATH = re.compile(r"^npm (?:ERR!|error) path .*[\\/]node_modules[\\/](\S+)$", re.MULTILINE)
_PNPM = re.compile(
    r"^[ \t]*(?:undefined)?[ \t]*\u2009?(ERR_PNPM_(?!RECURSIVE_RUN|RECURSIVE_EXEC)\w+)\u2009?\s+(.+)$", re.MULTILINE
)
_PNPM_ABSENT = re.compile(r"^(\S+) is not in the npm registry", re.MULTILINE)
_RULES: tuple[Rule, ...] = (
    ("no script", "not found", r"^error Command \"(?P<message>[^\"]+)\" not found\.?$"),
    ("no script", "script named", r"Usage Error: Couldn't find a script named \"(?P<message>[^\"]+)\""),
    ("no script", "Script not found", r"^error: Script not found \"(?P<message>[^\"]+)\""),
    ("yarn", "error Couldn't", r"^error (?P<message>Couldn't find .+?)(?:\.|$)"),
    ("yarn", "error Your lockfile", r"^error (?P<message>Your lockfile needs to be updated)"),
    ("yarn", "The engine", r"^error (?P<message>\S+: The engine \"\w+\" is incompatible with this module)"),
    ("yarn", "error An unexpected", r"^error (?P<message>An unexpected error occurred: .+)$"),
    ("yarn", "YN0", r"^➤ (?P<message>YN(?!0000|0013|0085|0019|0002|0007)\d+: [│┌└ ]*.+)$"),
    ("yarn", "Usage Error", r"^(?:Internal |Usage )Error: (?P<message>.+)$"),
    ("bun", "failed to resolve", r"^error: (?P<message>\S+) failed to resolve"),
    ("bun", "error: package", r"^error: (?P<message>package \"[^\"]+\" .+)$"),
)


def find(text: str) -> Span | None:
    if "ERR_PNPM" in text and (pnpm := _PNPM.search(text)):
        return _pnpm(text, pnpm)
    if line := _LINE.search(text):
        return _npm(text, line)
    if found := first(text, _RULES):
        return Span("npm", found[0], found[1].group("message"), "", found[1].group())
    return None


def _pnpm(text: str, pnpm: re.Match[str]) -> Span:
    code, message = pnpm.group(1), pnpm.group(2)
    if code in ("ERR_PNPM_NO_SCRIPT", "ERR_PNPM_NO_SCRIPT_OR_SERVER"):
        return Span("npm", "no script", message.rpartition(": ")[2], "", pnpm.group().strip())
    message = re.sub(r" was found in \".*\"\.?$", " was found", message)
    absent = _PNPM_ABSENT.search(text)
    return Span(
        "npm", code, f"'{absent.group(1)}' is not in the registry" if absent else message, "", pnpm.group().strip()
    )


def _npm(text: str, line: re.Match[str]) -> Span:
    code = _CODE.search(text)
    error_type = code.group(1) if code else "error"
    message = line.group(1)
    if script := re.match(r"Missing script: \"?([^\"]+)\"?$", message):
        return Span("npm", "no script", script.group(1), "", line.group())
    if error_type == "ERESOLVE" and (peer := _PEER.search(text)):
        message = f"could not resolve peer '{peer.group(1)}' from '{peer.group(2)}'"
    elif error_type == "E404" and (absent := _ABSENT.search(text)):
        message = f"'{absent.group(1)}' is not in the registry"
    elif message == "command failed" and (path := _IN_PATH.search(text)):
        message = f"command failed in {path.group(1)}"
    elif message.startswith("No workspaces found") and (flag := re.search(r"--workspace=\S+", text)):
        message = f"No workspaces found: {flag.group()}"
    return Span("npm", error_type, message.removeprefix(f"Error: {error_type}: "), "", line.group())
