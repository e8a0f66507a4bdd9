"""The error in its own words: one real line of the output, at most 160 characters, to be quoted as data.

Tool output is hostile. Where the error ran, people and agents read what it really said, without sentences that address
a reader, without addresses, owners and names of people. A line that still reads like an order is not quoted: then the
words of `signature` stand for it, as they do wherever the line did not come from this project.
"""

from __future__ import annotations

import itertools
import re

from hardwon.failures import tools
from hardwon.failures.fingerprint import Fingerprint
from hardwon.failures.signature import NEVER, VERBS, WORDS, orders, signature
from hardwon.text.normalise import presentable

MAX_ERROR_CHARACTERS = 160
_MIN_WORDS = 2
_ORDERING_WORDS_OF_AN_ORDER = 3
_FRAME = "│┃|╷╵╭╰─━•●✖✘✗×⨯❌▶> \t"
_DETAIL = re.compile(r"(?:Expected|Received|Switch)\b[\w ]*: +\S")
"""What a tool says of an error on lines of its own, below it."""
_MAX_DETAIL_CHARACTERS = 48
_TESTS = ("pytest", "unittest", "jest", "go")
_SHELL = re.compile(r"^(?:(?:/\S*/)?(?:ba|z|da)?sh:(?:\d+:)? (?:line \d+: |\d+: )?|\(eval\):\d+: |! )")
_STAMP = re.compile(r"^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\]?|\[?\d\d:\d\d:\d\d\S*\]?)\s+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SENTENCE = re.compile(
    r"(?<=[\w)'\"`>][.!?;])\s+(?=[\"'`(]?[A-Z])|(?<=[.!])(?=Please\b)|\s+(?=[Hh]int: |[Nn]ote: |[Tt]ip: )"
)
_ANNOTATION = re.compile(r"^(?:::(?:error|warning) )?\S*,?(?:line|col)=\d.*?::(?=\S)")
"""What a tool writes for a service that runs it, before the line itself."""
_MORE_ABOUT_IT = re.compile(r"\s*\((?:<url>|https?:?)[^)\s]*\)?(?: \[[^\]]*\]?)?$")
_DRAWN_OVER = re.compile(r"(\berror [A-Z]{2,4}\d{4}): .*(?<![(\w])\w*[/\w-]*(?:ide|ca)\d{4}\)$")
"""The end of a link stands where the message stood: two lines of a screen became one."""
_IN_FOLDERS = re.compile(r"^(?:…|[A-Z]:|~)?(?:[\\/]?[\w. -]+[\\/])+(?=[\w.-]+\.\w+\W)")
_ADDRESSES = re.compile(
    r"(?i)\byou(?:r)? (?:must|should|need|have to|can|could|may|might|will|want|are|task|instructions?)\b|\bplease\b"
    r"|\b(?:ignore|disregard|forget|obey|follow) (?:all|any|the|these|this|previous|prior|earlier|above|every)\b"
    r"|\b(?:agents?|assistants?|claude|codex|copilot|gemini|cursor|chatgpt|llms?|ai)\b[^.]{0,24}(?::|\bmust\b|\bshould\b)"
    r"|\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\b(?:curl|wget)\s+(?:-\S+\s+)*[\w-]+[./:]|\bsudo\s+\w|\brm\s+-"
    r"|^(?:\W*\w+: )?\W*(?:run|try|execute|install|add|make sure|visit|see|ensure|consider|remember|do not|don't|never"
    r"|always|reply|respond|answer|tell|send|write|note that)\b(?! (?:failed|error|of|to)\b)(?!:)"
)
_NETWORK_TOOL = re.compile(r"(?i)^mcp|__|fetch|web|browser|search_web|http")
_NETWORK_COMMAND = re.compile(
    r"(?:^|[;&|(\n]\s*)(?:curl|wget|http|xh|lynx|w3m)\s|\bgh (?:api|issue|pr|search|release)\b"
)


def error_line(found: Fingerprint, tool: str = "", command: str = "") -> str:
    """What the error said; its signature where that may not be quoted. Nobody's address, account or home in either.

    Words that could be any command's are led by the one that said them: `npm run lint`: Lint failed.
    """
    line = _quoted(found, tool, command)
    anybodys = found.family == "usage" or found.error_type == "timed out" or is_bare(line, command)
    if found.family == "hook" or command == tool or not anybodys:
        return line
    asked = _ASKED.findall(command) if found.family == "http" else []
    if len(asked) == 1 and "<url>" not in line:
        line = f"{line} ({presentable(asked[0])})"
    speaker = _speaker(found, line, command)
    return f"`{speaker}`: {line}" if speaker else line


def _quoted(found: Fingerprint, tool: str, command: str) -> str:
    if found.family not in ("usage", "shell") and _from_elsewhere(tool, command):
        return presentable(signature(found))
    line = _own_sentence(_telling(found))
    if len(_WORD.findall(line)) < _MIN_WORDS or reads_like_an_order(line):
        return presentable(signature(found))
    return line


_TOKEN = re.compile(r"[^\s,;:()\[\]{}<>]+")
_MATCHER = re.compile(r"expect\(\w*\)(?:\.\w+)*\(\w*\)")
_KIND = re.compile(r"\w*(?:Error|Exception|Failure)\b|\b[A-Z]+\d{3,}\b")
_NAMED = re.compile(
    r"[a-z0-9][A-Z]|\w[_./\\@#-]+\w|[A-Za-z]\d|\d[A-Za-z]|^--?[A-Za-z]|^['\"`].+['\"`.]$|[^\x00-\x7f…‘’]"
)
_NAMES_WHAT_IS_MISSING = re.compile(
    r"not found: \S|\S: (?:command )?not found|[Nn]o module named \S|cript not found \S"
)
_ASKED = re.compile(r"https?://[^\s'\"|)]+")
_GONE = re.compile(r"(?i)\b(?:path|folder|director\w+|volume)\b")
_STEP_INTO = re.compile(r"(?:^|[;&|]\s*)(?:cd|pushd|Set-Location) +(\"[^\"]+\"|'[^']+'|[^\s;&|]+)")


def is_bare(line: str, command: str = "") -> bool:
    """Whether every word of a line could stand in an error of any command: no name, no number, no word of its own."""
    if _NAMES_WHAT_IS_MISSING.search(line):
        return False
    said = _KIND.sub("", _MATCHER.sub("", line))
    if _names_itself(said, command):
        said = said.partition(": ")[2]
    for token in _TOKEN.findall(said):
        word = token.strip("'\"`.!?*").lower()
        if _NAMED.search(token.rstrip(".")) or (len(word) > 3 and word.isalpha() and word not in WORDS | VERBS):
            return False
    return True


def _names_itself(line: str, command: str) -> bool:
    """Whether the program that speaks stands at the head of its line: `jq: error`."""
    return line.partition(": ")[0] in command.split()


def _speaker(found: Fingerprint, line: str, command: str) -> str:
    """The command that a line is of, as it is told: without what changes from call to call."""
    if _names_itself(line, command):
        return ""
    if re.match(r"\(eval\):\d+: |zsh:\d+: ", found.excerpt) and "\n" not in found.excerpt:
        return "zsh"
    into = _STEP_INTO.search(command) if _GONE.search(line) else None
    return presentable(f"cd {into.group(1)}") if into else told_command(command)


def told_command(command: str) -> str:
    """What a command is about, as it stands before an error; nobody's repository or host in it."""
    said = tools.gist(command)
    if tools.asks_elsewhere(said.partition(" ")[0]):
        said = " ".join(itertools.takewhile(lambda word: "/" not in word and ":" not in word, said.split()))
    return presentable(said) if not tools.danger(said) else ""


def generalised(lines: list[str]) -> str:
    """One line for several of the same error, the newest first: what is not the same in all is left out."""
    said = [without_speaker(line) for line in lines]
    leads = [line.removesuffix(own) for line, own in zip(lines, said, strict=True)]
    common = _common(said)
    if len(set(leads)) == 1:
        return leads[0] + common
    if not all(leads) or not is_bare(common):
        return common  # clear without the commands that said it
    return f"{_common(leads)} {common}"


def _common(lines: list[str]) -> str:
    newest, *others = lines
    kept = _pieces(newest)
    for other in others:
        pieces = _pieces(other)
        if len(pieces) == len(kept):
            kept = [one if one in ("…", two) else "…" for one, two in zip(kept, pieces, strict=True)]
        else:
            there = set(pieces)
            kept = [one if one in there or not one.strip() else "…" for one in kept]
    line = re.sub(r"…(?:[\s/.:_-]*…)+", "…", "".join(kept)).strip()
    return line if len(_WORD.findall(line)) >= _MIN_WORDS or newest.startswith("`") else newest


def reads_like_an_order(line: str) -> bool:
    """Whether a line asks its reader for something, by its words or by the parts of its names."""
    if _ADDRESSES.search(line):
        return True
    words = re.findall(r"[\w-]+", line.lower())
    return sum(word in NEVER for word in words) >= _ORDERING_WORDS_OF_AN_ORDER or any(
        orders(word) for word in words if "_" in word or "-" in word
    )


_ONLY_COUNTS = re.compile(
    r"(?i)^(?:\S+ )?(?:build|restore|tests?|run|publish)?\s*failed with (?:\d+|…) errors?(?:\(s\))?[^:]*$"
    r"|^found (?:\d+|…) errors?\b[^:]*$|^(?:\d+|…) errors?\b[^:]*$|^command failed(?: with exit code .*)?$"
    r"|^command '.*' exited with status \d+$|\bERR_PNPM_RECURSIVE|\bELIFECYCLE\b|\berror run failed: tests failed\b"
    r"|^(?:\w+ )?(?:restore|build|tests?|check|run)(?: run)? (?:failed|errors?)\W*$|^FAIL\s+\S+(?:\s+\S+)?$"
    r"|\.\.\. [\d.]+s$"
)
_ANY = re.compile(r"^`…`: |^… ")
_LEAD = re.compile(r"^`[^`]+`: ")


def says_what_failed(line: str) -> bool:
    """False for a line that only counts, or says that something failed, or has lost its words to masks."""
    said = without_speaker(line)
    if _ONLY_COUNTS.search(said) or _ANY.match(line):
        return False
    return said.count("…") <= len(_WORD.findall(said))


def without_speaker(line: str) -> str:
    """The error's own words, without the command that leads them."""
    return _LEAD.sub("", line)


def _from_elsewhere(tool: str, command: str) -> bool:
    """A page, a server's answer or another program's tool: never quoted."""
    return (
        _NETWORK_TOOL.search(tool) is not None
        if not command or command == tool
        else bool(_NETWORK_COMMAND.search(command))
    )


def _telling(found: Fingerprint) -> str:
    """The line of the excerpt that has most of the message's words, the first of equals, with what it says below."""
    lines = [bare for line in found.excerpt.splitlines() if (bare := _bare(line))]
    wanted = {word.lower() for word in _WORD.findall(found.message)}
    best = max(lines, key=lambda line: len(wanted & {word.lower() for word in _WORD.findall(line)}), default="")
    if found.family == "hook":
        best = _step(lines)
    elif best.endswith((":", " imports", " tested by")) and best != lines[-1]:
        best = f"{best} {lines[lines.index(best) + 1]}"
    line = _DRAWN_OVER.sub(r"\1", _MORE_ABOUT_IT.sub("", presentable(best)))
    details = [presentable(one) for one in lines if _DETAIL.match(one) and one != best]
    if details:
        line = f"{line.rstrip('.:')}: {', '.join(_cut(one, _MAX_DETAIL_CHARACTERS) for one in details[:2])}"
    place = presentable(found.frame.split(" > ")[-1])
    if place and found.family not in ("usage", "hook", "shell", "git") and place.split()[0] not in line:
        return _placed(line, place, is_test=found.family in _TESTS)
    return line


def _placed(line: str, place: str, *, is_test: bool) -> str:
    """With the place, if there is room; a test's name says more than the end of a long message."""
    if len(line) + len(place) + 3 > MAX_ERROR_CHARACTERS and is_test:
        place = _cut(place.rpartition(" › ")[2], MAX_ERROR_CHARACTERS // 2)
        line = _cut(line, MAX_ERROR_CHARACTERS - len(place) - 3)
    return f"{line} ({place})" if len(line) + len(place) + 3 <= MAX_ERROR_CHARACTERS else line


def _step(lines: list[str]) -> str:
    """Which step of a hook failed; with what it found, where its name alone says little."""
    steps = [line[2:] for line in lines[:2] if line.startswith("$ ")]
    failed = f"{' … '.join(steps) or re.sub('[.]{3,}.*', '', lines[0])} failed"
    return ": ".join((failed, *lines[1:3])) if not steps and is_bare(failed) else failed


def _bare(line: str) -> str:
    said = _ANNOTATION.sub("", _STAMP.sub("", line.strip(_FRAME)))
    bare = _SHELL.sub("", said).strip()
    return bare if len(_WORD.findall(bare)) >= _MIN_WORDS else re.sub(r"^(\w+):\d+: ", r"\1: ", said)


def _own_sentence(line: str) -> str:
    """Without the sentences that speak to a reader, and cut between words; a file's folders go first."""
    sentences = _SENTENCE.split(line)
    end = next((at for at, sentence in enumerate(sentences) if at and reads_like_an_order(sentence)), len(sentences))
    said = " ".join(" ".join(sentences[:end]).split())
    if len(said) > MAX_ERROR_CHARACTERS:
        said = _IN_FOLDERS.sub("", said)
    return _cut(said, MAX_ERROR_CHARACTERS)


def _cut(said: str, room: int) -> str:
    if len(said) <= room:
        return said
    start = said[: room - 1]
    space = start.rfind(" ")
    return (start[:space] if space > room // 2 else start).rstrip(" ,;:") + "…"


def _pieces(line: str) -> list[str]:
    return re.findall(r"[\w.@+~-]+|\s+|[^\w\s]", line)
