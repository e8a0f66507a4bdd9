"""`hardwon journal`: every verb from a shell, in words and in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run


def answer(run: Run, *arguments: object, input: str | None = None) -> Any:
    done = run("journal", *arguments, "--json", input=input)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_attempt_is_logged_found_reflected_on_and_counted(hardwon: Run, tmp_path: Path) -> None:
    report = tmp_path / "tests.txt"
    report.write_text("=== FAILURES ===\nE   KeyError: 'tide'\n=== 1 failed in 0.1s ===\n")
    number = hardwon(
        "journal", "log", "--task", "Cache the tides", "--file", "src/cache.py", "--file", "src/tide.py",
        "--test-results", report, "--diff", "-", "--at", "2026-01-31T23:30:00-02:00", "--project", "reef",
        input="+cache = {}",
    )  # fmt: skip
    assert (number.returncode, number.stdout) == (0, "1\n")
    (logged,) = answer(hardwon, "similar", "caching tides")
    assert (logged["id"], logged["outcome"], logged["evidence"]) == (1, "failure", "test-report")
    assert (logged["at"], logged["diff"]) == ("2026-02-01T01:30:00Z", "+cache = {}")
    assert logged["files"] == ["src/cache.py", "src/tide.py"]
    assert answer(hardwon, "failures")[0]["id"] == 1
    assert answer(hardwon, "file", "src")[0]["id"] == 1
    assert answer(hardwon, "reflect", 1, "Read it once.")["reflection"] == "Read it once."
    assert answer(hardwon, "stats")["month"][0]["name"] == "2026-02"
    shown = hardwon("journal", "show", 1).stdout
    assert all(part in shown for part in ("Cache the tides", "reef", "Read it once.", "  E   KeyError: 'tide'"))
    for words in (["similar", "tides"], ["failures"], ["file", "src/tide.py"], ["stats"]):
        assert "2026-02" in hardwon("journal", *words).stdout


def test_the_id_that_a_search_prints_opens_an_attempt_as_its_number_does(hardwon: Run) -> None:
    hardwon("journal", "log", "--task", "Count the herons", "--outcome", "failure")
    id = json.loads(hardwon("search", "herons", "--type", "attempt", "--json").stdout)[0]["id"]
    assert answer(hardwon, "show", id[:9]) == answer(hardwon, "show", 1)
    assert answer(hardwon, "reflect", id, "Before the tide.")["reflection"] == "Before the tide."
    again = answer(hardwon, "log", "--task", "Count the herons", "--retry-of", id)[0]
    assert again["retry_of"] == 1
    assert hardwon("why", 1).stdout == hardwon("why", id).stdout != ""
    assert hardwon("journal", "show", "A00").returncode == 1


def test_paths_are_those_of_the_current_folder(hardwon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "repo" / "src"
    below.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    monkeypatch.chdir(below)
    (logged,) = answer(hardwon, "log", "--task", "x", "--file", "a.py", "--file", "../b.py")
    assert logged["files"] == ["src/a.py", "b.py"]
    assert answer(hardwon, "file", "a.py")[0]["id"] == 1
    monkeypatch.chdir(tmp_path / "repo")
    assert answer(hardwon, "file", "src/a.py")[0]["id"] == 1


def test_many_are_logged_at_once_or_none(hardwon: Run, tmp_path: Path) -> None:
    lines = [
        {"task_description": "one", "outcome": "success", "files_modified": ["a.py"], "id": 77, "embedding": None},
        {"task_description": "two", "timestamp": "2025-03-01 10:00:00", "reflection": None},
        {"task": "three", "at": "2025-03-01T10:00:00+01:00", "files": ["b.py"], "analysis": "none"},
    ]
    path = tmp_path / "journal.jsonl"
    path.write_text("\n\n".join(map(json.dumps, lines)))
    assert hardwon("journal", "log", "--jsonl", path).stdout == "Logged 3 attempts, 1 to 3.\n"
    assert answer(hardwon, "show", 2)["at"] == "2025-03-01T10:00:00Z"
    assert answer(hardwon, "show", 3)["at"] == "2025-03-01T09:00:00Z"
    for bad, said in (
        ('{"task_description": "x", "outcome": "great"}', "line 2"),
        ('{"tusk": "x"}', "unknown field tusk"),
        ("[1]", "line 2 is not an attempt"),
        ('{"task_description": " "}', "needs a task"),
    ):
        done = hardwon("journal", "log", "--jsonl", "-", input=json.dumps(lines[0]) + "\n" + bad)
        assert done.returncode == 1
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert answer(hardwon, "stats")["overall"]["attempts"] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", 7], "no attempt 7"),
        (["reflect", 7, "x"], "no attempt 7"),
        (["log", "--task", "x", "--at", "noon"], "is not a time"),
        (["log", "--task", "x", "--diff", "missing.txt"], "cannot read missing.txt"),
        (["log", "--task", "x", "--retry-of", "7"], "attempt 7"),
        (["stats", "--project", "nowhere"], "no project"),
    ],
)
def test_bad_input_is_one_clear_line(words: list[object], said: str, hardwon: Run) -> None:
    hardwon("journal", "log", "--task", "x")
    done = hardwon("journal", *words)
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_empty_journal_says_so(hardwon: Run) -> None:
    for words in (["similar", "x"], ["failures"], ["file", "x"], ["stats"]):
        done = hardwon("journal", *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\n") == 1
    assert answer(hardwon, "similar", "x") == []
    block = hardwon("journal", "failures", "--block", "--run", "r")
    assert (block.returncode, block.stdout, block.stderr) == (0, "", "")
