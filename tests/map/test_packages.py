"""Packages of one repository are kept apart: a session in one of them is told its own files and commands first."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.map.draw import known_of
from hardwon.map.known import at_start
from tests.conftest import ClaudeSession
from tests.hook.conftest import context, hook


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    """A repository of two packages that were worked on in turn, both from its top and from within."""
    root = tmp_path / "reef"
    for package in ("tide", "shoal"):
        (root / "packages" / package).mkdir(parents=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    written = []
    for number in range(12):
        package = ("tide", "shoal")[number % 2]
        within = number >= 6
        cwd = root / "packages" / package if within else root
        session = ClaudeSession(f"s{number}", cwd=str(cwd), day=number + 1).user(f"mend the reader, case {number}")
        for file in ("reader.ts", "reader.test.ts"):
            path = root / "packages" / package / file
            path.write_text("x")
            session.edit(str(path), f"x = {number}")
        session.run("vitest run" if within else f"cd packages/{package} && vitest run", "ok")
        written.append(session.run("git commit -m x", "ok").write(tmp_path / "logs"))
    with Hardwon(home) as memory:
        memory.harvest(written)
    return root


@pytest.mark.parametrize(("package", "other"), [("tide", "shoal"), ("shoal", "tide")])
def test_in_a_package_its_own_files_come_first_and_its_own_checks_are_told(
    root: Path, package: str, other: str
) -> None:
    with Hardwon() as memory:
        found = memory.map(str(root / "packages" / package), task="mend the reader")
    assert [one.path.split("/")[1] for one in found.files] == [package, package, other, other]
    runs = [one.command for one in found.commands if "vitest" in one.command]
    assert runs == [f"cd packages/{package} && vitest run"]


def test_a_task_that_names_a_package_at_the_top_gets_its_commands_first(root: Path) -> None:
    with Hardwon() as memory:
        for package in ("tide", "shoal"):
            found = memory.map(str(root), task=f"mend the reader of {package}")
            assert found.files[0].path.startswith(f"packages/{package}/")
            runs = [one.command for one in found.commands if "vitest" in one.command]
            assert runs[0] == f"cd packages/{package} && vitest run"


def test_a_session_that_starts_in_a_package_is_told_how_that_is_tested(root: Path) -> None:
    for package in ("tide", "shoal"):
        cwd = str(root / "packages" / package)
        told = context(hook("session-start", {"session_id": package, "cwd": cwd}))["additionalContext"]
        assert f"test: `cd packages/{package} && vitest run` (6 sessions, passed in all)" in told
        asked = {"session_id": f"p{package}", "cwd": cwd, "prompt": "Please mend the reader once more"}
        answered = context(hook("prompt", asked))["additionalContext"]
        assert f"`packages/{package}/reader.ts`" in answered
        assert f"checked with `cd packages/{package} && vitest run`" in answered


def test_a_command_of_a_folder_that_one_session_went_to_is_no_package(home: Path, tmp_path: Path) -> None:
    written = [
        ClaudeSession(f"s{day}", day=day).user("go on").run(f"cd part{day} && make test", "ok").write(tmp_path)
        for day in (1, 2, 3)
    ]
    with Hardwon(home) as memory:
        memory.harvest(written)
        known = known_of(memory.reading(), memory.store.projects()[0].id)
    assert [(one.key, one.text, one.worked) for one in known.commands] == [("make test", "make test", [0, 1, 2])]
    assert at_start(known)[0] == "test: `make test` (3 sessions, passed in all)"


def test_a_command_with_and_without_the_step_into_its_folder_is_one_told_where_it_mostly_passed(
    home: Path, tmp_path: Path
) -> None:
    lines = ["cd src && go test ./...", "go test ./...", "cd src && go test ./tide", "cd e2e && go test ./..."]
    written = [
        ClaudeSession(f"s{day}", day=day).user("go on").run(line, "ok").write(tmp_path)
        for day, line in enumerate(lines, 1)
    ]
    with Hardwon(home) as memory:
        memory.harvest(written)
        known = known_of(memory.reading(), memory.store.projects()[0].id)
    assert [(one.text, one.worked) for one in known.commands] == [("cd src && go test ./...", [0, 1])]
    assert at_start(known)[0] == "test: `cd src && go test ./...` (2 sessions, passed in all)", (
        "./tide and e2e are parts"
    )


@pytest.mark.parametrize(("edits", "told"), [(True, "cd src && go test ./..."), (False, "go test ./...")])
def test_a_folder_that_output_named_is_told_where_sessions_had_work_in_it(
    home: Path, tmp_path: Path, *, edits: bool, told: str
) -> None:
    written = []
    for day in (1, 2, 3):
        session = ClaudeSession(f"s{day}", day=day).user("go on").run("cat README.md", "Run `cd src && go test ./...`.")
        if edits:
            session.edit("/srv/work/reef/src/tide.go", "x")
        written.append(session.run("cd src && go test ./...", "ok").write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(written)
        known = known_of(memory.reading(), memory.store.projects()[0].id)
    assert [one.text for one in known.commands] == [told]
