"""Scrubbing: how fast, how much is found, and what a hostile text costs; with hyperscan and without."""

from __future__ import annotations

import heapq
import time
from pathlib import Path
from random import Random

from tests.scrub.corpus import negatives, positives
from tests.scrub.fakes import each_token
from tests.scrub.scoring import PRESIDIO, presidio, score, together

from benchmarks.timing import markdown, medians
from hardwon import NotASession
from hardwon.scrub import prefilter
from hardwon.scrub.prefilter import CasedText
from hardwon.scrub.rule import Rule
from hardwon.scrub.scrubber import RULES, Scrubber, find
from hardwon.sessions.discover import below
from hardwon.sessions.reader import read

ROUNDS = 5
_CLOCK = time.process_time
MEGABYTE = 1_000_000
SHARED = Path(__file__).parent.parent.parent / "shared" / "data"


def table() -> str:
    return "\n\n".join([_speed(), _quality(), _hostile()])


def _speed() -> str:
    texts = [text for path in below(_real()) for text in _texts(path)]
    whole = [path.read_text(encoding="utf-8", errors="replace") for path in below(_real())]
    size = sum(map(len, texts)) / 1e6
    taken = medians(
        {"lowercase every text, and nothing else": lambda: [text.lower() for text in texts]}, ROUNDS, _CLOCK
    )
    for name, hyperscan in _gates():  # one after the other, for the slow one leaves no memory warm for the fast one
        scrub = Scrubber(hyperscan=hyperscan).scrub
        taken |= medians({f"scrub every text, {name}": lambda scrub=scrub: list(map(scrub, texts))}, ROUNDS, _CLOCK)  # type: ignore[misc]
        taken |= medians({f"scrub whole files, {name}": lambda scrub=scrub: list(map(scrub, whole))}, ROUNDS, _CLOCK)  # type: ignore[misc]
    size_of_files = sum(map(len, whole)) / 1e6
    speeds = {name: (size_of_files if "files" in name else size) / seconds for name, seconds in taken.items()}
    fastest = max(speeds.values())
    rows = [(name, f"{speed:,.0f} MB/s", f"{fastest / speed:.1f}") for name, speed in speeds.items()]
    note = (
        f"{len(texts):,} texts, {size:.1f} MB, and {len(whole)} files. Median of {ROUNDS} rounds, processor time."
        f" {_compiling()}"
    )
    return markdown("Scrubbing", ("what", "speed", "× lowercasing"), rows, note)


def _compiling() -> str:
    if not prefilter.installed():
        return "hyperscan is not installed."
    began = time.perf_counter()
    prefilter.HyperscanPrefilter(RULES)
    return f"Compiling hyperscan's patterns: {time.perf_counter() - began:.1f} s, once for every version of the rules."


def _quality() -> str:
    random = Random(2026)
    secrets, others = list(positives(random)), list(negatives(random))
    scrubber = Scrubber()
    fixed = score([secret for secret in secrets if secret.fixed], [], scrubber)
    every = score(secrets, others, scrubber)
    rows = [
        ("generated secrets of a fixed form", fixed.all, f"{fixed.recall:.3f}", ""),
        ("generated secrets, all", every.all, f"{every.recall:.3f}", f"{every.precision:.3f}"),
    ]
    if (SHARED / PRESIDIO).exists():
        for name, personal in (("as in a transcript", False), ("--personal", True)):
            scores = presidio(SHARED / PRESIDIO, Scrubber(personal=personal))
            for kind, found in [*scores.items(), ("all", together(scores.values()))]:
                precision = f"{found.precision:.3f}" if found.right + found.wrong else ""
                rows.append((f"Presidio, {kind}, {name}", found.all, f"{found.recall:.3f}", precision))
    note = (
        f"Precision counts what was redacted in {len(others):,} texts that only look like secrets,"
        " and beside the secrets in the others."
    )
    return markdown("What scrubbing finds", ("what", "of", "recall", "precision"), rows, note)


_ENDINGS = ("", "=", "='", ' = "', ": ", " is ", "=abcdefgh1 ", "(")


def _hostile() -> str:
    """The costliest rules on a megabyte, and then on ten, of their own beginnings."""
    tokens: dict[str, list[str]] = {}
    for kind, token in each_token():
        tokens.setdefault(kind, []).append(token)
    tried = []
    for number, rule in enumerate(RULES):
        rule.pattern.search("")
        seeds = [keyword + ending for keyword in rule.keywords[:2] for ending in _ENDINGS]
        seeds += [token[:-1] for token in tokens.get(rule.kind, [])[:1]]
        tried += [(_best(rule, seed, MEGABYTE // 10), number, seed) for seed in seeds]
    slow = [(_best(RULES[number], seed, MEGABYTE), number, seed) for _, number, seed in heapq.nlargest(20, tried)]
    rows = [
        (RULES[number].about, repr(seed[:16]), f"{seconds:.2f} s", f"{_best(RULES[number], seed, 10 * MEGABYTE):.2f} s")
        for seconds, number, seed in heapq.nlargest(5, slow)
    ]
    title = "A text made to hurt one rule"
    return markdown(title, ("rule", "text begins", "1 MB", "10 MB"), rows, f"The worst of {len(tried):,}.")


def _best(rule: Rule, seed: str, size: int) -> float:
    return min(_finding(rule, seed, size) for _ in range(3))


def _finding(rule: Rule, seed: str, size: int) -> float:
    page = CasedText((seed * (size // len(seed) + 1))[:size])
    assert page.lowered
    began = time.process_time()
    find([rule], [0], page, lambda: None)
    return time.process_time() - began


def _gates() -> list[tuple[str, bool]]:
    return [("hyperscan", True), ("re", False)] if prefilter.installed() else [("re", False)]


def _real() -> Path:
    shared = SHARED / "transcripts"
    return shared if shared.is_dir() else Path(__file__).parent.parent / "examples"


def _texts(path: Path) -> list[str]:
    try:
        sessions = read(path).sessions
    except NotASession:
        return []
    messages = [message for session in sessions for message in session.messages]
    said = [message.text for message in messages if message.text]
    return said + [result.text for session in sessions for result in session.results() if result.text]
