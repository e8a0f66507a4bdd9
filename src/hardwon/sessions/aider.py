"""Aider: one Markdown file of many sessions, told apart by who speaks.

A session begins at `# aider chat started at` with a time, between blank lines; what stands before the first one
belongs to a session whose beginning is lost, and is not read.

What Aider did is told in its own words below the model's text: those become the model's calls. Of how a shell
command ended nothing is told but by `exited with status`; `/test` shows its output once more when tests failed.
Times are local, without a zone, and stand at the start alone: they are read as UTC.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from hardwon.clock import microseconds
from hardwon.model.session import Evidence, Message, Outcome, Session, ToolCall, ToolResult
from hardwon.sessions.origin import INTERRUPTED, user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import tool_call

# Who speaks in an Aider history: `#### ` is the user, `> ` the program, all else the model. The model's own Markdown
# can begin lines in the same way, and these decide:
#
# - Aider ends each line of the user's and of its own with two spaces, and the model seldom does;
# - the user's lines follow a blank one, so a heading within the model's text stays text;
# - output of many lines has `> ` on its first alone and the two spaces on its last: it ends there, if a blank line
#   or another `>` follows;
# - after the model's text, a `> ` without the two spaces is a quotation of the model's, but for the line of tokens.

_USER, _TOOL, _BREAK = "#### ", ">", "  "
_TOKENS = "> Tokens: "


class Part(NamedTuple):
    """Neighbouring lines of one speaker; of the program, a message an item, however many lines it has."""

    who: Literal["user", "model", "program"]
    items: list[str]


def parts(lines: list[str]) -> Iterator[Part]:
    """Split a session by who speaks, as the rules above say."""
    ends = [at for at, line in enumerate(lines) if line.endswith(_BREAK) and _ends_output(lines, at)]
    said: list[str] = []
    speaks = False
    at = 0
    while at < len(lines):
        first = at
        line = lines[at]
        if not line.startswith((_USER, _TOOL)):  # as most lines
            said.append(line)
            speaks = speaks or line != ""
            at += 1
            continue
        user = _is_users(line) and not (at and lines[at - 1])
        if not user and not _is_programs(lines, at, after_model=speaks):
            said.append(line)
            speaks = True
            at += 1
            continue
        if speaks:
            yield Part("model", said)
        said, speaks = [], False
        items: list[str] = []
        while user and at < len(lines) and _is_users(lines[at]):
            items.append(lines[at][len(_USER) :].removesuffix(_BREAK))
            at += 1
        while not user and at < len(lines) and (at == first or lines[at].startswith(_TOOL)):
            item, at = _item(lines, at, ends)
            items.append(item)
        yield Part("user" if user else "program", items)
    if speaks:
        yield Part("model", said)


def _is_users(line: str) -> bool:
    return line.startswith(_USER) and line.endswith(_BREAK)


def _is_programs(lines: list[str], at: int, *, after_model: bool) -> bool:
    line = lines[at]
    if not line.startswith(_TOOL) or line[1:2] not in ("", " "):
        return False
    ended = line.endswith(_BREAK)
    if after_model:
        return (ended or line.startswith(_TOKENS)) and not lines[at - 1]
    return ended or len(line) > 2


def _ends_output(lines: list[str], at: int) -> bool:
    line = lines[at]
    if line[-3:-2].isspace() or len(line) < 3:
        return False
    return at + 1 >= len(lines) or not lines[at + 1] or lines[at + 1].startswith(_TOOL)


def _item(lines: list[str], at: int, ends: list[int]) -> tuple[str, int]:
    position = bisect_left(ends, at)
    following = lines[at + 1] if at + 1 < len(lines) else ""
    whole = lines[at].endswith(_BREAK) and (not following or following.startswith(_TOOL))
    if whole or position == len(ends):
        return lines[at][2:].removesuffix(_BREAK), at + 1
    end = ends[position] + 1
    return "\n".join([lines[at][2:], *lines[at + 1 : end]]).removesuffix(_BREAK), end


NAME = "aider"
AGENT = "aider"
READS = "`.aider.chat.history.md`: messages, edits, commits, lint, tests and shell commands of every session"
VERSIONS = "0.47 to 0.51"

_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)")
_STARTS_IN = re.compile(rf"(?:\A\ufeff?[\r\n]*|\n\r?\n){_START.pattern}\r?\n(?:\r?\n|\Z)")
_NOT_AIDER = ("{", "[", "<!--")

_COMMAND = re.compile(r"(?:/(run|test|git)\s+|!\s*)(?=\S)")
_REQUEST = re.compile(r"/(?:ask|code|architect)\s+(?=\S)")
_UNDO = "/undo"
_REFLECTED = ("# Fix any errors below, if possible.", "# Question:", "I ran this command:")

_VERSION = re.compile(r"Aider v(\S+)$")
_SHARE = re.compile(r"Add (?:the output|.{0,40}command output) to the chat\?\s*(?:[(\[].*?[)\]]:?)*\s*(.*)", re.DOTALL)
_NO_WORDS = frozenset(("", "y", "yes", "n", "no", "d"))
_APPLIED = re.compile(r"Applied edit to (.+)$")
_SKIPPED = re.compile(r"Skipping edits to (.+)$")
_NOT_APPLIED = re.compile(
    r"The LLM did not conform to the edit format|# \d+ SEARCH/REPLACE blocks? failed to match!"
    r"|Only \d+ reflections allowed"
)
_UNMATCHED = re.compile(r"failed to (?:exactly )?match lines in (\S.*)")
_COMMITTED = re.compile(r"Commit ([0-9a-f]{7,40})\b")
_CONSENT, _RUNNING = "Run shell command", "Running "
_EXITED = re.compile(r"Command '.*' exited with status (-?\d{1,9})", re.DOTALL)
_LINTED, _LINTER = "# Fix any errors below, if possible.", "## Running: "
_STOPPED = ("^C again to exit", "^C KeyboardInterrupt")
_NEWS = re.compile(
    r"Applied edit to |Commit [0-9a-f]{7}|Committing |You can use /undo|# Fix any errors below|Only \d+ reflections"
    r"|(?:Attempt to fix|Fix) lint errors|Run shell command|To retry and share|You can find this|Add .* to the chat\?"
    r"|(?:Main m|Weak m|M)odels?: |Git repo: |Repo-map: |Tokens: |Retrying in |Unexpected error|\^C "
)

_SEARCH, _DIVIDER, _REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


def recognises(source: Source) -> bool:
    beginning = source.beginning
    return not beginning.lstrip("\ufeff \t\r\n").startswith(_NOT_AIDER) and bool(_STARTS_IN.search(beginning))


def read(source: Source) -> list[Session]:
    lines = source.text.replace("\r\n", "\n").split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith("# aider") and _begins(lines, at)]
    cwd = str(source.path.absolute().parent)
    seen: Counter[str] = Counter()
    sessions = []
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        chat = _Chat()
        for part in parts(lines[at + 1 : end]):
            chat.add(part)
        started = lines[at].removeprefix("# aider chat started at ").replace(" ", "T")
        seen[started] += 1
        name = started if seen[started] == 1 else f"{started}-{seen[started]}"
        sessions.append(chat.session(name, cwd, microseconds(started)))
    return sessions


def _begins(lines: list[str], at: int) -> bool:
    alone = not (at and lines[at - 1]) and not any(lines[at + 1 : at + 2])
    return alone and _START.fullmatch(lines[at]) is not None


class _Chat:
    """One session: the model's text waits for what Aider says it did with it."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._version = ""
        self._said: str | None = None
        self._blocks: dict[str, tuple[str, str]] | None = None
        self._calls: list[ToolCall] = []
        self._results: list[ToolResult] = []
        self._count = 0
        self._running: ToolCall | None = None
        self._asked = ""
        self._awaited = False

    def add(self, part: Part) -> None:
        if part.who == "program":
            self._add_news(part.items)
            return
        self._flush()
        text = "\n".join(part.items).strip()
        if part.who == "model":
            self._said = text
        else:
            self._add_user(text)

    def session(self, external_id: str, cwd: str, started: int | None) -> Session:
        self._flush()
        return Session(
            external_id=external_id,
            agent=AGENT,
            format=NAME,
            version=self._version,
            cwd=cwd,
            started_at=started,
            messages=tuple(self._messages),
        )

    def _flush(self) -> None:
        if self._said is not None or self._calls:
            calls = tuple(self._calls)
            self._messages.append(Message(role="assistant", origin="agent", text=self._said or "", calls=calls))
        if self._results:
            self._messages.append(Message(role="tool", origin="tool", results=tuple(self._results)))
        self._said, self._blocks, self._calls, self._results = None, None, [], []

    def _add_user(self, text: str) -> None:
        self._running = None
        if text in ("", "<blank>"):
            return
        if found := _COMMAND.match(text):
            name = found.group(1) or "run"
            command = f"git {text[found.end() :]}" if name == "git" else text[found.end() :]
            self._running = self._call(name, {"command": command})
            self._messages.append(Message(role="user", origin="user", text=text, calls=(self._running,)))
            return
        request = _REQUEST.sub("", text, count=1)
        if request == self._asked:  # a question put by a command is written again without it
            self._asked = ""
            return
        self._asked = request if request != text else ""
        is_clients = request.startswith(("/", *_REFLECTED)) and not request.startswith(_UNDO)
        message = user_message(request, by="injected" if is_clients else "user")
        self._awaited = message.is_sent and not request.startswith("/")
        self._messages.append(message)

    def _add_news(self, items: list[str]) -> None:
        at = self._take_output(items) if self._running else 0
        unclaimed: list[str] = []
        while at < len(items):
            item = items[at]
            taken = self._take(items, at, unclaimed)
            unclaimed = [] if taken or _NEWS.match(item) else [*unclaimed[-20:], item]
            at += taken or 1

    def _take(self, items: list[str], at: int, before: list[str]) -> int:
        """Take what Aider tells of one thing it did; how many items that were, 0 for none."""
        item = items[at]
        if found := _APPLIED.match(item):
            self._done(self._edit(found.group(1)), "ok", "text", item)
        elif found := _COMMITTED.match(item):
            self._done(self._call("commit", {"path": found.group(1)}), "ok", "text", item)
        elif found := _SKIPPED.match(item):
            refused = at > 0 and _refused(items[at - 1])
            self._done(self._edit(found.group(1)), "error", "rejected" if refused else "text", item)
        elif _NOT_APPLIED.match(item):
            told = self._until_news(items, at)
            text = "\n".join(told).strip()
            unmatched = _UNMATCHED.search(text)
            self._done(self._edit(unmatched.group(1) if unmatched else ""), "error", "text", text)
            return len(told)
        elif item == _LINTED:
            told = self._until_news(items, at)
            self._add_lint(told)
            return len(told)
        elif item.startswith(_CONSENT):
            return self._add_shell(items, at, "\n".join(before).strip())
        elif item in _STOPPED:
            self._interrupt()
        elif found := _VERSION.match(item):
            self._version = self._version or found.group(1)
        elif item.startswith("Tokens: "):
            self._awaited = False
        else:
            return 0
        return 1

    def _take_output(self, items: list[str]) -> int:
        """The output of the user's command; then Aider asks whether to share it, and may be told what to do with it."""
        call, self._running = self._running, None
        asked = next((at for at, item in enumerate(items) if _SHARE.match(item)), None)
        shown = items[:asked] if asked is not None else items[:1]
        text = "\n".join(shown)
        again = 0
        if asked is None and text:
            lines = [line.strip() for line in text.split("\n")]
            while 1 + again < len(items) and again < len(lines) and items[1 + again].strip() == lines[again]:
                again += 1
        if call is not None:
            tested: tuple[Outcome, Evidence] = ("error", "text") if again else ("ok", "no-flag")
            outcome, evidence = tested if call.name == "test" else ("unknown", "none")
            self._done(call, outcome, evidence, text)
            self._calls.remove(call)
        self._flush()
        if asked is None:
            return len(shown) + again
        found = _SHARE.match(items[asked])
        words = found.group(1).strip() if found else ""
        if words.lower() not in _NO_WORDS:
            self._add_user(words)
        repeated = {line.strip() for line in text.split("\n")}
        at = asked + 1
        while at < len(items) and items[at].strip() in repeated:
            at += 1
        return at

    def _add_lint(self, told: list[str]) -> None:
        linter = next((line.removeprefix(_LINTER) for line in told if line.startswith(_LINTER)), "")
        text = "\n".join(line for line in told[1:] if not line.startswith(_LINTER)).strip()
        self._done(self._call("lint", {"command": linter}), "error", "text", text)

    def _add_shell(self, items: list[str], at: int, command: str) -> int:
        if _refused(items[at]):
            self._done(self._call("shell", {"command": command}), "error", "rejected", items[at])
            return 1
        first = at
        at += 1
        while at < len(items) and items[at].startswith(_RUNNING):
            call = self._call("shell", {"command": items[at].removeprefix(_RUNNING)})
            at += 1
            if at < len(items) and (found := _EXITED.match(items[at])):
                code = int(found.group(1))
                self._done(call, "error" if code else "ok", "exit-code", items[at], exit_code=code)
                at += 1
            else:
                self._done(call, "unknown", "none", "")
        return at - first

    def _interrupt(self) -> None:
        if self._awaited:
            self._flush()
            self._messages.append(Message(role="user", origin="injected", text=INTERRUPTED))
        self._awaited = False

    def _until_news(self, items: list[str], at: int) -> list[str]:
        end = at + 1
        while end < len(items) and not _NEWS.match(items[end]):
            end += 1
        return items[at:end]

    def _edit(self, path: str) -> ToolCall:
        if self._blocks is None:
            self._blocks = _replacements(self._said or "")
        old, new = self._blocks.get(path, ("", ""))
        return self._call("edit", {"file_path": path, "old_string": old, "new_string": new})

    def _call(self, name: str, arguments: dict[str, str]) -> ToolCall:
        self._count += 1
        return tool_call(f"t{self._count}", name, arguments)

    def _done(
        self, call: ToolCall, outcome: Outcome, evidence: Evidence, text: str, *, exit_code: int | None = None
    ) -> None:
        self._calls.append(call)
        self._results.append(
            ToolResult(call_id=call.id, outcome=outcome, evidence=evidence, text=text, exit_code=exit_code)
        )


def _refused(question: str) -> bool:
    return question.rpartition(" ")[2].lower() in ("n", "no")


def _replacements(text: str) -> dict[str, tuple[str, str]]:
    """For each file, what its first SEARCH/REPLACE block took out and put in. The name stands above the fence."""
    lines = text.split("\n")
    found: dict[str, tuple[str, str]] = {}
    search = middle = -1
    for at, line in enumerate(lines):
        if line == _SEARCH:
            search, middle = at, -1
        elif line == _DIVIDER and search >= 0 and middle < 0:
            middle = at
        elif line == _REPLACE and middle > 0:
            block = "\n".join(lines[search + 1 : middle]), "\n".join(lines[middle + 1 : at])
            for above in lines[max(search - 2, 0) : search]:
                found.setdefault(above.strip("`*#: "), block)
            search = middle = -1
    return found
