"""When a session ends it is harvested: by one process at a time, which nobody waits for, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hardwon import Hardwon, afterwards
from hardwon.hook.session_end import PENDING, ask
from hardwon.store import spool
from tests.conftest import ClaudeSession, Run
from tests.hook.conftest import AGENTS, MISSING, example, hook

DEADLINE = 60.0


@pytest.fixture(autouse=True)
def installed(home: Path) -> None:
    """`install` has written down there what it changed."""
    home.mkdir()


def session(name: str, folder: Path) -> Path:
    talk = ClaudeSession(name).user("Always use uv in this project.").run("pytest -q", MISSING, exit_code=1)
    return talk.run("uv sync --extra postgres", "ok").run("pytest -q", "ok").write(folder)


def wait_for(happened: Callable[[], bool]) -> None:
    ends = time.monotonic() + DEADLINE
    while not happened():
        assert time.monotonic() < ends, "it never happened"
        time.sleep(0.02)


def is_idle(home: Path) -> bool:
    """Nothing is asked for, and nobody holds the lock."""
    if not (home / afterwards.LOCK).exists() or afterwards.waiting(home):
        return False
    with afterwards.held(home / afterwards.LOCK) as ours:
        return ours


def sessions_in(home: Path) -> int:
    with Hardwon(home) as memory:
        return memory.store.totals()["sessions"]


@pytest.mark.parametrize("agent", AGENTS)
def test_the_end_of_a_session_has_it_harvested_by_a_process_that_ends(home: Path, tmp_path: Path, agent: str) -> None:
    transcript = session("ended", tmp_path / "logs")
    began = time.monotonic()
    done = hook("session-end", example(agent, "session-end", transcript=str(transcript)), "--agent", agent)
    took = time.monotonic() - began
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert took < 1.5 or took < 20 * _bare(), "what Claude Code grants, or the machine is busy"
    wait_for(lambda: is_idle(home))
    assert sessions_in(home) == 1


def test_hooks_work_before_a_first_harvest_and_leave_nothing_after_a_purge(home: Path, hardwon: Run) -> None:
    """An agent that is still open calls the hooks that it read when it started."""
    home.rmdir()
    session("kept", Path(os.environ["HOME"]) / ".claude" / "projects" / "-srv-work-reef")
    assert hardwon("install", "claude-code", "--yes").returncode == 0
    hook("session-end", example("claude-code", "session-end"))
    wait_for(lambda: is_idle(home))
    assert sessions_in(home) == 1
    assert hardwon("uninstall", "--all", "--purge", "--yes").returncode == 0
    for event in ("session-start", "prompt", "tool-failed", "session-end"):
        hook(event, example("claude-code", event))
        assert not home.exists(), event


def _bare() -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.monotonic() - began


def test_the_numbers_are_kept_once_a_day(home: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        ask(str(home), "claude-code", str(session(name, tmp_path / "logs")))
        afterwards.main(home)
    with Hardwon(home) as memory:
        kept = memory.reading().query("SELECT scope, count(DISTINCT at) FROM metric_snapshot GROUP BY scope")
        (project,) = memory.reading().query("SELECT id FROM project")
        assert sorted(kept) == [("", 1), (project[0], 1)]
        memory.writing().execute("UPDATE metric_snapshot SET at = at - 8 * 86400000000")
        assert memory.store.keep_daily_metrics() == 1
        assert memory.measure().named("queue").week is not None, "there is a trend now"


def test_without_a_transcript_all_that_the_agent_keeps_is_harvested(home: Path) -> None:
    session("kept", Path(os.environ["HOME"]) / ".claude" / "projects" / "-srv-work-reef")
    hook("session-end", example("claude-code", "session-end"))
    wait_for(lambda: is_idle(home))
    assert sessions_in(home) == 1


def test_sub_agents_are_harvested_with_their_session(home: Path, tmp_path: Path) -> None:
    transcript = session("whole", tmp_path / "logs")
    part = ClaudeSession("whole").run("make", "boom: error", exit_code=2)
    for record in part.records:
        record |= {"isSidechain": True, "agentId": "abc"}
    part.write(tmp_path / "logs" / "whole" / "subagents")
    hook("session-end", example("claude-code", "session-end", transcript=str(transcript)))
    wait_for(lambda: is_idle(home))
    with Hardwon(home) as memory:
        totals = memory.store.totals()
    assert (totals["sessions"], totals["subagents"]) == (1, 1)


def test_sessions_that_end_together_are_all_harvested(home: Path, tmp_path: Path) -> None:
    transcripts = [session(f"s{number}", tmp_path / "logs") for number in range(16)]
    hooks = [_ending(transcript) for transcript in transcripts]
    assert [running.wait(DEADLINE) for running in hooks] == [0] * 16
    wait_for(lambda: is_idle(home))
    assert sessions_in(home) == 16


def _ending(transcript: Path) -> subprocess.Popen[bytes]:
    """A hook that finds its payload at once, however many others there are: it waits for two seconds only."""
    payload = example("claude-code", "session-end", transcript=str(transcript)) | {"session_id": transcript.stem}
    told = transcript.with_suffix(".payload")
    told.write_text(json.dumps(payload))
    line = [sys.executable, "-m", "hardwon.hook", "session-end", "--agent", "claude-code"]
    with told.open("rb") as stdin:
        return subprocess.Popen(line, stdin=stdin)


def test_who_finds_another_at_work_leaves_the_request_to_it(home: Path, tmp_path: Path) -> None:
    home.mkdir(exist_ok=True)
    with afterwards.held(home / afterwards.LOCK) as ours:
        assert ours
        ask(str(home), "claude-code", str(session("later", tmp_path)))
        afterwards.main()
        assert len(afterwards.waiting(home)) == 1
    afterwards.main()
    assert (afterwards.waiting(home), sessions_in(home)) == ([], 1)


def test_what_goes_wrong_is_told_to_the_doctor_and_done_when_the_next_session_ends(home: Path, tmp_path: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "hardwon.db").write_bytes(b"ruined" * 2000)
    ask(str(home), "claude-code", str(session("kept", tmp_path)))
    afterwards.main()
    ((_, _, event, _, _, error),) = spool.waiting(str(home))
    assert event == "harvest"
    assert error.startswith("StoreCorrupt")
    (home / "hardwon.db").unlink()
    hook("session-end", example("claude-code", "session-end", transcript=str(session("next", tmp_path))))
    wait_for(lambda: is_idle(home))
    assert sessions_in(home) == 2


def test_a_request_that_is_damaged_or_can_never_be_served_is_dropped(home: Path) -> None:
    (home / PENDING).mkdir(parents=True)
    (home / PENDING / "damaged.json").write_text("{")
    ask(str(home), "claude-code", "/nowhere/none.jsonl")
    afterwards.main()
    assert afterwards.waiting(home) == []
    (home / "hardwon.db").write_bytes(b"ruined" * 2000)
    ask(str(home), "claude-code", "")
    (request,) = afterwards.waiting(home)
    os.utime(request, (0, 0))
    afterwards.main()
    assert afterwards.waiting(home) == []


def test_off_means_that_nothing_is_asked_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_OFF", "1")
    hook("session-end", example("claude-code", "session-end"))
    assert not (home / PENDING).exists()
