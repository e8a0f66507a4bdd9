"""Tables fit the terminal, whatever stands in them, and cut no word that a line can hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.cli.app import COMMANDS, GROUPS
from hardwon.cli.table import as_table, cut_in_code, width, wrapped
from tests.conftest import Run

_WORDS = st.lists(st.text("abcxyz-_/.é漢", min_size=1, max_size=30), min_size=0, max_size=12).map(" ".join)
_HEADINGS = ("ID", "TIMES", "TOKENS", "ERROR", "WORKED")
_ROW = (
    "F938e3873",
    39,
    "14.2k",
    "error: unrecognized subcommand of a tool that nobody knows",
    "replace it with another",
)


@given(st.lists(st.tuples(_WORDS, _WORDS, _WORDS), min_size=1, max_size=5), st.sampled_from([80, 100, 200]))
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str, str, str]], room: int) -> None:
    table = as_table(("ONE", "TWO", "THREE"), rows, room=room)
    assert all(width(line) <= room for line in table.splitlines())


@given(_WORDS, st.integers(10, 80))
def test_a_word_that_fits_into_a_line_is_never_cut(text: str, room: int) -> None:
    lines = wrapped(text, room)
    assert all(width(line) <= room for line in lines)
    if all(width(word) <= room for word in text.split()):
        assert " ".join(lines).split() == text.split()
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_path_is_broken_between_folders_where_they_fit() -> None:
    assert wrapped("see src/components/RemediationTab.tsx now", 24) == ["see src/components/", "RemediationTab.tsx now"]
    assert wrapped("a-very-long-name/with.dots", 12) == ["a-very-long-", "name/", "with.dots"]


def test_columns_that_can_be_spared_give_way_to_the_text() -> None:
    narrow = as_table(_HEADINGS, [_ROW], room=60, right=(1, 2), spare=(2, 1)).splitlines()[0].split()
    wide = as_table(_HEADINGS, [_ROW], room=200, right=(1, 2), spare=(2, 1)).splitlines()
    assert narrow == ["ID", "ERROR", "WORKED"]
    assert wide[0].split() == list(_HEADINGS)
    assert len(wide) == 2


def test_numbers_stand_at_the_right_and_wide_signs_take_two_columns() -> None:
    table = as_table(("N", "TEXT"), [(7, "漢字"), (1234, "ab")], room=80, right=(0,)).splitlines()
    assert table == ["   N  TEXT", "   7  漢字", "1234  ab"]
    assert width("漢字") == 4


def test_a_line_that_is_too_long_is_cut_at_a_word_and_shows_no_middle_of_a_command() -> None:
    folder = "~/.local/state/tides/git/local/tides/task#<id>"
    line = f"move `cd {folder}` after `cd {folder}/src`"
    assert cut_in_code(line, 200) == line
    assert cut_in_code(line, 70) == f"move `cd {folder}` after …"
    assert cut_in_code("run `docker compose up --detach --wait --build`", 30) == "run `docker compose up …`"
    assert cut_in_code("run `a` and then look at the long list of all tides", 30) == "run `a` and then look at the …"
    answer = "`tide post` failed with an answer: `hardwon why` shows it"
    assert cut_in_code(answer, 49) == "`tide post` failed with an answer …"


def test_of_two_commands_what_differs_is_kept_or_nothing() -> None:
    folder = "~/.local/state/tides/git/local/tides"
    line = f"worked: replace `cd {folder}/task#<id>` with `cd {folder}/north/task#<id>` for an error that is long"
    assert cut_in_code(line, 80).startswith("worked: replace `cd …/task#<id>` with `cd …/north/task#<id>` for")
    assert cut_in_code(line, 50) == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_does_is_told_in_a_line_of_80_columns(name: str) -> None:
    _, what = COMMANDS[name]
    assert what.endswith(".")
    assert 2 + max(map(len, COMMANDS)) + 2 + len(what) <= 78


def test_every_command_stands_in_one_group() -> None:
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_of_any_help_is_cut_or_offers_the_opposite_of_a_flag(name: str, hardwon: Run) -> None:
    lines = [line for line in hardwon(name, "--help").stdout.split("\n") if not line.startswith("Usage:")]
    assert [line for line in lines if line.endswith("...") or len(line) > 80 or "--no-" in line] == (
        ["  --browser / --no-browser  Open the browser, or only print the link."] if name == "open" else []
    )
