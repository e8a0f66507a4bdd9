"""Hardwon's MCP server in the settings of an agent that has no hooks for us: one member among those of others."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwon import former
from hardwon.errors import HardwonError
from hardwon.install import jsonc
from hardwon.install.command import moved_home
from hardwon.install.jsonc import Node

if TYPE_CHECKING:
    from hardwon.install.where import Where

MEMBER = "mcpServers"
NAME = "hardwon"
ARGUMENTS = ("-E", "-P", "-m", "hardwon", "mcp")
_FORMER_ARGUMENTS = ("-E", "-P", "-m", former.NAME, "mcp")


def entry(where: Where) -> dict[str, Any]:
    """The server as agents' settings name it; with where the store is, when it was moved."""
    named: dict[str, Any] = {"command": where.python, "args": list(ARGUMENTS)}
    moved = moved_home(where)
    return {**named, "env": {"HARDWON_HOME": moved}} if moved else named


class Server:
    def __init__(self, path: Path, where: Where) -> None:
        self.path = path
        self._entry = entry(where)

    def installed(self, old: str | None) -> tuple[str, list[str]]:
        text, made = (old, []) if old and old.strip() else ("{}\n", ["."])
        if _member(jsonc.parse(text), MEMBER) is None:
            text = jsonc.with_member(text, jsonc.parse(text), MEMBER, {})
            made.append(MEMBER)
        servers = _servers(text)
        earlier = servers.get(former.NAME)
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
        for name in (NAME, former.NAME):
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
        if not old.strip():
            return []
        servers = _member(jsonc.parse(old), MEMBER)
        if servers is None or servers.keys is None:
            return []
        earlier = servers.get(former.NAME)
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
