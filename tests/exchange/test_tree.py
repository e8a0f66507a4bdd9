"""Export, edit, import: a tree that people and git can work with. On both engines."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Hardwon, HardwonError, Merged
from hardwon.sessions.project import Project
from hardwon.store import lessons, projects
from hardwon.store.integrity import content_hash, whole_hash
from tests.conftest import EXAMPLES
from tests.exchange.conftest import Make, made_up_secret
from tests.store.test_lifecycle import row


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path / "tree"


def with_project(memory: Hardwon, key: str = "example.org/ada/reef") -> str:
    db = memory.writing()
    project = Project(key, "")
    with db.transaction():
        projects.save(db, project)
    return project.id


def add(memory: Hardwon, text: str, **more: object) -> str:
    project = with_project(memory)
    return memory.lessons.add(text, project=project, **more)  # type: ignore[arg-type]


def merged(memory: Hardwon, tree: Path, **options: bool) -> Merged:
    report = memory.store.import_tree(tree, **{"trusted": True, **options})
    assert isinstance(report, Merged)
    return report


def said(report: Merged) -> list[str]:
    return [change.what for change in report.changes]


def page(tree: Path, file: str = "repos/reef.md") -> Path:
    return tree / "knowledge" / file


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def content(tree: Path) -> dict[str, bytes]:
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in tree.rglob("*") if path.is_file()}


def test_the_tree_is_laid_out_as_knowledge_trees_are(memory: Hardwon, tree: Path) -> None:
    one = add(memory, "Run `make up` first.", kind="pitfall")
    memory.lessons.add("Never push to main.", kind="preference", scope="global")
    memory.lessons.add("Codex needs --full-auto.", kind="tool-quirk", scope="agent", agent="codex")
    done = memory.store.export(tree)
    assert sorted(content(tree)) == [
        "knowledge/agents/codex.md",
        "knowledge/global/preferences.md",
        "knowledge/index.json",
        "knowledge/repos/reef.md",
    ]
    assert (done.lessons, done.files, done.changed) == (3, 4, 4)
    lines = page(tree).read_text().splitlines()
    assert lines[0] == "# reef"
    assert lines[-3:] == ["## Pitfalls", "", f"- `{one} active 1.00 reviewer` Run `make up` first."]


def test_the_index_follows_the_schema_of_knowledge_trees(memory: Hardwon, tree: Path) -> None:
    first = add(memory, "Run `make up` first.", kind="pitfall")
    second = add(memory, "Ports are in the 7000s.")
    memory.review.link(first, "related", second)
    memory.lessons.add("Use uv.", kind="preference", scope="global")
    memory.store.export(tree)
    index = json.loads((tree / "knowledge" / "index.json").read_text())
    assert index["version"] == 1
    assert index["total_facts"] == len(index["facts"]) == 3
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", index["last_updated"])
    by_id = {fact["id"]: fact for fact in index["facts"]}
    assert set(by_id) == {"reef:pitfall:001", "reef:fact:001", "global:fact:001"}
    fact = by_id["reef:pitfall:001"]
    assert (fact["fact"], fact["category"], fact["domain"]) == ("Run `make up` first.", "pitfall", "reef")
    assert (fact["confidence"], fact["tags"], fact["related"]) == (1.0, [], ["reef:fact:001"])
    assert {"source_count", "first_seen", "last_confirmed", "expires"} <= set(fact)
    assert (fact["lesson"], fact["status"], fact["project"]) == (first, "active", "example.org/ada/reef")
    assert by_id["global:fact:001"]["kind"] == "preference"


def test_the_tree_of_one_project_has_that_projects_own_alone(memory: Hardwon, tree: Path) -> None:
    memory.harvest(EXAMPLES.rglob("*.jsonl"))
    memory.lessons.add("Use uv.", kind="preference", scope="global")
    done = memory.store.export(tree, project="tidepool")
    index = json.loads((tree / "knowledge" / "index.json").read_text())
    assert {fact["repo"] for fact in index["facts"]} == {"tidepool"}
    assert {repo for failure in index["failures"] for repo in failure["repos"]} == {"tidepool"}
    assert done.lessons == len(index["facts"]) == index["total_facts"]
    assert merged(memory, tree).changes == []
    assert memory.store.export(tree, project="tidepool").changed == 0


def test_a_round_trip_changes_nothing(memory: Hardwon, tree: Path) -> None:
    memory.harvest(EXAMPLES.rglob("*.jsonl"))
    memory.store.export(tree)
    before, bytes_before = whole_hash(memory.reading()), content(tree)
    report = merged(memory, tree)
    assert report.changes == []
    assert report.unchanged == len(memory.lessons.list()) > 5
    assert whole_hash(memory.reading()) == before
    done = memory.store.export(tree)
    assert (done.changed, done.removed) == (0, 0)
    assert content(tree) == bytes_before


HOSTILE = st.text(
    st.one_of(
        st.sampled_from("\\`<>&#;|!()[]*_-~ \n\tbr1L"),
        st.characters(exclude_characters="\x00", exclude_categories=("Cs",)),
    ),
    min_size=1,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(HOSTILE, min_size=1, max_size=5), names=st.lists(HOSTILE, min_size=1, max_size=3))
def test_any_lesson_of_any_project_and_agent_survives(
    make: Make, tmp_path_factory: pytest.TempPathFactory, texts: list[str], names: list[str]
) -> None:
    tree = tmp_path_factory.mktemp("tree")
    memory = make(tree.name)
    db = memory.writing()
    with db.transaction():
        for number, name in enumerate(names):
            projects.save(db, Project(f"{number}/{name}", ""))
            id = Project(f"{number}/{name}", "").id
            rows = [
                row(text, "active", id=f"L{number}{at:08x}", scope="project", project=id)
                for at, text in enumerate(texts)
            ]
            agents = [row(text, id=f"La{number}{at:08x}", scope="agent", agent=name) for at, text in enumerate(texts)]
            lessons.add(db, rows + agents, [])
    memory.store.export(tree)
    before = whole_hash(db)  # with the place of the export, which forgetting must know
    report = merged(memory, tree)
    assert (report.changes, report.unchanged) == ([], 2 * len(texts) * len(names))
    assert whole_hash(db) == before
    memory.close()


def test_what_a_person_changes_comes_back_as_their_decision(memory: Hardwon, tree: Path) -> None:
    kept, changed, dropped = (add(memory, f"Fact number {n}.") for n in (1, 2, 3))
    memory.store.export(tree)
    lines = page(tree).read_text().splitlines()
    lines = [line for line in lines if dropped not in line]
    page(tree).write_text("\n".join(lines) + "\n")
    edit(page(tree), f"`{changed} active 1.00 reviewer` Fact number 2.", f"`{changed} invalid 0.40 reviewer` Fact two.")
    edit(page(tree), "## Facts\n", "## Facts\n\n- A fact that a person adds.\n* Another <one>.\n")
    report = merged(memory, tree)
    assert sorted(said(report)) == ["add", "add", "archive", "edit"]
    assert report.unchanged == 1
    stored = {lesson.text: lesson for lesson in memory.lessons.list()}
    assert stored["Fact number 1."].id == kept
    assert (stored["Fact two."].status, stored["Fact two."].confidence) == ("invalid", 0.4)
    assert stored["Fact number 3."].status == "archived"
    new = stored["A fact that a person adds."]
    assert (new.status, new.trust, new.scope, new.kind) == ("active", "human", "project", "fact")
    assert stored["Another <one>."].project == stored["Fact number 1."].project
    assert {event.actor for event in memory.review.history()} == {"reviewer"}
    assert said(merged(memory, tree)) == []  # again, nothing
    assert new.id in page(tree).read_text()
    edit(page(tree), "A fact that a person adds.", "A fact that a person added.")
    assert said(merged(memory, tree)) == ["edit"]
    assert memory.lessons.get(new.id).lesson.text == "A fact that a person added."


def test_an_import_can_be_undone_step_by_step(memory: Hardwon, tree: Path) -> None:
    id = add(memory, "Fact number 1.")
    memory.store.export(tree)
    edit(page(tree), "Fact number 1.", "Fact number one.")
    merged(memory, tree)
    memory.review.undo(memory.review.history(id)[-1].number)
    assert memory.lessons.get(id).lesson.text == "Fact number 1."


def test_moving_a_line_moves_the_lesson(memory: Hardwon, tree: Path) -> None:
    id = add(memory, "Use uv.", kind="fact")
    memory.store.export(tree)
    line = next(line for line in page(tree).read_text().splitlines() if id in line)
    add(memory, "Something else.")
    edit(page(tree), line, "")
    (tree / "knowledge" / "global").mkdir()
    page(tree, "global/preferences.md").write_text(f"# global\n\n## Preferences\n\n{line}\n")
    assert said(merged(memory, tree)) == ["edit"]
    lesson = memory.lessons.get(id).lesson
    assert (lesson.scope, lesson.project, lesson.kind) == ("global", "", "preference")
    assert id not in page(tree).read_text()
    assert id in page(tree, "global/preferences.md").read_text()


def test_a_line_brought_back_from_history_restores_its_lesson(memory: Hardwon, tree: Path) -> None:
    id = add(memory, "Use uv.")
    add(memory, "Use ruff.")
    memory.store.export(tree)
    before = page(tree).read_text()
    memory.review.archive(id)
    memory.store.export(tree)
    assert id not in page(tree).read_text()
    page(tree).write_text(before)
    assert said(merged(memory, tree)) == ["edit"]
    assert memory.lessons.get(id).lesson.status == "active"


def test_where_both_changed_the_store_wins_unless_told_otherwise(memory: Hardwon, tree: Path) -> None:
    both, gone = (add(memory, f"Fact number {n}.") for n in (1, 2))
    memory.store.export(tree)
    memory.review.edit(both, text="The store's words.")
    memory.review.edit(gone, text="The store's second.")
    edit(page(tree), "Fact number 1.", "The tree's words.")
    lines = [line for line in page(tree).read_text().splitlines() if gone not in line]
    page(tree).write_text("\n".join(lines))
    report, edited = merged(memory, tree), content(tree)
    assert said(report) == ["conflict", "conflict"]
    assert content(tree) == edited
    assert "The store's words." in report.changes[0].says
    assert memory.lessons.get(both).lesson.text == "The store's words."
    assert memory.lessons.get(gone).lesson.status == "active"
    assert sorted(said(merged(memory, tree, theirs=True))) == ["archive", "edit"]
    assert memory.lessons.get(both).lesson.text == "The tree's words."


def test_different_changes_of_one_lesson_are_no_conflict(memory: Hardwon, tree: Path) -> None:
    id = add(memory, "Fact number 1.")
    memory.store.export(tree)
    memory.review.edit(id, tags=["net"], confidence=0.8)
    edit(page(tree), "Fact number 1.", "Fact number one.")
    assert said(merged(memory, tree)) == ["edit"]
    lesson = memory.lessons.get(id).lesson
    assert (lesson.text, lesson.tags, lesson.confidence) == ("Fact number one.", ("net",), 0.8)


def test_a_dry_run_tells_the_same_and_does_nothing(memory: Hardwon, tree: Path) -> None:
    add(memory, "Fact number 1.")
    memory.store.export(tree)
    edit(page(tree), "Fact number 1.", "Fact number one.")
    before = whole_hash(memory.reading())
    rehearsed, files = merged(memory, tree, dry_run=True), content(tree)
    assert (whole_hash(memory.reading()), content(tree)) == (before, files)
    assert merged(memory, tree).changes == rehearsed.changes


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ("`{id} activ 1.00 x` Fact number 1.", "'activ' is not a status"),
        ("`{id} candidate 1.00 x` Fact number 1.", "cannot become a candidate"),
        ("`{id} superseded 1.00 x` Fact number 1.", "superseded"),
        ("`{id} active 1.50 x` Fact number 1.", "from 0 to 1"),
        ("`{id} active 1.00 x`", "cannot be empty"),
    ],
)
def test_a_change_that_cannot_be_made_is_refused_with_the_reason(
    memory: Hardwon, tree: Path, new: str, why: str
) -> None:
    id = add(memory, "Fact number 1.")
    memory.store.export(tree)
    before = content_hash(memory.reading())
    edit(page(tree), f"`{id} active 1.00 reviewer` Fact number 1.", new.format(id=id))
    (change,) = merged(memory, tree).changes
    assert change.what == "refused"
    assert why in change.says
    assert (change.file, change.line) == ("repos/reef.md", 7)
    assert content_hash(memory.reading()) == before


def test_a_file_of_an_unknown_project_is_refused(memory: Hardwon, tree: Path) -> None:
    add(memory, "Fact number 1.")
    memory.store.export(tree)
    page(tree, "repos/reeef.md").write_text("- New.\n")
    (change,) = merged(memory, tree).changes
    assert (change.what, "reeef" in change.says) == ("refused", True)


def test_what_is_added_is_scrubbed(memory: Hardwon, tree: Path) -> None:
    add(memory, "Fact number 1.")
    memory.store.export(tree)
    secret = made_up_secret()
    edit(page(tree), "## Facts\n", f"## Facts\n\n- Log in with {secret} first.\n")
    report = merged(memory, tree)
    assert report.redactions == 1
    assert not any(secret in lesson.text for lesson in memory.lessons.list())
    assert secret not in report.changes[0].says


def test_an_export_never_drops_edits_that_were_not_imported(memory: Hardwon, tree: Path) -> None:
    add(memory, "Fact number 1.")
    memory.store.export(tree)
    edit(page(tree), "Fact number 1.", "Fact number one.")
    with pytest.raises(HardwonError, match="not imported"):
        memory.store.export(tree)
    memory.store.export(tree, force=True)
    assert "Fact number 1." in page(tree).read_text()


def test_a_tree_without_markdown_does_not_archive_everything(memory: Hardwon, tree: Path) -> None:
    add(memory, "Fact number 1.")
    memory.store.export(tree)
    page(tree).unlink()
    with pytest.raises(HardwonError, match="archive every lesson"):
        memory.store.import_tree(tree)


def test_projects_of_one_name_have_files_of_their_own(memory: Hardwon, tree: Path) -> None:
    for key in ("example.org/ada/reef", "example.org/bob/Reef"):
        memory.lessons.add(f"Of {key}.", project=with_project(memory, key))
    memory.store.export(tree)
    files = sorted(path.name for path in (tree / "knowledge" / "repos").iterdir())
    assert len(files) == 2
    assert all(re.fullmatch(r"[Rr]eef-[0-9a-f]{8}\.md", file) for file in files)
    assert said(merged(memory, tree)) == []


def test_a_file_that_has_no_lessons_left_goes(memory: Hardwon, tree: Path) -> None:
    id = add(memory, "Fact number 1.")
    memory.lessons.add("Everywhere.", scope="global")
    memory.store.export(tree)
    memory.review.archive(id)
    assert memory.store.export(tree).removed == 1
    assert not page(tree).exists()
    assert memory.store.export(tree, everything=True).lessons == 2


def test_a_tree_of_another_store_is_only_proposed(make: Make, memory: Hardwon, tree: Path) -> None:
    add(memory, "Fact number 1.", kind="pitfall")
    memory.store.export(tree)
    other = make("other")
    report = other.store.import_tree(tree)
    assert not isinstance(report, Merged)
    assert report.added["lessons"] == 1
    (lesson,) = other.lessons.list()
    assert (lesson.status, lesson.trust, lesson.kind) == ("candidate", "untrusted", "pitfall")
    assert other.lessons.get(lesson.id).sources[0].origin == "import"
    again = other.store.import_tree(tree)
    assert not isinstance(again, Merged)
    assert again.added == {}
    with pytest.raises(HardwonError, match="another store"):
        other.store.export(tree)


def test_a_merge_conflict_of_git_is_not_read(memory: Hardwon, tree: Path) -> None:
    add(memory, "Fact number 1.")
    memory.store.export(tree)
    edit(page(tree), "## Facts\n", "<<<<<<< HEAD\n## Facts\n=======\n>>>>>>> other\n")
    with pytest.raises(HardwonError, match="unresolved merge conflict"):
        memory.store.import_tree(tree)


def test_a_wrapped_line_and_windows_line_ends_change_nothing(memory: Hardwon, tree: Path) -> None:
    add(memory, "A fact that is rather long and wraps.")
    memory.store.export(tree)
    text = page(tree).read_text().replace("rather long", "rather\n  long").replace("\n", "\r\n")
    page(tree).write_bytes(text.encode())
    assert said(merged(memory, tree)) == []
