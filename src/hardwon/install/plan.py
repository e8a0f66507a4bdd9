"""What an installation would change, shown before it is done; done whole or not at all, a backup first."""

from __future__ import annotations

import difflib
import os
import shutil
import stat
from contextlib import suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from hardwon.durable import write_whole
from hardwon.errors import HardwonError, NotAllowed, NotFound
from hardwon.home import FORMER_NAME, private_folder
from hardwon.install.agents import AGENTS, Agent
from hardwon.install.command import Where, is_former
from hardwon.install.files import File, formerly_written, is_own

# What was made in other programs' settings, written down so that this can be taken out again and nothing else.

FILE = "installs.json"
BACKUP = ".hardwon-backup"


class Record(Struct, omit_defaults=True):
    """What was done to a settings file."""

    made: list[str] = []
    """What stands in it because of us, beside our hooks themselves."""
    after: str = ""
    """The hash of what we wrote; empty where the backup is not what was there right before."""
    existed: bool = False
    """Whether the file was there before us."""
    folders: list[str] = []
    """Those that were made for it, the innermost first."""
    backup: str = ""
    """The name of the file with what was there right before us; empty where it is the plain one."""


def record_of(home: Path, settings: Path) -> Record:
    """What was done to a settings file; nothing, if it was not us."""
    return _read(home).get(str(settings), Record())


def _keep(home: Path, settings: Path, record: Record | None) -> None:
    known = _read(home)
    if record is not None:
        known[str(settings)] = record
    elif known.pop(str(settings), None) is None:
        return
    private_folder(home)
    if known:
        write_whole(home / FILE, msgspec.json.format(msgspec.json.encode(known, order="sorted"), indent=2) + b"\n")
    else:
        (home / FILE).unlink(missing_ok=True)


def _read(home: Path) -> dict[str, Record]:
    try:
        known = msgspec.json.decode((home / FILE).read_bytes(), type=dict[str, Record | list[str]])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise HardwonError(f"cannot read {home / FILE}: {error}; move it away") from error
    return {path: Record(made=found) if isinstance(found, list) else found for path, found in known.items()}


class Change(NamedTuple):
    path: Path
    old: str | None
    """None where no file is."""
    new: str | None
    """None where no file is to be."""
    made: list[str] | None
    """What stands in it because of us, beside our hooks themselves; None when we leave."""

    is_ours_already: bool = False
    """Whether hooks of ours stand in the old text."""

    def diff(self) -> str:
        old, new = (text.splitlines() if text is not None else [] for text in (self.old, self.new))
        before, after = (str(self.path) if text is not None else "/dev/null" for text in (self.old, self.new))
        return "\n".join(difflib.unified_diff(old, new, before, after, lineterm=""))


_ALIKE = 0.5
"""What a name that was typed must share with the one that was meant."""


def agent_named(name: str) -> Agent:
    """Raises NotFound, with the names that there are."""
    if name not in AGENTS:
        begun = [one for one in AGENTS if name and one.startswith(name)]
        parts = {part: one for one in AGENTS for part in (one, one.partition("-")[0])}
        alike = difflib.get_close_matches(name, parts, n=len(parts), cutoff=_ALIKE)
        alike = [part for part in alike if part[0] == name[0]]  # few mistype how a word begins
        alike.sort(key=lambda part: part[:2] != name[:2])
        meant = next(iter(begun or [parts[part] for part in alike]), "")
        raise NotFound(
            f"unknown agent '{name}': "
            + (f"do you mean {meant}? " if meant else "")
            + f"choose one of {', '.join(AGENTS)}"
        )
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
            changes.append(Change(file.path, old, new, made, bool(old and file.ours(old))))
    return changes + _formerly(agent, where)


def removing(agent: Agent, where: Where, home: Path) -> list[Change]:
    """What is to be changed so that nothing of ours is left; `home` is where Hardwon keeps its record."""
    changes = []
    for file in agent.files(where):
        with _told(file.path):
            old = content(file.path)
            new = _without_us(file, old, record_of(home, file.path)) if old is not None else None
        if new != old:
            changes.append(Change(file.path, old, new, None))
    return changes + _formerly(agent, where)


def removing_everywhere(where: Where, home: Path) -> list[Change]:
    """What is to be changed so that no agent, and no project that we were put into, has anything of ours."""
    places = [(agent, where) for agent in AGENTS.values()]
    for path in map(Path, _read(home)):
        projects = [where._replace(project=folder) for folder in path.parents]
        places += [(agent, at) for at in projects for agent in AGENTS.values() if path in _paths(agent, at)]
    changes = {change.path: change for agent, at in places for change in removing(agent, at, home)}
    return list(changes.values())


def _paths(agent: Agent, where: Where) -> list[Path]:
    try:
        return [file.path for file in agent.files(where)]
    except NotAllowed:  # it has no settings of a project
        return []


def _without_us(file: File, old: str, record: Record) -> str | None:
    """As it was before, to the byte, if nobody has changed it since; else without what is ours."""
    if record.after == _hash(old):
        before = content(_backup_of(file.path, record)) if record.existed else None
        if before is not None or not record.existed:
            return before
    left = file.removed(old, record.made)
    return "" if left is None and record.existed else left


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
    """Make the changes; returns backups of what was changed. Raises HardwonError, and leaves that file as it was."""
    backups = []
    missing = [[str(folder) for folder in change.path.parents if not folder.exists()] for change in changes]
    for change, folders in zip(changes, missing, strict=True):
        with _told(change.path):
            if content(change.path) != change.old:
                raise HardwonError("another program changed it in the meantime: try again")
            backup = _take_out(change, home) if change.made is None else _put_in(change, home, folders)
            backups += [backup] if backup is not None else []
    return backups


def _put_in(change: Change, home: Path, folders: list[str]) -> Path | None:
    """Write it, and down what is needed to undo it; the backup of what others wrote, if they have since we did."""
    assert change.new is not None
    known = record_of(home, change.path)
    is_first = not change.is_ours_already
    """Also where the file was replaced by one without us."""
    is_untouched = known.after == _hash(change.old or "")
    kept, is_new = (None, False) if is_untouched and not is_first else _kept(change)
    record = Record(
        made=list(dict.fromkeys([*(() if is_first else known.made), *(change.made or ())])),
        after=_hash(change.new) if is_first or is_untouched else known.after,
        existed=change.old is not None if is_first else known.existed,
        folders=known.folders or folders,
        backup=(kept.name if kept else "") if is_first else known.backup,
    )
    try:
        _keep(home, change.path, record)
        change.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(change.path, change.new, shared=True)
    except OSError:
        if is_new and kept:
            kept.unlink(missing_ok=True)
        _remove_folders(folders)
        _keep(home, change.path, known if known != Record() else None)
        raise
    return kept


def _take_out(change: Change, home: Path) -> Path | None:
    """Write what is left without us, and clear away what is no longer needed; the backup, unless all is as it was."""
    record = record_of(home, change.path)
    is_untouched = record.after == _hash(change.old or "")
    kept = None
    if change.new is None:
        change.path.unlink(missing_ok=True)
        _tidy(change.path.parent)
        _remove_folders(record.folders)
    else:
        is_restored = is_untouched and content(_backup_of(change.path, record)) == change.new
        kept = None if is_restored else _kept(change)[0]
        write_whole(change.path, change.new, shared=True)
    if is_untouched and kept is None:  # it is as it was, and the backup says no more
        _backup_of(change.path, record).unlink(missing_ok=True)
    _keep(home, change.path, None)
    return kept


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _backup_of(path: Path, record: Record) -> Path:
    return path.with_name(record.backup or path.name + BACKUP)


def _kept(change: Change) -> tuple[Path | None, bool]:
    """(a backup of what the change is about to write over, whether it was made for it); an earlier one stays.

    A file that is ours alone has nothing to be kept.
    """
    if change.old is None or is_own(change.old):
        return None, False
    at = plain = change.path.with_name(change.path.name + BACKUP)
    for number in count(1):
        if not os.path.lexists(at):
            break
        if at.is_file() and not at.is_symlink() and at.read_bytes() == change.old.encode():
            return at, False
        at = plain.with_name(f"{plain.name}-{number}")
    shutil.copy2(change.path, at)
    return at, True


def _remove_folders(folders: list[str]) -> None:
    for folder in folders:
        with suppress(OSError):  # somebody else keeps something there
            Path(folder).rmdir()


def content(path: Path) -> str | None:
    """The text of a settings file; None if there is none. What is no plain file is not touched."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(status.st_mode):
        raise HardwonError(f"it is a symbolic link to {path.readlink()}, which Hardwon does not replace")
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
