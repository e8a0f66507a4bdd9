"""The phrases by which a person lays something down, in English: a table, so that a new one is a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from hardwon.harvest.rules import lazily
from hardwon.harvest.rules.cue import Cue, cue
from hardwon.harvest.rules.fact_cues import FACTS

_LEAD = lazily.pattern(
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
_LANGUAGES = (
    "english|german|french|spanish|portuguese|italian|dutch|polish|russian|ukrainian|turkish|arabic|hebrew|hindi|"
    "chinese|"
    "mandarin|japanese|korean|vietnamese|thai|indonesian|swedish|norwegian|danish|finnish|czech|greek|romanian|"
    "hungarian"
)
_DOES = r"(?:us|writ|put|run|keep|nam|call|stor|commit|push|deploy|test|format|lint|build|releas|merg|rebas|squash)\w*"


def cued(said: str) -> tuple[Cue, re.Match[str]] | None:
    """The first cue that a sentence has, and where."""
    begins, opening, anywhere = _finders()
    found = opening.match(said)
    best = (begins[found.lastindex - 1], found) if found is not None and found.lastindex else None
    lowered = said.lower()
    for place, has, search in anywhere:
        if best is not None and best[0] < place:
            break
        if any(word in lowered for word in has) and (hit := search(said)) is not None:
            best = (place, hit)
            break
    return (CUES[best[0]], best[1]) if best is not None else None


class _Finders(NamedTuple):
    begins: tuple[int, ...]
    """The cues that a sentence begins with, by their place in the table."""
    opening: re.Pattern[str]
    """All of these in one pattern, a group each."""
    anywhere: tuple[tuple[int, tuple[str, ...], Callable[[str], re.Match[str] | None]], ...]


@cache
def _finders() -> _Finders:
    """Compiled with the first sentence: most sessions of a fleet have none that a person typed."""
    begins = tuple(at for at, one in enumerate(CUES) if not one.has)
    opening = re.compile("|".join(f"({CUES[at].pattern})" for at in begins), re.IGNORECASE)
    others = [(at, one) for at, one in enumerate(CUES) if one.has]
    return _Finders(
        begins, opening, tuple((at, one.has, re.compile(one.pattern, re.IGNORECASE).search) for at, one in others)
    )


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
        has=("always", "never"),
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
        has=("always", "never"),
    ),
    cue(
        "directive",
        "preference",
        0.9,
        r"^(?:from now on|from here on|going forward|in (?:the )?future|henceforth|for future reference|"
        r"next time|for all future)\b",
    ),
    cue("directive", "preference", 0.9, r"^(?:don['’]?t|do not)\s+(?:you )?ever\b"),
    cue("directive", "preference", 0.9, rf"^{_NOT}\b.{{4,}}\b(?:ever )?again\W*$"),
    cue("directive", "preference", 0.85, r"^(?:every|each) time\b.{8,}|" + r"^whenever\b.{8,}"),
    cue(
        "directive",
        "preference",
        0.85,
        r"^(?:make|be) sure (?:you |to |that (?:you|we) )?(?:always|never)\b",
    ),
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
        "permission",
        "preference",
        0.85,
        r"^(?:always )?(?:ask|check with|confirm with|consult) (?:me|us)(?: first)?,? "
        r"(?:before|whenever|if you(?! (?:need|have|want|are|get|can|see|find|don)))\b"
        r"\W+(?:you )?(?:ever )?\w+" + _AT_HAND,
        names=False,
    ),
    cue("permission", "preference", 0.85, r"^(?:don['’]?t|do not|"
         r"never) make (?:\w+ )?decisions\b.{5,}", names=False),
    cue(
        "condition",
        "preference",
        0.85,
        rf"^(?:before|after|when|once|if)\s+(?:you(?:['’]re)?\s+|we\s+|an?\s+\w+\s+)?(?:ever\s+)?{_WHENEVER}"
        + _AT_HAND + rf"\b[^,]*,\s*{_THEN}\b.{{3,}}",
    ),
    cue(
        "condition",
        "preference",
        0.85,
        rf"^(?:always )?(?:run|updat|check|bump|regenerat|rebuild|restart|re-?run|format|lint|test)\w*\b.{{3,}}\b"
        rf"(?:before|after|whenever|every time|each time|on|for)\s+(?:every\s+|each\s+|any\s+|you\s+|we\s+|"
        rf"you\s+ever\s+)"
        rf"?{_WHENEVER}" + _AT_HAND,
    ),
    cue("condition", "preference", 0.85, r"^(?:before|after|at the (?:end|start|beginning) of) (?:each|every)\s+\w+,?"
        r"\s+(?!(?:I|it|the)\b)\w+.{5,}", names=False),
    cue("condition", "preference", 0.85, r"^(?:any|every|each)\s+(?:new )?[\w-]+\s+(?:must|needs?(?: to)?|has "
         r"to|should)\b(?! be (?:able|sure))"),
    cue("remember", "fact", 0.9, r"^(?:remember|keep in mind|bear in mind|don['’]?t forget)(?:\s+that\b|:|,)"
         r".{16,}", names=False),
    cue("remember", "preference", 0.85, r"^(?:don['’]?t forget|remember) to (?:always )?\w+.*\b(?:when|whenever|"
         rf"before|after|every|each)\b\s+(?:you\s+)?{_WHENEVER}" + _AT_HAND),
    cue(
        "preference",
        "preference",
        0.85,
        r"^(?:I|we)(?:['’]d| would)?\s+(?:much\s+|strongly\s+|really\s+|always\s+|generally\s+)?prefer\s+"
        r"(?!(?:that|this|it|option|the|your|a different|to (?:keep|have|see) (?:it|this|that|the))\b)\S.{8,}",
        names=False,
    ),
    cue("preference", "preference", 0.85, r"^prefer\s+\S.*\b(?:over|to|instead of|rather than)\b"),
    cue("preference", "preference", 0.8, r"^(?:I|we)(?: really| strongly)?\s+(?:dislike|hate|don['’]?t like)\b"),
    cue(
        "house-rule",
        "preference",
        0.8,
        r"^(?:we|this (?:project|repo|repository))\s+(?:only\s+)?(?:uses?|don['’]?t use|do not use|never use|"
        r"doesn['’]?t use)\s+\S.*(?:,\s*not\b|\binstead of\b|\bnever\b|\bonly\b|\bnot\s+\w+)",
    ),
    cue("house-rule", "preference", 0.8, r"^(?:we|this (?:project|repo|repository))\s+(?:don['’]?t|doesn['’]?t|"
         r"do not|does not|never)\s+(?:ever\s+)?(?:use|write|commit|mock|allow|support)\s+(?!(?:it|this|that|them|"
         r"the|any of)\b)", names=False),
    cue(
        "house-rule",
        "preference",
        0.8,
        rf"^(?:here |in this (?:project|repo)\w* )?we (?:always|never|usually|typically|generally|normally|only|"
        rf"tend to|try to) {_DOES}\b",
    ),
    cue(
        "house-rule",
        "preference",
        0.8,
        r"\b(?:our|the (?:project['’]?s|team['’]?s|house))\s+(?:\w+ )?(?:convention|standard|policy|rule|practice|"
        r"style|guideline)s?(?: here| for [\w ]+)?(?:\s+(?:is|are|says?)\b|:)",
        names=False,
        has=("convention", "standard", "policy", "rule", "practice", "style", "guideline"),
    ),
    cue("house-rule", "preference", 0.8, r"\bconvention (?:here|in this \w+) is\b|"
    r"\bby convention,?\s+\w+", names=False, has=("convention",)),
    cue(
        "house-rule",
        "preference",
        0.75,
        r"\b(?:use|do|follow|call|write|put|match|stick)\b.*\b(?:like|as|the way|same as)\s+we (?:already )?(?:do|did|"
        r"have)\b.*\b(?:everywhere|elsewhere|all (?:the )?other|in (?:the )?other|for (?:the )?other)",
        names=False,
        has=(" we ",),
    ),
    cue(
        "house-rule",
        "preference",
        0.75,
        r"^(?!(?:it|this|that|the (?:latter|former|first|second))\b).{4,}\bis (?:the|our) (?:\w+ )?(?:preferred|"
        r"standard|canonical|definitive|recommended|usual|official)\s+\w+",
        has=(" is the ", " is our "),
    ),
    cue("house-rule", "preference", 0.75, r"\b(?:use|take|try|treat)\b.*\bas the (?:definitive|canonical|"
         r"reference|standard) \w+", names=False, has=(" as the ",)),
    cue("told-before", "preference", 0.85, r"\bI(?:['’]ve| have)?\s+(?:already |just )?(?:told|asked)\s+you\s+(?:\w+ "
         r"(?:times )?)?(?:not to|never to|to (?:always|never|only|stop|use|run|ask))\b",
         has=(" told you ", " asked you ")),
    cue("told-before", "preference", 0.8, rf"^(?:stop|quit)\s+{_WORK}\b(?:{_AT_HAND}|(?={_STANDING_THING}))",
         standing=False),
    cue("prohibition", "preference", 0.7, r"^avoid\s+(?!(?:the|this|that|it|them|these|those)\b)\S",
         standing=False),
    cue(
        "prohibition",
        "preference",
        0.7,
        rf"^{_NOT}\s+{_WORK}\b(?:{_AT_HAND}|(?={_STANDING_THING}))\s+\S",
        standing=False,
    ),
    cue(
        "prohibition",
        "preference",
        0.8,
        rf"(?:^|[,;]\s+){_NOT}\s+(?:\w+ ){{0,2}}(?:touch|push (?:in)?to|merge (?:in)?to|commit (?:in)?to|deploy to|"
        rf"edit|change|"
        r"modify)\s+(?:the )?(?:main|master|prod(?:uction)?|develop|trunk)\b",
        names=False,
        has=("main", "master", "prod", "develop", "trunk"),
    ),
    cue(
        "permission",
        "preference",
        0.85,
        r"^(?:stop|quit|don['’]?t|do not|no need to|you don['’]?t (?:have|"
        r"need) to) (?:keep )?ask(?:ing)?(?: me)? (?:for "
        r"(?:permission|confirmation|approval)|if you (?:can|should|may)|whether to|to confirm|every time|each time|"
        r"before)\b",
        names=False,
    ),
    cue("permission", "preference", 0.8, r"^if you (?:need|want|have|are|think|miss)\b.{3,80},\s+(?:please )?(?:ask|"
        r"tell|let) (?:me|us|for)\b", names=False),
    cue(
        "permission",
        "preference",
        0.8,
        r"\byou (?:\w+ ){1,8}?and (?:then )?I(?:['’]ll| will)? (?:upload|deploy|run|commit|push|test|review|merge|"
        r"publish|"
        r"release|handle|approve)\b",
        names=False,
        has=(" and i ", " and then i ", " i'll ", " i will "),
    ),
    cue(
        "permission",
        "preference",
        0.8,
        r"\bI(?:['’]ll| will| always| usually)* (?:run|start|restart|commit|push|deploy|test|handle|merge|build|do|"
        r"write)\b"
        r"(?! (?:it|this|that)\b).{0,50}\bmyself\b",
        names=False,
        has=("myself",),
    ),
    cue(
        "preference",
        "preference",
        0.85,
        rf"^(?:always |only )?(?:answer|respond|reply|speak|talk|communicate|write)\b.{{0,40}}\bin (?:{_LANGUAGES})\b",
        names=False,
    ),
    cue(
        "preference",
        "preference",
        0.8,
        r"^(?:always )?be (?:more |very )?(?:concise|brief|terse|succinct)\b|^keep (?:your )?(?:answers|responses|"
        r"replies|"
        r"explanations|summaries|commit messages|comments) (?:\w+ )?(?:short|concise|brief|terse|to (?:one|a|"
        r"two) \w+)\b",
        names=False,
    ),
    *FACTS,
)  # fmt: skip
