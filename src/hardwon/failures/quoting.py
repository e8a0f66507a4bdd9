"""The error in its own words: one real line of the output, at most 160 characters, to be quoted as data.

Tool output is hostile. Where the error ran, people and agents read what it really said, without sentences that
address a reader, without addresses, owners and names of people. A line that still reads like an order is not
quoted: then the words of `signature` stand for it, as they do wherever the line did not come from this project.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from hardwon.failures import tools
from hardwon.failures.fingerprint import (
    CODE_FAMILIES,
    DETAIL,
    FAILED_STEP,
    RAISED,
    USED,
    Fingerprint,
    is_consequence,
    leads_on,
)
from hardwon.failures.shell import Command, commands, each_stops_the_next, elements, program_family
from hardwon.failures.signature import NEVER, VERBS, WORDS, orders, signature
from hardwon.failures.turns import NO_FOLDER
from hardwon.text.normalise import base_name, lazy_pattern, presentable

MAX_ERROR_CHARACTERS = 160
_MIN_WORDS = 2
_ORDERING_WORDS_OF_AN_ORDER = 3
_FRAME = "│┃|╷╵╭╰─━•●✖✘✗×⨯❌▶⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏>=^ \t"
_END_OF_FRAME = "│┃|╷╵╮╯─━= \t"
_DETAIL = lazy_pattern(
    rf"(?:Locator|Expected|Received|Actual|Code|Switch|Number of|Error message|{DETAIL})\b[\w ]*: +\S"
)
"""What a tool says of an error on lines of its own, below it."""
_LEAST_DETAIL_CHARACTERS = 24
_STEP_CHARACTERS = 36
_PARTED = " ⏐ "
_RULE = lazy_pattern(r"(?:lint|assist|suppressions|parse)/\S+|format|organizeImports")
"""What a linter calls its rule, on a line of its own."""
_TEST_RUNS, _CHECKS = ("pytest", "unittest", "jest"), ("lint", "eslint", "tsc")
_TESTS = (*_TEST_RUNS, "go")
_SHELL = lazy_pattern(
    r"^(?:(?:/\S*/)?(?:ba|z|da)?sh:(?:\d+:)? (?:line \d+: |\d+: )?|\(eval\):\d+: |(?:\(eval\)|(?:ba|z)sh):(?=cd:)"
    r"|! |-+> )"
)
_BY_A_SHELL = lazy_pattern(
    r"(?:\(eval\):\d+:|(?:/\S*/)?(?P<shell>(?:ba|z|da)?sh):(?: line)?(?: ?\d+:)?) "
    r"(?!.*command not found|.*: not found$|permission denied)[^\n]*$"
)
_STAMP = lazy_pattern(r"^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\]?|\[?\d\d:\d\d:\d\d\S*\]?|\(\d+\.\d+s\))\s+")
_LOGGED = lazy_pattern(r"^(?:- )?[\w.]+ - (?:ERROR|CRITICAL|FATAL) - ")
"""Who logged it, and how grave it is."""
_WORD = lazy_pattern(r"[^\W_]+(?:['’][^\W_]+)?")
_SENTENCE = lazy_pattern(
    r"(?<=[\w)'\"`>][.!?;])\s+(?=[\"'`(]?[A-Z])|(?<=[.!])(?=(?:Please|You)\b)|\s+(?=[Hh]int: |[Nn]ote: |[Tt]ip: )"
)
_CLAUSE = lazy_pattern(r", |; | - (?=[a-z])")
_LEAST_FIRST_CLAUSE = 24
_IS_NO_SENTENCE = lazy_pattern(r"(?:To|If|When|For|In order)\b")
_ANNOTATION = lazy_pattern(r"^(?:::(?:error|warning) |\S*,?(?:line|col)=\d).*?::(?=\S)")
"""What a tool writes for a service that runs it, before the line itself."""
_BESIDE_IT = lazy_pattern(r", we can conclude\b.*$| with identity '[^']*'| \(In '.*$|: for help visit \S+$")
"""What a tool says twice."""
_LAST_WORDS = lazy_pattern(r"(?<=\S)(?:Build failed with \d+ error|Shell cwd was reset to ).*$|(?<=[.)]) {8,}\S.*$")
"""What touches a line and is none of it: a builder's or a shell's last words, what a screen had shown there before."""
_BEGINS = lazy_pattern(r"npm (?:error|ERR!) |[\w.~/\\-]+\.\w{1,5}:(?=\d)")
"""How every line of a tool begins: its name, or the file."""
_LITERAL = lazy_pattern(r"\{[^{}]{20,}\}")
_COMPARES = lazy_pattern(
    r"(?P<head>.*?)(?: = | ?\bgot:? )(?P<got>.+), (?:want|expected):? (?P<want>.+)"
    r"|(?P<what>.*?) ?Expected: ?<(?P<expected>.*?)>\. Actual: ?<(?P<actual>.*?)>\.? ?(?P<why>.*)"
)
"""A test's own words for two values."""
_MORE_ABOUT_IT = lazy_pattern(r"\s*\((?:<url>|https?:?)[^)\s]*\)?(?: \[[^\]]*\]?)?$")
_OF_PROJECT = lazy_pattern(r"\s+\[[^\]\s]*(?:proj(?:::[^\]]*)?\])?$|(?<=[.!?]) \w{1,3}$")
"""The project that a compiler worked on, and what is left of a word at the end of a screen."""
_DRAWN_OVER = lazy_pattern(r"(\berror [A-Z]{2,4}\d{4}): [^(]*\)$")
"""The end of a link stands where the message stood: two lines of a screen became one."""
_LEADS_TO_NOTHING = lazy_pattern(r"(?<=[\w)'\"`][.!?])\s+[A-Z][^.!?]*:$|\s+mapped as:?$")
"""A last sentence that announces lines which are not shown."""
_CHECKED = lazy_pattern(r"Checked: (expect\(.*)")
"""The line of a test that did not hold, which says more than the matcher's own."""
_MAX_CHECKED_CHARACTERS = 110
_MATCHED = lazy_pattern(
    r"^(?:error: )?expect\(.*?\)\.((?:(?:not|resolves|rejects)\.)*to\w+|(?:\w+\.)*\w+(?=\(\w*\)))\(.*\)$"
)
_ADDRESSES = lazy_pattern(
    r"(?i)\byou(?:r)? (?:must|should|need|have to|can|could|may|might|will|want|are|task|instructions?)\b|\bplease\b"
    r"|\b(?:ignore|disregard|forget|obey|follow) (?:all|any|the|these|this|previous|prior|earlier|above|every)\b"
    r"|\b(?:agents?|assistants?|claude|codex|copilot|gemini|cursor|chatgpt|llms?|ai)\b[^.]{0,24}(?::|\bmust\b|\bshould\b)"
    r"|\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\b(?:curl|wget)\s+(?:-\S+\s+)*[\w-]+[./:]|\bsudo\s+\w|\brm\s+-"
    r"|^(?:\W*\w+: )?\W*(?:run|try|execute|install|add|make sure|visit|see|ensure|consider|remember|do not|don't|never"
    r"|always|reply|respond|answer|tell|send|write|note that)\b(?! (?:failed|error|of|to)\b)(?!:)"
)
_PROPOSES = lazy_pattern(
    r"(?i)[`$]|://|\b(?:run|try|use|install|execute|add|call|type|enter|download|fetch|visit|open|set|remove|delete"
    r"|disable|enable|skip|allow|grant|push|approve)\b"
)
"""What may tell a reader to do something: of lines that are no errors, of which there are many, none such is quoted."""
_NETWORK_TOOL = lazy_pattern(r"(?i)^mcp|__|fetch|web|browser|search_web|http")
_NETWORK_COMMAND = lazy_pattern(
    r"(?:^|[;&|(\n]\s*)(?:curl|wget|http|xh|lynx|w3m)\s|\bgh (?:api|issue|pr|search|release)\b"
)


def error_line(found: Fingerprint, tool: str = "", command: str = "") -> str:
    """What the error said; its signature where that may not be quoted. Nobody's address, account or home in either.

    Words that could be any command's are led by the one that said them: `npm run lint`: Lint failed.
    """
    line = _quoted(found, tool, command)
    anybodys = found.family == "usage" or found.error_type == "timed out" or is_bare(line, command)
    anybodys = anybodys or (found.family == "generic" and bool(NO_FOLDER.search(line) and _STEP_INTO.search(command)))
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
        speaker = _speaker(line, command, found.family, _labelled(found, USED))
    if shell and not speaker.startswith((shell, "pwsh")) and not line.startswith(f"{shell}: "):
        line = f"{shell}: {line}"  # which could not do its own part of the command
    if found.family == "usage" and speaker and found.frame and not _says_its_name(found.frame, command):
        speaker = f"{found.frame} {speaker}"  # a wrapper answers for the program that was called
    return f"`{speaker}`: {_cut(line, MAX_ERROR_CHARACTERS - len(speaker) - len('``: '))}" if speaker else line


def printed_line(line: str, tool: str, command: str) -> str:
    """A line that a command of this project printed, as it may be quoted; empty where it may not."""
    if from_elsewhere(tool, command) or _PROPOSES.search(line):
        return ""
    said = presentable(_own_sentence(_bare(line)))
    return (
        "" if len(_WORD.findall(said)) < _MIN_WORDS or reads_like_an_order(said) else _cut(said, MAX_ERROR_CHARACTERS)
    )


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


def _quoted(found: Fingerprint, tool: str, command: str) -> str:
    answered = found.family == "http" and found.error_type == "answer"  # in a server's words
    if answered or (found.family not in ("usage", "shell") and from_elsewhere(tool, command)):
        return presentable(signature(found))
    told = _telling(found)
    message = told.message if not reads_like_an_order(told.message) else _LITERAL.sub("{…}", told.message)
    told = told._replace(message=_own_sentence(message))
    if reads_like_an_order(told.place):
        told = told._replace(place=told.place.rpartition(" › ")[2])  # a suite named `Agent` is followed by `should`
    line = _placed(told)
    if told.details and reads_like_an_order(line):
        line = _placed(told._replace(details=()))  # a value that was compared, and not the error, asks for something
    if len(_WORD.findall(line)) < _MIN_WORDS or reads_like_an_order(line) or reads_like_an_order(told.place):
        return presentable(signature(found))
    return _of_other_lines(found, line) if found.family != "hook" and is_bare(line, command) else line


def _of_other_lines(found: Fingerprint, line: str) -> str:
    """What the family found beside a line that names nothing, where it names something."""
    more = presentable(_own_sentence(_bare(found.message)))
    there = set(map(_unquoted, _TOKEN.findall(line)))
    named = any(_NAMED.search(token) for token in _TOKEN.findall(more) if _unquoted(token) not in there)
    if not named or len(more) > MAX_ERROR_CHARACTERS or any(map(reads_like_an_order, _CLAUSE.split(more))):
        return line
    return more


_TOKEN = lazy_pattern(r"[^\s,;:()\[\]{}<>]+")
_MATCHER = lazy_pattern(r"expect\(\w*\)(?:\.\w+)*\(\w*\)")
_KIND = lazy_pattern(r"\w*(?:Error|Exception|Failure)\b|\b[A-Z]+\d{3,}\b|\bE[A-Z]{4,}\b")
_NAMED = lazy_pattern(
    r"[a-z0-9][A-Z]|\w[_./\\@#-]+\w|[A-Za-z]\d|\d[A-Za-z]|^--?[A-Za-z]|^['\"`].+['\"`.]$|[^\x00-\x7f…‘’]"
)
_NAMES_WHAT_IS_MISSING = lazy_pattern(
    r"not found: \S|\S: (?:command )?not found|[Nn]o module named \S|cript not found \S"
)
_ASKED = lazy_pattern(r"https?://[^\s'\"|)]+")
_ON_THIS_MACHINE = lazy_pattern(r"https?://((?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d{1,5})?)(?![\w.:@])")
_GONE = lazy_pattern(r"(?i)\b(?:path|folder|director\w+|volume)\b")
_NAMES_ITS_FILE = lazy_pattern(r"^(?!cd\b)\S+: \S+: No such file")
_STEP_INTO = lazy_pattern(r"(?:^|[;&|]\s*)(?:cd|pushd|Set-Location) +(\"[^\"]+\"|'[^']+'|[^\s;&|]+)")


def is_bare(line: str, command: str = "") -> bool:
    """Whether every word of a line could stand in an error of any command: no name, no number, no word of its own."""
    if _NAMES_WHAT_IS_MISSING.search(line):
        return False
    said = _KIND.sub("", _MATCHER.sub("", line))
    if _names_itself(said, command):
        said = said.partition(": ")[2]
    for token in _TOKEN.findall(said):
        word = token.strip("'\"`.!?*").lower()
        if not word.strip("#…0123456789"):
            continue  # which one it was this time
        if _NAMED.search(token.rstrip(".")) or (
            len(word) > 3 and word.isalpha() and word not in WORDS and word not in VERBS
        ):
            return False
    return True


def _names_itself(line: str, command: str) -> bool:
    """Whether the program that speaks stands at the head of its line: `jq: error`."""
    return line.partition(": ")[0] in command.split()


def _speaker(line: str, command: str, family: str, used: str = "") -> str:
    """The command that a line is of, as it is told: without what changes from call to call."""
    if _names_itself(line, command):
        return ""
    into = _STEP_INTO.search(command) if _GONE.search(line) and not _NAMES_ITS_FILE.search(line) else None
    return (
        _step_into(into.group(1))
        if into
        else told_command(command, f"{line} {used}".rstrip(), family=family, where=family != "usage")
    )


_OF_A_UNIX = lazy_pattern(r"/(?:mnt/|cygdrive/)?[A-Za-z](?:%3A|:)?/")
"""How a drive of Windows is called by shells that are not Windows' own, which knows no such folder."""
_OF_WINDOWS = lazy_pattern(r"[A-Za-z]:[\\/]")


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
    command = _CONTINUED.sub(" ", command)
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


_CONTINUED = lazy_pattern(r"\\\n[ \t]*")
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
    if all(one.program in _PREPARES for one in ran) and not _names_any(ran, line):
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


def _names_any(ran: list[Command], line: str) -> bool:
    return any(_names_said(one, line) for one in ran)


def _fitted(said: str) -> str:
    """A command whose names are whole: paths by their ends, and then without its last words."""
    if len(said) > _CHARACTERS_TOLD_TOGETHER:
        said = " ".join(_LONG_PATH.sub("…", word) for word in said.split())
    while len(said) > _CHARACTERS_TOLD_TOGETHER and " " in said:
        said = said.rpartition(" ")[0].removesuffix(" &&")
    return said if len(said) <= _CHARACTERS_TOLD_TOGETHER else _cut(said, _CHARACTERS_TOLD_TOGETHER)


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


_AT_A_PLACE = lazy_pattern(
    r"^(?P<lead>`[^`]+`: )?(?P<file>[^\s:(]*\.\w{1,6})?(?P<line>\(\d+(?:,\d+)?\)|(?::\d+){1,2})?(?P<mark>:| -)? "
    r"(?P<said>.+?)(?P<place> \([^()]*\))?$"
)


def example(lines: Sequence[str], family: str) -> str:
    """What is said of an error that was met with several lines, the newest first: nothing that most of them do not say.

    That is the line that most of them are; or one without the place, the command or the part of a name that is another
    one each time. Of a hook that stops for another reason each time, its first step.
    """
    newest = lines[0] if lines else ""
    if len({*lines}) < 2:
        return newest
    if len({without_speaker(line) for line in lines}) == 1 and (into := _into_folders(_leads(lines))):
        return f"{into}{without_speaker(newest)}"
    if family == "hook" and (step := re.match(r"(.+?)(?: … .+)? failed\b", newest)):
        return f"{step.group(1)} failed"
    usual, times = Counter(lines).most_common(1)[0]
    parts = [found.groupdict("") for line in lines if (found := _AT_A_PLACE.match(line))]
    if len(parts) < len(lines) or not (parts[0]["file"] and parts[0]["mark"]):
        return usual if times * 2 > len(lines) else _in_common([*dict.fromkeys(lines)], usual)
    told = parts[0]
    if len({one["file"] for one in parts}) > 1:
        if not any(map(_NAMED.search, _TOKEN.findall(_KIND.sub("", told["said"])))):
            return newest  # a rule says nothing without the code that it is about
        told |= {"file": "", "line": "", "mark": ""}
    elif len({one["line"] for one in parts}) > 1:
        told |= {"line": ""}
    head = f"{told['file']}{told['line']}{told['mark']} ".lstrip()
    return f"{told['lead']}{head}{told['said']}{told['place']}"


_LEAST_IN_COMMON = 4
"""Letters of names: what shares fewer says nothing about all of them."""


def _in_common(lines: Sequence[str], usual: str) -> str:
    """The usual line with an ellipsis where its command or a word is another one in other lines."""
    leads = _leads(lines)
    lead = leads[0] if len({*leads}) == 1 else _alike_lead(leads)
    said = [line.removeprefix(own).split(" ") for line, own in zip(lines, leads, strict=True)]
    if len({len(words) for words in said}) > 1:
        return usual
    each = list(zip(*said, strict=True))
    different = [words for words in each if len({*words}) > 1]
    if len(different) > 1 or any("…" in word for words in different for word in words):
        return usual
    told = [_alike(words) if len({*words}) > 1 else words[0] for words in each]
    return f"{lead}{' '.join(told)}" if all(told) else usual


def _leads(lines: Sequence[str]) -> list[str]:
    """The command before each, if one stands there."""
    return [found[0] if (found := _LEAD.match(line)) else "" for line in lines]


_INTO_A_FOLDER = lazy_pattern(r"^`cd [\"']?(.*?)[\"']?`: $")


def _into_folders(leads: Sequence[str]) -> str:
    """Steps into folders by what most share: how their paths are written, or the folder's name; never a list."""
    found = [step[1] for lead in leads if (step := _INTO_A_FOLDER.match(lead))]
    if len(found) < len(leads):
        return ""
    for style, told in ((_OF_A_UNIX, "/c/…"), (_OF_WINDOWS, "C:\\…")):
        if 2 * sum(style.match(path) is not None for path in found) > len(found):
            return f"`cd {told}`: "
    names = {re.split(r"[/\\]", path.rstrip("/\\"))[-1] for path in found}
    return f"`cd …/{names.pop()}`: " if len(names) == 1 else "`cd …`: "


def _alike_lead(leads: Sequence[str]) -> str:
    """The first words of several commands before an error, where they are the same."""
    same = _same([lead.strip("`: ").split() for lead in leads])
    return f"`{' '.join(same)} …`: " if same else ""


def _alike(words: Sequence[str]) -> str:
    """The whole parts with which several names begin and end; empty where they have too little in common."""
    each = [_PART.findall(word) for word in words]
    begin = _same(each)
    end = _same([parts[len(begin) :][::-1] for parts in each])[::-1]
    told = f"{''.join(begin)}…{''.join(end)}"
    is_part_of_one = any(len(parts) == len(begin) + len(end) for parts in each)
    return told if sum(map(str.isalnum, told)) >= _LEAST_IN_COMMON and not is_part_of_one else ""


_PART = lazy_pattern(r"[/\\#._:=-]|[^/\\#._:=-]+")


def _same(each: Sequence[Sequence[str]]) -> list[str]:
    """With what all of them begin."""
    return [first[0] for first in itertools.takewhile(lambda of: len({*of}) == 1, zip(*each, strict=False))]


@lru_cache(maxsize=1 << 8)  # an error is asked about several times
def reads_like_an_order(line: str) -> bool:
    """Whether a line asks its reader for something, by its words or by the parts of its names."""
    if _ADDRESSES.search(line):
        return True
    words = set(re.findall(r"[\w-]+", line.lower()))
    return len(words & NEVER) >= _ORDERING_WORDS_OF_AN_ORDER or any(
        orders(word) for word in words if "_" in word or "-" in word
    )


_ONLY_COUNTS = lazy_pattern(
    r"(?i)^(?:\S+ )?(?:build|restore|tests?|run|publish)?\s*failed with (?:\d+|…) errors?(?:\(s\))?[^:]*$"
    r"|^found (?:\d+|…) errors?\b[^:]*$|^(?:\d+|…) errors?\b[^:]*$|^command failed(?: with exit code .*)?$"
    r"|^command '.*' exited with status \d+$|\bERR_PNPM_RECURSIVE|\bELIFECYCLE\b|\berror run failed: tests failed\b"
    r"|^(?:\w+ )?(?:restore|build|tests?|check|run)(?: run)? (?:failed|errors?)\W*$|^FAIL\s+\S+(?:\s+\S+)?$"
    r"|^some (?:errors|warnings) were emitted while running checks\b"  # biome
    r"|\.\.\. [\d.]+s$|^--- FAIL: \S+(?: \([\d.]+s\))?$|^[\w-]+\.[\w.-]+ failed$|^(?:FAILED|ERROR) \S+::\S+$"
    r"|^(?:\w*error:? )?(?:request failed with status code|status(?: code)?|http(?:/[\d.]+| error| status)?)[ :]+"
    r"(?:\d{3}|…)(?:[: ]+(?:ok|not found|forbidden|bad request|unauthorized|internal server error|service unavailable"
    r"|bad gateway|gateway time-?out|too many requests|conflict|unprocessable \w+))?\W*$"
)
_ANY = lazy_pattern(r"^`(?:cd )?…`: |^… |^`[^`]+` failed$")
_LEAD = lazy_pattern(r"^`[^`]+`: ")


@lru_cache(maxsize=1 << 12)
def says_what_failed(line: str) -> bool:
    """False for a line that only counts, or says that something failed, or has lost its words to masks."""
    said = without_speaker(line)
    if _ONLY_COUNTS.search(said) or _ANY.match(line) or (is_consequence(said) and is_bare(said)):
        return False
    announces = said.endswith(":") and is_bare(said)
    return said.count("…") <= len(_WORD.findall(said)) and not announces


_NO_ERROR = lazy_pattern(
    r"\bexiting with code 0\b|^npm (?:error|ERR!) (?:location|path|workspace) "
    r"|^curl: .*returned error: (?:status )?\d+$"
)


def names_no_error(line: str) -> bool:
    """All went well, or nobody can say of which folder, package or address it speaks."""
    return _NO_ERROR.search(without_speaker(line)) is not None


_NOT_THERE = lazy_pattern(r"No such file or directory|no matches found|cannot access|Cannot find path|os error 2")
_ASKS_WHAT_IS_THERE = frozenset("ls dir eza exa stat file which Get-ChildItem Get-Item Test-Path".split())


def is_an_answer(line: str, command: str) -> bool:
    """Whether a look at what is there found nothing: whoever looks wants to know that, and nothing failed."""
    said = without_speaker(line)
    if not _NOT_THERE.search(said):
        return False
    named = said.partition(":")[0]
    meant = told_command(command, said).split(" ")[0]
    ran = [one.program for one in commands(_CONTINUED.sub(" ", command))]
    return not {named, meant}.isdisjoint(_ASKS_WHAT_IS_THERE) or (bool(ran) and _ASKS_WHAT_IS_THERE.issuperset(ran))


_SAYS_WHICH = lazy_pattern(r"command not found: \S|^(?:\w+: )?(?:line \d+: )?cd: ")


def names_its_command(line: str) -> bool:
    """Whether a shell speaks of a program or a folder that another command of the line wanted."""
    return _SAYS_WHICH.search(line) is not None


_REFUSED = lazy_pattern(
    r"This (?:Bash )?command (?:requires approval|contains multiple operations)|cd (?:to|in) '[^']*' was blocked"
    r"|\S+ is temporarily unavailable, so auto mode cannot determine the safety\b"
    r"|\w+:\w+ hook (?:error|stopped|blocked)\b"
)


_MASK = re.compile(r"(?<!\S)…(?!\S)")
_ANSWERS = frozenset(("git", "http"))
"""Families of what servers answer, whose words are masked: of git those that `gh` prints."""


def titled(error: str, family: str) -> str:
    """An error as lists for people name it: of an answer that lost its words, the command alone."""
    said = without_speaker(error)
    if family not in _ANSWERS or len(_MASK.findall(said)) < 2 or "HTTP " in said:
        return error
    called = error[: -len(said)].strip("`: ").split(" && ")
    asked = [one for one in called if tools.asks_elsewhere(one.partition(" ")[0])] or called
    lead = f"`{' && '.join(asked)}`" if all(asked) else "a request"
    return f"{lead} failed with a server's answer: `hardwon why` shows it"


_MEASURED = lazy_pattern(
    r"(?: with \d+ (?:error|warning)(?:s|\(s\))?)?(?:(?:,? duration:| in) \d+(?:\.\d+)? ?m?s| \(\d+(?:\.\d+)? ?m?s\))?$"
)
"""How long it took, and how many there were: another number each time."""
_FAILED_IN = lazy_pattern(r"^(FAIL\s+\S+)\s+\d+(?:\.\d+)?s$")
_MASKED = lazy_pattern(r"\S*REDACTED\S*|‹[^›]*›|\S*…\S*|<\w+>")


def retold(words: str, command: str, family: str) -> str:
    """An error without what it measured; one that masks or counts have emptied by the command that failed."""
    said = without_speaker(words)
    bare = _FAILED_IN.sub(r"\1", _MEASURED.sub("", said))
    left = _MASKED.sub("", bare).split()
    if left and left[0].endswith(":") and len(left) > 1:
        left = left[1:]  # who says it
    if not any(re.search(r"[A-Za-z]{2}", word) and not word.endswith(":") for word in left):
        called = told_command(command, said, family=family)
        return f"`{called}` failed" if called else words
    lead = words[: len(words) - len(said)]
    if not lead and bare != said and _ONLY_COUNTS.search(said):
        called = told_command(command, bare, family=family)
        lead = f"`{called}`: " if called else ""
    return f"{lead}{bare}"


def is_refusal(line: str) -> bool:
    """Whether an agent's own program speaks: it did not run the command."""
    return _REFUSED.match(without_speaker(line)) is not None


def hooked_command(command: str) -> str:
    """The first command of a line that runs git's hooks, as it is told."""
    hooked = (one.text for one in commands(command) if one.program == "git" and one.subcommand in _RUN_HOOKS)
    return presentable(tools.gist(next(hooked, command)))


def without_speaker(line: str) -> str:
    """The error's own words, without the command that leads them."""
    return _LEAD.sub("", line)


def from_elsewhere(tool: str, command: str) -> bool:
    """A page, a server's answer or another program's tool: never quoted."""
    return (
        _NETWORK_TOOL.search(tool) is not None
        if not command or command == tool
        else bool(_NETWORK_COMMAND.search(command))
    )


class _Told(NamedTuple):
    """What an error says: its message, what it says on lines of their own below, and where it happened."""

    message: str
    details: tuple[str, ...] = ()
    place: str = ""
    is_test: bool = False
    """A test's name says more than the end of a long message."""


def _telling(found: Fingerprint) -> _Told:
    """The line of the excerpt that has most of the message's words, the first of equals, with what it says below."""
    said = [line for line in found.excerpt.splitlines() if not line.startswith((f"{RAISED}: ", f"{USED}: "))]
    lines = [bare for line in said if (bare := _bare(_unglued(line)))]
    wanted = {word.lower() for word in _WORD.findall(found.message)}
    best = max(lines, key=lambda line: len(wanted & {word.lower() for word in _WORD.findall(line)}), default="")
    if found.family == "hook":
        best = _step(lines)
    elif leads_on(best) and best != lines[-1]:
        after = lines[lines.index(best) + 1]
        best = f"{best[:-1]}: {after}" if best.endswith(".") else f"{best} {after}"
    best = _LEADS_TO_NOTHING.sub("", best)
    checked = next((code.group(1) for one in lines if (code := _CHECKED.match(one))), "")
    details = list(dict.fromkeys(one for one in lines if _DETAIL.match(one) and one != best))[:2]
    line, *details = _presented([best, *([checked] if checked else []), *details])
    line = _DRAWN_OVER.sub(r"\1", _OF_PROJECT.sub("", _MORE_ABOUT_IT.sub("", _BESIDE_IT.sub("", line))))
    if checked:
        checked, *details = details
        rest = [one for one in details if not (one.startswith("Expected") and _value(one) and _value(one) in checked)]
        if all(one.startswith("Number of") for one in rest):
            checked = _cut(checked, max(0, _MAX_CHECKED_CHARACTERS - len(_with("", rest))))
        if not rest or len(_with(checked, rest)) <= _MAX_CHECKED_CHARACTERS:
            line, details = checked, rest
    if _RULE.fullmatch(found.error_type) and found.error_type not in line:
        line = f"{found.error_type}: {line}"
    place = presentable(_labelled(found, RAISED) or found.frame.split(" > ")[-1])
    named = place.split()[0] if "." in place.split(" ")[0] else place
    if not place or found.family in ("usage", "hook", "shell", "git") or named in line:
        return _Told(line, tuple(details))
    if found.family in _TESTS and len(place) > MAX_ERROR_CHARACTERS // 2:
        place = place.rpartition(" › ")[2]
    return _Told(line.rstrip(":"), tuple(details), place, found.family in _TESTS)


def _labelled(found: Fingerprint, label: str) -> str:
    """What the family found beside the error's own lines."""
    head, _, said = found.excerpt.partition("\n")[0].partition(": ")
    return said if head == label else ""


def _unglued(line: str) -> str:
    """A line without another one that touches it."""
    line = _LAST_WORDS.sub("", line)
    begins = _BEGINS.match(line)
    again = line.find(begins.group(), begins.end()) if begins else -1
    return line[:again] if again > 0 and re.match(r"[\w.)\]]", line[again - 1]) else line


def _presented(parts: list[str]) -> list[str]:
    """Each as it may be quoted; seen together, so that two paths which differ are shown to."""
    together = presentable(_PARTED.join(part.replace(_PARTED.strip(), "|") for part in parts)).split(_PARTED)
    return together if len(together) == len(parts) else list(map(presentable, parts))


def _value(detail: str) -> str:
    return _unquoted(detail.partition(": ")[2])


def _unquoted(text: str) -> str:
    return text.strip("\"'`")


def _placed(told: _Told) -> str:
    """All of it, if there is room; else the first way to say less that fits with every name whole."""
    place = told.place if not told.is_test else _cut(told.place, MAX_ERROR_CHARACTERS // 2 + 16)
    if place.endswith(":"):
        return f"{place} {told.message.lstrip('* ')}"[:MAX_ERROR_CHARACTERS]  # the heading of a list
    room = MAX_ERROR_CHARACTERS - (len(place) + 3 if told.is_test and place else 0)
    if len(told.message) > room and not told.details and (values := _COMPARES.fullmatch(told.message)):
        told = _of_two_values(told, values.groupdict(""), room)
    short = _MATCHED.sub(r"\1", told.message)
    ways = (_with(told.message, told.details), _with(short, told.details))
    line = next((way for way in ways if len(way) <= room), "")
    if not line:
        line = _elided(_reduced(_with(short, _within(told.details, room - len(short) - 2)), room), room)
    return f"{line} ({place})" if place and len(line) + len(place) + 3 <= MAX_ERROR_CHARACTERS else line


def _of_two_values(told: _Told, said: dict[str, str], room: int) -> _Told:
    """What a test compares, as parts: each value has its share of the room, and what the test says of it the rest."""
    if said["want"]:
        return told._replace(message=said["head"], details=(f"got: {said['got']}", f"want: {said['want']}"))
    message = f"{said['what']} {said['why'].lstrip('. ')}".strip()
    fits = len(message) + 2 * (_LEAST_DETAIL_CHARACTERS + 2) <= room
    details = f"Expected: <{said['expected']}>", f"Actual: <{said['actual']}>"
    return told._replace(message=message if fits else said["what"], details=details)


def _with(message: str, details: Sequence[str]) -> str:
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
    return [_cut(one, max(_LEAST_DETAIL_CHARACTERS, whole) if len(one) == shortest else rest) for one in told]


# What is left out of a line that is too long, one after the other until it fits.
_LEFT_OUT = (
    (lazy_pattern(r"No overload matches this call[.:] (?=Argument of )"), ""),
    (lazy_pattern(r" and no accessible extension method '[^']*' accepting .*? could be found"), ""),
    (lazy_pattern(r" \[(?:[A-Za-z]:)?[\w./\\ -]+$"), ""),
    (lazy_pattern(r" \[[^\]]*proj\]$"), ""),
    (lazy_pattern(r" \((?:are you missing|[Ii]n ['`]|did you|see |consider )[^()]*(?:\([^()]*\)[^()]*)*\)?\.?$"), ""),
    (lazy_pattern(r" with working directory '[^']*'"), ""),
    (lazy_pattern(r" Exceeded retry count of \d+\. Failed\."), ""),
    (lazy_pattern(r"^(?:[A-Za-z]:)?[^:]*\.targets\(\d+,\d+\): (?:error )?"), ""),
    (lazy_pattern(r"(?<=\.)(\w{1,6})(?:\(\d+,\d+\)|:\d+:\d+)(?=:| -)"), r"\1"),
    (lazy_pattern(r"(?<=: )error (?=[A-Z]{2,8}\d{3,5}: )"), ""),
    (lazy_pattern(r" \([0-9a-f]{7,64}\)| \(https?\S*\)"), ""),
    (lazy_pattern(r" for improved performance\b| because it has no subtypes in its containing assembly\b"), ""),
)
# And where the last sentences are gone, too: name spaces, the inside of long quotes.
_SHORTENED = (
    (lazy_pattern(r"^\w{24,}(?=\w{20}\.\w{1,5}[(:])"), "…"),
    (lazy_pattern(r"^([\w.]{36})[\w.]{12,}(?=: )"), r"\1…"),
    (lazy_pattern(r"\{[^{}]{20,}\}"), "{…}"),
    (lazy_pattern(r"(?:(?<=['\"`<(\[])|\b(?=[\w.]+: ))(?:[A-Za-z_]\w*\.){2,}(?=[A-Z]\w*\b(?!\.[a-z]{1,6}\b))"), ""),
    (lazy_pattern(r"(?<!\w)([\"'`])((?:(?!\1).){32})(?:(?!\1).){12,}\1(?!\w)"), r"\1\2…\1"),
)
_NEXT_SENTENCE = lazy_pattern(r"(?<=[\w)'\"`>][.!?])\s+(?=[\"'`(]?[A-Z])")
_LEAST_FIRST_SENTENCE = 40
_WORDS_OF_THE_HEAD = 4
_WORDS_OF_THE_END = 5
_WEIGHT_OF_A_NAME = 5.0
_WEIGHT_OF_A_TURN = 25.0
_TURNS = frozenset("not no neither none cannot can't never nor without must should only unless".split())
"""Without one of them a sentence says the contrary, or nothing."""
_MOST_CHARACTERS_WITH_AN_END = 400


def _reduced(line: str, room: int) -> str:
    """Asides and folders first, then the last sentences, then the inside of names and quotes."""
    line = _with_shorter_paths(_left(line, room, _LEFT_OUT), room)
    while len(line) > room and len(sentences := _NEXT_SENTENCE.split(line)) > 1:
        shorter = line[: line.rindex(sentences[-1])].rstrip()
        if len(shorter) < _LEAST_FIRST_SENTENCE:
            break
        line = shorter
    return _left(line, room, _SHORTENED)


def _left(line: str, room: int, parts: Sequence[tuple[re.Pattern[str], str]]) -> str:
    for pattern, left in parts:
        if len(line) <= room:
            break
        shorter = pattern.sub(left, line)
        before, after = _TOKEN.findall(line), _TOKEN.findall(shorter)
        if len(after) < len(before) or len(set(map(_unquoted, after))) == len(set(map(_unquoted, before))):
            line = shorter  # unless two names that differ would then be the same
    return line


_PATH = lazy_pattern(
    r"(?<![\w<>/\\])(?:[A-Za-z]:[\\/]|[.~…]{0,2}/)?(?:[\w.@+~#-]{2,}(?:/|\\(?=[\w-]{2})))+(?=[\w.@+-])"
)


def _with_shorter_paths(line: str, room: int) -> str:
    """Folders go one by one, the first of the longest path first: a file is known by those right above it."""
    while len(line) > room and not _LINE_BREAK.search(line) and (paths := list(filter(_is_path, _PATH.finditer(line)))):
        path = max(paths, key=lambda one: len(one.group()))
        rest = re.sub(r"^(?:…/|~/|/)?[^\\/]+[\\/]", "", path.group())
        line = f"{line[: path.start()]}…/{rest}{line[path.end() :]}"
    return line


_LINE_BREAK = lazy_pattern(r"\\n(?!et\d)")
"""As it is written in a value; `bin\\net9.0` is a folder."""


def _is_path(found: re.Match[str]) -> bool:
    """One slash alone may hold a rule and its group apart: `Style/StringLiterals`."""
    folders, rest = found.group(), found.string[found.end() :]
    return len(re.findall(r"[\\/]", folders)) > 1 or re.match(r"[\w-]+\.\w", rest) is not None


def _elided(line: str, room: int) -> str:
    """Without the words of its middle that name least: an error begins with what it is and ends with why."""
    words = line.split(" ")
    ends = list(itertools.accumulate(len(word) + 1 for word in words))
    end = " ".join(words[-_WORDS_OF_THE_END:])
    broken = line.endswith(("…", "...")) or end.count("(") != end.count(")")
    if len(line) <= room or len(line) > _MOST_CHARACTERS_WITH_AN_END or broken:
        return _cut(line, room)
    least = len(line) + len(" … ") - 1 - room
    lost = [0.0, *itertools.accumulate(map(_weight, words))]
    gaps = [
        (lost[last] - lost[first], -first, last)
        for first in range(_WORDS_OF_THE_HEAD, len(words))
        for last in range(first + 1, len(words) - _WORDS_OF_THE_END + 1)
        if ends[last - 1] - ends[first - 1] >= least
    ]
    if not gaps:
        return _cut(line, room)
    _, first, last = min(gaps)
    return " ".join((*words[:-first], "…", *words[last:]))


def _weight(word: str) -> float:
    """What is lost with a word: names and numbers say which, negations whether, the rest how."""
    bare = word.strip(",.;:()")
    if bare.lower() in _TURNS:
        return _WEIGHT_OF_A_TURN
    named = _NAMED.search(bare) or bare[:1] in "'\"`" or bare[1:].lower() != bare[1:] or any(map(str.isdigit, bare))
    return max(_WEIGHT_OF_A_NAME, len(bare) / 4) if named or bare.lower() == "missing" else 1.0


def _step(lines: list[str]) -> str:
    """Which step of a hook failed, and what it found."""
    steps = [_cut(line[2:], _STEP_CHARACTERS) for line in lines[:2] if line.startswith("$ ")]
    if len(lines) > 1 and lines[1].startswith(FAILED_STEP):
        steps, lines = [lines[1].removeprefix(FAILED_STEP)], lines[1:]
    failed = f"{' … '.join(steps) or re.sub('[.]{3,}.*', '', lines[0])} failed"
    found = lines[1:3] if not steps else [one for one in lines[len(steps) :] if not is_consequence(one)][-1:]
    said = ": ".join((failed, *found)).rstrip(":") if steps or is_bare(failed) else failed
    return said if len(said) <= MAX_ERROR_CHARACTERS or not (steps and found) else f"{steps[-1]} failed: {found[0]}"


def _bare(line: str) -> str:
    said = _ANNOTATION.sub("", _LOGGED.sub("", _STAMP.sub("", line.lstrip(_FRAME).rstrip(_END_OF_FRAME))))
    bare = re.sub(
        r"^cd:\d+: |^-+\^ ", lambda found: "cd: " if found.group()[0] == "c" else "", _SHELL.sub("", said).strip()
    )
    return bare if len(_WORD.findall(bare)) >= _MIN_WORDS else re.sub(r"^(\w+):\d+: ", r"\1: ", said)


def _own_sentence(line: str) -> str:
    """Up to the sentence that speaks to a reader, and of that the clauses before the one that does."""
    said: list[str] = []
    for at, sentence in enumerate(_SENTENCE.split(line)):
        if reads_like_an_order(sentence):
            return " ".join(" ".join((*said, _own_clauses(sentence) or ("" if at else sentence))).split())
        said.append(sentence)
    return " ".join(" ".join(said).split())


def _own_clauses(sentence: str) -> str:
    """The beginning of a sentence that ends in an order; empty where nothing of it stands alone."""
    ends = [found.start() for found in _CLAUSE.finditer(sentence)]
    heads = (sentence[:end] for end in reversed(ends))
    own = (head for head in heads if not any(map(reads_like_an_order, (head, *_CLAUSE.split(head)))))
    return next((head for head in own if len(head) >= _LEAST_FIRST_CLAUSE and not _IS_NO_SENTENCE.match(head)), "")


def _cut(said: str, room: int) -> str:
    """The beginning, to the end of a word; the name in which it would end, by its own end."""
    if len(said) <= room:
        return said
    start = said[: room - 1]
    space = start.rfind(" ")
    word = said[space + 1 :].partition(" ")[0]
    name = _LAST_PART.search(word)
    if name and space + 2 + len(name.group()) <= room:
        quote = word[0] if word[0] in "\"'`" else ""
        return f"{said[: space + 1]}{quote}…{name.group()}"
    sign = max(start.rfind(sign) for sign in "/\\,;:=(&") + 1
    end = space if space > room // 2 else sign if sign > room // 2 else len(start)
    return start[:end].rstrip(" ,;:") + "…"


_LAST_PART = lazy_pattern(r"(?<=[\w.@~…])[\\/][\w.@~-]{3,}['\"`)]*$")
