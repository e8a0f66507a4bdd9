"""A bootstrap in the forms that others take it."""

from __future__ import annotations

import msgspec

from hardwon.bootstrap.compose import sections
from hardwon.model.bootstrap import Bootstrap
from hardwon.text.briefing import markdown


def markdown_of(found: Bootstrap) -> str:
    return markdown(sections(found.lines))


def hook_json(found: Bootstrap) -> str:
    """What Claude Code takes from a hook at session start."""
    context = {"hookEventName": "SessionStart", "additionalContext": found.text}
    return msgspec.json.encode({"hookSpecificOutput": context}).decode()
