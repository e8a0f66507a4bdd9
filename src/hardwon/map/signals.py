"""What speaks for a file when a task is set: a list of signals, and one number made of them. Standard library only.

The weights are learned on real projects (`python -m benchmarks.map_train`, which writes them here): many weak signals,
strongly held back, foretold more of what a session then edited or read than few strong ones, boosted trees, or weights
of each project's own.
"""

from __future__ import annotations

import math
import re
from binascii import b2a_base64, crc32
from collections import Counter
from functools import lru_cache
from itertools import chain
from operator import mul

from hardwon.map.known import parted, worked_lately
from hardwon.text.normalise import lazy_pattern
from hardwon.text.words import apart, is_telling, stem, terms, unique_terms

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from hardwon.map.known import File, Known

    Weights = tuple[float, ...]
    from hardwon.map.known import Command


# fmt: off
WEIGHTS = (
    0.060, 0.066, 0.113, 0.082, 0.054, 0.042, 0.068, -0.087, 0.469, -0.166, -0.361, -0.442,
    0.339, 0.091, 0.034, 0.146, 0.082, 1.006, 0.047, 0.314, 0.371, 0.100, 0.547, 0.785,
    0.426, 0.308, 0.278, 0.297, 0.959, 0.231, 0.281, 0.010, -0.056,
)
WITHOUT_TASK = (0.752, 0.467)
# fmt: on
"""Weights of `SIGNALS`, in their order, the mean of what tells which files will be edited and which only read; and of
what is known where nobody has said what to do: edited lately, edited often."""
PROMPT_CHARACTERS_READ = 8_000
_HALF_LIFE_SESSIONS = 4
_NEWEST = 32
"""Of the sessions of a file, so many of the newest are weighed by age: older ones weigh nearly nothing."""
_COMMON_SHARE = 0.5
"""A word that more of the earlier tasks have tells nothing."""
_MOST_OF_A_FOLDER = 3.0
_SPOKEN_OF = 0.5
"""A file is spoken of if the task says so much of its name."""
_LEAST_STEM_CHARACTERS = 5
_SESSIONS_OF_HABIT = 8
"""What was touched often weighs as much as the learned signals after so many sessions, the less the more there are."""
_SLASH = re.compile("/")
_SEPARATORS = lazy_pattern(r"[/._-]+")
_PARTS = lazy_pattern(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_TEST = lazy_pattern(r"(?i)(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_|[._-](?:test|spec)s?\.|tests?\.\w+$")
_OF_A_TEST = lazy_pattern(r"^test[_-]?|[._-]?(?:tests?|specs?|stories)$")
_TEXT = lazy_pattern(r"(?i)\.(?:md|mdx|rst|txt)$")
_TEXT_TERMS = frozenset("doc document readm plan markdown changelog".split())
_MANIFEST = lazy_pattern(
    r"(?i)(?:^|/)(?:package\.json|pyproject\.toml|cargo\.toml|go\.mod|makefile|tsconfig\.json|requirements\.txt"
    r"|[^/]*\.csproj|directory\.packages\.props)$"
)
_GUIDE = lazy_pattern(r"(?i)(?:^|/)(?:readme|agents|claude|changelog|contributing|todo|plan|tasks?)\.md$")
_LETTERS = lazy_pattern(r"[a-z]+")
_TOKEN = lazy_pattern(r"[\w./@+\\-]+")

SIGNALS = (
    "edited lately",
    "touched lately",
    "touched not long ago",
    "edited not long ago",
    "edited often",
    "touched often",
    "folder edited lately",
    "only read",
    "goes with what the last session edited",
    "lies deep",
    "a test",
    "a text",
    "says what the project is made of",
    "says what to do here",
    "twin of what the last session edited",
    "touched lately, where nothing is named",
    "touched not long ago, where nothing is named",
    "named",
    "words of its name",
    "words of its name, of the most",
    "a file beside it is spoken of",
    "words of its folder",
    "words of its path",
    "words in it",
    "read for it",
    "touched for it, of the most",
    "edited in the task most alike",
    "touched in tasks alike",
    "goes with what is spoken of",
    "a file beside it is named",
    "a test, of which the task speaks",
    "a text, of which the task speaks",
    "twin of what is spoken of",
)
_GENERAL = 17
"""The first ones hold for every task."""


class Asked:
    """A task, taken apart."""

    __slots__ = ("_names_paths", "_paths", "_read", "terms", "tokens")

    def __init__(self, task: str) -> None:
        self._read = read = task[:PROMPT_CHARACTERS_READ]
        self.terms = set(unique_terms(read))
        lowered = read.lower()
        tokens = _TOKEN.findall(lowered)
        if (spaced := apart(lowered)) != lowered:
            tokens += _TOKEN.findall(spaced)
        self.tokens = {token.strip("./@-").replace("\\", "/") for token in tokens}
        paths = [token for token in self.tokens if "/" in token]
        self._names_paths = bool(paths)
        self._paths = "\n".join(["", *paths, ""])

    def names(self, path: str) -> bool:
        """Whether the task names a file: by its path, the end of it, or its name."""
        lowered = path.lower()
        base = lowered.rpartition("/")[2]
        if lowered in self.tokens or base in self.tokens:
            return True
        if not self._names_paths:
            return False
        if f"/{lowered}\n" in self._paths:
            return True
        ends = (lowered[at.end() :] for at in _SLASH.finditer(lowered, 0, len(lowered) - len(base) - 1))
        return any("/" in end and end in self.tokens for end in ends)

    def word(self, term: str) -> str:
        """The word of the task that a term was made of."""
        return next((word for word in _LETTERS.findall(self._read.lower()) if stem(word) == term), term)

    def whole(self, term: str, among: Sequence[Collection[str]]) -> str:
        """The word of the task that a term was made of; of two characters also those beside them, as far as each of
        the earlier tasks that have the two has them."""
        word = self.word(term)
        start = self._read.find(term)
        if word.isascii() or len(term) != 2 or start < 0:
            return word
        end = start + 2

        def goes_on(pair: str) -> bool:
            return len(pair) == 2 and is_telling(pair) and all(pair in one for one in among)

        while start and goes_on(self._read[start - 1 : start + 1]):
            start -= 1
        while goes_on(self._read[end - 1 : end + 1]):
            end += 1
        return self._read[start:end]

    def hints(self, path: str) -> bool:
        """Whether it names a file, be it without its ending, as one speaks of a module."""
        stem = path.lower().rpartition("/")[2].partition(".")[0]
        return (len(stem) >= _LEAST_STEM_CHARACTERS and stem in self.tokens) or self.names(path)


@lru_cache(maxsize=2)  # a replay asks for several things about each task
def asked(task: str) -> Asked:
    return Asked(task)


class Evidence:
    """What the earlier sessions say about a task."""

    __slots__ = ("asked", "likeness", "named", "rows", "shares")

    def __init__(self, known: Known, task: str) -> None:
        self.asked = asked(task)
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
        self.rows = list(zip(*self._signals(known), strict=True)) if self.asked.terms else []
        """The signals of each file of the map, in the order of `SIGNALS`; none without a task."""

    def _signals(self, known: Known) -> list[list[float]]:
        """Each signal for all files."""
        files, count = known.files, len(known.visits)
        touched = [file.touched for file in files]
        folders = [file.path.rpartition("/")[0] for file in files]
        recent = lately(count)
        edited_lately = [sum([recent[number] for number in file.edited[-_NEWEST:]]) for file in files]
        touched_lately = [sum([recent[number] for number in own]) for own in touched]
        folder_lately = _of_folders(folders, edited_lately, sum)
        ago = [-math.log(count - max(own)) for own in touched]
        unnamed = 1 / (1 + len(self.named))  # a task that names files says where to look
        said, covered = self._said_of_names(files)
        said_most = max(said, default=0.0) or 1.0
        beside = _of_folders(folders, covered, max)
        hinted = set(self.named)
        named = [float(file in hinted) for file in files]
        named_beside = _of_folders(folders, named, max)
        in_paths, in_any_path = _said([file.path_terms for file in files], self.asked.terms)
        shares = self.shares
        touched_for = [sum([shares[number] for number in own]) for own in touched]
        most_for = max(touched_for, default=0.0) or 1.0
        alike = [value * value for value in self.likeness]
        all_alike = sum(alike) or 1.0
        spoken = [at for at, value in enumerate(covered) if value >= _SPOKEN_OF or named[at]]
        last = [at for at, file in enumerate(files) if file.edited[-1:] == [count - 1]] or [
            at for at, own in enumerate(touched) if count - 1 in own
        ]
        tests, texts = _of_kind(_TEST, files), _of_kind(_TEXT, files)
        return [
            edited_lately,
            touched_lately,
            ago,
            [-math.log(count - (file.edited[-1] if file.edited else -1)) for file in files],
            [math.log1p(len(file.edited)) for file in files],
            [math.log1p(len(own)) for own in touched],
            [min(folder_lately[folder], _MOST_OF_A_FOLDER) for folder in folders],
            [1 - len(file.edited) / len(own) for file, own in zip(files, touched, strict=True)],
            _company(touched, last, count),
            [float(file.path.count("/")) for file in files],
            tests,
            texts,
            _of_kind(_MANIFEST, files),
            _of_kind(_GUIDE, files),
            _twins(files, last),
            [value * unnamed for value in touched_lately],
            [value * unnamed for value in ago],
            named,
            said,
            [value / said_most for value in said],
            [beside[folder] for folder in folders],
            self._said_of_folders(folders),
            [value / (in_any_path or 1.0) for value in in_paths],
            self._said_inside(files),
            [sum([shares[number] for number in file.looked]) for file in files],
            [value / most_for for value in touched_for],
            [max([self.likeness[number] for number in file.edited], default=0.0) for file in files],
            [sum([alike[number] for number in own]) / all_alike for own in touched],
            _company(touched, spoken, count),
            [named_beside[folder] for folder in folders],
            tests if "test" in self.asked.terms else [0.0] * len(files),
            texts if _TEXT_TERMS & self.asked.terms else [0.0] * len(files),
            _twins(files, [at for at, value in enumerate(said) if named[at] or 0 < value == said_most]),
        ]

    def _said_of_names(self, files: Sequence[File]) -> tuple[list[float], list[float]]:
        """(how much the task says of each file's name, rare words for more; which share of the name that is)."""
        weight = rarity([file.terms for file in files])
        said = [sum([weight[term] for term in file.terms if term in self.asked.terms]) for file in files]
        whole = [sum([weight[term] for term in file.terms]) or 1.0 for file in files]
        return said, [one / other for one, other in zip(said, whole, strict=True)]

    def _said_of_folders(self, folders: Sequence[str]) -> list[float]:
        """How much of a folder on its way the task says."""
        parts = {folder: _folder_parts(folder) for folder in set(folders)}
        weight = rarity([parts[folder][1] for folder in folders])
        asked = self.asked.terms
        said = {
            folder: 0.0
            if asked.isdisjoint(words)
            else max([sum([weight[term] for term in part if term in asked]) for part in own])
            for folder, (own, words) in parts.items()
        }
        return [said[folder] for folder in folders]

    def _said_inside(self, files: Sequence[File]) -> list[float]:
        """How much of what stood in each file the task says."""
        said, _ = _said([cut(file.symbols) for file in files], set(map(mark, self.asked.terms)))
        inside = [
            value and value / math.sqrt(2 + file.symbols.count(" ")) for value, file in zip(said, files, strict=True)
        ]
        most = max(inside, default=0.0) or 1.0
        return [value / most for value in inside]


def _of_kind(kind: re.Pattern[str], files: Sequence[File]) -> list[float]:
    return [_is_of_kind(kind, file.path) for file in files]


@lru_cache(maxsize=1 << 14)  # a map is tried on many sessions
def _is_of_kind(kind: re.Pattern[str], path: str) -> float:
    return float(kind.search(path) is not None)


def _twins(files: Sequence[File], of: Sequence[int]) -> list[float]:
    """1 for the test of one of these files, for what one of them tests, and for the same name in another folder."""
    names = [_name_without_test(file.path) for file in files]
    held: dict[str, set[int]] = {}
    for at in of:
        held.setdefault(names[at], set()).add(at)
    return [float(bool(held.get(name, set()) - {at})) for at, name in enumerate(names)]


@lru_cache(maxsize=4096)
def _name_without_test(path: str) -> str:
    return _OF_A_TEST.sub("", path.rpartition("/")[2].rpartition(".")[0].lower())


def _of_folders(
    folders: Sequence[str], values: Sequence[float], joined: Callable[[list[float]], float]
) -> dict[str, float]:
    """What the values of the files of each folder make together."""
    found: dict[str, list[float]] = {}
    for folder, value in zip(folders, values, strict=True):
        found.setdefault(folder, []).append(value)
    return {folder: joined(several) for folder, several in found.items()}


def _company(touched: Sequence[AbstractSet[int]], with_: Sequence[int], count: int) -> list[float]:
    """How often each file was touched in the sessions of some others."""
    found = [0.0] * count
    for at in with_:
        for number in touched[at]:
            found[number] += 1 / (len(touched[at]) + 1)
    sums = [sum([found[number] for number in own]) for own in touched]
    for at in with_:  # a file is no company of its own
        sums[at] -= len(touched[at]) / (len(touched[at]) + 1)
    return [value / (len(with_) or 1) for value in sums]


def topical(row: tuple[float, ...]) -> float:
    """What the task itself says for a file: the score without what holds for every task."""
    return math.fsum(map(mul, WEIGHTS[_GENERAL:], row[_GENERAL:]))


def _said(sets: Sequence[Collection[str]], asked: set[str]) -> tuple[list[float], float]:
    """(of each set of words how much of it is asked for, rare words for more; how much all have together)."""
    shared = [asked.intersection(own) for own in sets]
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
    held = Counter(chain.from_iterable(listed))
    of_number = {number: math.log(1 + (count or len(listed)) / number) for number in set(held.values())}
    return {term: of_number[number] for term, number in held.items()}


def norms(tasks: list[frozenset[str]], held: Mapping[str, int]) -> list[float]:
    """The length of each task as a vector of its words; `held` tells how many of the tasks have a word.

    The same in every process, whatever order it has a set in.
    """
    of_number = {number: math.log(1 + len(tasks) / number) ** 2 for number in set(held.values())}
    squared = {term: of_number[number] for term, number in held.items()}
    return [math.sqrt(math.fsum(map(squared.__getitem__, task))) for task in tasks]


@lru_cache(maxsize=4096)
def _parts(name: str) -> frozenset[str]:
    """The words that a name is made of."""
    return frozenset(stem(word.lower()) for word in _PARTS.split(name) if len(word) > 1)


@lru_cache(maxsize=4096)
def _folder_parts(folder: str) -> tuple[list[frozenset[str]], frozenset[str]]:
    """The words of each folder on the way, and all of them."""
    parts = [_parts(name) for name in folder.split("/")]
    return parts, frozenset[str]().union(*parts)


@lru_cache(maxsize=4096)
def name_terms(path: str) -> tuple[str, ...]:
    """The words of a file's name without its ending."""
    base = path.rpartition("/")[2]
    return tuple(sorted(_parts(base.rpartition(".")[0] or base)))


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


def likely(known: Known, evidence: Evidence, weights: Weights = WEIGHTS) -> list[float]:
    """Of each file of the map its chance to be needed, all together one: what is told first has the highest."""
    if not evidence.rows:
        recent = lately(len(known.visits))
        used = [file.edited for file in known.files]
        if not any(used):  # some logs do not say which file was edited
            used = [file.looked for file in known.files]
        return _shares_of_one([_weighed(WITHOUT_TASK, without_task(numbers, recent)) for numbers in used])
    chances = _shares_of_one([_weighed(weights, row) for row in evidence.rows])
    habit = [len(file.touched) for file in known.files]
    learned = len(known.visits) / (len(known.visits) + _SESSIONS_OF_HABIT)
    usual = (1 - learned) / (sum(habit) or 1)
    return [learned * chance + usual * often for chance, often in zip(chances, habit, strict=True)]


def lately(count: int) -> list[float]:
    """What each of so many sessions weighs, the last one 1."""
    return [0.5 ** ((count - 1 - number) / _HALF_LIFE_SESSIONS) for number in range(count)]


def without_task(edited: Sequence[int], recent: Sequence[float]) -> tuple[float, ...]:
    """What speaks for a file where nobody has said yet what to do: edited lately, edited often."""
    return math.fsum([recent[number] for number in edited]), math.log1p(len(edited))


def _weighed(weights: Weights, signals: tuple[float, ...]) -> float:
    return math.fsum(map(mul, weights, signals))


def _shares_of_one(scored: list[float]) -> list[float]:
    most = max(scored, default=0.0)
    grown = [math.exp(score - most) for score in scored]
    whole = sum(grown) or 1.0
    return [value / whole for value in grown]


# The files and commands that a task will most likely need, best first. Standard library only: a hook starts here.

_WEIGHT_OF_LIKENESS = 0.25
_FILES_TOLD = 4
_LEAST_CHANCE = 0.08
_LEAST_TOPICAL = 1.0
"""How likely a file must be, and how much of what the task itself says must speak for it."""
_TIMES_HERE = 8.0
"""How much likelier a file of the folder is where a session runs than the same one elsewhere."""


class Ranked:
    """A map, ordered for one task."""

    __slots__ = ("_commands", "evidence", "files", "folder", "known")

    def __init__(self, known: Known, task: str, folder: str = "") -> None:
        self.known = known
        self.evidence = Evidence(known, task)
        """What the earlier sessions say about the task."""
        self.folder = folder or _package(known, self.evidence)
        """Where the session works, below the project's root: its files and commands come first."""
        self.files = self._ordered(likely(known, self.evidence))
        """(chance, file), the likeliest first."""
        self._commands: list[tuple[float, Command]] | None = None

    @property
    def commands(self) -> list[tuple[float, Command]]:
        """(worth, command), the best first."""
        if self._commands is None:
            self._commands = _commands(self)
        return self._commands

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
        found = zip(chances, self.known.files, strict=True)
        return sorted(found, key=lambda one: (-one[0], -len(one[1].touched), one[1].path))

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
        meant = command.purpose != "" and command.purpose in ranked.evidence.asked.terms
        found.append(((often + _WEIGHT_OF_LIKENESS * alike + meant) * shares[folder], command))
    return sorted(found, key=lambda one: (-one[0], one[1].key))


def worth_telling(ranked: Ranked) -> list[File]:
    """The few files that the task itself speaks for and does not name: what the prompt names the agent knows."""
    return [
        file
        for chance, file in ranked.files[: 2 * _FILES_TOLD]
        if (chance >= _LEAST_CHANCE or _spells(ranked.evidence.asked, file))
        and ranked.topical(file) >= _LEAST_TOPICAL
        and not _is_known_from_the_task(ranked.evidence.asked, file.path)
    ][:_FILES_TOLD]


def _spells(asked: Asked, file: File) -> bool:
    """Whether a task says every word of a name that has several: `batch processor` for `BatchProcessor.cs`."""
    return len(file.terms) > 1 and asked.terms.issuperset(file.terms)


def _is_known_from_the_task(asked: Asked, path: str) -> bool:
    """Of a file at the top its name without the ending is enough: "the changelog"."""
    return asked.names(path) if "/" in path else asked.hints(path)
