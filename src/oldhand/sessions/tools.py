"""What a tool call does, whatever its agent calls it: run, edit, read, web; its command or target."""

from __future__ import annotations

import re
import shlex
from typing import Literal

from oldhand.model.session import Origin, Record, ToolCall
from oldhand.sessions.loose import json_object

Action = Literal["run", "edit", "read", "web", "other"]

_ACTIONS: dict[str, Action] = {}
for _action, _names in {
    "run": "bash shell shell_command exec_command local_shell execute_command terminal run_terminal_cmd "
    "run_shell_command execute_bash powershell process",
    "edit": "edit multiedit write notebookedit apply_patch str_replace str_replace_editor "
    "str_replace_based_edit_tool write_file create_file edit_file replace patch write_to_file",
    "read": "read read_file view grep glob ls list_dir list_files search_files notebookread",
    "web": "webfetch websearch web_search web_fetch web_extract fetch browser_navigate",
}.items():
    for _name in _names.split():
        _ACTIONS[_name] = _action  # type: ignore[assignment]

_COMMAND_KEYS = ("command", "cmd", "script")
_TARGET_KEYS = ("file_path", "path", "filePath", "notebook_path", "filename", "url", "pattern")
_EDIT_TEXT_KEYS = ("new_string", "content", "new_str", "file_text", "new_source")
_PATCH_FILE = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_PATCH_LINE = re.compile(r"^\+(?!\+\+)\s*(\S.*)$", re.MULTILINE)

LONGEST_COMMAND = 2_000
LONGEST_DETAIL = 120


def tool_call(call_id: str, name: str, arguments: object) -> ToolCall:
    """Normalise a call. `arguments` is a dict, a JSON string of one, or free text (a patch)."""
    args = json_object(arguments) or {}
    action = _ACTIONS.get(name.rsplit(".", 1)[-1].lower(), "other")
    command = _command(args)
    if action == "other" and command:
        action = "run"
    if action == "edit" or (not args and isinstance(arguments, str) and "*** Begin Patch" in arguments):
        return _edit_call(call_id, name, args, arguments)
    return ToolCall(
        id=call_id,
        name=name,
        action=action,
        command=command[:LONGEST_COMMAND] if action == "run" else "",
        target=_first_text(args, _TARGET_KEYS)[:LONGEST_COMMAND],
    )


def result_origin(call: ToolCall | None) -> Origin:
    if call is not None and call.action == "web":
        return "web"
    if call is not None and call.action == "read":
        return "file"
    return "tool"


def working_directory(arguments: object) -> str:
    """The folder a shell call names, for agents whose transcripts do not say where they ran."""
    return _first_text(json_object(arguments) or {}, ("workdir", "cwd", "working_directory"))


def _edit_call(call_id: str, name: str, args: Record, arguments: object) -> ToolCall:
    target = _first_text(args, _TARGET_KEYS)
    patch = arguments if isinstance(arguments, str) and not args else _first_text(args, ("patch", "input"))
    if isinstance(patch, str) and patch:
        files = _PATCH_FILE.findall(patch)
        target = target or (files[0] if files else "")
        added = _PATCH_LINE.search(patch)
        head = added.group(1) if added else ""
    else:
        head = _first_line(_edit_text(args))
    return ToolCall(
        id=call_id,
        name=name,
        action="edit",
        target=target[:LONGEST_COMMAND],
        detail=head[:LONGEST_DETAIL],
    )


def _edit_text(args: Record) -> str:
    edits = args.get("edits")
    if isinstance(edits, list) and edits and isinstance(edits[0], dict):
        args = edits[0]
    new = _first_text(args, _EDIT_TEXT_KEYS)
    old_lines = set(_first_text(args, ("old_string", "old_str")).splitlines())
    changed = [line for line in new.splitlines() if line not in old_lines]
    return "\n".join(changed) if changed else new


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _command(args: Record) -> str:
    for key in _COMMAND_KEYS:
        value = args.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            if len(value) == 3 and value[1] in ("-c", "-lc"):
                return str(value[2])
            return shlex.join(value)
    return ""


def _first_text(args: Record, keys: tuple[str, ...]) -> str:
    for key in keys:
        value = args.get(key)
        if isinstance(value, str) and value:
            return value
    return ""
