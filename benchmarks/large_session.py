"""One very large session, learned from: against decoding its lines, and how much memory that takes."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchmarks.timing import markdown

MEGABYTES = 300
_NAMES = "pool cache lane parser socket shard ledger buffer index worker router schema batch frame queue mirror".split()
_CHECKS = ("pytest -q tests/test_{0}.py", "npm test -- {0}", "cargo test {0}", "go test ./{0}/...", "make {0}")
_LOOKS = ("cat src/{0}/{1}.py", "git diff {0}", "rg -n {0} src", "sed -n 1,200p src/{0}.py", "git log --stat -n 40")
_TELLS = "Always close the {} before the {} is read."


class Call(NamedTuple):
    command: str
    output: str
    failed: bool
    edits: str = ""
    """The file that is changed, instead of a command."""


def outputs(chance: random.Random, size: int) -> str:
    """Lines as tools print them: code, logs, listings."""
    lines, length = [], 0
    while length < size:
        one, other = chance.choice(_NAMES), chance.choice(_NAMES)
        number = chance.randrange(100_000)
        line = chance.choice(
            (
                f"    {one}_{number} = self._{other}.{one}(item_{number % 97}, {other}=None)  # keep {one}",
                f"2026-10-{number % 28 + 1:02}T10:{number % 60:02}:11Z INFO  {one}.{other}: {number} rows in {one}",
                f"src/{one}/{other}_{number % 400}.py:{number % 900}: def {one}_{other}(self) -> None:",
                f"-rw-r--r-- 1 root root {number} Oct 10 10:00 {one}-{other}-{number}.txt",
                f"+        return {{'{one}': {other}_{number}, 'at': \"{other}\"}}",
            )
        )
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)


def failure(chance: random.Random, size: int) -> str:
    one, other, number = chance.choice(_NAMES), chance.choice(_NAMES), chance.randrange(400)
    end = chance.choice(
        (
            f"ModuleNotFoundError: No module named '{one}_{number}'",
            f"E       AssertionError: assert {number} == {one}_{other}\nFAILED tests/test_{one}.py::test_{other}",
            f"src/{one}/{other}.ts(12,{number}): error TS2304: Cannot find name '{one}{number}'.",
            f"error[E0425]: cannot find value `{one}_{number}` in this scope\n --> src/{other}.rs:{number}:5",
        )
    )
    return f"{outputs(chance, size)}\n{end}"


def calls(chance: random.Random) -> Iterator[Call]:
    """Checks that fail and later pass, looks, changes: medium outputs, a few of a megabyte."""
    while True:
        one, other = chance.choice(_NAMES), f"{chance.choice(_NAMES)}_{chance.randrange(60)}"
        check = chance.choice(_CHECKS).format(other)
        yield Call(chance.choice(_LOOKS).format(one, other), outputs(chance, _size(chance)), False)
        if chance.random() < 0.4:
            yield Call(check, failure(chance, min(_size(chance), 200_000)), True)
            yield Call("", outputs(chance, 1_500), False, f"/repo/tide/src/{one}/{other}.py")
            yield Call(check, outputs(chance, 2_000) + "\n12 passed in 0.31s", False)


def _size(chance: random.Random) -> int:
    return chance.choice((500, 3_000, 8_000, 20_000, 30_000)) if chance.random() > 0.01 else 1_000_000


def claude_code(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Every output stands in a record twice."""
    for number, call in enumerate(calls(chance)):
        said = {"sessionId": "large", "cwd": "/repo/tide", "version": "2.1.19", "timestamp": _at(number)}
        if number % 40 == 0:
            text = _TELLS.format(chance.choice(_NAMES), chance.choice(_NAMES))
            yield {**said, "type": "user", "uuid": f"a{number}", "message": {"role": "user", "content": text}}
        change = {"file_path": call.edits, "old_string": "pass", "new_string": call.output}
        given = change if call.edits else {"command": call.command}
        use = {"type": "tool_use", "id": f"t{number}", "name": "Edit" if call.edits else "Bash", "input": given}
        body = {"id": f"m{number}", "role": "assistant", "content": [{"type": "text", "text": "Next."}, use]}
        yield {**said, "type": "assistant", "uuid": f"b{number}", "message": body}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": call.output, "is_error": call.failed}
        body = {"role": "user", "content": [result]}
        again = {"stdout": call.output, "stderr": "", "interrupted": False}
        yield {**said, "type": "user", "uuid": f"c{number}", "message": body, "toolUseResult": again}


def codex(chance: random.Random) -> Iterator[dict[str, Any]]:
    meta = {
        "id": "large",
        "timestamp": _at(0),
        "cwd": "/repo/tide",
        "originator": "codex_cli_rs",
        "cli_version": "0.46.0",
    }
    yield {"timestamp": _at(0), "type": "session_meta", "payload": meta}
    for number, call in enumerate(calls(chance)):
        if number % 40 == 0:
            text = _TELLS.format(chance.choice(_NAMES), chance.choice(_NAMES))
            content = [{"type": "input_text", "text": text}]
            yield _item(number, {"type": "message", "role": "user", "content": content})
        patch = f"*** Begin Patch\n*** Update File: {call.edits}\n@@\n+{call.output}\n*** End Patch"
        line = ["apply_patch", patch] if call.edits else ["bash", "-lc", call.command]
        told = {"type": "function_call", "name": "shell", "call_id": f"t{number}"}
        yield _item(number, {**told, "arguments": json.dumps({"command": line, "workdir": "/repo/tide"})})
        output = {"output": call.output, "metadata": {"exit_code": int(call.failed), "duration_seconds": 0.4}}
        told = {"type": "function_call_output", "call_id": f"t{number}", "output": json.dumps(output)}
        yield _item(number, told)


def _item(number: int, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": _at(number), "type": "response_item", "payload": payload}


def _at(number: int) -> str:
    return (
        f"2026-10-{1 + number // 86_400 % 28:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    )


FORMATS: dict[str, Callable[[random.Random], Iterator[dict[str, Any]]]] = {"claude-code": claude_code, "codex": codex}


def generate(path: Path, format: str, megabytes: float = MEGABYTES) -> None:
    left = int(megabytes * 1e6)
    with path.open("wb") as file:
        for record in FORMATS[format](random.Random(7)):
            left -= file.write(msgspec.json.encode(record) + b"\n")
            if left < 0:
                return


_DECODE = """
import sys, msgspec
decode = msgspec.json.Decoder().decode
with open(sys.argv[1], "rb") as file:
    for line in file:
        decode(line)
"""
_READ = "import sys; from pathlib import Path; from hardwon.sessions.reader import read; read(Path(sys.argv[1]))"
_HARVEST = "import sys; from hardwon import Hardwon; Hardwon(sys.argv[2]).harvest([sys.argv[1]], mine=True)"
_STEPS = {"decode every line, untyped": _DECODE, "read": _READ, "harvest into a new store": _HARVEST}


def table() -> str:
    rows = []
    for format in FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.jsonl"
            generate(path, format)
            taken = {name: in_a_process(step, path, Path(folder) / "home") for name, step in _STEPS.items()}
        base = taken["decode every line, untyped"].seconds
        rows += [
            (format, name, f"{used.seconds:.1f} s", f"{used.seconds / base:.1f}", f"{used.megabytes} MB")
            for name, used in taken.items()
        ]
    note = (
        f"{MEGABYTES} MB in one file of one session: medium outputs, one in a hundred of a megabyte, a failure in "
        "every sixth call. Time of the processor, all processes together; peak memory of the largest of them."
    )
    return markdown("A very large session", ("format", "what", "time", "× decoding", "peak"), rows, note)


class Used(NamedTuple):
    seconds: float
    megabytes: int


def in_a_process(program: str, *arguments: Path) -> Used:
    """With the processes that it starts."""
    process = subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)])
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"ended with {status}")
    return Used(used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)


if __name__ == "__main__":
    print(table())
