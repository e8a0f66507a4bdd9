"""Fit the weights of `hardwon/scrub/rules/likely_passwords.py`, and tell how they do on wordings that had no say.

`make train` (or `python -m benchmarks.train_passwords`) takes wordings that give a password (the tests', those of
`password_wordings.py`, those of three other hands in `data/password_wordings.jsonl`) with passwords drawn at run time,
and texts that give none: the real sessions to tune on beside the checkout, the lines of installed Python sources that
speak of passwords, the messages of the system's programs in all their languages, and what the hands wrote without one.
Each hand is left out once, and half of the real texts with it; then `likely_passwords.json` and `common_words.txt` are
written. `--dry` writes nothing.
"""

from __future__ import annotations

import gettext
import json
import re
import string
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from tests.scrub import crossed, sentences
from tests.scrub.wordings import ROUNDS

from benchmarks.benign import SHARED, projects
from benchmarks.password_wordings import LANGUAGES, giving, giving_none
from hardwon.errors import HardwonError
from hardwon.scrub.prefilter import CasedText, KeywordPrefilter
from hardwon.scrub.rule import Candidate
from hardwon.scrub.rules import value_forms
from hardwon.scrub.rules.likely_passwords import LIKELY, WEIGHTS, relations
from hardwon.scrub.rules.value_forms import WORDS
from hardwon.scrub.scrubber import RULES, find
from hardwon.sessions.discover import below
from hardwon.sessions.reader import read
from hardwon.text.shown import clean

REPOSITORY = Path(__file__).parent.parent
DATA = REPOSITORY / "src" / "hardwon" / "scrub"
HANDS = Path(__file__).parent / "data" / "password_wordings.jsonl"
LOCALES = Path("/usr/share/locale")
RIDGE = 1.0
LEAST_SEEN = 5
LEAST_WEIGHT = 0.03
OF_TEXTS_WITH = 2.0
OF_TEXTS_WITHOUT = 3.0
"""How much a hand's text without a password counts: there are few, and they were chosen to be hard."""
VALUES_PER_WORDING = 8
MADE = 4_000
WRONG_IN_TEXTS = 10_000
PASSWORD_WORDS = (
    "maple tiger lantern copper river velvet rocket winter pepper falcon harbor cobalt daisy quartz monkey sunset"
    " bishop orchid marmalade pretzel walrus biscuit dolphin pumpkin zebra pickle noodle cactus tulip saffron gargoyle"
    " ferret nutmeg kohlrabi schnitzel croissant gatito mariposa girasole zonnebloem truskawka jahoda ромашка берёза"
    " kumquat tamarind paprika bramble thistle"
).split()
PLAIN = (
    "the morning blue sun monday happy home go over my old house friend never again water light night red up".split()
)
_SPEAKS = re.compile(r"passw|passphrase|passcode|\bpwd|\bpw\b|credential|secret|login", re.I)
_WORD = re.compile(r"[^\W\d_]{3,}")
_FAR_EAST = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


class Row(NamedTuple):
    """A word near a mention, by what speaks for and against it."""

    given: bool
    names: frozenset[str]


class Text(NamedTuple):
    rows: list[Row]
    weight: float = 1.0


# Passwords and wordings.


def _drawn(random: Random) -> list[Callable[[], str]]:
    def word() -> str:
        return random.choice(PASSWORD_WORDS)

    def large() -> str:
        return word().capitalize()

    def leet() -> str:
        return word().translate(str.maketrans("eaoi", "3401"))

    def chance(signs: str, least: int, most: int) -> str:
        return "".join(random.choices(signs, k=random.randint(least, most)))

    letters = string.ascii_letters + string.digits
    return [
        *(
            word,
            word,
            word,
            word,
            large,
            large,
            leet,
            lambda: f"{word()}{random.randint(1, 9999)}",
            lambda: f"{word()}!",
        ),
        *(lambda: f"{large()}{random.randint(10, 2099)}{random.choice('!@#$%&*?')}", lambda: large() + large()),
        *(lambda: f"{leet()}{random.choice('_-.')}{large()}{random.randint(1, 99)}", lambda: word() + large()),
        *(
            lambda: chance(letters, 8, 22),
            lambda: chance("0123456789abcdef", 16, 40),
            lambda: chance(letters + "!@#%^*+?~", 7, 16),
        ),
        *(lambda: "-".join(random.sample(PASSWORD_WORDS, 4)), lambda: f"{word()}{random.choice('-._&')}{word()}"),
        *(
            lambda: f"{large()}{random.choice('-.&/')}{large()}",
            lambda: f"{word()[:4]}{random.randint(1, 9)}{word()[:4]}",
        ),
        *(
            lambda: str(random.randint(1000, 10 ** random.randint(4, 8))),
            lambda: f"{random.randint(0, 9)}{word()}{word()}",
        ),
        *(
            lambda: f"{large()}{random.choice('-_.')}{random.randint(1, 2030)}",
            lambda: f"{word()}{random.randint(0, 9)}",
        ),
        *(
            lambda: "-".join(chance(letters, 2, 4) for _ in range(random.randint(2, 4))),
            lambda: chance(letters + "!#?", 5, 7),
        ),
        *(
            lambda: f"{word()}-{random.choice(PLAIN)}-{random.choice(PLAIN)}",
            lambda: f"{random.choice(PLAIN)}.{word()}",
        ),
        *(lambda: f"{random.choice(PLAIN)}{random.randint(1, 99)}", lambda: f"{word()}{random.choice('-._&')}{word()}"),
        *(
            lambda: "-".join(random.sample(PLAIN, 3)) + str(random.randint(1, 99)),
            lambda: f"{word()}{random.choice('-_.')}{word()}",
        ),
        *(lambda: f"{word()[:4]}{random.choice('!@#')}{word()}", lambda: f"{word()}-{word()}{random.randint(1, 99)}"),
        *(
            lambda: " ".join(random.sample(PASSWORD_WORDS, random.randint(2, 5))),
            lambda: " ".join(random.sample(PLAIN, 4)),
        ),
    ]


_BEFORE = (
    "hey, ",
    "ok so ",
    "btw ",
    "FYI: ",
    "I checked again and ",
    "- ",
    "> ",
    "Note: ",
    "1. ",
    "sorry, ",
    "we moved, ",
)
_BEHIND = (
    *(", can you run the migration now?", " and then restart the service", ". Please do not share it.", ", thanks!"),
    *(
        " (temporary)",
        " if you need it",
        ", but it does not work",
        ". The user is admin.",
        ", it was changed last week",
    ),
    *(" because the old one expired", " so try again", " until monday", ", then ssh to 10.0.0.4", " when you deploy"),
    *(" lol", " - ask me if it fails", ", bitte nicht weitergeben", ", merci", ", no lo compartas", " para entrar"),
    *(
        ", не забудь",
        " i uruchom ponownie",
        "，谢谢",
        "、お願いします",
        " ve tekrar dene",
        " # TODO move to vault",
        "\n",
    ),
)
_NOUN = re.compile(r"(?<![\w-])(?:[Pp]assword|passphrase|pw|Passwort|Kennwort)(?![\w:=-])")
_NOUNS = (
    *("password", "passphrase", "passcode", "pw", "pass", "pwd", "passwd", "PIN", "secret", "admin password"),
    *("sudo password", "db pass", "wifi password", "master password", "Password"),
)
_IS_LINE = re.compile(r"^\S+ -|://|[;{}<>|=\n]")


def varied(wording: str, random: Random) -> str:
    """A sentence in other surroundings, and of another word for a password."""
    if " " not in wording or _IS_LINE.search(wording.replace("{p}", "")):
        return wording
    if random.random() < 0.35:
        wording = random.choice(_BEFORE) + wording
    if random.random() < 0.5:
        wording = wording.rstrip(".") + random.choice(_BEHIND)
    return _NOUN.sub(random.choice(_NOUNS), wording, count=1) if random.random() < 0.3 else wording


def filled(wording: str, random: Random) -> tuple[str, str]:
    """The wording with a password in it that can stand there."""
    value = random.choice(_drawn(random))()
    if re.search(r"\bPIN\b|pincode|пин|暗証", wording):
        value = str(random.randint(1000, 10 ** random.randint(4, 8)))
    if (" " in value and not re.search(r"[\"'`«“「„]\{p\}", wording)) or (
        re.search(r"[&?*#^~$!@%]", value) and re.search(r"://|^\w+ -|\| ", wording)
    ):
        value = f"{random.choice(PASSWORD_WORDS)}{random.randint(1, 99)}"
    return wording.replace("{p}", value), value


def hands() -> dict[str, tuple[list[str], list[str]]]:
    """By whom: wordings that give a password, and texts that give none."""
    own = [wording for each in ROUNDS.values() for wording in each]
    said = (
        *sentences.SENTENCES.values(),
        sentences.COMMANDS,
        *crossed.SAID.values(),
        crossed.COMMANDS,
        crossed.SETTINGS,
    )
    own += [re.sub(r"\{\w*\}", "{p}", wording) for each in said for wording in each]
    found = {"own": (list(dict.fromkeys(own)), list(sentences.HARMLESS))}
    for line in HANDS.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        given, without = found.setdefault(one["hand"], ([], []))
        (given if "{p}" in one["text"] else without).append(one["text"])
    return found


# Texts without a password.


def real_texts() -> Iterator[str]:
    seen: set[str] = set()
    for folder in (*projects("tune"), SHARED / "data" / "transcripts"):
        for path in below(folder):
            try:
                sessions = read(path).sessions
            except HardwonError:
                continue
            for message in (message for session in sessions for message in session.messages):
                calls = (" ".join(filter(None, (call.command, call.detail))) for call in message.calls)
                for text in (message.text, *calls, *(result.text for result in message.results)):
                    if text and text not in seen:
                        seen.add(text)
                        yield text


def source_texts() -> Iterator[str]:
    """Three lines from each on that speaks of passwords."""
    for folder in {sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")}:
        for path in sorted(Path(folder).rglob("*.py")):
            if not {"hardwon", "faker", "benchmarks"} & {*path.parts}:
                lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
                yield from (
                    "\n".join(lines[at : at + 3]) for at, line in enumerate(lines) if _SPEAKS.search(line[:400])
                )


def messages() -> Iterator[str]:
    """What programs say of passwords, in other languages."""
    for path in sorted(LOCALES.glob("*/LC_MESSAGES/*.mo")):
        try:
            with path.open("rb") as file:
                known = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        except (OSError, IndexError, ValueError):
            continue
        for source, said in known.items():
            of = source[0] if isinstance(source, tuple) else source
            if isinstance(said, str) and re.search(r"passwor|passphrase|passcode", of, re.I) and "_" not in said:
                yield said.replace("%0A", " ")


def common_words(real: Iterable[str], said: Iterable[str]) -> list[str]:
    """What many real texts have, and what messages of passwords have."""
    counts = Counter(word for text in real for word in {word.lower() for word in _WORD.findall(text)} if word.isascii())
    words = {word for word, number in counts.items() if number >= 20}
    said = [*said, *(text for each in LANGUAGES.values() for text in each["said"])]
    words |= {word.lower() for text in said for word in _WORD.findall(text) if not _FAR_EAST.search(word)}
    return sorted(words)


# Rows, weights.


def candidates(text: str) -> Iterator[Candidate]:
    (rule,) = LIKELY
    lowered = CasedText(text).lowered
    for place in rule.places(lowered) if rule.places else ():
        if match := rule.pattern.match(lowered, place):
            yield Candidate(text[slice(*match.span("secret"))], match, text)


def rows(text: str, secret: str = "") -> list[Row]:
    spans = [found.span() for found in re.finditer(re.escape(secret), text)] if secret else []
    found: list[Row] = []
    for one in candidates(text):
        start, end = one.match.span("secret")
        shared = [(min(end, last) - max(start, first), last - first) for first, last in spans]
        given = any(common >= 0.75 * length and end - start <= length + 14 for common, length in shared)
        if given or not any(common > 0 for common, _ in shared):
            found += [Row(given, frozenset(names)) for names in relations(one)]
    return found


def fitted(texts: list[Text]) -> dict[str, float]:
    counts = Counter(name for text in texts for row in text.rows for name in row.names)
    place = {name: at for at, name in enumerate(sorted(name for name in counts if counts[name] >= LEAST_SEEN), 1)}
    columns: list[int] = []
    begins, given, weight = [0], [], []
    for text in texts:
        for row in text.rows:
            columns += [0, *(place[name] for name in row.names if name in place)]
            begins.append(len(columns))
            given.append(float(row.given))
            weight.append(text.weight)
    matrix = sparse.csr_matrix((np.ones(len(columns)), columns, begins), shape=(len(given), len(place) + 1))
    target, share, ridge = np.array(given), np.array(weight), np.full(len(place) + 1, RIDGE)
    ridge[0] = 0.0
    turned = matrix.T.tocsr()

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        z = matrix @ b
        value = float((share * (np.logaddexp(0, z) - target * z)).sum() + 0.5 * (ridge * b * b).sum())
        return value, turned @ (share * (1 / (1 + np.exp(-z)) - target)) + ridge * b

    b = minimize(loss, np.zeros(len(place) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 150}).x
    known = {"bias": float(b[0])} | {name: float(b[at]) for name, at in place.items()}
    return {name: round(value, 2) for name, value in known.items() if abs(value) >= LEAST_WEIGHT}


def best(found: list[Row], weights: dict[str, float], *, given: bool | None = None) -> float:
    fit = (row for row in found if given is None or row.given == given)
    return max((weights["bias"] + sum(weights.get(name, 0.0) for name in row.names) for row in fit), default=-99.0)


_FIXED = [rule for rule in RULES if rule not in LIKELY and rule.label.startswith("secret")]
_PREFILTER = KeywordPrefilter(_FIXED)


def is_free(text: str) -> bool:
    """Whether the rules with a fixed form find no secret in it: else the word nearby may be one."""
    return not find(_FIXED, _PREFILTER.hits(text, "all").rules, CasedText(text), lambda: None)


def main() -> None:
    random = Random(2026)
    real, said = list(real_texts()), list(dict.fromkeys(messages()))
    if "--dry" not in sys.argv:
        (DATA / WORDS).write_text("\n".join(common_words(real, said)) + "\n", encoding="utf-8")
        value_forms._common.cache_clear()
        value_forms.shape.cache_clear()
    by_hand = {
        hand: (
            [
                Text(rows(*filled(varied(wording, random), random)), OF_TEXTS_WITH)
                for wording in given
                for _ in range(VALUES_PER_WORDING)
            ],
            [
                Text(rows(text), OF_TEXTS_WITHOUT)
                for each in without
                for text in (each, *(varied(each, random) for _ in "123"))
            ],
        )
        for hand, (given, without) in hands().items()
    }
    made = [Text(rows(*filled(wording, random)), OF_TEXTS_WITH) for wording in giving(random, MADE)]
    made += [Text(rows(text), OF_TEXTS_WITHOUT) for text in giving_none(random, MADE // 2)]
    free = [Text(found) for text in map(clean, real) if (found := rows(text)) and is_free(text)]
    other = [Text(found) for text in (*source_texts(), *said) if (found := rows(text)) and is_free(text)]
    print(f"{len(real):,} real texts; {len(other):,} lines of sources and messages")
    for left in (hand for hand in by_hand if hand != "own"):
        texts = [text for hand, both in by_hand.items() if hand != left for each in both for text in each]
        weights = fitted([*texts, *made, *free[::2], *other[::2]])
        wrong = sorted((best(text.rows, weights) for text in free[1::2]), reverse=True)
        bar = max(wrong[len(real) // 2 // WRONG_IN_TEXTS], 1.0)
        given, without = by_hand[left]
        recall = sum(best(text.rows, weights, given=True) > bar for text in given) / len(given)
        hit = sum(best(text.rows, weights) > bar for text in without)
        elsewhere = sum(best(text.rows, weights) > bar for text in other[1::2])
        print(
            f"without the {left} hand, at {bar:.2f}: {recall:.3f} of {len(given)} of its texts found,"
            f" {hit} of {len(without)} without one hit, and {elsewhere} of {len(other[1::2]):,} lines and messages"
        )
    weights = fitted([*(text for both in by_hand.values() for each in both for text in each), *made, *free, *other])
    wrong = sorted((best(text.rows, weights) for text in free), reverse=True)
    print("highest of the real texts:", [round(value, 1) for value in wrong[:8]], "weights:", len(weights))
    if "--dry" not in sys.argv:
        (DATA / WEIGHTS).write_text(
            json.dumps(weights, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
