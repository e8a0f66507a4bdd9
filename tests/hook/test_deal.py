"""Sessions are held out and lines withheld at random, on record before the session runs, the same every time."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon import Hardwon
from hardwon.store import hook_data, read, spool
from hardwon.store.hook_data import briefed_lately
from hardwon.store.spool import HELD_OUT, ITEMS_WITHHELD, OFF, TREATED, deal, held_out, withheld
from tests.conftest import ClaudeSession
from tests.hook.test_hook import MISSING, hook

KEY = bytes(range(16))


@pytest.fixture
def harvested(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARDWON_EXPERIMENT", "on")
    sessions = []
    for day in (1, 2):
        session = ClaudeSession(f"old-{day}", day=day).user("Always use uv in this project.")
        for name in "asyncpg httpx numpy polars duckdb orjson".split():
            session.run(f"python {name}.py", f"ModuleNotFoundError: No module named '{name}'", exit_code=1)
            session.run(f"uv sync --extra {name}", "ok").run(f"python {name}.py", "ok")
        sessions.append(session.write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(sessions)
    return home


def start(session: str, **more: Any) -> str:
    said = hook("session-start", {"session_id": session, "cwd": "/srv/work/reef", **more})
    assert (said.returncode, said.stderr) == (0, "")
    return json.loads(said.stdout)["hookSpecificOutput"]["additionalContext"] if said.stdout else ""


def session_that(home: Path, *, is_held_out: bool) -> str:
    with Hardwon(home) as memory:
        key = read.fence_key(read.connect(str(memory.database)))
    return next(f"s{n}" for n in range(1000) if held_out(key, f"claude-code:s{n}") is is_held_out)


def rows(home: Path, sql: str) -> list[tuple[Any, ...]]:
    with Hardwon(home) as memory:
        memory.writing()
        return memory.reading().query(sql)


def test_a_held_out_session_is_told_nothing_and_that_is_on_record(harvested: Path) -> None:
    session = session_that(harvested, is_held_out=True)
    assert start(session) == ""
    stored = "SELECT session, arm, tokens, propensity FROM bootstrap"
    assert rows(harvested, stored) == [(f"claude-code:{session}", HELD_OUT, 0, 0.1)]
    lines = rows(harvested, "SELECT item, shown FROM exposure")
    assert len(lines) >= 6
    assert not any(shown for _, shown in lines)


def test_a_held_out_session_is_told_nothing_when_a_call_fails_either(harvested: Path) -> None:
    failed = {"error": MISSING, "cwd": "/srv/work/reef"}
    assert hook("tool-failed", {**failed, "session_id": session_that(harvested, is_held_out=False)}).stdout
    assert not hook("tool-failed", {**failed, "session_id": session_that(harvested, is_held_out=True)}).stdout


def test_a_withheld_line_is_left_out_and_on_record_with_its_place(harvested: Path) -> None:
    with Hardwon(harvested) as memory:
        whole = memory.bootstrap("reef", agent="claude-code")
        key = read.fence_key(read.connect(str(memory.database)))
    items = [line.id for line in whole.lines if line.kind == "failure"]
    session = next(
        f"s{n}"
        for n in range(1000)
        if not held_out(key, f"claude-code:s{n}")
        and sum(withheld(key, f"claude-code:s{n}", item) for item in items) == 1
    )
    text = start(session)
    (hidden,) = (
        line for line in whole.lines if withheld(key, f"claude-code:{session}", line.id) and line.kind == "failure"
    )
    assert hidden.text not in text
    assert all(line.text in text for line in whole.lines if line is not hidden)
    found = rows(harvested, "SELECT item, rank, shown, chance, used FROM exposure ORDER BY rank")
    assert [row[0] for row in found] == [line.id for line in whole.lines]
    assert [(row[1], row[3]) for row in found if not row[2]] == [(whole.lines.index(hidden), 0.8)]
    assert rows(harvested, "SELECT arm FROM bootstrap") == [(TREATED,)]


def test_what_a_person_said_is_always_shown(harvested: Path) -> None:
    exempt = rows(harvested, "SELECT DISTINCT item FROM standing WHERE exempt = 1")
    said = rows(harvested, "SELECT id FROM lesson WHERE trust = 'human'")
    assert said
    assert sorted(exempt) == sorted(said)


def test_resuming_and_compacting_change_nothing(harvested: Path) -> None:
    first = [start(f"s{n}", source="startup") for n in range(6)]
    assert [start(f"s{n}", source="compact") for n in range(6)] == first
    assert {start(f"s{n}", source="resume") for n in range(6)} == {""}, "its history has it"
    assert [start("a-sub-agent", root_session_id=f"s{n}") for n in range(6)] == first
    assert len(set(first)) > 1


def test_it_is_on_disk_before_anything_is_said(harvested: Path) -> None:
    """A hook that cannot write down what it withholds withholds nothing."""
    session = session_that(harvested, is_held_out=True)
    (harvested / spool.FOLDER).write_text("a file where the folder should be")
    assert "PAST FAILURES" in start(session)


@pytest.mark.parametrize("way", ["config", "variable", "call"])
def test_it_can_be_switched_off(harvested: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    session = session_that(harvested, is_held_out=True)
    more: dict[str, Any] = {}
    if way == "config":
        monkeypatch.delenv("HARDWON_EXPERIMENT")
        (harvested / "config.toml").write_text('budget = 2000\nexperiment = "off" # for now\n')
    elif way == "variable":
        monkeypatch.setenv("HARDWON_EXPERIMENT", "off")
    else:
        more["experiment"] = "off"
    assert "PAST FAILURES" in start(session, **more)
    assert rows(harvested, "SELECT arm, propensity FROM bootstrap") == [(OFF, 1.0)]
    assert rows(harvested, "SELECT DISTINCT shown, chance FROM exposure") == [(1, 1.0)]


def test_a_session_without_an_id_takes_no_part(harvested: Path) -> None:
    assert hook("session-start", {"cwd": "/srv/work/reef"}).stdout
    assert hook("session-start", {"cwd": "/srv/work/reef", "session_id": ["x"]}).stdout
    assert rows(harvested, "SELECT count(*) FROM bootstrap") == [(0,)]


def test_torn_and_foreign_lines_in_the_spool_are_skipped(harvested: Path) -> None:
    start("s1")
    path = harvested / spool.FOLDER / spool.DEALT
    whole = json.loads(path.read_text())
    with path.open("ab") as file:
        file.write(b'{"torn": \n[1]\nnull\n')
        for wrong in ({"arm": "x"}, {"at": "now"}, {"lines": [["F", 1]]}, {"propensity": 2.0}, {"session": "\0"}):
            file.write(json.dumps({**whole, "id": "other", **wrong}).encode() + b"\n")
    with Hardwon(harvested) as memory:
        db = memory.writing()
        assert db.query("SELECT id FROM bootstrap") == [(whole["id"],)]
        assert hook_data.drain_exposures(db, str(harvested)) == 0
    assert not [name for name in os.listdir(harvested / spool.FOLDER) if "deal" in name]


def standing(item: str, *, exempt: int = 0, spare: int = 0, tokens: int = 10, section: str = "A") -> spool.Standing:
    return section, item, f"text of {item}", tokens, exempt, spare, 0.5


def test_the_coins_fall_as_often_as_they_should() -> None:
    sessions = [held_out(KEY, f"s{n}") for n in range(20_000)]
    assert 0.09 < sum(sessions) / len(sessions) < 0.11
    items = [withheld(KEY, f"s{n}", f"F{m}") for n in range(200) for m in range(100)]
    assert 0.19 < sum(items) / len(items) < 0.21
    other = [withheld(KEY[::-1], f"s{n}", f"F{m}") for n in range(200) for m in range(100)]
    both = sum(a and b for a, b in zip(items, other, strict=True)) / len(items)
    assert abs(both - ITEMS_WITHHELD**2) < 0.01


def test_the_next_best_takes_the_place_of_a_withheld_line() -> None:
    lines = [*(standing(f"F{n}") for n in range(8)), *(standing(f"F{n}", spare=1) for n in range(8, 16))]
    dealt = {f"s{n}": deal(lines, KEY, f"s{n}") for n in range(300)}
    for root, (shown, placed) in dealt.items():
        hidden = sum(withheld(KEY, root, f"F{n}") for n in range(8))
        able = sum(not withheld(KEY, root, f"F{n}") for n in range(8, 16))
        if held_out(KEY, root):
            assert (shown, len(placed), {row[3] for row in placed}) == ([], 8, {0})
            continue
        assert len(shown) == 8 - hidden + min(hidden, able)
        assert [row[0] for row in placed[:8]] == [f"F{n}" for n in range(8)]
        assert {row[4] for row in placed[8:]} <= {1.0}


lines = st.lists(st.tuples(st.integers(1, 60), st.booleans(), st.sampled_from("AB")), min_size=1, max_size=20).flatmap(
    lambda own: st.tuples(st.just(own), st.integers(0, len(own)))
)


@given(lines, st.text(max_size=10))
def test_what_is_shown_never_costs_more_than_without_the_experiment(
    drawn: tuple[list[tuple[int, bool, str]], int], root: str
) -> None:
    described, chosen = drawn
    offered = [
        standing(f"F{at}", exempt=int(never), spare=int(at >= chosen), tokens=tokens, section=section)
        for at, (tokens, never, section) in enumerate(described)
    ]
    shown, placed = deal(offered, KEY, root)
    assert sum(row[2] for row in placed if row[3]) <= sum(line[3] for line in offered if not line[5])
    assert len(shown) == sum(row[3] for row in placed)
    if not held_out(KEY, root):
        assert {line[1] for line in offered if line[4] and not line[5]} <= {row[0] for row in placed if row[3]}


def test_a_held_out_session_is_told_nothing_about_its_prompts_either(harvested: Path) -> None:
    with Hardwon(harvested) as memory, memory.writing().transaction():
        memory.writing().execute("DELETE FROM standing")
    asked = {"cwd": "/srv/work/reef", "prompt": "python asyncpg.py says ModuleNotFoundError: No module named 'asyncpg'"}
    assert hook("prompt", {**asked, "session_id": session_that(harvested, is_held_out=False)}).stdout
    assert not hook("prompt", {**asked, "session_id": session_that(harvested, is_held_out=True)}).stdout


def test_who_was_briefed_is_counted_before_anybody_writes(harvested: Path) -> None:
    """Pages only read: the first briefing is not stored by looking at them."""
    with Hardwon(harvested) as memory:
        (project,) = memory.store.projects()
    assert briefed_lately(str(harvested), None) == 0
    number = next(at for at in range(100) if start(f"s-{at}"))
    assert [briefed_lately(str(harvested), one) for one in (None, project.id, "another")] == [1, 1, 0], number
    with Hardwon(harvested) as memory:
        memory.writing()
        memory.harvest([])
    assert briefed_lately(str(harvested), None) == 0
