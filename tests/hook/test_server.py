"""With the store on a PostgreSQL server, hooks speak from a file on this machine, even when the server is gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.home import MIRROR
from tests.conftest import ClaudeSession
from tests.hook.conftest import MISSING, context, example, hook


@pytest.fixture
def team(home: Path, tmp_path: Path, postgres: str) -> Path:
    """A home whose store is on a server, and what two sessions taught."""
    home.mkdir()
    (home / "config.toml").write_text(f"database = {json.dumps(postgres)}\n")
    sessions = [
        ClaudeSession(name, day=day)
        .user("Always use uv in this project.")
        .run("pytest -q", MISSING, exit_code=1)
        .run("uv sync --extra postgres", "ok")
        .run("pytest -q", "ok")
        for name, day in (("a", 1), ("b", 2))
    ]
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path) for session in sessions])
    return home


def test_a_session_is_briefed_and_a_failure_answered_as_from_a_file(team: Path) -> None:
    with Hardwon(team) as memory:
        briefing = memory.bootstrap("reef", agent="claude-code").text
    assert context(hook("session-start", example("claude-code", "session-start")))["additionalContext"] == briefing
    assert "uv sync" in context(hook("tool-failed", example("claude-code", "tool-failed")))["additionalContext"]
    with Hardwon(team) as memory:
        assert {run["event"] for run in memory.store.last_runs()["claude-code"]} == {"session-start", "tool-failed"}


@pytest.mark.parametrize("setting", ["budget = 90", "budget = 0", "min_confidence = 0.95", "min_confidence = 0.1"])
def test_a_changed_setting_holds_at_once(team: Path, setting: str) -> None:
    with (team / "config.toml").open("a") as file:
        file.write(f"{setting}\n")
    with Hardwon(team) as memory:
        briefing = memory.bootstrap("reef", agent="claude-code").text
    said = hook("session-start", example("claude-code", "session-start")).stdout
    assert (json.loads(said)["hookSpecificOutput"]["additionalContext"] if said else "") == briefing


def test_a_server_that_is_gone_does_not_silence_the_hooks(team: Path) -> None:
    (team / "config.toml").write_text('database = "postgresql://nobody@127.0.0.1:9/none"\n')
    assert "Always use uv" in hook("session-start", example("claude-code", "session-start")).stdout


def test_the_file_holds_no_more_than_hooks_read(team: Path) -> None:
    import apsw

    db = apsw.Connection(str(team / MIRROR))
    assert db.execute("SELECT count(*) FROM session").fetchall() == [(0,)]
    assert db.execute("SELECT count(*) FROM occurrence").fetchall() == [(0,)]
    assert [key for (key,) in db.execute("SELECT key FROM meta WHERE value <> ''") if key != "sums"].count("fence_key")
    assert not [path.name for path in team.iterdir() if path.name.endswith((".new", "-wal", "-shm"))]


def test_what_is_forgotten_is_forgotten_there_too(team: Path) -> None:
    with Hardwon(team) as memory:
        done = memory.store.forget(text="Always use uv", dry_run=False)
    assert done.left == []
    assert b"Always use uv" not in (team / MIRROR).read_bytes()
    assert "Always use uv" not in hook("session-start", example("claude-code", "session-start")).stdout
