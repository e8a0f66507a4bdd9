"""How well search finds what it should: sets of questions, with the intervals that a bootstrap gives.

Cranfield, CoSQA and STS are looked for beside the checkout; those about a coding memory and conversations are our own.
"""

from __future__ import annotations

import csv
import json
import random
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.retrieval import Item, Question, measure
from benchmarks.timing import markdown
from hardwon.clock import microseconds

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared" / "data" / "bench"
OWN = Path(__file__).parent / "data"
SHOWN = ("nDCG@10", "R@10", "MRR")
RESAMPLES = 2000
_ALIKE = 3.0

Set = tuple[list[Item], list[Question]]


def table() -> str:
    rows = []
    for name, load in SETS.items():
        found = load()
        if found is None:
            continue
        items, questions = found
        for way, scores in measure(items, questions).items():
            cells = [interval(scores[metric]) for metric in SHOWN]
            rows.append((f"{name} ({len(questions)} over {len(items)})", way, *cells))
    note = f"95 % intervals from {RESAMPLES} resamples of the questions. Renewed by `python -m benchmarks.quality`."
    return markdown("Finding what it should", ("set", "way", *SHOWN), rows, note)


def interval(values: Sequence[float]) -> str:
    """The mean, and where it would lie with other questions of the kind."""
    chance = random.Random(1)
    means = sorted(statistics.fmean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    low, high = means[RESAMPLES // 40], means[-RESAMPLES // 40]
    return f"{statistics.fmean(values):.3f} ({low:.3f}–{high:.3f})"


def cranfield() -> Set | None:
    """1,400 abstracts; the questions are numbered as they come, and code 1 is the best, 4 the least, -1 none."""
    folder = SHARED / "cranfield" / "noramtboraas__information-retrieval"
    if not folder.is_dir():
        return None
    items = []
    for part in _parts(folder / "cran.all.1400"):
        number, _, rest = part.partition("\n")
        title, body = (_field(rest, mark) for mark in "TW")
        items.append(Item(number.strip(), body if body.startswith(title) else f"{title} {body}"))
    gains: dict[int, dict[str, float]] = {}
    for line in (folder / "cranqrel").read_text().splitlines():
        question, item, code = line.split()[:3]
        if 1 <= int(code) <= 4:
            gains.setdefault(int(question), {})[item] = 5.0 - int(code)
    texts = [_field(part.partition("\n")[2], "W") for part in _parts(folder / "cran.qry")]
    return items, [Question(text, gains[at]) for at, text in enumerate(texts, 1) if at in gains]


def _parts(path: Path) -> list[str]:
    return re.split(r"(?m)^\.I ", path.read_text())[1:]


def _field(record: str, mark: str) -> str:
    found = re.search(rf"(?ms)^\.{mark}\n(.*?)(?=^\.[A-Z]\n|\Z)", record)
    return " ".join(found[1].split()) if found else ""


def cosqa(part: str = "test") -> Set | None:
    """The 500 questions of a part over all functions that the three files hold; one function answers each."""
    folder = SHARED / "cosqa" / "Jun-jie-Huang__CoCLR" / "data"
    if not folder.is_dir():
        return None
    texts: dict[str, str] = {}
    files = ("search/cosqa-retrieval-test-500.json", "search/cosqa-retrieval-dev-500.json", "qa/cosqa-dev.json")
    rows = {name: json.loads((folder / name).read_text()) for name in files}
    for some in rows.values():
        texts |= {row["code"]: row["idx"] for row in some}
    questions = [
        Question(row["doc"], {texts[row["code"]]: 1.0}) for row in rows[f"search/cosqa-retrieval-{part}-500.json"]
    ]
    return [Item(id, code) for code, id in texts.items()], questions


def sts(part: str = "test") -> Set | None:
    """Sentences in pairs: the first asks for the second where they are judged alike, 3 of 5 or more."""
    path = SHARED / "stsb" / "PhilipMay__stsb-multi-mt" / "data" / f"stsb-en-{part}.csv"
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", newline="") as file:
        pairs = [(one, other, float(alike)) for one, other, alike in csv.reader(file)]
    items = {other: Item(f"{part} {at}", other) for at, (_, other, _) in enumerate(pairs)}
    gains: dict[str, dict[str, float]] = {}
    for one, other, alike in pairs:
        if alike >= _ALIKE and one not in items:
            gains.setdefault(one, {})[items[other].id] = alike - _ALIKE + 1
    return list(items.values()), [Question(one, some) for one, some in gains.items()]


def coding_memory() -> Set:
    """Lessons and attempts of many projects, and talks about them."""
    items: list[Item] = []
    questions: list[Question] = []
    for name in ("coding_memory.txt", "coding_talks.txt"):
        group = ""
        for line in _lines(OWN / name):
            if line.startswith("# "):
                group = line[2:] if name == "coding_talks.txt" else ""
            elif line.startswith("? "):
                questions.append(Question(line[2:], {items[-1].id: 1.0}, group))
            else:
                items.append(Item(f"{name} {len(items)}", line, group=group))
    return items, questions


def conversations(name: str = "long_talks.txt", which: slice = slice(None)) -> Set:
    """Months of messages between two people, asked about in other words. Of the talks of `dated_talks.txt` the first
    two may be tuned on; those of `long_talks.txt` and the last two of it have no say in any weight."""
    items: list[Item] = []
    gains: dict[tuple[str, str], dict[str, float]] = {}
    group, at = "", 0
    for line in _lines(OWN / name):
        if line.startswith("# "):
            group = line[2:]
        elif line.startswith("## "):
            at = microseconds(f"{line[3:]}:00Z") or 0
        elif line.startswith("? "):
            gains.setdefault((line[2:], group), {})[items[-1].id] = 1.0
        else:
            items.append(Item(f"{name} {len(items)}", line, at + len(items), group))
    groups = list(dict.fromkeys(item.group for item in items))[which]
    questions = [Question(text, some, group) for (text, group), some in gains.items() if group in groups]
    return [item for item in items if item.group in groups], questions


def as_one(sets: Sequence[Set]) -> Set:
    """All talks as one of the same two people, which is as long as years of messages are."""
    items = [item for some, _ in sets for item in some]
    called = {
        group: dict(zip(group.split(" and "), ("Robin", "Alex"), strict=True))
        for group in {item.group for item in items}
    }

    def renamed(text: str, group: str) -> str:
        return re.sub("|".join(called[group]), lambda name: called[group][name[0]], text)

    together = [item._replace(text=renamed(item.text, item.group), group="talk") for item in items]
    questions = [
        Question(renamed(question.text, question.group), question.gains, "talk")
        for _, some in sets
        for question in some
    ]
    return sorted(together, key=lambda item: item.at), questions


def tuned_talks() -> Set:
    return conversations("dated_talks.txt", slice(0, 2))


def checked_talks() -> Set:
    return conversations("dated_talks.txt", slice(2, None))


def _lines(path: Path) -> Iterator[str]:
    """Without the words about the file that precede the first empty line."""
    return (line for line in path.read_text(encoding="utf-8").partition("\n\n")[2].splitlines() if line)


SETS: dict[str, Callable[[], Set | None]] = {
    "Cranfield": cranfield,
    "CoSQA": cosqa,
    "STS": sts,
    "coding memory": coding_memory,
    "conversations": conversations,
    "dated talks, tuned on": tuned_talks,
    "dated talks, checked": checked_talks,
    "talks as one, checked": lambda: as_one([conversations(), checked_talks()]),
}

if __name__ == "__main__":
    print(table())
