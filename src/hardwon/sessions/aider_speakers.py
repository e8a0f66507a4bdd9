"""Who speaks in an Aider history: `#### ` is the user, `> ` the program, all else the model.

The model's own Markdown can begin lines in the same way, and these decide:

* Aider ends each line of the user's and of its own with two spaces, and the model seldom does;
* the user's lines follow a blank one, so a heading within the model's text stays text;
* output of many lines has `> ` on its first alone and the two spaces on its last: it ends there, if a blank line
  or another `>` follows;
* after the model's text, a `> ` without the two spaces is a quotation of the model's, but for the line of tokens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Literal, NamedTuple

_USER, _TOOL, _BREAK = "#### ", ">", "  "
_TOKENS = "> Tokens: "


class Part(NamedTuple):
    """Neighbouring lines of one speaker; of the program, a message an item, however many lines it has."""

    who: Literal["user", "model", "program"]
    items: list[str]


def parts(lines: list[str]) -> Iterator[Part]:
    """Split a session by who speaks, as the rules above say."""
    ends = [at for at, line in enumerate(lines) if line.endswith(_BREAK) and _ends_output(lines, at)]
    said: list[str] = []
    speaks = False
    at = 0
    while at < len(lines):
        first = at
        line = lines[at]
        if not line.startswith((_USER, _TOOL)):  # as most lines
            said.append(line)
            speaks = speaks or line != ""
            at += 1
            continue
        user = _is_users(line) and not (at and lines[at - 1])
        if not user and not _is_programs(lines, at, after_model=speaks):
            said.append(line)
            speaks = True
            at += 1
            continue
        if speaks:
            yield Part("model", said)
        said, speaks = [], False
        items: list[str] = []
        while user and at < len(lines) and _is_users(lines[at]):
            items.append(lines[at][len(_USER) :].removesuffix(_BREAK))
            at += 1
        while not user and at < len(lines) and (at == first or lines[at].startswith(_TOOL)):
            item, at = _item(lines, at, ends)
            items.append(item)
        yield Part("user" if user else "program", items)
    if speaks:
        yield Part("model", said)


def _is_users(line: str) -> bool:
    return line.startswith(_USER) and line.endswith(_BREAK)


def _is_programs(lines: list[str], at: int, *, after_model: bool) -> bool:
    line = lines[at]
    if not line.startswith(_TOOL) or line[1:2] not in ("", " "):
        return False
    ended = line.endswith(_BREAK)
    if after_model:
        return (ended or line.startswith(_TOKENS)) and not lines[at - 1]
    return ended or len(line) > 2


def _ends_output(lines: list[str], at: int) -> bool:
    line = lines[at]
    if line[-3:-2].isspace() or len(line) < 3:
        return False
    return at + 1 >= len(lines) or not lines[at + 1] or lines[at + 1].startswith(_TOOL)


def _item(lines: list[str], at: int, ends: list[int]) -> tuple[str, int]:
    position = bisect_left(ends, at)
    following = lines[at + 1] if at + 1 < len(lines) else ""
    whole = lines[at].endswith(_BREAK) and (not following or following.startswith(_TOOL))
    if whole or position == len(ends):
        return lines[at][2:].removesuffix(_BREAK), at + 1
    end = ends[position] + 1
    return "\n".join([lines[at][2:], *lines[at + 1 : end]]).removesuffix(_BREAK), end
