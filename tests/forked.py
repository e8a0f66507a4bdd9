"""Commands in processes of their own, without the start of an interpreter: one that has imported all forks for each.

`python -m tests.forked` reads a request a line and answers each with a number: the process of a command that it
started, or the exit code of one that it waited for.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import IO

NOT_FOR_COMMANDS = ("hardwon.hook", "hardwon.__main__", "hardwon.install.plugins")
REPOSITORY = Path(__file__).parent.parent


class Commands:
    """Starts the helper with the first command, and anew after one that went wrong."""

    def __init__(self) -> None:
        self._helper: subprocess.Popen[str] | None = None

    def run(
        self, *arguments: object, input: str | None = None, env: Mapping[str, str] = os.environ, program: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """What the command did in this folder; or a program in Python, with these arguments."""
        with tempfile.TemporaryDirectory() as folder:
            streams = [Path(folder) / name for name in ("in", "out", "err")]
            streams[0].write_text(input or "", encoding="utf-8")
            code = self.ended(self.start(*arguments, streams=streams, env=env, program=program))
            out, err = (stream.read_text(encoding="utf-8") for stream in streams[1:])
        return subprocess.CompletedProcess(["hardwon", *map(str, arguments)], code, out, err)

    def start(
        self,
        *arguments: object,
        streams: Sequence[Path | str],
        env: Mapping[str, str] = os.environ,
        program: str = "",
    ) -> int:
        """The process of a command that has opened these for its input, output and errors."""
        argv, paths = list(map(str, arguments)), list(map(str, streams))
        return self._ask(argv=argv, cwd=os.getcwd(), env=dict(env), streams=paths, program=program)

    def ended(self, process: int) -> int:
        """Its exit code, once it has ended; its number is nobody else's until this is asked."""
        return self._ask(process=process)

    @contextmanager
    def running(self, *arguments: object, env: Mapping[str, str] = os.environ) -> Iterator[tuple[IO[str], Path]]:
        """(its output as it comes, the file of its errors) of a command that is ended afterwards."""
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder) / "out", Path(folder) / "err"
            os.mkfifo(out)
            reading = os.open(out, os.O_RDONLY | os.O_NONBLOCK)  # or each end would wait for the other
            os.set_blocking(reading, True)
            with open(reading, encoding="utf-8") as told:
                process = self.start(*arguments, streams=(os.devnull, out, err), env=env)
                try:
                    yield told, err
                finally:
                    os.kill(process, signal.SIGTERM)
                    self.ended(process)

    def _ask(self, **request: object) -> int:
        helper = self._helper or self._start()
        self._helper = None  # until it has answered
        assert helper.stdin
        assert helper.stdout
        helper.stdin.write(json.dumps(request) + "\n")
        helper.stdin.flush()
        answer = int(helper.stdout.readline())
        self._helper = helper
        return answer

    def _start(self) -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "tests.forked"]
        return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)

    def close(self) -> None:
        if self._helper:
            self._helper.communicate()


COMMANDS = Commands()


def _serve() -> None:
    package = import_module("hardwon")
    for module in walk_packages(package.__path__, "hardwon."):
        if not module.name.startswith(NOT_FOR_COMMANDS):
            import_module(module.name)
    gc.freeze()  # or each fork would copy what it collects
    for line in sys.stdin:
        request = json.loads(line)
        process = request.get("process", 0)
        answer = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) if process else _start(**request)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _start(argv: list[str], cwd: str, env: dict[str, str], streams: list[str], program: str) -> int:
    files = [open(path, mode) for path, mode in zip(streams, "rww", strict=True)]  # noqa: SIM115
    if process := os.fork():
        for file in files:
            file.close()
        return process
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
        file.close()
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode, 1, "utf-8") for number, mode in enumerate("rww"))
    sys.argv = ["-c" if program else "hardwon", *argv]
    code: object = 0
    try:
        if program:
            exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})
        else:
            import_module("hardwon.cli.app").main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    _serve()
