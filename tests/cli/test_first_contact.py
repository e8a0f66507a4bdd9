"""What a newcomer types and expects: several words, the end of a path, what to do next, in plain words."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.cli import extras, why
from hardwon.harvest.rules.catalogue import RULES
from hardwon.model.lesson import DISTILLED, STATUSES
from tests.conftest import EXAMPLES, ClaudeSession, Run
from tests.sessions.test_specstory_layouts import HEAD, turn
from tests.terminal import on_a_terminal

MISSING = "ModuleNotFoundError: No module named 'asyncpg'"


@pytest.fixture
def learned(hardwon: Run) -> Run:
    assert hardwon("harvest", "--mine", EXAMPLES).returncode == 0
    return hardwon


def a_lesson(run: Run, text: str) -> str:
    """The id of a new lesson that holds everywhere."""
    return run("remember", text, "--global").stdout.split()[0]


# Words.


@pytest.mark.parametrize("command", ["search", "map -p tidepool", "how -p tidepool"])
def test_several_words_need_no_quotes(learned: Run, command: str) -> None:
    apart = learned(*command.split(), "run", "tests")
    assert (apart.returncode, apart.stdout) == (0, learned(*command.split(), "run tests").stdout)
    assert apart.stdout


def test_help_and_version_can_be_asked_for_as_other_programs_have_it(hardwon: Run) -> None:
    assert hardwon("help").stdout == hardwon("--help").stdout
    assert hardwon("help", "search").stdout == hardwon("search", "--help").stdout
    assert hardwon("version").stdout == hardwon("--version").stdout


def test_the_name_alone_shows_a_screen_and_help_shows_all(hardwon: Run) -> None:
    alone = hardwon()
    assert alone.returncode == 2
    assert len(alone.stderr.splitlines()) < 23
    assert "hardwon help all" in alone.stderr
    assert "rules" in alone.stderr
    everything = hardwon("--help")
    assert everything.returncode == 0
    assert "List the rules that find lessons in sessions." in everything.stdout
    for columns, lines in ((80, 24), (100, 30), (200, 50)):
        seen = on_a_terminal("--help", columns=columns, lines=lines).rstrip()
        assert len(seen.split("\n")) < lines
        assert seen.endswith("Start with `hardwon up`."), "what is surely seen"
        assert "reindex" in seen
        assert ("List the rules that find" in seen) == (columns == 200)
        assert on_a_terminal("help", "all", columns=columns).rstrip().endswith("Start with `hardwon up`.")


@pytest.mark.parametrize(
    ("given", "said"),
    [("failures --limit x", "'x' is not a whole number."), ("failures --limit 0", "0 is too low: at least 1."),
     ("how --limit 900", "900 is not between 1 and 200.")],
)  # fmt: skip
def test_a_number_that_is_none_is_said_in_plain_words(hardwon: Run, given: str, said: str) -> None:
    done = hardwon(*given.split())
    assert done.returncode == 2
    assert said in done.stderr


def test_a_setting_typed_wrong_is_said_once(hardwon: Run) -> None:
    done = hardwon("config", "experimnt", "on")
    assert (done.returncode, done.stderr) == (1, "hardwon: unknown setting 'experimnt'; did you mean 'experiment'?\n")


def test_installing_for_nobody_says_who_is_here_and_who_could_be(hardwon: Run, tmp_path: Path) -> None:
    none = hardwon("install")
    assert (none.returncode, none.stdout) == (1, "")
    assert "name an agent, as in `hardwon install claude-code` (known: claude-code, codex" in none.stderr
    (tmp_path / "user" / ".codex").mkdir()
    some = hardwon("install").stderr
    assert "`hardwon install codex` (found here: codex; also known: claude-code, gemini" in some


def test_a_question_breaks_between_words(learned: Run, home: Path) -> None:
    seen = on_a_terminal("uninstall", "--all", "--purge", typed="n\n", columns=len(str(home)) + 30)
    assert " and\neverything Hardwon has learned? [y/N]:" in seen
    assert home.exists()


# Lessons.


def test_where_a_line_is_seen_it_is_said_how_to_drop_it(learned: Run) -> None:
    id = a_lesson(learned, "Releases are cut on Mondays.")
    assert f"Wrong? `hardwon review --reject {id}`" in learned("why", id).stdout
    assert "Wrong? `hardwon review --reject ID`" in learned("lessons").stdout
    learned("review", "--reject", id)
    assert "Wrong?" not in learned("why", id).stdout
    rejected = learned("lessons", "--status", "rejected")
    assert rejected.stdout == learned("lessons", "--status", "invalid").stdout
    assert id in rejected.stdout


def test_lessons_fit_the_screen_and_say_how_many_are_left(hardwon: Run) -> None:
    for number in range(30):
        a_lesson(hardwon, f"Gauge {number} of the reef is read at noon, since its clock is wrong in the morning.")
    screen = on_a_terminal("lessons", lines=24).rstrip().split("\n")
    assert 10 < len(screen) <= 21, "what is said below it has room, too"
    assert screen[0].startswith("ID")
    assert hardwon("lessons").stdout.count("Gauge ") == 30, "a pipe gets all"
    assert len(json.loads(hardwon("lessons", "--json").stdout)) == 30
    some = hardwon("lessons", "--limit", "4")
    assert some.stdout.count("Gauge ") == 4
    assert "26 more: `hardwon lessons --limit 30`" in some.stdout


def test_what_waits_for_review_is_called_so(hardwon: Run) -> None:
    hardwon("remember", "Gauges are read at noon.", "--global", "--candidate")
    listed = hardwon("lessons").stdout
    assert "Gauges are read at noon. (waits for review)" in listed


def test_a_lesson_that_is_there_already_is_said_to_be(hardwon: Run) -> None:
    first, second = (hardwon("remember", "Gauges are read at noon.", "--global").stdout for _ in range(2))
    id = first.split()[0]
    assert first == f"{id} active everywhere\n"
    assert second == f"{id} was known already: active everywhere\n"


def test_without_a_store_lessons_answer_as_other_commands_do(hardwon: Run) -> None:
    other = hardwon("failures")
    assert "run `hardwon up` first" in other.stderr
    asked = hardwon("lessons")
    assert (asked.returncode, asked.stdout, asked.stderr) == (other.returncode, "", other.stderr)
    assert hardwon("lessons", "--json").stdout == "[]\n"


def test_why_says_in_plain_words_what_a_lesson_was_learned_from(learned: Run) -> None:
    found = json.loads(learned("lessons", "--json").stdout)
    drawn = next(one for one in found if one["rule"] == "fixed-by-command")
    said = learned("why", drawn["id"]).stdout
    assert "learned from: a command that failed and then worked" in said
    assert "hardwon inspect SESSION --message NUMBER" in said
    assert f"`hardwon why {drawn['failure'][:9]}" in said
    assert "measured" not in said
    assert "fixed-by-command" not in said


def test_what_an_agent_said_stays_an_agents_words_when_a_person_approves(hardwon: Run, tmp_path: Path) -> None:
    decided = "Use `postgres` for the cache of the gauges in the northern reef, because other stations read it as well."
    ClaudeSession("claims", day=9).user("plan").says(f"## Decisions\n- {decided}").write(tmp_path / "l")
    hardwon("harvest", tmp_path / "l")
    (claimed,) = json.loads(hardwon("lessons", "--json").stdout)
    assert "an agent's words on what was decided (" in hardwon("why", claimed["id"]).stdout
    hardwon("review", "--promote", claimed["id"])
    assert "an agent's words on what was decided (approved by a person)" in hardwon("why", claimed["id"]).stdout


def test_what_a_tool_answered_is_told_as_its_answer_and_not_as_the_agents_words(hardwon: Run, tmp_path: Path) -> None:
    for day in (1, 2):
        session = ClaudeSession(f"s{day}", day=day)
        session.run("pytest -q", "ModuleNotFoundError: No module named 'asyncpg'", exit_code=1)
        session.run("uv sync --extra postgres", "ok").run("pytest -q", "ok").write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    (lesson,) = json.loads(hardwon("lessons", "--json").stdout)
    told = hardwon("why", lesson["id"]).stdout
    assert "the tool answered: ModuleNotFoundError: No module named 'asyncpg'" in told
    assert "repeated" not in told


def test_every_rule_and_status_has_plain_words() -> None:
    assert {rule.name for rule in RULES} | {DISTILLED, "remember"} == set(why.LEARNED_FROM)
    assert set(why._STATUSES) == set(STATUSES)


# Files.


@pytest.fixture
def visited(hardwon: Run, tmp_path: Path) -> Run:
    for day in range(1, 13):
        session = ClaudeSession(f"s{day}", day=day).user("mend the reef").edit("/srv/work/reef/src/ui/Tide.tsx", "a")
        if day == 1:
            session.edit("/srv/work/reef/src/ui/index.ts", "a").edit("/srv/work/reef/src/api/index.ts", "a")
        session.run("make check", "ok").write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    return hardwon


def test_blame_finds_a_file_by_the_end_of_its_path(visited: Run) -> None:
    whole = visited("blame", "src/ui/Tide.tsx", "-p", "reef").stdout
    assert "mend the reef" in whole
    for end in ("Tide.tsx", "ui/Tide.tsx"):
        found = visited("blame", end, "-p", "reef")
        assert found.stdout == f"src/ui/Tide.tsx:\n{whole}"
    missed = visited("blame", "Tiide.tsx", "-p", "reef").stdout
    assert missed == "No session is known to have touched Tiide.tsx. Called nearly so: src/ui/Tide.tsx.\n"


def test_blame_lists_the_files_where_several_end_so(visited: Run) -> None:
    done = visited("blame", "index.ts", "-p", "reef")
    assert (done.returncode, done.stdout) == (1, "")
    assert "2 files are called so. Which?\n  src/api/index.ts\n  src/ui/index.ts" in done.stderr


def test_the_map_leaves_out_what_one_session_of_many_went_to(visited: Run) -> None:
    said = visited("map", "-p", "reef").stdout
    assert "src/ui/Tide.tsx" in said
    assert "index.ts" not in said
    assert "index.ts" in visited("map", "-p", "reef", "--limit", "10").stdout
    whole = json.loads(visited("map", "-p", "reef", "--json").stdout)
    assert {one["path"] for one in whole["files"]} >= {"src/ui/index.ts", "src/api/index.ts"}


def test_the_map_says_when_nothing_speaks_of_the_task(visited: Run) -> None:
    unknown = 'No session here was about "brew coffee". For any task:\n'
    anything = visited("map", "-p", "reef").stdout
    assert visited("map", "brew coffee", "-p", "reef").stdout == unknown + anything
    assert "lately counts more than often" in anything
    unknown = "No session here was about"
    assert unknown not in visited("map", "mend Tide.tsx", "-p", "reef").stdout
    assert unknown not in visited("map", "-p", "reef").stdout


def test_where_all_was_visited_once_the_map_still_tells_it(hardwon: Run, tmp_path: Path) -> None:
    for day in range(1, 13):
        ClaudeSession(f"s{day}", day=day).edit(f"/srv/work/reef/src/g{day}.py", "a").write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    assert "src/g12.py" in hardwon("map", "-p", "reef").stdout


# Extras.


def installing(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(extras, "_installer", lambda: [sys.executable, "-c", program])


def test_an_extra_is_installed_quietly_and_says_what_can_be_done_now(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    installing(monkeypatch, "print('Collecting litestar')")
    extras.add("serve")
    said = capfd.readouterr()
    assert said.out == "Installed serve. Now: `hardwon open`\n"
    assert re.fullmatch(r"installing serve: \d+ packages and what they need; this can take minutes\n", said.err)


def test_where_an_extra_cannot_be_installed_all_that_was_said_is_shown(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    installing(monkeypatch, "import sys; print('Collecting litestar'); sys.exit('no such host')")
    with pytest.raises(extras.HardwonError, match="see the output above"):
        extras.add("serve")
    said = capfd.readouterr()
    assert said.out == ""
    assert "Collecting litestar" in said.err
    assert "no such host" in said.err


def test_a_lesson_that_the_repository_itself_tells_is_said_to_be_left_out(
    tmp_path: Path, hardwon: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "reef"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "CLAUDE.md").write_text("Always run `make check` before committing.\n")
    monkeypatch.chdir(repository)
    said = hardwon("remember", "Run make check before committing").stdout
    assert said.rstrip().endswith("active in reef, but not told: stands in CLAUDE.md")
    assert "not told at the start of a session: stands in CLAUDE.md" in hardwon("why", said.split()[0]).stdout


def test_a_lesson_for_a_project_that_is_not_known_is_refused_and_makes_none(learned: Run) -> None:
    before = learned("projects", "--json").stdout
    done = learned("remember", "Releases are cut on Mondays.", "--project", "tidepol")
    assert done.returncode == 1
    assert "no project 'tidepol'; choose one of" in done.stderr
    assert learned("projects", "--json").stdout == before


def test_what_is_rejected_is_told_by_nobody_and_undone_as_one(learned: Run) -> None:
    drawn = next(
        one
        for one in json.loads(learned("lessons", "--json").stdout)
        if one["rule"] == "fixed-by-command" and one["status"] == "active"
    )

    def fixes() -> list[str]:
        found = json.loads(learned("failures", "--limit", "99", "--json").stdout)
        return [fix["text"] for one in found if one["id"] == drawn["failure"] for fix in one["fixes"]]

    before = fixes()
    said = learned("review", "--reject", drawn["id"][:9]).stdout
    assert len(fixes()) == len(before) - 1
    learned("undo", said.rpartition("hardwon undo ")[2].strip("`\n"))
    assert fixes() == before
    status = next(one["status"] for one in json.loads(learned("lessons", "--json").stdout) if one["id"] == drawn["id"])
    assert status == "active"


def test_why_says_how_to_drop_a_fix_and_inspect_takes_the_session_that_it_names(learned: Run) -> None:
    found = json.loads(learned("failures", "--limit", "99", "--json").stdout)
    fixed = next(one for one in found if any(fix["status"] == "active" for fix in one["fixes"]))
    said = " ".join(learned("why", fixed["id"]).stdout.split())
    assert re.search(r"wrong\? `hardwon review --reject X\w{8}`", said)
    place = re.search(r"failed (S\w{8}) message (\d+): ", said)
    assert place
    shown = learned("inspect", place[1], "--message", place[2]).stdout
    assert shown.startswith(f"message {place[2]} of ")
    assert "no such file" in learned("inspect", "Sabcdefgh").stderr


def test_inspect_and_why_take_the_id_that_inspect_itself_prints(hardwon: Run, tmp_path: Path) -> None:
    log = ClaudeSession("f14fdf7d-05ad-45e0-b7ed-78c935442e2d").user("Look.").run("ls", "a").write(tmp_path)
    assert hardwon("harvest", "--mine", log).returncode == 0
    printed = hardwon("inspect", log).stdout.partition("session ")[2].split()[0]
    assert hardwon("inspect", printed).stdout.splitlines()[:-1] == hardwon("inspect", log).stdout.splitlines()[:-1]
    assert (
        hardwon("why", printed).stdout
        == hardwon("why", json.loads(hardwon("resume", printed, "--json").stdout)["session"]).stdout
    )
    assert hardwon("inspect", "f14fdf7d-05ad-45e0-b7ed-nobody").stderr.startswith("hardwon: no such file or session")


def test_a_sub_agent_is_named_as_inspect_prints_it(learned: Run) -> None:
    with Hardwon() as memory:
        ((id, own, lane),) = memory.reading().query(
            "SELECT id, external_id, subagent FROM session WHERE subagent <> '' ORDER BY id LIMIT 1"
        )
    assert json.loads(learned("why", f"{own}/{lane}", "--json").stdout)["id"] == id
    assert f"session {own}/{lane}\n" in learned("inspect", f"{own}/{lane}").stdout


@pytest.mark.parametrize("verb", ["reject", "approve"])
def test_who_decides_on_a_failure_is_told_how_to_decide_on_its_fix(verb: str, learned: Run) -> None:
    found = json.loads(learned("failures", "--limit", "99", "--json").stdout)
    fixed = next(one for one in found if any(fix["status"] == "active" for fix in one["fixes"]))
    refused = learned("review", f"--{verb}", fixed["id"])
    assert refused.returncode == 1
    assert (
        f"is a failure; to {verb} its fix: `hardwon review --{verb} {fixed['fixes'][0]['id'][:9]}` (" in refused.stderr
    )
    without = next(one for one in found if not one["fixes"])
    way = "has no fix" if verb == "approve" else "`hardwon failures mute F"
    assert way in learned("review", f"--{verb}", without["id"]).stderr


def test_undo_alone_says_what_the_last_change_was(learned: Run) -> None:
    assert "nothing was changed by hand" in learned("undo").stderr
    added = learned("remember", "Moor the gauge boat at the northern pier.", "-p", "tidepool").stdout.split()[0]
    assert re.search(rf"the last one was \w+ {added}, `hardwon undo \d+`", " ".join(learned("undo").stderr.split()))


def test_a_folder_called_like_a_file_is_not_made(hardwon: Run, tmp_path: Path) -> None:
    done = hardwon("export", tmp_path / "all.jsonl")
    assert (done.returncode, (tmp_path / "all.jsonl").exists()) == (1, False)
    assert "hardwon export --jsonl" in done.stderr


def test_an_error_can_be_given_as_words_and_a_session_has_no_changes(learned: Run) -> None:
    as_words = learned("failures", "match", "ModuleNotFoundError: No module named 'asyncpg'").stdout
    assert as_words.startswith("ModuleNotFoundError")
    assert "no such file" in learned("failures", "match", "nowhere.log").stderr
    session = json.loads(learned("why", "F9b806165", "--json").stdout)["seen"][0]["session"]
    assert learned("history", session[:9]).stdout == "No changes are recorded.\n"
    several = learned("why", "F").stderr
    assert "several ids begin with 'F'" in several
    for one in json.loads(learned("failures", "--json").stdout):
        assert one["id"][:9] not in several or one["error"] in several, "each with its words"


def test_hints_of_lessons_repeat_what_was_asked_for(learned: Run) -> None:
    said = learned("lessons", "-p", "tidepool", "--limit", "1").stdout
    assert re.search(r"more: `hardwon lessons --project tidepool --limit \d+`", said)


def test_a_setting_goes_back_to_its_default(hardwon: Run, home: Path) -> None:
    usual = json.loads(hardwon("config", "budget", "--json").stdout)
    hardwon("config", "budget", "300")
    assert json.loads(hardwon("config", "budget", "default", "--json").stdout) == usual
    assert "budget" not in (home / "config.toml").read_text()


def test_a_rejected_fix_takes_the_lesson_along_that_tells_of_it(learned: Run) -> None:
    def active(what: str) -> set[str]:
        return {one["id"] for one in json.loads(learned(what, "--limit", "99", "--json").stdout) if usable(one)}

    def usable(one: dict[str, object]) -> bool:
        return one.get("status") == "active" and one.get("rule") == "fixed-by-command"

    drawn = next(one for one in json.loads(learned("lessons", "--json").stdout) if usable(one))
    found = json.loads(learned("failures", "--limit", "99", "--json").stdout)
    fixes = next(one["fixes"] for one in found if one["id"] == drawn["failure"])
    before = active("lessons")
    said = [learned("review", "--reject", fix["id"]).stdout for fix in fixes if fix["status"] == "active"]
    assert drawn["id"] not in active("lessons")
    for one in reversed(said):
        learned("undo", one.rpartition("hardwon undo ")[2].strip("`\n"))
    assert active("lessons") == before


def test_what_is_remembered_is_of_the_kind_that_its_words_say(learned: Run) -> None:
    rule = learned("remember", "Never moor at the northern pier.", "-p", "tidepool").stderr
    assert re.fullmatch(r"To undo: `hardwon undo L\w+`\n", rule)
    learned("remember", "The northern pier has nine bollards.", "-p", "tidepool")
    kinds = {one["text"]: one["kind"] for one in json.loads(learned("lessons", "--json").stdout)}
    assert kinds["Never moor at the northern pier."] == "preference"
    assert kinds["The northern pier has nine bollards."] == "fact"


def test_a_failure_is_shown_by_its_id_alone(learned: Run) -> None:
    assert learned("failures", "F9b806165").stdout == learned("failures", "show", "F9b806165").stdout != ""


@pytest.mark.parametrize(
    ("stopped", "said"),
    [(True, "interrupted by the user"), (False, "ended with a failed call")],
    ids=["stopped", "failed"],
)
def test_a_session_that_the_user_stopped_is_told_from_one_whose_last_call_failed(
    hardwon: Run, tmp_path: Path, stopped: bool, said: str
) -> None:
    session = ClaudeSession().user("Chart the reef.").edit("/srv/work/reef/chart.py", "depth = 9")
    if stopped:
        session.user("[Request interrupted by user]")
    else:
        session.run("make chart", "fatal: no soundings", exit_code=2)
    log = session.write(tmp_path / "logs")
    hardwon("harvest", "--mine", log)
    with Hardwon() as memory:
        ((id,),) = memory.reading().query("SELECT id FROM session")
    assert said in hardwon("why", id).stdout
    assert said in hardwon("inspect", log).stdout
    assert said.split()[0 if stopped else -1] in hardwon("blame", "chart.py", "--project", "reef").stdout


def test_where_no_session_is_found_it_says_where_it_looked_and_what_to_do(hardwon: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "empty"], check=True)
    for looked, asked in (
        ("claude-code, cline, codex", ("--all",)),
        (".specstory/history", ("--git", tmp_path / "empty")),
    ):
        said = hardwon("harvest", *asked).stdout
        assert "No session was found" in said
        assert looked in said
        assert "`hardwon harvest FOLDER`" in said
        assert "unchanged" not in said


def test_a_task_that_changes_nothing_in_the_briefing_is_said_to(learned: Run) -> None:
    usual = learned("bootstrap", "--project", "tidepool")
    for_nothing = learned("bootstrap", "--project", "tidepool", "--task", "zyzzyva")
    assert for_nothing.stdout == usual.stdout, "no agent is told so"
    assert "The task changes nothing" in for_nothing.stderr
    assert "The task changes nothing" not in usual.stderr
    for_something = learned("bootstrap", "--project", "tidepool", "--task", "the migration of the database fails")
    assert (for_something.stdout == usual.stdout) == ("The task changes nothing" in for_something.stderr)


def test_a_budget_that_is_too_small_is_not_taken_for_a_store_that_knows_nothing(learned: Run) -> None:
    said = learned("bootstrap", "--project", "tidepool", "--budget", "60")
    assert said.stdout == ""
    needs = re.fullmatch(
        r"There is something to tell, but nothing fits into 60 tokens: the shortest line needs (\d+)\.\n", said.stderr
    )
    assert needs
    assert "<hardwon-memory" in learned("bootstrap", "--project", "tidepool", "--budget", needs[1]).stdout


def test_a_word_is_no_lesson_and_one_much_like_another_says_so(learned: Run) -> None:
    said = learned("remember", "ok", "-p", "tidepool")
    assert (said.returncode, "does not stand by itself" in said.stderr) == (1, True)
    learned("remember", "Never grep in JSON output; use jq.", "-p", "tidepool")
    again = learned("remember", "Use jq, never grep, in JSON output.", "-p", "tidepool").stderr
    assert "Never grep in JSON output; use jq. Both are told" in again
    learned("remember", "Always squash the tide commits.", "-p", "tidepool")
    against = learned("remember", "Never squash the tide commits.", "-p", "tidepool").stderr
    assert "contradicts" in against
    assert "Always squash the tide commits. Neither is told until you decide; to keep the new one: `hardwon" in against
    assert "Both are told" not in against
    assert "Much like" not in learned("remember", "Moor the gauges on Mondays.", "-p", "tidepool").stderr
    kinds = {one["text"]: one["kind"] for one in json.loads(learned("lessons", "--json").stdout)}
    assert kinds["Use jq, never grep, in JSON output."] == "preference"
    learned("remember", "Run the tests from src/, never from the root.", "-p", "tidepool")
    kinds = {one["text"]: one["kind"] for one in json.loads(learned("lessons", "--json").stdout)}
    assert kinds["Run the tests from src/, never from the root."] == "preference"


def test_what_specstory_cannot_tell_is_not_taken_for_a_file_that_nobody_changed(hardwon: Run, tmp_path: Path) -> None:
    history = tmp_path / "reef" / ".specstory" / "history" / "2026-10-01_10-00-12Z-tides.md"
    history.parent.mkdir(parents=True)
    history.write_text(HEAD + turn("fix the tide table", who="User") + turn("Read file: src/tide.py"))
    hardwon("harvest", history, "--mine")
    (project,) = json.loads(hardwon("projects", "--json").stdout)
    said = hardwon("blame", "src/tide.py", "-p", project["name"])
    assert "read" in said.stdout
    assert "seldom tell what was edited" in said.stdout


def test_a_lesson_that_is_too_old_to_be_told_says_so_in_the_list(learned: Run) -> None:
    learned("remember", "The tide gauge listens on port 7007.", "-p", "tidepool")
    assert "not told" not in learned("lessons").stdout
    with Hardwon() as memory, memory.writing().transaction():
        memory.writing().execute("UPDATE lesson SET rule = 'verified-by-command', last_confirmed = 1 WHERE rule = ''")
    listed = learned("lessons").stdout
    assert re.search(r"\(not\s+told:\s+measured\s+\d+\s+\w+\s+ago\)", listed)
    *before, last = re.findall(r"^L[0-9a-f]{8}", listed, re.MULTILINE)
    assert before, "there are others"
    assert "7007" in listed.partition(last)[2], "and it comes after all that is told"


AMBIGUOUS = "MSBUILD : error MSB1011: Specify which project to use because this folder contains more than one project."


def test_a_lesson_about_a_failure_that_is_over_says_so_in_the_list_and_comes_last(hardwon: Run, tmp_path: Path) -> None:
    """The command has long passed again: what its failure taught is told no more."""
    for day in (1, 2, 3):
        session = ClaudeSession(f"s{day}", day=day).run("dotnet build", AMBIGUOUS, exit_code=1)
        session.run("dotnet build Reef.sln", "Build succeeded.").write(tmp_path / "logs")
    for day in range(4, 28):
        ClaudeSession(f"s{day}", day=day).user("go on").run("dotnet build Reef.sln", "Build succeeded.").write(
            tmp_path / "logs"
        )
    hardwon("harvest", tmp_path / "logs")
    hardwon("remember", "Releases are cut on Mondays.", "-p", "reef")
    listed = " ".join(hardwon("lessons").stdout.split())
    failure = json.loads(hardwon("failures", "--json").stdout)[0]["id"][:9]
    assert f"(not told: the failure {failure} has not come back for many sessions)" in listed
    assert listed.index("Mondays") < listed.index("not told")


# Where one is: this folder's project.


@pytest.fixture
def two_projects(hardwon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command run in the folder of the one that fails less."""
    folders = {name: tmp_path / name for name in ("reef", "shoal")}
    for name, folder in folders.items():
        folder.mkdir()
        for day in range(1, 4 if name == "reef" else 3):
            ClaudeSession(f"{name}{day}", day=day, cwd=str(folder)).user(f"mend the {name} gauge").run(
                f"tide {name}", f"fatal: no {name} gauge found", exit_code=2
            ).run("make check", "ok").write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    for name in folders:
        hardwon("remember", f"The gauge of the {name} is read at noon.", "--project", name)
    monkeypatch.chdir(folders["shoal"])
    return hardwon


@pytest.mark.parametrize("command", ["failures", "lessons", "search gauge"])
def test_a_list_is_of_this_folders_project_unless_all_are_asked_for(two_projects: Run, command: str) -> None:
    here = two_projects(*command.split())
    assert "shoal" in here.stdout
    assert "reef" not in here.stdout
    assert "Only shoal. All projects: `--everywhere`" in here.stdout
    for everything in (two_projects(*command.split(), "--everywhere"), two_projects(*command.split(), "--json")):
        assert "shoal" in everything.stdout
        assert "reef" in everything.stdout
        assert "Only shoal" not in everything.stdout
    assert "shoal gauge" not in two_projects(*command.split(), "--project", "reef").stdout


def test_what_is_proved_is_of_this_folders_project_too(two_projects: Run) -> None:
    for command in ("replay", "measure"):
        assert "Only shoal. All projects: `--everywhere`" in two_projects(command).stdout
        for all_of_it in (two_projects(command, "--everywhere"), two_projects(command, "--json")):
            assert "Only shoal" not in all_of_it.stdout
    assert json.loads(two_projects("measure", "--json").stdout)["sessions"] == 5
    assert two_projects("measure", "--everywhere").stdout.startswith("5 sessions")


def test_outside_of_a_project_a_list_is_of_all(
    two_projects: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    listed = on_a_terminal("failures")
    assert "All projects" not in listed
    assert "(reef" in listed, "each says whose it is"
    assert "(shoal" in listed


def test_up_says_why_what_keeps_failing_is_not_told(two_projects: Run) -> None:
    said = two_projects("up").stdout
    told = " is told" in said
    assert told == ("`hardwon bootstrap --left-out`" in said)
    (failure,) = [one for one in json.loads(two_projects("failures", "--json").stdout) if "shoal" in one["error"]]
    found = json.loads(two_projects("bootstrap", "--json").stdout)
    why = {one["id"]: one["reason"] for one in found["left_out"]}
    assert (failure["id"] in why) == told
    listed = two_projects("bootstrap", "--left-out")
    for id, reason in why.items():
        assert id[:9] in listed.stdout
        assert " ".join(reason.split()) in " ".join(listed.stdout.split())


def test_sessions_stay_in_the_project_where_they_are_known(
    hardwon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second checkout has the same histories; only a fuller copy is another matter, and that is said."""

    def kept() -> dict[str, int]:
        return {one["name"]: one["sessions"] for one in json.loads(hardwon("projects", "--json").stdout)}

    words = HEAD + turn("fix the tide table", who="User") + turn("Done.")
    first, *copies = (
        tmp_path / name / ".specstory" / "history" / "2026-10-01_10-00-12Z-tides.md"
        for name in ("reef", *"abcdefghijkl")
    )
    for file in (first, *copies):
        file.parent.mkdir(parents=True)
        file.write_text(f"{words}\n<!-- {file} -->\n")
    hardwon("harvest", first.parent, "--mine")
    monkeypatch.chdir(tmp_path)
    assert "SpecStory session" not in hardwon("up").stdout, "nothing new would be learned from them"
    for copy in copies:
        said = hardwon("harvest", copy.parent, "--mine").stdout
        assert said.startswith("Nothing new.\n1 session in two files: of each the fuller copy counts.")
        assert {name: number for name, number in kept().items() if number} == {"reef": 1}
    copies[0].write_text(words + turn("and the maps", who="User") + turn("Done, too."))
    assert "1 session moved to the project of the fuller copy" in hardwon("harvest", copies[0].parent, "--mine").stdout
    assert {name: number for name, number in kept().items() if number} == {"a": 1}


def test_what_lies_in_folders_below_is_offered_until_it_was_read(
    hardwon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hour, name in enumerate(("src/reef", "src/shoal", "moor"), 10):
        history = tmp_path / "user" / name / ".specstory" / "history" / f"2026-10-01_{hour}-00-12Z-tides.md"
        history.parent.mkdir(parents=True)
        head = HEAD.replace("10:00:12", f"{hour}:00:12")
        history.write_text(head + turn(f"mend the {name} gauge", who="User") + turn("Done."))
    ClaudeSession("own", cwd="/srv/work/atoll").user("look").says("ok").write(
        tmp_path / "user" / ".claude" / "projects" / "a"
    )
    monkeypatch.chdir(tmp_path / "user")
    places = "{*,*/*}/.specstory/history"
    said = " ".join(hardwon("up").stdout.split())
    assert f"hardwon harvest {places} --mine learn from 3 SpecStory sessions" in said
    assert "Read 2 new sessions" in hardwon("harvest", *map(str, Path("src").glob("*/.specstory/history"))).stdout
    assert "learn from 1 SpecStory session" in " ".join(hardwon("up").stdout.split())
    hardwon("harvest", "moor/.specstory/history")
    assert "SpecStory" not in hardwon("up").stdout


def test_up_of_a_project_without_failures_offers_no_list_of_them(hardwon: Run, tmp_path: Path) -> None:
    ClaudeSession("calm", cwd="/srv/work/calm").user("look").says("ok").write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    assert "hardwon failures" not in hardwon("up", "-p", "calm").stdout


# Slips.


@pytest.mark.parametrize("address", ["https://example.org/reef.git", "git@example.org:sea/reef.git"])
def test_a_repository_elsewhere_must_be_cloned_first(hardwon: Run, address: str) -> None:
    said = hardwon("harvest", "--git", address)
    assert (said.returncode, said.stdout) == (1, "")
    assert f"reads a clone on this machine: `git clone {address}`" in said.stderr


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("do it", False), ("fix it", False), ("do that again", False), ("ok then", True), ("Use tabs", True),
     ("No emojis", True), ("Use it for charts", True)],
)  # fmt: skip
def test_what_says_nothing_by_itself_is_no_lesson(hardwon: Run, text: str, is_one: bool) -> None:
    said = hardwon("lessons", "add", text, "--global")
    assert (said.returncode == 0) == is_one
    assert ("does not stand by itself" in said.stderr) != is_one


def test_what_is_neither_a_file_nor_a_session_is_said_to_be_neither(hardwon: Run) -> None:
    assert hardwon("inspect", "Snope").stderr == "hardwon: no such file or session: Snope\n"


def test_an_answer_that_is_none_is_told_the_choices(learned: Run, home: Path) -> None:
    seen = on_a_terminal("uninstall", "--all", "--purge", typed="?\nn\n")
    assert "y: yes. n, or Enter alone: no." in seen
    assert seen.count("[y/N]") == 2
    assert home.exists()


def test_a_question_that_commands_answer_is_led_to_them(learned: Run) -> None:
    said = learned("search", "how do I run the tests", "-p", "tidepool").stdout
    assert "The commands that worked: `hardwon how tests -p tidepool`" in said
    said = learned("search", "how do I run the tests").stdout
    assert "PROJECT" not in said, "most of what was found is of one"
    assert "pytest" in learned("how", "tests", "-p", "tidepool").stdout
    assert "hardwon how" not in learned("search", "asyncpg").stdout


def test_what_git_does_every_day_is_not_among_a_projects_commands(hardwon: Run, tmp_path: Path) -> None:
    for day in (1, 2, 3):
        ClaudeSession(f"s{day}", day=day).user("mend it").edit("/srv/work/reef/tide.py", "x").run(
            "git add -A && git commit -m x", "ok"
        ).run("pytest", "ok").write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    assert "git" not in (said := hardwon("map", "-p", "reef").stdout)
    assert "pytest" in said
    assert "git commit" in hardwon("map", "-p", "reef", "--json").stdout


def test_what_is_not_told_is_listed_by_reason_and_fits_the_screen(hardwon: Run, tmp_path: Path) -> None:
    names = [f"{letter}{letter}-reef" for letter in "abcdefghijklmnopqrstuvwxyz"]
    for at, name in enumerate(names):
        session = ClaudeSession(name, day=1 + at, month=1).user("Tag it.").run("cat tags", "ok")
        session.run(f"make {name}", f"fatal: no tag of {name} found", exit_code=2)
        refusal = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
        session.edit("/srv/work/reef/a.py", "x", output=refusal, error=True)
        hardwon("harvest", "--mine", session.write(tmp_path / "logs"))
    found = json.loads(hardwon("bootstrap", "-p", "reef", "--json").stdout)["left_out"]
    found = [one for one in found if "own tools" not in one["reason"]]
    often = max(sum(one["reason"] == other["reason"] for other in found) for one in found)
    assert often > 20
    whole = hardwon("bootstrap", "-p", "reef", "--left-out")
    assert "Without 1 refusal of agents' own tools." in whole.stdout
    piped = whole.stdout
    assert [f"no tag of {name} found" in piped for name in names].count(True) == len(found)
    screen = on_a_terminal("bootstrap", "-p", "reef", "--left-out")
    assert f"({often}):" in screen
    assert 15 < len(screen.strip().split("\n")) < 24, "with what is said below"


def test_what_is_missing_is_not_called_a_value_that_is_wrong(hardwon: Run) -> None:
    for asked in (("forget",), ("uninstall",), ("harvest", ".", "--ref", "main")):
        said = hardwon(*asked)
        assert said.returncode == 2
        assert "\nError: " in said.stderr
        assert "Invalid value" not in said.stderr
    assert "Invalid value for '--limit'" in hardwon("failures", "--limit", "0").stderr


def test_hints_and_counts_read_as_sentences(hardwon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    ClaudeSession("a").user("Mend it.").run("make tide", "ok").write(logs)
    (logs / "notes.json").write_text('{"tide": "high"}')
    assert (
        "1 file is not a session and was skipped: `hardwon doctor` says why."
        in hardwon("harvest", "--mine", logs).stdout
    )
    ClaudeSession("b", day=2).user("Mend it.").run("make tide", "ok").write(logs)
    hardwon("harvest", "--mine", logs)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    hint = re.search(r"Of one purpose: `hardwon (how -p reef test)`", hardwon("how", "-p", "reef").stdout)
    assert hint
    assert hardwon(*hint[1].split()).returncode == 0
