"""What a person typed, sentence by sentence and item by item, with what stood around each and how much it sounds like a
rule."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Literal, NamedTuple

from hardwon.model.session import Message, Session
from hardwon.scrub.prefilter import Keywords, scanned
from hardwon.sessions.origin import INTERRUPTED
from hardwon.text import normalise
from hardwon.text.normalise import lazy_pattern

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
    """Every sentence and list item that a person typed, or may have, whatever it is worth."""
    if session.subagent or session.format in NOBODY_TYPES:
        return
    calls = [call for message in session.messages for call in message.calls]
    ran = {call.id: call.command for call in calls if call.command}
    asked = {call.id for call in calls if call.name in ASKING_TOOLS}
    first, stopped, refused = True, False, ""
    for index, message in enumerate(session.messages):
        said = Statement(index, "", first=first, stopped=stopped, refused=refused)
        if (message.origin == "user" or message.unsure) and message.text.strip():
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


_LETTERS_AND_SPACES = bytes(code for code in range(0x80) if chr(code).isalpha() or chr(code).isspace())


def _is_prose(sentence: str) -> bool:
    if not sentence.isascii():
        return True
    letters = len(sentence) - len(sentence.encode("ascii").translate(None, _LETTERS_AND_SPACES))
    words = sum(len(word) > 1 for word in sentence.split())
    return letters > _PROSE * len(sentence) and words >= _FEWEST_WORDS


# Patterns of many alternatives, searched for only where a sentence has what each of their matches holds.

_LOOK_LIKE = str.maketrans("İıſK", "iisk")
"""What a pattern without case takes for a letter of ASCII, and `str.lower` does not."""
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_IN_NEARLY_EVERY_TEXT = frozenset(("", *"abcdefghijklmnopqrstuvwxyz ."))
_SMALL_SET = 4


def gated_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, only later, and its `search` looks first for what every match holds."""
    return _GatedPattern(source, flags)  # type: ignore[return-value]


class _GatedPattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> object:
        return getattr(self.compiled, name)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return normalise.compiled(self._source, self._flags)

    @cached_property
    def literals(self) -> tuple[str, ...] | None:
        """Every match holds one of these; None where there are none, and every text must be searched."""
        return _required(_parser.parse(self._source, self._flags))

    @cached_property
    def ascii_literals(self) -> tuple[str, ...] | None:
        """Those of them that a text of ASCII may hold."""
        return self.literals if self.literals is None else tuple(filter(str.isascii, self.literals))

    def search(self, text: str) -> re.Match[str] | None:
        literals = self.ascii_literals if text.isascii() else self.literals
        if literals is None or _holds(_folded(text), literals):
            return self.compiled.search(text)
        return None


def _holds(text: str, literals: tuple[str, ...]) -> bool:
    for literal in literals:  # noqa: SIM110 - twice as fast as any()
        if literal in text:
            return True
    return False


@lru_cache(maxsize=1)  # many patterns are asked about one sentence
def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_LOOK_LIKE).lower()


def _required(nodes: Iterable[tuple[Any, Any]]) -> tuple[str, ...] | None:
    """Of what must all be there, what is told fastest: the longest words, and few of them."""
    found: list[tuple[str, ...] | None] = []
    run = ""
    for kind, value in nodes:
        if kind is _constants.LITERAL:
            run += _folded(chr(value))
            continue
        found += ((run,), _inside(kind, value))
        run = ""
    able = [literals for literals in (*found, (run,)) if literals and _IN_NEARLY_EVERY_TEXT.isdisjoint(literals)]
    return max(able, key=lambda literals: (min(map(len, literals)), -len(literals)), default=None)


def _inside(kind: Any, value: Any) -> tuple[str, ...] | None:
    if kind is _constants.SUBPATTERN or (kind in _REPEATS and value[0]):
        return _required(value[-1])
    if kind is _constants.ATOMIC_GROUP:
        return _required(value)
    if kind is _constants.BRANCH:
        return _shortest([literal for branch in value[1] for literal in _required(branch) or ("",)])
    if kind is _constants.IN and len(value) <= _SMALL_SET and all(one is _constants.LITERAL for one, _ in value):
        return tuple(_folded(chr(code)) for _, code in value)
    return None


def _shortest(literals: list[str]) -> tuple[str, ...]:
    """Without those that hold another one."""
    return tuple(one for one in dict.fromkeys(literals) if not any(other in one for other in literals if other != one))


# How likely a sentence that a person typed is worth telling in later sessions: a small linear model.
#
# It looks at form, not at meaning: what kind of sentence it is, whether it speaks of all or of one, of now or always.
# `make train` fits the weights (`worth.json`) and prints how well they do on projects that they were not fitted on.

_FORMS: dict[str, str] = {
    # What speaks of more than the moment.
    "always": r"\b(?:always|never|ever|every time|each time|whenever|from now on|at all times|in (?:the )?future|"
    r"going forward|by default|consistently|at any time)\b|常に|总是|始终|以后|每次|sempre|toujours|immer|siempre|"
    r"nunca",
    "all": r"\b(?:all|every|each|any|anything|everything|everywhere|throughout|entire|whole|across)\b|所有|全部|都|"
    r"todos|tous|alle",
    "bare plural": r"^(?:the )?(?:\w+ )?\w{3,}s (?:should|must|are|need|have|can|may|will)\b",
    "when": r"^(?:and |also |so |then |please )*(?:when|whenever|if|before|after|once|until)\b|\bwhen(?:ever)? (?:you|"
    r"we|"
    r"working|fixing|editing|writing|adding)\b|\bbefore (?:you|any|commit|push|cod)",
    "remember": r"\b(?:remem?e?ber|keep in mind|bear in mind|note that|mind that|don'?t forget)\b|注意|记住|留意|别忘|"
    r"覚えて|lembre|recuerda|denk daran",
    "written down": r"\b(?:agents|claude|gemini|copilot-instructions|cursor\w*)\.md\b|\.mdc\b|\b(?:cursor|project|"
    r"house|"
    r"new|this|that|the|a) rules?\b|\bmemory\b|\bguidelines?\b|\bconventions?\b",
    "documents": r"\b(?:readme|spec|specs|specifications?|docs?|documentation|changelog|documentação)\b",
    "told before": r"\b(?:i (?:told|said|asked|mentioned)|as i said|i(?:'ve| have) (?:told|said|asked)|again and again|"
    r"how many times|you keep|stop (?:\w+ing|trying|asking))\b",
    # What kind of sentence it is.
    "forbids": r"\b(?:don'?t|do not|never|avoid|must ?n[o']t|should ?n[o']?t|cannot|can'?t|no need|not allowed|"
    r"without|no more)\b|不要|不需要|不用|不能|别|やめて|しないで|não |nunca|ne pas|kein|nicht",
    "forbids at once": r"^(?:please |and |also |ok,? |so,? |no,? |but )*(?:don'?t|do not|never|avoid|stop)\b|^请?不要",
    "obliges": r"\b(?:must|has to|have to|needs? to|required?|ensure|make sure|be sure|should)\b|必须|应该|需要|deve|"
    r"muss|debe",
    "wants": r"\b(?:i|we) (?:really |only |just |still |do not |don'?t |would |'d )*(?:want|prefer|like|need|expect)\b|"
    r"希望|我想|prefiro|préfère|möchte",
    "wants to": r"\b(?:i|we) (?:want|need|would like|'d like) to\b|我想",
    "instead": r"\b(?:instead|rather|not the|not in|only)\b|而是|只需要|只能|只",
    "uses": r"\b(?:use|using|uses)\b|使用|用",
    "uses at once": r"^(?:please |and |also |ok,? |so,? |no,? |just |lets |let's )*(?:use|keep|prefer|follow|stick)\b",
    "should be": r"\b(?:should|must) (?:be|have|use|support|not|only|always|never|go|live|contain|work|come)\b",
    "lets": r"\b(?:lets|let's|let us)\b",
    "is": r"^(?:the|our|this|all|we|it)\b.{0,40}\b(?:is|are|has|have|uses|lives|runs|relies)\b",
    "because": r"\b(?:because|since|so that|bc|otherwise|as it)\b|因为|だから|porque|weil",
    "ask me": r"\b(?:ask(?: me)?|asking|questions?|confirm|permission|approv\w+|explain|tell me|let me know)\b|确认|"
    r"質問|"
    r"询问",
    "language": r"\bin (?:english|german|french|spanish|chinese|japanese|portuguese|deutsch)\b|中文|英文|日本語|"
    r"auf deutsch|"
    r"em português",
    "we": r"\b(?:we|our|us|ours)\b|我们|nós|wir",
    "you": r"\b(?:you|your)\b|你",
    "project": r"\b(?:project|repo|repository|codebase|library|framework|app|application|extension|package)\b|项目|"
    r"框架",
    "work": r"\b(?:commits?|push|branch|prs?|pull request|merge|tests?|testing|lint|build|deploy|release|migrations?|"
    r"mock\w*|logs?|logging|comments?|errors? handling|naming|named?|types?)\b|测试|テスト|提交",
    "shouts": r"\b(?-i:NOT|NEVER|ALWAYS|MUST|DO NOT|ONLY|STOP|DON'T)\b",
    # What speaks for the task of the moment, a report or a question.
    "asks": r"[?？]\W*$|[吗呢]\W*$|^(?:why|what|how|where|which|who|can|could|is|are|do|does|did|should|would|will|"
    r"shall|has|have|was|were)\b|为什么|为何|什么|怎么|なぜ",
    "thinks": r"\b(?:i (?:think|guess|feel|suppose|believe|wonder|assume)|maybe|perhaps|probably|seems?|looks? like)\b|"
    r"可能|かも",
    "does once": r"^(?:please |can you |could you |now |then |and |ok,? |also |next,? |go ahead and |so )*(?:add|"
    r"create|"
    r"fix|remove|update|change|write|make(?! sure)|run|check|implement|show|move|rename|delete|look|continue|commit|"
    r"push|"
    r"generate|explain|try|find|read|review|refactor|replace|improve|complete|analy[sz]e|test|build|provide|give|help|"
    r"define|extract|convert|set|start|finish|open|list|tell|summari[sz]e|investigate|verify|do|execute|install)\b|"
    r"帮我",
    "requests": r"\b(?:can|could|would|will) (?:you|we)\b|\bplease\b|\bhelp me\b|请|ください|por favor",
    "of the moment": r"\b(?:now|today|again|still|yet|currently|at the moment|this time|for now|next|first|already|"
    r"later|just)\b|现在|接下来|今|agora",
    "points": r"\b(?:this|that|these|those|it|them|here|there|above|below)\b|这个|这些|那|これ|その",
    "points at once": r"^(?:and |but |so |also |then |ok,? |no,? )*(?:this|that|these|those|it|its|it's|they|them|he|"
    r"same)\b|^(?:这|那|他|它|これ|それ)",
    "past": r"\b(?:was|were|did|had|got|tried|failed|worked|broke|didn'?t|wasn'?t|went|made|added|changed|removed)\b|"
    r"了",
    "reports": r"\b(?:error|bug|issue|problem|fails?|failing|broken|wrong|getting|crash\w*|warning|not working|"
    r"doesn'?t|"
    r"isn'?t|can'?t|cannot)\b|错误|问题|エラー|报错|erro",
    "sees": r"\b(?:i|we) (?:see|get|got|have|notice\w*|found|can see|am|m|was|still)\b|^(?:there (?:is|are)|when i)\b|"
    r"我发现",
    "screen": r"\b(?:buttons?|colou?rs?|menus?|pages?|screens?|icons?|fonts?|titles?|panels?|labels?|columns?|rows?|"
    r"layout|css|width|height|padding|hover|click\w*)\b|样式|页面",
    "names a file": r"#file:|#sym:|(?<!\w)[#@][\w./-]+|\b[\w-]+\.(?:tsx?|jsx?|py|json|html|css|cs|go|rs|vue|ya?ml|ps1|"
    r"al)\b|/\w+/",
    "code": r"`[^`]+`|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w+|\w\(\)",
    "quotes": r"\"[^\"]{3,}\"|'[^']{3,}'|“",
    "numbers": r"\d",
    "leads on": r":\s*$|\.\.\.\s*$|…\s*$",
    "address": r"https?://",
    "says no": r"^(?:no+|nope|wrong|wait|stop|not that)\b|^不是|違",
    "thanks": r"\b(?:thanks?|thank you|great|nice|good|perfect|awesome|sorry|hi|hello)\b",
    "not ascii": r"[^\x00-\x7f]",
}
_PATTERNS = {name: _GatedPattern(pattern, re.IGNORECASE) for name, pattern in _FORMS.items()}
_CHARACTERS_PER_WORD_WITHOUT_SPACES = 2.5
_LONG_MESSAGES = (300, 800, 2_000)
_WORD = lazy_pattern(r"[a-zà-ÿ']+|[\u4e00-\u9fff]")
_WORDS = (4, 7, 12, 20, 32)


class _Forms:
    """The patterns of all forms, and which of them a sentence may match: many are asked about every sentence."""

    def __init__(self) -> None:
        self._all = list(_PATTERNS.items())
        self._always = [at for at, one in enumerate(_PATTERNS.values()) if one.literals is None]
        self._of_literal: dict[str, list[int]] = {}
        for at, one in enumerate(_PATTERNS.values()):
            for literal in one.literals or ():
                self._of_literal.setdefault(literal, []).append(at)
        self._literals = scanned(tuple(self._of_literal)) or Keywords(self._of_literal)

    def of(self, sentence: str) -> list[str]:
        held = map(self._of_literal.__getitem__, self._literals.present(_folded(sentence)))
        able = sorted({*self._always, *chain.from_iterable(held)})
        return [name for name, one in map(self._all.__getitem__, able) if one.compiled.search(sentence)]


_forms = lru_cache(maxsize=1)(_Forms)


def features(
    sentence: str, *, first: bool = False, item: bool = False, nth: int = 0, length: int = 0, stopped: bool = False
) -> list[str]:
    """The names of what is to be seen in a sentence and of where it stands, and its words."""
    found = _forms().of(sentence)
    words = len(sentence.split()) if sentence.isascii() else len(sentence) / _CHARACTERS_PER_WORD_WITHOUT_SPACES
    found += [f"{count} words" for count in _WORDS if words >= count]
    found += [f"message of {count}" for count in _LONG_MESSAGES if length >= count]
    placed = {"first request": first, "item": item, "leads": nth == 0, "far down": nth > 10, "after a stop": stopped}
    said = {f"«{word}»" for word in _WORD.findall(sentence.lower())}
    return [*found, *(name for name, holds in placed.items() if holds), *sorted(said)]


def worth(
    sentence: str, *, first: bool = False, item: bool = False, nth: int = 0, length: int = 0, stopped: bool = False
) -> float:
    """How likely it is worth keeping, from 0 to 1: it ranks; by itself it decides only near its upper end.

    `first`: it stands in the session's first request; `item`: of a list; `nth`: how many sentences of the message stand
    before it; `length`: of its message, in characters; `stopped`: the user had just stopped or refused the agent.
    """
    weights = _weights()
    seen = features(sentence, first=first, item=item, nth=nth, length=length, stopped=stopped)
    return 1 / (1 + math.exp(-weights["bias"] - sum(weights.get(name, 0.0) for name in seen)))


@lru_cache(maxsize=1)
def _weights() -> dict[str, float]:
    found: dict[str, float] = json.loads((Path(__file__).parents[1] / "worth.json").read_text("utf-8"))
    return found
