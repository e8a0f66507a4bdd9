"""`rules`: what lessons are drawn by."""

from __future__ import annotations

from hardwon.cli.output import Json, print_json, table


def rules(json: Json = False) -> None:
    """List the rules that draw lessons from sessions.

    Example: hardwon rules
    """
    from hardwon.harvest.rules.catalogue import RULES

    if json:
        print_json(
            [
                {
                    "name": rule.name,
                    "version": rule.version,
                    "kinds": rule.kinds,
                    "over": rule.over,
                    "finds": rule.finds,
                }
                for rule in RULES
            ]
        )
        return
    rows = [(rule.name, rule.version, ", ".join(rule.kinds), rule.over, rule.finds) for rule in RULES]
    table(("RULE", "VERSION", "KIND", "OVER", "FINDS"), rows, right=(1,))
