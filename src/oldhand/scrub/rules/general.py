"""Keys of services that nobody has written a rule for, known by how they are named and that chance drew them."""

from __future__ import annotations

from oldhand.scrub.rule import SOLID, Rule
from oldhand.scrub.rules.chance import (
    is_compound_key,
    is_named_secret,
    is_prefixed,
    is_told_key,
    is_told_secret,
    is_vendor_key,
)
from oldhand.scrub.rules.form import ASSIGNED, ASSIGNED_PROBE, NAME_END, QUOTE
from oldhand.scrub.rules.vendors import VENDOR_NAMES

_VALUE = r"[a-z0-9_+/.~-]{16,4096}+={0,3}"
_ANY_VENDOR = f"(?:{'|'.join(VENDOR_NAMES)})"

GENERAL = (
    Rule(
        "api-key",
        "Value drawn by chance, given to a name with a service's name in it",
        rf"[=:>,][ \t\"'`\\]{{0,12}}+(?P<secret>[a-z0-9_+/.~-]{{{SOLID},4096}}+={{0,3}})(?![a-z0-9])",
        VENDOR_NAMES,
        is_vendor_key,
        any_case=True,
        solid=True,
        probe=rf"{_ANY_VENDOR}[^\n]*[:=>,][ \t\"'`\\]*[\w+/.~-]{{20}}",
    ),
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
        "Long token of letters and digits after a prefix such as `name_`",
        r"[_-](?P<secret>[A-Za-z0-9]{32,256}+)(?![\w+/=-])",
        ("_", "-"),
        is_prefixed,
        solid=True,
        probe=r"[_-][A-Za-z0-9]{32}",
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
