"""Which folder a session worked in, where its transcript does not say: told from the paths its tools were given."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from hardwon.model.session import ToolCall
from hardwon.sessions.specstory_tools import Tool
from hardwon.text.paths import base_name

_RESET_TO = re.compile(r"^Shell cwd was reset to (/.+)\Z", re.MULTILINE)
_RUN_IN = re.compile(r'"workdir": ?"(/[^"\n]+)"|^Directory: `(/[^`\n]+)`', re.MULTILINE)
_ABSOLUTE = re.compile(r"(?<![\w./~:-])/(?:[\w.@+-]+/)+[\w.@+-]+")
_LAYOUT = frozenset("src pkg cmd lib docs doc test tests internal app apps packages scripts node_modules".split())
_MAC_HOME = re.compile(r"/Users/[^/]+")
_LAST_LINE = 400
_SEARCHED = 4_000
_MOST_NAMESAKES = 40
_CANDIDATES = 20
_MOST_NEIGHBOURS = 8
_FEWEST_NEIGHBOURS = 2


class Paths:
    """SpecStory writes a path below the working folder relative to it, and every other path in full."""

    def __init__(self) -> None:
        self._stated: Counter[str] = Counter()
        self._relative: dict[str, set[str]] = defaultdict(set)
        self._absolute: Counter[str] = Counter()
        self._outside: Counter[str] = Counter()

    def add(self, call: ToolCall, tool: Tool) -> None:
        output = tool.output or ""
        if call.action == "run":
            self._stated.update(_RESET_TO.findall(output[-_LAST_LINE:]))
            self._stated.update(quoted or named for quoted, named in _RUN_IN.findall(f"{tool.inputs}\n{tool.fenced}"))
        if call.target.startswith("./"):
            namesakes = self._relative[base_name(call.target)]
            if len(namesakes) < _MOST_NAMESAKES:
                namesakes.add(call.target[1:])
        elif call.action == "read" and call.target.startswith("/"):
            self._outside[call.target] += 1
        listed = output[:_SEARCHED] if tool.kind in ("search", "write") else ""
        self._absolute.update(_ABSOLUTE.findall(f"{call.command}\n{listed}"))

    def stated(self) -> str:
        """The folder that the agent itself named."""
        return self._stated.most_common(1)[0][0] if self._stated else ""

    def likely(self) -> str:
        """The folder that makes most relative paths one with absolute ones; else the one most paths lie in."""
        votes: Counter[str] = Counter()
        for path, times in self._absolute.items():
            for tail in self._relative.get(base_name(path), ()):
                if path.endswith(tail):
                    votes[path.removesuffix(tail)] += times * tail.count("/")
        for folder, _ in votes.most_common(_CANDIDATES):
            votes[folder] -= sum(times for path, times in self._outside.items() if path.startswith(folder + "/"))
        if not votes:
            for path, times in self._absolute.items():
                votes[_above_the_layout(path)] += times
        votes.pop("", None)
        return votes.most_common(1)[0][0] if votes else ""


def folder_of_claude(text: str, session_id: str) -> str:
    """Claude Code keeps a session's files below its folder's path written with dashes; the path itself is near."""
    dashed = re.search(rf"/-([A-Za-z0-9-]{{3,250}})/{re.escape(session_id)}\b", text) if session_id else None
    if dashed is None:
        return ""
    found = re.search("/" + r"[^A-Za-z0-9\s]".join(dashed.group(1).split("-")) + r"(?![\w-])", text)
    return found.group() if found else ""


def folder_of_neighbours(path: Path, folder_of: Callable[[Path], str]) -> str:
    """SpecStory keeps a project's histories in one folder: where those that tell theirs agree, it is the project's."""
    try:
        changed = os.stat(path.parent).st_mtime_ns
    except OSError:
        return ""
    told = _told_in(path.absolute().parent, changed, path.suffix, folder_of)
    return told[0] if len(told) >= _FEWEST_NEIGHBOURS and len(set(told)) == 1 else ""


@lru_cache(maxsize=64)
def _told_in(folder: Path, changed: int, suffix: str, folder_of: Callable[[Path], str]) -> list[str]:  # noqa: ARG001
    """What some of the histories in a folder tell, taken from all over it; read again when the folder changed."""
    try:
        histories = sorted(entry for entry in folder.iterdir() if entry.suffix == suffix and entry.is_file())
        some = histories[:: max(1, len(histories) // _MOST_NEIGHBOURS)][:_MOST_NEIGHBOURS]
        return [told for history in some if (told := folder_of(history))]
    except OSError:
        return []


def one_spelling(folder: str) -> str:
    """macOS keeps one folder under `Source` and `source`, and sessions of one project have it either way."""
    home = _MAC_HOME.match(folder)
    return folder[: home.end()] + folder[home.end() :].lower() if home else folder


def _above_the_layout(path: str) -> str:
    folders = path.split("/")[:-1]
    named = next((at for at, folder in enumerate(folders) if folder in _LAYOUT or folder.startswith(".")), None)
    return "/".join(folders[:named])
