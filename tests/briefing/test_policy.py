"""One place decides what may be told: what is kept ready for hooks gives the briefing that is made live."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon import Line
from hardwon.briefing import policy
from hardwon.briefing.compose import compose
from hardwon.briefing.foreseen import _not_told
from hardwon.briefing.policy import outlived
from hardwon.briefing.rank import Candidates, Scored, cost, for_any_bar, of_failure, of_lesson, reading_order
from hardwon.model.lesson import KINDS, StoredLesson
from hardwon.store.failures import FailureRow
from hardwon.text.shown import (
    FAILURES,
    FRAME_TOKENS,
    HEADING_TOKENS,
    INTRODUCTION,
    KNOWN,
    NOTED,
    closing,
    nonce,
    opening,
)

NOW = 1_790_000_000_000_000


def lesson(id: str = "L1", **more: object) -> StoredLesson:
    fields: dict[str, object] = {
        "id": id, "kind": "fact", "text": f"Gauge {id} is read twice a tide.", "scope": "project", "project": "P1",
        "agent": "", "confidence": 0.9, "status": "active", "trust": "human", "rule": "", "first_seen": 0,
        "last_confirmed": 0, "source_count": 1,
    }  # fmt: skip
    return StoredLesson(**(fields | more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, ""),
        ({"project": "", "scope": "global"}, ""),
        ({"status": "candidate"}, "candidate: waits for review"),
        ({"status": "archived"}, "archived"),
        ({"project": "P2"}, "belongs to another project"),
        ({"scope": "agent", "project": "", "agent": "codex"}, ""),
        ({"scope": "agent", "project": "", "agent": "hermes"}, "speaks of hermes only"),
        ({"valid_from": NOW + 1}, "not valid now"),
        ({"valid_until": NOW - 1}, "not valid now"),
        ({"valid_from": NOW, "valid_until": NOW}, ""),
    ],
)
def test_what_speaks_against_a_lesson_is_said(fields: dict[str, object], said: str) -> None:
    found = policy.against_lesson(lesson(**fields), project="P1", agent="codex", now=NOW, disputed=False)
    assert found == said


def test_a_disputed_lesson_waits_for_a_person() -> None:
    found = policy.against_lesson(lesson(), project="P1", agent="codex", now=NOW, disputed=True)
    assert found == "contradicts another lesson: waits for a person to decide"


def test_a_lesson_must_be_above_the_bar() -> None:
    assert policy.below_bar(0.7, 0.7) == "confidence 0.70 is not above 0.7"
    assert policy.below_bar(0.71, 0.7) == ""
    assert policy.below_bar(1.0, 1.0)


def test_what_agents_own_tools_refuse_is_not_told() -> None:
    assert policy.against_failure("agent")
    assert not policy.against_failure("pytest")


def test_the_frame_and_the_headings_cost_what_hooks_take_them_to_cost() -> None:
    mark = nonce("anything", b"key")
    assert cost(opening(mark), INTRODUCTION, closing(mark)) == FRAME_TOKENS
    assert {heading: cost(heading) for heading in (KNOWN, NOTED, FAILURES)} == HEADING_TOKENS


scores = st.floats(0, 2).map(lambda score: round(score, 2))
known = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from([0.2, 0.5, 0.7, 0.71, 0.9, 1.0]), scores), max_size=150
)
failing = st.lists(scores, max_size=24)


@given(known, failing, st.sampled_from([0, 0.5, 0.7, 0.9, 1.0]), st.integers(0, 3000))
def test_lines_kept_ready_give_the_briefing_that_is_made_live(
    drawn: list[tuple[str, float, float]], failures: list[float], bar: float, budget: int
) -> None:
    every = [
        Scored(score, lesson(f"L{at}", kind=kind, confidence=confidence), 1.0, 0.0)
        for at, (kind, confidence, score) in enumerate(drawn)
    ]
    scored = sorted(every, key=lambda one: (-one.score, one.lesson.id))
    likely = [
        Line(id=f"F{at:02}", kind="failure", text=f"boom {at}", score=score, why="", source="")
        for at, score in enumerate(sorted(failures, reverse=True))
    ]
    sure = [
        Line(id=one.lesson.id, kind=one.lesson.kind, text=one.lesson.text, score=one.score, why="", source="")
        for one in scored
        if not policy.below_bar(one.lesson.confidence, bar)
    ]
    told, _ = policy.best(sure, likely)
    live = compose(
        Candidates(
            [line for line in told if line.kind != "failure"], [line for line in told if line.kind == "failure"], []
        ),
        budget,
        b"key",
    )
    kept = sorted(for_any_bar(scored), key=lambda one: reading_order(one.lesson.kind))
    ready = [of_lesson(one) for one in kept if not policy.below_bar(one.lesson.confidence, bar)]
    ready += [of_failure(line) for line in likely]
    lines = policy.briefing_lines(ready, budget)
    assert [line[1] for line in lines if not line[5]] == [line.id for line in live.lines]
    assert sum(1 for line in lines if line[5]) <= policy.SPARE_LINES


def test_what_was_masked_until_little_is_left_is_not_told() -> None:
    masked = "No … found for the ref … (HTTP 404)"
    row = FailureRow("F1", "git", masked, f"`gh api`: {masked}", 1, 1, 0, 0, "gh api x", "claude-code")
    assert _not_told(row.error, row.signature, row.family, row.command)
    rejected = "`git push`: [rejected] … -> … (fetch first)"
    assert not _not_told(rejected, "push rejected", row.family, row.command)


def test_what_a_command_once_showed_of_a_machine_is_not_told_for_ever() -> None:
    day = 86_400_000_000
    assert outlived("verified-by-command", 0, 30 * day) == ""
    assert outlived("verified-by-command", 0, 200 * day) == "measured 6 months ago"
    assert outlived("user-directive", 0, 200 * day) == ""
