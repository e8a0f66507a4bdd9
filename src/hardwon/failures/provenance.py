"""Where a step's words came from, and whether a person must see it first: one check for commands and edits alike.

What output names may be planted, be it as what is missing, and no comparison of words holds against all disguises.
So nothing is fetched by a name on a fix's word alone, except what the repository's own manifests name and the tools
that everybody has; no step names a host, a source to fetch from, or a setting that says where things come from.
"""

from __future__ import annotations

import re
import string
from binascii import a2b_base64
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from html import unescape
from typing import NamedTuple
from unicodedata import combining, normalize

from hardwon.failures import tools
from hardwon.failures.shell import Command, elements, program_family
from hardwon.failures.turns import Turn
from hardwon.model.failure import FETCHES, HINTED, OFFERED, PROPOSED
from hardwon.text.normalise import base_name, lazy_pattern
from hardwon.text.shown import beyond_ascii, clean, is_plain, unfenced

# The same words, however they are disguised: what a text says to whoever reads it, for comparing alone.

LOOK_ALIKES = str.maketrans(  # Cyrillic, Greek, small capitals
    "аеорсухіјѕԁԛԝһӏАВЕКМНОРСТХІЈЅҮԌαοριυνκτχηΑΒΕΖΗΙΚΜΝΟΡΤΥΧᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıſ",
    "aeopcyxijsdqwhlABEKMHOPCTXIJSYGaopiuvktxnABEZHIKMNOPTYXabcdefghijklmnoprstuvwyzis",
)
_LOOK_ALIKES = frozenset(map(chr, LOOK_ALIKES))
_FEW_SIGNS = 8
_TAG_LETTERS = lazy_pattern("[\U000e0020-\U000e007e]")
_NOT_ASCII = lazy_pattern(r"[^\x00-\x7f]{1,64}")
_MARKS = lazy_pattern(r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]+")
_ENTITY = lazy_pattern(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
_PERCENT = lazy_pattern(r"%[0-9a-fA-F]{2}(?:%[0-9a-fA-F]{2})*+")
_BACKSLASH = lazy_pattern(r"\\(?:u\{?([0-9a-fA-F]{4,6})\}?|x([0-9a-fA-F]{2}))")
_SPELLED = lazy_pattern(r"(?<!\w)(?:\w[ .*_|-]){3,}\w(?!\w)")
_MAY_BE_SPELLED = lazy_pattern(r"[ .*_|-]\w[ .*_|-]\w[ .*_|-]\w")
_BETWEEN_LETTERS = lazy_pattern(r"[ .*_|-]")
_HEX = lazy_pattern(r"(?<![0-9a-zA-Z])(?:[0-9a-fA-F]{2}[ :]?){16,}")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_HOLDS_A_SPACE = re.compile(rb"I[A-P]|[CSiy][A-D]|[AEIMQUYcgkosw048]g")
"""In base64, by where in its three bytes it stands: a run without it is no sentence, and most are paths."""
_SHORTEST_BASE64, _SHORTEST_HEX = 24, 32
_MIN_SHARE_OF_TEXT = 0.8
_NO_LETTER = lazy_pattern(r"[^\w\s]|_")
_COLOURS = lazy_pattern(r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?")
_AS_LINES = lazy_pattern("[\a\v\f\r\x1b\x85\x9c\x9d\u2028\u2029]")
_COMMENT = lazy_pattern(r"<!--([^<>]{0,2000})-->")
# Each part begins with a sign of its own, by which the search is ten times faster.
_MARKUP = lazy_pattern(r"</?[a-zA-Z][^<>]{0,200}>|\*(?<=\w\*)\*{0,2}(?=\w)|~(?<=\w~)~(?=\w)")


_CHARACTERS_KEPT = 8_000_000
_kept: dict[str, str] = {}
"""Text → what it says, of those asked for last: every output of a session is asked about more than once."""


def comparable(text: str) -> str:
    """What a text says, without its disguise: case, look-alike letters, entities, escapes, letters set apart.

    Behind it stands what is encoded or hidden in it. In linear time, and nothing is cut off.
    """
    said = _kept.get(text)
    if said is None:
        said = _undisguised(text)
        _keep(text, said)
    return said


def _keep(text: str, said: str) -> None:
    global _characters_left  # noqa: PLW0603
    _characters_left -= len(text) + len(said)
    if _characters_left < 0:
        _kept.clear()
        _characters_left = _CHARACTERS_KEPT
    else:
        _kept[text] = said


_characters_left = _CHARACTERS_KEPT


def _undisguised(text: str) -> str:
    if not is_plain(text):
        # What a terminal would not show, a title or a line drawn over, a model reads all the same.
        text = _COLOURS.sub("", _TAG_LETTERS.sub(lambda found: chr(ord(found[0]) - 0xE0000), text))
        text = clean(_AS_LINES.sub("\n", text))
    if not text.isascii() and (composed := [*filter(_is_composed, set(beyond_ascii(text)))]):
        if len(composed) <= _FEW_SIGNS and all(map(_stands_alone, composed)):
            for sign in composed:
                text = text.replace(sign, _decomposed(sign))
        else:  # pieces, since putting many marks in order is quadratic
            text = _NOT_ASCII.sub(lambda found: _decomposed(found[0]), text)
    if "&" in text:
        text = _ENTITY.sub(lambda found: unescape(found[0]), text)
    if "%" in text:
        text = _PERCENT.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), text)
    if "\\" in text:
        text = _BACKSLASH.sub(_character, text)
    hidden: list[str] = []
    if "<!--" in text:
        hidden = [found[1] for found in _COMMENT.finditer(text)]
        text = _COMMENT.sub("", text)
    if "<" in text or "*" in text or "~" in text:
        text = _MARKUP.sub("", text)
    data = text.encode("latin-1", "replace")  # one byte a character, so that places are the same
    if _holds_letters_apart(data):
        text, before = _with_letters_together(text), text
        data = data if text is before else text.encode("latin-1", "replace")
    said = "\n".join((text, *hidden, *_encoded(text, data)))
    return said.lower() if said.isascii() else _casefolded(said)


def _casefolded(text: str) -> str:
    """By bytes where only ASCII letters change, as in most texts: mostly twice as fast."""
    if any(map(_is_folded, set(beyond_ascii(text)))):
        return text.casefold()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


@lru_cache(maxsize=1 << 12)
def _is_folded(sign: str) -> bool:
    return sign.casefold() != sign


def _with_letters_together(text: str) -> str:
    """`d e l e t e` as a word, in the lines that may hold such."""
    pieces: list[str] = []
    done = 0
    for may_be in _MAY_BE_SPELLED.finditer(text):
        if may_be.start() >= done:
            start, end = text.rfind("\n", 0, may_be.start()) + 1, text.find("\n", may_be.end())
            end = end if end >= 0 else len(text)
            line = _SPELLED.sub(lambda found: _BETWEEN_LETTERS.sub("", found[0]), text[start:end])
            pieces += (text[done:start], line)
            done = end
    return "".join((*pieces, text[done:])) if pieces else text


@lru_cache(maxsize=1 << 12)
def _is_composed(sign: str) -> bool:
    """Whether putting it in pieces may change a text that holds it; marks in a row may only change places."""
    return bool(combining(sign)) or _decomposed(sign) != sign


@lru_cache(maxsize=1 << 12)
def _stands_alone(sign: str) -> bool:
    """Whether its pieces stay where they are, whatever stands beside it."""
    return not any(map(combining, sign + _decomposed(sign)))


@lru_cache(maxsize=1 << 12)
def _decomposed(signs: str) -> str:
    plain = normalize("NFKD", signs.replace("\u2028", "\n").replace("\u2029", "\n"))
    return _MARKS.sub("", plain).translate(LOOK_ALIKES)


def _encoded(text: str, data: bytes) -> Iterator[str]:
    """The sentences that stand in it as base64 or in hexadecimal; what goes on in the next line is put together."""
    said, end = "", -1
    for start, stop in _runs(data, _OF_BASE64, _SHORTEST_BASE64):
        piece = _decoded(data[start:stop])
        if said and start > end + 2:
            yield said
            said = ""
        said, end = said + piece, stop + data[stop : stop + 2].count(b"=") * (data[stop : stop + 1] == b"=")
    yield said
    for start, stop in _runs(data, _OF_HEX, _SHORTEST_HEX):
        for found in _HEX.finditer(text, start, stop):
            yield _told(bytes.fromhex(re.sub("[ :]", "", found[0])))


def _marking(signs: str) -> bytes:
    return bytes(ord("a") if chr(byte) in signs else ord(" ") for byte in range(256))


_OF_BASE64 = _marking(string.ascii_letters + string.digits + "+/_-")
_OF_HEX = _marking(string.hexdigits + " :")
_LETTERS_AND_BETWEEN = bytes(
    ord(" ") if chr(byte) in " .*|-" else ord("a") if chr(byte).isalnum() or chr(byte) in "_?" else ord(",")
    for byte in range(256)
)
"""Letters, or what stands in the place of one that is no byte; and what may stand between letters set apart."""


def _holds_letters_apart(data: bytes) -> bool:
    """Whether a text may hold what `_MAY_BE_SPELLED` finds, which takes ten times as long; `_` is of both kinds."""
    marked = data.translate(_WITH_LOW_LINES)
    if b"_" in marked:
        if b" _" in marked or b"_ " in marked or b"__" in marked:
            return True
        marked = marked.replace(b"_", b" ")  # between letters, it parts them or is part of a longer word
    return b" a a a" in marked


_WITH_LOW_LINES = _LETTERS_AND_BETWEEN[: ord("_")] + b"_" + _LETTERS_AND_BETWEEN[ord("_") + 1 :]


def _runs(data: bytes, marking: bytes, shortest: int) -> Iterator[tuple[int, int]]:
    """Where so many of some signs stand in a row."""
    marked = data.translate(marking)
    wanted = b"a" * shortest
    start = marked.find(wanted)
    while start >= 0:
        stop = marked.find(b" ", start + shortest)
        stop = len(marked) if stop < 0 else stop
        yield start, stop
        start = marked.find(wanted, stop)


def _character(found: re.Match[str]) -> str:
    code = int(found[1] or found[2], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else found[0]


def _decoded(found: bytes) -> str:
    return _decoded_path(found) if len(found) <= _LONGEST_PATH else _decoded_run(found)


def _decoded_run(found: bytes) -> str:
    if not _HOLDS_A_SPACE.search(found):
        return ""
    body = found.translate(_URL_SAFE)
    for start in range(4):  # something may stand before it
        wanted = body[start:]
        wanted = wanted[: len(wanted) - (len(wanted) % 4 == 1)]
        if said := _told(a2b_base64(wanted + b"=" * (-len(wanted) % 4))):
            return said
    return ""


_LONGEST_PATH = 200
_decoded_path = lru_cache(maxsize=1 << 12)(_decoded_run)  # most short runs are paths, which a session repeats


def _told(content: bytes) -> str:
    """Bytes as the sentence that they are; empty if they are none."""
    if b" " not in content:
        return ""
    text = content.replace(b"\0", b"").decode("utf-8", "replace")
    return text if len(_NO_LETTER.sub("", text)) >= _MIN_SHARE_OF_TEXT * len(text) else ""


HOST = "names a host or an address"
SOURCE = "changes where things are fetched from"
SETTING = "changes which programs run, or how"
HIDDEN = "hides characters"
_DEPENDENCIES = "changes what is installed"

_FEW_STEPS = 8
_MIN_HINT_CHARACTERS = 8
"""Letters of other scripts that nobody tells from ours."""

_LOOPBACK = r"(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|host\.docker\.internal)(?=[:/\s'\"]|$)"
_HOST = lazy_pattern(
    rf"(?i)\b(?:\w+\+)*(?:https?|ssh|git|ftps?|wss?|s3|gs|sftp|rsync|ldap|tcp|docker)://(?:[^\s/@]*@)?(?!{_LOOPBACK})"
    rf"|(?<![\w./@-])[\w.+-]+@(?!{_LOOPBACK})[\w-]+(?:\.[\w-]+)*:(?!\d+\b)"
    rf"|(?<![\w./@-])(?!{_LOOPBACK})(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?=[:/\s'\"]|$)"
    r"|(?<![\w./@\\-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/(?=\w)"
    r"|(?<![\w./-])@?(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|xyz|example|invalid|info|biz|cloud|site|top|ru|cn)\b(?!\.)"
    r"|\b(?:git|github|gitlab|bitbucket|gist|hg|svn|bzr|npm|file|link|portal)[+:](?=[\w/~.])(?!\d)"
)
_ASKS_A_FORGE_WHO_ONE_IS = lazy_pattern(r"ssh -T git@(?:github\.com|gitlab\.com|bitbucket\.org)")
_NAMES_A_SOURCE = lazy_pattern(
    r"(?i)\b(?:\w*(?:index|registry|mirror|proxy|insteadof|extra_ca)\w*)[=\s:]"
    r"|(?:^|\s)(?:GOINSECURE|GONOSUMDB|GOPRIVATE)="
)
_NAMES_A_SETTING = lazy_pattern(
    r"(?i)\b(?:\w*(?:askpass|preload|ssh_command|hookspath)\w*)[=\s:]"
    r"|(?:^|\s)(?:NODE_OPTIONS|GOFLAGS|PYTHONSTARTUP|BASH_ENV|PROMPT_COMMAND|PATH)="
)
_HARMLESS_FLAGS_OF_GO = lazy_pattern(
    r"(?<!\S)GOFLAGS=(?:-(?:mod=(?:mod|vendor|readonly)|buildvcs=\w+|count=\d+|p=\d+|v|x|race|trimpath))(?=\s|$)"
)
"""They fetch from nowhere else and run nothing else."""

_LOCAL = lazy_pattern(r"\.(?:\[[\w,-]+\])?|<file>|<id>|…")
_HARMLESS_OPTION = lazy_pattern(
    r"-D|-d|-E|-e|-S|-O|-U|-q|-r|-y|--yes|--dev|--save(?:-dev|-exact|-peer|-optional)?|--frozen(?:-lockfile)?|--locked"
    r"|--offline|--prefer-offline|--no-(?:audit|fund|save|cache|install-project|progress|root)|--quiet|--silent|--upgrade"
    r"|--(?:all-)?extras?(?:=[\w,-]+)?|--all-(?:extras|groups|packages)|--group(?:=[\w-]+)?|--with(?:out)?(?:=[\w,-]+)?"
    r"|--only(?:=\w+)?|--include=dev|--legacy-peer-deps|--production|--editable|--requirement|--workspaces?|--features"
)
_SETTING_OF_GIT = lazy_pattern(
    r"safe\.directory|user\.(?:name|email)|init\.defaultbranch|push\.(?:default|autosetupremote)|pull\.(?:rebase|ff)"
    r"|core\.(?:autocrlf|longpaths|ignorecase|filemode|eol|quotepath|symlinks|precomposeunicode)|fetch\.prune"
    r"|merge\.conflictstyle|rebase\.autostash|commit\.template|color\.\w+|advice\.\w+"
)
_CONFIGURING = frozenset("config set env source sources registry mcp trust".split())


class Taken(NamedTuple):
    """The way that a fix took: its commands, its edits as (file, text), the place of its success, and what failed."""

    ran: Sequence[str]
    written: Sequence[tuple[str, str]]
    until: int
    failed: Turn | None
    is_own: bool = False
    """Whether the failed call has it in it: only an output before that can have proposed it."""

    @property
    def steps(self) -> list[str]:
        return [*self.ran, *(text for _, text in self.written)]


def doubt(ran: Sequence[str], written: Sequence[tuple[str, str]], before: Sequence[Turn], failed: Turn | None) -> str:
    """Why a person must look first at a fix; empty when it may be told as what it measured.

    `before` are all calls up to its success. What the failed call's own output proposes is a hint if it is to call the
    same program, what any other proposes is not.
    """
    return doubts([Taken(ran, written, len(before), failed)], before)[0]


def doubts(taken: Sequence[Taken], calls: Sequence[Turn]) -> list[str]:
    """The same of many fixes of one session, every output of which is looked at once."""
    last = max((each.until for each in taken), default=0)
    seen = _Seen({_flat(step) for each in taken for step in each.steps}, calls[:last])
    manifests = _Manifests(calls)
    return [_doubt(each, seen, manifests) for each in taken]


def _doubt(taken: Taken, seen: _Seen, manifests: _Manifests) -> str:
    proposed = _proposed(taken, seen)
    if proposed == OFFERED:
        return OFFERED
    if why := next(filter(None, map(danger_of_step, taken.steps)), ""):
        return why
    if any(_IS_DEPENDENCIES.fullmatch(file) for file, _ in taken.written):
        return _DEPENDENCIES
    fetched = {name for line in taken.ran for name in _fetched(line)}
    return FETCHES if fetched and not fetched <= manifests.names(taken.until) else proposed


def may_be_shown(line: str) -> bool:
    """Whether a command that did not help may be named: nothing that a person should see first."""
    return not danger_of_step(line) and not _fetched(line)


def danger_of_step(text: str) -> str:
    """What speaks against a step by its own words."""
    plain = _plain(text)
    if clean(text) != text or (plain.isascii() and any(sign.isalpha() and not sign.isascii() for sign in text)):
        return HIDDEN
    if why := tools.danger(plain) or ("destroys" if tools.deletes(plain) else ""):
        return why
    if _HOST.search(plain) and not _ASKS_A_FORGE_WHO_ONE_IS.fullmatch(plain.strip()):
        return HOST
    plain = _HARMLESS_FLAGS_OF_GO.sub("", plain)
    if _NAMES_A_SOURCE.search(plain):
        return SOURCE
    return SETTING if _NAMES_A_SETTING.search(plain) else next(filter(None, map(_configured, elements(plain))), "")


def _plain(text: str) -> str:
    text = clean(text)
    if text.isascii():
        return text
    text = normalize("NFKC", text)
    return text if _LOOK_ALIKES.isdisjoint(beyond_ascii(text)) else text.translate(LOOK_ALIKES)


_SETTING_OF_A_SOURCE = lazy_pattern(r"(?:url|remote|http|https|submodule)\..*|.*proxy.*")


def _configured(command: Command) -> str:
    """Whether it says where a tool gets things from, or what it runs; empty if neither."""
    words = command.text.split()
    if command.program == "git":
        keys = [word.partition("=")[0] for at, word in enumerate(words) if at and words[at - 1] == "-c"]
        if command.subcommand == "config":
            keys += [word for word in command.targets if re.fullmatch(r"[A-Za-z][\w-]*\.\S*[A-Za-z]", word)]
        keys = [key.lower() for key in keys if "/" not in key and not _SETTING_OF_GIT.fullmatch(key.lower())]
        return (SOURCE if any(map(_SETTING_OF_A_SOURCE.fullmatch, keys)) else SETTING) if keys else ""
    is_set = tools.configures(program_family(command.program)) and any(word in _CONFIGURING for word in words[1:4])
    return SOURCE if is_set else ""


# What is fetched by name.

_VERSION = lazy_pattern(r"(?<=[\w\]])(?:[=<>~!^]=?|@).*|\[.*\]")
_BY_NAME = frozenset("install add i get require ci sync update".split())
_ALL_WITHOUT_A_NAME = frozenset("install i ci sync".split())
_WRAPPERS = frozenset(("npx", "bunx", "uvx", "pnpx"))
_KEEPS_A_VALUE = frozenset(("-r", "--requirement", "--extra", "--group", "--with", "--without", "--only", "--features"))
_IS_DEPENDENCIES = lazy_pattern(
    r"(?:package|deno|composer)\.json|pyproject\.toml|requirements[\w.-]*\.(?:txt|in)|go\.(?:mod|work)|Cargo\.toml"
    r"|Gemfile|Pipfile|setup\.(?:py|cfg)|pom\.xml|.*\.gradle(?:\.kts)?|.*\.csproj|environment\.ya?ml|\.gitmodules"
    r"|\.npmrc|\.yarnrc\w*(?:\.yml)?|Dockerfile[\w.]*|.*\.lock|package-lock\.json|pnpm-lock\.yaml|go\.sum|uv\.lock",
    re.IGNORECASE,
)
_NOT_THE_REPOSITORYS = lazy_pattern(
    r"(?:^|/)(?:node_modules|site-packages|vendor|\.venv|venv|tmp|dist|target)(?:/|$)|\.\./"
)
_NAME = lazy_pattern(r"@?[A-Za-z0-9][\w.-]*(?:/[\w.-]+)*")


def _fetched(line: str) -> set[str]:
    """The names of what a line brings from elsewhere; `*` for what has none, or an option that may be a source."""
    return {name for command in elements(_plain(line)) for name in _fetched_by(command)}


def _fetched_by(command: Command) -> Iterator[str]:
    words = command.text.split()
    if _ASKS_A_FORGE_WHO_ONE_IS.fullmatch(command.text):
        return
    wrapper = next((word for word in command.settings if word in _WRAPPERS), "")
    if wrapper:
        yield from _unknown([command.program])
        yield from (("*",) if any(word.startswith("-") for word in words[1 : words.index(command.program)]) else ())
        return
    program = program_family(command.program)
    verb = command.subcommand.partition(" ")[0] or next((word for word in words[1:] if not word.startswith("-")), "")
    if not tools.fetches(program, verb):
        return
    named = list(_named(words[words.index(verb) + 1 :] if verb in words else []))
    if verb in _BY_NAME and (named or verb in _ALL_WITHOUT_A_NAME):
        yield from named
    elif command.text != "go run ." and not command.text.startswith("go run ./"):
        yield "*"


def _named(words: Sequence[str]) -> Iterator[str]:
    takes_value = False
    for word in words:
        if takes_value:
            takes_value = False
        elif word.startswith("-"):
            takes_value = word in _KEEPS_A_VALUE
            if not _HARMLESS_OPTION.fullmatch(word):
                yield "*"
        elif not _LOCAL.fullmatch(word.strip("'\"")):
            yield from _unknown([word.strip("'\"")])


def _unknown(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        bare = _VERSION.sub("", name).lower()
        if not tools.is_known(bare):
            yield _same_name(bare) or "*"


def _same_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.lower())


class _Manifests:
    """Names in manifests and lock files of the repository, as they were read before the session wrote to any."""

    def __init__(self, calls: Sequence[Turn]) -> None:
        self._reads = self._read(calls)
        self._known: list[tuple[int, set[str]]] = []

    def names(self, until: int) -> set[str]:
        """Those of the calls before a place."""
        while not self._known or self._known[-1][0] < until:
            read = next(self._reads, None)
            if read is None:
                break
            self._known.append(read)
        return {name for at, names in self._known if at < until for name in names}

    @staticmethod
    def _read(calls: Sequence[Turn]) -> Iterator[tuple[int, set[str]]]:
        for at, turn in enumerate(calls):
            file = _manifest_read(turn)
            if file and turn.succeeded:
                yield at, {_same_name(_VERSION.sub("", name)) for name in _NAME.findall(clean(turn.output))}
            elif _writes_a_manifest(turn):
                return


def _manifest_read(turn: Turn) -> str:
    call = turn.call
    if call.action == "read":
        path = call.target
    else:
        found = elements(call.command) if call.action == "run" else ()
        paths = sorted(found[0].targets) if len(found) == 1 and tools.looks(found[0]) else []
        path = paths[-1] if paths and all(map(_is_manifest, paths[-1:])) else ""
    return path if _is_manifest(path) else ""


def _is_manifest(path: str) -> bool:
    return bool(_IS_DEPENDENCIES.fullmatch(base_name(path))) and not _NOT_THE_REPOSITORYS.search(path)


def _writes_a_manifest(turn: Turn) -> bool:
    call = turn.call
    if call.action == "edit":
        return any(_IS_DEPENDENCIES.fullmatch(base_name(file)) for file in (call.target, *call.others))
    found = elements(call.command) if call.action == "run" else ()
    return any(list(_fetched_by(command)) or _is_manifest(command.writes) for command in found)


# What output proposed.


class _Held(NamedTuple):
    """An output that has a step in it."""

    at: int
    position: int
    outside: bool
    """Not only in what we handed out ourselves."""


class _Seen:
    """Where steps stand in the calls of a session."""

    def __init__(self, steps: Iterable[str], calls: Sequence[Turn]) -> None:
        sought = _Sought(steps)
        self.held: dict[str, list[_Held]] = {}
        self.typed: dict[str, int] = {}
        """The position of the first call that has the step as its command."""
        for at, turn in enumerate(calls) if sought else ():
            for step in sought.found_in(turn.call.command):
                self.typed.setdefault(step, turn.position)
            for step in sought.found_in(turn.output):
                outside = step in _flat(unfenced(turn.output))
                self.held.setdefault(step, []).append(_Held(at, turn.position, outside))


_OWN_SCRIPT = lazy_pattern(
    r"(?:(?:npm|pnpm|yarn|bun)(?: run)?|make|just|cargo|dotnet|go)"
    r" (?:test|build|check|lint|typecheck|type-check|format)"
)
"""What the repository itself calls its checks, by the names that all have: whoever proposes it."""


class _Sought:
    """Steps that are looked for in many texts, in each of them all at once."""

    def __init__(self, steps: Iterable[str]) -> None:
        self._words = {step: step.split() for step in steps if len(step) >= _MIN_HINT_CHARACTERS}
        self._by_word: dict[str, list[str]] = {}
        for step, words in self._words.items():
            # No other word can be a part of one between two others: without that word, a text has not the step.
            self._by_word.setdefault(max(words[1:-1], key=len, default=""), []).append(step)
        self._of_two_words = self._by_word.pop("", [])

    def __len__(self) -> int:
        return len(self._words)

    def found_in(self, text: str) -> list[str]:
        if not self._may_be_in(text):
            return []
        words = _plain(text).split()
        likely = [*self._of_two_words, *(step for word in self._by_word.keys() & words for step in self._by_word[word])]
        flat = " ".join(words) if likely else ""
        return [step for step in likely if step in flat]

    def _may_be_in(self, text: str) -> bool:
        """To flatten a long text costs a hundred times more than to see that a word is not there."""
        if len(self._words) > _FEW_STEPS or not text.isascii() or not is_plain(text):
            return bool(text)
        return any(all(word in text for word in words) for words in self._words.values())


def _proposed(taken: Taken, seen: _Seen) -> str:
    found = ""
    failed = taken.failed
    for bare in map(_flat, taken.steps):
        if len(bare) < _MIN_HINT_CHARACTERS or _installs_all(bare) or _OWN_SCRIPT.fullmatch(bare):
            continue
        holding = [each for each in seen.held.get(bare, ()) if each.at < taken.until]
        if holding and bare in seen.typed and seen.typed[bare] <= holding[0].position:
            continue  # a terminal shows what was typed: the agent had said it before any output did
        if taken.is_own and failed is not None:
            holding = [each for each in holding if each.position < failed.position]
        outside = [each for each in holding if each.outside]
        if any(failed is None or each.position != failed.position for each in outside):
            return PROPOSED
        if outside and failed is not None:
            if not _same_program(bare, failed.call.command):
                return PROPOSED
            found = found or HINTED
        elif holding:
            found = found or OFFERED
    return found


def _installs_all(line: str) -> bool:
    """What the repository's own manifests say, and nothing else: whoever proposes it."""
    found = elements(line)
    return bool(found) and all(tools.installs(command) and not command.targets for command in found)


def _same_program(step: str, failed: str) -> bool:
    called = {command.program for command in elements(failed)}
    return all(command.program in called for command in elements(step))


def _flat(text: str) -> str:
    return " ".join(_plain(text).split())
