"""The rules as a person reads them."""

from __future__ import annotations

from hardwon.scrub.personal import LOOSE_RULES
from hardwon.scrub.registry import SECRETS
from hardwon.scrub.rule import Rule
from hardwon.scrub.rules.assignments import ASSIGNMENTS
from hardwon.scrub.rules.general import VENDORS
from hardwon.scrub.rules.places import PLACES
from hardwon.scrub.rules.vendors import VENDOR_NAMES
from hardwon.scrub.scrubber import RULES

_EMAIL = ("email", "E-mail address", "anywhere")
_HOME = ("~", "Home folder and the user's name in it", "paths")
_HIDDEN = ("(removed)", "Direction, zero-width, tag and control characters, terminal sequences", "anywhere")


def listed() -> list[tuple[str, str, str]]:
    """(mark, what it stands for, where it is looked for) of every kind of rule, in the order of the registry."""
    found = list(dict.fromkeys((rule.label, rule.about, _where(rule)) for rule in RULES))
    found += [(rule.label, rule.about, "only with --personal") for rule in LOOSE_RULES]
    return [*found, _EMAIL, _HOME, _HIDDEN]


def _where(rule: Rule) -> str:
    if rule in ASSIGNMENTS:
        return "assignments"
    if rule in PLACES:
        return "its place"
    if rule in VENDORS:
        return f"after the name of one of {len(VENDOR_NAMES)} services"
    if rule in SECRETS:
        return "after the name " + " or ".join(rule.keywords) if rule.any_case else "anywhere"
    return "anywhere"
