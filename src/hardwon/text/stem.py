"""Porter's stemmer as published in 1980; the steps have the numbers of the paper.

Our own because the packaged ones load every language they know, which takes longer than the hook may.
"""

from __future__ import annotations

from functools import lru_cache

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
_LONGEST_ENDING = 7


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
    for length in range(_LONGEST_ENDING, 1, -1):
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
