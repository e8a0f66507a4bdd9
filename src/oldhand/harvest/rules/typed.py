"""What the user typed, sentence by sentence, without what was only pasted or is about the moment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from oldhand.model.session import Message, Session
from oldhand.sessions.origin import INTERRUPTED

SHORTEST, LONGEST = 8, 280
_LONGEST_TYPED = 2_000
_MOST_ITEMS = 5
# Trajectories: a harness or another model speaks in the user's place.
NOBODY_TYPES = frozenset(("swe-agent", "openhands", "openai-chat", "sharegpt", "atif"))
_QUOTED_BLOCKS = re.compile(r"```.*?(?:```|\Z)|^\s*>.*$", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)
_SENTENCES = re.compile(
    r"(?<=[.!?])\s+(?=[A-Z\"'`])|(?<=[a-z`)\]]{2}[.!?])(?<!\bvs\.)(?<!\betc\.)(?<!e\.g\.)(?<!i\.e\.)\s+|"
    r"(?<=\s-\w[.!?])\s+|\n+"
)
_LOG_LINE = re.compile(
    r"^\s*(?:at |File \"|\[?\d{2,4}[-:/]|[$>#❯%]\s|//|[-+]{3}\s|\w+:\d+|\W{4,}|[\w./-]+:\d+:)|[{}]\s*$|"
    r"[│┃━⚠✅❌•→]|:\d+:\d+"
)
_QUESTION = re.compile(
    r"\?\W*$|^(?:should|could|can|would|do|does|did|is|are|why|what|how|when|where|which)\b", re.IGNORECASE
)
_ABOUT_THE_MOMENT = re.compile(
    r"\b(?:(?:we|you|I) just|for now|this time|right now|just once|today|never ?mind|for the moment|yet|"
    r"this morning|again|"
    r"(?:on |at )?lines? \d+|(?:for |on |no )#?\d+|#\d+|(?:issues?|items?|obs|findings?|improvements?|options?|"
    r"points?|steps?|phase|"
    r"tasks?|PR|MIP|table|figure) #?\d+)\b|^\d+[.)]\s|^for \d",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"\b(?:it|this|that|them|those|these)\W*$", re.IGNORECASE)
_SAID_WITH_REFUSAL = re.compile(r"the user said:\s*(.+)", re.DOTALL)
_NAMES_A_THING = re.compile(
    r"`[^`\s][^`]*`|(?<![\w-])--?[a-z][\w-]*|\b[\w.-]*\w/[\w./*-]+|\b\w+\.[a-z]{1,5}\b(?!\.)|\b\w+_\w+\b|"
    r"\b[a-z]+[A-Z]\w*\b|"
    r"\b[A-Z][a-z]+[A-Z]\w*\b|\b\w+\(\)|\.\w[\w.]+\b|\b[A-Z]{2,}[A-Z0-9_-]*\b"
)
_SHOUTED = frozenset(
    "NOT NEVER ALWAYS ONLY ALL ANY NO YES MUST AND OR DO DONT THE WHOLE THIS THAT OK BUT IS ARE WE".split()
)
_TOOLS = re.compile(
    r"\b(?:uv|pip|npm|pnpm|yarn|bun|cargo|go|git|make|docker|podman|pytest|ruff|mypy|eslint|prettier|tsc|gradle|maven|"
    r"poetry|kubectl|terraform|helm|linter|lint|node|deno|vitest|jest|sqlite|postgres(?:ql)?|redis|mysql|"
    r"staging|production|"
    r"Python|Rust|TypeScript|JavaScript|Kotlin|Swift|indent(?:ation)?|spaces|tabs|timezone|UTC|"
    r"commits?|push|branch|rebase|tests?|suite|migrations?|database|schema|README|changelog|imports?|mocks?|deploy|CI|"
    r"sudo|brew|apt|vim|tmux|ssh|cmake|bazel|nix|webpack|vite|rollup|biome|black|isort|alembic|django|flask|react)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:(?:no+|nope|stop|wait|ok(?:ay)?|k|so|and|also|but|well|yeah|yes|yup|um+|hm+|omfg|wtf|dude|man|my dude|"
    r"please|for the record|remember|important|note|actually|ah+|alright)(?:\s+(?:man|dude))?(?:[,.:;!…—–-]+\s*|"
    r"\s+(?=(?:don't|do not|always|never|use|we)\b)|$))+",
    re.IGNORECASE,
)
_INVARIANT = re.compile(r"^.*\bthe (?:invariant|rule) that\s+(?=\w)", re.IGNORECASE)
_INTENSIFIER = re.compile(r"\b(?:fucking|damn|bloody)\s+", re.IGNORECASE)


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
    ran = {call.id: call.command for message in session.messages for call in message.calls if call.command}
    first, stopped, refused = True, False, ""
    for index, message in enumerate(session.messages):
        if message.origin == "user":
            yield from _sentences(index, message.text, first=first, stopped=stopped, refused=refused)
            first = False
        refusals = [result for result in message.results if result.evidence == "rejected"]
        for result in refusals:
            said = _SAID_WITH_REFUSAL.search(result.text)
            yield from _sentences(index, said[1], first=False, stopped=True) if said else ()
        goes_on = message.role != "assistant" and message.origin != "user"
        stopped = _was_stopped(message) or (stopped and goes_on)
        refused = next((ran[one.call_id] for one in refusals if one.call_id in ran), refused if goes_on else "")


def _was_stopped(message: Message) -> bool:
    return message.text == INTERRUPTED or any(
        result.evidence in ("rejected", "interrupted") for result in message.results
    )


def _sentences(index: int, text: str, *, first: bool, stopped: bool, refused: str = "") -> Iterator[Statement]:
    typed = _QUOTED_BLOCKS.sub("\n", text)
    if len(typed) > _LONGEST_TYPED or len(_ITEM.findall(typed)) > _MOST_ITEMS:
        return  # a document or a prompt from a file: what of it are the user's own words cannot be told
    for part in _SENTENCES.split(typed):
        sentence = " ".join(part.split())
        if SHORTEST <= len(sentence) <= LONGEST and not _LOG_LINE.search(sentence):
            yield Statement(index, sentence, first, stopped, refused)


def lasting(sentence: str) -> bool:
    """It says something by itself, and not only for now."""
    return not (_QUESTION.search(sentence) or _ABOUT_THE_MOMENT.search(sentence) or _POINTS_BACK.search(sentence))


def specific(sentence: str) -> bool:
    """It names a file, a flag, a command, a tool or a symbol."""
    return bool(_TOOLS.search(sentence)) or any(
        found[0].strip("`") not in _SHOUTED for found in _NAMES_A_THING.finditer(sentence)
    )


def plain(sentence: str) -> str:
    """As a lesson says it: without the exclamations around it."""
    bare = _INTENSIFIER.sub("", _FILLER.sub("", _INVARIANT.sub("", sentence))).strip()
    text = (bare or sentence).rstrip(" …")
    text = text[0].upper() + text[1:] if not text.startswith("`") else text
    return text if text.endswith((".", "!")) else text.rstrip(",;:") + "."
