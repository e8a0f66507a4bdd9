"""Two texts are told apart by their languages; code and logs are in none."""

from __future__ import annotations

import pytest

from hardwon.text.words import language, language_of_prose


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("die tests brauchen das paket sonst schlagen sie fehl", "de"),
        ("les tests ont besoin du plugin sinon ils sont rouges", "fr"),
        ("the tests are red because the plugin is missing", "en"),
        ("тесты падают потому что не установлен пакет reef", "CYRILLIC"),
        ("no module named reef", ""),
        ("except reeferror as e", ""),
        ("e valueerror test error in pmap", ""),
        ("if not self load_all", ""),
        ("warning unicodeencodeerror charmap codec \ufb01 cannot encode character position reef manager", ""),
    ],
)
def test_a_line_is_in_a_language_only_where_it_reads_as_a_sentence(line: str, found: str) -> None:
    assert language_of_prose(line.split()) == found


def test_a_few_words_tell_the_language_of_a_sentence() -> None:
    assert language("wir nehmen das paket".split()) == "de"
    assert language("o e a i y".split()) == ""
