"""The phrases by which a person lays something down, in English: a table, so that a new one is a line."""

from __future__ import annotations

import re
from typing import NamedTuple

from oldhand.model.lesson import Kind


class Cue(NamedTuple):
    rule: str
    kind: Kind
    confidence: float
    pattern: re.Pattern[str]
    standing: bool = True
    """It holds where it is said in the first request too; another is part of that task."""
    names: bool = True
    """It must name a file, a flag, a command, a tool or a practice."""


_LEAD = re.compile(
    r"(?:(?:and|also|please|pls|ok(?:ay)?|so|but|no+|nope|btw|hey|oh|omfg|dude|man|yes|yeah|then|just|fyi|"
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
    r"\S*\w/\S*)"
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
_DOES = r"(?:us|writ|put|run|keep|nam|call|stor|commit|push|deploy|test|format|lint|build|releas|merg|rebas|squash)\w*"


def _cue(rule: str, kind: Kind, confidence: float, pattern: str, *, standing: bool = True, names: bool = True) -> Cue:
    return Cue(f"user-{rule}", kind, confidence, re.compile(pattern, re.IGNORECASE), standing, names)


def without_lead(sentence: str) -> str:
    """What is said, without the words that only lead up to it: cues look for how it begins."""
    found = _LEAD.match(sentence)
    return sentence[found.end() :] if found else sentence


CUES = (
    _cue("directive", "preference", 0.9, r"^(?:always|never)\s+(?!mind|been|was|had|seen|works?\b|worked)\w+"),
    _cue(
        "directive",
        "preference",
        0.9,
        r"\b(?:you|we|agents?|everyone|all \w+|every \w+)\s+(?:should|must|need to|have to)\s+(?:always|never)\b",
    ),
    _cue(
        "directive",
        "preference",
        0.9,
        r"^(?:from now on|from here on|going forward|in (?:the )?future|henceforth|for future reference|"
        r"next time|for all future)\b",
    ),
    _cue("directive", "preference", 0.9, r"^(?:don['’]?t|do not)\s+(?:you )?ever\b"),
    _cue("directive", "preference", 0.9, rf"^{_NOT}\b.{{4,}}\b(?:ever )?again\W*$"),
    _cue("directive", "preference", 0.85, r"^(?:every|each) time\b.{8,}|" + r"^whenever\b.{8,}"),
    _cue(
        "directive",
        "preference",
        0.85,
        r"^(?:make|be) sure (?:you |to |that (?:you|we) )?(?:always|never)\b",
    ),
    _cue(
        "permission",
        "preference",
        0.9,
        rf"^{_NOT}\b.{{3,}}\b(?:without (?:asking|checking with|confirming|my (?:ok|permission|approval)|being "
        r"asked|explicit)|unless (?:I|we) (?:say|ask|tell|explicitly|approve|request)|unless (?:explicitly )?(?:asked|"
        r"told|requested|instructed)|until I (?:say|tell|approve|confirm|ask))\b",
        names=False,
    ),
    _cue(
        "permission",
        "preference",
        0.85,
        r"^(?:always )?(?:ask|check with|confirm with|consult) (?:me|us)(?: first)?,? "
        r"(?:before|whenever|if you)\b"
        r"\W+(?:you )?(?:ever )?\w+" + _AT_HAND,
        names=False,
    ),
    _cue("permission", "preference", 0.85, r"^(?:don['’]?t|do not|"
         r"never) make (?:\w+ )?decisions\b.{5,}", names=False),
    _cue(
        "condition",
        "preference",
        0.85,
        rf"^(?:before|after|when|once|if)\s+(?:you(?:['’]re)?\s+|we\s+|an?\s+\w+\s+)?(?:ever\s+)?{_WHENEVER}"
        + _AT_HAND + rf"\b[^,]*,\s*{_THEN}\b.{{3,}}",
    ),
    _cue(
        "condition",
        "preference",
        0.85,
        rf"^(?:always )?(?:run|updat|check|bump|regenerat|rebuild|restart|re-?run|format|lint|test)\w*\b.{{3,}}\b"
        rf"(?:before|after|whenever|every time|each time|on|for)\s+(?:every\s+|each\s+|any\s+|you\s+|we\s+|"
        rf"you\s+ever\s+)"
        rf"?{_WHENEVER}" + _AT_HAND,
    ),
    _cue("condition", "preference", 0.85, r"^(?:any|every|each)\s+(?:new )?[\w-]+\s+(?:must|needs?(?: to)?|has "
         r"to|should)\b(?! be (?:able|sure))"),
    _cue("remember", "fact", 0.9, r"^(?:remember|keep in mind|bear in mind|don['’]?t forget)(?:\s+that\b|:|,)"
         r".{16,}", names=False),
    _cue("remember", "preference", 0.85, r"^(?:don['’]?t forget|remember) to (?:always )?\w+.*\b(?:when|whenever|"
         rf"before|after|every|each)\b\s+(?:you\s+)?{_WHENEVER}" + _AT_HAND),
    _cue(
        "preference",
        "preference",
        0.85,
        r"^(?:I|we)(?:['’]d| would)?\s+(?:much\s+|strongly\s+|really\s+|always\s+|generally\s+)?prefer\s+"
        r"(?!(?:that|this|it|option|the|your|a different|to (?:keep|have|see) (?:it|this|that|the))\b)\S.{8,}",
        names=False,
    ),
    _cue("preference", "preference", 0.85, r"^prefer\s+\S.*\b(?:over|to|instead of|rather than)\b"),
    _cue("preference", "preference", 0.8, r"^(?:I|we)(?: really| strongly)?\s+(?:dislike|hate|don['’]?t like)\b"),
    _cue(
        "house-rule",
        "preference",
        0.8,
        r"^(?:we|this (?:project|repo|repository))\s+(?:only\s+)?(?:uses?|don['’]?t use|do not use|never use|"
        r"doesn['’]?t use)\s+\S.*(?:,\s*not\b|\binstead of\b|\bnever\b|\bonly\b|\bnot\s+\w+)",
    ),
    _cue("house-rule", "preference", 0.8, r"^(?:we|this (?:project|repo|repository))\s+(?:don['’]?t|doesn['’]?t|"
         r"do not|does not|never)\s+(?:ever\s+)?(?:use|write|commit|mock|allow|support)\s+(?!(?:it|this|that|them|"
         r"the|any of)\b)", names=False),
    _cue(
        "house-rule",
        "preference",
        0.8,
        rf"^(?:here |in this (?:project|repo)\w* )?we (?:always|never|usually|typically|generally|normally|only|"
        rf"tend to|try to) {_DOES}\b",
    ),
    _cue(
        "house-rule",
        "preference",
        0.8,
        r"\b(?:our|the (?:project['’]?s|team['’]?s|house))\s+(?:\w+ )?(?:convention|standard|policy|rule|practice|"
        r"style|guideline)s?(?: here| for [\w ]+)?(?:\s+(?:is|are|says?)\b|:)",
        names=False,
    ),
    _cue("house-rule", "preference", 0.8, r"\bconvention (?:here|in this \w+) is\b|"
    r"\bby convention,?\s+\w+", names=False),
    _cue(
        "house-rule",
        "preference",
        0.75,
        r"\b(?:use|do|follow|call|write|put|match|stick)\b.*\b(?:like|as|the way|same as)\s+we (?:already )?(?:do|did|"
        r"have)\b.*\b(?:everywhere|elsewhere|all (?:the )?other|in (?:the )?other|for (?:the )?other)",
        names=False,
    ),
    _cue(
        "house-rule",
        "preference",
        0.75,
        r"^(?!(?:it|this|that|the (?:latter|former|first|second))\b).{4,}\bis (?:the|our) (?:\w+ )?(?:preferred|"
        r"standard|canonical|definitive|recommended|usual|official)\s+\w+",
    ),
    _cue("house-rule", "preference", 0.75, r"\b(?:use|take|try|treat)\b.*\bas the (?:definitive|canonical|"
         r"reference|standard) \w+", names=False),
    _cue(
        "location",
        "fact",
        0.8,
        r"^(?:the|our|my|all|unit|integration|e2e|end-to-end)\s+(?!(?:error|output|result|issue|bug|example|data|"
        r"problem|screenshot|fix|change|following|file|line|one|log)s?\b)(?:[\w.'’-]+\s+){1,5}?(?:is|are|lives?|sits?|"
        r"resides?|can be found|(?:is|are) (?:located|kept|stored|defined)|go(?:es)?|belongs?)\s+(?:\w+ly )?(?:in|"
        r"at|under|"
        r"inside)\s+(?:the\s+)?(?:`[^`\s]+`|@?(?:\.{0,2}/)?[\w.@-]+/[\w./@*-]*|\.{1,2}/[\w.@-]+)",
    ),
    _cue(
        "location",
        "fact",
        0.8,
        r"^(?:the|our)\s+(?:[\w.'’-]+\s+){1,4}?(?:runs?|listens?|is (?:running|served|listening|exposed))\s+on\s+"
        r"(?:port\s+\d{2,5}|localhost:\d{2,5}|https?://localhost:\d{2,5})",
    ),
    _cue(
        "about-project",
        "fact",
        0.8,
        r"^(?:the |our |all |everything (?:in|under) )?(?:(?:`[^`]+`|[\w./*-]*[./_][\w./*-]*)(?: \w+)?|[\w-]+ "
        r"(?:files?|code|folder|directory|module|package|client|types))\s+(?:is|are)\s+(?:auto-?generated|generated|"
        r"vendored|deprecated|legacy|obsolete|read-?only|no longer (?:used|maintained)|not used any ?more|checked in|"
        r"gitignored|a submodule|a symlink)\b",
    ),
    _cue(
        "about-project",
        "fact",
        0.75,
        r"(?:^|[,;]\s+)this (?:repo|repository|project|codebase|package|library|app)?\s*is (?:an? |"
        r"still |not an? )?(?:\w+ )?"
        r"(?:monorepo|OSS|open[- ]source|private|public|internal|prototype|library|in dev\w*|pre-?release|fork)\b",
        names=False,
    ),
    _cue(
        "about-project",
        "fact",
        0.8,
        r"^(?:we|this (?:project|repo))(?: only|['’]re| are)?\s+(?:support|target|on|still on|stuck on|require|"
        r"need to support|have to support|must support)s?\s+(?:Python|Node|Go|Java|Ruby|PHP|React|Rust|\.NET|Postgres"
        r"\w*|iOS|Android|Windows|macOS|Linux|TypeScript|Django|Rails)\b",
    ),
    _cue(
        "how-to",
        "fact",
        0.8,
        r"^(?:to|in order to)\s+(?:run|build|test|deploy|start|releas|lint|format|reset|seed|migrat|regenerat|"
        r"publish|debug|install|updat)\w*\b[^,`]{0,60},?\s+(?:you (?:can |must |should |need to |have to )?|we |just |"
        r"please )*(?:use|run|do|call|type|execute|go through)\s+(?:the\s+)?(?:`[^`]+`|(?:make|npm|pnpm|yarn|bun|just|"
        r"cargo|go|uv|poetry|docker|python3?|bundle|mix|\./\S+|scripts?/\S+)\b)",
    ),
    _cue(
        "how-to",
        "fact",
        0.8,
        r"^(?:the )?(?:tests|e2e tests|unit tests|integration tests|app|server|project|docs|migrations|linter)\s+"
        r"(?:are|is|can be|must be|should be|have to be)\s+(?:run|built|started|deployed|generated|applied)\s+(?:with|"
        r"via|through|by|using|from)\s+(?:the\s+)?(?:`[^`]+`|\S*/\S+|(?:make|npm|pnpm|yarn|bun|just|docker)\b)",
    ),
    _cue("told-before", "preference", 0.85, r"\bI(?:['’]ve| have)?\s+(?:already |just )?(?:told|asked)\s+you\s+(?:\w+ "
         r"(?:times )?)?(?:not to|never to|to (?:always|never|only|stop|use|run|ask))\b"),
    _cue("told-before", "preference", 0.8, rf"^(?:stop|quit)\s+{_WORK}\b(?:{_AT_HAND}|(?={_STANDING_THING}))",
         standing=False),
    _cue("prohibition", "preference", 0.7, r"^avoid\s+(?!(?:the|this|that|it|them|these|those)\b)\S",
         standing=False),
    _cue(
        "prohibition",
        "preference",
        0.7,
        rf"^{_NOT}\s+{_WORK}\b(?:{_AT_HAND}|(?={_STANDING_THING}))\s+\S",
        standing=False,
    ),
)  # fmt: skip
