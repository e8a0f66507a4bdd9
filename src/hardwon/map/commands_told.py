"""The commands of a project that may be told, counted over its sessions, and the form in which each is told."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from hardwon.failures import shell, tools
from hardwon.failures.shell import program_family
from hardwon.map.known import AND_MORE, Command, parted
from hardwon.map.touched import FILE_NAME, tellable
from hardwon.store.projects import RanRow
from hardwon.text.normalise import base_name, lazy_pattern

SESSIONS_OF_A_FORM = 2
"""A command is told as it was written once it worked so in that many sessions; before, by its name alone."""
_SHARE_OF_A_FORM = 1 / 2
_NEARLY_ALL = 4 / 5
_ALL_OF_IT = ("./...", ".")
"""What a command is given so that it takes all of a project: it is nobody's own, whoever proposed it."""


class CommandOfSession(NamedTuple):
    """A command, as one session ran it."""

    key: str
    folder: str
    worked: bool
    failed: bool
    broken: bool
    unproposed: bool
    plain: bool
    """Nothing had named it in any form."""
    forms: tuple[str, ...]
    runners: tuple[str, ...]
    """What stands before the command in each of them."""
    purpose: str
    in_parts: bool
    """It is a check, and ran for a part of the project alone."""


class WorkOfSession(NamedTuple):
    commands: list[CommandOfSession]
    folders: frozenset[str]
    """Every folder that holds a file that was edited."""


def work_of_session(ran: Iterable[RanRow], edited: Iterable[str]) -> WorkOfSession:
    rows: dict[str, list[RanRow]] = defaultdict(list)
    for row in ran:
        rows[row.command].append(row)
    folders = frozenset(path[:at] for path in edited for at, sign in enumerate(path) if sign == "/")
    return WorkOfSession([_command(key, own) for key, own in rows.items()], folders)


def _command(key: str, rows: Sequence[RanRow]) -> CommandOfSession:
    forms = tuple(dict.fromkeys(row.text for row in rows if row.text and row.worked))
    return CommandOfSession(
        key,
        folder=parted(rows[-1].text)[0],
        worked=any(row.worked for row in rows),
        failed=any(row.failed for row in rows),
        broken=bool(rows[-1].broken),
        unproposed=all(row.proposed in (0, 2) for row in rows),
        plain=all(row.proposed in (0, 3) for row in rows),
        forms=forms,
        runners=tuple(_runner(form, key) for form in forms),
        purpose=rows[0].purpose,
        in_parts=all(is_check_of_a_part(parted(row.text)[1], key, row.purpose) for row in rows),
    )


def _runner(form: str, key: str) -> str:
    """What stands before the command in a form of it, if that is a runner alone."""
    head = parted(form)[1].partition(key.split(maxsplit=1)[0])[0]
    return head.strip() if RUNNERS.issuperset(head.split()) else ""


def commands_told(
    history: Sequence[WorkOfSession], declared: Collection[str], sessions: int = SESSIONS_OF_A_FORM
) -> list[Command]:
    """Of what the sessions of a project ran, in the order of time: what may be told, most used first.

    That is what worked where no output had proposed it, as it was written in so many `sessions` or by its name; what
    every project has; and the project's own checks, which output may have named where its manifest has `declared` them.
    """
    found = [
        tally.as_told(name, text)
        for name, tally in sorted(_tallies(history).items())
        if (tally.worked or tally.failed) and (text := _told_as(_name(tally, declared), tally, sessions))
    ]
    return sorted(found, key=lambda command: (-len(command.worked), -len(command.failed), command.key))


class _Tally:
    """What is counted of a command over all sessions: in a folder that it belongs to, it is a command of its own."""

    def __init__(self, key: str, folder: str) -> None:
        self.key = key
        self.folder = folder
        self.purpose = ""
        self.worked: list[int] = []
        self.in_parts: set[int] = set()
        """The sessions in which a check ran for a part alone."""
        self.failed: list[int] = []
        self.broken: list[int] = []
        self.plain = 0
        """In how many sessions it worked where nothing had named it in any form."""
        self.forms: Counter[str] = Counter()
        """In how many sessions each form of it worked."""
        self.own_forms: Counter[str] = Counter()
        """The same where nobody had proposed it."""
        self.runners: Counter[str] = Counter()

    def add(self, number: int, own: CommandOfSession) -> None:
        self.purpose = own.purpose
        self.runners.update(own.runners)
        self.forms.update(own.forms)
        if own.worked:
            self.worked.append(number)
            self.plain += own.plain
        if own.in_parts:
            self.in_parts.add(number)
        if own.failed:
            self.failed.append(number)
        if own.broken:
            self.broken.append(number)
        if own.unproposed:
            here = (form for form in own.forms if parted(form)[0] == self.folder and not form.endswith(AND_MORE))
            self.own_forms.update(here)

    def as_told(self, name: str, text: str) -> Command:
        """What a session saw of a part says nothing of the whole: it is counted where no session ran that."""
        ended = self.worked, self.failed, self.broken
        if not is_of_a_part(parted(text)[1], self.key):
            whole = [[number for number in counted if number not in self.in_parts] for counted in ended]
            if whole[0] or whole[1]:
                ended = whole[0], whole[1], whole[2]
            elif self.in_parts:
                text += AND_MORE
        return Command(name, text, self.purpose, *ended)

    @property
    def name(self) -> str:
        """With its runner, where it mostly worked by that."""
        runner, times = max(sorted(self.runners.items()), key=lambda one: one[1], default=("", 0))
        by_runner = runner and 2 * times > self.runners.total()
        return in_folder(f"{runner} {self.key}" if by_runner else self.key, self.folder)


def _tallies(history: Sequence[WorkOfSession]) -> dict[str, _Tally]:
    """Each command by its name. What ran at the top ran where it mostly does."""
    homes = _homes(history)
    found: dict[str, _Tally] = {}
    for number, work in enumerate(history):
        for own in work.commands:
            if own.folder and own.folder not in homes[own.key] and homes[own.key] != [""]:
                continue  # it says nothing of how that ends where it mostly runs
            folder = own.folder if own.folder in homes[own.key] else homes[own.key][0]
            found.setdefault(in_folder(own.key, folder), _Tally(own.key, folder)).add(number, own)
    return found


def _homes(history: Sequence[WorkOfSession]) -> dict[str, list[str]]:
    """Command → the folders that it belongs to: where it passed in most sessions, and packages that have their own.

    Several sessions went there of their own accord, or had work there: output may have named it as well.
    """
    at_work = {"", *chain.from_iterable(work.folders for work in history)}
    times: dict[str, Counter[str]] = defaultdict(Counter)
    for own in chain.from_iterable(work.commands for work in history):
        times[own.key][own.folder] += own.worked and (own.unproposed or own.folder in at_work)
    found = {}
    for key, counted in times.items():
        several = [folder for folder, count in counted.items() if folder and count >= SESSIONS_OF_A_FORM]
        most = min(counted, key=lambda folder: (-counted[folder], folder))
        home = most if most in several else ""
        found[key] = [home, *sorted(folder for folder in several if folder != home)]
    return found


# Whether a command may be told by its name, whoever proposed it.

_OF_A_PART = re.compile(
    rf"(?:p?npm|yarn|bun|turbo|cargo|make|mvn|uv)\b(.*?)\s({tools.CHOOSES_A_PART}|--features|--directory|-pl)[ =]"
)
"""Without its option such a tool does something else."""


_CHOOSE_A_FOLDER = ("-C", "--prefix", "--cwd", "--dir", "--directory", "-F")


def _name(tally: _Tally, declared: Collection[str]) -> str:
    """By what it may be told whoever proposed it; empty where it is not known by its name.

    Where it always ran for a part of the repository, with the option that chose it: `pnpm --filter <package> test`.
    """
    script = tally.key.rpartition(" ")[2]
    is_declared = script in declared and is_own_check(tally.key, tally.purpose)
    if not (tally.plain > 0 or is_declared or is_usual(tally.key)):
        return ""
    forms = [parted(form)[1] for form in tally.own_forms or tally.forms]
    parts = [found for form in forms if (found := _OF_A_PART.match(form))]
    if not forms or len(parts) < len(forms):
        return tally.name
    chosen = Counter(found[2] for found in parts)
    if len(chosen) > 1 or tally.purpose in ("", "run") or tally.forms.total() < SESSIONS_OF_A_FORM:
        return ""
    words = tally.key.split()
    before = len(parts[0][1].split())
    (option,) = chosen
    part = "<folder>" if option in _CHOOSE_A_FOLDER else "<package>"
    return in_folder(" ".join((*words[: before + 1], option, part, *words[before + 1 :])), tally.folder)


# The form in which it is told.


def _told_as(name: str, tally: _Tally, sessions: int) -> str:
    """As it was mostly written, in so many sessions unproposed; else by its name, if it has one."""
    form = _usual_form(tally.own_forms, sessions)
    if "<" in name:
        return form or name
    if form and (not name or tally.own_forms[form] >= len(tally.worked) * _SHARE_OF_A_FORM):
        return form
    return _by_name(name, form, tally, sessions) if name and tally.forms else name


def _by_name(name: str, form: str, tally: _Tally, sessions: int) -> str:
    """With what nearly all of its forms were given. Where none of them was bare, its name alone is no command.

    Then it is told with what takes the whole project, if some were given that, else with a sign that something follows.
    """
    bare = parted(name)[1]
    given = {one: arguments(parted(one)[1], bare) for one in tally.forms}
    times = Counter[str]()
    for one, words in given.items():
        times.update(dict.fromkeys(words, tally.forms[one]))
    always = [word for word in times if times[word] >= _NEARLY_ALL * tally.forms.total()]
    if always and all(_is_own_argument(word, tally.own_forms, sessions) for word in always):
        return " ".join((name, *always))
    if not all(given.values()):
        return name
    whole = next((word for word in _ALL_OF_IT if times[word] >= SESSIONS_OF_A_FORM and is_usual(bare)), "")
    if whole:
        return form if whole in form.split() else f"{name} {whole}"
    return f"{name}{AND_MORE}"


def _usual_form(forms: Counter[str], sessions: int) -> str:
    """The form that was used most, in so many sessions at least; of those, the shortest. Else nothing."""
    sure = [form for form, times in forms.items() if times >= sessions]
    return min(sure, key=lambda form: (-forms[form], len(form), form), default="")


def _is_own_argument(word: str, forms: Counter[str], sessions: int) -> bool:
    """Whether so many sessions gave it unproposed, and not always as the value of an option."""
    given = [(words, times) for form, times in forms.items() if word in (words := form.split())]
    is_one = any(words[words.index(word) - 1][0] != "-" for words, _ in given)
    return is_one and sum(times for _, times in given) >= sessions


# What the manifests of a checkout call their scripts.

_MANIFEST_CHARACTERS = 200_000
_TARGET = lazy_pattern(r"(?m)^([\w.-]+)(?: [^:=\n]*)?:(?!=)")


def scripts_of(folders: Iterable[Path]) -> frozenset[str]:
    """The scripts that `package.json`, a Makefile or a justfile at the top of a checkout declares."""
    found: set[str] = set()
    for folder in folders:
        for name in ("Makefile", "makefile", "GNUmakefile", "justfile"):
            found.update(_TARGET.findall(_read(folder / name)))
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            found.update(json.loads(_read(folder / "package.json") or "{}")["scripts"])
    return frozenset(found)


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MANIFEST_CHARACTERS)
    except OSError:
        return ""


# Which commands every project has, and which are a project's own.

_USUAL_PROGRAMS = frozenset(
    "pytest tox nox tsc vitest jest mocha mypy pyright ruff flake8 pylint eslint biome rspec phpunit ctest stylelint "
    "vue-tsc playwright gradlew mvnw gofmt goimports black isort prettier rustfmt clang-format make cmake ninja "
    "staticcheck unittest vite webpack svelte-check oxlint rubocop phpstan shellcheck pre-commit coverage mkdocs "
    "msbuild xcodebuild turbo".split()
)
_USUAL_VERBS = {
    "git": "add commit push pull fetch checkout switch merge rebase stash restore revert cherry-pick mv init clone "
    "worktree submodule",
    "go": "test build vet run get install generate fmt mod",
    "cargo": "test check build clippy run bench fmt doc clean nextest add update",
    "dotnet": "test build run restore format publish clean add new tool list pack",
    "mvn": "test verify package compile install clean",
    "gradle": "test check build clean run assemble",
    "golangci-lint": "run",
    "ruff": "check format",
    "biome": "check format lint",
    "docker": "build ps up compose",
    "uv": "sync lock add pip venv build",
    "poetry": "install lock add",
    "pip": "install",
    "pip3": "install",
    "bundle": "install",
    "composer": "install test",
    "deno": "test check lint fmt",
    "terraform": "init plan fmt validate",
    "gh": "pr issue run release",
    "npm": "test install ci build start",
    "pnpm": "test install build start add",
    "yarn": "test install build start add",
    "bun": "test install build start add",
    "next": "build lint dev",
    "swift": "test build run",
    "mix": "test compile format",
    "zig": "build test fmt",
    "flutter": "test analyze build run",
    "dart": "test analyze format run",
    "bazel": "test build run",
    "sbt": "test compile run",
    "rails": "test server",
    "ng": "test build lint serve",
    "nx": "test build lint serve",
}
_USUAL_SCRIPTS = frozenset(
    "test tests build lint format fmt typecheck type-check check dev start serve ci e2e unit coverage clean all run "
    "install up down watch preview".split()
)
_PACKAGE_MANAGERS = ("npm", "pnpm", "yarn", "bun")
_RUNNERS = (*_PACKAGE_MANAGERS, "pixi", "mise", "turbo")
_MAKERS = ("make", "just", "yarn", "task", "rake")
_KINDS_OF_SCRIPTS = frozenset(
    "css js ts web api app server client frontend backend docs types prod production debug fix unit integration local "
    "once cov update quick fast full ui db".split()
)
RUN_FILES = frozenset("python bash sh zsh node bun deno ruby perl php lua".split())
_SECOND_WORDS = frozenset(
    "create view list checks status edit merge pop push apply up down tidy download build add update".split()
)


def is_usual(key: str) -> bool:
    """Whether a command is made of words that every project has: whoever proposed it, it says nothing of their own."""
    program, *verbs = key.split()
    if not verbs:
        return program in _USUAL_PROGRAMS
    if program in _PACKAGE_MANAGERS and is_usual(" ".join(verbs)):
        return True
    if len(verbs) == 1 and (program in _MAKERS and _is_usual_script(verbs[0])):
        return True
    if verbs[0] == "run" and len(verbs) == 2:
        return program in _RUNNERS and (_is_usual_script(verbs[1]) or verbs[1] in _USUAL_PROGRAMS)
    usual = _USUAL_VERBS.get(program, "").split()
    return verbs[0] in usual and (len(verbs) == 1 or all(word in _SECOND_WORDS for word in verbs[1:]))


def _is_usual_script(name: str) -> bool:
    """`test`, `build:css`: all of it of words that scripts are called by everywhere."""
    first, *others = name.split(":")
    return first in _USUAL_SCRIPTS and all(word in _USUAL_SCRIPTS | _KINDS_OF_SCRIPTS for word in others)


def is_usual_word(word: str) -> bool:
    return word in _USUAL_PROGRAMS | _USUAL_SCRIPTS | _SECOND_WORDS or word in _USUAL_VERBS or word in RUN_FILES


def is_own_check(key: str, purpose: str) -> bool:
    """Whether it is a check of a name that only the project's manifest can give: `npm run test:tides`."""
    program, *words = key.split()
    verbs = words[1:] if words[:1] == ["run"] and program in _RUNNERS else words
    if not purpose or program not in (*_RUNNERS, *_MAKERS) or len(verbs) != 1:
        return False
    return not FILE_NAME.match(verbs[0]) and tellable(verbs[0])


# How a command is written.

MAX_COMMAND_CHARACTERS = 100
ASSIGNMENT = lazy_pattern(r"\w+=\S*")
_FOLDER = lazy_pattern(r"[\w.@+][\w.@+/-]*")
RUNNERS = frozenset(
    "uv run poetry pipenv pdm hatch rye bundle exec pnpm npx bunx pnpx yarn corepack python -m -y".split()
)
"""What stands before a command that the project brings: without it, it is not found."""
_BRINGING = frozenset("install i add get download pull".split())
"""What comes from elsewhere is named by who wants it: the next session has no use for the name."""


def as_told(command: shell.Command, key: str) -> str:
    """A form in which the command can be told again; its key where what follows is another every time, and a mark."""
    text = tools.brief(command.text, MAX_COMMAND_CHARACTERS + 1)
    brings = command.subcommand.partition(" ")[0] in _BRINGING
    varies = brings or command.program == "git" or "…" in text or "$(" in text or len(text) > MAX_COMMAND_CHARACTERS
    if not varies:
        return text
    return f"{key}{AND_MORE}" if arguments(command.text, key) else key


def in_folder(text: str, folder: str) -> str:
    """A command as it is written where it runs in a folder of the project."""
    return f"cd {folder} && {text}" if _FOLDER.fullmatch(folder) and tellable(folder) else text


_SELECTS = re.compile(rf"(?:{tools.CHOOSES_A_PART}|-run|-k|-t|-g|--grep|--tests?|--testNamePattern|-vettool)(?:=|$)")


def is_check_of_a_part(form: str, key: str, purpose: str) -> bool:
    return purpose not in ("", "run") and is_of_a_part(form, key)


def is_of_a_part(form: str, key: str) -> bool:
    """Whether a check was given what it is to look at, or which of its checks to make: it is not the whole then."""
    words = form.split()
    given = {*arguments(form, key)} - {*_ALL_OF_IT}
    after_an_option = {word for before, word in pairwise(words) if before[0] == "-"}
    chosen = {word for word in given if word not in after_an_option or FILE_NAME.match(word) or "/" in word}
    return bool(chosen) or form.endswith(AND_MORE) or any(map(_SELECTS.match, words))


def arguments(form: str, key: str) -> list[str]:
    """What a command was given, its options and whatever runs it left out."""
    own = {program_family(base_name(word)) for word in key.split()}
    words = [word for word in form.split() if word not in RUNNERS and not ASSIGNMENT.fullmatch(word)]
    return [word for word in words if word[0] != "-" and program_family(base_name(word)) not in own]
