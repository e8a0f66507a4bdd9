"""Which sentences that a person typed lay something down: their cues, and what must not stand in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from hardwon.model.lesson import Kind
from hardwon.model.session import Message, Session
from hardwon.sessions.origin import INTERRUPTED
from hardwon.text.lazy_pattern import lazy_pattern

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
_MIN_FACT_CHARACTERS = 16
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
    return plain(short if len(short) >= _MIN_FACT_CHARACTERS else sentence)


def plain(sentence: str) -> str:
    """As a lesson says it: without the exclamations around it."""
    bare = _FILLER.sub("", _INVARIANT.sub("", spelled(_ITEM_LEAD.sub("", sentence))))
    bare = _INTENSIFIER.sub("", bare).strip()
    bare = _WHY_THAT.sub("", _REMEMBER.sub("", bare))
    text = (bare or sentence).rstrip(" …")
    text = text[0].upper() + text[1:] if not _IDENTIFIER.match(text) else text
    return text if text.endswith((".", "!", "。", "！")) else text.rstrip(",;:") + "."


# The phrases by which a person lays something down: a table of those that real sessions were seen to hold.

_LEAD = lazy_pattern(
    r"(?:(?:and|also|please|pls|ok(?:ay)?|okey|so|but|no+|nope|btw|hey|oh|omfg|dude|man|yes|yeah|then|just|fyi|well|"
    r"actually|lastly|finally|additionally|plus|furthermore|"
    r"for the record|one more thing|in (?:this|our) (?:project|repo|repository|codebase))[,:!.]*\s+|"
    r"(?:stop|wait|again|important|note|reminder)[,:!.]+\s+)*(?:(?:can|could|would|will) you (?:please )?)?",
    re.IGNORECASE,
)
_NOT = r"(?:don['’]?t|do not|never|no need to|avoid|must not|mustn['’]t|should not|shouldn['’]t)"
# What an object is that stands before the speaker's eyes, and not a kind of thing.
_AT_HAND = r"(?!\s+(?:the|this|that|it|its|them|these|those|my|your|me|us|here|so|to|anything|all that)\b)"
_WORK = (
    r"(?:us|add|commit|push|creat|writ|run|edit|touch|modif|chang|delet|remov|install|mock|import|hard-?cod|skip|"
    r"disabl|renam|refactor|reformat|format|generat|put|includ|introduc|bypass|rely|call|log|catch|swallow|merg|rebas|"
    r"amend|squash|deploy|publish|releas|upgrad|bump|start|restart|kill|stag|stash|test|comment|document|inlin|nest|"
    r"copy|duplicat|wrap|return|throw|rais|print|stor|cach|pin|vendor)(?:e|es|ed|ing|y|ying|ting|ning|ging|ping|s)?"
)
_STANDING_THING = (
    r"\s+(?:to |in |into |on |up )?(?:the |any |anything (?:in|under) )(?:\S+ ){0,2}(?:full|whole|entire|"
    r"generated|vendor(?:ed)?|lock|"
    r"lockfiles?|migrations?|schema|production|prod|staging|main|master|CI|changelog|README|database|submodules?|"
    r"\S*\w/\S*|\.\w+ files?|(?:\w+ )?(?:files|folders|branches|secrets|keys|assets|dependencies|fixtures))\b"
)
_WHENEVER = (
    r"(?:commit|push|merg|releas|deploy|chang|edit|add|creat|modif|touch|writ|updat|bump|renam|mov|delet|remov|"
    r"introduc|upgrad|regenerat|open|start|run|edit|refactor|fix|pull|rebas|publish|tag)\w*"
)
_THEN = (
    r"(?:always |also |please |then |you (?:must|should|need to|have to) |we (?:must|should|need to|have to) |"
    r"make sure (?:to |you |that )?|remember to |do(?:n['’]t| not) |never )*"
    r"(?:run|updat|add|us|check|bump|regenerat|rebuild|restart|ask|tell|re-?run|writ|keep|put|edit|sync|format|lint|"
    r"test|commit|push|creat|includ|do(?:n['’]t| not)|never)\w*"
)
_PLACES = (
    r"docker|podman|(?:dev)?containers?|vms?|virtual machine|wsl2?|kubernetes|k8s|ssh(?: session)?|windows|mac(?:os|"
    r" os)?|"
    r"linux|ubuntu|debian|fedora|arch|nixos|alpine|raspberry pi|aws|gcp|azure|vercel|netlify|heroku|cloudflare|"
    r"codespaces?|"
    r"sandbox|headless|vpn|proxy|nix(?:-shell)?|dev ?shell|conda|virtualenv|venv|colab|lambda|ec2|cluster|server|"
    r"remote (?:machine|host|server)|emulator|simulator"
)
_ANY_KIND = (
    "new|nice|great|good|bad|big|small|simple|different|separate|single|whole|very|really|part|bit|list|kind|known"
)


class Cue(NamedTuple):
    """A phrase by which a person lays something down, and what it is worth."""

    rule: str
    kind: Kind
    confidence: float
    pattern: re.Pattern[str]
    standing: bool = True
    """It holds where it is said in the first request too; another is part of that task."""
    names: bool = True
    """It must name a file, a flag, a command, a tool or a practice."""


def cue(rule: str, kind: Kind, confidence: float, pattern: str, *, standing: bool = True, names: bool = True) -> Cue:
    return Cue(f"user-{rule}", kind, confidence, lazy_pattern(pattern, re.IGNORECASE), standing, names)


def cued(said: str) -> tuple[Cue, re.Match[str]] | None:
    """The first cue that a sentence has, and where."""
    return next(((one, hit) for one in CUES if (hit := one.pattern.search(said)) is not None), None)


def without_lead(sentence: str) -> str:
    """What is said, without the words that only lead up to it: cues look for how it begins."""
    found = _LEAD.match(sentence)
    return sentence[found.end() :] if found else sentence


CUES: tuple[Cue, ...] = (
    cue("directive", "preference", 0.9, r"^(?:always|never)\s+(?!mind|been|was|had|seen|works?\b|worked)\w+"),
    cue(
        "directive",
        "preference",
        0.9,
        r"\b(?:you|we|agents?|everyone|all \w+|every \w+)\s+(?:should|must|need to|have to)\s+(?:always|never)\b",
    ),
    cue(
        "directive",
        "preference",
        0.85,
        r"(?:^|[,;:]\s+|\b(?:let['’]s|please|and|should|must|will)\s+|^(?:when|whenever|if|before|after|"
        r"once)\b.{3,90}?\s)"
        r"(?:always|never)\s+(?!been?\b|had\b|was\b|were\b|seen\b|works?\b|worked\b|mind\b|gets?\b|got\b|the\b|an?\b|"
        r"in\b|on\b|"
        r"\w+(?:ed|s)\b)[a-z-]+\b",
    ),
    cue(
        "directive",
        "preference",
        0.9,
        r"^(?:from now on|from here on|going forward|in (?:the )?future|henceforth|for future reference|"
        r"next time|for all future)\b",
    ),
    cue("directive", "preference", 0.9, rf"^{_NOT}\b.{{4,}}\b(?:ever )?again\W*$"),
    cue(
        "permission",
        "preference",
        0.9,
        rf"^{_NOT}\b.{{3,}}\b(?:without (?:asking|checking with|confirming|my (?:ok|permission|approval)|being "
        r"asked|explicit)|unless (?:I|we) (?:say|ask|tell|explicitly|approve|request)|unless (?:explicitly )?(?:asked|"
        r"told|requested|instructed)|until I (?:say|tell|approve|confirm|ask))\b",
        names=False,
    ),
    cue(
        "condition",
        "preference",
        0.85,
        rf"^(?:before|after|when|once|if)\s+(?:you(?:['’]re)?\s+|we\s+|an?\s+\w+\s+)?(?:ever\s+)?{_WHENEVER}"
        + _AT_HAND
        + rf"\b[^,]*,\s*{_THEN}\b.{{3,}}",
    ),
    cue(
        "condition",
        "preference",
        0.85,
        r"^(?:any|every|each)\s+(?:new )?[\w-]+\s+(?:must|needs?(?: to)?|has "
        r"to|should)\b(?! be (?:able|sure))",
    ),
    cue(
        "remember",
        "fact",
        0.9,
        r"^(?:remember|keep in mind|bear in mind|don['’]?t forget)(?:\s+that\b|:|,)"
        r".{16,}",
        names=False,
    ),
    cue("preference", "preference", 0.8, r"^(?:I|we)(?: really| strongly)?\s+(?:dislike|hate|don['’]?t like)\b"),
    cue(
        "house-rule",
        "preference",
        0.75,
        r"\b(?:use|do|follow|call|write|put|match|stick)\b.*\b(?:like|as|the way|same as)\s+we (?:already )?(?:do|did|"
        r"have)\b.*\b(?:everywhere|elsewhere|all (?:the )?other|in (?:the )?other|for (?:the )?other)",
        names=False,
    ),
    cue(
        "house-rule",
        "preference",
        0.75,
        r"\b(?:use|take|try|treat)\b.*\bas the (?:definitive|canonical|"
        r"reference|standard) \w+",
        names=False,
    ),
    cue("prohibition", "preference", 0.7, r"^avoid\s+(?!(?:the|this|that|it|them|these|those)\b)\S", standing=False),
    cue(
        "prohibition",
        "preference",
        0.7,
        rf"^{_NOT}\s+{_WORK}\b(?:{_AT_HAND}|(?={_STANDING_THING}))\s+\S",
        standing=False,
    ),
    cue(
        "permission",
        "preference",
        0.8,
        r"^if you (?:need|want|have|are|think|miss)\b.{3,80},\s+(?:please )?(?:ask|"
        r"tell|let) (?:me|us|for)\b",
        names=False,
    ),
    cue(
        "about-project",
        "fact",
        0.7,
        r"^we (?:currently |already |basically |also |now )?have (?:\d+|two|three|four|five|several|multiple|separate) "
        r"(?:\w+ ){0,2}(?!(?:bugs|errors|issues|problems|options|tests|choices|questions|ways)\b)\w+s\b.{8,}",
        names=False,
    ),
    cue(
        "location",
        "fact",
        0.8,
        r"^(?:the|our|my|all|unit|integration|e2e|end-to-end)\s+(?!(?:error|output|result|issue|bug|example|data|"
        r"problem|screenshot|fix|change|following|file|line|one|log)s?\b)(?:[\w.'’-]+\s+){1,5}?(?:is|are|lives?|sits?|"
        r"resides?|can be found|(?:is|are) (?:located|kept|stored|defined|available|documented|described)|go(?:es)?|"
        r"belongs?)\s+(?:\w+ly )?(?:in|"
        r"at|under|"
        r"inside)\s+(?:the\s+)?(?:`[^`\s]+`|https?://\S+|(?:folder|directory|dir)\s+[\w.-]+|[\w.-]+\s+(?:folder|"
        r"directory)\b|"
        r"@?(?:\.{0,2}/)?[\w.@-]+/[\w./@*-]*|\.{1,2}/[\w.@-]+)",
        names=False,
    ),
    cue(
        "about-project",
        "fact",
        0.75,
        r"(?:^|[,;]\s+)this (?:repo|repository|project|codebase|package|library|app)?\s*is (?:an? |"
        r"still |not an? )?(?:\w+ )?"
        r"(?:monorepo|OSS|open[- ]source|private|public|internal|prototype|library|in dev\w*|pre-?release|fork)\b",
        names=False,
    ),
    cue(
        "about-project",
        "fact",
        0.8,
        rf"^this is (?:an?|my|our) (?!(?:{_ANY_KIND})\b)(?:[\w.+#/-]+ ){{1,3}}(?:project|repo(?:sitory)?|"
        rf"app(?:lication)?|"
        r"codebase|theme|plugin|crate|package|library|monorepo|service|workspace|extension|template)\b",
        names=False,
    ),
    cue(
        "environment",
        "fact",
        0.8,
        rf"^(?:I|we|you)(?:['’]m|['’]re| am| are) (?:still )?on (?:an? |my )?(?:\w+ )?(?:{_PLACES})\b",
        names=False,
    ),
    cue(
        "preference",
        "preference",
        0.85,
        r"用(?:简体|繁體|繁体)?(?:中文|英文|英语|英語)(?:来|來)?(?:回答|回复|回覆|交流|沟通|溝通)",
        names=False,
    ),
)
