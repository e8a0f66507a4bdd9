"""Tells a value drawn by chance from a name, a hash or an id, where little else tells that it is a secret."""

from __future__ import annotations

import re

from hardwon.scrub.placeholders import is_example, is_stand_in
from hardwon.scrub.rule import SOLID, Candidate
from hardwon.scrub.shapes import entropy, is_name

_DIGIT = re.compile(r"\d", re.A)
_SMALL = re.compile(r"[a-z]")
_CAPITAL = re.compile(r"[A-Z]")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
_HEX = re.compile(r"[0-9a-f]+", re.I)
_ALPHABET = re.compile(r"abcdefghijkl|0123456789|9876543210", re.I)
_WORDS = re.compile(r"[A-Z]?[a-z]{4,}|[A-Z]{5,}")
_CHANGES = re.compile(r"(?<=\d)[A-Za-z]|(?<=[A-Za-z])\d", re.A)
_PART_BREAK = re.compile(r"[-_./:+~]+")
_VERSIONED = re.compile(r"[A-Za-z]*+\d{0,2}|[A-Za-z]?\d++|[A-Za-z0-9]{1,4}", re.A)
_ADDRESS = re.compile(r"[./~]|[a-z][a-z0-9+.-]*:|(?:sha|md)\d{1,3}[-:=]|\d{4}-\d\d-\d\d", re.I)
_SOLID_RUN = re.compile(rf"(?=[A-Za-z_-]{{0,255}}\d)[A-Za-z0-9_-]{{{SOLID}}}", re.A)
"""What the gate looks for behind a service's name."""
_QUOTES = "\"'"
_LEAST_ENTROPY = 3.0
_LEAST_MIXED_ENTROPY = 3.7
_MOST_WORDS = 0.5
_FEWEST_CHANGES = 4
_FEWEST_OF_EACH = 2

_NO_SECRET = re.compile(
    r"(?:ids?|uuid|guid|urls?|uri|host|hash|sha\d*|md5|digest|checksum|commit|rev(?:ision)?|etag|integrity|image|version"
    r"|tag|name|path|file|branch|ref|public|fingerprint|nonce|trace|request|build|dsn|sum|module|package|h1)[\"'\]]?\Z"
    r"|\bv?\d++\.\d++(?:\.\d|[ -])"
)
_NO_SECRET_KEY = re.compile(
    r"(?:public|pub|primary|foreign|sort|cache|partition|hash|row|bucket|idx|index|schema|sequence|natural|hot|group|hoc"
    r"|mon|don|tur|whis|issuer|object|map|dict|lookup|unique|state|query|route|idempotency|dedupe?|translation|i18n|item"
    r"|list|react|storage|s3|blob|file|host|job|step|node|entity|record|event|message|metric|tag|restore|chunk|layer"
    r"|artifact|asset|image|build|run|trace|request|lock|mutex|redis|kv|shard|topic|room|thread|field|column|config"
    r"|setting|option|prop|param|attr|data|order|parent|child|root|node|tree|page|cursor|view|test|fixture)[_. -]?\Z"
)
_PREFIX = re.compile(r"(?:\A|[^\w+/=.@%#-])[a-z][a-z0-9]{1,15}(?:[_-][a-z0-9]{1,12}){0,3}[_-]\Z")
_NO_TOKEN_PREFIX = re.compile(
    r"(?:sha\d+|md\d|hash|commit|cache|chunk|build|id|uuid|msg|toolu|call|req|resp|run|thread|file|chatcmpl|layer|blob"
    r"|image|asset|class|css|sc|jsx|style|nonce|etag|rev|trace|span|event|evt|integrity|index|page|test|h1)[_-]\Z"
)


def drawn(value: str, *, least: int = 16) -> bool:
    """Whether letters and digits stand there as only chance puts them."""
    value = value.rstrip("=")
    if len(value) < least or not _DIGIT.search(value) or not (_SMALL.search(value) or _CAPITAL.search(value)):
        return False
    if entropy(value) < _LEAST_ENTROPY or is_name(value) or _ADDRESS.match(value) or _ALPHABET.search(value):
        return False
    return not _is_worded(value) and not is_example(value) and not is_stand_in(value)


def _is_worded(value: str) -> bool:
    """Words with some digits, as in `ResourceGroup2024Backup` or `claude-3-5-sonnet-20241022`."""
    parts = _PART_BREAK.split(value)
    if len(parts) > 1 and all(_VERSIONED.fullmatch(part) for part in parts):
        return True
    if _SMALL.search(value) and _CAPITAL.search(value):
        return sum(len(word) for word in _WORDS.findall(value)) > _MOST_WORDS * len(value)
    return len(_CHANGES.findall(value)) < _FEWEST_CHANGES


def mixed(value: str) -> bool:
    """The same, of small and capital letters and digits: no hash or UUID has all three."""
    if any(len(sign.findall(value)) < _FEWEST_OF_EACH for sign in (_SMALL, _CAPITAL, _DIGIT)):
        return False
    return entropy(value) >= _LEAST_MIXED_ENTROPY and drawn(value)


def is_compound_key(candidate: Candidate) -> bool:
    """Whether the value of `klaviyoKey` or `gh-key` was drawn by chance, and no `cacheKey` is named."""
    start = candidate.match.start("name")
    before = candidate.text[max(0, start - 24) : start].lower()
    if _NO_SECRET_KEY.search(before) or _UUID.fullmatch(candidate.value):
        return False
    return mixed(candidate.value) if before.endswith((" ", "?", "&")) else drawn(candidate.value)


def is_named_secret(candidate: Candidate) -> bool:
    """Whether the value was drawn by chance, and the name's end does not tell that it is an id or a path."""
    return not _NO_SECRET.search(candidate.group("name").lower()) and drawn(candidate.value)


def is_vendor_key(candidate: Candidate) -> bool:
    """Whether a value drawn by chance is given to a name with a vendor in it."""
    value = candidate.value
    if candidate.group("sign") == "," and candidate.text[candidate.match.start("secret") - 1] not in _QUOTES:
        return False
    if _NO_SECRET.search(candidate.group("name").lower().rstrip()):
        return False
    return bool(_SOLID_RUN.search(value)) and (bool(_UUID.fullmatch(value)) or drawn(value))


def is_prefixed(candidate: Candidate) -> bool:
    """Whether what follows `name_` is a token: the prefix alone begins many an id."""
    start = candidate.match.start("secret")
    before = candidate.text[max(0, start - 48) : start]
    return bool(_PREFIX.search(before)) and not _NO_TOKEN_PREFIX.search(before) and mixed(candidate.value)


def is_told_secret(candidate: Candidate) -> bool:
    """Whether what follows the word `secret` in a sentence is one."""
    return bool(_UUID.fullmatch(candidate.value)) or drawn(candidate.value)


def is_told_key(candidate: Candidate) -> bool:
    """The same after `token` or `key`, where hashes and ids stand too."""
    value = candidate.value
    if mixed(value):
        return True
    return len(value) >= 32 and not (_HEX.fullmatch(value) or _UUID.fullmatch(value)) and drawn(value)
