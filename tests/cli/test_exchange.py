"""`export`, `import` and `migrate` as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_commands import answer, bad
from tests.conftest import EXAMPLES, Run
from tests.exchange.test_atocore import whole
from tests.exchange.test_journal import FULL, journal


@pytest.fixture
def harvested(hardwon: Run) -> None:
    answer(hardwon, "harvest", EXAMPLES)


def test_export_edit_import(harvested: None, hardwon: Run, tmp_path: Path) -> None:
    done = answer(hardwon, "export", tmp_path)
    assert done["lessons"] > 5
    page = tmp_path / "knowledge" / "repos" / "tidepool.md"
    page.write_text(page.read_text() + "- A line of my own.\n")
    planned = answer(hardwon, "import", tmp_path, "--trust", "--dry-run")
    assert [change["what"] for change in planned["changes"]] == ["add"]
    assert planned["changes"][0]["says"] == "A line of my own."
    shown = hardwon("import", tmp_path, "--trust", "--dry-run")
    assert "1 would change" in shown.stderr
    assert "A line of my own." in shown.stdout
    assert "not imported" in bad(hardwon, "export", tmp_path)
    assert answer(hardwon, "import", tmp_path, "--trust")["rewritten"] == 2
    assert hardwon("import", tmp_path, "--trust").stdout == f"0 changed, {done['lessons'] + 1} unchanged\n"
    assert hardwon("export", tmp_path).stdout.endswith("0 files changed\n")


def test_a_dump_goes_through_a_pipe_and_into_another_store(
    harvested: None, hardwon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "all.jsonl"
    header = answer(hardwon, "export", "--jsonl", path)
    assert path.stat().st_mode & 0o077 == 0
    assert hardwon("export", "--jsonl", "-").stdout == path.read_text()
    monkeypatch.setenv("HARDWON_HOME", str(tmp_path / "other"))
    assert answer(hardwon, "import", path, "--trust")["merged"] is False
    assert answer(hardwon, "export", "--jsonl", tmp_path / "again.jsonl")["content"] == header["content"]
    again = hardwon("import", path, "--trust")
    assert again.returncode == 0
    assert "not taken: event: " in again.stderr


def test_other_systems_are_taken_over(hardwon: Run, tmp_path: Path) -> None:
    first = journal(tmp_path / "journal.db", FULL)
    assert answer(hardwon, "import", "--from", "journal", first)["added"] == {"attempts": 1, "lessons": 1}
    second = whole(tmp_path / "atocore.db")
    done = hardwon("import", "--from", "atocore", second)
    assert done.returncode == 0
    assert "interactions" in done.stdout
    assert "--from journal" in bad(hardwon, "import", second)
    assert "not a ModificationJournal" in bad(hardwon, "import", "--from", "journal", second)


def test_migrate_says_how_to_switch(harvested: None, hardwon: Run, tmp_path: Path, postgres: str) -> None:
    done = hardwon("migrate", "--to", postgres)
    assert done.returncode == 0, done.stderr
    assert "found equal" in done.stdout
    assert "hardwon config database" in done.stderr
    assert hardwon("config", "database", postgres).returncode == 0
    assert "asyncpg" in answer(hardwon, "search", "asyncpg module")[0]["text"]
    back = answer(hardwon, "migrate", "--to", tmp_path / "back.db")
    assert back["content"] in done.stdout
    assert "is not empty" in bad(hardwon, "migrate", "--to", tmp_path / "back.db")


def test_bad_paths_are_named(harvested: None, hardwon: Run, tmp_path: Path) -> None:
    assert "no such file" in bad(hardwon, "import", tmp_path / "gone")
    assert "no knowledge tree" in bad(hardwon, "import", tmp_path)
    (tmp_path / "text").write_text("hello\n")
    assert "not a Hardwon dump" in bad(hardwon, "import", tmp_path / "text")
    assert "cannot write" in bad(hardwon, "export", tmp_path / "text")
    assert "cannot write" in bad(hardwon, "export", "--jsonl", tmp_path / "no" / "folder.jsonl")
    assert "cannot reach" in bad(hardwon, "migrate", "--to", "postgresql://127.0.0.1:1/none")
    assert hardwon("export").returncode == 2


# One project's export goes into its repository: nothing of another client's may be in it.


def all_text(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(folder.rglob("*")) if path.is_file())


def test_the_export_of_a_project_has_its_own_lessons_and_failures_alone(
    harvested: None, hardwon: Run, tmp_path: Path
) -> None:
    answer(hardwon, "remember", "Ports are in the 7000s.", "--project", "tidepool")
    answer(hardwon, "remember", "The client pays late.", "--project", "lanternfish")
    answer(hardwon, "remember", "Answer in English.", "--global")
    everything, one = tmp_path / "everything", tmp_path / "one"
    assert answer(hardwon, "export", everything)["files"] > answer(hardwon, "export", one, "-p", "tidepool")["files"]
    assert "Ports are in the 7000s." in all_text(one)
    for foreign in ("lanternfish", "The client pays late.", "Answer in English."):
        assert foreign in all_text(everything)
        assert foreign not in all_text(one)
    assert {failure["repos"][0] for failure in index(one)["failures"]} == {"tidepool"}
    known = {row["id"]: row["sessions"] for row in answer(hardwon, "failures", "-p", "tidepool", "--limit", 1000)}
    assert {failure["id"]: failure["sessions"] for failure in index(one)["failures"]} == known


def test_what_an_export_of_a_project_cannot_do_is_said(harvested: None, hardwon: Run, tmp_path: Path) -> None:
    assert "no project 'nosuch'; choose one of" in bad(hardwon, "export", tmp_path / "x", "-p", "nosuch")
    assert "whole store" in bad(hardwon, "export", "--jsonl", tmp_path / "all.jsonl", "-p", "tidepool")
    assert list(tmp_path.glob("x*")) + list(tmp_path.glob("all*")) == []


def test_importing_a_projects_export_keeps_it_that_projects(harvested: None, hardwon: Run, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    answer(hardwon, "export", tree, "-p", "tidepool")
    before = all_text(tree)
    page = tree / "knowledge" / "repos" / "tidepool.md"
    page.write_text(page.read_text() + "- A line of my own.\n")
    assert [one["what"] for one in answer(hardwon, "import", tree, "--trust")["changes"]] == ["add"]
    assert "lanternfish" not in all_text(tree) != before
    (page.parent / "lanternfish.md").write_text("- Of another project.\n")
    (refused,) = answer(hardwon, "import", tree, "--trust")["changes"]
    assert (refused["what"], "one project's own lessons" in refused["says"]) == ("refused", True)


def test_an_export_tells_failures_as_the_list_of_failures_does(harvested: None, hardwon: Run, tmp_path: Path) -> None:
    listed = answer(hardwon, "failures", "--limit", 1000)
    assert hardwon("failures", "mute", listed[0]["id"]).returncode == 0
    answer(hardwon, "export", tmp_path)
    exported = {failure["id"]: failure["error"] for failure in index(tmp_path)["failures"]}
    assert exported == {row["id"]: row["error"] for row in listed[1:]}


def index(folder: Path) -> Any:
    return json.loads((folder / "knowledge" / "index.json").read_text())
