"""Resumed, forked, copied, compacted: what happened once is evidence once, in whatever files it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon
from hardwon.store.sessions import read_again
from tests.conftest import ClaudeSession, Run, write_lines

DIRECTIVE = "Always use uv, never pip install, in this project."
LATER = "Never push to main, open a pull request."
MISSING = "ModuleNotFoundError: No module named 'asyncpg'"
_OF_ALL = re.compile(r" of \d+ sessions|, last .*")
"""Of two sessions one may have nothing of its own: which, says the order in which they are read."""
Files = dict[str, Path]


@pytest.fixture
def memory(home: Path) -> Iterator[Hardwon]:
    with Hardwon(home) as opened:
        yield opened


def evidence(memory: Hardwon) -> dict[str, Any]:
    """Everything that may have been counted twice."""
    lessons = memory.lessons.list()
    failures = memory.failures.list()
    totals = memory.store.totals()
    project = next((one.id for one in memory.store.projects()), None)
    return {
        "sources": {lesson.text: len(memory.lessons.get(lesson.id).sources) for lesson in lessons},
        "failures": {one.error: (one.occurrences, [fix.confirmed for fix in one.fixes]) for one in failures},
        "attempts": sorted(attempt.task for attempt in memory.journal.list()),
        **{name: totals[name] for name in ("messages", "errors")},
        "calls": sum(session.tool_calls for session in memory.sessions.list()),
        "how": [(one.command, _OF_ALL.sub("", one.why)) for one in memory.how("", project=project)] if project else [],
        "map": [(one.path, _OF_ALL.sub("", one.why)) for one in memory.map(project).files] if project else [],
        "blame": [list(one.uses.items()) for one in memory.blame("pyproject.toml", project=project)] if project else [],
    }


# One session that another begins with a copy of, as each agent writes it.


def claude(folder: Path) -> Files:
    """A fork: new session id and record ids, all else as it was; `forkedFrom` says so."""
    old = ClaudeSession("0b1c8f9e").user(DIRECTIVE).run("pytest -q", MISSING, exit_code=1)
    old.run("cat pyproject.toml; uv sync --extra postgres", "ok").run("pytest -q", "3 passed")
    copied = [
        {
            **record,
            "sessionId": "77aa31d2",
            "uuid": f"new-{number}",
            "forkedFrom": {"sessionId": "0b1c8f9e", "messageUuid": record["uuid"]},
        }
        for number, record in enumerate(old.records)
    ]
    new = ClaudeSession("77aa31d2", day=2).user(LATER).run("make", "make: *** No rule to make target", exit_code=2)
    new.records[1]["message"]["id"] = "m-new"  # as the ids of real answers, unlike any other
    return {
        "old": old.write(folder),
        "new": write_lines(folder / "77aa31d2.jsonl", [*copied, *new.records]),
        "alone": write_lines(folder / "alone" / "77aa31d2.jsonl", new.records),
    }


def codex(folder: Path) -> Files:
    """A resumed rollout: a meta line of its own, then all that the other had, its meta line too, with new times."""

    def meta(id: str, **more: str) -> dict[str, Any]:
        return {"type": "session_meta", "payload": {"id": id, "cwd": "/srv/work/reef", "cli_version": "0.98.0", **more}}

    def said(role: str, text: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}

    def run(id: str, command: str, output: str, code: int) -> list[dict[str, Any]]:
        told = f"Process exited with code {code}\nOutput:\n{output}"
        return [
            {"type": "function_call", "name": "exec_command", "call_id": id, "arguments": json.dumps({"cmd": command})},
            {"type": "function_call_output", "call_id": id, "output": told},
        ]

    def lines(items: list[dict[str, Any]], day: int) -> list[dict[str, Any]]:
        return [
            {"type": "response_item", "timestamp": f"2026-10-{day:02}T10:00:{at:02}Z", "payload": item}
            for at, item in enumerate(items)
        ]

    old = [
        said("user", DIRECTIVE),
        *run("call_8ZkQ1vTq0dXa", "pytest -q", MISSING, 1),
        *run("call_9ZkQ1vTq0dXb", "cat pyproject.toml; uv sync --extra postgres", "ok", 0),
        *run("call_7ZkQ1vTq0dXc", "pytest -q", "3 passed", 0),
    ]
    new = [said("user", LATER), *run("call_1ZkQ1vTq0dXd", "make", "make: *** No rule to make target", 2)]
    first, second = meta("019c10a1-059b"), meta("019c2222-1111", forked_from_id="019c10a1-059b")
    return {
        "old": write_lines(folder / "rollout-a.jsonl", [first, *lines(old, 1)]),
        "new": write_lines(folder / "rollout-b.jsonl", [second, first, *lines(old, 2), *lines(new, 2)]),
        "alone": write_lines(folder / "alone" / "rollout-b.jsonl", [second, *lines(new, 2)]),
    }


def opencode(folder: Path) -> Files:
    """A fork: messages and parts get new ids, calls keep theirs."""

    def run(id: str, command: str, output: str, code: int) -> dict[str, Any]:
        state = {"status": "completed", "input": {"command": command}, "output": output, "metadata": {"exit": code}}
        return {"type": "tool", "callID": id, "tool": "bash", "state": state}

    def export(name: str, id: str, *talk: tuple[str, list[dict[str, Any]]]) -> Path:
        messages = [
            {
                "info": {"id": f"msg_{id}{at}", "sessionID": id, "role": role, "time": {"created": 1790848801000 + at}},
                "parts": [{"id": f"prt_{id}{at}", **part} for part in parts],
            }
            for at, (role, parts) in enumerate(talk)
        ]
        info = {"id": id, "projectID": "p", "directory": "/srv/work/reef", "title": "x", "version": "1.2.5"}
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"info": {**info, "time": {"created": 1790848800000, "updated": 1790848900000}}, "messages": messages}
        path.write_text(json.dumps(content, indent=2))
        return path

    old: list[tuple[str, list[dict[str, Any]]]] = [
        ("user", [{"type": "text", "text": DIRECTIVE}]),
        ("assistant", [run("call_8ZkQ1vTq0dXa", "pytest -q", MISSING, 1)]),
        ("assistant", [run("call_9ZkQ1vTq0dXb", "cat pyproject.toml; uv sync --extra postgres", "ok", 0)]),
        ("assistant", [run("call_7ZkQ1vTq0dXc", "pytest -q", "3 passed", 0)]),
    ]
    new: list[tuple[str, list[dict[str, Any]]]] = [
        ("user", [{"type": "text", "text": LATER}]),
        ("assistant", [run("call_1ZkQ1vTq0dXd", "make", "make: *** No rule to make target", 2)]),
    ]
    return {
        "old": export("a.json", "ses_a", *old),
        "new": export("b.json", "ses_b", *old, *new),
        "alone": export("alone/b.json", "ses_b", *new),
    }


AGENTS = pytest.mark.parametrize("written", [claude, codex, opencode], ids=lambda one: one.__name__)
Written = Callable[[Path], Files]


@AGENTS
@pytest.mark.parametrize("order", [("old", "new"), ("new", "old")], ids="-".join)
def test_the_copied_part_is_no_evidence_a_second_time(
    memory: Hardwon, tmp_path: Path, written: Written, order: tuple[str, str]
) -> None:
    files = written(tmp_path)
    with Hardwon(memory.home / "apart") as apart:
        apart.harvest([files["old"], files["alone"]])
        wanted = evidence(apart)
    for name in order:
        memory.harvest(files[name])
    assert evidence(memory) == wanted
    assert memory.store.totals()["sessions"] == 2
    assert wanted["sources"][DIRECTIVE] == wanted["sources"][LATER] == 1
    assert wanted["blame"] == [[("read", 1)]]


def test_inspect_says_why_it_counts_more_than_other_commands(memory: Hardwon, tmp_path: Path, hardwon: Run) -> None:
    files = claude(tmp_path)
    memory.harvest([files["old"], files["new"]])
    memory.close()
    assert hardwon("inspect", "77aa31d2").stderr == ("Copied from another session, where they count: 7 messages.\n")
    assert hardwon("inspect", "0b1c8f9e").stderr == ""


def test_so_it_is_on_a_server(home: Path, tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_DATABASE", postgres)
    files = claude(tmp_path)
    with Hardwon(home) as memory:
        memory.harvest([files["old"], files["new"]])
        assert evidence(memory)["sources"][DIRECTIVE] == 1
        memory.harvest(files["alone"])
        assert evidence(memory)["sources"][DIRECTIVE] == 1


@AGENTS
def test_so_it_stays_when_either_of_them_is_read_again(memory: Hardwon, tmp_path: Path, written: Written) -> None:
    files = written(tmp_path)
    memory.harvest([files["old"], files["new"]])
    wanted = evidence(memory)
    for name in ("old", "new", "old"):
        moved = tmp_path / "moved" / f"{name}{files[name].suffix}"
        moved.parent.mkdir(exist_ok=True)
        moved.write_bytes(files[name].read_bytes())
        memory.harvest(moved)  # the same session in another file
        assert evidence(memory) == wanted


def test_the_original_may_go_on_after_it_was_copied(memory: Hardwon, tmp_path: Path) -> None:
    old = ClaudeSession("session-1").user(DIRECTIVE).run("pytest -q", MISSING, exit_code=1)
    copy = [{**record, "sessionId": "session-2"} for record in old.records]
    memory.harvest([old.write(tmp_path), write_lines(tmp_path / "session-2.jsonl", copy)])
    assert {session.external_id: session.messages for session in memory.sessions.list()} == {
        "session-1": 3,
        "session-2": 0,
    }
    memory.harvest(old.user(LATER).write(tmp_path))
    assert {session.external_id: session.messages for session in memory.sessions.list()} == {
        "session-1": 4,
        "session-2": 0,
    }
    assert evidence(memory)["sources"] == {DIRECTIVE: 1, LATER: 1}


def test_a_fix_of_what_failed_before_the_fork_is_kept(memory: Hardwon, tmp_path: Path) -> None:
    old = ClaudeSession("session-1").user("Run the tests.").run("pytest -q", MISSING, exit_code=1)
    memory.harvest(old.write(tmp_path))
    records = [{**record, "sessionId": "session-2"} for record in old.records]
    more = ClaudeSession("session-2", day=2).run("uv sync --extra postgres", "ok").run("pytest -q", "3 passed").records
    for record in more:
        record["uuid"] += "-new"
        record["message"] = {**record["message"], "id": f"new-{record['uuid']}"}
    memory.harvest(write_lines(tmp_path / "session-2.jsonl", [*records, *more]))
    assert evidence(memory)["failures"] == {"ModuleNotFoundError: No module named 'asyncpg'": (1, [1])}


def test_the_same_prompt_and_the_same_first_command_are_no_copy(memory: Hardwon, tmp_path: Path) -> None:
    """A script that starts an agent every night asks the same each time."""
    for day in (1, 2, 3):
        session = ClaudeSession(f"night-{day}", day=day).user(DIRECTIVE).run("pytest -q", MISSING, exit_code=1)
        memory.harvest(session.write(tmp_path))
    assert evidence(memory)["failures"]["ModuleNotFoundError: No module named 'asyncpg'"] == (3, [])
    assert evidence(memory)["sources"][DIRECTIVE] == 3


def test_a_stranger_cannot_take_evidence_away(memory: Hardwon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_OWN_FOLDERS", str(tmp_path / "mine"))
    own = ClaudeSession("session-own").user(DIRECTIVE).run("pytest -q", MISSING, exit_code=1)
    with Hardwon(memory.home) as other:
        (tmp_path / "clone" / ".git").mkdir(parents=True)
        other.harvest(write_lines(tmp_path / "clone" / "x.jsonl", [{**one, "sessionId": "s-x"} for one in own.records]))
        other.harvest(own.write(tmp_path / "mine"))
        assert {one.external_id: one.messages for one in other.sessions.list()} == {"s-x": 3, "session-own": 3}
        assert "active" in [one.status for one in other.lessons.list() if one.text == DIRECTIVE]


def test_a_real_rollout_that_was_resumed(memory: Hardwon, shared: Path) -> None:
    folder = shared / "projects" / "codex" / "Hoper-J__cpolar-connect" / ".codex" / "sessions" / "2025" / "09" / "16"
    old, new = (next(folder.glob(f"rollout-*-{id}-*.jsonl")) for id in ("9cd28a74", "613a9a68"))
    memory.harvest([old, new])
    counted = {session.external_id[:8]: session.messages for session in memory.sessions.list()}
    assert sorted(counted.values())[0] < 40
    assert sum(counted.values()) < len(memory.inspect(new).sessions[0].messages) + 10


# The same session in several files.


@pytest.mark.parametrize("longer_first", [True, False])
def test_two_files_of_a_session_that_differ_in_a_message(memory: Hardwon, tmp_path: Path, longer_first: bool) -> None:
    short = ClaudeSession("s-1").user(DIRECTIVE).run("pytest -q", MISSING, exit_code=1)
    long = ClaudeSession("s-1").user(DIRECTIVE).run("pytest -q", MISSING, exit_code=1).user(LATER)
    files = [short.write(tmp_path / "a"), long.write(tmp_path / "b")]
    for path in reversed(files) if longer_first else files:
        memory.harvest(path)
    assert evidence(memory)["sources"] == {DIRECTIVE: 1, LATER: 1}
    assert memory.store.totals()["messages"] == 4
    assert memory.sessions.list()[0].path == str(files[1])


def test_a_resumed_file_that_keeps_the_old_id_in_what_it_copied(memory: Hardwon, tmp_path: Path) -> None:
    """Claude Code 1.x: the new file begins with the old one's records as they are."""
    old = ClaudeSession("session-1").user(DIRECTIVE).run("pytest -q", MISSING, exit_code=1)
    new = ClaudeSession("session-2", day=2).user(LATER)
    memory.harvest([old.write(tmp_path), write_lines(tmp_path / "session-2.jsonl", [*old.records, *new.records])])
    assert evidence(memory)["sources"] == {DIRECTIVE: 1, LATER: 1}
    assert memory.store.totals()["messages"] == 4


def test_a_summary_of_a_compaction_is_not_said_again(memory: Hardwon, tmp_path: Path) -> None:
    session = ClaudeSession("s-1").user(DIRECTIVE).run("make", "ok")
    session.user(f"This session is being continued. The user said: {DIRECTIVE} {LATER}", isCompactSummary=True)
    memory.harvest(session.user("Go on.").write(tmp_path))
    assert evidence(memory)["sources"] == {DIRECTIVE: 1}


def test_a_side_chain_is_part_of_its_session(memory: Hardwon, tmp_path: Path) -> None:
    """Inline as 1.x wrote it, and in a file of its own as 2.x does: failures of one root session."""
    inline = ClaudeSession("s-1").user("Look.").user("Run it.", isSidechain=True)
    inline.call("Bash", {"command": "pytest -q"}, f"Exit code 1\n{MISSING}", error=True)
    for record in inline.records[2:]:
        record |= {"isSidechain": True, "agentId": "a1"}
    apart = write_lines(tmp_path / "s-1" / "subagents" / "agent-a1.jsonl", inline.records[2:])
    memory.harvest([inline.write(tmp_path), apart])
    (failure,) = memory.failures.list()
    assert (failure.occurrences, failure.sessions) == (1, 1)


def test_a_sub_agent_that_goes_into_a_folder_stays_in_its_project(memory: Hardwon, tmp_path: Path) -> None:
    session = ClaudeSession("s-1").user("Look.")
    helper = ClaudeSession("s-1", cwd="/srv/work/reef/apps/desk").user("Run it.").run("make", MISSING, exit_code=1)
    session.records += [record | {"isSidechain": True, "agentId": "a1"} for record in helper.records]
    memory.harvest(session.says("Done.").write(tmp_path))
    assert [project.name for project in memory.store.projects()] == ["reef"]


def test_a_file_that_a_sub_agent_in_a_folder_names_is_the_one_its_session_means(
    memory: Hardwon, tmp_path: Path
) -> None:
    """And whoever asks is told of the session that a person started, not of its sub-agent."""
    top, folder = "/srv/work/reef", "/srv/work/reef/apps/desk"
    session = ClaudeSession("s-1").user("Look.")
    session.call("Read", {"file_path": f"{top}/a.py"}, "x")
    helper = ClaudeSession("h", cwd=folder).user("Find it.").call("Read", {"file_path": f"{folder}/tide.rs"}, "x")
    for record in helper.run("cat tide.rs", "x").records:
        record["message"] = {**record["message"], "id": f"of {record['uuid']}"}
        session.records.append(record | {"sessionId": "s-1", "isSidechain": True, "agentId": "a1"})
    later = ClaudeSession("s-2", day=2).user("Again.").call("Read", {"file_path": f"{folder}/tide.rs"}, "x")
    memory.harvest([session.write(tmp_path), later.write(tmp_path)])
    found = memory.blame("apps/desk/tide.rs", project="reef")
    assert [(one.task, one.uses) for one in found] == [("Again.", {"read": 1}), ("Look.", {"read": 2})]
    assert {one.id for one in memory.sessions.list() if not one.subagent} == {one.session for one in found}
    assert sorted(one.path for one in memory.map("reef").files) == ["a.py", "apps/desk/tide.rs"]


def test_a_gemini_log_that_repeats_a_message_and_is_there_twice(memory: Hardwon, tmp_path: Path) -> None:
    header = {
        "sessionId": "g-1",
        "projectHash": sha256(b"/srv/work/reef").hexdigest(),
        "startTime": "2026-10-01T10:00:00Z",
        "lastUpdated": "2026-10-01T10:00:00Z",
        "kind": "main",
    }
    failed = {"functionResponse": {"id": "c", "name": "run_shell_command", "response": {"error": MISSING}}}
    call = {"id": "run-1", "name": "run_shell_command", "args": {"command": "pytest -q"}, "status": "executing"}
    done = {**call, "status": "error", "result": [failed]}
    said = {"id": "m1", "timestamp": "2026-10-01T10:00:01Z", "type": "user", "content": DIRECTIVE}
    answer = {"id": "m2", "timestamp": "2026-10-01T10:00:02Z", "type": "gemini", "content": ""}
    records = [header, said, {**answer, "toolCalls": [call]}, {**answer, "toolCalls": [done]}]
    memory.harvest(write_lines(tmp_path / "session-1.jsonl", records))
    wanted = evidence(memory)
    memory.harvest(write_lines(tmp_path / "copy" / "session-1.jsonl", records))
    assert evidence(memory) == wanted
    assert wanted["sources"] == {DIRECTIVE: 1}
    assert [count for count, _ in wanted["failures"].values()] == [1]


def export(folder: Path, name: str, heading: str, *said: str) -> Path:
    """A history as SpecStory wrote those of old Cursor: its heading alone tells which conversation it is."""
    path = folder / ".specstory" / "history" / f"{name}-mend-the-tide.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    talk = [f"_**{'Assistant' if at % 2 else 'User'}**_\n\n{text}\n\n---\n\n" for at, text in enumerate(said)]
    path.write_text(f"{heading}\n\n{''.join(talk)}")
    return path


NEW_EXPORT = "<!-- Generated by SpecStory -->\n\n# Mend the tide (2025-01-26 08:09:47)"
OLD_EXPORT = "## SpecStory\n\n## Mend the tide (1/26/2025, 8:09:47 AM)"


def test_who_wants_to_resume_a_history_is_told_what_it_is_and_where_it_lies(
    memory: Hardwon, tmp_path: Path, hardwon: Run
) -> None:
    path = export(tmp_path, "2025-01-25_21-39", NEW_EXPORT, DIRECTIVE, "Done.")
    memory.harvest(path, mine=True)
    (session,) = memory.sessions.list()
    memory.close()
    refused = hardwon("resume", session.id)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "SpecStory only keeps a copy of it" in refused.stderr
    assert path.name in refused.stderr


@pytest.mark.parametrize(
    ("heading", "asked", "sessions"),
    [
        (OLD_EXPORT, f"{DIRECTIVE}  ", 1),
        (OLD_EXPORT.replace("AM", "PM"), DIRECTIVE, 2),
        (OLD_EXPORT.replace(":47", ":48"), DIRECTIVE, 2),
        (OLD_EXPORT.replace("the tide", "it"), DIRECTIVE, 2),
        (OLD_EXPORT, LATER, 2),
    ],
)
def test_a_conversation_that_was_exported_twice_is_one_if_that_is_certain(
    memory: Hardwon, tmp_path: Path, heading: str, asked: str, sessions: int
) -> None:
    files = [
        export(tmp_path, "2025-01-25_21-39", NEW_EXPORT, DIRECTIVE, "Done.", LATER, "Done, too."),
        export(tmp_path, "2025-01-26_08-09", heading, asked, "Done."),
    ]
    memory.harvest(files, mine=True)
    assert memory.store.totals()["sessions"] == sessions
    assert DIRECTIVE in evidence(memory)["sources"]
    assert evidence(memory)["sources"][DIRECTIVE] == (2 if sessions == 2 and asked == DIRECTIVE else 1)


def test_what_was_counted_twice_before_is_one_when_it_is_read_again(memory: Hardwon, tmp_path: Path) -> None:
    later = export(tmp_path, "2025-01-26_08-09", OLD_EXPORT, DIRECTIVE, "Done.")
    memory.harvest(later, mine=True)
    first = export(tmp_path, "2025-01-25_21-39", NEW_EXPORT, DIRECTIVE, "Done.", LATER, "Done, too.")
    memory.harvest(first, mine=True)
    assert memory.store.totals()["sessions"] == 2
    db = memory.writing()
    with db.transaction():
        read_again(db)
    memory.harvest([later, first], mine=True)
    assert memory.store.totals()["sessions"] == 1
    assert evidence(memory)["sources"] == {DIRECTIVE: 1, LATER: 1}
    assert all(check.ok for check in memory.store.check())


def test_the_agents_own_log_is_better_than_a_watchers(memory: Hardwon, tmp_path: Path) -> None:
    own = ClaudeSession("0b1c8f9e-1111-4222-8333-444455556666").user(DIRECTIVE).run("pytest -q", MISSING, exit_code=1)
    talk = "".join(f"_**User (2026-10-01 10:00:0{at}Z)**_\n\n{DIRECTIVE}\n\n---\n\n" for at in range(8))
    watched = tmp_path / ".specstory" / "history" / "2026-10-01_10-00-00Z.md"
    watched.parent.mkdir(parents=True)
    watched.write_text(
        "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# 2026-10-01\n\n"
        f"<!-- Claude Code Session 0b1c8f9e-1111-4222-8333-444455556666 (2026-10-01 10:00:00Z) -->\n\n{talk}"
    )
    assert memory.harvest(watched).sessions == 1
    memory.harvest(own.write(tmp_path))
    memory.harvest(watched)
    assert [(one.format, one.messages) for one in memory.sessions.list()] == [("claude-code", 3)]
