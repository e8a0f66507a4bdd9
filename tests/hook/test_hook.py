"""The hook says something useful or nothing; it never fails."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from hardwon import Hardwon
from hardwon.store import spool
from tests.conftest import ClaudeSession
from tests.hook.conftest import MISSING, context, hook


def test_a_session_starts_with_what_bootstrap_would_print(harvested: Path) -> None:
    payload = {"hook_event_name": "SessionStart", "session_id": "x", "cwd": "/srv/work/reef/src", "source": "startup"}
    said = context(hook("session-start", payload))
    with Hardwon(harvested) as memory:
        assert said["additionalContext"] == memory.bootstrap("reef", agent="claude-code").text
    assert said["hookEventName"] == "SessionStart"


def test_a_known_failure_is_answered_with_what_worked(harvested: Path) -> None:
    payload = {
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest"},
        "cwd": "/srv/work/reef",
        "error": f"Exit code 1\n{MISSING}",
    }
    said = context(hook("tool-failed", payload))
    assert "uv sync --extra postgres" in said["additionalContext"]
    assert "2x in 2 sessions" in said["additionalContext"]


@pytest.mark.parametrize(("days", "said"), [(1, "Worked once: "), (2, "Worked: ")])
def test_a_fix_that_worked_once_says_so(home: Path, tmp_path: Path, days: int, said: str) -> None:
    with Hardwon(home) as memory:
        for day in range(1, days + 1):
            session = ClaudeSession(f"s{day}", day=day).run("pytest -q", MISSING, exit_code=1)
            session.run("uv sync --extra postgres", "ok").run("pytest -q", "3 passed").write(tmp_path / "logs")
        memory.harvest([tmp_path / "logs"], mine=True)
    payload = {"tool_input": {"command": "pytest -q"}, "cwd": "/srv/work/reef", "error": f"Exit code 1\n{MISSING}"}
    assert said in context(hook("tool-failed", payload))["additionalContext"]


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_an_error_that_names_no_program_is_known_by_the_command(home: Path, tmp_path: Path, agent: str) -> None:
    error = "error: unrecognized subcommand 'gauge'"
    with Hardwon(home) as memory:
        for day in (1, 2):
            session = ClaudeSession(f"s{day}", day=day).run("reef gauge list", error, exit_code=2)
            memory.harvest([session.run("gauge list", "3 gauges").write(tmp_path)])
    payload = {"cwd": "/srv/work/reef", "error": f"Exit code 2\n{error}", "tool_response": f"Exit code 2\n{error}"}
    for command, known in (("reef gauge list", True), ("tide gauge list", False)):
        done = hook("tool-failed", {**payload, "tool_input": {"command": command}}, "--agent", agent)
        assert ("replace `reef gauge` with `gauge`" in done.stdout) is known


UNFORMATTED = """{file} format ━━━━━━━━━━━━━━━━━━

  × Formatter would have printed the following content:

Found 1 error.
"""


def test_what_mends_every_file_is_told_of_one_that_nobody_has_met(home: Path, tmp_path: Path) -> None:
    """A formatter complains of each file apart, and `lint:fix` mends them all."""
    paths = [
        ClaudeSession(name, day=day)
        .user("go")
        .run("bun run lint", UNFORMATTED.format(file=file), exit_code=1)
        .run("bun run lint:fix", "Fixed 1 file.")
        .run("bun run lint", "Checked 20 files.")
        .write(tmp_path)
        for day, (name, file) in enumerate({"a": "src/reef.tsx", "b": "src/tide.tsx"}.items(), 1)
    ]
    with Hardwon(home) as memory:
        memory.harvest(paths, mine=True)
        found = memory.failures.recall(UNFORMATTED.format(file="src/new.tsx"), project="/srv/work/reef")
    assert found.said.endswith("; the same in 2 other files was fixed by: run `bun run lint:fix`.")
    assert found.text.endswith("(new.tsx)")
    payload = {"error": UNFORMATTED.format(file="src/new.tsx"), "tool_name": "Bash", "cwd": "/srv/work/reef"}
    said = context(hook("tool-failed", {**payload, "tool_input": {"command": "bun run lint"}}))["additionalContext"]
    assert "- The same failed for 2 other files here. Worked: run `bun run lint:fix`." in said
    assert hook("tool-failed", {**payload, "cwd": "/srv/elsewhere"}).stdout == "", "another project's formatter"


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("session-start", {"cwd": "/somewhere/else"}),
        ("session-start", {"cwd": ["not", "a", "path"]}),
        ("session-start", {}),
        ("tool-failed", {"error": "something nobody has seen: cannot do it"}),
        ("tool-failed", {"error": None}),
        ("prompt", {"cwd": "/srv/work/reef", "prompt": "Please look at the weather in the harbour"}),
        ("prompt", {"cwd": "/srv/work/reef", "prompt": ["no", "text"]}),
        ("tool-failed", {"error": MISSING, "is_interrupt": True}),
        ("unheard-of", {"cwd": "/srv/work/reef"}),
        ("session-start", "not json at all"),
        ("session-start", "[1, 2]"),
        ("session-start", ""),
    ],
)
def test_where_there_is_nothing_to_say_it_is_silent(harvested: Path, event: str, payload: object) -> None:
    done = hook(event, payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_status_tells_silence_from_trouble(harvested: Path) -> None:
    here = {"cwd": "/srv/work/reef", "session_id": "x"}
    for event, payload, came in (
        ("session-start", {**here, "source": "startup"}, "told something"),
        ("session-start", {**here, "cwd": "/somewhere/else"}, "silent: no known project in this folder"),
        ("prompt", {**here, "prompt": "ok"}, "silent: the prompt is too short to name something, or a command"),
        ("prompt", {**here, "prompt": "Please look at the weather in the harbour"}, "silent: nothing new is known"),
        ("tool-failed", {**here, "error": "error: nobody has seen this"}, "silent: this error was not met before"),
    ):
        hook(event, payload)
        with Hardwon(harvested) as memory:
            (run,) = [run for run in memory.store.last_runs()["claude-code"] if run["event"] == event]
            assert str(run["said"]).startswith(came)


def test_a_byte_order_mark_is_no_obstacle(harvested: Path) -> None:
    assert context(hook("session-start", "\ufeff" + json.dumps({"cwd": "/srv/work/reef"})))


def test_without_a_store_it_is_silent_and_makes_none(home: Path) -> None:
    done = hook("session-start", {"cwd": "/srv/work/reef"})
    assert (done.returncode, done.stdout, home.exists()) == (0, "", False)
    home.mkdir()
    for event in ("session-start", "prompt", "tool-failed"):
        hook(event, {"cwd": "/srv/work/reef", "session_id": "s", "prompt": "why does it fail?", "error": MISSING})
    assert list(home.iterdir()) == []


def left_by_hooks(home: Path) -> list[tuple[str, str, int, str]]:
    return [(event, agent, took, error) for _, _, event, agent, took, error in spool.waiting(str(home))]


def test_every_run_is_left_for_the_doctor_with_its_time(harvested: Path) -> None:
    hook("session-start", {"cwd": "/srv/work/reef"})
    hook("tool-failed", {"tool_response": MISSING, "agent": "codex"})
    (start, failed) = left_by_hooks(harvested)
    assert (start[0], start[1], start[3]) == ("session-start", "claude-code", "")
    assert (failed[0], failed[1], failed[3]) == ("tool-failed", "codex", "")
    assert 0 < start[2] < 2_000_000
    with Hardwon(harvested) as memory:
        memory.writing()
        assert spool.waiting(str(harvested)) == []
        assert "session-start 1x" in {check.name: check.says for check in memory.store.check()}["hooks"]


def test_a_damaged_store_is_noted_for_the_doctor_and_not_told_to_the_agent(harvested: Path) -> None:
    for path in harvested.glob("hardwon.db*"):
        path.write_bytes(b"ruined" * 2000)
    done = hook("session-start", {"cwd": "/srv/work/reef"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for path in harvested.glob("hardwon.db*"):
        path.unlink()
    with Hardwon(harvested) as memory:
        (shown,) = [check for check in memory.store.check() if not check.ok]
    assert (shown.name, "NotADBError at read.py" in shown.says) == ("hook errors", True)


def test_no_text_of_the_payload_is_left_behind(harvested: Path) -> None:
    canary = secrets.token_hex(8)
    hook("session-start", f"{canary} is no JSON")
    hook("session-start", {"cwd": "/srv/work/reef", "agent": f"{canary} \n"})
    hook("tool-failed", {"error": canary, "agent": [canary]})
    assert len(left_by_hooks(harvested)) == 3
    assert "JSONDecodeError" in left_by_hooks(harvested)[0][3]
    assert canary not in "".join(path.read_text() for path in (harvested / spool.FOLDER).iterdir())


@pytest.mark.parametrize("event", ["session-start", "tool-failed"])
def test_a_held_lock_delays_the_hook_by_no_more_than_a_fifth_of_a_second(harvested: Path, event: str) -> None:
    payload = {"cwd": "/srv/work/reef", "error": MISSING}
    hook(event, payload)
    holder = apsw.Connection(str(harvested / "hardwon.db"))
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    done = hook(event, payload)
    holder.close()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    free, held = left_by_hooks(harvested)
    assert "BusyError" in held[3]
    assert held[2] - free[2] < 200_000 + 400_000  # the rest is for a busy machine


def test_off_means_off(harvested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_OFF", "1")
    assert hook("session-start", {"cwd": "/srv/work/reef"}).stdout == ""
    assert left_by_hooks(harvested) == []


def test_it_starts_with_the_standard_library_and_apsw_alone(harvested: Path) -> None:
    program = (
        "import sys, json; from hardwon.hook.main import answered; "
        f"answered('tool-failed', '', json.dumps({{'error': {MISSING!r}}}).encode()); "
        "answered('session-start', '', json.dumps({'cwd': '/srv/work/reef'}).encode()); "
        "from hardwon.store.spool import leave; leave('/nowhere', 'x', '', 0, ''); "
        "print(sorted({name.split('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", _with_path(program)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['__main__', 'apsw', 'hardwon']"


def _with_path(program: str) -> str:
    return f"import sys; sys.path[:0] = {sys.path!r}; {program}"


def test_a_remedy_for_one_sub_command_is_not_told_for_another(home: Path, tmp_path: Path) -> None:
    error = "error: missing required argument 'session'"
    with Hardwon(home) as memory:
        session = ClaudeSession().run("tide session start --task 7", error, exit_code=1)
        session.run("tide session start north --task 7", "started").write(tmp_path / "logs")
        memory.harvest([tmp_path / "logs"], mine=True)
        (known,) = memory.failures.list()
        for verb in ("start", "get"):
            found = memory.failures.recall(error, command=f"tide session {verb}")
            assert bool(found.fixes) is (verb == "start")
    payload = {"cwd": "/srv/work/reef", "error": f"Exit code 1\n{error}"}
    for verb in ("start", "get"):
        done = hook("tool-failed", {**payload, "tool_input": {"command": f"tide session {verb}"}})
        assert (f"use `{known.fixes[0].succeeded_as}`" in done.stdout) is (verb == "start")
