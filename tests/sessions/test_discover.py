"""What is on a machine: every agent's sessions where it keeps them, and those that nobody can read named as such."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.sessions.discover import installed, local_path, unread
from tests.conftest import ClaudeSession
from tests.sessions.test_cursor import CONVERSATION, bubble, composer, rows, store


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x08")
    return path


def test_sessions_without_a_reader_are_counted_and_explained(tmp_path: Path) -> None:
    assert unread({}, tmp_path) == []
    for place in (
        ".codeium/windsurf/cascade/a.pb",
        ".codeium/windsurf-next/cascade/b.pb",
        ".gemini/antigravity/conversations/c.pb",
        ".gemini/antigravity-cli/conversations/d.db",
        ".local/share/kiro-cli/data.sqlite3",
        "Library/Application Support/Kiro/User/globalStorage/kiro.kiroagent/workspace-sessions/w/a-b.json",
    ):
        touch(tmp_path / place)
    found = unread({}, tmp_path)
    assert {each.agent: each.files for each in found} == {
        "windsurf": 2,
        "antigravity": 2,
        "kiro-cli before version 2": 1,
        "kiro": 1,
    }
    assert all(each.why for each in found)
    assert installed({}, tmp_path) == []


def test_doctor_names_them_and_is_silent_without_them(tmp_path: Path) -> None:
    with Hardwon() as memory:
        assert not [check for check in memory.store.check() if check.name == "not read"]
        touch(Path.home() / ".codeium/windsurf/cascade/a.pb")
        (told,) = [check for check in memory.store.check() if check.name == "not read"]
    assert told.ok
    assert told.says.startswith("1 of windsurf: only the editor can read them")


def test_the_sessions_of_forks_and_of_the_desktop_app_are_found(tmp_path: Path) -> None:
    storage = tmp_path / ".config/Code/User/globalStorage"
    desktop = tmp_path / ".config/Claude/local-agent-mode-sessions/org/account/local_1"
    made = [
        touch(storage / "rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json"),
        touch(storage / "kilocode.kilo-code/tasks/2/api_conversation_history.json"),
        ClaudeSession("a").user("hi").write(desktop / ".claude/projects/p"),
    ]
    touch(desktop / "audit.jsonl")
    assert installed({}, tmp_path) == sorted(made, key=str)


def test_a_conversation_in_two_stores_is_counted_once_and_the_longer_wins(tmp_path: Path) -> None:
    """Cursor copied conversations from the workspaces' stores into the one of all."""
    first = {"composer.composerData": {"allComposers": [composer(conversation=[bubble(1, "Fix the tide.")])]}}
    shorter = store(tmp_path / "workspaceStorage/w/state.vscdb", {}, first)
    longer = store(tmp_path / "globalStorage/state.vscdb", {"composerData:c1": composer(), **rows("c1", CONVERSATION)})
    with Hardwon() as memory:
        memory.harvest([longer, shorter])
        memory.harvest([longer, shorter])
        (kept,) = memory.sessions.list()
    assert (kept.external_id, kept.tool_calls) == ("c1", 6)


def test_of_a_store_that_grew_only_what_is_new_is_learned(tmp_path: Path) -> None:
    kept = {"composerData:c1": composer(), **rows("c1", CONVERSATION)}
    with Hardwon() as memory:
        assert memory.harvest([store(tmp_path / "state.vscdb", kept)]).sessions == 1
        (tmp_path / "state.vscdb").unlink()
        more = {**kept, "composerData:c2": composer("c2", 1), **rows("c2", [bubble(1, "Never rebase.")])}
        assert memory.harvest([store(tmp_path / "state.vscdb", more)]).sessions == 1


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///srv/a%20b/", "/srv/a b"),
        ("file:///", "/"),
        ("file://host/share", ""),
        ("https://host/a", ""),
        ("file://[", ""),
        ({"scheme": "file", "path": "/c:/work"}, "c:/work"),
        ({"scheme": "vscode-vfs", "path": "/github/a"}, ""),
        ({"path": 3}, ""),
        (None, ""),
        (json.dumps({}), ""),
    ],
)
def test_only_addresses_of_this_machine_are_folders(uri: object, path: str) -> None:
    assert local_path(uri) == path
