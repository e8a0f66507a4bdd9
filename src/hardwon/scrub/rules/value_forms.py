"""What a word looks like that may be a password; which forms no password has, and which words are too common."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from hardwon.scrub.shapes import (
    NO_WORD_OF_A_PHRASE,
    is_code,
    is_letter_salad,
    is_path,
    is_stand_in,
    is_test_name,
)

WORDS = "common_words.txt"

# Words that only link others.

SAYS = frozenset(
    "is was be are now remains it's its will ist wird lautet war jetzt est c'est était sera es era será é foi è"
    " sarà diventa är var er on oli reads equals jest je este fost olarak adalah là most yra bo był будет это был"
    " είναι هي היא है hai still just only currently noch immer toujours siempre sigue ainda sempre wciąż becomes"
    " became itself namely called named pedig to wäre sería seria sarebbe blir heter wordt".split()
)
MAKES = frozenset(
    "to as auf als na à comme como come jako как en type enter use using try with answer set put given tippe gib nimm"
    " utilise usa use pon mets coloca met mit avec con com med z ze с введи введите ist: into takes wpisz ustaw".split()
)
BELONGS = frozenset(
    "for of on at in from by via per für von bei an pour sur de du des para en del di su dla do для от and or the"
    " a an der die das dem le la el il het los las this that your my our their his its und et y e i oder if when"
    " not no every each any with against into than before after".split()
)
FUNCTION = SAYS | MAKES | BELONGS

# What a word looks like.

_TECHNICAL = re.compile(
    r"(?:argon2|pbkdf2|[bs]crypt|sha-?\d|md\d|base\d|utf-?\d|aes-?\d|hmac|rsa|ed25519|pkcs|oauth|saml|jwt|scram)[a-z\d._+-]*"
    r"|(?:x|i|v|k|h|l|es)\d{1,4}n?|(?:python|node|java|rfc|cve|cwe|iso|ipv|http|tls|ssh|log4j|step|phase|level|test|user|case"
    r"|line|item|page|issue|task|part|arg|var|role|port|varchar|char|int|string|utf)[-_. ]?[\d.]*",
    re.I | re.A,
)
_QUANTITY = re.compile(r"[<>≥≤~+#-]?\d[\d.,]*[-–+]?[A-Za-z%°*]{0,2}|\d+[/x:]\d+\S*|\d{4}-\d\d.*|v?\d+\.\d+\S*", re.A)
_FILE = re.compile(r"[\w./\\~@-]+\.[a-z]{1,5}\d?(?::\d+.*)?", re.A)
_FILE_ENDINGS = frozenset(
    "py js ts tsx jsx mjs go rs rb java kt c h cpp cs php sh md txt json yml yaml toml ini cfg conf env lock html"
    " css scss sql xml log pem key crt jks p12 gpg zip gz tgz tar bak vue svelte swift dart ex exs lua pl r ps1"
    " bat net io com org dev local lan internal so dll exe pdf csv tf enc db".split()
)
_OWN = re.compile(r"passw|passphr|token|secret|credential|login|api_?key|passwd|pwd", re.I)
_PARTS = re.compile(r"[-_./&+'^=]+")
_SYMBOL = re.compile(r"[!@#$%^&*~?+]")
_WORD_NUMBER = re.compile(r"[^\W\d_]{3,}\d+")
_LETTERS = re.compile(r"[^\W\d_]")
_DIGITS = re.compile(r"\d", re.A)
_FORMAT = re.compile(r"(?<![\w%!@#$^&*~?])%[a-zA-Z](?!\w)|%\(")
_ADDRESS = re.compile(
    r"[\w.-]+:\d+/|\d+\.\d+\.\d+|[#.][a-z-]+\Z|[^|]*\|[^|]*\||.*\\[nt]|![a-z_]+\Z|@[\w./-]+\Z|\d+:[a-z]|[A-Za-z_][\w.-]*=[^=]|[A-Za-z][\w.-]*:[^\s:]+\Z"
)
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}")
_NO_PHRASE = re.compile(r"[(){}<>%=:;?,]|[.][ ]|\A[A-Z][a-z]+[ ][a-z]")
_CHUNK = re.compile(r"[^\W\d_]\d+[^\W\d_]|\d[^\W\d_]{2}|[a-z][A-Z]+\d")
_BRACKET = re.compile(r"[(){}\[\]]")
_MIN_CHARACTERS = 4
_LAST_GREEK_OR_SLAVIC = "\u0530"
_CALL = re.compile(r"[(.]|->|&&|=>")
_ENDS_AS_SAID = re.compile(
    r"(?:ed|ing|ly|able|ible|ment|tions?|sion|ness|ity|[ae]nce|[ai][sz]e|ate|ful|less|ous|ive|ary|ory|ism|ship|ized|isé|ung|lich|isch|iert"
    r"|mente|ción|ção|ée?s?|ado|ada|ido|ida|ный|ная|ение|ować|ość|mek|iyor|adı|edi)\Z"
)
_CAMEL = re.compile(r"[a-zß-ÿ][A-ZÀ-Þ]")
_CALLED = re.compile(
    r"\A(?:get|set|is|has|on|use|handle|fetch|load|create|update|validate|check|self|this|user|req|form|config)(?:[A-Z_.]|\Z)"
)


@cache
def _common() -> frozenset[str]:
    """Words that texts are full of, which a password seldom is."""
    return frozenset(files("hardwon.scrub").joinpath(WORDS).read_text(encoding="utf-8").split())


def is_common(word: str) -> bool:
    word = word.lower()
    common = _common()
    return word in common or word in FUNCTION or (word.endswith("s") and word[:-1] in common)


@lru_cache(maxsize=4096)
def shape(value: str) -> str:
    """What kind of word it is; empty for what is no password wherever it stands."""
    value = value.strip("*:_")
    if not value or is_stand_in(value) or _FORMAT.search(value) or "://" in value or is_test_name(value):
        return ""
    if is_path(value) and not (value[0] == "~" and _SYMBOL.search(value[1:])):
        return ""
    if _ADDRESS.match(value) or _TECHNICAL.fullmatch(value):
        return ""
    if _HASH.fullmatch(value):
        return "hash"
    if " " in value:
        return _phrase(value)
    digits, symbols = bool(_DIGITS.search(value)), bool(_SYMBOL.search(value[1:-1]))
    if (is_code(value) or _CALLED.search(value)) and not (digits and symbols and not _CALL.search(value)):
        return ""
    if not digits and not symbols and _BRACKET.search(value):
        return ""
    if value.isdigit():
        return "digits" if len(value) >= _MIN_CHARACTERS else ""
    if value[0] > _LAST_GREEK_OR_SLAVIC and not digits:
        return ""
    if len(value) < _MIN_CHARACTERS or not _LETTERS.search(value) or _QUANTITY.fullmatch(value):
        return ""
    if _OWN.search(value):
        return "own-name-9" if digits or symbols else ""
    if value.isalpha():
        return _letters(value)
    if symbols:
        return "symbols-9" if digits else "symbols"
    if _FILE.fullmatch(value) and value.rpartition(".")[2].partition(":")[0].lower() in _FILE_ENDINGS:
        return ""
    return _parts(value, digits)


def _phrase(value: str) -> str:
    words = re.findall(r"[^\W\d_]+", value)
    if not 2 <= len(words) <= 16 or _OWN.search(value) or _NO_PHRASE.search(value):
        return ""
    return "phrase-common" if sum(map(is_common, words)) > len(words) / 2 else "phrase"


def _letters(value: str) -> str:
    if is_common(value):
        return ""
    if value.islower():
        return "said-word" if _ENDS_AS_SAID.search(value) else "word"
    if value.isupper():
        return "WORD"
    if is_letter_salad(value):
        return "salad"
    return "camelCase" if _CAMEL.search(value) else "Word"


def _parts(value: str, digits: bool) -> str:
    ended = _SYMBOL.search(value[-1:]) is not None
    parts = [part for part in _PARTS.split(value.rstrip("!@#$%^&*~?+")) if part]
    words = [part for part in parts if part.isalpha()]
    if len(parts) > 1 and not NO_WORD_OF_A_PHRASE.isdisjoint(map(str.lower, words)):
        return ""
    common = sum(is_common(word) or bool(_ENDS_AS_SAID.search(word)) for word in words)
    if not digits:
        if ended and len(parts) == 1:
            return "" if common else "word!"
        return "joined-common" if common == len(parts) else "joined-mixed" if common else "joined"
    if len(parts) > 1:
        if any(_CHUNK.search(part) for part in parts) or (_CAMEL.search(value) and not common):
            return "chunks"
        return "name-9" if common == len(words) else "joined-9"
    if ended:
        return "word-9!"
    if _WORD_NUMBER.fullmatch(value):
        return "common-9" if is_common(value.rstrip("0123456789")) else "word-9"
    return "drawn"
