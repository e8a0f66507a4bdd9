"""Documents: taken in once, followed when they move, gone when they are deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hardwon import Hardwon, NotFound
from hardwon.store import check, lessons
from hardwon.store.lessons import Cited
from tests.conftest import Run


@pytest.fixture
def memory(home: Path, place: Path | str) -> Iterator[Hardwon]:
    """On either engine."""
    if isinstance(place, str):
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").write_text(f'database = "{place}"\n')
    with Hardwon(home) as memory:
        yield memory


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "guide.md").write_text("# Guide\nThe heron nests in May.\n\n## Tides\nLow water at dawn.\n")
    (folder / "deep" / "more.rst").write_text("More\n====\n\nThe otter sleeps.\n")
    (folder / "plain.txt").write_text("A plain walrus.\n")
    (folder / "picture.md").write_bytes(b"\x89PNG\0\0")
    (folder / "code.py").write_text("heron = 1\n")
    (folder / ".hidden.md").write_text("secretive\n")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "readme.md").write_text("not ours\n")
    return folder


def test_texts_below_a_folder_are_taken_in_and_found(memory: Hardwon, notes: Path) -> None:
    report = memory.documents.ingest([notes])
    assert [len(report.new), report.chunks] == [3, 4]
    assert [line.endswith("not a text file") for line in report.refused] == [True]
    (hit, *_) = memory.search("when does the heron nest").hits
    assert (hit.type, "The heron nests in May." in hit.text) == ("chunk", True)
    assert {row.title for row in memory.documents.list()} == {"Guide", "More", "plain"}
    assert [found for found in check.store(memory.reading()) if not found.ok] == []


def test_a_chunk_is_shown_with_its_heading_if_it_has_one(memory: Hardwon, notes: Path) -> None:
    (notes / "plain.txt").write_text("Zeppelins land at dusk.\n")
    memory.documents.ingest([notes])
    assert memory.search("zeppelins").hits[0].text == "Zeppelins land at dusk."
    assert memory.search("when does the heron nest").hits[0].text.startswith("Guide: ")


def test_a_second_time_only_what_changed_moved_or_vanished_is_touched(memory: Hardwon, notes: Path) -> None:
    memory.documents.ingest([notes])
    again = memory.documents.ingest([notes])
    assert (again.new, again.changed, again.moved, again.deleted, again.unchanged) == ([], [], [], [], 3)
    before = {row.path: row.id for row in memory.documents.list()}
    (notes / "guide.md").write_text("# Guide\nThe stork nests in June.\n")
    (notes / "deep" / "more.rst").rename(notes / "elsewhere.rst")
    (notes / "plain.txt").unlink()
    report = memory.documents.ingest([notes])
    assert (report.new, len(report.changed), len(report.moved), len(report.deleted)) == ([], 1, 1, 1)
    after = {row.path: row.id for row in memory.documents.list()}
    assert {Path(path).name for path in after} == {"guide.md", "elsewhere.rst"}
    assert set(after.values()) < set(before.values()), "a moved document stays the same one"
    found = {hit.text for hit in memory.search("heron stork nests walrus").hits}
    assert any("stork" in text for text in found)
    assert not any("heron" in text or "walrus" in text for text in found)
    assert [found for found in check.store(memory.reading()) if not found.ok] == []


def test_a_lesson_keeps_its_quote_when_its_document_goes(memory: Hardwon, notes: Path) -> None:
    memory.documents.ingest([notes])
    chunk = memory.search("heron").hits[0].id
    id = memory.lessons.add("Herons nest in May.", scope="global")
    db = memory.writing()
    with db.transaction():
        lessons.cite(db, [Cited(id, chunk, 0, chunk, 1, "The heron nests in May.", "file")])
    guide = next(row.path for row in memory.documents.list() if row.title == "Guide")
    memory.documents.remove(guide)
    assert [source.quote for source in lessons.sources(db, id)] == ["The heron nests in May."]
    with pytest.raises(NotFound):
        memory.documents.remove(guide)


def test_no_link_leads_out_of_a_folder(memory: Hardwon, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("An outsider.\n")
    (notes / "link.md").symlink_to(tmp_path / "outside.md")
    (notes / "loop").symlink_to(notes)
    assert len(memory.documents.ingest([notes]).new) == 3


def test_secrets_and_forgotten_words_stay_outside(memory: Hardwon, notes: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    (notes / "guide.md").write_text(f"# Keys\nThe token is {secret}.\n\n# Birds\nThe nightjar sings at dusk.\n")
    memory.documents.ingest([notes])
    assert secret not in repr(memory.reading().query("SELECT * FROM chunk"))
    memory.store.forget(text="nightjar sings at dusk")
    (notes / "guide.md").write_text("# Birds\nThe nightjar sings at dusk.\n\n# Fish\nThe cod is deep.\n")
    memory.documents.ingest([notes])
    said = repr(memory.reading().query("SELECT content FROM chunk"))
    assert ("nightjar" in said, "cod" in said) == (False, True)


def test_the_command_takes_in_lists_and_removes(hardwon: Run, notes: Path) -> None:
    assert "3 new" in hardwon("ingest", notes, "--project", "reef").stdout
    rows = json.loads(hardwon("ingest", "--list", "--json").stdout)
    assert len(rows) == 3
    assert "Guide" in hardwon("ingest", "--list").stdout
    assert hardwon("ingest", "--remove", rows[0]["path"]).returncode == 0
    assert len(json.loads(hardwon("ingest", "--list", "--json").stdout)) == 2
    done = hardwon("ingest", notes / "nowhere")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert hardwon("ingest").returncode == 2
