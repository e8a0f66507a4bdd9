"""What compilers and their tools say: C and C++, Go, Java and Kotlin, Rust, .NET."""

from __future__ import annotations

import re

from hardwon.failures.fingerprint import LIBRARY, Rule, Span, first, joined
from hardwon.text.normalise import lazy_pattern, tail

# C and C++: the compilers, the linkers, CMake, make and ninja.

_SOURCE = r"(?P<file>[^\s:]+\.(?:c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|inl|m|mm|cu|s|S|swift|ixx|proto))"
_C_RULES: tuple[Rule, ...] = (
    ("missing header", "fatal error: ",
     r"^.*?fatal error: (?P<message>'?[\w./+-]+'?):? (?:No such file or directory|file not found)"),
    ("error", "error: ", rf"^{_SOURCE}:\d+(?::\d+)?: (?:fatal )?error: (?P<message>.+?)(?: \[-W[\w=+-]+\])?$"),
    ("error", "error: ",
     r"^\S*(?:cc|[cg]\+\+|clang)(?:\+\+)?(?:-\d+)?: (?:fatal )?error: (?!linker|ld returned)(?P<message>.+)$"),
    ("link failed", "collect2: error", r"^collect2(?:\.exe)?: error: (?P<message>ld returned \d+ exit status)$"),
    ("undefined reference", "undefined reference", r"undefined reference to [`'‘](?P<message>[^'’\n]+)['’]"),
    ("undefined reference", "Undefined symbols",
     r"^Undefined symbols for architecture \w+:\n\s+\"_?(?P<message>[^\"\n]+)\", referenced"),
    ("undefined reference", "undefined symbol",
     r"(?:ld\.lld|lld|ld64\.lld): error: undefined symbol: (?P<message>.+)$"),
    ("multiple definition", "multiple definition", r"multiple definition of [`'‘](?P<message>[^'’\n]+)['’]"),
    ("missing library", "cannot find -l", r"cannot find (?P<message>-l[\w.+-]+)"),
    ("missing library", "not found for -l", r"ld: library not found for (?P<message>-l[\w.+-]+)"),
    ("missing library", "ld: library '", r"ld: library '(?P<message>[\w.+-]+)' not found"),
    ("CMake Error", "CMake Error at",
     r"^CMake Error at (?P<file>[^:\n]+):\d+ \((?P<frame>\w+)\):\n\s+(?P<message>(?:.+\n){0,40}.*)"),
    ("CMake Error", "CMake Error: ", r"^CMake Error: (?P<message>.+)$"),
    ("no rule to make target", "No rule",
     r"^g?make(?:\[\d+\])?: \*\*\* No rule to make target ['`](?P<message>[^']+)'"),
    ("make", "*** No targets", r"^g?make(?:\[\d+\])?: \*\*\* (?P<message>No targets specified and no makefile found)"),
    ("make", "missing separator", r"^(?P<file>\S+):\d+: \*\*\* (?P<message>missing separator)"),
    ("make", ": *** ", r"^(?P<file>\S+):\d+: \*\*\* (?P<message>.+?)\.\s+Stop\.$"),
    ("ninja", "ninja: error", r"^ninja: error: (?P<message>.+)$"),
)  # fmt: skip
_C_PACKAGE = lazy_pattern(
    r"package configuration file provided by \"([\w.-]+)\"|Could NOT find (\w+)|"
    r"Could not find a package .*?by \"([\w.-]+)\"",
    re.DOTALL,
)


def find_c(text: str) -> Span | None:
    found = first(text, _C_RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    message = " ".join(parts["message"].split())
    frame = tail(parts.get("file") or "")
    if name == "missing library":
        message = message.removeprefix("-l")
    if name == "missing header":
        message = "<" + message.strip("'") + ">"  # as it is included: the folder belongs to it
    elif name == "CMake Error" and parts.get("frame"):
        package = _C_PACKAGE.search(match.group())
        message = (
            f"{parts['frame']} '{next(filter(None, package.groups()))}'" if package else f"{parts['frame']}: {message}"
        )
    return Span("c", name, message, frame, match.group().strip())


# Go: the compiler, vet and golangci-lint, failed tests, panics, and what the go command says.

_COMPILE = lazy_pattern(r"^(?:vet: )?(\S+?\.go):\d+:\d+: (.+)$", re.MULTILINE)
_LINTER = lazy_pattern(r"^(.+) \(([a-z]\w+)\)$")
_FAIL = lazy_pattern(r"^([ \t]*)--- FAIL: (\S+)(?: \([\d.]+s\))?$", re.MULTILINE)
_SAYS = lazy_pattern(r"^[ \t]+(?:\S+: )?(\S+?\.go):\d+: ?(.*)$", re.MULTILINE)
_WORRYING = lazy_pattern(
    r"(?i)\b(?:want|expect\w*|got|errors?|fail\w*|should|unexpected|not|missing|invalid|mismatch|Error Trace)\b|"
    r"[!=]=| = "
)
_TESTIFY = lazy_pattern(r"^[ \t]+Error:\s+(\S.*)$", re.MULTILINE)
_RUNNING = lazy_pattern(r"^\s*(?:=== RUN|--- FAIL:) +(\S+)", re.MULTILINE)
_GO_PANIC = lazy_pattern(r"^[ \t]*(panic|fatal error): (.+?)(?: \[recovered\].*)?$", re.MULTILINE)
_GO_FRAME = lazy_pattern(r"^(\S+)\(.*\)\n\t(\S+?\.go):\d+", re.MULTILINE)
_COMMAND = lazy_pattern(
    r"^(?:go: |go (?:build|vet|test|run|mod|get|install|generate|list): )(?!downloading|finding|extracting|added|"
    r"upgraded|warning)(.+)$",
    re.MULTILINE,
)
_GIT_REFUSED = lazy_pattern(r": git ls-remote .*exit status \d+:\n\s+(fatal: .+)$", re.MULTILINE)
_REASON = lazy_pattern(r"^\t\S+: (.+)$", re.MULTILINE)
_GO_PACKAGE = lazy_pattern(
    r"^(?:package (\S+) is not in (?:std|GOROOT)|no (?:required module provides|Go files in).*)", re.MULTILINE
)
_BUILD = lazy_pattern(r"^FAIL\t(\S+)(?: \[(.+)\]|\t[\d.]+s)$", re.MULTILINE)
_MISSING = (
    "no required module provides package",
    "cannot find module providing",
    "missing go.sum entry",
    "cannot find package",
)


def find_go(text: str) -> Span | None:
    compiled = _COMPILE.search(text)
    if compiled and "/go/src/" not in compiled.group(1):
        return _not_read(text, _compiled(compiled))
    if ("goroutine " in text or "--- FAIL" in text) and (panic := _GO_PANIC.search(text)):
        return _panicked(text, panic)
    if failed := _deepest(text):
        return _failed(text, failed)
    if command := _COMMAND.search(text):
        return _not_read(text, _command(text, command))
    if package := _GO_PACKAGE.search(text):
        return Span("go", "go", package.group(), "", package.group())
    if build := _BUILD.search(text):
        said = _complaint(text, 0, build.start()) if not build.group(2) else None
        if said and said.group(2).strip():
            return Span("go", "FAIL", said.group(2).strip(), tail(said.group(1)), said.group().strip())
        above = text[: build.start()].rstrip().rpartition("\n")[2] if build.group(2) == "setup failed" else ""
        return Span("go", build.group(2) or "FAIL", "", build.group(1), f"{above}\n{build.group()}".strip())
    return None


def _not_read(text: str, span: Span) -> Span:
    """A module that git could not read is told with what git said, which stands below."""
    if refused := _GIT_REFUSED.search(text):
        head = next((line for line in text.split("\n") if ": git ls-remote " in line), "").strip()
        span.excerpt = f"{head.split(': git ls-remote ')[0]}: {refused.group(1)}"
    return span


def _command(text: str, found: re.Match[str]) -> Span:
    message = re.split(r"; see |, but found |: git ls-remote ", found.group(1))[0]
    if message.endswith((" imports", " tested by")) and (reason := _REASON.search(text, found.end())):
        message = re.split(r": git ls-remote ", reason.group(1))[0]
    return Span("go", "go", message, "", found.group())


def _compiled(found: re.Match[str]) -> Span:
    message = found.group(2).strip()
    linter = _LINTER.match(message)
    error_type, message = (linter.group(2), linter.group(1)) if linter else ("error", message)
    message = re.sub(r'^"([\w.-]+/[\w./-]+)"(?= imported)', r"<\1>", message)
    anywhere = any(words in message for words in _MISSING)
    message = re.split(r"; to add|: git ls-remote ", message)[0]
    return Span("go", error_type, message, "" if anywhere else tail(found.group(1)), found.group())


def _deepest(text: str) -> re.Match[str] | None:
    """The first failed test, or the first of its parts that failed."""
    chosen: re.Match[str] | None = None
    for found in _FAIL.finditer(text):
        if chosen is None or found.group(2).startswith(chosen.group(2) + "/"):
            chosen = found
    return chosen


def _failed(text: str, failed: re.Match[str]) -> Span:
    name = failed.group(2)
    following = re.search(r"^(?:[ \t]*--- |FAIL|=== )", text[failed.end() + 1 :], re.MULTILINE)
    end = failed.end() + 1 + following.start() if following else len(text)
    says = _complaint(text, failed.end(), end)
    if not says:  # in verbose mode a test speaks before it is said to have failed
        begin = text.rfind(f"=== RUN   {name}\n", 0, failed.start())
        says = _complaint(text, begin, failed.start()) if begin >= 0 else None
        end = failed.start()
    message = says.group(2).strip() if says else ""
    if says and (not message or message.startswith("Error Trace")):
        testify = _TESTIFY.search(text, says.end(), end)
        message = testify.group(1) if testify else message
    return Span("go", "FAIL", message, name.replace("/", " > "), f"{failed.group().strip()}\n{message}".strip())


def _complaint(text: str, start: int, end: int) -> re.Match[str] | None:
    """What a test says of its failure; what it merely logs stands before."""
    said = list(_SAYS.finditer(text, start, end))
    return next(
        (one for one in said if not one.group(2).strip() or _WORRYING.search(one.group(2))), said[-1] if said else None
    )


def _panicked(text: str, panic: re.Match[str]) -> Span:
    frames = [
        frame
        for frame in _GO_FRAME.finditer(text, panic.end())
        if not re.search(LIBRARY, frame.group(2)) and not frame.group(1).startswith(("panic", "runtime.", "testing."))
    ]
    if frames:
        place = f"{tail(frames[0].group(2))} {re.sub(r'[(*)]', '', frames[0].group(1).rpartition('/')[2])}"
    else:
        place = next(iter(_RUNNING.findall(text, 0, panic.start())[-1:]), "")
    return Span("go", panic.group(1), panic.group(2), place, panic.group().strip())


# Java and Kotlin: the compiler, Maven, Gradle, failed tests and stack traces.

_COMPILERS: tuple[Rule, ...] = (
    ("", ".java:", r"^(?P<file>\S+\.java):\d+: error: (?P<message>.+)$"),
    ("", ".java:[", r"^\[ERROR\] (?P<file>\S+\.java):\[\d+,\d+\] (?:error: )?(?P<message>.+)$"),
    ("", ".kt:", r"^e: (?:file://)?(?P<file>\S+\.kts?):\d+:\d+:? (?P<message>.+)$"),
)
_SYMBOL = lazy_pattern(r"^(?:\[ERROR\])?[ \t]+symbol:[ \t]+(.+)$", re.MULTILINE)
_LAUNCHER: tuple[Rule, ...] = (
    ("java", "main class", r"^(?:Error: )?(Could not find or load main class \S+)"),
    ("java", "jarfile", r"^(?:Error: )?(Unable to access jarfile \S+)"),
    ("java", "JAVA_HOME", r"^(?:ERROR: |Error: )?(.*JAVA_HOME.*(?:not|invalid).*)$"),
    ("java", "release version", r"^(?:error: )?(release version \d+ not supported)"),
    ("maven", "[ERROR] Unknown", r"^\[ERROR\] (Unknown lifecycle phase \"[^\"]+\")"),
    ("maven", "[ERROR] No plugin", r"^\[ERROR\] (No plugin found for prefix '[^']+')"),
    ("maven", "no POM", r"^\[ERROR\] .*(there is no POM in this directory)"),
)
_TESTS: tuple[Rule, ...] = (
    ("", "FAILED", r"^(?P<case>\w+)(?: > .+?)* > (?P<test>\S.*?) FAILED\n\s+(?P<type>[\w.]+)(?:: (?P<message>.+))?$"),
    ("", "[ERROR] ",
     r"^\[ERROR\]\s+(?P<case>\w+)\.(?P<test>\w+):\d+(?:->\S+)? (?:(?:»|¬) (?P<type>\w+)(?: |$))?(?P<message>.*)$"),
)  # fmt: skip
_GOAL = lazy_pattern(
    r"^\[ERROR\] Failed to execute goal (?:on project \S+|\S+?:([\w-]+):[\d.]+:([\w-]+)(?: \(.+?\))? on project"
    r" \S+): (.+)$",
    re.MULTILINE,
)
_WRONG = lazy_pattern(r"^\* What went wrong:\n((?:.+\n){0,40}.*)", re.MULTILINE)
_THROWN = lazy_pattern(
    r"^(?:Exception in thread \"[^\"\n]+\" |Caused by: |\[ERROR\] )?((?:[a-z]\w*\.)+[A-Z][\w$]*)(?:: (.+))?$",
    re.MULTILINE,
)
_JAVA_FRAME = lazy_pattern(r"^[ \t]+at (?:[\w.]+/)?((?:[\w$]+\.)+)([\w$<>]+)\(([\w$]+\.\w+):\d+\)", re.MULTILINE)
_LIBRARY = ("java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin", "org.junit", "org.gradle", "org.springframework",
            "org.apache", "org.hibernate", "com.fasterxml", "org.opentest4j", "org.assertj", "scala.",
            "io.netty")  # fmt: skip
_ADVICE = lazy_pattern(r"\s*(?:-> \[Help \d+\]|See the report at:.*|> Run with .*)$")


def find_java(text: str) -> Span | None:
    if found := first(text, _COMPILERS):
        return _java_compiled(text, found[1])
    if found := first(text, _LAUNCHER):
        return Span("java", found[0], found[1].group(1), "", found[1].group())
    if found := first(text, _TESTS):
        return _tested(found[1])
    if wrong := _WRONG.search(text):
        return _went_wrong(wrong)
    if "\tat " in text or "    at " in text:
        return _thrown(text)
    if goal := _GOAL.search(text):
        message = _ADVICE.sub("", goal.group(3))
        return Span("java", f"{goal.group(1)}:{goal.group(2)}" if goal.group(1) else "maven", message, "", goal.group())
    return None


def _java_compiled(text: str, found: re.Match[str]) -> Span:
    message = found.group("message").strip()
    if message == "cannot find symbol" and (symbol := _SYMBOL.search(text, found.end())):
        message = f"cannot find symbol {symbol.group(1).strip()}"
    return Span("java", "error", message, tail(found.group("file")), f"{found.group()}\n{message}")


def _tested(found: re.Match[str]) -> Span:
    parts = found.groupdict()
    error_type = (parts["type"] or "failed").rpartition(".")[2]
    test = parts["test"].removesuffix("()")
    return Span("java", error_type, (parts["message"] or "").strip(), f"{parts['case']} {test}", found.group())


def _went_wrong(wrong: re.Match[str]) -> Span | None:
    lines = [line.lstrip(" >").rstrip() for line in wrong.group(1).splitlines() if line.strip(" >")]
    if not lines:
        return None
    causes = [line for line in lines if not line.startswith("Execution failed for task")]
    message = causes[0] if causes else lines[0]
    if message.endswith(":") and len(causes) > 1:
        message = f"{message} {causes[1]}"
    return Span("java", "gradle", _ADVICE.sub("", message), "", wrong.group().strip())


def _thrown(text: str) -> Span | None:
    thrown = list(_THROWN.finditer(text))
    if not thrown:
        return None
    causes = [found for found in thrown if found.group().startswith("Caused by")]
    cause = causes[-1] if causes else thrown[0]
    frames = [frame for frame in _JAVA_FRAME.finditer(text, cause.end()) if not frame.group(1).startswith(_LIBRARY)]
    frames = frames or [frame for frame in _JAVA_FRAME.finditer(text) if not frame.group(1).startswith(_LIBRARY)]
    place = f"{frames[0].group(3)} {frames[0].group(2)}" if frames else ""
    return Span("java", cause.group(1).rpartition(".")[2], cause.group(2) or "", place, cause.group())


# Rust: the compiler's first error, a panic, and what cargo and rustup say.

_RUST_ERROR = lazy_pattern(r"^[ \t]*error(?:\[(E\d+)\])?: (.+)\n(?:.*\n){0,3}?\s*--> (\S+?):\d+:\d+", re.MULTILINE)
_RUST_PANIC = lazy_pattern(
    r"^[ \t]*thread '([^'\n]+)'(?: \(\d+\))? panicked at (?:'(.*?)', (\S+?):\d+:\d+|(\S+?):\d+:\d+:\n(.+))",
    re.MULTILINE,
)
_CARGO = lazy_pattern(
    r"^error: (?!could not compile|test failed|aborting|build failed|process didn't exit|doctest failed)(.+)$",
    re.MULTILINE,
)
_OURS = lazy_pattern(
    r"\b(?:cargo|custom build command|Cargo\.toml|Cargo\.lock|crates?\b|crates-io|rustc|rustup|toolchain)|"
    r"^[ \t]+Compiling |\bfor `\w+",
    re.MULTILINE,
)
_FORMAT = lazy_pattern(r"^Diff in (\S+?\.rs)(?::\d+| at line \d+):?$", re.MULTILINE)
_CAUSE = lazy_pattern(r"^Caused by:\n\s+(?:\d+: )?(.+)$", re.MULTILINE)


def find_rust(text: str) -> Span | None:
    if error := _RUST_ERROR.search(text):
        anywhere = error.group(1) in ("E0432", "E0433") and "unresolved import `crate" not in error.group(2)
        frame = "" if anywhere and "use of undeclared crate" in error.group(2) else tail(error.group(3))
        return Span("rust", error.group(1) or "error", error.group(2), frame, error.group())
    if panic := _RUST_PANIC.search(text):
        return _panic(panic)
    if formatted := _FORMAT.search(text):
        return Span("rust", "rustfmt", "Diff in", tail(formatted.group(1)), formatted.group())
    errors = list(_CARGO.finditer(text))
    if not errors or not _OURS.search(text):
        return None
    message = re.sub(r" in `[^`]*` or any parent directory", "", errors[0].group(1))
    message = re.sub(r"(?<=\w)-(?:x86_64|aarch64|i686|arm\w*)-[\w-]+", "", message)
    cause = _CAUSE.search(text, errors[0].end())
    if cause:
        message = f"{message}: {cause.group(1)}"
    return Span("rust", "cargo", message, "", errors[0].group())


def _panic(found: re.Match[str]) -> Span:
    thread, old, old_file, file, message = found.groups()
    place = old_file or file
    frame = "" if re.search(LIBRARY, place) else tail(place)
    name = "" if thread in ("main", "<unnamed>") or thread.startswith("tokio") else thread
    return Span("rust", "panic", old or message, f"{frame} {name}".strip(), found.group().strip())


# .NET: the compilers, MSBuild, NuGet, and what an unhandled exception prints.

_DOTNET_RULES: tuple[Rule, ...] = (
    ("", ": error ",
     (r"^[ \t]*(?P<file>\S.*?)(?:\(\d+,\d+\))? ?: error (?P<code>[A-Z]{2,6}\d+): (?P<message>.+?)(?: \["
     r"[^\]\n]+proj\])?$")),
    ("test", "error test failed",
     r"^[ \t]*(?P<file>\S.*?)(?:\(\d+\))? ?: error test failed:[ \t]*\n?[ \t]*(?P<message>\S.*)$"),
    ("test", "Error Message:",
     r"^[ \t]*Failed (?P<file>\w[\w.]*)(?:\(.*\))? \[[^\]\n]+\]\n[ \t]*Error Message:\n[ \t]*(?P<message>\S.*)$"),
    ("", "Unhandled exception. ", r"^Unhandled exception\. (?:[\w.]+\.)?(?P<code>\w+): (?P<message>.+)$"),
    ("sdk", "SDK", r"^(?P<message>(?:The command could not be loaded|A compatible \.NET SDK was not found).*)$"),
)  # fmt: skip
_SWITCH = lazy_pattern(r"^Switch: \S.*$", re.MULTILINE)
_MAX_LINES_OF_A_TEST, _MAX_LINES_OF_A_VALUE = 5, 60
_CLOSES = lazy_pattern(r"\s*[^']*('.*[^\s.])[\s.]*$")
_LISTED_VALUE = lazy_pattern(r"\} ?(to .*[^\s.])[\s.]*$")
"""What was wanted of a value that was shown on many lines."""
_OF_A_TEST = " " * 6
_DOTNET_FRAME = lazy_pattern(r"^[ \t]+at ([\w.<>`]+)\(.*\) in (\S+):line \d+", re.MULTILINE)


_TEST_METHOD = lazy_pattern(r"Test method \S+(?: \S+)? threw exception: ?")
_TOOK = lazy_pattern(r" \([\d.]+m?s\)(?=:)")
_NAMESPACE = lazy_pattern(r"\b(?:[A-Z]\w*\.)+(?=[A-Z]\w*Exception\b)")
_LINK = lazy_pattern(r" ?\(?https?:.*$")


def _below(text: str, match: re.Match[str]) -> str:
    """What a test says of its failure, which stands on several lines."""
    lines = text[match.start("message") :].split("\n")[:_MAX_LINES_OF_A_VALUE]
    end = next((at for at, line in enumerate(lines) if line.strip().startswith(("Stack Trace", "at "))), 0)
    if end > 1 and lines[0].rstrip().endswith("{") and (wanted := _LISTED_VALUE.match(lines[end - 1])):
        return f"{lines[0].strip()}…}} {wanted.group(1)}"
    if end > _MAX_LINES_OF_A_TEST and (closed := _CLOSES.match(lines[end - 1])):
        return (
            f"{lines[0].strip().rpartition(chr(39))[0]}'…{closed.group(1)}"  # not the value, but what was wanted of it
        )
    end = min(end or len(lines), _MAX_LINES_OF_A_TEST)
    edge = max((len(line) for line in text.split("\n") if line.startswith(_OF_A_TEST)), default=0)
    said = lines[0].strip()
    start = match.start("message") - text.rfind("\n", 0, match.start("message")) - 1
    widths = [start + len(lines[0]), *map(len, lines[1:])]
    for line, width in zip(lines[1:end], widths, strict=False):
        more = line.removeprefix(_OF_A_TEST).rstrip()
        in_a_path = said.count("'") % 2 and "~" in said  # its home is shorter here than on the screen
        said = said + more if in_a_path else joined(said, more, len(said) + (width < edge))
    return said


def find_dotnet(text: str) -> Span | None:
    found = first(text, _DOTNET_RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    frame = tail(parts.get("file") or "")
    if name == "" and not parts.get("file") and (place := _DOTNET_FRAME.search(text)):
        frame = f"{tail(place.group(2))} {place.group(1).rpartition('.')[2]}"
    excerpt = match.group().strip()
    if name == "test":
        named = "" if excerpt.count(": error ") else ".".join(parts["file"].split(".")[-2:]) + ": "
        excerpt = _NAMESPACE.sub("", _TOOK.sub("", named + _TEST_METHOD.sub("", _below(text, match))))
    if frame == "MSBUILD" and (switch := _SWITCH.search(text, match.end())):
        excerpt += f"\n{switch.group()}"
    message = _LINK.sub("", parts["message"])
    return Span("dotnet", parts.get("code") or name, message, "" if frame == "MSBUILD" else frame, excerpt)
