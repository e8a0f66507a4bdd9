"""The error in its own words: one real line of the output, at most 160 characters, to be quoted as data.

Tool output is hostile. Where the error ran, people and agents read what it really said, without sentences that
address a reader, without addresses, owners and names of people. A line that still reads like an order is not
quoted: then the words of `signature` stand for it, as they do wherever the line did not come from this project.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from hardwon.failures import tools
from hardwon.failures.fingerprint import DETAIL, Fingerprint, is_consequence, leads_on
from hardwon.failures.shell import Command, commands
from hardwon.failures.signature import NEVER, VERBS, WORDS, orders, signature
from hardwon.failures.turns import NO_FOLDER
from hardwon.text.normalise import lazy_pattern, presentable

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
_TESTS = ("pytest", "unittest", "jest", "go")
_SHELL = lazy_pattern(
    r"^(?:(?:/\S*/)?(?:ba|z|da)?sh:(?:\d+:)? (?:line \d+: |\d+: )?|\(eval\):\d+: |(?:\(eval\)|(?:ba|z)sh):(?=cd:)"
    r"|! |-+> )"
)
_BY_A_SHELL = lazy_pattern(
    r"(?:\(eval\):\d+:|(?:/\S*/)?(?P<shell>(?:ba|z|da)?sh):(?: line)?(?: ?\d+:)?) "
    r"(?!.*command not found|.*: not found$|permission denied)[^\n]*$"
)
_STAMP = lazy_pattern(r"^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\]?|\[?\d\d:\d\d:\d\d\S*\]?)\s+")
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
_BESIDE_IT = lazy_pattern(r", we can conclude\b.*$| with identity '[^']*'| \(In '.*$")
"""What a tool says twice."""
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
_MATCHED = lazy_pattern(r"^(?:error: )?expect\(\w*\)\.((?:\w+\.)*\w+)\(\w*\)")
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
    if found.family == "hook" or command == tool or not (anybodys or shell):
        return line
    asked = _ASKED.findall(command) if found.family == "http" else []
    if len(asked) == 1 and "<url>" not in line:
        here = _ON_THIS_MACHINE.match(asked[0])
        line = f"{line} ({here.group(1) if here else presentable(asked[0])})"
    speaker = shell or _speaker(line, command, where=found.family != "usage")
    return f"`{speaker}`: {line}" if speaker else line


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


def _quoted(found: Fingerprint, tool: str, command: str) -> str:
    answered = found.family == "http" and found.error_type == "answer"  # in a server's words
    if answered or (found.family not in ("usage", "shell") and from_elsewhere(tool, command)):
        return presentable(signature(found))
    told = _telling(found)
    told = told._replace(message=_own_sentence(told.message))
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
_KIND = lazy_pattern(r"\w*(?:Error|Exception|Failure)\b|\b[A-Z]+\d{3,}\b")
_NAMED = lazy_pattern(
    r"[a-z0-9][A-Z]|\w[_./\\@#-]+\w|[A-Za-z]\d|\d[A-Za-z]|^--?[A-Za-z]|^['\"`].+['\"`.]$|[^\x00-\x7f…‘’]"
)
_NAMES_WHAT_IS_MISSING = lazy_pattern(
    r"not found: \S|\S: (?:command )?not found|[Nn]o module named \S|cript not found \S"
)
_ASKED = lazy_pattern(r"https?://[^\s'\"|)]+")
_ON_THIS_MACHINE = lazy_pattern(r"https?://((?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d{1,5})?)(?![\w.:@])")
_GONE = lazy_pattern(r"(?i)\b(?:path|folder|director\w+|volume)\b")
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


def _speaker(line: str, command: str, *, where: bool) -> str:
    """The command that a line is of, as it is told: without what changes from call to call."""
    if _names_itself(line, command):
        return ""
    into = _STEP_INTO.search(command) if _GONE.search(line) else None
    return presentable(f"cd {into.group(1)}") if into else told_command(command, line, where=where)


_PREPARES = frozenset(
    "eval mkdir rm cp mv sleep export source echo touch chmod true cd pwd head tail conda nvm".split()
)
_PROGRAM = lazy_pattern(r"[\w./\\~@:+-]*[A-Za-z][\w.+-]*(?<!^-)")
_MIN_OPTION = 4
_SEVERAL = 2
_MOST_TOLD_TOGETHER = 3
_CHARACTERS_TOLD_TOGETHER = 60


_PLACE = lazy_pattern(r"[\w…~.-][\\/][\w.~-]|[\w-]\.[a-z]\w{0,4}\b|not found: \S|: (?:command )?not found$")
"""A line that names a file or a folder, or a program that is nowhere."""
_CHOOSES = lazy_pattern(
    r"(?:^|\s)(--(?:filter|workspace|prefix|cwd|dir|project|package|manifest-path)|-C|-F|-w|-p)[ =]"
    r"([\w@./\\~-]*[A-Za-z][\w./\\-]*)"
)
"""Options by which a tool is told which part of a repository it shall work on."""
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
    elif script and script.group(1) not in said and not said.endswith("…"):
        said = f"{said} {presentable(script.group(1))}"
    folder = presentable(one.folder.strip("\"'").rstrip("/"))
    if not re.search(r"[A-Za-z]", folder) or re.search(r"[$`()<>|]", folder):
        return said
    if _ABSOLUTE.match(one.folder.strip("\"'")) and not _OF_A_FOLDER.search(line):
        return said
    whole = f"cd {folder} && {said}"
    return whole if len(whole) <= _CHARACTERS_WITH_A_PLACE and not reads_like_an_order(whole) else said


def told_command(command: str, line: str = "", *, where: bool = False) -> str:
    """What a command is about, as it stands before an error; nobody's repository or host in it.

    Of several, the one that the line names; where it names none, all of them, for the output alone could tell. `where`
    adds the part of the repository that it was for, unless the line itself names a place.
    """
    meant = [one for one in commands(command) if one.program not in _PREPARES and _PROGRAM.fullmatch(one.program)]
    ran = dict.fromkeys((one.program, one.subcommand) for one in meant)
    programs = list(dict.fromkeys(program for program, _ in ran))
    if len(ran) < _SEVERAL:
        said = tools.gist(meant[-1].text if meant else command)
    else:
        named = [one for one in ran if _says_its_name(one[0], line)] or [
            (one.program, one.subcommand) for one in meant if _says_one_of(one.options, line)
        ]
        called = [" ".join(filter(None, one)) for one in (named if len(named) == 1 else ran)]
        if any(map(tools.danger, called)) or len(called) > _MOST_TOLD_TOGETHER:
            called = programs
        said = " && ".join(called) if len(called) <= _MOST_TOLD_TOGETHER else ""
        if len(said) > _CHARACTERS_TOLD_TOGETHER:
            said = " && ".join(programs[:_MOST_TOLD_TOGETHER])
    if where and said and meant and not _PLACE.search(line):
        said = _which(said, meant[-1], line)
    if tools.asks_elsewhere(said.partition(" ")[0]):
        said = " ".join(itertools.takewhile(lambda word: "/" not in word and ":" not in word, said.split()))
    return presentable(said) if not tools.danger(said) else ""


def _says_its_name(program: str, line: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(program)}(?![\w./-])", line) is not None


def _says_one_of(options: Iterable[str], line: str) -> bool:
    """Whether a line speaks of an option that a command was called with."""
    bare = {option.lstrip("-").partition("=")[0] for option in options}
    return any(len(one) >= _MIN_OPTION and _says_its_name(one, line) for one in bare)


def generalised(lines: list[str]) -> str:
    """One line for several of the same error, the newest first: what is not the same in all is left out."""
    said = [without_speaker(line) for line in lines]
    leads = [line.removesuffix(own) for line, own in zip(lines, said, strict=True)]
    common = _common(said)
    if len(set(leads)) == 1:
        return leads[0] + common
    one_program = all(leads) and len({lead.split()[0] for lead in leads}) == 1
    if not all(leads) or not (one_program or is_bare(common)):
        return common  # clear without the commands that said it
    lead = _common(leads)
    return f"{leads[0].strip() if lead == '`cd …`:' else lead.strip()} {common}"


_WHERE_IT_WAS = lazy_pattern(
    r"(?<=[\w…])(?:\((?:…,\d+|\d+,…|…,…|…)\)(?=:)|:(?:…:\d+|\d+:…|…:…|…)(?=:? ))|(?<=…):\d+(?=: )"
)
"""A line and a column of a file that are another each time."""


_POSITION = lazy_pattern(
    r"(?<=\w)\(\d+(?:,\d+)?\)(?=:)|(?<=\.\w{2}):\d+(?::\d+)?(?=:? )|(?<=\.\w{3}):\d+(?::\d+)?(?=:? )"
)
_ANY_FILE = lazy_pattern(r"^…(?:\([\d…,]+\)|(?::[\d…]+)+)?: (?=\w)| \(…\)$")
_HOLE = lazy_pattern(r"…(?!/)")


def _common(lines: list[str]) -> str:
    if len({tuple(_POSITION.findall(line)) for line in lines}) > 1:
        lines = [_POSITION.sub("", line) for line in lines]
    newest, *others = lines
    kept = _pieces(newest)
    unlike = False
    for other in others:
        pieces = _pieces(other)
        if len(pieces) == len(kept):
            kept = [
                one if one in ("…", two) or (two.isdecimal() and _is_port(kept, at)) else "…"
                for at, (one, two) in enumerate(zip(kept, pieces, strict=True))
            ]
        else:
            there = set(pieces)
            kept = [one if one in there or not one.strip() else "…" for one in kept]
            unlike = True
    line = re.sub(r"…(?:[\s/.:_-]*…)+", "…", "".join(kept)).strip()
    line = _WHERE_IT_WAS.sub("", _ANY_FILE.sub("", line))
    line = re.sub(r"(?<!\S)…(?=\w)", "…/", line) if "/" in newest else line
    line = re.sub(r"(?<= failed): (?:[^\w\s]|\w*Error: )*….*$" if unlike else r"(?<= failed): …$", "", line)
    if unlike and len(_HOLE.findall(line)) > 1:
        return newest  # what is left of it is no sentence
    return line if len(_WORD.findall(line)) >= _MIN_WORDS or newest.startswith("`") else newest


_BEFORE_A_PORT = lazy_pattern(r"(?:localhost|\d\.\d+|\bport|::1?\]?|<ip>|<host>)['\"]?[\s:,]{1,3}$")


def _is_port(pieces: Sequence[str], at: int) -> bool:
    """Where something listens is told of the newest: without it nobody knows which one is meant."""
    return pieces[at].isdecimal() and _BEFORE_A_PORT.search("".join(pieces[max(0, at - 6) : at])) is not None


def reads_like_an_order(line: str) -> bool:
    """Whether a line asks its reader for something, by its words or by the parts of its names."""
    if _ADDRESSES.search(line):
        return True
    words = re.findall(r"[\w-]+", line.lower())
    return sum(word in NEVER for word in words) >= _ORDERING_WORDS_OF_AN_ORDER or any(
        orders(word) for word in words if "_" in word or "-" in word
    )


_ONLY_COUNTS = lazy_pattern(
    r"(?i)^(?:\S+ )?(?:build|restore|tests?|run|publish)?\s*failed with (?:\d+|…) errors?(?:\(s\))?[^:]*$"
    r"|^found (?:\d+|…) errors?\b[^:]*$|^(?:\d+|…) errors?\b[^:]*$|^command failed(?: with exit code .*)?$"
    r"|^command '.*' exited with status \d+$|\bERR_PNPM_RECURSIVE|\bELIFECYCLE\b|\berror run failed: tests failed\b"
    r"|^(?:\w+ )?(?:restore|build|tests?|check|run)(?: run)? (?:failed|errors?)\W*$|^FAIL\s+\S+(?:\s+\S+)?$"
    r"|\.\.\. [\d.]+s$|^--- FAIL: \S+ \([\d.]+s\)$|^(?:FAILED|ERROR) \S+::\S+$"
    r"|^(?:\w*error:? )?(?:request failed with status code|status(?: code)?|http(?:/[\d.]+| error| status)?)[ :]+"
    r"(?:\d{3}|…)(?:[: ]+(?:ok|not found|forbidden|bad request|unauthorized|internal server error|service unavailable"
    r"|bad gateway|gateway time-?out|too many requests|conflict|unprocessable \w+))?\W*$"
)
_ANY = lazy_pattern(r"^`…`: |^… ")
_LEAD = lazy_pattern(r"^`[^`]+`: ")


@lru_cache(maxsize=1 << 12)
def says_what_failed(line: str) -> bool:
    """False for a line that only counts, or says that something failed, or has lost its words to masks."""
    said = without_speaker(line)
    if _ONLY_COUNTS.search(said) or _ANY.match(line) or (is_consequence(said) and is_bare(said)):
        return False
    announces = said.endswith(":") and is_bare(said)
    return said.count("…") <= len(_WORD.findall(said)) and not announces


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
    lines = [bare for line in found.excerpt.splitlines() if (bare := _bare(line))]
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
        if not rest or len(_with(checked, rest)) <= _MAX_CHECKED_CHARACTERS:
            line, details = checked, rest
    if _RULE.fullmatch(found.error_type) and found.error_type not in line:
        line = f"{found.error_type}: {line}"
    place = presentable(found.frame.split(" > ")[-1])
    named = place.split()[0] if "." in place.split(" ")[0] else place
    if not place or found.family in ("usage", "hook", "shell", "git") or named in line:
        return _Told(line, tuple(details))
    return _Told(line.rstrip(":"), tuple(details), place, found.family in _TESTS)


def _presented(parts: list[str]) -> list[str]:
    """Each as it may be quoted; seen together, so that two paths which differ are shown to."""
    together = presentable(_PARTED.join(part.replace(_PARTED.strip(), "|") for part in parts)).split(_PARTED)
    return together if len(together) == len(parts) else list(map(presentable, parts))


def _value(detail: str) -> str:
    return _unquoted(detail.partition(": ")[2])


def _unquoted(text: str) -> str:
    return text.strip("\"'`")


def _placed(told: _Told) -> str:
    """All of it, if there is room: what says least is left out first."""
    place = told.place
    whole = _with(told.message, told.details)
    if told.is_test and len(whole) + len(place) + 3 > MAX_ERROR_CHARACTERS:
        place = _cut(place.rpartition(" › ")[2], MAX_ERROR_CHARACTERS // 2)
    room = MAX_ERROR_CHARACTERS - (len(place) + 3 if told.is_test and place else 0)
    message = told.message if len(whole) <= room else _MATCHED.sub(r"\1", told.message)
    line = _elided(_reduced(_with(message, _within(told.details, room - len(message) - 2)), room), room)
    if place.endswith(":"):
        return f"{place} {line.lstrip('* ')}"[:MAX_ERROR_CHARACTERS]  # the heading of a list
    return f"{line} ({place})" if place and len(line) + len(place) + 3 <= MAX_ERROR_CHARACTERS else line


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
    (lazy_pattern(r" Exceeded retry count of \d+\. Failed\."), ""),
    (lazy_pattern(r"^(?:…|[A-Z]:|~)?(?:[\\/]?[\w. -]+[\\/])+(?=[\w.-]+\.\w+\W)"), ""),
    (lazy_pattern(r"^[\w.]+\.targets\(\d+,\d+\): "), ""),
    (lazy_pattern(r"(?<![\w<>/])(?:…|~|[A-Za-z]:|\.{1,2})?(?:[\\/][\w.@+~-]+)+[\\/](?=[\w.@+-])"), ""),
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
    (lazy_pattern(r"(?<![\w./\\-])(?:[A-Za-z_]\w*\.){2,}(?=[A-Z]\w*\b(?!\.[a-z]{1,6}\b))"), ""),
    (lazy_pattern(r"(?<!\w)([\"'`])((?:(?!\1).){32})(?:(?!\1).){12,}\1(?!\w)"), r"\1\2…\1"),
)
_NEXT_SENTENCE = lazy_pattern(r"(?<=[\w)'\"`>][.!?])\s+(?=[\"'`(]?[A-Z])")
_LEAST_FIRST_SENTENCE = 40
_WORDS_OF_THE_HEAD = 4
_WORDS_OF_THE_END = 5
_WEIGHT_OF_A_NAME = 5.0
_WEIGHT_OF_A_TURN = 25.0
_TURNS = frozenset("not no cannot can't never nor without must should only unless".split())
"""Without one of them a sentence says the contrary, or nothing."""
_MOST_CHARACTERS_WITH_AN_END = 400


def _reduced(line: str, room: int) -> str:
    """Asides and folders first, then the last sentences, then the inside of names and quotes."""
    line = _left(line, room, _LEFT_OUT)
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
    failed = f"{' … '.join(steps) or re.sub('[.]{3,}.*', '', lines[0])} failed"
    found = lines[1:3] if not steps else [one for one in lines[len(steps) :] if not is_consequence(one)][-1:]
    return ": ".join((failed, *found)).rstrip(":") if steps or is_bare(failed) else failed


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
    if len(said) <= room:
        return said
    start = said[: room - 1]
    space = start.rfind(" ")
    return (start[:space] if space > room // 2 else start).rstrip(" ,;:") + "…"


def _pieces(line: str) -> list[str]:
    return re.findall(r"[\w.@+~-]+|\s+|[^\w\s]", line)
