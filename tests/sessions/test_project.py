"""Which project a session belongs to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hardwon.sessions.project import folders_above, identify, remote_key


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example/Deep/Reef.git",
        "https://user:pa55@git.example/deep/reef",
        "git@git.example:deep/reef.git",
        "ssh://git@git.example:2222/deep/reef.git",
        "git.example:deep/reef",
    ],
)
def test_all_spellings_of_a_remote_are_one_project(url: str) -> None:
    assert remote_key(url) == "git.example/deep/reef"


def test_two_folders_of_one_name_are_two_projects() -> None:
    a, b = identify("/a/api"), identify("/b/api")
    assert a is not None
    assert b is not None
    assert a.id != b.id
    assert a.name == b.name == "api"


def test_a_home_folder_leaves_no_user_name_and_is_no_project_itself() -> None:
    found = identify("/home/someone/src/reef")
    assert found is not None
    assert found.key == "~/src/reef"
    assert identify("/home/someone") is None
    windows = identify("C:\\Users\\someone\\src\\reef")
    assert windows is not None
    assert (windows.key, windows.name) == ("~\\src\\reef", "reef")


def test_a_worktree_on_disk_and_one_only_named_belong_to_their_repository(tmp_path: Path) -> None:
    main = tmp_path / "reef"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t.example", "-C", str(main)]
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run([*git, "remote", "add", "origin", "git@git.example:deep/reef.git"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "other")], check=True)
    (main / "src").mkdir()
    keys = {found.key for found in map(identify, map(str, (main, main / "src", tmp_path / "other"))) if found}
    assert keys == {"git.example/deep/reef"}
    named = identify("/gone/reef/.worktrees/streaming/src")
    assert named is not None
    assert named.key == "/gone/reef"


def test_the_folders_above_one_are_known_whatever_system_wrote_it() -> None:
    assert folders_above("/srv/reef/src/") == ["/srv/reef/src", "/srv/reef", "/srv"]
    assert folders_above("D:\\reef\\.claude\\worktrees\\blue") == [
        "D:\\reef\\.claude\\worktrees\\blue",
        "D:\\reef\\.claude\\worktrees",
        "D:\\reef\\.claude",
        "D:\\reef",
        "D:",
    ]
    assert folders_above("/home/someone/reef") == ["~/reef", "/home"], "a home is no project"
    assert "/srv/reef" not in folders_above("/srv/reef\\copy"), "that is the name of another folder"


def test_a_session_without_a_remote_joins_the_one_that_names_it() -> None:
    found = identify("/gone/reef", known_roots={"/gone/reef": "git.example/deep/reef"})
    assert found is not None
    assert found.key == "git.example/deep/reef"


def test_a_network_path_is_never_opened() -> None:
    found = identify("\\\\evil.example\\share\\reef")
    assert found is not None
    assert found.name == "reef"
