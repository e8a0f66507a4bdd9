"""Words that say how something is meant, apart from what is meant; for telling whether two sentences say the same.

They are given as they are written and compared as stems; other languages are in `foreign`.
"""

from __future__ import annotations

from functools import lru_cache

from hardwon.text.words import stem

IRREGULAR = dict(
    pair.split(":")
    for pair in (
        "kept:keep written:write wrote:write ran:run built:build sent:send made:make done:do broken:break broke:break "
        "chosen:choose shown:show thrown:throw taken:take caught:catch given:give found:find left:leave held:hold"
    ).split()
)
NUMBERS = {word: str(at) for at, word in enumerate("zero one two three four five six seven eight nine ten".split())}
_SHORTEST = 5
UNITS = frozenset(stem(word) for word in "second sec ms millisecond minute min hour day week month year".split())


def root(word: str) -> str:
    """A word as it is compared: `directly` as `direct`, `committed` as `commit`, `development` as `dev`."""
    found = _bare(word)
    return _SYNONYMS.get(found, found)


@lru_cache(maxsize=1 << 14)
def _bare(word: str) -> str:
    head, dash, last = word.rpartition("-")
    found = head + dash + stem(IRREGULAR.get(last, last))
    return found[:-2] if found.endswith("li") and len(found) > _SHORTEST else found


def _roots(words: str) -> frozenset[str]:
    return frozenset(map(root, words.split()))


_SYNONYMS = {
    _bare(other): _bare(first)
    for first, *others in (
        line.split()
        for line in (
            "dev development|folder directory dir|repo repository|db database|config configuration settings|"
            "remove delete drop|env environment|js javascript|ts typescript|postgres postgresql|lib library|"
            "run execute|change modify edit alter|use utilize utilise employ|need require mandatory necessary|"
            "auth authentication|docs documentation|manual manually|allow permit|forbid prohibit disallow ban|"
            "uppercase upper-case|e2e end-to-end|param parameter|arg argument|fn func|large big|fail break crash"
        ).split("|")
    )
    for other in others
}

PHRASES = (
    ("by hand", "manually"),
    ("from now on", " "),
    ("going forward", " "),
    ("in the future", " "),
    ("make sure", " "),
    ("be sure", " "),
    ("in general", " "),
    ("at all times", " "),
    ("in this (?:project|repo|repository|codebase)", " "),
    ("for this (?:project|repo|repository|codebase)", " "),
    ("(?:the|this|our) (?:project|repo|repository|codebase) (?=uses?|is using)", " "),
    ("(?:have|has|need|needs|ought) to(?= \\w)", "must"),
    ("no longer|not any ?more", "not"),
    ("(?:is|are) where", " "),
    ("not (?=ever\\b)", "not "),
    ("package manager", " "),
    ("turn(?:ed|s)? on|switch(?:ed|es)? on", "enable"),
    ("turn(?:ed|s)? off|switch(?:ed|es)? off", "disable"),
    ("local time", "localtime"),
    ("plain text", "plaintext"),
    ("pull requests?|merge requests?", "pr"),
    ("read only", "read-only"),
    ("(?<=characters) (?:long|wide)", " "),
)
"""Pattern → what stands for it."""

CONTRAST = (
    r"\b(?:instead of|rather than|in place of|as opposed to|in preference to|statt|anstatt|anstelle von|au lieu d[eu]|"
    r"plutôt que|en lugar de|en vez de|em vez de|ao invés de|invece di|al posto di|вместо|а не)(?!\w)"
)

FILLERS = frozenset(
    """a an the and or of as so too very that this these those there here it its you your we our us i me my they their
    please always ever remember kindly note must should shall will would could ought each every all any also just simply
    really like want sure ensure let lets ca wo d s ll ve re m be is are was were been being am do does did
    has have had which who what where such prefer preferred preferably favour favor choose general generally
    own make to for with by via through using throughout everywhere""".split()
)
PREPOSITIONS = frozenset(
    "in into under on onto at from to for with of by via through using within inside during over than per "
    "für im in auf mit von zu unter pour dans avec sur sous para en con sobre per nel neste в на с для".split()
)
PLACING = {
    word: at
    for at, some in enumerate(
        (
            "in into under on onto at to within inside during|for|with via through using by|from|than over|before|after"
        ).split("|")
    )
    for word in some.split()
}
"""Such a word → which of them may stand for each other."""
SUBORDINATORS = frozenset("when whenever if once while unless until since because except only".split())
SCOPING = frozenset(map(root, "when whenever if once while unless until except only".split())) | {"before", "after"}
PERMITTING = frozenset("may can might fine ok okay allowed permitted free".split())
_DOING = tuple(
    _roots(line)
    for line in (
        "use run work apply happen listen|need|put place go live locate lie sit belong exist|contain have|get take|set"
    ).split("|")
)
PLAIN = frozenset(word for some in _DOING for word in some) | _roots("fine ok okay allow can may might")
"""Say no more than that something is done: `use X` and `avoid X` are about the same."""
DOING = {word: at for at, some in enumerate(_DOING) for word in some}
"""Such a word → which of them mean much the same."""
AUXILIARIES = frozenset(
    "do does did ca wo must should shall may can could might is are was were be been will would to has have need you "
    "we i it they please ever also".split()
)
NEGATORS = frozenset(
    "not never no nor neither without avoid forbid forbidden prohibited disallowed banned optional deny".split()
)
NEGATING_VERBS = _roots("fail forbid avoid deny")
STOPPING = frozenset(("stop", "quit", "cease"))
DIRECTED = frozenset("to from into onto than over before after by".split())

ANTONYMS = frozenset(
    frozenset(map(root, pair.split()))
    for pair in (
        "enable disable|true false|include exclude|add remove|public private|allow reject|"
        "synchronous asynchronous|sync async|first last|local remote|accept reject|minimum maximum|"
        "single double|manual automatic|strict lenient|ascending descending|keep remove|upper lower|commit discard|"
        "increase decrease|absolute relative|lazily eagerly|lazy eager|same different|upgrade downgrade|show hide|"
        "mutable immutable|globally locally|global local|uppercase lowercase|lock unlock|valid invalid|safe unsafe|"
        "signed unsigned|encrypt decrypt|import export|up down|left right|light dark|more less|most least|start stop|"
        "inside outside|above below|early late|open close|push pull|sensitive insensitive|stable unstable|"
        "read-only writable|large small|long short|accept refuse|fast slow|always sometimes|"
        "newest oldest|new old|append prepend|high low|loose tight|implicit explicit|soft hard|"
        "parallel sequential|internal external|on off"
    ).split("|")
) | {frozenset(("before", "after"))}
GROUPS = {
    root(word): at
    for at, group in enumerate(
        (
            "npm pnpm yarn bun|pip uv poetry conda pipenv|black yapf ruff autopep8|jest vitest mocha jasmine|"
            "tabs spaces|docker podman|postgres mysql sqlite mongodb mariadb|pytest unittest nose|eslint biome|"
            "webpack vite rollup esbuild parcel|main master develop release trunk|merge rebase squash|"
            "staging production|flask django fastapi|mypy pyright|"
            "english german french spanish italian portuguese|json plaintext yaml xml toml|utc localtime|"
            "monday tuesday wednesday thursday friday saturday sunday|gradle maven bazel|"
            "snake_case camelcase pascalcase kebab-case|debug info warn error|make just|chromium firefox webkit"
        ).split("|")
    )
    for word in group.split()
}
"""Word → which group of things it is of that take each other's place."""

PREFIXES = ("un", "non", "non-", "in", "im", "dis")

NARROWING = SCOPING | GROUPS.keys() | frozenset(word for pair in ANTONYMS for word in pair)
