"""Would the map have led there? Walk the sessions in time; draw the map from the earlier ones; see where each went.

No labels are needed: of the files that a session edited (and read, and the commands it ran) that earlier sessions had
touched, how many were among the first k told. A session knows only sessions that ended before it began.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from statistics import mean, median, stdev
from typing import NamedTuple

from msgspec import Struct

from hardwon.map.draw import Sketch, Trip
from hardwon.map.known import VISITS_KEPT, File, Known, parted
from hardwon.map.signals import PROMPT_CHARACTERS_READ, Ranked, asked, worth_telling
from hardwon.map.touched import tellable
from hardwon.map.wording import FOR_THIS_TASK, VISITS_TRIED, for_task, often_enough
from hardwon.text.shown import estimate
from hardwon.text.words import terms

TOLD = 10
"""As many files, and as many commands, are told."""


class Scene(NamedTuple):
    """A session, the sessions that had ended when it began, and the map of these for its task."""

    trip: Trip
    earlier: Sequence[Trip]
    known: Known
    touched: frozenset[str]
    """Every file that any of the earlier ones had touched, whether the map has room for it or not."""


def scenes(history: Sequence[Trip], visits: int = VISITS_KEPT, first: int = 0) -> Iterator[Scene]:
    """Every session of a project in turn, from the first that is wanted; the map has the newest that had ended."""
    ended: list[Trip] = []
    touched: set[str] = set()
    running: list[tuple[int, str, Trip]] = []
    sketch = Sketch()
    for number, trip in enumerate(sorted(history, key=lambda trip: (trip.at, trip.root))):
        while running and running[0][0] <= trip.at:
            ended.append(past := heapq.heappop(running)[2])
            touched.update(past.edited, past.looked)
            touched -= past.deleted
        if number >= first:
            ended.sort(key=lambda past: (past.at, past.root))
            yield Scene(trip, ended[-visits:], sketch.draw(ended[-visits:], trip.words), frozenset(touched))
        heapq.heappush(running, (max(trip.ended_at, trip.at + 1), trip.root, trip))


class Recall(NamedTuple):
    """Of one session and one way of choosing: what was known and needed, and how much of it was told."""

    needed: int
    told: int


Order = Callable[[Known, str], list[File]]


def _frequency(known: Known, _: str) -> list[File]:
    return sorted(known.files, key=lambda file: (-len(file.edited), -len(file.looked), file.path))


def _touched(known: Known, _: str) -> list[File]:
    return sorted(known.files, key=lambda file: (-len(file.touched), file.path))


def _recency(known: Known, _: str) -> list[File]:
    return sorted(known.files, key=lambda file: (-max(file.edited, default=-1), -max(file.touched), file.path))


def _named(known: Known, task: str) -> list[File]:
    names = asked(task).names
    return [file for file in known.files if names(file.path)]


@lru_cache(maxsize=1 << 14)
def _words_of(path: str) -> tuple[str, ...]:
    return tuple(terms(path))


def _by_words(known: Known, task: str) -> list[File]:
    """BM25 of the task over the words of the paths."""
    words = {file.path: _words_of(file.path) for file in known.files}
    usual = sum(map(len, words.values())) / (len(words) or 1) or 1.0
    said = asked(task).terms if len(task) <= PROMPT_CHARACTERS_READ else set(terms(task))
    shared = [(file, found) for file in known.files if (found := said.intersection(words[file.path]))]
    held = Counter(term for _, found in shared for term in found)
    rarity = {term: math.log(1 + (len(words) - count + 0.5) / (count + 0.5)) for term, count in held.items()}

    def score(own: tuple[str, ...], found: set[str]) -> float:
        damping = 1.2 * (0.25 + 0.75 * len(own) / usual)
        return sum(rarity[term] * own.count(term) * 2.2 / (own.count(term) + damping) for term in found)

    scored = sorted((-score(words[file.path], found), file.path, file) for file, found in shared)
    return [file for value, _, file in scored if value]


def _ours(known: Known, task: str) -> list[File]:
    return [file for _, file in _ranked(known, task).files]


@lru_cache(maxsize=2)  # each is asked for with the prompt and without, and for several things
def _ranked(known: Known, task: str) -> Ranked:
    return Ranked(known, task)


WAYS: dict[str, tuple[Order, bool]] = {
    "the map": (_ours, True),
    "the map without a prompt": (_ours, False),
    "how often edited": (_frequency, False),
    "how often touched": (_touched, False),
    "how lately": (_recency, False),
    "named in the prompt": (_named, True),
    "words of the paths": (_by_words, True),
}
"""Ways to choose files, and whether each is given the prompt."""
COMMAND_WAYS = ("the map", "how often", "how often, of those that may be told")


class Outcome(NamedTuple):
    """One session of the walk."""

    at: int
    looks: int | None
    known_files: int
    edited: dict[str, Recall]
    read: dict[str, Recall]
    unnamed: dict[str, Recall]
    """Edited files that the prompt does not name."""
    commands: dict[str, Recall]
    told: int
    """Lines with a file that its prompt would have been answered with."""
    came_true: int
    """Of these, files that it then edited or read."""
    led: bool
    """Whether it edited one of them."""
    tokens: int
    """What that answer takes."""


class Tried(NamedTuple):
    """One session, as if nobody had looked whether what was told before came true."""

    outcome: Outcome
    told: int
    """Files that the map would have told it."""
    came_true: int
    newest: tuple[int, ...]
    """When the sessions began that tell whether that is worth it."""


def outcomes(history: Sequence[Trip], k: int = TOLD) -> Iterator[Outcome]:
    return in_turn(tries(history, k=k))


def in_turn(tried: Iterable[Tried]) -> Iterator[Outcome]:
    """The sessions of a project in their order, each told nothing where too little of what was told had come true."""
    before: dict[int, tuple[int, int]] = {}
    for one, told, came_true, newest in tried:
        pays = often_enough(before[at] for at in newest)
        before[one.at] = told, came_true
        yield one if pays else one._replace(told=0, came_true=0, led=False, tokens=0)


def tries(history: Sequence[Trip], first: int = 0, k: int = TOLD) -> Iterator[Tried]:
    """Of each session, from the first that is wanted."""
    for trip, earlier, known, touched in scenes(history, first=first):
        told_files = worth_telling(_ranked(known, trip.words)) if known.visits else []
        used = trip.edited | trip.looked
        names = asked(trip.words).names
        edited, read = needed(trip.edited, touched), needed(trip.looked - trip.edited, touched)
        unnamed = {path for path in edited if not names(path)}
        told = {}
        if edited or read:
            told = {
                way: [file.path for file in order(known, trip.words if prompted else "")]
                for way, (order, prompted) in WAYS.items()
            }
        outcome = Outcome(
            trip.at,
            trip.looks,
            len(known.files),
            {way: _recall(edited, paths[:k]) for way, paths in told.items()},
            {way: _recall(read, paths[:k]) for way, paths in told.items()},
            {way: _recall(unnamed, paths[:k]) for way, paths in told.items()},
            _commands(known, trip, earlier, k),
            *_answered(known, trip),
        )
        newest = tuple(visit.at for visit in known.visits[-VISITS_TRIED:])
        yield Tried(outcome, len(told_files), sum(file.path in used for file in told_files), newest)


def needed(used: Iterable[str], touched: AbstractSet[str]) -> set[str]:
    """Of the files that a session used those that could have been told: touched before, not generated, no order."""
    return {path for path in used if path in touched and tellable(path)}


def _answered(known: Known, trip: Trip) -> tuple[int, int, bool, int]:
    lines = for_task(known, trip.words, trip.at, ordered=_ranked)
    files = [line.partition("`: ")[0][1:] for line in lines if line.startswith("`")]
    used = trip.edited | trip.looked
    block = estimate("\n".join((FOR_THIS_TASK, *(f"- {line}" for line in lines)))) if lines else 0
    led = not trip.edited.isdisjoint(files)
    return len(files), sum(path in used for path in files), led, block


def _recall(needed: Iterable[str], told: Sequence[str]) -> Recall:
    wanted = set(needed)
    return Recall(len(wanted), len(wanted.intersection(told)))


def _commands(known: Known, trip: Trip, earlier: Sequence[Trip], k: int) -> dict[str, Recall]:
    often = Counter(command for past in earlier for command in {run.command for run in past.ran})
    needed = {run.command for run in trip.ran} & often.keys()
    if not needed:
        return {}
    by_count = sorted(often, key=lambda command: (-often[command], command))
    ranked = list(dict.fromkeys(parted(command.key)[1] for _, command in _ranked(known, trip.words).commands))
    tellable = [command for command in by_count if command in set(ranked)]
    told = dict(zip(COMMAND_WAYS, (ranked, by_count, tellable), strict=True))
    return {way: _recall(needed, commands[:k]) for way, commands in told.items()}


class Share(Struct, frozen=True):
    """A mean over sessions, with the 95 % interval that their spread allows."""

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None


class ProjectMap(Struct, frozen=True, kw_only=True):
    project: str
    sessions: int
    edited: dict[str, Share]
    """Way of choosing → of the known files that a session edited, those among the first ten."""
    unnamed: dict[str, Share]
    """The same of files that the prompt does not name."""
    read: dict[str, Share]
    commands: dict[str, Share]
    told: int
    """Lines with a file that prompts would have been answered with."""
    precision: float | None
    """Of these, files that the session then touched."""
    answered: int
    """Sessions that would have been told something."""
    tokens_p50: int
    looks: int
    """Calls that only looked around before the first edit, in sessions that edited."""
    looks_led: int
    """Of these, in sessions that were told a file which they edited: the most that could have been saved."""


def summarise(name: str, found: Iterable[Outcome]) -> ProjectMap:
    walked = list(found)
    told = sum(one.told for one in walked)
    answered = [one for one in walked if one.told]
    return ProjectMap(
        project=name,
        sessions=len(walked),
        edited={way: share(one.edited.get(way) for one in walked) for way in WAYS},
        unnamed={way: share(one.unnamed.get(way) for one in walked) for way in WAYS},
        read={way: share(one.read.get(way) for one in walked) for way in WAYS},
        commands={way: share(one.commands.get(way) for one in walked) for way in COMMAND_WAYS},
        told=told,
        precision=round(sum(one.came_true for one in walked) / told, 4) if told else None,
        answered=len(answered),
        tokens_p50=int(median(one.tokens for one in answered)) if answered else 0,
        looks=sum(one.looks or 0 for one in walked),
        looks_led=sum(one.looks or 0 for one in walked if one.led),
    )


def share(found: Iterable[Recall | None]) -> Share:
    """The mean over the sessions that needed something known."""
    shares = [one.told / one.needed for one in found if one and one.needed]
    if not shares:
        return Share(None, 0)
    value = mean(shares)
    wide = 1.96 * stdev(shares) / math.sqrt(len(shares)) if len(shares) > 1 else 1.0
    return Share(round(value, 4), len(shares), round(max(0.0, value - wide), 4), round(min(1.0, value + wide), 4))
