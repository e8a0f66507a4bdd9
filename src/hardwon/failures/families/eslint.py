"""Linters of JavaScript: eslint, biome, prettier."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first
from hardwon.text.normalise import tail

_STYLISH = re.compile(r"^[ \t]+\d+:\d+\s+(error|warning)\s+(.+?)(?:\s{2,}(\S+))?$", re.MULTILINE)
_HEADING = re.compile(r"^((?:[~/.\w]|[A-Z]:\\)\S*\.\w+)$", re.MULTILINE)
_COMPACT = re.compile(
    r"^(\S+\.\w+):(?: line )?\d+(?::\d+|, col \d+)[:,] (?:Error - )?(.+?) [\[(](?:Error/)?([@\w/-]+/?[\w-]+)[\])]$",
    re.MULTILINE,
)
_BIOME = re.compile(
    r"^(?:(\S+?)(?::\d+:\d+)? )?((?:lint|assist|parse|suppressions|organizeImports|format|"
    r"check)\S*)(?: +FIXABLE)? +━+$",
    re.MULTILINE,
)
_BIOME_SAYS = re.compile(r"^[ \t]+([×✖!]) (.+)$", re.MULTILINE)
_RULES: tuple[Rule, ...] = (
    ("config", "ESLint couldn't", r"^ESLint (couldn't .+)$"),
    ("config", "eslint.config", r"^.*(Could not find config file.*)$"),
    ("config", "Failed to load", r"^(?:Error: )?(Failed to load (?:plugin|config|parser) '?\"?[^'\" ]+).*$"),
    ("config", "No files matching", r"^(No files matching .+)$"),
    ("config", "Definition for rule", r"(Definition for rule '[^']+' not found)"),
    ("config", "Parsing error", r"(Parsing error: .+)$"),
    ("warnings", "too many warnings", r"^ESLint found (too many warnings)"),
)
_PRETTIER = re.compile(r"^\[(?:warn|error)\] (\S+\.\w+)(?:: (.+))?$", re.MULTILINE)


def find(text: str) -> Span | None:
    if (biome := _biome(text)) is not None:
        return biome
    errors = [found for found in _STYLISH.finditer(text) if found.group(1) == "error"]
    if errors:
        return _stylish(text, errors[0])
    if found := first(text, _RULES):
        if found[0] == "warnings" and (warning := _STYLISH.search(text)):
            return _stylish(text, warning)
        return Span("eslint", found[0], found[1].group(1), "", found[1].group().strip())
    if compact := _COMPACT.search(text):
        return Span("eslint", compact.group(3), compact.group(2), tail(compact.group(1)), compact.group())
    if ("rettier" in text or "Code style issues" in text or "SyntaxError" in text) and (ugly := _PRETTIER.search(text)):
        return Span("eslint", "prettier", ugly.group(2) or "Code style issues found", tail(ugly.group(1)), ugly.group())
    return None


def _biome(text: str) -> Span | None:
    """The first error; a warning only where there is none."""
    told = [(head, _BIOME_SAYS.search(text, head.end())) for head in _BIOME.finditer(text)]
    if not told:
        return None
    head, said = next(((head, said) for head, said in told if said and said.group(1) != "!"), told[0])
    excerpt = f"{head.group().rstrip(' ━')}\n{said.group().strip()}" if said else head.group()
    return Span("eslint", head.group(2), said.group(2) if said else "", tail(head.group(1) or ""), excerpt)


def _stylish(text: str, found: re.Match[str]) -> Span:
    headings = list(_HEADING.finditer(text, 0, found.start()))
    frame = tail(headings[-1].group(1)) if headings else ""
    return Span("eslint", found.group(3) or found.group(1), found.group(2), frame, found.group().strip())
