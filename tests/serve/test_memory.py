"""What a service holds in memory: a page of text does not need much."""

from __future__ import annotations

import os
import sys

import pytest
from benchmarks.service import MEMORY_GOAL, memory

from hardwon.recall.minilm import installed

LESSONS = int(os.environ.get("SERVED_LESSONS", "8000"))
"""More than are compared one by one."""
EMBEDDED = 100
"""By the model, which takes its time; the vectors of all others are drawn beside these, and as large."""


@pytest.mark.skipif(sys.platform != "linux", reason="only the kernel of Linux says what a process alone holds")
@pytest.mark.skipif(not installed(), reason="the extra `semantic` is not installed")
def test_a_service_that_searches_by_meaning_stays_small() -> None:
    start, searched, mcp = memory(LESSONS, EMBEDDED).values()
    assert start <= 80
    assert searched <= MEMORY_GOAL
    assert mcp <= MEMORY_GOAL
