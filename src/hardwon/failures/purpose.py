"""What a command is for: it looks, it checks, it provides something, or it does something else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardwon.failures.shell import Command, program_family

_LOOKS = frozenset(
    "ls ll cat head tail less more grep rg ag find fd tree wc file stat pwd echo printf which type whereis "
    "whoami id date du df ps top printenv jq awk cut sort uniq diff cmp md5sum sha256sum basename dirname "
    "realpath readlink history man help test [ true false sleep uname hostname lsof nl column xxd od strings "
    "pgrep netstat ss dig ping open cal bat tr".split()
)
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
    if command.options & _REPAIRS and command.program != "pytest":
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


def exit_one_answers(command: Command) -> bool:
    """`grep` that finds nothing exits 1: that is no failure."""
    return command.program in _EXIT_ONE_ANSWERS


def suspects(found: Sequence[Command], output: str) -> Sequence[Command]:
    """Which commands of a line can have failed: the one whose own report the output is, else all."""
    told = [(command, _SPEAKS.get(f"{command.program} {command.subcommand}".strip())) for command in found]
    told = [(command, pattern or _SPEAKS.get(command.program)) for command, pattern in told]
    speaking = [command for command, pattern in told if pattern is not None and pattern.search(output)]
    return speaking if len(speaking) == 1 else found
