"""The same harvest by processes of our own, by a Dask and by a Ray cluster: equal stores, and wall times as ratios.

python -m benchmarks.executors FOLDER

Ray is asked where it is installed.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.timing import markdown
from hardwon import Hardwon, HardwonError
from hardwon.harvest.pipeline import executor_at
from hardwon.sessions.workers import cores
from hardwon.store.integrity import content_hash

_TRIES = 5
_KEY = "5c" * 16
"""Secrets are marked by a store's own key: with one key, the same files make the same store."""


def table(folder: Path) -> str:
    ways: dict[str, AbstractContextManager[Executor | None]] = {"processes": nullcontext()}
    ways |= {name: way() for name, module, way in _CLUSTERS if find_spec(module)}
    taken: dict[str, tuple[float, str, int]] = {}
    for name, way in ways.items():
        with way as executor:
            taken[name] = _harvested(folder, executor)
        print(name, taken[name], f"load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    own, hash, sessions = taken["processes"]
    rows = [
        (name, f"{seconds / own:.2f}", "same" if other == hash else "OTHER")
        for name, (seconds, other, _) in taken.items()
    ]
    note = f"{sessions:,} sessions, {cores()} workers each; wall time as a share of that with processes of our own."
    return markdown("Who reads the files", ("executor", "wall time", "content hash"), rows, note)


def _harvested(folder: Path, executor: Executor | None) -> tuple[float, str, int]:
    with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
        db = memory.writing()
        with db.transaction():
            db.execute("UPDATE meta SET value = ? WHERE key = 'scrub_key'", (_KEY,))
        began = time.perf_counter()
        done = memory.harvest(folder, mine=True, executor=executor)
        return time.perf_counter() - began, content_hash(memory.reading()), done.sessions


@contextmanager
def _dask() -> Iterator[Executor]:
    import distributed

    started: Any = distributed.LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            started(n_workers=cores(), threads_per_worker=1, dashboard_address=None) as cluster,
            executor_at(cluster.scheduler_address.replace("tcp://", "dask://")) as executor,
        ):
            yield executor


@contextmanager
def _ray() -> Iterator[Executor]:
    ray = Path(sys.executable).with_name("ray")
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port = asked.getsockname()[1]
    started = ["start", "--head", f"--num-cpus={cores()}", f"--ray-client-server-port={port}"]
    subprocess.run([ray, *started], check=True, stdout=subprocess.DEVNULL)
    try:
        with ExitStack() as stack:
            for left in reversed(range(_TRIES)):  # it listens a while after it says that it is there
                try:
                    executor = stack.enter_context(executor_at(f"ray://127.0.0.1:{port}"))
                    break
                except HardwonError:
                    if not left:
                        raise
            yield executor
    finally:
        subprocess.run([ray, "stop"], check=True, stdout=subprocess.DEVNULL)


_CLUSTERS = (("Dask", "distributed", _dask), ("Ray", "ray", _ray))


if __name__ == "__main__":
    print(table(Path(sys.argv[1])))
