"""Rules over all sessions of a project, merging, conflicts and corroboration: on either engine, and idempotent."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardwon.harvest.walk import harvest
from hardwon.model.lesson import Draft, Source, StoredLesson
from hardwon.store import integrity, lessons, lifecycle, meta
from hardwon.store.database import Database, insert
from tests.conftest import ClaudeSession

UNFORMATTED = "{file}:3:1: File is not properly formatted (gofmt)\n1 issues:\n* gofmt: 1"


@pytest.fixture
def store(db: Database) -> Database:
    meta.prepare(db)
    return db


def learn(db: Database, folder: Path, *sessions: ClaudeSession) -> None:
    harvest(db, [session.write(folder) for session in sessions])


def told(db: Database, **wanted: str) -> dict[str, StoredLesson]:
    return {one.text: one for one in lessons.listed(db) if all(getattr(one, k) == v for k, v in wanted.items())}


def checked(name: str, day: int) -> ClaudeSession:
    return (
        ClaudeSession(name, day=day)
        .user("change the parser")
        .edit("/srv/work/reef/parser.go", "x")
        .run("golangci-lint run", "0 issues.")
        .run("go test ./...", "ok  \treef\t0.1s")
    )


def test_what_every_agent_knows_is_no_pattern(store: Database, tmp_path: Path) -> None:
    sessions = [
        ClaudeSession(name, day=day).user("go").run("go test ./...", "ok") for day, name in enumerate("abcd", 1)
    ]
    learn(store, tmp_path, *sessions)
    assert told(store, kind="pattern") == {}


def test_a_command_whose_success_another_command_reports_is_no_pattern(store: Database, tmp_path: Path) -> None:
    lines = [
        ClaudeSession(name, day=day).user("go").run("golangci-lint run | tail -3", "3 issues:")
        for day, name in enumerate("abcd", 1)
    ]
    learn(store, tmp_path, *lines)
    assert told(store, kind="pattern") == {}


def test_the_same_fix_for_several_files_is_one_pitfall(store: Database, tmp_path: Path) -> None:
    sessions = [
        ClaudeSession(name, day=day)
        .user("go")
        .run("golangci-lint run", UNFORMATTED.format(file=file), exit_code=1)
        .run(f"gofmt -w {file}", "")
        .run("golangci-lint run", "0 issues.")
        for day, (name, file) in enumerate({"a": "main.go", "b": "pkg/watch.go"}.items(), 1)
    ]
    learn(store, tmp_path, *sessions)
    ((text, lesson),) = told(store, rule="fixed-by-command").items()
    assert "until `gofmt -w <file>` is run" in text
    assert lesson.source_count == 2


def test_a_failure_with_two_fixes_is_told_once(store: Database, tmp_path: Path) -> None:
    def mended(name: str, day: int, remedy: str) -> ClaudeSession:
        return (
            ClaudeSession(name, day=day)
            .user("go")
            .run("pytest -q", "ModuleNotFoundError: No module named 'asyncpg'", exit_code=1)
            .run(remedy, "ok")
            .run("pytest -q", "3 passed")
        )

    learn(
        store,
        tmp_path,
        mended("a", 1, "uv sync --extra postgres"),
        mended("b", 2, "uv pip install asyncpg"),
        mended("c", 3, "uv sync --extra postgres"),
    )
    ((text, lesson),) = told(store, rule="fixed-by-command").items()
    assert "uv sync --extra postgres" in text
    assert lesson.source_count == 2


def test_a_program_that_several_sessions_missed(store: Database, tmp_path: Path) -> None:
    sessions = [
        ClaudeSession(name, day=day).user("go").run("tree src", "zsh: command not found: tree", exit_code=127)
        for day, name in ((1, "a"), (2, "b"))
    ]
    learn(store, tmp_path, *sessions)
    assert list(told(store, rule="missing-command")) == ["`tree` is not installed where this project's sessions run."]


def test_harvesting_again_and_in_another_order_changes_nothing(store: Database, tmp_path: Path) -> None:
    learn(store, tmp_path, checked("c", 3), checked("a", 1))
    learn(store, tmp_path, checked("b", 2))
    before, recorded = lessons.listed(store), integrity.recent_events(store, 1000)
    harvest(store, sorted(tmp_path.glob("*.jsonl")))
    assert (lessons.listed(store), integrity.recent_events(store, 1000)) == (before, recorded)
    assert meta.stale_for_rules(store) == []


def test_a_persons_decision_outlives_what_the_rules_find(store: Database, tmp_path: Path) -> None:
    rule = "Make sure to run `make lint` on every change of the schema."
    says = [
        ClaudeSession(f"r{day}", day=day).user("hi").says(f"Day {day}.").user(f"{lead} {rule}")
        for day, lead in ((1, "also,"), (2, "please"), (3, "and"))
    ]
    learn(store, tmp_path, *says[:2])
    (lesson,) = told(store, kind="preference").values()
    with store.transaction():
        lifecycle.invalidate(store, lesson.id, actor="ada")
    learn(store, tmp_path, says[2])
    (lesson,) = told(store, kind="preference").values()
    assert (lesson.status, lesson.source_count) == ("invalid", 3)


def test_near_duplicates_become_one_lesson_with_more_sources(store: Database, tmp_path: Path) -> None:
    learn(
        store,
        tmp_path,
        ClaudeSession("a", day=1).user("Always use uv, never pip install.").says("ok"),
        ClaudeSession("b", day=2).user("please always use uv, never pip install, in this project").says("ok"),
    )
    ((text, lesson),) = told(store).items()
    assert (text, lesson.source_count) == ("Always use uv, never pip install.", 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always use pnpm for installs.", "Never use pnpm for installs."),
        ("Always indent Python code with 2 spaces.", "Always indent Python code with 4 spaces."),
    ],
)
def test_the_same_words_with_another_meaning_are_a_conflict(
    one: str, other: str, store: Database, tmp_path: Path
) -> None:
    learn(
        store,
        tmp_path,
        ClaudeSession("a", day=1).user(one).says("ok"),
        ClaudeSession("b", day=2).user(other).says("ok"),
    )
    assert len(told(store)) == 2
    assert lessons.disputed(store) == {lesson.id for lesson in told(store).values()}


def test_a_conflict_that_was_settled_stays_settled(store: Database, tmp_path: Path) -> None:
    learn(store, tmp_path, ClaudeSession("a", day=1).user("Always use pnpm for installs.").says("ok"))
    learn(store, tmp_path, ClaudeSession("b", day=2).user("Never use pnpm for installs.").says("ok"))
    ((conflict,),) = store.query("SELECT id FROM conflict")
    with store.transaction():
        lifecycle.resolve_conflict(store, conflict, told(store)["Never use pnpm for installs."].id, actor="ada")
    learn(store, tmp_path, ClaudeSession("c", day=3).user("Never use pnpm for installs.").says("ok"))
    assert lessons.disputed(store) == set()


def test_a_newer_measurement_takes_the_place_of_the_older(store: Database, tmp_path: Path) -> None:
    def measured(name: str, day: int, version: str) -> ClaudeSession:
        return ClaudeSession(name, day=day).user("go").run("go version", f"go version go{version} linux/amd64")

    learn(store, tmp_path, measured("b", 2, "1.25.6"))
    learn(store, tmp_path, measured("a", 1, "1.24.0"))
    old, new = (told(store)[f"`go` is version {version} on this machine."] for version in ("1.24.0", "1.25.6"))
    assert (new.status, new.valid_until) == ("active", None)
    assert (old.status, old.superseded_by, old.valid_until) == ("superseded", new.id, new.last_confirmed)


CLAIM = "## Decisions\n- Keep the parser in Rust rather than rewriting it in Go."


def test_an_agents_claim_waits_for_a_second_session(store: Database, tmp_path: Path) -> None:
    learn(store, tmp_path, ClaudeSession("a", day=1).user("plan").says(CLAIM))
    (lesson,) = told(store).values()
    assert (lesson.status, lesson.trust) == ("candidate", "claimed")
    learn(store, tmp_path, ClaudeSession("b", day=2).user("plan more").says(CLAIM))
    (lesson,) = told(store).values()
    assert (lesson.status, lesson.trust) == ("active", "corroborated")
    assert lesson.confidence > 0.7


def test_a_session_that_was_shown_the_lesson_does_not_corroborate_it(store: Database, tmp_path: Path) -> None:
    learn(store, tmp_path, ClaudeSession("a", day=1).user("plan").says(CLAIM))
    (lesson,) = told(store).values()
    with store.transaction():
        columns = "id session agent task budget tokens arm propensity dealer text_hash created_at".split()
        store.execute(insert("bootstrap", columns), ("B1", "b", "claude-code", "", 9, 9, "told", 1.0, "", "", 1))
        shown = "bootstrap item event rank parts tokens shown chance".split()
        store.execute(insert("exposure", shown), ("B1", lesson.id, "session-start", 1, "{}", 9, 1, 1.0))
    learn(store, tmp_path, ClaudeSession("b", day=2).user("plan more").says(CLAIM))
    (lesson,) = told(store).values()
    assert lesson.status == "candidate"


def test_what_was_merged_by_hand_can_be_parted_again(store: Database, tmp_path: Path) -> None:
    learn(
        store,
        tmp_path,
        ClaudeSession("a", day=1).user("Always use uv for installs.").says("ok"),
        ClaudeSession("b", day=2).user("From now on run `uv sync` and nothing else").says("ok"),
    )
    one, other = sorted(told(store).values(), key=lambda lesson: lesson.first_seen)
    with store.transaction():
        number = lifecycle.merge(store, other.id, one.id, actor="ada")
    meta.recount_stale(store)
    assert {lesson.status: lesson.source_count for lesson in told(store).values()} == {"active": 2, "archived": 1}
    with store.transaction():
        lifecycle.undo(store, number, actor="ada")
    meta.recount_stale(store)
    assert [(lesson.status, lesson.source_count) for lesson in told(store).values()] == [("active", 1)] * 2


def test_what_an_older_version_of_a_rule_proposed_is_replaced_and_a_persons_decision_is_not(
    store: Database, tmp_path: Path
) -> None:
    learn(store, tmp_path, ClaudeSession("a", day=1).user("Always use uv, never pip install.").says("ok"))
    (lesson,) = told(store).values()
    ((session, root),) = store.query("SELECT id, root FROM session")

    def proposed(text: str) -> str:
        quoted = Source(message_index=0, quote="uv", origin="agent")
        draft = Draft(kind="decision", text=text, confidence=0.5, rule="agent-decision", source=quoted)
        id = lessons.save(
            store, draft, ("candidate", "claimed"), project=lesson.project, agent="claude-code", at=1, version=1
        )
        lessons.cite(store, [lessons.Cited(id, session, 0, root, 1, "uv", "agent")])
        return id

    with store.transaction():
        old, rejected = proposed("Uv is used."), proposed("Pip is never used.")
        lifecycle.reject(store, rejected, actor="ada")
        store.execute("UPDATE session SET harvester_version = 1")
        store.execute("UPDATE source SET harvester_version = 1")
    harvest(store, sorted(tmp_path.glob("*.jsonl")))
    found = {one.id: one.status for one in lessons.listed(store)}
    assert found == {lesson.id: "active", rejected: "invalid"}
    assert old not in found


def test_an_option_that_does_not_exist_and_was_left_out_at_once_is_no_lesson(store: Database, tmp_path: Path) -> None:
    slip = (
        ClaudeSession("a", day=1)
        .user("go")
        .run("git show HEAD --no-stat", "fatal: unrecognized argument: --no-stat", exit_code=128)
        .run("git show HEAD", "commit 1a2b3c")
    )
    learn(store, tmp_path, slip)
    assert told(store) == {}


def test_the_variable_that_an_error_asks_for_is_told(store: Database, tmp_path: Path) -> None:
    error = 'error: build failed: template: map has no entry for key "POSTHOG_KEY"'
    first, second = (
        ClaudeSession(name, day=day)
        .user("go")
        .run("goreleaser build --snapshot", error, exit_code=1)
        .run("POSTHOG_KEY=test goreleaser build --snapshot", "build succeeded")
        for day, name in enumerate("ab", 1)
    )
    learn(store, tmp_path, first)
    assert told(store) == {}, "what one session did once is told with its failure"
    learn(store, tmp_path, second)
    ((text, lesson),) = told(store).items()
    assert text.endswith("use `POSTHOG_KEY=test goreleaser build --snapshot`.")
    assert lesson.trust == "measured"


def test_where_the_shell_stood_and_what_another_program_did_is_no_pitfall(store: Database, tmp_path: Path) -> None:
    for day, name in enumerate("ab", 1):
        session = (
            ClaudeSession(name, day=day)
            .user("go")
            .run("cd src && ls | awk '{print $1}'", "bash: line 1: cd: src: No such file or directory", exit_code=1)
            .run("ls | awk '{print $1}'", "main.go")
            .run("git add gone.go && git push", "fatal: pathspec 'gone.go' did not match any files", exit_code=128)
            .run("git status && git push", "Everything up-to-date")
        )
        learn(store, tmp_path, session)
    assert told(store, rule="fixed-by-command") == {}


def test_what_every_agent_does_anyway_is_no_pitfall(store: Database, tmp_path: Path) -> None:
    pushed = (
        ClaudeSession("a", day=1)
        .user("go")
        .run(
            "git push", " ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs", exit_code=1
        )
        .run("git pull --rebase", "ok")
        .run("git push", "ok")
    )
    learn(store, tmp_path, pushed)
    assert store.query("SELECT count(*) FROM fix") == [(1,)]
    assert told(store) == {}
