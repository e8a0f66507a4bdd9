"""What shells and commands say of how they were called, what services and agents' own tools say, and what is left."""

from __future__ import annotations

import re

from hardwon.failures.fingerprint import FAILED_STEP, USED, Rule, Span, first, last
from hardwon.text.normalise import lazy_pattern

# The shell and the small tools: what they say when a name does not lead anywhere.

_SHELL = r"(?:-?(?:ba|z|da|k|fi)?sh|/\S*/(?:ba|z|da)?sh|\(eval\)|eval|\S+\.(?:sh|bash|zsh)|command)"
_SHELL_RULES: tuple[Rule, ...] = (
    ("command not found", "not found", r"^(?:.*?: )?(?:\d+: )?(?P<what>[^\s:]+): (?:command )?not found$"),
    ("command not found", "command not found", r"^.*?: command not found: (?P<what>\S+)$"),
    ("command not found", "not recognized",
     r"^(?:\S+ ?: )?(?:The term )?'?(?P<what>[^'\s]+)'? is not recognized as (?:an internal|(?:a|the) name)[^.,\n]*"),
    ("command not found", "Unknown command", r"^fish: Unknown command:? (?P<what>\S+)"),
    ("command not found", "failed to run command",
     r"^\w+: failed to run command ['‘](?P<what>[^'’]+)['’]: No such file"),
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
    ("syntax error", "unmatched", r"^(?:\(eval\)|zsh):\d+: (?P<what>unmatched .)$"),
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
_RECORD = r"^(?P<who>{}): *\nLine \|\n(?: *\d+ \|.*\n)?(?: *\|[ ~]*\n)? *\| +(?P<said>\S.*)$"
_POWERSHELL = lazy_pattern(
    rf"{_RECORD.format('ParserError')}|^\+ [ ~]*~[ ~]*\n(?P<before>\S.*)$(?=[\s\S]*\+ CategoryInfo +: ParserError)",
    re.MULTILINE,
)
"""A line that PowerShell, of its present version or an older one, cannot read."""
_CMDLET = lazy_pattern(_RECORD.format(r"[A-Z]\w*-\w+"), re.MULTILINE)
_PREFIX = lazy_pattern(rf"^(?:{_SHELL}(?::| ) ?(?:-c: )?(?:line )?(?:\d+: ?)?)+")
# Linux: `rm: cannot remove 'x'`; macOS: `rm: x`.
_PHRASE = lazy_pattern(
    r"(?<=: )(?:cannot|can't|couldn't|failed to) (?:access|open|stat|create|remove|move|copy|read|touch|cd to|"
    r"make|execute|edit)"
    r"(?: (?:regular file|directory|file|link|symbolic link))*:? (?=\S)"
)
# Which of a row of numbered files is not there changes; that agents look for them does not.
_NUMBERED_FILE = lazy_pattern(r"[^\s/\\]*\d[^/\\\n:]*$")


_AWK_CONTEXT = lazy_pattern(r"\n\s*context is\n\s*(\S.{0,400})")
"""The script itself: the same mistake in another one is another error."""


def find_shell(text: str) -> Span | None:
    """The last such line: earlier ones are often a login script's noise. What could not be read did not run."""
    if "ParserError" in text and (unread := _POWERSHELL.search(text)):
        said = (unread.group("said") or unread.group("before")).strip()
        return Span("shell", "PowerShell", said, "", said)
    found = last(text, _SHELL_RULES)
    if not found:
        refused = _CMDLET.search(text) if "Line |" in text else None
        said = f"{refused.group('who')}: {refused.group('said').strip()}" if refused else ""
        return Span("shell", "PowerShell", said, "", said) if said else None
    name, match = found
    parts = match.groupdict()
    what = _PREFIX.sub("", f"{parts.get('who') or ''} {parts.get('what') or ''}".strip())
    what = _PHRASE.sub("", what).replace("‘", "'").replace("’", "'")
    if name not in ("syntax error", "jq", "sed", "awk", "grep", "tar", "find", "xargs"):
        what = what.replace("'", "").replace('"', "").rstrip("/")
    if name == "no such file or directory":
        what = _NUMBERED_FILE.sub(lambda found: re.sub(r"\d+", "<n>", found.group()), what)
    excerpt = match.group().strip()
    if name == "awk" and (context := _AWK_CONTEXT.match(text, match.end())):
        what, excerpt = f"{what}: {context.group(1)}", f"{excerpt}: {context.group(1)}"
    return Span("shell", name, what, "", excerpt)


# A command called wrongly: what argparse, click, clap, cobra, commander and getopt say of options and
# sub-commands.

_OPTION = r"(?:option|argument|flag|shorthand flag|switch|parameter)s?"
_USAGE_RULES: tuple[Rule, ...] = (
    ("usage", ": error: ", r"^(?P<program>[\w./-]+(?: [\w-]+)*): error: (?P<message>.+)$"),
    ("usage", "rror: ",
     (r"^[Ee]rror: (?P<message>(?:No such (?:option|command)|Invalid value for|Missing (?:argument|option|"
     r"parameter)|Got unexpected extra argument).+)$")),
    ("usage", "rror: ",
     (rf"^[Ee]rror: (?P<message>(?:unknown (?:{_OPTION}|(?:sub)?command)|unexpected argument|"
     rf"unrecognized (?:subcommand|{_OPTION})|too many arguments|missing required argument|required option|"
     rf"option '?-|invalid value '|the following required arguments|the argument '|no such (?:sub)?command).*)$")),
    ("usage", "nknown ", rf"^(?P<message>[Uu]nknown (?:{_OPTION}|(?:sub)?command):? .+)$"),
    ("usage", "llegal option", r"^(?P<program>\S+?): (?P<message>illegal option -- .+)$"),
    ("usage", "option", rf"^(?P<program>\S+?): (?P<message>(?:invalid|unrecognized|unknown|bad) {_OPTION}.*)$"),
    ("usage", "argument",
     (rf"^(?P<program>\S+?): (?P<message>(?:fatal: )?(?:invalid|unrecognized|unknown|ambiguous) {_OPTION}.*|"
     rf"option requires an argument.*|option '[^']+' requires an argument)$")),
    ("usage", "arg(s)", r"^(?:Error: )?(?P<message>(?:accepts|requires) .*arg\(s\).*)$"),
    ("usage", "operand", r"^(?P<program>\S+?): (?P<message>(?:missing|extra) (?:file |destination file )?operand.*)$"),
)  # fmt: skip
_PROGRAM = lazy_pattern(r"^[ \t]*[Uu]sage: (?:python[\d.]* -m )?([\w./-]+)", re.MULTILINE)
_USED = lazy_pattern(r"^[ \t]*[Uu]sage:\s+((?:[\w./-]+ )[a-z][\w-]*(?: [a-z][\w-]*)*)", re.MULTILINE)
_CHOICES = lazy_pattern(
    r" \(choose from .*\)$|; did you mean.*$|\. Did you mean.*$|, did you mean.*$| found$|\s+\(Did you mean.*$"
)


def find_usage(text: str) -> Span | None:
    found = first(text, _USAGE_RULES)
    if not found:
        return None
    match = found[1]
    message = _CHOICES.sub("", match.group("message")).strip()
    program = match.groupdict().get("program") or ""
    if not program and (named := _PROGRAM.search(text)):
        program = named.group(1)
    program = re.sub(r"^.*[/\\]", "", program).removesuffix(".exe")
    if program in ("error", "fatal", "Error", "bash", "sh", "zsh"):
        program = ""
    used = _USED.search(text)
    excerpt = f"{USED}: {used.group(1)}\n{match.group().strip()}" if used else match.group().strip()
    return Span("usage", "usage", message, program, excerpt)


# A hook of git's that stopped a commit or a push: which one, or which of its steps, not what that found this time.

_STEP = lazy_pattern(
    r"^(?:[$>] (?P<echoed>[\w./@-]+ \S.*|\S+)|(?P<named>\S.*?)\.{3,}(?:\(.*\))?Failed[ \t]*$)", re.MULTILINE
)
_PACKAGE = lazy_pattern(r"^\S+@\d\S* [\w:.-]+(?: \S+)?$")
_FAILED_STEP = lazy_pattern(rf"^{FAILED_STEP}([\w:.-]+)(?: \([\d.]+ seconds\))?[ \t]*$", re.MULTILINE)


def find_hook_step(text: str, found: Span) -> Span | None:
    """The step that is said to have failed; else the hook, known by its first step, with the last that had begun."""
    steps: list[str] = []
    for step in _STEP.finditer(text):
        if named := step.group("named"):
            return Span("hook", "failed", named, "", f"{step.group().strip()}\n{found.excerpt}")
        if not _PACKAGE.match(step.group("echoed")):  # > package@1.0.0 test: the command itself follows
            steps.append(step.group("echoed"))
    if not steps:
        return None
    failed = _FAILED_STEP.search(text)
    if failed:
        return Span("hook", "failed", steps[0], "", f"$ {steps[0]}\n{FAILED_STEP}{failed.group(1)}\n{found.excerpt}")
    ran = "$ " + "\n$ ".join(dict.fromkeys((steps[0], steps[-1])))
    return Span("hook", "failed", steps[0], "", f"{ran}\n{found.excerpt}")


# The agent's own tools refusing a call.

_WRAPPED = lazy_pattern(r"<tool_use_error>(.*?)(?:</tool_use_error>|\Z)", re.DOTALL)
_LEAD = r"(?:Error: |\[)?"
_WORDS = lazy_pattern(
    _LEAD + r"(?:File has not been read yet|String to replace not found in file|Found \d+ matches of the string"
    r"|File has been (?:modified|unexpectedly modified)|No changes to make|File does not exist|Directory does not exist"
    r"|InputValidationError|EISDIR|ENOENT|Path does not exist|apply_patch verification failed|Cannot read binary"
    r"|File content \([\d.,]+ ?\w+\) exceeds maximum|No such tool available|Unknown (?:skill|tool|slash command)"
    r"|No replacement was performed|Parameter `\w+` is required|Invalid `\w+` parameter|The path \S+ does not exist"
    r"|File already exists at|Your proposed edit has introduced|The LLM did not conform to the edit format"
    r"|Only \d+ reflections allowed|No exact match found|No filename provided before|EXECUTION TIMED OUT"
    r"|oldString not found|old_string not found|You must read (?:the )?file|File \S+ has been modified since"
    r"|Failed to edit, |MCP error -?\d+|unsupported call: |failed to parse function arguments|write_stdin failed"
    r"|Claude requested permissions|Permission to use \w+|cd in '|Agent type '|Tool \"[^\"\n]+\" not found in registry"
    r"|The string to replace was not found|The model provided an ambiguous|Model supplied an ambiguous edit"
    r"|Model provided invalid arguments to|Tool call timed out after|File is too large, >|Could not find file \S+ in"
    r"|params must have required|File path must be within|Path not in workspace|exec_command failed for)"
)
# What follows is the text that was to be changed, or advice.
_END = lazy_pattern(
    r"\n|(?<=[a-z\d)'`])\. |: ?old_string|[.:\]]$|; (?:use|read)\b| \(maximum\b|, either by\b|; run\b|"
    r"\bAvailable agents:"
)
_QUOTED_CODE = lazy_pattern(r"old_str `.*?`(?= (?:did not appear|in lines)|\Z)", re.DOTALL)
_ISSUE = lazy_pattern(r"(?:required parameter|unexpected parameter|parameter) `(\w+)`[^\n]*")
_REFUSING = lazy_pattern(r"\b(\w+) failed due.*$")
_FILE_OF_A_CALL = lazy_pattern(
    r"'[^'\n]*[./\\][^'\n]*'|(?<![\w<])(?:[A-Za-z]:|[~.…\w-]+)?[\\/][^\s'\"`]*[^\s'\"`.,:;)]|\b[\w-]+\.[A-Za-z]\w{0,5}\b"
)
"""Which file it was changes; that the tool refuses such a call does not."""
_BLOCK = lazy_pattern(r"^# \d+ SEARCH/REPLACE blocks? failed to match", re.MULTILINE)


def find_agent(text: str) -> Span | None:
    wrapped = _WRAPPED.search(text)
    body = (wrapped.group(1) if wrapped else text).strip()
    if not wrapped and (not _WORDS.match(body) or "\n    at " in body):
        return None
    body = re.sub(f"^{_LEAD}", "", body)
    if "SEARCH/REPLACE" in body and _BLOCK.search(body):
        return Span("agent", "refused", "SEARCH block failed to match", "", "SEARCH block failed to match")
    body = _QUOTED_CODE.sub("old_str", body).removeprefix("No replacement was performed").lstrip(" .,")
    body = re.sub(r"^You must read (?:the )?file (\S+) before", r"file \1 was not read before", body)
    head = _END.split(body, maxsplit=1)[0].rstrip(" .:]")
    if head.endswith("new syntax error(s)") and (syntax := re.search(r"^[ \t]*- (\w+\d* .+)$", body, re.MULTILINE)):
        head = f"{head}: {syntax.group(1)}"
    issue = _ISSUE.search(body)
    message = f"{_REFUSING.sub(_quoted, head)} {issue.group()}" if issue else head
    return Span("agent", "refused", _FILE_OF_A_CALL.sub("<file>", message), "", message)


def _quoted(found: re.Match[str]) -> str:
    return f"'{found.group(1)}'"


# Any other tool: the first line that says it failed, else the first that speaks of failure.

_PLAIN_ERROR = lazy_pattern(
    r"^(?:\w+[\w.:/ -]{0,40}: |\[[\w.:/ -]+\] )?\[?(?:[A-Z]\w*(?:Error|Exception|Failure)|[Ee]rror|ERROR|"
    r"FATAL|[Ff]atal(?: error)?"
    r"|FAILED|panic|E\d{2,5}|PHP (?:Fatal|Parse) error)\b(?: \([^)]*\)| from server \(\w+\)|\[\w+\])?\]?[:!] ?\S"
)
_WORRYING = lazy_pattern(
    r"\b(?:error|fatal|fail(?:ed|ure|s)?|exception|cannot|can't|could not|couldn't|unable to|denied|refused|"
    r"not found|no such|missing|invalid|unexpected|unrecognized|unknown|timed? ?out|panic(?:ked)?|aborted|"
    r"not defined|not supported|undefined|does not exist|conflict|issues? found)\b",
    re.IGNORECASE,
)
_REASSURING = lazy_pattern(
    r"\b(?:no|0|zero) (?:errors?|failures?|failed|problems|issues)\b|\bwithout errors?\b|"
    r"^[ \t]*(?:npm )?warn(?:ing)?\b|Warning: "
    r"|(?-i:\b(?:WARN(?:ING)?|NOTICE|INFO|DEBUG)\b)|, skipping$"
    r"|\btruncated\b|\bomitted\b|\bdeprecat|\b[1-9]\d* passed\b|^ok\b|^PASS\b",
    re.IGNORECASE,
)
# What every failing script ends with says nothing about this one.
_WRAPPER = lazy_pattern(
    r"\bfailed with \d+ error\(s\)|"
    r"\bELIFECYCLE\b|\bcommand failed with exit code\b|\bhusky - |\bscript failed \(code \d+\)|"
    r"^error: script \"|ERR_PNPM_RECURSIVE"
    r"|^(?:g?make)(?:\[\d+\])?: \*\*\*|^exit status \d+$|^npm (?:error|ERR!)|\bexited \(\d+\)|^error: Recipe ",
    re.IGNORECASE,
)
_TYPED = lazy_pattern(
    r"^\W{0,3}(?:\w+[\w.:/-]*: )?\[?([A-Z]\w*(?:Error|Exception|Failure)|[Ee]rror|ERROR|FATAL|[Ff]atal|"
    r"panic)\b[\]:!]*\s*(.*)$"
)
_CODE = lazy_pattern(
    r"[{};,(]$|:=|=>|^(?:var|const|let|func|def|import|return|type|if|//|#)\b|^[ \t]*//|\) \{|^\d+[:→\t|-]"
)
_STAMP = lazy_pattern(r"^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\]?|\[\d\d:\d\d:\d\d\S*\])\s+")
_LOGGED = lazy_pattern(r"\blevel=(?:error|fatal)\b.*?\bmsg=\"(.+?)(?<!\\)\"")
_ANSWERED = lazy_pattern(r"^[{\"].*?\"(?:error|message|detail|msg)\" ?: ?\"([^\"\\\n]{3,200})\"")
"""What went wrong, in an object of JSON."""
_BOX = "│┃|╷╵╭╰─ \t"
_PROMPT = lazy_pattern(r"(?:PS )?[A-Z]:\\[^>\n]*>\s*$|[\w.-]+@[\w.-]+[: ].*[%$#]\s*$|PS ~?\S*>\s*$")
"""Of a shell that waits for the next command."""
_WORD = lazy_pattern(r"[^\W\d_]{2,}")
_STEMS = (
    "error fatal fail exception cannot can't could unable denied refused found such missing invalid unexpected "
    "unrecogn unknown timed timeout panic abort undefined exist support conflict issue elifecycle husky *** exit recipe"
).split()
_MAX_SHORT_OUTPUT_LINES = 3
_END_CHARACTERS_SEARCHED = 2_000
_MAX_LINE_CHARACTERS = 400


def find_generic(text: str) -> Span | None:
    """The plainest line that speaks of failure, or the last of a short output; else nothing to go by.

    What a long output says in its middle is more often a log than the reason.
    """
    head, tail = _ends(text)
    lines = _speaking(head)
    chosen = _plainest(lines) or (_plainest(_speaking(tail)) if tail else None)
    lines += _speaking(tail)
    chosen = chosen or next((bare for line in lines if _WRAPPER.search(line) and (bare := _bare(line))), None)
    few = _few(text) if chosen is None else []
    if chosen is None and not few:
        return None
    above = f"{few[-2].rstrip(':')}: " if len(few) > 1 else ""  # it says what the last line is about
    chosen = (chosen or few[-1])[:_MAX_LINE_CHARACTERS]
    if logged := _LOGGED.search(chosen):
        return Span("generic", "error", logged.group(1), "", chosen)
    if answered := _ANSWERED.search(chosen):
        return Span("generic", "error", answered.group(1), "", answered.group(1))
    typed = _TYPED.match(chosen)
    if typed and typed.group(2):
        name = typed.group(1)
        return Span("generic", name.lower() if name.isupper() else name, typed.group(2), "", chosen)
    return Span("generic", "error", chosen, "", f"{above}{chosen}")


def _ends(text: str) -> tuple[str, str]:
    """The beginning and the end, at lines; a text that is not long is all beginning."""
    if len(text) <= 2 * _END_CHARACTERS_SEARCHED:
        return text, ""
    head = text.rfind("\n", 0, _END_CHARACTERS_SEARCHED)
    tail = text.find("\n", len(text) - _END_CHARACTERS_SEARCHED)
    return text[: head if head > 0 else _END_CHARACTERS_SEARCHED], text[
        tail if tail > 0 else -_END_CHARACTERS_SEARCHED :
    ]


def _plainest(lines: list[str]) -> str | None:
    worrying: str | None = None
    for line in lines:
        plain = _PLAIN_ERROR.match(line)
        if not plain and (worrying or not _WORRYING.search(line) or _CODE.search(line)):
            continue
        if not _WRAPPER.search(line) and (bare := _bare(line)):
            if plain:
                return bare
            worrying = bare
    return worrying


def _speaking(text: str) -> list[str]:
    """Lines with a word that may be about a failure; most outputs have few, so that patterns see little."""
    low = text.lower()
    stems = [stem for stem in _STEMS if stem in low]
    found: list[str] = []
    for line in text.splitlines():
        lowered = line.lower()
        for stem in stems:
            if stem in lowered:
                found.append(_STAMP.sub("", line.strip(_BOX)))
                break
    return found


def _few(text: str) -> list[str]:
    """The lines of a short output."""
    few = [bare for line in text.splitlines()[: 4 * _MAX_SHORT_OUTPUT_LINES] if (bare := _bare(line))]
    return few if len(few) <= _MAX_SHORT_OUTPUT_LINES and text.count("\n") < 4 * _MAX_SHORT_OUTPUT_LINES else []


def _bare(line: str) -> str:
    """A line of at least two words without its box and its time, unless it says that all is well."""
    bare = _STAMP.sub("", line.strip(_BOX))
    return bare if len(_WORD.findall(bare)) > 1 and not _REASSURING.search(bare) and not _PROMPT.match(bare) else ""


# What Docker, git and GitHub, HTTP clients and databases say.

# Docker and Compose: the daemon, builds, services.

_DOCKER_RULES: tuple[Rule, ...] = (
    ("no daemon", "Cannot connect to the Docker", r"(?P<message>Cannot connect to the Docker daemon)"),
    ("no daemon", "failed to connect to the docker", r"(?P<message>failed to connect to the docker API)"),
    ("permission", "permission denied while trying",
     r"(?P<message>permission denied while trying to connect to the [Dd]ocker daemon socket)"),
    ("daemon", "rror response from daemon",
     r"[Ee]rror response from daemon: (?!.*(?:\.\.\. +[\d.]+s\s*$|rror response from daemon: ))(?P<message>.+)$"),
    ("build", "failed to solve", r"^(?:ERROR: |target \S+: )*failed to solve: (?P<message>.+)$"),
    ("compose", "no such service", r"^(?P<message>no such service: \S+)$"),
    ("compose", "no configuration file", r"^(?P<message>no configuration file provided)"),
    ("compose", "has neither", r"^(?:.*?)(?P<message>service \"[^\"]+\" has neither an image nor a build context)"),
    ("compose", "dependency failed", r"^(?:.*?)(?P<message>dependency failed to start: .+)$"),
    ("docker", "is not a docker command", r"^docker: (?P<message>'[^']+' is not a docker command)"),
    ("docker", "invalid reference", r"^(?:docker: )?(?P<message>invalid reference format.*)$"),
)  # fmt: skip
_NAME = lazy_pattern(r"( on endpoint \S+| by container \"?)\s*\(?[0-9a-f]{12,64}\)?\"?")
_CHECKSUM = lazy_pattern(r"failed to compute cache key: (?:failed to calculate checksum of ref \S+ )?")
_PORT = lazy_pattern(r"^.* on endpoint (\S+).*: Bind for \S+ failed: (port is already allocated)")
_BUILD_STEP = lazy_pattern(r"process \"(?:/bin/(?:ba)?sh -\w+ )?(.+)\" did not complete successfully: (.+)")
_ADVICE = lazy_pattern(r"\. (?:You have to|See |Is the|Did you|Run )")


def find_docker(text: str) -> Span | None:
    found = first(text, _DOCKER_RULES)
    if not found:
        return None
    name, match = found
    message = _PORT.sub(r"'\1': \2", match.group("message").removeprefix("Conflict. "))
    if step := _BUILD_STEP.match(message):
        return Span(
            "docker", name, f"process did not complete successfully: {step.group(2)}", step.group(1), match.group()
        )
    message = _CHECKSUM.sub("", _NAME.sub(r"\1", message))
    return Span("docker", name, _ADVICE.split(message, maxsplit=1)[0].strip(), "", match.group().strip())


# git and gh: a rejected push, a conflict, a `fatal:` or `error:` line, what GitHub answers.

_LINE = lazy_pattern(
    r"^(?:remote: )?(fatal|error): (?!failed to push some refs|unrecognized subcommand|unexpected argument)(.+)$",
    re.MULTILINE,
)
_REJECTED = lazy_pattern(r"^ ?! \[(?:remote )?rejected\].*\((.+)\)$", re.MULTILINE)
_VIOLATED = lazy_pattern(r"^remote:\s+- (?!GITHUB PUSH)(\S.*?)\s*$", re.MULTILINE)
_CONFLICT = lazy_pattern(r"^CONFLICT \(([^)]+)\): (.+)$", re.MULTILINE)
_HINT = lazy_pattern(r"^hint: .*\bgit\b|^usage: git\b|^Aborting$", re.MULTILINE)
_GIT_WORDS = lazy_pattern(
    r"\b(?:git|refs?|worktrees?|branch(?:es)?|repository|pathspec|commits?|committed|merge|rebas\w+|remote|"
    r"stash|index|revision|tag"
    r"|cherry-pick|checkout|patch|HEAD|submodule|upstream|unmerged|unstaged|pull|Username|Password|detached|"
    r"overwritten by"
    r"|unable to access|email address|untracked|object|ambiguous argument)\b"
)
# A commit's subject, the machine's own folder or name.
_REST = lazy_pattern(r"\.\.\. | at '[/~][^']*'$| \(got '")
_GIT_RULES: tuple[Rule, ...] = (
    ("rejected", "remote: error: GH", r"^remote: error: (GH\d+: .+?)\.?$"),
    ("git", "not a git command", r"^git: ('\S+' is not a git command)"),
    ("git", "cherry-pick is now empty", r"^(The previous cherry-pick is now empty)"),
    ("git", "something we can merge", r"^(merge: \S+ - not something we can merge)"),
    ("nothing to commit", "nothing to commit", r"^(nothing to commit).*$"),
    ("nothing to commit", "nothing added", r"^(nothing added to commit but untracked files present).*$"),
    ("nothing to commit", "no changes added", r"^(no changes added to commit).*$"),
    ("ignored", "ignored by one of", r"^The following paths are (ignored by one of your \.gitignore files):?$"),
    ("ssh", "(publickey", r"(Permission denied \(publickey)"),
    ("ssh", "Host key", r"^(Host key verification failed)"),
)
_GITHUB: tuple[Rule, ...] = (
    ("gh", "GraphQL: ", r"^(?:.*?)GraphQL: (.+?)(?: \([\w.]+\))?$"),
    ("gh", "HTTP 4", r"^(?:gh: |.*?: )?(.* ?\(HTTP \d+\)|HTTP \d{3}: [^(\n]+)"),
    ("gh", "gh auth",
     r"^(?:To get started with GitHub CLI|.*not logged in(?:to)? (?:to )?any (?:GitHub )?hosts).*(gh auth login)"),
    ("gh", "pull request",
     r"^(no (?:open )?pull requests found for branch \".+\"|a pull request for branch .+ already exists)"),
    ("gh", "default remote repository", r"(No default remote repository has been set)"),
    ("gh", "no git remotes found", r"^(no git remotes found)"),
    ("gh", "could not find any", r"^(could not find any .+)$"),
)  # fmt: skip


def find_git(text: str) -> Span | None:
    if found := first(text, _GIT_RULES[:1]):
        span = _of(found)
        if violated := _VIOLATED.search(text, found[1].end()):
            span.excerpt = f"{span.excerpt.rstrip('.')}: {violated.group(1)}"
        return span
    if rejected := _REJECTED.search(text):
        return Span("git", "rejected", rejected.group(1), "", rejected.group().strip())
    if conflict := _CONFLICT.search(text):
        return Span(
            "git",
            "conflict",
            f"{conflict.group(1)}: {conflict.group(2).removeprefix('Merge conflict in ')}",
            "",
            conflict.group(),
        )
    if found := first(text, _GIT_RULES[8:]):
        return _of(found)  # before the `fatal:` that follows and says less
    lines = list(_LINE.finditer(text))
    chosen = next((found for found in lines if found.group(1) == "fatal"), lines[0] if lines else None)
    if chosen and (_GIT_WORDS.search(chosen.group(2)) or _HINT.search(text)):
        message = _REST.split(chosen.group(2), maxsplit=1)[0]
        return Span("git", chosen.group(1), message, "", f"{chosen.group(1)}: {message}")
    if found := first(text, _GITHUB) or first(text, _GIT_RULES[1:8]):
        return _of(found)
    return None


def _of(found: tuple[str, re.Match[str]]) -> Span:
    message = found[1].group(1).strip()
    return Span(
        "git", found[0], "not logged in" if message == "gh auth login" else message, "", found[1].group().strip()
    )


# Asking another machine: curl, wget, ssh, and what HTTP libraries say of a status.

_HTTP_RULES: tuple[Rule, ...] = (
    ("curl", "curl: (", r"^(?:.*?)(?P<type>curl: \(\d+\)) (?P<message>.+)$"),
    ("wget", " ERROR ", r"^.*? ERROR (?P<code>\d{3}): (?P<message>.+?)\.?$"),
    ("wget", "failed: Connection",
     r"^Connecting to (?P<host>\S+) .*failed: (?P<message>Connection refused|Connection timed out)"),
    ("wget", "unable to resolve host", r"^wget: (?P<message>unable to resolve host address .+)$"),
    ("ssh", "ssh: ", r"^ssh: (?P<message>connect to host \S+ port \d+: .+|Could not resolve hostname [^:\n]+)"),
    ("status", "status code ", r"^(?:.*?)(?P<message>[Rr]equest failed with status code \d+)"),
    ("status", "HTTP Error ", r"^(?:.*?)(?P<message>HTTP Error \d{3}: .+)$"),
    ("status", "HTTP/", r"^[<\s]*HTTP/[\d.]+ (?P<code>[45]\d\d) ?(?P<message>.*)$"),
    ("status", "statusCode",
     r"\"statusCode\":\s?(?P<code>[45]\d\d).*?\"(?:message|error)\":\s?\"(?P<message>[^\"]+)\""),
)  # fmt: skip
_BODY = lazy_pattern(
    r"[\"']?\b(?:message|error|detail|error_description|reason)[\"']?\s*[:=]\s*[\"']([^\"'\n]{3,120})[\"']"
)
"""What an answer says beside its status."""
_CHARACTERS_OF_A_BODY = 600
_CONNECT = lazy_pattern(r"^(Failed to connect to \S+).*$")


def find_http(text: str) -> Span | None:
    found = first(text, _HTTP_RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    message = _CONNECT.sub(r"\1", parts["message"].strip())
    if code := parts.get("code"):
        message = f"status {code} {message}".strip()
    elif host := parts.get("host"):
        message = f"{host} {message}"
    message = re.sub(r"(?<=returned error: )(\d{3})", r"status \1", message)
    excerpt = match.group().strip()
    if name == "status" and (body := _BODY.search(text[match.end() : match.end() + _CHARACTERS_OF_A_BODY])):
        message, excerpt = f"{message}: {body.group(1)}", f"{excerpt}\n{body.group()}"
        name = "answer"
    return Span("http", parts.get("type") or name, message, "", excerpt)


# Databases at the command line: sqlite3, psql, mysql, duckdb, redis; migrations of Alembic and Prisma.

_SQL_RULES: tuple[Rule, ...] = (
    ("postgres", "psql: ",
     r"^psql: (?:error: )?(?:connection to server .*? failed: )?(?:FATAL|ERROR)?:?\s*(?P<message>.+)$"),
    ("postgres", "ERROR:  ", r"^(?:psql:\S+?:\d+: )?ERROR:  (?P<message>(?! ).+)$"),
    ("postgres", "FATAL:  ", r"^(?:.*?)FATAL:  (?P<message>(?! ).+)$"),
    ("sqlite", "rror",
     (r"^(?:Error|Parse error|Runtime error)(?:: (?:in prepare|stepping)|"
     r"(?::)? near line \d+)?[,:] (?P<message>(?:no such |near |UNIQUE |NOT NULL |FOREIGN KEY |CHECK |"
     r"unable to open |database |table |duplicate |incomplete |file is not|attempt to|datatype |ambiguous |"
     r"\d+ values|unrecognized token|disk I/O|SQL logic).+?)(?: \(\d+\))?$")),
    ("mysql", "ERROR ", r"^(?P<type>ERROR \d{4}) \(\w+\)(?: at line \d+)?: (?P<message>.+)$"),
    ("duckdb", " Error:", r"^(?P<type>(?:Catalog|Binder|Parser|Conversion|IO|Constraint) Error): ?\n?(?P<message>.+)$"),
    ("redis", "Redis", r"^(?P<message>Could not connect to Redis) at"),
    ("alembic", "FAILED: ",
     r"^[ \t]*FAILED: (?P<message>.*\b(?:revisions?|heads?|database|config|scripts?|migrations?|alembic)\b.*)$"),
    ("prisma", "Error: P", r"^(?:Error: )?(?P<type>P\d{4}):? *\n?\s*(?P<message>.+)$"),
)  # fmt: skip


def find_sql(text: str) -> Span | None:
    found = first(text, _SQL_RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    return Span("sql", parts.get("type") or name, parts["message"], "", match.group().strip())
