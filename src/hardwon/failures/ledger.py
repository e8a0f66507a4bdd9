"""A session's calls judged where its transcript does not say how they ended; its failures, fixes, tries in vain."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from hardwon.failures import provenance, tools
from hardwon.failures.ended import CUTS, NO_FOLDER, ends, prints_findings
from hardwon.failures.fingerprint import CUT, Fingerprint, find, fingerprint, is_consequence, joined
from hardwon.failures.fixes import follow
from hardwon.failures.shell import Command, commands, elements, pipes, program_family
from hardwon.failures.signature import signature
from hardwon.failures.told import error_line, is_refusal, says_what_failed
from hardwon.failures.tools import checks, lists, looks, shows
from hardwon.failures.turns import OF_A_SCREEN, Turn, turns
from hardwon.model.failure import UNNOTICED, Fix, Occurrence, Step, Tried
from hardwon.model.session import Evidence, Message, Outcome, Session, ToolCall, ToolResult, Transcript
from hardwon.sessions import loss, reader
from hardwon.text.normalise import lazy_pattern

# How a call ended whose transcript does not say, judged by what it printed where that is plain.
#
# Cursor and Copilot keep what a terminal showed, but no exit code. Of a command it is told, in this order, by
#
# * the last report in it: a test runner's, a build's, an exit code that was printed;
# * an error that a family of tools knows, or a line that is nothing but one, with little after it;
# * no word of trouble at all, where silence or other words are what the command prints when it succeeds.
#
# What only looks (`cat`, `git log`) may show any words: it failed if it shows its own complaint and nothing else. All
# else stays unknown.

Verdict = tuple[Outcome, Evidence]
_UNKNOWN: Verdict = ("unknown", "none")

_CHARACTERS_JUDGED = 24_000
"""Of a longer output, its end."""
_HEAD_CHARACTERS_JUDGED = 400
"""Of what an editor's tool answers."""
_MAX_LINES_AFTER_AN_ERROR = 15
_MAX_LINES_AFTER_A_REPORT = 25
_GOES_ON = "Command running in background with ID: "
"""So Claude Code answers before a command has ended."""
_OUTPUTS_REMEMBERED = 128  # what failed by its words is looked at again for its error
_ECHOED_CHARACTERS = 24
_SHORTEST_ECHO = 3
_MAX_COMMAND_LINES = 20
_MAX_LINE_CHARACTERS = 500
_NARROWEST_SCREEN = 60
_LINES_AT_AN_EDGE = 2

# What a terminal shows beside the command's own words.

_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?)|[\r\x07]")
_EXIT_MARK = re.compile(r"\]633;D;(\d{1,5})(?:;|\x07|\x1b|\s|$)")
"""By which a shell tells VS Code how a command ended."""
_PROMPT = re.compile(
    r"\s*(?:\([\w.-]+\) ?)?(?:[\w.-]{1,64}@[\w.-]{1,64}[: ].{0,120}?[%$#](?: |$)|PS [A-Z]:\\[^<>:\n]{0,200}>"
    r"|[\w.-]{1,64}:[^\s:]{1,80} [\w.-]{1,64}\$(?: |$)|[A-Za-z]:\\[^<>:\n]{0,200}>|>> |❯|➜ |>>>(?: |$)|[%$#>]\s*$)"
)
_ENDS_A_PROMPT = re.compile(r"[%$#>❯➜]")
"""One of them stands in all that `_PROMPT` finds; most lines have none."""
_GLYPH_OF_A_PROMPT = re.compile(r"[\ue000-\uf8ff]")
_BANNER = re.compile(
    r"^(?:Microsoft Windows \[Version |\(c\) Microsoft Corporation|PowerShell \d|Last login: |You have new mail in "
    r"|Restored session: |Loading personal and system profiles"
    r"|'q' is not recognized as|operable program or batch file\.$)"  # Cursor types a q, for pagers
)
_REMEMBERS_THE_SHELL = re.compile(r"\bdump_(?:zsh|bash)_state\b|\bcursor_snap_\w")  # and runs this
_OF_CURSOR = ("dump_", "cursor_snap_")

# What a runner or a build closes with. The last one counts.

_BAD = (
    r"^Build FAILED\b|^(?:Build|Restore|Test run|Publish) failed with [1-9]",  # dotnet
    r"^The build failed\.|^Restore failed\.$|^Couldn't find a project to run\.|^For switch syntax, type .MSBuild -help",
    r"^Unhandled exception[:.] ",
    r"^Test summary: total: \d+, failed: [1-9]|^(?:Failed!  - )?Failed: +[1-9]\d*, Passed:",
    r"^ *[1-9]\d* fail$|^The following filters did not match any test|^Test filter .{1,200} had no matches",  # bun
    r"^\s*Tests? +[1-9]\d* failed\b|^(?:Tests|Test Suites|Test Files):? +(?:.*\| )?[1-9]\d* failed\b",  # jest, vitest
    r"^=+ .*\b[1-9]\d* (?:failed|errors?)\b.* in [\d.]+s.* =+$|^[1-9]\d* failed(?:, \d+ \w+)* in [\d.]+s",  # pytest
    r"^FAILED \((?:failures|errors)=",  # unittest
    r"^test result: FAILED|^error: could not compile",  # cargo
    r"^ +[1-9]\d* failing$|^ +[1-9]\d* failed$",  # mocha, Playwright
    r"^FAIL\t\S+",  # go
    r"^Found [1-9]\d* errors?\b|^\s*✖ [1-9]\d* problems? \([1-9]",  # tsc, ruff, mypy, ESLint
    r"^[1-9]\d* examples?, [1-9]\d* failures?|^Tests run: \d+, Failures: [1-9]|^BUILD FAIL",  # RSpec, Maven, Gradle
    r"^npm (?:ERR!|error) |^ELIFECYCLE|^error Command failed|^Failed to compile\.?$",
    r"^(?:make|gmake|ninja)(?:\[\d+\])?: \*\*\* |^\s*\+ (?:FullyQualifiedErrorId|CategoryInfo) *:",  # make, PowerShell
    r"^Line \|$|^The argument '.{1,200}' to the -File parameter does not exist",
    r"^Python (?:was not found; run|wurde nicht gefunden; ohne)|^Command '.{1,60}' not found, (?:did you|but can)",
    r"^Automatic merge failed; fix conflicts|^merge: .{1,100} - not something we can merge",
    r"^ParserError:|^.{1,80}: The term '.{1,80}' is not recognized as",  # PowerShell
    r"^ ! \[(?:remote )?rejected\]|^error: failed to push some refs|^::error ",
    r"^● (?:Validation Error|Multiple configurations found):",  # jest
    r"^Try rerunning the command with --debug to troubleshoot the error",  # supabase
    r"^[❌💥✗✘] ?(?:[\w-]+ ){1,4}(?:FAILED|failed)!?$|^\W{1,4}Some (?:[\w-]+ ){1,4}failed\b",  # a script's own words
    r"^Error: Process completed with exit code [1-9]",
)
_GOOD = (
    r"^Build succeeded\b|^Test summary: total: \d+, failed: 0\b",  # dotnet
    r"^Passed!  - Failed: +0, Passed:",
    r"^ *0 fail$",  # bun
    r"^(?:\s*Tests|Tests:|Test Suites:|Test Files) +(?:\d+ (?:skipped|todo), )*[1-9]\d* passed\b(?!.*failed)",  # jest
    r"^=+ [1-9]\d* passed\b(?!.*\b(?:failed|error)).* =+$|^[1-9]\d* passed(?!.*failed)[^\n]* in [\d.]+s",  # pytest
    r"^OK(?: \(skipped=\d+\))?$",  # unittest
    r"^test result: ok\.|^    Finished ",  # cargo
    r"^ +[1-9]\d* passing\b|^ +[1-9]\d* passed \([\d.]+m?s\)",  # mocha, Playwright
    r"^ok  \t\S+",  # go
    r"^Found 0 errors|^All checks passed!|^Success: no issues found",  # tsc, ruff, mypy
    r"^\d+ examples?, 0 failures|^BUILD SUCCESS",  # RSpec, Maven, Gradle
    r"^\s*✓ Compiled successfully|^Compiled successfully|^webpack [\d.]+ compiled successfully|^✓ built in ",
)
_BAD_WITHIN_A_LINE = (
    r"is not a valid statement separator in|requirements are unsatisfiable"
    r"|Command failed with exit code [1-9]|exited with code [1-9]|\.\.\.Failed to compile\b"
)
_GOOD_WITHIN_A_LINE = r"\(\d+\.\ds\) Build succeeded\b"
_WITHIN_A_LINE = re.compile(f"{_BAD_WITHIN_A_LINE}|{_GOOD_WITHIN_A_LINE}")
_WORDS_WITHIN_A_LINE = (
    *("statement separator", "are unsatisfiable", "exit code ", "exited with code ", ") Build succ"),
    "...Failed to compile",
)
"""One of them stands in all that it finds."""
_LINE_BREAK = re.compile("\n")
_REPORT = lazy_pattern(  # groups of their own, for what all of a group begin with is looked for once
    f"(?P<bad>(?:{'|'.join(_BAD)})|{_BAD_WITHIN_A_LINE})|(?P<good>(?:{'|'.join(_GOOD)})|{_GOOD_WITHIN_A_LINE})",
    re.MULTILINE,
)

# Words that what a success prints mostly lacks, in some of the languages that terminals speak.

_TROUBLE_WORDS = (
    *("error", "fail", "fatal", "exception", "traceback", "panic", "abort", "denied", "refused", "cannot", "can't"),
    *("could not", "couldn't", "couldnot", "could n't", "unable", "no found", "not found", "no such", "invalid"),
    *("unknown", "illegal", "unrecogni", "not recogni", "missing", "undefined", "unexpected", "killed", "segfault"),
    *("segmentation", "conflict", "reject", "usage:", "not exist", "n't ", "not a ", "is not ", "enoent", "eacces"),
    *("eaddr", "✗", "✖", "❌", "⨯", "✘", "problem", "exit code", "exited", "stopped", "terminated", "forbidden"),
    *("not permitted", "no module", "did you mean", "nothing to commit", "nothing added to commit"),
    *("no changes added to commit", "not provided", ": bad ", "syntax", "incorrect", "went wrong", "incompatible"),
    *("corrupt", "skipp", "unauthori", "not allowed", "must be", "must have", "must specify", "is required"),
    *("already exists", "bad request", "bad gateway", "no file", "no test", "no match", "no project"),
    *("not respond", "not start", "not work", "not reach", "not creat", "not updat", "not load", "not open"),
    *("not connect", "not read", "not writ", "not avail", "not install", "not support", "not run", "not valid"),
    *("not match", "not defined", "not specified", "not something"),
    *("fehler", "nicht gefunden", "ungültig", "erreur", "introuvable", "échec", "não ", "falh", "inválid", "ошибк"),
    *("错误", "失败", "無法", "无法", "エラー", "失敗", "ませんでした", "できません", "pipelineposition"),
    *("pipeline position", "nie można", "błąd", "nieznan"),
)
_TROUBLE_FORMS = re.compile(r"time(?:d )?.?out|no(?<=\bno) \w+ found|erro\b")
_UNFINISHED = re.compile(
    r"(?:\?|\[y/n\]|\(y/n\)|password:|\.\.\.|…|\(\d+\.\d+s\)|^:|\(END\))\s*$|^\? |press (?:any key|enter|ctrl)"
    r"|reveal more choices|use arrow keys|enter (?:your|a|the) ",
    re.IGNORECASE,
)
"""The last line of a command that asks for something, or was cut off at its work."""
_PLAIN_ERROR = re.compile(
    r"^(?:[\w./\\:-]{1,60}: )?(?:[Ff]atal|[Ee]rror|ERROR|FATAL|panic|Exception|(?:Uncaught )?\w{2,40}Error)"
    r"(?:\[\w+\])?(?::| \[| [a-z])|^The (?:system cannot|syntax of the command|filename, directory|process cannot)"
    r"|^(?:Access is denied|Invalid |Unknown |Cannot |Could not )|\bnot found\.?$|\(\d+,\d+\): error "
    r"|^[❌✗] "
)
_OF_THE_SHELL = (
    *("fatal: ", "error: ", "zsh: ", "bash: ", "sh: ", "(eval)", "cd: "),
    *(
        "The system cannot find ",
        "Access denied - ",
        "File not found - ",
        "File Not Found",
        "A subdirectory or file ",
    ),  # Windows, whose `find` is another program
)
_OF_A_CMDLET = re.compile(r"[A-Z][a-z]+-[A-Z][A-Za-z]+: [A-Z]")
_COMPILERS_ERROR = re.compile(r"^.{1,300}?(?:\(\d+,\d+\))? ?: error [A-Z]{2,8}\d{2,5}: ", re.MULTILINE)
"""By which a build has failed, whatever it goes on with."""
_COMMITTED = re.compile(r"^\[[^\]\s]+ (?:\([^)]*\) )?[0-9a-f]{7,40}\] ", re.MULTILINE)
_OF_A_COMMIT = re.compile(r" (?:\d+ files? changed|(?:create|delete) mode |mode change |rename |rewrite |copy )")
_NOT_COMMITTED = re.compile(r"^(?:nothing (?:added )?to commit|no changes added to commit)\b.*$", re.MULTILINE)
_INSTALLED = re.compile(r"^(?:Successfully installed |Installed \d+ packages? in |added \d+ packages)")
_HTTP_FAILED = re.compile(r"\bHTTP/[\d.]+ [45]\d\d\b|^[45]\d\d$", re.MULTILINE)
_WENT_ON = re.compile(r"✅|🚀|🎉|running on|listening|started|success|passed|completed|finished", re.IGNORECASE)

_ENDED_WELL = re.compile(
    r"^[^\w\s]{1,3} ?All (?:[\w-]+ ){1,4}(?:passed|succeeded|working correctly|completed successfully)[!.]?$"
    r"|\bINFO: Build complete! |正常に?(?:終了|完了)|\bexiting with code 0$"  # PyInstaller; "ended normally"; jest
)
"""The last line of a script that says itself how it ended."""
_ANSWERED_ERROR = re.compile(
    r'\{\s*"(?:success|ok)"\s*:\s*false\b|\{\s*"error"\s*:\s*(?:"\w|\{\s*"\w)|\{"jsonrpc":"2\.0",[^{}]*"error":\{"code":-\d'
    r"|Internal Server Error%?$"
)
_ANSWERED_WELL = re.compile(r'\{\s*"(?:success|ok)"\s*:\s*true\b(?!.*"(?:failed|failures|errors)\w*"\s*:\s*[1-9])')
"""What a web server answers with, at its beginning."""

# Programs that print nothing, or little, when they succeed.

_SILENT = frozenset(
    "mkdir touch cp mv rm rmdir ln chmod chown export unset alias kill pkill killall del copy move ren md rd New-Item "
    "Remove-Item Copy-Item Move-Item Set-Content Set-Location".split()
)
_SILENT_VERBS = frozenset(
    ("git", verb) for verb in "add config rm mv restore reset tag branch stash remote fetch init apply".split()
)
_SILENT_CHECKERS = frozenset("tsc gofmt go node".split())
_SHELLS = frozenset("bash sh zsh".split())
_ASK_THE_NET = frozenset("curl wget http Invoke-WebRequest Invoke-RestMethod".split())

# What editors' own tools and MCP servers answer.

_TOOL_FAILED = re.compile(
    r"\s*(?:Error\b|ERROR\b|Failed to |MCP error |Tool .{1,80} (?:failed|not found)|File not found"
    r'|\[\{"text":\s*"(?:\w+ )?[Ee]rror:'
    r'|\{\s*"error"\s*:(?!\s*(?:null|false|""))|\{\s*"(?:success|ok)"\s*:\s*false|\{\s*"isError"\s*:\s*true)'
)
_TOOL_REFUSED = re.compile(r'\s*\{\s*"rejected"\s*:')
_TOOL_ANSWERED = re.compile(
    r'\s*(?:Lint paths:|\{\s*"(?:linterErrorsByFile|finalTodos)"|\{\s*"success"\s*:\s*true|"Below is the result of )'
)


def read(path: Path) -> Transcript:
    """Read a whole transcript, each result judged as far as it can be. Raises NotFound, or NotASession."""
    transcript = reader.read(path)
    return replace(transcript, sessions=tuple(settled(session) for session in transcript.sessions))


def inspected(path: Path) -> Transcript:
    """A whole transcript, and where clearly less was read of it than it seems to hold. Raises as `read` does."""
    transcript = read(path)
    return replace(transcript, suspected_loss=loss.suspected(path, transcript.sessions))


def settled(session: Session) -> Session:
    """The session with those results judged that nobody knows, where what came back says how the call ended."""
    calls = {call.id: call for message in session.messages for call in message.calls}
    messages = tuple(_with_verdicts(message, calls) for message in session.messages)
    changed = any(one is not before for one, before in zip(messages, session.messages, strict=True))
    return replace(session, messages=messages) if changed else session


def _with_verdicts(message: Message, calls: dict[str, ToolCall]) -> Message:
    if not message.results:  # as of most
        return message
    found = tuple(
        _settled(result, calls[result.call_id]) if result.call_id in calls else result for result in message.results
    )
    changed = any(one is not before for one, before in zip(found, message.results, strict=True))
    return replace(message, results=found) if changed else message


def _settled(result: ToolResult, call: ToolCall) -> ToolResult:
    if result.outcome == "unknown":
        return _judged(result, call)
    if result.text.startswith(_GOES_ON) and call.action == "run":
        return replace(result, outcome="unknown", evidence="none")
    if result.outcome == "error" or call.action != "run" or "|" not in call.command:
        return result
    outcome = _behind_a_pipe(call.command, result.text[-_CHARACTERS_JUDGED:])
    if outcome == "ok":
        return result
    return replace(result, outcome=outcome, evidence="piped" if outcome == "error" else "none", exit_code=None)


def _behind_a_pipe(line: str, text: str) -> Outcome:
    """How a call ended whose exit code is that of the end of a pipe (`pytest | tail`), so what was printed must tell.

    A list may hold any words.
    """
    pipe = next((pipe for pipe in reversed(pipes(line)) if pipe), ())
    last = next(reversed(commands(line)), None)
    if len(pipe) < 2 or last is None:
        return "ok"
    cut = bool(last.through) and CUTS.issuperset(last.through)
    goes_on = "||" in line  # whatever the first of them said
    if not goes_on and _only_complain(printed(line, text), elements(line)):
        return "error"
    outcome, evidence = _of_command(line, text) if cut and not lists(last) else _UNKNOWN
    if outcome == "error" and (not goes_on or evidence == "test-report"):
        return "error"
    if not last.through or not prints_findings(last, line):
        return "ok"
    said = ends(line, text, "ok")[-1][1]
    return "error" if said == "red" and cut else "ok" if said == "green" else "unknown"


def _judged(result: ToolResult, call: ToolCall) -> ToolResult:
    if not result.text.strip():
        return result
    text = result.text[-_CHARACTERS_JUDGED:]
    if call.action == "run" and (codes := _EXIT_MARK.findall(text)):
        code = int(codes[-1])
        return replace(result, outcome="error" if code else "ok", evidence="exit-code", exit_code=code)
    outcome, evidence = _of_command(call.command, text) if call.action == "run" else _of_tool(call, result.text)
    return replace(result, outcome=outcome, evidence=evidence)


def _of_tool(call: ToolCall, text: str) -> Verdict:
    """An editor's tool: what it looked up is its success."""
    head = text[:_HEAD_CHARACTERS_JUDGED]
    if _TOOL_FAILED.match(head):
        return "error", "text"
    if _TOOL_REFUSED.match(head):
        return "error", "rejected"
    if _TOOL_ANSWERED.match(head):
        return "ok", "text"
    if call.action in ("read", "web", "edit") or not _speaks_of_trouble(head):
        return "ok", "clean-output"
    return _UNKNOWN


def _of_command(line: str, text: str) -> Verdict:
    lines = printed(line, text)
    found = commands(line)
    if not lines:
        return ("ok", "clean-output") if found and all(_is_silent(command) for command in found) else _UNKNOWN
    shown = "\n".join(lines)
    report = _last_report(shown)
    only_looks = bool(found) and all(looks(command) for command in found)
    if report is not None and not only_looks and (report.group("bad") is not None or any(map(checks, found))):
        return _by_report(report, shown)
    if not only_looks and any(map(checks, found)) and _COMPILERS_ERROR.search(shown):
        return "error", "text"
    if _UNFINISHED.search(lines[-1]):
        return _UNKNOWN
    if report is None and _ENDED_WELL.search(lines[-1]):
        return "ok", "text"
    if only_looks:
        return _of_a_look(found, lines, shown)
    if _asks_for_help(found) and lines[0].lower().startswith("usage:"):
        return "ok", "text"
    if any(command.subcommand == "commit" for command in found) and _NOT_COMMITTED.match(lines[-1]):
        return _UNKNOWN if _COMMITTED.search(shown) else ("error", "text")
    told = "\n".join(line for line in lines if not _REPORT.match(line) and not _NOT_COMMITTED.match(line))
    if not _speaks_of_trouble(told):
        return ("ok", "test-report") if report is not None else _of_a_clean_output(found)
    asks = bool(found) and all(program_family(command.program) in _ASK_THE_NET for command in found)
    if asks and (answered := _of_an_answer(lines)) != _UNKNOWN:
        return answered
    if any(command.inline and command.program in _SHELLS for command in found):
        return _UNKNOWN
    return _of_trouble(line, lines, shown)


def printed(line: str, text: str) -> list[str]:
    """What the command printed, without prompts, banners and the command itself, which a screen shows as well.

    Lines that the screen broke at its edge are whole again.
    """
    return list(_printed(line, text))


@lru_cache(maxsize=_OUTPUTS_REMEMBERED)
def _printed(line: str, text: str) -> tuple[str, ...]:
    echoed = [part.strip()[:_ECHOED_CHARACTERS] for part in line.split("\n")[:_MAX_COMMAND_LINES]]
    parts = {part for part in echoed if len(part) > 3}
    found: list[str] = []
    echoing = True
    for shown in _unbroken(_without_controls(text).split("\n"), line):
        bare = shown.strip()
        rest_of_it = (echoing or " " in bare) and len(shown) > _SHORTEST_ECHO and shown.strip(" <") in line
        echoing = rest_of_it or not bare or is_prompt(shown) or _is_banner(shown) or _holds(shown, parts)
        if not echoing:
            found.append(shown.rstrip()[:_MAX_LINE_CHARACTERS])
    return tuple(found)


def _without_controls(text: str) -> str:
    return _CONTROL.sub("", text) if _holds(text, "\x1b\r\x07") else text  # most texts have none


def _holds(shown: str, parts: Iterable[str]) -> bool:
    for part in parts:  # noqa: SIM110 - twice as fast as any()
        if part in shown:
            return True
    return False


def is_prompt(shown: str) -> bool:
    if _ENDS_A_PROMPT.search(shown) is not None and _PROMPT.match(shown) is not None:
        return True
    return not shown.isascii() and _GLYPH_OF_A_PROMPT.search(shown) is not None


def _is_banner(shown: str) -> bool:
    return _BANNER.match(shown) is not None or (
        _holds(shown, _OF_CURSOR) and _REMEMBERS_THE_SHELL.search(shown) is not None
    )


def is_cut_off(line: str, text: str) -> bool:
    """Whether what was kept of a screen ends before the command does: its prompt is there, and none after it."""
    shown = [one for one in _without_controls(text).split("\n") if one.strip()]
    echo = line.strip()[:_ECHOED_CHARACTERS]
    asked = any(echo in one and is_prompt(one) for one in shown)
    told = printed(line, text)
    return (asked and not is_prompt(shown[-1])) or bool(told and _UNFINISHED.search(told[-1]))


def _unbroken(lines: list[str], command: str) -> list[str]:
    """Where many lines end at one column and hardly one beyond, that is the edge of a screen; a blank may be gone.

    Those of a prompt end with the command, wherever that is.
    """
    asked = command.strip().split("\n")[-1]
    others = [line for line in lines if not (line.rstrip().endswith(asked) and is_prompt(line))]
    widths = Counter([len(line) for line in others if len(line) >= _NARROWEST_SCREEN and not _ruled(line)])
    edge = max((width for width, often in widths.items() if often >= _LINES_AT_AN_EDGE), default=0)
    beyond = sum(often for width, often in widths.items() if width > edge)
    if not edge or beyond * _LINES_AT_AN_EDGE > widths[edge]:
        return lines
    whole: list[str] = []
    missing: int | None = None
    for line in lines:
        if missing is not None and line.strip() and _goes_on(whole[-1], line):
            whole[-1] = joined(whole[-1], line, missing)
        else:
            if (
                missing is not None
                and line.strip()
                and _OF_A_COMPILER.search(whole[-1])
                and not _FINISHED.search(whole[-1])
            ):
                whole[-1] += CUT
            whole.append(line)
        ends = edge - 1 <= len(line) <= edge and not _ruled(line)
        missing = (len(whole[-1]) + edge - len(line)) if ends else None
    return whole


def _goes_on(before: str, line: str) -> bool:
    """Whether it is no line of its own."""
    if line.startswith(("  ", "E   ", "✗", "✓", "●", "×")) or _LISTED.match(line):
        return False
    return not (
        (_OF_A_LINTER.match(before) and _CODE.match(line)) or (_FINISHED.search(before) and _NEW_PLACE.match(line))
    )


_OF_A_LINTER = re.compile(r"\S+:\d+:\d+: [A-Z]+\d{3} ")
_FINISHED = re.compile(r"[.?!:;)]\s*$")
_NEW_PLACE = re.compile(r"(?:[A-Z]:\\|~?/)\S+\(\d+,\d+\): ")
_LISTED = re.compile(r"\d+ ?[|│] ")
_OF_A_COMPILER = re.compile(r": error [A-Z]+\d+: ")
_COLUMN_OF_TIMES = re.compile(r"\s{2}\d+\.\d+s ?$")
_CODE = re.compile(r"(?:from|import|def|class|with|return|if|for|while|except|async|await)\b|[\w.]+(?:\[.*?\])? ?[=(]")
"""The line that a linter shows below its own."""


def _ruled(line: str) -> bool:
    """Whether a rule or a column at the right ends a line there, and not the screen."""
    return len(set(line[-3:])) == 1 or _COLUMN_OF_TIMES.search(line) is not None


def _is_silent(command: Command) -> bool:
    return (
        command.program in _SILENT
        or (command.program, command.subcommand.partition(" ")[0]) in _SILENT_VERBS
        or bool(command.writes)
    )


def _speaks_of_trouble(text: str) -> bool:
    lowered = text.lower()
    for word in _TROUBLE_WORDS:  # ten times as fast as a pattern of all of them
        if word in lowered:
            return True
    return _TROUBLE_FORMS.search(lowered) is not None


def _asks_for_help(found: tuple[Command, ...]) -> bool:
    return bool(found) and bool(found[-1].options & {"--help", "-h"})


def _reports(shown: str) -> Iterator[re.Match[str]]:
    """As `_REPORT.finditer`, which would try its hundred forms at every character."""
    places = [0, *(found.end() for found in _LINE_BREAK.finditer(shown))]
    if any(words in shown for words in _WORDS_WITHIN_A_LINE):
        places = sorted({*places, *(found.start() for found in _WITHIN_A_LINE.finditer(shown))})
    end = 0
    for at in places:
        if at >= end and (found := _REPORT.match(shown, at)):
            yield found
            end = found.end()


def _last_report(shown: str) -> re.Match[str] | None:
    return next(iter(deque(_reports(shown), maxlen=1)), None)


def _by_report(report: re.Match[str], shown: str) -> Verdict:
    if report.group("bad") is not None:
        return "error", "test-report"
    if any(found.group("bad") is not None for found in _reports(shown)):
        return _UNKNOWN  # several runs, or one whose parts ended differently
    after = shown[report.end() :].split("\n")[1:]
    if any(_PLAIN_ERROR.search(line.strip()) for line in after) or (after and _UNFINISHED.search(after[-1])):
        return _UNKNOWN
    short = len(after) <= _MAX_LINES_AFTER_A_REPORT or not _speaks_of_trouble("\n".join(after))
    return ("ok", "test-report") if short else _UNKNOWN


def _of_a_look(found: tuple[Command, ...], lines: list[str], shown: str) -> Verdict:
    programs = {program_family(command.program) for command in found}
    if programs & _ASK_THE_NET and (_speaks_of_trouble(shown) or _HTTP_FAILED.search(shown)):
        return _of_an_answer(lines)
    own = [line for line in lines if _complains(line, found)]
    if not own:
        return "ok", "clean-output"
    return ("error", "text") if _only_complain(lines, found) else _UNKNOWN


def _of_an_answer(lines: list[str]) -> Verdict:
    answer = "\n".join(lines)
    if _ANSWERED_ERROR.match(answer) or lines[-1].startswith("curl: ("):
        return "error", "text"
    return ("ok", "text") if _ANSWERED_WELL.match(answer) else _UNKNOWN


def _complains(line: str, found: tuple[Command, ...]) -> bool:
    """Whether a line is the program's, or its shell's, own complaint."""
    if line.startswith(_OF_THE_SHELL) or _OF_A_CMDLET.match(line) or "is not recognized as" in line:
        return True
    names = {command.program for command in found} | {name for command in found for name in command.through}
    return line.partition(":")[0].casefold() in map(str.casefold, names) and _speaks_of_trouble(line)


_OF_USAGE = re.compile(r"(?i)\s*(?:usage|or): |\s+tip: |for more information, try |try '.{1,60} --?h|\s{6,}\S+ \[")
_ANY_PROGRAMS = ("error: ", "fatal: ")
_EVERY_LOOK = frozenset("git gh".split())


def _only_complain(lines: Sequence[str], found: tuple[Command, ...]) -> bool:
    """Whether all that was printed is what a program, or its shell, complains of, and how it wants to be called.

    What is looked at may hold errors as well: of these only `git`, and who says its usage, speak without their name.
    """
    told = [line for line in lines if line.strip()]
    usage = [line for line in told if _OF_USAGE.match(line)]
    if not all(_OF_USAGE.match(line) or _complains(line, found) for line in told) or len(usage) == len(told):
        return False
    unnamed = [line for line in told if line.startswith(_ANY_PROGRAMS)]
    by_git = any(command.program in _EVERY_LOOK for command in found)
    return not unnamed or by_git or (bool(usage) and len(unnamed) == 1) or not all(map(shows, found))


def _of_a_clean_output(found: tuple[Command, ...]) -> Verdict:
    if any(checks(command) and program_family(command.program) not in _SILENT_CHECKERS for command in found):
        return _UNKNOWN  # a check that was cut off shows no trouble either
    return "ok", "clean-output"


def _of_trouble(line: str, lines: list[str], shown: str) -> Verdict:
    installed = next((at for at, text in reversed(list(enumerate(lines))) if _INSTALLED.match(text)), None)
    if installed is not None and not any(_PLAIN_ERROR.search(text.strip()) for text in lines[installed:]):
        return "ok", "text"
    if "||" not in line and all(text.startswith(_OF_THE_SHELL) or _OF_A_CMDLET.match(text) for text in lines):
        return "error", "text"
    committed = next((at for at, text in enumerate(lines) if _COMMITTED.match(text)), None)
    if committed is not None and all(map(_OF_A_COMMIT.match, lines[committed + 1 :])):
        return "ok", "text"
    span = find(shown)
    if span is None:
        return _UNKNOWN
    told = next((text for text in (span.excerpt, span.message) if text), "").strip().split("\n")[-1][:60]
    at = next((number for number, text in reversed(list(enumerate(lines))) if told and told in text), None)
    if span.error_type == "nothing to commit" and "commit" not in line:
        return "ok", "clean-output"  # git status says so, too
    if at is None or (span.family == "generic" and not _PLAIN_ERROR.search(lines[at].strip())):
        return _UNKNOWN
    after = lines[at + 1 :]
    goes_on = "||" in line or bool(after and re.search(r"[;\n]", line.strip()))
    others = [text for text in after if not text.startswith("  ") and not _PLAIN_ERROR.search(text)]
    if (
        goes_on
        or len(others) > _MAX_LINES_AFTER_AN_ERROR
        or _WENT_ON.search("\n".join(after))
        or _COMMITTED.search(shown)
    ):
        return _UNKNOWN
    return "error", "text"


# A session's failures, for each the steps after which the same thing worked, and the tries that did not help.

__all__ = ["Findings", "Turn", "examine", "occurrence", "turns"]


class Findings(NamedTuple):
    """What a session teaches about failures."""

    occurrences: list[Occurrence]
    fixes: list[Fix]
    tried: list[Tried]


def examine(session: Session) -> Findings:
    """Every failure worth remembering in a session, every fix that the session proves, every try it disproves."""
    calls = turns(session)
    failures = {turn.position: found for turn in calls if (found := occurrence(turn)) is not None}
    trails = [follow(calls, at, found, session.cwd) for at, found in failures.items()]
    taken = [(trail.fix, trail.taken) for trail in trails if trail.fix and trail.taken]
    doubts = provenance.doubts([steps for _, steps in taken], calls)
    fixes = [replace(fix, untrusted=why) for (fix, _), why in zip(taken, doubts, strict=True)]
    met: dict[str, list[int]] = defaultdict(list)
    for at, found in failures.items():
        met[found.fingerprint].append(at)
    mended: dict[tuple[tuple[Step, ...], str], set[int]] = defaultdict(set)
    for fix in fixes:
        mended[fix.steps, fix.succeeded_as].add(fix.occurrence.call_index)
    counted = [
        replace(
            fix,
            failed_again=_failed_again(
                fix, met[fix.occurrence.fingerprint], mended[fix.steps, fix.succeeded_as], calls
            ),
        )
        for fix in fixes
    ]
    tried = {(one.fingerprint, one.steps, one.tried_as): one for trail in trails for one in trail.tried}
    return Findings(list(failures.values()), _first_per_failure(counted), list(tried.values()))


def never_ran(turn: Turn, failure: Occurrence | None = None) -> bool:
    """Stopped or refused by the user or by the agent's own program, or another call of the same message failed."""
    refused = failure is not None and (failure.family == "agent" or is_refusal(failure.words))
    return refused or turn.stopped or "Sibling tool call errored" in turn.output[:80]


def occurrence(turn: Turn) -> Occurrence | None:
    """The failure that a call shows; None where it did not fail, was stopped, or only answered no."""
    result = turn.result
    if result is None or not turn.failed or never_ran(turn):
        return None
    if result.exit_code == 1 and tools.exit_one_is_an_answer(turn.call.command) and not NO_FOLDER.search(turn.output):
        return None
    command = turn.call.command or turn.call.name
    screen = turn.call.command and result.evidence in OF_A_SCREEN
    output = "\n".join(printed(command, result.text)) if screen else result.text
    found = fingerprint(output, turn.call.command)
    if found is not None and not turn.call.command:
        found = Fingerprint("agent", "refused", found.message, "", found.excerpt, found.beginning)
    if found is None or (found.family == "generic" and turn.call.command and not tools.changes_something(command)):
        return None  # what only looks says in its own words that it could not; the rest is what it looked at
    words = error_line(found, turn.call.name, command)
    if result.evidence == "piped" and (
        found.family == "generic" or is_consequence(words) or not says_what_failed(words)
    ):
        return None  # the error itself was cut off
    return Occurrence(
        message_index=turn.message_index,
        call_index=turn.position,
        at=turn.at,
        tool=turn.call.name,
        command=command,
        exit_code=UNNOTICED if result.evidence == "piped" else result.exit_code,
        fingerprint=found.id,
        family=found.family,
        error_type=found.error_type,
        signature=signature(found),
        words=words,
        excerpt=found.excerpt,
        beginning=found.beginning,
    )


def _failed_again(fix: Fix, met: list[int], mended: set[int], calls: list[Turn]) -> int:
    """Whether the same call failed the same way later, and something else, or nothing, mended that.

    `met` are all calls that failed this way, `mended` those that the same steps mended.
    """
    later = met[bisect_right(met, fix.succeeded_at) :]
    subject = _subject(calls[fix.occurrence.call_index])
    return int(any(at not in mended and _subject(calls[at]) == subject for at in later))


def _subject(turn: Turn) -> tuple[str, ...]:
    wanted = tools.doing(turn.call.command) if turn.call.action == "run" else []
    return tuple(f"{command.program} {command.subcommand}" for command in wanted) or (turn.call.target,)


def _first_per_failure(fixes: Iterable[Fix]) -> list[Fix]:
    """A failure tried three times has one fix in a session: the steps after its last failure."""
    chosen: dict[tuple[str, str, tuple[Step, ...]], Fix] = {}
    for fix in fixes:
        chosen.setdefault((fix.occurrence.fingerprint, fix.succeeded_as, fix.steps), fix)
    return list(chosen.values())
