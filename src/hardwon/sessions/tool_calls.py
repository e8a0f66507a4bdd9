"""What a tool call does, whatever its agent calls it: run, edit, read, web; its command or target."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Literal

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from hardwon.model.session import Message, Origin, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import json_object
from hardwon.text.normalise import lazy_pattern

Action = Literal["run", "edit", "read", "web", "other"]

_ACTIONS: dict[str, Action] = {}
for _kind, _names in {
    "run": "bash shell shell_command exec_command local_shell execute_command terminal run_terminal_cmd "
    "run_shell_command execute_bash powershell process run_ipython execute_code exec execute "
    "run_terminal_command run_terminal_command_v2 run_in_terminal copilot_runinterminal",
    "edit": "edit multiedit write notebookedit apply_patch str_replace str_replace_editor "
    "str_replace_based_edit_tool write_file create_file edit_file replace patch write_to_file create "
    "insert file_editor editor replace_in_file apply_diff insert_content search_and_replace "
    "search_replace delete_file edit_file_v2 smart_edit applypatch replace_string_in_file "
    "multi_replace_string_in_file insert_edit_into_file edit_notebook_file copilot_replacestring "
    "copilot_multireplacestring copilot_createfile copilot_applypatch copilot_insertedit fs_write streaming_edit_file "
    "save_file delete_path edit_existing_file single_find_and_replace create_new_file",
    "read": "read read_file view grep glob ls list_dir list_files search_files notebookread read_many_files "
    "search_file_content grep_search list_directory rg open goto scroll_up scroll_down find_file search_file "
    "search_dir read_files search_codebase list_code_definition_names find read_file_v2 ripgrep "
    "file_search glob_file_search codebase_search semantic_search semantic_search_full "
    "ripgrep_raw_search list_dir_v2 copilot_readfile "
    "copilot_findfiles copilot_findtextinfiles copilot_listdirectory copilot_searchcodebase fs_read find_path finder",
    "web": "webfetch websearch web_search web_fetch web_extract fetch browser_navigate google_web_search "
    "browse browse_interactive fetch_web_content browser_action fetch_webpage copilot_fetchwebpage "
    "vscode_fetchwebpage_internal read_web_page fetchurl",
}.items():
    for _name in _names.split():
        _ACTIONS[_name] = _kind  # type: ignore[assignment]

_COMMAND_KEYS = ("command", "cmd", "script", "code")
_SHELLS = frozenset("bash sh zsh dash fish ksh powershell pwsh cmd".split())
_TARGET_KEYS = (
    "file_path",
    "path",
    "filePath",
    "notebook_path",
    "filename",
    "absolute_path",
    "target_file",
    "targetFile",
    "filepath",
    "relativeWorkspacePath",
    "dir_path",
    "dirPath",
    "targetDirectory",
    "url",
    "pattern",
    "query",
)
_EDIT_TEXT_KEYS = tuple(
    "new_string newString newText new_text content new_str file_text new_source after replace text".split()
)
_OLD_TEXT_KEYS = ("old_string", "oldString", "oldText", "old_text", "old_str", "before")
_PATCH_FILE = re.compile(r"^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+)$", re.MULTILINE)
_PATCH_TOOK_AWAY = re.compile(
    r"^\*\*\* (?:Delete File: (.+)|Update File: (.+)\n\*\*\* Move to: .+)$|^\*\*\* Add File: (.+)$", re.MULTILINE
)
_DELETES = frozenset(("delete_file", "delete_path"))
_PATCH_OF_A_SHELL = re.compile(
    r"\s*+(?:cd\s++(?P<folder>\"[^\"]*\"|'[^']*'|[^\s;&|]++)\s*+(?:&&|;)\s*+)?apply_?patch\s*+"
    r"(?:<<-?[ \t]*+['\"]?(?P<end>\w++)['\"]?[ \t]*+\n|(?:<<<\s*+)?\$?['\"])\s*+"
    r"(?P<patch>\*\*\* Begin Patch\b.*?\*\*\* End Patch)\s*+(?:(?P=end)|['\"])?\s*+",
    re.DOTALL,
)
"""A line that applies a patch and does nothing else."""
_PATCH_LINE = re.compile(r"^\+(?!\+\+)\s*(\S.*)$", re.MULTILINE)

MAX_COMMAND_CHARACTERS = 2_000
MAX_DETAIL_CHARACTERS = 120
MAX_FILES = 50
"""Of one patch."""


def tool_call(call_id: str, name: str, arguments: object) -> ToolCall:
    """Normalise a call. `arguments` is a dict, a JSON string of one, or free text (a patch)."""
    args = json_object(arguments) or {}
    action = _action(name)
    command = _command(args)
    if "*** Begin Patch" in command and (patched := _PATCH_OF_A_SHELL.fullmatch(command)):
        folder = posixpath.join(working_directory(args), (patched["folder"] or "").strip("'\""))
        patch = patched["patch"].replace("'\"'\"'", "'")  # as a shell is given a quote between quotes
        return replace(_edit_call(call_id, name, {}, patch), folder=folder)
    if action == "edit" and command == "view":
        action = "read"  # an editor that is only looking
    if action == "other" and command:
        action = "run"
    if action == "edit" or (not args and isinstance(arguments, str) and "*** Begin Patch" in arguments):
        return _edit_call(call_id, name, args, arguments)
    return ToolCall(
        id=call_id,
        name=name,
        action=action,
        command=command[:MAX_COMMAND_CHARACTERS] if action == "run" else "",
        target=_first_text(args, _TARGET_KEYS)[:MAX_COMMAND_CHARACTERS],
        folder=working_directory(args) if action == "run" else "",
    )


def in_their_folders(session: Session) -> Session:
    """Commands and patches with the folder that they ran in, where the session was started in another."""
    if not any(call.folder for message in session.messages for call in message.calls):
        return session
    return replace(
        session,
        messages=tuple(
            replace(message, calls=tuple(_from(call, session.cwd) for call in message.calls))
            if any(call.folder for call in message.calls)
            else message
            for message in session.messages
        ),
    )


_GOES_SOMEWHERE = re.compile(r"\s*cd\s+[\"']?(?:[/~]|[A-Za-z]:)")
_WORKTREE = re.compile(r"/(?:\.worktrees|\.claude/worktrees)/[^/]+")
_PLAIN_FOLDER = re.compile(r"[\w.+@/~][\w.+@/~-]*")


def _from(call: ToolCall, start: str) -> ToolCall:
    way = "" if _GOES_SOMEWHERE.match(call.command) else _way(start, call.folder)
    if call.action == "edit":
        files, gone = (tuple(posixpath.join(way, file) for file in some) for some in (call.files, call.gone))
        return replace(call, target=files[0], others=files[1:], gone=gone, folder="")
    command = f"in {way}: {call.command}"[:MAX_COMMAND_CHARACTERS] if way else call.command
    return replace(call, command=command, folder="")


@lru_cache(maxsize=256)
def _way(start: str, folder: str) -> str:
    """From one folder to another; empty where it is the same, a worktree of it, or cannot be written plainly."""
    here, there = (_WORKTREE.sub("", path.replace("\\", "/")).rstrip("/") for path in (start, folder))
    if not there.startswith(("/", "~")) and there[1:2] != ":":
        there = posixpath.normpath(posixpath.join(here, there))
    if here.casefold() == there.casefold() or not here:
        return ""
    way = there[len(here) + 1 :] if there.casefold().startswith(f"{here}/".casefold()) else there
    return way if _PLAIN_FOLDER.fullmatch(way) else ""


def runs_commands(name: str, arguments: bytes | Raw) -> bool:
    """Whether a call is one of a shell, told without decoding its arguments where the name is known."""
    action = _action(name)
    return action == "run" or (action == "other" and bool(_command(_encoded_object(arguments) or {})))


def _encoded_object(arguments: bytes | Raw) -> Record | None:
    """The object that JSON holds, as itself or as a string of JSON."""
    try:
        return json_object(msgspec.json.decode(arguments))
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


@lru_cache(maxsize=1024)
def _action(name: str) -> Action:
    return _ACTIONS.get(name.rsplit(".", 1)[-1].lower(), "other")


def result_origin(call: ToolCall | None) -> Origin:
    """Where the words of a call's result come from: the web, a file, or else the tool itself."""
    if call is not None and call.action == "web":
        return "web"
    if call is not None and call.action == "read":
        return "file"
    return "tool"


def working_directory(arguments: object) -> str:
    """The folder a shell call names, for agents whose transcripts do not say where they ran."""
    return _first_text(json_object(arguments) or {}, ("workdir", "cwd", "working_directory", "dir_path", "directory"))


def _edit_call(call_id: str, name: str, args: Record, arguments: object) -> ToolCall:
    target = _first_text(args, _TARGET_KEYS)
    gone = {target} if name.lower() in _DELETES else set()
    files: list[str] = []
    patch = (
        arguments
        if isinstance(arguments, str) and not args
        else _first_text(args, ("patch", "patchText", "diff", "input"))
    )
    if isinstance(patch, str) and patch:
        files = _PATCH_FILE.findall(patch)
        for deleted, moved, added in _PATCH_TOOK_AWAY.findall(patch):
            gone = (gone | {deleted or moved}) - {added}
        target = target or (files[0] if files else "")
        added = _PATCH_LINE.search(patch)
        head = added.group(1) if added else ""
    else:
        head = _first_line(_edit_text(args))
    return ToolCall(
        id=call_id,
        name=name,
        action="edit",
        target=target[:MAX_COMMAND_CHARACTERS],
        detail=head[:MAX_DETAIL_CHARACTERS],
        others=tuple(dict.fromkeys(file[:MAX_COMMAND_CHARACTERS] for file in files[:MAX_FILES] if file != target)),
        gone=tuple(file for file in dict.fromkeys(files or [target]) if file in gone),
        change=(patch or _change(args)) if _changes_are_wanted() else "",
    )


def _change(args: Record) -> str:
    edits = args.get("edits")
    several = [one for one in edits if isinstance(one, dict)] if isinstance(edits, list) else []
    sides = ((_first_text(one, _OLD_TEXT_KEYS), _first_text(one, _EDIT_TEXT_KEYS)) for one in several or [args])
    return "\n".join(filter(None, (_as_diff(old, new) for old, new in sides)))


def _edit_text(args: Record) -> str:
    edits = args.get("edits")
    if isinstance(edits, list) and edits and isinstance(edits[0], dict):
        args = edits[0]
    new = _first_text(args, _EDIT_TEXT_KEYS)
    old_lines = set(_first_text(args, _OLD_TEXT_KEYS).splitlines())
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
            return value[-1] if _hands_to_a_shell(value) else shlex.join(value)
    return ""


def _hands_to_a_shell(words: list[str]) -> bool:
    """`bash -lc LINE`, `powershell.exe -NoProfile -Command LINE`: the line is what runs."""
    shell = re.split(r"[\\/]", words[0])[-1].lower().removesuffix(".exe") if len(words) > 2 else ""
    return shell in _SHELLS and words[-2].lower() in ("-c", "-lc", "-command", "/c", "/s/c")


def _first_text(args: Record, keys: tuple[str, ...]) -> str:
    for key in keys:
        value = args.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


# A test run can fail inside a call that exits 0: the report itself is the evidence.

_TAIL_CHARACTERS_SEARCHED = 6_000
_WORDS = ("fail", "FAIL", "errors=", "Failures:", " errors in ", " error in ")

_ENCODED_WORDS = tuple(word.encode() for word in _WORDS)

# Each is a runner's own closing line, with a count above zero.
_FAILED = lazy_pattern(
    r"^=+ .*\b[1-9]\d* (?:failed|errors?)\b.* in [\d.]+s.* =+$"  # pytest
    r"|^[1-9]\d* failed(?:, \d+ \w+)* in [\d.]+s"  # pytest -q
    r"|^FAILED \((?:failures|errors)=[1-9]"  # unittest
    r"|^test result: FAILED\. "  # cargo test
    r"|^\s*Tests?:? +(?:.*\| )?[1-9]\d* failed\b"  # jest, vitest
    r"|^\s+[1-9]\d* failing$"  # mocha
    r"|^FAIL\t\S+\t[\d.]+s$|^--- FAIL: \w+"  # go test
    r"|^\d+ examples?, [1-9]\d* failures?"  # RSpec
    r"|^Tests: \d+, Assertions: \d+, (?:Errors|Failures): [1-9]"  # PHPUnit
    r"|^Tests run: \d+, Failures: (?:[1-9]\d*|0, Errors: [1-9])"  # Surefire
    r"|^# fail [1-9]",  # node --test
    re.MULTILINE,
)


def judge(session: Session) -> Session:
    """The session with every call whose output is a failed test report counted as an error."""
    calls = {call.id: call for message in session.messages for call in message.calls}
    changed = False
    messages: list[Message] = []
    for message in session.messages:
        results = tuple(_judged(result, calls.get(result.call_id)) for result in message.results)
        if results != message.results:
            changed = True
            message = replace(message, results=results)  # noqa: PLW2901
        messages.append(message)
    return replace(session, messages=tuple(messages)) if changed else session


def worth_a_look(raw: bytes) -> bool:
    """Whether an output that is still encoded can hold a failed report at all."""
    for word in _ENCODED_WORDS:  # noqa: SIM110 - any() takes twice as long, for every output there is
        if word in raw:
            return True
    return False


def failed(output: str) -> bool:
    """Whether an output ends in a test runner's report with failures."""
    tail = output[-_TAIL_CHARACTERS_SEARCHED:]
    # Most outputs hold none of these three, and so none of the words.
    if "ail" not in tail and "FAIL" not in tail and "error" not in tail:
        return False
    return any(word in tail for word in _WORDS) and _FAILED.search(tail) is not None


def _judged(result: ToolResult, call: ToolCall | None) -> ToolResult:
    if result.outcome == "error" or call is None or call.action != "run" or not failed(result.text):
        return result
    return replace(result, outcome="error", evidence="test-report")


# What edits took out and put in, as a diff: kept only where a session is read for people.

_MAX_CHARACTERS_COMPARED = 20_000
"""Of either side of one edit; comparing takes longer than reading."""
_LINES_AROUND = 2
_KEPT: ContextVar[bool] = ContextVar("changes are kept", default=False)


@contextmanager
def with_changes() -> Iterator[None]:
    """Sessions that are read meanwhile have the change of every edit."""
    before = _KEPT.set(True)
    try:
        yield
    finally:
        _KEPT.reset(before)


def _changes_are_wanted() -> bool:
    return _KEPT.get()


def changes(call: ToolCall) -> list[tuple[str, str]]:
    """(file, what changed in it) of an edit."""
    pieces = _PATCH_FILE.split(call.change)
    if len(pieces) == 1:
        return [(file, call.change) for file in call.files]
    parts = sorted(zip(pieces[1::2], pieces[2::2], strict=True), key=lambda part: -len(part[0]))
    of_file: dict[str, str] = {}
    for name, change in parts:
        file = next((file for file in call.files if f"/{file}".endswith(f"/{name}")), name)
        of_file[file] = of_file.get(file, "") + change
    return [(file, of_file.get(file, "")) for file in call.files]


def _as_diff(old: str, new: str) -> str:
    """The lines that went and came, with a few around them."""
    from difflib import unified_diff  # noqa: PLC0415 - nobody but who reads a session here pays for it

    before, after = (text[:_MAX_CHARACTERS_COMPARED].splitlines() for text in (old, new))
    told = [*unified_diff(before, after, lineterm="", n=_LINES_AROUND)][2:]
    return "\n".join(told if old else told[1:])
