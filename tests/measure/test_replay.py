"""Replay: what was foreseeable, foreseen and recalled, counted by hand, and never by peeking."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from oldhand import Oldhand
from oldhand.measure.history import Past, load
from oldhand.measure.replay import Peeked, Settings, Step, walk
from oldhand.measure.scratch import Scratch
from oldhand.store.database import Database
from tests.conftest import ClaudeSession, Run

ASYNCPG = "ModuleNotFoundError: No module named 'asyncpg'"
REDIS = "ModuleNotFoundError: No module named 'redis'"

Make = Callable[..., Path]


def fixed(session: ClaudeSession, error: str = ASYNCPG) -> ClaudeSession:
    return session.run("pytest -q", error, exit_code=1).run("uv sync --all-extras", "ok").run("pytest -q", "3 passed")


def steps(home: Path, *sessions: Path, known: type[Scratch] = Scratch) -> list[Step]:
    with Oldhand(home) as memory:
        memory.harvest(sessions)
        db = memory.reading()
        return list(walk(db, load(db), Settings(memory.config, 2000), known))


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


def test_a_session_that_still_ran_is_not_known(home: Path, tmp_path: Path) -> None:
    long = fixed(ClaudeSession("long", day=1))
    long.records[-1]["timestamp"] = "2026-10-05T10:00:00Z"
    during, after = steps(
        home, long.write(tmp_path), fixed(ClaudeSession("during", day=3)).write(tmp_path),
        fixed(ClaudeSession("after", day=9)).write(tmp_path),
    )[1:]  # fmt: skip
    assert (during.foreseeable, during.recalled) == (0, 0)
    assert (after.foreseeable, after.recalled) == (1, 1)


class _Clairvoyant(Scratch):
    """Knows each session a session too early."""

    def __init__(self, source: Database) -> None:
        super().__init__(source)
        self._future = load(source)
        self.add(self._future[:1])

    def add(self, sessions: Sequence[Past]) -> None:  # type: ignore[override]
        known = {row[0] for row in self.db.query("SELECT root FROM session")}
        super().add([past for past in sessions if past.root not in known])


def test_a_leak_is_caught(home: Path, tmp_path: Path) -> None:
    with pytest.raises(Peeked, match="claude-code:a"):
        steps(home, fixed(ClaudeSession("a", day=1)).write(tmp_path), known=_Clairvoyant)


def test_the_last_session_is_briefed_as_a_live_one_would_be(home: Path, tmp_path: Path) -> None:
    earlier = [fixed(ClaudeSession(f"s{day}", day=day)).write(tmp_path) for day in (1, 2, 3)]
    last = ClaudeSession("last", day=4).user("Go on.").write(tmp_path)
    told = steps(home, *earlier, last)[-1].shown["ours"]
    with Oldhand(tmp_path / "live") as live:
        live.harvest(earlier)
        lines = [line for line in live.bootstrap("reef", agent="claude-code").lines if line.kind == "failure"]
    assert told.lines == len(lines) == 1


def test_baselines_get_no_more_tokens_than_we_took(home: Path, shared: Path) -> None:
    sessions = sorted((shared / "replay" / "specstory-cli").rglob("*.md"))
    for step in steps(home, *sessions):
        for name, shown in step.shown.items():
            if name != "with_prompt":
                assert shown.failure_tokens <= step.shown["ours"].failure_tokens


def test_replay_of_a_real_project(oldhand: Run, shared: Path) -> None:
    done = oldhand("replay", shared / "replay" / "specstory-cli", "--failure-budget", 600, "--json")
    found = json.loads(done.stdout)
    assert found["sessions"] == 108
    assert found["foreseeable"] >= 30
    assert found["recalled_rate"] >= 0.9
    assert found["recalled_with_fix"] == found["fix_existed"]
    for name, baseline in found["baselines"].items():
        assert found["foreseen_rate"] > (baseline["foreseen_rate"] or 0), name
    again = oldhand("replay", shared / "replay" / "specstory-cli", "--failure-budget", 600, "--json")
    assert json.loads(again.stdout) == found


def test_it_says_when_there_is_nothing_to_foresee(oldhand: Run, tmp_path: Path) -> None:
    path = ClaudeSession().user("Hello.").write(tmp_path / "one")
    assert "nothing to foresee" in oldhand("replay", path).stdout


def test_a_store_that_forgot_something_can_be_replayed(home: Path, tmp_path: Path) -> None:
    said = "Always use uv here."
    paths = [fixed(ClaudeSession(n, day=d).user(said)).write(tmp_path) for n, d in (("a", 1), ("b", 2))]
    with Oldhand(home) as memory:
        memory.harvest(paths)
        (lesson,) = [one for one in memory.lessons() if "uv here" in one.text]
        memory.forget.item(lesson.id)
        assert memory.proof.replay().sessions == 2
        memory.forget.purge(1)
        assert memory.proof.replay().sessions == 0
