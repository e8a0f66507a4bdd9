"""Lines as they are told: one for several occurrences of an error, and whether it says what failed."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from hardwon.failures import tools
from hardwon.failures.fingerprint import is_consequence
from hardwon.failures.shell import commands
from hardwon.failures.shortening import TOKEN
from hardwon.failures.speaker import CONTINUED, KIND, NAMED, OF_A_UNIX, OF_WINDOWS, WORD, is_bare, told_command
from hardwon.text.normalise import lazy_pattern

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
        if not any(map(NAMED.search, TOKEN.findall(KIND.sub("", told["said"])))):
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
    """Steps into folders by what most share: how their paths are written, or the folder's name; no list of them.

    Where the newest is not written as most are, it is told beside them.
    """
    found = [step[1] for lead in leads if (step := _INTO_A_FOLDER.match(lead))]
    if len(found) < len(leads):
        return ""
    for style, told in ((OF_A_UNIX, "/c/…"), (OF_WINDOWS, "C:\\…")):
        if 2 * sum(style.match(path) is not None for path in found) > len(found):
            return f"`cd {told}`: " if style.match(found[0]) else f"`cd {told} or {found[0]}`: "
    names = {re.split(r"[/\\]", path.rstrip("/\\"))[-1] for path in found}
    return f"`cd …/{names.pop()}`: " if len(names) == 1 else "`cd …`: "


def _alike_lead(leads: Sequence[str]) -> str:
    """Several commands before an error as one: what all begin with, and their verbs where those are few.

    The newest stands for those that only say more or less of the same.
    """
    each = [lead.strip("`: ").split() for lead in leads]
    same = _same(each)
    if all(words[: len(each[0])] == each[0][: len(words)] for words in each):
        return leads[0]
    verbs = list(dict.fromkeys(" ".join(words[len(same) :]) for words in each))
    few = len(verbs) <= _MOST_VERBS and all(map(_VERB.fullmatch, verbs))
    return f"`{' '.join(same)} {' or '.join(verbs) if few else '…'}`: " if same else ""


_MOST_VERBS = 3
_VERB = lazy_pattern(r"[a-z][a-z-]+")


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
    return said.count("…") <= len(WORD.findall(said)) and not announces


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
    ran = [one.program for one in commands(CONTINUED.sub(" ", command))]
    return not {named, meant}.isdisjoint(_ASKS_WHAT_IS_THERE) or (bool(ran) and _ASKS_WHAT_IS_THERE.issuperset(ran))


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


def without_speaker(line: str) -> str:
    """The error's own words, without the command that leads them."""
    return _LEAD.sub("", line)
