"""Forms of numbers that tell of a person or a machine, as plain patterns: scrubbing replaces them, and an
error's identity masks whatever has such a form, so that the two agree."""

from __future__ import annotations

# What must not stand before a number is looked at after its first sign: searching for that alone is fast.
_NO_MORE = r"(?![\w-]|[./:]\d)"

IPV4 = r"\d(?<![\w.+-]\d)\d{0,2}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w-]|\.\d)"
IPV6 = r"[0-9A-Fa-f](?<![\w:.][0-9A-Fa-f])[0-9A-Fa-f]{0,3}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}(?![\w:]|\.\d)"
PUBLIC_IPV6 = r"[23](?<![\w:.][23])(?:\d{3}|[aA]\d[0-9A-Fa-f]):(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}(?![\w:]|\.\d)"
AMERICAN_PHONE = (
    r"[(2-9](?<![\w.+/:-][(2-9])(?:(?<=\()[2-9]\d\d\)[ ]?|(?<=\d)\d\d[-.])[2-9]\d\d[-.]\d{4}(?:x\d{1,5})?"
    rf"{_NO_MORE}"
)
PHONE_WITH_COUNTRY = rf"\+(?<=[\s\"'(:=,;>]\+)(?<!\n\+)\d(?:[ .()-]{{0,2}}\d){{7,14}}{_NO_MORE}"
NAMED_PHONE = (
    r"(?P<name>(?i:phone|mobile|fax)(?i:[_ -]?(?:number|no|nr)\b)?[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?)"
    rf"(?P<secret>\(?\+?\d(?:[ .()/-]{{0,2}}\d){{6,14}}){_NO_MORE}"
)
_CARD_BEGINS = r"[2-6](?<![\w.+/:-][2-6])"
_CARD_IN_GROUPS = r"\d{3}([ -])\d{4}\1\d{4}\1\d{4}|(?<=3)[47]\d\d([ -])\d{6}\2\d{5}"
_CARD_ENDS = r"(?![\w-]|\.\d)"
CARD_IN_GROUPS = rf"{_CARD_BEGINS}(?:{_CARD_IN_GROUPS}){_CARD_ENDS}"
CARD_IN_ONE = rf"{_CARD_BEGINS}\d{{12,15}}{_CARD_ENDS}"
CARD = rf"{_CARD_BEGINS}(?:{_CARD_IN_GROUPS}|\d{{12,15}}){_CARD_ENDS}"
FEWEST_DIGITS = 7
"""A telephone number has no fewer, and the others have more, but for an IPv4 address."""
