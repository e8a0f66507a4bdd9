"""The commands that a session ran: how a project is built, checked and run; and who named them."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice
from typing import NamedTuple

from hardwon.failures import shell, tools
from hardwon.failures.ended import Colour, ends
from hardwon.failures.provenance import comparable
from hardwon.failures.shell import Command, base, program_family
from hardwon.map.commands_told import (
    ASSIGNMENT,
    RUN_FILES,
    as_told,
    in_folder,
    is_check_of_a_part,
    is_usual,
    is_usual_word,
)
from hardwon.map.known import AND_MORE, parted
from hardwon.map.touched import (
    FILE_NAME,
    LISTS,
    LOCATING_PROGRAMS,
    NOWHERE,
    Call,
    Place,
    inside,
    is_absolute,
    slashes,
    tidy,
)
from hardwon.model.session import Outcome
from hardwon.text.normalise import base_name, lazy_pattern

COMMANDS_PER_SESSION = 60
"""Most that is kept of one session; the first ones tell the most."""


_NO_PROGRAM = lazy_pattern(r"[A-Z]{2,12}|[a-z]")
"""What ends a text that was typed (`EOF`), or a key that was pressed while something else ran."""


class Ran(NamedTuple):
    """A command of a session, however often it ran."""

    command: str
    """What makes two calls the same command: the program, its sub-command, the script it runs."""
    text: str
    """As it was last written when it worked, in a line; empty if it never did, unless a part alone was checked.

    It may end in `AND_MORE`.
    """
    purpose: str
    """test, lint, build, check, run, or an empty text."""
    worked: int
    failed: int
    proposed: int
    """1 if an output before it named it as it was written, 2 if only the command, 3 if only what it was given."""
    broken: int
    """1 if it failed when it ran last."""
    last: int = 0
    """The call by which it ran last."""
    runs: tuple[tuple[int, Colour], ...] = ()
    """(the call, how it ended) of all that is counted, where that is known."""

    def since(self, first: int) -> Ran | None:
        """What of it ran from a call on, as far as that is known."""
        own = tuple(run for run in self.runs if run[0] >= first)
        return None if self.last < first else self.counted(own) if own else self

    def counted(self, runs: tuple[tuple[int, Colour], ...]) -> Ran:
        colours = [colour for _, colour in runs if colour]
        worked, failed, broken = colours.count("green"), colours.count("red"), int(colours[-1:] == ["red"])
        return self._replace(worked=worked, failed=failed, broken=broken, last=runs[-1][0], runs=runs)


def ran(calls: Sequence[Call], outputs: Sequence[str] = (), at: Place = NOWHERE, said: str = "") -> list[Ran]:
    """The commands of a session, but for those that only look around; `outputs` is what each call printed.

    What ran in a folder of the project is written with it: packages of one repository are kept apart. What the user
    himself `said` nobody else has proposed.
    """
    found: dict[str, _Runs] = {}
    for position, call in enumerate(calls):
        printed = outputs[position] if position < len(outputs) else ""
        for key, command, colour in _each(call, printed, at):
            if not _NO_PROGRAM.fullmatch(key) and (key in found or len(found) < COMMANDS_PER_SESSION):
                runs = found.setdefault(key, _Runs(key, position))
                began = colour == "green" or (colour == "red" and not _NOT_FOUND.search(printed))
                runs.add(command, position, colour, began=began, at=at)
    shown = _Shown(calls, outputs)
    return [runs.as_one(shown, said) for runs in found.values()]


class _Runs:
    """A command in a session: how its runs ended, and the first call of each of its words."""

    def __init__(self, key: str, position: int) -> None:
        self._key = key
        self._first = position
        self._text = self._purpose = ""
        self._ended: list[tuple[int, Colour]] = []
        """How each call ended that counts."""
        self._whole = False
        """Whether a check ran for all of the project, not for a part alone."""
        self._called = {key: position}
        """What it is called."""
        self._written: dict[str, int] = {}
        """Its forms."""
        self._given: dict[str, int] = {}
        """What it was given."""

    def add(self, command: Command, position: int, colour: Colour, *, began: bool, at: Place) -> None:
        if not command.subcommand:
            self._called.setdefault(command.program, position)
        self._purpose = _purpose(command)
        told = in_folder(as_told(command, self._key), inside(command.folder or ".", at))
        is_whole = not is_check_of_a_part(command.text, self._key, self._purpose)
        if is_whole and not self._whole and began:  # what a part came to says nothing of the whole
            self._text, self._ended, self._whole = "", [], True
        colour = colour if is_whole or not self._whole else ""
        if colour == "green" or not (self._whole or any(before == "green" for _, before in self._ended)):
            self._text = told or self._text
        self._ended.append((position, colour))
        bare = self._text.removesuffix(AND_MORE)
        for form in (command.text, bare, parted(bare)[1]):
            self._written.setdefault(form, position)
        for name in _names_given(command, self._key):
            self._given.setdefault(name, position)

    def as_one(self, shown: _Shown, said: str) -> Ran:
        proposed = self._proposed(shown, said)
        return Ran(self._key, self._text, self._purpose, 0, 0, proposed, 0).counted(tuple(self._ended))

    def _proposed(self, shown: _Shown, said: str) -> int:
        told = parted(self._text.removesuffix(AND_MORE))[1]
        if told and told in said:
            return 0
        own = [] if is_usual(self._key) else [base_name(word) for word in self._key.split()[1:]]
        own_words = {word: self._first for word in own if not is_usual_word(word)}
        if shown.any_of(_some(self._written, told)) or shown.any_of(own_words):
            return 1
        named, given = shown.any_of(self._called), shown.any_of(_some(self._given, told))
        return 1 if named and given else 2 if named else 3 if given else 0


def _each(call: Call, printed: str, at: Place) -> Iterator[tuple[str, Command, Colour]]:
    """(key, command, how it ended) of each command of a call that is worth knowing."""
    if call.action != "run" or call.end == "not run":
        return
    keyed = [(key, command) for command in _commands(call.subject) if (key := _key(command, at))]
    ended = dict(_ended(call, printed)) if keyed else {}
    for key, command in keyed:
        colour = ended.get(command, "")
        if not colour and call.ok and not tools.checks(command):
            colour = "green"  # it was not seen to fail
        yield key, command, "" if colour == "red" and _is_of_its_wrapper(command, printed) else colour


# The commands of a call, and how they ended.

_CLOSED = lazy_pattern(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|(?:^|(?<=\s))#[^\n]*", re.DOTALL | re.MULTILINE)
_QUOTE = lazy_pattern(r"[\"']")
_DECLARES = lazy_pattern(r"\bfunction\s+([\w-]+)|(?:^|(?<=[\n;&]))\s*([\w-]+)\s*\(\)\s*\{")
"""Functions of a script."""


def _commands(line: str) -> tuple[Command, ...]:
    """The commands of a line, without the functions that it declares itself."""
    found = shell.commands(_closed(line) if "\n" in line else line)
    own = {*chain.from_iterable(_DECLARES.findall(line))}
    return tuple(one for one in found if one.program not in own)


def _closed(line: str) -> str:
    """Without the lines behind a quote that never closes: they are a script's, whose end was cut off."""
    plain = shell.HEREDOC.sub(_blank, line)
    opens = _QUOTE.search(_CLOSED.sub(_blank, plain))
    end = plain.find("\n", opens.start()) if opens else -1
    return line if end < 0 else line[:end]


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _ended(call: Call, printed: str) -> list[tuple[Command, Colour]]:
    outcome: Outcome = "unknown" if call.end == "unknown" else "ok" if call.ok else "error"
    return ends(call.subject, printed, outcome, by_words=call.end == "by words", told=call.told)


def _is_of_its_wrapper(command: Command, printed: str) -> bool:
    """Whether it never ran, for what stands before it does not know it; of several in a line nobody can tell either."""
    unknown = rf"(?i)(?:unrecognized|unknown|invalid) (?:sub-?)?command\W{{1,3}}{re.escape(command.program)}\b"
    return bool(command.settings) and re.search(unknown, printed) is not None


_NOT_FOUND = lazy_pattern(r"command not found|: not found$|is not recognized as", re.MULTILINE)


# What makes two calls the same command, what it was given, and what it is for.

_CHORES = frozenset(
    "rm mv cp mkdir touch chmod chown ln kill pkill killall export tar unzip rmdir exit eval env mktemp tee xargs "
    "copy move del ren dir findstr cls clear start code vim vi nano emacs xdg-open apply_patch".split()
)
_CMDLET = lazy_pattern(r"[A-Z][a-z]+-[A-Z]\w+")
"""PowerShell's own: what others do by `ls`, `cat`, `rm`."""
_OF_A_LANGUAGE = frozenset(
    "import from with def class print const let var async await try catch finally except foreach function param return "
    "throw new public private".split()
)
"""Words that scripts begin their lines with: a part of one was taken for a shell's."""
_PROGRAM = lazy_pattern(r"[A-Za-z_.][\w.+-]{0,60}")
_WORD = lazy_pattern(r"[\w.@:+~/-]{1,80}")
_VERB = lazy_pattern(r"[a-z][a-z-]{1,24}")
_INSTALLED = lazy_pattern(r"/(?:s?bin|Scripts|Program Files[^/]*)/")
_NAME = lazy_pattern(r"[A-Za-z]{3}")
_STARTS = lazy_pattern(
    r"(?:npm|pnpm|yarn|bun|make|just) (?:run )?(?:dev|start|serve|run|up)|docker compose up"
    r"|(?:cargo|go|dotnet|flask) run"
)
_LINTS = lazy_pattern(r"lint|ruff|flake8|biome|vet|clippy|format|fmt|prettier|type-?check|mypy|pyright|tsc")
_BUILDS = lazy_pattern(r"build|compile|package|tsc")
_RUN_BY = {"py": "python", "sh": "bash"}
_RUN_ANYTHING = RUN_FILES | frozenset("powershell pwsh cmd wsl fish nu ssh".split())
"""What one of them is called with is the command."""


def _key(command: Command, at: Place = NOWHERE) -> str:
    """Empty for what no later session would run: a look, a scratch program, what destroys, a script from elsewhere."""
    if command.program in _CHORES or _CMDLET.fullmatch(command.program):
        return ""
    if command.inline or command.program in LOCATING_PROGRAMS or tools.looks(command) or tools.danger(command.text):
        return ""
    if " = " in command.text or ASSIGNMENT.fullmatch(command.text) or not _PROGRAM.fullmatch(command.program):
        return ""
    if command.program in _OF_A_LANGUAGE or _is_from_elsewhere(command, at):
        return ""
    runs, file = _script(command)
    path = posixpath.normpath(tidy(file))
    here = inside(path, at) if is_absolute(path) else path
    words = [runs, here] if file else [command.program, *(command.subcommand.split() or _verb(command))]
    if len(words) == 1 and program_family(words[0].lower()) in _RUN_ANYTHING:
        return ""
    return " ".join(words) if all(map(_WORD.fullmatch, words)) and not here.startswith("..") else ""


def _is_from_elsewhere(command: Command, at: Place) -> bool:
    """Called by its path, which neither lies in the project nor is where programs are installed."""
    called = slashes(next((one for one in command.settings if base(one) == command.program), ""))
    if _INSTALLED.search(called):
        return False
    return "$" in called or (is_absolute(called) and not inside(called, at))


def _script(command: Command) -> tuple[str, str]:
    """(what runs a file, the file), whichever way both are written; two empty texts where none is run."""
    program, words = program_family(command.program), command.subcommand.split()
    ending = program.rpartition(".")[2]
    if ending in _RUN_BY and not words:
        return _RUN_BY[ending], next((word for word in command.text.split() if base(word) == command.program), "")
    verbs = words[1:] if words[:1] == ["run"] else words
    if program in RUN_FILES and len(verbs) == 1 and FILE_NAME.match(verbs[0]):
        return "bash" if program in ("sh", "zsh") else program, verbs[0]
    return "", ""


def _verb(command: Command) -> list[str]:
    """What a program of this project is told to do, where that is its first word: its name alone says nothing."""
    words = command.text.split()
    after = next((at + 1 for at, word in enumerate(words) if base(word) == command.program), len(words))
    verb = words[after] if after < len(words) else ""
    anybodys = is_usual(command.program) or tools.is_known(command.program)
    runs_files = program_family(command.program) in RUN_FILES
    return [verb] if _VERB.fullmatch(verb) and not (anybodys or runs_files) else []


def _names_given(command: Command, key: str) -> Iterable[str]:
    """The files, folders and names that a command runs or is given: whoever named one may have put it there."""
    for word in (word.rpartition("=")[2].partition("::")[0] for word in command.text.split()):
        name = base_name(word.removesuffix("/..."))
        if name not in key.split()[:1] and not name.startswith("-") and _NAME.search(name):
            yield name


def _purpose(command: Command) -> str:
    """What a command is for, of what every project has a command for."""
    if _STARTS.fullmatch(f"{command.program} {command.subcommand}"):
        return "run"
    if not tools.checks(command):
        return ""
    if tools.tests(command):
        return "test"
    said = f"{command.program} {command.subcommand}"
    return "lint" if _LINTS.search(said) else "build" if _BUILDS.search(said) else "check"


# Who named it.

_FORMS_COMPARED = 24
_LEAST_CHARACTERS = 4
"""A shorter word stands in any output."""
_LISTING = frozenset(("ls", "ll", "find", "fd", "tree", "git ls-files", "git status"))


def _some(texts: dict[str, int], told: str) -> dict[str, int]:
    """The first ones, and those of the form that is told: a command may be called in a new way each time."""
    return dict(islice(texts.items(), _FORMS_COMPARED)) | {text: at for text, at in texts.items() if text in told}


class _Shown:
    """What the calls of a session printed: who was shown a command may have run it for that alone."""

    def __init__(self, calls: Sequence[Call], outputs: Sequence[str]) -> None:
        printed = [
            (number, call.subject, output)
            for number, (call, output) in enumerate(zip(calls, outputs, strict=False))
            if output and not _lists(call)
        ]
        self._numbers = [number for number, _, _ in printed]
        self._subjects = [subject for _, subject, _ in printed]
        self._outputs = [output for _, _, output in printed]
        self._written, self._said = _Joined(), _Joined()

    def any_of(self, texts: Mapping[str, int]) -> bool:
        """Whether any of these was printed before its call, by one that does not itself hold it."""
        return any(self._held(text, before) for text, before in texts.items() if len(text) >= _LEAST_CHARACTERS)

    def _held(self, text: str, before: int) -> bool:
        """As it is, or in any disguise."""
        count = bisect_left(self._numbers, before)
        self._written.add(self._outputs[self._written.count : count])
        if any(text not in self._subjects[place] for place in self._written.holding(text, count)):
            return True
        if is_usual(text):
            return False
        self._said.add([*map(comparable, self._outputs[self._said.count : count])])
        return any(text not in self._subjects[place] for place in self._said.holding(text.lower(), count))


def _lists(call: Call) -> bool:
    """It shows names of files and nothing that stands in them."""
    if call.action != "run":
        return call.tool.rsplit(".", 1)[-1].lower() in LISTS
    found = shell.elements(call.subject)
    return bool(found) and all(f"{one.program} {one.subcommand}".strip() in _LISTING for one in found)


class _Joined:
    """Texts put together, with a sign between them that no command holds: one search tells which hold something."""

    def __init__(self) -> None:
        self.count = 0
        self._parts: list[tuple[int, str, list[int]]] = []
        """(how many stand before it, the texts, where each begins)."""

    def add(self, texts: list[str]) -> None:
        if texts:
            begins = [0, *accumulate(len(text) + 1 for text in texts)]
            self._parts.append((self.count, "\0".join(texts), begins))
            self.count += len(texts)

    def holding(self, wanted: str, count: int) -> Iterator[int]:
        """The places of those of the first `count` that hold it."""
        for before, joined, begins in self._parts:
            at = joined.find(wanted) if before < count else -1
            while at >= 0 and (place := bisect_right(begins, at) - 1) + before < count:
                yield before + place
                at = joined.find(wanted, begins[place + 1])
