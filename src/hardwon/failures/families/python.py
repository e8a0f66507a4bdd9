"""What Python's tools say: tracebacks, pytest, unittest, installers, linters."""

from __future__ import annotations

import re

from hardwon.failures.fingerprint import LIBRARY, Rule, Span, first, raised_in
from hardwon.text.normalise import lazy_pattern, tail

_TRACEBACK_HEAD = "Traceback (most recent call last):"
_RAISED = lazy_pattern(r"^(?:[\w.]+\.)?([A-Za-z_]\w*)(?:: ?(.*)|$)", re.MULTILINE)
_BARE = lazy_pattern(
    r"^(?!PackagesNotFound)(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Exit|Interrupt|Timeout|NotFound|"
    r"DoesNotExist)|StopIteration)(?:: ?(.*))?$",
    re.MULTILINE,
)
_FRAME = lazy_pattern(r'^ *File "([^"\n]+)", line \d+(?:, in (.+))?\n((?: {2,}(?!File ").*\n)?)', re.MULTILINE)
_INTERPRETER = r"^\S*python[\d.]*(?:\.exe)?: (No module named .+|can't open file .+|Error while finding module .+)$"
_OF_GROUP = r"^ *(?:[|+-]+ ?)+"
_ANOTHERS = lazy_pattern(
    r"^ParserError: *\nLine \||\+ CategoryInfo +: ParserError|"
    r"^[ \t]+at .+[(:]|^Node\.js v|is not a function|is not a constructor|Cannot read propert|Unexpected token|"
    r"Unexpected end of JSON"
    r"|^ReferenceError: \S+ is not defined|^RangeError|^(?:\S+ )?\^+$\n\n|Cannot access '|^[ \t]+code: '[A-Z_]+'",
    re.MULTILINE,
)
# Each system numbers its errors in its own way.
_SYSTEM = r"\[(?:Errno|WinError) -?\d+\] "
_SAYS_LITTLE = r"\d+ validation errors? for \w+$"
_MISSING_ANYWHERE = frozenset(("ModuleNotFoundError",))


def find_python(text: str) -> Span | None:
    if "Exception Group Traceback" in text:
        text = re.sub(_OF_GROUP, "", text, flags=re.MULTILINE)
    head = text.rfind(_TRACEBACK_HEAD)
    if head >= 0:
        return _traceback(text[head + len(_TRACEBACK_HEAD) :])
    if "python" in text and (found := re.search(_INTERPRETER, text, re.MULTILINE)):
        return Span("python", "python", found.group(1), "", found.group())
    errors = list(_BARE.finditer(text))
    if not errors or _ANOTHERS.search(text):
        return None
    frame = _FRAME.search(text)
    if len({found.group() for found in errors}) > 1 and not frame:
        return None  # a list of errors
    return _span(text, errors[-1], [frame] if frame else [])


def _traceback(text: str) -> Span | None:
    indent = re.match(r"\n( *)(?=  File )", text)
    if indent and indent.group(1):  # another tool's output holds it
        text = re.sub(rf"^{indent.group(1)}", "", text, flags=re.MULTILINE)
    raised = _RAISED.search(text)
    if not raised:
        return None
    frames = [found for found in _FRAME.finditer(text, 0, raised.start()) if not re.search(LIBRARY, found.group(1))]
    return _span(text, raised, frames)


def _span(text: str, raised: re.Match[str], frames: list[re.Match[str]]) -> Span:
    error_type, message = raised.group(1), raised.group(2) or ""
    if "validation error" in message and re.search(_SAYS_LITTLE, message):
        message = f"{message} {_details(text[raised.end() :])}"
    message = re.sub(_SYSTEM, "", message) if "rr" in message else message
    frame = excerpt = ""
    if frames:
        frame = f"{tail(frames[-1].group(1))} {frames[-1].group(2) or ''}".strip()
        excerpt = frames[-1].group().strip() + "\n"
        message = message or frames[-1].group(3).strip()
    if error_type in _MISSING_ANYWHERE:
        frame = ""
    return Span("python", error_type, message, frame, excerpt + raised.group())


def _details(text: str) -> str:
    """The first of the lines that pydantic writes below its own."""
    lines = [line.strip() for line in text.split("\n")[1:3]]
    return " ".join(lines).split(" [type=")[0]


# pytest: the first failed test and what it says of it; collection, fixtures and the command line.

_MARKS = lazy_pattern(
    r"^(?:=+ (?:FAILURES|ERRORS|short test summary info|test session starts) =+|FAILED \S+::|ERROR \S+\.py"
    r"|pytest: error: |E {3,}\S|ImportError while loading conftest)",
    re.MULTILINE,
)
_USAGE = lazy_pattern(
    r"^(?:(?:\S*pytest|__main__\.py)(?:\.py)?: error: (.+)|ERROR: ((?:file or directory )?not found: .+))$",
    re.MULTILINE,
)
_TYPED = lazy_pattern(
    r"(?:[\w.]+\.)?(Failed|[A-Z]\w*(?:Error|Exception|Exit|Warning|Failed|Interrupt|Timeout|NotFound)): ?(.*)"
)
_LINE = lazy_pattern(r"^E {2,}(\S.*)$", re.MULTILINE)
_SUMMARY = lazy_pattern(r"^(?:FAILED|ERROR) (\S+?\.py(?:::\S+(?:\[.*?\])?)?|\S+::\S+)(?: - (.*))?$", re.MULTILINE)
_PLACE = lazy_pattern(r"^(\S+\.py):\d+: (?:[A-Z]\w+|in \S+)$", re.MULTILINE)
_NOTHING = lazy_pattern(r"^=* ?(no tests ran|\d+ deselected)\b", re.MULTILINE)


def find_pytest(text: str) -> Span | None:
    if usage := _USAGE.search(text):
        message = usage.group(1) or usage.group(2)
        return Span("pytest", "usage", message, "", usage.group())
    if not _MARKS.search(text):
        return None
    summary = _SUMMARY.search(text)
    said = summary.group(2) if summary else ""
    lines = [found.group(1) for found in _LINE.finditer(text)]
    told = _told(lines, said or "")
    if not told:
        nothing = _NOTHING.search(text) if not summary else None
        if nothing:
            return Span("pytest", "nothing", "no tests ran", "", nothing.group())
        if not summary:
            return None
    typed = _TYPED.fullmatch(told)
    error_type, message = (typed.group(1), typed.group(2)) if typed else ("AssertionError" if told else "failed", told)
    if told.startswith("fixture "):
        error_type = "fixture"
    # An import fails wherever it is imported first: the test it hits says nothing.
    frame = "" if error_type in ("ModuleNotFoundError", "ImportError") else _place(text, summary)
    details = [line for line in lines if line.startswith(("Expected: ", "Actual: "))] if "call" in told else []
    parts = (told, *details[:2], summary.group() if summary else "")
    span = Span("pytest", error_type, message, frame, "\n".join(parts).strip())
    return raised_in(span, _deepest(text)) if frame and " " not in frame else span


def _told(lines: list[str], said: str) -> str:
    """The summary's words where they are whole; else the line of the report that begins like them, else the first."""
    if said in lines:
        return said
    start = said.removesuffix("...")
    return next((line for line in lines if line.startswith(start)), start)


def _deepest(text: str) -> str:
    """Of the files that import one another until one raises, the last of one's own."""
    error = _LINE.search(text)
    places = _PLACE.findall(text, 0, error.start()) if error else []
    return next((file for file in reversed(places) if not re.search(LIBRARY, file)), "")


def _place(text: str, summary: re.Match[str] | None) -> str:
    if summary:
        path, _, name = summary.group(1).partition("::")
        return f"{tail(path)} {name.split('[')[0]}".strip()
    place = _PLACE.search(text)
    return tail(place.group(1)) if place else ""


# unittest and Django's runner: the first failed test and the last line of its traceback.

_UNITTEST_HEAD = lazy_pattern(r"^(?:FAIL|ERROR): (\S+) \(([\w.]+)(?:\.\.\.)?\).*\n(?:.*\n){0,3}?-{20,}\n", re.MULTILINE)
_ERROR = lazy_pattern(r"^(?:[\w.]+\.)?([A-Za-z_]\w*)(?:: (.*))?$", re.MULTILINE)


def find_unittest(text: str) -> Span | None:
    head = _UNITTEST_HEAD.search(text)
    if not head:
        return None
    end = re.search(r"^(?:={20,}|-{20,})$", text[head.end() :], re.MULTILINE)
    body = text[head.end() : head.end() + end.start()] if end else text[head.end() :]
    _, _, trace = body.rpartition("Traceback (most recent call last):\n")
    error = _ERROR.search(trace)
    if not error:
        return None
    name = head.group(1)
    case = head.group(2).removesuffix(f".{name}").rpartition(".")[2]
    anywhere = error.group(1) in ("ModuleNotFoundError", "ImportError")
    return Span("unittest", error.group(1), error.group(2) or "", "" if anywhere else f"{case}.{name}", error.group())


# Installers of Python packages: pip, uv, poetry, conda.

_INSTALLER_RULES: tuple[Rule, ...] = (
    ("externally managed", "externally-managed", r"^error: (?P<message>externally-managed-environment)"),
    ("no matching distribution", "satisfies the requirement",
     r"^ERROR: Could not find a version that satisfies the requirement (?P<message>[\w.\[\]-]+)"),
    ("no matching distribution", "No matching distribution",
     r"^ERROR: No matching distribution found for (?P<message>[\w.\[\]-]+)"),
    ("conflict", "conflicting dependencies", r"^ERROR: (?P<message>Cannot install .+?) because these package versions"),
    ("conflict", "is incompatible", r"^ERROR: pip's dependency resolver .*\n(?P<message>.+)$"),
    ("build", "╰─>", r"╰─> \[\d+ lines? of output\]\n(?P<output>(?:.*\n){0,400}?)\s*\[end of output\]"),
    ("build", "Failed building wheel", r"^[ \t]*ERROR: (?P<message>Failed building wheel for \S+)"),
    ("build", "ailed to build", r"^[ \t]*(?:× |error: |ERROR: )?(?P<message>Failed to build:? .+)$"),
    ("pip", "ERROR: ",
     (r"^ERROR: (?P<message>(?:Could not open requirements|Could not install|Invalid requirement|Package |"
     r"Cannot uninstall|File \"(?:setup|pyproject)|Exception:|.*does not appear to be a Python project|"
     r"Directory ).*)$")),
    ("unsatisfiable", "No solution found",
     r"^.*No solution found when resolving .*\n\s*╰─▶ (?P<message>(?:.+\n){0,40}.*)"),
    ("unsatisfiable", "version solving failed",
     r"^[ \t]*(?P<message>(?:Because|So,|And because) .*?(?:\n.+){0,20}?version solving failed)"),
    ("uv", "error: Failed to spawn", r"^error: (?P<message>Failed to spawn: `[^`]+`)"),
    ("uv", "error: ",
     (r"^error: (?P<message>(?:No `pyproject|No virtual environment|The lockfile at|Failed to (?:download|parse|"
     r"fetch|prepare|install|inspect|resolve|initialize)|No interpreter found|Could not find root package|"
     r"Distribution not found|Group |Extra |Project |The requested interpreter|Dependency|Broken virtual).*)$")),
    ("poetry", "poetry.lock", r"^(?:Error: )?(?P<message>pyproject\.toml changed significantly.*?)(?:\.|$)"),
    ("poetry", "oetry could not find", r"(?P<message>Poetry could not find a pyproject\.toml file)"),
    ("command not found", "ommand not found: ", r"^Command not found: (?P<message>\S+)$"),
    ("poetry", 'The command "', r"^(?P<message>The command \"[^\"]+\" does not exist)"),
    ("conda", "PackagesNotFound", r"PackagesNotFoundError: .*\n\s*\n\s+- (?P<message>\S+)"),
)  # fmt: skip
_INNER = lazy_pattern(r"^[ \t]*(?:\S+: )?(?:\w*[Ee]rror|ERROR)\b:? ?(.+)$", re.MULTILINE)
_REQUIREMENT = lazy_pattern(r"(?<![\w'])([A-Za-z][\w.-]*(?:\[\w+\])?)(?:(?:[<>=!~]=|[<>]|===)[\w.*+]+,?)+")
_RANGE = lazy_pattern(r" \([\^~<>=*\d].*?\)")
_PACKAGE = lazy_pattern(r"(?<=Because )([\w.-]+)(?= (?:was not|depends|is not))|(?<=depends on )([\w.-]+)(?![\w.-])")
_STEPS = lazy_pattern(r"\s*(?:╰─▶|├─▶|\n)\s*")


def find_pip(text: str) -> Span | None:
    found = first(text, _INSTALLER_RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    message = parts.get("message")
    if message is None:
        output = parts["output"]
        inner = _INNER.search(output)
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        message = inner.group().strip() if inner else lines[-1] if lines else ""
        package = re.search(r"^[ \t]*(?:Collecting|× Failed to build) `?([\w.-]+)", text, re.MULTILINE)
        message = f"{package.group(1)}: {message}" if package else message
    message = _STEPS.sub(" ", message).split(", we can conclude")[0].split("; run ")[0].strip()
    if name in ("unsatisfiable", "conflict"):
        message = _REQUIREMENT.sub(r"'\1'", _RANGE.sub("", message))
        message = _PACKAGE.sub(lambda package: f"'{package.group()}'", message)
    return Span("pip", name, message, "", match.group().strip())


# Linters of Python and others: ruff, flake8, pylint, mypy, pyright, ty, black, isort, shellcheck; and
# pre-commit.

_CODE = r"(?P<code>[A-Z]{1,4}\d{2,5})"
_LINT_RULES: tuple[Rule, ...] = (
    ("", ".py:", rf"^(?P<file>\S+\.pyi?):\d+:\d+:? {_CODE}:? (?:\[\*\] )?(?P<message>.+)$"),
    ("", "--> ",
     (rf"^(?:{_CODE}|(?P<rule>(?:error|invalid)[\w-]*(?:\[[\w-]+\])?):?) (?:\[\*\] )?(?P<message>.+)\n\s+--> "
     rf"(?P<file>\S+?\.pyi?):\d+")),
    ("mypy", ": error: ", r"^(?P<file>\S+\.pyi?):\d+(?::\d+)?: error: (?P<message>.+?)(?:  \[(?P<code>[\w-]+)\])?$"),
    ("pyright", " - error: ",
     r"^[ \t]+(?P<file>\S+\.pyi?):\d+:\d+ - error: (?P<message>.+?)(?: \((?P<code>report\w+)\))?$"),
    ("ruff format", "Would reformat: ", r"^(?P<message>Would reformat): (?P<file>\S+)$"),
    ("black", "would reformat ", r"^(?P<message>would reformat) (?P<file>\S+)$"),
    ("black", "cannot format", r"^error: cannot format (?P<file>\S+): (?P<message>.+)$"),
    ("unsorted", "incorrectly sorted", r"^ERROR: (?P<file>\S+) (?P<message>Imports are incorrectly sorted.*)$"),
    ("shellcheck", "SC", r"^[ \t]*\^-+\^? (?P<code>SC\d+) \(\w+\): (?P<message>.+)$"),
    ("markdownlint", "MD0", r"^(?P<file>\S+\.md):\d+(?::\d+)?:? (?:error )?(?P<code>MD\d+)\S* (?P<message>.+)$"),
)  # fmt: skip
_SHELLCHECKED = lazy_pattern(r"^In (\S+) line \d+:$", re.MULTILINE)
_HOOK = lazy_pattern(r"^(\S.*?)\.{3,}(?:\(.*?\))?Failed\n- hook id: (\S+)\n((?:- .+\n)*)", re.MULTILINE)
_LINT_ANYWHERE = frozenset(
    ("import-not-found", "import-untyped", "import", "reportMissingImports", "reportMissingModuleSource")
)


def find_lint(text: str) -> Span | None:
    found = first(text, _LINT_RULES)
    if not found:
        return _hook(text)
    name, match = found
    parts = match.groupdict()
    code = parts.get("code") or parts.get("rule") or name
    message = (parts.get("message") or "").strip()
    frame = "" if code in _LINT_ANYWHERE or "unresolved-import" in code else tail(parts.get("file") or "")
    span = Span("lint", code, message, frame, match.group().strip())
    headings = _SHELLCHECKED.findall(text, 0, match.start()) if name == "shellcheck" else []
    return raised_in(span, headings[-1] if headings else "")


def _hook(text: str) -> Span | None:
    """A hook that says nothing we know: its name, and the first line after it."""
    found = _HOOK.search(text)
    if not found:
        return None
    if "files were modified" in found.group(3):
        return Span("lint", found.group(2), "files were modified by this hook", "", found.group().strip())
    rest = text[found.end() :].strip().partition("\n")[0]
    return Span("lint", found.group(2), rest if not _HOOK.match(rest) else "", "", f"{found.group(2)}: {rest}")
