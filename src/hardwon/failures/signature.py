"""An error in a line that is safe to show: known words and names only, so that no output can give orders.

Tool output is hostile. What is shown of it is limited to a vocabulary of words that error messages
are made of, plus short identifiers; every other word becomes `…`. A sentence that asks a reader to
do something cannot be built from what is left.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from itertools import pairwise

from hardwon.failures.fingerprint import Fingerprint
from hardwon.text.normalise import lazy_pattern

# Words that error messages are made of; none of them tells a reader what to do next.

WORDS = frozenset(
    """
a accept accepts access accessible account active actual added address adjacent after again against algorithm all
allocated allowed already also alternative ambiguity ambiguous amount an and annotation another ansible answer
any api app appear appears application architecture are arg(s) argument argument(s) arguments arithmetic
around array artifact as ascii asked asleep assembly assert assertion assertionerror assignable assigned
assignment async at attempted attribute attributes authentication authored authorization auto-detect automatic
available await awaiting aws back bad base bash be because been before begin behind being between beyond
binary bit block blocked body bool boolean borrow bound bounds brace braces bracket brackets branch branches
break brew broken browser buffer builtin bundle but by byte bytes cache cached callable callback called caller
calls can can't candidate cannot capability cargo case cause caused causes certificate certificate-chain chain
changed changes channel char character characters checked checkout checksum child choice chrome chromium
circular class cli client closed closing code codec collect collected collection column columns comma command
commands commits compared comparing comparison compatible compilation compiled compiler complete component
compose condition config configuration configured conflict conflicting conflicts conform connected connecting
connection connections connectivity console const constant constraint constructor contain container containers
contains content context continuation control conversion converted convertible copied corresponding corrupt
corrupted could couldn't count cpu cpython crashed crate created credentials css csv ctor cuda current
currently cycle cyclic daemon dangling darwin data database date datetime datetimes days dead deadline
deadlock debian debug decimal declaration declarations declare declared declares decoding decorator deeper
default defined definition deleted delimiter denied dependencies dependency depends deprecated depth
dereference descriptor destination destructured detached detected determined dev device did didn't diff
different differing differs digest dimension directive directory dirty disabled disk div diverged divergent
divide division django dns docker dockerfile does doesn't domain double doubled down driver due duplicate
duplicated duplicates during each elapsed element elements email embedded empty enabled encoding encountered
end endpoint engine enough entity entry enum env environment eof equal equality errno error error(s) errors es
escape eslint event every exact exactly exceed exceeded exceeds except exception exclusive executable executed
execution exhausted exhaustive exhaustively exist existing exists exit-code exited expect expected expecting
expects experimental expired explicit explicitly exported exports expression extension external
externally-managed-environment extra f-string fail failed failing fails failure failures false fast-forward
fastapi fatal fetched fewer field fields file file(s) filename files filesystem finds first fixture fixtures
flag flask float folder follow following for forbidden foreign format formatted formatting forward found
fragment frame from frozen full fully function functions future gateway generated generator generic git github
gitlab given global goroutine goroutines got gpu gradle group groups gunicorn had handler handshake has hash
have head header headers headings healthy heap here hint hook hooks host host(s) hostname hours html http
https id identical identified identifier identity if ignored illegal image images immutable implement
implementation implements implicit implicitly import-time imported imports in inaccessible incoming
incompatible incomplete inconsistent incorrect incorrectly indent indentation index indirect inferred infinite
infinity init initial initialised initialized initializer inline inner input inputs inside installed instance
instances instead insufficient int integer integrity interface internal interpolation interpreter interrupt
interrupted into introduced invalid invalidated invocation invoked io is isn't isolated issue issue(s) issues
it item items iterable iteration iterator its jarfile java javascript jest job json kernel key key(s) keys
keyword keywords killed kind known kotlin kubectl kubernetes label language large larger last latest layer
layout lazily lead leading least left legacy len length less level lexical lib library lifecycle lifetime
likely limit line line(s) line-length lines linked linker lint linux list literal literal-only literals llm
loaded loader loading local locale localhost locally located location locations locator lock locked lockfile
log logged login long longer looking lookup lookups loop lost low macos macro main makefile managed manifest
mapping mark matched matcher matches matching maven max maximum may maybe member members memory merged merges
message metadata method methods migration migrations millisecond milliseconds min minimum minutes mismatch
mismatched missing mode modified modifier modifiers module modules more most moved multiple must mutability
mutable mutually mypy mysql naive name named names namespace nan near nearest need needed needs negative
neither nested network never new next nginx nil no no-op node non-fast- non-iterable non-null non-zero none
nonetype nonexistent nonlocal nonzero nor not notation notfound nothing novalue npm null nullable number
numbers numeral numeric object objects obsolete occurred occurrence occurrences of off offending offline
offset offset-aware offset-naive old omitted on once one only opened opening operand operands operation
operations operator option optional options or order origin originally os other out outdated outer output
outside over overflow overlap overload overridden overriding overwritten owned owner package package(s)
packages padding page panicked parameter parameter(s) parameters parent parenthesis parsed parser parsing part
partial partially particular pass passed passing password path paths pathspec pattern payload peer pending
performed perhaps permission permissions permitted persistent phase picked pinned pip pipe place placeholders
plain platform plugin pnpm poetry point pointer policy polymorphic pool port position positional possible
possibly postgres postgresql powershell preceding precision predicate prefix prefixed presence present
prettier previous previously primary prior prisma private privilege privileges problem problem(s) problems
process processed processing produced program programming project promise properly properties property
proposed protected protected-branch protocol provide provided provider provides providing proxy public publish
pyproject pytest python qualified qualifier query queue quota quote quoted raised ran range rate raw reach
reachable reached react read-only readable readers reading readonly reads ready rebasing received recognized
reconcile record recorded recovered recursion recursive redeclared redefined redefinition redis reduce
redundant ref refer reference referenced references reflections reformatted refs refspec refused regex region
registered registry regular rejected rejection rejects related relation relative releases remaining remains
remote removed renamed rendered repeat replaced replacement replica repo report reported repository request
requested requests require required requirement requirements requires reserved reset-by-peer resolution
resolved resolver resolves resource resources respond responded response restricted result results retries
returned returns revision revoked rewritten right role rollback root route row rows ruby ruff rule rules
running runs runtime rust rustc s3 safe safely same sandbox satisfied satisfies satisfy scanning schema scope
scopes script scripts sealed search search/replace second seconds section secure seen segment segmentation
selected self self-signed semantic semicolon sent separate separator sequence serializable serialized server
service session setting settings setup shadow shadowed shadows shape shared sharing shell short should side
signal signature signed significantly simple since single single-quoted size skip-worktree skipped slice small
smaller socket soft solution solver solving some sorted source space spec specification specified specifier
specifiers sql sqlite ssh ssl stack stage staged stale standard started starting state statement statements
static status std stderr stdin stdlib stdout step still stopped stopping storage str stream strict strictly
string strings struct structure stub stubs style subclass subcommand submodule subprocess subprojects
subscriptable subtree subtype success successful successfully such suffix suite summary superclass supplied
support supported supports swift switch symbol symlink syntax system table tables tag target targets task tcp
template temporarily temporary terminal terminated ternary terraform test test(s) tests text than that the
then these this those thread through thrown time timed timeout timestamp timezone tip tls to token tokenize
tokens toml too tool top topological total trace traceback tracked tracking trailing trait traits transaction
transitive tree trees tried true truncated truncation truthy trying tsconfig tuple two type typed types
typescript typo ubuntu udp unable unary unauthenticated unauthorized unavailable unbound uncaught unchanged
unclosed uncommitted undeclared undefined under unescaped unexpected unexpectedly unfinished unhandled
unhealthy unicode unimplemented unindent uninstalled union unique uniquely unit unknown unknown-revision
unlisted unmatched unmerged unpack unpaired unpublished unqualified unreachable unreadable unrecognized
unrelated unresolvable unresolved unsafe unsatisfiable unsatisfied unset unsigned unspecified unstable
unstaged unstaged-changes unsupported unterminated until untracked untyped unused unwrap unwrapped up updated
updates upper upstream upstreams url usable usage used user uses using usize utf uv valid validation validator
value values variable variables variant vector vendor venv verbatim verification verified version versioned
versions vet via violates violation virtual virtualenv visibility visible vite vitest void volumes vue waiting
want wanted wants warning warnings was wasm wasn't webpack well-formed were wheel when where which while
whitespace whole wide width will windows with within without worker workflow working workspace workspaces
worktree would wouldn't wrapper writable writers writing written wrong xcode xml yaml yarn yes yet yield
yielded zero zip zone zsh
""".split()
)

VERBS = frozenset(
    """
add apply assign bind browse build call cast catch change check clean clone close commit compare compile
configure connect convert copy create decode define delete deserialize determine download drop edit encode
ensure evaluate exec execute exit export extend fetch find force fork generate get handle import initialize
insert install invoke join kill link listen load locate make map match merge mount move open override
overwrite parse patch print pull push raise read rebase receive redeclare redefine redirect reformat register
reject release reload remove rename replace reset resolve retry return run save select send serialize set show
skip sort spawn specify start stat stop store sync throw touch transform try update upgrade use validate
verify view wait write
""".split()
)
"""Would be orders at the head of a sentence; errors use them after `cannot`, `failed to` and the like."""

BEFORE_VERBS = frozenset(
    """
in to cannot can't not could couldn't can unable be been is was has does doesn't did didn't will would may
""".split()
)

COMPOUNDS = frozenset(
    (
        *("exit code", "exit status", "return value", "return type", "pull request", "pull requests", "build command"),
        *("build context", "build script", "build failed", "merge conflict", "use in", "use of", "update failed"),
        *("verify failed", "test failed", "call stack", "load main", "import statement", "read error", "write error"),
        *("resolve import", "unresolved import", "circular import", "missing return", "redundant clone"),
        *("unsupported call", "no pull", "custom build", "matching export"),
    )
)
"""Verbs that are nouns beside these words."""

BEFORE_NAMES = frozenset(
    """
module package packages named crate trait struct class enum method function symbol variable field property
attribute member type interface namespace table column relation index constraint database role user schema
service container image network volume host hostname script target task goal artifact plugin library header
file directory folder branch tag revision remote repository key option flag argument parameter test fixture
undefined reference wheel requirement extra group toolchain queue resource domain port toolset feature
""".split()
)
"""A name follows them, even where it looks like a word."""

NEVER = frozenset(
    """
ignore disregard forget obey follow execute run curl wget sudo eval bash sh zsh please kindly assistant agent
agents model prompt prompts instruction instructions system secret secrets password passwords token tokens
immediately urgent important now must always never you your trust approve allow disable bypass override delete
remove send upload download install visit open click paste print reveal
""".split()
)
"""Never shown as a name unless quoted: what an order would be made of."""


MAX_SIGNATURE_CHARACTERS = 140
_MAX_NAMES = 4
_MAX_NAME_CHARACTERS = 48
_MAX_NAME_SEPARATORS = 4
_MIN_SHARE_OF_TITLE = 0.6
_MAX_TEST_NAME_PARTS = 7

_MASK = r"<(?:n|id|ip|time|url|email|version|tmp)>"
_PIECE = lazy_pattern(
    rf"{_MASK}(?:/[\w.-]+)?|(?<!\w)'[^'\n]{{1,80}}'(?!\w)[,.;:)]*|\"[^\"\n]{{1,80}}\"[,.;:)]*|(?:[^\s'\"<>]|(?<=\w)'(?=\w)|(?<=[\w@=:-]){_MASK})+"
)
_MASKED = lazy_pattern(_MASK)
_NAME = lazy_pattern(r"^[\w@][\w@./:+\[\]()*~-]*$")
_FLAG = lazy_pattern(r"^--?[a-zA-Z][\w-]*(?:=[\w.@/-]{0,32})?$")
_CODE_LIKE = lazy_pattern(r"[_./@\d]|[a-z][A-Z]|^[A-Z][a-z]+[A-Z]|^[A-Z]{2,}\d|Error$|Exception$|^E[A-Z]{3,}$|\(\)$|::")
_ARGUMENTS = lazy_pattern(r"(?<=\w)\((?!s\))[^()\n]*\)")
_SENTENCE_END = lazy_pattern(r"(?<=[a-z)'>][.?!])\s")
_EDGES = lazy_pattern(r"^([(\[{]*)(.*?)([)\]},.;:!?]*)$")
_SIGN = lazy_pattern(r"^(?:--|[!=<>]=?=?|->|=>)$")
_NUMBERED = lazy_pattern(r"^#\d{1,4}[.,:)\]]*$")
_ELSEWHERE = lazy_pattern(
    r"(?<![\w/])(?:[\w-]+\.)+(?:sh|ps1|bat|cmd|exe|com|net|org|io|dev|app|xyz|site|example)$|^www\.", re.IGNORECASE
)
_GIT_REASONS = frozenset(("fetch first", "non-fast-forward", "stale info", "needs force"))
_FUNCTION_WORDS = frozenset("error the and for from with this that not are was were has have but".split())
_ELISIONS = lazy_pattern(r"…(?:[\s.,;:]*…)+")
_SAYS_ITSELF = frozenset(("refused", "status", "answer", "nothing", "gh", "go", "no daemon"))
"""Kinds that tell a reader nothing beside their message."""


def signature(print_: Fingerprint) -> str:
    """`ModuleNotFoundError: No module named 'asyncpg'`; at most 140 characters."""
    words = _subject(print_)
    kind = _plain_name(print_.error_type)
    place = _place(print_.frame)
    if print_.family == "git" and print_.error_type == "rejected" and print_.message in _GIT_REASONS:
        text = f"push rejected ({print_.message})"
    elif print_.family == "usage":
        text, place = f"{place or kind}: {words}", ""
    elif words and (kind in _SAYS_ITSELF or words.lower().startswith(kind.lower())):
        text = words
    else:
        text = f"{kind}: {words}" if words else kind
    if place and len(text) + len(place) + 3 <= MAX_SIGNATURE_CHARACTERS:
        text = f"{text} ({place})"
    return text if len(text) <= MAX_SIGNATURE_CHARACTERS else text[: MAX_SIGNATURE_CHARACTERS - 1].rstrip() + "…"


def informative(shown: str) -> bool:
    """Whether a signature says what went wrong, or is a line of code with its words taken out."""
    words = [word.strip("(),.:;'\"").lower() for word in shown.split()]
    telling = [word for word in words if word in WORDS and len(word) > 2 and word not in _FUNCTION_WORDS]
    return len(telling) >= 2 and shown.count("…") <= 1


def masked(message: str) -> str:
    """The message with every word that is neither known nor an identifier replaced by `…`."""
    kept: list[str] = []
    names = 0
    previous = ""
    announced = False
    sentence = _ARGUMENTS.sub("()", _SENTENCE_END.split(message, maxsplit=1)[0]).replace("'<n>'", "<n>")
    pieces = _PIECE.findall(sentence)
    for piece, following in pairwise([*pieces, ""]):
        if piece.startswith("<") and len(piece) > 1:
            kept.append(_mask(piece))
            continue
        if _NUMBERED.match(piece) or _SIGN.match(piece):
            kept.append(piece.replace("#", ""))
            continue
        shown = piece if piece[0] in "'\"" else _MASKED.sub("N", piece)
        before, core, after = _EDGES.match(shown).groups()  # type: ignore[union-attr]
        if core.endswith("(") and after.startswith(")"):
            core, after = core + ")", after[1:]
        bare = core.strip("'\"")
        pairs = f"{bare} {following.strip('.,:;)')}".lower(), f"{previous} {bare}".lower()
        noun = not COMPOUNDS.isdisjoint(pairs)
        verb = noun or (bare.lower() in VERBS and (previous in BEFORE_VERBS or core != bare))
        named = announced if kept else piece == message  # no such table: readings
        announced = piece.endswith(":")
        named = named or previous in BEFORE_NAMES  # no module named readings
        previous = bare.lower()
        if not bare:
            continue
        if verb or core.lower() in WORDS or bare.lower() in WORDS:
            kept.append(shown)
        elif names < _MAX_NAMES and _is_name(core, bare, alone=named):
            names += 1
            kept.append(before + core + after)
        elif names < _MAX_NAMES and core != bare and _is_expression(bare):
            names += 2
            kept.append(before + core + after)
        else:
            kept.append("…")
    return _tidy(" ".join(kept))


def _subject(print_: Fingerprint) -> str:
    """What the error is about; a program and a path, as small tools write them, are shown as they are."""
    words = print_.message.split() if print_.error_type != "timed out" else []
    if print_.family == "shell" and len(words) <= 2 and all(map(_is_short, words)):
        return _plain_name(print_.message)
    if (
        len(words) == 1
        and _is_short(words[0])
        and _NAME.match(words[0].strip("'\""))
        and not _ELSEWHERE.search(words[0])
    ):
        return words[0]
    return masked(print_.message)


def _place(frame: str) -> str:
    """Where it happened: a file and a function; the title of a test is words like any other."""
    words = frame.split()
    if len(words) <= 2 and all(_is_short(word) for word in words):
        return _plain_name(frame)
    head = words[0] if words and _is_short(words[0]) and _CODE_LIKE.search(words[0]) else ""
    title = words[1:] if head else words
    rest = masked(" ".join(title))
    told = [word for word in rest.split() if word != "…"]
    return f"{head} {rest}".strip() if len(told) >= _MIN_SHARE_OF_TITLE * len(title) else head


def _mask(piece: str) -> str:
    """`<n>` is shown as N; an address or a temporary file with its name, if that is one."""
    mark, _, name = piece.partition("/")
    if mark == "<n>":
        return "N"
    return piece if name and _is_name(name, name, alone=True) else mark


def _is_short(word: str) -> bool:
    bare = word.strip("'\":,")
    parts = 1 + len(re.findall(r"(?<=[^\W_])[_-]+(?=[^\W_])", bare))
    most = _MAX_TEST_NAME_PARTS if "test" in bare.lower() else _MAX_NAME_SEPARATORS + 1
    return len(bare) <= 2 * _MAX_NAME_CHARACTERS and parts <= most * (1 + bare.count("::")) and not orders(bare)


def orders(name: str) -> bool:
    """Whether the parts of a name are what an order is made of: `run_curl`, `ignore_all_instructions`."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    orders = sum(part.lower() in NEVER for part in parts)
    return (orders == len(parts) > 0 and not name.endswith("()")) or orders > ("test" in name.lower()) + 1


def _is_name(core: str, bare: str, *, alone: bool) -> bool:
    """A short identifier, path, flag or code; only a quoted name or one that a word announces may be a word."""
    if len(bare) > _MAX_NAME_CHARACTERS or bare.count("_") + bare.count("-") > _MAX_NAME_SEPARATORS:
        return False
    if _FLAG.match(bare):
        return True
    if not _NAME.match(bare) or _ELSEWHERE.search(bare) or bare.lower() in VERBS:
        return False
    if core[0] in "'\"" and core[-1] in "'\"":
        return len(re.findall(r"[A-Za-z]+", bare)) == 1 or not orders(bare)
    return (alone or bool(_CODE_LIKE.search(bare))) and not orders(bare)


def _is_expression(quoted: str) -> bool:
    """`Gauge: Serialize`, `class Gauge`: names that signs or known words hold apart, so that they are no sentence."""
    tokens = re.findall(r"[\w.]+|[^\w\s.]+", quoted)
    plain = [bool(re.match(r"\w", token)) and token.lower() not in WORDS for token in tokens]
    if len(tokens) > 7 or any(one and other for one, other in itertools.pairwise(plain)):
        return False
    return all(len(token) <= 30 and token.lower() not in VERBS and token.lower() not in NEVER for token in tokens)


def _tidy(text: str) -> str:
    text = _ELISIONS.sub("…", text).strip(" …:,")
    for opening, closing in ("()", "[]"):
        if text.count(opening) < text.count(closing):
            text = text.replace(closing, "", text.count(closing) - text.count(opening))
        elif text.count(opening) > text.count(closing):
            text = text.replace(opening, "", text.count(opening) - text.count(closing))
    return text.strip(" …:,")


def _plain_name(text: str) -> str:
    names = (word.strip("'\":,") for word in text.split())
    return " ".join(name for name in names if _NAME.match(name) and len(name) <= 2 * _MAX_NAME_CHARACTERS)


# What may tell a reader to do something, or comes from elsewhere: it is never quoted.

_ORDERING_WORDS_OF_AN_ORDER = 3
_SENTENCE = lazy_pattern(
    r"(?<=[\w)'\"`>][.!?;])\s+(?=[\"'`(]?[A-Z])|(?<=[.!])(?=(?:Please|You)\b)|\s+(?=[Hh]int: |[Nn]ote: |[Tt]ip: )"
)
CLAUSE = lazy_pattern(r", |; | - (?=[a-z])")
_LEAST_FIRST_CLAUSE = 24
_IS_NO_SENTENCE = lazy_pattern(r"(?:To|If|When|For|In order)\b")
LITERAL = lazy_pattern(r"\{[^{}]{20,}\}")
_ADDRESSES = lazy_pattern(
    r"(?i)\byou(?:r)? (?:must|should|need|have to|can|could|may|might|will|want|are|task|instructions?)\b|\bplease\b"
    r"|\b(?:ignore|disregard|forget|obey|follow) (?:all|any|the|these|this|previous|prior|earlier|above|every)\b"
    r"|\b(?:agents?|assistants?|claude|codex|copilot|gemini|cursor|chatgpt|llms?)\b[^.]{0,24}(?::|\bmust\b|\bshould\b)"
    r"|\bai(?: (?:models?|systems?|tools?))?(?::| must\b| should\b)"
    r"|\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\b(?:curl|wget)\s+(?:-\S+\s+)*[\w-]+[./:]|\bsudo\s+\w|\brm\s+-"
    r"|^(?:\W*\w+: )?\W*(?:run|try|execute|install|add|make sure|visit|see|ensure|consider|remember|do not|don't|never"
    r"|always|reply|respond|answer|tell|send|write|note that)\b(?! (?:failed|error|of|to)\b)(?!:)"
)
_NAMED_AFTER_ONE = lazy_pattern(
    r"(?i)[\w.@~…-]*/[\w./@-]*-(?:agents?|assistants?|claude|codex|copilot|gemini|cursor|ai)\b"
)
"""A path that ends in the word for a reader speaks to none: `node_modules/coding-agent: not found`."""
PROPOSES = lazy_pattern(
    r"(?i)[`$]|://|\b(?:run|try|use|install|execute|add|call|type|enter|download|fetch|visit|open|set|remove|delete"
    r"|disable|enable|skip|allow|grant|push|approve)\b"
)
"""What may tell a reader to do something: of lines that are no errors, of which there are many, none such is quoted."""
_NETWORK_TOOL = lazy_pattern(r"(?i)^mcp|__|fetch|web|browser|search_web|http")
_NETWORK_COMMAND = lazy_pattern(
    r"(?:^|[;&|(\n]\s*)(?:curl|wget|http|xh|lynx|w3m)\s|\bgh (?:api|issue|pr|search|release)\b"
)


@lru_cache(maxsize=1 << 8)  # an error is asked about several times
def reads_like_an_order(line: str) -> bool:
    """Whether a line asks its reader for something, by its words or by the parts of its names."""
    if _ADDRESSES.search(_NAMED_AFTER_ONE.sub("…", line) if "-" in line and "/" in line else line):
        return True
    words = set(re.findall(r"[\w-]+", line.lower()))
    return len(words & NEVER) >= _ORDERING_WORDS_OF_AN_ORDER or any(
        orders(word) for word in words if "_" in word or "-" in word
    )


def from_elsewhere(tool: str, command: str) -> bool:
    """A page, a server's answer or another program's tool: never quoted."""
    return (
        _NETWORK_TOOL.search(tool) is not None
        if not command or command == tool
        else bool(_NETWORK_COMMAND.search(command))
    )


def own_sentence(line: str) -> str:
    """Up to the sentence that speaks to a reader, and of that the clauses before the one that does."""
    said: list[str] = []
    for at, sentence in enumerate(_SENTENCE.split(line)):
        if reads_like_an_order(sentence):
            return " ".join(" ".join((*said, _own_clauses(sentence) or ("" if at else sentence))).split())
        said.append(sentence)
    return " ".join(" ".join(said).split())


def _own_clauses(sentence: str) -> str:
    """The beginning of a sentence that ends in an order; empty where nothing of it stands alone."""
    ends = [found.start() for found in CLAUSE.finditer(sentence)]
    heads = (sentence[:end] for end in reversed(ends))
    own = (head for head in heads if not any(map(reads_like_an_order, (head, *CLAUSE.split(head)))))
    return next((head for head in own if len(head) >= _LEAST_FIRST_CLAUSE and not _IS_NO_SENTENCE.match(head)), "")
