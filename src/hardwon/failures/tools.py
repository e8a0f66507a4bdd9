"""Developer tools: what a command is for, what it changes, what of a line does the work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from hardwon.failures.shell import Command, base, commands, program_family
from hardwon.text.normalise import lazy_pattern

# One table of developer tools: a new one is one entry.


class Tool(NamedTuple):
    """What a program does: of each field the verbs that do it, with commas; `*` where any use does."""

    looks: str = ""
    """They change nothing."""
    checks: str = ""
    """They say whether the code is right."""
    finds: str = ""
    """They print what they find, and nothing but a count when all is well: what they printed says how they ended."""
    tests: str = ""
    formats: str = ""
    provides: str = ""
    """They install, create, start, permit or format something that may have been missing."""
    fetches: str = ""
    """They bring something from elsewhere, or run what they bring."""
    brings_nothing: str = ""
    """Verbs that do not, where any other does."""
    configures: str = ""
    """They say where it gets things from."""
    asks: str = ""
    """Their arguments name hosts, owners and repositories."""
    answers: str = ""
    """By exit code 1: that is no failure."""


_JAVASCRIPT = "install, add, i, exec, dlx, x, ci, create, init, update, upgrade, link"
_PYTHON = "install, download, add, tool, run, sync, pip"
_LOCKED = "add, install, require, update, self, global, plugin, sync"
_CONTAINERS = "run, pull, plugin, login, push, exec, create"
_TABLE: tuple[tuple[str, Tool], ...] = (
    # looks
    (
        """
        ls ll cat head tail less more tree wc file stat pwd echo printf whereis whoami id date du df ps top printenv
        awk cut sort uniq md5sum sha256sum basename dirname realpath readlink history man help true false sleep
        uname hostname lsof nl column xxd od strings netstat ss dig ping open cal bat tr
        """,
        Tool(looks="*"),
    ),
    ("grep rg ag find fd which type jq diff cmp test [ pgrep", Tool(looks="*", answers="*")),
    # checks
    (
        """
        tsc tsgo vue-tsc mypy pyright ruff flake8 pylint eslint biome golangci-lint staticcheck stylelint shellcheck
        markdownlint markdownlint-cli2 yamllint actionlint lint
        """,
        Tool(checks="*", finds="*"),
    ),
    ("knip goreleaser", Tool(checks="*")),
    (
        "pytest tox nox unittest vitest jest mocha rspec phpunit ctest ava tap playwright",
        Tool(checks="*", tests="*"),
    ),
    ("gofmt goimports black isort prettier rustfmt", Tool(formats="*", provides="*")),
    ("clang-format shfmt autopep8", Tool(formats="*")),
    ("mvn", Tool(checks="test, verify, package, compile")),
    ("gradle", Tool(checks="test, check, build")),
    ("next", Tool(checks="build, lint")),
    # provides
    (
        """
        mkdir touch cp mv ln chmod chown systemctl service kill pkill killall fuser prisma createdb psql export tar
        unzip nvm pyenv rustup
        """,
        Tool(provides="*"),
    ),
    # fetches
    ("npm", Tool("ls, list, view, outdated, why", "test", provides="*", fetches=_JAVASCRIPT, configures="*")),
    ("pnpm", Tool("ls, list, why", "test, build", provides="*", fetches=_JAVASCRIPT, configures="*")),
    ("yarn", Tool(checks="test, build, lint", provides="*", fetches=_JAVASCRIPT, configures="*")),
    ("bun", Tool(checks="test", provides="*", fetches=_JAVASCRIPT)),
    ("deno", Tool(fetches="install, add, run")),
    ("pip", Tool("list, show, freeze, index", provides="*", fetches=_PYTHON, configures="*")),
    ("uv", Tool("tree", provides="*", fetches=_PYTHON, configures="*")),
    ("pipx", Tool(provides="*", fetches=_PYTHON)),
    ("conda", Tool(provides="*", fetches="*", brings_nothing="activate, deactivate, list, info", configures="*")),
    ("poetry bundle composer", Tool(provides="*", fetches=_LOCKED, configures="*")),
    ("pdm rye hatch pipenv", Tool(fetches=_LOCKED)),
    ("gem", Tool(provides="*", fetches="*", brings_nothing="list", configures="*")),
    (
        "cargo",
        Tool(
            looks="tree, metadata, search",
            checks="test, check, build, clippy, run, bench",
            provides="*",
            fetches="*",
            brings_nothing="build, check, test, run, fmt, fix, clean, clippy, doc",
            configures="*",
        ),
    ),
    (
        "go",
        Tool(
            looks="list, env, version, doc",
            checks="test, build, vet, run",
            finds="vet",
            provides="get, install, generate, mod tidy, mod download, mod init",
            fetches="get, install, run",
            configures="*",
        ),
    ),
    ("dotnet", Tool(checks="test, build", fetches="*", brings_nothing="restore, build, test, run, clean, format")),
    ("swift", Tool(fetches="*", brings_nothing="build, test")),
    ("cabal stack", Tool(fetches="*", brings_nothing="build")),
    ("mix", Tool(fetches="*", brings_nothing="test")),
    ("apt", Tool("list, show, search", provides="*", fetches="*")),
    ("brew", Tool("info, list, search", provides="*", fetches="*")),
    ("apt-get apk dnf yum", Tool(provides="*", fetches="*")),
    (
        """
        mamba micromamba luarocks opam cpan cpanm nuget nix zypper pacman port snap flatpak choco winget scoop nix-
        env add-apt-repository apt-key rpm dpkg easy_install npx uvx bunx pnpx vcpkg conan tlmgr aria2c nc ncat
        telnet socat Invoke-WebRequest iwr irm iex codex gemini cursor code codium code-insiders rebar3 pod julia
        crontab launchctl at gpg ssh-keygen ssh-copy-id ssh-add eval
        """,
        Tool(fetches="*"),
    ),
    ("claude", Tool(fetches="*", configures="*")),
    ("asdf mise", Tool(fetches="plugin, use, install")),
    ("curl wget http xh scp rsync sftp ftp ssh", Tool(fetches="*", asks="*")),
    # services
    (
        "git",
        Tool(
            looks="status, log, diff, show, branch, remote, rev-parse, ls-files, ls-tree, ls-remote, blame, describe, "
            "reflog, grep, tag, shortlog, cat-file, merge-base",
            provides="init, clone, fetch, pull, add, config, submodule update, remote add, stash, switch, checkout",
            asks="*",
        ),
    ),
    (
        "gh",
        Tool(
            looks="api, auth, search, repo",
            fetches="extension, repo, gist, release, alias, auth, secret",
            configures="*",
            asks="*",
        ),
    ),
    ("glab", Tool(asks="*")),
    (
        "docker",
        Tool(
            looks="ps, images, logs, inspect",
            provides="compose up, run, start, pull, build",
            fetches=_CONTAINERS,
            asks="*",
        ),
    ),
    ("podman", Tool(fetches=_CONTAINERS, asks="*")),
    ("kubectl", Tool(looks="get, describe, logs", fetches="apply, create, edit, exec")),
    ("helm", Tool(fetches="repo, install, upgrade, pull, plugin", configures="*")),
)
TOOLS = {program: tool for programs, tool in _TABLE for program in programs.split()}
_VERBS = {
    (program, what): frozenset(verbs.split(", "))
    for program, tool in TOOLS.items()
    for what, verbs in tool._asdict().items()
    if verbs
}

_ENDS = frozenset(("exit", "return"))
_LOOKING_OPTIONS = frozenset(("--version", "--help", "-V", "-h", "--list", "--dry-run"))
_CHECKING_SCRIPT = lazy_pattern(
    r"(?:^|[\W_])(?:tests?|check|lint|build|type-?check|types|tsc|verify|ci|e2e|unit)(?:$|[\W_])"
)
_TEST_SCRIPT = lazy_pattern(r"(?:^|[\W_])(?:tests?|e2e|unit|spec)(?:$|[\W_])")
_REPAIRS = frozenset(("--fix", "--write", "-w", "--unsafe", "--update", "-u", "--in-place", "--apply", "--autofix"))
_REPAIRING_SCRIPT = lazy_pattern(r"(?:^|[\W_])(?:fmt|fix|format|prettier|autofix)(?:$|[\W_])")
_INSTALLING_ALL = frozenset(("ci", "sync", "restore", "mod tidy", "mod download"))

_SPEAKS: dict[str, re.Pattern[str]] = {
    "golangci-lint": lazy_pattern(r"^\d+ issues:", re.MULTILINE),
    "go test": lazy_pattern(r"^(?:--- FAIL|FAIL\t|ok  \t)", re.MULTILINE),
    "tsc": lazy_pattern(r"error TS\d+"),
    "pytest": lazy_pattern(r"^=+ .*\bin [\d.]+s", re.MULTILINE),
    "eslint": lazy_pattern(r"✖ \d+ problems?"),
}


def _does(program: str, what: str, verb: str = "*") -> bool:
    verbs = _VERBS.get((program, what), frozenset())
    return "*" in verbs or verb in verbs


CHOOSES_A_PART = r"--(?:filter|workspace|prefix|cwd|dir|project|package|manifest-path)|-C|-F|-w|-p"
"""Options by which a tool is told which part of a repository it shall work on."""
_LISTING = frozenset("list ls log logs history show view search".split())
_VERBS_READ = 4
"""So many words a verb stands among: `tide --all notes list`."""


def looks(command: Command) -> bool:
    """It changes nothing."""
    program = program_family(command.program)
    if command.writes and command.head:
        return False
    if program == "sed":
        return not any(option.startswith("-i") for option in command.options)
    if program in ("curl", "wget"):
        return not command.options & {"-o", "-O", "-X", "-d", "--data", "--output"}
    if _does(program, "looks") or command.options & _LOOKING_OPTIONS:
        return True
    if command.program == "gh" and command.subcommand.partition(" ")[2] in ("diff", "view", "list", "checks", "status"):
        return True
    if command.program == "gh" and command.subcommand.startswith("api"):
        return not command.options & {"-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"}
    if (program, command.subcommand) == ("git", "stash list"):
        return True
    verb = command.subcommand.partition(" ")[0]
    return bool(verb) and _does(program, "looks", verb) and command.subcommand != "remote add"


def shows(command: Command) -> bool:
    """It prints what stands in files, or came from elsewhere, whatever that is: `cat`, `grep`, `sed -n`."""
    return looks(command) and (_does(command.program, "looks") or command.program == "sed")


def lists(command: Command) -> bool:
    """It shows what there is, in whatever words that was written: `tide notes list`."""
    return not checks(command) and not _LISTING.isdisjoint(command.text.split()[1:_VERBS_READ])


def checks(command: Command) -> bool:
    """It says whether the code is right: a test run, a build, a linter that repairs nothing."""
    if command.program != "pytest" and (command.options & _REPAIRS or _REPAIRING_SCRIPT.search(command.subcommand)):
        return False
    if _does(command.program, "formats"):
        return "--check" in command.options or "-l" in command.options
    if _does(command.program, "checks"):
        return command.subcommand not in ("format", "init", "install")
    verb = command.subcommand.partition(" ")[0]
    if _does(command.program, "checks", verb):
        return True
    if verb == "run" or command.program in ("make", "just"):
        return bool(_CHECKING_SCRIPT.search(command.subcommand.partition(" ")[2] or command.subcommand))
    return program_family(command.program) == "python" and bool(_CHECKING_SCRIPT.search(command.subcommand))


def finds(command: Command) -> bool:
    """It prints what it finds wrong, and else nothing or a count."""
    return checks(command) and _does(command.program, "finds", command.subcommand.partition(" ")[0])


def tests(command: Command) -> bool:
    """It runs tests, which builds and linters do not."""
    if not checks(command):
        return False
    return _does(command.program, "tests") or bool(_TEST_SCRIPT.search(command.subcommand))


def provides(command: Command) -> bool:
    """It installs, creates, starts, permits or formats something that may have been missing."""
    return not checks(command) and _does(command.program, "provides", command.subcommand)


def installs(command: Command) -> bool:
    """It installs all that a project says it needs, when nothing is named: `npm install`, `uv sync`, `go mod tidy`."""
    names_nothing = not command.targets or command.program in ("poetry", "bundle", "composer")
    return command.subcommand in _INSTALLING_ALL or (command.subcommand in ("install", "i") and names_nothing)


def is_known(program: str) -> bool:
    """A checker, test runner or formatter that everybody has: no stranger's name."""
    return _does(program, "checks") or _does(program, "formats")


def formats(command: Command) -> bool:
    """It rewrites files as the formatter wants them."""
    verb = command.subcommand
    return (
        (_does(command.program, "formats") and not checks(command))
        or bool(command.options & _REPAIRS and _does(command.program, "checks"))
        or "format" in re.split(r"[\W_]", verb)
        or bool(_REPAIRING_SCRIPT.search(verb))
    )


def formats_for_another(command: Command, said: str) -> bool:
    """Whether it is a formatter, and the error wants another: `gofmt` sorts no imports as `goimports` does."""
    if not _does(command.program, "formats"):
        return False
    wanted = {name for name in TOOLS if _does(name, "formats") and re.search(rf"\b{name}\b", said)}
    return bool(wanted) and command.program not in wanted


def asks_elsewhere(program: str) -> bool:
    """Its arguments name hosts, owners and their repositories."""
    return _does(program, "asks")


def fetches(program: str, verb: str) -> bool:
    """It brings something from elsewhere, or runs what it brings."""
    return _does(program, "fetches", verb) and not _does(program, "brings_nothing", verb)


def configures(program: str) -> bool:
    """It can be told where it gets things from."""
    return _does(program, "configures")


def exit_one_answers(command: Command) -> bool:
    """`grep` that finds nothing exits 1: that is no failure."""
    return _does(command.program, "answers")


def suspects(found: Sequence[Command], output: str) -> Sequence[Command]:
    """Which commands of a line can have failed: the one whose own report the output is, else all."""
    told = [(command, _SPEAKS.get(f"{command.program} {command.subcommand}".strip())) for command in found]
    told = [(command, pattern or _SPEAKS.get(command.program)) for command, pattern in told]
    speaking = [command for command, pattern in told if pattern is not None and pattern.search(output)]
    return speaking if len(speaking) == 1 else found


# Shell lines as agents write them: whether two are the same try, what tells them apart, whether one is safe.

_HEREDOC = lazy_pattern(r"<<-?\s*['\"]?(\w+)['\"]?.*", re.DOTALL)
_LONG_QUOTE = lazy_pattern(r"\"(?:[^\"\\]|\\.){60,}\"|'[^']{60,}'", re.DOTALL)
_COMMIT = lazy_pattern(r"\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,40}\b")
_TICKET = lazy_pattern(
    r"(?<=[a-z] )#?\d{2,}(?= |$)|(?<= )[A-Z]{2,10}-\d+(?= |$)|(?<= )[a-z]{2,12}-[0-9][0-9a-z]{1,6}(?= |$)"
)
"""A number or a ticket's name after a word: which one it was says nothing to the next."""
_NUMBER = lazy_pattern(r"(?<=['\"\w]#)\d+")
_PROCESS_ID = lazy_pattern(r"\b(kill(?: -\w+)*)(?: \d+)+")
_EVERYTHING = frozenset(("./...", "...", "./", "all", "--all"))
_ANY_TARGET = {("git", "commit")}
_MAY_NAME_ITS_TARGET = {("git", verb) for verb in "push pull fetch rebase merge".split()}
_VOLATILE_OPTIONS = frozenset("-v -q -s -x -vv --verbose --quiet --no-color --color=never -count=1".split())

_DANGERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "downloads and executes",
        lazy_pattern(
            r"\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\b(?:ba|z)?sh\s+(?:-c\s+)?[\"'<(\$]*\s*(?:curl|wget)\b|\biex\b|\|\s*python3?\b"
        ),
    ),
    (
        "destroys",
        lazy_pattern(
            r"\brm\s+-\w*[rf]\w*[rf]?\b|\bgit\s+(?:reset\s+--hard|clean\s+-\w*f|push\s+[^\n]*(?:--force\b(?!-with)|-f\b)|checkout\s+--\s)|\bdrop\s+(?:table|database)\b|\bmkfs|\bdd\s+if=|\btruncate\s+(?:table\b|-)|\bdocker\s+(?:system|volume)\s+(?:prune|rm)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "disables a check",
        lazy_pattern(
            r"--no-verify\b|\bHUSKY=0\b|\bLEFTHOOK=0\b|\bSKIP=\S+|--no-gpg-sign\b|--insecure\b|\bcurl\s+[^\n]*-k\b|NODE_TLS_REJECT_UNAUTHORIZED|sslVerify\s+false|safe\.directory\s+['\"]?\*|--disable-\w*(?:security|sandbox)|--dangerously|chmod\s+(?:-R\s+)?(?:777|a\+rwx)|--break-system-packages|setenforce\s+0|--trusted-host"
        ),
    ),
    (
        "skips a question",
        lazy_pattern(r"(?<!\S)(?:--yes|--assume-yes|--force|--auto-approve|--no-confirm|--prod(?:uction)?)(?![\w-])"),
    ),
    ("handles a secret", lazy_pattern(r"‹secret:")),
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


_DELETES = lazy_pattern(
    r"(?:^|[;&|]\s*)(?:\w+=\S+\s+)*(?!(?:grep|rg|echo|cat|sed|find|ls|man|which)\s)[\w./@-]+\s+"
    r"(?:[A-Za-z.][\w./:@-]*\s+){0,3}(?:rm|remove|delete|destroy|purge|wipe)(?![\w./=-])"
)


def deletes(line: str) -> bool:
    """Whether a command deletes something, in any program's words; of a sentence it says nothing."""
    return _DELETES.search(line) is not None


@lru_cache(maxsize=4096)
def danger(line: str) -> str:
    """Why a person must approve this step before it is ever suggested; empty when it is harmless."""
    return next((why for why, pattern in _DANGERS if pattern.search(line)), "")


_RUN_FILE = lazy_pattern(r"^[\w./\\~-]+\.(?:[cm]?[jt]sx?|py|sh|ps1|rb|php|pl|lua)$")


@lru_cache(maxsize=4096)
def gist(line: str, longest: int = 48) -> str:
    """What a command is about, without the options and values that change from call to call."""
    found = doing(line)
    if not found:
        return ""
    kept: list[str] = []
    is_script = not found[-1].inline and _RUN_FILE.search(found[-1].subcommand) is not None
    for at, word in enumerate(_unassigned(found[-1].text).split()):
        if is_script and at and word.startswith("-") and found[-1].subcommand not in kept:
            continue  # how it is to be run: `bash -x deploy.sh`
        if word in _SAYS_YES and at and kept[-1:] in _RUNNERS:
            continue
        if word.startswith("-") and not (word == "-m" and kept and base(kept[-1]).startswith("python")):
            break
        if word[:1] in "\"'<" or "…" in word or "$(" in word or "`" in word or (at and word.isdigit()):
            break
        kept.append(word)
    return brief(" ".join(kept), longest)


_RUNNERS = (["npx"], ["bunx"], ["pnpx"], ["uvx"])
_SAYS_YES = ("-y", "--yes", "--bun")


def _unassigned(text: str) -> str:
    return re.sub(r"^(?:[A-Za-z_]\w*=\S*\s+)+(?=\S)", "", text)


def brief(line: str, longest: int = 120) -> str:
    """A command as one line of text that fits a briefing; long texts inside it are left out."""
    flat = _LONG_QUOTE.sub("…", _HEREDOC.sub("<<…", line))
    flat = _COMMIT.sub("<id>", _PROCESS_ID.sub(r"\1 <pid>", " ".join(flat.split())))
    flat = _NUMBER.sub("<id>", _TICKET.sub("<id>", flat))
    return flat if len(flat) <= longest else flat[: longest - 1].rstrip() + "…"
