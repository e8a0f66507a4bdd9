"""The error in its own words: one real line of the output, at most 160 characters, to be quoted as data.

Tool output is hostile. Where the error ran, people and agents read what it really said, without sentences that address
a reader, without addresses, owners and names of people. A line that still reads like an order is not quoted: then the
words of `signature` stand for it, as they do wherever the line did not come from this project.
"""

from __future__ import annotations

import re

from hardwon.failures.fingerprint import Fingerprint
from hardwon.failures.signature import NEVER, orders, signature
from hardwon.text.normalise import presentable

MAX_ERROR_CHARACTERS = 160
_MIN_WORDS = 2
_ORDERING_WORDS_OF_AN_ORDER = 3
_FRAME = "│┃|╷╵╭╰─━•●✖✘✗×⨯❌▶> \t"
_SHELL = re.compile(r"^(?:(?:/\S*/)?(?:ba|z|da)?sh: (?:line \d+: |\d+: )?|\(eval\):\d+: |! )")
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
    """What the error said; its signature where that may not be quoted. Nobody's address, account or home in either."""
    if found.family not in ("usage", "shell") and _from_elsewhere(tool, command):
        return presentable(signature(found))
    line = _own_sentence(_telling(found))
    if len(_WORD.findall(line)) < _MIN_WORDS or reads_like_an_order(line):
        return presentable(signature(found))
    return line


def generalised(lines: list[str]) -> str:
    """One line for several of the same error, the newest first: what is not the same in all is left out."""
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
    return line if len(_WORD.findall(line)) >= _MIN_WORDS else newest


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
)


def says_what_failed(line: str) -> bool:
    """False for a line that only counts, or says that something failed."""
    return _ONLY_COUNTS.search(line) is None


def _from_elsewhere(tool: str, command: str) -> bool:
    """A page, a server's answer or another program's tool: never quoted."""
    return (
        _NETWORK_TOOL.search(tool) is not None
        if not command or command == tool
        else bool(_NETWORK_COMMAND.search(command))
    )


def _telling(found: Fingerprint) -> str:
    """The line of the excerpt that has most of the message's words, the first of equals."""
    lines = [bare for line in found.excerpt.splitlines() if (bare := _bare(line))]
    wanted = {word.lower() for word in _WORD.findall(found.message)}
    best = max(lines, key=lambda line: len(wanted & {word.lower() for word in _WORD.findall(line)}), default="")
    if found.family == "hook":
        steps = [line[2:] for line in lines[:2] if line.startswith("$ ")]
        best = f"{' … '.join(steps) or re.sub('[.]{3,}.*', '', lines[0])} failed"
    if best.endswith((":", " imports")) and best != lines[-1]:
        best = f"{best} {lines[lines.index(best) + 1]}"
    line = _DRAWN_OVER.sub(r"\1", _MORE_ABOUT_IT.sub("", presentable(best)))
    place = presentable(found.frame.split(" > ")[-1])
    if place and found.family not in ("usage", "hook", "shell", "git") and place.split()[0] not in line:
        line = f"{line} ({place})" if len(line) + len(place) + 3 <= MAX_ERROR_CHARACTERS else line
    return line


def _bare(line: str) -> str:
    return _SHELL.sub("", _ANNOTATION.sub("", _STAMP.sub("", line.strip(_FRAME)))).strip()


def _own_sentence(line: str) -> str:
    """Without the sentences that speak to a reader, and cut between words."""
    sentences = _SENTENCE.split(line)
    end = next((at for at, sentence in enumerate(sentences) if at and reads_like_an_order(sentence)), len(sentences))
    said = " ".join(" ".join(sentences[:end]).split())
    if len(said) <= MAX_ERROR_CHARACTERS:
        return said
    start = said[: MAX_ERROR_CHARACTERS - 1]
    space = start.rfind(" ")
    return (start[:space] if space > MAX_ERROR_CHARACTERS // 2 else start).rstrip(" ,;:") + "…"


def _pieces(line: str) -> list[str]:
    return re.findall(r"[\w.@+~-]+|\s+|[^\w\s]", line)
