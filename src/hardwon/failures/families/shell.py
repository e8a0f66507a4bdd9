"""The shell and the small tools: what they say when a name does not lead anywhere."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, last

_SHELL = r"(?:-?(?:ba|z|da|k|fi)?sh|/\S*/(?:ba|z|da)?sh|\(eval\)|eval|\S+\.(?:sh|bash|zsh)|command)"
_RULES: tuple[Rule, ...] = (
    ("command not found", "not found", r"^(?:.*?: )?(?:\d+: )?(?P<what>[^\s:]+): (?:command )?not found$"),
    ("command not found", "command not found", r"^.*?: command not found: (?P<what>\S+)$"),
    ("command not found", "not recognized",
     r"^(?:\S+ ?: )?(?:The term )?'?(?P<what>[^'\s]+)'? is not recognized as (?:an internal|a? ?(?:the )?name)"),
    ("command not found", "Unknown command", r"^fish: Unknown command:? (?P<what>\S+)"),
    ("command not found", "failed to run command",
     r"^\w+: failed to run command ['‘](?P<what>[^'’]+)['’]: No such file"),
    ("command not found", "No such file or directory",
     rf"^{_SHELL}: (?:line )?\d*:? ?(?P<what>[\w.-]+): No such file or directory$"),
    ("command not found", " not found", r"^(?:\(eval\)|zsh):(?:\d+: )? ?(?P<what>=\S*) not found$"),
    ("bad interpreter", "bad interpreter", r"^(?:.*?: )?(?P<what>[^\s:]+): bad interpreter: .*$"),
    ("no such file or directory", "cd:", r"^(?:.*?:)?(?P<who>cd:)(?:\d+:)? no such file or directory: (?P<what>\S+)$"),
    ("no such file or directory", "no such file", r"^(?:.*?: )?no such file or directory: (?P<what>\S+)$"),
    ("no such file or directory", "No such file",
     r"^(?P<what>\S+: (?:[^:\n]+: )*[^:\n]+): No such file or directory(?: \(os error 2\))?\.?$"),
    ("no such file or directory", "can't cd to", r"^(?:.*?: )?(?P<what>cd: can't cd to .+)$"),
    ("permission denied", "ermission denied",
     r"^(?P<what>(?:\S+: )?(?:[^:\n]+: )*[^:\n]+): [Pp]ermission denied(?: \(os error 13\))?\.?$"),
    ("permission denied", "permission denied:", r"^.*?: permission denied: (?P<what>\S+)$"),
    ("operation not permitted", "not permitted",
     r"^(?P<what>(?:\S+: )?(?:[^:\n]+: )*[^:\n]+): Operation not permitted$"),
    ("is a directory", "s a directory", r"^(?P<what>(?:\S+: )?(?:[^:\n]+: )*[^:\n]+): [Ii]s a directory$"),
    ("not a directory", "ot a directory", r"^(?P<what>(?:\S+: )?(?:[^:\n]+: )*[^:\n]+): [Nn]ot a directory$"),
    ("directory not empty", "irectory not empty", r"^(?P<what>(?:\S+: )?(?:[^:\n]+: )*[^:\n]+): Directory not empty$"),
    ("file exists", "File exists", r"^(?P<what>(?:\S+: )?(?:[^:\n]+: )*[^:\n]+): File exists$"),
    ("no space left", "No space left", r"^(?P<what>.*?)(?::| )? ?\(?No space left on device\)?.*$"),
    ("read-only file system", "ead-only file system",
     r"^(?P<what>(?:\S+: )?(?:[^:\n]+: )*[^:\n]+): Read-only file system$"),
    ("syntax error", "error near", r"^.*(?:sh|eval|command|line \d+).*?: (?P<what>(?:syntax|parse) error near .*)$"),
    ("syntax error", "unexpected EOF", r"^.*?: (?P<what>unexpected EOF while looking for matching .+)$"),
    ("syntax error", "unexpected end of file", r"^.*?: (?P<what>syntax error: unexpected end of file.*)$"),
    ("unbound variable", "unbound variable", r"^(?:.*?: )?(?P<what>[^:\s]+): unbound variable$"),
    ("unbound variable", "parameter not set", r"^(?:.*?: )?(?P<what>[^:\s]+): parameter not set$"),
    ("bad substitution", "bad substitution", r"^(?:.*?: )?(?P<what>\S*): ?bad substitution$|^.*?bad substitution.*$"),
    ("no matches found", "no matches found", r"^(?:.*?: )?no matches found: (?P<what>.+)$"),
    ("event not found", "event not found", r"^(?:.*?: )?(?P<what>\S+): event not found$"),
    ("cannot execute", "cannot execute", r"^(?:.*?: )?(?P<what>[^\s:]+): cannot execute.*$"),
    ("cannot execute", "xec format error", r"^(?:.*?: )?(?P<what>[^\s:]+): [Ee]xec format error.*$"),
    ("argument list too long", "list too long", r"^(?:.*?: )?(?P<what>[^\s:]+): Argument list too long$"),
    ("killed", "Killed", r"^(?:.*?: line \d+: +\d+ )?Killed(?:: 9)?\s*(?P<what>[\w./-]*).*$"),
    ("killed", "killed", r"^zsh: killed +(?P<what>[\w./-]+).*$"),
    ("segmentation fault", "egmentation fault",
     r"^(?:.*?: line \d+: +\d+ )?Segmentation fault(?: +\(core dumped\))?(?::? \d+)? *(?P<what>[\w./-]*).*$"),
    ("address in use", "already in use", r"^(?P<what>.*[Aa]ddress already in use).*$"),
    ("timed out", "timed out after", r"^Command timed out after (?P<what>[\dhms. ]+).*$"),
    ("timed out", "exceeding timeout", r"^.*command after exceeding timeout (?P<what>[\d.]+ ?\w+)"),
    ("no package", "Unable to locate", r"^E: Unable to locate package (?P<what>\S+)$"),
    ("no package", "No available formula",
     r"^(?:Error|Warning): No available formula with the name \"(?P<what>[^\"]+)\""),
    ("locked", "lock file", r"^E: (?P<what>Could not open lock file \S+)"),
    ("sudo", "password is required", r"^sudo: (?P<what>a (?:terminal|password) is required).*$"),
    ("jq", "jq: ", r"^jq: (?P<what>(?:parse )?error.*)$"),
    ("sed", "sed: ", r"^sed: (?P<what>(?!can't read|couldn't open)(?:-e expression #\d+, char \d+: )?.+)$"),
    ("awk", "awk: ", r"^[gmn]?awk: (?P<what>.*?(?:syntax error|fatal|can't).*)$"),
    ("grep", "grep: ", r"^[ef]?grep: (?P<what>(?!.*: (?:No such|Is a|Permission)).+)$"),
    ("tar", "tar: ", r"^tar: (?P<what>(?!Exiting|Error is not|.*: (?:No such|Cannot)).+)$"),
    ("find", "find: ", r"^find: (?P<what>(?!.*: (?:No such|Permission)).+)$"),
    ("xargs", "xargs: ", r"^xargs: (?P<what>.+)$"),
)  # fmt: skip
_PREFIX = re.compile(rf"^(?:{_SHELL}(?::| ) ?(?:-c: )?(?:line )?(?:\d+: ?)?)+")
# Linux: `rm: cannot remove 'x'`; macOS: `rm: x`.
_PHRASE = re.compile(
    r"(?<=: )(?:cannot|can't|couldn't|failed to) (?:access|open|stat|create|remove|move|copy|read|touch|cd to|"
    r"make|execute|edit)"
    r"(?: (?:regular file|directory|file|link|symbolic link))*:? (?=\S)"
)


def find(text: str) -> Span | None:
    """The last such line: earlier ones are often a login script's noise."""
    found = last(text, _RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    what = _PREFIX.sub("", f"{parts.get('who') or ''} {parts.get('what') or ''}".strip())
    what = _PHRASE.sub("", what).replace("‘", "'").replace("’", "'")
    if name not in ("syntax error", "jq", "sed", "awk", "grep", "tar", "find", "xargs"):
        what = what.replace("'", "").replace('"', "").rstrip("/")
    return Span("shell", name, what, "", match.group().strip())
