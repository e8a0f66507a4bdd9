"""`hardwon search` and `hardwon reindex`, as a person and a program see them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hardwon.recall import minilm
from tests.conftest import EXAMPLES, ClaudeSession, Run
from tests.terminal import on_a_terminal


@pytest.fixture
def harvested(hardwon: Run) -> Run:
    assert hardwon("harvest", EXAMPLES).returncode == 0
    return hardwon


def test_rows_have_what_a_program_needs(harvested: Run) -> None:
    done = harvested("search", "asyncpg", "--json", "--limit", 3)
    rows = json.loads(done.stdout)
    assert 0 < len(rows) <= 3
    assert set(rows[0]) >= {"id", "type", "kind", "text", "score", "parts", "project", "at"}
    assert rows[0]["at"].endswith("Z")
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_a_person_can_ask_why(harvested: Run) -> None:
    heading, *rows = harvested("search", "asyncpg", "--explain").stdout.split("\n")
    assert heading.split() == ["SCORE", "ID", "TYPE", "TEXT"]
    scores = [float(row.split()[0]) for row in rows if re.match(r" *[\d.]+  \w", row)]
    assert scores == sorted(scores, reverse=True)
    assert any(row.strip().startswith("words 0.") for row in rows), "what it is made of, below it"


def test_filters_that_leave_nothing_say_so(harvested: Run) -> None:
    done = harvested("search", "asyncpg", "--type", "failure", "--until", "2001-01-01")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Nothing found for “asyncpg”.\n", "")


def test_where_nothing_is_found_it_says_that_of_a_session_only_a_part_is_searched(harvested: Run) -> None:
    part = "Of each session only a part can be searched; the agent's own files have the rest.\n"
    assert harvested("search", "732,734p").stdout.startswith(f"Nothing found for “732,734p”. {part}")
    assert harvested("config", "search_sessions", "off").returncode == 0
    assert "`hardwon config search_sessions on`" in harvested("search", "732,734p").stdout


def test_an_option_is_found_with_its_program_and_in_its_case(hardwon: Run, tmp_path: Path) -> None:
    for number in range(6):
        session = ClaudeSession(f"git-{number}", cwd="/home/dev/code/reef").user("Commit this.")
        session.run("git -C ../chitin status", "clean").says("Done.").write(tmp_path)
    dumped = "sed -n '865,867p' src/components/deep/down/in/the/tree/of/folders/Remediate.tsx | od -A x -c | head"
    session = ClaudeSession("od", cwd="/home/dev/code/reef").user("How is it indented?").run(dumped, "tabs")
    session.says("With tabs.").write(tmp_path)
    assert hardwon("harvest", tmp_path).returncode == 0
    found = hardwon("search", "od -c").stdout
    assert "od -A x -c" in found
    assert "git -C" not in found
    assert "git -C" in hardwon("search", "git -C").stdout
    assert "od -A x -c" not in hardwon("search", "git -C").stdout
    with_json = json.loads(hardwon("search", "od -c", "--json").stdout)
    assert ["od -A" in row["text"] for row in with_json if row["type"] == "passage"] == [True]


def test_resume_says_that_the_folder_is_not_there_and_a_dry_run_what_is_no_session(
    hardwon: Run, tmp_path: Path
) -> None:
    logs = ClaudeSession("gone", cwd="/home/dev/code/reef").user("Go on.").says("Done.").write(tmp_path / "logs").parent
    (logs / "x.jsonl").write_text('{"type": "summary", "summary": "a talk"}\n')
    rehearsed = hardwon("harvest", logs, "--dry-run").stdout.split()
    assert rehearsed[-5:] == ["unchanged", "0", "no", "session", "1"]
    assert hardwon("harvest", logs, "--mine").returncode == 0
    done = hardwon("resume", "gone")
    assert done.stdout == "cd ~/code/reef && claude --resume gone\n"
    assert "~/code/reef is not on this machine" in done.stderr


def test_a_hit_in_a_narrow_terminal_shows_what_was_searched_for(hardwon: Run, tmp_path: Path) -> None:
    path = "/home/dev/code/reef/frontend/src/components/of/the/page/RemediateTab.tsx"
    session = ClaudeSession("od", cwd="/home/dev/code/reef").user("How is it indented?")
    session.run(f"sed -n '865,867p' {path} | od -c | head -20", "tabs").says("With tabs.").write(tmp_path)
    assert hardwon("harvest", tmp_path).returncode == 0
    for query, shown in (("od -c", "od -c | head -20"), ("RemediateTab", "RemediateTab"), ("indented", "indented")):
        screen = on_a_terminal("search", query, columns=80)
        assert any(shown in line and len(line) <= 80 for line in screen.splitlines()), screen


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--type", "lessons"), "unknown type 'lessons'; known: lesson"),
        (("--since", "yesterday-ish"), "--since yesterday-ish is not a date"),
        (("--until", "soon"), "--until soon is not a date"),
        (("--project", "nowhere"), "no project 'nowhere'"),
    ],
)
def test_bad_filters_are_one_clear_line(harvested: Run, arguments: tuple[str, ...], says: str) -> None:
    done = harvested("search", "x", *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(f"hardwon: {says}")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not minilm.installed(), reason="the extra `semantic` is not installed")
def test_meaning_is_there_after_a_harvest_and_after_reindex(hardwon: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hardwon("harvest", EXAMPLES).returncode == 0
    monkeypatch.delenv("HARDWON_FUSION_WEIGHT")
    assert "run `hardwon reindex`" in hardwon("search", "asyncpg").stderr
    first = json.loads(hardwon("reindex", "--json").stdout)
    assert first["vectors"] == first["items"] > 0
    assert first["left"] == 0
    again = json.loads(hardwon("reindex", "--rebuild", "--json").stdout)
    assert (again["items"], again["vectors"]) == (first["items"], 0)
    done = hardwon("search", "the driver for postgres is not there", "--json")
    assert done.stderr == ""
    assert "vector" in json.loads(done.stdout)[0]["parts"]


def test_what_was_lost_from_the_index_is_mended(harvested: Run, home: object) -> None:
    import apsw

    connection = apsw.Connection(f"{home}/hardwon.db")
    connection.execute("DELETE FROM search_index WHERE rowid IN (SELECT id FROM search_item WHERE type = 'lesson')")
    connection.execute("DELETE FROM search_item WHERE type = 'lesson'")
    connection.close()
    assert harvested("doctor").returncode == 1
    assert json.loads(harvested("reindex", "--json").stdout)["mended"] > 0
    assert harvested("doctor").returncode == 0


def test_a_past_session_is_shown_with_where_it_was_and_how_to_go_on(hardwon: Run, tmp_path: Path) -> None:
    hostile = "fatal: detected dubious ownership in repository at '/srv/\x1b[31mreef\x1b]0;title\x07\u202e'"
    talk = ClaudeSession("s-git").user("look at the \x1b[2J history").run("git log", hostile, exit_code=128)
    assert hardwon("harvest", talk.write(tmp_path)).returncode == 0
    done = hardwon("search", "dubious ownership", "--type", "session")
    assert "! fatal: detected dubious ownership" in done.stdout
    assert "2026-10-01 " in done.stdout
    assert "→ hardwon resume S" in done.stdout
    assert not any(sign in done.stdout for sign in "\x1b\x07\u202e")


def test_a_line_that_is_too_long_is_cut_with_a_sign_and_what_was_found_stays(hardwon: Run, tmp_path: Path) -> None:
    long = "we looked at the gauges of the northern reef and at all of its cables " * 2
    talk = (
        ClaudeSession("s-long")
        .user("mend it")
        .says("Which one?")
        .user(f"{long}and then the flamingo sensor broke, which {long}")
        .says("I see.")
    )
    assert hardwon("harvest", "--mine", talk.write(tmp_path)).returncode == 0
    (line,) = [one for one in on_a_terminal("search", "flamingo").split("\n") if "  > " in one]
    assert line.startswith("  > … ")
    assert "flamingo sensor" in line
    assert line.rstrip().endswith(" …")
    (line,) = [one for one in on_a_terminal("search", "gauges northern reef").split("\n") if "  > " in one]
    assert line.startswith("  > we looked at"), "its beginning has as many of the words"


def test_what_is_found_fits_the_screen_and_says_whose_it_is(hardwon: Run, tmp_path: Path) -> None:
    for at in range(12):
        talk = ClaudeSession(f"s{at}", day=at + 1, cwd=f"/srv/work/{'reef' if at % 2 else 'tide'}")
        talk.user(f"mend gauge {at}").run(
            "make gauge", f"fatal: no gauge of {'abcdefghijkl'[at] * 3} found", exit_code=2
        )
        talk.says("The gauge is mended.").write(tmp_path / "logs")
    assert hardwon("harvest", "--mine", tmp_path / "logs").returncode == 0
    seen = on_a_terminal("search", "how do I run the gauge tests", lines=24).rstrip()
    assert len(seen.split("\n")) < 24, "the prompt has room, too"
    assert "(reef)" in seen
    said = hardwon("search", "how do I run the gauge tests").stdout
    assert said.startswith("The commands that worked: `hardwon how tests -p "), "what answers the question comes first"
