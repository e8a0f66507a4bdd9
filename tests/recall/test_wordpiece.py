"""The tokenizer gives what BERT's own gives; the expected ids are the reference's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.recall.minilm import END, MAX_PIECES, START, encode


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (
            "ModuleNotFoundError: No module named 'asyncpg'",
            [101, 11336, 17048, 14876, 20824, 29165, 1024, 2053, 11336, 2315, 1005, 2004, 6038, 21906, 2290, 1005, 102],
        ),
        ("Café — naïve", [101, 7668, 1517, 15743, 102]),
        ("数据库 ok", [101, 100, 100, 100, 7929, 102]),
        ("git push --force-with-lease", [101, 21025, 2102, 5245, 1011, 1011, 2486, 1011, 2007, 1011, 10084, 102]),
        ("x" * 101, [101, 100, 102]),
        ("", [101, 102]),
    ],
)
def test_pieces_are_those_of_the_reference(text: str, ids: list[int]) -> None:
    assert encode(text) == ids


@given(st.text(st.characters(exclude_categories=()), max_size=400))
def test_any_text_gives_few_pieces_between_the_marks(text: str) -> None:
    ids = encode(text)
    assert ids[0] == START
    assert ids[-1] == END
    assert len(ids) <= MAX_PIECES
    assert all(0 <= id < 30_522 for id in ids)


def test_a_megabyte_is_cut_before_it_costs_anything() -> None:
    assert len(encode("word " * 1_000_000)) == MAX_PIECES
