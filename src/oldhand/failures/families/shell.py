"""The shell and the small tools: what they say when a name does not lead anywhere."""

from __future__ import annotations

import re

from oldhand.failures.families.span import Span

# (what went wrong, a word that must stand in the output, the line, with the subject as its group)
_RULES: tuple[tuple[str, str, str], ...] = (
    ("command not found", "not found", r"^(?:.*?: )?(?:\d+: )?([^\s:]+): (?:command )?not found$"),
    ("command not found", "command not found", r"^.*?: command not found: (\S+)$"),
    ("command not found", "not recognized", r"^'?([^'\s]+)'? is not recognized as (?:an internal|the name)"),
    ("no such file or directory", "no such file", r"^(?:.*?: )?no such file or directory: (\S+)$"),
    (
        "no such file or directory",
        "No such file",
        r"^(\S+: (?:[^:\n]+: )*[^:\n]+): No such file or directory(?: \(os error 2\))?\.?$",
    ),
    ("permission denied", "ermission denied", r"^(?:.*?: )?([^:\n]+): [Pp]ermission denied$"),
    ("permission denied", "permission denied:", r"^.*?: permission denied: (\S+)$"),
    ("operation not permitted", "not permitted", r"^(?:.*?: )?([^:\n]+): Operation not permitted$"),
    ("is a directory", "s a directory", r"^(?:.*?: )?([^:\n]+): [Ii]s a directory$"),
    ("not a directory", "ot a directory", r"^(?:.*?: )?([^:\n]+): [Nn]ot a directory$"),
    ("file exists", "File exists", r"^(?:.*?: )?([^:\n]+): File exists$"),
    ("syntax error", "error near", r"^.*(?:bash|sh|zsh|eval).*: ((?:syntax|parse) error near .*)$"),
    ("invalid option", ": ", r"^(\S+: (?:invalid|unrecognized|illegal|unknown) (?:option|argument|flag).*)$"),
    ("no rule to make target", "No rule", r"^make: \*\*\* No rule to make target ['`]([^']+)'.*$"),
    ("timed out", "timed out after", r"^Command timed out after ([\dhms. ]+).*$"),
)
_PREFIX = r"^(?:(?:-?(?:ba|z|da)?sh|/\S*sh|\(eval\)|eval)(?::| ) ?(?:line )?(?:\d+: ?)?)+"


def find(text: str) -> Span | None:
    """The last such line: earlier ones are often a login script's noise."""
    best, at = None, -1
    for name, word, pattern in _RULES:
        if word not in text:
            continue
        for found in re.finditer(pattern, text, re.MULTILINE):
            if found.start() > at:
                best, at = (
                    Span("shell", name, re.sub(_PREFIX, "", found.group(1).strip()), "", found.group().strip()),
                    found.start(),
                )
    return best
