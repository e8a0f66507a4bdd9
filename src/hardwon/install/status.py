"""What of Hardwon is in each agent's settings, and whether it still works."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from hardwon import former
from hardwon.errors import HardwonError, NotAllowed
from hardwon.install import consent
from hardwon.install.command import event_of, interpreter, is_former
from hardwon.install.files import File
from hardwon.install.plan import AGENTS, installing, is_there
from hardwon.install.where import Agent, Where


class Installed(Struct, frozen=True):
    """One agent on this machine."""

    agent: str
    found: bool
    installed: bool
    hooks: list[str]
    """The events of the agent that call us."""
    files: list[str]
    trouble: str
    """What is wrong with it and what mends it; empty if nothing is."""


def everywhere(where: Where) -> list[Installed]:
    return [_of(agent, where) for agent in AGENTS.values()]


def _of(agent: Agent, where: Where) -> Installed:
    there = is_there(agent, where)
    try:
        files = [(file.path, _ours(file)) for file in agent.files(where)]
    except NotAllowed:  # it has no settings of a project
        return Installed(agent.NAME, there, False, [], [], "")
    except HardwonError as error:
        return Installed(agent.NAME, there, False, [], [], str(error))
    hooks = [(event, line) for _, ours in files for event, line in ours]
    paths = [str(path) for path, ours in files if ours]
    return Installed(
        agent.NAME,
        there,
        bool(hooks),
        list(dict.fromkeys(event for event, _ in hooks)),
        paths,
        _trouble(agent, where, lines) if (lines := [line for _, line in hooks if line]) else "",
    )


def _ours(file: File) -> list[tuple[str, str]]:
    """Our hooks in a file. One that cannot be understood and does not speak of us is none of our business."""
    try:
        text = file.path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    try:
        return file.ours(text)
    except HardwonError as error:
        if "hardwon" not in text:
            return []
        raise HardwonError(f"{file.path} cannot be read: {error}") from error


def _trouble(agent: Agent, where: Where, lines: list[str]) -> str:
    mend = f"`hardwon install {agent.NAME}` mends it"
    if any(map(is_former, lines)):
        return f"it calls {former.NAME}, our former name: `hardwon up` or `hardwon install {agent.NAME}` moves it over"
    gone = sorted({python for line in lines if not _is_program(python := interpreter(line))})
    if gone:
        return f"its Python is gone ({gone[0]}): {mend}"
    if any(not event_of(line) for line in lines):
        return f"a command of it is damaged: {mend}"
    others = sorted({python for line in lines if not _same(python := interpreter(line), where.python)})
    if others:
        return f"it runs another installation ({others[0]}); {mend}, if that is not meant"
    try:
        missing = bool(installing(agent, where))
    except HardwonError as error:
        return str(error)
    return f"not all of it is there: {mend}" if missing else consent.missing(agent.NAME, where)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _same(one: str, other: str) -> bool:
    return os.path.normcase(Path(one).absolute()) == os.path.normcase(Path(other).absolute())
