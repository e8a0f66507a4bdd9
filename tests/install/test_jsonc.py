"""Settings are changed in place: what is not ours stays as it was written, comments too."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon import HardwonError
from hardwon.install import jsonc

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
indents = st.sampled_from([None, 2, 4, "\t"])

COMMENTED = """\
// My settings
{
  "theme": "dark", // not too bright
  /* what runs
     when */
  "hooks": {
    "Stop": [ /* nothing yet */ ],
  },
}
"""


@given(values, indents)
def test_what_json_can_say_is_read_as_json_reads_it(value: object, indent: int | str | None) -> None:
    assert jsonc.parse(json.dumps(value, indent=indent)).value == value


@given(st.dictionaries(st.text(max_size=6), values, max_size=4), indents, st.text(max_size=6), values)
def test_a_member_that_is_added_is_the_only_difference_and_can_be_taken_out(
    settings: dict[str, object], indent: int | str | None, name: str, value: object
) -> None:
    settings.pop(name, None)
    text = json.dumps(settings, indent=indent)
    more = jsonc.with_member(text, jsonc.parse(text), name, value)
    assert json.loads(more) == settings | {name: value}
    root = jsonc.parse(more)
    assert json.loads(jsonc.without(more, root, root.get(name))) == settings  # type: ignore[arg-type]


@given(st.lists(values, max_size=4), indents, st.data())
def test_a_value_is_taken_out_of_a_list_and_nothing_else(
    items: list[object], indent: int | str | None, data: st.DataObject
) -> None:
    text = json.dumps(items, indent=indent)
    more = jsonc.with_item(text, jsonc.parse(text), {"ours": True})
    assert json.loads(more) == [*items, {"ours": True}]
    root = jsonc.parse(more)
    at = data.draw(st.integers(0, len(items)))
    left = [*items, {"ours": True}]
    del left[at]
    assert json.loads(jsonc.without(more, root, root.items[at])) == left  # type: ignore[index]


def test_comments_and_the_rest_of_the_layout_stay() -> None:
    root = jsonc.parse(COMMENTED)
    hooks = root.get("hooks")
    assert hooks is not None
    more = jsonc.with_member(COMMENTED, hooks, "Start", [1])
    for kept in ("// My settings", "// not too bright", "/* what runs\n     when */", "/* nothing yet */"):
        assert kept in more
    again = jsonc.parse(more).get("hooks")
    assert again is not None
    assert jsonc.without(more, again, again.get("Start")).split() == COMMENTED.split()  # type: ignore[arg-type]


def test_windows_line_ends_stay_windows_line_ends() -> None:
    text = '{\r\n  "a": 1\r\n}\r\n'
    more = jsonc.with_member(text, jsonc.parse(text), "b", {"c": [2]})
    assert more.count("\n") == more.count("\r\n")


@pytest.mark.parametrize(
    "text", ["", "{", '{"a" 1}', "{'a': 1}", '{"a": 1} x', "[1 2]", '{"a": 01e}', "[" * 200, '{"a": tru}', "/*"]
)
def test_what_is_no_json_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(HardwonError, match="it is"):
        jsonc.parse(text)
