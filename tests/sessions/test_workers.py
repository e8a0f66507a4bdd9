"""Who asks workers and answers itself lets them wait for a short time only, and leaves things as they were."""

from __future__ import annotations

import sys

from hardwon.sessions.workers import quick_switches


def test_threads_switch_quickly_until_who_began_it_is_done() -> None:
    before = sys.getswitchinterval()
    with quick_switches():
        quick = sys.getswitchinterval()
        assert quick < before
        with quick_switches():
            assert sys.getswitchinterval() == quick
        assert sys.getswitchinterval() == quick
    assert sys.getswitchinterval() == before
