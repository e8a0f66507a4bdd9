"""The same error has the same fingerprint on any machine; it is made of the output and of what had been called."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from importlib import import_module

from hardwon.text.normalise import digest, identity, is_random, lazy_pattern, speaks_of_people, tail, tilde, unmarked
from hardwon.text.shown import clean

# What a family finds, without typing or dataclasses: they would double the hook's cold start.


class Span:
    """The part of an output that says what went wrong."""

    __slots__ = ("error_type", "excerpt", "family", "frame", "message")

    def __init__(self, family: str, error_type: str, message: str, frame: str = "", excerpt: str = "") -> None:
        self.family = family
        self.error_type = error_type
        self.message = message
        self.frame = frame
        """The first place of one's own code: file name and function."""
        self.excerpt = excerpt


LIBRARY = (
    r"site-packages|dist-packages|[\\/]lib[\\/]python\d|[\\/]Lib[\\/](?!site)|<frozen|<string>"
    r"|node_modules|node:|[\\/]\.cargo[\\/]|[\\/]rustc[\\/]|[\\/]go[\\/]pkg[\\/]mod|[\\/]go[\\/]src[\\/]"
)
"""Frames that are not one's own code."""

Rule = tuple[str, str, str]
"""(what went wrong, a word that must stand in the output, the line); compiled only when the word is there."""


def first(text: str, rules: tuple[Rule, ...]) -> tuple[str, re.Match[str]] | None:
    """The match that stands first in the text; of two at one place, that of the earlier rule.

    One that the screen has cut is passed over for a whole one of the same kind.
    """
    best: tuple[str, re.Match[str]] | None = None
    for name, word, pattern in rules:
        found = re.search(pattern, text, re.MULTILINE) if word in text else None
        if found and is_cut(found.group().rstrip()):
            every = re.finditer(pattern, text, re.MULTILINE)
            found = next((one for one in every if not is_cut(one.group().rstrip())), found)
        if found and (best is None or found.start() < best[1].start()):
            best = name, found
    return best


def last(text: str, rules: tuple[Rule, ...]) -> tuple[str, re.Match[str]] | None:
    """The match that stands last in the text; of two at one place, that of the earlier rule."""
    best: tuple[str, re.Match[str]] | None = None
    for name, word, pattern in rules:
        if word in text:
            for found in re.finditer(pattern, text, re.MULTILINE):
                if best is None or found.start() > best[1].start():
                    best = name, found
    return best


def module(name: str) -> str:
    """A module's name for a message: in angle brackets it is no path, and stays whole."""
    return f"<{name}>" if "/" in name and (bare(name) or name.startswith("@/")) else f"'{name}'"


def bare(name: str) -> bool:
    """A package, which is missing wherever it is imported; a relative module is missing in one place."""
    return bool(name) and not name.startswith((".", "/", "~", "@/", "#")) and name[1:2] != ":"


FAILED_STEP = "🥊 "
"""By which lefthook marks the step of a hook that failed."""
RAISED, USED = "Raised in", "Usage"
"""Label what stands before an error's own lines: the file that raises it, the sub-command that was called wrongly."""


def raised_in(span: Span, file: str) -> Span:
    """With the file that raises it, where another one is known by its frame."""
    if file and tail(file) != span.frame:
        named = re.split(r"[\\/]", file)[-2:]
        span.excerpt = f"{RAISED}: {'/'.join(named)}\n{span.excerpt}"
    return span


VERSION = 9
"""Of what recognises an error: failures that an older one has recognised are looked at anew (`refingerprint`)."""
_SALT = "2"  # not the version: an error that is recognised as before keeps its id

_MAX_OUTPUT_CHARACTERS = 64 * 1024
_MAX_LINE_CHARACTERS = 2_000
_MAX_MESSAGE_CHARACTERS = 600
_MAX_EXCERPT_CHARACTERS = 1_000
_HEAD_CHARACTERS_SEARCHED = 200
_FINGERPRINTS_REMEMBERED = 128  # a session is looked at again and again for what followed its failures
_BEGINNING_CHARACTERS = 150
_COMMAND_CHARACTERS_SEARCHED = 2_000
_RUNS_HOOKS = r"(?:^|[;&|\n(]\s*|^\w+ )git (?:-\S+ (?:\S+ )?)*(commit|push|merge|rebase|cherry-pick|am)\b"
# A word that may be a token.
_LONG_WORD = r"[A-Za-z0-9_+-]{14,}"
_MIXED = r"[A-Za-z]\d+[A-Za-z]+\d+[A-Za-z]"
# What agents write around an output.
_ENVELOPE = (
    r"\s*(?:(?:Error: )?[Ee]xit [Cc]ode:? -?\d+\n|Wall time: [^\n]*\n|Chunk ID: [^\n]*\n|Output:\n"
    r"|Original token count: [^\n]*\n|Process exited with code -?\d+\n|Total output lines: \d+\n"
    r"|Command (?:failed|exited) with (?:exit )?code:? -?\d+\n)+"
    r"|failed in sandbox \w+ with execution error: sandbox denied exec error, exit code: \d+, stdout: (?:, stderr: )?"
)
# What a runner of scripts says of the one that failed, and what it says when it begins one.
_SCRIPT_FAILED = r"^(?:error: script \"[^\"\n]+\" exited with code \d+|husky - \S+ \w+ (?:failed|exited).*)$"
_SCRIPT_BEGAN = "\n$ "
# What a program says that was fed nothing, or fed an error.
_FED_NOTHING = (
    r"Unexpected end of JSON input|JSONDecodeError: (?:Expecting value|Extra data)"
    r"|Failure writing output to destination"
    r"|can't open input file: *$|^jq: (?:parse error|error \(at <stdin>)"
)
# What pydantic says of an object, before it says which field is wrong and why.
_COUNTS_FIELDS = r"\d+ validation errors? for \S+$"
# What pip says of a conflict, above the exception that points to a page.
_IN_CONFLICT = r"Cannot install .{1,100}?(?= because these package versions have conflicting dependencies)"
# What builders write before each line of the tools that they run.
_PREFIXES = (
    ("failed to solve", r"^\d+\.\d{1,3} (?=\S)"),
    ("\n#", r"^#\d+ (?:\d+\.\d+ )?(?=\S)"),
    ("Z ", r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z "),
)


class Fingerprint:
    """An error's identity: the id, and what it was made from."""

    __slots__ = ("beginning", "error_type", "excerpt", "family", "frame", "id", "message")

    def __init__(
        self, family: str, error_type: str, message: str, frame: str, excerpt: str, beginning: str = ""
    ) -> None:
        self.family = family
        self.error_type = error_type
        self.message = message
        """Normalised: what varies is masked."""
        self.frame = frame
        self.excerpt = excerpt
        self.beginning = beginning
        """How the output begins, as a digest: two that begin alike are the same to anybody who looks."""
        self.id = "F" + digest(_SALT, family, error_type, message, frame)


def fingerprint(output: str, command: str = "") -> Fingerprint | None:
    """Recognise the error in a failed call's output; None when it says nothing to go by."""
    return _fingerprint(_cut(output), command)


@lru_cache(maxsize=_FINGERPRINTS_REMEMBERED)
def _fingerprint(output: str, command: str) -> Fingerprint | None:
    text = _plain(output)
    last = _last_script(text)
    span = _telling(last) or (_telling(text) if last is not text else None)
    if span is None:
        return None
    span = _cause(text, span)
    span.excerpt = _with_what_follows(span, text)
    if span.family != "lint":  # a line of code follows
        above, mark, line = span.excerpt.rpartition("\n")
        whole = unwrapped(line, text)
        span.excerpt = f"{above}{mark}{whole}"
        if len(whole) > len(line) and line.endswith(span.message):  # the same error on a wider screen
            span.message += whole[len(line) :]
    if command:
        span = _called_by(command, text, span)
    message = identity(span.message)[:_MAX_MESSAGE_CHARACTERS]  # cut afterwards: a mark is as long as it is
    return Fingerprint(
        span.family,
        span.error_type,
        message,
        identity(span.frame),
        span.excerpt[:_MAX_EXCERPT_CHARACTERS],
        digest("beginning", _beginning(text)),
    )


def _telling(text: str) -> Span | None:
    """The error that says what went wrong; one that tells a consequence only where the output names no cause."""
    span = find(text)
    if span is None or span.family == "agent" or not _tells_a_consequence(span):
        return span
    line = span.excerpt.rpartition("\n")[2]
    if cause := cause_below(line, text):
        span.message = span.excerpt = cause
        return span
    other = find(text.replace(line, "", 1)) if line else None
    if other is None or other.family == "generic" or not other.message:
        return span
    return span if _tells_a_consequence(other) else other


def _tells_a_consequence(span: Span) -> bool:
    return all(map(is_consequence, span.excerpt.split("\n")))


def _last_script(text: str) -> str:
    """Of several scripts that ran one after the other, what the last printed, where it is the one that failed."""
    if "script" not in text[-_HEAD_CHARACTERS_SEARCHED:] or not re.search(_SCRIPT_FAILED, text, re.MULTILINE):
        return text
    at = text.rfind(_SCRIPT_BEGAN)
    return text[at + 1 :] if at >= 0 else text


def _cause(text: str, found: Span) -> Span:
    """Where a program complains of being fed nothing, the one before it had failed: what that said."""
    if not re.search(_FED_NOTHING, found.excerpt):
        return found
    before, said, _ = text.partition(found.excerpt.rpartition("\n")[2])
    cause = find(before) if said and before.strip() else None
    named = cause is not None and (cause.family != "generic" or re.match(r"[\w.-]+: ", cause.excerpt))
    return cause if cause is not None and named else found


def _with_what_follows(span: Span, text: str) -> str:
    """A line that only announces what went wrong says nothing without the next."""
    said = span.excerpt.rstrip()
    last = said.rpartition("\n")[2]
    if "ResolutionImpossible" in last and (conflict := re.search(_IN_CONFLICT, text)):
        after = f"{DETAIL}: {conflict.group()}"
    elif re.search(_COUNTS_FIELDS, last):
        after = " ".join(below(last, text)[:2]).split(" [type=")[0]
    elif last.endswith("Not equal:"):
        after = ", ".join(" ".join(one.split()) for one in below(last, text)[:2])
    elif last.endswith("No overload matches this call."):
        after = next((one for one in below(last, text) if one.startswith(("Argument of ", "Type ", "Object "))), "")
    elif leads_on(said):
        after = continued(last, text)
        more = continued(after, text) if leads_on(after) else ""
        after = "\n".join(filter(None, (after, more)))
    else:
        after = _detail(said, last, text) or ("" if span.frame else _file_below(said, last, text))
        after = after or _labelled_below(last, text)
    return f"{said}\n{after}" if after else span.excerpt


DETAIL = "Detail"
"""Labels what a tool says of its error below it, without a label of its own."""
_DETAILS = lazy_pattern(
    r"(?:^|\s)\^+ (?P<label>(?!help: ).{4,120})$|^(?P<side>left|right): (?P<value>.{1,120})$"
    r"|^in \"(?P<file>[^\"]{1,120})\", line (?P<line>\d+)"
    r"|^(?:on \S+ line \d+.*|(?P<sentence>(?:The|A|An) .{8,140}\"[\w.-]+\".*|Type '.{4,140}))$"
)
_NEEDS_DETAIL = lazy_pattern(
    r"mismatched types|redundant \w+|left == right|while (?:scanning|parsing)|^Error: [A-Z][a-z ]+$"
    r"|error TS\d+: [A-Za-z ]+\.$"
)
_IN_USE = lazy_pattern(r"(?i)address already in use\W*$|address in use\W*$")
_ADDRESS_IN_USE = lazy_pattern(
    r"(?i)\b(?:address|port|listen\w*|bind)\b[^\n]{0,24}?((?:[\w.-]+|\[::1?\]|\*)?:\d{2,5}|port \d{2,5})\b"
)


_IN_A_FILE = lazy_pattern(
    r"(?:at |in |--> |[Ff]ile:? )[\"'(]?(?:file://)?(?P<file>[\w@~./\\:-]*?[\w-]+\.[A-Za-z]\w{0,4})(?:[:(,]|\", line )"
)


def _file_below(said: str, last: str, text: str) -> str:
    """The file that the line below names, for an error that names none."""
    found = next(iter(map(_IN_A_FILE.match, below(last, text, 1))), None)
    if found is None or re.search(LIBRARY, found.group()) or re.search(_PLACE, said):
        return ""
    named = re.split(r"[\\/]", found.group("file"))[-2:]
    return f"{DETAIL}: {'/'.join(named)}"


_NAMES = lazy_pattern(r"[`\"/\\@_<>=\d]|'[^']+'")
_LABELLED = lazy_pattern(r"[A-Z][a-z]+(?: [a-z]+){0,4}: \S{3,120}")


def _labelled_below(last: str, text: str) -> str:
    """What the next line says under a label, of an error that names nothing: `Path to resolve: tides.json`."""
    following = below(last, text, 1) if not _NAMES.search(last) else []
    return f"{DETAIL}: {following[0]}" if following and _LABELLED.fullmatch(following[0]) else ""


def _detail(said: str, last: str, text: str) -> str:
    """What stands below an error that says of nothing in particular what is wrong with it."""
    if _IN_USE.search(last) and (taken := _ADDRESS_IN_USE.search(text)):
        return f"{DETAIL}: {taken.group(1)}"
    if not any(map(_NEEDS_DETAIL.search, said.split("\n"))):
        return ""
    told: list[str] = []
    for found in filter(None, map(_DETAILS.search, below(last, text, 2 * _LINES_LOOKED_AT))):
        parts = found.groupdict()
        if parts["side"]:
            told.append(f"{'Expected' if parts['side'] == 'right' else 'Actual'}: {parts['value']}")
        elif said := parts["label"] or parts["sentence"] or parts["file"]:
            return "\n".join([*told, f"{DETAIL}: {said}{' line ' + parts['line'] if parts['line'] else ''}"])
    return "\n".join(told[:2])


def _beginning(text: str) -> str:
    """The first words of an output, without paths, ids and numbers."""
    head = " ".join(text[: 8 * _BEGINNING_CHARACTERS].split())
    head = re.sub(r"(?:[~/][\w.@+~-]*)+|\b[0-9a-f]{7,40}\b|0x[0-9a-f]+|\d+", "#", head.lower())
    return head[:_BEGINNING_CHARACTERS]


def _called_by(command: str, text: str, span: Span) -> Span:
    """What the command adds: that it ran git's hooks, or who it was that a text without a name speaks of."""
    if span.family not in ("git", "agent") and (git := re.search(_RUNS_HOOKS, command)):
        from hardwon.failures.families.commands import find_hook_step

        step = find_hook_step(text, span)
        if step is not None:
            step.frame = f"git {git.group(1)}"
            return step
    if not span.frame and (span.error_type == "timed out" or span.family == "usage"):
        span.frame = _subject(command, words=1 if span.family == "usage" else 2)
    return span


def _subject(command: str, words: int) -> str:
    """The program and its verb, of the last command that is not a step into a folder: `go test`."""
    for part in reversed(re.split(r"&&|\|\||[;|\n]", command[:_COMMAND_CHARACTERS_SEARCHED])):
        said = [word for word in part.split() if "=" not in word]
        if said and said[0] not in ("cd", "head", "tail", "cat", "grep", "tee", "echo"):
            verbs = [word for word in said[1:words] if re.fullmatch(r"[a-z][\w:-]*", word)]
            return " ".join([re.split(r"[/\\]", said[0])[-1], *verbs])
    return ""


def _plain(output: str) -> str:
    """The output as the tool wrote it on a terminal, without what agents and builders put around its lines."""
    text = _without_tokens(clean(output))
    head = text[:_HEAD_CHARACTERS_SEARCHED]
    if any(word in head for word in ("code", "Code", "Output:")) and (envelope := re.match(_ENVELOPE, text)):
        text = text[envelope.end() :]
    if "\n\n\n" in text:
        text = re.sub(r"\n{3,}", "\n\n", text)
    for word, prefix in _PREFIXES:
        if word in text:
            text = re.sub(prefix, "", text, flags=re.MULTILINE)
    # Homes before anything is found: a person's name may have a space that ends a path.
    return with_whole_lines(tilde(unmarked(_bounded(text))))


def _without_tokens(text: str) -> str:
    """Redacted as harvest does it, where there may be a token or something of a person's.

    Only there, for the rules cost more to load than all else here.
    """
    words = {word for word in re.findall(_LONG_WORD, text) if not word.isalpha() and not word.isdigit()}
    has_token = any("+" in word or re.search(_MIXED, word) or is_random(word) for word in words)
    if not has_token and not speaks_of_people(text):
        return text
    from hardwon.scrub.scrubber import Scrubber

    return Scrubber().scrub(text)


def _cut(output: str) -> str:
    if len(output) <= _MAX_OUTPUT_CHARACTERS:
        return output
    half = _MAX_OUTPUT_CHARACTERS // 2
    return output[:half] + "\n" + output[-half:]


def _bounded(text: str) -> str:
    if all(len(line) <= _MAX_LINE_CHARACTERS for line in text.split("\n")):
        return text
    return "\n".join(line[:_MAX_LINE_CHARACTERS] for line in text.split("\n"))


# Find the error in a tool's output: a function per family of tools, tried when the text has its words.
#
# `find_<family>(text) -> Span | None` stands in the module of `MODULES`. The hook starts cold at every failed call:
# the words in the table decide which families are worth trying, and patterns are compiled when they are first used.

MODULES = {
    "python": ("python", "pytest", "unittest", "pip", "lint"),
    "javascript": ("node", "npm", "tsc", "eslint", "jest", "bundler"),
    "compiled": ("c", "go", "java", "rust", "dotnet"),
    "commands": ("shell", "usage", "docker", "git", "http", "sql", "agent", "generic"),
}
"""Module → its families."""
_MODULE_OF = {family: module for module, families in MODULES.items() for family in families}

# Tried in this order; the first that finds something wins. Tools that others run stand before those that run them.
FAMILIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("agent", ("<tool_use_error>", "File has ", "File does ", "File content", "File already", "File path must",
               "String to replace", " matches of the string", "No changes to make", "InputValid", "EISDIR",
               "ENOENT", "Path does not", "Path not in", "The path ", "apply_patch", "No such tool",
               "Unknown skill", "Unknown tool", "Unknown slash", "No replacement", "Parameter `", "Invalid `",
               "proposed edit", "conform to the edit format", "reflections allowed", "oldString", "to edit",
               "You must read", "MCP error", "unsupported call", "function arguments", "write_stdin",
               "but you haven't granted", "was blocked", "has been denied", "Agent type", "in registry",
               "must have required", "Directory does", "No exact match", "filename provided", "EXECUTION TIMED",
               "exec_command failed", "Cannot read binary", "string to replace", "in the workspace",
               "Model provided", "Model supplied", "The model provided", "Tool call timed out", "File is too large")),
    ("pytest", ("FAILED ", "ERROR ", "ERROR: ", "=== FAILURES", "=== ERRORS", "=== test session", "pytest: error",
                "conftest")),
    ("unittest", ("\nFAIL: ", "\nERROR: ", "_FailedTest")),
    ("jest", ("\n✗ ", "FAIL ", "●", " failing", "No test files found", "No tests found", "did not match any test",
              "(fail) ", "spec.ts:", "spec.js:", "spec.tsx:", "# Unhandled error")),
    ("tsc", ("error TS",)),
    ("eslint", (" error  ", "ESLint", "eslint", " lint/", " ━━", "Prettier", "[warn] ", "[error] ", "✖ ")),
    ("lint", (".py:", "hook id:", ".pyi:", "reformat", "format ", "SC1", "SC2", "MD0", "sorted",
              "error: Cannot find impl")),
    ("rust", ("error[E", "\n  --> ", "\n --> ", "\n   --> ", "panicked at", "Cargo.toml", "crates", "rustc",
              "cargo", "rustup", "no matching package", "Diff in ", "custom build command")),
    ("go", (".go:", "go: ", "--- FAIL", "goroutine ", "\nFAIL\t", "panic: ", "go.mod", "is not in std",
            "no Go files")),
    ("java", (".java:", ".kt:", "went wrong:", "[ERROR] ", "Exception in thread", "\n\tat ", "jarfile",
              "main class", "Caused by: ", "JAVA_HOME", "release version")),
    ("dotnet", ("): error ", ": error CS", ": error MSB", ": error NU", ": error NETSDK", ": error FS",
                "Unhandled exception. ", "MSBUILD :", "SDK", "Error Message:")),
    ("c", (": error: ", ": fatal error: ", "undefined reference", "ld: ", "CMake Error", "make: ***", "]: ***",
           ": *** ", "Undefined symbols", "ninja: ", "multiple definition")),
    ("bundler", ("Failed to resolve import", "failed to resolve import", "Module not found", 'Could not resolve "',
                 "[ERROR] ", "RollupError", "Module build failed", "Rollup failed", "Failed to compile", "[plugin:")),
    ("python", ("Traceback (most", "Error: ", "Exception: ", "Error\n", "python: ", "python3", 'File "', "Exit: ",
                "NotFound: ", "Timeout: ", "KeyboardInterrupt", "DoesNotExist: ", "Interrupt")),
    ("node", ("Error: ", "Error [", "\n    at ", "Error]", "AggregateError", "heap out of memory", "Node.js v")),
    ("pip", ("ERROR: ", "error: Failed to", "error: No ", "error: The ", "error: Could", "error: Distribution",
             "error: Group ", "error: Extra ", "error: Project", "error: Dependency", "error: Broken",
             "No solution found", "version solving failed", "oetry", "externally-managed", "PackagesNotFound",
             "╰─", "ommand not found: ", 'The command "')),
    ("npm", ("npm ", "ERR_PNPM", "error Command", "error Couldn't", "Usage Error", "YN0", "error Your lockfile",
             "bun", "error: Script not found", "rror: script", "error An unexpected", "failed to resolve",
             'The engine "')),
    ("docker", ("rror response from daemon", "ocker", "failed to solve", "no such service",
                "no configuration file provided", "compose", "has neither an image", "dependency failed to start",
                "OCI runtime", "container", "invalid reference")),
    ("sql", ("ERROR:  ", "FATAL:  ", "rror near line", "rror: in prepare", "rror: stepping", "rror: near",
             "no such table", "no such column", "unable to open database", "constraint failed", "ERROR 1",
             "ERROR 2", "ERROR 3", "Catalog Error", "Binder Error", "Parser Error", "FAILED: ", "Error: P",
             "psql: ", "Redis", "database is locked")),
    ("git", ("fatal: ", "error: ", "rejected]", "CONFLICT (", "GraphQL: ", "HTTP 4", "gh auth", "gh: ",
             "pull request", "default remote repository", "not a git command", "can merge", "nothing to commit",
             "nothing added to commit", "ignored by one", "(publickey", "Host key verification", "run list",
             "workflow")),
    ("http", ("curl: (", "status code ", "ERROR 4", "ERROR 5", "failed: Connection", "ssh: ",
              "unable to resolve host", "HTTP/1", "HTTP/2", "wget: ", "HTTP Error ", "statusCode")),
    ("usage", ("usage: ", "Usage: ", "unknown ", "nrecognized ", "unexpected argument", "nvalid option",
               "llegal option", "Unknown ", "o such option", "o such command", "nvalid choice", "nvalid value",
               "issing argument", "arg(s)", "issing option", "required", "not a valid", "requires an argument",
               "xtra argument", "operand")),
    ("shell", ("not found", "recognized", "o such file", "enied", "not permitted", "directory", "irectory not",
               "exists", "error near", "unbound variable", "bad substitution", "unexpected EOF", "timed out",
               "exceeding timeout", "no matches found", "can't cd", "unmatched", "parse error", "syntax error",
               "No space",
               "list too long", "format error", "Killed", "killed", "fault", "Unable to locate", "password is required",
               "lock file", "already in use", "read-only", "Read-only", "jq: ", "sed: ", "awk: ", "grep: ",
               "tar: ", "find: ", "binary file", "No available formula", "Broken pipe", "event not found",
               "xargs: ", "ParserError", "Line |")),
    ("generic", ("",)),
)  # fmt: skip


CODE_FAMILIES = frozenset("python pytest unittest lint node tsc eslint jest bundler c go java rust dotnet".split())


def find(text: str) -> Span | None:
    """The error in an output, by the first family that knows it; None where nothing says that something is wrong."""
    present = _present(text)
    for name, words in FAMILIES:
        if _has(text, words) if present is None else not present.isdisjoint(words):
            module = import_module(f"hardwon.failures.families.{_MODULE_OF[name]}")
            span: Span | None = getattr(module, f"find_{name}")(text)
            if span is not None:
                return span
    return None


def _present(text: str) -> set[str] | None:
    """Which words of the families stand in a text; None where to ask for them one by one is better.

    Who has seen much text, as a harvest does, finds all of them in one pass by hyperscan, where it is installed.
    """
    global _characters_left  # noqa: PLW0603
    if _characters_left > 0:
        _characters_left -= len(text)
        return None
    from hardwon.scrub.prefilter import scanned

    scan = scanned(_WORDS)
    return None if scan is None else {"", *scan.present(text)}


_WORDS = tuple(filter(None, dict.fromkeys(itertools.chain(*(words for _, words in FAMILIES)))))
_characters_left = 200_000  # more than a hook looks at, which starts cold


def _has(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110 - twice as fast as any()
        if word in text:
            return True
    return False


# Lines that a terminal broke at its edge, whole again.

# Where a blank stood at the edge it is gone: two pieces that are words by themselves were two.
_WHOLE = lazy_pattern(
    r"an?|and|are|as|at|be|by|can|cannot|contains?|could|does|file|for|from|has|have|in|invalid|is|its?|must|not|of|on"
    r"|or|process|should|that|the|this|to|was|which|will|with"
)
_GOES_ON = r" ?-?[a-z][\w-]{0,24}(?:[\s,()'\"<>]|\.\w{0,4}(?:\s|$)|$)"
_MIN_WORD = 4
_MIN_WIDTH = 60
_MAX_LINES_JOINED = 4
_MAX_CHARACTERS = 1_000


def joined(before: str, after: str, edge: int) -> str:
    """Two pieces of a line as one; `edge` is the column at which it was broken."""
    last, first = before.rpartition(" ")[2], after.partition(" ")[0].rstrip(".,;:)")
    words = _WHOLE.fullmatch(last) or (len(first) >= _MIN_WORD and _WHOLE.fullmatch(first))
    in_a_word = len(before) >= edge and not words
    return f"{before}{'' if in_a_word or after.startswith(' ') else ' '}{after}"


def unwrapped(line: str, text: str) -> str:
    """A line of a text, with what follows it where it ends at the edge, in the middle of a sentence."""
    at = text.find(line) if len(line) >= _MIN_WIDTH else -1
    if at < 0:
        return line
    start = text.rfind("\n", 0, at) + 1
    pieces = text[start : start + _MAX_CHARACTERS].split("\n")[:_MAX_LINES_JOINED]
    edge = max(len(one.rstrip()) for one in text.split("\n"))
    if not pieces[0].endswith(line):
        return line
    whole = pieces[0]
    for before, after in itertools.pairwise(pieces):
        if len(before) < edge - 1 or not re.search(r"[\w,-]$", before) or not re.match(_GOES_ON, after):
            break
        whole = joined(whole, after.rstrip(), edge if len(before) == edge else len(whole) + 1)
    return line + whole[len(pieces[0]) :]


# Whole lines: a terminal breaks a line at its edge, and draws over what it had shown.

CUT = "…"
"""Stands at the end of a line whose rest the terminal drew over."""
_NARROWEST_SCREEN = 60
_OPENS = lazy_pattern(r"(?:^|[\s(\[:=,])(['\"])(?=\S)|(\()")
_NEW_RECORD = lazy_pattern(
    r"\s{2,}|(?:[A-Z]:[\\/]|~?/|\.{1,2}/)\S*[(:]\d|\S+\.\w+[(:]\d+|at |\d+ ?[|│]|[-*+>$#✓✗✔✖×(\[{}═━─]"
    r"|(?:\w*[Ee]rror|ERROR|\w+Exception|fatal|[Ww]arning|FAIL|PASS)\b"
)
_WITHIN_AN_ID = lazy_pattern(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){0,3}$")
_REST_OF_AN_ID = lazy_pattern(r"(?:[0-9a-f]{4}-){0,3}[0-9a-f]{12}\b|[0-9a-f]{4}-")
_END_OF_A_LINK = lazy_pattern(r": error [A-Z]{2,4}\d{4}: [^(]*\)$")
"""Stands where the message stood: two lines of a screen became one."""
_MAX_CHARACTERS_JOINED = 1_000
_MAX_LINES_CLOSED = 3


def is_cut(line: str) -> bool:
    """Whether the screen has drawn over the end of a line."""
    return line.endswith(CUT) or _END_OF_A_LINK.search(line) is not None


def _is_open(line: str) -> bool:
    """Whether what was quoted or bracketed last has no end."""
    if line.rfind("(") <= line.rfind(")") and not _may_open(line, "'") and not _may_open(line, '"'):
        return False  # as nearly all lines
    opened = list(_OPENS.finditer(line))
    return bool(opened) and (opened[-1].group(1) or ")") not in line[opened[-1].end() :]


def _may_open(line: str, quote: str) -> bool:
    """Whether the last quote in a line stands where `_OPENS` would find one."""
    at = line.rfind(quote)
    return at == 0 or (at > 0 and (line[at - 1] in "([:=," or line[at - 1].isspace()))


def with_whole_lines(text: str) -> str:
    """Lines that were broken within a name or quotes, whole again: the next line closes what the first left open."""
    lines = text.split("\n")
    if not any(len(line) >= _NARROWEST_SCREEN for line in lines):
        return text
    whole: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.endswith("-") and _WITHIN_AN_ID.search(line) and at < len(lines) and _REST_OF_AN_ID.match(lines[at]):
            line, at = line + lines[at], at + 1
        if _NARROWEST_SCREEN <= len(line) < _MAX_CHARACTERS_JOINED and line[-1] not in " ,;{([" and _is_open(line):
            for more in range(1, _MAX_LINES_CLOSED):
                rest = lines[at : at + more]
                if len(rest) < more or not rest[-1].strip() or _NEW_RECORD.match(rest[-1]):
                    break
                if not _is_open(closed := "".join((line, *rest))):
                    line, at = closed, at + more
                    break
        whole.append(line)
    return "\n".join(whole)


# A consequence says that something failed, not what: the one that ran it speaks, or it only counts.

_SPOKEN_BY = lazy_pattern(
    r"\W{0,4}(?:\w{0,40}[Ee]rror|ERROR|FATAL|fatal|FAILED|npm (?:error|ERR!)|remote)\b[:!\]]{0,2}\s*"
)
_CONSEQUENCE = lazy_pattern(
    r"(?:the )?(?:command|process|script|task|step|job|subprocess|child process|hook|recipe|target|build|tests?|lint"
    r"|check|compilation|type ?check|run|suite|execution|operation)s?\b"
    r"(?: [`'\"(<][^`'\")>]{0,80}[`'\")>]| \S{1,80})? ?"
    r"(?:failed|failure|exited|errored|returned|did not (?:complete|finish)|(?:has |was )?(?:terminated|killed))\b"
    r"|g?make(?:\[\d+\])?: \*\*\* \[.{1,200}\] Error"
    r"|exit(?:ed)? (?:with )?(?:code|status)|\S{1,80} exited with|process (?:exited|completed with)|command failed"
    r"|.{0,200}\b(?:returned non-zero exit status|did not complete successfully: exit code"
    r"|failed with exit (?:code|status))"
    r"|\d+ (?:tests?|checks?|problems?|errors?|failures?|failed|failing|suites?)\b|some (?:tests?|checks?) failed"
    r"|(?:there (?:were|was)|found) \d+ (?:tests?|errors?|failures?|problems?)"
    r"|\W*(?:\S+ ){0,3}(?:tests?|build|checks?|suite) (?:has |have )?failed\W*$"
    r"|an? (?:unexpected |internal |unknown )?error (?:has )?occurred\W*$|something went wrong\W*$"
    r"|(?:unhandled|uncaught) (?:exception|error|rejection)\W*$|failed\W*$|see (?:above|below|log)\b",
    re.IGNORECASE,
)
_PLACE = r"(?:[A-Za-z]:)?[\w@~…./\\#-]*[\w-]+\.\w{1,5}(?:[:(]\d+(?:[:,]\d+)?\)?)?|\bline \d+|\bcol(?:umn)? \d+"
_SAY_NOTHING = "error|fatal|failed|failure|fail|exception|in|at|on|file|test|line|warning|err|src"
_SAYS_NOTHING = rf"(?i)\b(?:{_SAY_NOTHING})\b"
_WORDS_OF_A_PLACE = frozenset((*_SAY_NOTHING.split("|"), "col", "column"))
_LEADS_ON = lazy_pattern(
    r"(?:\b\w+ (?:to|of|for|from|with|in|on|at|by|the|an?|and|or|is|are|was|were|because|that|while|when|than|as|into"
    r"|but|following|imports|could not|cannot)|\btested by|:(?: The| An?)?|\d validation errors? for \S+"
    r"|No overload matches this call\.)$"
)
_ITEM = lazy_pattern(r"[-*•] ([\w./@'\"~]+\S.*)")
_OF_A_LISTING = lazy_pattern(r"\d+\b|[│|>^~+{}-]\s|at \S+ ?\(|\^+$|~+$")
_NAMES_A_CAUSE = lazy_pattern(
    r"^\W{0,4}(?:[\w./@-]+: ){0,2}(?:fatal|[Ee]rror|ERROR|FATAL|[A-Z]\w*(?:Error|Exception)|Caused by|[Rr]eason|cause)"
    r"\b[^:\n]{0,24}: \S"
    r"|^\s{0,4}[\w./-]+: (?:.+: )?(?:No such file|Permission denied|command not found|not found|cannot |can't |unable )"
)
_LINES_LOOKED_AT = 8
_MAX_CHARACTERS_JUDGED = 300
_MAX_SPEAKERS = 3
_WORD = lazy_pattern(r"[^\W\d_]{2,}")


def is_consequence(line: str) -> bool:
    """Whether a line only says that something failed, counts, or names a place and not what is wrong there."""
    said = line.strip()[:_MAX_CHARACTERS_JUDGED]
    if is_place(said):
        return True
    for _ in range(_MAX_SPEAKERS):
        speaker = _SPOKEN_BY.match(said)
        said = said[speaker.end() :] if speaker else said
    return not said or _CONSEQUENCE.match(said) is not None


def is_place(line: str) -> bool:
    """A file and a line, and not a word of what is wrong there."""
    for word in line.split():
        if len(word) > 1 and word.isalpha() and word.lower() not in _WORDS_OF_A_PLACE:
            return False  # what the patterns below would say in a hundred times the time
    rest = re.sub(_PLACE, " ", line)
    if rest == line:
        return False
    return not _WORD.search(re.sub(_SAYS_NOTHING, " ", rest))


def leads_on(line: str) -> bool:
    """Whether a line is only the beginning of what is said on the next."""
    return _LEADS_ON.search(line.rstrip()) is not None


def below(line: str, text: str, most: int = _LINES_LOOKED_AT) -> list[str]:
    """The lines that follow a line of a text, without blank ones; none where it is not there."""
    if not line:
        return []
    _, there, after = text.partition(line)
    if not there:
        return []
    lines = after.partition("\n")[2].split("\n")[: 2 * most]
    return [bare for one in lines if (bare := one.strip(" \t│┃|╷╵"))][:most]


def continued(line: str, text: str) -> str:
    """What a line leads to; empty where that is code, a table or nothing."""
    following = below(line, text)
    if not following:
        return ""
    item = _ITEM.match(following[0]) if line.endswith(":") else None
    return item.group(1) if item else following[0] if not _OF_A_LISTING.match(following[0]) else ""


def cause_below(line: str, text: str) -> str:
    """The first of the next lines that names a cause."""
    return next((one for one in below(line, text) if _NAMES_A_CAUSE.match(one) and not is_consequence(one)), "")
