"""This machine as an installer sees it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from hardwon.install.files import File


class Where(NamedTuple):
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


class Agent(Protocol):
    """What a module of an agent provides."""

    NAME: str
    TITLE: str
    PROGRAM: str
    AFTERWARDS: str
    """What is left for the user to do."""

    def folder(self, where: Where) -> Path:
        """The user's settings folder: where it is, the agent is."""

    def files(self, where: Where) -> list[File]:
        """What is written, of the user or of a project."""
