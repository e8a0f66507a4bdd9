"""Settings: `config.toml` in the home directory, overridden by `HARDWON_<NAME>` variables."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, convert, structs
from msgspec import ValidationError as _ValidationError

from hardwon.durable import write_whole
from hardwon.errors import BadConfig
from hardwon.home import private_folder
from hardwon.hook_config import BUDGET, FILE, MIN_CONFIDENCE


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """Every setting, with its default."""

    budget: int = BUDGET
    """Most tokens a bootstrap may take."""
    min_confidence: float = MIN_CONFIDENCE
    """A lesson is handed to agents only above this confidence."""
    half_life_days: float = 90.0
    """After this long without being seen again, a line counts half in the ranking."""
    sample: int = 1000
    """How many of the sessions not read yet `hardwon up` takes, the most valuable first."""
    retain_days: int = 0
    """Sessions, interactions and attempts older than this are dropped by `hardwon up` and `hardwon purge`; 0: never."""
    own_folders: str = ""
    """Folders whose sessions are your own, beside the agents' own ones; separated as in PATH."""
    experiment: str = "off"
    """`on` withholds some lines, and all of them from some sessions, at random, to measure whether they help."""
    database: str = ""
    """`postgresql://…` for a team's store; empty for a file in the home folder."""
    workspace: str = ""
    """Which of the workspaces on that server, if there are several: `hardwon workspace`."""
    statement_seconds: float = 60.0
    """A server gives up a statement that takes longer, but for a harvest and other long work; 0: never."""
    team_url: str = ""
    """The team's service that `hardwon push` sends to and `hardwon pull` asks; its token is in HARDWON_TEAM_TOKEN."""
    push_projects: str = ""
    """Projects whose lessons may be pushed: git remotes with commas between, `*` for any part; none by default."""
    push_never: str = ""
    """Projects that are never pushed, whatever `push_projects` says."""
    team_authors: str = "pseudonym"
    """Of a team's service: who pushed something is told as a `pseudonym`, or by the `name` of the token."""
    fusion_weight: float = 0.5
    """How much meaning counts in a search, the rest is words; 0 makes no vectors."""
    search_sessions: str = "on"
    """`on` keeps passages of what was said and done in sessions, for you to find them by; `off` keeps none."""
    embedding_url: str = ""
    """An OpenAI-compatible endpoint for vectors; empty for the model on this machine."""
    embedding_model: str = ""
    """The endpoint's model."""
    distil: str = "off"
    """The model that sessions are distilled with when they end: an agent's name, `ollama`, `llama.cpp`, an address."""
    distil_depth: int = 1
    """How many times as much of a session's work a model is shown: it finds more, and takes more tokens."""
    llm_url: str = ""
    """An OpenAI-compatible endpoint for `distil`, or Anthropic's address ending in /messages."""
    llm_model: str = ""
    """The model of that endpoint, or of what `distil` names."""
    llm_command: str = ""
    """A command of one's own in its place: the question on stdin, the answer on stdout."""
    llm_tokens_per_day: int = 500_000
    """Most tokens that models may take in a day."""
    llm_cost_per_day: float = 1.0
    """Most that models may cost in a day, by the prices that are set."""
    llm_price_in: float = 0.0
    """For a million tokens that are sent."""
    llm_price_out: float = 0.0
    """For a million tokens that are answered."""


MEANINGS = {
    "budget": "token limit of a briefing",
    "min_confidence": "agents are given only lessons with at least this confidence",
    "half_life_days": "days after which a line that has not come up again counts half",
    "retain_days": "`up` and `purge` delete sessions older than this; 0: never",
    "own_folders": "more folders whose sessions are your own, separated as in PATH",
    "database": "postgresql://… for a team's store; empty: a file in Hardwon's folder",
    "workspace": "which of the workspaces on that server, if there are several",
    "statement_seconds": "PostgreSQL cancels statements that take longer, except in long work; 0: never",
    "team_url": "the team's service that is pushed to and pulled from",
    "push_projects": "projects that may be pushed: git remotes with commas, * for any part",
    "push_never": "projects that are never pushed, whatever push_projects says",
    "team_authors": "on a team's service: who pushed is told as a pseudonym, or by name",
    "experiment": "on: withhold some lines at random to measure whether they help",
    "fusion_weight": "weight of meaning against words in search; 0: words only, no vectors",
    "search_sessions": "on: sessions can be searched by what was said and done",
    "embedding_url": "an OpenAI-compatible endpoint for vectors; empty: the local model",
    "embedding_model": "the model at that endpoint",
    "distil": "the model that reads sessions when they end: claude, codex, gemini or another",
    "distil_depth": "1 to 5: how much of a session's work a model is shown; more finds more, for more tokens",
    "llm_url": "an OpenAI-compatible endpoint for `distil`, or Anthropic's (…/messages)",
    "llm_model": "the model for `distil`",
    "llm_command": "a command to use instead: question on stdin, answer on stdout",
    "llm_tokens_per_day": "daily token limit for `distil`",
    "llm_cost_per_day": "daily cost limit for `distil`, at the prices below",
    "llm_price_in": "price of a million input tokens",
    "llm_price_out": "price of a million output tokens",
    "sample": "how many new sessions `up` reads at most, the most valuable first",
}
GROUPS = {
    "briefing": ("budget", "min_confidence", "half_life_days"),
    "sessions and store": (
        *("sample", "own_folders", "retain_days", "database", "workspace", "statement_seconds"),
        "experiment",
    ),
    "search": ("search_sessions", "fusion_weight", "embedding_url", "embedding_model"),
    "team": ("team_url", "push_projects", "push_never", "team_authors"),
    "a model that reads sessions": tuple(name for name in MEANINGS if name.startswith(("distil", "llm_"))),
}
"""What settings are about, in the order in which they are listed."""
_LOWEST: dict[str, float] = {
    "budget": 0,
    "min_confidence": 0,
    "half_life_days": 0.1,
    "sample": 1,
    "retain_days": 0,
    "fusion_weight": 0,
    "statement_seconds": 0,
    "distil_depth": 1,
    "llm_tokens_per_day": 0,
    "llm_cost_per_day": 0,
    "llm_price_in": 0,
    "llm_price_out": 0,
}
CHOICES = {
    "experiment": ("on", "off"),
    "search_sessions": ("on", "off"),
    "team_authors": ("pseudonym", "name"),
}
_HIGHEST: dict[str, float] = {"min_confidence": 1, "fusion_weight": 1, "distil_depth": 5}


class LoadedConfig(Struct, frozen=True):
    """The settings in force and where each was found: `default`, the file, or a variable."""

    config: Config
    origins: dict[str, str]


def load(home: Path, environment: Mapping[str, str] | None = None) -> LoadedConfig:
    environment = os.environ if environment is None else environment
    path = home / FILE
    values = _read(path)
    origins = dict.fromkeys(structs.asdict(Config()), "default")
    origins.update(dict.fromkeys(values, str(path)))
    for name in origins:
        variable = f"HARDWON_{name.upper()}"
        if variable in environment:
            values[name] = _parsed(name, environment[variable], variable)
            origins[name] = variable
    return LoadedConfig(_checked(values, origins), origins)


def save(home: Path, name: str, text: str) -> LoadedConfig:
    """Change one setting in the file, or let go of it (`default`); everything else in it stays as it is written.

    Raises BadConfig for a name or value that is none, and for a file that cannot be read.
    """
    import tomlkit  # noqa: PLC0415 - slow to load, and few write a setting

    path = home / FILE
    values = _read(path)
    _known(name)
    if text == "default":
        values.pop(name, None)
    else:
        values[name] = _parsed(name, text, f"value of {name}")
    _checked(values, dict.fromkeys(values, f"value of {name}"))
    private_folder(home)
    try:
        document = tomlkit.parse(_text(path, newline=""))
        if name in values:
            document[name] = values[name]
        else:
            document.pop(name, None)
    except ValueError as error:
        raise BadConfig(f"{path} cannot be changed without losing what is in it: {error}; edit it by hand") from error
    write_whole(path, _with_one_newline(tomlkit.dumps(document)))
    return load(home)


def _with_one_newline(text: str) -> str:
    """Lines that were added end as the others do."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else text


def _read(path: Path) -> dict[str, object]:
    try:
        text = _text(path)
        values = _parsed_toml(text) if text else {}
    except (ValueError, RecursionError) as error:
        raise BadConfig(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise BadConfig(f"{path} cannot be read: {error.strerror}") from error
    for name in values:
        _known(name, str(path))
    return values


def _parsed_toml(text: str) -> dict[str, object]:
    import tomllib  # noqa: PLC0415 - most have no settings of their own

    return tomllib.loads(text)


def _text(path: Path, newline: str | None = None) -> str:
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:  # editors on Windows write a mark before it
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""  # the store says what is wrong with such a home


def _known(name: str, where: str = "") -> None:
    names = list(structs.asdict(Config()))
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(names)}"
    raise BadConfig(f"{where}{': ' if where else ''}unknown setting '{name}'; {hint}")


def _parsed(name: str, text: str, where: str) -> object:
    _known(name, where)
    default = getattr(Config(), name)
    if isinstance(default, str):
        return text
    try:
        return float(text) if isinstance(default, float) else int(text)
    except ValueError:
        raise BadConfig(f"{where}: '{text}' is not a number") from None


def _checked(values: dict[str, object], origins: dict[str, str]) -> Config:
    try:
        config = convert(values, Config)
    except _ValidationError as error:
        name = str(error).rpartition("$.")[2].rstrip("`")
        raise BadConfig(f"{origins.get(name, FILE)}: {error}") from error
    for name, known in CHOICES.items():
        value = getattr(config, name)
        if value not in known:
            raise BadConfig(f"{origins.get(name, FILE)}: {name} = '{value}' is neither {' nor '.join(known)}")
    for name, value in structs.asdict(config).items():
        if name in _LOWEST and not _LOWEST[name] <= value <= _HIGHEST.get(name, math.inf):
            most = f" and at most {_HIGHEST[name]:g}" if name in _HIGHEST else ""
            raise BadConfig(
                f"{origins.get(name, FILE)}: {name} = {value} is out of range: at least {_LOWEST[name]:g}{most}"
            )
    return config
