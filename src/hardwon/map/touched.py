"""The files a session's calls touched, the commands it ran, and what it was opened with; never what output says."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, islice
from typing import Literal, NamedTuple

from hardwon.failures import shell, tools
from hardwon.failures.shell import Command, base, program_family
from hardwon.map.known import AND_MORE, parted
from hardwon.map.signals import mark
from hardwon.model.session import Session
from hardwon.text.normalise import base_name, lazy_pattern, tilde
from hardwon.text.shown import unfenced
from hardwon.text.words import terms_of

Use = Literal["read", "edit", "run", "delete"]

MAX_PATH_CHARACTERS = 200
TOUCHES_PER_SESSION = 400
"""Most that is kept of one session; the first ones tell the most."""
SYMBOLS_PER_TOUCH = 40
_CONTENTS_PER_FILE = 3
_CHARACTERS_PER_CONTENT = 20_000
_IDENTIFIER = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]{3,40}")
_WITHOUT_SIGNS = bytes(code if chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(128)) + bytes(
    128
)
_HUMPS = lazy_pattern(r"_+|(?<=[a-z0-9])(?=[A-Z])")

_WORKTREE = lazy_pattern(r"/(?:\.worktrees|\.claude/worktrees)/[^/]+")
_DRIVE = lazy_pattern(r"^/?[A-Za-z]:/")
_MOUNTED = lazy_pattern(r"/(?:mnt/|cygdrive/)?([A-Za-z])(?=/)")
"""A drive of Windows, as its other shells call it."""
_PLAIN = lazy_pattern(r"[\w@+.,=~()\[\]$ -]+(?:/[\w@+.,=~()\[\]$ -]+)*")
_FILE_NAME = lazy_pattern(
    r"(?:.*[^/.])?\.[A-Za-z]\w{0,11}$|(?:.*/)?(?:Makefile|Dockerfile|Justfile|Rakefile|Gemfile|Procfile)$"
)
_READERS = frozenset("cat head tail less more bat nl wc sed awk diff".split())
_IN_PLACE = frozenset(("sed", "perl"))
_LISTS = frozenset(
    "ls list_dir list_files list_directory glob find find_file file_search list_code_definition_names".split()
)
_SEARCHES = frozenset(
    "grep rg ripgrep search_files grep_search search_file_content search_dir search_codebase codebase_search".split()
)
_LOCATING_PROGRAMS = frozenset(
    "ls ll cat head tail less more grep rg ag find fd tree wc file stat sed awk nl bat".split()
)


class Call(NamedTuple):
    """What must be known of a call."""

    action: str
    tool: str
    subject: str
    """The command or the target."""
    ok: bool
    """Not said to have failed."""
    others: tuple[str, ...] = ()
    """Further files of the same edit."""
    content: str = ""
    """What an edit wrote, or what a look at files showed."""
    end: Literal["", "by words", "not run"] = ""
    """How it is known whether it failed, where neither its exit code nor its agent says so."""
    told: str = ""
    """The command that its failure is told with."""


class Touch(NamedTuple):
    """One file in one session."""

    path: str
    """Relative to the project's root, with `/`."""
    use: Use
    position: int
    """Of the first such call."""
    times: int
    symbols: str = ""
    """Marks of the words that stood there most."""


class Place(NamedTuple):
    """Where a session ran, both with the home folder as `~`; empty where nothing is known."""

    cwd: str
    root: str


NOWHERE = Place("", "")


def place(cwd: str, root: str) -> Place:
    """A worktree is its repository: the same file has the same path in both."""
    return Place(_WORKTREE.sub("", _slashes(tilde(cwd)), 1), _slashes(tilde(root)).rstrip("/"))


def touches(calls: Iterable[Call], at: Place) -> list[Touch]:
    """Each file once for each use, in the order of their first calls."""
    found: dict[tuple[str, Use], tuple[int, int]] = {}
    shown: dict[tuple[str, Use], list[str]] = defaultdict(list)
    done = [(call, list(_named(call))) for call in calls]
    at = _where_it_ran([path for _, named in done for path, _ in named], at)
    for position, (call, several) in enumerate(done):
        for named, use in several:
            path = inside(named, at)
            if path:
                first, times = found.get((path, use), (position, 0))
                found[path, use] = first, times + 1
                if use in ("read", "edit") and len(shown[path, use]) < _CONTENTS_PER_FILE:
                    shown[path, use].append(call.content[:_CHARACTERS_PER_CONTENT])
        if len(found) >= TOUCHES_PER_SESSION:
            break
    return [Touch(*key, *seen, symbols(shown[key])) for key, seen in found.items()]


def symbols(contents: Sequence[str]) -> str:
    """Marks of the words that names in a file are made of: those that stand there most."""
    words = Counter(chain.from_iterable(map(_words, contents)))
    counted: dict[str, int] = {}
    before = counted.get
    for several, times in zip(map(_terms_in, words), words.values(), strict=True):
        if len(several) == 1:  # as of most; a loop would take as long as all the rest
            (term,) = several
            counted[term] = before(term, 0) + times
            continue
        for term in several:
            counted[term] = before(term, 0) + times
    most = sorted(counted, key=counted.__getitem__, reverse=True)[:SYMBOLS_PER_TOUCH]
    return " ".join(sorted(set(map(mark, most))))


def _words(content: str) -> list[str]:
    """What stands between signs that no name has: to count these and look for names in each takes half the time."""
    return content.encode("ascii", "replace").translate(_WITHOUT_SIGNS).decode("ascii").split()


@lru_cache(maxsize=1 << 15)
def _terms_in(word: str) -> tuple[str, ...]:
    if 3 < len(word) < 42 and word.isalpha() and word[1:].islower():  # most of them
        return terms_of(word)
    return tuple(chain.from_iterable(map(_terms_of, _IDENTIFIER.findall(word))))


@lru_cache(maxsize=1 << 15)
def _terms_of(name: str) -> tuple[str, ...]:
    return tuple(chain.from_iterable(map(terms_of, _HUMPS.sub(" ", name).split())))


def _where_it_ran(paths: list[str], at: Place) -> Place:
    """A history that was written on another machine names the project's folder there: known by its name."""
    absolute = [path for path in map(_tidy, paths) if _is_absolute(path)]
    if not at.root or not absolute or any(inside(path, at) for path in absolute):
        return at
    names = {base_name(at.root).casefold(), base_name(at.root).rpartition("__")[2].casefold()}
    for path in absolute:
        parts = path.split("/")
        for depth, part in enumerate(parts[:-1]):
            if part.casefold() in names:
                there = "/".join(parts[: depth + 1])
                return Place(there, there)
    return at


def locates(call: Call) -> bool:
    """It only looks where things are: what a map may save."""
    if call.action == "read":
        return True
    if call.action != "run":
        return False
    found = shell.commands(call.subject)
    return bool(found) and all(command.program in _LOCATING_PROGRAMS and tools.looks(command) for command in found)


def _named(call: Call) -> Iterable[tuple[str, Use]]:
    if call.action == "edit":
        return ((path, "edit") for path in (call.subject, *call.others)) if call.ok else ()
    if call.action == "read":
        is_file = call.tool.rsplit(".", 1)[-1].lower() not in _LISTS | _SEARCHES and _FILE_NAME.match(call.subject)
        return ((call.subject, "read"),) if is_file else ()
    return _in_line(call) if call.action == "run" else ()


def _in_line(call: Call) -> Iterable[tuple[str, Use]]:
    """Files that a shell line names as what it works on."""
    if "." not in call.subject and "file" not in call.subject:
        return
    for command in shell.elements(call.subject):
        files = sorted(target for target in command.targets if _FILE_NAME.match(target) and "$" not in target)
        folder = _folder_of(call.subject)
        if command.writes and "$" not in command.writes and command.head and call.ok:
            yield _joined(folder, command.writes), "edit"
        use = _use(command, call)
        if use:
            yield from ((_joined(folder, file), use) for file in files)


def _use(command: Command, call: Call) -> Use | None:
    program = command.program
    if program in _IN_PLACE and any(option.startswith("-i") for option in command.options):
        return "edit" if call.ok else None
    if program in _READERS:
        return "read"
    if program == "rm" or (program, command.subcommand) == ("git", "rm"):
        return "delete" if call.ok else None
    return "run" if tools.checks(command) and call.ok else None


def _folder_of(line: str) -> str:
    """Where a line goes before it does anything: `cd x && …`."""
    first = shell.commands(line)
    return first[0].folder if first else ""


def _joined(folder: str, path: str) -> str:
    return path if not folder or path.startswith(("/", "~")) else f"{folder}/{path}"


def inside(named: str, at: Place) -> str:
    """A path relative to the project's root; empty when it lies elsewhere or is none."""
    path = _tidy(named)
    if not path or len(path) > 4 * MAX_PATH_CHARACTERS or not at.root:
        return ""
    if _DRIVE.match(at.root) and (mounted := _MOUNTED.match(path)):
        path = f"{mounted[1]}:{path[mounted.end(1) :]}"
    if not _is_absolute(path):
        path = posixpath.join(at.cwd or at.root, path)
    path = posixpath.normpath(path)
    head, tail = path[: len(at.root)], path[len(at.root) :]
    if head.casefold() != at.root.casefold() or not tail.startswith("/"):  # some file systems do not tell case
        return ""
    return plain(tail[1:])


def plain(path: str) -> str:
    """The path if it is one that can be told: short, and of signs that file names are made of."""
    return path if len(path) <= MAX_PATH_CHARACTERS and _PLAIN.fullmatch(path) and ".." not in path.split("/") else ""


_ORDERS = frozenset(
    "ignore disregard forget override instruction instructions previous prompt must you your please immediately "
    "execute always never obey sudo curl reveal".split()
)
_MAX_WORDS_OF_A_NAME = 9
_MADE = lazy_pattern(
    r"(?:^|/)(?:node_modules|site-packages|__pycache__|\.venv|\.git|dist|\.next|coverage)/|\.min\.(?:js|css)$|\.lock$"
    r"|(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|go\.sum)$|\.pb\.go$|_pb2\.pyi?$"
)


@lru_cache(maxsize=1 << 13)
def tellable(path: str) -> bool:
    """Whether a path may be told: not what is generated or vendored, nor one that reads like a sentence."""
    if " " in path or "‹" in path or _MADE.search(path):
        return False
    for part in path.split("/"):
        words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", part).lower())
        if len(words) > _MAX_WORDS_OF_A_NAME or len(_ORDERS.intersection(words)) > 1:
            return False
    return True


@lru_cache(maxsize=1 << 13)  # a session is at the same files again and again
def _tidy(named: str) -> str:
    return _WORKTREE.sub("", _slashes(tilde(named.strip().removeprefix("file://"))), 1)


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~/")) or path == "~" or _DRIVE.match(path) is not None


# Commands that are worth knowing: how a project is built, checked and run; and who named them.

MAX_COMMAND_CHARACTERS = 100
COMMANDS_PER_SESSION = 60
"""Most that is kept of one session; the first ones tell the most."""
_FORMS_COMPARED = 24
_LEAST_CHARACTERS = 4
"""A shorter word stands in any output."""
_LISTING = frozenset(("ls", "ll", "find", "fd", "tree", "git ls-files", "git status"))
_LINTS = lazy_pattern(r"lint|ruff|flake8|biome|vet|clippy|format|fmt|prettier|type-?check|mypy|pyright|tsc")
_BUILDS = lazy_pattern(r"build|compile|package|tsc")
_CHORES = frozenset(
    "rm mv cp mkdir touch chmod chown ln kill pkill killall export tar unzip rmdir exit eval env mktemp tee xargs "
    "copy move del ren dir findstr cls clear start code vim vi nano emacs xdg-open apply_patch".split()
)
_OF_A_LANGUAGE = frozenset(
    "import from with def class print const let var async await try catch finally except foreach function param return "
    "throw new public private".split()
)
"""Words that scripts begin their lines with: a part of one was taken for a shell's."""
_INSTALLED = lazy_pattern(r"/(?:s?bin|Scripts|Program Files[^/]*)/")
_VERB = lazy_pattern(r"[a-z][a-z-]{1,24}")
_CMDLET = lazy_pattern(r"[A-Z][a-z]+-[A-Z]\w+")
"""PowerShell's own: what others do by `ls`, `cat`, `rm`."""
_PROGRAM = lazy_pattern(r"[A-Za-z_.][\w.+-]{0,60}")
_WORD = lazy_pattern(r"[\w.@:+~/-]{1,80}")
_ASSIGNMENT = lazy_pattern(r"\w+=\S*")
_NAME = lazy_pattern(r"[A-Za-z]{3}")
_FOLDER = lazy_pattern(r"[\w.@+][\w.@+/-]*")
RUNNERS = frozenset(
    "uv run poetry pipenv pdm hatch rye bundle exec pnpm npx bunx pnpx yarn corepack python -m -y".split()
)
"""What stands before a command that the project brings: without it, it is not found."""
_BRINGING = frozenset("install i add get download pull".split())
"""What comes from elsewhere is named by who wants it: the next session has no use for the name."""
_STARTS = lazy_pattern(
    r"(?:npm|pnpm|yarn|bun|make|just) (?:run )?(?:dev|start|serve|run|up)|docker compose up"
    r"|(?:cargo|go|dotnet|flask) run"
)


_CLOSED = lazy_pattern(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|(?:^|(?<=\s))#[^\n]*", re.DOTALL | re.MULTILINE)
_QUOTE = lazy_pattern(r"[\"']")
_DECLARES = lazy_pattern(r"\bfunction\s+([\w-]+)|(?:^|(?<=[\n;&]))\s*([\w-]+)\s*\(\)\s*\{")
"""Functions of a script."""


class Ran(NamedTuple):
    """A command of a session, however often it ran."""

    command: str
    """What makes two calls the same command: the program, its sub-command, the script it runs."""
    text: str
    """As it was last written when it worked, in a line; empty if it never did. It may end in `AND_MORE`."""
    purpose: str
    """test, lint, build, check, run, or an empty text."""
    worked: int
    failed: int
    proposed: int
    """1 if an output before it named it as it was written, 2 if only the command, 3 if only what it was given."""
    broken: int
    """1 if it failed when it ran last."""


def ran(calls: Sequence[Call], outputs: Sequence[str] = (), at: Place = NOWHERE, said: str = "") -> list[Ran]:
    """The commands of a session, but for those that only look around; `outputs` is what each call printed.

    What ran in a folder of the project is written with it: packages of one repository are kept apart. What the user
    himself `said` nobody else has proposed.
    """
    found: dict[str, Ran] = {}
    written: dict[str, dict[str, int]] = {}
    """Command → its forms, and the first call that has each."""
    called: dict[str, dict[str, int]] = {}
    """Command → what it is called, and the first call that calls it so."""
    given: dict[str, dict[str, int]] = {}
    """Command → what it was given, and the first call that does so."""
    for position, call in enumerate(calls):
        several = _commands(call.subject) if call.action == "run" and call.end != "not run" else ()
        keyed = [(key, command) for command in several if (key := command_key(command, at))]
        printed = outputs[position] if position < len(outputs) else ""
        broke = _failed(call, printed) if keyed else ()
        for key, command in keyed:
            if key not in found and len(found) >= COMMANDS_PER_SESSION:
                continue
            called.setdefault(key, {key: position})
            if not command.subcommand:
                called[key].setdefault(command.program, position)
            text, _, worked, failed, _, broken = found.get(key, Ran(key, "", "", 0, 0, 0, 0))[1:]
            fails = command in broke and not _is_of_its_wrapper(command, printed)
            passes = call.ok and not fails
            told = in_folder(_told(command, key), inside(command.folder or ".", at)) if passes else text
            counts = worked + passes, failed + fails
            broken = int(fails) if passes or fails else broken
            found[key] = Ran(key, told or text, purpose(command), *counts, proposed=0, broken=broken)
            plain = told.removesuffix(AND_MORE)
            for form in (command.text, plain, parted(plain)[1]):
                written.setdefault(key, {}).setdefault(form, position)
            for name in _given(command, key):
                given.setdefault(key, {}).setdefault(name, position)
    shown = _Shown(calls, outputs)

    def proposed(key: str) -> int:
        if (told := parted(found[key].text.removesuffix(AND_MORE))[1]) and told in said:
            return 0
        first = min(written[key].values())
        own = {
            word: first for word in map(base_name, key.split()[1:]) if not is_usual(key) and not _is_usual_word(word)
        }
        if shown.any_of(_some(written[key], told)) or shown.any_of(own):
            return 1
        named, given_name = shown.any_of(called[key]), shown.any_of(_some(given.get(key, {}), told))
        return 1 if named and given_name else 2 if named else 3 if given_name else 0

    return [one._replace(proposed=proposed(key)) for key, one in found.items()]


def _failed(call: Call, printed: str) -> tuple[Command, ...]:
    """The commands of a call that failed, as far as anybody can tell."""
    from hardwon.failures import turns  # noqa: PLC0415 - drawing a map needs none of it

    if call.ok:
        return turns.failed_unseen(call.subject, printed)
    return turns.failed_of(call.subject, printed, by_words=call.end == "by words", told=call.told)


def _commands(line: str) -> tuple[Command, ...]:
    """The commands of a line, without the functions that it declares itself."""
    found = shell.commands(_closed(line) if "\n" in line else line)
    own = {name for names in _DECLARES.findall(line) for name in names if name}
    return tuple(one for one in found if one.program not in own)


def _closed(line: str) -> str:
    """Without the lines behind a quote that never closes: they are a script's, whose end was cut off."""
    plain = shell.HEREDOC.sub(lambda found: " " * len(found[0]), line)
    at = 0
    while closed := _CLOSED.search(plain, at):
        if _QUOTE.search(plain, at, closed.start()):
            break
        at = closed.end()
    opens = _QUOTE.search(plain, at)
    end = plain.find("\n", opens.start()) if opens else -1
    return line if end < 0 else line[:end]


def _is_of_its_wrapper(command: shell.Command, printed: str) -> bool:
    """Whether it never ran, for what stands before it does not know it; of several in a line nobody can tell either."""
    unknown = rf"(?i)(?:unrecognized|unknown|invalid) (?:sub-?)?command\W{{1,3}}{re.escape(command.program)}\b"
    return bool(command.settings) and re.search(unknown, printed) is not None


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
        self._said.add([*map(_comparable, self._outputs[self._said.count : count])])
        return any(text not in self._subjects[place] for place in self._said.holding(text.lower(), count))


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


def _comparable(output: str) -> str:
    from hardwon.failures.provenance import comparable  # noqa: PLC0415 - drawing a map needs none of it

    return comparable(output)


def in_folder(text: str, folder: str) -> str:
    """A command as it is written where it runs in a folder of the project."""
    return f"cd {folder} && {text}" if _FOLDER.fullmatch(folder) and tellable(folder) else text


def _given(command: Command, key: str) -> Iterable[str]:
    """The files, folders and names that a command runs or is given: whoever named one may have put it there."""
    for word in (word.rpartition("=")[2].partition("::")[0] for word in command.text.split()):
        name = base_name(word.removesuffix("/..."))
        if name not in key.split()[:1] and not name.startswith("-") and _NAME.search(name):
            yield name


def _lists(call: Call) -> bool:
    """It shows names of files and nothing that stands in them."""
    if call.action != "run":
        return call.tool.rsplit(".", 1)[-1].lower() in _LISTS
    found = shell.elements(call.subject)
    return bool(found) and all(f"{one.program} {one.subcommand}".strip() in _LISTING for one in found)


def _told(command: Command, key: str) -> str:
    """A form in which the command can be told again; its key where what follows is another every time, and a mark."""
    text = tools.brief(command.text, MAX_COMMAND_CHARACTERS + 1)
    brings = command.subcommand.partition(" ")[0] in _BRINGING
    varies = brings or command.program == "git" or "…" in text or "$(" in text or len(text) > MAX_COMMAND_CHARACTERS
    if not varies:
        return text
    return f"{key}{AND_MORE}" if arguments(command.text, key) else key


def arguments(form: str, key: str) -> list[str]:
    """What a command was given, its options and whatever runs it left out."""
    own = {program_family(base_name(word)) for word in key.split()}
    words = [word for word in form.split() if word not in RUNNERS and not _ASSIGNMENT.fullmatch(word)]
    return [word for word in words if word[0] != "-" and program_family(base_name(word)) not in own]


def purpose(command: Command) -> str:
    """What a command is for, of what every project has a command for."""
    if _STARTS.fullmatch(f"{command.program} {command.subcommand}"):
        return "run"
    if not tools.checks(command):
        return ""
    if tools.tests(command):
        return "test"
    said = f"{command.program} {command.subcommand}"
    return "lint" if _LINTS.search(said) else "build" if _BUILDS.search(said) else "check"


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


def _is_usual_word(word: str) -> bool:
    return word in _USUAL_PROGRAMS | _USUAL_SCRIPTS | _SECOND_WORDS or word in _USUAL_VERBS or word in _RUN_FILES


def _is_usual_script(name: str) -> bool:
    """`test`, `build:css`: all of it of words that scripts are called by everywhere."""
    first, *others = name.split(":")
    return first in _USUAL_SCRIPTS and all(word in _USUAL_SCRIPTS | _KINDS_OF_SCRIPTS for word in others)


_PACKAGE_MANAGERS = ("npm", "pnpm", "yarn", "bun")
_RUNNERS = (*_PACKAGE_MANAGERS, "pixi", "mise", "turbo")
_MAKERS = ("make", "just", "yarn", "task", "rake")
_KINDS_OF_SCRIPTS = frozenset(
    "css js ts web api app server client frontend backend docs types prod production debug fix unit integration local "
    "once cov update quick fast full ui db".split()
)
_SECOND_WORDS = frozenset(
    "create view list checks status edit merge pop push apply up down tidy download build add update".split()
)


def is_own_check(key: str, purpose: str) -> bool:
    """Whether it is a check of a name that only the project's manifest can give: `npm run test:tides`."""
    program, *words = key.split()
    verbs = words[1:] if words[:1] == ["run"] and program in _RUNNERS else words
    if not purpose or program not in (*_RUNNERS, *_MAKERS) or len(verbs) != 1:
        return False
    return not _FILE_NAME.match(verbs[0]) and tellable(verbs[0])


def command_key(command: Command, at: Place = NOWHERE) -> str:
    """Empty for what no later session would run: a look, a scratch program, what destroys, a script from elsewhere."""
    if command.program in _CHORES or _CMDLET.fullmatch(command.program) or command.text.startswith("\\"):
        return ""
    if command.inline or command.program in _LOCATING_PROGRAMS or tools.looks(command) or tools.danger(command.text):
        return ""
    if " = " in command.text or _ASSIGNMENT.fullmatch(command.text) or not _PROGRAM.fullmatch(command.program):
        return ""
    if command.program in _OF_A_LANGUAGE or _is_from_elsewhere(command, at):
        return ""
    runs, file = _script(command)
    path = posixpath.normpath(_tidy(file))
    here = inside(path, at) if _is_absolute(path) else path
    words = [runs, here] if file else [command.program, *(command.subcommand.split() or _verb(command))]
    if len(words) == 1 and program_family(words[0].lower()) in _RUN_ANYTHING:
        return ""
    return " ".join(words) if all(map(_WORD.fullmatch, words)) and not here.startswith("..") else ""


def _is_from_elsewhere(command: Command, at: Place) -> bool:
    """Called by its path, which neither lies in the project nor is where programs are installed."""
    called = _slashes(next((one for one in command.settings if base(one) == command.program), ""))
    if _INSTALLED.search(called):
        return False
    return "$" in called or (_is_absolute(called) and not inside(called, at))


def _verb(command: Command) -> list[str]:
    """What a program of this project is told to do, where that is its first word: its name alone says nothing."""
    words = command.text.split()
    after = next((at + 1 for at, word in enumerate(words) if base(word) == command.program), len(words))
    verb = words[after] if after < len(words) else ""
    anybodys = is_usual(command.program) or tools.is_known(command.program)
    runs_files = program_family(command.program) in _RUN_FILES
    return [verb] if _VERB.fullmatch(verb) and not (anybodys or runs_files) else []


def _script(command: Command) -> tuple[str, str]:
    """(what runs a file, the file), whichever way both are written; two empty texts where none is run."""
    program, words = program_family(command.program), command.subcommand.split()
    ending = program.rpartition(".")[2]
    if ending in _RUN_BY and not words:
        return _RUN_BY[ending], next((word for word in command.text.split() if base(word) == command.program), "")
    verbs = words[1:] if words[:1] == ["run"] else words
    if program in _RUN_FILES and len(verbs) == 1 and _FILE_NAME.match(verbs[0]):
        return "bash" if program in ("sh", "zsh") else program, verbs[0]
    return "", ""


_RUN_BY = {"py": "python", "sh": "bash"}
_RUN_FILES = frozenset("python bash sh zsh node bun deno ruby perl php lua".split())
_RUN_ANYTHING = _RUN_FILES | frozenset("powershell pwsh cmd wsl fish nu ssh".split())
"""What one of them is called with is the command."""


# What a session was opened with: the words that its first task was set in, whoever put them there.

_CHARACTERS_READ = 8_000
_WRAPPED = lazy_pattern(
    r"\s*(?:<(?:local-command|command-name|command-message|system|environment|user_instructions|user-prompt|ide_|INSTRUCTIONS"
    r"|permissions|collaboration|skill|turn_aborted|task-notification|bash-)|\[Request interrupted|Caveat:"
    r"|# AGENTS\.md|Base directory for this skill|This session is being continued|\[Image)",
    re.IGNORECASE,
)
_ARGUMENTS = lazy_pattern(r"<command-args>([^<]{8,})</command-args>")


def opening(session: Session) -> str:
    """A plan that the client hands over counts: the agent was asked to carry it out. Not scrubbed."""
    for message in session.messages:
        text = message.text[:_CHARACTERS_READ]
        if message.role != "user" or message.results or not text.strip():
            continue
        if given := _ARGUMENTS.search(text):
            return given.group(1)
        if message.origin == "user" or not _WRAPPED.match(text):
            told = unfenced(text).strip()
            if told:
                return told
    return ""
