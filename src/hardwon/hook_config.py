"""The settings that hooks follow, read with next to nothing: a TOML parser loads nearly as long as Python itself.

A file of plain lines (`name = value`, comments) is read here; for any other the parser is loaded after all. A file that
nobody can parse, or a value that cannot be meant, silences no hook: what is certain holds, the rest is as it comes.
"""

from __future__ import annotations

import os
import re

from hardwon.home import MIRROR

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

FILE = "config.toml"
BUDGET = 2000
MIN_CONFIDENCE = 0.7
_BYTES_READ = 1 << 20
# As texts: most homes have no settings file, and compiling takes longer than all else here.
_PLAIN_LINE = (
    r"[ \t]*(?:([A-Za-z0-9_-]+)[ \t]*=[ \t]*"
    r"""("[^"\\]*"|'[^']*'|[+-]?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?|true|false)[ \t]*)?(?:#.*)?"""
)
_NAMES_A_DATABASE = r"(?m)^[ \t]*[\"']?database\b"
_OFF = (False, "off", "false", "0", "")


class HookConfig:
    """What is set, and `trouble`: what of it could not be used, in words for `hardwon doctor`."""

    __slots__ = ("budget", "database", "experiment", "min_confidence", "team_url", "trouble")

    def __init__(self) -> None:
        self.budget = BUDGET
        self.min_confidence = MIN_CONFIDENCE
        self.database = ""
        """Not empty: the store is on a server, and a file that it left here may hold what was forgotten since."""
        self.experiment: object = "off"
        self.team_url = ""
        """Not empty: what the team knows stands with what this machine does in the file that a server's store has."""
        self.trouble = ""

    @property
    def is_on_server(self) -> bool:
        return bool(self.database)

    @property
    def is_experiment(self) -> bool:
        return not says_off(self.experiment)


def says_off(value: object) -> bool:
    return value in _OFF


def load(home: str, environment: Mapping[str, str] = os.environ) -> HookConfig:
    """The settings in force: `config.toml` in `home`, overridden by `HARDWON_<NAME>` variables. Raises nothing."""
    config = HookConfig()
    values, config.trouble = _in_file(home)
    for name, (kind, fits) in _SETTINGS.items():
        variable = f"HARDWON_{name.upper()}"
        if name in values:
            _set(config, name, values[name], fits, FILE)
        if variable in environment:
            try:
                _set(config, name, kind(environment[variable]), fits, variable)
            except ValueError:
                config.trouble = config.trouble or f"{variable} is not a number"
    return config


def _set(config: HookConfig, name: str, value: object, fits: Callable[[Any], bool], where: str) -> None:
    if fits(value):
        setattr(config, name, value)
    else:
        config.trouble = config.trouble or f"{where}: {name} has a value that cannot be used"


_SETTINGS: dict[str, tuple[Callable[[str], object], Callable[[Any], bool]]] = {
    "budget": (int, lambda value: type(value) is int and value >= 0),
    "min_confidence": (float, lambda value: type(value) in (int, float) and 0 <= value <= 1),
    "database": (str, lambda value: isinstance(value, str)),
    "team_url": (str, lambda value: isinstance(value, str)),
    "experiment": (str, lambda value: value == "on" or says_off(value)),
}
"""Name → (how a variable's text is read, what may be set)."""


def _in_file(home: str) -> tuple[dict[str, object], str]:
    try:
        with open(os.path.join(home, FILE), encoding="utf-8-sig", errors="surrogateescape") as file:
            text = file.read(_BYTES_READ)
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except OSError as error:
        return {}, f"{FILE} cannot be read: {error.strerror}"
    values, odd = _plain(text)
    if not odd:
        return values, ""
    import tomllib  # noqa: PLC0415 - see above

    try:
        text.encode()  # what is no text is no TOML
        return tomllib.loads(text), ""
    except (ValueError, RecursionError):
        if (
            "database" not in values
            and re.search(_NAMES_A_DATABASE, text)
            and os.path.exists(os.path.join(home, MIRROR))
        ):
            values["database"] = "unreadable"  # better what hooks were given of a server than a file that it left here
        return values, f"{FILE} is not valid TOML, perhaps in line {odd}"


def _plain(text: str) -> tuple[dict[str, object], int]:
    """(what the plain lines say, the first line that is not one or says something again; 0 if there is none)."""
    values: dict[str, object] = {}
    twice = set()
    odd = 0
    for number, line in enumerate(text.split("\n"), 1):
        found = re.fullmatch(_PLAIN_LINE, line)
        if found is None or not line.replace("\t", "").isprintable():
            odd = odd or number
        elif found[1] in values:
            odd = odd or number
            twice.add(found[1])
        elif found[1]:
            values[found[1]] = _value(found[2])
    return {name: value for name, value in values.items() if name not in twice}, odd


def _value(written: str) -> object:
    if written[0] in "\"'":
        return written[1:-1]
    if written in ("true", "false"):
        return written == "true"
    return float(written) if "." in written else int(written)
