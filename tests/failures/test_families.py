"""Each family of tools finds the error that matters, whatever stands around it."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

import pytest

from hardwon.failures.fingerprint import FAMILIES, Fingerprint, fingerprint
from hardwon.failures.signature import signature
from tests.data.labelled import labelled
from tests.timing import assert_growth, spent

PAGE = Path(__file__).parents[2] / "docs" / "families.md"
ROW = re.compile(r"^\| `(\w+)` \|.*\| `(.+)` \|$", re.MULTILINE)

TYPES = "src/a.ts(6,33): error TS2304: Cannot find name 'Tide'."
MISSING = 'npm error Missing script: "lint"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run'


def of(output: str) -> Fingerprint:
    found = fingerprint(output)
    assert found is not None
    return found


def test_the_page_has_every_family_and_an_example_that_is_true() -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert [name for name, _ in rows] == [name for name, _ in FAMILIES]
    shown = {(one.family, signature(of(one.output))) for one in labelled() if one.variant == "plain"}
    assert [row for row in rows if row not in shown] == []


@pytest.mark.parametrize(
    "envelope",
    [
        "Exit code 1\n{}",
        "Error: Exit code 127\n{}",
        "Exit code: 2\nWall time: 0.3 seconds\nOutput:\n{}",
        "Chunk ID: 3fa1\nWall time: 0.3 seconds\nProcess exited with code 1\nOriginal token count: 90\nOutput:\n{}",
        "\n\n{}\n\n",
        "... [20345 characters truncated] ...\n{}",
        "[... omitted 212 of 300 lines ...]\n{}",
        "{}\n\n... [20345 characters truncated] ...\n",
    ],
)
@pytest.mark.parametrize("output", [TYPES, MISSING, "bash: pnpm: command not found", "KeyError: 'gauge'"])
def test_what_an_agent_writes_around_an_output_does_not_matter(envelope: str, output: str) -> None:
    assert of(envelope.replace("{}", output)).id == of(output).id


@pytest.mark.parametrize(
    "around",
    [
        "> tide@1.0.0 build\n> tsc\n\n{}\nnpm error Lifecycle script `build` failed with error:\nnpm error code 2",
        "{}\n ELIFECYCLE  Command failed with exit code 2.",
        '{}\nerror: script "build" exited with code 2',
        "{}\nmake: *** [Makefile:12: build] Error 2",
        "{}\nerror Command failed with exit code 2.\ninfo Visit https://yarn.example/en/docs/cli/run",
        "#12 [build 4/5] RUN npm ci\n#12 4.211 {}\nERROR: failed to solve: process \"npm ci\" did not complete",
        "2026-10-03T10:11:12.1234567Z {}\n2026-10-03T10:11:13.1234567Z ##[error]Process completed with exit code 2.",
    ],
)  # fmt: skip
def test_the_tool_that_failed_counts_and_not_those_that_ran_it(around: str) -> None:
    assert of(around.replace("{}", TYPES)).id == of(TYPES).id


def test_a_missing_package_is_one_error_wherever_it_is_imported() -> None:
    one = "src/a.ts(1,1): error TS2307: Cannot find module 'zod' or its corresponding type declarations."
    assert of(one).id == of(one.replace("a.ts", "b.ts")).id
    assert of(one.replace("zod", "./zod")).id != of(one.replace("zod", "./zod").replace("a.ts", "b.ts")).id


def test_a_warning_is_no_error() -> None:
    warned = "x.py:3: DeprecationWarning: old\nDeprecationWarning: use the other one\nfatal: not a git repository"
    assert of(warned).family == "git"


def test_a_failed_test_is_not_told_by_the_lines_of_another() -> None:
    report = (
        "=== FAILURES ===\n___ test_b ___\nE       ValueError: b\n\ntests/test_x.py:9: ValueError\n"
        "=== short test summary info ===\nFAILED tests/test_x.py::test_a - KeyError: 'a'\n"
        "FAILED tests/test_x.py::test_b - ValueError: b\n"
    )
    found = of(report)
    assert (found.error_type, found.message, found.frame) == ("KeyError", "'a'", "test_x.py test_a")


LEADS = (
    *(
        "Error: ",
        "fatal: ",
        " FAIL  a.test.ts\n",
        "Traceback (most recent call last):\n",
        "npm error ",
        "a.c:1:2: error: ",
    ),
    *(
        "go: ",
        "--- FAIL: TestA (0.0s)\n",
        " 1 failing\n\n  1) x\n",
        "* What went wrong:\n",
        "CMake Error at a:1 (b):\n  ",
    ),
    *("╰─> [3 lines of output]\n", "=== FAILURES ===\n", "[ERROR] ", "  1:2  error  ", "Error response from daemon: "),
)
SHAPES = (
    "(",
    "error: ",
    "a:",
    "E   ",
    "\n",
    "at ",
    "a/",
    "- ",
    "x: y\n",
    '  File "a"\n',
    "    at x\n",
    " ",
    "' ",
    "● \n",
    "1) a\n",
)


@pytest.mark.parametrize("shape", SHAPES)
def test_hostile_text_costs_little_more_than_ordinary_text(shape: str) -> None:
    ordinary = [f"{lead}{shape}\n" + "all is well here\n" * 3500 for lead in LEADS]
    hostile = [lead + shape * (60_000 // len(shape)) for lead in LEADS]
    assert_growth(lambda: _seconds(ordinary), lambda: _seconds(hostile), most=200)


def _seconds(texts: list[str]) -> float:
    return spent(lambda: [fingerprint(f"{text}{next(_NUMBERS)}") for text in texts])  # none seen before


_NUMBERS = count()
