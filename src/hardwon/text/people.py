"""Where a text speaks of a person: what follows such words is theirs, though its form alone would not tell.

The patterns are for lowercase text. Standard library only: an error's identity asks whether there is something.
"""

from __future__ import annotations

import re

_MARK_ENDS = "\u2039\u203a"
_NO_MORE = r"(?![\w-]|[./:]\d)"
_NUMBER = r"(?P<secret>\(?\+?\d(?:[ .()/-]{0,2}\d){6,14}(?:x\d{1,5})?)"
_SPACED_NUMBER = r"(?P<secret>\(?\+?\d{2,5}\)?(?:[ .-]\d{2,8}){1,5})"
_SITE = rf"(?P<secret>https?://[^\s<>\"'{_MARK_ENDS}]{{3,256}}+)"

_LABELS = ("phone", "mobile", "cell", "desk", "fax", "tel", "whatsapp")

LABELLED_PHONE = rf"(?:{'|'.join(_LABELS)}):\s{{0,3}}{_NUMBER}{_NO_MORE}"
CALLED_PHONE = (
    r"(?:(?:call|ring|reach|contact|text|phone) (?:me|us) (?:on|at)|answering (?:on|at)"
    rf"|messages? (?:to|on my registered)) {_SPACED_NUMBER}{_NO_MORE}"
)
PHONE_OF_A_PLACE = (
    r"[(+\d](?<![\w.+-][(+\d])\d(?:[ .()-]{0,2}\d){5,14}+"
    r"(?=[ ,-]{0,2}[ -](?:office|mobile|fax)(?![\w-]))"
)
SPOKEN_CARD = (
    r"c(?:ard|(?<![a-z]c)c)\b[^\d\n]{0,24}"
    r"(?P<secret>\d{12,19}|\d{4} \d{4} \d{4}(?: \d{1,7})?|\d{4}-\d{4}-\d{4}(?:-\d{1,7})?)(?![\w-])"
)
SPOKEN_IPV6 = r"address[ \t:=]{1,3}(?P<secret>[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){7})(?![\w:])"
OWN_SITE = (
    r"(?:(?:my|our) (?:web ?site|site|home ?page|blog|portfolio)(?: is)?:?|website:|shared files? with you"
    rf"|posted an? (?:photo|picture|video))\s{{1,2}}{_SITE}"
)

KEYWORDS = {
    LABELLED_PHONE: tuple(f"{label}:" for label in _LABELS),
    CALLED_PHONE: (
        " me on ",
        " me at ",
        " us on ",
        " us at ",
        "answering ",
        "messages to ",
        "message to ",
        " my registered ",
    ),
    PHONE_OF_A_PLACE: (" office", "-office", " mobile", "-mobile", " fax", "-fax"),
    SPOKEN_CARD: ("card", "cc "),
    SPOKEN_IPV6: ("address",),
    OWN_SITE: (
        *("website:", "with you", "posted a"),
        *(f"{whose} {what}" for whose in ("my", "our") for what in ("web", "site", "home", "blog", "portfolio")),
    ),
}
"""Pattern → words of which one stands in all that it matches."""


def speaks_of_people(text: str) -> bool:
    """Whether there may be something of a person's in it."""
    lowered = text.lower()
    return any(
        any(word in lowered for word in words) and re.search(pattern, lowered) for pattern, words in KEYWORDS.items()
    )
