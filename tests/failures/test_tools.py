"""One table says what every developer tool does: whoever asks, asks it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from hardwon.failures import provenance, shell, tools
from hardwon.failures.tools import TOOLS, Tool


def test_a_program_stands_in_the_table_once() -> None:
    programs = [program for names, _ in tools._TABLE for program in names.split()]
    assert sorted(programs) == sorted(set(programs))


def test_a_new_tool_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "reefpack add tides"
    assert provenance.may_be_shown(line)
    entry = Tool(fetches="add", checks="verify")
    for what, verbs in entry._asdict().items():
        monkeypatch.setitem(tools._VERBS, ("reefpack", what), frozenset(filter(None, verbs.split(", "))))
    assert not provenance.may_be_shown(line)
    assert provenance.may_be_shown("reefpack show tides")


def test_nobody_else_keeps_a_list_of_programs_that_fetch() -> None:
    source = ast.parse(Path(provenance.__file__).read_text())
    words = {word for node in ast.walk(source) if isinstance(node, ast.Constant) and isinstance(node.value, str)
             for word in node.value.split()}  # fmt: skip
    assert not words & {"brew", "apt-get", "pipx", "winget", "helm"}


@pytest.mark.parametrize(
    ("line", "fetched"),
    [("cargo build", False), ("cargo install ripgrep", True), ("go test ./...", False), ("go get x", True)],
)
def test_what_a_verb_does_not_bring_is_said_beside_what_the_others_do(line: str, fetched: bool) -> None:
    (command,) = shell.commands(line)
    assert tools.fetches(command.program, command.subcommand) is fetched
    assert "cargo" in TOOLS
