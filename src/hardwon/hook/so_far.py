"""After a compaction or a resume: what this session had found out, out of the transcript that its agent keeps.

A compaction keeps most of the decisions and nearly none of the exact commands, so they come first. Only calls are read,
never what they printed; nothing is stored. Claude Code's and Codex' files, whose hooks say where they are.
"""

from __future__ import annotations

import json
import os
import re

from hardwon.map.known import within

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Iterator

SO_FAR = "WHAT THIS SESSION HAD RUN AND CHANGED SO FAR (verify):"
SO_FAR_TOKENS = 200
_BYTES_READ = 4 * 1024 * 1024
_COMMANDS_TOLD = 5
_FILES_TOLD = 8
_MAX_COMMAND_CHARACTERS = 120
_SUSPECT = re.compile(
    r"(?i)(?:token|secret|passw|credential|api[_-]?key|authorization|bearer)|://[^/\s]*@"
    r"|(?=[\w+/-]*\d)(?=[\w+/-]*[A-Za-z])[\w+-]{24,}"
)
"""What may hold a secret is not repeated."""
_EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Update|Add) File|Move to): (.{1,300})$", re.MULTILINE)


def so_far(path: str, cwd: str) -> list[str]:
    """Lines about a session, at most `SO_FAR_TOKENS` with their heading; none where nothing can be read."""
    from hardwon.failures import tools
    from hardwon.failures.shell import commands

    ended: dict[str, bool] = {}
    edited: dict[str, None] = {}
    for kind, what, ok in _done(path):
        if kind == "edit":
            edited.pop(what, None)
            edited[what] = None
            continue
        for command in commands(what[:2000]):
            told = tools.brief(command.text, _MAX_COMMAND_CHARACTERS)
            if (
                tools.looks(command)
                or command.inline
                or tools.danger(told)
                or _SUSPECT.search(command.text)
                or "`" in told
            ):
                continue
            ended.pop(told, None)
            ended[told] = ok
    worked = [command for command, ok in ended.items() if ok][-_COMMANDS_TOLD:]
    failing = [command for command, ok in ended.items() if not ok][-2:]
    files = [name for name in (_relative(file, cwd) for file in list(edited)[-_FILES_TOLD:]) if name]
    lines = [f"ran and worked: `{command}`" for command in reversed(worked)]
    lines += [f"failed when last run: `{command}`" for command in reversed(failing)]
    if files:
        lines.append("edited: " + ", ".join(f"`{file}`" for file in reversed(files)))
    return within(SO_FAR, lines, SO_FAR_TOKENS)


def _relative(file: str, cwd: str) -> str:
    """A path below the session's folder; empty for others."""
    name = file.removeprefix(cwd.rstrip("/") + "/") if cwd else file
    plain = not os.path.isabs(name) and len(name) < 200 and "`" not in name and name.isprintable()
    return name if plain and " " not in name and not _SUSPECT.search(name) else ""


def _done(path: str) -> Iterator[tuple[str, str, bool]]:
    """(run or edit, the command or file, whether it worked) of the calls near the end of a transcript."""
    failed: set[str] = set()
    calls: list[tuple[str, str, str]] = []
    for record in _records(path):
        calls += _calls(record)
        failed |= _failed(record)
    for id, kind, what in calls:
        if kind == "run" or id not in failed:
            yield kind, what, id not in failed


def _records(path: str) -> Iterator[dict[str, object]]:
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _BYTES_READ))
            lines = file.read(_BYTES_READ).split(b"\n")
    except (OSError, ValueError):
        return
    for line in lines:
        if b"tool_" not in line and b"call" not in line:
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # the first may be cut in two
        if isinstance(record, dict):
            yield record


def _parts(record: dict[str, object]) -> list[dict[str, object]]:
    """Of a Claude Code message its blocks; of a Codex record its payload."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    payload = record.get("payload")
    found = content if isinstance(content, list) else [payload]
    return [part for part in found if isinstance(part, dict)]


def _calls(record: dict[str, object]) -> Iterator[tuple[str, str, str]]:
    for part in _parts(record):
        kind, name, id = part.get("type"), part.get("name"), str(part.get("id") or part.get("call_id") or "")
        given = part.get("input") if kind == "tool_use" else _decoded(part.get("arguments"))
        if kind in ("tool_use", "function_call") and isinstance(given, dict):
            command = given.get("command", given.get("cmd"))
            if isinstance(command, list):
                command = command[-1] if command else ""
            file = given.get("file_path")
            if name in _EDITS and isinstance(file, str):
                yield id, "edit", file
            elif isinstance(command, str) and "*** Begin Patch" in command:
                yield from ((id, "edit", file) for file in _PATCHED.findall(command))
            elif isinstance(command, str) and command and name not in _EDITS:
                yield id, "run", command
        elif kind == "custom_tool_call" and isinstance(part.get("input"), str):
            yield from ((id, "edit", file) for file in _PATCHED.findall(str(part["input"])))


def _decoded(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _failed(record: dict[str, object]) -> set[str]:
    found = set()
    for part in _parts(record):
        if part.get("type") == "tool_result" and part.get("is_error") is True:
            found.add(str(part.get("tool_use_id") or ""))
        output = part.get("output")
        if part.get("type") == "function_call_output" and isinstance(output, str) and _EXITED.search(output):
            found.add(str(part.get("call_id") or ""))
    return found


_EXITED = re.compile(r'(?:exited with code|Exit code:|"exit_code":) ?[1-9]')
