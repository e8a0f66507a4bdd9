"""Shell commands as agents write them: what runs, whether two are the same try, whether one is safe."""

from __future__ import annotations

import re
from typing import NamedTuple

_SEPARATORS = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*", re.DOTALL)
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", re.DOTALL)
_REDIRECT = re.compile(r"\s*(?:[12&]?>{1,2}\s*&?[\w./-]+|2>&1)")
_PROCESS_ID = re.compile(r"\b(kill(?: -\w+)*)(?: \d+)+")
_ASSIGNMENT = re.compile(r"^(?:export\s+)?[A-Za-z_]\w*=\S*\s+(?=\S)")
_WRAPPERS = re.compile(
    r"^(?:sudo(?:\s+-\w+)*|time|nice|nohup|env|command|timeout\s+(?:-\S+\s+)*\S+|npx|bunx|uvx|uv\s+run|poetry\s+run|"
    r"pipenv\s+run|pdm\s+run|bundle\s+exec|corepack)\s+(?=[\w./~])"
)
_CHANGES_FOLDER = re.compile(r"^(?:cd|pushd|popd|source|\.|set|ulimit|sleep|true|:)(?:\s|$)")
_SUBCOMMANDS = frozenset(
    "git npm pnpm yarn bun cargo go docker kubectl uv pip poetry make just gh terraform dotnet mvn gradle "
    "brew apt apt-get".split()
)
_READ_ONLY = frozenset(
    "ls ll cat head tail less more grep rg ag find fd tree wc file stat pwd echo printf which type whereis "
    "whoami id date du df ps top env printenv jq awk cut sort uniq diff cmp md5sum sha256sum basename dirname "
    "realpath readlink history man help test [ true false sleep uname hostname lsof nl column xxd od strings".split()
)
_READ_ONLY_SUB = {
    "git": frozenset("status log diff show branch remote rev-parse ls-files blame describe reflog grep config".split()),
    "npm": frozenset("ls list view outdated why".split()),
    "pip": frozenset("list show freeze index".split()),
    "uv": frozenset("tree".split()),
    "docker": frozenset("ps images logs inspect".split()),
    "kubectl": frozenset("get describe logs".split()),
    "brew": frozenset("info list search".split()),
    "go": frozenset("list env version doc".split()),
    "gh": frozenset("pr run issue".split()),
}
_ONE_IS_AN_ANSWER = frozenset("grep rg ag diff cmp test [ pgrep which type find fd jq".split())

_DANGERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "downloads and executes",
        re.compile(
            r"\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\b(?:ba|z)?sh\s+(?:-c\s+)?[\"'<(\$]*\s*(?:curl|wget)\b|\biex\b|\|\s*python3?\b"
        ),
    ),
    (
        "destroys",
        re.compile(
            r"\brm\s+-\w*[rf]\w*[rf]?\b|\bgit\s+(?:reset\s+--hard|clean\s+-\w*f|push\s+[^\n]*(?:--force\b(?!-with)|-f\b)|checkout\s+--\s)|\bdrop\s+(?:table|database)\b|\bmkfs|\bdd\s+if=|\btruncate\b|\bdocker\s+(?:system|volume)\s+(?:prune|rm)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "disables a check",
        re.compile(
            r"--no-verify\b|\bHUSKY=0\b|\bLEFTHOOK=0\b|\bSKIP=\S+|--no-gpg-sign\b|--insecure\b|\bcurl\s+[^\n]*-k\b|NODE_TLS_REJECT_UNAUTHORIZED|sslVerify\s+false|--disable-\w*(?:security|sandbox)|--dangerously|chmod\s+(?:-R\s+)?(?:777|a\+rwx)|--break-system-packages|setenforce\s+0|--trusted-host"
        ),
    ),
    ("handles a secret", re.compile(r"‹secret:")),
)


class Command(NamedTuple):
    """A shell line reduced to what it does."""

    program: str
    subcommand: str
    tokens: frozenset[str]
    targets: frozenset[str]


def parse(line: str) -> Command:
    """The last thing a line does that is not getting into place for it."""
    parts = _parts(line)
    words = parts[-1].split() if parts else []
    tokens: list[str] = [word for part in parts for word in part.split()]
    program = _program(words[0]) if words else ""
    rest = words[1:]
    if program.startswith("python") and rest[:1] == ["-m"] and len(rest) > 1:
        program, rest = rest[1], rest[2:]
    elif program.startswith(("python", "node", "bash", "sh")) and rest and not rest[0].startswith("-"):
        program, rest = program + " " + rest[0], rest[1:]
    subcommand = rest[0] if program in _SUBCOMMANDS and rest and not rest[0].startswith("-") else ""
    if subcommand == "run" and len(rest) > 1:
        subcommand = "run " + rest[1]
    targets = frozenset(word for word in rest if not word.startswith("-") and word not in (".", *subcommand.split()))
    return Command(program, subcommand, frozenset(tokens), targets)


def alike(failed: str, later: str) -> bool:
    """Whether `later` tries the same thing again."""
    a, b = parse(failed), parse(later)
    if not a.program or not b.program:
        return False
    if _tool(a) == _tool(b) and a.subcommand == b.subcommand:
        # A run without targets is the run of everything.
        return a.targets == b.targets or not b.targets or bool(a.targets & b.targets)
    if a.program in _SUBCOMMANDS or _tool(a) != _tool(b):
        return False
    return len(a.tokens & b.tokens) / len(a.tokens | b.tokens) >= 0.5


def changes_something(line: str) -> bool:
    """False for a command that only looks."""
    return any(not _only_looks(part) for part in _parts(line))


def exit_one_is_an_answer(line: str) -> bool:
    """`grep` that finds nothing exits 1: that is no failure."""
    return parse(line).program in _ONE_IS_AN_ANSWER


def danger(line: str) -> str:
    """Why a person must approve this step before it is ever suggested; empty when it is harmless."""
    return next((why for why, pattern in _DANGERS if pattern.search(line)), "")


def gist(line: str, longest: int = 48) -> str:
    """What a command is about, without the options and values that change from call to call."""
    parts = [part for part in _SEPARATORS.split(_plain(line)) if part and not _CHANGES_FOLDER.match(part)]
    words = _ASSIGNMENT.sub("", parts[-1].split(" | ")[0]).split() if parts else []
    kept: list[str] = []
    for at, word in enumerate(words):
        if word.startswith("-") and not (word == "-m" and kept and kept[-1].startswith("python")):
            break
        if "…" in word or "$(" in word or "`" in word or (at and word.isdigit()):
            break
        kept.append(word)
    return brief(" ".join(kept), longest)


def differ(failed: str, later: str, *, ignoring_options: bool) -> bool:
    """Whether the later call is another one: other program, wrapper, target; options only if asked."""
    a, b = parse(failed), parse(later)
    if (a.program, a.subcommand, a.targets) != (b.program, b.subcommand, b.targets):
        return True
    return gist(failed) != gist(later) or (not ignoring_options and a.tokens != b.tokens)


def brief(line: str, longest: int = 120) -> str:
    """A command as one line of text that fits a briefing."""
    flat = _PROCESS_ID.sub(r"\1 <pid>", " ".join(_HEREDOC.sub("<<…", line).split()))
    return flat if len(flat) <= longest else flat[: longest - 1].rstrip() + "…"


def _parts(line: str) -> list[str]:
    """The commands of a line, without folders, assignments, wrappers, redirections and pipes' tails."""
    parts = (_unwrapped(part.split(" | ")[0].strip()) for part in _SEPARATORS.split(_plain(line)))
    return [part for part in parts if part and not _CHANGES_FOLDER.match(part) and not part.startswith("#")]


def _plain(line: str) -> str:
    return _REDIRECT.sub(" ", _QUOTED.sub(_short_quote, _HEREDOC.sub("", line)))


def _unwrapped(part: str) -> str:
    while (bare := _WRAPPERS.sub("", _ASSIGNMENT.sub("", part)).strip()) != part:
        part = bare
    return part


def _short_quote(found: re.Match[str]) -> str:
    inner = found.group()[1:-1]
    return inner if len(inner) <= 40 and " " not in inner and "\n" not in inner else "…"


def _program(word: str) -> str:
    return re.split(r"[/\\]", word)[-1].removesuffix(".exe")


def _tool(command: Command) -> str:
    """`python3 x.py` and `python x.py` are one tool; `cat x.py` is another."""
    return re.sub(r"^(python|pip)[\d.]+", r"\1", command.program)


def _only_looks(part: str) -> bool:
    words = part.split()
    program = _program(words[0])
    if program == "sed":
        return "-i" not in words and not any(word.startswith("-i") for word in words)
    if program in _READ_ONLY:
        return True
    return len(words) > 1 and words[1] in _READ_ONLY_SUB.get(program, frozenset())
