"""The files and commands that a task will most likely need, best first. Standard library only: a hook starts here."""

from __future__ import annotations

from hardwon.map.habits import worked_lately
from hardwon.map.signals import Evidence, likely, topical

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from hardwon.map.known import Command, File, Known

_WEIGHT_OF_LIKENESS = 0.25


class Ranked:
    """A map, ordered for one task."""

    __slots__ = ("commands", "evidence", "files", "known")

    def __init__(self, known: Known, task: str) -> None:
        self.known = known
        self.evidence = Evidence(known, task)
        """What the earlier sessions say about the task."""
        self.files: list[tuple[float, File]] = sorted(
            zip(likely(known, self.evidence), known.files, strict=True), key=lambda one: (-one[0], one[1].path)
        )
        """(chance, file), the likeliest first."""
        self.commands: list[tuple[float, Command]] = _commands(known, self.evidence)

    def topical(self, file: File) -> float:
        """What the task itself says for a file."""
        return topical(self.evidence.rows[self.known.files.index(file)]) if self.evidence.rows else 0.0


def _commands(known: Known, evidence: Evidence) -> list[tuple[float, Command]]:
    """By how often each worked, lately for more, and in sessions with a task like this one."""
    count = len(known.visits)
    found = []
    for command in known.commands:
        often = worked_lately(command, count) / (count or 1)
        alike = max((evidence.likeness[number] for number in command.worked), default=0.0)
        found.append((often + _WEIGHT_OF_LIKENESS * alike, command))
    return sorted(found, key=lambda one: (-one[0], one[1].key))
