"""Reading and harvesting, against decoding the same bytes as JSON and doing nothing with them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from benchmarks import scan
from benchmarks.timing import markdown, medians
from hardwon import Hardwon, NotASession
from hardwon.failures.fingerprint import fingerprint
from hardwon.scrub.scrubber import Scrubber
from hardwon.sessions.discover import below
from hardwon.sessions.reader import read
from hardwon.sessions.workers import cores

ROUNDS = 5
GENERATED = 2_000
REPOSITORY = Path(__file__).parent.parent


def table() -> str:
    shared = REPOSITORY.parent / "shared" / "data" / "transcripts"
    paths = [path for path in below(shared if shared.is_dir() else REPOSITORY / "examples") if _readable(path)]
    size = sum(path.stat().st_size for path in paths) / 1e6
    sessions = [session for path in paths for session in read(path).sessions]
    outputs = [result.text for session in sessions for result in session.results()]
    texts = outputs + [message.text for session in sessions for message in session.messages if message.text]
    length = sum(map(len, texts)) / 1e6
    errors = "\n".join(outputs)[:2_000_000]
    pieces = [errors[at : at + 2000] for at in range(0, len(errors), 2000)]

    def decode() -> None:
        decoder = msgspec.json.Decoder()
        for path in paths:
            for line in path.read_bytes().splitlines():
                try:
                    decoder.decode(line)
                except (msgspec.DecodeError, ValueError):
                    continue

    taken = medians(
        {
            "decode every line, untyped": decode,
            "read every session": lambda: [read(path) for path in paths],
            "harvest into a new store, all cores": lambda: harvest(paths),
        },
        ROUNDS,
    )
    base = taken["decode every line, untyped"]
    rows = [(name, f"{size / time:.0f} MB/s", f"{time / base:.1f}") for name, time in taken.items()]
    scrub = medians({"scrub": lambda: list(map(Scrubber().scrub, texts))}, ROUNDS)["scrub"]
    prints = medians({"fingerprint": lambda: [fingerprint(piece) for piece in pieces]}, ROUNDS)["fingerprint"]
    rows.append(("scrub every text of them", f"{length / scrub:.0f} MB/s", f"{scrub / base:.1f}"))
    rows.append(generated_row(base / size))
    rate = errors.count("\n") / prints
    note = (
        f"{len(paths)} files, {size:.1f} MB. Fingerprints: {rate:,.0f} lines/s. Median of {ROUNDS} rounds; what does "
        f"not say otherwise runs in one process, of {cores()} cores. Goal: a harvest of 40 MB/s on 2 cores."
    )
    return markdown("Throughput", ("what", "speed", "× decoding"), rows, note)


def harvest(paths: list[Path]) -> None:
    with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
        memory.harvest(paths, mine=True)


def generated_row(decoding: float) -> tuple[str, str, str]:
    """A harvest of so many sessions in JSON lines that starting the workers does not count."""
    with tempfile.TemporaryDirectory() as folder:
        size = scan.generate(Path(folder), GENERATED) / 1e6
        taken = medians({"harvest": lambda: harvest(below(Path(folder)))}, 3)["harvest"]
    return (
        f"harvest {GENERATED:,} generated sessions, all cores",
        f"{size / taken:.0f} MB/s",
        f"{taken / (size * decoding):.1f}",
    )


def _readable(path: Path) -> bool:
    try:
        return bool(read(path).sessions)
    except NotASession:
        return False
