"""The block that is kept in AGENTS.md: up to date, and nothing else of the file is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon import HardwonError
from hardwon.briefing.agents_md import BEGIN, END, with_block
from tests.conftest import EXAMPLES, Run
from tests.terminal import on_a_terminal

plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")).filter(
    lambda text: BEGIN not in text and END not in text
)
block = st.lists(st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1), min_size=1).map("\n".join)


@given(plain, block, block)
def test_a_block_replaces_the_one_before_and_leaves_the_rest(text: str, first: str, second: str) -> None:
    once = with_block(text, first)
    assert once.startswith(text)
    assert with_block(once, first) == once
    assert with_block(once, second) == with_block(text, second)


@given(plain, plain, block, block)
def test_what_stands_around_the_block_stays(before: str, after: str, first: str, second: str) -> None:
    marked = f"{before}{BEGIN}\n{first}\n{END}{after}"
    new = with_block(marked, second)
    assert new.startswith(before + BEGIN)
    assert new.endswith(END + after)


def test_windows_line_ends_stay() -> None:
    new = with_block("# Agents\r\nBe kind.\r\n", "one\ntwo")
    assert "\n" not in new.replace("\r\n", "")


@pytest.mark.parametrize("text", [BEGIN, END, f"{END} {BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_broken_marks_are_said_and_nothing_is_written(text: str) -> None:
    with pytest.raises(HardwonError, match="exactly once each"):
        with_block(text, "x")


def test_the_command_writes_the_block_and_shows_what_changed(hardwon: Run, tmp_path: Path) -> None:
    hardwon("harvest", EXAMPLES)
    file = tmp_path / "AGENTS.md"
    file.write_text("# Ours\n")
    first = hardwon("bootstrap", "--project", "tidepool", "--write", file)
    assert "+## Past failures to avoid" in first.stdout
    assert first.stderr == f"Written into {file}.\n"
    assert file.read_text().startswith("# Ours\n\n" + BEGIN)
    again = hardwon("bootstrap", "--project", "tidepool", "--write", file)
    assert (again.stdout, again.returncode) == ("", 0)
    assert "up to date" in again.stderr


@pytest.mark.parametrize("command", [("bootstrap", "--write"), ("export", "--agents-md")], ids=["own", "team"])
def test_whoever_looks_is_shown_the_change_and_asked(hardwon: Run, tmp_path: Path, command: tuple[str, str]) -> None:
    hardwon("harvest", EXAMPLES)
    file = tmp_path / "AGENTS.md"
    asked = (*command, str(file), "--project", "tidepool")
    said = on_a_terminal(*asked, typed="n\n")
    assert "+- " in said
    assert "[y/N]" in said
    assert not file.exists()
    on_a_terminal(*asked, typed="y\n")
    assert BEGIN in file.read_text()
    file.unlink()
    assert "[y/N]" not in on_a_terminal(*asked, "--yes")
    assert BEGIN in file.read_text()


def test_other_forms(hardwon: Run) -> None:
    hardwon("harvest", EXAMPLES)
    shown = hardwon("bootstrap", "--project", "tidepool", "--format", "markdown").stdout
    assert "## What earlier sessions taught" in shown
    told = hardwon("bootstrap", "--project", "tidepool").stdout.split("\n")
    assert "HOW THIS PROJECT WAS BUILT, CHECKED AND RUN (verify):" in told
    lines = [line for line in told if line.startswith("- ") and "the last session (" not in line]
    assert [line for line in shown.split("\n") if line.startswith("- ")] == lines
    assert "hardwon-memory" not in shown
    assert '"hookEventName":"SessionStart"' in hardwon("bootstrap", "-p", "tidepool", "--format", "hook").stdout
