"""Every error-to-fix pair found in the real sessions was judged by hand, and most are what made it work."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from benchmarks import fix_pairs

VERDICTS = Path(__file__).parent.parent / "data" / "fix_verdicts.json"
PRECISION = 0.85


def test_the_pairs_in_real_sessions_deserve_belief(shared: Path) -> None:
    verdicts = json.loads(VERDICTS.read_text(encoding="utf-8"))
    found = fix_pairs.pairs(shared)
    assert found
    unjudged = [pair.key for pair in found if pair.key not in verdicts]
    assert unjudged == [], "judge these by hand: python -m benchmarks.fix_pairs"
    judged = Counter(verdicts[pair.key]["verdict"] for pair in found)
    of_commands = Counter(verdicts[pair.key]["verdict"] for pair in found if _ran(pair))
    sys.stdout.write(f"\n{len(found)} pairs: {dict(judged)}; of commands: {dict(of_commands)}\n")
    assert judged["right"] / len(found) >= PRECISION
    assert of_commands["right"] / sum(of_commands.values()) >= PRECISION


def _ran(pair: fix_pairs.Pair) -> bool:
    """A command, not one of the agent's own file tools that refused."""
    return pair.place.calls[pair.fix.occurrence.call_index].call.action == "run"
