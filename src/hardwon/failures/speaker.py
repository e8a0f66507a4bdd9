"""Which command of a line said an error, and how it is told: without what changes from call to call."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from hardwon.failures import tools
from hardwon.failures.ended import NO_FOLDER
from hardwon.failures.fingerprint import CODE_FAMILIES, DETAIL, USED, Fingerprint
from hardwon.failures.shell import Command, commands, each_stops_the_next, elements, program_family
from hardwon.failures.signature import VERBS, WORDS, reads_like_an_order
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
        line = f"{found.frame}: {line}"  # a wrapper answers for the program that was called
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


_OF_A_UNIX = lazy_pattern(r"/(?:mnt/|cygdrive/)?[A-Za-z](?:%3A|:)?/")
"""How a drive of Windows is called by shells that are not Windows' own, which knows no such folder."""


def _step_into(folder: str) -> str:
    """A step into a folder, which keeps how its drive is written where the path is shortened."""
    told, drive = presentable(f"cd {folder}"), _OF_A_UNIX.match(folder.strip("'\""))
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
        oftener = [one for one in meant if not _fails_seldom(one)] if family != "usage" else []
        meant = (oftener or meant)[:1]
    if len(meant) <= 1:
        says_nothing = bool(line) and not _SAYS_WHICH_ONE.search(line) and is_bare(line, command)
        whole = _whole(meant[0]) if meant and says_nothing else ""
        said = whole or _fitted(tools.gist(meant[0].text if meant else command, _CHARACTERS_OF_A_GIST))
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
        said = " ".join(itertools.takewhile(lambda word: not _MAY_BE_A_HOST.search(word), said.split()))
    return presentable(said.lstrip("(")) if not tools.danger(said) else ""


_SAYS_WHICH_ONE = lazy_pattern(r"[\d'\"`]")
_MAY_BE_A_HOST = lazy_pattern(r"^(?!(?:origin|upstream)/[\w.-]+$).*[/:]")
_NOT_A_WORD = lazy_pattern(r"[\n\"'`$<>|(){}]")


def _whole(one: Command) -> str:
    """A short command with all of its arguments, for an error that says nothing of what it is about."""
    plain = not _NOT_A_WORD.search(one.text) and not tools.danger(one.text)
    return tools.brief(one.text) if plain and len(one.text) <= _CHARACTERS_WITH_A_PLACE else ""


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
_OPTION_SAID = lazy_pattern(r"(?<![\w-])--?[A-Za-z][\w-]*")
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
    if family == "usage":  # of a pipe any of them may speak
        options, speaks = set(_OPTION_SAID.findall(line)), line.partition(": ")[0]
        asked = [one for one in elements(command) if one.program == speaks or options & one.options]
        if asked and not any(one.program == speaks or options & one.options for one in ran):
            return asked
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
    named = (
        any(_says_its_name(name, line) for name in names)
        or any(
            re.search(rf"(?<!\w)[-'\"`]{re.escape(option)}(?![\w-])", line)
            for option in options
            if len(option) >= _MIN_OPTION
        )
        or any(f"'{option}'" in line for option in one.options)
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


# As much of a line that is too long as there is room for.

MAX_ERROR_CHARACTERS = 160
_LEAST_DETAIL_CHARACTERS = 24
_COMPARES = lazy_pattern(
    r"(?P<head>.*?)(?: = | ?\bgot:? )(?P<got>.+), (?:want|expected):? (?P<want>.+)"
    r"|(?P<what>.*?) ?Expected: ?<(?P<expected>.*?)>\. Actual: ?<(?P<actual>.*?)>\.? ?(?P<why>.*)"
)
"""A test's own words for two values."""
_MATCHED = lazy_pattern(
    r"^(?:error: )?expect\(.*?\)\.((?:(?:not|resolves|rejects)\.)*to\w+|(?:\w+\.)*\w+(?=\(\w*\)))\(.*\)$"
)
TOKEN = lazy_pattern(r"[^\s,;:()\[\]{}<>]+")


class Told(NamedTuple):
    """What an error says: its message, what it says on lines of their own below, and where it happened."""

    message: str
    details: tuple[str, ...] = ()
    place: str = ""
    is_test: bool = False
    """A test's name says more than the end of a long message."""


def unquoted(text: str) -> str:
    return text.strip("\"'`")


def placed(told: Told) -> str:
    """All of it, if there is room; else the first way to say less that fits with every name whole."""
    place = told.place if not told.is_test else cut(told.place, MAX_ERROR_CHARACTERS // 2 + 16)
    if place.endswith(":"):
        return f"{place} {told.message.lstrip('* ')}"[:MAX_ERROR_CHARACTERS]  # the heading of a list
    room = MAX_ERROR_CHARACTERS - (len(place) + 3 if told.is_test and place else 0)
    if len(told.message) > room and not told.details and (values := _COMPARES.fullmatch(told.message)):
        told = _of_two_values(told, values.groupdict(""), room)
    short = _MATCHED.sub(r"\1", told.message)
    ways = (with_details(told.message, told.details), with_details(short, told.details))
    line = next((way for way in ways if len(way) <= room), "")
    if not line:
        line = cut(_reduced(with_details(short, _within(told.details, room - len(short) - 2)), room), room)
    return f"{line} ({place})" if place and len(line) + len(place) + 3 <= MAX_ERROR_CHARACTERS else line


def _of_two_values(told: Told, said: dict[str, str], room: int) -> Told:
    """What a test compares, as parts: each value has its share of the room, and what the test says of it the rest."""
    if said["want"]:
        return told._replace(message=said["head"], details=(f"got: {said['got']}", f"want: {said['want']}"))
    message = f"{said['what']} {said['why'].lstrip('. ')}".strip()
    fits = len(message) + 2 * (_LEAST_DETAIL_CHARACTERS + 2) <= room
    details = f"Expected: <{said['expected']}>", f"Actual: <{said['actual']}>"
    return told._replace(message=message if fits else said["what"], details=details)


def with_details(message: str, details: Sequence[str]) -> str:
    said = [one.removeprefix(f"{DETAIL}: ") for one in details]
    return f"{message.rstrip('.:')}: {', '.join(said)}" if said else message


def _within(details: Sequence[str], room: int) -> list[str]:
    """What was expected and what came, each cut to its share; where both begin alike, from where they differ."""
    if not details or len(", ".join(details)) <= room:
        return list(details)
    parted = [one.partition(": ") for one in details]
    alike = itertools.takewhile(lambda both: both[0] == both[-1], zip(*(value for _, _, value in parted), strict=False))
    same = "".join(both[0] for both in alike) if len(parted) > 1 else ""
    skipped = max(same.rfind(" "), same.rfind("\\n")) if len(same) > _LEAST_DETAIL_CHARACTERS else 0
    told = [f"{label}: {'…' + value[skipped:] if skipped > 0 else value}" for label, _, value in parted]
    shortest = min(map(len, told))
    whole = shortest if shortest + _LEAST_DETAIL_CHARACTERS + 2 <= room else room // len(told) - 1
    rest = max(_LEAST_DETAIL_CHARACTERS, room - whole - 2)
    return [cut(one, max(_LEAST_DETAIL_CHARACTERS, whole) if len(one) == shortest else rest) for one in told]


# What is left out of a line that is too long, one after the other until it fits.
_LEFT_OUT = (
    (lazy_pattern(r"^(?:\w+\.)+(?=\w*_\w+: )"), ""),  # the class of a test
    (lazy_pattern(r"(?<=: )(?:System\.)?InvalidOperationException ?: (?=[A-Z])"), ""),
    (
        lazy_pattern(r"\bTimeout(?:Exception : Timeout)? (\d+ms) exceeded\.\s*Call log:\s+- (?=waiting for )"),
        r"Timeout \1 ",
    ),
    (lazy_pattern(r", (?:Culture|PublicKeyToken)=[^,'\"]*"), ""),
    (lazy_pattern(r"(['\"])([\w.]+)\1 with identity \1\2(?=,)"), r"\1\2"),
    (lazy_pattern(r"No overload matches this call[.:] (?=Argument of )"), ""),
    (lazy_pattern(r" and no accessible extension method '[^']*' accepting .*? could be found"), ""),
    (lazy_pattern(r" \(are you missing [^()]*\)$"), ""),
    (lazy_pattern(r" with working directory '[^']*'"), ""),
    (lazy_pattern(r" Exceeded retry count of \d+\. Failed\."), ""),
    (lazy_pattern(r"^(?:[A-Za-z]:)?[^:]*\.targets\(\d+,\d+\): (?:error )?"), ""),
    (lazy_pattern(r"(?<=\.)(\w{1,6})(?:\(\d+,\d+\)|:\d+:\d+)(?=:| -)"), r"\1"),
    (lazy_pattern(r"(?<=: )error (?=[A-Z]{2,8}\d{3,5}: )"), ""),
    (lazy_pattern(r" for improved performance\b| because it has no subtypes in its containing assembly\b"), ""),
)
# And where the last sentences are gone, too: name spaces, the inside of long quotes.
_SHORTENED = (
    (lazy_pattern(r"^(?:\S*proj|CSC) ?: (?=[A-Z]{2,8}\d{3,5}: )"), ""),
    (lazy_pattern(r"\{[^{}]{20,}\}"), "{…}"),
    (lazy_pattern(r"(?:(?<=['\"`<(\[])|\b(?=[\w.]+: ))(?:[A-Za-z_]\w*\.){2,}(?=[A-Z]\w*\b(?!\.[a-z]{1,6}\b))"), ""),
    (lazy_pattern(r"^(\S*?)\b(\w+)(\.\w+(?:\([\d,]+\))?: .*?['\"])\2\."), r"\1\2\3"),
    (lazy_pattern(r"(?<=\w)\([^()'\"]{8,}\)(?=['\"])"), "(…)"),
    (lazy_pattern(r"(?<=\w)<[^'\"]{12,}>(?=['\"?])"), "<…>"),
    (lazy_pattern(r"^…/(?=[^\\/:]+:)"), ""),
    (lazy_pattern(r"(?<!\w)(['\"])([^\s'\"]{8,48}) [^'\"]{24,}\1(?!\w)"), r"\1\2 …\1"),
)
_NEXT_SENTENCE = lazy_pattern(r"(?<=[\w)'\"`>][.!?])\s+(?=[\"'`(]?[A-Z])")
_LEAST_FIRST_SENTENCE = 40


def _reduced(line: str, room: int) -> str:
    """Asides and folders first, then the last sentences, then the inside of names and quotes."""
    line = _with_shorter_paths(_left(line, room, _LEFT_OUT), room)
    while len(line) > room and len(sentences := _NEXT_SENTENCE.split(line)) > 1:
        shorter = line[: line.rindex(sentences[-1])].rstrip()
        if len(shorter) < _LEAST_FIRST_SENTENCE or is_bare(shorter):
            break
        line = shorter
    return _left(line, room, _SHORTENED)


def _left(line: str, room: int, parts: Sequence[tuple[re.Pattern[str], str]]) -> str:
    for pattern, left in parts:
        if len(line) <= room:
            break
        shorter = pattern.sub(left, line)
        before, after = TOKEN.findall(line), TOKEN.findall(shorter)
        if len(after) < len(before) or len(set(map(unquoted, after))) == len(set(map(unquoted, before))):
            line = shorter  # unless two names that differ would then be the same
    return line


_PATH = lazy_pattern(
    r"(?<![\w<>/\\])(?:[A-Za-z]:[\\/]|[.~…]{0,2}/)?(?:[\w.@+~#-]{2,}(?:/|\\(?=[\w-]{2})))+(?=[\w.@+-])"
)


def _with_shorter_paths(line: str, room: int) -> str:
    """Folders go one by one, the first of the longest path first: a file is known by those right above it."""
    while len(line) > room and (paths := list(filter(_is_path, _PATH.finditer(line)))):
        path = max(paths, key=lambda one: len(one.group()))
        rest = re.sub(r"^(?:…/|~/|/)?[^\\/]+[\\/]", "", path.group())
        line = f"{line[: path.start()]}…/{rest}{line[path.end() :]}"
    return line


def _is_path(found: re.Match[str]) -> bool:
    """One slash alone may hold a rule and its group apart: `Style/StringLiterals`."""
    folders, rest = found.group(), found.string[found.end() :]
    return len(re.findall(r"[\\/]", folders)) > 1 or re.match(r"[\w-]+\.\w", rest) is not None


def cut(said: str, room: int) -> str:
    """The beginning, to the end of a word that leads to nothing; the name in which it would end, by its own end."""
    if len(said) <= room:
        return said
    cause = _CAUSE.search(said)
    if cause and room > 2 * _CHARACTERS_OF_A_CAUSE:
        return f"{cut(said[: cause.start()], room - len(cause.group()))}{cause.group()}"
    start = said[: room - 1]
    space = start.rfind(" ")
    word = said[space + 1 :].partition(" ")[0]
    name = _LAST_PART.search(word)
    if name and space + 2 + len(name.group()) <= room:
        quote = word[0] if word[0] in "\"'`" else ""
        return f"{said[: space + 1]}{quote}…{name.group()}"
    sign = max(start.rfind(sign) for sign in "/\\,;:=(&") + 1
    end = space if space > room // 2 else sign if sign > room // 2 else len(start)
    told = _LEADS_ON.sub("", start[:end])
    return told.rstrip(" ,;:") + "…"


_CHARACTERS_OF_A_CAUSE = 60
_CAUSE = lazy_pattern(rf"(?<=[\w)'\"`…]): [^\s:][^:]{{0,{_CHARACTERS_OF_A_CAUSE - 4}}}$")
"""What a long message says at last, behind a colon: which one it was, or what is behind it all."""
_LEADS_ON = lazy_pattern(r"(?:[ ,;:(]+(?:an?|of|in|or|with))+$")
_LAST_PART = lazy_pattern(r"(?<=[\w.@~…])[\\/][\w.@~-]{3,}['\"`)]*$")
