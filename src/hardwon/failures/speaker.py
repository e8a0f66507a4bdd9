"""Which command of a line said an error, and how it is told: without what changes from call to call."""

from __future__ import annotations

import itertools
import re

from hardwon.failures import tools
from hardwon.failures.fingerprint import CODE_FAMILIES, USED, Fingerprint
from hardwon.failures.quotable import MAX_ERROR_CHARACTERS, TOKEN, cut, reads_like_an_order
from hardwon.failures.shell import Command, commands, each_stops_the_next, elements, program_family
from hardwon.failures.signature import VERBS, WORDS
from hardwon.failures.turns import NO_FOLDER
from hardwon.text.normalise import base_name, lazy_pattern, presentable

_TEST_RUNS, _CHECKS = ("pytest", "unittest", "jest"), ("lint", "eslint", "tsc")
TESTS = (*_TEST_RUNS, "go")
_BY_A_SHELL = lazy_pattern(
    r"(?:\(eval\):\d+:|(?:/\S*/)?(?P<shell>(?:ba|z|da)?sh):(?: line)?(?: ?\d+:)?) "
    r"(?!.*command not found|.*: not found$|permission denied)[^\n]*$"
)


def led(line: str, found: Fingerprint, tool: str, command: str) -> str:
    """An error led by the command that said it, where its words could be any command's: `npm run lint`: Lint failed."""
    anybodys = found.family == "usage" or found.error_type == "timed out" or is_bare(line, command)
    anybodys = anybodys or (found.family == "generic" and bool(NO_FOLDER.search(line) and STEP_INTO.search(command)))
    shell = _spoken_by_the_shell(found)
    if found.family == "hook" or command == tool or names_its_command(line) or not (anybodys or shell):
        return line
    asked = _ASKED.findall(command) if found.family == "http" else []
    if len(asked) == 1 and "<url>" not in line:
        here = _ON_THIS_MACHINE.match(asked[0])
        line = f"{line} ({here.group(1) if here else presentable(asked[0])})"
    if shell:
        speaker = _fed_to_the_shell(line, command) or shell
    else:
        speaker = _speaker(line, command, found.family, labelled(found, USED))
    if shell and not speaker.startswith((shell, "pwsh")) and not line.startswith(f"{shell}: "):
        line = f"{shell}: {line}"  # which could not do its own part of the command
    if found.family == "usage" and speaker and found.frame and not _says_its_name(found.frame, command):
        speaker = f"{found.frame} {speaker}"  # a wrapper answers for the program that was called
    return f"`{speaker}`: {cut(line, MAX_ERROR_CHARACTERS - len(speaker) - len('``: '))}" if speaker else line


def _spoken_by_the_shell(found: Fingerprint) -> str:
    """The shell that could not do its own part: no file to write into, no match, a line that it cannot read."""
    if found.error_type == "PowerShell":
        return "powershell"
    said = _BY_A_SHELL.match(found.excerpt) if found.family == "shell" else None
    return (said.group("shell") or "zsh") if said else ""


def _fed_to_the_shell(line: str, command: str) -> str:
    """The only command of a line, or the one that names what the shell speaks of; of a pipe any."""
    ran = [one for one in commands(command) if one.program not in _PREPARES] or commands(command)
    named = [one for one in elements(command) if _names_said(one, line)]
    meant = named or ran
    return told_command(meant[0].text) if named or len(ran) == 1 else ""


WORD = lazy_pattern(r"[^\W_]+(?:['’][^\W_]+)?")
NAMED = lazy_pattern(
    r"[a-z0-9][A-Z]|\w[_./\\@#-]+\w|[A-Za-z]\d|\d[A-Za-z]|^--?[A-Za-z]|^['\"`].+['\"`.]$|[^\x00-\x7f…‘’]"
)
_MATCHER = lazy_pattern(r"expect\(\w*\)(?:\.\w+)*\(\w*\)")
KIND = lazy_pattern(r"\w*(?:Error|Exception|Failure)\b|\b[A-Z]+\d{3,}\b|\bE[A-Z]{4,}\b")
_NAMES_WHAT_IS_MISSING = lazy_pattern(
    r"not found: \S|\S: (?:command )?not found|[Nn]o module named \S|cript not found \S"
)
_ASKED = lazy_pattern(r"https?://[^\s'\"|)]+")
_ON_THIS_MACHINE = lazy_pattern(r"https?://((?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d{1,5})?)(?![\w.:@])")
_GONE = lazy_pattern(r"(?i)\b(?:path|folder|director\w+|volume)\b")
_NAMES_ITS_FILE = lazy_pattern(r"^(?!cd\b)\S+: \S+: No such file")
STEP_INTO = lazy_pattern(r"(?:^|[;&|]\s*)(?:cd|pushd|Set-Location) +(\"[^\"]+\"|'[^']+'|[^\s;&|]+)")


def is_bare(line: str, command: str = "") -> bool:
    """Whether every word of a line could stand in an error of any command: no name, no number, no word of its own."""
    if _NAMES_WHAT_IS_MISSING.search(line):
        return False
    said = KIND.sub("", _MATCHER.sub("", line))
    if _names_itself(said, command):
        said = said.partition(": ")[2]
    for token in TOKEN.findall(said):
        word = token.strip("'\"`.!?*").lower()
        if not word.strip("#…0123456789"):
            continue  # which one it was this time
        if NAMED.search(token.rstrip(".")) or (
            len(word) > 3 and word.isalpha() and word not in WORDS and word not in VERBS
        ):
            return False
    return True


def names_its_command(line: str) -> bool:
    """Whether a shell speaks of a program or a folder that another command of the line wanted."""
    return _SAYS_WHICH.search(line) is not None


def _names_itself(line: str, command: str) -> bool:
    """Whether the program that speaks stands at the head of its line: `jq: error`."""
    return line.partition(": ")[0] in command.split()


def _speaker(line: str, command: str, family: str, used: str = "") -> str:
    """The command that a line is of, as it is told: without what changes from call to call."""
    if _names_itself(line, command):
        return ""
    into = STEP_INTO.search(command) if _GONE.search(line) and not _NAMES_ITS_FILE.search(line) else None
    return (
        _step_into(into.group(1))
        if into
        else told_command(command, f"{line} {used}".rstrip(), family=family, where=family != "usage")
    )


OF_A_UNIX = lazy_pattern(r"/(?:mnt/|cygdrive/)?[A-Za-z](?:%3A|:)?/")
"""How a drive of Windows is called by shells that are not Windows' own, which knows no such folder."""
OF_WINDOWS = lazy_pattern(r"[A-Za-z]:[\\/]")


def _step_into(folder: str) -> str:
    """A step into a folder, which keeps how its drive is written where the path is shortened."""
    told, drive = presentable(f"cd {folder}"), OF_A_UNIX.match(folder.strip("'\""))
    return told.replace("cd …/", f"cd {drive[0]}…/", 1) if drive else told


_PREPARES = frozenset(
    "eval mkdir rm cp mv sleep export source echo touch chmod true cd pwd head tail conda nvm".split()
)
_PROGRAM = lazy_pattern(r"[\w./\\~@:+-]*[A-Za-z][\w.+-]*(?<!^-)")
_MIN_OPTION = 4
_MOST_TOLD_TOGETHER = 3
_CHARACTERS_TOLD_TOGETHER = 60
_CHARACTERS_OF_A_GIST = 240
_LONG_PATH = lazy_pattern(r"^[\w.~:-]*(?:[\\/][\w.@~-]+)*(?=(?:[\\/][\w.@~-]+){2}$)")


_PLACE = lazy_pattern(r"[\w…~.-][\\/][\w.~-]|[\w-]\.[a-z]\w{0,4}\b|not found: \S|: (?:command )?not found$")
"""A line that names a file or a folder, or a program that is nowhere."""
_CHOOSES = lazy_pattern(rf"(?:^|\s)({tools.CHOOSES_A_PART})[ =]([\w@./\\~-]*[A-Za-z][\w./\\-]*)(?!\S)")
_SCRIPT = lazy_pattern(
    r"\s((?:[\w@.~-]*[\\/])+[\w@.~-]+(?<!\.exe)|[\w@.~-]+\.(?:[cm]?[jt]sx?|py|sh|ps1|rb|php|pl|lua|csproj|sln))(?=\s|$)"
)
"""A path among the arguments, or a script; no program."""
_OF_A_FOLDER = lazy_pattern(r"(?i)\b(?:repository|worktree|workspace|directory|folder|project)\b")
_ABSOLUTE = lazy_pattern(r"[~/\\$]|[A-Za-z]:")
_CHARACTERS_WITH_A_PLACE = 72


def _which(said: str, one: Command, line: str) -> str:
    """A command with the part of the repository that it was for: its option, its script, the folder it ran in.

    A whole path is mostly the repository's own, and told only where the line speaks of a folder.
    """
    chosen = _CHOOSES.search(one.text)
    script = _SCRIPT.search(one.text) if not chosen else None
    if chosen and chosen.group(2) not in said:
        said = f"{said} {chosen.group(1)} {chosen.group(2)}"
    elif script and script.group(1) not in said and "…" not in said:
        said = f"{said} {presentable(script.group(1))}"
    folder = presentable(one.folder.strip("\"'").rstrip("/"))
    if not re.search(r"[A-Za-z]", folder) or re.search(r"[$`()<>|]", folder):
        return said
    if _ABSOLUTE.match(one.folder.strip("\"'")) and not _OF_A_FOLDER.search(line):
        return said
    whole = f"cd {folder} && {said}"
    return whole if len(whole) <= _CHARACTERS_WITH_A_PLACE and not reads_like_an_order(whole) else said


def told_command(command: str, line: str = "", *, family: str = "", where: bool = False) -> str:
    """What a command is about, as it stands before an error; nobody's repository or host in it.

    Of several, the one of which the line says most names: its program and verb, its files and options, then the one
    that makes errors of this family. Where that is no single one, the first that often fails if each stops those
    behind it, else all of them, for the output alone could tell.
    `where` adds the part of the repository that it was for, unless the line itself names a place.
    """
    command = CONTINUED.sub(" ", command)
    ran = _candidates([one for one in commands(command) if _PROGRAM.fullmatch(one.program)], command, line, family)
    said_of = [(_names_said(one, line), one.program not in _PREPARES) for one in ran]
    meant = [one for one, said in zip(ran, said_of, strict=True) if said == max(said_of)]
    if len(meant) > 1 and family in (*_TEST_RUNS, *_CHECKS):
        checking = [one for one in meant if tools.checks(one) or tools.formats(one)]
        meant = [one for one in checking if tools.tests(one) == (family in _TEST_RUNS)] or meant
        formats = "format" in line.lower()
        meant = [one for one in meant if (one.subcommand == "format") == formats] or meant
    called = list(dict.fromkeys(" ".join(filter(None, (one.program, one.subcommand))) for one in meant))
    if len(called) > 1 and line and each_stops_the_next(command):
        meant = ([one for one in meant if not _fails_seldom(one)] or meant)[:1]
    if len(meant) <= 1:
        said = _fitted(tools.gist(meant[0].text if meant else command, _CHARACTERS_OF_A_GIST))
        said += "".join(f" {option}" for option in _INLINE if meant and meant[0].inline and option in meant[0].options)
        if family == "python" and "<stdin>" in line and said.endswith(" -c"):
            said = f"{said.removesuffix('-c')}(already open)"  # what `-c` runs is called <string>
    elif any(map(tools.danger, called)) or len(called) > _MOST_TOLD_TOGETHER:
        programs = list(dict.fromkeys(one.program for one in meant))
        said = " && ".join(programs) if len(programs) <= _MOST_TOLD_TOGETHER else ""
    else:
        said = _fitted(" && ".join(called))
    if where and said and len(meant) == 1 and not _PLACE.search(line):
        said = _which(said, meant[0], line)
    if tools.asks_elsewhere(said.partition(" ")[0]):
        said = " ".join(itertools.takewhile(lambda word: "/" not in word and ":" not in word, said.split()))
    return presentable(said.lstrip("(")) if not tools.danger(said) else ""


_SELDOM_FAIL = frozenset("add status fetch log show branch".split())


def _fails_seldom(one: Command) -> bool:
    return one.program == "git" and one.subcommand in _SELDOM_FAIL


CONTINUED = lazy_pattern(r"\\\n[ \t]*")
_SUBSTITUTED = lazy_pattern(r"\$\(([^()]+)\)")
_INLINE = ("-c", "-e")
_RUN_HOOKS = frozenset("commit push merge rebase cherry-pick am".split())
_MERGE = frozenset(("merge", "rebase", "cherry-pick", "pull", "revert", "am", "stash pop", "stash apply"))
_OF_A_MERGE = lazy_pattern(r"^CONFLICT|\b(?:fast-forward|reconcile divergent|unmerged files|have not concluded)\b")
_LINTED = lazy_pattern(r"\S+\.go(?::\d+)*: .* \([a-z]+\)$")
_VETTED = lazy_pattern(
    r"\b(?:possible misuse of|unreachable code|composite literal uses unkeyed|(?:passes|copies) lock)"
)
"""What `go vet` says and no compiler does."""
_OF_AWS = lazy_pattern(r"\bAn error occurred \(\w+\) when calling the \w+ operation\b")
_INTERPRETERS = {"python": ("python",), "node": ("node", "bun", "deno")}


def _candidates(ran: list[Command], command: str, line: str, family: str) -> list[Command]:
    """The commands of a line that can have said this."""
    interpreters = _INTERPRETERS.get(family, ())
    if not any(program_family(one.program) in interpreters for one in ran):
        fed = [one for one in elements(command) if program_family(one.program) in interpreters]
        ran = fed[-1:] or ran  # at the end of a pipe
    if all(one.program in _PREPARES for one in ran):
        ran = [one for text in _SUBSTITUTED.findall(command) for one in commands(text)] or ran
    hooked = [one for one in ran if one.program == "git" and one.subcommand in _RUN_HOOKS]
    if (
        family in CODE_FAMILIES
        and hooked
        and all(one.program in ("git", *_PREPARES) or tools.looks(one) for one in ran)
    ):
        return hooked[:1]
    could = ran
    if _OF_A_MERGE.search(line):
        could = [one for one in ran if one.subcommand in _MERGE]
    elif family == "go":
        could = [one for one in ran if one.program == ("golangci-lint" if _LINTED.match(line) else "go")]
        if _VETTED.search(line):
            could = [one for one in could if one.subcommand == "vet"] or could
    elif _OF_AWS.search(line):
        could = [one for one in ran if one.program == "aws"]
    return could or ran


def _fitted(said: str) -> str:
    """A command whose names are whole: paths by their ends, and then without its last words."""
    if len(said) > _CHARACTERS_TOLD_TOGETHER:
        said = " ".join(_LONG_PATH.sub("…", word) for word in said.split())
    while len(said) > _CHARACTERS_TOLD_TOGETHER and " " in said:
        said = said.rpartition(" ")[0].removesuffix(" &&")
    return said if len(said) <= _CHARACTERS_TOLD_TOGETHER else cut(said, _CHARACTERS_TOLD_TOGETHER)


def _names_said(one: Command, line: str) -> int:
    """How many of a command's own words a line says, a file or an option for two."""
    verbs = {one.program, *one.subcommand.split(), _CMDLETS.get(one.program, one.program)} - {"run"}
    options = {option.lstrip("-").partition("=")[0] for option in one.options}
    names = {name for target in one.targets for name in (target, base_name(target)) if re.search(r"[A-Za-z].", name)}
    named = any(_says_its_name(name, line) for name in names) or any(
        re.search(rf"(?<!\w)[-'\"`]{re.escape(option)}(?![\w-])", line)
        for option in options
        if len(option) >= _MIN_OPTION
    )
    return sum(_says_its_name(verb, line) for verb in verbs) + 2 * named


_CMDLETS = {"cat": "Get-Content", "cp": "Copy-Item", "ls": "Get-ChildItem", "mv": "Move-Item", "rm": "Remove-Item"}
"""What PowerShell calls them when it speaks."""


def _says_its_name(program: str, line: str) -> bool:
    return re.search(rf"(?i)(?<![\w./-]){re.escape(program)}(?![\w/-]|\.\w)", line) is not None


_SAYS_WHICH = lazy_pattern(r"command not found: \S|^(?:\w+: )?(?:line \d+: )?cd: ")


def hooked_command(command: str) -> str:
    """The first command of a line that runs git's hooks, as it is told."""
    hooked = (one.text for one in commands(command) if one.program == "git" and one.subcommand in _RUN_HOOKS)
    return presentable(tools.gist(next(hooked, command)))


def labelled(found: Fingerprint, label: str) -> str:
    """What the family found beside the error's own lines."""
    head, _, said = found.excerpt.partition("\n")[0].partition(": ")
    return said if head == label else ""
