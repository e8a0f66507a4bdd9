"""`hardwon forget` on real files: the test looks at every byte below the home folder itself."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
from pathlib import Path

import apsw
import pytest

from hardwon import BadConfig, Hardwon, NotAllowed, NotFound, StoreError
from hardwon.api import forget
from hardwon.clock import now
from hardwon.sessions import mentions
from hardwon.sessions.scan import CACHE
from hardwon.store import database, fulltext, meta, spool
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import EXAMPLES, REPOSITORY, ClaudeSession, Run
from tests.forked import COMMANDS
from tests.hook.conftest import example, hook

CANARY = "Nightjar Ledger"
WORDS = re.compile(rb"nightjar[^a-z]{0,8}ledger", re.IGNORECASE)
LESSON = f"Always file tides in the {CANARY} of Zanzibar."


def session(name: str = "s-canary", day: int = 1, cwd: str = "/srv/work/reef") -> ClaudeSession:
    return (
        ClaudeSession(name, cwd=cwd, day=day)
        .user(LESSON)
        .run("nightjar-ledger sync --deep", "ModuleNotFoundError: No module named 'nightjar_ledger'", exit_code=1)
        .run("uv sync --extra nightjar-ledger", "ok")
        .run("nightjar-ledger sync --deep", "done")
    )


def everywhere(home: Path) -> list[str]:
    """The files below the home folder in whose bytes the canary stands."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if WORDS.search(path.read_bytes()))


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return session().write(tmp_path / "transcripts")


@pytest.fixture
def memory(home: Path, transcript: Path) -> Hardwon:
    """The examples and the canary, with a backup, a cache, a log and exports that hold it, too."""
    memory = Hardwon(home)
    memory.harvest([*EXAMPLES.rglob("*.jsonl"), transcript])
    memory.close()  # what the journal had is in the database now
    lesson = next(lesson for lesson in memory.lessons.list() if lesson.text == LESSON)
    memory.review.edit(lesson.id, tags=["zanzibar"], why=LESSON)
    db = memory.writing()
    assert isinstance(db, SqliteDatabase)
    (home / "backups").mkdir()
    db.copy_to(home / "backups" / "monday.db")
    memory.sample([transcript])
    (home / "capture-error.txt").write_text(f"at start\n{LESSON}\n")
    exported = home / "export"
    exported.mkdir()
    lessons = [{"id": lesson.id, "text": lesson.text} for lesson in memory.lessons.list()]
    (exported / "lessons.json").write_text(json.dumps({"version": 1, "lessons": lessons}))
    (exported / "lessons.md").write_text("".join(f"- {lesson['text']}\n" for lesson in lessons))
    (exported / "lessons.jsonl").write_text("".join(json.dumps(lesson) + "\n" for lesson in lessons))
    expected = {"hardwon.db", "hardwon.db-wal", "monday.db", "capture-error.txt"}
    assert expected | {"lessons.json", "lessons.jsonl", "lessons.md"} == set(everywhere(home))
    return memory


def test_a_text_is_gone_from_every_byte_of_the_home_folder_and_stays_gone(
    memory: Hardwon, home: Path, transcript: Path
) -> None:
    done = memory.store.forget(text="nightjar ledger")
    assert (done.left, everywhere(home)) == ([], [])
    assert done.transcripts == [str(transcript)]
    assert [found.name for found in memory.store.check() if not found.ok] == ["capture"], (
        "the log is there, but for the canary"
    )
    transcript.touch()
    memory.harvest([transcript])
    copy = transcript.with_name("copy.jsonl")
    shutil.copy(transcript, copy)
    memory.harvest([copy, session("s-another", day=2).write(transcript.parent)])
    memory.sample([transcript, copy])
    memory.close()
    assert everywhere(home) == []


SPELLINGS: dict[str, str | bytes] = {
    "projects/-srv-reef/output.jsonl": '{"stdout": "see NIGHTJAR\\n  Ledger-2"}',
    "projects/-srv-reef/s-1/tool-results/b1.txt": "the nightjar_ledgers of old",
    "projects/-srv-reef/s-1/far.txt": "tide " * 4_000_000 + "Nightjar  ledger",
    "projects/-srv-reef/s-1/bytes.bin": b"\x00\xffnightjar ledger\xfe",
    "history.jsonl": '{"display": "nightjar ledger"}',
}
OTHERS: dict[str, str | bytes] = {
    "projects/-srv-reef/apart.jsonl": '{"text": "a ledger of the nightjar"}',
    "projects/-srv-reef/one-word.txt": "nightjarledger",
}


def test_all_files_of_the_agents_that_say_a_text_are_named_whatever_the_store_knows_of_them(
    memory: Hardwon, transcript: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hardwon: Run
) -> None:
    agent = tmp_path / "claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(agent))
    for name, said in (SPELLINGS | OTHERS).items():
        (agent / name).parent.mkdir(parents=True, exist_ok=True)
        (agent / name).write_bytes(said if isinstance(said, bytes) else said.encode())
    saying = sorted(str(path) for path in (transcript, *(agent / name for name in SPELLINGS)))
    known = len(memory.reading().query("SELECT path FROM source"))
    plan = memory.store.forget(text="nightjar ledger", dry_run=True)
    assert (plan.transcripts, plan.looked_at) == (saying, known + len(SPELLINGS) + len(OTHERS))
    said = hardwon("forget", "--text", "NIGHTJAR ledger", "--yes").stdout
    assert f"{len(saying)} of the {plan.looked_at} that were searched" in said
    again = hardwon("forget", "--text", "NIGHTJAR ledger", "--dry-run")
    assert (again.returncode, "nothing was changed" in again.stderr) == (1, True)
    assert f"{len(saying)} of the {plan.looked_at} files" in again.stderr, "they are named on"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ÜBERGABE", '{"text": "die \\u00fcbergabe"}'),
        ("übergabe", "DIE ÜBERGABE"),
        ("滑块", '{"text": "\\u6ed1\\u5757"}'),
        ("滑块", "编写滑块组件"),
        ("Über alles", "über\u00a0ALLES"),
    ],
)
def test_letters_of_any_alphabet_are_found_in_either_case(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "said.jsonl"
    file.write_text(said)
    assert mentions.saying(meta.words(text), [str(file)]).holding == {str(file)}


def test_a_file_that_cannot_be_searched_is_told(tmp_path: Path) -> None:
    file = tmp_path / "damaged.jsonl.zst"
    file.write_bytes(b"no compression")
    assert mentions.saying(["nightjar"], [str(file)]) == (set(), 0, [str(file)])


def test_the_rest_of_the_store_and_of_its_copies_stays(memory: Hardwon, home: Path) -> None:
    before = {lesson.text for lesson in memory.lessons.list()}
    memory.store.forget(text="nightjar ledger")
    after = {lesson.text for lesson in memory.lessons.list()}
    assert before - after == {text for text in before if WORDS.search(text.encode())}
    copy = SqliteDatabase(home / "backups" / "monday.db")
    assert {row[0] for row in copy.query("SELECT text FROM lesson")} == after
    copy.close()
    assert [path.name for path in (home / "backups").iterdir()] == ["monday.db"]
    exported = json.loads((home / "export" / "lessons.json").read_text())
    assert exported["version"] == 1
    assert {lesson["text"] for lesson in exported["lessons"]} == after
    assert (home / "export" / "lessons.md").read_text().count("\n") == len(after)
    assert (home / "capture-error.txt").read_text() == "at start\n"


def test_a_session_is_forgotten_by_its_transcript(memory: Hardwon, home: Path, transcript: Path) -> None:
    sessions = memory.store.totals()["sessions"]
    done = memory.store.forget(session=str(transcript))
    assert (done.left, everywhere(home)) == ([], [])
    assert memory.store.totals()["sessions"] == sessions - 1
    assert not (home / CACHE).exists()
    transcript.touch()
    assert memory.harvest([transcript]).sessions == 0
    assert (everywhere(home), WORDS.findall(transcript.read_bytes())) != ([], [])


def test_a_project_is_forgotten_by_its_name(memory: Hardwon, home: Path, transcript: Path) -> None:
    done = memory.store.forget(project="reef")
    assert (done.left, everywhere(home)) == ([], [])
    memory.harvest([session("s-new", day=7).write(transcript.parent)])
    assert everywhere(home) == []
    assert "reef" not in {project.name for project in memory.store.projects()}


def test_new_sessions_of_a_forgotten_name_are_not_even_counted(memory: Hardwon, home: Path, transcript: Path) -> None:
    memory.store.forget(text="nightjar ledger")
    plain = ClaudeSession("s-plain", day=8).user("Hello.").write(transcript.parent)
    inside = ClaudeSession("s-inside", cwd="/srv/work/nightjar-ledger").user("Hello.").write(transcript.parent)
    named = ClaudeSession("s-named").user("Hello.").write(transcript.parent / "-srv-work-nightjar-ledger")
    assert [Path(found.path) for found in memory.sample([plain, inside, named])] == [plain]
    assert memory.harvest([plain, inside, named], most=1).sessions == 1
    memory.sample([plain, inside, named])
    assert everywhere(home) == []
    assert (home / CACHE).exists()


def test_a_failure_and_a_lesson_are_forgotten_by_their_ids(memory: Hardwon, home: Path, transcript: Path) -> None:
    failure = next(row for row in memory.failures.list() if "nightjar" in row.error)
    assert memory.store.forget(failure.id[:9]).left == []
    lesson = next(lesson for lesson in memory.lessons.list() if lesson.text == LESSON)
    done = memory.store.forget(lesson.id)
    assert done.rows["lesson"] == 1
    assert "other rows say the same" in done.left[0]  # the prompt that it comes from, kept as the task
    assert memory.store.forget(text=LESSON).left == []
    for file in (path for path in home.rglob("*") if path.is_file()):
        content = file.read_bytes()
        assert not re.search(rb"nightjar ledger of zanzibar", content, re.IGNORECASE), file
        assert failure.id.encode() not in content, file
        assert lesson.id.encode() not in content, file
    memory.harvest([session("s-again", day=3).write(transcript.parent)])
    assert [lesson.text for lesson in memory.lessons.list() if "Zanzibar" in lesson.text] == []


def test_a_dry_run_tells_the_same_and_changes_nothing(memory: Hardwon, home: Path) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and path.name != "hardwon.db-shm"}
    plan = memory.store.forget(text="nightjar ledger", dry_run=True)
    assert {path: path.read_bytes() for path in before} == before
    done = memory.store.forget(text="nightjar ledger")
    assert (plan.rows, plan.files, plan.transcripts) == (done.rows, done.files, done.transcripts)


def test_forgetting_what_is_nowhere_says_so_and_changes_nothing(memory: Hardwon, home: Path) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    for nowhere in (
        lambda: memory.store.forget(text="a heron nobody saw"),
        lambda: memory.store.forget(session="s-unknown"),
    ):
        with pytest.raises(NotFound, match="nothing was"):
            nowhere()
    assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(NotAllowed, match="at least 3"):
        memory.store.forget(text="a-")


def test_what_cannot_be_cleaned_is_named(memory: Hardwon, home: Path) -> None:
    (home / "odd.bin").write_bytes(b"\xff\x00" + CANARY.encode() + b"\xff")
    (home / "config.toml").write_text(f'database = ""  # {CANARY}\n')
    left = memory.store.forget(text="nightjar ledger").left
    assert [line.partition(":")[0] for line in left] == [str(home / "config.toml"), str(home / "odd.bin")]


def test_the_same_words_in_another_row_are_said_and_exit_one(memory: Hardwon, hardwon: Run) -> None:
    memory.lessons.add(f"Remember: {LESSON}", scope="global")
    lesson = next(lesson for lesson in memory.lessons.list() if lesson.text == LESSON)
    memory.close()
    done = hardwon("forget", lesson.id, "--yes")
    assert done.returncode == 1
    assert "other rows say the same" in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_only_the_free_space_of_a_database_holds_is_gone_too(memory: Hardwon, home: Path) -> None:
    for path in (home / "hardwon.db", home / "backups" / "monday.db"):
        connection = apsw.Connection(str(path))
        connection.execute("PRAGMA secure_delete = OFF")
        rows = [(str(n), f"{LESSON} {'tide ' * 300}") for n in range(50)]
        connection.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", rows)
        connection.execute("DELETE FROM meta WHERE length(value) > 1000")
        connection.close()
    memory.close()
    assert len(WORDS.findall((home / "hardwon.db").read_bytes())) > 40
    assert (memory.store.forget(text="nightjar ledger").left, everywhere(home)) == ([], [])


def test_a_copy_from_before_an_upgrade_is_deleted_if_it_holds_it_and_kept_if_not(memory: Hardwon, home: Path) -> None:
    packed = REPOSITORY / "tests" / "data" / "schema" / "0001.db.gz"
    for name, text in (("hardwon.schema1.db", CANARY), ("other.db", "heron")):
        (home / name).write_bytes(gzip.decompress(packed.read_bytes()))
        apsw.Connection(str(home / name)).execute("INSERT INTO project VALUES ('P1', ?, 'x')", (text,))
    done = memory.store.forget(text="nightjar ledger")
    assert (done.left, everywhere(home)) == ([], [])
    assert [file.path for file in done.files if "before an upgrade" in file.what] == [str(home / "hardwon.schema1.db")]
    assert sorted(path.name for path in home.glob("*.db")) == ["hardwon.db", "other.db"]


def test_an_export_elsewhere_is_reached_if_the_store_knows_of_it(memory: Hardwon, tmp_path: Path) -> None:
    away = tmp_path / "elsewhere" / "lessons.md"
    away.parent.mkdir()
    away.write_text(f"- {LESSON}\n- Tides turn.\n")
    db = memory.writing()
    with db.transaction():
        meta.remember_export(db, str(away))
    memory.store.forget(text="nightjar ledger")
    assert away.read_text() == "- Tides turn.\n"


def test_a_long_text_is_gone_though_the_file_cuts_it_in_pages(home: Path, tmp_path: Path) -> None:
    long = " ".join(f"word{n}" for n in range(3000))
    path = ClaudeSession().run(f"echo '{long}'", "Error: no such nest", exit_code=1).write(tmp_path)
    with Hardwon(home) as memory:
        memory.harvest([path])
        done = memory.store.forget(session=str(path))
        assert done.left == []
        assert b"word1499 word1500" not in (home / "hardwon.db").read_bytes()


def test_no_term_of_what_is_forgotten_stays_in_the_index(home: Path, tmp_path: Path) -> None:
    sessions = [
        ClaudeSession(f"s-{name}", cwd=f"/srv/work/{name}").run("echo tide", "Error: no tide", exit_code=1)
        for name in ("reef", "dune")
    ]
    with Hardwon(home) as memory:
        memory.harvest([one.write(tmp_path) for one in sessions])
        for n in range(100):
            for name, word in (("reef", "nightjar-ledger"), ("dune", "oystercatcher")):
                memory.lessons.add(" ".join(f"{word}{n}{k}" for k in range(9)), scope="project", project=name)
        memory.writing().execute("INSERT INTO search_index (search_index) VALUES ('optimize')")
        assert memory.store.forget(project="reef").left == []
        memory.close()
        assert (b"nightjar" in (home / "hardwon.db").read_bytes(), memory.store.healthy()) == (False, True)


def test_what_the_index_makes_of_other_rows_is_no_leftover(home: Path, tmp_path: Path) -> None:
    gone = ClaudeSession("s-gone", cwd="/srv/work/reef").run("npm diff README.md", "Error: no tide", exit_code=1)
    stays = ClaudeSession("s-stays", cwd="/srv/work/dune").user("See npm diff: README.md is what I wrote of the tide.")
    with Hardwon(home) as memory:
        memory.harvest([gone.write(tmp_path), stays.write(tmp_path)])
        terms = [some for entries in fulltext.indexed_terms(memory.reading()) for some in entries]
        assert any("npm diff readme.md" in some for some in terms)
        assert memory.store.forget(project="reef").left == []


def test_a_forgetting_that_leaves_something_can_be_repeated_until_it_is_done(
    memory: Hardwon, home: Path, hardwon: Run
) -> None:
    odd = home / "odd.bin"
    odd.write_bytes(b"\xff\x00" + LESSON.encode() + b"\xff")
    memory.close()
    command = ("forget", "--project", "reef", "--yes")
    for _ in range(2):
        done = hardwon(*command)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert f"{odd}: says it" in done.stderr
        assert "run the same command again" in done.stderr
        assert everywhere(home) == ["odd.bin"]
        assert "1 not verified" in hardwon("doctor").stdout
    odd.unlink()
    assert hardwon("forget", "--project", "dune", "--yes").returncode == 1  # another is not this one
    done = hardwon(*command)
    assert (done.returncode, "Verified" in done.stdout) == (0, True)
    assert "not verified" not in hardwon("doctor").stdout


def test_who_reads_older_pages_is_named_and_then_they_go(
    memory: Hardwon, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database.Patience, "__call__", lambda *_: False)
    reader = apsw.Connection(str(home / "hardwon.db"))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM session").fetchone()
    assert "another program has older pages" in memory.store.forget(project="reef").left[0]
    assert "hardwon.db" in everywhere(home)
    reader.close()
    assert (memory.store.forget(project="reef").left, everywhere(home)) == ([], [])


def test_a_session_is_named_by_the_beginning_of_its_id(memory: Hardwon, transcript: Path) -> None:
    (id,) = (one.id for one in memory.sessions.list() if one.external_id == "s-canary")
    with pytest.raises(NotFound, match="several"):
        memory.store.forget(session="S")
    assert memory.store.forget(session=id[:9]).transcripts == [str(transcript)]


def test_names_that_are_our_own_words_are_no_leftovers(memory: Hardwon) -> None:
    for word in ("session", "lesson", "ledger"):
        assert memory.store.forget(text=word).left == []


@pytest.mark.parametrize("form", ["NIGHTJAR ledger", "nightjar\tledger"])
def test_the_command_forgets_and_proves_it(form: str, memory: Hardwon, home: Path, hardwon: Run) -> None:
    memory.close()
    asked = hardwon("forget", "--text", form)
    assert (asked.returncode, "--yes" in asked.stderr) == (1, True)
    plan = json.loads(hardwon("forget", "--text", form, "--dry-run", "--json").stdout)
    assert everywhere(home)
    done = hardwon("forget", "--text", "-", "--yes", input=form + "\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Verified:" in done.stdout
    assert "files of your agents still contain it" in done.stdout
    assert plan["rows"]["lesson"] >= 1
    assert everywhere(home) == []
    again = hardwon("forget", "--text", form, "--yes")
    assert (again.returncode, again.stdout) == (1, "")
    assert "nothing was changed" in again.stderr


@pytest.mark.parametrize("arguments", [(), ("L1", "--text", "abc")])
def test_one_thing_must_be_named(arguments: tuple[str, ...], hardwon: Run) -> None:
    done = hardwon("forget", *arguments)
    assert done.returncode == 2
    assert "name exactly one thing" in done.stderr


def test_purge_drops_what_is_old_and_up_does_it_by_itself(home: Path, hardwon: Run) -> None:
    folder = Path(os.environ["HOME"]) / ".claude" / "projects" / "-srv-work-reef"
    old, new = session("old").write(folder), ClaudeSession("new", month=11).user("Always use uv here.").write(folder)
    with Hardwon(home) as memory:
        memory.harvest([old, new])
        db = memory.writing()
        with db.transaction():
            db.execute("UPDATE session SET ended_at = CASE WHEN external_id = 'old' THEN 1 ELSE ? END", (now(),))
    plan = json.loads(hardwon("purge", "--older-than", "26w", "--dry-run", "--json").stdout)
    assert plan["rows"]["session"] == 1
    assert hardwon("purge").returncode == 1
    assert hardwon("purge", "--older-than", "soon").returncode == 1
    hardwon("config", "retain_days", "3650")
    os.utime(old, (1, 1))
    assert hardwon("up").returncode == 0
    with Hardwon(home) as memory:
        assert memory.store.totals()["sessions"] == 1
        assert [lesson.text for lesson in memory.lessons.list()] == ["Always use uv here."]
    assert everywhere(home) == []


def test_a_negative_age_is_refused(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("HARDWON_RETAIN_DAYS", "-1")
    with pytest.raises(BadConfig, match="out of range"):
        Hardwon(home)


@pytest.mark.parametrize("way", ["text", "session", "lesson", "failure", "project"])
def test_no_hook_tells_what_was_forgotten_and_the_rest_of_its_project_is_told_on(
    home: Path, tmp_path: Path, hardwon: Run, way: str
) -> None:
    other = "Never rename the buoys of the harbour."
    sessions = [session(), ClaudeSession("s-other", cwd="/srv/work/reef", day=2).user(other)]
    with Hardwon(home) as memory:
        memory.harvest([each.write(tmp_path) for each in sessions])
        named = {
            "text": ("--text", CANARY),
            "session": ("--session", "s-canary"),
            "lesson": (next(lesson.id for lesson in memory.lessons.list() if lesson.text == LESSON),),
            "failure": (memory.failures.list()[0].id,),
            "project": ("--project", "reef"),
        }
    (home / "config.toml").write_text('experiment = "off"\n')
    asked = {
        "session-start": example("claude-code", "session-start"),
        "prompt": example("claude-code", "prompt", prompt=LESSON),
        "tool-failed": example("claude-code", "tool-failed", error="No module named 'nightjar_ledger'"),
    }

    def told(session: str) -> str:
        return "\n".join(hook(event, {**payload, "session_id": session}).stdout for event, payload in asked.items())

    assert LESSON in told("before")
    assert hardwon("forget", *named[way], "--yes").stdout.startswith("Removed or changed")
    said = told("after")
    gone = {"lesson": LESSON, "failure": "uv sync --extra"}
    assert gone[way] not in said if way in gone else not WORDS.search(said.encode())
    assert (other in said) is (way != "project")


KILLED_IN_FORGET = """
import os, signal, sys
import apsw
from hardwon import Hardwon
from hardwon.api import forget
left = int(sys.argv[1])
def trace(_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
with Hardwon() as memory:
    db = memory.writing()
    proven = forget.Forgetting._proven
    def die(self, *given):
        db._connection.trace_v2(apsw.SQLITE_TRACE_STMT, trace)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return proven(self, *given)
    forget.Forgetting._proven = die
    memory.store.forget(text=sys.argv[2])
"""


@pytest.mark.skipif(os.name == "nt", reason="needs a signal that nobody can catch")
@pytest.mark.parametrize("statement", [0, 1, 2, 5])
def test_one_that_was_killed_before_its_proof_is_finished_by_running_it_again(
    memory: Hardwon, home: Path, hardwon: Run, statement: int
) -> None:
    memory.close()
    died = COMMANDS.run(statement, CANARY, program=KILLED_IN_FORGET)
    assert died.returncode == -signal.SIGKILL
    again = hardwon("forget", "--text", CANARY, "--yes")
    assert (again.returncode, again.stderr) == (0, "")
    assert everywhere(home) == []
    assert hardwon("forget", "--text", CANARY, "--yes").returncode == 1  # now there is nothing left of it
    with Hardwon(home) as healthy:
        assert healthy.store.healthy()


def test_a_file_of_the_spool_that_vanishes_meanwhile_ends_nothing(
    memory: Hardwon, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.leave(str(home), "session-start", "codex", 1000, "")
    found_in = forget.Needles.found_in

    def while_it_is_drained(needles: forget.Needles, path: Path) -> set[bytes]:
        if path.name == spool.OPEN:
            path.rename(path.with_name("aside.jsonl"))
        return found_in(needles, path)

    monkeypatch.setattr(forget.Needles, "found_in", while_it_is_drained)
    assert memory.store.forget(text=CANARY).left == []
    assert (home / "spool" / "aside.jsonl").exists()


def test_on_a_full_disk_all_is_forgotten_with_its_lines_or_nothing_is(
    memory: Hardwon, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = "SELECT project, text FROM standing ORDER BY project, agent, rank"
    before = memory.reading().query(standing)

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(forget.Forgetting, "_on_record", full)
        with pytest.raises(StoreError, match="full"):
            memory.store.forget(text=CANARY)
    assert memory.reading().query(standing) == before
    memory.store.forget(text=CANARY)
    after = memory.reading().query(standing)
    assert set(after) < set(before)
    assert not any(WORDS.search(text.encode()) for _, text in after)
    assert meta.stale_projects(memory.reading()) != []
    memory.refresh_standing()  # as the next harvest does
    assert meta.stale_projects(memory.reading()) == []
    assert not any(WORDS.search(text.encode()) for _, text in memory.reading().query(standing))


def test_without_a_store_there_is_nothing_to_forget_and_none_is_made(home: Path, hardwon: Run) -> None:
    done = hardwon("forget", "--text", "project nightjar", "--dry-run")
    assert (done.returncode, "there is no store yet, so nothing to forget" in done.stderr) == (1, True)
    assert not (home / "hardwon.db").exists()
