"""What a person laid down in so many words, asked to have kept or had to say again; and what an agent claims."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby, pairwise
from typing import NamedTuple
from unicodedata import combining, normalize

from hardwon.failures.tools import brief
from hardwon.harvest.rules import Found, Rule, dropped
from hardwon.harvest.rules.sentences import NOBODY_TYPES, SHORTEST_SENTENCE, Statement, gated_pattern, specific, worth
from hardwon.model.lesson import Draft, Kind, Source
from hardwon.model.session import Session
from hardwon.store import attempts, sessions
from hardwon.store.database import Database
from hardwon.store.lessons import Cited
from hardwon.store.sessions import Said
from hardwon.text.normalise import lazy_pattern
from hardwon.text.words import called, stem

RULES = (
    Rule("asked-to-keep", 1, ("preference", "fact"), "what the user asked to be written down or remembered"),
    Rule(
        "user-directive",
        6,
        ("preference", "decision"),
        "what the user says is so always, never, or from now on",
    ),
    Rule("user-correction", 4, ("preference",), "what the user said after stopping or refusing the agent"),
    Rule("users-language", 3, ("identity",), "the language that the user writes to agents, where it is not English"),
    Rule("said-again", 1, ("preference",), "what the user had to say more than once", "store"),
)
BY_FORM = ("user-directive", "user-correction")
"""Rules that go by the form of a sentence: who reads it may overrule them."""
LONGEST_LESSON = 200
_LEAST_WORTH_THAT_WAITS = 0.12
"""Below it a sentence is no rule, however often it is said."""


def _form(*parts: str) -> re.Pattern[str]:
    """One of these stands in a sentence."""
    return gated_pattern("|".join(parts), re.IGNORECASE)


# What rules out a sentence, whatever else is in it: it asks, reports, speaks of now or of what stands elsewhere.

_LEADS = (
    r"(?:and|also|please|pls|ok(?:ay)?|so|but|no+|yes|yeah|then|just|well|actually|additionally|again|important|note|"
    r"for the record|reminder|btw|meanwhile|oh|hey|wait|sorry|thanks|great|man|dude|h+m+|right|cool)"
)
_LEAD = _form(rf"^(?:{_LEADS}[,:!.;-]*\s+)+")
_ASKS = _form(
    r"[?？]\W*$",
    r"[吗呢]\W*$",
    r"^(?:why|what|how|where|which|who|can|could|is|are|do you|does|did|would|will|shall|has|was|were|should)\b",
    "为什么|为何|怎么|なぜ",
)
_REPORTS = _form(
    r"\b(?:error|bug|crash\w*|fails?|failing|failed|broken|not working|doesn'?t work|still|getting|issue)\b",
    r"\b(?:i see|i get|i got|i can|i can'?t|i have|i(?:'?m| am) (?:sure|still|just|not))\b",
    r"\b(?:it (?:is|was|did|does|appears)|there (?:is|are|was|were)|seems?|looks? like|the problem is|as a result)\b",
    "报错|错误|エラー|ています\\W*$",
)
_OF_NOW = _form(
    r"\b(?:for now|(?:right )?now(?! on\b)|this time|today|at the moment|yet|just now|earlier|so far|tonight)\b",
    r"\b(?:once (?:done|finished|you)|after (?:that|this|you have)|when (?:done|finished|ready)|right there)\b",
    "现在|接下来|刚才",
)
_POINTS = _form(
    r"^(?:this|that|these|those|it|its|it's|they|them|same|he|she|even|either)\b",
    r"\bthat (?:\w+ ){0,2}(?:file|one|function|test|page|format|folder|dir|directory|part|line|rule|task|code|thing|"
    r"way|case)\b",
    r"\b(?:this|these|those) (?!project|repo|codebase|library|framework|app\b|application|extension|package|is\b|way\b|"
    r"we\b|you\b|are\b|should\b|must\b|means)\w+",
    r"\b(?:it|this|that|them|these|those|above|below|either)\W*$",
    r"^(?:(?:do not|don'?t|please) )?\w+ (?:it|them)\b",
    r"\b(?:need|want|use|like|do|add|put) (?:it|them)\b(?! yourself)",
    r"^(?:before|after|once|while|when|if|until) (?:you|we|i) [^,]{0,24}\b(?:it|this|that|them),",
    "^(?:这|那|他|它|これ|それ|その)",
)
_GUESSES = _form(
    r"\b(?:i (?:think|guess|wonder|assume|thought|though|suppose|understand)|maybe|perhaps|probably|not sure|might)\b"
)
_NUMBERED = _form(
    r"\b(?:line|step|phase|option|issue|task|item|point|question|pr|figure|table)s? ?#?\d", "#\\d", "#file:|#sym:"
)
_PAST = _form(
    r"\b(?:was|were|did|had|got|tried|went|worked|didn'?t|wasn'?t)\b",
    r"\b(?:i|we|you) (?:just |already |have |also )?(?!need|decided|agreed|settled|opted|standardi)\w{3,}ed\b",
)
_PASTED = _form(
    r"^[\[{<|]",
    r"^https?://\S+$",
    r"\b[A-Za-z]:\\",
    r"\t|\|.*\||\.(?:mp4|dll)\b|\([^)]*\) \(|={3,}|-{4,}",
)
_A_STEP = _form(
    r"^(?:go ahead|create|make (?!sure)|write|add|fix|look|implement|remove|delete|rename|update|change|move|try)\b",
    r"^(?:call|show|put|set|generate|lets?|let's|refactor|convert|now|next|first|then|can you|could you|help|drop)\b",
    r"^i want you to\b|帮我|^(?:请)?我想",
)
"""A step of the task, unless it says that it holds for more."""
_A_THING_TO_MAKE = _form(r"^(?:create|write|make|add) (?:a|an|another) \w+")
_AGAINST = (
    (_ASKS, "asks"),
    (_REPORTS, "reports"),
    (_OF_NOW, "about the moment"),
    (_POINTS, "speaks of something that stands elsewhere"),
    (_GUESSES, "a guess"),
    (_NUMBERED, "about one item"),
    (_PAST, "tells what was"),
)

# What lays something down, in so many words.

_AT_ALL_TIMES = _form(
    r"^(?:always|never|whenever|every time|each time|periodically|in (?:the )?future|going forward)\b(?! mind)",
    r"\bfrom now on\b|\bat all times\b|[,;] (?:always|never)\b",
    r"\b(?:must|should|shall|needs? to|have to|has to|make sure|be sure|ensure|want|please|you|we|use|run|keep|to)"
    r"\b(?: \S+){0,2} (?:always|never)\b|"
    r"\b(?:must|should|make sure|be sure|ensure|want|please|you|we|run|use)\b.*\b(?:every time|each time|whenever)\b",
    "(?<!正)常に|总是|始终|以后|siempre|nunca|sempre|toujours|jamais|immer|niemals",
)
_KEEP_IN_MIND = _form(
    r"\b(?:remem?e?ber (?:to|that)|remeber|keep in mind|bear in mind|note that|don'?t forget|for next time)\b",
    "记住|覚えて",
)
_FORBIDS = _form(
    r"^(?:(?:you (?:should|must|can) )?(?:don'?t|do not|avoid|stop(?= \w+ing))|you (?:don'?t|do not|must not|"
    r"should not|shouldn'?t)|no need to) (?!think|want|know|like|see|care)\w+\b.*(?:"
    r"[,;] (?:use|run|instead|always|unless|only)\b|\s[-–—] \w+|\b(?:instead|because|since|otherwise|unless)\b|"
    r"\b(?:so that|any|all|every|ever|anything|without)\b|(?<=[`\w)]) use \S+)",
)
"""What not to do, with what to do instead, why, or that it holds for all: else it is of the task at hand."""
_NOT_WANTED = _form(
    r"\b(?:i|we) (?:really |definitely )?(?:don'?t|do not|never) (?:want|need|like|use)\b(?! (?:it|them|to have)\b)"
    r"(?! to \w+ (?:the|its?|this|that|my|with)\b)",
    "我不需要|我不想|我们不",
)
_INSTEAD = _form(
    r"\b(?:use|using|used|prefer|run|put|call|test|write|want|go)\b.*(?:\binstead of\b|\brather than\b|"
    r"\bnot (?:the|in|through|a|an|with|plain)\b|, (?:but |and )?(?:not|never)\b|\bbut rather\b)",
    r"\binstead\b.{0,20}\buse\b",
)
_ON_CONDITION = _form(
    r"^(?:when(?:ever)?|if|before|after|once) (?:you\b(?! can\b)|any\b)"
    r"(?!.*(?:, (?:it|he|she|they|the)|\bi (?:also |really )?want)\b).{12,}",
    r"^(?:when(?:ever)?|before|after) (?:writing|working|fixing|editing|adding|committing|pushing|making|changing|"
    r"creating|running)\b(?!.*\bi (?:also |really )?want\b).{12,}",
)
_IN_THEIR_LANGUAGE = {
    "用中文": "Chinese",
    "日本語で": "Japanese",
    "auf deutsch": "German",
    "em português": "Portuguese",
    "en español": "Spanish",
    "en français": "French",
}
_OF_ALL = (
    r"(?:app|application|extension|library|project|framework|system|tool|cli|service|program|package|plugin|api|backend|"
    r"frontend|server|client|ui|database|tests?|code|codebase|repo|module|sdk|docs|documentation|readme)"
)
_OF_MANY = r"(?:rules?|sessions?|commands?|types?|errors?|logs?|comments?|functions?|files?|components?|classes|names?)"
_OF_A_PART = _form(
    r"^(?:(?:i want|ensure|make sure) )?(?:that )?"
    rf"(?:(?:the|our|this|all|every|each|any)?\s*(?:[\w`-]+ ){{0,2}}{_OF_ALL}|"
    rf"(?:our |all |every |each |any )?{_OF_MANY}|(?:all|every|each) (?:[\w`-]+ ){{0,2}}\w+) (?:\w+ ){{0,3}}"
    r"(?:should|must|needs? to|has to|have to|to (?:be|use|have|support)|implements?)\b.{10,}"
)
"""How the project or a part of it is to be."""
_DECIDED = _form(r"^we(?:'ve| have)? (?:decided|agreed|settled|standardi[sz]ed|opted)\b", "^decision:")
_BELONGS = _form(
    r"^(?:use|keep|prefer|only|put) .*(?:`|\b(?:all|every|each|only)\b|\w\.\w|_|/)",
    r"\bshould(?:n'?t| not)? (?:be in|go|live|use|return|be called|be named|come|stay)\b",
)
"""Where and how something is to be, which after a stop is meant for later, too."""
_PLAIN = (_AT_ALL_TIMES, _KEEP_IN_MIND, _DECIDED)
"""Who says so once means it for later, too."""
_OF_THE_TASK = (_OF_A_PART, _FORBIDS, _NOT_WANTED, _INSTEAD, _ON_CONDITION)
"""Said once they are of the task at hand more often than not; not when it is said again, or to stop the agent."""
_ORDERS = _form(
    r"^(?:always|use|utili[sz]e|keep|prefer|ensure|make sure|be sure|only|test)\b",
    r"^(?:[\w`./-]+ ){1,4}(?:should|must|shall|needs? to|has to)\b",
    "应该|必须",
)
"""Said once it is a step; said in several sessions it is how the user wants things done."""
_TO_WRITE_DOWN = _form(
    r"^(?:can you |could you |please |let'?s |lets |also |and |now )*(?:add|put|write|note|document|record|save|update|"
    r"create|make|mention|specify|store)\b.{0,80}?"
    r"(?:(?:\brules?|\.mdc[`'\"]?)(?:(?: that| which)? (?:says?|states?|saying|stating|specif(?:y|ies|ying)):?|:)|"
    r"(?:\b(?:agents|claude|gemini|readme)\.md|\bmemory|\bcopilot-instructions\S*|\bguidelines?)[`'\"]?"
    r"(?:,? that|:| to specify| saying| stating))(?: that)? (?:to )?"
    r"(?P<rule>[\w`@].{14,})"
)
_MARK_OF_MEMORY = _form(r"^(?:#\s?|(?:please )?remem?e?ber(?: this)?:\s*)(?P<rule>[A-Za-z`].{14,})")
_STATES = _form(
    r"^(?:the|our|my|a|an|`?[\w./-]+`?)(?: [\w`./-]+){0,4} (?:is|are|has|have|lives?|runs?|listens?)\b"
    r"(?! \w+(?:ed|en)\b)"
)
_NAMES_COMMAND = _form(
    r"^(?:\w+[,.]?\s+)?(?:it's|its|use|run|try|do|just|the command is)\s+`(?P<command>[^`]{3,80})`\W*$"
)


def against(sentence: str) -> str:
    """Why a sentence is no lasting rule, whatever it says; empty if nothing speaks against it."""
    bare = _LEAD.sub("", sentence)
    return next((why for pattern, why in _AGAINST if pattern.search(bare)), "")


def lays_down(sentence: str) -> bool:
    """Whether it has the form of a rule, whatever speaks against it."""
    bare = _LEAD.sub("", sentence)
    return any(form.search(bare) for form in (*_PLAIN, *_OF_THE_TASK))


def for_the_moment(sentence: str) -> bool:
    """Whether it is a fragment or a step of the task at hand: of what may be a rule, the last to look at."""
    return bool(against(sentence)) or _is_step(_LEAD.sub("", sentence))


def _is_step(bare: str) -> bool:
    return bool(_A_STEP.search(bare)) and (bool(_A_THING_TO_MAKE.search(bare)) or not _AT_ALL_TIMES.search(bare))


def drafts(said: Iterable[Statement]) -> list[Draft]:
    """What one session lays down by itself; what was looked at and is not kept says why."""
    return [draft for one in said if one.stands == "typed" and (draft := _draft(one)) is not None]


def _draft(one: Statement) -> Draft | None:
    sentence, bare = one.text, _LEAD.sub("", one.text)
    if one.refused and (named := _NAMES_COMMAND.match(sentence)):
        return _instead(one, named["command"])
    asked = _TO_WRITE_DOWN.match(bare) or _MARK_OF_MEMORY.match(sentence)
    if asked is not None:
        return _checked(one, "asked-to-keep", 0.9, asked["rule"])
    if one.stopped and not one.first and (_BELONGS.search(bare) or lays_down(bare)):
        return _checked(one, "user-correction", 0.8, sentence)
    language = next((name for phrase, name in _IN_THEIR_LANGUAGE.items() if phrase in bare.lower()), "")
    if language and called(bare) == language:  # else it is what shall be written in it
        return _of_language(one.message, one.text, f"The user writes {language}; answer in {language}.")
    if any(form.search(bare) for form in _PLAIN):
        return _checked(one, "user-directive", 0.85, sentence)
    return None


def _checked(one: Statement, rule: str, confidence: float, words: str) -> Draft:
    text, bare = told_alone(one, words), _LEAD.sub("", words)
    why = against(words)
    if not why and _PASTED.search(words):
        why = "pasted"
    if not why and rule != "asked-to-keep" and _is_step(bare):
        why = "part of the task"
    if not why and len(text) > LONGEST_LESSON:
        why = "too short or too long"
    source = Source(message_index=one.message, quote=one.text, origin="user")
    kind: Kind = "fact" if rule == "asked-to-keep" and _STATES.search(bare) else _kind(bare)
    return Draft(kind=kind, text=text, confidence=confidence, rule=rule, source=source, dropped=why)


def _kind(bare: str) -> Kind:
    decides = any(form.search(bare) for form in (_DECIDED, _OF_A_PART)) and not _AT_ALL_TIMES.search(bare)
    return "decision" if decides else "preference"


def _instead(one: Statement, command: str) -> Draft | None:
    refused = brief(one.refused.replace("2>&1", "").strip(), 60)
    source = Source(message_index=one.message, quote=one.text, origin="user")
    text = f"Use `{command}`, not `{refused}`."
    whole = "…" not in refused
    return Draft(kind="preference", text=text, confidence=0.8, rule="user-correction", source=source) if whole else None


# A sentence as a lesson tells it.

_FILLER = lazy_pattern(
    rf"^(?:(?:{_LEADS}|remem?e?ber(?: that| to)?|keep in mind(?: that)?|note that|mention that)[,:!.;-]*\s+)+",
    re.IGNORECASE,
)
_RUDE = lazy_pattern(r"\b(?:fucking|fuckin|damn|bloody)\s+", re.IGNORECASE)
_AND_REQUEST = lazy_pattern(r"[,;.]\s+(?:so |and )?(?:please|pls|(?:can|could) you)\s+[a-z]+\b.*$", re.IGNORECASE)
_NO_APOSTROPHE = lazy_pattern(
    r"(?<![\w@/-])(?:dont|doesnt|didnt|isnt|arent|shouldnt|couldnt|mustnt|cant|wont|lets)(?![\w-])", re.IGNORECASE
)
_IDENTIFIER = lazy_pattern(r"`|@|[a-z]\w*(?:_\w|[A-Z]|[./(]\w)")
_SHORTEST_WITHOUT_REQUEST = 20
_CHARACTERS_OF_A_SUBJECT = 40


def told_alone(one: Statement, words: str) -> str:
    """The sentence without the exclamations around it, and with the heading that names what it is about."""
    bare = _RUDE.sub("", _FILLER.sub("", words)).strip() or words
    short = _AND_REQUEST.sub("", bare)
    bare = short if len(short) >= _SHORTEST_WITHOUT_REQUEST else bare
    bare = _NO_APOSTROPHE.sub(lambda word: f"{word[0][:-1]}'{word[0][-1]}", bare).rstrip(" …,;:")
    text = bare[0].upper() + bare[1:] if not _IDENTIFIER.match(bare) else bare
    text = text if text.endswith((".", "!", "。", "！")) else f"{text}."
    about = one.under if one.item and len(one.under) <= _CHARACTERS_OF_A_SUBJECT else ""
    return f"{about}: {text}" if about and len(about) + len(text) + 2 <= LONGEST_LESSON else text


# In which language the user writes, whatever they say.

_WORDS_THAT_TELL = 4

_FEWEST_MESSAGES_IN_A_LANGUAGE = 3
_SHARE_IN_A_LANGUAGE = 0.7


def users_language(session: Session, said: Sequence[Statement]) -> list[Draft]:
    """The language of most that was typed in a session, and whether it was answered in it; none for English."""
    typed: dict[int, str] = {}
    for one in said:
        if one.stands == "typed" and not one.chosen:
            typed[one.message] = f"{typed.get(one.message, '')} {one.text}"
    spoken = Counter(filter(None, map(called, typed.values())))
    if not spoken:
        return []
    name, often = spoken.most_common(1)[0]
    if often < max(_FEWEST_MESSAGES_IN_A_LANGUAGE, _SHARE_IN_A_LANGUAGE * sum(map(_tells, typed.values()))):
        return []
    answers = [message.text[:500] for message in session.messages if message.origin == "agent" and message.text]
    in_kind = sum(called(text) == name for text in answers) >= _SHARE_IN_A_LANGUAGE * len(answers)
    at = next(index for index, text in typed.items() if called(text) == name)
    text = f"The user writes {name}; answer in {name}." if in_kind else f"The user writes {name}."
    return [_of_language(at, typed[at].strip()[:_LONGEST], text, measured=True)]


def _of_language(message: int, quote: str, text: str, *, measured: bool = False) -> Draft:
    source = Source(message_index=message, quote=quote, origin="user")
    return Draft(kind="identity", text=text, confidence=0.85, rule="users-language", source=source, measured=measured)


def _tells(text: str) -> bool:
    """Whether it is long enough to be of some language: `ok, go on` is of any."""
    return not text.isascii() or len(text.split()) >= _WORDS_THAT_TELL


# What may be said again: every sentence that could be a rule is kept with its session, whether it is a lesson or not.


def waiting(said: Sequence[Statement]) -> list[Said]:
    """The sentences of a session that sound like a rule, with how much; the most of them wait."""
    found: dict[tuple[int, int], Said] = {}
    for one in said:
        if one.stands == "template" or one.chosen or _PASTED.search(one.text) or _ASKS.search(one.text):
            continue
        value = worth(one.text, first=one.first, item=one.item, nth=one.nth, length=one.length, stopped=one.stopped)
        orders = bool(_ORDERS.search(_LEAD.sub("", one.text)))
        if value >= _LEAST_WORTH_THAT_WAITS or orders:
            found[one.message, one.nth] = Said(
                one.message, one.nth, told_alone(one, one.text), one.text, round(value, 3)
            )
    return list(found.values())


# What was said in several sessions: near-equal sentences, counted once for conversations that are copies of each other.

_FEWEST_OCCASIONS, _FEWEST_TIMES_IN_ONE = 2, 3
_ONE_OCCASION = 3_600_000_000
"""Microseconds: what begins sooner after another session is the same day's work, put to several agents."""
_FEWEST_STEMS = 3
_SHARE_OF_STEMS = 0.8
_SHARED_BY_COPIES, _MESSAGES_SHARED_BY_COPIES = 4, 3
_REPEATS_TOLD = 30
_FEWEST_SPACES_IN_A_REPEAT = 4
_EMPTY = frozenset("a an the please always must should you we our your i do does to of and is are be also just".split())
_NEGATIONS = frozenset("not never no don't do'nt dont without avoid stop 不要 不".split())
_WORD = lazy_pattern(r"[a-z0-9_'./-]+|[^\x00-\x7f]")


class Words(NamedTuple):
    stems: frozenset[str]
    negated: bool


def words_of(sentence: str) -> Words:
    """As sentences are compared: stems without order, and whether something is negated."""
    plain = "".join(sign for sign in normalize("NFKD", sentence.lower().replace("’", "'")) if not combining(sign))
    found = [word.strip("'./-") for word in _WORD.findall(plain)]
    stems = frozenset(stem(word) for word in found if word and word not in _EMPTY and word not in _NEGATIONS)
    return Words(stems, any(word in _NEGATIONS or word.endswith("n't") for word in found))


def near_equal(one: Words, other: Words) -> bool:
    shared = len(one.stems & other.stems)
    return one.negated == other.negated and shared >= _SHARE_OF_STEMS * len(one.stems | other.stems) and bool(shared)


def said_again(db: Database, project: str) -> list[Found]:
    """The rules that a project's user gave in several sessions, or again and again in one; the most repeated first."""
    rows = sessions.statements_of_project(db, project)
    same = _copies(rows)
    whole: dict[tuple[str, int], set[str]] = defaultdict(set)
    for row in rows:
        whole[row.root, row.message_index].add(row.quote)
    found = []
    for group in groups(rows):
        times = {(same.get(row.root, row.root), row.message_index) for row in group}
        in_one = Counter(root for root, _ in times)
        often = _occasions(group) >= _FEWEST_OCCASIONS and len(in_one) >= _FEWEST_OCCASIONS
        often = often or max(in_one.values()) >= _FEWEST_TIMES_IN_ONE
        resent = len({frozenset(whole[row.root, row.message_index]) for row in group}) == 1
        best = max(group, key=lambda row: (len(row.text) <= LONGEST_LESSON, row.worth, row.at, row.text))
        if often and _may_be_told(best, resent=resent):
            found.append((len(times), _repeat(best, group)))
    found.sort(key=lambda entry: (-entry[0], entry[1].draft.text))
    return [one for _, one in found[:_REPEATS_TOLD]]


def _occasions(group: Sequence[sessions.StatementRow]) -> int:
    """How often it was said at another time: sessions that began within an hour of each other are one."""
    begun = sorted(row.at for row in group)
    return 1 + sum(later - earlier > _ONE_OCCASION for earlier, later in pairwise(begun))


def _may_be_told(row: sessions.StatementRow, *, resent: bool) -> bool:
    """Repeating lifts a sentence that is worth something by itself; it never makes one.

    Of a whole message that was sent again, most often a task that was tried again, only what lays down a rule.
    """
    bare = _LEAD.sub("", row.quote)
    enough = lays_down(bare) or (not resent and bool(_ORDERS.search(bare)))
    says_enough = not row.quote.isascii() or row.quote.count(" ") >= _FEWEST_SPACES_IN_A_REPEAT
    return enough and says_enough and not _is_step(bare) and not against(row.quote) and len(row.text) <= LONGEST_LESSON


def groups(rows: Sequence[sessions.StatementRow]) -> Iterator[list[sessions.StatementRow]]:
    """Near-equal sentences together; each is compared with those that share its rarest stems."""
    words = {row.quote: words_of(row.quote) for row in rows}
    often: dict[str, int] = defaultdict(int)
    for one in words.values():
        for word in one.stems:
            often[word] += 1
    leaders: dict[str, list[str]] = defaultdict(list)
    members: dict[str, list[sessions.StatementRow]] = defaultdict(list)
    led_by: dict[str, str] = {}
    for row in rows:
        mine = words[row.quote]
        if len(mine.stems) < _FEWEST_STEMS:
            continue
        if row.quote not in led_by:
            rare = sorted(mine.stems, key=lambda word: (often[word], word))[: max(2, len(mine.stems) // 4 + 1)]
            near = (other for word in rare for other in leaders[word] if near_equal(mine, words[other]))
            led_by[row.quote] = next(near, row.quote)
            if led_by[row.quote] == row.quote:
                for word in rare:
                    leaders[word].append(row.quote)
        members[led_by[row.quote]].append(row)
    yield from members.values()


def _copies(rows: Sequence[sessions.StatementRow]) -> dict[str, str]:
    """Session → the earlier one that it is a copy of: several of its messages say the same as that one's."""
    seen: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        seen[row.root].setdefault(row.quote, row.message_index)
    roots = list(seen)
    said_in: dict[str, list[int]] = defaultdict(list)
    for at, root in enumerate(roots):
        for quote in seen[root]:
            said_in[quote].append(at)
    found: dict[str, str] = {}
    for at, root in enumerate(roots):
        own = seen[root]
        # Who shares so many with it shares one that is not among the few said most often.
        telling = sorted(own, key=lambda quote: len(said_in[quote]))[: 1 - _SHARED_BY_COPIES]
        for number, _ in groupby(merge(*(said_in[quote] for quote in telling))):
            if number >= at:
                break
            other = roots[number]
            shared = own.keys() & seen[other].keys()
            if len(shared) >= _SHARED_BY_COPIES and len({own[text] for text in shared}) >= _MESSAGES_SHARED_BY_COPIES:
                found[root] = found.get(other, other)
                break
    return found


def _repeat(best: sessions.StatementRow, group: Sequence[sessions.StatementRow]) -> Found:
    cited: dict[tuple[str, int], Cited] = {}
    for row in group:
        cited[row.source, row.message_index] = Cited(
            "", row.source, row.message_index, row.root, row.at, row.quote, "user"
        )
    source = Source(message_index=best.message_index, quote=best.quote, origin="user")
    kind = _kind(_LEAD.sub("", best.quote))  # so that it is the lesson that one session made of the same words
    draft = Draft(kind=kind, text=best.text, confidence=0.72, rule="said-again", source=source)
    return Found(draft, list(cited.values()))


# Short requests that come again in many sessions: habits, which are counted and shown, and never a lesson.

_LONGEST_REQUEST = 60
_STEMS_OF_A_HABIT = range(2, 5)
_FEWEST_SESSIONS_OF_A_HABIT = 3
_PARTS_OF_A_REQUEST = lazy_pattern(r"\s*(?:[,;.!:](?:\s+|$)|[，。！；、]|\b(?:and|then)\b)\s*", re.IGNORECASE)
_GOES_ON = _form(r"^(?:continue|resume|carry on|go on|proceed|keep (?:on )?\w+ing)\b")
_OPENS_NO_REQUEST = ("/", "<", "[", "{", "#", "@", "http")
_ADDS_NOTHING = frozenset(
    stem(word)
    for word in "this it that these them all everything changes now again too well as ok okay great good thanks when "
    "you're done go on ahead continue proceed yes yep sure next try retry can could".split()
) | frozenset("可以好的是继续")


class Habit(NamedTuple):
    words: str
    """As it was typed most often."""
    sessions: int


def habits(db: Database, project: str | None, limit: int) -> list[Habit]:
    """What a user asks for in a few words in session after session, such as `update changelog`; most frequent first.

    Only requests at which something was done are kept, and counted; one word (`commit`) teaches nobody.
    """
    typed: dict[frozenset[str], Counter[str]] = defaultdict(Counter)
    roots: dict[frozenset[str], set[str]] = defaultdict(set)
    for task, root in attempts.short_tasks(db, project, _LONGEST_REQUEST):
        if _ASKS.search(task) or _GOES_ON.search(_LEAD.sub("", task)) or task.startswith(_OPENS_NO_REQUEST):
            continue
        for part in filter(None, _PARTS_OF_A_REQUEST.split(task.lower())):
            words = words_of(part)
            stems = frozenset(one.partition(".")[0] for one in words.stems) - _ADDS_NOTHING
            if len(stems) in _STEMS_OF_A_HABIT and not words.negated:
                typed[stems][part] += 1
                roots[stems].add(root)
    found = [
        Habit(min(typed[stems], key=lambda part: (-typed[stems][part], len(part), part)), len(several))
        for stems, several in roots.items()
        if len(several) >= _FEWEST_SESSIONS_OF_A_HABIT
    ]
    return sorted(found, key=lambda one: (-one.sessions, one.words))[:limit]


# What an agent says was decided: a claim, which waits until another session makes it, too.

CLAIM_RULES = (
    Rule("agent-decision", 2, ("decision",), "what stands under a heading Decision or Constraint in an agent's text"),
)
_HEADING = lazy_pattern(
    r"^\s*(?:#{1,4}\s*|[-*]\s+)?\**(?:key |design |architectur\w+ )*(?:decision|constraint|"
    r"invariant)s?(?:\**\s*:\**\s*(?P<rest>.*)|\**\s*$)",
    re.IGNORECASE,
)
_ITEM = lazy_pattern(r"^\s*(?:[-*]|\d{1,2}[.)])\s+(?P<text>.*\S)")
_MARKS = lazy_pattern(r"\*\*|__")
_MENTIONED = lazy_pattern(r"^[^\w\n]*(?:\w+ ){0,2}(?:[Dd]ecision|[Cc]onstraint|[Ii]nvariant)s?\b", re.MULTILINE)
_CHOICE = lazy_pattern(r"\b(?:instead of|rather than|never|must|not|only|over|because|so that|always)\b", re.IGNORECASE)
_ITEMS_PER_HEADING = 5
_FEWEST_SPACES = 3
_LONGEST = 200
_CHARACTERS_READ_PER_MESSAGE = 20_000


def claims(session: Session) -> list[Draft]:
    """Of an agent's messages, what stands under a heading of decisions."""
    if session.format in NOBODY_TYPES:
        return []
    found: list[Draft] = []
    for index, message in enumerate(session.messages):
        if message.origin != "agent" or not message.text:
            continue
        text = message.text[:_CHARACTERS_READ_PER_MESSAGE]
        if any(word in text for word in ("ecision", "onstraint", "nvariant")) and _MENTIONED.search(text):
            found += (_decision(index, said) for said in _headed(text))
    return [draft for draft in found if len(draft.source.quote) >= SHORTEST_SENTENCE]


def _headed(text: str) -> Iterator[str]:
    left = 0
    for line in text.split("\n"):
        heading, item = _HEADING.match(line), _ITEM.match(line) if left else None
        if heading is not None:
            left = _ITEMS_PER_HEADING
            yield " ".join((heading["rest"] or "").split())
        elif item is not None:
            left -= 1
            yield " ".join(item["text"].split())
        elif line.strip():
            left = 0


def _decision(index: int, said: str) -> Draft:
    sentence = " ".join(_MARKS.sub("", said).split()).rstrip(" .,;:")
    text = f"{sentence[:1].upper()}{sentence[1:]}."
    why = "about the moment" if against(_MARKS.sub("", said)) else ""
    if not specific(sentence) or sentence.count(" ") < _FEWEST_SPACES:
        why = "names nothing"
    elif len(text) > _LONGEST:
        why = "too short or too long"
    elif not why and not _CHOICE.search(said):
        why = "tells what is, not what was chosen"
    source = Source(message_index=index, quote=said, origin="agent")
    return dropped(Draft(kind="decision", text=text, confidence=0.5, rule="agent-decision", source=source), why)
