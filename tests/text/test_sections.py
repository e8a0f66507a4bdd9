"""Texts cut at their headings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hardwon.text.sections import MAX_CHUNK_CHARACTERS, Section, sections

LINE = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=300)
MARKDOWN = """Before any heading.

# Install
With uv.
```sh
# no heading
uv sync
```

## On Windows ##
With care.

Setext one
==========
First.

Setext two
----------
Second.

| a | b |
|---|---|

# Run
"""
REST = """
=====
Guide
=====

Welcome.

Install
=======

With uv.

On Windows
----------

With care.

Run
===

Go.
"""


def test_markdown_is_cut_at_its_headings_and_not_in_code() -> None:
    assert sections(MARKDOWN, "markdown") == [
        Section("", "Before any heading."),
        Section("Install", "With uv.\n```sh\n# no heading\nuv sync\n```"),
        Section("Install > On Windows", "With care."),
        Section("Setext one", "First."),
        Section("Setext one > Setext two", "Second.\n\n| a | b |\n|---|---|"),
    ]


def test_restructuredtext_is_cut_by_the_order_of_its_marks() -> None:
    assert sections(REST, "restructuredtext") == [
        Section("Guide", "Welcome."),
        Section("Guide > Install", "With uv."),
        Section("Guide > Install > On Windows", "With care."),
        Section("Guide > Run", "Go."),
    ]


def test_plain_text_has_no_headings() -> None:
    assert sections("# a\n=====\nb", "text") == [Section("", "# a\n=====\nb")]


@given(st.lists(LINE, max_size=30), st.sampled_from(["markdown", "restructuredtext", "text"]))
def test_no_chunk_is_too_long_and_of_plain_text_nothing_is_lost(lines: list[str], markup: str) -> None:
    text = "\n".join(lines)
    parts = sections(text, markup)  # type: ignore[arg-type]
    assert all(0 < len(part.text) <= MAX_CHUNK_CHARACTERS for part in parts)
    if markup == "text":
        assert "".join("".join(part.text for part in parts).split()) == "".join(text.split())
