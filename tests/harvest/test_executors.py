"""Learning is a pure function of a file: whoever reads the files, the store is the same."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon, HardwonError
from hardwon.harvest.pipeline import executor_at
from hardwon.store.integrity import content_hash
from tests.conftest import EXAMPLES, Run, same_marks


def learned(home: Path, executor: Executor | None) -> str:
    with Hardwon(home) as memory:
        same_marks(memory)
        assert memory.harvest(EXAMPLES, mine=True, executor=executor).sessions > 0
        return content_hash(memory.reading())


class Lost(Executor):
    """One whose workers all die."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(RuntimeError("the worker is gone"))
        return future


@pytest.fixture(scope="module")
def dask() -> Iterator[str]:
    """The address of a real scheduler with a worker in a process of its own."""
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own loops and ports
        with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
            yield cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.mark.filterwarnings("ignore")
def test_threads_a_dask_cluster_and_workers_that_die_leave_the_same_store(tmp_path: Path, dask: str) -> None:
    alone = learned(tmp_path / "alone", None)
    with ThreadPoolExecutor(2) as threads:
        assert learned(tmp_path / "threads", threads) == alone
    assert learned(tmp_path / "lost", Lost()) == alone
    with executor_at(dask) as cluster:
        assert cluster.submit(_executable).result() == sys.executable
        assert learned(tmp_path / "dask", cluster) == alone


def _executable() -> str:
    return sys.executable


def test_an_executor_that_is_none_is_named_in_one_line(hardwon: Run) -> None:
    for address in ("dask://", "spark://x:1", "x"):
        with pytest.raises(HardwonError, match="unknown executor"), executor_at(address):
            pass
    assert "unknown executor 'x'" in hardwon("harvest", str(EXAMPLES), "--executor", "x").stderr
