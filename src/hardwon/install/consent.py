"""What an agent still waits for before it runs what was installed, as far as its own files tell.

Nothing is ever written to these: to agree is the user's part.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from hardwon.errors import HardwonError
from hardwon.install import jsonc
from hardwon.install.agents import claude_code, codex, gemini, hermes
from hardwon.install.command import is_ours
from hardwon.install.where import Where

_OFF = "its hooks are switched off"


def missing(agent: str, where: Where) -> str:
    """What is left for the user to do; empty where nothing is, or where no file tells."""
    look = _LOOKS.get(agent)
    return look(where) if look is not None else ""


def _claude(where: Where) -> str:
    settings = _json(claude_code.folder(where) / "settings.json")
    return f'{_OFF} ("disableAllHooks" in its settings)' if settings.get("disableAllHooks") is True else ""


def _gemini(where: Where) -> str:
    config = _json(gemini.folder(where) / "settings.json").get("hooksConfig")
    if not isinstance(config, dict):
        return ""
    off = config.get("disabled")
    ours = [name for name in off if str(name).startswith("hardwon-")] if isinstance(off, list) else []
    return f'{_OFF} ("hooksConfig" in its settings)' if config.get("enabled") is False or ours else ""


def _codex(where: Where) -> str:
    """Codex keeps the hash of each hook that its user has reviewed, and runs no other."""
    config = _toml(codex.folder(where) / "config.toml")
    if _part(config, "features").get("hooks") is False:
        return f'{_OFF} ("features.hooks" in its config.toml)'
    told = _part(_part(config, "hooks"), "state")
    reviewed = {_plain(key): state for key, state in told.items()}
    states = [(_part(reviewed, key), hashed) for file in codex.files(where) for key, hashed in _hooks(file.path)]
    if any(state.get("enabled") is False for state, _ in states):
        return f"{_OFF}: /hooks in `codex` switches them on"
    if any("trusted_hash" not in state for state, _ in states):
        return "Codex runs a hook only when you have reviewed it: start `codex` and open /hooks"
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
    enabled = _listed(_text(hermes.folder(where) / "config.yaml"), "plugins", "enabled")
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
    claude_code.NAME: _claude,
    codex.NAME: _codex,
    gemini.NAME: _gemini,
    hermes.NAME: _hermes,
}
