"""What JavaScript's tools say: Node, npm and its like, TypeScript, linters, test runners, bundlers."""

from __future__ import annotations

import re

from hardwon.failures.fingerprint import LIBRARY, Rule, Span, bare, first, module, raised_in
from hardwon.text.normalise import lazy_pattern, tail

# Node, Deno and Bun: errors with their stack, or bare.

_NODE_ERROR = lazy_pattern(
    r"^[ \t]*(?:\(node:\d+\) \w+Warning: )?(?:error: (?=Uncaught )|\[cause\]: )?(?:Uncaught )?(?:\(in promise\) )?"
    r"\[?(?!PackagesNotFound)((?:[A-Z]\w*)?Error(?: \[[A-Z_]+\])?): (?!\d+ \|)(.+?)\]?(?: \{)?$",
    re.MULTILINE,
)
_FRAME = lazy_pattern(
    r"^[ \t]+at (?:(?:async |new )*(\S+)(?: \[as \w+\])? \()?(?:file://)?([^\s():]+):\d+:\d+\)?,?$", re.MULTILINE
)
_NODE_MODULE = lazy_pattern(r"Cannot find (?:module|package) '([^']+)'")
_MEMORY = lazy_pattern(r"JavaScript heap out of memory")
# Any tool writes `Error: …`: Node's has a stack, a name, or a code of the system.
_OURS = lazy_pattern(r"^[ \t]+at .+:\d+:\d+\)?|^Node\.js v|^[ \t]+code: '", re.MULTILINE)
_CODED = lazy_pattern(r"^(?:\w+ )?E[A-Z]{3,}\b|^Cannot find module '")


def find_node(text: str) -> Span | None:
    if _MEMORY.search(text):
        return Span("node", "FATAL ERROR", "JavaScript heap out of memory", "", "JavaScript heap out of memory")
    stacked = bool(_OURS.search(text))
    found = next(
        (one for one in _NODE_ERROR.finditer(text) if stacked or one.group(1) != "Error" or _CODED.match(one.group(2))),
        None,
    )
    if found is None:
        return None
    error_type, message = found.group(1), found.group(2)
    if missing := _NODE_MODULE.match(message):
        return _missing(text, error_type, missing.group(1), found)
    frames = [frame for frame in _FRAME.finditer(text, found.end()) if not re.search(LIBRARY, frame.group(2))]
    place = f"{tail(frames[0].group(2))} {frames[0].group(1) or ''}".strip() if frames else ""
    return Span("node", error_type, message, place, found.group().strip())


def _missing(text: str, error_type: str, name: str, found: re.Match[str]) -> Span:
    """A package is missing wherever it is imported; a file, where it is."""
    frame = ""
    if not bare(name) and (
        importer := re.search(r" imported from (\S+)|^- (\S+)$", text[found.start() :], re.MULTILINE)
    ):
        frame = tail(importer.group(1) or importer.group(2))
    return Span("node", error_type, f"Cannot find module {module(name)}", frame, found.group().strip())


# Installers and script runners of JavaScript: npm, pnpm, yarn, bun.

_CODE = lazy_pattern(r"^npm (?:ERR!|error) code (\w+)$", re.MULTILINE)
_LINE = lazy_pattern(
    r"^npm (?:ERR!|error) (?!code |path |errno |syscall |A complete log|Tracker|dest |command |signal |cwd |workspace "
    r"|Lifecycle script|\s*$)(?:[a-zE]\w+ (?=[A-Z(]))?(?:\d{3} +)?(.+)$",
    re.MULTILINE,
)
_PEER = lazy_pattern(r"^npm (?:ERR!|error) (?:peer|peerOptional) (\S+?)@\S+ from (\S+?)@", re.MULTILINE)
_ABSENT = lazy_pattern(r"^npm (?:ERR!|error) (?:404 )? *'?(\S+?)@\S*'? is not in", re.MULTILINE)
_PNPM = lazy_pattern(
    r"^[ \t]*(?:undefined)?[ \t]*\u2009?(ERR_PNPM_(?!RECURSIVE_RUN|RECURSIVE_EXEC)\w+)\u2009?\s+(.+)$", re.MULTILINE
)
_PNPM_ABSENT = lazy_pattern(r"^(\S+) is not in the npm registry", re.MULTILINE)
_SCRIPT_RULES: tuple[Rule, ...] = (
    ("no script", "not found", r"^error Command \"(?P<message>[^\"]+)\" not found\.?$"),
    ("no script", "script named", r"Usage Error: Couldn't find a script named \"(?P<message>[^\"]+)\""),
    ("no script", "Script not found", r"^error: Script not found \"(?P<message>[^\"]+)\""),
    ("yarn", "error Couldn't", r"^error (?P<message>Couldn't find .+?)(?:\.|$)"),
    ("yarn", "error Your lockfile", r"^error (?P<message>Your lockfile needs to be updated)"),
    ("yarn", "The engine", r"^error (?P<message>\S+: The engine \"\w+\" is incompatible with this module)"),
    ("yarn", "error An unexpected", r"^error (?P<message>An unexpected error occurred: .+)$"),
    ("yarn", "YN0", r"^➤ (?P<message>YN(?!0000|0013|0085|0019|0002|0007)\d+: [│┌└ ]*.+)$"),
    ("yarn", "Usage Error", r"^(?:Internal |Usage )Error: (?P<message>.+)$"),
    ("bun", "failed to resolve", r"^error: (?P<message>\S+) failed to resolve"),
    ("bun", "error: package", r"^error: (?P<message>package \"[^\"]+\" .+)$"),
)


def find_npm(text: str) -> Span | None:
    if "ERR_PNPM" in text and (pnpm := _PNPM.search(text)):
        return _pnpm(text, pnpm)
    if line := _LINE.search(text):
        return _npm(text, line)
    if found := first(text, _SCRIPT_RULES):
        return Span("npm", found[0], found[1].group("message"), "", found[1].group())
    return None


def _pnpm(text: str, pnpm: re.Match[str]) -> Span:
    code, message = pnpm.group(1), pnpm.group(2)
    if code in ("ERR_PNPM_NO_SCRIPT", "ERR_PNPM_NO_SCRIPT_OR_SERVER"):
        return Span("npm", "no script", message.rpartition(": ")[2], "", pnpm.group().strip())
    message = re.sub(r" was found in \".*\"\.?$", " was found", message)
    absent = _PNPM_ABSENT.search(text)
    return Span(
        "npm", code, f"'{absent.group(1)}' is not in the registry" if absent else message, "", pnpm.group().strip()
    )


def _npm(text: str, line: re.Match[str]) -> Span:
    code = _CODE.search(text)
    error_type = code.group(1) if code else "error"
    message = line.group(1)
    if script := re.match(r"Missing script: \"?([^\"]+)\"?$", message):
        return Span("npm", "no script", script.group(1), "", line.group())
    if error_type == "ERESOLVE" and (peer := _PEER.search(text)):
        message = f"could not resolve peer '{peer.group(1)}' from '{peer.group(2)}'"
    elif error_type == "E404" and (absent := _ABSENT.search(text)):
        message = f"'{absent.group(1)}' is not in the registry"
    elif message.startswith("No workspaces found") and (flag := re.search(r"--workspace=\S+", text)):
        message = f"No workspaces found: {flag.group()}"
    return Span("npm", error_type, message.removeprefix(f"Error: {error_type}: "), "", line.group())


# The TypeScript compiler: its first error.

_TSC_ERROR = lazy_pattern(
    r"^(?:(?P<file>\S.*?)(?:\(\d+,\d+\)|:\d+:\d+)(?: -|:) )?error (?P<code>TS\d+): (?P<message>.+)$", re.MULTILINE
)
_TSC_MODULE = lazy_pattern(r"(Cannot find module|Could not find a declaration file for module) '([^']+)'")


def find_tsc(text: str) -> Span | None:
    found = _TSC_ERROR.search(text)
    if not found:
        return None
    message = found.group("message")
    if missing := _TSC_MODULE.match(message):
        name = missing.group(2)
        frame = "" if bare(name) else tail(found.group("file") or "")
        return Span("tsc", found.group("code"), f"{missing.group(1)} {module(name)}", frame, found.group())
    return Span("tsc", found.group("code"), message, tail(found.group("file") or ""), found.group())


# Linters of JavaScript: eslint, biome, prettier.

_STYLISH = lazy_pattern(r"^[ \t]+\d+:\d+\s+(error|warning)\s+(.+?)(?:\s{2,}(\S+))?[ \t]*$", re.MULTILINE)
_WRAPPED = lazy_pattern(r"(?:[ \t]*\n {16,}[^\s\d].*)+")
_HEADING = lazy_pattern(r"^((?:[~/.\w]|[A-Z]:\\)\S*\.\w+)$", re.MULTILINE)
_BIOME = lazy_pattern(
    r"^(?:[ \t]*(?:at )?(\S+?)(?::\d+:\d+)? )?((?:lint|assist|parse|suppressions|organizeImports|format|"
    r"check)\S*)(?: +FIXABLE)? +━+$",
    re.MULTILINE,
)
_BIOME_SAYS = lazy_pattern(r"^[ \t]+([×✖!]) (.+)$", re.MULTILINE)
_BIOME_SHOWS = lazy_pattern(r"^[ \t]*> \d+ │ [ \t]*(\S.*)$", re.MULTILINE)
_NAMES_SOMETHING = lazy_pattern(r"[a-z][A-Z]|['\"`_]|:")
_ESLINT_RULES: tuple[Rule, ...] = (
    ("config", "ESLint couldn't", r"^ESLint (couldn't .+)$"),
    ("config", "eslint.config", r"^.*(Could not find config file.*)$"),
    ("config", "Failed to load", r"^(?:Error: )?(Failed to load (?:plugin|config|parser) '?\"?[^'\" ]+).*$"),
    ("config", "No files matching", r"^(No files matching .+)$"),
    ("config", "Definition for rule", r"(Definition for rule '[^']+' not found)"),
    ("config", "Parsing error", r"(Parsing error: .+)$"),
    ("commitlint", "✖ ", r"^✖\s+(?!found \d)(\S.+ \[[\w-]+\])$"),
    ("warnings", "too many warnings", r"^ESLint found (too many warnings)"),
)
_PRETTIER_SAYS = lazy_pattern(r"Code style issues found in (?:the above file|\d+ files)")
_PRETTIER = lazy_pattern(r"^\[(?:warn|error)\] (\S+\.\w+)(?:: (.+))?$", re.MULTILINE)


def find_eslint(text: str) -> Span | None:
    if (biome := _biome(text)) is not None:
        return biome
    errors = [found for found in _STYLISH.finditer(text) if found.group(1) == "error"]
    if errors:
        return _stylish(text, errors[0])
    if found := first(text, _ESLINT_RULES):
        if found[0] == "warnings" and (warning := _STYLISH.search(text)):
            return _stylish(text, warning)
        return Span("eslint", found[0], found[1].group(1), "", found[1].group().strip())
    if ("rettier" in text or "Code style issues" in text or "SyntaxError" in text) and (ugly := _PRETTIER.search(text)):
        said = _PRETTIER_SAYS.search(text) if not ugly.group(2) else None
        excerpt = f"{ugly.group()}\n{said.group()}" if said else ugly.group()
        return Span("eslint", "prettier", ugly.group(2) or "Code style issues found", tail(ugly.group(1)), excerpt)
    return None


def _biome(text: str) -> Span | None:
    """The first error; a warning only where there is none."""
    told = [(head, _BIOME_SAYS.search(text, head.end())) for head in _BIOME.finditer(text)]
    if not told:
        return None
    placed = [(head, said) for head, said in told if head.group(1)] or told  # not what it says at the end
    head, said = next(((head, said) for head, said in placed if said and said.group(1) != "!"), placed[0])
    excerpt = f"{head.group().rstrip(' ━')}\n{said.group().strip()}" if said else head.group()
    if said and head.group(2).startswith("lint/") and not _NAMES_SOMETHING.search(said.group(2)):
        code = _BIOME_SHOWS.search(text, said.end(), said.end() + _CHARACTERS_BELOW_A_MATCHER)
        excerpt += f"\nCode: {code.group(1)}" if code else ""
    return Span("eslint", head.group(2), said.group(2) if said else "", tail(head.group(1) or ""), excerpt)


def _stylish(text: str, found: re.Match[str]) -> Span:
    headings = list(_HEADING.finditer(text, 0, found.start()))
    frame = tail(headings[-1].group(1)) if headings else ""
    message = found.group(2)
    if wrapped := _WRAPPED.match(text, found.end()):  # in a column of its own, as vale does it
        message = " ".join((message, *wrapped.group().split()))
    excerpt = f"{message}  {found.group(3)}" if wrapped and found.group(3) else found.group().strip()
    return Span("eslint", found.group(3) or found.group(1), message, frame, excerpt)


# Runners of JavaScript tests: jest, vitest, mocha, bun, playwright.

_FILE = lazy_pattern(
    r"^[ \t]*(?:FAIL|❯) +(?:\|[\w-]+\| |[\w-]+ \(\w+\) +)?(\S+\.(?:test|spec)\.\w+|\S+\.[cm]?[jt]sx?)"
    r"(?: > (.+?))?(?: \[.*\]| \(.*\))?$",
    re.MULTILINE,
)
_BULLET = lazy_pattern(r"^ *● (.+)$\n(?:[ \t]*\n)?((?:.+\n){0,20}.*)", re.MULTILINE)
_AFTER = lazy_pattern(r"^(?:[ \t]*(?:→ )?)?((?:[A-Z]\w*Error|Error|TypeError)(?: \[\w+\])?): (.+)$", re.MULTILINE)
_FAILING = lazy_pattern(r"^[ \t]+\d+ failing\n(?:[ \t]*\n)?[ \t]+1\) (?!\[)(.+)$", re.MULTILINE)
_TYPED = lazy_pattern(r"[ \t]*((?:[A-Z]\w*)?Error(?: \[\w+\])?): (.+)")
_PLAYWRIGHT = lazy_pattern(r"^[ \t]+1\) (?:\[[\w -]+\] › )?(\S+?):\d+:\d+ › (.+?)(?: ─+)?\s*$", re.MULTILINE)
_BUN = lazy_pattern(r"^(?:\(fail\)|✗) (.+?)(?: \[[\d.]+\w+\].*)?$", re.MULTILINE)
_BUN_ERROR = lazy_pattern(r"^((?:[A-Z]\w*)?[Ee]rror): (.+)$", re.MULTILINE)
_BETWEEN = "# Unhandled error between tests"
_BUN_FILE = lazy_pattern(r"^(\S+\.(?:test|spec)\.\w+):$", re.MULTILINE)
_BUN_BEGAN = lazy_pattern(
    r"^(?:\((?:pass|fail|skip|todo)\)|[✓✗]) .*$|^\S+\.(?:test|spec)\.\w+:$|^.{0,40}\btruncated\b.*$", re.MULTILINE
)
"""Where what a test printed may begin: behind another, at its file, or where something was left out."""
_NONE = lazy_pattern(
    r"^(No test files? found|No tests found|The following filters did not match any test files)\b.*$", re.MULTILINE
)
_WANTED = lazy_pattern(r"^[ \t]*(?:Locator|Expected|Received|Number of|Error message)[ \w]*: +\S.*$", re.MULTILINE)
_CHECKED = lazy_pattern(r"^(?:[ \t]*>)?[ \t]*\d+[ \t]*\|[ \t]+(?:await )?(expect\(.*?);?[ \t]*$", re.MULTILINE)
"""The line of the test that the runner shows beside the error."""
_CHARACTERS_ABOVE_A_MATCHER = 400
_DIFFERS = lazy_pattern(r"^([-+]) (?!Expected|Received)(.*\S.*)$", re.MULTILINE)
_ORIGINATED = lazy_pattern(r"error originated from [^\n]*\n\s*> (\S.*)$", re.MULTILINE)
"""What Cypress says of an error of the page before the error itself."""
_UNPARSED = lazy_pattern(r"^[ \t]*(SyntaxError: .+)$", re.MULTILINE)
_EDGES = " ─"
_MAX_TITLE_LINES = 12
_CHARACTERS_BELOW_A_MATCHER = 600


def find_jest(text: str) -> Span | None:
    if "1) " in text and (found := _PLAYWRIGHT.search(text)):
        error = _AFTER.search(text, found.end())
        return _compared(text, _span(error, f"{tail(found.group(1))} {found.group(2)}", found))
    if " failing" in text and (span := _mocha(text)):
        return span
    if ("(fail)" in text or "\n✗ " in text) and (found := _BUN.search(text)):
        began = max((one.end() for one in _BUN_BEGAN.finditer(text, 0, found.start())), default=0)
        errors = list(_BUN_ERROR.finditer(text, began, found.start()))
        if not errors and (values := _WANTED.findall(text[began : found.start()])):
            return Span("jest", "failed", "", found.group(1), ", ".join(map(str.strip, values[:2])))
        return _compared(text, _span(errors[-1] if errors else None, found.group(1), found))
    if _BETWEEN in text and (error := _BUN_ERROR.search(text, text.index(_BETWEEN))):
        headings = list(_BUN_FILE.finditer(text, 0, text.index(_BETWEEN)))
        span = _span(error, tail(headings[-1].group(1)) if headings else "", error)
        place = next((one for one in _FRAME.finditer(text, error.end()) if not re.search(LIBRARY, one.group(2))), None)
        return raised_in(span, place.group(2) if place and span.frame else "")
    if "●" in text and (span := _jest(text)):
        return _compared(text, span)
    if file := _FILE.search(text):
        if not re.search(r"^[ \t]*(?:Test Files|Tests|Test Suites)[ :]", text, re.MULTILINE) and "⎯⎯" not in text:
            return None
        headed = next((found for found in _FILE.finditer(text) if "FAIL" in found.group()), file)
        error = _AFTER.search(text, headed.end()) or _AFTER.search(text)
        return _span(error, f"{tail(headed.group(1))} {headed.group(2) or ''}".strip(), headed)
    if none := _NONE.search(text):
        return Span("jest", "nothing", none.group(1), "", none.group())
    return None


def _compared(text: str, span: Span) -> Span:
    """With the two values, which the matcher's own line leaves out."""
    at = text.find("expect(", text.find(span.excerpt.rpartition("\n")[2])) if "expect(" in span.message else -1
    if at >= 0:
        said = text[at : at + _CHARACTERS_BELOW_A_MATCHER]
        values = _WANTED.findall(said) or _differing(said) or _said_by_hand(said)
        code = _checked(text[max(0, at - _CHARACTERS_ABOVE_A_MATCHER) : at], said)
        span.excerpt = "\n".join((span.excerpt, *code, *(value.strip() for value in values[:2])))
    return span


def _checked(above: str, below: str) -> list[str]:
    """The call that did not hold, as it stands in the test: above the error, or marked below it."""
    matcher = re.search(r"\.(\w+)\(", below)
    marked = [code for line, code in _shown_code(below) if ">" in line.partition("|")[0]]
    last = [code for _, code in _shown_code(above)][-1:]
    return [
        f"Checked: {code if code.endswith(')') else f'{code}…'}"
        for code in (marked or last)[:1]
        if matcher and f".{matcher.group(1)}(" in code
    ]


def _shown_code(text: str) -> list[tuple[str, str]]:
    return [(found.group(), found.group(1)) for found in _CHECKED.finditer(text)]


def _said_by_hand(said: str) -> list[str]:
    """What a test says that fails itself: `expect().fail("why")`."""
    lines = [line.strip() for line in said.split("\n") if line.strip()]
    return [f"Error message: {lines[1]}"] if len(lines) > 1 and ".fail()" in lines[0] else []


def _differing(said: str) -> list[str]:
    """The first line of a diff that was expected, and the first that came: of the same key, where one did."""
    lines = [(mark, value.strip().rstrip(",")) for mark, value in _DIFFERS.findall(said.partition("\n      at ")[0])]
    wanted = next((value for mark, value in lines if mark == "-"), "")
    came = [value for mark, value in lines if mark == "+"]
    key = wanted.partition(": ")[0]
    same = [value for value in came if ": " in wanted and value.startswith(f"{key}: ")]
    told = {"Expected": wanted, "Received": next(iter(same or came), "")}
    return [f"{name}: {value}" for name, value in told.items() if value]


def _mocha(text: str) -> Span | None:
    """The titles stand below each other, then the error."""
    failing = _FAILING.search(text)
    if not failing:
        return None
    titles = [failing.group(1)]
    for line in text[failing.end() :].split("\n")[:_MAX_TITLE_LINES]:
        if error := _TYPED.match(line):
            title = " ".join(part.strip().rstrip(":") for part in titles if part.strip())
            quoted = _ORIGINATED.search(text, failing.end()) if "error originated from" in line else None
            message = quoted.group(1) if quoted else error.group(2)
            return Span("jest", error.group(1), message, title, quoted.group(1) if quoted else line.strip())
        titles.append(line)
    return None


def _jest(text: str) -> Span | None:
    bullet = _BULLET.search(text)
    file = _FILE.search(text)
    if not bullet:
        return None
    title = bullet.group(1).strip()
    if title.startswith(("Console", "Validation", "Deprecation")):
        return None
    said = next((line.strip() for line in bullet.group(2).splitlines() if line.strip()), "")
    if said.startswith("Jest encountered an unexpected token") and (unparsed := _UNPARSED.search(text, bullet.start())):
        said = unparsed.group(1)
    typed = re.match(r"((?:[A-Z]\w*)?Error(?: \[\w+\])?): (.+)", said)
    error_type, message = (typed.group(1), typed.group(2)) if typed else ("failed", said.split(" // ")[0])
    where = f"{tail(file.group(1))} " if file else ""
    missing = re.match(r"Cannot find module '([^']+)' from", message)
    if missing and bare(missing.group(1)):
        return Span("jest", error_type, f"Cannot find module {module(missing.group(1))}", "", said)
    name = "" if title == "Test suite failed to run" else title
    return Span("jest", error_type, message, f"{where}{name}".strip(_EDGES), f"{title}\n{said}")


def _span(error: re.Match[str] | None, frame: str, found: re.Match[str]) -> Span:
    if error is None:
        return Span("jest", "failed", "", frame, found.group().strip())
    message = error.group(2).split(" // ")[0]  # which kind of equality
    missing = re.match(r"(Failed to resolve import|Cannot find (?:package|module)) [\"']([^\"']+)[\"']", error.group(2))
    if missing and bare(missing.group(2)):
        return Span("jest", error.group(1), f"{missing.group(1)} {module(missing.group(2))}", "", error.group().strip())
    return Span("jest", error.group(1), message, frame.strip(_EDGES), error.group().strip())


# Bundlers: vite and rollup, webpack, Next.js, esbuild: what could not be resolved or built.

_BUNDLER_RULES: tuple[Rule, ...] = (
    ("unresolved", "to resolve import",
     r"(?:Failed|failed) to resolve import ['\"](?P<name>[^'\"]+)['\"](?: from ['\"](?P<file>[^'\"]+)['\"])?"),
    ("unresolved", "Could not resolve",
     r"Could not resolve ['\"](?P<name>[^'\"]+)['\"](?: (?:from|in) ['\"]?(?P<file>[^'\"\n]+)['\"]?)?"),
    ("unresolved", "Module not found",
     r"Module not found: (?:Error: )?Can't resolve '(?P<name>[^']+)'(?: in '(?P<file>[^']+)')?"),
    ("build failed", "[ERROR]", r"^[ \t]*(?:✘|X) \[ERROR\] (?P<message>.+)$"),
    ("build failed", "RollupError", r"^(?:\[[\w:. -]+\] )?RollupError: (?P<message>.+)$"),
    ("build failed", "Module build failed", r"Module build failed \(from [^)\n]+\):\n(?P<message>.+)$"),
    ("build failed", "[plugin:", r"^.*\[plugin:(?P<message>.+)$"),
    ("build failed", "Failed to compile",
     r"(?:^|\.\.\.)Failed to compile\.?\n\s*\n(?P<file>\.{0,2}/?\S+?)(?::\d+:\d+)?\n(?P<message>.+)$"),
)  # fmt: skip
_PLACE = lazy_pattern(r"^[ \t]+(\S+\.\w+):\d+:\d+:?$", re.MULTILINE)


def find_bundler(text: str) -> Span | None:
    found = first(text, _BUNDLER_RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    missing = parts.get("name")
    file = parts.get("file") or ""
    if not file and (place := _PLACE.search(text, match.end())):
        file = place.group(1)
    message = module(missing) if missing else parts["message"].strip()
    frame = "" if missing and bare(missing) else tail(file) if re.search(r"\.\w+$", file) else ""
    return Span("bundler", name, message, frame, match.group().strip())
