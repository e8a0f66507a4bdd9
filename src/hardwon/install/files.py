"""The ways to be in an agent's settings: hooks among others in a JSON file, a file of our own, a server, a block."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hardwon import home
from hardwon.briefing.agents_md import BEGIN, with_block
from hardwon.errors import HardwonError, NotFound
from hardwon.home import home_directory
from hardwon.install import jsonc
from hardwon.install.command import McpServer, Where, home_option, is_ours, moved_home
from hardwon.install.jsonc import Node
from hardwon.store import spool

WRITTEN = "Written by `hardwon install"
_FORMERLY_WRITTEN = WRITTEN.replace("hardwon", home.FORMER_NAME)
"""Every file of our own says so in its first line."""
EVENTS = ("session-start", "prompt", "tool-failed", "session-end")
_COMMAND = re.compile(r"^((?:const )?COMMAND = )(\[.*?\])(?=$|  # )", re.MULTILINE)
_SPOOL = re.compile(r'^((?:const )?SPOOL = )""$', re.MULTILINE)
_PLUGINS = Path(__file__).parent / "plugins"


class BriefingBlock:
    """The briefing in a block of AGENTS.md, for an agent that reads that file and has no hooks for us."""

    def __init__(self, path: Path, briefing: str) -> None:
        self.path = path
        self._briefing = briefing

    def installed(self, old: str | None) -> tuple[str, list[str]]:
        if not self._briefing:
            raise NotFound("this project is not known yet: run `hardwon up` in it first")
        return with_block(old or "", self._briefing), ["."] if old is None else []

    def removed(self, old: str, made: list[str]) -> str | None:
        return with_block(old, "") or (None if "." in made else "")

    def ours(self, old: str) -> list[tuple[str, str]]:
        return [("AGENTS.md", "")] if BEGIN in old else []


# Our hooks in an agent's JSON settings: put behind those that are there, and taken out without a trace.


class WantedHook(NamedTuple):
    """A hook of ours: which event of the agent, and what stands in its list."""

    event: str
    entry: dict[str, Any]


def added(text: str, wanted: list[WantedHook], also: dict[str, object]) -> tuple[str, list[str]]:
    """The text with the hooks that it lacks, and the names of what had to be made for them.

    `also` are members that the settings must have for any hook to count.
    """
    made: list[str] = []
    if text.strip(jsonc.BLANK) == "":
        text, made = "{}\n", ["."]
    for name, value in also.items():
        if name not in _object(jsonc.parse(text), "it").value:
            text = jsonc.with_member(text, jsonc.parse(text), name, value)
            made.append(name)
    if "hooks" not in _object(jsonc.parse(text), "it").value:
        text = jsonc.with_member(text, jsonc.parse(text), "hooks", {})
        made.append("hooks")
    for event, entry in wanted:
        _, hooks = _parts(text)
        if hooks.get(event) is None:
            text = jsonc.with_member(text, hooks, event, [])
            made.append(f"hooks.{event}")
        listed = _list(_parts(text)[1], event)
        if entry not in listed.value:
            for old in [item for item in listed.items or () if _commands(item.value)]:
                # An older command of ours: another Python, another version.
                text = _without(text, event, old.value)
            text = jsonc.with_item(text, _list(_parts(text)[1], event), entry)
    return text, made


def removed(text: str, made: list[str]) -> str:
    """The text without our hooks, and without what was made for them and has nothing else in it now."""
    for event, line in ours(text):
        while any(line in _commands(item.value) for item in _list(_parts(text)[1], event).items or ()):
            holder = next(i for i in _list(_parts(text)[1], event).items or () if line in _commands(i.value))
            text = _without(text, event, holder.value)
    for name in reversed(made):
        text = _without_empty(text, name, "." in made)
    return text


def ours(text: str) -> list[tuple[str, str]]:
    """(event, command) of each of our hooks that the text has."""
    if text.strip(jsonc.BLANK) == "":
        return []
    hooks = _object(jsonc.parse(text), "it").get("hooks")
    if hooks is None or hooks.keys is None:
        return []
    found = []
    for event, _ in hooks.keys:
        node = hooks.get(event)
        for item in node.items or () if node is not None and node.keys is None else ():
            found += [(event, line) for line in _commands(item.value)]
    return list(dict.fromkeys(found))


def _parts(text: str) -> tuple[Node, Node]:
    root = _object(jsonc.parse(text), "it")
    hooks = root.get("hooks")
    assert hooks is not None
    return root, _object(hooks, '"hooks"')


def _object(node: Node, what: str) -> Node:
    if node.keys is None:
        raise HardwonError(f"{what} is not a JSON object")
    return node


def _list(hooks: Node, event: str) -> Node:
    node = hooks.get(event)
    if node is None or node.items is None or node.keys is not None:
        raise HardwonError(f'"hooks.{event}" is not a JSON list')
    return node


def _commands(entry: object) -> list[str]:
    """Our commands in an entry: of a group of hooks, or of one hook."""
    return [line for line in _lines(entry) if is_ours(line)]


def _lines(entry: object) -> Iterator[str]:
    if isinstance(entry, dict):
        inner = entry.get("hooks")
        for one in [entry, *(inner if isinstance(inner, list) else [])]:
            line = one.get("command") if isinstance(one, dict) else None
            if isinstance(line, str):
                yield line


def _without(text: str, event: str, entry: Any) -> str:
    """Without an entry that is ours; of a group that somebody else's hook has joined, without our part."""
    listed = _list(_parts(text)[1], event)
    node = next(item for item in listed.items or () if item.value == entry)
    inner = node.get("hooks") if node.keys is not None else None
    others = [one for one in (inner.items or () if inner else ()) if not _commands(one.value)]
    if inner is None or not others:
        return jsonc.without(text, listed, node)
    return jsonc.without(text, inner, next(one for one in inner.items or () if _commands(one.value)))


def _without_empty(text: str, name: str, whole: bool) -> str:
    """Without something that was made for us, if it is empty; a file that was, becomes an empty text.

    Of a file that was made for us, what others put there since may need the plain values that we did.
    """
    root = jsonc.parse(text)
    if name == ".":
        return text if root.items else ""
    parent: Node | None = root
    path = name.split(".", 1)
    for part in path[:-1]:
        parent = parent.get(part) if parent is not None else None
    node = parent.get(path[-1]) if parent is not None else None
    if parent is None or node is None or node.items:
        return text
    if node.items is None and whole and len(parent.items or ()) > 1:
        return text
    return jsonc.without(text, parent, node)


class SharedFile:
    """Settings that others write to as well."""

    def __init__(self, path: Path, wanted: list[WantedHook], also: dict[str, object] | None = None) -> None:
        self.path = path
        self._wanted = wanted
        self._also = also or {}

    def installed(self, old: str | None) -> tuple[str, list[str]]:
        """(what it is with us, what had to be made in it)."""
        return added(old or "", self._wanted, self._also)

    def removed(self, old: str, made: list[str]) -> str | None:
        """What it is without us; None if it was made for us alone."""
        return removed(old, made) or (None if "." in made else "")

    def ours(self, old: str) -> list[tuple[str, str]]:
        """(the agent's event, our command)."""
        return ours(old)


class OwnFile:
    """A file that nobody else writes to."""

    def __init__(self, path: Path, agent: str, text: str) -> None:
        self.path = path
        self._agent = agent
        self._text = text

    def installed(self, old: str | None) -> tuple[str, list[str]]:
        if old is not None and not is_own(old):
            raise HardwonError("Hardwon did not write this file: move it away, then install again")
        return self._text, ["."]

    def removed(self, old: str, made: list[str]) -> str | None:  # noqa: ARG002 - as for settings
        return None if is_own(old) else old

    def ours(self, old: str) -> list[tuple[str, str]]:
        found = _COMMAND.search(old) if is_own(old) else None
        words = json.loads(found[2]) if found else []
        return [(event, shlex.join([*words, event, "--agent", self._agent])) for event in EVENTS] if words else []


File = SharedFile | OwnFile | McpServer | BriefingBlock


def plugin(source: str, agent: str, where: Where) -> str:
    """A plugin that calls this Python, with a first line that says whose it is."""
    text = (_PLUGINS / source).read_text(encoding="utf-8")
    line = json.dumps([where.python, "-E", "-P", "-m", "hardwon.hook", *home_option(where)])
    comment = "//" if source.endswith(".js") else "#"
    head = f"{comment} {WRITTEN} {agent}`; `hardwon uninstall {agent}` takes it away. Changes to it are lost.\n"
    kept = json.dumps(os.path.join(moved_home(where) or home_directory(), spool.FOLDER, spool.OPEN))
    text = _SPOOL.sub(lambda found: found[1] + kept, text)
    return head + _COMMAND.sub(lambda found: found[1] + line, text)


def is_own(text: str) -> bool:
    """Whether a file is ours alone: its first line says so."""
    first = text.split("\n", 1)[0]
    return WRITTEN in first or _FORMERLY_WRITTEN in first


def formerly_written(file: File) -> tuple[Path, str] | None:
    """A file of our own, and its text, that stands where our former name put it."""
    if not isinstance(file, OwnFile):
        return None
    path = Path(str(file.path).replace("hardwon", home.FORMER_NAME))
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return (path, text) if _FORMERLY_WRITTEN in text.split("\n", 1)[0] else None
