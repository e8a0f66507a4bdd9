"""The files and commands that a task will most likely need, best first. Standard library only: a hook starts here."""

from __future__ import annotations

from hardwon.map.signals import Evidence, chances, scores

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from hardwon.map.known import Command, File, Known

_HALF_LIFE_SESSIONS = 16
_PURPOSES = ("test", "lint", "build", "check", "run")


class Ranked:
    """A map, ordered for one task."""

    __slots__ = ("commands", "evidence", "files", "known")

    def __init__(self, known: Known, task: str) -> None:
        self.known = known
        self.evidence = Evidence(known, task)
        """What the earlier sessions say about the task."""
        self.files: list[tuple[float, File]] = _files(known, self.evidence)
        """(chance, file), the likeliest first."""
        self.commands: list[tuple[float, Command]] = _commands(known, self.evidence)


def _files(known: Known, evidence: Evidence) -> list[tuple[float, File]]:
    ordered = zip(chances(scores(known, evidence)), known.files, strict=True)
    return sorted(ordered, key=lambda one: (-one[0], one[1].path))


def _commands(known: Known, evidence: Evidence) -> list[tuple[float, Command]]:
    """By how often each worked, lately for more, and in sessions with a task like this one."""
    count = len(known.visits)
    whole = sum(0.5 ** ((count - 1 - number) / _HALF_LIFE_SESSIONS) for number in range(count)) or 1.0
    found = []
    for command in known.commands:
        often = sum(0.5 ** ((count - 1 - number) / _HALF_LIFE_SESSIONS) for number in command.worked) / whole
        alike = max((evidence.likeness[number] for number in command.worked), default=0.0)
        found.append((often + 0.25 * alike, command))
    return sorted(found, key=lambda one: (-one[0], one[1].key))


def habits(known: Known, least_sessions: int = 2) -> list[Command]:
    """For each purpose the command that worked most often lately, if it did so in several sessions."""
    ranked = [command for _, command in _commands(known, Evidence(known, "")) if len(command.worked) >= least_sessions]
    found = []
    for purpose in _PURPOSES:
        chosen = next((command for command in ranked if command.purpose == purpose), None)
        if chosen is not None:
            found.append(chosen)
    return found
