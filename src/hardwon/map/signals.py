"""What speaks for a file when a task is set: eight signals, and one number made of them. Standard library only.

Each signal was kept because it raised how many of the files that a session then edited were among the first ten, on
projects that the weights had not seen (`python -m benchmarks.map_train`, which also writes the weights).
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from hardwon.text.words import terms, unique_terms

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from hardwon.map.known import File, Known

WEIGHTS = (0.315, 0.206, 0.452, 1.311, 1.315, 1.305, 1.370, 0.660)
"""Of `SIGNALS`, in their order."""
WITHOUT_TASK = (0.843, 0.324)
"""Edited lately, edited often: where nobody has said what to do."""
PROMPT_CHARACTERS_READ = 8_000
_HALF_LIFE_SESSIONS = 4
_COMMON_SHARE = 0.5
"""A word that more of the earlier tasks have tells nothing."""
_MOST_OF_A_FOLDER = 3.0
_LEAST_STEM_CHARACTERS = 5
_SEPARATORS = re.compile(r"[/._-]+")
_TOKEN = re.compile(r"[\w./@+\\-]+")

SIGNALS = (
    "edited lately",
    "folder edited lately",
    "touched lately",
    "name in the task",
    "named",
    "task alike",
    "read for it",
    "goes with",
)

_GENERAL = 3
"""The first ones hold for every task."""


class Asked:
    """A task, taken apart."""

    __slots__ = ("_paths", "terms", "tokens")

    def __init__(self, task: str) -> None:
        read = task[:PROMPT_CHARACTERS_READ]
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

    def hints(self, path: str) -> bool:
        """Whether it names a file, be it without its ending, as one speaks of a module."""
        stem = path.lower().rpartition("/")[2].partition(".")[0]
        return (len(stem) >= _LEAST_STEM_CHARACTERS and stem in self.tokens) or self.names(path)


def _ends_alike(token: str, path: str) -> bool:
    return token.endswith(f"/{path}") or path.endswith(f"/{token}")


class Evidence:
    """What the earlier sessions say about a task, whatever the file."""

    __slots__ = ("_folders", "_rarity", "_recent", "asked", "likeness", "named", "shares")

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
        self._rarity = _rarity(known)
        self._recent = [0.5 ** ((count - 1 - number) / _HALF_LIFE_SESSIONS) for number in range(count)]
        self._folders: dict[str, float] = {}
        for file in known.files:
            folder = file.path.rpartition("/")[0]
            lately = sum([self._recent[number] for number in file.edited])
            self._folders[folder] = self._folders.get(folder, 0.0) + lately

    def of(self, file: File, count: int) -> tuple[float, ...]:
        """The signals of a file, in the order of `SIGNALS`."""
        folder = self._folders.get(file.path.rpartition("/")[0], 0.0)
        return (
            sum([self._recent[number] for number in file.edited]),
            min(folder, _MOST_OF_A_FOLDER),
            -math.log(count - max(file.touched)) / (1 + len(self.named)),  # a task that names files says where to look
            self._covered(file),
            float(file in self.named),
            max([self.likeness[number] for number in file.edited], default=0.0),
            sum([self.shares[number] for number in file.looked]),
            self._company(file),
        )

    def topical(self, file: File, count: int) -> float:
        """What the task itself says for a file: the score without what holds for every task."""
        return sum(
            weight * signal for weight, signal in zip(WEIGHTS[_GENERAL:], self.of(file, count)[_GENERAL:], strict=True)
        )

    def _covered(self, file: File) -> float:
        """How much of a file's name the task says, rare words for more."""
        whole = sum(self._rarity[term] for term in file.terms)
        said = sum(self._rarity[term] for term in file.terms if term in self.asked.terms)
        return said / whole if said else 0.0

    def _company(self, file: File) -> float:
        """How often it was touched in the sessions of a file that the task names."""
        touched = file.touched
        return max(
            (len(touched & other.touched) / (len(other.touched) + 1) for other in self.named if other is not file),
            default=0.0,
        )


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


def _rarity(known: Known) -> dict[str, float]:
    held: dict[str, int] = {}
    for file in known.files:
        for term in file.terms:
            held[term] = held.get(term, 0) + 1
    return {term: math.log(1 + len(known.files) / count) for term, count in held.items()}


def norms(tasks: list[frozenset[str]]) -> list[float]:
    """The length of each task as a vector of its words."""
    held: dict[str, int] = {}
    for task in tasks:
        for term in task:
            held[term] = held.get(term, 0) + 1
    rarity = {term: math.log(1 + len(tasks) / count) for term, count in held.items()}
    return [math.sqrt(sum(rarity[term] ** 2 for term in task)) for task in tasks]


@lru_cache(maxsize=4096)
def name_terms(path: str) -> tuple[str, ...]:
    """The words of a file's name without its ending."""
    base = path.rpartition("/")[2]
    stem = base.rpartition(".")[0] or base
    return tuple(sorted({term for term in terms(_SEPARATORS.sub(" ", stem)) if len(term) > 1}))


def scores(known: Known, evidence: Evidence) -> list[float]:
    """Of each file of the map: what is told first has the highest."""
    count = len(known.visits)
    if not evidence.asked.terms:
        return [
            sum(weight * signal for weight, signal in zip(WITHOUT_TASK, without_task(file, count), strict=True))
            for file in known.files
        ]
    return [
        sum(weight * signal for weight, signal in zip(WEIGHTS, evidence.of(file, count), strict=True))
        for file in known.files
    ]


def without_task(file: File, count: int) -> tuple[float, ...]:
    """What speaks for a file where nobody has said yet what to do: edited lately, edited often."""
    return _lately(file, count), math.log1p(len(file.edited))


def _lately(file: File, count: int) -> float:
    return math.fsum(0.5 ** ((count - 1 - number) / _HALF_LIFE_SESSIONS) for number in file.edited)


def chances(scored: list[float]) -> list[float]:
    """The scores as shares of one."""
    most = max(scored, default=0.0)
    grown = [math.exp(score - most) for score in scored]
    whole = sum(grown) or 1.0
    return [value / whole for value in grown]
