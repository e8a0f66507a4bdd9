"""Charts are well-formed, say what they show, and let no text out of its place."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from hardwon.measure.dashboard import Bar, Dot, columns, dots
from hardwon.model.metric import rate

NAMESPACE = "{http://www.w3.org/2000/svg}"
words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")) | st.sampled_from("<>&\"'"), max_size=30)


@given(words, st.lists(st.builds(Bar, words, st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))), max_size=40))
def test_columns_are_svg_whatever_their_names(title: str, bars: list[Bar]) -> None:
    root = ElementTree.fromstring(columns(title, bars, ("new", "again")))
    assert root.get("aria-label") == title
    tall = [float(rect.get("height", "")) for rect in root.iter(f"{NAMESPACE}rect")]
    assert all(0 <= height <= 200 for height in tall)
    assert {child.tag.removeprefix(NAMESPACE) for child in root.iter()} <= {
        "svg",
        "style",
        "text",
        "rect",
        "path",
        "title",
    }


def test_the_tallest_column_is_the_largest_number() -> None:
    root = ElementTree.fromstring(columns("x", [Bar("a", (3,)), Bar("b", (9,)), Bar("c", (6,))], ()))
    tall = [float(rect.get("height", "")) for rect in root.iter(f"{NAMESPACE}rect")]
    assert tall[0] < tall[2] < tall[1]


@given(words, st.integers(0, 50), st.integers(0, 50))
def test_dots_lie_inside_their_interval(label: str, hits: int, more: int) -> None:
    root = ElementTree.fromstring(
        dots("Share", [Dot(label, rate(hits, hits + more), 0.5)], ("confirmed", "confidence"))
    )
    for circle in root.iter(f"{NAMESPACE}circle"):
        assert 170 <= float(circle.get("cx", "")) <= 720


def test_they_can_be_read_in_the_dark() -> None:
    assert "prefers-color-scheme: dark" in columns("x", [], ())
