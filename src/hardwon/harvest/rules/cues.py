"""The phrases by which a person lays something down: a table of those that real sessions were seen to hold."""

from __future__ import annotations

import re
from typing import NamedTuple

from hardwon.harvest.rules.lesson_rule import lazy_pattern
from hardwon.model.lesson import Kind

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
