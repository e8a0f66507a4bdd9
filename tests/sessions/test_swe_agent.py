"""SWE-agent's steps and mini-swe-agent's chats: `submitted` says nothing of whether it was solved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Session, ToolCall
from hardwon.sessions.discover import swe_agent as roots
from hardwon.sessions.reader import Source
from hardwon.sessions.swe_agent import read, recognises

STATE = {"open_file": "/testbed/setup.py", "working_dir": "/testbed"}
ASKED = [
    {"role": "system", "content": "SETTING: You are a programmer", "agent": "main"},
    {"role": "user", "content": "Here is a demonstration", "agent": "main", "is_demo": True},
    {"role": "user", "content": "ISSUE: the build fails", "agent": "main"},
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def opened(path: Path, document: object) -> Session:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1))
    source = Source(path)
    assert recognises(source)
    (session,) = read(source)
    return session


def step(action: str, observation: str = "", state: object = STATE) -> dict[str, Any]:
    return {"action": action, "observation": observation, "response": "r", "thought": "Let me see.", "state": state}


def trajectory(tmp_path: Path, *steps: object, history: list[Any] | None = None) -> Session:
    document = {"environment": "main", "trajectory": [*steps], "history": ASKED if history is None else history}
    return opened(tmp_path / "default__gpt4" / "reef-1" / "reef-1.traj", {**document, "info": {}})


def only_call(session: Session) -> ToolCall:
    (call,) = [call for message in session.messages for call in message.calls]
    return call


def test_what_was_asked_comes_first_and_a_demonstration_is_not_asked(tmp_path: Path) -> None:
    session = trajectory(tmp_path, step("ls -F", "setup.py"))
    assert [(message.role, message.origin, message.text) for message in session.messages[:4]] == [
        ("system", "injected", "SETTING: You are a programmer"),
        ("user", "injected", "Here is a demonstration"),
        ("user", "user", "ISSUE: the build fails"),
        ("assistant", "agent", "Let me see."),
    ]
    assert (session.cwd, session.external_id) == ("/testbed", "default__gpt4/reef-1")
    assert [(result.text, result.outcome) for result in session.results()] == [("setup.py", "unknown")]


def test_the_state_may_be_a_string_of_json(tmp_path: Path) -> None:
    assert trajectory(tmp_path, step("ls", state=json.dumps(STATE) + "\n")).cwd == "/testbed"


ACTIONS = [
    ("python reproduce.py\n", ("bash", "python reproduce.py", "", "")),
    ('open "src/a b.py" 12', ("open", "", "src/a b.py", "")),
    ("find_file fields.py src", ("find_file", "", "fields.py", "")),
    ("edit 3:4\n    return 1\nend_of_edit", ("edit", "", "/testbed/setup.py", "return 1")),
    ("edit 'old line' 'new line'", ("edit", "", "/testbed/setup.py", "new line")),
    ("insert 'from x import y\nz'", ("insert", "", "/testbed/setup.py", "from x import y")),
    (
        "str_replace_editor create /testbed/a.py --file_text 'x = 1'",
        ("str_replace_editor", "", "/testbed/a.py", "x = 1"),
    ),
    (f"edit 'a' 'b = 1\n{'c' * 9_000}'", ("edit", "", "/testbed/setup.py", "b = 1")),
    ("cat 'unclosed", ("bash", "cat 'unclosed", "", "")),
]


@pytest.mark.parametrize(("action", "expected"), ACTIONS)
def test_an_action_is_a_command_of_its_own_or_one_of_the_shell(
    tmp_path: Path, action: str, expected: tuple[str, str, str, str]
) -> None:
    call = only_call(trajectory(tmp_path, step(action)))
    assert (call.name, call.command, call.target, call.detail) == expected


def test_a_function_call_behind_an_action_tells_more(tmp_path: Path) -> None:
    function = {"name": "edit", "arguments": '{"search": "a b", "replace": "a: b"}'}
    said = {"role": "assistant", "content": "", "agent": "main", "action": "edit 'a b' 'a: b'"}
    history = [*ASKED, {**said, "tool_calls": [{"id": "k", "type": "function", "function": function}]}]
    call = only_call(trajectory(tmp_path, step("edit 'a b' 'a: b'"), history=history))
    assert (call.name, call.action, call.target, call.detail) == ("edit", "edit", "/testbed/setup.py", "a: b")


@pytest.mark.parametrize(
    ("observation", "outcome", "evidence"),
    [
        ("Your proposed edit has introduced new syntax error(s). Please understand", "error", "text"),
        ("half\nEXECUTION TIMED OUT", "error", "text"),
        ("Traceback (most recent call last):\n  error: failed", "unknown", "none"),
    ],
)
def test_only_fixed_words_of_its_own_are_errors(tmp_path: Path, observation: str, outcome: str, evidence: str) -> None:
    (result,) = trajectory(tmp_path, step("edit 1:1\nx\nend_of_edit", observation)).results()
    assert (result.outcome, result.evidence) == (outcome, evidence)


def test_a_history_alone_is_read_without_the_shells_prompt(tmp_path: Path) -> None:
    suffix = "\n(Open file: n/a)\n(Current directory: /reef)\nbash-$"
    history = [
        *ASKED,
        {"role": "assistant", "content": "Looking.", "agent": "main", "thought": "Looking.", "action": "ls"},
        {"role": "tool", "content": "a.py" + suffix, "agent": "main", "tool_call_ids": ["k"]},
        {"role": "assistant", "content": "Submitting.", "agent": "main", "action": "submit"},
    ]
    session = opened(tmp_path / "demo.traj", {"history": history})
    assert (session.cwd, session.tool_calls, [result.text for result in session.results()]) == ("/reef", 2, ["a.py"])


def test_a_step_without_an_action_has_no_call(tmp_path: Path) -> None:
    session = trajectory(tmp_path, step("", "Your output was not formatted correctly."), "no step")
    assert [(message.role, message.origin) for message in session.messages[3:]] == [
        ("assistant", "agent"),
        ("user", "injected"),
    ]
    assert session.unknown_records == 1


def said(command: str, fence: str = "mswea_bash_command") -> dict[str, Any]:
    return {"role": "assistant", "content": f"THOUGHT: let me\n\n```{fence}\n{command}\n```"}


def user(content: str) -> dict[str, Any]:
    return {"role": "user", "content": content}


CHAT = [
    {"role": "system", "content": "You are a helpful assistant"},
    user("Please solve this issue"),
    said("ls -la"),
    user("<returncode>0</returncode>\n<output>\na.py\n</output>"),
]


def test_a_bare_chat_has_its_commands_in_code_blocks(tmp_path: Path) -> None:
    session = opened(
        tmp_path / "run" / "github.traj.json",
        [
            *CHAT,
            said("make", "bash"),
            user("<returncode>2</returncode>\n<output>\nboom\n</output>"),
            said("rm -rf /"),
            user("Command not executed. The user rejected your command with the following message:\nno"),
            said("cat big"),
            user("<exception>too slow</exception>\n<returncode>-1</returncode>\n<output>\n</output>"),
            {"role": "assistant", "content": "I forgot the command."},
            user("Please always provide EXACTLY ONE action in triple backticks, found 0 actions."),
            said("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff"),
            user("diff --git a/x b/x"),
        ],
    )
    calls = [call for message in session.messages for call in message.calls]
    assert [(call.action, call.command) for call in calls][:3] == [
        ("run", "ls -la"),
        ("run", "make"),
        ("run", "rm -rf /"),
    ]
    assert [(result.outcome, result.evidence, result.exit_code, result.text) for result in session.results()] == [
        ("ok", "exit-code", 0, "a.py"),
        ("error", "exit-code", 2, "boom"),
        (
            "error",
            "rejected",
            None,
            "Command not executed. The user rejected your command with the following message:\nno",
        ),
        ("error", "exit-code", -1, ""),
        ("unknown", "none", None, "diff --git a/x b/x"),
    ]
    assert session.messages[2].text == "THOUGHT: let me"
    assert (session.agent, session.external_id, session.user_messages) == ("mini-swe-agent", "run/github", 1)


def test_what_the_user_says_after_a_command_is_the_users(tmp_path: Path) -> None:
    session = opened(
        tmp_path / "a.traj.json", [*CHAT, said("ls"), user("Better look at b.py, which prints <returncode>1<")]
    )
    assert (session.user_messages, session.unpaired_calls) == (2, 1)


def test_a_chat_with_function_calls_has_times_and_whole_outputs(tmp_path: Path) -> None:
    call = {"id": "k1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make"}'}}
    submit = {"id": "k2", "type": "function", "function": {"name": "bash", "arguments": '{"command": "echo SUBMIT"}'}}
    extra = {"raw_output": "boom " * 9, "returncode": 1, "timestamp": 1790848860.5, "exception_info": ""}
    document = {
        "info": {"mini_version": "2.2.7", "exit_status": "Submitted", "config": {"environment": {"cwd": "/testbed"}}},
        "messages": [
            *CHAT[:2],
            {"role": "assistant", "content": "Hm.", "tool_calls": [call], "extra": {"timestamp": 1790848800.5}},
            {
                "role": "tool",
                "tool_call_id": "k1",
                "content": "<returncode>1</returncode>\n<output_head>",
                "extra": extra,
            },
            {"role": "assistant", "content": "", "tool_calls": [submit], "extra": {}},
            {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
    }
    session = opened(tmp_path / "mini" / "last_mini_run.traj.json", document)
    (result,) = session.results()
    assert (result.call_id, result.exit_code, result.text, result.outcome) == ("k1", 1, "boom " * 9, "error")
    assert (session.version, session.cwd, session.ended_at) == ("2.2.7", "/testbed", 1_790_848_860_500_000)
    assert session.external_id == "mini/last_mini_run@1790848800500000"
    assert (session.messages[-1].role, session.messages[-1].origin) == ("system", "injected")


def test_commands_may_be_told_beside_the_text(tmp_path: Path) -> None:
    said_so = {"role": "assistant", "content": "Both.", "extra": {"actions": [{"command": "ls"}, {"command": "pwd"}]}}
    answers = [{**user("x"), "extra": {"returncode": code, "raw_output": "x"}} for code in (0, 1)]
    session = opened(tmp_path / "a.json", {"messages": [said_so, *answers], "trajectory_format": "mini-swe-agent-1.1"})
    assert [result.exit_code for result in session.results()] == [0, 1]
    assert session.unpaired_calls == 0


@pytest.mark.parametrize(
    "document",
    [
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
        {"messages": [{"role": "user", "content": "hi"}]},
        {"info": {"id": "x"}, "messages": [{"info": {}, "parts": []}]},
        {"history": [{"action": "message", "source": "user"}]},
        {"trajectory": [{"role": "user", "content": "x"}]},
        {"trajectory": "x", "history": {}},
    ],
)
def test_other_chats_are_not_taken_for_it(tmp_path: Path, document: object) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(document))
    assert not recognises(Source(path))


def test_only_the_last_run_of_mini_has_a_place(tmp_path: Path) -> None:
    assert tmp_path / ".config" / "mini-swe-agent" in roots({}, tmp_path)
    assert roots({"MSWEA_GLOBAL_CONFIG_DIR": "/m"}, tmp_path) == [Path("/m")]


KEYS = "role content action observation response thought state tool_calls extra tool_call_id agent is_demo".split()
ENTRIES = st.lists(JSON | st.dictionaries(st.sampled_from(KEYS), JSON | st.sampled_from(["user", "assistant", "tool"])))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entries=ENTRIES)
def test_no_content_is_too_strange(tmp_path: Path, entries: list[Any]) -> None:
    path = tmp_path / "a.traj"
    for document in (
        entries,
        {"trajectory": entries, "history": entries},
        {"history": entries},
        {"messages": entries, "info": entries, "trajectory_format": "mini-swe-agent-1.1"},
    ):
        path.write_text(json.dumps(document))
        assert isinstance(recognises(Source(path)), bool)
        assert len(read(Source(path))) == 1


def test_real_trajectories_are_read_whole(shared: Path) -> None:
    sessions = [
        session
        for path in sorted((shared / "transcripts" / "swe-agent").rglob("*.traj*"))
        if recognises(source := Source(path))
        for session in read(source)
    ]
    results = [result for session in sessions for result in session.results()]
    assert len(sessions) == len({session.external_id for session in sessions}) == 24
    assert sum(len(session.messages) for session in sessions) == 538
    assert sum(session.tool_calls for session in sessions) == len(results) == 244
    assert sum(result.evidence == "text" for result in results) == 15
    assert sum(result.evidence == "exit-code" and result.outcome == "error" for result in results) == 2
    assert sum(session.unknown_records + session.unpaired_calls for session in sessions) == 0
    assert all(session.user_messages == 1 for session in sessions)
