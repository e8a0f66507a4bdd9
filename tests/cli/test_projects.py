"""A person decides which folders are one project."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import ClaudeSession, Run

MISSING = "ModuleNotFoundError: No module named 'asyncpg'"


def harvested(hardwon: Run, folder: Path, project: str, *days: int) -> None:
    for day in days:
        session = ClaudeSession(f"{project}-{day}", cwd=f"/srv/work/{project}", day=day).user("Always use uv here.")
        session.run("pytest -q", MISSING, exit_code=1).run("uv sync", "ok").run("pytest -q", "ok").write(folder)
    hardwon("harvest", folder, "--mine")


def listed(hardwon: Run) -> dict[str, int]:
    return {one["name"]: one["sessions"] for one in json.loads(hardwon("projects", "--json").stdout)}


def test_a_project_is_called_otherwise_and_its_old_name_still_finds_it(hardwon: Run, tmp_path: Path) -> None:
    harvested(hardwon, tmp_path, "reef", 1, 2)
    assert hardwon("projects", "rename", "reef", "lagoon").returncode == 0
    hardwon("projects", "describe", "lagoon", "Serves the gauges.")
    assert listed(hardwon) == {"lagoon": 2}
    assert "Serves the gauges." in hardwon("projects").stdout
    assert "asyncpg" in hardwon("bootstrap", "--project", "reef").stdout
    harvested(hardwon, tmp_path, "reef", 3)
    assert listed(hardwon) == {"lagoon": 3}


def test_a_project_becomes_part_of_another_with_what_comes_later_and_can_leave_it(hardwon: Run, tmp_path: Path) -> None:
    harvested(hardwon, tmp_path, "reef", 1)
    harvested(hardwon, tmp_path, "old-reef", 2)
    assert listed(hardwon) == {"reef": 1, "old-reef": 1}
    assert hardwon("projects", "merge", "old-reef", "reef").returncode == 0
    harvested(hardwon, tmp_path, "old-reef", 3)
    assert listed(hardwon) == {"reef": 3}
    assert "(3x in 3 sessions" in hardwon("bootstrap", "--project", "reef").stdout
    shown = json.loads(hardwon("projects", "show", "reef", "--json").stdout)
    assert shown["folders"] == ["/srv/work/old-reef", "/srv/work/reef"]
    assert hardwon("projects", "split", "reef", "/srv/work/old-reef").returncode == 0
    hardwon("harvest", tmp_path, "--mine")
    assert listed(hardwon) == {"old-reef": 2, "reef": 1}


def test_what_cannot_be_done_is_said(hardwon: Run, tmp_path: Path) -> None:
    harvested(hardwon, tmp_path, "reef", 1)
    harvested(hardwon, tmp_path, "lagoon", 2)
    for arguments, said in (
        (("merge", "reef", "reef"), "already one project"),
        (("rename", "reef", "lagoon"), "another project is called"),
        (("split", "reef", "/srv/work/lagoon"), "is not a folder or remote of this project"),
        (("show", "nowhere"), "no project"),
    ):
        done = hardwon("projects", *arguments)
        assert done.returncode == 1
        assert said in done.stderr


def test_projects_of_one_name_are_told_apart_and_joined(hardwon: Run, tmp_path: Path) -> None:
    hardwon("remember", "Ports are in the 7000s.", "--project", "reef")
    harvested(hardwon, tmp_path, "reef", 1, 2)
    unclear = hardwon("bootstrap", "--project", "reef")
    assert unclear.returncode == 1
    named = {one["key"]: one["id"] for one in json.loads(hardwon("projects", "--json").stdout)}
    assert all(id in unclear.stderr for id in named.values())
    assert hardwon("projects", "merge", named["reef"], "/srv/work/reef").returncode == 0
    assert "Ports are in the 7000s." in hardwon("bootstrap", "--project", "reef").stdout


def test_an_archived_project_is_marked_where_it_is_listed(hardwon: Run, tmp_path: Path) -> None:
    harvested(hardwon, tmp_path, "reef", 1)
    hardwon("projects", "archive", "reef")
    assert "reef" not in hardwon("projects").stdout
    assert "reef (archived)" in hardwon("projects", "--all").stdout


def test_a_long_key_is_told_whole(hardwon: Run) -> None:
    key = "/srv/" + "/".join(f"folder-{number}" for number in range(12))
    hardwon("projects", "add", key)
    assert key in "".join(hardwon("projects").stdout.split())
