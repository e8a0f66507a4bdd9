"""The ways to be in an agent's settings: hooks among others in a JSON file, a file of our own, a server, a block."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from hardwon import former
from hardwon.errors import HardwonError
from hardwon.home import home_directory
from hardwon.install import hooks
from hardwon.install.block import Block
from hardwon.install.command import home_option, moved_home
from hardwon.install.hooks import Wanted
from hardwon.install.server import Server
from hardwon.store import spool

if TYPE_CHECKING:
    from hardwon.install.where import Where

WRITTEN = "Written by `hardwon install"
_FORMERLY_WRITTEN = WRITTEN.replace("hardwon", former.NAME)
"""Every file of our own says so in its first line."""
EVENTS = ("session-start", "prompt", "tool-failed", "session-end")
_COMMAND = re.compile(r"^((?:const )?COMMAND = )(\[.*?\])(?=$|  # )", re.MULTILINE)
_SPOOL = re.compile(r'^((?:const )?SPOOL = )""$', re.MULTILINE)
_PLUGINS = Path(__file__).parent / "plugins"


class Settings:
    """A file that others write to as well."""

    def __init__(self, path: Path, wanted: list[Wanted], also: dict[str, object] | None = None) -> None:
        self.path = path
        self._wanted = wanted
        self._also = also or {}

    def installed(self, old: str | None) -> tuple[str, list[str]]:
        """(what it is with us, what had to be made in it)."""
        return hooks.added(old or "", self._wanted, self._also)

    def removed(self, old: str, made: list[str]) -> str | None:
        """What it is without us; None if it was made for us alone."""
        return hooks.removed(old, made) or (None if "." in made else "")

    def ours(self, old: str) -> list[tuple[str, str]]:
        """(the agent's event, our command)."""
        return hooks.ours(old)


class Own:
    """A file that nobody else writes to."""

    def __init__(self, path: Path, agent: str, text: str) -> None:
        self.path = path
        self._agent = agent
        self._text = text

    def installed(self, old: str | None) -> tuple[str, list[str]]:
        if old is not None and not _is_ours(old):
            raise HardwonError("it is there, and was not written by Hardwon")
        return self._text, ["."]

    def removed(self, old: str, made: list[str]) -> str | None:  # noqa: ARG002 - as for settings
        return None if _is_ours(old) else old

    def ours(self, old: str) -> list[tuple[str, str]]:
        found = _COMMAND.search(old) if _is_ours(old) else None
        words = json.loads(found[2]) if found else []
        return [(event, shlex.join([*words, event, "--agent", self._agent])) for event in EVENTS] if words else []


File = Settings | Own | Server | Block


def plugin(source: str, agent: str, where: Where) -> str:
    """A plugin that calls this Python, with a first line that says whose it is."""
    text = (_PLUGINS / source).read_text(encoding="utf-8")
    line = json.dumps([where.python, "-E", "-P", "-m", "hardwon.hook", *home_option(where)])
    comment = "//" if source.endswith(".js") else "#"
    head = f"{comment} {WRITTEN} {agent}`; `hardwon uninstall {agent}` takes it away. Changes to it are lost.\n"
    kept = json.dumps(os.path.join(moved_home(where) or home_directory(), spool.FOLDER, spool.OPEN))
    text = _SPOOL.sub(lambda found: found[1] + kept, text)
    return head + _COMMAND.sub(lambda found: found[1] + line, text)


def _is_ours(text: str) -> bool:
    first = text.split("\n", 1)[0]
    return WRITTEN in first or _FORMERLY_WRITTEN in first


def formerly_written(file: File) -> tuple[Path, str] | None:
    """A file of our own, and its text, that stands where our former name put it."""
    if not isinstance(file, Own):
        return None
    path = Path(str(file.path).replace("hardwon", former.NAME))
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return (path, text) if _FORMERLY_WRITTEN in text.split("\n", 1)[0] else None
