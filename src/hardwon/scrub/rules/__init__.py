"""The tables of rules, by what the secrets open; `scrubber.py` puts them together.

Here is the short notation in which they write a token's published form, and how rules are made of it:
`<A>` letters and digits, `<U>` these with `_` and `-`, `<H>` hex digits, `<C>` capitals and digits,
`<L>` small letters and digits, `<B>` base64, `<J>` hex digits and `<X>` those in capitals, `<E>` letters, digits,
`_`, `-` and `=`. Everything else is a regular expression. `{n,}` never gives back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

from hardwon.scrub.rule import MARK_ENDS, Accepts, Rule, compiled
from hardwon.scrub.shapes import is_key, is_real

_CLASSES = {
    "A": "A-Za-z0-9",
    "U": "A-Za-z0-9_-",
    "H": "0-9a-f",
    "J": "0-9a-fA-F",
    "X": "0-9A-F",
    "E": "A-Za-z0-9_=-",
    "C": "A-Z0-9",
    "L": "a-z0-9",
    "B": "A-Za-z0-9+/",
}
_CLASS = re.compile("<([AUHJXECLB])>")
_BEYOND_WORDS = ("/", "=-")
"""What tells that a form's classes hold more than letters, digits, `_` and `-`."""
_OPEN_REPETITION = re.compile(r"(\{\d+,\})(?!\+)")
_LITERAL = re.compile(r"(?:[A-Za-z0-9_/:%~!$-]|\\[.$+])*")

_MIN_LETTERS_FOR_PLACES = 5
_MIN_LETTERS_THAT_TELL = 6

NAME_END = r"(?:\\{0,4}[\"'`]|\*\*)?+(?:\[?\])?+"
"""What may close a name before its sign: the quote of a JSON key, Markdown's bold, a bracket."""
ASSIGNED = (
    r"(?:[ \t]{0,4}+(?:=>|!?={1,3}|[:?+.]{1,3}="
    r"|:(?:[ ]?(?:str|string|secretstr|&str|optional\[str\]|str[ ]\|[ ]none)[ ]?=(?!=)|(?!:))"
    r"|(?<=[ ])(?:string|\[\]byte)[ ]=(?!=))[ \t]{0,8}+(?:\*\*[ \t]?)?"
    r"(?:[|>]-?[ \t]{0,2}\n[ \t]{1,16})?"
    rf"|>\s{{0,24}}+(?=[^<\s{MARK_ENDS}]{{8,200}}\s{{0,24}}</)"
    r"|,?\s{1,24}[\"']?value[\"']?[ \t]{0,2}[:=][ \t]{0,4}"
    r"|[ \t]{0,2}[(,][ \t]{0,4}(?=[\"'])"
    r"|,(?=[a-z0-9_=/+.~-]{20,400}(?:,|$))"
    r"|[ \t]?\{\s{1,8}+(?:[^\n{}]{0,32}\n\s{1,8}+)?default[ \t]{1,4}=[ \t]{0,2}(?=\"))"
)
"""The sign between a name and its value: `=`, `:`, `:=`, `=>`, a tag, `value:` on the next line, a call, a comma,
Terraform's default."""
ASSIGNED_PROBE = (
    r"[\"'`\\*\[\]]*\s*(?:(?:[:=>,(+?!]|\.=)+(?:[ ]?[a-z&\[\]| ]{3,16}=)?|[\"']?value[\"']?\s*[:=]|by\s"
    r"|(?:string|\[\]byte) =|[\"']|\{[^{}]*default\s*=)[\s\"'`\\*|>@bruf-]*"
)
"""Wider and simpler than what closes a name and assigns to it."""
QUOTE = r"(?:[bruf@]{1,2}(?=[\"']))?+(?P<quote>\\{0,4}[\"'`])?+"


def begins_word(first: str, word: str = "A-Za-z0-9") -> str:
    """No word goes on before `first`; `\\n` in escaped JSON, the `-` of a diff and one letter glued on are no words."""
    glued = rf"(?<=[\s\"'`:(\[{{{{,][A-Za-z_]{first})|(?<=^[A-Za-z_]{first})"
    return rf"(?:(?<![{word}]{first})|(?<=\\[nrt]{first})|(?<=^-{first})|{glued})"


def token(
    kind: str,
    about: str,
    form: str,
    *keywords: str,
    accepts: Accepts = is_real,
    edge: str = "A",
    before: int = 0,
    probe: str = "",
    solid: bool = True,
) -> Rule:
    """A secret known by its own form, wherever it stands; `edge` is what must not stand before it."""
    literal = _LITERAL.match(form)[0]  # type: ignore[index]
    first, rest = form[0], form[1:]
    if edge and literal and len(literal) < _MIN_LETTERS_THAT_TELL:  # a longer one is no word's end
        # Its first character is searched, the rest looked at next, and what stands before it last.
        form = rf"{first}(?={literal[1:]}){begins_word(first, _CLASSES[edge])}{rest}"
    return Rule(
        kind,
        about,
        expand(form),
        keywords or (re.sub(r"\\(.)", r"\1", literal),),
        accepts,
        before=before,
        solid=solid,
        base64=any(sign in expand(form) for sign in _BEYOND_WORDS),
        probe=probe,
    )


def expand(form: str) -> str:
    """The regular expression that a form stands for."""
    text = _CLASS.sub(lambda found: f"[{_CLASSES[found[1]]}]", form)
    return _OPEN_REPETITION.sub(r"\1+", text)


def places_of(names: Sequence[str], text: str) -> Iterator[int]:
    """Where one of several names stands: one after the other they are found many times faster than any of them."""
    return iter(_places_of(tuple(names), text))


@lru_cache(maxsize=2)
def _places_of(names: tuple[str, ...], text: str) -> list[int]:
    """Several rules look for the same names in a text, one after the other."""
    present = (name for name in names if name in text)
    return sorted(found.start() for name in present for found in compiled(re.escape(name)).finditer(text))


def named(kind: str, about: str, names: str, form: str, *, accepts: Accepts = is_key) -> Rule:
    """A key without a form of its own, given to a name that tells whose it is: `FASTLY_KEY=…`."""
    words = names.split()
    any_name = f"(?:{'|'.join(map(re.escape, words))})"
    value = expand(form).replace("A-Z", "")
    pattern = rf"{any_name}[\w .-]{{0,32}}+{NAME_END}{ASSIGNED}{QUOTE}(?P<secret>{value})(?![a-z0-9_=-])"
    probe = (
        rf"{any_name}[\w .-]*[\"'`\\*\[\]]*\s*(?:(?:[:=>,(+?!]|[\"']?value).*(?:[\w-]{{20}}|[|>]-?\s*\n)|>\s*\n|\{{)"
    )
    beginnings = [word for word in words if not word.startswith(tuple(other for other in words if other != word))]
    # A text of nothing but a short name has too many places.
    places = (
        partial(places_of, beginnings) if len(words) > 1 and min(map(len, words)) >= _MIN_LETTERS_FOR_PLACES else None
    )
    return Rule(kind, about, pattern, tuple(words), accepts, any_case=True, solid=True, places=places, probe=probe)


def place(
    kind: str, about: str, pattern: str, keyword: str, accepts: Accepts, *, probe: str = "", solid: bool = False
) -> Rule:
    """A secret known by what stands before it; the pattern is matched on lowercase text."""
    return Rule(kind, about, pattern, (keyword,), accepts, any_case=True, probe=probe, solid=solid)
