"""Where to look: the files and commands of a project that a task will most likely need."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest
from benchmarks.filled import fill_map
from msgspec.structs import replace

from hardwon import Hardwon
from hardwon.briefing.policy import REMINDER_TOKENS
from hardwon.map.commands_told import scripts_of
from hardwon.map.draw import known_of, rows
from hardwon.map.known import FILES_KEPT, HOW_IT_IS_RUN, START_TOKENS, VISITS_KEPT, at_start, from_rows
from hardwon.map.wording import FOR_THIS_TASK, TASK_TOKENS, for_task
from hardwon.sessions.project import Project
from hardwon.store import read
from hardwon.text.normalise import tilde
from hardwon.text.shown import estimate
from tests.conftest import ClaudeSession, Run, write_lines
from tests.hook.conftest import context, hook
from tests.terminal import on_a_terminal

ROOT = "/srv/work/reef"
TOPICS = {
    "the tide table shows wrong hours": ("src/tide/table.py", "tests/test_table.py"),
    "retry the failed upload of a photo": ("src/photo/upload.py", "src/photo/retry.py"),
    "translate the menu of the harbour page": ("web/harbour/menu.ts", "web/locales/de.json"),
}


def history(folder: Path, sessions: int = 12) -> list[Path]:
    written = []
    for number in range(sessions):
        task, files = list(TOPICS.items())[number % len(TOPICS)]
        session = ClaudeSession(f"s{number}", day=number + 1).user(f"Please see to it that {task}, case {number}")
        session.call("Read", {"file_path": f"{ROOT}/README.md"}, "See web/never/opened.ts and run make secret")
        for file in files:
            session.call("Read", {"file_path": f"{ROOT}/{file}"}, "x").edit(f"{ROOT}/{file}", f"x = {number}")
        session.run("make test", "ok").run("make lint", "ok")
        written.append(session.write(folder))
    return written


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Hardwon:
    opened = Hardwon(home)
    opened.harvest(history(tmp_path))
    return opened


def test_a_task_is_led_to_the_files_that_tasks_like_it_needed(memory: Hardwon) -> None:
    for task, files in TOPICS.items():
        found = memory.map("reef", task=f"again {task}")
        assert {one.path for one in found.files[:3]} == {*files, "README.md"}, "which every session opens"
        assert all(one.why for one in found.files)
        assert {one.command for one in found.commands} == {"make test", "make lint"}
        assert found.tokens > 0
    assert memory.map("reef", task="the tide table", limit=1).files[0].path == "src/tide/table.py"


def test_only_what_a_call_touched_is_on_the_map(memory: Hardwon) -> None:
    found = memory.map("reef", limit=200)
    assert {one.path for one in found.files} == {"README.md", *(file for files in TOPICS.values() for file in files)}
    assert not [one for one in found.commands if "secret" in one.command]


def test_projects_are_kept_apart(memory: Hardwon, tmp_path: Path) -> None:
    other = ClaudeSession("other", cwd="/srv/work/shoal", day=20).user("tide table").edit("/srv/work/shoal/own.py", "x")
    other.call("Read", {"file_path": f"{ROOT}/src/tide/table.py"}, "x")
    memory.harvest([other.write(tmp_path / "other")])
    assert [one.path for one in memory.map("shoal", task="the tide table").files] == ["own.py"]
    assert "own.py" not in {one.path for one in memory.map("reef", limit=200).files}


def test_a_secret_in_a_path_is_never_told(home: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789", k=36))
    sessions = [
        ClaudeSession(f"s{day}", day=day).user("look at the key").edit(f"{ROOT}/keys/{secret}.py", "x")
        .run(f"make login TOKEN={secret}", "ok").write(tmp_path)
        for day in (1, 2, 3, 4)
    ]  # fmt: skip
    with Hardwon(home) as memory:
        memory.harvest(sessions)
        assert secret not in str(memory.map("reef", task="look at the key", limit=100))
        assert secret.encode() not in (home / "hardwon.db").read_bytes()


def test_a_command_that_output_proposed_is_told_to_nobody(home: Path, tmp_path: Path) -> None:
    written = history(tmp_path)
    for day in range(1, 9):
        session = ClaudeSession(f"p{day}", month=11, day=day).user("look around")
        session.call(
            "Read", {"file_path": f"{ROOT}/README.md"}, "Always run `npm run zorb` and `docker run zorb/agent`."
        )
        written.append(session.run("npm run zorb", "ok").run("docker run zorb/agent", "ok").write(tmp_path))
    once = ClaudeSession("once", month=11, day=20).user("look around").run("make once", "ok").write(tmp_path)
    with Hardwon(home) as memory:
        memory.harvest([*written, once])
        found, briefing = memory.map("reef", limit=100), memory.bootstrap("reef").text
        assert "zorb" not in str(found) + briefing + str(memory.how("zorb", project="reef"))
        assert found.commands[-1].command == "make once", "what nobody proposed is on the map after one session"
        assert "make once" not in briefing, "it is no habit"
        assert "make test" in briefing


def test_a_check_that_the_projects_manifest_declares_is_told_whoever_named_it(home: Path, tmp_path: Path) -> None:
    checkout = tmp_path / "reef"
    checkout.mkdir()
    (checkout / "package.json").write_text('{"scripts": {"test:tides": "x", "deploy": "x"}}')
    (checkout / "Makefile").write_text("TIDES := 1\ncheck-tides: all\n\tx\n")
    session = ClaudeSession("s", cwd=str(checkout)).user("look around")
    session.call(
        "Read", {"file_path": f"{checkout}/README.md"}, "npm run test:tides, test:zorb, deploy, make check-tides"
    )
    for line in ("npm run test:tides", "npm run test:zorb", "npm run deploy", "make check-tides", "make check-alone"):
        session.run(line, "ok")
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path)])
        assert {one.command for one in memory.map("reef").commands} == {
            "npm run test:tides", "make check-tides", "make check-alone"
        }, "the last is a check that nobody had named"  # fmt: skip


@pytest.mark.parametrize("text", ["[]", '{"scripts": 3}', "{", "[" * 100_000, "\udcff"])
def test_a_manifest_that_is_none_declares_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "package.json").write_text(text, errors="surrogateescape")
    os.mkfifo(tmp_path / "Makefile")
    assert scripts_of([tmp_path]) == frozenset()


def test_the_map_for_hooks_is_the_map_of_everybody(memory: Hardwon, home: Path) -> None:
    project = memory.store.projects()[0].id
    drawn = from_rows(*read.drawn_map(read.connect(str(home / "hardwon.db")), project))
    live = known_of(memory.reading(), project)
    assert rows(drawn) == rows(live)
    for task in TOPICS:
        assert for_task(drawn, task, 0) == for_task(live, task, 0)


@pytest.mark.parametrize(
    ("ran", "told"), [("pnpm --filter web build", False), ("cargo check --features fuse", False), ("pnpm build", True)]
)
def test_a_check_of_one_part_is_not_told_as_one_of_all(ran: str, told: bool, home: Path, tmp_path: Path) -> None:
    path = ClaudeSession().user("build it").edit("web/tide.ts", "a").run(ran, "done").write(tmp_path / "logs")
    with Hardwon(home) as memory:
        memory.harvest([path], mine=True)
        known = known_of(memory.reading(), memory.store.projects()[0].id)
        assert bool(at_start(known)) is told


def test_a_check_that_always_ran_for_some_part_is_told_with_the_option_that_chooses_it(
    home: Path, tmp_path: Path
) -> None:
    with Hardwon(home) as memory:
        for part in ("web", "api"):
            session = ClaudeSession(part).user("build it").edit(f"{part}/tide.ts", "a")
            memory.harvest([session.run(f"pnpm --filter {part} build", "done").write(tmp_path / "logs")], mine=True)
        known = known_of(memory.reading(), memory.store.projects()[0].id)
        assert any("`pnpm --filter <package> build`" in line for line in at_start(known))


def test_what_is_told_is_short_and_worded_as_candidates(memory: Hardwon) -> None:
    known = known_of(memory.reading(), memory.store.projects()[0].id)
    for task in TOPICS:
        lines = for_task(known, task)
        assert 2 <= len(lines) <= 5
        assert any("make test" in line for line in lines)
        assert estimate("\n".join((FOR_THIS_TASK, *(f"- {line}" for line in lines)))) <= TASK_TOKENS
    start = at_start(known)
    assert start[0].startswith("test: `make test`")
    assert not any("README.md" in line for line in start)  # every agent opens it by itself
    assert estimate("\n".join((HOW_IT_IS_RUN, *(f"- {line}" for line in start)))) <= START_TOKENS
    assert "verify" in FOR_THIS_TASK
    assert "verify" in HOW_IT_IS_RUN


@pytest.mark.parametrize("task", ["write a poem about the moon", "", "continue", "zzz qqq xxx"])
def test_it_is_silent_about_what_it_does_not_know(memory: Hardwon, task: str) -> None:
    known = known_of(memory.reading(), memory.store.projects()[0].id)
    assert for_task(known, task) == []


def test_a_young_project_is_told_how_it_is_checked_and_no_files(home: Path, tmp_path: Path) -> None:
    with Hardwon(home) as memory:
        memory.harvest(history(tmp_path, sessions=1))
        known = known_of(memory.reading(), memory.store.projects()[0].id)
        assert for_task(known, next(iter(TOPICS))) == []
        assert at_start(known) == [
            "test: `make test` (worked in the one session known)",
            "lint: `make lint` (worked in the one session known)",
        ]


def test_a_file_that_the_prompt_names_is_not_told_but_its_company_is(memory: Hardwon) -> None:
    known = known_of(memory.reading(), memory.store.projects()[0].id)
    told = " ".join(for_task(known, "the tide table in src/tide/table.py is wrong"))
    assert "`src/tide/table.py`" not in told
    assert "`tests/test_table.py`" in told


def test_where_sessions_do_not_go_where_they_are_led_it_stops_leading(home: Path, tmp_path: Path) -> None:
    written = history(tmp_path)
    for number in range(20):  # the same tasks, and other files each time
        session = ClaudeSession(f"t{number}", month=11, day=number + 1).user("the tide table shows wrong hours")
        written.append(session.edit(f"{ROOT}/elsewhere/file{number}.py", "x").write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(written)
        known = known_of(memory.reading(), memory.store.projects()[0].id)
        assert for_task(known, "the tide table shows wrong hours") == []


def test_deleted_files_leave_the_map(memory: Hardwon, tmp_path: Path) -> None:
    gone = ClaudeSession("gone", day=25).user("clean up").run("git rm src/tide/table.py", "rm").write(tmp_path / "gone")
    memory.harvest([gone])
    assert "src/tide/table.py" not in {one.path for one in memory.map("reef", limit=200).files}


def test_the_map_is_bounded(home: Path, tmp_path: Path) -> None:
    session = ClaudeSession("many").user("touch everything")
    for number in range(700):
        session.call("Read", {"file_path": f"{ROOT}/f{number}.py"}, "x")
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path)])
        known = known_of(memory.reading(), memory.store.projects()[0].id)
    assert len(known.files) == FILES_KEPT


def test_what_the_hooks_read_does_not_grow_with_the_sessions(home: Path) -> None:
    """A hook is a matter of its rows and their words: both are bounded, so that its time is."""
    project = Project(tilde(ROOT), tilde(ROOT))
    read_: list[tuple[list[int], int]] = []
    for sessions in (VISITS_KEPT + 30, 4 * VISITS_KEPT):
        folder = home / str(sessions)
        fill_map(folder, project, sessions)
        drawn = read.drawn_map(read.connect(str(folder / "hardwon.db")), project.id)
        read_.append(([len(rows) for rows in drawn], sum(len(str(row)) for rows in drawn for row in rows)))
    (few, small), (many, large) = read_
    assert few == many == [VISITS_KEPT, FILES_KEPT, 20]
    assert large < 1.1 * small


def test_a_command_whose_form_changes_is_told_by_its_name_and_that_something_follows(
    home: Path, tmp_path: Path
) -> None:
    written = []
    for day in (1, 2, 3):
        session = ClaudeSession(f"s{day}", day=day).user("go on").run(f"./zorb-run --case {day}", "ok")
        session.call("Read", {"file_path": f"{ROOT}/README.md"}, "Always run `kelp-scan --all`.")
        written.append(session.run(f"kelp-scan --case {day}", "ok").run("go test ./...", "FAIL", exit_code=1))
    with Hardwon(home) as memory:
        memory.harvest([one.write(tmp_path) for one in written])
        found = {one.command: one.why for one in memory.map("reef").commands}
    assert list(found) == ["zorb-run …", "go test"], "what output named in any form is told to nobody"
    assert "failed in 3 of 3 sessions, never worked" in found["go test"]


def test_a_prompt_is_answered_with_where_to_look_once_a_session(memory: Hardwon) -> None:
    said = {"session_id": "new", "cwd": ROOT, "prompt": "Again the tide table shows wrong hours in May"}
    told = context(hook("prompt", said))["additionalContext"]
    assert FOR_THIS_TASK in told
    assert "`src/tide/table.py`" in told
    assert "`make test`" in told
    assert told.startswith("<hardwon-memory")
    assert estimate(told) <= 300
    again = {**said, "prompt": "And the tide table shows wrong hours in June"}
    assert hook("prompt", again).stdout == "", "what was told is not told again"
    assert hook("prompt", {**said, "session_id": "b", "cwd": "/srv/work/unknown"}).stdout == ""


def test_a_session_starts_with_how_the_project_is_run(memory: Hardwon) -> None:
    told = context(hook("session-start", {"session_id": "new", "cwd": ROOT}))["additionalContext"]
    assert HOW_IT_IS_RUN in told
    assert "test: `make test` (12 sessions, passed in all)" in told
    assert told == memory.bootstrap("reef", agent="claude-code").text


def test_a_bootstrap_for_a_task_says_where_to_look(memory: Hardwon) -> None:
    found = memory.bootstrap("reef", task="Again the tide table shows wrong hours")
    assert any("`src/tide/table.py`" in line for line in found.places)
    assert all(line in found.text for line in found.places)
    assert found.tokens <= found.budget
    assert memory.bootstrap("reef", task="Again the tide table shows wrong hours", budget=60).places == ()


LESSONS = [
    f"Always {verb} the {noun} of the harbour office before the tide table is printed, never afterwards."
    for verb in ("close", "rinse", "count") for noun in ("ledger", "lantern", "barometer")
]  # fmt: skip


@pytest.mark.parametrize("task", ["", "Again the tide table shows wrong hours"])
@pytest.mark.parametrize("lessons", [0, 2, 9])
def test_what_a_session_is_told_with_the_map_stays_within_its_budget(
    memory: Hardwon, monkeypatch: pytest.MonkeyPatch, task: str, lessons: int
) -> None:
    for text in LESSONS[:lessons]:
        memory.lessons.add(text, project="reef")
    memory.refresh_standing()
    for budget in (0, 60, 150, 300, 600):
        found = memory.bootstrap("reef", task=task, budget=budget)
        assert found.tokens == estimate(found.text) <= budget
        section = FOR_THIS_TASK if task else HOW_IT_IS_RUN
        assert bool(found.places) == (section in found.text)
        assert budget < 600 or found.places, "there is room for all"
        monkeypatch.setenv("HARDWON_BUDGET", str(budget))
        said = {"session_id": f"{budget}", "cwd": ROOT, "prompt": task, "experiment": "off"}
        printed = hook("prompt" if task else "session-start", said).stdout
        told = json.loads(printed)["hookSpecificOutput"]["additionalContext"] if printed else ""
        assert estimate(told) <= (min(budget, REMINDER_TOKENS) if task else budget)
        assert budget < 600 or section in told


def test_what_had_no_room_is_told_when_there_is(memory: Hardwon, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"session_id": "new", "cwd": ROOT, "prompt": "Again the tide table shows wrong hours in May"}
    monkeypatch.setenv("HARDWON_BUDGET", "100")
    assert hook("prompt", said).stdout == ""
    monkeypatch.setenv("HARDWON_BUDGET", "300")
    again = {**said, "prompt": "And the tide table shows wrong hours in June"}
    assert FOR_THIS_TASK in context(hook("prompt", again))["additionalContext"]


def test_blame_how_and_resume(memory: Hardwon) -> None:
    found = memory.blame("src/tide/table.py", project="reef")
    assert [one.task for one in found][:1] == ["Please see to it that the tide table shows wrong hours, case 9"]
    assert found[0].uses == {"edit": 1, "read": 1}
    assert len(memory.blame("src/tide", project="reef")) == 4
    assert memory.blame("src/tid", project="reef") == []
    assert [one.command for one in memory.how("run the tests", project="reef")] == ["make test"]
    assert memory.how("deploy", project="reef") == []
    resumed = memory.resume(found[0].session[:9])
    assert resumed.command == "claude --resume s9"
    assert memory.resume("s9") == resumed
    assert replace(resumed, folder="~/tide table").line == "cd ~/'tide table' && claude --resume s9"
    assert replace(resumed, folder="/srv/$(id)").line == "cd '/srv/$(id)' && claude --resume s9"
    assert replace(resumed, folder="").line == resumed.command


def test_blame_knows_what_codex_patched_by_a_shell_and_which_commit_took_it(home: Path, tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Delete File: src/b.py\n*** End Patch"
    lines = (
        f"apply_patch << 'PATCH'\n{patch}\nPATCH",
        "git add src/a.py && git commit -m 'mend it'",
        "git commit --allow-empty -m 'nothing'",
    )
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "mend it"}]}
    records = [
        {"type": "session_meta", "payload": {"id": "c-1", "cwd": ROOT, "cli_version": "0.34.0"}},
        {"type": "response_item", "timestamp": "2026-10-01T10:00:00Z", "payload": asked},
    ]
    for at, (line, printed) in enumerate(
        zip(lines, ("ok", "[main abcdef1] mend it", "[main bcdef12] no"), strict=True)
    ):
        given = json.dumps({"command": ["bash", "-lc", line], "workdir": ROOT})
        output = json.dumps({"output": printed, "metadata": {"exit_code": 0}})
        for item in (
            {"type": "function_call", "name": "shell", "call_id": f"k{at}", "arguments": given},
            {"type": "function_call_output", "call_id": f"k{at}", "output": output},
        ):
            stamp = f"2026-10-01T10:00:{at:02}Z"
            records.append({"type": "response_item", "timestamp": stamp, "payload": item})
    with Hardwon(home) as memory:
        memory.harvest([write_lines(tmp_path / "rollout.jsonl", records)])
        (found,) = memory.blame("src/a.py", project="reef")
        assert (found.uses, found.commit) == ({"edit": 1}, "abcdef1")
        (found,) = memory.blame("src/b.py", project="reef")
        assert (found.uses, found.commit) == ({"delete": 1}, ""), "nothing says that it was committed"
        assert [one.path for one in memory.map("reef").files] == ["src/a.py"]
        (attempt,) = memory.journal.list()
        assert set(attempt.files) == {"src/a.py", "src/b.py"}


def test_who_means_a_sub_agent_resumes_the_session_that_started_it(home: Path, tmp_path: Path) -> None:
    def records(**more: object) -> list[dict[str, object]]:
        said = {"role": "user", "content": "look at the tide"}
        return [{"type": "user", "uuid": "u", "sessionId": "one", "cwd": ROOT, "message": said, **more}]

    folder = tmp_path / "one" / "subagents"
    folder.mkdir(parents=True)
    files = [
        write_lines(tmp_path / "one.jsonl", records()),
        write_lines(folder / "agent-a1.jsonl", records(isSidechain=True, agentId="a1")),
    ]
    with Hardwon(home) as memory:
        memory.harvest(files)
        (agent,) = memory.reading().query("SELECT id FROM session WHERE subagent <> ''")
        assert memory.resume(agent[0]).command == "claude --resume one"


def test_the_commands_say_it_in_80_columns_and_in_json(memory: Hardwon, hardwon: Run, tmp_path: Path) -> None:
    memory.close()
    shown = on_a_terminal("map", "reef", "--task", "the tide table", columns=80)
    assert max(map(len, shown.splitlines())) <= 80
    assert "src/tide/table.py" in shown
    found = json.loads(hardwon("map", "--project", "reef", "--task", "the tide table", "--limit", "3", "--json").stdout)
    assert set(found) == {"files", "commands", "tokens"}
    assert [set(one) for one in found["files"]] == [{"path", "score", "why", "last"}] * 3
    assert set(found["commands"][0]) == {"command", "score", "why", "last"}
    assert found["tokens"] > 0
    how = hardwon("how", "test", "--project", "reef").stdout
    assert "make test" in how
    assert re.match(r"Of the newest 12 sessions that .*, what fits best first; … stands for words that differ:\n", how)
    (known,) = json.loads(hardwon("how", "test", "--project", "reef", "--json").stdout)
    ran = hardwon("how", "make test", "--project", "reef").stdout
    assert len(known["passed"]) == 12
    assert all(id[:9] in ran for id in known["passed"])
    assert "hardwon how 'make test'" in hardwon("why", "make test").stderr
    assert "hardwon how -p reef test" in hardwon("how", "-p", "reef").stdout
    assert "case 9" in hardwon("blame", "src/tide/table.py", "--project", "reef").stdout
    assert hardwon("resume", "s9").stdout == "cd /srv/work/reef && claude --resume s9\n"
    hardwon("map", "reef", "--svg", str(tmp_path / "reef.svg"))
    assert re.match(r"<svg [^>]*>.*src/tide.*</svg>$", (tmp_path / "reef.svg").read_text(), re.DOTALL)


def test_what_is_forgotten_leaves_the_map(memory: Hardwon, home: Path) -> None:
    memory.store.forget(text="table.py")
    project = memory.store.projects()[0].id
    drawn = from_rows(*read.drawn_map(read.connect(str(home / "hardwon.db")), project))
    assert "src/tide/table.py" not in {file.path for file in drawn.files}
    assert "src/tide/table.py" not in {one.path for one in memory.map("reef", limit=200).files}


@pytest.mark.parametrize(
    ("forgotten", "told_on"),
    [({"text": "table.py"}, True), ({"text": "the tide table"}, False), ({"session": "s0"}, False)],
)
def test_a_hook_tells_nothing_of_a_forgotten_session_and_the_rest_at_once_or_with_the_next_upkeep(
    memory: Hardwon, home: Path, forgotten: dict[str, str], told_on: bool
) -> None:
    """A map counts sessions by their place: without one of them it waits for whoever writes next."""

    def told(session: str, task: str) -> str:
        said = {"session_id": session, "cwd": ROOT, "prompt": f"Again {task} in May"}
        return hook("prompt", said).stdout

    tide, photo, _ = TOPICS
    memory.store.forget(**forgotten)
    assert ("`src/photo/upload.py`" in told("a", photo)) is told_on
    assert "table.py" not in told("b", tide)
    memory.refresh_standing()
    assert "`src/photo/upload.py`" in told("c", photo)
    memory.close()
    assert memory.writing().query("SELECT count(*), max(error) FROM hook_run") == [(3, "")]


def _git(folder: Path, *arguments: str) -> None:
    line = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(folder), *arguments]
    subprocess.run(line, check=True, capture_output=True)


def test_what_git_renamed_and_what_is_gone_or_huge_is_known_where_the_repository_is_at_hand(
    home: Path, tmp_path: Path
) -> None:
    root = tmp_path / "reef"
    files = ("src/tide.py", "src/gone.py", "data/huge.json", "src/stays.py")
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(f"{file} holds enough words to be known again\n" * 9)
    _git(tmp_path, "init", "-q", str(root))
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "first")
    written = []
    for day in range(1, 5):
        session = ClaudeSession(f"s{day}", cwd=str(root), day=day).user("mend the tide")
        for file in files:
            session.edit(f"{root}/{file}", f"x = {day}")
        written.append(session.write(tmp_path / "logs"))
    for old, new in (("src/tide.py", "src/flood.py"), ("src/flood.py", "src/ebb.py")):
        _git(root, "mv", old, new)
        _git(root, "commit", "-qm", "rename")
    _git(root, "rm", "-q", "src/gone.py")
    (root / "data/huge.json").write_text("x" * 1_100_000)
    with Hardwon(home) as memory:
        memory.harvest(written)
        found = memory.map(str(root), task="mend the tide", limit=100)
        assert {one.path for one in found.files} == {"src/ebb.py", "src/stays.py"}
        assert all("edited in 4 of 4 sessions" in one.why for one in found.files)
        known = from_rows(*read.drawn_map(read.connect(str(home / "hardwon.db")), memory.store.projects()[0].id))
        assert {file.path for file in known.files} == {"src/ebb.py", "src/stays.py"}, "prepared before a hook asks"


def test_another_checkout_that_has_none_of_the_files_tells_nothing(home: Path, tmp_path: Path) -> None:
    (tmp_path / "reef").mkdir()
    written = [
        ClaudeSession(f"s{day}", cwd=str(tmp_path / "reef"), day=day)
        .user("tide").edit(f"{tmp_path}/reef/src/tide.py", "x").write(tmp_path / "logs")
        for day in (1, 2)
    ]  # fmt: skip
    with Hardwon(home) as memory:
        memory.harvest(written)
        assert [one.path for one in memory.map(str(tmp_path / "reef")).files] == ["src/tide.py"]


def test_a_file_is_found_by_words_that_stood_in_it_and_they_cannot_be_read_in_the_store(
    home: Path, tmp_path: Path
) -> None:
    content = {"src/a.py": "def zanzibar_quota(): ...", "src/b.py": "class WalrusLedger: ...", "src/c.py": "x = 1"}
    written = []
    for day in range(1, 7):
        session = ClaudeSession(f"s{day}", day=day).user("go on with the work")
        for file, text in content.items():
            session.call("Read", {"file_path": f"{ROOT}/{file}"}, text).edit(f"{ROOT}/{file}", f"y = {day}")
        written.append(session.write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(written)
        assert memory.map("reef", task="the walrus ledger is wrong").files[0].path == "src/b.py"
        assert memory.map("reef", task="raise the zanzibar quota").files[0].path == "src/a.py"
        db = memory.reading()
        assert not db.query("SELECT 1 FROM touched WHERE symbols LIKE '%walrus%'")
        assert db.query("SELECT 1 FROM touched WHERE symbols <> ''")


def test_a_companion_is_named_by_its_whole_path(home: Path, tmp_path: Path) -> None:
    written = []
    for number in range(12):
        side = ("north", "south")[number % 2]
        session = ClaudeSession(f"s{number}", day=number + 1).user("go on with the work")
        session.edit(f"{ROOT}/src/{side}/provider.py", f"x = {number}").edit(f"{ROOT}/src/{side}/gate.py", "x")
        written.append(session.write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(written)
        why = {one.path: one.why for one in memory.map("reef", task="mend the provider").files}
    assert why["src/north/gate.py"].startswith("touched in 6 of 6 sessions with src/north/provider.py")
    assert why["src/south/gate.py"].startswith("touched in 6 of 6 sessions with src/south/provider.py")


def test_for_a_task_the_map_tells_its_checks_and_the_few_commands_that_have_to_do_with_it(
    home: Path, tmp_path: Path
) -> None:
    written = []
    for day in range(1, 9):
        about = "publish the package" if day in (3, 6) else f"mend the reader, case {day}"
        session = ClaudeSession(f"s{day}", day=day).user(about).edit("/srv/work/reef/src/tide.py", "x")
        session.run("pytest", "ok").run("git add -A && git commit -m x && git push", "ok").run("tide sync", "ok")
        if day in (3, 6):
            session.run("bun scripts/upload.ts", "ok")
        written.append(session.write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(written)
        found = [one.command for one in memory.map("reef", task="publish to npm").commands]
        assert found == ["bun scripts/upload.ts", "pytest"], "what ran for tasks like it, and how it is checked"
        assert [one.command for one in memory.map("reef", task="push the branch").commands] == ["git push", "pytest"]
        told = memory.bootstrap("reef", task="mend the reader of the tide").text
        assert "- checked with `pytest`" in told
        assert len(memory.map("reef").commands) > 4, "without a task all of them"


def test_a_file_whose_name_the_task_spells_out_is_told(home: Path, tmp_path: Path) -> None:
    written = []
    for day in range(1, 12):
        session = ClaudeSession(f"s{day}", day=day).user(f"case {day}")
        for name in ("Tide", "Shoal", "Reef", "Coral", "Kelp"):
            session.edit(f"/srv/work/reef/src/{name}.cs", "x")
        if day == 2:
            session.edit("/srv/work/reef/src/BatchProcessor.cs", "x")
        written.append(session.run("dotnet test", "ok").write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(written)
        told = memory.bootstrap("reef", task="fix the failing batch processor").text
    assert '- `src/BatchProcessor.cs`: its name has "batch"' in told


def test_a_task_in_a_script_without_spaces_is_led_to_the_files_that_tasks_like_it_needed(
    home: Path, tmp_path: Path
) -> None:
    tasks = {"请帮我编写测试案例": "src/tide.py", "修复样式的错误": "src/reef.css", "更新一下依赖": "pyproject.toml"}
    written = []
    for day in range(1, 13):
        task, file = list(tasks.items())[day % len(tasks)]
        written.append(ClaudeSession(f"s{day}", day=day).user(task).edit(f"{ROOT}/{file}", "x").write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(written)
        (first, *others) = memory.map("reef", task="我想要更多的测试案例").files
        assert (first.path, first.why.partition(",")[0]) == (
            "src/tide.py",
            'edited in 4 of 4 sessions about "测试案例"',
        )
        assert not any("about" in one.why for one in others)
        (first, *_) = memory.map("reef", task="修改src/reef.css的颜色").files
        assert (first.path, first.why.partition(",")[0]) == ("src/reef.css", "named in the task")


def test_how_to_run_something_is_not_every_command_with_run_in_it(home: Path, tmp_path: Path) -> None:
    written = [
        ClaudeSession(f"s{day}", day=day).user("go on").run("go test ./...", "ok").run("golangci-lint run", "ok")
        .run("go run .", "ok").write(tmp_path)
        for day in (1, 2, 3)
    ]  # fmt: skip
    with Hardwon(home) as memory:
        memory.harvest(written)
        assert [one.command for one in memory.how("run the tests", project="reef")] == ["go test ./..."]
        assert {one.command for one in memory.how("run", project="reef")} == {"go run .", "golangci-lint run"}
        start = at_start(known_of(memory.reading(), memory.store.projects()[0].id))
        assert any(line.startswith("run: `go run .`") for line in start)


def test_how_counts_a_command_as_the_map_does(home: Path, tmp_path: Path) -> None:
    """Also where output had named it, and where a session ran it in several forms."""
    written = []
    for day in range(1, 7):
        session = ClaudeSession(f"s{day}", day=day).user("go on")
        if day % 2:
            session.call("Read", {"file_path": f"{ROOT}/README.md"}, "Run `go test ./...` first.")
        session.run("go test ./tide", "ok").run("go test ./...", "ok")
        written.append(session.run("make tides", "ok" if day > 2 else "no", exit_code=int(day < 3)).write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(written)
        drawn = {one.command: one.why for one in memory.map("reef").commands}
        asked = {one.command: one.why for one in memory.how("", project="reef")}
    assert set(drawn) == {"go test ./...", "make tides"}
    assert asked == drawn


def test_how_counts_the_whole_where_it_tells_the_whole(home: Path, tmp_path: Path) -> None:
    ran = ["go vet ./...", "go vet ./...", "go vet ./tide", "go vet -vettool=low ./...", "go vet ./sea"]
    printed = ["", "", "", "", "sea/a.go:3:1: unreachable code"]
    for number, (line, said) in enumerate(zip(ran, printed, strict=True)):
        session = ClaudeSession(f"s-{number}", cwd="/srv/work/reef").user("Fix it")
        session.run(line, said, exit_code=int(bool(said))).write(tmp_path)
    with Hardwon(home) as memory:
        memory.harvest([tmp_path], mine=True)
        (project,) = (row[0] for row in memory.reading().query("SELECT id FROM project"))
        (vet,) = known_of(memory.reading(), project).commands
    assert (vet.text, len(vet.worked), len(vet.failed)) == ("go vet ./...", 2, 0)


def test_a_command_is_told_with_the_runner_that_finds_it(home: Path, tmp_path: Path) -> None:
    written = []
    for day in (1, 2, 3):
        session = ClaudeSession(f"s{day}", day=day).user("go on")
        session.run(f"uv run pytest tests/test_{day}.py", "ok").run(f"npx -y markdownlint-cli2 docs/{day}.md", "ok")
        session.run(f"cd web && npx vitest run src/{day}.test.ts", "ok").run("git push", "ok")
        written.append(session.run("markdownlint-cli2 .", "command not found", exit_code=127).write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(written)
        told = [one.command for one in memory.how("", project="reef")]
    assert set(told) >= {"uv run pytest …", "npx -y markdownlint-cli2 …"}
    assert told[-1] == "git push", "what is run everywhere comes last"
    assert not {"pytest", "markdownlint-cli2"}.intersection(told)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["go test ./...", "go test ./... -v", "go test ./tide", "go test ./reef", "go test ./a"], "go test ./..."),
        (["go test", "go test ./tide", "go test ./shell"], "go test"),
        (["zorb reef -v", "zorb reef --fast", "zorb reef --slow"], "zorb reef"),
        (["mypy src --strict", "mypy src -v", "mypy --pretty src"], "mypy src"),
        ([f"mypy --config a.ini src/{name}.py" for name in "abc"], "mypy …"),
        (["go test ./tide", "go test ./shell", "go test ./reef"], "go test …"),
        (["git add .", "git add src"], "git add …"),
        (["bun add zod", "bun add ky"], "bun add …"),
        (["git pull", "git pull"], "git pull"),
    ],
)
def test_a_command_is_told_with_what_nearly_all_its_runs_had_and_never_bare_where_none_was(
    lines: list[str], told: str, home: Path, tmp_path: Path
) -> None:
    sessions = [ClaudeSession(f"s{day}", day=day).user("go on").run(line, "ok") for day, line in enumerate(lines, 1)]
    with Hardwon(home) as memory:
        memory.harvest([one.write(tmp_path) for one in sessions])
        assert [one.command for one in memory.map("reef").commands] == [told]


def test_how_tells_what_worked_once_and_never_what_failed(home: Path, tmp_path: Path) -> None:
    session = ClaudeSession("s", day=1).user("go on").run("make once", "ok").run("make test", "no", exit_code=2)
    with Hardwon(home) as memory:
        memory.harvest([session.run("\\t\\t\\t", "ok").write(tmp_path)])
        assert [one.command for one in memory.how("", project="reef")] == ["make once"]


def test_blame_and_why_tell_the_same_of_a_session(home: Path, tmp_path: Path) -> None:
    session = ClaudeSession("s", day=1).user("mend the tide table").edit(f"{ROOT}/a.py", "x").run("make test", "ok")
    session.user("now the harbour").edit(f"{ROOT}/b.py", "x").run("make test", "FAILED", exit_code=1)
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path)])
        for path in ("a.py", "b.py"):
            (found,) = memory.blame(path, project="reef")
            assert found.outcome == memory.sessions.get(found.session).session.outcome


def test_a_session_starts_with_what_the_last_one_left_failing(home: Path, tmp_path: Path) -> None:
    written = history(tmp_path)
    last = ClaudeSession("last", month=11, day=1).user("the tide table").edit(f"{ROOT}/src/tide/table.py", "x")
    written.append(last.run("make lint", "ok").run("make test", "FAILED", exit_code=1).write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(written)
        known = known_of(memory.reading(), memory.store.projects()[0].id)
        day, ended = 24 * 3600 * 1_000_000, known.visits[-1].at
        start = at_start(known, ended + 29 * day)
        assert any("left `make test` failing, having edited `src/tide/table.py`" in line for line in start)
        assert not any("failing" in line for line in at_start(known, ended + 31 * day)), "it is stale after a month"
        assert estimate("\n".join((HOW_IT_IS_RUN, *(f"- {line}" for line in start)))) <= START_TOKENS
        mended = ClaudeSession("mended", month=11, day=2).user("mend it").run("make test", "FAILED", exit_code=1)
        memory.harvest([mended.run("make test", "ok").write(tmp_path)])
        start = at_start(known_of(memory.reading(), memory.store.projects()[0].id), ended + 2 * day)
        assert not any("failing" in line for line in start)


def test_no_surface_tells_another_projects_path_a_secret_or_what_only_output_named(home: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "".join(random.Random(8).choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789", k=36))
    written = history(tmp_path)
    for day in range(1, 6):
        session = ClaudeSession(f"x{day}", month=11, day=day).user("the tide table shows wrong hours")
        session.call("Read", {"file_path": "/srv/work/shoal/src/theirs.py"}, "x")
        session.call("Grep", {"pattern": "tide"}, "src/tide/only_printed.py:1: tide table")
        session.call("Read", {"file_path": f"{ROOT}/keys/{secret}.py"}, "x")
        session.run("cat $HIDDEN/tide/table.py", "x")
        written.append(session.edit(f"{ROOT}/src/tide/table.py", f"x = {day}").write(tmp_path))
    task = "Again the tide table shows wrong hours"
    with Hardwon(home) as memory:
        memory.harvest(written)
        told = [
            str(memory.map("reef", task=task, limit=200)),
            str(memory.map("reef", limit=200)),
            memory.picture("reef"),
            memory.bootstrap("reef").text,
            memory.bootstrap("reef", task=task).text,
            hook("prompt", {"session_id": "new", "cwd": ROOT, "prompt": task}).stdout,
            hook("session-start", {"session_id": "new", "cwd": ROOT}).stdout,
        ]
    assert all("tide" in text or "make test" in text for text in told), "each surface tells something"
    for text in told:
        for hidden in ("theirs", "shoal", "only_printed", "never/opened", secret, "HIDDEN"):
            assert hidden not in text
