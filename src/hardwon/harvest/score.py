"""How likely a sentence that a person typed is worth telling in later sessions: a small linear model.

It looks at form, not at meaning: what kind of sentence it is, whether it speaks of all or of one, of now or of always.
`make train` fits the weights (`worth.json`) and prints how well they do on projects that they were not fitted on.
"""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from importlib.resources import files

from hardwon.text.lazy_pattern import lazy_pattern

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
_PATTERNS = {name: lazy_pattern(pattern, re.IGNORECASE) for name, pattern in _FORMS.items()}
_CHARACTERS_PER_WORD_WITHOUT_SPACES = 2.5
_LONG_MESSAGES = (300, 800, 2_000)
_WORDS = (4, 7, 12, 20, 32)


def features(
    sentence: str, *, first: bool = False, item: bool = False, nth: int = 0, length: int = 0, stopped: bool = False
) -> list[str]:
    """The names of what is to be seen in a sentence and of where it stands."""
    found = [name for name, pattern in _PATTERNS.items() if pattern.search(sentence)]
    words = len(sentence.split()) if sentence.isascii() else len(sentence) / _CHARACTERS_PER_WORD_WITHOUT_SPACES
    found += [f"{count} words" for count in _WORDS if words >= count]
    found += [f"message of {count}" for count in _LONG_MESSAGES if length >= count]
    placed = {"first request": first, "item": item, "leads": nth == 0, "far down": nth > 10, "after a stop": stopped}
    return found + [name for name, holds in placed.items() if holds]


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
    found: dict[str, float] = json.loads(files("hardwon.harvest").joinpath("worth.json").read_text("utf-8"))
    return found
