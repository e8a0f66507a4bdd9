"""Patterns that are kept are those that Python would compile, and what is kept can be damaged or missing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hardwon.scrub.scrubber import RULES
from hardwon.text import patterns

PROGRAM = """
import json, sys
from hardwon.text import patterns
patterns._WORTH_KEEPING = 1
patterns.use_kept()
before = len(patterns._kept)
found = [patterns.compiled(*one) for one in json.load(sys.stdin)]
patterns.keep()
print(json.dumps([before, patterns._place(), [[one.pattern, one.flags, one.groups] for one in found]]))
"""
SOURCES = [(r"(?P<name>a|b)\d+", int(re.ASCII)), ("[\u3400-\u9fff]+", 0), (r"(?i)x(y)?", int(re.MULTILINE))]


def run(bytecode: Path, **more: str) -> tuple[int, Path, list[list[object]]]:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONDONTWRITEBYTECODE": "", **more}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(SOURCES),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    before, place, found = json.loads(done.stdout)
    return before, Path(place), found


def test_the_next_process_reads_what_this_one_compiled(tmp_path: Path) -> None:
    compiled = [[one.pattern, one.flags, one.groups] for one in (re.compile(*source) for source in SOURCES)]
    first, place, found = run(tmp_path)
    assert (first, found) == (0, compiled)
    assert place.is_file()
    assert place.is_relative_to(tmp_path)
    assert run(tmp_path)[::2] == (len(SOURCES), compiled)


def test_what_is_damaged_or_of_another_python_is_made_anew(tmp_path: Path) -> None:
    _, place, found = run(tmp_path)
    whole = place.read_bytes()
    for damaged in (
        b"",
        b"nothing",
        whole[:-20],
        whole[:-3] + b"xyz",
        whole.replace(sys.version[:6].encode(), b"0.0.00"),
    ):
        place.write_bytes(damaged)
        assert run(tmp_path)[::2] == (0, found)
        assert place.read_bytes() == whole


def test_nothing_is_written_where_python_writes_no_bytecode(tmp_path: Path) -> None:
    _, place, _ = run(tmp_path, PYTHONDONTWRITEBYTECODE="1")
    assert not place.exists()


def test_every_rule_compiles_to_the_same_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = re.ASCII | re.MULTILINE
    monkeypatch.setattr(patterns, "_kept", {})
    for source in {rule.source for rule in RULES}:
        by_python = re.compile(source, flags)
        for _ in range(2):  # made, and read
            ours = patterns.compiled(source, flags)
            assert (ours, ours.flags, dict(ours.groupindex)) == (by_python, by_python.flags, dict(by_python.groupindex))


@pytest.mark.parametrize("kept", [(0, b"\x01\x02\x03\x04" * 3, 1, {}, (None, None)), (0,), "x"])
def test_what_the_engine_refuses_is_compiled_by_python(monkeypatch: pytest.MonkeyPatch, kept: object) -> None:
    monkeypatch.setattr(patterns, "_kept", {("(tide)", 0): kept})
    found = patterns.compiled("(tide)").fullmatch("tide")
    assert found is not None
    assert found[1] == "tide"
