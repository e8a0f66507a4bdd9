"""A shell line taken apart: its commands, where each runs, what its output goes through. Linear in its length."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from hardwon.text.normalise import lazy_pattern

HEREDOC = lazy_pattern(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1([^\n]*)\n(.*?)(?:\n[ \t]*\2[ \t]*(?=\n|$)|\Z)", re.DOTALL)
_SEPARATORS = lazy_pattern(r"&&|\|\||;;?|\n|\|&?|&(?=\s*$)")
_QUOTED = lazy_pattern(r"\$'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|\$\([^()]*\)|`[^`]*`", re.DOTALL)
_WORD = lazy_pattern(
    r"(?:\$'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|\$\([^()]*\)|[^\s\"'\\])+|[\"'\\]", re.DOTALL
)
_REDIRECTION = lazy_pattern(r"^(?:\d|&)?>{1,2}(?P<file>(?!&).*)$|^\d?>&\d$|^<{1,3}")
_LEADING_KEYWORD = lazy_pattern(r"^(?:do|then|else|\() ")
_SILENCED = lazy_pattern(r"\s*(?:\d?>&\d|\d?>{1,2}\s*/dev/null|&>\s*/dev/null)")
_RAN_IN = lazy_pattern(r"in ([\w.+@/~][\w.+@/~-]*): ")
_KEPT_APART = lazy_pattern(r"<<\d+")
_SPACE = lazy_pattern(r"\s")
_ASSIGNMENT = lazy_pattern(r"^[A-Za-z_]\w*=")
_IN_PLACE = frozenset(("cd", "pushd", "popd", "source", ".", "set", "ulimit", "sleep", "true", ":", "wait", "trap"))
_KEYWORDS = frozenset("if then else elif do while until { ( !".split())
_NO_COMMAND = frozenset("for case fi done esac } ) function select".split())
_CLOSES = frozenset("fi done esac } )".split())
"""Behind these the exit code is that of what stands before."""
_WRAPPERS = frozenset("sudo time nice nohup env command exec npx bunx uvx corepack pnpx rtk".split())
_RUNNERS = {
    "uv": "run",
    "poetry": "run",
    "pipenv": "run",
    "pdm": "run",
    "hatch": "run",
    "rye": "run",
    "rtk": "proxy",
    "bundle": "exec",
    "pnpm": "exec",
}
_INTERPRETERS = frozenset("python node bash sh zsh ruby perl php deno bun".split())
_INLINE_OPTIONS = frozenset(("-c", "-e", "-", "--eval", "-p", "-lc"))
_SUBCOMMANDS = frozenset(
    "git npm pnpm yarn bun cargo go docker kubectl uv pip poetry make just gh terraform dotnet mvn gradle "
    "brew apt apt-get golangci-lint ruff biome goreleaser next prisma systemctl composer bundle gem pixi mise task "
    "nx ng turbo swift mix zig flutter dart bazel sbt rails rake".split()
)
_TWO_WORDS = {
    ("npm", "run"), ("pnpm", "run"), ("yarn", "run"), ("bun", "run"), ("docker", "compose"), ("go", "mod"),
    ("pixi", "run"), ("mise", "run"), ("turbo", "run"), ("gh", "pr"), ("gh", "issue"), ("gh", "run"), ("git", "stash"),
    ("git", "worktree"), ("git", "submodule"),
}  # fmt: skip
_BEFORE_A_VERB = frozenset("-C -f --prefix --filter --dir --cwd --workspace --manifest-path --file".split())
"""Options whose value is another word: `npm --prefix web run build` runs `build`."""
_MAX_WORD_CHARACTERS = 120


class Command(NamedTuple):
    """One command of a line."""

    program: str
    subcommand: str
    targets: frozenset[str]
    options: frozenset[str]
    settings: tuple[str, ...]
    """Variables and wrappers before it: `CI=1`, `uv run`, `/usr/bin/` where the program is called by its path."""
    folder: str
    through: tuple[str, ...]
    """The programs that its output is piped through."""
    text: str
    """As it was written, without redirections and pipes."""
    inline: bool
    """Its program stands in the line itself: `python -c …`, `node <<EOF`."""
    writes: str
    """The file that its output goes to."""
    head: str
    """The first line of the text that it is given in place: `cat > file <<EOF`."""
    masked: bool
    """Whether the line's exit code can be another command's."""


@lru_cache(maxsize=1024)
def commands(line: str) -> tuple[Command, ...]:
    """The commands of a line in order, without those that only get into place."""
    bodies: list[str] = []
    folder, line = ran_in(line)
    plain = HEREDOC.sub(lambda found: _kept_apart(found, bodies), line)
    found: list[Command] = []
    pipelines = _pipelines(plain)
    for number, (elements, _) in enumerate(pipelines):
        ends_otherwise = any(
            mark in (";", "\n", "||") and later[0] not in _CLOSES for later, mark in pipelines[number + 1 :]
        )
        words = _words(elements[0])
        if words[:1] == ("cd",) and len(words) > 1:
            folder = words[1] if words[1][:1] in "/~" or words[1][1:2] == ":" else posixpath.join(folder, words[1])
        at = _main(elements)
        command = _command(elements, at, folder, bodies, masked=ends_otherwise or len(elements) > at + 1)
        if command is not None:
            found.append(command)
    return tuple(found)


def elements(line: str) -> tuple[Command, ...]:
    """Every command of a line, those in the middle of a pipe as well."""
    return tuple(command for pipe in pipes(line) for command in pipe)


@lru_cache(maxsize=1024)
def pipes(line: str) -> tuple[tuple[Command, ...], ...]:
    """The commands of a line, those of one pipe together."""
    bodies: list[str] = []
    plain = HEREDOC.sub(lambda found: _kept_apart(found, bodies), ran_in(line)[1])
    groups = ([_command([one], 0, "", bodies, masked=True) for one in group] for group, _ in _pipelines(plain))
    return tuple(tuple(command for command in group if command is not None) for group in groups)


def each_stops_the_next(line: str) -> bool:
    """Whether what stands behind a command that failed does not run."""
    plain = HEREDOC.sub(lambda found: _kept_apart(found, []), ran_in(line)[1])
    return all(mark in ("", "&&") for _, mark in _pipelines(plain))


def ran_in(line: str) -> tuple[str, str]:
    """(the folder that its shell was in, where that is another than the session's; the line as it was written)."""
    found = _RAN_IN.match(line)
    return (found[1], line[found.end() :]) if found else ("", line)


def _kept_apart(found: re.Match[str], bodies: list[str]) -> str:
    first = next((text.strip() for text in found[4].split("\n") if text.strip()), "")
    bodies.append(first)
    return f"<<{len(bodies) - 1}{found[3]}"


def _pipelines(line: str) -> list[tuple[list[str], str]]:
    """Each pipeline's elements, and the mark that stands before it."""
    pipelines: list[tuple[list[str], str]] = []
    elements: list[str] = []
    mark, start, at = "", 0, 0
    while True:
        separator = _SEPARATORS.search(line, at)
        if separator is not None and (opened := _opened(line, at, separator.start())) is not None:
            at = opened
            continue
        elements.append(line[start : separator.start() if separator else len(line)].strip())
        if separator is None or not separator.group().startswith("|") or separator.group() == "||":
            if any(elements):
                pipelines.append(([element for element in elements if element], mark))
            elements = []
            mark = separator.group() if separator else ""
        if separator is None:
            return pipelines
        start = at = separator.end()


def _opened(line: str, at: int, end: int) -> int | None:
    """Where a quote that opens before `end` closes, if it closes after it."""
    while at < end:
        found = _QUOTED.search(line, at)
        if found is None or found.start() >= end:
            return None
        if found.end() > end:
            return found.end()
        at = found.end()
    return None


def _main(elements: list[str]) -> int:
    """Which element of a pipeline does the work: the first that does not only print."""
    for at, element in enumerate(elements):
        words = _words(element)
        if words and words[0] not in ("cat", "echo", "printf", "yes", "head", "tail", "grep"):
            return at
    return 0


def _command(elements: list[str], at: int, folder: str, bodies: list[str], *, masked: bool) -> Command | None:
    words, writes, head = _without_redirections(_words(elements[at]), bodies)
    settings, words = _settings(words)
    if not words or words[0] in _IN_PLACE or words[0] in _NO_COMMAND or words[0].startswith("#"):
        return None
    program = base(words[0])
    if program != words[0] and not words[0].startswith("./"):
        settings = (*settings, words[0])
    rest = words[1:]
    inline = program_family(program) in _INTERPRETERS and (
        (not rest and bool(head)) or any(word in _INLINE_OPTIONS for word in rest[:2])
    )
    program, subcommand, rest = _subcommand(program, rest, inline=inline)
    return Command(
        program=program,
        subcommand=subcommand,
        targets=frozenset(word for word in rest if not word.startswith("-") and word != "."),
        options=frozenset(word for word in rest if word.startswith("-")),
        settings=settings,
        folder=folder,
        through=tuple(base(_words(element)[0]) for element in elements[at + 1 :] if _words(element)),
        text=_told(elements[at]),
        inline=inline,
        writes=writes,
        head=head,
        masked=masked,
    )


def _subcommand(program: str, rest: list[str], *, inline: bool) -> tuple[str, str, list[str]]:
    if program_family(program) == "python" and rest[:1] == ["-m"] and len(rest) > 1:
        program, rest = rest[1], rest[2:]
    elif program_family(program) in _INTERPRETERS - _SUBCOMMANDS:
        script = next((word for word in rest if not word.startswith("-")), "")
        return program, "" if inline else script, [word for word in rest if word != script]
    if program_family(program) not in _SUBCOMMANDS:
        return program, "", rest
    while program == "git" and rest[:1] in (["-C"], ["-c"]):
        rest = rest[2:]
    given = {at + 1 for at, word in enumerate(rest) if word in _BEFORE_A_VERB}
    verb = next((at for at, word in enumerate(rest) if not word.startswith("-") and at not in given), None)
    if verb is None:
        return program, "", rest
    followed = len(rest) > verb + 1 and not rest[verb + 1].startswith("-")
    size = 2 if followed and (program, rest[verb]) in _TWO_WORDS else 1
    return program, " ".join(rest[verb : verb + size]), rest[:verb] + rest[verb + size :]


def _settings(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    found: list[str] = []
    while words:
        first = words[0]
        if first in _KEYWORDS:
            words = words[1:]
        elif first == "export" or (_ASSIGNMENT.match(first) and len(words) > 1):
            found += [first] if first != "export" else []
            words = words[1:]
        elif first == "timeout" and len(words) > 2:
            words = words[1:]
            while words and (words[0].startswith("-") or words[0][:1].isdigit()):
                words = words[1:]
        elif _RUNNERS.get(first) == (words[1] if len(words) > 2 else ""):
            found.append(f"{first} {words[1]}")
            words = words[2:]
        elif first in _WRAPPERS and len(words) > 1:
            found.append(first)
            words = words[1:]
            while words and words[0].startswith("-") and (first == "sudo" or words[0] in ("-y", "--yes")):
                words = words[1:]
        else:
            break
    return tuple(found), words


@lru_cache(maxsize=1024)
def _words(element: str) -> tuple[str, ...]:
    return tuple(map(_plain_word, _WORD.findall(element)))


def _plain_word(word: str) -> str:
    if word[:1] in "\"'" and word[-1:] == word[:1] and len(word) > 1:
        word = word[1:-1]
    return word if len(word) <= _MAX_WORD_CHARACTERS and not _SPACE.search(word) else "…"


def _without_redirections(words: Iterable[str], bodies: list[str]) -> tuple[list[str], str, str]:
    kept: list[str] = []
    writes, head, awaited = "", "", False
    for word in words:
        redirection = _REDIRECTION.match(word)
        if awaited:
            writes, awaited = writes or word, False
        elif redirection is None:
            kept.append(word)
        elif word.startswith("<<") and word[2:].isdigit():
            head = bodies[int(word[2:])] or "…"
        elif redirection.group("file") is not None:
            writes = writes or redirection.group("file")
            awaited = not redirection.group("file")
    return kept, "" if writes.startswith("/dev/") else writes, head


def _told(element: str) -> str:
    text = _LEADING_KEYWORD.sub("", element)
    if ">" in text:
        text = _SILENCED.sub("", text)
    if "<<" in text:
        text = _KEPT_APART.sub("<<…", text)
    return " ".join(text.split())


def base(word: str) -> str:
    """The program's name without its folder."""
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


# Whether what worked for one call may be told for another.

_REPLACED = lazy_pattern(r"`(.+?)` with `")
_MASKED = lazy_pattern(r"<[a-z]+>|…")
_BARE_WORD = lazy_pattern(r"[a-z][a-z0-9_:-]+")


def suits(steps: Iterable[Sequence[str]], succeeded_as: str, command: str) -> bool:
    """Whether a remedy is one for this call: what it leaves out or replaces stands there, and it calls the same."""
    if not command:
        return True
    plain = re.sub(r"['\"]", "", command)
    for action, what, *_ in steps:
        replaced = _REPLACED.match(what) if action == "replace" else None
        old = what if action == "drop" else replaced[1] if replaced else ""
        words = map(re.escape, re.sub(r"['\"]", "", _MASKED.sub("\0", old)).split())
        if not all(re.search(rf"(?<![\w./-]){one}(?![\w/-])".replace("\0", r"\S+"), plain) for one in words):
            return False
    return calls_the_same(succeeded_as, command)


def calls_the_same(succeeded_as: str, command: str) -> bool:
    """Whether a call that worked names no other sub-command of a program than the one that failed does."""
    failed = commands(command)
    pairs = [
        (_verbs(one), _verbs(other))
        for one in commands(succeeded_as)
        for other in failed
        if program_family(one.program) == program_family(other.program)
    ]
    return not pairs or any(all(map(str.__eq__, *both)) for both in pairs)


def _verbs(command: Command) -> list[str]:
    """The plain words behind a program, up to what is an option or a value."""
    words = command.text.split()
    start = next((at for at, word in enumerate(words) if base(word) == command.program), 0)
    found: list[str] = []
    for word in words[start + 1 :]:
        if _BARE_WORD.fullmatch(word):
            found.append(word)
        elif "/" not in word and "." not in word:
            break
    return [word for word in found if word != "run"]


@lru_cache(maxsize=1024)
def program_family(program: str) -> str:
    """`python3.12` and `python` are one tool."""
    for name in ("python", "pip"):
        if program.startswith(name) and not program[len(name) :].strip(".0123456789"):
            return name
    return program
