"""`hardwon run`: as if the command had been run without it, and what failed is remembered."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hardwon import Attempt, Hardwon, StoreError
from hardwon.store.database import connect
from tests.scrub.fakes import text as random_text

HARDWON = [sys.executable, "-m", "hardwon", "run"]
BROKEN = "import asyncpg_is_not_there"


def run(*words: str, options: tuple[str, ...] = (), **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*HARDWON, *options, "--", *words], capture_output=True, check=False, timeout=60, **more)


def python(code: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    return run(sys.executable, "-c", code, **more)


def journal(home: Path) -> list[Attempt]:
    with Hardwon(home) as memory:
        return memory.journal.list()


def test_streams_pass_byte_for_byte_and_the_exit_code_too(home: Path, tmp_path: Path) -> None:
    out, err = (Random(seed).randbytes(300_000) for seed in (1, 2))
    (tmp_path / "out").write_bytes(out)
    (tmp_path / "err").write_bytes(err)
    code = (
        "import sys; sys.stdout.buffer.write(open('out', 'rb').read()); "
        "sys.stderr.buffer.write(open('err', 'rb').read()); sys.exit(sys.stdin.buffer.read()[0])"
    )
    done = python(code, cwd=tmp_path, input=b"\x2a\n")
    assert (done.returncode, done.stdout, done.stderr) == (42, out, err)
    assert journal(home)[0].exit_code == 42


def test_two_streams_into_one_place_keep_their_order() -> None:
    code = "import os\nfor n in range(2000): os.write(1 + n % 2, b'%d ' % n)"
    done = subprocess.run(
        [*HARDWON, "--", sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
    )
    assert done.stdout.split() == [b"%d" % n for n in range(2000)]


def test_the_error_of_a_failed_command_is_recorded_and_recognised_again(home: Path) -> None:
    for loop in ("one", "two"):
        done = python(BROKEN, options=("--phase", "VERIFY", "--run", loop))
        assert done.returncode == 1
        assert b"ModuleNotFoundError" in done.stderr
    with Hardwon(home) as memory:
        (failure,) = memory.failures.list()
        found = memory.journal.list()
        assert (failure.occurrences, failure.sessions) == (2, 2)
        assert failure.error.startswith("ModuleNotFoundError: No module named 'asyncpg_is_not_there'")
        assert all(check.ok for check in memory.store.check())
    assert [(entry.run, entry.phase, entry.outcome, entry.evidence) for entry in found] == [
        ("two", "VERIFY", "failure", "exit-code"),
        ("one", "VERIFY", "failure", "exit-code"),
    ]
    assert "ModuleNotFoundError" in found[0].test_results
    assert found[0].duration is not None
    assert BROKEN in found[0].approach


def test_what_failed_is_named_by_what_the_line_ran_and_not_by_how_it_ended(home: Path) -> None:
    line = "printf \"ModuleNotFoundError: No module named 'tidal'\\n\" >&2; make tides; exit 1"
    assert run("sh", "-c", line).returncode == 1
    with Hardwon(home) as memory:
        told = memory.bootstrap(".", task="No module named tidal in make tides").lines
    (line_told,) = (line for line in told if line.kind == "failure")
    assert "'tides'" in line_told.text
    assert "exit" not in line_told.text


def test_a_success_is_recorded_only_as_somebodys_task(home: Path) -> None:
    assert python("print('fine')").stdout == b"fine\n"
    assert not home.exists()
    python("pass", options=("--task", "Check the tide"))
    ((only),) = journal(home)
    assert (only.task, only.outcome, only.evidence) == ("Check the tide", "success", "exit-code")


def test_an_exit_code_that_is_an_answer_is_no_failure(home: Path) -> None:
    assert run("grep", "needle", "/dev/null").returncode == 1
    assert not home.exists()


def test_a_command_that_is_not_there_ends_as_in_a_shell(home: Path, tmp_path: Path) -> None:
    missing = run("no-such-command-here")
    assert (missing.returncode, missing.stderr) == (127, b"hardwon: no-such-command-here: command not found\n")
    (tmp_path / "plain.txt").write_text("no program")
    assert run(str(tmp_path / "plain.txt")).returncode == 126
    assert journal(home)[-1].exit_code == 127


@pytest.mark.parametrize(
    ("number", "recorded"), [(signal.SIGKILL, True), (signal.SIGABRT, True), (signal.SIGTERM, False)]
)
def test_what_a_signal_ended_has_the_shells_exit_code(home: Path, number: signal.Signals, recorded: bool) -> None:
    done = python(f"import os; os.kill(os.getpid(), {int(number)})")
    assert done.returncode == 128 + number
    assert home.exists() is recorded


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_reaches_the_command_which_decides(number: signal.Signals) -> None:
    code = (
        "import signal, sys\n"
        f"signal.signal({int(number)}, lambda *_: (print('got it'), sys.exit(7)))\n"
        "print('ready', flush=True)\n"
        "while True: signal.pause()"
    )
    line = [*HARDWON, "--", sys.executable, "-c", code]
    with subprocess.Popen(line, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.stdout.read() == b"got it\n"
        assert process.wait(timeout=60) == 7


def in_a_terminal(*words: str, errors: int | None = None) -> tuple[int, bytes]:
    """Run in a terminal of its own: (exit code, what stood on the screen)."""
    ours, childs = os.openpty()
    line = [*HARDWON, "--", *words]
    process = subprocess.Popen(line, stdin=childs, stdout=childs, stderr=errors or childs, start_new_session=True)
    os.close(childs)
    seen = b""
    with suppress(OSError):  # how a terminal ends
        while chunk := os.read(ours, 65536):
            seen += chunk
    os.close(ours)
    return process.wait(timeout=60), seen


def test_a_terminal_stays_a_terminal_for_the_command() -> None:
    code = "import os, sys; print([os.isatty(n) for n in range(3)]); print('next'); sys.exit(5)"
    assert in_a_terminal(sys.executable, "-c", code) == (5, b"[True, True, True]\r\nnext\r\n")


def test_only_what_is_a_terminal_becomes_one(tmp_path: Path) -> None:
    code = "import os, sys; print(os.isatty(1)); print(os.isatty(2), file=sys.stderr)"
    with (tmp_path / "err").open("wb") as errors:
        assert in_a_terminal(sys.executable, "-c", code, errors=errors.fileno()) == (0, b"True\r\n")
    assert (tmp_path / "err").read_text() == "False\n"


def test_what_runs_on_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    done = run("sh", "-c", f"cat {gate} & echo started")
    assert (done.returncode, done.stdout) == (0, b"started\n")
    gate.write_bytes(b"")  # lets it end


def test_a_reader_that_has_seen_enough_ends_the_command(home: Path) -> None:
    line = f"{' '.join(HARDWON)} -- yes | head -n 2"
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == (b"y\ny\n", b"")
    assert not home.exists()


def test_a_store_that_cannot_be_written_costs_one_line_and_nothing_else(home: Path) -> None:
    home.write_text("not a folder")
    done = python(BROKEN)
    assert done.returncode == 1
    *traceback, said = done.stderr.splitlines()
    assert said.startswith(b"hardwon: not recorded: ")
    assert traceback[-1].startswith(b"ModuleNotFoundError")


def test_another_writer_is_not_waited_for_without_end(home: Path) -> None:
    first = connect(home / "hardwon.db", write=True)
    with first.transaction(), Hardwon(home, wait=20) as memory, pytest.raises(StoreError, match="in use"):
        memory.journal.capture_failure(exit_code=1)
    first.close()


@pytest.mark.parametrize("variable", [("HARDWON_FAILURE_MEMORY", "0"), ("HARDWON_OFF", "1")])
def test_switched_off_it_only_runs_the_command(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: tuple[str, str]
) -> None:
    monkeypatch.setenv(*variable)
    done = python("print('out'); 1 / 0", options=("--task", "x"))
    assert (done.returncode, done.stdout) == (1, b"out\n")
    assert not home.exists()


def test_what_is_recorded_is_scrubbed_and_bounded(home: Path) -> None:
    token = "ghp_" + random_text(Random(9), 36)
    code = f"print('{token} ' * 9000); raise ValueError('{token}')"
    done = python(code)
    assert token.encode() in done.stdout
    assert len(journal(home)[0].test_results) <= 20_000
    assert all(token.encode() not in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_json_tells_on_stderr_what_was_recorded() -> None:
    done = python(BROKEN, options=("--json",))
    told = json.loads(done.stderr.splitlines()[-1])
    assert (told["exit_code"], told["attempt"]) == (1, 1)


def test_options_of_the_command_are_its_own() -> None:
    done = subprocess.run([*HARDWON, "printf", "%s", "--json"], capture_output=True, check=True)
    assert done.stdout == b"--json"
