"""What is read of a file depends on nothing but the file: not on how this process happens to order its sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hardwon.sessions.discover import below
from tests.conftest import EXAMPLES, REPOSITORY
from tests.sessions.every_format import WRITERS
from tests.sessions.test_specstory_layouts import HEAD, asked, card, turn

DIGESTS = """
import hashlib, sys
from pathlib import Path
import msgspec
from hardwon import NotASession
from hardwon.failures.ledger import inspected
for name in sys.stdin.read().splitlines():
    try:
        print(hashlib.sha256(msgspec.json.encode(inspected(Path(name)))).hexdigest(), name)
    except NotASession as error:
        print(error)
"""
A_FEW_BYTES = 200_000
EVERY = 12


def digests(paths: list[Path], seed: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", DIGESTS],
        input="\n".join(map(str, paths)),
        env=os.environ | {"PYTHONHASHSEED": str(seed)},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_a_patch_of_several_files_and_folders_with_equal_votes_are_read_alike_everywhere(tmp_path: Path) -> None:
    patch = "Tool use: **apply_patch** Delete: `./d.py` Modify: `./c.py` Add: `./b.py` Update: `./a.py`"
    reads = [f"Read file: ./{name}/x.py" for name in "abcdef"]
    listed = card("Listed directory src • **1** results", "\n".join(f"/{name}/{name}/x.py" for name in "fedcba"))
    written = [writer(_folder(tmp_path / name), ["go on", "and again"]) for name, writer in WRITERS.items()]
    history = _folder(tmp_path / "patch") / "patch.md"
    history.write_text(HEAD + asked("go") + turn(patch, *reads, listed))
    paths = [history, *written, *below(EXAMPLES)]
    assert digests(paths, 1) == digests(paths, 2) == digests(paths, 3)


def test_real_files_are_read_alike_everywhere(shared: Path) -> None:
    found = [path for folder in ("transcripts", "projects") for path in below(shared / folder)]
    paths = [path for path in found if path.stat().st_size < A_FEW_BYTES][::EVERY]
    assert digests(paths, 1) == digests(paths, 2)


def _folder(path: Path) -> Path:
    path.mkdir()
    return path
