"""What a task brings into a briefing: earlier tries, documents, lessons whose file is still there."""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec import structs

from hardwon import Attempt, Hardwon, Outcome
from hardwon.sessions.project import Project
from hardwon.store import lessons, projects
from hardwon.store.lessons import LessonRow
from tests.conftest import ClaudeSession

DAY = 86_400_000_000


def test_a_failed_try_at_something_like_it_is_told_with_its_error_and_files(home: Path) -> None:
    with Hardwon(home) as memory:
        memory.journal.log(
            Attempt(
                "Add a lock to the spool writer",
                outcome=Outcome.FAILURE,
                files=["src/store/spool.py"],
                test_results="ModuleNotFoundError: No module named 'asyncpg'",
                project="reef",
            )
        )
        memory.journal.log(Attempt("Paint the shed", outcome=Outcome.FAILURE, project="reef"))
        memory.journal.log(Attempt("Add a lock to the spool reader", outcome=Outcome.SUCCESS, project="reef"))
        made = memory.bootstrap("reef", task="Add a lock to the spool writer in src/store/spool.py")
        (line,) = [line for line in made.lines if line.kind == "attempt"]
        assert line.text.startswith("Tried 20")
        assert "Add a lock to the spool writer → failure with ModuleNotFoundError" in line.text
        assert "touched src/store/spool.py" in line.why
        assert made.lanes["attempt"] == 1
        assert not [line for line in memory.bootstrap("reef", task="Boil an egg").lines if line.kind == "attempt"]
        assert not [line for line in memory.bootstrap("reef").lines if line.kind == "attempt"]


def test_a_try_is_told_briefly_and_only_if_its_task_says_something(home: Path) -> None:
    task = "Stop the tide importer from reading the harbour list twice for every station, and say so in the notes"
    files = ["/home/ann/src/reef/docs/notes.md", "/home/ann/src/reef/tide/importer.py", "/home/ann/src/reef/a/b.py"]
    with Hardwon(home) as memory:
        for tried in (task, "Address 3, 8, 11 and 25"):
            memory.journal.log(Attempt(tried, outcome=Outcome.FAILURE, files=files, phase="verify", project="reef"))
        for question in (f"{task} in importer.py", "address 3 in importer.py"):
            (told,) = [line.text for line in memory.bootstrap("reef", task=question).lines if line.kind == "attempt"]
            assert told.endswith("and say so in the… → failure (tide/importer.py, docs/notes.md).")


def test_a_try_that_does_not_speak_of_the_task_is_told_to_nobody(home: Path) -> None:
    with Hardwon(home) as memory:
        tried = [
            Attempt("have a look at the review comments", files=["website/docs/update.md"], outcome=Outcome.FAILURE),
            Attempt("please update the docs of the harbour", files=["docs/a.md"], outcome=Outcome.UNKNOWN),
            Attempt("Create a plan for the tide tests", files=["a.py"], outcome=Outcome.FAILURE, reflection="fix it"),
        ]
        for one in tried:
            memory.journal.log(structs.replace(one, project="reef"))
        assert next(one.attempt.task for one in memory.journal.similar("update the docs")) == tried[1].task
        for task in ("update the docs", "make the tide tests of the harbour run in parallel"):
            assert not [line for line in memory.bootstrap("reef", task=task).lines if line.kind == "attempt"]


def test_of_a_try_no_file_is_told_that_lay_in_a_folder_of_the_moment(home: Path) -> None:
    files = ["$d/main.go", "~\\AppData\\Local\\Temp\\x\\spec.md", "/tmp/y/z.py", "D:\\reef\\src\\tide.go"]
    with Hardwon(home) as memory:
        memory.journal.log(Attempt("Mend the tide reader", outcome=Outcome.FAILURE, files=files, project="reef"))
        (line,) = [one for one in memory.bootstrap("reef", task="mend the tide reader").lines if one.kind == "attempt"]
    assert line.text.endswith("Mend the tide reader → failure (src/tide.go).")


def test_an_old_try_is_worth_less_than_a_recent_one(home: Path) -> None:
    moment = datetime.now(UTC)
    with Hardwon(home) as memory:
        for days in (400, 1):
            memory.journal.log(
                Attempt(
                    "Add a lock to the spool writer",
                    outcome=Outcome.FAILURE,
                    project="reef",
                    at=moment - timedelta(days=days),
                )
            )
        lines = memory.bootstrap("reef", task="Add a lock to the spool writer").lines
        old, recent = sorted(line.score for line in lines if line.kind == "attempt")
        assert old < recent / 2


def test_documents_come_last_and_only_where_they_fit_the_task(home: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Release\nTag the commit, then publish the wheel with `make release`.\n\n# Birds\nHerons.\n")
    with Hardwon(home) as memory:
        memory.documents.ingest([notes], project="reef")
        memory.lessons.add("Releases need a tag.", project="reef")
        made = memory.bootstrap("reef", task="publish the release wheel")
        assert [line.kind for line in made.lines] == ["fact", "chunk"]
        assert "notes.md > Release: Tag the commit" in made.lines[-1].text
        assert [line.kind for line in memory.bootstrap("reef", task="boil an egg").lines] == ["fact"]


@pytest.mark.parametrize(
    ("after", "told", "reason"),
    [
        ("first\nsecond\nthird\nfourth\nfifth\nsixth\n", True, ""),
        ("first\nsecond\nthird\nnew line\nfifth\nsixth\nseventh\n", True, ""),
        ("\n".join(f"quite another {n}" for n in range(40)), False, "src/app.py has changed beyond recognition"),
        (None, False, "src/app.py is gone"),
    ],
)
def test_a_lesson_is_withheld_when_its_file_is_gone_or_another_one(
    home: Path, tmp_path: Path, after: str | None, told: bool, reason: str
) -> None:
    project = tmp_path / "reef"
    file = project / "src" / "app.py"
    file.parent.mkdir(parents=True)
    file.write_text("first\nsecond\nthird\nfourth\nfifth\nsixth\n")
    said = ClaudeSession("s", cwd=str(project)).user("Always read src/app.py before you change the parser.")
    with Hardwon(home) as memory:
        memory.harvest([said.write(tmp_path / "logs")])
        assert len(memory.bootstrap(str(project)).lines) == 1
        if after is None:
            file.unlink()
        else:
            file.write_text(after)
        made = memory.bootstrap(str(project))
        assert (len(made.lines) == 1, [left.reason for left in made.left_out]) == (told, [reason] if reason else [])


STORES = int(os.environ.get("NEEDLE_STORES", "3"))
WORDS = (
    "anchor basalt canyon delta estuary fjord glacier harbour inlet jetty kelp lagoon marsh narrows oyster pier quay "
    "rapids shoal tarn upland valley wharf xenolith yawl zephyr breaker current dune eddy foam gulf haven isthmus"
).split()
TOOLS = "pytest cargo docker kubectl terraform gradle webpack eslint psql redis celery nginx ansible bazel".split()


def test_the_one_lesson_that_fits_is_found_among_ten_thousand(tmp_path: Path) -> None:
    found = [needle(tmp_path / str(seed), seed) for seed in range(STORES)]
    present = sum(told for told, _ in found) / len(found)
    irrelevant = sum(strange for _, strange in found) / len(found)
    assert present >= 0.95
    assert irrelevant <= 0.1


def needle(home: Path, seed: int) -> tuple[bool, float]:
    """Whether the pitfall for a task was told, and the share of lines that have nothing to do with it."""
    chance = random.Random(seed)
    with Hardwon(home) as memory:
        db = memory.writing()
        project = Project("reef", "")
        tool, thing = chance.choice(TOOLS), f"{chance.choice(WORDS)}_{chance.choice(WORDS)}"
        pitfall = f"`{tool} {thing}` fails unless the {chance.choice(WORDS)} cache is cleared first."
        rows = [row(f"L{n:016x}", _filler(chance, {tool, thing}), chance, project.id) for n in range(9_999)]
        rows.append(row("Lneedle", pitfall, chance, project.id)._replace(kind="pitfall"))
        with db.transaction():
            projects.save(db, project)
            lessons.add(db, rows, [])
        made = memory.bootstrap("reef", task=f"The {tool} step for {thing} fails in CI, find out why and fix it")
        told = {line.id for line in made.lines}
        strangers = sum(tool not in line.text and thing not in line.text for line in made.lines)
        return "Lneedle" in told, strangers / max(1, len(made.lines))


def _filler(chance: random.Random, but: set[str]) -> str:
    tool = chance.choice([name for name in TOOLS if name not in but])
    one, two, three = (chance.choice(WORDS) for _ in range(3))
    return f"The {one} {two} needs `{tool} --{three}` after every change of {chance.choice(WORDS)}.toml."


def row(id: str, text: str, chance: random.Random, project: str) -> LessonRow:
    at = 1_790_000_000_000_000 + chance.randrange(0, 30) * DAY
    return LessonRow(
        id=id, kind=chance.choice(["fact", "pitfall", "pattern", "tool-quirk"]), text=text, scope="project",
        project=project, agent="", base_confidence=0.9, confidence=chance.choice([0.8, 0.85, 0.9, 0.95]),
        status="active", trust="measured", rule="r", failure="", first_seen=at, last_confirmed=at, source_count=1,
        harvester_version=1,
    )  # fmt: skip
