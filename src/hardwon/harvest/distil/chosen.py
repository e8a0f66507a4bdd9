"""Which model is meant by a name: an agent on this machine that answers without a screen, a server, an address."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.request import ProxyHandler, build_opener

from hardwon.config import Config
from hardwon.durable import write_whole
from hardwon.errors import BadConfig, NoModel
from hardwon.harvest.distil.model import LOCAL_ROOM, Anthropic, Command, Model, Ollama, OpenAI

OFF = "off"
FOLDER = "distil"
"""Below the home folder: where agents are run, so that they find no project to look at."""
_NO_TOOL = "none-of-them"
_LOOK_SECONDS = 2.0
_MAX_LIST_BYTES = 1_000_000


class _Agent(NamedTuple):
    words: tuple[str, ...]
    """After the program: one question, no tools, no session kept where that can be said."""
    model_option: str = "--model"
    environment: tuple[tuple[str, str], ...] = ()
    settings: str = ""
    """A file of settings that it is given, by the variable in `settings_variable`."""
    settings_variable: str = ""


AGENTS: dict[str, _Agent] = {
    "claude": _Agent(
        (
            "-p",
            "--output-format",
            "json",
            "--tools",
            "",
            "--strict-mcp-config",
            "--no-session-persistence",
            "--system-prompt",
            "You answer with JSON alone.",
        )
    ),
    "codex": _Agent(
        (
            "exec",
            "--ephemeral",
            "--skip-git-repo-check",
            "--sandbox",
            "read-only",
            "--color",
            "never",
            "-c",
            "features.shell_tool=false",
            "-c",
            "mcp_servers={}",
            "-",
        ),
        model_option="-m",
    ),
    "gemini": _Agent(
        ("--output-format", "json", "--extensions", _NO_TOOL),
        settings=json.dumps({"tools": {"core": [_NO_TOOL]}, "mcp": {"allowed": [_NO_TOOL]}}),
        settings_variable="GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    ),
    "opencode": _Agent(
        ("run",),
        environment=(("OPENCODE_CONFIG_CONTENT", json.dumps({"permission": {"*": "deny"}, "tools": {"*": False}})),),
    ),
}
NAMES = (*AGENTS, "ollama", "llama.cpp")


def installed() -> list[str]:
    """The agents on the PATH that can be asked."""
    return [name for name in AGENTS if shutil.which(name)]


def chosen(config: Config, home: Path, using: str = "", model: str = "") -> Model:
    """The model that is named, or that the settings name, or the first agent on this machine.

    Raises BadConfig for a name that is none or a model that is not named, NoModel where nobody is there to be asked.
    """
    wanted = using or (config.distil if config.distil != OFF else "")
    if not wanted and config.llm_command:
        return Command(shlex.split(config.llm_command, posix=os.name != "nt"), folder=home / FOLDER)
    wanted = wanted or config.llm_url or next(iter(installed()), "")
    named = model or ("" if wanted in AGENTS and config.llm_url else config.llm_model)
    if wanted in AGENTS:
        return _agent(wanted, home, named)
    if wanted == "ollama":
        return Ollama(_ollama(), named or _first_of_ollama())
    if wanted == "llama.cpp":
        return OpenAI(f"http://127.0.0.1:{os.environ.get('LLAMA_ARG_PORT', '8080')}/v1", named or "local", LOCAL_ROOM)
    if wanted.startswith(("http://", "https://")):
        return _endpoint(wanted, named)
    if wanted:
        raise BadConfig(f"unknown model '{wanted}': name one of {', '.join(NAMES)}, or an address (https://…)")
    raise BadConfig(
        f"no model to ask: none of the commands {', '.join(AGENTS)} is found; install one, name another with --with, "
        "or set llm_url and llm_model"
    )


def _agent(name: str, home: Path, model: str) -> Command:
    program = shutil.which(name)
    if program is None:
        there = ", ".join(installed()) or "none of the agents that can be asked"
        raise NoModel(f"{name} is not on the PATH; there: {there}")
    agent = AGENTS[name]
    words = [program, *agent.words]
    if model:
        at = -1 if words[-1] == "-" else len(words)
        words[at:at] = [agent.model_option, model]
    environment = dict(agent.environment)
    folder = home / FOLDER
    if agent.settings:
        path = folder / f"{name}.json"
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, agent.settings)
        environment[agent.settings_variable] = str(path)
    return Command(words, f"{name} ({model})" if model else name, environment=environment, folder=folder)


def _endpoint(url: str, model: str) -> Model:
    if not model:
        raise BadConfig(f"{url} needs the name of a model: --model, or `hardwon config llm_model NAME`")
    return (Anthropic if url.rstrip("/").endswith("/messages") else OpenAI)(url, model)


def _ollama() -> str:
    """Where Ollama's own variable says that it is."""
    host = os.environ.get("OLLAMA_HOST", "") or "127.0.0.1:11434"
    return host if "://" in host else f"http://{host}"


def _first_of_ollama() -> str:
    try:
        with build_opener(ProxyHandler({})).open(f"{_ollama()}/api/tags", timeout=_LOOK_SECONDS) as answer:
            models: Iterable[dict[str, str]] = json.loads(answer.read(_MAX_LIST_BYTES))["models"]
            return next(one["name"] for one in models)
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        raise NoModel(
            f"Ollama does not answer on {_ollama()}, or has no model: start it, and `ollama pull` one"
        ) from None
