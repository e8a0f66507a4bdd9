"""Find the error in a tool's output: a function per family of tools, tried when the text has its words.

`find_<family>(text) -> Span | None` stands in the module of `MODULES`. The hook starts cold at every failed call: the
words in the table decide which families are worth trying, and patterns are compiled when they are first used.
"""

from __future__ import annotations

from importlib import import_module

from hardwon.failures.families.span import Span

MODULES = {
    "python": ("python", "pytest", "unittest", "pip", "lint"),
    "javascript": ("node", "npm", "tsc", "eslint", "jest", "bundler"),
    "compiled": ("c", "go", "java", "rust", "dotnet"),
    "services": ("docker", "git", "http", "sql"),
    "commands": ("shell", "usage", "agent", "generic"),
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
    ("jest", ("\n✗ ", "FAIL ", "●", " failing", "No test files found", "No tests found", "(fail) ", "spec.ts:",
              "spec.js:", "spec.tsx:")),
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
             "pull request", "default remote repository", "not a git command", "nothing to commit",
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
               "xargs: ")),
    ("generic", ("",)),
)  # fmt: skip


def find(text: str) -> Span | None:
    """The error in an output, by the first family that knows it; None where nothing says that something is wrong."""
    for name, words in FAMILIES:
        if _has(text, words):
            module = import_module(f"hardwon.failures.families.{_MODULE_OF[name]}")
            span: Span | None = getattr(module, f"find_{name}")(text)
            if span is not None:
                return span
    return None


def _has(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110 - twice as fast as any()
        if word in text:
            return True
    return False
