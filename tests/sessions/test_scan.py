"""A file that grows is counted on from where it ended; a changed one is counted anew; nothing is left running."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from hardwon import NotASession
from hardwon.sessions.discover import below
from hardwon.sessions.scan import Reached, count, load_states, scan, summaries
from hardwon.sessions.workers import Workers
from tests.conftest import EXAMPLES, ClaudeSession
from tests.scrub.fakes import make


def long_session(messages: int = 100) -> ClaudeSession:
    session = ClaudeSession()
    for _ in range(messages):
        session.user("hello")
    return session


def with_damage_in_the_middle(content: bytes) -> bytes:
    """As long as before, with every record between the ends made unreadable."""
    return content[:2000] + content[2000:-2000].replace(b'"', b"'") + content[-2000:]


def test_counting_in_any_number_of_steps_gives_what_counting_at_once_gives(tmp_path: Path) -> None:
    chance = random.Random(11)
    for example in below(EXAMPLES):
        content = example.read_bytes()
        path = tmp_path / example.name
        reached: Reached | None = None
        for end in [*sorted(chance.randrange(len(content)) for _ in range(12)), len(content)]:
            path.write_bytes(content[:end])
            with suppress(NotASession):
                counted = count(path, reached)
                assert counted.sessions == summaries(path), (path, end)
                reached = counted.reached
        assert reached is not None
        assert reached.offset == content.rfind(b"\n") + 1


def test_of_a_file_that_grew_only_what_is_new_is_read(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    session = long_session()
    path = session.write(tmp_path)
    assert scan([path], cache)[str(path)].messages == 100
    session.user("and one more").write(tmp_path)
    assert scan([path], cache)[str(path)].messages == 101  # from its beginning, for most files never grow
    session.user("and another").write(tmp_path)
    path.write_bytes(with_damage_in_the_middle(path.read_bytes()))
    assert scan([path])[str(path)].messages < 100
    assert scan([path], cache)[str(path)].messages == 102


def test_how_to_go_on_is_kept_only_of_a_file_that_grew(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    growing, other = (ClaudeSession(name).user("hello") for name in ("growing", "other"))
    paths = [session.write(tmp_path) for session in (growing, other)]
    scan(paths, cache)
    assert not any(load_states(cache).values())
    growing.user("and one more").write(tmp_path)
    scan(paths, cache)
    assert [list(names) for names in load_states(cache).values()] == [[paths[0].name]]


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="needs a system that tells what was read")
def test_bytes_read_of_a_grown_file_are_those_that_are_new(tmp_path: Path) -> None:
    session = long_session(4000)
    path = session.write(tmp_path)
    began = bytes_read()
    reached = count(path).reached
    assert bytes_read() - began > path.stat().st_size > 500_000
    session.user("and one more").write(tmp_path)
    began = bytes_read()
    assert count(path, reached).sessions[0].messages == 4001
    assert bytes_read() - began < 20_000


def bytes_read() -> int:
    return int(Path("/proc/self/io").read_text().split()[1])


def test_a_line_without_an_end_is_counted_but_not_passed_over(tmp_path: Path) -> None:
    path = long_session(3).write(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    counted = count(path)
    assert counted.sessions[0].messages == 3
    assert counted.reached is not None
    assert counted.reached.offset == content.rfind(b"\n", 0, -1) + 1
    path.write_bytes(content)
    assert count(path, counted.reached).sessions[0].messages == 3


@pytest.mark.parametrize("change", ["head", "tail", "shorter"])
def test_a_file_that_was_replaced_is_counted_anew(tmp_path: Path, change: str) -> None:
    cache = tmp_path / "cache"
    path = long_session().write(tmp_path)
    scan([path], cache)
    content = path.read_bytes()
    if change == "head":
        content = content.replace(b'"s-1"', b'"s-2"', 1) + content.rpartition(b"\n")[0].rpartition(b"\n")[2] + b"\n"
    elif change == "tail":
        content = content[:-60] + b'"}\n' + content[:600]
    else:
        content = content[: content.find(b"\n", 5000) + 1]
    path.write_bytes(content)
    assert scan([path], cache) == scan([path])


def test_a_file_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    gone, left = (ClaudeSession(name).user("hello").write(tmp_path) for name in ("gone", "left"))
    scan([gone, left], cache)
    gone.unlink()
    with left.open("ab") as file:
        file.write(b"\n")
    scan([gone, left], cache)
    for file in (cache, cache.with_suffix(".states")):
        assert b"left.jsonl" in file.read_bytes()
        assert b"gone.jsonl" not in file.read_bytes()


@pytest.mark.parametrize("days", [0, 40])
def test_what_may_not_be_stored_is_counted_and_not_written_down(tmp_path: Path, days: int) -> None:
    """Where a file is old, the counts are not kept; its project is."""
    cache, told = tmp_path / "cache", make(random.Random(5), "ghp_<A36>")
    here, there = tmp_path / "here", tmp_path / "there"
    for folder, cwd in ((here, f"/srv/{told}"), (there, "/srv/reef")):
        folder.mkdir()
        path = ClaudeSession("s", cwd=cwd).user("hello").write(folder)
        os.utime(path, (time.time() - days * 86_400,) * 2)
    found = scan(below(tmp_path), cache)
    assert [one.messages for one in found.values()] == [1, 1]
    written = cache.read_bytes()
    assert told.encode() not in written
    assert b"there" in written


def test_what_a_worker_does_not_answer_is_left_to_the_asker() -> None:
    with Workers("hardwon.no_such_module", 2) as workers:
        assert list(workers.answers([b"a", b"b", b"c"])) == [None, None, None]


def test_a_worker_imports_nothing_from_the_folder_we_are_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = tmp_path / "repository"
    planted.mkdir()
    (planted / "msgspec.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(planted)
    nothing = msgspec.msgpack.encode([])
    with Workers("hardwon.sessions.scan", 1) as workers:
        assert list(workers.answers([nothing])) == [nothing]
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs a system that tells when a process ended")
def test_no_worker_outlives_a_process_that_was_killed() -> None:
    program = (
        "from hardwon.sessions.workers import Workers\n"
        "workers = Workers('hardwon.sessions.scan', 2)\n"
        "print(*(process.pid for process in workers.processes), flush=True)\n"
        "input()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        handles = [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
        parent.send_signal(signal.SIGKILL)
        for handle in handles:
            ended, _, _ = select.select([handle], [], [], 60)
            os.close(handle)
            assert ended


def test_whoever_asks_answers_too_and_the_order_stays() -> None:
    """What others have answered is taken meanwhile, or they would wait for room."""
    own: list[bytes] = []
    nothing = msgspec.msgpack.encode([])

    def slowly(question: bytes) -> bytes:
        time.sleep(0.05)
        own.append(question)
        return question

    questions = [nothing] * 60
    with Workers("hardwon.sessions.scan", 1) as workers:
        assert list(workers.answers(questions, slowly)) == questions
        assert 0 < len(own) < len(questions)
        own.clear()
        workers.processes[0].kill()
        found = list(workers.answers(questions[:5], slowly))
        assert found.count(None) <= 1, "of what it was asked alone; who asks answers the rest"


def test_workers_begin_with_what_is_theirs_and_whoever_asks_with_the_rest() -> None:
    own: list[bytes] = []

    def slowly(question: bytes) -> bytes:
        time.sleep(0.05)
        own.append(question)
        return question

    questions = [msgspec.msgpack.encode([[f"/nowhere/{number}", None, False]]) for number in range(40)]
    with Workers("hardwon.sessions.scan", 1) as workers:
        found = list(workers.answers(questions, slowly, theirs=range(20)))
    assert own[0] == questions[20]
    assert set(own) == {question for question, answer in zip(questions, found, strict=True) if answer == question}
    assert all(answer is not None for answer in found)
