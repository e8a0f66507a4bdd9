"""What a person typed, sentence by sentence and item by item, with what stood around each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from hardwon.model.session import Message, Session
from hardwon.sessions.origin import INTERRUPTED
from hardwon.text.lazy_pattern import lazy_pattern

SHORTEST_SENTENCE, LONGEST_SENTENCE = 8, 320
# Trajectories: a harness or another model speaks in the user's place.
NOBODY_TYPES = frozenset(("swe-agent", "openhands", "openai-chat", "sharegpt", "atif"))
ASKING_TOOLS = frozenset(("AskUserQuestion", "ask_user_question", "question"))
"""Tools by which an agent puts a question to the user: what comes back are the user's words."""
_STATEMENTS_PER_MESSAGE = 200
_CHARACTERS_PER_MESSAGE = 60_000
_CHARACTERS_A_PERSON_TYPES = 2_000
_HEADINGS_OF_A_DOCUMENT = 2
_FENCE = lazy_pattern(r"^\s*```")
_QUOTED = lazy_pattern(r"^\s*>")
_ITEM = lazy_pattern(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = lazy_pattern(r"^\s*#{1,5}\s+")
_TAG = lazy_pattern(r"^\s*</?[a-zA-Z][\w-]*(?:\s[^>]*)?/?>", re.MULTILINE)
_FRONT_MATTER = lazy_pattern(r"\A\s*---\s*\n[\w-]+:")
# Prompts that editors and collections of commands write in the user's place.
_KNOWN_TEMPLATES = lazy_pattern(
    r"\AFor the code present, we get this |\A@agent \S+: |\AYou must fully embody this agent's persona|"
    r"\A(?:Fix this bug|Address the following|The user (?:opened|ran|invoked))\b.{0,40}\n|"
    r"\AThis session is being continued from|\A#? ?/[a-z][\w:-]+(?:\s|\Z)"
)
_SENTENCES = lazy_pattern(
    r"(?:(?<=\w\w)|(?<=[`)\]\"'*]))(?<!\bvs)(?<!\betc)(?<!e\.g)(?<!i\.e) ?[.!?]+\s+(?=\S)|(?<=[。！？；])|"
    r"(?<=\s-\w[.!?])\s+"
)
_MARKS = lazy_pattern(r"\*\*|__|^#+\s+")
_LOG_LINE = lazy_pattern(
    r"^\s*(?:at |File \"|\[?\d{2,4}[-:/]\d|[$>#❯%]\s|//|[-+]{3}\s|\w+:\d+|\W{4,}|[\w./\\-]+[:(]\d+[:,)])|[{};]\s*$|"
    r"[│┃━⚠✅❌→]|:\d+:\d+|^\s*</?\w+[^>]*>\s*$|\b(?:[A-Z]{2,4}\d{3,5}|\w+:S\d{3,5})\b"
)
_PROSE = 0.6
"""The share of a sentence that is letters and spaces; code has less."""
_FEWEST_WORDS = 3
_ANSWER_ENDS = lazy_pattern(
    r"\" selected preview:|\"?\. (?:You can now continue|Read the answers)|User has answered your"
)
_SAID_WITH_REFUSAL = lazy_pattern(r"the user said:\s*(.+)", re.DOTALL)

_NAMES_A_THING = lazy_pattern(
    r"`[^`\s][^`]*`|(?<![\w-])--?[a-z][\w-]*|\b[\w.-]*\w/[\w./*-]*|\b\w+\.[a-z]{1,5}\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b|"
    r"(?<=[a-z,] )[A-Z]\w+"
)

Stands = Literal["typed", "document", "fence", "template"]


class Statement(NamedTuple):
    """One sentence or list item of the user's."""

    message: int
    text: str
    first: bool = False
    """It belongs to the session's first request: a task, not a reaction."""
    stopped: bool = False
    """The user had just stopped the agent or refused what it wanted to do."""
    refused: str = ""
    """The command that the user refused to have run."""
    item: bool = False
    nth: int = 0
    """Which of its message's statements it is."""
    length: int = 0
    """How many characters its message has."""
    stands: Stands = "typed"
    """In what a person typed, in a longer text, in a fence, or in what a program or a file wrote."""
    under: str = ""
    """The heading, or the line ending with a colon, that it stands under."""
    chosen: bool = False
    """It answers a question that the agent put."""


def is_of_a_length(text: str, longest: int = LONGEST_SENTENCE) -> bool:
    """A sentence where a character is a word may be half as long."""
    return (SHORTEST_SENTENCE if text.isascii() else SHORTEST_SENTENCE // 2) <= len(text) <= longest


def specific(sentence: str) -> bool:
    """It names a file, a flag, a command or a symbol."""
    return bool(_NAMES_A_THING.search(sentence))


def statements(session: Session) -> Iterator[Statement]:
    """Every sentence and list item that a person typed, whatever it is worth."""
    if session.subagent or session.format in NOBODY_TYPES:
        return
    calls = [call for message in session.messages for call in message.calls]
    ran = {call.id: call.command for call in calls if call.command}
    asked = {call.id for call in calls if call.name in ASKING_TOOLS}
    first, stopped, refused = True, False, ""
    for index, message in enumerate(session.messages):
        said = Statement(index, "", first=first, stopped=stopped, refused=refused)
        if message.origin == "user" and message.text.strip():
            yield from split(message.text, said)
            first = False
        refusals = [result for result in message.results if result.evidence == "rejected"] if message.results else []
        for result in refusals:
            told = _SAID_WITH_REFUSAL.search(result.text)
            yield from split(told[1], Statement(index, "", stopped=True)) if told else ()
        if asked and message.results:
            for result in message.results:
                if result.call_id in asked and result.outcome == "ok":
                    yield from split(_ANSWER_ENDS.split(result.text)[0], Statement(index, "", chosen=True))
        goes_on = message.role != "assistant" and message.origin != "user"
        stopped = _was_stopped(message) or (stopped and goes_on)
        if refusals:
            refused = next((ran[one.call_id] for one in refusals if one.call_id in ran), refused if goes_on else "")
        elif not goes_on:
            refused = ""


def _was_stopped(message: Message) -> bool:
    refused = any(result.evidence in ("rejected", "interrupted") for result in message.results)
    return refused or message.text == INTERRUPTED


def split(text: str, of: Statement) -> Iterator[Statement]:
    """The statements of one message; `of` has what they have in common."""
    text = text[:_CHARACTERS_PER_MESSAGE]
    whole: Stands = "template" if _is_template(text) else "document" if _is_document(text) else "typed"
    fenced, under, nth = False, "", 0
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if _QUOTED.match(line) or not line.strip():
            continue
        heading, item = _HEADING.match(line), _ITEM.match(line)
        bare = " ".join(_MARKS.sub("", _ITEM.sub("", line)).split())
        if heading or (bare.endswith(":") and not item):
            under = bare.rstrip(": ")
        stands: Stands = "fence" if fenced and whole != "template" else whole
        for sentence in _in_line(bare):
            if nth >= _STATEMENTS_PER_MESSAGE:
                return
            above = under if item and under != sentence.rstrip(": ") else ""
            yield of._replace(text=sentence, item=bool(item), nth=nth, length=len(text), stands=stands, under=above)
            nth += 1


def _is_document(text: str) -> bool:
    """Longer than people type: what of it are the user's own words cannot be told."""
    return len(text) > _CHARACTERS_A_PERSON_TYPES


def _is_template(text: str) -> bool:
    """A file or a program wrote it: it has headings or tags, or begins as such prompts do."""
    marks = sum(1 for _ in _TAG.finditer(text)), sum(1 for _ in _HEADING_LINE.finditer(text))
    return bool(_FRONT_MATTER.match(text) or _KNOWN_TEMPLATES.match(text)) or max(marks) >= _HEADINGS_OF_A_DOCUMENT


_HEADING_LINE = lazy_pattern(r"^\s*#{1,5}\s+\w", re.MULTILINE)


def _in_line(line: str) -> Iterator[str]:
    at = 0
    cuts = [(found.start() + len(found[0].rstrip()), found.end()) for found in _SENTENCES.finditer(line)]
    for end, start in [*cuts, (len(line), len(line))]:
        sentence = line[at:end].strip()
        at = start
        if is_of_a_length(sentence) and not _LOG_LINE.search(sentence) and _is_prose(sentence):
            yield sentence


def _is_prose(sentence: str) -> bool:
    if not sentence.isascii():
        return True
    letters = sum(sign.isalpha() or sign.isspace() for sign in sentence)
    words = sum(len(word) > 1 for word in sentence.split())
    return letters > _PROSE * len(sentence) and words >= _FEWEST_WORDS
