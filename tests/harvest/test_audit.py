"""Every lesson that the real sessions teach was judged by a person, and hardly any is junk."""

from __future__ import annotations

from pathlib import Path

from benchmarks.lessons_audit import audit, junk


def test_every_lesson_is_judged_and_at_most_one_in_twenty_is_junk(shared: Path) -> None:
    judged = audit(shared)
    assert [one.key for one in judged if not one.verdict] == []
    assert junk(judged) <= 0.05
    assert len(judged) >= 20
