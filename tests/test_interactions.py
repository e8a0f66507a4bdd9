"""Interactions: recorded, listed page by page, and what they do to the lessons they use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hardwon import Hardwon, HardwonError, Interaction, NotAllowed, NotFound
from hardwon.store import check, interactions, lessons
from hardwon.store.database import insert
from tests.conftest import Run

RULE = "Use uv to install packages in this project."
ANSWER = "I used uv to install the packages in this project."
DAY = datetime(2026, 10, 1, tzinfo=UTC)


@pytest.fixture
def memory(home: Path, place: Path | str) -> Iterator[Hardwon]:
    """On either engine."""
    if isinstance(place, str):
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").write_text(f'database = "{place}"\n')
    with Hardwon(home) as memory:
        yield memory


def rule(memory: Hardwon, text: str = RULE, *, project: str = "reef") -> str:
    memory.interactions.record(Interaction(prompt="hello", project=project))  # makes the project known
    return memory.lessons.add(text, kind="fact", project=project, confidence=0.8)


def confidence(memory: Hardwon, id: str) -> float:
    lesson = lessons.get(memory.reading(), id)
    assert lesson is not None
    return lesson.confidence


def test_every_field_comes_back(memory: Hardwon) -> None:
    given = Interaction(
        prompt="Why?", response="Because.", response_summary="Short.", session="s1", client="claude-code",
        context={"pack": [1, "two"]}, lessons_used=["La"], chunks_used=["Cb"], at=DAY,
    )  # fmt: skip
    id = memory.interactions.record(given)
    given.id = id
    assert memory.interactions.get(id) == given
    with pytest.raises(NotFound):
        memory.interactions.get("Inowhere")


def test_a_prompt_is_enough_and_none_is_refused(memory: Hardwon) -> None:
    assert memory.interactions.get(memory.interactions.record(Interaction(prompt="Why?")))
    for nothing in ("", "  \n\t"):
        with pytest.raises(NotAllowed):
            memory.interactions.record(Interaction(prompt=nothing))


def test_the_list_has_the_newest_first_page_by_page_without_bodies(memory: Hardwon) -> None:
    for hour in range(7):
        at = DAY + timedelta(hours=hour // 2)  # some at the same moment
        memory.interactions.record(Interaction(prompt=f"question {hour}", response="x" * 50, at=at))
    seen, cursor = [], ""
    while True:
        page = memory.interactions.list(limit=3, cursor=cursor)
        seen += page.interactions
        if not (cursor := page.cursor):
            break
    assert [one.at for one in seen] == sorted((one.at for one in seen), reverse=True)
    assert len({one.id for one in seen}) == len(seen) == 7
    assert {one.response_chars for one in seen} == {50}
    assert not hasattr(seen[0], "response")
    assert memory.interactions.list(limit=0).interactions == []
    with pytest.raises(HardwonError):
        memory.interactions.list(cursor="'; DROP TABLE lesson")


def test_it_is_filtered_by_project_session_client_and_time(memory: Hardwon) -> None:
    talks = [("reef", "s1", "a"), ("reef", "s2", "b"), ("tide", "s1", "b")]
    for number, (project, session, client) in enumerate(talks):
        at = DAY + timedelta(days=number)
        memory.interactions.record(
            Interaction(prompt=f"q{number}", project=project, session=session, client=client, at=at)
        )

    def found(**wanted: object) -> set[str]:
        return {one.prompt for one in memory.interactions.list(**wanted).interactions}  # type: ignore[arg-type]

    assert found(project="reef") == {"q0", "q1"}
    assert found(session="s1") == {"q0", "q2"}
    assert found(client="b") == {"q1", "q2"}
    cutoff = DAY + timedelta(days=1)
    assert found(since=cutoff) == {"q1", "q2"}
    assert found(since=cutoff + timedelta(microseconds=1)) == {"q2"}


def test_an_answer_that_uses_a_lesson_raises_it_once(memory: Hardwon) -> None:
    id = rule(memory)
    recorded = memory.interactions.record(Interaction(prompt="Set it up.", response=ANSWER, project="reef"))
    assert confidence(memory, id) == pytest.approx(0.82)
    again = memory.interactions.reinforce(recorded)
    assert [(one.lesson, round(one.before, 2), round(one.after, 2)) for one in again] == [(id, 0.8, 0.82)]
    assert confidence(memory, id) == pytest.approx(0.82)
    memory.interactions.record(Interaction(prompt="And again.", response_summary=ANSWER, project="reef"))
    lesson = lessons.get(memory.reading(), id)
    assert lesson is not None
    assert (round(lesson.confidence, 2), lesson.reference_count) == (0.84, 2)
    assert lesson.last_referenced is not None
    assert [found for found in check.store(memory.reading()) if not found.ok] == []


def test_confidence_ends_at_one(memory: Hardwon) -> None:
    id = rule(memory)
    for _ in range(12):
        memory.interactions.record(Interaction(prompt="Set it up.", response=ANSWER, project="reef"))
    assert confidence(memory, id) == 1.0


def test_nothing_else_is_raised(memory: Hardwon) -> None:
    archived = rule(memory)
    memory.review.archive(archived)
    elsewhere = rule(memory, project="tide")
    other = rule(memory, "Deploys go through the staging cluster first.")
    memory.interactions.record(Interaction(prompt="Set it up.", response=ANSWER, project="reef"))
    memory.interactions.record(Interaction(prompt="Set it up.", response="", project="tide"))
    memory.interactions.record(Interaction(prompt="Set it up.", response=ANSWER, project="tide"), reinforce=False)
    assert {confidence(memory, id) for id in (archived, elsewhere, other)} == {0.8}


def test_what_goes_wrong_with_lessons_is_counted_and_the_interaction_kept(
    memory: Hardwon, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no tide tables")

    monkeypatch.setattr("hardwon.api.interactions.AnswerStretches", broken)
    rule(memory)
    id = memory.interactions.record(Interaction(prompt="Set it up.", response=ANSWER, project="reef"))
    assert memory.interactions.get(id)
    assert any("no tide tables" in found.says for found in memory.store.check() if not found.ok)


def test_a_line_that_was_shown_counts_as_used(memory: Hardwon) -> None:
    id = rule(memory)
    db = memory.writing()
    with db.transaction():
        db.execute(
            insert("bootstrap", ("id", "session", "project", "agent", "task", "budget", "tokens", "arm", "propensity",
                                 "dealer", "text_hash", "created_at")),
            ("B1", "s1", None, "", "", 1, 1, "", 1.0, "", "", 1),
        )  # fmt: skip
        for item, shown in ((id, 1), ("Lother", 1)):
            db.execute(
                insert(
                    "exposure", ("bootstrap", "item", "event", "rank", "parts", "tokens", "shown", "chance", "used")
                ),
                ("B1", item, "start", 0, "{}", 1, shown, 1.0, None),
            )
    memory.interactions.record(Interaction(prompt="Go.", response=ANSWER, project="reef", session="s1"))
    assert set(db.query("SELECT item, used FROM exposure")) == {(id, 1), ("Lother", None)}


def test_harvesting_again_keeps_what_answers_gave(memory: Hardwon) -> None:
    id = rule(memory)
    recorded = memory.interactions.record(Interaction(prompt="Set it up.", response=ANSWER, project="reef"))
    db = memory.writing()
    with db.transaction():
        lessons.cite(db, [lessons.Cited(id, "S1", 0, "S1", 1, "quote", "user")])
        lessons.refresh(db, [id])
    assert confidence(memory, id) == pytest.approx(0.82)
    assert interactions.steps_of(db, recorded)[0].lesson == id


def test_candidates_are_made_when_somebody_asks(memory: Hardwon) -> None:
    prompt = "Always run `make lint` before you push. What is in main.py?"
    id = memory.interactions.record(Interaction(prompt=prompt, project="reef"))
    assert memory.lessons.list() == []
    (made,) = memory.interactions.extract(id)
    assert (made.status, made.text) == ("candidate", "Always run `make lint` before you push.")
    assert memory.interactions.extract(id) == [made]
    with pytest.raises(NotFound):
        memory.interactions.extract("Inowhere")


def test_secrets_stay_outside_and_it_can_be_found(memory: Hardwon) -> None:
    secret = "ghp_" + "a1B2" * 9
    id = memory.interactions.record(
        Interaction(prompt="Where is the heron's nest?", response=f"token {secret}", context={"key": secret})
    )
    row = interactions.get(memory.reading(), id)
    assert secret not in repr(row)
    assert memory.search("heron nest").hits[0].id == id


def test_the_commands_record_list_show_and_reinforce(hardwon: Run) -> None:
    done = hardwon("interactions", "record", "--prompt", "Why is it red?", "--response", "A port is taken.")
    id = done.stdout.strip()
    listed = json.loads(hardwon("interactions", "list", "--json").stdout)
    assert [one["id"] for one in listed["interactions"]] == [id]
    assert "Why is it red?" in hardwon("interactions", "list").stdout
    hardwon("interactions", "record", "--prompt", "And now?")
    assert "For more, add --cursor" in hardwon("interactions", "list", "--limit", "1").stdout
    assert "A port is taken." in hardwon("interactions", "show", id).stdout
    assert json.loads(hardwon("interactions", "reinforce", id, "--json").stdout) == []
    for wrong in (["record", "--prompt", " "], ["show", "Inowhere"], ["list", "--cursor", "x"]):
        done = hardwon("interactions", *wrong)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
