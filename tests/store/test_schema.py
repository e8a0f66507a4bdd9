"""A column is declared once: everything that must know of it reads it there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hardwon
from hardwon.store import attempts, interactions, lessons, migrations, schema, sessions
from tests.store.old_stores import released

WITH_A_COLUMN = """
import io, sys
from pathlib import Path

from hardwon.api import convert
from hardwon.exchange import dump
from hardwon.store import check, forget, hook_data, lifecycle, migrations
from hardwon.store.database import connect
from hardwon.store.forget import Target, sequences
from hardwon.store.integrity import content_hash, reseal, whole_hash
from hardwon.store import lessons
from hardwon.store.lessons import LessonRow

where, tmp, newest = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
assert migrations.NEWEST == newest + 1
db = connect(where if where.startswith("postgresql") else Path(where), write=True)  # an older store is upgraded


def broken():
    return [f"{found.name}: {found.says}" for found in check.store(db) if not found.ok]


def reason(id):
    return db.query("SELECT reason FROM lesson WHERE id = ?", (id,))[0][0]


def set_reason(id, text):
    with db.transaction():
        db.execute("UPDATE lesson SET reason = ? WHERE id = ?", (text, id))


assert "reason" in db.columns()["lesson"]
assert broken() == []
old = db.query("SELECT id FROM lesson WHERE status = 'active' ORDER BY id")[0][0]
assert reason(old) == ""

with db.transaction():  # what is written by code that does not know of it is sealed all the same
    told = "Port 8080 is taken."
    row = LessonRow("", "fact", told, "global", None, "", .8, .8, "active", "human", "", "", 5, 5, 0, 0)
    new = lifecycle.create(db, row, [], actor="ada")
assert broken() == []

learned = content_hash(db)
set_reason(new, "the nightjar said so")
assert content_hash(db) != learned
assert any(new in found for found in broken()), "a changed column breaks the seal"
with db.transaction():
    reseal(db, "lesson", [new])
assert broken() == []

out = io.BytesIO()
dump.write(db, out)
assert '"reason":"the nightjar said so"' in out.getvalue().decode()
copy = connect(tmp / "copy.db", write=True)  # a new store has it from the beginning
out.seek(0)
with copy.transaction():
    dump.load(copy, out, trusted=True)
assert whole_hash(copy) == whole_hash(db)

shown = convert.lesson(lessons.get(db, new))
assert shown.reason == "the nightjar said so", "what the API tells of a lesson"

hook_data.write_mirror(db, tmp / "mirror.db")
seen = connect(tmp / "mirror.db")
assert seen.query("SELECT reason FROM lesson WHERE id = ?", (new,)) == [("the nightjar said so",)]

wanted = Target("text", text="nightjar")
with db.transaction():
    forget.remove(db, wanted, sequences(db, wanted.text), "ada")
assert db.query("SELECT id FROM lesson WHERE id = ?", (new,)) == []
assert reason(old) == ""
assert broken() == []
print("done")
"""


def copy_with(column: str, step: str, field: str, folder: Path) -> Path:
    """The package with one line more in the declaration, the list of steps and the lesson's fields; all else the same.

    Of these three files the last is needed only where the API is to tell the column.
    """
    package = Path(hardwon.__file__).parent
    copy = folder / "hardwon"
    for part in ("store", "model"):
        (copy / part).mkdir(parents=True)
    for entry in (*package.iterdir(), *(package / "store").iterdir(), *(package / "model").iterdir()):
        inside = copy / entry.relative_to(package)
        if not inside.exists() and entry.name not in ("__pycache__", "schema.py", "migrations.py", "lesson.py"):
            inside.symlink_to(entry)
    fields = (package / "model" / "lesson.py").read_text()
    (copy / "model" / "lesson.py").write_text(
        fields.replace("    kept: bool = False\n", f"    {field}\n    kept: bool = False\n")
    )
    declared = (package / "store" / "schema.py").read_text()
    before, last, after = declared.partition("    # `source` is a session, interaction, attempt, chunk,")
    at = before.rindex("        indexes=")
    (copy / "store" / "schema.py").write_text(f"{before[:at]}        {column},\n{before[at:]}{last}{after}")
    steps = (package / "store" / "migrations.py").read_text()
    (copy / "store" / "migrations.py").write_text(steps.replace("\nNEWEST = ", f"\nSTEPS += ({step},)\nNEWEST = "))
    return folder


def test_a_new_column_is_a_line_in_the_declaration_and_a_step(place: Path | str, tmp_path: Path) -> None:
    released(place, tmp_path)
    newest = migrations.NEWEST
    column = f'said("reason", "lesson", default="", sealed=True, since={newest + 1})'
    step = f'Step({newest + 1}, "lessons have a reason")'
    folder = copy_with(column, step, 'reason: str = ""', tmp_path / "changed")
    ran = subprocess.run(
        [sys.executable, "-c", WITH_A_COLUMN, str(place), str(tmp_path), str(newest)],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")


@pytest.mark.parametrize(
    ("table", "row", "besides"),
    [
        ("lesson", lessons.LessonRow, ()),
        ("lesson_source", lessons.Cited, ()),
        ("session", sessions.SessionRow, ()),
        ("call", sessions.CallRow, ()),
        ("interaction", interactions.InteractionRow, ()),
        ("attempt", attempts.AttemptRow, ("files",)),
    ],
)
def test_what_is_written_is_declared(table: str, row: type, besides: tuple[str, ...]) -> None:
    names = [name for name in row._fields if name not in besides]
    assert set(names) <= set(schema.TABLES.named[table].names)


def test_what_is_declared_of_a_table_is_there() -> None:
    known = schema.TABLES.named
    for table in schema.TABLES:
        named = {*table.key, *(name for names in table.unique for name in names)}
        named |= {name for index in table.indexes for name in index.columns.split()}
        named |= {name for name in table.sealed if name != "NULL"}
        assert named <= set(table.names), table.name
        assert all(target in known[parent].names for _, parent, target in table.refers)
        assert not table.counted_for or table.counted_for in known
        assert not table.sealed_with or table.sealed_with in known
        assert "seal" in table.names or not table.sealed
