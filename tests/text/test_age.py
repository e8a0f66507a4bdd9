"""How long ago, as a person would say it."""

from __future__ import annotations

import pytest

from hardwon.text.shown import ago

SECOND = 1_000_000
DAY = 86_400 * SECOND


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        (-5 * SECOND, "just now"),
        (59 * SECOND, "just now"),
        (60 * SECOND, "1 minute ago"),
        (3 * 3600 * SECOND, "3 hours ago"),
        (2 * DAY, "2 days ago"),
        (45 * DAY, "45 days ago"),
        (100 * DAY, "3 months ago"),
        (520 * DAY, "17 months ago"),
        (740 * DAY, "2 years ago"),
    ],
)
def test_it_reads_as_people_speak(passed: int, said: str) -> None:
    assert ago(1_000 * DAY, 1_000 * DAY + passed) == said
