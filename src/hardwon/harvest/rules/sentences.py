"""What the user typed, sentence by sentence, and what a sentence is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from hardwon.harvest.rules.lesson_rule import lazy_pattern
from hardwon.model.session import Message, Session
from hardwon.sessions.origin import INTERRUPTED

# What the user typed, sentence by sentence, without what was only pasted or is about the moment.

SHORTEST_SENTENCE, LONGEST_SENTENCE = 8, 280
_CHARACTERS_A_PERSON_TYPES = 2_000
_ITEMS_A_PERSON_TYPES = 5
# Trajectories: a harness or another model speaks in the user's place.
NOBODY_TYPES = frozenset(("swe-agent", "openhands", "openai-chat", "sharegpt", "atif"))
ASKING_TOOLS = frozenset(("AskUserQuestion", "ask_user_question", "question"))
"""Tools by which an agent puts a question to the user: what comes back are the user's words."""
_QUOTED_BLOCKS = lazy_pattern(r"```.*?(?:```|\Z)|^\s*>.*$", re.DOTALL | re.MULTILINE)
_ITEM = lazy_pattern(r"^\s*(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)
_SENTENCES = lazy_pattern(
    r"(?<=[.!?])\s+(?=[A-Z\"'`])|(?<=[a-z`)\]]{2}[.!?])(?<!\bvs\.)(?<!\betc\.)(?<!e\.g\.)(?<!i\.e\.)\s+|"
    r"(?<=\s-\w[.!?])\s+|(?<=[。！？；])|\n+"
)
_LOG_LINE = lazy_pattern(
    r"^\s*(?:at |File \"|\[?\d{2,4}[-:/]|[$>#❯%]\s|//|[-+]{3}\s|\w+:\d+|\W{4,}|[\w./-]+:\d+:)|[{}]\s*$|"
    r"[│┃━⚠✅❌•→]|:\d+:\d+"
)
_AND_ASKS = lazy_pattern(r"(?<=\w{4}),\s+(?:what|why|how|where|who)\s+\w+[^,?]{4,}\?\W*$", re.IGNORECASE)
"""A question hung on to a statement: what was stated stands without it."""
_ANSWER_ENDS = lazy_pattern(
    r"\" selected preview:|\"?\. (?:You can now continue|Read the answers)|User has answered your"
)
_SAID_WITH_REFUSAL = lazy_pattern(r"the user said:\s*(.+)", re.DOTALL)


def is_of_a_length(text: str, longest: int = LONGEST_SENTENCE) -> bool:
    """A sentence where a character is a word may be half as long."""
    return (SHORTEST_SENTENCE if text.isascii() else SHORTEST_SENTENCE // 2) <= len(text) <= longest


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
    if len(typed) > _CHARACTERS_A_PERSON_TYPES or len(_ITEM.findall(typed)) > _ITEMS_A_PERSON_TYPES:
        return  # a document or a prompt from a file: what of it are the user's own words cannot be told
    for part in _SENTENCES.split(typed):
        sentence = _AND_ASKS.sub("", " ".join(part.split()))
        if is_of_a_length(sentence) and not _LOG_LINE.search(sentence):
            yield Statement(index, sentence, first, stopped, refused)


# What a sentence is made of: whether it outlasts the moment, what it names, and how it reads as a lesson.

_QUESTION = lazy_pattern(
    r"[?？]\W*$|^(?:(?:should|could|can|would|do|does|did|is|are)\s+(?:it|I|we|you|they|there|this|that|the|any|our|he|"
    r"she)\b|(?:why|what|how|where|which)\b|when (?:is|are|was|were|do|does|did|will|should|can)\b)",
    re.IGNORECASE,
)
_ABOUT_THE_MOMENT = lazy_pattern(
    r"\b(?:(?:we|you|I) just|for now|this time|right now|just once|today|never ?mind|for the moment|yet|"
    r"this morning|(?<!n't )(?<!never )(?:try|run|do|look|read|check|fix|test|it|that|this|still \w+) again|once more|"
    r"(?:on |at )?lines? \d+|(?:for |on |no )#?\d+|#\d+|(?:issues?|items?|obs|findings?|improvements?|options?|"
    r"points?|steps?|phase|"
    r"tasks?|PR|MIP|table|figure) #?\d+|"
    r"(?:in|for|of|on|to|from) (?:these|those)|(?:branche?|rama) `?[\w.]+[/-][\w/-]+|"
    r"this (?:test|function|method|branch|commit|change|task|session|line|error|bug))\b|^\d+[.)]\s|^for \d",
    re.IGNORECASE,
)
_ITEM_LEAD = lazy_pattern(r"^(?:for|on|re|as for) #?\d+[,:]\s+", re.IGNORECASE)
_POINTS_BACK = lazy_pattern(r"\b(?:it|this|that|them|those|these)\W*$", re.IGNORECASE)
_NAMES_A_THING = lazy_pattern(
    r"`[^`\s][^`]*`|(?<![\w-])--?[a-z][\w-]*|\b[\w.-]*\w/[\w./*-]*|\b\w+\.[a-z]{1,5}\b(?!\.)|\b\w+_\w+\b|"
    r"\b[a-z]+[A-Z]\w*\b|"
    r"\b[A-Z][a-z]+[A-Z]\w*\b|\b\w+\(\)|\.{1,2}/\w[\w.-]*|\.\w[\w.]+\b|\b[A-Z]{2,}[A-Z0-9_-]*\b"
)
_SHOUTED = frozenset(
    "NOT NEVER ALWAYS ONLY ALL ANY NO YES MUST AND OR DO DONT THE WHOLE THIS THAT OK BUT IS ARE WE".split()
)
_TOOLS = lazy_pattern(
    r"\b(?:uv|pip|github|gitlab|npm|pnpm|yarn|bun|cargo|git|(?-i:Go)|go (?:test|build|mod|vet|run|generate|fmt)|"
    r"make (?:tests?|build|lint|fmt|format|check|install|dev|run|clean|release|deploy|docs|proto)|docker|podman|"
    r"pytest|ruff|mypy|eslint|prettier|tsc|gradle|maven|"
    r"poetry|kubectl|terraform|helm|linter|lint|node|deno|vitest|jest|sqlite|postgres(?:ql)?|redis|mysql|"
    r"staging|production|"
    r"Python|Rust|TypeScript|JavaScript|Kotlin|Swift|indent(?:ation)?|spaces|tabs|timezone|UTC|"
    r"commits?|push|branch|rebase|tests?|suite|migrations?|database|schema|README|changelog|imports?|mocks?|deploy|CI|"
    r"sudo|brew|apt|vim|tmux|ssh|cmake|bazel|nix|webpack|vite|rollup|biome|black|isort|alembic|django|flask|"
    r"(?-i:React|Redux)|"
    r"(?:to|on|into|from) (?:main|master|develop))\b",
    re.IGNORECASE,
)
# Practices that a person has opinions about although nothing in them has a name.
_PRACTICES = lazy_pattern(
    r"\b(?:comments?|emojis?|docstrings?|type (?:hints?|annotations?)|logging|console ?logs?|log (?:lines?|messages?)|"
    r"dependenc(?:y|ies)|packages?|markdown files?|docs?|documentation|backwards?[- ]compat\w*|abstractions?|wrappers?|"
    r"globals?|global variables?|singletons?|inline (?:styles?|css|imports?)|magic numbers?|hard-?coded \w+|"
    r"feature flags?|(?:sub-?)?agents|skills|MCPs?|worktrees?|stash|force[- ]push\w*|pull requests?|PRs?|"
    r"merge commits?|fixtures?|snapshots?|"
    r"secrets?|credentials?|env(?:ironment)? (?:vars?|variables?)|co-?author\w*|summar(?:y|ies)|"
    r"generated (?:files?|code)|lock ?files?|stack traces?|error messages?|exceptions?|try/?(?:catch|except)|"
    r"type ?(?:checks?|casts?)|"
    r"default exports?|barrel files?|class components?|enums?|interfaces?|DRY|linting|formatting|the linter|"
    r"dev server|build step|whole (?:project|suite)|full (?:suite|build))\b",
    re.IGNORECASE,
)
_BESIDE_CJK = lazy_pattern(
    r"(?<=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])(?=[\w`./-])(?<![A-Za-z0-9])(?=[A-Za-z0-9`./-])|"
    r"(?<=[A-Za-z0-9`])(?=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])"
)
_FILLER = lazy_pattern(
    r"^(?:(?:please\s+(?=\w)|and (?=yeah|yes|ok|no\b)|just (?=(?:use|run|change|put)\b))|(?:no+|nope|stop|wait|"
    r"ok(?:ay)?|k|so|and|"
    r"also|but|well|yeah|yes|yup|um+|hm+|omfg|wtf|dude|man|my dude|"
    r"please|for the record|remember|important|note|actually|ah+|alright)(?:\s+(?:man|dude))?(?:[,.:;!…—–-]+\s*|"
    r"\s+(?=(?:don't|do not|always|never|use|we|for|when|if|let's|please)\b)|$))+",
    re.IGNORECASE,
)
_INVARIANT = lazy_pattern(r"^.*\bthe (?:invariant|rule) that\s+(?=\w)", re.IGNORECASE)
_REMEMBER = lazy_pattern(
    r"^(?:and |also |please )*(?:(?:remember|keep in mind|bear in mind)(?: that|[:,])|don['’]?t forget(?: that|"
    r"[:,]))\s+",
    re.IGNORECASE,
)
_WHY_THAT = lazy_pattern(r"^.{0,60}\bwhy\s*\?+\s+(?:just )?(?=use\b)", re.IGNORECASE)
_AND_SO = lazy_pattern(r",?\s+so (?!that\b|far\b|much\b|many\b|on\b)\w+.*$", re.IGNORECASE)
_AND_THAT = lazy_pattern(
    r",?\s+(?:and|so|but) (?:this|that|it|you|we)(?:['’]ll|['’]d| will| would| may| might|"
    r" should)\b.*$",
    re.IGNORECASE,
)
_IDENTIFIER = lazy_pattern(r"`|[a-z]\w*(?:_\w|[A-Z]|[./(]\w)")
_SHORTEST_FACT = 16
_CARELESS = frozenset(
    "dont doesnt didnt isnt arent wasnt werent wouldnt shouldnt couldnt mustnt hasnt havent cant wont lets".split()
)
_NO_APOSTROPHE = lazy_pattern(rf"\b(?:{'|'.join(_CARELESS)})\b", re.IGNORECASE)
_ASKING = ("lease ", "pls ", "an you ", "ould you ")
_AND_REQUEST = lazy_pattern(r"[,;]?\s+(?:so |and )?(?:please|pls|(?:can|could) you)\s+[a-z]+\b.*$", re.IGNORECASE)
_SPACES_BEFORE_A_REQUEST = 3
_INTENSIFIER = lazy_pattern(r"\b(?:fucking|damn|bloody)\s+", re.IGNORECASE)


@lru_cache(maxsize=512)
def spelled(sentence: str) -> str:
    """As it would be written with care: apostrophes where they belong, and without the request hung on to it."""
    if not _CARELESS.isdisjoint(sentence.lower().split()):
        sentence = _NO_APOSTROPHE.sub(_with_apostrophe, sentence)
    asked = _AND_REQUEST.search(sentence) if any(word in sentence for word in _ASKING) else None
    is_apart = asked is not None and sentence.count(" ", 0, asked.start()) >= _SPACES_BEFORE_A_REQUEST
    return sentence[: asked.start()] if asked and is_apart else sentence


def _with_apostrophe(word: re.Match[str]) -> str:
    return word[0][:-1] + "'" + word[0][-1]


def lasting(sentence: str, *, by_itself: bool = True) -> bool:
    """It says something for more than now, and, where asked for, does not end with a word for something before it."""
    sentence = _ITEM_LEAD.sub("", sentence)
    if _QUESTION.search(sentence) or _ABOUT_THE_MOMENT.search(sentence):
        return False
    return not (by_itself and _POINTS_BACK.search(sentence))


def specific(sentence: str) -> bool:
    """It names a file, a flag, a command, a tool or a symbol."""
    if not sentence.isascii():
        sentence = _BESIDE_CJK.sub(" ", sentence)  # where words are written together, names stand in their midst
    return bool(_TOOLS.search(sentence)) or any(
        found[0].strip("`") not in _SHOUTED for found in _NAMES_A_THING.finditer(sentence)
    )


def practice(sentence: str) -> bool:
    """It speaks of something that is done or left out throughout a project."""
    return bool(_PRACTICES.search(sentence))


def fact(sentence: str) -> str:
    """As a lesson tells it that says what is: without what follows from it at the moment."""
    short = _AND_SO.sub("", _AND_THAT.sub("", sentence))
    return plain(short if len(short) >= _SHORTEST_FACT else sentence)


def plain(sentence: str) -> str:
    """As a lesson says it: without the exclamations around it."""
    bare = _FILLER.sub("", _INVARIANT.sub("", spelled(_ITEM_LEAD.sub("", sentence))))
    bare = _INTENSIFIER.sub("", bare).strip()
    bare = _WHY_THAT.sub("", _REMEMBER.sub("", bare))
    text = (bare or sentence).rstrip(" …")
    text = text[0].upper() + text[1:] if not _IDENTIFIER.match(text) else text
    return text if text.endswith((".", "!", "。", "！")) else text.rstrip(",;:") + "."
