"""A setting that is changed holds for the next hook, without another harvest; hooks and `bootstrap` agree."""

from __future__ import annotations

import gzip
import json
import secrets
from pathlib import Path

import apsw
import pytest

from hardwon import Hardwon
from hardwon.briefing.policy import LESSONS_TOLD, SPARE_OF_EACH
from hardwon.clock import now
from hardwon.home import MIRROR
from hardwon.store import lessons, meta
from hardwon.text.shown import estimate
from tests.conftest import REPOSITORY, ClaudeSession, Run
from tests.hook.conftest import example, hook
from tests.hook.test_prompt import ABOUT_IT, LESSON, REEF, asked, lesson, store

MANY = "asyncpg httpx numpy polars duckdb orjson".split()
CONFIDENCES = (0.2, 0.45, 0.5, 0.55, 0.69, 0.71, 0.8, 0.88, 0.92, 0.97, 1.0)
SETTINGS = [
    *({"budget": budget, "min_confidence": 0.7} for budget in (0, 60, 120, 300, 1999)),
    *({"budget": budget, "min_confidence": bar} for budget in (2000, 250) for bar in (0, 0.5, 0.9, 1)),
]


@pytest.fixture
def prepared(home: Path, tmp_path: Path) -> Path:
    """A store with failures and with lessons of every confidence, harvested with the settings as they come."""
    sessions = []
    for day in (1, 2):
        session = ClaudeSession(f"old-{day}", day=day).user("Always use uv in this project.")
        for name in MANY:
            session.run(f"python {name}.py", f"ModuleNotFoundError: No module named '{name}'", exit_code=1)
            session.run(f"uv add {name}", "ok").run(f"python {name}.py", "ok")
        sessions.append(session.write(tmp_path))
    with Hardwon(home) as memory:
        memory.harvest(sessions)
        db = memory.writing()
        known = [
            lesson(f"Gauge {number} of row {chr(97 + at)} is read twice a tide.", confidence=sure, kind=kind)
            for at, sure in enumerate(CONFIDENCES)
            for number, kind in enumerate(("fact", "preference", "pitfall", "pattern", "question", "fact"))
        ]
        with db.transaction():
            lessons.add(db, known, [])
            meta.mark_stale(db, [REEF.id])
        memory.refresh_standing()
    return home


def started(cwd: str = "/srv/work/reef") -> str:
    done = hook(
        "session-start", {**example("claude-code", "session-start", cwd=cwd), "session_id": secrets.token_hex(8)}
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def live(home: Path) -> str:
    with Hardwon(home) as memory:
        return memory.bootstrap("reef", agent="claude-code").text


@pytest.mark.parametrize("way", ["file", "command", "variable"])
@pytest.mark.parametrize("setting", [{"budget": 150}, {"min_confidence": 0.9}, {"min_confidence": 0.1}])
def test_a_changed_setting_reaches_the_next_session(
    prepared: Path, hardwon: Run, monkeypatch: pytest.MonkeyPatch, way: str, setting: dict[str, float]
) -> None:
    ((name, value),) = setting.items()
    before = live(prepared)
    if way == "file":
        (prepared / "config.toml").write_text(f"{name} = {value}\n")
    elif way == "command":
        assert hardwon("config", name, value).returncode == 0
    else:
        monkeypatch.setenv(f"HARDWON_{name.upper()}", str(value))
    assert before != live(prepared) == started()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_hooks_and_bootstrap_say_the_same_whatever_the_settings(prepared: Path, settings: dict[str, float]) -> None:
    (prepared / "config.toml").write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
    said = started()
    assert said == live(prepared)
    assert estimate(said) <= settings["budget"]


def test_a_higher_budget_is_filled_at_once(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as small:
        small.setenv("HARDWON_BUDGET", "120")
        prepare(prepared)
    assert len(started()) > 2000
    assert started() == live(prepared)


@pytest.mark.parametrize(
    ("confidence", "bar", "told"),
    [(0.72, "0.7", True), (0.72, "0.72", False), (0.72, "0.9", False), (0.4, "0.3", True), (1.0, "1", False)],
)
def test_a_prompt_is_answered_above_the_same_bar(home: Path, confidence: float, bar: str, *, told: bool) -> None:
    store(home, lesson(LESSON, confidence=confidence))
    (home / "config.toml").write_text(f"min_confidence = {bar}\n")
    assert (LESSON in asked(ABOUT_IT)) is told


def test_no_budget_means_no_reminder(home: Path) -> None:
    store(home, lesson(LESSON))
    (home / "config.toml").write_text("budget = 0\n")
    assert asked(ABOUT_IT) == ""


def prepare(home: Path) -> None:
    with Hardwon(home) as memory:
        db = memory.writing()
        with db.transaction():
            meta.mark_stale(db, [REEF.id])
        memory.refresh_standing()


def test_what_the_briefing_has_no_room_for_is_brought_up_by_a_prompt(home: Path) -> None:
    better = "Boats are counted at noon."
    store(home, lesson(LESSON), lesson(better, kind="preference"))
    prepare(home)
    assert LESSON in started()
    assert asked(ABOUT_IT) == "", "the briefing has told it"
    (home / "config.toml").write_text("budget = 90\n")
    said = started()
    assert better in said
    assert LESSON not in said
    assert LESSON in asked(ABOUT_IT, session="small")


def test_a_lesson_that_is_no_longer_valid_is_told_by_no_hook(home: Path) -> None:
    """The lines were prepared while it was."""
    store(home, lesson(LESSON))
    prepare(home)
    assert LESSON in started()
    with Hardwon(home) as memory, memory.writing().transaction():
        memory.writing().execute("UPDATE lesson SET valid_until = 1")
    assert started() == live(home) == ""


@pytest.mark.parametrize(
    "text",
    [
        '# database = "postgresql://team@db.invalid/lessons"\n',
        'llm_model = "postgres-expert"\n',
        "budget = 2000 # as in postgres\n",
        'database = "" # or "postgresql://team@db.invalid/lessons"\n',
    ],
)
@pytest.mark.parametrize("event", ["session-start", "tool-failed"])
def test_a_server_that_is_only_spoken_of_silences_nobody(harvested: Path, text: str, event: str) -> None:
    (harvested / "config.toml").write_text(text)
    assert hook(event, example("claude-code", event)).stdout


@pytest.mark.parametrize("text", ["budget = \n", "]][[\n", '"""', "budget = 1\nbudget = 2\n", "budget = -1\n"])
def test_a_broken_settings_file_silences_nobody_and_the_doctor_says_so(harvested: Path, text: str) -> None:
    (harvested / "config.toml").write_text(text)
    assert "Always use uv" in started()
    (harvested / "config.toml").unlink()
    with Hardwon(harvested) as memory:
        (shown,) = [check for check in memory.store.check() if not check.ok]
    assert (shown.name, "config.toml" in shown.says) == ("hook errors", True)


def test_a_database_that_cannot_be_made_out_is_not_taken_for_the_file_that_a_server_left(harvested: Path) -> None:
    (harvested / "config.toml").write_text('database = "postgresql://team@db.invalid/x\n')
    assert "Always use uv" in started()
    (harvested / MIRROR).write_bytes(b"")
    assert started() == ""


def test_a_store_of_the_first_schema_is_told_from_before_anybody_upgrades_it(home: Path) -> None:
    home.mkdir()
    database = home / "hardwon.db"
    database.write_bytes(gzip.decompress((REPOSITORY / "tests/data/schema/0001.db.gz").read_bytes()))
    db = apsw.Connection(str(database))
    ((folder, text),) = db.execute(
        "SELECT r.path, s.text FROM project_root r JOIN standing s ON s.project = r.project ORDER BY s.rank LIMIT 1"
    ).fetchall()
    db.close()
    assert text in started(cwd=folder.replace("~", "/home/dev"))


def test_lines_of_older_code_are_prepared_anew_by_the_next_refresh(prepared: Path) -> None:
    """They were only as many as the settings of their day took."""
    with Hardwon(prepared) as memory:
        db = memory.writing()
        many = db.query("SELECT count(*) FROM standing")
        with db.transaction():
            db.execute("DELETE FROM standing WHERE text LIKE 'Gauge 1%'")
            db.execute("DELETE FROM meta WHERE key = 'standing'")
        assert "Gauge" in started()
        memory.refresh_standing()
        assert db.query("SELECT count(*) FROM standing") == many


def test_a_changed_half_life_ranks_the_next_sessions_lines(home: Path, hardwon: Run) -> None:
    """There is room for one of two: the one that is surer, or the one that was seen since."""
    surer = lesson("Gauge one is read by the harbour.", confidence=0.99)
    newer = lesson("Gauge two is read by the harbour.", confidence=0.8, last_confirmed=now() - 1_000_000)
    store(home, surer, newer)
    (home / "config.toml").write_text("budget = 90\nhalf_life_days = 10\n")
    prepare(home)
    assert newer.text in started() == live(home)
    assert hardwon("config", "half_life_days", "100000").returncode == 0
    assert surer.text in started() == live(home)
    (home / "config.toml").write_text("budget = 90\nhalf_life_days = 10\n")
    with Hardwon(home) as memory:
        memory.refresh_standing()
    assert newer.text in started(), "a file changed by hand holds from the next change of the store on"


def test_enough_is_kept_ready_for_any_bar_and_no_more_than_that(home: Path) -> None:
    sure = [at / 400 for at in range(1, 400)]
    store(home, *(lesson(f"Gauge {at} is read twice.", confidence=each) for at, each in enumerate(sure)))
    prepare(home)
    with Hardwon(home) as memory:
        assert memory.reading().query("SELECT count(*) FROM standing") == [(LESSONS_TOLD + SPARE_OF_EACH,)]
    store(home, *(lesson(f"Boat {at} is counted.", confidence=0.3, kind="preference") for at in range(99)))
    prepare(home)
    with Hardwon(home) as memory:
        assert memory.reading().query("SELECT count(*) FROM standing") == [(LESSONS_TOLD + SPARE_OF_EACH,)]
    for bar in (0.2, 0.5, 0.95):
        (home / "config.toml").write_text(f"min_confidence = {bar}\n")
        assert started() == live(home) != ""
