"""A client that says which session it briefs takes part in the experiment, as a hook does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.store import meta
from hardwon.store.spool import HELD_OUT, OFF, TREATED, held_out, withheld
from tests.conftest import EXAMPLES


@pytest.fixture
def memory(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hardwon]:
    monkeypatch.setenv("HARDWON_EXPERIMENT", "on")
    with Hardwon(home) as opened:
        opened.harvest(sorted(EXAMPLES.rglob("*.jsonl")))
        yield opened


def busiest(memory: Hardwon) -> str:
    return memory.store.projects()[0].id


def arms(memory: Hardwon) -> list[tuple[str, str]]:
    return memory.reading().query("SELECT session, arm FROM bootstrap ORDER BY session")


def test_a_person_looking_leaves_no_trace(memory: Hardwon) -> None:
    assert memory.bootstrap(busiest(memory)).lines
    assert arms(memory) == []


def test_every_session_is_told_what_its_coins_say(memory: Hardwon) -> None:
    key = meta.fence_key(memory.reading())
    whole = memory.bootstrap(busiest(memory), agent="codex")
    for number in range(30):
        found = memory.bootstrap(busiest(memory), agent="codex", session=str(number))
        root = f"codex:{number}"
        if held_out(key, root):
            assert (found.text, found.lines, found.tokens) == ("", (), 0)
            continue
        shown = [line.id for line in found.lines]
        exempt = {line.id for line in whole.lines if line.kind in ("preference", "decision")}
        assert not [id for id in shown if withheld(key, root, id) and id.startswith("F")]
        assert exempt <= set(shown)
        assert found.tokens <= whole.budget
        assert all(line.text in found.text for line in found.lines)
    assert dict(arms(memory)) == {f"codex:{n}": HELD_OUT if held_out(key, f"codex:{n}") else TREATED for n in range(30)}


def test_it_can_be_switched_off_for_a_call(memory: Hardwon) -> None:
    whole = memory.bootstrap(busiest(memory), agent="codex")
    for number in range(12):
        found = memory.bootstrap(busiest(memory), agent="codex", session=str(number), experiment=False)
        assert found.text == whole.text
    assert {arm for _, arm in arms(memory)} == {OFF}
