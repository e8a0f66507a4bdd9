"""A knowledge tree of another system comes in without loss, as proposals, once. On both engines."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon, HardwonError, Lesson
from hardwon.store.integrity import whole_hash
from tests.exchange.conftest import made_up_secret

FACT = {
    "id": "hermes-agent:pitfall:001",
    "fact": "Deploy-crons mixes model names.",
    "category": "pitfall",
    "domain": "hermes-agent",
    "confidence": 0.95,
    "tags": ["cron", "models"],
    "source_count": 3,
    "first_seen": "2026-03-01",
    "last_confirmed": "2026-04-13T10:00:00Z",
    "expires": "2027-01-01",
    "related": ["global:tool-quirk:001"],
}
QUIRK = {
    "id": "global:tool-quirk:001",
    "fact": "Tokens live below the config folder.",
    "category": "tool-quirk",
    "domain": "global",
    "confidence": 0.8,
}
PAGE = """# hermes-agent

Some prose that explains.

## Pitfalls

- Deploy-crons mixes model names.
- Only the page knows this.
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path / "intelligence"


def grown(tree: Path, *facts: dict[str, Any], pages: dict[str, str] | None = None) -> Path:
    folder = tree / "knowledge"
    folder.mkdir(parents=True)
    index = {"version": 1, "last_updated": "2026-04-14T00:00:00Z", "total_facts": len(facts), "facts": facts}
    (folder / "index.json").write_text(json.dumps(index))
    for name, text in (pages or {}).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tree


def by_text(memory: Hardwon) -> dict[str, Lesson]:
    return {lesson.text: lesson for lesson in memory.lessons.list()}


def test_every_fact_and_field_has_its_place(memory: Hardwon, tree: Path) -> None:
    report = memory.store.import_from("knowledge", grown(tree, FACT, QUIRK))
    assert (report.added, report.left_out) == ({"projects": 1, "lessons": 2}, [])
    found = by_text(memory)
    lesson = found[FACT["fact"]]
    assert (lesson.kind, lesson.scope, lesson.confidence) == ("pitfall", "project", 0.95)
    assert lesson.project == memory.project("hermes-agent")
    assert (lesson.tags, lesson.source_count) == (("cron", "models"), 3)
    assert lesson.first_seen == datetime(2026, 3, 1, tzinfo=UTC)
    assert lesson.last_confirmed == datetime(2026, 4, 13, 10, tzinfo=UTC)
    assert lesson.valid_until == datetime(2027, 1, 1, tzinfo=UTC)
    assert (lesson.status, lesson.trust) == ("candidate", "claimed")
    quirk = found[QUIRK["fact"]]
    assert (quirk.kind, quirk.scope) == ("tool-quirk", "global")
    links = memory.reading().query("SELECT lesson, relation, other FROM lesson_link")
    assert links == [(lesson.id, "related", quirk.id)]
    assert memory.lessons.get(lesson.id).sources[0].source == "import:knowledge:fact:hermes-agent:pitfall:001"


def test_the_pages_are_kept_and_their_own_lines_become_lessons(memory: Hardwon, tree: Path) -> None:
    pages = {"repos/hermes-agent.md": PAGE, "agents/codex.md": "- Codex asks first.\n", "facts.yaml": "facts: []\n"}
    grown(tree, FACT, pages=pages)
    os.utime(tree / "knowledge" / "repos" / "hermes-agent.md", (1_770_000_000, 1_770_000_000))
    report = memory.store.import_from("knowledge", tree)
    assert report.added == {"projects": 1, "lessons": 3, "documents": 3, "chunks": 4}
    found = by_text(memory)
    own = found["Only the page knows this."]
    assert (own.kind, own.project) == ("pitfall", found[FACT["fact"]].project)
    assert (own.confidence, own.first_seen) == (0.5, datetime.fromtimestamp(1_770_000_000, UTC))
    assert (found["Codex asks first."].scope, found["Codex asks first."].agent) == ("agent", "codex")
    chunks = memory.reading().query("SELECT heading_path, content FROM chunk ORDER BY heading_path")
    assert ("hermes-agent", "Some prose that explains.") in [(a, b.strip()) for a, b in chunks]
    assert [check for check in memory.store.check() if not check.ok] == []


def test_importing_twice_adds_nothing_and_a_changed_page_is_read_again(memory: Hardwon, tree: Path) -> None:
    grown(tree, FACT, QUIRK, pages={"repos/reef.md": PAGE})
    memory.store.import_from("knowledge", tree)
    before = whole_hash(memory.reading())
    assert memory.store.import_from("knowledge", tree).added == {}
    assert whole_hash(memory.reading()) == before
    (tree / "knowledge" / "repos" / "reef.md").write_text(PAGE + "- And this.\n")
    assert memory.store.import_from("knowledge", tree).added == {"lessons": 1, "chunks": 2}
    assert [check for check in memory.store.check() if not check.ok] == []


def test_a_person_can_vouch_for_it(memory: Hardwon, tree: Path) -> None:
    memory.store.import_from("knowledge", grown(tree, FACT, {**QUIRK, "status": "archived"}), trusted=True)
    found = by_text(memory)
    assert (found[FACT["fact"]].status, found[FACT["fact"]].trust) == ("active", "human")
    assert found[QUIRK["fact"]].status == "archived"


def test_fields_and_facts_without_a_place_are_said(memory: Hardwon, tree: Path) -> None:
    grown(tree, {**FACT, "mood": "good"}, {**QUIRK, "fact": ""}, {"fact": "Only words.", "category": "odd"})
    report = memory.store.import_from("knowledge", tree)
    assert report.left_out == [
        "mood: not a field of a fact",
        "fact global:tool-quirk:001: it is empty",
        "related: 1 links to facts that are not in the tree",
    ]
    lesson = by_text(memory)["Only words."]
    assert (lesson.kind, lesson.scope, lesson.tags) == ("fact", "global", ("category:odd",))


@pytest.mark.parametrize(
    "fact",
    [
        {"confidence": "high"},
        {"confidence": 17},
        {"tags": "none", "related": {"a": 1}, "source_count": -1},
        {"scope": [], "kind": {}, "status": 3},
        {"first_seen": "long ago", "domain": "../../etc"},
    ],
)
def test_bad_values_have_their_default(memory: Hardwon, tree: Path, fact: dict[str, Any]) -> None:
    memory.store.import_from("knowledge", grown(tree, {**FACT, **fact}))
    (lesson,) = memory.lessons.list()
    assert lesson.text == FACT["fact"]


def test_a_folder_without_knowledge_and_a_damaged_index_are_named(memory: Hardwon, tree: Path) -> None:
    with pytest.raises(HardwonError, match="no such file or folder"):
        memory.store.import_from("knowledge", tree)
    tree.mkdir()
    with pytest.raises(HardwonError, match="no knowledge tree"):
        memory.store.import_from("knowledge", tree)
    for text, why in (('{"facts": [', "damaged"), ('{"facts": 1}', 'no list "facts"')):
        (tree / "index.json").write_text(text)
        with pytest.raises(HardwonError, match=why):
            memory.store.import_from("knowledge", tree)


def test_a_link_out_of_the_tree_is_not_followed(memory: Hardwon, tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "notes.md").write_text("- A private note.\n")
    grown(tree, FACT)
    (tree / "knowledge" / "repos").symlink_to(outside)
    (tree / "knowledge" / "global").mkdir()
    (tree / "knowledge" / "global" / "notes.md").symlink_to(outside / "notes.md")
    memory.store.import_from("knowledge", tree)
    assert "A private note." not in by_text(memory)


def test_secrets_stay_outside(memory: Hardwon, tree: Path) -> None:
    secret = made_up_secret()
    grown(tree, {**FACT, "fact": f"Use {secret}.", "tags": [secret]}, pages={"repos/x.md": f"- Say {secret}.\n"})
    assert memory.store.import_from("knowledge", tree).redactions >= 3
    names = memory.reading().columns()
    for table in ("lesson", "lesson_source", "chunk", "event"):
        assert secret not in str(memory.reading().query(f"SELECT {', '.join(names[table])} FROM {table}"))


def test_what_was_decided_on_is_not_proposed_again(memory: Hardwon, tree: Path) -> None:
    grown(tree, FACT, QUIRK)
    memory.store.import_from("knowledge", tree)
    found = by_text(memory)
    memory.review.promote(found[FACT["fact"]].id)
    memory.review.reject(found[QUIRK["fact"]].id)
    index = tree / "knowledge" / "index.json"
    index.write_text(index.read_text().replace(":001", ":002"))
    report = memory.store.import_from("knowledge", tree)
    assert (report.added, report.known["lessons"]) == ({}, 2)
    assert len(memory.lessons.get(found[FACT["fact"]].id).sources) == 2


def test_a_tree_of_this_store_is_no_other_systems(memory: Hardwon, tree: Path) -> None:
    memory.lessons.add("Use uv.", scope="global")
    memory.store.export(tree)
    with pytest.raises(HardwonError, match="without --from"):
        memory.store.import_from("knowledge", tree)
