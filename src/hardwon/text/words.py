"""The one tokenizer of all matching: search index, duplicate check and reinforcement.

`terms` gives English words as Porter stems without stop words. Names of code are kept whole and
also split: `src/app/main.py` gives itself, `src`, `app`, `main.py`, `main`, `py`. Scripts written
without spaces give overlapping pairs of characters. Case, accents and Unicode forms never matter.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, groupby

# Porter's stemmer as published in 1980; the steps have the numbers of the paper. Our own, because the packaged
# ones load every language they know, which takes longer than the hook may.

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "abli": "able", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = dict.fromkeys(
    # Taken away without replacement.
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split(),
    "",
)
_MAX_ENDING_LETTERS = 7


def stem(word: str) -> str:
    """The stem of a lower-case word; anything but an English word is its own stem."""
    return _stem(word) if len(word) >= 3 and word.isalpha() and word.isascii() else word


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    word = _step_1(word)
    word = _replace_ending(word, _STEP_2, measure=1)
    word = _replace_ending(word, _STEP_3, measure=1)
    word = _replace_ending(word, _STEP_4, measure=2)
    return _step_5(word)


def _step_1(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        if _measure(word[:-3]) > 0:
            word = word[:-1]
    elif word.endswith(("ed", "ing")):
        word = _without_tense(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    return word


def _without_tense(word: str) -> str:
    stem = word[:-2] if word.endswith("ed") else word[:-3]
    shape = _shape(stem)
    if "v" not in shape:
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if shape.endswith("cc") and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    if _measure(stem) == 1 and _ends_short(stem):
        return stem + "e"
    return stem


def _replace_ending(word: str, endings: dict[str, str], *, measure: int) -> str:
    for length in range(_MAX_ENDING_LETTERS, 1, -1):
        ending = word[-length:]
        if ending in endings:
            stem = word[: -len(ending)]
            if _measure(stem) < measure or (ending == "ion" and stem[-1] not in "st"):
                return word
            return stem + endings[ending]
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _ends_short(stem)):
            word = stem
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _measure(stem: str) -> int:
    """How often vowels are followed by consonants: 0 in `tree`, 1 in `trouble`, 2 in `private`."""
    return _shape(stem).count("vc")


def _ends_short(stem: str) -> bool:
    return _shape(stem).endswith("cvc") and stem[-1] not in "wxy"


def _shape(word: str) -> str:
    """`v` for each vowel and `c` for each consonant; `y` after a consonant is a vowel."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


# Negations stay: "never use X" and "always use X" are different lessons.
_STOP_WORDS = frozenset(
    """
    a am an and are as at be been being but by can could d did do does e.g for from had has have
    he her here his how i i.e if in into is it its ll m may me might my of on or our re s shall she
    so such than that the their them then there these they this those to too us ve very was we
    were what when where which while who will with would you your
    """.split()
)

# Indic to Khmer, kana, Han and Hangul: no spaces between words, or marks that `\w` leaves out.
_UNSPACED = (
    ("\u0900", "\u0963"), ("\u0966", "\u109f"), ("\u1100", "\u11ff"), ("\u1780", "\u17d3"),
    ("\u3005", "\u3007"), ("\u3041", "\u3096"), ("\u309d", "\u309f"), ("\u30a1", "\u30fa"),
    ("\u30fc", "\u30ff"), ("\u31f0", "\u31ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"),
    ("\ua960", "\ua97f"), ("\uac00", "\ud7ff"), ("\uf900", "\ufaff"),
    ("\U00020000", "\U000323af"),
)  # fmt: skip

# Lengths are bounded so that a megabyte of base64 is many terms and never one.
_NAME = r"\w{1,128}(?:(?:[.-]|[/\\]{1,2}[.@]?)\w{1,128}){0,15}(?:\+\+|\#(?!\w))?"
_PREFIX = r"(?<![^\s\"'`(\[{<=,:;/\\])(?:--?|[@.])(?=[^\W\d_])"
_CHUNK = re.compile(f"{_NAME}|{_PREFIX}{_NAME}")
_CHUNK_OR_NOT = re.compile(rf"[^\W_]{{1,16}}[nN]['’][tT](?!\w)|{_CHUNK.pattern}")

_PATH_SEPARATOR = re.compile(r"[/\\]+")
_SPLITS = (
    re.compile(r"/"),
    re.compile(r"\."),
    re.compile(r"[-_@+#]+"),
    re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])"),  # not `API|s`
    re.compile(r"(?<=[A-Za-z]{2})(?=[0-9]+\Z)"),
)

_NOT_ASCII = re.compile(r"[^\x00-\x7f]{1,256}")
_ACCENTS_AND_INVISIBLES = re.compile("[\u00ad\u0300-\u036f\u200b-\u200d\u2060\ufeff]+")


def terms(text: str) -> list[str]:
    """Every term of `text`, in order; none holds white space, a double quote or NUL."""
    text = _fold(text)
    if text.isascii() or not any(map(_is_unspaced, set(text))):
        return _spaced_terms(text)
    found: list[str] = []
    for unspaced, characters in groupby(text, _is_unspaced):
        run = "".join(characters)
        found += _pairs(run) if unspaced else _spaced_terms(run)
    return found


def unique_terms(text: str) -> list[str]:
    """The terms of `text`, each where it first occurs."""
    return list(dict.fromkeys(terms(text)))


def overlap(a: str, b: str) -> float:
    """The share of all terms of two texts that both have, 0 to 1; 0 if there are none."""
    terms_a, terms_b = set(terms(a)), set(terms(b))
    union = terms_a | terms_b
    return len(terms_a & terms_b) / len(union) if union else 0.0


def _fold(text: str) -> str:
    """`text` in NFKC, without accents and invisible characters."""
    return text if text.isascii() else _NOT_ASCII.sub(_fold_run, text)


def _fold_run(run: re.Match[str]) -> str:
    # Imported here for cold starts; called on short runs as normalising many marks is quadratic.
    from unicodedata import normalize  # noqa: PLC0415

    return normalize("NFKC", _ACCENTS_AND_INVISIBLES.sub("", normalize("NFKD", run[0])))


@lru_cache(maxsize=1 << 12)
def _is_unspaced(character: str) -> bool:
    # A character class of these ranges would take longer to compile than all the rest together.
    return any(first <= character <= last for first, last in _UNSPACED)


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


def _spaced_terms(text: str) -> list[str]:
    chunks = _CHUNK_OR_NOT if "'" in text or "’" in text else _CHUNK  # looking for `don't` takes a third longer
    return [term for chunk in chunks.findall(text) for term in _terms_of(chunk)]


@lru_cache(maxsize=1 << 15)
def _terms_of(chunk: str) -> tuple[str, ...]:
    word = chunk.casefold()
    if word in _STOP_WORDS:
        return ()
    if word.endswith(("n't", "n’t")):
        return ("not",)
    if chunk.isalpha() and chunk[1:].islower():
        return (stem(word),)
    return _parts(_PATH_SEPARATOR.sub("/", chunk), 0)


def _parts(name: str, level: int) -> tuple[str, ...]:
    """`name` and what it is made of, looking for the separators from `level` on."""
    if name.isdigit() or (name.isalpha() and name.islower()):
        return (stem(name.casefold()),)
    for at in range(level, len(_SPLITS)):
        parts = [part for part in _SPLITS[at].split(name) if part]
        if parts != [name]:
            return _whole(name) * bool(parts) + tuple(chain.from_iterable(_kept(part, at + 1) for part in parts))
    return (stem(name.casefold()),)


_kept = lru_cache(maxsize=1 << 14)(_parts)  # a part is met again in other names, a whole name seldom is


def _whole(name: str) -> tuple[str, ...]:
    whole = name.casefold()
    # `NumPy` must be found by `numpy`, which is taken for a word and stemmed.
    root = stem(whole)
    return (whole,) if root == whole else (whole, root)
