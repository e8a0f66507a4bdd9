"""This machine, and the command that agents are told to run on it.

It is this Python, by its full path, and nothing that a repository could name.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hardwon.errors import HardwonError
from hardwon.home import FORMER_NAME
from hardwon.install import jsonc
from hardwon.install.jsonc import Node

_MODULE = re.compile(rf" -m (?P<package>hardwon|{FORMER_NAME})\.hook ")
"""What tells our commands from those of others."""
_HEAD = re.compile(rf" -E -P -m (?:hardwon|{FORMER_NAME})\S*")
# -E: no variable, -P: no current folder may say where modules are.
_FLAGS = ("-E", "-P", "-m", "hardwon.hook")
_SILENT = " 2>/dev/null || :"
"""An agent whose Hardwon is gone, or its Python, is not told so at every step."""
_PLAIN = re.compile(r"[\w.:/~+@%=,-]+")
MEMBER = "mcpServers"
NAME = "hardwon"
ARGUMENTS = ("-E", "-P", "-m", "hardwon", "mcp")
_FORMER_ARGUMENTS = ("-E", "-P", "-m", FORMER_NAME, "mcp")


class Where(NamedTuple):
    """This machine as an installer sees it."""

    environment: Mapping[str, str]
    home: Path
    """The user's."""
    project: Path | None = None
    """The folder whose settings are meant; None for the user's own."""
    python: str = sys.executable
    windows: bool = os.name == "nt"
    briefing: Callable[[], str] = str
    """What a session in the project would be told, as Markdown; nothing, unless somebody knows."""

    def folder(self, variable: str, *default: str) -> Path:
        """What a variable names, else a folder below the user's home."""
        named = self.environment.get(variable)
        return Path(named).expanduser() if named else self.home.joinpath(*default)

    def has(self, program: str) -> bool:
        return shutil.which(program, path=self.environment.get("PATH")) is not None


def command(event: str, agent: str, where: Where) -> str:
    """One line that every shell of the system takes for the same words."""
    words = [where.python, *_FLAGS, event, "--agent", agent, *home_option(where)]
    if not where.windows:
        return shlex.join(words) + _SILENT
    # sh, cmd and PowerShell agree on words without anything to quote, and on forward slashes.
    plain = [_short(word).replace("\\", "/") for word in words]
    for word in plain:
        if not _PLAIN.fullmatch(word):
            raise HardwonError(
                f"{word} has a space or a special character in its path, which the shells of Windows read differently: "
                "install Hardwon into a folder without them"
            )
    return " ".join(plain)


def home_option(where: Where) -> list[str]:
    """Where the store is, when it was moved: an agent may be started without the variable that says so."""
    moved = moved_home(where)
    return ["--home", moved] if moved else []


def moved_home(where: Where) -> str:
    """Where the store is, if not in its usual place."""
    moved = where.environment.get("HARDWON_HOME")
    return os.path.abspath(os.path.expanduser(moved)) if moved else ""


def is_ours(line: object) -> bool:
    """Whether a command of somebody's settings calls our hook, by its present or its former name."""
    return isinstance(line, str) and _MODULE.search(line) is not None


def is_former(line: str) -> bool:
    """Whether it is one of ours that calls us by our former name."""
    return f" -m {FORMER_NAME}" in line


def interpreter(line: str) -> str:
    """The Python that one of our commands names."""
    head = _HEAD.split(line, maxsplit=1)[0]
    try:
        return (shlex.split(head) or [""])[0]
    except ValueError:
        return head


def store_of(line: str) -> str:
    """The folder of the store that one of our commands names; empty for the usual one."""
    try:
        words = shlex.split(line)
    except ValueError:
        return ""
    return words[words.index("--home") + 1] if "--home" in words[:-1] else ""


def event_of(line: str) -> str:
    """Which of our events it calls for; of the MCP server, `mcp`."""
    return _HEAD.split(line + " ", maxsplit=1)[-1].strip().split(" ", 1)[0] if _HEAD.search(line) else ""


def _short(path: str) -> str:
    """The name without spaces that Windows has for most paths."""
    if sys.platform != "win32" or _PLAIN.fullmatch(path.replace("\\", "/")):
        return path
    import ctypes  # noqa: PLC0415

    room = ctypes.create_unicode_buffer(1024)
    return room.value if ctypes.windll.kernel32.GetShortPathNameW(path, room, 1024) else path


# Hardwon's MCP server in the settings of an agent that has no hooks for us: one member among those of others.


def entry(where: Where) -> dict[str, Any]:
    """The server as agents' settings name it; with where the store is, when it was moved."""
    named: dict[str, Any] = {"command": where.python, "args": list(ARGUMENTS)}
    moved = moved_home(where)
    return {**named, "env": {"HARDWON_HOME": moved}} if moved else named


class McpServer:
    def __init__(self, path: Path, where: Where) -> None:
        self.path = path
        self._entry = entry(where)

    def installed(self, old: str | None) -> tuple[str, list[str]]:
        text, made = (old, []) if old and old.strip(jsonc.BLANK) else ("{}\n", ["."])
        if _member(jsonc.parse(text), MEMBER) is None:
            text = jsonc.with_member(text, jsonc.parse(text), MEMBER, {})
            made.append(MEMBER)
        servers = _servers(text)
        earlier = servers.get(FORMER_NAME)
        if earlier is not None and _is_former(earlier.value):
            text = jsonc.without(text, servers, earlier)
        entry = _servers(text).get(NAME)
        if entry is not None and not _is_ours(entry.value):
            raise HardwonError(f'it has another MCP server called "{NAME}"; rename or remove that one')
        if entry is not None and all(entry.value.get(key) == value for key, value in self._entry.items()):
            return text, made
        if entry is not None:
            servers = _servers(text)
            text = jsonc.without(text, servers, servers.get(NAME))  # type: ignore[arg-type]
        return jsonc.with_member(text, _servers(text), NAME, self._entry), made

    def removed(self, old: str, made: list[str]) -> str | None:
        if not self.ours(old):
            return old
        text = old
        for name in (NAME, FORMER_NAME):
            servers = _servers(text)
            member = servers.get(name)
            if member is not None and (_is_ours(member.value) or _is_former(member.value)):
                text = jsonc.without(text, servers, member)
        root = jsonc.parse(text)
        left = root.get(MEMBER)
        if MEMBER in made and left is not None and not left.items:
            text = jsonc.without(text, root, left)
        return None if "." in made and not jsonc.parse(text).items else text

    def ours(self, old: str) -> list[tuple[str, str]]:
        if not old.strip(jsonc.BLANK):
            return []
        servers = _member(jsonc.parse(old), MEMBER)
        if servers is None or servers.keys is None:
            return []
        earlier = servers.get(FORMER_NAME)
        if earlier is not None and _is_former(earlier.value):
            return [("mcp", shlex.join([str(earlier.value.get("command")), *_FORMER_ARGUMENTS]))]
        entry = servers.get(NAME)
        if entry is None or not _is_ours(entry.value):
            return []
        return [("mcp", shlex.join([str(entry.value.get("command")), *ARGUMENTS]))]


def _member(node: Node, name: str) -> Node | None:
    if node.keys is None:
        raise HardwonError("it is not a JSON object")
    return node.get(name)


def _servers(text: str) -> Node:
    node = _member(jsonc.parse(text), MEMBER)
    if node is None or node.keys is None:
        raise HardwonError(f'"{MEMBER}" is not a JSON object')
    return node


def _is_ours(entry: object) -> bool:
    return isinstance(entry, dict) and entry.get("args") == list(ARGUMENTS)


def _is_former(entry: object) -> bool:
    return isinstance(entry, dict) and entry.get("args") == list(_FORMER_ARGUMENTS)
