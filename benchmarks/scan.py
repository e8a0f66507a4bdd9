"""Counting and scoring 20,000 sessions, against decoding their lines and against sampling their ends."""

from __future__ import annotations

import compileall
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import msgspec

import hardwon
from benchmarks.timing import markdown
from hardwon.sessions.discover import below
from hardwon.sessions.scan import summaries

FILES = 20_000
ROUNDS = 3
EXAMPLES = Path(__file__).parent.parent / "examples" / "sessions"
TAIL = 8192


def table() -> str:
    compileall.compile_dir(Path(hardwon.__file__).parent, quiet=1)  # as an installation is
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        size = generate(home / "sessions", FILES) / 1e6
        rounds = [one_round(home) for _ in range(ROUNDS)]
        decoding, scanning, unchanged, peak = (statistics.median(column) for column in zip(*rounds, strict=True))
        sampling = timed(lambda: [ends_only(path) for path in below(home / "sessions")])
        wrong = counting_errors(home / "sessions")
    rows = [
        ("decode every line untyped, one core", f"{decoding:.2f} s", "1.00"),
        ("scan and score, all cores, exact", f"{scanning:.2f} s", f"{scanning / decoding:.2f}"),
        ("the same again, nothing changed", f"{unchanged:.2f} s", f"{unchanged / decoding:.2f}"),
        ("first line and last 8 KiB (the source system's way)", f"{sampling:.2f} s", f"{sampling / decoding:.2f}"),
    ]
    note = (
        f"{FILES:,} files, {size:.0f} MB, {os.cpu_count()} cores; peak memory of the scan {peak:.0f} MB. Goals: "
        f"scan at most 1.00, unchanged at most 0.3 s, 300 MB. The source system's way gets the number of messages "
        f"wrong by more than 10 % in {wrong[0]:.0%} of the files and the verdict failed or not in {wrong[1]:.0%}. "
        f"Median of {ROUNDS} rounds."
    )
    return markdown("Scanning 20,000 sessions", ("what", "time", "× decoding"), rows, note)


def one_round(home: Path) -> tuple[float, float, float, float]:
    """Seconds for decoding, scanning anew and scanning again, and the peak memory in MB."""
    for left in home.glob("scan.*"):
        left.unlink()
    decoding = timed(lambda: decode_every_line(home / "sessions"))
    scanning, peak = in_a_process(home)
    unchanged, _ = in_a_process(home)
    return decoding, scanning, unchanged, peak


def generate(folder: Path, count: int) -> int:
    """The bundled sessions under new names and ids, until there are enough; returns the bytes written."""
    chosen = random.Random(5)
    models = [path for path in below(EXAMPLES) if "subagents" not in path.parts]
    contents = [(path, path.read_bytes()) for path in models]
    written = 0
    for number in range(count):
        path, content = contents[chosen.randrange(len(contents))]
        id = str(uuid.UUID(int=chosen.getrandbits(128)))
        for old in set(re.findall(rb'"(?:sessionId|id)":\s?"([0-9a-f-]{36})"', content[:4000])):
            content = content.replace(old, id.encode())
        target = folder / f"{number % 200:03}" / f"{path.parts[-4]}-{id}.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        written += len(content)
    return written


def timed(run: object) -> float:
    began = time.perf_counter()
    run()  # type: ignore[operator]
    return time.perf_counter() - began


def decode_every_line(folder: Path) -> None:
    decode = msgspec.json.Decoder().decode
    for path in below(folder):
        for line in path.read_bytes().splitlines():
            try:
                decode(line)
            except (msgspec.DecodeError, ValueError):
                continue


def in_a_process(home: Path) -> tuple[float, float]:
    """Seconds for discovering, scanning and scoring, and the peak memory in MB of the largest process."""
    program = (
        "import sys, time; from pathlib import Path; from hardwon import Hardwon; "
        "from hardwon.sessions.discover import names_below; import resource; began = time.perf_counter(); "
        "found = Hardwon(Path(sys.argv[1])).sample(names_below(Path(sys.argv[1]) / 'sessions')); "
        "took = time.perf_counter() - began; "
        # Not ru_maxrss of the process itself: that counts the memory of whoever started it, too.
        "own = int(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0]); "
        "peak = max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); print(took, peak / 1024, len(found))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(home)], capture_output=True, text=True, check=True)
    took, peak, count = done.stdout.split()
    assert int(count) == FILES
    return float(took), float(peak)


def ends_only(path: Path) -> tuple[int, bool]:
    """Messages and failure, guessed as the source system's sampler does."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.readline()
        if size > TAIL:
            file.seek(size - TAIL)
        lines = [line for line in file.read().splitlines() if line.strip()]
    count = len(lines)
    if size > TAIL and count < 100:
        count = max(count, size // 500)
    failed = False
    for line in lines[-30:]:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        text = json.dumps(record).lower()
        failed = failed or any(
            word in text for word in "error failed cannot unable exception traceback rejected denied".split()
        )
    return count, failed


def counting_errors(folder: Path) -> tuple[float, float]:
    paths = below(folder)[:: FILES // 500]
    wrong_count = wrong_verdict = 0
    for path in paths:
        sessions = summaries(path)
        messages = sum(session.messages for session in sessions)
        guessed, failed = ends_only(path)
        wrong_count += abs(guessed - messages) > 0.1 * messages
        wrong_verdict += failed != any(session.outcome == "failure" for session in sessions)
    return wrong_count / len(paths), wrong_verdict / len(paths)


if __name__ == "__main__":
    print(table())
    print(f"peak memory of the benchmark itself: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
