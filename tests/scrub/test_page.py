"""The documentation lists the rules there are."""

from __future__ import annotations

from .rules_page import MARKER, PAGE, table


def test_the_page_lists_every_rule_of_the_registry() -> None:
    assert PAGE.read_text(encoding="utf-8").partition(MARKER)[2] == table()
