"""Settings in JSON, with or without comments, changed in place: what is not changed stays as it was written.

The text is parsed into nodes that know where they stand, and every change is made to the text.
"""

from __future__ import annotations

import json
import re
from typing import Any

from hardwon.errors import HardwonError

BLANK = "\ufeff \t\r\n"
_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null')
_MAX_DEPTH = 100
_DEFAULT_INDENT = "  "


class Node:
    """A value and where it stands in the text."""

    __slots__ = ("end", "items", "keys", "start", "value")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.value: Any = None
        self.items: list[Node] | None = None
        """Of a list or an object: its values."""
        self.keys: list[tuple[str, int]] | None = None
        """Of an object: its names, and where each stands."""

    def get(self, name: str) -> Node | None:
        """A member of an object; of several with one name the last counts, as in every reader."""
        found = [at for at, (key, _) in enumerate(self.keys or ()) if key == name]
        return self.items[found[-1]] if found and self.items is not None else None


def parse(text: str) -> Node:
    """The whole text as one value; an empty text is an empty object."""
    return _Parser(text).document()


def with_member(text: str, node: Node, name: str, value: object) -> str:
    """The text with one more member at the end of an object."""
    return _with(text, node, f"{json.dumps(name, ensure_ascii=False)}: ", value)


def with_item(text: str, node: Node, value: object) -> str:
    """The text with one more value at the end of a list."""
    return _with(text, node, "", value)


def without(text: str, parent: Node, child: Node) -> str:
    """The text without a list's value or an object's member, as it was before `with_...`; comments around it stay."""
    assert parent.items is not None
    starts = [at for _, at in parent.keys] if parent.keys is not None else [item.start for item in parent.items]
    at = next(at for at, item in enumerate(parent.items) if item is child)
    start, end = starts[at], child.end
    if at and _is_plain(text[parent.items[at - 1].end : start]):
        return text[: parent.items[at - 1].end] + text[end:]
    if not at and len(starts) > 1 and _is_plain(text[end : starts[1]]):
        return text[:start] + text[starts[1] :]
    if not at and len(starts) == 1 and _is_plain(text[parent.start + 1 : start] + text[end : parent.end - 1]):
        return text[: parent.start + 1] + text[parent.end - 1 :]
    after = _SPACE.match(text, end).end()  # type: ignore[union-attr]
    if text[after : after + 1] == ",":
        text = text[:after] + text[after + 1 :]
    elif at:
        comma = _SPACE.match(text, parent.items[at - 1].end).end()  # type: ignore[union-attr]
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    return _cut(text, start, end)


def _is_plain(between: str) -> bool:
    """Whether no comment stands there."""
    return not between.strip(BLANK + ",")


def _cut(text: str, start: int, end: int) -> str:
    """Without a stretch, and without its lines where nothing else stands on them."""
    line = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*\r?\n?").match(text, end).end()  # type: ignore[union-attr]
    alone = not text[line:start].strip() and text[rest - 1 : rest] == "\n"
    return text[:line] + text[rest:] if alone else text[:start] + text[end:]


def _with(text: str, node: Node, lead: str, value: object) -> str:
    assert node.items is not None
    unit = _indent(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    depth = _depth(text, node.start, unit)
    inner, outer = newline + unit * (depth + 1), newline + unit * depth
    told = lead + json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", inner)
    if node.items:
        at = node.items[-1].end
        return f"{text[:at]},{inner}{told}{text[at:]}"
    inside = text[node.start + 1 : node.end - 1]
    if inside.strip():  # a comment stands alone in it
        return f"{text[: node.start + 1]}{inner}{told}{text[node.start + 1 :]}"
    return f"{text[: node.start + 1]}{inner}{told}{outer}{text[node.end - 1 :]}"


def _indent(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else _DEFAULT_INDENT


def _depth(text: str, at: int, unit: str) -> int:
    """How deep the line is indented that a place stands on."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    blank = line[: len(line) - len(line.lstrip(" \t"))]
    return len(blank) // len(unit)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text

    def document(self) -> Node:
        at = self._skip(0)
        if at == len(self._text):
            raise HardwonError("it is empty")
        node = self._value(at, 0)
        if self._skip(node.end) != len(self._text):
            raise self._wrong(node.end)
        return node

    def _skip(self, at: int) -> int:
        return _SPACE.match(self._text, at).end()  # type: ignore[union-attr]

    def _value(self, at: int, depth: int) -> Node:
        opening = self._text[at : at + 1]
        if depth > _MAX_DEPTH:
            raise self._wrong(at)
        if opening in ("{", "["):
            return self._several(at, depth, opening)
        node = Node(at)
        found = _SCALAR.match(self._text, at)
        if found is None:
            raise self._wrong(at)
        try:
            node.value = json.loads(found[0])
        except ValueError:
            raise self._wrong(at) from None
        node.end = found.end()
        return node

    def _several(self, start: int, depth: int, opening: str) -> Node:
        node = Node(start)
        node.items = []
        node.keys = [] if opening == "{" else None
        closing = "}" if opening == "{" else "]"
        at = self._skip(start + 1)
        while self._text[at : at + 1] != closing:
            if node.keys is not None:
                name = self._value(at, depth)
                colon = self._skip(name.end)
                if not isinstance(name.value, str) or self._text[colon : colon + 1] != ":":
                    raise self._wrong(at)
                node.keys.append((name.value, at))
                at = self._skip(colon + 1)
            item = self._value(at, depth + 1)
            node.items.append(item)
            at = self._skip(item.end)
            if self._text[at : at + 1] == ",":
                at = self._skip(at + 1)
            elif self._text[at : at + 1] != closing:
                raise self._wrong(at)
        node.end = at + 1
        values = [item.value for item in node.items]
        node.value = values if node.keys is None else dict(zip((key for key, _ in node.keys), values, strict=True))
        return node

    def _wrong(self, at: int) -> HardwonError:
        return HardwonError(f"it is not valid JSON at line {self._text.count(chr(10), 0, at) + 1}")
