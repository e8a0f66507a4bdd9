"""How a measured fix is told: it failed, this was done, the same thing worked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hardwon.failures import tools
from hardwon.failures.shell import commands as taken_apart
from hardwon.failures.signature import informative
from hardwon.harvest.rules import lazily
from hardwon.harvest.rules.rule import Rule
from hardwon.model.failure import Fix, Step
from hardwon.model.lesson import Draft, Kind, Source

RULE = Rule(
    "fixed-by-command",
    4,
    ("pitfall", "tool-quirk"),
    "what failed until a command was run, or another call was made",
    "store",
)
ONCE = 0.72
_LONGEST_REMEDY = 100
_LONGEST_FAILED = 70
_TEMPORARY = lazily.pattern(r"/tmp/|/var/folders/|\\Temp\\|\$TMPDIR")  # noqa: S108
_FILE_TOOLS = ("cp ", "mv ", "ln ", "rm ", "touch ", "mkdir ")
_ABOUT_TOOLS = frozenset(("shell", "git", "npm", "usage"))
_PLACE = lazily.pattern(r" \((?P<file>[\w.-]+\.\w{1,6})\)$")
_INLINE_PROGRAM = lazily.pattern(r"\s+(?:-c|-e|-)?\s*(?:…|<<…|\"…|'…).*$")
_NUMBER = lazily.pattern(r"(?<=\s)#?\d{2,}(?=\s|$)")
_SETTING = lazily.pattern(r"(?P<name>[A-Z][A-Z0-9_]{2,})=")


def drafts(fixes: Iterable[Fix]) -> list[Draft]:
    """Only fixes made of commands: an edit mends the code once, and the code now says so itself."""
    return [_draft(fix) for fix in fixes if _told(fix)]


def worth_telling(family: str, signature: str, steps: Sequence[Step], succeeded_as: str) -> bool:
    if family == "agent" or any(step.action not in ("run", "drop") for step in steps):
        return False
    if family == "generic" and not informative(signature) and not _names_what_was_missing(signature, succeeded_as):
        return False
    _, steps = _of_any_file(signature, steps)
    return not any(_of_the_moment(command) for command in (*(step.what for step in steps), _bare(succeeded_as)))


def _names_what_was_missing(signature: str, succeeded_as: str) -> bool:
    """`KEY=value program` worked where the error asked for KEY."""
    setting = _SETTING.match(succeeded_as)
    return setting is not None and setting["name"] in signature


def _told(fix: Fix) -> bool:
    failure = fix.occurrence
    return worth_telling(failure.family, failure.signature, fix.steps, fix.succeeded_as)


def _of_the_moment(command: str) -> bool:
    """A program written for the occasion, a folder that is gone, a file moved once: no use to the next session."""
    passing = "<<" in command or command.startswith(_FILE_TOOLS)
    return passing or len(command) > _LONGEST_REMEDY or bool(_TEMPORARY.search(command))


def _draft(fix: Fix) -> Draft:
    failure = fix.occurrence
    return Draft(
        kind=kind(failure.family),
        text=sentence(failure.signature, failure.command, fix.steps, fix.succeeded_as),
        confidence=ONCE,
        rule=RULE.name,
        failure=failure.fingerprint,
        untrusted=fix.untrusted,
        measured=True,
        source=Source(message_index=failure.message_index, quote=failure.excerpt[:280], origin="tool"),
    )


def kind(family: str) -> Kind:
    return "tool-quirk" if family in _ABOUT_TOOLS else "pitfall"


def sentence(signature: str, command: str, steps: Sequence[Step], succeeded_as: str) -> str:
    """The fix in one sentence; where it was done to the file that the error named, of any such file."""
    signature, steps = _of_any_file(signature.rstrip("."), steps)
    worked = _general(_bare(succeeded_as))
    if steps and steps[0].action == "drop":
        return f"Use `{worked}` without `{steps[0].what}`, which fails here with {signature}."
    gist = _failed(command, signature)
    if worked and worked.startswith(gist):
        gist = tools.brief(command, _LONGEST_FAILED)  # or both would read the same
    why = "because files are not formatted" if signature.startswith("format:") else f"with {signature}"
    failed = f"`{_general(gist)}` fails {why}"
    remedy = " and ".join(f"`{step.what}`" for step in steps)
    if worked and remedy:
        return f"{failed}: after {remedy}, `{worked}` works."
    if worked:
        return f"{failed}: use `{worked}`."
    return f"{failed} until {remedy} is run."


def _of_any_file(signature: str, steps: Sequence[Step]) -> tuple[str, Sequence[Step]]:
    place = _PLACE.search(signature)
    if place is None or len(steps) != 1:
        return signature, steps
    if not any("/" in word or "." in word for word in steps[0].what.split()):
        return signature[: place.start()], steps  # what helps is about no file
    words = steps[0].what.split()
    folder_or_file = words[-1].rstrip("/").rpartition("/")[2]
    if folder_or_file != place["file"] and not words[-1].endswith("/") and words[-1] != ".":
        return signature, steps
    return signature[: place.start()], [Step(steps[0].action, " ".join([*words[:-1], "<file>"]))]


def _failed(command: str, signature: str) -> str:
    """The command whose report the error is, without what it was about."""
    found = taken_apart(command)
    if signature.startswith("gofmt:"):
        found = tuple(one for one in found if one.program == "golangci-lint") or found
    if len(found) > 1 and (named := [one for one in found if re.search(rf"\b{re.escape(one.program)}\b", signature)]):
        return tools.gist(named[0].text)
    if signature.startswith("gofmt:") and found:
        return f"{found[0].program} {found[0].subcommand}".strip()
    return tools.gist(command)


def _bare(succeeded_as: str) -> str:
    """A call that worked, without the program that stood in the line itself."""
    return _INLINE_PROGRAM.sub("", succeeded_as) if "…" in succeeded_as else succeeded_as


def _general(command: str) -> str:
    return _NUMBER.sub("<number>", command)
