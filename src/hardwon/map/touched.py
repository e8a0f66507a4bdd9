"""The files that a session's calls touched, and what it was opened with; never what output says."""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from hardwon.failures import shell, tools
from hardwon.failures.shell import Command
from hardwon.map.signals import mark
from hardwon.model.session import Session
from hardwon.text.normalise import base_name, lazy_pattern, tilde
from hardwon.text.shown import unfenced
from hardwon.text.words import terms_of

Use = Literal["read", "edit", "run", "delete"]
TOUCHES_PER_SESSION = 400
"""Most that is kept of one session; the first ones tell the most."""
_CONTENTS_PER_FILE = 3
_CHARACTERS_PER_CONTENT = 20_000


End = Literal["", "by words", "not run", "unknown"]


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
    gone: tuple[str, ...] = ()
    """Those of its files that it deleted or moved away."""
    content: str = ""
    """What an edit wrote, or what a look at files showed."""
    end: End = ""
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
    git_commit: str = ""
    """The last commit of this session that took it; empty where none is known to have."""
    last: int = 0
    """The position of the last such call."""
    positions: tuple[int, ...] = ()
    """Of all of them, where they are known."""

    def since(self, first: int) -> Touch | None:
        """What of it was done from a call on, as far as that is known."""
        own = [at for at in self.positions if at >= first]
        done = self._replace(position=own[0], times=len(own)) if own else self
        return done if self.last >= first else None


class Place(NamedTuple):
    """Where a session ran, both with the home folder as `~`; empty where nothing is known."""

    cwd: str
    root: str


NOWHERE = Place("", "")
_Key = tuple[str, Use]


def touches(calls: Sequence[Call], at: Place) -> list[Touch]:
    """Each file once for each use, in the order of their first calls."""
    found: dict[_Key, list[int]] = {}
    shown: dict[_Key, list[str]] = defaultdict(list)
    done = [(call, list(_named(call))) for call in calls]
    at = _where_it_ran([path for _, named in done for path, _ in named], at)
    for position, (call, several) in enumerate(done):
        for named, use in several:
            path = inside(named, at)
            if path:
                if use == "edit":
                    found.pop((path, "delete"), None)  # it is there again
                found.setdefault((path, use), []).append(position)
                if use in ("read", "edit") and len(shown[path, use]) < _CONTENTS_PER_FILE:
                    shown[path, use].append(call.content[:_CHARACTERS_PER_CONTENT])
        if len(found) >= TOUCHES_PER_SESSION:
            break
    committed = _commits(calls, found, at)
    return [
        Touch(
            path,
            use,
            seen[0],
            len(seen),
            symbols(shown[path, use]),
            committed.get((path, use), ""),
            seen[-1],
            tuple(seen),
        )
        for (path, use), seen in found.items()
    ]


# The files that a call names, and whether it only looks around.

FILE_NAME = lazy_pattern(
    r"(?:.*[^/.])?\.[A-Za-z]\w{0,11}$|(?:.*/)?(?:Makefile|Dockerfile|Justfile|Rakefile|Gemfile|Procfile)$"
)
_READERS = frozenset("cat head tail less more bat nl wc sed awk diff".split())
_IN_PLACE = frozenset(("sed", "perl"))
LISTS = frozenset(
    "ls list_dir list_files list_directory glob find find_file file_search list_code_definition_names".split()
)
_SEARCHES = frozenset(
    "grep rg ripgrep search_files grep_search search_file_content search_dir search_codebase codebase_search".split()
)
LOCATING_PROGRAMS = frozenset(
    "ls ll cat head tail less more grep rg ag find fd tree wc file stat sed awk nl bat".split()
)


def _named(call: Call) -> Iterable[tuple[str, Use]]:
    if call.action == "edit":
        files = (call.subject, *call.others) if call.ok else ()
        return ((path, "delete" if path in call.gone else "edit") for path in files)
    if call.action == "read":
        is_file = call.tool.rsplit(".", 1)[-1].lower() not in LISTS | _SEARCHES and FILE_NAME.match(call.subject)
        return ((call.subject, "read"),) if is_file else ()
    return _in_line(call) if call.action == "run" else ()


def _in_line(call: Call) -> Iterable[tuple[str, Use]]:
    """Files that a shell line names as what it works on."""
    if "." not in call.subject and "file" not in call.subject:
        return
    for command in shell.elements(call.subject):
        files = sorted(target for target in command.targets if FILE_NAME.match(target) and "$" not in target)
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


def locates(call: Call) -> bool:
    """It only looks where things are: what a map may save."""
    if call.action == "read":
        return True
    if call.action != "run":
        return False
    found = shell.commands(call.subject)
    return bool(found) and all(command.program in LOCATING_PROGRAMS and tools.looks(command) for command in found)


# The commits that took the files: what was added, or named, where the session itself committed.

_COMMITTED = lazy_pattern(r"^\[\S+(?: \([^)]*\))* ([0-9a-f]{7,40})\]", re.MULTILINE)
_ELSEWHERE = lazy_pattern(r"git (?:-c \S+ )*-C (\S+) ")
_ALL = lazy_pattern(r"--all|--update|-\w*[aAu]\w*")
_STAGES = frozenset("add stage rm mv reset restore commit".split())
_UNDONE = lazy_pattern(r"\S+[~^]\d*")


def _commits(calls: Sequence[Call], found: Mapping[_Key, Sequence[int]], at: Place) -> dict[_Key, str]:
    """(file, edit or delete) → the last commit of it; without those that nothing is known to have taken."""
    changed = {key: seen for key, seen in found.items() if key[1] in ("edit", "delete")}
    taken: dict[_Key, tuple[str, int]] = {}
    staged: set[_Key] = set()
    for position, call in enumerate(calls if changed else ()):
        ran = _git(call, at)
        commits = [one for one, _ in ran if one.subcommand == "commit"]
        hashes = _COMMITTED.findall(call.content) if commits else []
        hashes = hashes if len(hashes) == len(commits) else [""] * len(commits)
        for one, folder in ran if call.ok or commits else ():
            dirty = {
                key
                for key, seen in changed.items()
                if any(taken.get(key, ("", -1))[1] < nth <= position for nth in seen)
            }
            named = _named_by(one, folder, dirty, at)
            everything = dirty if any(map(_ALL.fullmatch, one.options)) else set()
            if one.subcommand in ("add", "stage", "rm", "mv"):
                staged |= named if one.targets else named or everything
            elif one.subcommand == "reset" and any(map(_UNDONE.fullmatch, one.targets)):
                staged = set(taken) if "--soft" in one.options else set()
                taken.clear()
            elif one.subcommand in ("reset", "restore"):
                staged -= named or (staged if one.subcommand == "reset" else set())
            elif one.subcommand == "commit" and call.ok:
                before = max((nth for _, nth in taken.values()), default=-1) if "--amend" in one.options else None
                amended = {key for key, (_, nth) in taken.items() if nth == before}
                took = (named or staged | everything) | amended
                taken |= dict.fromkeys(took, (hashes.pop(0), position))
                staged -= took
    return {key: commit for key, (commit, _) in taken.items() if commit}


def _git(call: Call, at: Place) -> list[tuple[Command, str]]:
    """What a line runs of git in the project, each with its folder there."""
    if call.action != "run" or "git" not in call.subject:
        return []
    found = []
    for one in shell.commands(call.subject):
        elsewhere = _ELSEWHERE.match(one.text)
        folder = _below(_joined(one.folder, elsewhere[1]) if elsewhere else one.folder or ".", at)
        if one.program == "git" and one.subcommand in _STAGES and folder is not None:
            found.append((one, folder))
    return found


def _named_by(command: Command, folder: str, changed: Iterable[_Key], at: Place) -> set[_Key]:
    """Of files that changed those that a command names, or whose folder."""
    names = {*command.targets, *([""] if " . " in f"{command.text} " else [])}
    root = Place(posixpath.join(at.root, folder), at.root)
    paths = [path for name in names if (path := _below(name or ".", root)) is not None]
    return {key for key in changed if any(not path or f"{key[0]}/".startswith(f"{path}/") for path in paths)}


# A path, relative to the project's root wherever the session ran.

MAX_PATH_CHARACTERS = 200
_WORKTREE = lazy_pattern(r"/(?:\.worktrees|\.claude/worktrees)/[^/]+")
_DRIVE = lazy_pattern(r"^/?[A-Za-z]:/")
_MOUNTED = lazy_pattern(r"/(?:mnt/|cygdrive/)?([A-Za-z])(?=/)")
"""A drive of Windows, as its other shells call it."""
_PLAIN = lazy_pattern(r"[\w@+.,=~()\[\]$ -]+(?:/[\w@+.,=~()\[\]$ -]+)*")


def place(cwd: str, root: str) -> Place:
    """A worktree is its repository: the same file has the same path in both."""
    cwd, root = (_WORKTREE.sub("", slashes(tilde(folder)), 1) for folder in (cwd, root))
    return Place(cwd, root.rstrip("/"))


def _where_it_ran(paths: list[str], at: Place) -> Place:
    """A history that was written on another machine names the project's folder there: known by its name."""
    absolute = [path for path in map(tidy, paths) if is_absolute(path)]
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


def inside(named: str, at: Place) -> str:
    """A path relative to the project's root; empty when it lies elsewhere or is none."""
    return plain(_below(named, at) or "")


def _below(named: str, at: Place) -> str | None:
    """A path from the project's root, which is an empty text; None for one that lies elsewhere."""
    path = tidy(named)
    if not path or len(path) > 4 * MAX_PATH_CHARACTERS or not at.root:
        return None
    if _DRIVE.match(at.root) and (mounted := _MOUNTED.match(path)):
        path = f"{mounted[1]}:{path[mounted.end(1) :]}"
    if not is_absolute(path):
        path = posixpath.join(at.cwd or at.root, path)
    path = posixpath.normpath(path)
    head, tail = path[: len(at.root)], path[len(at.root) :]
    if head.casefold() != at.root.casefold() or tail[:1] not in ("", "/"):  # some file systems do not tell case
        return None
    return tail[1:]


def plain(path: str) -> str:
    """The path if it is one that can be told: short, and of signs that file names are made of."""
    return path if len(path) <= MAX_PATH_CHARACTERS and _PLAIN.fullmatch(path) and ".." not in path.split("/") else ""


@lru_cache(maxsize=1 << 13)  # a session is at the same files again and again
def tidy(named: str) -> str:
    return _WORKTREE.sub("", slashes(tilde(named.strip().removeprefix("file://"))), 1)


def slashes(path: str) -> str:
    return path.replace("\\", "/")


def is_absolute(path: str) -> bool:
    return path.startswith(("/", "~/")) or path == "~" or _DRIVE.match(path) is not None


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


# What stood in a file.

SYMBOLS_PER_TOUCH = 40
_IDENTIFIER = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]{3,40}")
_WITHOUT_SIGNS = bytes(code if chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(128)) + bytes(
    128
)
_HUMPS = lazy_pattern(r"_+|(?<=[a-z0-9])(?=[A-Z])")


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
