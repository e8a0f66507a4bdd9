"""Of an error that is too long for its line, what says least is left out first; nothing that tells is masked."""

from __future__ import annotations

import pytest

from hardwon.failures.fingerprint import fingerprint
from hardwon.failures.turns import MAX_ERROR_CHARACTERS, generalised
from hardwon.text.normalise import presentable
from tests.failures.test_turns_error_line import shown

_LONG = "Northern.Reef.Tide.Gauge"


def test_an_aside_to_the_reader_goes_before_anything_else() -> None:
    said = f"Rows.cs(9,1): error CS0234: The type or namespace name 'Tides' does not exist in the namespace '{_LONG}'"
    asked = f"{said} (are you missing an assembly reference?) [/srv/reef/Rows.csproj]"
    assert shown(asked, "dotnet build") == said


def test_folders_go_before_the_reason() -> None:
    file = "C:/dev/reef/stations/northern/bin/Debug/tides.json"
    line = shown(
        f"IOException: The process cannot access the file '{file}' of the gauge at the northern end of the reef "
        "because it is being used by another process.",
        "dotnet run",
    )
    assert "tides.json" in line
    assert line.endswith("because it is being used by another process.")


def test_name_spaces_and_the_inside_of_long_quotes_go_before_the_end() -> None:
    line = shown(
        f"Rows.cs(9,1): error CS1503: Argument 2: cannot convert from 'string' to '{_LONG}.IReadOnlyCollection<"
        f"{_LONG}.Reading>' for the parameter of the method that was called",
        "dotnet build",
    )
    assert "'IReadOnlyCollection<Reading>'" in line
    assert line.endswith("was called")


def test_a_line_without_such_parts_loses_its_middle_and_keeps_its_end() -> None:
    middle = " and then the next gauge was asked for its height" * 4
    line = shown(f"Error: the first gauge of the reef did not answer{middle} until the pump ran dry", "reefctl")
    assert len(line) <= MAX_ERROR_CHARACTERS
    assert line.startswith("Error: the first gauge of the reef did not answer")
    assert " … " in line
    assert line.endswith("until the pump ran dry")


def test_of_two_long_values_the_part_that_differs_is_told() -> None:
    same = "# Tides of the northern reef, " * 3
    output = (
        f'error: expect(received).toBe(expected)\n\nExpected: "{same}low"\nReceived: "{same}high"\n\n'
        "(fail) tides > are written [1.00ms]\n 1 fail\n"
    )
    line = shown(output, "bun test")
    assert "low" in line
    assert "high" in line


@pytest.mark.parametrize(
    "told",
    [
        "ValueError: chr() arg not in range(0x110000)",
        'tide() = "2026-01-25_17-30", want "2026-01-25_15-30"',
        "connect ECONNREFUSED 127.0.0.1:5432",
        "Assembly 'Tides' uses 'Reef, Version=18.0.0.1'",
        "No matching version found for tides@next",
        "DID NOT RAISE <class 'RuntimeError'>",
    ],
)
def test_what_may_be_the_very_reason_is_not_masked(told: str) -> None:
    assert presentable(told) == told


@pytest.mark.parametrize("hidden", ["10.20.30.40", "ann@harbour", "0x7f3a5c2b1e40"])
def test_what_is_somebodys_or_says_nothing_is_masked(hidden: str) -> None:
    assert hidden not in presentable(f"Error: no answer of {hidden}: gone")


def test_a_closing_bracket_is_part_of_the_line() -> None:
    output = (
        "E   Failed: DID NOT RAISE <class 'RuntimeError'>\nFAILED tests/test_tides.py::test_pump - Failed: DID NOT R..."
    )
    assert "<class 'RuntimeError'>" in shown(output, "pytest")


def test_a_sentence_that_only_announces_is_left_out() -> None:
    output = (
        'Traceback (most recent call last):\n  File "/srv/a.py", line 1, in <module>\n    f()\n'
        "TypeError: f(): incompatible function arguments. The following argument types are supported:\n    1. (int)\n"
    )
    assert shown(output, "python a.py").startswith("TypeError: f(): incompatible function arguments. (")


def test_lines_and_columns_that_differ_each_time_are_left_out() -> None:
    assert generalised(["a.go:1:2: unused", "a.go:7:2: unused"]) == "a.go: unused"
    assert generalised(["R.cs(1,2): error IDE0055: Fix", "R.cs(7,9): error IDE0055: Fix"]) == "R.cs: error IDE0055: Fix"


def test_the_same_mistake_in_another_script_of_awk_is_another_error() -> None:
    first, second = (
        fingerprint(f"awk: syntax error at source line 1\n context is\n\t{script} >>> \\ <<<\nawk: bailing out")
        for script in ("/tide/ { print }", "/pump/ { skip=1 }")
    )
    assert first is not None
    assert second is not None
    assert first.id != second.id


def test_what_git_cannot_merge_is_named() -> None:
    output = "merge: tides#11 - not something we can merge\n\nDid you mean this?\n\torigin/tides#11\n"
    assert shown(output, "git merge tides#11") == "merge: tides#11 - not something we can merge"
