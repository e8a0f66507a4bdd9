"""The same error has the same fingerprint on any machine; it is made of the output and of what had been called."""

from __future__ import annotations

import re
from functools import lru_cache

from hardwon.failures.families import find
from hardwon.failures.families.span import Span
from hardwon.failures.screen import unwrapped
from hardwon.text.normalise import digest, identity, is_random, speaks_of_people, tilde, unmarked
from hardwon.text.shown import clean

VERSION = 2

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
    r"|Cannot (?:iterate over|index) (?:null|string)|[Bb]roken pipe|base64: invalid input|can't open input file: *$"
    r"|^jq: (?:parse error|error \(at <(?:stdin|unknown)>)"
)
_OF_A_LISTING = r"\d+\b|[│|>^~+{}-]\s"
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
        self.id = "F" + digest(str(VERSION), family, error_type, message, frame)


def fingerprint(output: str, command: str = "") -> Fingerprint | None:
    """Recognise the error in a failed call's output; None when it says nothing to go by."""
    return _fingerprint(_cut(output), command)


@lru_cache(maxsize=_FINGERPRINTS_REMEMBERED)
def _fingerprint(output: str, command: str) -> Fingerprint | None:
    text = _plain(output)
    last = _last_script(text)
    span = find(last) or (find(text) if last is not text else None)
    if span is None:
        return None
    span = _cause(text, span)
    span.excerpt = _with_what_follows(span.excerpt, text)
    if span.family != "lint":  # a line of code follows
        above, mark, line = span.excerpt.rpartition("\n")
        span.excerpt = f"{above}{mark}{unwrapped(line, text)}"
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


def _with_what_follows(excerpt: str, text: str) -> str:
    """A line that only announces what went wrong says nothing without the next."""
    said = excerpt.rstrip()
    if not said.endswith((":", " imports")):
        return excerpt
    line = said.rpartition("\n")[2]
    after = text.partition(line)[2].lstrip().partition("\n")[0]
    return f"{said}\n{after.strip()}" if after and not re.match(_OF_A_LISTING, after) else excerpt


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
    return tilde(unmarked(_bounded(text)))


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
