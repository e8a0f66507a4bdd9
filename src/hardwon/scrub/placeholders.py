"""Tells what people write where a secret would stand: templates, masks, stand-ins, documentation's examples."""

from __future__ import annotations

import re
from functools import lru_cache

_TEMPLATE = re.compile(
    r"\$(?:[A-Z_][A-Z0-9_]*|[a-z][A-Za-z_]*\d?|\d)\Z"
    r"|.{0,40}?(?:\$\{[\w.:?!#%@/\[\]\" '|*-]*\}|\$\([^()]|\$\{\{"
    r"|\{\{[\w\s.|:$\"'()!/-]*(?:\}\}|\Z)|(?<![A-Za-z0-9])\$\{?[A-Za-z_]\w*(?:\Z|/))"
    r"|%\w+%\Z|%\(\w+\)|%[a-z]\Z|<[^<>]*>?\Z|&lt;|\[[\w ./|-]+\]\Z"
    r"|#?\{(?:[\w.:-]*\}|[\"'])"
    r"|!(?:Ref|Sub|GetAtt|ImportValue|secret|vault|env)\b"
    r"|@(?:Microsoft\.KeyVault|param|secret)|(?:op|vault|ssm|secretsmanager|keychain|env|file)://?|valueFrom|(?i:enc)\("
    r"|!?(?i:process\.env|import\.meta|os\.(?:environ|getenv)|env|secrets?|vars?|config|self|this"
    r"|args|options|settings|ctx|req|request|params|props|data|exports|local|module|each)[.?\[]"
    r"|[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++\Z|@[A-Za-z][A-Za-z_]*@\Z|'\$",
    re.A,
)
_MASK = re.compile(r"[*•.xX#_-]{3,}|…|0{6,}")
_NAMELESS = (
    r"^(?:(?:my|the|an?|new|old|test|fake|user|db|your|some|root|admin|bad|wrong|invalid|valid|plain|secret)[_-]?)?"
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|key|value)[_-]?\d{0,3}$"
)
_WORD_ITSELF = re.compile(_NAMELESS, re.I | re.A)
_STAND_IN = re.compile(
    r"(?:^|[^a-z])(?:your|insert|replace|change[_-]?me|change[_-]?this|placeholder|redacted|masked|hidden|removed|dummy"
    r"|example|todo|tbd|undefined|null|none|not[_-]?set|same[_-]?as|goes[_-]?here|(?:some|any|my)[_-]?(?:random|secure"
    rf"|strong|long|secret|super))(?:$|[^a-z])|{_NAMELESS}",
    re.I | re.A,
)
_EXAMPLES = (
    "EXAMPLE",
    "YOUR_",
    "YOUR-",
    "_YOUR",
    "-YOUR",
    "PLACEHOLDER",
    "REDACTED",
    "CHANGEME",
    "DUMMY",
    "...",
)
_FILLED_IN_LATER = re.compile(
    r"<[^<>]{0,60}(?:>|\Z)|\$\{[\w.:?!#%@/\[\]\" '|*-]*(?:\}|\Z)|\{\{[\w\s.|:$\"'()!/-]*(?:\}\}|\Z)", re.A
)
_FEWEST_SIGNS = 3
_REMEMBERED = 2_048
"""Verdicts: the values of a session are few and come again and again."""


@lru_cache(maxsize=_REMEMBERED)
def is_template(value: str) -> bool:
    """`${TOKEN}`, `<token>`, `DB_PASSWORD`, `****`: where a value would be filled in or hidden."""
    return bool(_TEMPLATE.match(value)) or (
        bool(_MASK.search(value)) and len(_MASK.sub("", value)) < min(8, len(value))
    )


@lru_cache(maxsize=_REMEMBERED)
def is_stand_in(value: str) -> bool:
    """A template, or a word people write instead of a secret: `your-token`, `changeme`."""
    return is_template(value) or bool(_STAND_IN.search(value))


def is_word_itself(value: str) -> bool:
    """`password`, `my-token`: what the value is called, in place of one."""
    return bool(_WORD_ITSELF.search(value))


def is_example(token: str) -> bool:
    """A token of a known form that was never one: `AKIA…EXAMPLE`, `ghp_xxxxxxxx`."""
    if len(set(token[-12:])) < _FEWEST_SIGNS:
        return True
    loud = token.upper()
    return any(word in loud for word in _EXAMPLES) or bool(_FILLED_IN_LATER.search(token))
