"""The one tokenizer of all matching: search index, duplicate check and reinforcement.

`terms` gives English words as Porter stems without stop words. Names of code are kept whole and
also split: `src/app/main.py` gives itself, `src`, `app`, `main.py`, `main`, `py`. Scripts written
without spaces give overlapping pairs of characters. Case, accents and Unicode forms never matter.
`language` tells which language words are in, as far as one must know it to see that two texts differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, groupby

from hardwon.text.normalise import lazy_pattern

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
_VOWELS = str.maketrans({sign: "v" if sign in "aeiou" else "c" for sign in "abcdefghijklmnopqrstuvwxyz"})


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
    for length in range(_MAX_ENDING_LETTERS, 1, -1) if word.endswith(tuple(endings)) else ():
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
    if "y" not in word:
        return word.translate(_VOWELS)
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

_SAID_EVERYWHERE = frozenset(
    "的了吗呢吧是我你您他她它们这那哪个些什么怎在有和与就也都还不没请把将给被让帮想要会能可以下上里但因为所如果现对从到"
)
"""In Chinese: pairs with one of these are grammar, as stop words are, or no word."""
_SHORTEST_WORD = 4

# Lengths are bounded so that a megabyte of base64 is many terms and never one.
_NAME = r"\w{1,128}(?:(?:[.-]|[/\\]{1,2}[.@]?)\w{1,128}){0,15}(?:\+\+|\#(?!\w))?"
_PREFIX = r"(?<![^\s\"'`(\[{<=,:;/\\])(?:--?|[@.])(?=[^\W\d_])"
_CHUNK = lazy_pattern(f"{_NAME}|{_PREFIX}{_NAME}")
_CHUNK_OR_NOT = lazy_pattern(rf"[^\W_]{{1,16}}[nN]['’][tT](?!\w)|{_NAME}|{_PREFIX}{_NAME}")

_WORDS = lazy_pattern(r"\S+")
_BEGINS_A_PART = lazy_pattern(r"[ /\\]")
_PATH_SEPARATOR = lazy_pattern(r"[/\\]+")
_SPLITS: tuple[str | re.Pattern[str], ...] = (
    "/",
    ".",
    lazy_pattern(r"[-_@+#]+"),
    lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])"),  # not `API|s`
    lazy_pattern(r"(?<=[A-Za-z]{2})(?=[0-9]+\Z)"),
)

_NOT_ASCII = lazy_pattern(r"[^\x00-\x7f]{1,256}")
_ACCENTS_AND_INVISIBLES = lazy_pattern("[\u00ad\u0300-\u036f\u200b-\u200d\u2060\ufeff]+")


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


def apart(text: str) -> str:
    """`text` with a space wherever a script without spaces meets another: `修改main.py` names a file."""
    if text.isascii() or not any(map(_is_unspaced, set(text))):
        return text
    return " ".join("".join(run) for _, run in groupby(text, _is_unspaced))


def unique_terms(text: str) -> list[str]:
    """The terms of `text`, each where it first occurs."""
    return list(dict.fromkeys(terms(text)))


def is_telling(term: str) -> bool:
    """Whether a term by itself says what a text is about."""
    if not term or not _is_unspaced(term[0]):
        return term.isalpha() and len(term) >= _SHORTEST_WORD
    grammar = not _SAID_EVERYWHERE.isdisjoint(term) or all("\u3041" <= sign <= "\u309f" for sign in term)
    return len(term) > 1 and not grammar


def overlap(a: str, b: str) -> float:
    """The share of all terms of two texts that both have, 0 to 1; 0 if there are none."""
    terms_a, terms_b = set(terms(a)), set(terms(b))
    union = terms_a | terms_b
    return len(terms_a & terms_b) / len(union) if union else 0.0


_OPTION = lazy_pattern(r"--?[^\W\d_][\w-]*")
_MOST_NAMES = 2
"""Before the options of a question that is a command: a program, and what it is to do."""
_MOST_UNSPACED = 12
_MOST_IDEOGRAPHS = 4
"""Of a word, in scripts without spaces: what has more is a sentence."""
# A letter of a script with spaces, up to Arabic and in late Latin and Greek: a word may stand right beside any other.
# Of larger ranges, every character costs time whenever a question is compiled.
_LETTER = r"(?=[\0-\u08ff\u1e00-\u1fff])\w"
_BEGINS, _ENDS = f"(?<!{_LETTER})", f"(?!{_LETTER})"


def as_typed(text: str) -> re.Pattern[str] | None:
    """Finds what a question of one word, or of a program and its options, asks for; None for other questions.

    A program may have other options, too. In these `-c` and `-C` are two. In scripts without spaces, where nothing
    shows where a word ends, it is found in longer ones.
    """
    words = text.split()
    options = [word for word in words if _OPTION.fullmatch(word)]
    names = words[: len(words) - len(options)]
    if not words or len(names) > (_MOST_NAMES if options else 1) or any(word in options for word in names):
        return None
    if not options:
        return _word_as_typed(names[0])
    program = r"\s+".join(map(re.escape, names))
    if not program:
        return re.compile(r"[^\n]*?".join(rf"{_BEGINS}(?<!-){re.escape(option)}{_ENDS}(?!-)" for option in options))
    here = "".join(rf"(?=[^|;&\n]*?\s{re.escape(option)}{_ENDS}(?!-))" for option in options)
    nearest = "|".join(map(re.escape, options))
    return re.compile(rf"{_BEGINS}(?<![.-])(?i:{program})(?!\w){here}[^|;&\n]*?\s(?:{nearest}){_ENDS}(?!-)")


def _word_as_typed(word: str) -> re.Pattern[str] | None:
    unspaced = [] if word.isascii() else [sign for sign in word if _is_unspaced(sign)]
    if len(unspaced) > _MOST_UNSPACED or sum(map(_is_ideograph, unspaced)) > _MOST_IDEOGRAPHS:
        return None
    begins = "" if _is_unspaced(word[0]) else _BEGINS
    ends = "" if _is_unspaced(word[-1]) else rf"(?i:e?s)?{_ENDS}"
    return re.compile(rf"{begins}(?i:{re.escape(word)}){ends}")


def fitting(lines: Sequence[str], query: str, number: int) -> list[str]:
    """The few lines in a row that hold most of the question's words, or what was typed."""
    wanted, typed = set(unique_terms(query)), as_typed(query)
    worth = [(typed is not None and typed.search(line) is not None, len(wanted & set(terms(line)))) for line in lines]
    best = worth.index(max(worth)) if worth else 0
    first = max(0, min(best - 1, len(lines) - number))
    return list(lines[first : first + number])


def around(line: str, query: str, room: int) -> str:
    """A line from where the question's words stand, if they do not stand within the room; else the whole."""
    start, end = _asked_for(line, query, room - 4)  # less the signs of what is cut
    if end <= room - 2:
        return line
    first = max(start - max(0, room - 2 - (len(line) - start)), 0)  # what is before it, where the rest is short
    begins = _BEGINS_A_PART.search(line, first, start) if first < start else None
    return f"… {line[begins.end() if begins else start :].lstrip()}"


def _asked_for(line: str, query: str, room: int) -> tuple[int, int]:
    """Where that stands in a line: as it was typed, or else most of the words within the room."""
    typed = as_typed(query)
    if typed is not None and (found := typed.search(line)):
        return found.span()
    wanted = set(unique_terms(query))
    held = [(*_within(word, query), wanted & set(terms(word[0]))) for word in _WORDS.finditer(line)]
    held = [each for each in held if each[2]]
    best, most = (0, 0), len(set().union(*(each[2] for each in held if each[1] <= room)))  # the beginning, if it does
    for at, (start, _, _) in enumerate(held):
        near = [each for each in held[at:] if each[1] <= start + room]
        if (many := len(set().union(*(each[2] for each in near)))) > most:
            best, most = (start, near[-1][1]), many
    return best


def _within(word: re.Match[str], query: str) -> tuple[int, int]:
    """Where a word of the question stands in a longer one, such as a path; else the whole of it."""
    for asked in query.casefold().split():
        if (at := word[0].casefold().find(asked)) >= 0:
            return word.start() + at, word.start() + at + len(asked)
    return word.span()


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


def _is_ideograph(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or character >= "\uf900"


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


def _spaced_terms(text: str) -> list[str]:
    chunks = _CHUNK_OR_NOT if "'" in text or "’" in text else _CHUNK  # looking for `don't` takes a third longer
    return list(chain.from_iterable(map(terms_of, chunks.findall(text))))


@lru_cache(maxsize=1 << 15)
def terms_of(chunk: str) -> tuple[str, ...]:
    """The terms of one word or name, of a script with spaces."""
    word = chunk.casefold()
    if word in _STOP_WORDS:
        return ()
    if word.endswith(("n't", "n’t")):
        return ("not",)
    if chunk.isalpha() and chunk[1:].islower():
        return (stem(word),)
    return _parts(_PATH_SEPARATOR.sub("/", chunk) if "/" in chunk or "\\" in chunk else chunk, 0)


def _parts(name: str, level: int) -> tuple[str, ...]:
    """`name` and what it is made of, looking for the separators from `level` on."""
    if name.isdigit() or (name.isalpha() and name.islower()):
        return (stem(name.casefold()),)
    for at in range(level, len(_SPLITS)):
        split = _SPLITS[at]
        if isinstance(split, str):
            if split not in name:
                continue
            parts = [part for part in name.split(split) if part]
        else:
            parts = [part for part in split.split(name) if part]
        if parts != [name]:
            return _whole(name) * bool(parts) + tuple(chain.from_iterable(_kept(part, at + 1) for part in parts))
    return (stem(name.casefold()),)


_kept = lru_cache(maxsize=1 << 14)(_parts)  # a part is met again in other names, a whole name seldom is


def _whole(name: str) -> tuple[str, ...]:
    whole = name.casefold()
    # `NumPy` must be found by `numpy`, which is taken for a word and stemmed.
    root = stem(whole)
    return (whole,) if root == whole else (whole, root)


# Which language words are in: by function words, or by the script.

_LATIN_UP_TO = "\u024f"
_LEAST_FUNCTION_WORDS = 2
_FUNCTION_WORDS_OF_A_SENTENCE = 3
_SHARE_OF_FUNCTION_WORDS = 0.2
_SHARE_OF_A_SCRIPT = 0.2
"""Of the letters; fewer are a name, or a log in a broken encoding."""
_LETTERS = lazy_pattern(r"[^\W\d_]+")
_ONE_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}
_FUNCTION_WORDS = {
    name: frozenset(words.split())
    for name, words in {
        "en": "the is are was were of to and for in that this these with it its not be been from by on as an at if has "
        "have because will can when so or but which there must should do does after before only also you your",
        "de": "der die das und ist sind nicht ein eine einen mit fur auf den dem des wird werden sonst als auch von zu "
        "sich im oder wenn bei nur aus nach sie es wir ihr kann muss mussen vor uber ohne diese dieser dieses",
        "fr": "le la les des et est sont un une pas pour dans que qui sur avec du au ce cette sinon il elle ne par "
        "plus ou faut doit doivent sans nous vous ses leur",
        "es": "el la los las y es son un una no para en que de del con por se lo al como si sino este esta debe deben "
        "hay sin su sus necesitan",
        "pt": "o a os as e sao um uma nao para em que de do da dos das com por se ao no na como este esta deve devem "
        "sem seu sua senao precisam",
        "it": "il lo la gli le e sono un una non per in che di del della con si da come questo questa deve devono "
        "senza suo sua altrimenti nel alla",
        "nl": "de het een en is zijn niet voor in dat dit met op van te anders als ook moet moeten worden wordt bij of "
        "uit naar door zonder",
        "pl": "i jest sa nie na do w z ze to sie dla ten ta te przez inaczej musi musza bez jako lub oraz przed po",
        "sv": "och ar en ett inte for i att det som med pa av till annars maste den de om fran utan eller",
        "tr": "ve bir bu icin ile degil olarak gerekir yoksa da de ama gibi daha sonra",
    }.items()
}
FUNCTION_WORDS = frozenset().union(*_FUNCTION_WORDS.values())
"""Of all these languages, without accents."""

_CALLED = {
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "it": "Italian",
    "nl": "Dutch",
    "pl": "Polish",
    "sv": "Swedish",
    "tr": "Turkish",
    "CJK": "Chinese",
    "HANGUL": "Korean",
    "CYRILLIC": "a language in Cyrillic letters",
    "ARABIC": "a language in Arabic letters",
    "HEBREW": "Hebrew",
    "GREEK": "Greek",
    "THAI": "Thai",
    "DEVANAGARI": "a language in Devanagari letters",
}
_KANA = lazy_pattern(r"[\u3040-\u30ff]")


def called(text: str) -> str:
    """The language of a text as people call it; empty for English, and where nothing tells."""
    found = language(_LETTERS.findall(_without_accents(text.lower())))
    return "Japanese" if found == "CJK" and _KANA.search(text) else _CALLED.get(found, "")


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    from unicodedata import combining, normalize  # noqa: PLC0415

    return "".join(sign for sign in normalize("NFD", text) if not combining(sign))


def language(words: Sequence[str]) -> str:
    """A name for it, by function words without accents, or by the script; empty where nothing tells."""
    return _language(words, _LEAST_FUNCTION_WORDS, 0.0)


def language_of_prose(words: Sequence[str]) -> str:
    """The same for a line that may be code or a log: only where it reads as a sentence in that language."""
    return _language(words, _FUNCTION_WORDS_OF_A_SENTENCE, _SHARE_OF_FUNCTION_WORDS)


def _language(words: Sequence[str], least: int, share: float) -> str:
    words = [word for word in words if len(word) > 1 or word > _LATIN_UP_TO]  # a letter alone is a variable
    foreign = [word for word in words if word[0] > _LATIN_UP_TO and word[0].isalpha()]
    if sum(map(len, foreign)) > _SHARE_OF_A_SCRIPT * sum(map(len, words)):
        from unicodedata import name as name_of  # noqa: PLC0415

        script = name_of(foreign[0][0], "").partition(" ")[0]
        return _ONE_SCRIPT.get(script, script)
    distinct = set(words)
    counts = sorted(((len(distinct & own), name) for name, own in _FUNCTION_WORDS.items()), reverse=True)
    (most, name), (second, _) = counts[:2]
    return name if most >= max(least, share * len(words)) and most > second else ""
