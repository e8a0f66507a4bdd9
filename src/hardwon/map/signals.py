"""What speaks for a file when a task is set: twelve signals, and one number made of them. Standard library only.

Each signal was kept because it raised how many of the files that a session then edited were among the first ten, on
projects that the weights had not seen (`python -m benchmarks.map_train`, which also writes the weights).
"""

from __future__ import annotations

import math
import re
from binascii import b2a_base64, crc32
from functools import lru_cache
from operator import mul

from hardwon.text.words import stem, terms, unique_terms

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from hardwon.map.known import File, Known

    Weights = tuple[float, ...]

TO_EDIT = (0.307, -0.074, 0.310, 0.398, 0.834, 1.242, 0.839, 0.818, 0.474, 0.878, 0.457, 1.491)
"""Weights of `SIGNALS`, in their order, that tell which files will be edited."""
TO_READ = (-0.152, 0.348, 0.058, 0.331, 0.245, 1.529, 0.385, 0.920, 0.641, 0.928, 1.334, 0.961)
"""Weights that tell which files will be read only."""
WITHOUT_TASK = (0.804, 0.628)
"""Edited lately, edited often: where nobody has said what to do."""
_SHARE_OF_READING = 0.5
_SHARE_OF_FREQUENCY = 0.25
"""What is likely to be edited counts for one. How often a file was touched keeps a map of few sessions from erring."""
PROMPT_CHARACTERS_READ = 8_000
_HALF_LIFE_SESSIONS = 4
_COMMON_SHARE = 0.5
"""A word that more of the earlier tasks have tells nothing."""
_MOST_OF_A_FOLDER = 3.0
_LEAST_STEM_CHARACTERS = 5
_SEPARATORS = re.compile(r"[/._-]+")
_LETTERS = re.compile(r"[a-z]+")
_TOKEN = re.compile(r"[\w./@+\\-]+")

SIGNALS = (
    "edited lately",
    "touched lately",
    "folder edited lately",
    "how long ago",
    "name in the task",
    "named",
    "task alike",
    "read for it",
    "goes with",
    "read most for it",
    "words of the task in its path",
    "words of the task in it",
)

_GENERAL = 4
"""The first ones hold for every task."""


class Asked:
    """A task, taken apart."""

    __slots__ = ("_paths", "_read", "terms", "tokens")

    def __init__(self, task: str) -> None:
        self._read = read = task[:PROMPT_CHARACTERS_READ]
        self.terms = set(unique_terms(read))
        self.tokens = {token.strip("./@-").replace("\\", "/") for token in _TOKEN.findall(read.lower())}
        self._paths = [token for token in self.tokens if "/" in token]

    def names(self, path: str) -> bool:
        """Whether the task names a file: by its path, the end of it, or its name."""
        lowered = path.lower()
        base = lowered.rpartition("/")[2]
        if lowered in self.tokens or base in self.tokens:
            return True
        return any(_ends_alike(token, lowered) for token in self._paths) if self._paths else False

    def word(self, term: str) -> str:
        """The word of the task that a term was made of."""
        return next((word for word in _LETTERS.findall(self._read.lower()) if stem(word) == term), term)

    def hints(self, path: str) -> bool:
        """Whether it names a file, be it without its ending, as one speaks of a module."""
        stem = path.lower().rpartition("/")[2].partition(".")[0]
        return (len(stem) >= _LEAST_STEM_CHARACTERS and stem in self.tokens) or self.names(path)


def _ends_alike(token: str, path: str) -> bool:
    return token.endswith(f"/{path}") or path.endswith(f"/{token}")


class Evidence:
    """What the earlier sessions say about a task."""

    __slots__ = ("_folders", "_rarity", "_recent", "asked", "likeness", "named", "rows", "shares")

    def __init__(self, known: Known, task: str) -> None:
        self.asked = Asked(task)
        count = len(known.visits)
        held: dict[str, list[int]] = {}
        for number, visit in enumerate(known.visits):
            for term in self.asked.terms.intersection(visit.terms):
                held.setdefault(term, []).append(number)
        weight = {term: math.log(1 + count / len(numbers)) for term, numbers in held.items()}
        self.likeness = _likeness(known, held, weight)
        """How alike each earlier task is, 0 to 1."""
        self.shares = _shares(held, weight, count)
        """How much of what the task speaks of each earlier session had."""
        self.named = [file for file in known.files if self.asked.hints(file.path)] if task else []
        self._rarity = rarity([file.terms for file in known.files])
        self._recent = [0.5 ** ((count - 1 - number) / _HALF_LIFE_SESSIONS) for number in range(count)]
        self._folders: dict[str, float] = {}
        for file in known.files:
            folder = file.path.rpartition("/")[0]
            lately = sum([self._recent[number] for number in file.edited])
            self._folders[folder] = self._folders.get(folder, 0.0) + lately
        self.rows = self._of_files(known) if self.asked.terms else []
        """The signals of each file of the map, in the order of `SIGNALS`; none without a task."""

    def _of_files(self, known: Known) -> list[tuple[float, ...]]:
        touched = [file.touched for file in known.files]
        read_for = [sum([self.shares[number] for number in own]) for own in touched]
        in_paths, in_any_path = _said([set(file.path_terms) for file in known.files], self.asked.terms)
        asked_marks = set(map(mark, self.asked.terms))
        in_files, _ = _said([cut(file.symbols) for file in known.files], asked_marks)
        inside = [
            said and said / math.sqrt(2 + file.symbols.count(" "))
            for said, file in zip(in_files, known.files, strict=True)
        ]
        most_read, most_inside = max(read_for, default=0.0) or 1.0, max(inside, default=0.0) or 1.0
        return [
            (
                *self._of(file, own, len(known.visits)),
                read_for[at] / most_read,
                in_paths[at] / (in_any_path or 1.0),
                inside[at] / most_inside,
            )
            for at, (file, own) in enumerate(zip(known.files, touched, strict=True))
        ]

    def _of(self, file: File, touched: set[int], count: int) -> tuple[float, ...]:
        folder = self._folders.get(file.path.rpartition("/")[0], 0.0)
        return (
            sum([self._recent[number] for number in file.edited]),
            sum([self._recent[number] for number in touched]),
            min(folder, _MOST_OF_A_FOLDER),
            -math.log(count - max(touched)) / (1 + len(self.named)),  # a task that names files says where to look
            self._covered(file),
            float(file in self.named),
            max([self.likeness[number] for number in file.edited], default=0.0),
            sum([self.shares[number] for number in file.looked]),
            self._company(file, touched),
        )

    def _covered(self, file: File) -> float:
        """How much of a file's name the task says, rare words for more."""
        whole = sum([self._rarity[term] for term in file.terms])
        said = sum([self._rarity[term] for term in file.terms if term in self.asked.terms])
        return said / whole if said else 0.0

    def _company(self, file: File, touched: set[int]) -> float:
        """How often it was touched in the sessions of a file that the task names."""
        return max(
            (len(touched & other.touched) / (len(other.touched) + 1) for other in self.named if other is not file),
            default=0.0,
        )


def topical(row: tuple[float, ...]) -> float:
    """What the task itself says for a file: the score without what holds for every task."""
    return math.fsum(map(mul, TO_EDIT[_GENERAL:], row[_GENERAL:]))


def _said(sets: Sequence[AbstractSet[str]], asked: set[str]) -> tuple[list[float], float]:
    """(of each set of words how much of it is asked for, rare words for more; how much all have together)."""
    shared = [own & asked for own in sets]
    weight = rarity(shared, len(sets))
    return [sum([weight[term] for term in own]) for own in shared], sum(weight.values())


def _likeness(known: Known, held: dict[str, list[int]], weight: dict[str, float]) -> list[float]:
    """The cosine of each earlier task and this one, words that many tasks have for less."""
    found = [0.0] * len(known.visits)
    for term, numbers in held.items():
        for number in numbers:
            found[number] += weight[term] ** 2
    own = math.sqrt(sum(value**2 for value in weight.values())) or 1.0
    return [shared / (own * (visit.norm or 1.0)) for shared, visit in zip(found, known.visits, strict=True)]


def _shares(held: dict[str, list[int]], weight: dict[str, float], count: int) -> list[float]:
    found = [0.0] * count
    whole = sum(weight.values()) or 1.0
    for term, numbers in held.items():
        if len(numbers) <= max(2, count * _COMMON_SHARE):
            for number in numbers:
                found[number] += weight[term] / (len(numbers) * whole)
    return found


def rarity(sets: Iterable[Iterable[str]], count: int | None = None) -> dict[str, float]:
    """Of each word: the fewer of the sets have it, the more."""
    listed = list(sets)
    held: dict[str, int] = {}
    for words in listed:
        for term in words:
            held[term] = held.get(term, 0) + 1
    return {term: math.log(1 + (count or len(listed)) / number) for term, number in held.items()}


def norms(tasks: list[frozenset[str]]) -> list[float]:
    """The length of each task as a vector of its words."""
    weight = rarity(tasks)
    return [math.sqrt(sum(weight[term] ** 2 for term in task)) for task in tasks]


@lru_cache(maxsize=4096)
def name_terms(path: str) -> tuple[str, ...]:
    """The words of a file's name without its ending."""
    base = path.rpartition("/")[2]
    stem = base.rpartition(".")[0] or base
    return tuple(sorted({term for term in terms(_SEPARATORS.sub(" ", stem)) if len(term) > 1}))


@lru_cache(maxsize=4096)
def path_terms(path: str) -> tuple[str, ...]:
    """The words of a file's whole path."""
    return tuple(sorted({term for term in terms(_SEPARATORS.sub(" ", path)) if len(term) > 1}))


# Words that stood in a file are kept as marks of four signs: enough to know them again, too few to read them.


@lru_cache(maxsize=1 << 14)
def mark(term: str) -> str:
    return b2a_base64(crc32(term.encode("utf-8", "surrogatepass")).to_bytes(4, "big")[:3], newline=False).decode()


@lru_cache(maxsize=1 << 14)
def cut(marks: str) -> frozenset[str]:
    """Marks that are kept as one text."""
    return frozenset(marks.split())


def likely(known: Known, evidence: Evidence, to_edit: Weights = TO_EDIT, to_read: Weights = TO_READ) -> list[float]:
    """Of each file of the map its chance to be needed, all together one: what is told first has the highest."""
    if not evidence.rows:
        count = len(known.visits)
        return _shares_of_one([_weighed(WITHOUT_TASK, without_task(file, count)) for file in known.files])
    edited = _shares_of_one([_weighed(to_edit, row) for row in evidence.rows])
    read = _shares_of_one([_weighed(to_read, row) for row in evidence.rows])
    often = [len(file.touched) + len(file.edited) for file in known.files]
    whole = sum(often) or 1
    parts = 1 + _SHARE_OF_READING + _SHARE_OF_FREQUENCY
    return [
        (one + _SHARE_OF_READING * other + _SHARE_OF_FREQUENCY * times / whole) / parts
        for one, other, times in zip(edited, read, often, strict=True)
    ]


def without_task(file: File, count: int) -> tuple[float, ...]:
    """What speaks for a file where nobody has said yet what to do: edited lately, edited often."""
    lately = math.fsum(0.5 ** ((count - 1 - number) / _HALF_LIFE_SESSIONS) for number in file.edited)
    return lately, math.log1p(len(file.edited))


def _weighed(weights: Weights, signals: tuple[float, ...]) -> float:
    return math.fsum(map(mul, weights, signals))


def _shares_of_one(scored: list[float]) -> list[float]:
    most = max(scored, default=0.0)
    grown = [math.exp(score - most) for score in scored]
    whole = sum(grown) or 1.0
    return [value / whole for value in grown]
