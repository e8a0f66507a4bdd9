"""Replay: what was foreseeable, foreseen and recalled, counted by hand, and never by peeking."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hardwon import Hardwon
from hardwon.measure import replay
from hardwon.measure.replay import FILLING, Past, Peeked, ReplaySettings, ReplayStep, Rows, Scratch, load, walk
from hardwon.sessions.workers import Workers
from hardwon.store import failures
from hardwon.store.database import Database, kept
from tests.conftest import ClaudeSession, Run

ASYNCPG = "ModuleNotFoundError: No module named 'asyncpg'"
REDIS = "ModuleNotFoundError: No module named 'redis'"

Make = Callable[..., Path]


def fixed(session: ClaudeSession, error: str = ASYNCPG) -> ClaudeSession:
    return session.run("pytest -q", error, exit_code=1).run("uv sync --all-extras", "ok").run("pytest -q", "3 passed")


def steps(home: Path, *sessions: Path, known: type[Scratch] = Scratch) -> list[ReplayStep]:
    with Hardwon(home) as memory:
        memory.harvest(sessions)
        db = memory.reading()
        return list(walk(db, load(db), ReplaySettings(memory.config, 2000), known))


def test_the_folder_that_it_runs_in_stays_as_it_was(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir(mode=0o755)
    monkeypatch.chdir(here)
    steps(home, fixed(ClaudeSession("a")).write(tmp_path))
    assert (list(here.iterdir()), here.stat().st_mode & 0o777) == ([], 0o755)


def test_an_error_met_before_is_foreseen_and_recalled_with_its_fix(home: Path, tmp_path: Path) -> None:
    first, second, third = steps(
        home,
        fixed(ClaudeSession("a", day=1)).write(tmp_path),
        fixed(ClaudeSession("b", day=2)).run("make", "Error: no such gauge: tide", exit_code=2).write(tmp_path),
        fixed(ClaudeSession("c", day=3), REDIS).write(tmp_path),
    )
    assert (first.errors, first.foreseeable, first.recalled) == (1, 0, 0)
    assert (second.errors, second.foreseeable, second.recalled, second.recalled_with_fix) == (2, 1, 1, 1)
    assert second.shown["ours"].foreseen == second.shown["ours"].came_true == 1
    assert second.repeated_calls == 1
    assert (third.errors, third.foreseeable, third.shown["ours"].foreseen) == (1, 0, 0)
    assert third.shown["ours"].lines >= 1
    assert third.shown["ours"].came_true == 0


def test_what_another_project_met_is_recalled_but_not_foreseeable_here(home: Path, tmp_path: Path) -> None:
    _, second = steps(
        home,
        fixed(ClaudeSession("a", day=1, cwd="/srv/work/reef")).write(tmp_path),
        fixed(ClaudeSession("b", day=2, cwd="/srv/work/moor")).write(tmp_path),
    )
    assert (second.foreseeable, second.foreseeable_anywhere, second.recalled_with_fix) == (0, 1, 1)


def test_sessions_of_no_project_have_none_in_common(home: Path, tmp_path: Path) -> None:
    nowhere = [fixed(ClaudeSession(name, day=day)) for name, day in (("a", 1), ("b", 2))]
    for session in nowhere:
        for record in session.records:
            record.pop("cwd", None)
    _, second = steps(home, *(session.write(tmp_path) for session in nowhere))
    assert second.past.project is None
    assert (second.foreseeable, second.foreseeable_anywhere, second.recalled) == (0, 1, 1)


def test_a_session_that_still_ran_is_not_known(home: Path, tmp_path: Path) -> None:
    long = fixed(ClaudeSession("long", day=1))
    long.records[-1]["timestamp"] = "2026-10-05T10:00:00Z"
    during, after = steps(
        home, long.write(tmp_path), fixed(ClaudeSession("during", day=3)).write(tmp_path),
        fixed(ClaudeSession("after", day=9)).write(tmp_path),
    )[1:]  # fmt: skip
    assert (during.foreseeable, during.recalled) == (0, 0)
    assert (after.foreseeable, after.recalled) == (1, 1)


def leaking(name: str, only: str = "") -> type[Scratch]:
    """A store that knows a session (or only what it left in one table) before anybody could."""

    class Leaking(Scratch):
        def __init__(self, source: Database) -> None:
            super().__init__(source)
            (self._early,) = [past for past in load(source) if past.root == f"claude-code:{name}"]
            if only:
                kept = (only, "occurrence") if only == "fix_evidence" else (only,)  # no fix without its failure
                left = {table: rows if table in kept else [] for table, rows in self._early.left.items()}
                self._early = self._early._replace(sessions=[], left=left)
            super().add([self._early])

        def add(self, sessions: Sequence[Past]) -> None:  # type: ignore[override]
            super().add([past for past in sessions if past.root != self._early.root])

    return Leaking


@pytest.fixture
def three_sessions(tmp_path: Path) -> list[Path]:
    """`long` still runs when `now` begins; `later` comes after both. Each teaches a failure, a fix and a lesson."""
    long, now, later = (
        fixed(ClaudeSession(name, day=day)).user(f"Always use {tool} in this project, never pip.")
        for name, day, tool in (("long", 1, "uv"), ("now", 3, "ruff"), ("later", 9, "mypy"))
    )
    long.records[-1]["timestamp"] = "2026-10-05T10:00:00Z"
    return [session.write(tmp_path) for session in (long, now, later)]


@pytest.mark.parametrize("only", ["", "occurrence", "fix_evidence", "lesson_source"])
@pytest.mark.parametrize("leak", ["now", "later", "long"])
def test_a_leak_is_caught(home: Path, three_sessions: list[Path], leak: str, only: str) -> None:
    """Of the session itself, of a later one, of one that had begun but not ended; whole, or only what it taught."""
    assert len(steps(home, *three_sessions)) == 3
    with pytest.raises(Peeked, match=f"claude-code:{leak}"):
        steps(home, *three_sessions, known=leaking(leak, only))


def test_the_last_session_is_briefed_as_a_live_one_would_be(home: Path, tmp_path: Path) -> None:
    earlier = [fixed(ClaudeSession(f"s{day}", day=day)).write(tmp_path) for day in (1, 2, 3)]
    last = ClaudeSession("last", day=4).user("Go on.").write(tmp_path)
    told = steps(home, *earlier, last)[-1].shown["ours"]
    with Hardwon(tmp_path / "live") as live:
        live.harvest(earlier)
        lines = [line for line in live.bootstrap("reef", agent="claude-code").lines if line.kind == "failure"]
    assert told.lines == len(lines) == 1


def test_baselines_get_no_more_tokens_than_we_took(home: Path, shared: Path) -> None:
    sessions = sorted((shared / "replay" / "specstory-cli").rglob("*.md"))
    for step in steps(home, *sessions):
        for name, shown in step.shown.items():
            if name != "with_prompt" and not name.startswith(FILLING):
                assert shown.failure_tokens <= step.shown["ours"].failure_tokens


def test_replay_of_a_real_project(hardwon: Run, shared: Path) -> None:
    """Two of three errors of this project's commands come back."""
    project = shared / "projects" / "claude-code" / "PackmindHub__context-evaluator"
    found = json.loads(hardwon("replay", project, "--failure-budget", 300, "--json").stdout)
    assert found["sessions"] == 86
    assert found["recalled_rate"] >= 0.85
    assert found["foreseen_rate"] >= 0.65
    assert found["recalled_with_fix"] == found["fix_existed"] >= 40
    for name in ("nothing", "newest_three", "most_recent", "random"):
        other = found["baselines"][name]  # in as many tokens: more is foreseen, and as much or more comes true
        assert found["foreseen_rate"] >= (other["foreseen_rate"] or 0), name
        if name != "newest_three":  # of which more comes true, as they foresee a quarter less in half the lines
            assert round(found["precision"], 2) >= round(other["precision"] or 0, 2), name


def test_where_errors_do_not_come_back_next_to_nothing_is_told(hardwon: Run, shared: Path) -> None:
    project = shared / "replay" / "specstory-cli"
    found = json.loads(hardwon("replay", project, "--json").stdout)
    assert found["sessions"] == 108
    assert found["lines_shown"] <= found["sessions"]
    again = hardwon("replay", project, "--json")
    assert json.loads(again.stdout) == found


def test_charts_are_written_beside_the_numbers(hardwon: Run, tmp_path: Path) -> None:
    for day in (1, 2, 3):
        fixed(ClaudeSession(f"s{day}", day=day)).write(tmp_path / "logs")
    done = hardwon("replay", tmp_path / "logs", "--chart", tmp_path / "charts")
    assert "named 2 beforehand" in done.stdout
    for name in ("foreseen", "came-true", "over-time"):
        assert ElementTree.fromstring((tmp_path / "charts" / f"{name}.svg").read_text()).tag.endswith("svg")
    (tmp_path / "file").write_text("")
    refused = hardwon("replay", tmp_path / "logs", "--chart", tmp_path / "file" / "charts")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)


def test_it_claims_no_more_than_was_counted(hardwon: Run, tmp_path: Path) -> None:
    for day in (1, 2, 3):
        fixed(ClaudeSession(f"s{day}", day=day)).write(tmp_path / "logs")
    said = hardwon("replay", tmp_path / "logs").stdout
    first = said.split("\n")[0]
    assert first.startswith(
        "Of 2 errors that came back in the same words, the briefing named 2 beforehand. When they happened, "
    )
    (compared,) = (line for line in said.split("\n") if line.startswith("With no more tokens than "))
    assert "%" not in hardwon("replay", tmp_path / "logs").stdout.replace("(95%)", ""), "shares of two are none"
    assert "2 would have been answered with a known fix" in first
    assert compared.endswith(": too close to tell apart.")
    assert "helped" not in first


def test_where_no_session_edited_what_was_known_the_map_is_judged_by_commands_alone(
    hardwon: Run, tmp_path: Path
) -> None:
    for day in range(1, 9):
        fixed(ClaudeSession(f"s{day}", day=day)).run("make test", "ok").write(tmp_path / "logs")
    said = hardwon("replay", tmp_path / "logs").stdout
    assert "PROJECT  SESSIONS  COMMANDS RUN\n" in said
    assert "EDITED" not in said
    assert "Fewer than 5 sessions edited a file that was known." in said


def test_it_says_when_there_is_nothing_to_foresee(hardwon: Run, tmp_path: Path) -> None:
    path = ClaudeSession().user("Hello.").write(tmp_path / "one")
    assert "nothing to predict" in hardwon("replay", path).stdout


def test_a_store_that_forgot_something_can_be_replayed(home: Path, tmp_path: Path) -> None:
    said = "Always use uv here."
    paths = [fixed(ClaudeSession(n, day=d).user(said)).write(tmp_path) for n, d in (("a", 1), ("b", 2))]
    with Hardwon(home) as memory:
        memory.harvest(paths)
        (lesson,) = [one for one in memory.lessons.list() if "uv here" in one.text]
        memory.store.forget(lesson.id)
        assert memory.replay().sessions == 2
        memory.store.purge(1)
        assert memory.replay().sessions == 0


def test_several_processes_find_what_one_does(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever briefs a part of the sessions, and also where a part is answered by the one who asked."""
    sessions = [
        fixed(ClaudeSession(f"s{day}", day=day, cwd=f"/srv/work/{'reef' if day % 3 else 'moor'}"), error).write(
            tmp_path
        )
        for day, error in zip(range(1, 10), [ASYNCPG, REDIS] * 5, strict=False)
    ]
    with Hardwon(home) as memory:
        memory.harvest(sessions)
        alone = memory.replay()
        monkeypatch.setattr(replay, "_SESSIONS_WITHOUT_WORKERS", 0)
        monkeypatch.setattr(replay, "_SESSIONS_PER_REQUEST", 2)
        monkeypatch.setattr(replay, "cores", lambda: 2)
        together = memory.replay()
        monkeypatch.setattr(replay, "Workers", lambda module, _: Workers(module, 0))
        by_the_one_who_asked = memory.replay()
    assert alone.sessions == 9
    assert alone == together == by_the_one_who_asked


def test_looking_whether_it_peeked_takes_linear_time(home: Path, tmp_path: Path) -> None:
    """Twice the sessions, twice the rows that are looked at."""
    looked_at: list[int] = []

    class Counting(Scratch):
        def __init__(self, source: Database | Rows) -> None:
            super().__init__(source)
            new_roots = self.db.new_roots
            self.db.new_roots = lambda: looked_at.append(len(found := new_roots())) or found  # type: ignore[func-returns-value, method-assign]

    sessions = [fixed(ClaudeSession(f"s{day}", day=day)).write(tmp_path) for day in range(1, 17)]
    steps(home / "few", *sessions[:8], known=Counting)
    few = sum(looked_at)
    looked_at.clear()
    steps(home / "many", *sessions, known=Counting)
    assert few > 0
    assert sum(looked_at) <= 2.3 * few


def test_a_session_that_left_nothing_changes_only_what_is_said_of_sessions(home: Path, tmp_path: Path) -> None:
    failing = fixed(ClaudeSession("a", day=1)).write(tmp_path)
    with Hardwon(home) as memory:
        memory.harvest([failing, ClaudeSession("b", day=2).run("make", "ok").write(tmp_path)])
        db = memory.reading()
        first, second = load(db)
        scratch = Scratch(db)
    assert first.project
    scratch.add([first])
    met = kept(scratch.db, failures.met_in, first.project)
    count = "SELECT count(*) FROM session"
    assert scratch.db.query(count) == [(1,)]
    scratch.add([second])
    assert scratch.db.query(count) == [(2,)]
    assert kept(scratch.db, failures.met_in, first.project) is met
    scratch.close()
