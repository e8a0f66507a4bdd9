"""Keys of services that nobody has written a rule for, known by how they are named and that chance drew them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from hardwon.scrub.rule import SOLID, Rule
from hardwon.scrub.rules.chance import (
    is_compound_key,
    is_named_secret,
    is_prefixed,
    is_told_key,
    is_told_secret,
    is_vendor_key,
)
from hardwon.scrub.rules.form import ASSIGNED, ASSIGNED_PROBE, NAME_END, QUOTE, places_of
from hardwon.scrub.rules.vendors import VENDOR_NAMES

_VALUE = r"[a-z0-9_+/.~-]{16,4096}+={0,3}"
_AFTER_NAME = r"(?:[\"'`\]\\*]|\[\]){0,6}+[ \t]{0,8}+[:?+.=]{0,3}"
_PREFIXES = "key token secret live test prod sandbox api pat auth access cred sk pk".split()
_ANY_PREFIX = f"(?:{'|'.join(_PREFIXES)})"
_NAMES_AT_ONCE = 8
"""Few, for each is looked for in a text with one of them; with 64 in a pattern hyperscan takes many times as long."""


def _vendors(names: Sequence[str]) -> Rule:
    any_name = f"(?:{'|'.join(map(re.escape, names))})"
    return Rule(
        "api-key",
        "Value drawn by chance, given to a name with a service's name in it",
        rf"(?P<name>{any_name}[a-z0-9_ .-]{{0,62}}+){_AFTER_NAME}(?P<sign>[=:>,])[ \t\"'`\\]{{0,12}}+"
        rf"(?P<secret>[a-z0-9_+/.~-]{{{SOLID},4096}}+={{0,3}})(?![a-z0-9])",
        tuple(names),
        is_vendor_key,
        any_case=True,
        solid=True,
        places=partial(places_of, names),
        probe=rf"{any_name}[\w .-]*[\"'`\]\[\\*]*[ \t]*[:=>,?+.]+[ \t\"'`\\]*[\w+/.~-]{{{SOLID}}}",
    )


_NAMES = sorted(VENDOR_NAMES)
VENDORS = tuple(_vendors(_NAMES[at : at + _NAMES_AT_ONCE]) for at in range(0, len(_NAMES), _NAMES_AT_ONCE))

GENERAL = (
    *VENDORS,
    Rule(
        "api-key",
        "Value drawn by chance, given to a name that ends in `key`",
        rf"(?P<name>key(?<=[a-z0-9_. ?&-]key)){NAME_END}{ASSIGNED}{QUOTE}(?P<secret>{_VALUE})(?![a-z0-9(\[])",
        ("key",),
        is_compound_key,
        any_case=True,
        probe=rf"[a-z0-9_. ?&-]key{ASSIGNED_PROBE}[\w+/.~-]{{16}}",
    ),
    Rule(
        "api-key",
        "Value drawn by chance, given to a name with `secret` in it",
        rf"secret(?P<name>[\w-]{{1,24}}+){NAME_END}{ASSIGNED}{QUOTE}(?P<secret>{_VALUE})(?![a-z0-9(\[])",
        ("secret",),
        is_named_secret,
        any_case=True,
        probe=rf"secret[\w-]+{ASSIGNED_PROBE}[\w+/.~-]{{16}}",
    ),
    *(
        Rule(
            "api-key",
            f"Value drawn by chance, given to a name that ends in `{word}`",
            rf"(?P<name>{word})(?![a-z0-9_-]){NAME_END}{ASSIGNED}{QUOTE}(?P<secret>{_VALUE})(?![a-z0-9(\[])",
            (word,),
            is_named_secret,
            any_case=True,
            probe=rf"{word}{ASSIGNED_PROBE}[\w+/.~-]{{16}}",
        )
        for word in ("_pat",)
    ),
    Rule(
        "api-key",
        "Long token of letters and digits after a prefix such as `live_` or `name-key-`",
        rf"{_ANY_PREFIX}[_-](?P<secret>[A-Za-z0-9]{{32,256}}+)(?![\w+/=-])",
        tuple(word + sign for word in _PREFIXES for sign in "_-"),
        is_prefixed,
        solid=True,
    ),
    *(
        Rule(
            "api-key",
            f"“{word} …” in a sentence",
            rf"{word}[ ]{{1,2}}[\"'`]?(?P<secret>[a-z0-9_+/=.-]{{20,256}}+)(?![a-z0-9(\[])",
            (f"{word} ",),
            accepts,
            any_case=True,
            probe=rf"{word}[ ]+[\"'`]?[\w+/=.-]{{20}}",
        )
        for word, accepts in (("secret", is_told_secret), ("token", is_told_key), ("key", is_told_key))
    ),
)
