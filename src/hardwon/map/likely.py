"""The files and commands that a task will most likely need, best first. Standard library only: a hook starts here."""

from __future__ import annotations

from hardwon.map.habits import parted, worked_lately
from hardwon.map.signals import Evidence, likely, topical

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from hardwon.map.known import Command, File, Known

_WEIGHT_OF_LIKENESS = 0.25
_TIMES_HERE = 8.0
"""How much likelier a file of the folder is where a session runs than the same one elsewhere."""


class Ranked:
    """A map, ordered for one task."""

    __slots__ = ("commands", "evidence", "files", "folder", "known")

    def __init__(self, known: Known, task: str, folder: str = "") -> None:
        self.known = known
        self.evidence = Evidence(known, task)
        """What the earlier sessions say about the task."""
        self.folder = folder or _package(known, self.evidence)
        """Where the session works, below the project's root: its files and commands come first."""
        self.files = self._ordered(likely(known, self.evidence))
        """(chance, file), the likeliest first."""
        self.commands: list[tuple[float, Command]] = _commands(self)

    def share_of(self, folder: str) -> float:
        """How much of what is likely lies below a folder."""
        return sum(chance for chance, file in self.files if file.path.startswith(f"{folder}/"))

    def _ordered(self, chances: list[float]) -> list[tuple[float, File]]:
        if self.folder:
            weighed = [
                chance * (_TIMES_HERE if file.path.startswith(f"{self.folder}/") else 1.0)
                for chance, file in zip(chances, self.known.files, strict=True)
            ]
            whole = sum(weighed) or 1.0
            chances = [value / whole for value in weighed]
        return sorted(zip(chances, self.known.files, strict=True), key=lambda one: (-one[0], one[1].path))

    def topical(self, file: File) -> float:
        """What the task itself says for a file."""
        return topical(self.evidence.rows[self.known.files.index(file)]) if self.evidence.rows else 0.0


def _package(known: Known, evidence: Evidence) -> str:
    """The one folder with commands of its own that the task names, if it names one."""
    folders = {parted(command.key)[0] for command in known.commands} - {""}
    said = evidence.asked.tokens
    named = [folder for folder in folders if folder.lower() in said or folder.lower().rpartition("/")[2] in said]
    return named[0] if len(named) == 1 else ""


def _commands(ranked: Ranked) -> list[tuple[float, Command]]:
    """By how often each worked, lately for more, and in sessions with a task like this one.

    What ran in a folder counts as much as the task has to do with that folder.
    """
    known, likeness = ranked.known, ranked.evidence.likeness
    count = len(known.visits)
    shares = {"": 1.0}
    found = []
    for command in known.commands:
        folder, _ = parted(command.key)
        if folder not in shares:
            shares[folder] = ranked.share_of(folder)
        often = worked_lately(command, count) / (count or 1)
        alike = max((likeness[number] for number in command.worked), default=0.0)
        found.append(((often + _WEIGHT_OF_LIKENESS * alike) * shares[folder], command))
    return sorted(found, key=lambda one: (-one[0], one[1].key))
