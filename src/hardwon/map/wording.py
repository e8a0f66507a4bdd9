"""The map in words: why each file is worth a look, and the short blocks that agents are told. Standard library only.

Everything is worded as a candidate to verify: what an agent trusts blindly leads it astray when it is wrong.
"""

from __future__ import annotations

import time

from hardwon.map.known import LEAST_VISITS, age, habits, how_it_ended, parted, within
from hardwon.map.signals import Ranked, worth_telling
from hardwon.text.shown import one_line
from hardwon.text.words import is_telling, terms

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from hardwon.map.known import Command, File, Known

TASK_TOKENS = 150
"""Most that the map takes of the answer to a prompt."""
FOR_THIS_TASK = "WHERE EARLIER SESSIONS WENT FOR TASKS LIKE THIS (candidates to verify, not orders):"
_COMMANDS_TOLD = 2
_COMMANDS_OF_A_TASK = 4
_SAID_OF_ANYTHING = frozenset(
    terms("add run get create update list show set new init start fix use make change file check view edit open all")
)
"""Words of commands that tasks of any kind have, too."""
_LEAST_SHARE = 1 / 3
_FEW_FILES = 5
"""Of the sessions about a word, or with another file, so many must have gone to a file before that is a reason."""
VISITS_TRIED = 20
"""The map is tried on so many of the newest sessions: where what it tells does not come true, it keeps silent."""
_LEAST_PRECISION = 0.25


def why(ranked: Ranked, file: File, now: int) -> str:
    """What speaks for a file, in a few words."""
    topic = _topic(ranked, file)
    did, numbers = ("edited", file.edited) if file.edited else ("read", file.looked)
    last = age(now - ranked.known.visits[max(file.touched)].at)
    often = f"{did} in {len(numbers)} of {len(ranked.known.visits)} sessions"
    return f"{topic or often}, last {last}"


def _topic(ranked: Ranked, file: File) -> str:
    """What it has to do with the task."""
    evidence = ranked.evidence
    if evidence.asked.names(file.path):
        return "named in the task"
    if (about := _about(ranked, file.edited)) is not None:
        term, among, whole = about
        word = evidence.asked.whole(term, [visit.terms for visit in ranked.known.visits if term in visit.terms])
        return f'edited in {among} of {whole} sessions about "{word}"'
    companion = _companion(ranked, file)
    if companion is not None:
        return companion
    for what, words in (("name", file.terms), ("folder", file.path_terms)):
        if shared := [
            term for term in words if term in evidence.asked.terms and not _is_everywhere(ranked.known, term)
        ]:
            return f'its {what} has "{one_line(evidence.asked.word(shared[0]))}"'
    return ""


def _is_everywhere(known: Known, term: str) -> bool:
    """Such as the project's own name, which many of its paths hold."""
    return sum(term in file.path_terms for file in known.files) > max(_FEW_FILES, len(known.files) * _LEAST_SHARE)


def _about(ranked: Ranked, sessions: Collection[int]) -> tuple[str, int, int] | None:
    """(word of the task, those of some sessions that have it, all sessions with it): the word that tells the most."""
    own = set(sessions)
    best: tuple[float, str, int, int] | None = None
    for term in sorted(ranked.evidence.asked.terms):
        numbers = [number for number, visit in enumerate(ranked.known.visits) if term in visit.terms]
        among = len(own.intersection(numbers))
        if among < 2 or not is_telling(term) or len(numbers) > len(ranked.known.visits) / 2:
            continue
        if among < _LEAST_SHARE * len(numbers):
            continue
        value = among * among / len(numbers)
        if best is None or value > best[0]:
            best = value, term, among, len(numbers)
    return best and best[1:]


def _companion(ranked: Ranked, file: File) -> str | None:
    """The file that the task speaks of and this one goes with most, by its whole path: many share a name."""
    best: tuple[float, int, File] | None = None
    for other in ranked.evidence.named:
        both = len(file.touched & other.touched)
        share = both / len(other.touched)
        if other is not file and both > 1 and share >= _LEAST_SHARE and (best is None or share > best[0]):
            best = share, both, other
    if best is None:
        return None
    _, both, other = best
    return f"touched in {both} of {len(other.touched)} sessions with {other.path}"


def commands_for(ranked: Ranked) -> list[tuple[float, Command]]:
    """Of the commands of a map those that have to do with its task: few, the project's checks behind the others.

    What the task speaks of, and what ran in sessions about the same and hardly in others; without a task all of them.
    """
    if not ranked.evidence.asked.terms:
        return ranked.commands
    checks = checks_of(ranked.known, ranked.folder)
    about = [one for one in ranked.commands if one[1] not in checks and _has_to_do(ranked, one[1])]
    worth = {command.key: value for value, command in ranked.commands}
    return [*about[:_COMMANDS_OF_A_TASK], *((worth[command.key], command) for command in checks)]


def checks_of(known: Known, folder: str) -> list[Command]:
    """How a change to the project is checked."""
    return [one for one in habits(known, folder) if one.purpose in ("test", "lint", "build")][:_COMMANDS_TOLD]


def _has_to_do(ranked: Ranked, command: Command) -> bool:
    said = ranked.evidence.asked.terms - _SAID_OF_ANYTHING
    if not said.isdisjoint({*terms(parted(command.key)[1]), *terms(command.purpose)}):
        return True
    return _telling(ranked, command) is not None


def _telling(ranked: Ranked, command: Command) -> tuple[str, int, int] | None:
    """The word of the task that half of the sessions with the command were about."""
    about = _about(ranked, command.worked)
    return about if about and 2 * about[1] >= len(command.worked) else None


def command_why(command: Command, known: Known, now: int) -> str:
    ran = len({*command.worked, *command.failed})
    worked = f"ran in {ran} of {len(known.visits)} sessions{how_it_ended(command)}"
    if not command.worked:
        worked = f"failed in {len(command.failed)} of {len(known.visits)} sessions, never worked"
    last = f", last {age(now - known.visits[command.worked[-1]].at)}" if command.worked else ""
    return f"{command.purpose}: {worked}{last}" if command.purpose else f"{worked}{last}"


# What an agent is told at its prompt: the few files that the task itself speaks for.


def for_task(
    known: Known, task: str, now: int | None = None, folder: str = "", ordered: Callable[..., Ranked] = Ranked
) -> list[str]:
    """The lines of the block, without its heading; none where nothing is known of such a task.

    `ordered` is for who asks for several things of one map and one task.
    """
    if len(known.visits) < LEAST_VISITS or not comes_true(known):
        return []
    ranked = ordered(known, task, folder) if folder else ordered(known, task)
    at = time.time_ns() // 1000 if now is None else now
    reason = _companion if any(ranked.evidence.asked.names(file.path) for file in ranked.evidence.named) else _topic
    files = [file for file in worth_telling(ranked) if reason(ranked, file)]  # not what any task would be told
    if not files:
        return []
    shown = ", ".join(f"`{one_line(command.text)}`" for command in checks_of(known, folder))
    checked = [f"checked with {shown}"] if shown else []
    lines = [f"`{file.path}`: {why(ranked, file, at)}" for file in files]
    return within(FOR_THIS_TASK, [*lines[:1], *checked, *lines[1:]], TASK_TOKENS)  # no search finds how it is checked


def comes_true(known: Known) -> bool:
    """Whether the newest sessions went where the map would have led them, often enough to be worth the tokens."""
    return often_enough((visit.told, visit.came_true) for visit in known.visits[-VISITS_TRIED:])


def often_enough(tried: Iterable[tuple[int, int]]) -> bool:
    """(files told, files of them that came true) of some sessions."""
    several = list(tried)
    wanted: float = _LEAST_PRECISION * sum(told for told, _ in several)
    return sum(came_true for _, came_true in several) >= wanted
