"""`harvest --git`: agents' logs out of the object database, each session once, with the commits that it made."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hardwon import Hardwon, HardwonError, NotFound
from hardwon.sessions.checkpoints import HISTORY
from hardwon.sessions.git_objects import Repository
from tests.conftest import EXAMPLES, ClaudeSession, Run
from tests.git_repository import V1, GitRepository, content
from tests.sessions.test_specstory_layouts import HEAD, turn

DIRECTIVE = "Always use uv, never pip install, in this project."
HEX, OTHER_HEX = "a3b2c4d5e6f7", "a3ffc4d5e6f8"
ULID, OTHER_ULID = "01KVBJCWYA4YW6J5M9GP655HZN", "01KVBJCWYA4YW6J5M9GP655HZP"
LAYOUTS = pytest.mark.parametrize(("first", "second"), [(HEX, OTHER_HEX), (ULID, OTHER_ULID)], ids=["branch", "refs"])


@pytest.fixture(autouse=True)
def nothing_is_own_but_the_agents_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARDWON_OWN_FOLDERS")


@pytest.fixture
def memory(home: Path) -> Iterator[Hardwon]:
    with Hardwon(home) as opened:
        yield opened


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path / "reef")


def talk(name: str = "s-1") -> ClaudeSession:
    return ClaudeSession(name).user(DIRECTIVE).run("pytest -q", "ModuleNotFoundError: No module named 'x'", exit_code=1)


@LAYOUTS
def test_overlapping_checkpoints_are_one_session(
    memory: Hardwon, repository: GitRepository, first: str, second: str
) -> None:
    short, long = talk(), talk().run("uv sync", "ok").run("pytest -q", "3 passed")
    made = [repository.checkpoint(second, content(long)), repository.checkpoint(first, content(short))]
    report = memory.sessions.harvest_git(repository.folder)
    assert (report.sessions, report.foreign, report.commits, report.notes) == (1, 1, 2, [])
    (session,) = memory.sessions.list()
    assert (session.external_id, session.messages, session.owner) == ("s-1", len(long.records), "foreign")
    assert (session.outcome, sorted(session.commits)) == ("committed", sorted(made))
    assert session.path == f"{repository.folder}@{session.path.partition('@')[2]}"
    assert repository.git("show", session.path.partition("@")[2]) == content(long).decode().strip()
    assert {lesson.status for lesson in memory.lessons.list()} == {"candidate"}
    assert [project.name for project in memory.store.projects()] == ["reef"]


@LAYOUTS
def test_a_second_harvest_reads_only_what_is_new(
    memory: Hardwon, repository: GitRepository, first: str, second: str
) -> None:
    repository.checkpoint(first, content(talk()))
    memory.sessions.harvest_git(repository.folder)
    blobs = repository.folder / ".git" / "objects"
    hidden = blobs.with_name("hidden")
    blobs.rename(hidden)  # with nothing new, not even the objects are looked at
    blobs.mkdir()
    again = memory.sessions.harvest_git(repository.folder)
    assert (again.sessions, again.skipped) == (0, 1)
    blobs.rmdir()
    hidden.rename(blobs)
    longer = talk().user("Never push to main, open a pull request.")
    repository.checkpoint(second, content(longer), content(talk("s-1-1")))
    report = memory.sessions.harvest_git(repository.folder)
    assert (report.sessions, report.commits) == (2, 2)
    assert {session.external_id: len(session.commits) for session in memory.sessions.list()} == {"s-1": 2, "s-1-1": 1}


def test_sub_agents_come_along(memory: Hardwon, repository: GitRepository) -> None:
    inner = ClaudeSession("s-1").user("Look at it.", agentId="a1", isSidechain=True)
    repository.checkpoint(ULID, content(talk()), tasks={"toolu_1/agent-a1.jsonl": content(inner)})
    memory.sessions.harvest_git(repository.folder)
    assert sorted(session.subagent for session in memory.sessions.list()) == ["", "a1"]


def test_a_log_in_parts_is_one(memory: Hardwon, repository: GitRepository) -> None:
    whole = content(talk().run("make", "ok"))
    half = whole.index(b"\n", len(whole) // 2)
    repository.checkpoint(HEX, whole[:half])
    repository.commit(V1, {f"a3/b2c4d5e6f7/0/full.jsonl.{part:03}": data for part, data in [(1, whole[half + 1 :])]})
    memory.sessions.harvest_git(repository.folder)
    assert memory.sessions.list()[0].messages == len(whole.splitlines())


def test_folders_of_any_commit_are_read(memory: Hardwon, repository: GitRepository, shared: Path) -> None:
    history = next((shared / "projects" / "specstory").glob("*/.specstory/history/*.md"))
    rollout = next((shared / "projects" / "codex").rglob("rollout-*.jsonl"))
    repository.commit("refs/heads/main", {f"docs/.specstory/history/{history.name}": history.read_bytes()})
    repository.commit("refs/heads/main", {".claude/settings.json": b"{}", ".claude/logs/s-1.jsonl": content(talk())})
    repository.commit("refs/heads/other", {f".codex/sessions/{rollout.name}": rollout.read_bytes()})
    repository.commit_tree(
        "refs/heads/main", repository.git("mktree", input=b""), parent=repository.git("rev-parse", "main")
    )
    report = memory.sessions.harvest_git(repository.folder)
    assert (report.sessions, report.foreign) == (3, 3)
    assert sorted(session.format for session in memory.sessions.list()) == ["claude-code", "codex", "specstory"]
    assert memory.sessions.harvest_git(repository.folder).sessions == 0
    repository.commit("refs/heads/main", {".claude/logs/s-1.jsonl": content(talk().run("make", "ok"))})
    assert memory.sessions.harvest_git(repository.folder).sessions == 1


def test_history_that_was_rewritten_is_read_all_the_same(memory: Hardwon, repository: GitRepository) -> None:
    """The commits that were known may be gone for good."""
    old = repository.commit("refs/heads/main", {".claude/logs/s-1.jsonl": content(talk())})
    memory.sessions.harvest_git(repository.folder)
    repository.git("update-ref", "-d", "refs/heads/main")
    (repository.folder / ".git" / "objects" / old[:2] / old[2:]).unlink()
    repository.commit("refs/heads/main", {".claude/logs/s-2.jsonl": content(talk("s-2"))})
    assert memory.sessions.harvest_git(repository.folder).sessions == 1


def test_a_tag_of_a_file_is_no_trouble(memory: Hardwon, repository: GitRepository) -> None:
    repository.git("update-ref", "refs/tags/key", repository.blob(b"a key"))
    repository.checkpoint(ULID, content(talk()))
    assert memory.sessions.harvest_git(repository.folder).sessions == 1


def test_checkpoints_that_were_not_cloned_are_said(memory: Hardwon, tmp_path: Path, repository: GitRepository) -> None:
    repository.checkpoint(ULID, content(talk()))
    clone = GitRepository(tmp_path / "clone")
    clone.git("fetch", "-q", str(repository.folder), "main:refs/heads/theirs")
    (note,) = memory.sessions.harvest_git(clone.folder).notes
    assert "git fetch origin 'refs/entire/*:refs/entire/*'" in note
    clone.git("fetch", "-q", str(repository.folder), "refs/entire/*:refs/entire/*")
    assert (memory.sessions.harvest_git(clone.folder).sessions, memory.sessions.list()[0].outcome) == (1, "committed")


def test_only_the_refs_that_are_named(memory: Hardwon, repository: GitRepository) -> None:
    repository.checkpoint(HEX, content(talk()))
    repository.checkpoint(ULID, content(talk("s-2")), session="s-2")
    named = memory.sessions.harvest_git(repository.folder, refs=["entire/checkpoints/v1"])
    assert (named.sessions, named.commits) == (1, 1)
    assert memory.sessions.list()[0].external_id == "s-1"
    assert memory.sessions.harvest_git(repository.folder).sessions == 1
    with pytest.raises(NotFound, match="'nowhere'"):
        memory.sessions.harvest_git(repository.folder, refs=["nowhere"])
    with pytest.raises(NotFound, match="'--all'"):
        memory.sessions.harvest_git(repository.folder, refs=["--all"])


def test_a_bare_repository_and_a_sub_folder_will_do(memory: Hardwon, tmp_path: Path, repository: GitRepository) -> None:
    bare = GitRepository(tmp_path / "bare.git", "--bare")
    bare.checkpoint(ULID, content(talk()))
    assert memory.sessions.harvest_git(bare.folder).sessions == 1
    repository.checkpoint(ULID, content(talk("s-2")), session="s-2")
    inside = repository.folder / "docs"
    inside.mkdir()
    assert memory.sessions.harvest_git(inside).sessions == 1


def test_longer_hashes_will_do_too(memory: Hardwon, tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "reef", "--object-format=sha256")
    made = repository.checkpoint(HEX, content(talk()))
    repository.commit("refs/heads/main", {".claude/logs/s-2.jsonl": content(talk("s-2"))})
    assert memory.sessions.harvest_git(repository.folder).sessions == 2
    assert {session.commits for session in memory.sessions.list()} == {(made,), ()}


def test_a_linked_work_tree_is_its_repository(memory: Hardwon, tmp_path: Path, repository: GitRepository) -> None:
    repository.checkpoint(HEX, content(talk()))
    repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "main")
    assert memory.sessions.harvest_git(tmp_path / "linked").sessions == 1
    assert [project.name for project in memory.store.projects()] == ["reef"]
    assert memory.sessions.harvest_git(repository.folder).sessions == 0


def test_ones_own_session_keeps_its_own_log_and_learns_its_commits(memory: Hardwon, repository: GitRepository) -> None:
    own = talk().write(Path(os.environ["HOME"]) / ".claude" / "projects" / "reef")
    memory.harvest(own)
    made = repository.checkpoint(ULID, content(talk().user("Always run `make unlock` first.")))
    report = memory.sessions.harvest_git(repository.folder)
    assert (report.sessions, report.commits) == (0, 1)
    (session,) = memory.sessions.list()
    assert (session.owner, session.path, session.commits) == ("own", str(own), (made,))
    talk().run("make", "ok").write(own.parent)
    memory.harvest(own)
    assert memory.sessions.list()[0].commits == (made,), "a session that grew has still made them"


def test_a_store_on_a_server_keeps_it_too(
    home: Path, repository: GitRepository, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_DATABASE", postgres)
    made = repository.checkpoint(ULID, content(talk()))
    with Hardwon(home) as memory:
        assert memory.sessions.harvest_git(repository.folder).foreign == 1
        assert memory.sessions.harvest_git(repository.folder).skipped == 1
        assert memory.sessions.list()[0].commits == (made,)
        assert {lesson.status for lesson in memory.lessons.list()} == {"candidate"}


def test_a_screen_that_tells_nothing_says_that_it_is_other_peoples(hardwon: Run, repository: GitRepository) -> None:
    repository.checkpoint(ULID, content(talk()))
    hardwon("harvest", "--git", repository.folder)
    for words in (("map",), ("how",), ("bootstrap",), ("blame", "a.py")):
        done = hardwon(*words, "-p", repository.folder)
        assert "1 session of other people" in done.stdout + done.stderr, words


def test_they_can_be_ones_own(memory: Hardwon, repository: GitRepository) -> None:
    repository.checkpoint(ULID, content(talk()))
    memory.sessions.harvest_git(repository.folder)
    assert memory.sessions.harvest_git(repository.folder, mine=True).sessions == 1
    assert memory.sessions.list()[0].owner == "own"
    assert [lesson.status for lesson in memory.lessons.list() if lesson.text == DIRECTIVE] == ["active"]


def test_up_finds_the_repositories_that_sessions_ran_in(hardwon: Run, repository: GitRepository) -> None:
    mine = ClaudeSession("mine", cwd=str(repository.folder)).user(DIRECTIVE)
    mine.write(Path(os.environ["HOME"]) / ".claude" / "projects" / "reef")
    repository.checkpoint(ULID, content(talk("theirs")), session="theirs")
    said = hardwon("up").stdout
    assert "1 session of other people" in said
    assert "1 commit linked" in said
    assert "other people" not in hardwon("up").stdout
    assert hardwon("harvest", "--all").stdout.startswith("Nothing new")


def test_histories_that_nobody_committed_are_named_with_the_command_that_reads_them(
    hardwon: Run, repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever follows what is advised has read them, and is advised no more."""
    committed, loose = (history(f"Always use {tool}, never pip install.").encode() for tool in ("uv", "poetry"))
    repository.commit("refs/heads/main", {f"{HISTORY}/a.md": committed})
    folder = repository.folder / HISTORY
    folder.mkdir(parents=True)
    (folder / "a.md").write_bytes(committed.replace(b"\n", b"\r\n"))  # as Windows checks it out
    (folder / "b.md").write_bytes(loose)
    ClaudeSession("other", cwd="/srv/work/shoal").user(DIRECTIVE).write(
        Path(os.environ["HOME"]) / ".claude" / "projects" / "shoal"
    )
    monkeypatch.chdir(repository.folder)
    advised = "hardwon harvest .specstory/history --mine"
    known_first, _, next_steps = " ".join(hardwon("up").stdout.split()).partition("Next: ")
    assert known_first.startswith(f"This folder is not known yet. Its 2 session files can be read: `{advised}`")
    assert next_steps.startswith(f"{advised} learn from the 2 sessions in this folder"), "the first of what to do next"
    refused = hardwon("bootstrap").stderr
    assert f"{repository.folder} belongs to no project yet: `{advised}` learns from the 2 sessions" in refused
    for asked in (("--dry-run",), ()):
        said = hardwon("harvest", "--git", ".", "--mine", *asked).stderr
        assert f".specstory/history: 1 file is in no commit and was not looked at. If yours: `{advised}`" in said
    assert "not looked at" in hardwon("harvest", "--git", ".", "--mine").stderr, "it is not said only once"
    assert "Read 1 new session" in hardwon(*advised.split()[1:]).stdout
    assert "not looked at" not in hardwon("harvest", "--git", ".", "--mine").stderr
    assert "not known yet" not in (now := hardwon("up").stdout)
    assert advised not in now


def history(text: str) -> str:
    return HEAD + turn(text, who="User") + turn("Done.")


@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot-cli", "gemini-cli", "opencode"])
@pytest.mark.parametrize("as_refs", [False, True], ids=["branch", "refs"])
def test_real_checkpoint_files_one_by_one(
    memory: Hardwon, repository: GitRepository, shared: Path, agent: str, as_refs: bool
) -> None:
    """Real logs, cut off as earlier checkpoints have them, harvested after each: every session once, and whole."""
    kept = next(folder for root in ("projects", "transcripts") if (folder := shared / root / agent).is_dir())
    found = [path for path in kept.rglob("*.json*") if not path.stem.endswith(".expected")]
    logs = sorted(found, key=lambda path: (path.stat().st_size, path))[:3]
    read = 0
    for part in (1, 2):
        for number, path in enumerate(logs):
            lines = path.read_bytes().splitlines(keepends=True)
            id = f"01KVBJCWYA4YW6J5M9GP65{number:02}{part:02}" if as_refs else f"{number:06}{part:06}"
            repository.checkpoint(id, b"".join(lines[: len(lines) * part // 2]), session=f"real-{number}")
        read += memory.sessions.harvest_git(repository.folder).sessions
    in_git = {(one.external_id, one.subagent): (one.messages, one.tool_calls) for one in memory.sessions.list()}
    with Hardwon(memory.home / "files") as other:
        other.harvest(logs, mine=True)
        whole = {(one.external_id, one.subagent): (one.messages, one.tool_calls) for one in other.sessions.list()}
    assert in_git == whole
    assert read >= len(whole)
    again = memory.sessions.harvest_git(repository.folder)
    assert again.sessions == 0


def test_the_command_lists_reads_and_says_it_as_json(hardwon: Run, repository: GitRepository) -> None:
    made = repository.checkpoint(ULID, content(talk()))
    listed = json.loads(hardwon("harvest", "--git", repository.folder, "--dry-run", "--json").stdout)
    assert (listed["checkpoints"], len(listed["logs"]), listed["unchanged"]) == (1, 1, 0)
    assert "1 new log" in hardwon("harvest", "--git", repository.folder, "--dry-run").stdout
    told = json.loads(hardwon("harvest", "--git", repository.folder, "--json").stdout)
    assert (told["sessions"], told["foreign"], told["commits"]) == (1, 1, 1)
    lesson = json.loads(hardwon("lessons", "--json").stdout)[0]["id"]
    why = hardwon("why", lesson).stdout
    assert f"somebody else's session, committed {made[:12]}" in why
    assert hardwon("harvest", "--git", repository.folder, EXAMPLES).returncode == 2
    assert hardwon("harvest", EXAMPLES, "--ref", "main").returncode == 2


def test_what_was_forgotten_stays_so(memory: Hardwon, repository: GitRepository) -> None:
    repository.checkpoint(ULID, content(talk()))
    memory.sessions.harvest_git(repository.folder)
    memory.store.forget(session=memory.sessions.list()[0].id)
    assert memory.reading().query("SELECT * FROM session_commit") == []
    repository.checkpoint(OTHER_ULID, content(talk().run("make", "ok")))
    memory.sessions.harvest_git(repository.folder)
    assert memory.sessions.list() == []


# A repository that means harm: nothing of it runs, nothing is written outside, and one line says what is wrong.


def run_by(repository: GitRepository, marker: Path) -> None:
    """Everything in a repository's settings that some git command would run."""
    trap = repository.folder / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {marker}\n")
    trap.chmod(0o755)
    for name in (
        "core.fsmonitor", "core.pager", "pager.rev-list", "core.sshCommand", "core.gitProxy", "gpg.program",
        "core.alternateRefsCommand", "diff.external", "filter.x.smudge", "filter.x.clean", "filter.x.process",
        "diff.x.textconv", "core.askPass", "credential.helper", "uploadpack.packObjectsHook", "core.editor",
    ):  # fmt: skip
        repository.git("config", name, str(trap))
    for name, value in (
        ("log.showSignature", "true"), ("core.hooksPath", str(repository.folder)), ("protocol.ext.allow", "always"),
        ("extensions.partialClone", "origin"), ("core.repositoryFormatVersion", "1"),
        ("remote.origin.url", f"ext::{trap}"), ("remote.origin.promisor", "true"),
    ):  # fmt: skip
        repository.git("config", name, value)
    (repository.folder / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(trap, repository.folder / hook)


def test_nothing_that_a_repository_sets_is_run(memory: Hardwon, repository: GitRepository, tmp_path: Path) -> None:
    repository.checkpoint(ULID, content(talk()))
    repository.commit(
        "refs/heads/main", {".claude/x.jsonl": content(talk("s-2"))}, "Signed\n\nEntire-Checkpoint: " + ULID
    )
    marker = tmp_path / "it-ran"
    run_by(repository, marker)
    blob = repository.git("rev-parse", "main:.claude/x.jsonl")
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()  # one is missing: to be fetched, it says
    memory.sessions.harvest_git(repository.folder)
    assert [session.external_id for session in memory.sessions.list()] == ["s-1"]
    assert not marker.exists()


def test_objects_of_other_repositories_are_not_borrowed(
    memory: Hardwon, repository: GitRepository, tmp_path: Path
) -> None:
    other = GitRepository(tmp_path / "private")
    other.checkpoint(ULID, content(talk()))
    info = repository.folder / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{other.folder}/.git/objects\n")
    with pytest.raises(HardwonError, match="borrows objects from elsewhere"):
        memory.sessions.harvest_git(repository.folder)


def test_links_submodules_and_tricks_in_names_are_left(
    memory: Hardwon, repository: GitRepository, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(content(talk("secret")))
    log = content(talk())
    repository.commit(
        V1, {"a3/b2c4d5e6f7/0/full.jsonl": str(secret).encode()}, modes={"a3/b2c4d5e6f7/0/full.jsonl": "120000"}
    )
    repository.commit(V1, {"a4/b2c4d5e6f7/0": b"0" * 39 + b"1"}, modes={"a4/b2c4d5e6f7/0": "160000"})
    blob = repository.blob(log)
    meta = repository.blob(b'{"session_id": "../../../../escape\\u0000x"}')
    inner = repository.git(
        "mktree", input=f"100644 blob {blob}\tfull.jsonl\n100644 blob {meta}\tmetadata.json\n".encode()
    )
    # git itself refuses such names in an index; a tree that somebody wrote by hand can have them.
    up = repository.git(
        "hash-object", "-t", "tree", "-w", "--stdin", "--literally", input=b"40000 ..\0" + bytes.fromhex(inner)
    )
    rest = repository.git("mktree", input=f"040000 tree {inner}\tb2c4d5e6f7\n040000 tree {up}\tb2c4d5e6f8\n".encode())
    top = repository.git("mktree", input=f"040000 tree {rest}\ta5\n".encode())
    repository.commit_tree("refs/remotes/origin/entire/checkpoints/v1", top)
    files = sorted(path for path in tmp_path.rglob("*") if "hardwon" not in str(path))
    report = memory.sessions.harvest_git(repository.folder)
    assert report.sessions == 1, "the one whose name alone is a trick"
    assert [session.external_id for session in memory.sessions.list()] == ["s-1"]
    assert sorted(path for path in tmp_path.rglob("*") if "hardwon" not in str(path)) == files


def test_a_giant_is_left_out_and_said(
    memory: Hardwon, repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hardwon.api.from_git._BYTES_PER_LOG", 100_000)
    repository.checkpoint(ULID, content(talk()) + b"\n" * 200_000)
    repository.checkpoint(OTHER_ULID, content(talk("s-2")), session="s-2")
    report = memory.sessions.harvest_git(repository.folder)
    assert report.sessions == 1
    assert len(report.notes) == 1
    assert "larger than" in report.notes[0]


def test_broken_objects_cost_only_themselves(memory: Hardwon, repository: GitRepository) -> None:
    repository.checkpoint(ULID, content(talk()))
    repository.checkpoint(OTHER_ULID, content(talk("s-2")), session="s-2")
    broken = repository.git("rev-parse", f"refs/entire/checkpoints/ZN/{ULID}:0/full.jsonl")
    path = repository.folder / ".git" / "objects" / broken[:2] / broken[2:]
    path.chmod(0o644)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2))
    report = memory.sessions.harvest_git(repository.folder)
    assert [session.external_id for session in memory.sessions.list()] == ["s-2"]
    assert ["damaged in the repository" in note for note in report.notes] == [True]


def test_so_do_broken_folders(memory: Hardwon, repository: GitRepository) -> None:
    repository.checkpoint(ULID, content(talk()))
    repository.checkpoint(OTHER_ULID, content(talk("s-2")), session="s-2")
    broken = repository.git("rev-parse", f"refs/entire/checkpoints/ZN/{ULID}:0")
    (repository.folder / ".git" / "objects" / broken[:2] / broken[2:]).unlink()
    report = memory.sessions.harvest_git(repository.folder)
    assert [session.external_id for session in memory.sessions.list()] == ["s-2"]
    assert ["damaged or missing" in note for note in report.notes] == [True]


def test_trees_that_unfold_without_end_are_given_up(memory: Hardwon, repository: GitRepository) -> None:
    """Ten levels of ten times the same: a repository of a few kilobytes with 10¹⁰ files."""
    blob = repository.blob(b"{}")
    tree = repository.git("mktree", input="".join(f"100644 blob {blob}\t{n}.jsonl\n" for n in range(10)).encode())
    for _ in range(9):
        tree = repository.git("mktree", input="".join(f"040000 tree {tree}\t{n}\n" for n in range(10)).encode())
    top = repository.git("mktree", input=f"040000 tree {tree}\t.claude\n".encode())
    repository.commit_tree("refs/heads/main", top)
    with Repository(repository.folder, seconds=2) as opened, pytest.raises(HardwonError, match="longer than 2 s"):
        list(opened.changes([repository.git("rev-parse", "main")], [], [":(glob)**/.claude/**/*.jsonl"]))


@pytest.mark.parametrize("made", ["empty", "no repository", "garbage", "nothing", "a file"])
def test_what_is_no_repository_is_said_in_a_line(hardwon: Run, tmp_path: Path, made: str) -> None:
    folder = tmp_path / "x"
    if made == "empty":
        GitRepository(folder)
        assert hardwon("harvest", "--git", folder).returncode == 0
        return
    if made == "garbage":
        GitRepository(folder)
        (folder / ".git" / "config").write_text("[[[\x00")
    elif made == "no repository":
        folder.mkdir()
    elif made == "a file":
        folder.write_text("x")
    done = hardwon("harvest", "--git", folder)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert str(folder) in done.stderr


def test_somebody_elses_folder_is_said_in_plain_words(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.name == "nt" or os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    for path in (repository.folder, repository.folder / ".git"):
        os.chown(path, 12345, 12345)
    monkeypatch.delenv("SUDO_UID", raising=False)
    with pytest.raises(HardwonError, match=r"belongs to another user.*safe\.directory"):
        Repository(repository.folder)


def test_flipped_bits_in_objects_and_refs_raise_nothing(
    memory: Hardwon, repository: GitRepository, tmp_path: Path
) -> None:
    chance = random.Random(20261117)
    repository.checkpoint(HEX, content(talk()))
    repository.checkpoint(ULID, content(talk("s-2")))
    for number in range(25):
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(repository.folder, copy)
        if number % 2:
            GitRepository.repacked(copy)
        files = sorted(path for path in (copy / ".git").rglob("*") if path.is_file() and path.stat().st_size)
        for path in chance.sample(files, 3):
            path.chmod(0o644)
            data = bytearray(path.read_bytes())
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            path.write_bytes(data[: chance.choice((len(data), len(data) // 2))])
        with suppress(HardwonError):
            memory.sessions.harvest_git(copy)


def test_a_session_read_from_a_repository_and_from_its_folder_is_one(
    hardwon: Run, repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.sessions.test_specstory_layouts import HEAD, asked, turn

    name = ".specstory/history/2026-10-01_10-00-task-#008, größer.md"
    page = (HEAD + asked("Always use uv in this project.") + turn("ok")).encode()
    repository.commit("refs/heads/main", {name: page})
    hardwon("harvest", "--git", repository.folder)
    path = repository.folder / name
    path.parent.mkdir(parents=True)
    path.write_bytes(page)
    monkeypatch.chdir(repository.folder)
    hardwon("harvest", ".", "--mine")
    with Hardwon() as memory:
        (known,) = memory.sessions.list()
        assert Path(known.path).expanduser() == path, "from whatever folder it was named"


def test_a_session_that_only_a_repository_has_can_be_inspected(hardwon: Run, repository: GitRepository) -> None:
    repository.commit("refs/heads/main", {".claude/projects/reef/s-1.jsonl": content(talk())})
    hardwon("harvest", "--git", repository.folder)
    with Hardwon() as memory:
        (known,) = memory.sessions.list()
    shown = hardwon("inspect", known.id[:9], "--message", "0").stdout
    assert shown.startswith("message 0 of ")
