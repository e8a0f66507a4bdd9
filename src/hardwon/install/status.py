"""What of Hardwon is in each agent's settings, and whether it still works."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from hardwon import home
from hardwon.errors import HardwonError, NotAllowed
from hardwon.install import jsonc
from hardwon.install.agents import AGENTS, CLAUDE_CODE, CODEX, GEMINI, HERMES, Agent
from hardwon.install.command import Where, event_of, interpreter, is_former, is_ours, moved_home, store_of
from hardwon.install.files import File
from hardwon.install.plan import installing, is_there

# What an agent still waits for before it runs what was installed, as far as its own files tell. Nothing is ever
# written to these: to agree is the user's part.

_OFF = "its hooks are switched off"


def missing_consent(agent: str, where: Where) -> str:
    """What is left for the user to do; empty where nothing is, or where no file tells."""
    look = _LOOKS.get(agent)
    return look(where) if look is not None else ""


def _claude(where: Where) -> str:
    settings = _json(CLAUDE_CODE.folder(where) / "settings.json")
    return f'{_OFF} ("disableAllHooks" in its settings)' if settings.get("disableAllHooks") is True else ""


def _gemini(where: Where) -> str:
    config = _json(GEMINI.folder(where) / "settings.json").get("hooksConfig")
    if not isinstance(config, dict):
        return ""
    off = config.get("disabled")
    ours = [name for name in off if str(name).startswith("hardwon-")] if isinstance(off, list) else []
    return f'{_OFF} ("hooksConfig" in its settings)' if config.get("enabled") is False or ours else ""


def _codex(where: Where) -> str:
    """Codex keeps the hash of each hook that its user has reviewed, and runs no other."""
    config = _toml(CODEX.folder(where) / "config.toml")
    if _part(config, "features").get("hooks") is False:
        return f'{_OFF} ("features.hooks" in its config.toml)'
    told = _part(_part(config, "hooks"), "state")
    reviewed = {_plain(key): state for key, state in told.items()}
    states = [(_part(reviewed, key), hashed) for file in CODEX.files(where) for key, hashed in _hooks(file.path)]
    if any(state.get("enabled") is False for state, _ in states):
        return f"{_OFF}: /hooks in `codex` switches them on"
    if any("trusted_hash" not in state for state, _ in states):
        return "it waits for your yes: start `codex` and open /hooks"
    if any(state["trusted_hash"] != f"sha256:{hashed}" for state, hashed in states):
        return "a hook was changed since you reviewed it: start `codex` and open /hooks"
    return ""


def _plain(key: str) -> str:
    """Codex may name the file by way of a link."""
    path, *place = key.rsplit(":", 3)
    return ":".join((os.path.realpath(path), *place))


def _hooks(path: Path) -> Iterator[tuple[str, str]]:
    """(Codex's name for it, the hash of what it says) of each of our hooks."""
    for event, groups in _part(_json(path), "hooks").items():
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for place, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if isinstance(hook, dict) and is_ours(hook.get("command")):
                    matcher = {"matcher": group["matcher"]} if "matcher" in group else {}
                    said = {"event_name": name, **matcher, "hooks": [{"async": False, **hook}]}
                    plain = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                    yield _plain(f"{path.absolute()}:{name}:{at}:{place}"), sha256(plain.encode()).hexdigest()


def _hermes(where: Where) -> str:
    enabled = _listed(_text(HERMES.folder(where) / "config.yaml"), "plugins", "enabled")
    return (
        "" if "hardwon" in enabled else "Hermes loads it only when it is enabled: run `hermes plugins enable hardwon`"
    )


def _listed(text: str, section: str, name: str) -> list[str]:
    """A list of plain words in a section of a YAML file, which we need no more of."""
    block = re.search(
        rf"^{section}:[ \t]*(?:#.*)?\n((?:[ \t]+.*\n|[ \t]*#.*\n|[ \t]*\n|- .*\n)*)", text + "\n", re.MULTILINE
    )
    found = block and re.search(
        rf"^([ \t]+){name}:[ \t]*(.*)\n((?:[ \t]*- .*\n|[ \t]*#.*\n|[ \t]*\n)*)", block[1], re.MULTILINE
    )
    if not found:
        return []
    items = found[2].partition("#")[0].strip().strip("[]").split(",") if found[2].startswith("[") else []
    items += [line.strip()[2:].partition(" #")[0] for line in found[3].splitlines() if line.strip().startswith("- ")]
    return [item.strip().strip("\"'") for item in items]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _json(path: Path) -> dict[str, Any]:
    try:
        found = jsonc.parse(_text(path)).value
    except HardwonError:
        return {}
    return found if isinstance(found, dict) else {}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError:
        return {}


def _part(holder: dict[str, Any], name: str) -> dict[str, Any]:
    found = holder.get(name)
    return found if isinstance(found, dict) else {}


_LOOKS: dict[str, Callable[[Where], str]] = {
    CLAUDE_CODE.name: _claude,
    CODEX.name: _codex,
    GEMINI.name: _gemini,
    HERMES.name: _hermes,
}


class Installed(Struct, frozen=True):
    """One agent on this machine."""

    agent: str
    found: bool
    installed: bool
    hooks: list[str]
    """The events of the agent that call us."""
    files: list[str]
    trouble: str
    """What is wrong with it and what to do; empty if nothing is."""


def everywhere(where: Where) -> list[Installed]:
    """Every agent that Hardwon knows, whether it is on this machine or not."""
    return [_of(agent, where) for agent in AGENTS.values()]


def _of(agent: Agent, where: Where) -> Installed:
    there = is_there(agent, where)
    try:
        files = [(file.path, _ours(file)) for file in agent.files(where)]
    except NotAllowed:  # it has no settings of a project
        return Installed(agent.name, there, False, [], [], "")
    except HardwonError as error:
        return Installed(agent.name, there, False, [], [], str(error))
    hooks = [(event, line) for _, ours in files for event, line in ours]
    paths = [str(path) for path, ours in files if ours]
    return Installed(
        agent.name,
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
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return []
    except OSError as error:
        raise HardwonError(f"{file.path} cannot be read: {error.strerror}") from error
    try:
        return file.ours(text)
    except HardwonError as error:
        if "hardwon" not in text:
            return []
        raise HardwonError(f"{file.path} cannot be read: {error}") from error


def _trouble(agent: Agent, where: Where, lines: list[str]) -> str:
    repair = f"`hardwon install {agent.name}` repairs it"
    if any(map(is_former, lines)):
        former = f"it calls {home.FORMER_NAME}, our former name"
        return f"{former}: `hardwon up` or `hardwon install {agent.name}` moves it over"
    gone = sorted({python for line in lines if not _is_program(python := interpreter(line))})
    if gone:
        return f"its Python is gone ({gone[0]}): {repair}"
    if any(not event_of(line) for line in lines):
        return f"one of its commands is damaged: {repair}"
    others = sorted({python for line in lines if not _same(python := interpreter(line), where.python)})
    if others:
        return f"it runs another Hardwon ({others[0]}): `hardwon install {agent.name}` makes it run this one"
    stores = {store_of(line) for line in lines if event_of(line) != "mcp"} - {moved_home(where)}
    if stores:
        return f"its hooks use another store: {', '.join(sorted(one or home.usual_home() for one in stores))}"
    try:
        missing = bool(installing(agent, where))
    except HardwonError as error:
        return str(error)
    return f"some of its hooks are missing: {repair}" if missing else missing_consent(agent.name, where)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _same(one: str, other: str) -> bool:
    return os.path.normcase(Path(one).absolute()) == os.path.normcase(Path(other).absolute())
