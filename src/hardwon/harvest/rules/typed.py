"""What the user typed, sentence by sentence, without what was only pasted or is about the moment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hardwon.harvest.rules import lazily
from hardwon.model.session import Message, Session
from hardwon.sessions.origin import INTERRUPTED

SHORTEST, LONGEST = 8, 280
_LONGEST_TYPED = 2_000
_MOST_ITEMS = 5
# Trajectories: a harness or another model speaks in the user's place.
NOBODY_TYPES = frozenset(("swe-agent", "openhands", "openai-chat", "sharegpt", "atif"))
ASKING_TOOLS = frozenset(("AskUserQuestion", "ask_user_question", "question"))
"""Tools by which an agent puts a question to the user: what comes back are the user's words."""
_QUOTED_BLOCKS = lazily.pattern(r"```.*?(?:```|\Z)|^\s*>.*$", re.DOTALL | re.MULTILINE)
_ITEM = lazily.pattern(r"^\s*(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)
_SENTENCES = lazily.pattern(
    r"(?<=[.!?])\s+(?=[A-Z\"'`])|(?<=[a-z`)\]]{2}[.!?])(?<!\bvs\.)(?<!\betc\.)(?<!e\.g\.)(?<!i\.e\.)\s+|"
    r"(?<=\s-\w[.!?])\s+|(?<=[。！？；])|\n+"
)
_LOG_LINE = lazily.pattern(
    r"^\s*(?:at |File \"|\[?\d{2,4}[-:/]|[$>#❯%]\s|//|[-+]{3}\s|\w+:\d+|\W{4,}|[\w./-]+:\d+:)|[{}]\s*$|"
    r"[│┃━⚠✅❌•→]|:\d+:\d+"
)
_AND_ASKS = lazily.pattern(r"(?<=\w{4}),\s+(?:what|why|how|where|who)\s+\w+[^,?]{4,}\?\W*$", re.IGNORECASE)
"""A question hung on to a statement: what was stated stands without it."""
_ANSWER_ENDS = lazily.pattern(
    r"\" selected preview:|\"?\. (?:You can now continue|Read the answers)|User has answered your"
)
_SAID_WITH_REFUSAL = lazily.pattern(r"the user said:\s*(.+)", re.DOTALL)


def is_of_a_length(text: str, longest: int = LONGEST) -> bool:
    """A sentence where a character is a word may be half as long."""
    return (SHORTEST if text.isascii() else SHORTEST // 2) <= len(text) <= longest


class Statement(NamedTuple):
    """One sentence of the user's."""

    message: int
    text: str
    first: bool
    """It belongs to the session's first request: a task, not a reaction."""
    stopped: bool
    """The user had just stopped the agent or refused what it wanted to do."""
    refused: str = ""
    """The command that the user refused to have run."""


def statements(session: Session) -> Iterator[Statement]:
    """Every sentence that a person typed and that can stand alone."""
    if session.subagent or session.format in NOBODY_TYPES:
        return
    calls = [call for message in session.messages for call in message.calls]
    ran = {call.id: call.command for call in calls if call.command}
    asked = {call.id for call in calls if call.name in ASKING_TOOLS}
    first, stopped, refused = True, False, ""
    for index, message in enumerate(session.messages):
        if message.origin == "user":
            yield from _sentences(index, message.text, first=first, stopped=stopped, refused=refused)
            first = False
        refusals = [result for result in message.results if result.evidence == "rejected"] if message.results else []
        for result in refusals:
            said = _SAID_WITH_REFUSAL.search(result.text)
            yield from _sentences(index, said[1], first=False, stopped=True) if said else ()
        if asked and message.results:
            for result in message.results:
                if result.call_id in asked and result.outcome == "ok":
                    yield from _sentences(index, _ANSWER_ENDS.split(result.text)[0], first=False, stopped=False)
        goes_on = message.role != "assistant" and message.origin != "user"
        stopped = _was_stopped(message) or (stopped and goes_on)
        if refusals:
            refused = next((ran[one.call_id] for one in refusals if one.call_id in ran), refused if goes_on else "")
        elif not goes_on:
            refused = ""


def _was_stopped(message: Message) -> bool:
    if not message.results:
        return message.text == INTERRUPTED
    return any(result.evidence in ("rejected", "interrupted") for result in message.results) or (
        message.text == INTERRUPTED
    )


def _sentences(index: int, text: str, *, first: bool, stopped: bool, refused: str = "") -> Iterator[Statement]:
    typed = _QUOTED_BLOCKS.sub("\n", text)
    if len(typed) > _LONGEST_TYPED or len(_ITEM.findall(typed)) > _MOST_ITEMS:
        return  # a document or a prompt from a file: what of it are the user's own words cannot be told
    for part in _SENTENCES.split(typed):
        sentence = _AND_ASKS.sub("", " ".join(part.split()))
        if is_of_a_length(sentence) and not _LOG_LINE.search(sentence):
            yield Statement(index, sentence, first, stopped, refused)
