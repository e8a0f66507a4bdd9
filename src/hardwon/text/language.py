"""Which language a few words are in, as far as one must know it to see that two texts are not in the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_LATIN_UP_TO = "\u024f"
_LEAST_FUNCTION_WORDS = 2
_FUNCTION_WORDS_OF_A_SENTENCE = 3
_SHARE_OF_FUNCTION_WORDS = 0.2
_SHARE_OF_A_SCRIPT = 0.2
"""Of the letters; fewer are a name, or a log in a broken encoding."""
_LETTERS = re.compile(r"[^\W\d_]+")
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
_WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_SHARE_WITHOUT_SPACES = 0.3

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
_KANA = re.compile(r"[\u3040-\u30ff]")


def called(text: str) -> str:
    """The language of a text as people call it; empty for English, and where nothing tells."""
    found = language(_LETTERS.findall(_without_accents(text.lower())))
    return "Japanese" if found == "CJK" and _KANA.search(text) else _CALLED.get(found, "")


def _without_accents(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))


def is_without_spaces(text: str) -> bool:
    """Whether most of it is in a script that puts none between words."""
    return len(_WITHOUT_SPACES.findall(text)) > _SHARE_WITHOUT_SPACES * len(text)


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
        script = unicodedata.name(foreign[0][0], "").partition(" ")[0]
        return _ONE_SCRIPT.get(script, script)
    distinct = set(words)
    counts = sorted(((len(distinct & own), name) for name, own in _FUNCTION_WORDS.items()), reverse=True)
    (most, name), (second, _) = counts[:2]
    return name if most >= max(least, share * len(words)) and most > second else ""
