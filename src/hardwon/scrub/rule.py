"""What a rule is, the mark that stands where a secret was found, and the rules for personal data."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import re
import string
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from hardwon.text import normalise
from hardwon.text.normalise import MARK_CLOSE, MARK_OPEN, MARK_TAG_CHARACTERS

PERSONAL = ("email", "phone", "ip", "card", "url")
"""Kinds that are no secrets but tell of a person: their marks have no `secret:` before the kind."""
SOLID_RUN_CHARACTERS = 20
TOKEN_REACH_CHARACTERS = 32
"""How far before such a run the keyword of a token may begin."""
NAME_REACH_CHARACTERS = 128
"""The same for the name that a key is given to; there the run has a digit."""


class Span(NamedTuple):
    """A stretch of text to replace by a mark with this label."""

    start: int
    end: int
    label: str


class Candidate(NamedTuple):
    """What a pattern matched, before the rule's last word on it."""

    value: str
    """The secret as the text has it; the match may have been made on a lowercase copy."""
    match: re.Match[str]
    text: str

    def group(self, name: str) -> str:
        """The text of a group; empty if the pattern has none of that name or it took no part."""
        try:
            start, end = self.match.span(name)
        except IndexError:
            return ""
        return self.text[start:end]


Accepts = Callable[[Candidate], bool]


def always(_candidate: Candidate) -> bool:
    return True


Places = Callable[[str], Iterator[int]]


class Rule(NamedTuple):
    """One kind of secret.

    `pattern` runs only over a text that holds one of `keywords`. Its group `secret`, or else the
    whole match, is replaced, with `before` characters that a look-behind has checked. With
    `any_case` it runs over a lowercase copy of the text, so it and its keywords are written in
    lowercase. `accepts` has the last word, where a pattern alone would hit ordinary code.

    To be fast a pattern begins with a literal; what must stand before it is looked at after. To
    be linear it may fail only after a bounded look ahead: it ends in an open repetition, or it
    cannot begin inside its own run.
    """

    kind: str
    about: str
    """Whose secret it is, for people."""
    source: str
    """The pattern as text: it is compiled when a text first needs it, and most are never needed."""
    keywords: tuple[str, ...]
    accepts: Accepts = always
    any_case: bool = False
    before: int = 0
    solid: bool = False
    """Every match holds a run of `SOLID_RUN_CHARACTERS` letters, digits, `_` and `-`, a digit or capital among them,
    and a keyword in that run or shortly before it."""
    base64: bool = False
    """The run may also hold `+`, `/` and `=`."""
    shaped: bool = False
    """The keywords are shapes of numbers: `0` in them stands for any digit."""
    whole: bool = False
    """What `accepts` refuses is passed over whole: no part of it is another candidate."""
    places: Places | None = None
    """Where the pattern can match at all, found faster than by a search for it."""
    probe: str = ""
    """A simpler pattern for hyperscan that matches at least wherever `pattern` does; else it is derived."""

    @property
    def pattern(self) -> re.Pattern[str]:
        return compiled(self.source)

    @property
    def label(self) -> str:
        return self.kind if self.kind in PERSONAL else f"secret:{self.kind}"

    @property
    def group(self) -> str | int:
        """What to replace: the part named `secret`, or all of it."""
        return "secret" if "(?P<secret>" in self.source else 0


@cache
def compiled(source: str) -> re.Pattern[str]:
    return normalise.compiled(source, re.ASCII | re.MULTILINE)


# What stands in a text where a secret stood: typed, and the same wherever the same value stood.


class Marks:
    """Gives every distinct value of a label a name of its own.

    With a store's key that name is a keyed hash, so that it is the same in every session and process,
    and nobody without the key can tell what stood there; without one, values are numbered as they come.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key
        self._names: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def of(self, label: str, value: str) -> str:
        """The mark that stands for a value: `‹secret:token:1›`."""
        name = self._names.get((label, value))
        if name is None:
            name = self._names[label, value] = self._hashed(label, value) if self._key else self._next(label)
        return f"{MARK_OPEN}{label}:{name}{MARK_CLOSE}"

    def _next(self, label: str) -> str:
        self._counts[label] = self._counts.get(label, 0) + 1
        return str(self._counts[label])

    def _hashed(self, label: str, value: str) -> str:
        """20 bits: enough to tell the secrets of a store apart, too few to prove a guess by."""
        said = f"{label}\0{value}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(said, key=self._key or b"", digest_size=5, person=b"scrub").digest()
        return base64.b32encode(digest).decode("ascii").lower()[:MARK_TAG_CHARACTERS]


def cover(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """The same text with these stretches of it as `blank` would leave marks there."""
    pieces: list[str] = []
    done = 0
    for start, end, _ in spans:
        pieces += (text[done:start], MARK_OPEN * (end - start))
        done = end
    return "".join(pieces) + text[done:]


# What tells of a person: e-mail addresses, telephone numbers, IP addresses, card numbers.

_MAX_MAILBOX_CHARACTERS = 64
_DOMAIN = re.compile(r"@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_(\[-])")
_MAILBOX_BACKWARDS = re.compile(r"[A-Za-z0-9_+](?:[A-Za-z0-9._%+-]{0,62}[A-Za-z0-9_])?")
_VERSION = re.compile(r"@v?\d+\.\d+\.")
# Endings of files that are no top-level domains.
_FILE_ENDINGS = frozenset(
    "png jpg jpeg gif svg webp ico css scss html xml txt js mjs cjs ts tsx jsx json rb go java kt"
    " jar whl yml yaml toml lock gz tgz".split()
)
_USER_INFO = re.compile(r"://[^\s/@\"'<>]*\Z")

_PARTLY_RESERVED = frozenset((0, 10, 100, 127, 169, 172, 192, 198, 203, *range(224, 256)))
"""The first numbers of the networks that are not public, or not wholly."""
_ENDS_NO_NAME = "0123456789,;\n"
_KNOWN_ADDRESSES = frozenset({"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "1.2.3.4", "4.4.4.4"})
_BEFORE_ADDRESS = re.compile(
    r"(?i)(?:\b(?:ips?|ip_?addr(?:ess)?|addr(?:ess)?|host|hosts|from|to|client|server|peer|remote|ping|ssh|dst|src|at|on)\b"
    r"|://|@)[\"']?[ \t]*[:=(\[]?[ \t]*[\"']?\Z"
)
_SHAPE = bytes(ord("0") if chr(byte) in string.digits else ord(" ") for byte in range(256))
_LONG_NUMBER = b"0" * 13
_AFTER_A_NUMBER = "|".join(rf"(?<=\d{{{digits}}}\.)(?<![\w.+-]\d{{{digits}}}\.)" for digits in (1, 2, 3))
_FIRST_DOT = re.compile(rf"\.(?:{_AFTER_A_NUMBER})(?=\d{{1,3}}\.\d{{1,3}}\.\d)", re.A)
_BEFORE_VERSION = re.compile(r"(?i)(?:\bv|version|release|ver\.?|/|==|>=|<=|~=|\^)[\"']?[ \t]*[:=]?[ \t]*[\"']?\Z")
_PHONE_WORDS = (
    "phone telephone mobile cell tel fax desk call dial ring text sms whatsapp answering message messages registered"
    " contact reach"
).split()
_BEFORE_PHONE = re.compile(rf"\b(?:{'|'.join(_PHONE_WORDS)})\b[^\n\d]{{0,24}}\s{{0,2}}\Z")
_AFTER_PHONE = re.compile(r"(?i)[ \t,-]{1,3}(?:office|mobile|fax|home|cell|desk|ext)\b")
_BEFORE_OTHER = re.compile(
    r"(?i)(?:id|nonce|seq|offset|stamp|time|hash|order|ref|size|bytes|count)[\"']?\s*[:=#]\s*[\"']?\Z"
)
_DATE = re.compile(r"(?:19|20)\d\d[-. ]\d\d[-. ]\d\d(?!\d)|\d\d[-.]\d\d[-.](?:19|20)\d\d(?!\d)")
_CARD_BEGINS = re.compile(r"4|5[0-8]|2[2-7]|3[0-9]|6|1800|2131")
_ISSUERS = re.compile(
    r"4(?=\d{12}(?:\d{3})?\Z)|5[1-5]\d{14}\Z|2[2-7]\d{14}\Z|3[47]\d{13}\Z|6(?:011|5|4[4-9])\d+\Z|35\d{14}\Z|3(?:0[0-5]|[68])\d+\Z"
)


def find_emails(text: str) -> list[Span]:
    """Where e-mail addresses stand; `git@host`, `name@2x.png` and `package@1.2.3` are none."""
    spans: list[Span] = []
    if "@" not in text:
        return spans
    taken = 0
    for domain in _DOMAIN.finditer(text):
        at, end = domain.span()
        before = text[max(taken, at - _MAX_MAILBOX_CHARACTERS) : at]
        # Backwards, because a search forwards would try every word of the text.
        mailbox = _MAILBOX_BACKWARDS.match(before[::-1])
        if mailbox and not _is_file_or_version(domain[0]):
            start = at - mailbox.end()
            if text[start - 1 : start] == "\\" and text[start] in "nrt":
                start += 1
            if start < at and not _is_remote(text, start, at):
                spans.append(Span(start, end, "email"))
                taken = end
    return spans


def _is_file_or_version(domain: str) -> bool:
    return domain.rpartition(".")[2].lower() in _FILE_ENDINGS or bool(_VERSION.match(domain))


def _is_remote(text: str, start: int, at: int) -> bool:
    """`git@host` addresses a repository, unless it stands where a person does, and `://user:x@host` a server."""
    if text[start:at] == "git":
        return text[start - 1 : start] != "<"
    return bool(_USER_INFO.search(text, max(0, start - _MAX_MAILBOX_CHARACTERS), start))


def is_card(candidate: Candidate) -> bool:
    """Whether the digits are of an issuer and have the right check digit, and are not said to be something else."""
    value = candidate.value
    if not _is_card(value):
        return False
    start = candidate.match.start()
    return not value.isdigit() or not _BEFORE_OTHER.search(candidate.text[max(0, start - 24) : start])


@lru_cache(maxsize=256)
def _is_card(value: str) -> bool:
    digits = re.sub(r"\D", "", value)
    return bool(_ISSUERS.match(digits)) and _luhn(digits) and len(set(digits)) > 2


def has_check_digit(candidate: Candidate) -> bool:
    return _luhn(re.sub(r"\D", "", candidate.value))


def is_iban(candidate: Candidate) -> bool:
    """Whether the check digits of an international account number are right."""
    plain = candidate.value.replace(" ", "")
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def has_digits_of_phone(candidate: Candidate) -> bool:
    """Seven to fifteen, and no date."""
    return 7 <= len(re.sub(r"\D", "", candidate.value)) <= 15 and not _DATE.match(candidate.value)


def is_any_card(candidate: Candidate) -> bool:
    digits = re.sub(r"\D", "", candidate.value)
    return bool(_CARD_BEGINS.match(digits)) and _luhn(digits)


def _luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(doubled) + sum(map(int, digits[-1::-2]))) % 10 == 0


def is_public_ipv4(candidate: Candidate) -> bool:
    """Whether four numbers are the address of somebody's machine, and not a version or a local address."""
    public, is_no_version = _public(candidate.value)
    if not public:
        return False
    start = candidate.match.start()
    before = candidate.text[max(0, start - 24) : start].rstrip(" \t\"'")
    if not before or before[-1] in _ENDS_NO_NAME:
        return is_no_version
    return bool((is_no_version and not _BEFORE_VERSION.search(before)) or _BEFORE_ADDRESS.search(before))


@lru_cache(maxsize=2048)
def _public(value: str) -> tuple[bool, bool]:
    """Whether it is an address that anybody can reach, and whether it can be nothing else."""
    parts = [int(part) for part in value.split(".")]
    if max(parts) > 255 or value in _KNOWN_ADDRESSES:
        return False, False
    if parts[0] in _PARTLY_RESERVED and not ipaddress.IPv4Address(bytes(parts)).is_global:
        return False, False
    large = sum(part > 31 for part in parts)
    return True, large >= 3 or (large == 2 and max(parts) >= 100 and 0 not in parts)


def is_any_ipv4(candidate: Candidate) -> bool:
    return max(int(part) for part in candidate.value.split(".")) <= 255


def is_public_ipv6(candidate: Candidate) -> bool:
    address = _ipv6(candidate.value)
    return address is not None and address.is_global


def is_any_ipv6(candidate: Candidate) -> bool:
    return _ipv6(candidate.value) is not None and candidate.value.count(":") >= 4


def _ipv6(value: str) -> ipaddress.IPv6Address | None:
    try:
        return ipaddress.IPv6Address(value)
    except ValueError:
        return None


def is_international(candidate: Candidate) -> bool:
    """Whether `+` and digits are a telephone number, and not a sum, an offset or the line of a diff."""
    digits = re.sub(r"\D", "", candidate.value)
    if not 8 <= len(digits) <= 15 or digits[0] == "0":
        return False
    return 10 <= len(digits) <= 13 or not candidate.value[1:].isdigit()


def is_called(candidate: Candidate) -> bool:
    """Whether a number of any form stands where a telephone number does."""
    digits = re.sub(r"\D", "", candidate.value)
    if not 7 <= len(digits) <= 15:
        return False
    start, end = candidate.match.span()
    before = candidate.text[max(0, start - 48) : start].lower()
    spoken_of = any(word in before for word in _PHONE_WORDS) and _BEFORE_PHONE.search(before)
    return bool(spoken_of or _AFTER_PHONE.match(candidate.text, end))


def _before_dots(text: str) -> Iterator[int]:
    """Where four numbers with dots may begin: dots are found fast, digits are everywhere."""
    for dot in _FIRST_DOT.finditer(text):
        begin = dot.start() - 1
        while begin and text[begin - 1] in string.digits:
            begin -= 1
        yield begin


def _long_numbers(text: str) -> Iterator[int]:
    """Where thirteen digits or more begin: most texts with such numbers have many shorter ones."""
    shape = text.encode("latin-1", "replace").translate(_SHAPE)  # one byte a character, so places are the same
    at = shape.find(_LONG_NUMBER)
    while at >= 0:
        yield at
        end = shape.find(b" ", at)
        at = shape.find(_LONG_NUMBER, end) if end >= 0 else -1


def _number(
    kind: str,
    about: str,
    pattern: str,
    shapes: str,
    accepts: Accepts = always,
    *,
    whole: bool = True,
    places: Places | None = None,
    probe: str = "",
) -> Rule:
    keywords = tuple(shapes.split("|"))
    return Rule(kind, about, pattern, keywords, accepts, shaped=True, whole=whole, places=places, probe=probe)


def _spoken(kind: str, about: str, pattern: str, accepts: Accepts = always, *, probe: str = "") -> Rule:
    return Rule(kind, about, pattern, normalise.KEYWORDS[pattern], accepts, any_case=True, probe=probe)


_PLACE_PROBE = r"\d[ ,-]{0,2}[ -](?:office|mobile|fax)"
_SPOKEN_PHONE = r"(?<![\w.])\(?\+?\d(?:[ .()/-]{0,2}\d){6,14}(?:x\d{1,5})?(?!\w)"

PERSONAL_RULES: tuple[Rule, ...] = (
    _number("phone", "Telephone number with its country", normalise.PHONE_WITH_COUNTRY, "+0", is_international),
    _number("phone", "North American telephone number", normalise.AMERICAN_PHONE, "000-0000|000.0000"),
    Rule(
        "phone",
        "Number given to a phone, mobile or fax",
        normalise.NAMED_PHONE,
        ("phone", "mobile", "fax"),
        any_case=True,
    ),
    _number("ip", "Public IPv4 address", normalise.IPV4, "0.0.0|0.00.0|0.000.0", is_public_ipv4, places=_before_dots),
    _number("ip", "Public IPv6 address", normalise.PUBLIC_IPV6, "0000:|0a0|0A0", is_public_ipv6),
    _number(
        "card",
        "Card number in groups of digits",
        normalise.CARD_IN_GROUPS,
        "0000 0000 |0000-0000-|0000 000000 |0000-000000-",
        is_card,
        whole=False,
        probe=r"\d{4}[ -]\d{4}[ -]\d{4}[ -]\d|3\d{3}[ -]\d{6}[ -]\d",
    ),
    _number(
        "card",
        "Card number in one piece",
        normalise.CARD_IN_ONE,
        "0000000000000",
        is_card,
        whole=False,
        places=_long_numbers,
        probe=r"\b[2-6]\d{12}",
    ),
    _spoken("phone", "Number after `phone:`, `desk:`, `fax:`", normalise.LABELLED_PHONE),
    _spoken("phone", "Number to call somebody at", normalise.CALLED_PHONE, has_digits_of_phone),
    _spoken("phone", "Number of an office or a fax", normalise.PHONE_OF_A_PLACE, probe=_PLACE_PROBE),
    Rule(
        "card",
        "Number after `card`",
        normalise.SPOKEN_CARD,
        ("0000000000", "0000 0000 ", "0000-0000-"),
        has_check_digit,
        any_case=True,
        shaped=True,
    ),
    _spoken("card", "Number after `IBAN`", normalise.SPOKEN_IBAN, is_iban),
    _spoken("card", "Number after `SSN`, `social security`", normalise.SPOKEN_SSN),
    _spoken("ip", "IPv6 address after `address`", normalise.SPOKEN_IPV6),
    _spoken("url", "Somebody's own site", normalise.OWN_SITE),
)
"""What a transcript never keeps."""

LOOSE_RULES: tuple[Rule, ...] = (
    _number(
        "phone",
        "Telephone number where one is spoken of",
        _SPOKEN_PHONE,
        "0",
        is_called,
    ),
    _number("ip", "Any IPv4 address", normalise.IPV4, "0.0.0|0.00.0|0.000.0", is_any_ipv4),
    Rule("ip", "Any IPv6 address", normalise.IPV6, (":",), is_any_ipv6, whole=True),
    _number(
        "card",
        "Number of twelve to nineteen digits with a check digit",
        r"(?<!\w)\d(?:[ -]?\d){11,18}(?![\w-])",
        "0000",
        is_any_card,
    ),
    Rule("url", "Any web address", r"https?://[^\s<>\"']{3,2048}(?<![.,;:!?)])", ("://",)),
)
"""What a text about people may not keep either; in a transcript these would take too much."""
