"""Our hooks in an agent's JSON settings: put behind those that are there, and taken out without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from hardwon.errors import HardwonError
from hardwon.install import jsonc
from hardwon.install.command import is_ours
from hardwon.install.jsonc import Node


class Wanted(NamedTuple):
    """A hook of ours: which event of the agent, and what stands in its list."""

    event: str
    entry: dict[str, Any]


def added(text: str, wanted: list[Wanted], also: dict[str, object]) -> tuple[str, list[str]]:
    """The text with the hooks that it lacks, and the names of what had to be made for them.

    `also` are members that the settings must have for any hook to count.
    """
    made: list[str] = []
    if text.strip("\ufeff \t\r\n") == "":
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
    if text.strip("\ufeff \t\r\n") == "":
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
        raise HardwonError(f"{what} is not an object")
    return node


def _list(hooks: Node, event: str) -> Node:
    node = hooks.get(event)
    if node is None or node.items is None or node.keys is not None:
        raise HardwonError(f'"hooks.{event}" is not a list')
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
