"""What an installation would change, shown before it is done; done whole or not at all, a backup first."""

from __future__ import annotations

import difflib
import json
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hardwon.durable import write_whole
from hardwon.errors import HardwonError, NotFound
from hardwon.home import FORMER_NAME, private_folder
from hardwon.install.agents import AGENTS, Agent
from hardwon.install.command import Where, is_former
from hardwon.install.files import formerly_written

# What was made in other programs' settings, written down so that this can be taken out again and nothing else.

FILE = "installs.json"
BACKUP = ".hardwon-backup"


def made_in(home: Path, settings: Path) -> list[str]:
    """What was made in a settings file, by the names that `keep` was given."""
    found = _read(home).get(str(settings), [])
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def keep(home: Path, settings: Path, made: list[str]) -> None:
    """Remember what was made, beside what was made before; an empty list forgets the file."""
    known = _read(home)
    if made:
        known[str(settings)] = list(dict.fromkeys([*made_in(home, settings), *made]))
    elif known.pop(str(settings), None) is None:
        return
    private_folder(home)
    write_whole(home / FILE, json.dumps(known, indent=2, sort_keys=True) + "\n")


def _read(home: Path) -> dict[str, object]:
    try:
        known = json.loads((home / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise HardwonError(f"cannot read {home / FILE}: {error}; move it away") from error
    return known if isinstance(known, dict) else {}


class Change(NamedTuple):
    path: Path
    old: str | None
    """None where no file is."""
    new: str | None
    """None where no file is to be."""
    made: list[str] | None
    """What stands in it because of us, beside our hooks themselves; None when we leave."""

    def diff(self) -> str:
        old, new = (text.splitlines() if text is not None else [] for text in (self.old, self.new))
        before, after = (str(self.path) if text is not None else "/dev/null" for text in (self.old, self.new))
        return "\n".join(difflib.unified_diff(old, new, before, after, lineterm=""))


def agent_named(name: str) -> Agent:
    """Raises NotFound, with the names that there are."""
    if name not in AGENTS:
        raise NotFound(f"unknown agent '{name}': choose one of {', '.join(AGENTS)}")
    return AGENTS[name]


def is_there(agent: Agent, where: Where) -> bool:
    """Whether the machine has the agent: its settings, or its program."""
    return agent.folder(where).is_dir() or where.has(agent.program)


def installing(agent: Agent, where: Where) -> list[Change]:
    """What is to be changed so that the agent has our hooks; nothing, if it has them. Raises NotFound, HardwonError."""
    if not where.project and not is_there(agent, where):
        raise NotFound(
            f"{agent.title} is not installed on this machine: there is no {agent.folder(where)} "
            f"and no program `{agent.program}`"
        )
    changes = []
    for file in agent.files(where):
        with _told(file.path):
            old = content(file.path)
            new, made = file.installed(old)
        if new != old:
            changes.append(Change(file.path, old, new, made))
    return changes + _formerly(agent, where)


def removing(agent: Agent, where: Where, home: Path) -> list[Change]:
    """What is to be changed so that nothing of ours is left; `home` is where Hardwon keeps its record."""
    changes = []
    for file in agent.files(where):
        with _told(file.path):
            old = content(file.path)
            new = file.removed(old, made_in(home, file.path)) if old is not None else None
        if new != old:
            changes.append(Change(file.path, old, new, None))
    return changes + _formerly(agent, where)


def _formerly(agent: Agent, where: Where) -> list[Change]:
    """Files of our own under the former name are taken away."""
    found = [formerly_written(file) for file in agent.files(where)]
    return [Change(path, text, None, None) for path, text in filter(None, found)]


def moving_over(where: Where) -> list[tuple[Agent, list[Change]]]:
    """What is to be changed in each agent's settings that still calls us by our former name."""
    found = []
    for agent in AGENTS.values():
        with suppress(HardwonError, OSError):  # `status` says what is wrong with such settings
            lines = [line for file in agent.files(where) if (old := content(file.path)) for _, line in file.ours(old)]
            if any(map(is_former, lines)) or _formerly(agent, where):
                found.append((agent, installing(agent, where)))
    return found


def apply(changes: list[Change], home: Path) -> list[Path]:
    """Make the changes; returns the backups of what was there. Raises HardwonError, and leaves that file as it was."""
    backups = []
    for change in changes:
        with _told(change.path):
            if content(change.path) != change.old:
                raise HardwonError("another program changed it in the meantime; try again")
            if change.old is not None and change.new is not None:
                backups.append(_backup(change.path))
            if change.made:
                keep(home, change.path, change.made)
            _write(change)
        if change.made is None:
            keep(home, change.path, [])
    return backups


def _backup(path: Path) -> Path:
    backup = path.with_name(path.name + BACKUP)
    shutil.copy2(path, backup)
    return backup


def _write(change: Change) -> None:
    if change.new is None:
        change.path.unlink(missing_ok=True)
        _tidy(change.path.parent)
        return
    change.path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(change.path, change.new, shared=True)


def content(path: Path) -> str | None:
    """The text of a settings file; None if there is none. What is no plain file is not touched."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(status.st_mode):
        raise HardwonError(f"it is a symbolic link to {path.readlink()}, which Hardwon would replace by a file")
    if not stat.S_ISREG(status.st_mode):
        raise HardwonError("it is not a regular file")
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


class _told:  # noqa: N801 - reads as a verb
    """Whatever is wrong with a settings file is said in a line that names it, and that nothing was changed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, HardwonError | OSError | UnicodeDecodeError):
            why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error
            raise HardwonError(f"{self._path} was not changed: {why}") from error


def _tidy(folder: Path) -> None:
    """A folder that was ours alone goes with what was in it."""
    if folder.name in ("hardwon", FORMER_NAME):
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        with suppress(OSError):  # somebody else keeps something there
            folder.rmdir()
