"""An error in its own words: one real line of the output, at most 160 characters, to be quoted as data.

Tool output is hostile. Where the error ran, people and agents read what it really said, without sentences that
address a reader, without addresses, owners and names of people. A line that still reads like an order is not
quoted: then the words of `signature` stand for it, as they do wherever the line did not come from this project.
Of several occurrences one line is told, if it says what failed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from hardwon.failures import tools
from hardwon.failures.fingerprint import DETAIL, FAILED_STEP, RAISED, USED, Fingerprint, is_consequence, leads_on
from hardwon.failures.shell import commands
from hardwon.failures.signature import (
    CLAUSE,
    LITERAL,
    PROPOSES,
    from_elsewhere,
    own_sentence,
    reads_like_an_order,
    signature,
)
from hardwon.failures.speaker import (
    CONTINUED,
    MAX_ERROR_CHARACTERS,
    NAMED,
    TESTS,
    TOKEN,
    WORD,
    Told,
    cut,
    is_bare,
    labelled,
    led,
    placed,
    told_command,
    unquoted,
    with_details,
)
from hardwon.text.normalise import lazy_pattern, presentable

_MIN_WORDS = 2
_FRAME = "│┃|╷╵╭╰─━•●✖✘✗×⨯❌▶⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏>=^ \t"
_END_OF_FRAME = "│┃|╷╵╮╯─━= \t"
_DETAIL = lazy_pattern(
    rf"(?:Locator|Expected|Received|Actual|Code|Switch|Number of|Error message|{DETAIL})\b[\w ]*: +\S"
)
"""What a tool says of an error on lines of its own, below it."""
_STEP_CHARACTERS = 36
_PARTED = " ⏐ "
_RULE = lazy_pattern(r"(?:lint|assist|suppressions|parse)/\S+|format|organizeImports")
"""What a linter calls its rule, on a line of its own."""
_SHELL = lazy_pattern(
    r"^(?:(?:/\S*/)?(?:ba|z|da)?sh:(?:\d+:)? (?:line \d+: |\d+: )?|\(eval\):\d+: |(?:\(eval\)|(?:ba|z)sh):(?=cd:)"
    r"|! |-+> )"
)
_STAMP = lazy_pattern(r"^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\]?|\[?\d\d:\d\d:\d\d\S*\]?|\(\d+\.\d+s\))\s+")
_LOGGED = lazy_pattern(r"^(?:- )?[\w.]+ - (?:ERROR|CRITICAL|FATAL) - ")
"""Who logged it, and how grave it is."""
_ANNOTATION = lazy_pattern(r"^(?:::(?:error|warning) |\S*,?(?:line|col)=\d).*?::(?=\S)")
"""What a tool writes for a service that runs it, before the line itself."""
_BESIDE_IT = lazy_pattern(r", we can conclude\b.*$| \(In '.*$")
"""What a tool says twice."""
_LAST_WORDS = lazy_pattern(
    r"(?<=\S)(?:Build failed with \d+ error|Shell cwd was reset to ).*$|(?<=[.)]) {8,}\S.*$"
    r"|(?<=[\])])(?=\S)[\w./\\…-]+:\d+:\d+:? (?:error|warning) .*$"
)
"""What touches a line and is none of it: a builder's or a shell's last words, the next finding, an older screen."""
_FINDING = lazy_pattern(r"(\S{3,}?):\d+:\d+:? ")
_BROKEN_NAME = lazy_pattern(r"^((?:[^']|'[^']*')*) '[^']*$")
_MORE_ABOUT_IT = lazy_pattern(r"\s*\((?:<url>|https?:?)[^)\s]*\)?(?: \[[^\]]*\]?)?$")
_OF_PROJECT = lazy_pattern(r"\s+\[[^\]\s]*(?:proj(?:::[^\]]*)?\])?$|(?<=[.!?]) \w{1,3}$")
"""The project that a compiler worked on, and what is left of a word at the end of a screen."""
_LEADS_TO_NOTHING = lazy_pattern(r"(?<=[\w)'\"`][.!?])\s+[A-Z][^.!?]*:$")
"""A last sentence that announces lines which are not shown."""
_CHECKED = lazy_pattern(r"Checked: (expect\(.*)")
"""The line of a test that did not hold, which says more than the matcher's own."""
_MAX_CHECKED_CHARACTERS = 110


def error_line(found: Fingerprint, tool: str = "", command: str = "") -> str:
    """What the error said; its signature where that may not be quoted. Nobody's address, account or home in either."""
    return led(_quoted(found, tool, command), found, tool, command)


def printed_line(line: str, tool: str, command: str) -> str:
    """A line that a command of this project printed, as it may be quoted; empty where it may not."""
    if from_elsewhere(tool, command) or PROPOSES.search(line):
        return ""
    said = presentable(own_sentence(_bare(line)))
    return "" if len(WORD.findall(said)) < _MIN_WORDS or reads_like_an_order(said) else cut(said, MAX_ERROR_CHARACTERS)


def _quoted(found: Fingerprint, tool: str, command: str) -> str:
    answered = found.family == "http" and found.error_type == "answer"  # in a server's words
    if answered or (found.family not in ("usage", "shell") and from_elsewhere(tool, command)):
        return presentable(signature(found))
    told = _telling(found)
    message = told.message if not reads_like_an_order(told.message) else LITERAL.sub("{…}", told.message)
    told = told._replace(message=own_sentence(message))
    if reads_like_an_order(told.place):
        told = told._replace(place=told.place.rpartition(" › ")[2])  # a suite named `Agent` is followed by `should`
    line = placed(told)
    if told.details and reads_like_an_order(line):
        line = placed(told._replace(details=()))  # a value that was compared, and not the error, asks for something
    if len(WORD.findall(line)) < _MIN_WORDS or reads_like_an_order(line) or reads_like_an_order(told.place):
        return presentable(signature(found))
    return _of_other_lines(found, line) if found.family != "hook" and is_bare(line, command) else line


def _of_other_lines(found: Fingerprint, line: str) -> str:
    """What the family found beside a line that names nothing, where it names something."""
    more = presentable(own_sentence(_bare(found.message)))
    there = set(map(unquoted, TOKEN.findall(line)))
    named = any(NAMED.search(token) for token in TOKEN.findall(more) if unquoted(token) not in there)
    if not named or len(more) > MAX_ERROR_CHARACTERS or any(map(reads_like_an_order, CLAUSE.split(more))):
        return line
    return more


def _telling(found: Fingerprint) -> Told:
    """The line of the excerpt that has most of the message's words, the first of equals, with what it says below."""
    said = [line for line in found.excerpt.splitlines() if not line.startswith((f"{RAISED}: ", f"{USED}: "))]
    lines = [bare for line in said if (bare := _bare(_unglued(line)))]
    wanted = {word.lower() for word in WORD.findall(found.message)}
    best = max(lines, key=lambda line: len(wanted & {word.lower() for word in WORD.findall(line)}), default="")
    if found.family == "hook":
        best = _step(lines)
    else:
        at = lines.index(best) if best else len(lines)
        for after in lines[at + 1 : at + 3]:
            if leads_on(best):
                best = f"{best[:-1]}: {after}" if best.endswith(".") else f"{best} {after}"
    best = _LEADS_TO_NOTHING.sub("", best)
    checked = next((code.group(1) for one in lines if (code := _CHECKED.match(one))), "")
    details = list(dict.fromkeys(one for one in lines if _DETAIL.match(one) and one != best))[:2]
    line, *details = _presented([best, *([checked] if checked else []), *details])
    line = _OF_PROJECT.sub("", _MORE_ABOUT_IT.sub("", _BESIDE_IT.sub("", line)))
    if checked:
        checked, *details = details
        rest = [one for one in details if not (one.startswith("Expected") and _value(one) and _value(one) in checked)]
        if all(one.startswith("Number of") for one in rest):
            checked = cut(checked, max(0, _MAX_CHECKED_CHARACTERS - len(with_details("", rest))))
        if not rest or len(with_details(checked, rest)) <= _MAX_CHECKED_CHARACTERS:
            line, details = checked, rest
    if _RULE.fullmatch(found.error_type) and found.error_type not in line:
        line = f"{found.error_type}: {line}"
    place = presentable(labelled(found, RAISED) or found.frame.split(" > ")[-1])
    named = place.split()[0] if "." in place.split(" ")[0] else place
    if not place or found.family in ("usage", "hook", "shell", "git") or named in line:
        return Told(line, tuple(details))
    if found.family in TESTS and len(place) > MAX_ERROR_CHARACTERS // 2:
        place = place.rpartition(" › ")[2]
    return Told(line.rstrip(":"), tuple(details), place, found.family in TESTS)


def _unglued(line: str) -> str:
    """A line without another one that touches it."""
    place = _FINDING.match(line)
    if place and (again := line.find(f"{place[1]}:", place.end())) > 0:
        line = line[:again]  # the next finding in the same file
    line, touched = _LAST_WORDS.subn("", line)
    if touched and (broken := _BROKEN_NAME.search(line)):
        line = f"{broken.group(1)}…"
    return line


def _presented(parts: list[str]) -> list[str]:
    """Each as it may be quoted; seen together, so that two paths which differ are shown to."""
    together = presentable(_PARTED.join(part.replace(_PARTED.strip(), "|") for part in parts)).split(_PARTED)
    return together if len(together) == len(parts) else list(map(presentable, parts))


def _value(detail: str) -> str:
    return unquoted(detail.partition(": ")[2])


def _step(lines: list[str]) -> str:
    """Which step of a hook failed, and what it found."""
    steps = [cut(line[2:], _STEP_CHARACTERS) for line in lines[:2] if line.startswith("$ ")]
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
    return bare if len(WORD.findall(bare)) >= _MIN_WORDS else re.sub(r"^(\w+):\d+: ", r"\1: ", said)


# One line for several occurrences of an error, and whether it says what failed.


def example(lines: Sequence[str], family: str) -> str:
    """What is said of an error that was met with several lines, the newest first: the one that most of them are.

    Of a hook that stops for another reason each time, its first step.
    """
    if family == "hook" and len({*lines}) > 1 and (step := re.match(r"(.+?)(?: … .+)? failed\b", lines[0])):
        return f"{step.group(1)} failed"
    return Counter(lines).most_common(1)[0][0] if lines else ""


_ONLY_COUNTS = lazy_pattern(
    r"(?i)^(?:\S+ )?(?:build|restore|tests?|run|publish)?\s*failed with (?:\d+|…) errors?(?:\(s\))?[^:]*$"
    r"|^found (?:\d+|…) errors?\b[^:]*$|^(?:\d+|…) errors?\b[^:]*$|^command failed(?: with exit code .*)?$"
    r"|^command '.*' exited with status \d+$|\bERR_PNPM_RECURSIVE|\bELIFECYCLE\b|\berror run failed: tests failed\b"
    r"|^(?:\w+ )?(?:restore|build|tests?|check|run)(?: run)? (?:failed|errors?)\W*$"
    r"|^FAIL\s+\S+(?:\s+\S+| \[\w+ failed\])?$"
    r"|^some (?:errors|warnings) were emitted while running checks\b"  # biome
    r"|\.\.\. [\d.]+s$|^--- FAIL: \S+(?: \([\d.]+s\))?$|^[\w-]+\.[\w.-]+ failed$|^(?:FAILED|ERROR) \S+::\S+$"
    r"|^(?:\w*error:? )?(?:request failed with status code|status(?: code)?|http(?:/[\d.]+| error| status)?)[ :]+"
    r"(?:\d{3}|…)(?:[: ]+(?:ok|not found|forbidden|bad request|unauthorized|internal server error|service unavailable"
    r"|bad gateway|gateway time-?out|too many requests|conflict|unprocessable \w+))?\W*$"
)
_ONLY_FAILED = lazy_pattern(r"^`[^`]+` failed$")
_TYPED_IN = lazy_pattern(r"^`(?:[^`]* -[ce]|[^`]* \(already open\)|powershell|pwsh|(?:z|ba)?sh)`: (?!.*\bnot found\b)")
"""Before what an interpreter says of code that stood in the command: of that code alone, if it names nothing."""
_LEAD = lazy_pattern(r"^`[^`]+`: ")


@lru_cache(maxsize=1 << 12)
def says_what_failed(line: str) -> bool:
    """False for a line that only counts, or says that something failed, or has lost its words to masks."""
    said = without_speaker(line)
    if _ONLY_COUNTS.search(said) or _ONLY_FAILED.match(line):
        return False
    if (is_consequence(said) or _TYPED_IN.match(line)) and is_bare(said):
        return False
    announces = said.endswith(":") and is_bare(said)
    return said.count("…") <= len(WORD.findall(said)) and not announces


_NO_ERROR = lazy_pattern(
    r"\bexiting with code 0\b|^(?:[gm]?awk|jq|perl): (?:error: )?syntax error\b|^nothing to commit, working tree clean$"
    r"|^npm (?:error|ERR!) (?:location|path|workspace) "
    r"|^curl: .*returned error: (?:status )?\d+$|^Invoke-\w+ ?: (?:\d{3}: |The remote server )"
)


def names_no_error(line: str) -> bool:
    """All went well, or nobody can say of which folder, package or address it speaks."""
    return _NO_ERROR.search(without_speaker(line)) is not None


_NOT_THERE = lazy_pattern(
    r"No such file or directory|no matches found|cannot access|Cannot find path|os error 2|^File Not Found$"
)
_NONE_FOUND = lazy_pattern(r"\(HTTP 404\)|\bno (?:\w+ ){1,2}found\b|^npm (?:error|ERR!) 404 |\bNo match found for ")
_ASKS_WHAT_IS_THERE = frozenset("ls dir eza exa stat file which Get-ChildItem Get-Item Test-Path".split())


def is_an_answer(line: str, command: str) -> bool:
    """Whether a look at what is there found nothing: whoever looks wants to know that, and nothing failed."""
    said = without_speaker(line)
    called = commands(CONTINUED.sub(" ", command))
    if _NONE_FOUND.search(said):
        return bool(called) and all(map(tools.looks, called))
    if not _NOT_THERE.search(said):
        return False
    ran = {one.program for one in called}
    spoke = {said.partition(":")[0], told_command(command, said).split(" ")[0]}
    return not spoke.isdisjoint(_ASKS_WHAT_IS_THERE) or (bool(ran) and ran <= _ASKS_WHAT_IS_THERE)


_REFUSED = lazy_pattern(
    r"This (?:Bash )?command (?:requires approval|contains multiple operations)|cd (?:to|in) '[^']*' was blocked"
    r"|\S+ is temporarily unavailable, so auto mode cannot determine the safety\b"
    r"|\w+:\w+ hook (?:error|stopped|blocked)\b"
)


_MASK = re.compile(r"(?<!\S)…(?!\S)")
_ANSWERS = frozenset(("git", "http"))
"""Families of what servers answer, whose words are masked: of git those that `gh` prints."""


def titled(error: str, family: str, command: str = "") -> str:
    """An error as lists for people name it: of an answer that lost its words, the command or the tool alone."""
    said = without_speaker(error)
    if family == "agent" and command and _MASK.search(said):
        return f"`{command}` failed: `hardwon why` shows what it said"
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


def without_speaker(line: str) -> str:
    """The error's own words, without the command that leads them."""
    return _LEAD.sub("", line)
