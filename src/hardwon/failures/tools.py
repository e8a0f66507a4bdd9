"""Developer tools: what a command is for, what it changes, what of a line does the work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from hardwon.failures.shell import Command, commands, program_family

# What a command is for: it looks, it checks, it provides something, or it does something else.

_LOOKS = frozenset(
    "ls ll cat head tail less more grep rg ag find fd tree wc file stat pwd echo printf which type whereis "
    "whoami id date du df ps top printenv jq awk cut sort uniq diff cmp md5sum sha256sum basename dirname "
    "realpath readlink history man help test [ true false sleep uname hostname lsof nl column xxd od strings "
    "pgrep netstat ss dig ping open cal bat tr".split()
)
_ENDS = frozenset(("exit", "return"))
_LOOKING_VERBS = {
    "git": "status log diff show branch remote rev-parse ls-files ls-tree ls-remote blame describe reflog grep tag "
    "shortlog cat-file merge-base",
    "npm": "ls list view outdated why",
    "pnpm": "ls list why",
    "pip": "list show freeze index",
    "uv": "tree",
    "docker": "ps images logs inspect",
    "kubectl": "get describe logs",
    "brew": "info list search",
    "go": "list env version doc",
    "cargo": "tree metadata search",
    "gh": "api auth search repo",
    "apt": "list show search",
}
_LOOKING = {(program, verb) for program, verbs in _LOOKING_VERBS.items() for verb in verbs.split()}
_LOOKING_OPTIONS = frozenset(("--version", "--help", "-V", "-h", "--list", "--dry-run"))

_CHECKERS = frozenset(
    "pytest tox nox unittest tsc tsgo vitest jest mocha mypy pyright ruff flake8 pylint eslint biome golangci-lint "
    "staticcheck rspec phpunit ctest ava tap knip stylelint shellcheck vue-tsc playwright goreleaser lint".split()
)
_CHECKING_VERBS = {
    "go": "test build vet run",
    "cargo": "test check build clippy run bench",
    "dotnet": "test build",
    "mvn": "test verify package compile",
    "gradle": "test check build",
    "npm": "test",
    "pnpm": "test build",
    "yarn": "test build lint",
    "bun": "test",
    "next": "build lint",
}
_CHECKING = {(program, verb) for program, verbs in _CHECKING_VERBS.items() for verb in verbs.split()}
_CHECKING_SCRIPT = re.compile(
    r"(?:^|[\W_])(?:tests?|check|lint|build|type-?check|types|tsc|verify|ci|e2e|unit)(?:$|[\W_])"
)
_TESTERS = frozenset("pytest tox nox unittest vitest jest mocha rspec phpunit ctest ava tap playwright".split())
_TEST_SCRIPT = re.compile(r"(?:^|[\W_])(?:tests?|e2e|unit|spec)(?:$|[\W_])")
_REPAIRS = frozenset(("--fix", "--write", "-w", "--unsafe", "--update", "-u", "--in-place", "--apply", "--autofix"))
_FORMATTERS = frozenset("gofmt goimports black isort prettier rustfmt clang-format shfmt autopep8".split())

_REPAIRING_SCRIPT = re.compile(r"(?:^|[\W_])(?:fmt|fix|format|prettier|autofix)(?:$|[\W_])")
_INSTALLING_ALL = frozenset(("ci", "sync", "restore", "mod tidy", "mod download"))

_PROVIDERS = frozenset(
    "mkdir touch cp mv ln chmod chown apt apt-get brew apk dnf yum pip pipx conda gem bundle composer poetry "
    "systemctl service kill pkill killall fuser npm pnpm yarn bun uv cargo prisma createdb psql export tar unzip "
    "gofmt goimports black isort prettier rustfmt nvm pyenv rustup".split()
)
_PROVIDING = {
    ("git", "init"), ("git", "clone"), ("git", "fetch"), ("git", "pull"), ("git", "add"), ("git", "config"),
    ("git", "submodule update"), ("git", "remote add"), ("git", "stash"), ("git", "switch"), ("git", "checkout"),
    ("docker", "compose up"), ("docker", "run"), ("docker", "start"), ("docker", "pull"), ("docker", "build"),
    ("go", "get"), ("go", "install"), ("go", "generate"), ("go", "mod tidy"), ("go", "mod download"),
    ("go", "mod init"),
}  # fmt: skip

_SPEAKS: dict[str, re.Pattern[str]] = {
    "golangci-lint": re.compile(r"^\d+ issues:", re.MULTILINE),
    "go test": re.compile(r"^(?:--- FAIL|FAIL\t|ok  \t)", re.MULTILINE),
    "tsc": re.compile(r"error TS\d+"),
    "pytest": re.compile(r"^=+ .*\bin [\d.]+s", re.MULTILINE),
    "eslint": re.compile(r"✖ \d+ problems?"),
}
_EXIT_ONE_ANSWERS = frozenset("grep rg ag diff cmp test [ pgrep which type find fd jq".split())


def looks(command: Command) -> bool:
    """It changes nothing."""
    program = program_family(command.program)
    if command.writes and command.head:
        return False
    if program == "sed":
        return not any(option.startswith("-i") for option in command.options)
    if program in ("curl", "wget"):
        return not command.options & {"-o", "-O", "-X", "-d", "--data", "--output"}
    if program in _LOOKS or command.options & _LOOKING_OPTIONS:
        return True
    if command.program == "gh" and command.subcommand.partition(" ")[2] in ("diff", "view", "list", "checks", "status"):
        return True
    if (program, command.subcommand) == ("git", "stash list"):
        return True
    return (program, command.subcommand.partition(" ")[0]) in _LOOKING and command.subcommand != "remote add"


def checks(command: Command) -> bool:
    """It says whether the code is right: a test run, a build, a linter that repairs nothing."""
    if command.program != "pytest" and (command.options & _REPAIRS or _REPAIRING_SCRIPT.search(command.subcommand)):
        return False
    if command.program in _FORMATTERS:
        return "--check" in command.options or "-l" in command.options
    if command.program in _CHECKERS:
        return command.subcommand not in ("format", "init", "install")
    verb = command.subcommand.partition(" ")[0]
    if (command.program, verb) in _CHECKING:
        return True
    if verb == "run" or command.program in ("make", "just"):
        return bool(_CHECKING_SCRIPT.search(command.subcommand.partition(" ")[2] or command.subcommand))
    return program_family(command.program) == "python" and bool(_CHECKING_SCRIPT.search(command.subcommand))


def tests(command: Command) -> bool:
    """It runs tests, which builds and linters do not."""
    if not checks(command):
        return False
    return command.program in _TESTERS or bool(_TEST_SCRIPT.search(command.subcommand))


def provides(command: Command) -> bool:
    """It installs, creates, starts, permits or formats something that may have been missing."""
    return not checks(command) and (
        command.program in _PROVIDERS or (command.program, command.subcommand) in _PROVIDING
    )


def installs(command: Command) -> bool:
    """It installs all that a project says it needs, when nothing is named: `npm install`, `uv sync`, `go mod tidy`."""
    names_nothing = not command.targets or command.program in ("poetry", "bundle", "composer")
    return command.subcommand in _INSTALLING_ALL or (command.subcommand in ("install", "i") and names_nothing)


def is_known(program: str) -> bool:
    """A checker, test runner or formatter that everybody has: no stranger's name."""
    return program in _CHECKERS | _TESTERS | _FORMATTERS


def formats(command: Command) -> bool:
    """It rewrites files as the formatter wants them."""
    verb = command.subcommand
    return (
        (command.program in _FORMATTERS and not checks(command))
        or bool(command.options & _REPAIRS and command.program in _CHECKERS)
        or "format" in re.split(r"[\W_]", verb)
        or bool(_REPAIRING_SCRIPT.search(verb))
    )


def formats_for_another(command: Command, said: str) -> bool:
    """Whether it is a formatter, and the error wants another: `gofmt` sorts no imports as `goimports` does."""
    wanted = {name for name in _FORMATTERS if re.search(rf"\b{name}\b", said)}
    return command.program in _FORMATTERS and bool(wanted) and command.program not in wanted


_ASKS_ELSEWHERE = frozenset("gh glab git docker podman curl wget http xh ssh scp rsync sftp ftp".split())


def asks_elsewhere(program: str) -> bool:
    """Its arguments name hosts, owners and their repositories."""
    return program in _ASKS_ELSEWHERE


def exit_one_answers(command: Command) -> bool:
    """`grep` that finds nothing exits 1: that is no failure."""
    return command.program in _EXIT_ONE_ANSWERS


def suspects(found: Sequence[Command], output: str) -> Sequence[Command]:
    """Which commands of a line can have failed: the one whose own report the output is, else all."""
    told = [(command, _SPEAKS.get(f"{command.program} {command.subcommand}".strip())) for command in found]
    told = [(command, pattern or _SPEAKS.get(command.program)) for command, pattern in told]
    speaking = [command for command, pattern in told if pattern is not None and pattern.search(output)]
    return speaking if len(speaking) == 1 else found


# Shell lines as agents write them: whether two are the same try, what tells them apart, whether one is safe.

_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*", re.DOTALL)
_LONG_QUOTE = re.compile(r"\"(?:[^\"\\]|\\.){60,}\"|'[^']{60,}'", re.DOTALL)
_COMMIT = re.compile(r"\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,40}\b")
_TICKET = re.compile(
    r"(?<=[a-z] )#?\d{2,}(?= |$)|(?<= )[A-Z]{2,10}-\d+(?= |$)|(?<= )[a-z]{2,12}-[0-9][0-9a-z]{1,6}(?= |$)"
)
"""A number or a ticket's name after a word: which one it was says nothing to the next."""
_NUMBER = re.compile(r"(?<=['\"\w]#)\d+")
_PROCESS_ID = re.compile(r"\b(kill(?: -\w+)*)(?: \d+)+")
_EVERYTHING = frozenset(("./...", "...", "./", "all", "--all"))
_ANY_TARGET = {("git", "commit")}
_MAY_NAME_ITS_TARGET = {("git", verb) for verb in "push pull fetch rebase merge".split()}
_VOLATILE_OPTIONS = frozenset("-v -q -s -x -vv --verbose --quiet --no-color --color=never -count=1".split())

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
            r"--no-verify\b|\bHUSKY=0\b|\bLEFTHOOK=0\b|\bSKIP=\S+|--no-gpg-sign\b|--insecure\b|\bcurl\s+[^\n]*-k\b|NODE_TLS_REJECT_UNAUTHORIZED|sslVerify\s+false|safe\.directory\s+['\"]?\*|--disable-\w*(?:security|sandbox)|--dangerously|chmod\s+(?:-R\s+)?(?:777|a\+rwx)|--break-system-packages|setenforce\s+0|--trusted-host"
        ),
    ),
    (
        "skips a question",
        re.compile(r"(?<!\S)(?:--yes|--assume-yes|--force|--auto-approve|--no-confirm|--prod(?:uction)?)(?![\w-])"),
    ),
    ("handles a secret", re.compile(r"‹secret:")),
)


def alike(failed: str, later: str) -> bool:
    """Whether `later` tries again everything that `failed` did."""
    wanted, tried = doing(failed), doing(later)
    return bool(wanted) and all(any(same(command, other) for other in tried) for command in wanted)


def doing(line: str) -> Sequence[Command]:
    """What a line does; when it only looks, what it looks at."""
    found = [command for command in commands(line) if command.program not in _ENDS]
    return [command for command in found if not looks(command)] or found


def same(failed: Command, later: Command, output: str = "") -> bool:
    """Whether a command tries the same thing again; `output` is what the failed one said."""
    if _tool(failed) != _tool(later) or failed.subcommand != later.subcommand:
        return False
    if failed.inline or later.inline:
        return failed.inline and later.inline and failed.text == later.text
    if failed.targets == later.targets or (failed.program, failed.subcommand) in _ANY_TARGET:
        return True
    if checks(failed):
        return _covers(failed, later, output)
    if (failed.program, failed.subcommand) in _MAY_NAME_ITS_TARGET:
        return failed.targets <= later.targets or later.targets <= failed.targets
    return False


def _covers(failed: Command, later: Command, output: str) -> bool:
    """A wider check covers a narrower one; a narrower one does, if all that it selects stands in the failure."""
    wanted, tried = failed.targets - _EVERYTHING, later.targets - _EVERYTHING
    if not tried:
        return True
    if wanted < tried:
        chosen = tried - wanted  # the same, and selects within it
    elif tried < wanted:
        chosen = tried
    else:
        return False
    return bool(output) and all(_named(target, output) for target in chosen)


def _named(target: str, output: str) -> bool:
    parts = [part.strip("^$./ ") for part in re.split(r"[|:]+", target)]
    return all(part in output for part in parts if part) and any(parts)


def _tool(command: Command) -> str:
    return program_family(command.program)


def changes_something(line: str) -> bool:
    """False for a line that only looks."""
    return any(not looks(command) for command in commands(line))


def exit_one_is_an_answer(line: str) -> bool:
    """The last command of the line answers by its exit code."""
    found = commands(line)
    return bool(found) and (
        exit_one_answers(found[-1]) or any(name in ("grep", "rg", "diff") for name in found[-1].through[-1:])
    )


def only_shows(before: Command, after: Command) -> bool:
    """Whether a call passed because it was told to do nothing: `--dry-run`, `--help`."""
    return bool((after.options - before.options) & _LOOKING_OPTIONS)


def difference(failed: Command, later: Command, *, moved: bool) -> bool:
    """Whether the later call is another one: program, wrapper, variable, option, target; its folder only if asked."""
    if _tool(failed) != _tool(later) or failed.program != later.program or failed.settings != later.settings:
        return True
    if moved and later.folder and failed.folder != later.folder:
        return True
    wanted = (failed.targets, failed.options - _VOLATILE_OPTIONS)
    return wanted != (later.targets, later.options - _VOLATILE_OPTIONS)


@lru_cache(maxsize=4096)
def danger(line: str) -> str:
    """Why a person must approve this step before it is ever suggested; empty when it is harmless."""
    return next((why for why, pattern in _DANGERS if pattern.search(line)), "")


@lru_cache(maxsize=4096)
def gist(line: str, longest: int = 48) -> str:
    """What a command is about, without the options and values that change from call to call."""
    found = doing(line)
    if not found:
        return ""
    kept: list[str] = []
    for at, word in enumerate(_unassigned(found[-1].text).split()):
        if word.startswith("-") and not (word == "-m" and kept and kept[-1].startswith("python")):
            break
        if word[:1] in "\"'<" or "…" in word or "$(" in word or "`" in word or (at and word.isdigit()):
            break
        kept.append(word)
    return brief(" ".join(kept), longest)


def _unassigned(text: str) -> str:
    return re.sub(r"^(?:[A-Za-z_]\w*=\S*\s+)+(?=\S)", "", text)


def brief(line: str, longest: int = 120) -> str:
    """A command as one line of text that fits a briefing; long texts inside it are left out."""
    flat = _LONG_QUOTE.sub("…", _HEREDOC.sub("<<…", line))
    flat = _COMMIT.sub("<id>", _PROCESS_ID.sub(r"\1 <pid>", " ".join(flat.split())))
    flat = _NUMBER.sub("<id>", _TICKET.sub("<id>", flat))
    return flat if len(flat) <= longest else flat[: longest - 1].rstrip() + "…"
