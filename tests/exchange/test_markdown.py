"""A line of Markdown holds any text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hardwon.exchange.markdown_format import LessonLine, escaped, read, unescaped, written

HOSTILE = st.text(
    st.one_of(st.sampled_from("\\`<>&#;|!()[]*_{}-~ \n\r\tbr12x/"), st.characters(exclude_categories=("Cs",)))
)


@given(HOSTILE)
@example("\\<br>")
@example("`<br>` and `\\`")
@example("\\\n")
@example(" ")
@example("&#32;")
@example("]`](x)")
def test_any_text_comes_back_from_its_line_and_keeps_to_it(text: str) -> None:
    line = LessonLine(text, "L0123456789abcdef", "active", "0.90", "user:S1+2")
    shown = written(line)
    assert len(shown.splitlines()) == 1
    assert read(shown.removeprefix("- ").strip(" \t\r")) == line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Run `make up` before the tests, not make_all.", None),
        ("Use `git checkout <branch>` here | or there.", None),
        (r"Keep it in C:\new\tools", None),
        ("a < b && b > c", None),
        ("one\ntwo", "one<br>two"),
        ("<script>alert(1)</script>", r"\<script>alert(1)\</script>"),
        ("![x](http://evil.example/p.png)", r"\![x]\(http://evil.example/p.png)"),
        ("<!-- hidden", r"\<!-- hidden"),
        (r"sed 's/\./x/'", r"sed 's/\\./x/'"),
        ("a\u202eb", "a&#8238;b"),
    ],
)
def test_plain_text_stays_as_it_is_and_markup_is_made_harmless(text: str, shown: str | None) -> None:
    assert escaped(text) == (shown or text)
    assert unescaped(escaped(text)) == text


@pytest.mark.parametrize("item", ["Use uv.", "`make up` first", "`git push origin main` is forbidden", "a \\d b"])
def test_what_a_person_writes_is_text(item: str) -> None:
    assert read(item) == LessonLine(item)
