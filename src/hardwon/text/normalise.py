"""What makes a text the same on every machine: paths without the person, ids, an error's words without what varies.

Patterns are compiled when a text has the character they need: the hook normalises one short message and ends.
"""

from __future__ import annotations

import os
import re
from functools import cache, lru_cache

try:
    from _blake2 import blake2b as blake2b  # noqa: PLC0414 - for others, too; hashlib would load OpenSSL, which costs the hook as much as apsw
except ImportError:  # another Python than CPython
    from hashlib import blake2b as blake2b  # noqa: PLC0414

# Patterns that are compiled when they are first used: most processes import many and need few.

compiled = re.compile
"""By what: a harvest, which needs a thousand, puts one in its place that knows them from the last time."""
_PATTERN_METHODS = ("search", "match", "fullmatch", "sub", "split", "finditer", "findall")


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> object:
        pattern = compiled(self._pattern, self._flags)
        vars(self).update({method: getattr(pattern, method) for method in _PATTERN_METHODS})
        return getattr(pattern, name)


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, only later. From its second use on, a method is the compiled pattern's own."""
    return _LazyPattern(source, flags)  # type: ignore[return-value]


# What stands in a text where something was taken out of it: `‹secret:token:1›`.

MARK_OPEN = "\u2039"
MARK_CLOSE = "\u203a"
MARK_ENDS = MARK_OPEN + MARK_CLOSE
"""What a value never holds, for a character class: a mark ends it."""
FORGOTTEN = f"{MARK_OPEN}forgotten{MARK_CLOSE}"
"""What stands where words were that a person wanted forgotten."""
MARK_TAG_CHARACTERS = 4
MARK = lazy_pattern(
    f"{MARK_OPEN}(?:(?:secret:[a-z][a-z0-9-]{{1,31}}|email|phone|ip|card|url)"
    f":(?:[0-9]{{1,9}}|[a-z2-7]{{{MARK_TAG_CHARACTERS}}})|forgotten){MARK_CLOSE}"
)


def blank(text: str) -> str:
    """The same text with every mark a run of its first character, so that no word is left in it."""
    if MARK_OPEN not in text:
        return text
    return MARK.sub(lambda mark: MARK_OPEN * len(mark[0]), text)


# Hashes and ids: the same content has the same id on every machine.


def digest(*parts: str, size: int = 8, key: bytes = b"") -> str:
    """Hexadecimal digits of a hash over the parts."""
    joined = "\x1f".join(parts).encode("utf-8", "replace")
    return str(blake2b(joined, digest_size=size, key=key[:64]).hexdigest())


# Ids: of harvested rows from what they say, so that the same files give the same rows; of all else by chance, so that
# the few characters that people type tell apart even what was made in the same second.


def derived(prefix: str, *parts: str) -> str:
    """`S…`, `L…`, `X…`: a letter for the noun and a hash of its natural key."""
    return prefix + digest(*parts)


def made(prefix: str) -> str:
    """A letter for the noun and as many digits as `derived` gives, unlike any other."""
    return prefix + os.urandom(8).hex()


def normalised(text: str) -> str:
    """Two sentences that differ only in case and spaces are one."""
    return " ".join(text.casefold().split())


@lru_cache(maxsize=1 << 13)  # whoever writes a lesson first asks whether it is there
def text_hash(text: str) -> str:
    return digest(normalised(text))


# Paths without the person: a home folder becomes `~`, whichever system wrote it.

_PERSON = r"(?!(?:Shared|Public|linuxbrew)\b)\w(?:[\w.+-]{0,62}\w)?(?![\w-])"
_KNOWN_BY_FORM = ("/home/", "/Users/", "/root", "/var/home/")
_OWN_HOME = os.path.expanduser("~").rstrip("/")
if _OWN_HOME.startswith(_KNOWN_BY_FORM) or _OWN_HOME.count("/") < 2:  # nor one that would be half of all paths
    _OWN_HOME = ""
_ELSEWHERE = (_OWN_HOME,) if _OWN_HOME else ()
"""The home folder of who runs this, where its form does not tell: `/data/people/ann`."""
# By the part they share, which alone is searched in most texts; longer ones first.
_UNIX_HOMES = {
    "/home/": ("/var/home/", "/home/"),
    "/Users/": ("/mnt/c/Users/", "/c/Users/", "/Users/"),
    "/root": ("/root",),
    **{home: (home,) for home in _ELSEWHERE},
}
_WINDOWS_TAILS = ("sers", "SERS")
_SLASHES = "/\\"
_WINDOWS_HOME = (
    r"(?i)(?<![A-Za-z0-9])[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/)"
    rf"(?:[\w.+%-]{{1,32}}(?: [\w.+-]{{1,32}}){{0,2}}(?=[\\/])|{_PERSON})"
)
HOME_WORDS = ("/home/", "/root", *_WINDOWS_TAILS, *_ELSEWHERE)
"""One of them stands wherever `tilde` finds something to shorten."""
HOME_PROBE = "|".join((r"/home/|/Users/|/root|(?i::(?:\\{1,4}|/)users)", *map(re.escape, _ELSEWHERE)))
"""Where `tilde` may find something to shorten, for a search over many patterns at once."""


def tilde(text: str) -> str:
    """`/home/alice/x` becomes `~/x`, wherever the system keeps its homes."""
    if is_homeless(text):
        return text
    for tail in _WINDOWS_TAILS:
        text = _shorten_windows_homes(text, tail)
    for tail, homes in _UNIX_HOMES.items():
        text = _shorten_unix_homes(text, tail, homes)
    return text


_HOME_WITHIN = lazy_pattern(r"([\\/][A-Za-z][\\/]Users[\\/]+)(?!(?:Shared|Public)\b|<)[\w.+-]+")
"""A home of a drive below another folder: `C:/Program Files/Git/mnt/c/Users/ann`."""


def without_homes(text: str) -> str:
    """As it is stored: homes shortened, and nobody's account in those that stand within another path."""
    text = tilde(text)
    return _HOME_WITHIN.sub(r"\1<user>", text) if "sers" in text else text


def is_homeless(text: str) -> bool:
    """Whether `tilde` would leave it as it is; it errs on the other side only."""
    for word in HOME_WORDS:  # noqa: SIM110 - twice as fast as any()
        if word in text:
            return False
    return True


def base_name(path: str) -> str:
    """The last part of a path of any system."""
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


@cache
def _home(folder: str) -> re.Pattern[str]:
    """A folder where a path begins; its literal start is what keeps the search fast."""
    plain = re.escape(folder)
    begins = (
        rf"{plain}(?:(?<![\w~/.)}}\]{MARK_ENDS}-]{plain})|(?<=\\[nrt]{plain})"
        rf"|(?<=\s-[A-Za-z]{plain})|(?<=^-[A-Za-z]{plain})|(?<=file://{plain})|(?<=%3A{plain}))"
    )
    return re.compile(begins + (r"(?![\w.-])" if folder in ("/root", *_ELSEWHERE) else _PERSON))


def _shorten_unix_homes(text: str, tail: str, homes: tuple[str, ...]) -> str:
    at = text.find(tail)  # many times faster than a search by the pattern
    if at < 0:
        return text
    pieces: list[str] = []
    done = 0
    while at >= 0:
        end = at + len(tail)
        for folder in homes:
            start = end - len(folder)
            if start >= done and text.startswith(folder, start) and (home := _home(folder).match(text, start)):
                pieces += (text[done:start], "~")
                done = end = home.end()
                break
        at = text.find(tail, end)
    return "".join(pieces) + text[done:] if pieces else text


def _shorten_windows_homes(text: str, tail: str) -> str:
    at = text.find(tail)
    pieces: list[str] = []
    done = 0
    while at >= 0:
        end = at + len(tail)
        # Most of them are no path of Windows, which the sign before tells faster than a pattern.
        if at > 3 and text[at - 2] in _SLASHES:
            drive = text.rfind(":", max(done, at - 6), at) - 1
            if drive >= done and (home := _windows_home().match(text, drive)):
                pieces += (text[done:drive], "~")
                done = end = home.end()
        at = text.find(tail, end)
    return "".join(pieces) + text[done:] if pieces else text


@cache
def _windows_home() -> re.Pattern[str]:
    return re.compile(_WINDOWS_HOME)


# The files and folders that a text names.

_FILE_NAMED = lazy_pattern(
    r"(?<![\w/.-])(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}\b|(?<![\w/.-])(?:[\w.@+-]+/)+[\w.@+-]+"
)


def named_in(text: str) -> list[str]:
    """Each once, in the order they come."""
    return list(dict.fromkeys(found for found in _FILE_NAMED.findall(text) if len(found) > len("e.g")))


# What of an error's words is its identity: names stay, what varies from run to run does not.

# Forms of numbers that tell of a person or a machine, as plain patterns: scrubbing replaces them, and an
# error's identity masks whatever has such a form, so that the two agree.

# What must not stand before a number is looked at after its first sign: searching for that alone is fast.
_NO_MORE = r"(?![\w-]|[./:]\d)"

IPV4 = r"\d(?<![\w.+-]\d)\d{0,2}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w-]|\.\d)"
IPV6 = r"[0-9A-Fa-f](?<![\w:.][0-9A-Fa-f])[0-9A-Fa-f]{0,3}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}(?![\w:]|\.\d)"
PUBLIC_IPV6 = r"[23](?<![\w:.][23])(?:\d{3}|[aA]\d[0-9A-Fa-f]):(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}(?![\w:]|\.\d)"
AMERICAN_PHONE = (
    r"[(2-9](?<![\w.+/:-][(2-9])(?:(?<=\()[2-9]\d\d\)[ ]?|(?<=\d)\d\d[-.])[2-9]\d\d[-.]\d{4}(?:x\d{1,5})?"
    rf"{_NO_MORE}"
)
PHONE_WITH_COUNTRY = rf"\+(?<=[\s\"'(:=,;>]\+)(?<!\n\+)\d(?:[ .()-]{{0,2}}\d){{7,14}}{_NO_MORE}"
NAMED_PHONE = (
    r"(?P<name>(?i:phone|mobile|fax)(?i:[_ -]?(?:number|no|nr)\b)?[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?)"
    rf"(?P<secret>\(?\+?\d(?:[ .()/-]{{0,2}}\d){{6,14}}){_NO_MORE}"
)
_CARD_BEGINS = r"[2-6](?<![\w.+/:-][2-6])"
_CARD_IN_GROUPS = r"\d{3}([ -])\d{4}\1\d{4}\1\d{4}|(?<=3)[47]\d\d([ -])\d{6}\2\d{5}"
_CARD_ENDS = r"(?![\w-]|\.\d)"
CARD_IN_GROUPS = rf"{_CARD_BEGINS}(?:{_CARD_IN_GROUPS}){_CARD_ENDS}"
CARD_IN_ONE = rf"{_CARD_BEGINS}\d{{12,15}}{_CARD_ENDS}"
CARD = rf"{_CARD_BEGINS}(?:{_CARD_IN_GROUPS}|\d{{12,15}}){_CARD_ENDS}"
MIN_PHONE_DIGITS = 7
"""A telephone number has no fewer, and the others have more, but for an IPv4 address."""

_URL = r"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://(?:[^\s'\"<>`)\]]|<(?:id|email)>)*(?:[^\s'\"<>`)\].,;:?!]|<(?:id|email)>)"
# (one of these must be there, pattern, replacement), in this order.
_STEPS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("@",), r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w(\[-])", "<email>"),
    (("ookie",), r"(?i)(cookie[\"']?\s*[:=]\s*)\S.*", r"\1<id>"),
    (("-u", "-user"), r"(?<![\w-])(-u|--user)([ =][\"']?[^\s:\"'@/]{1,64}:)[^\s\"']{3,}", r"\1\2<id>"),
    (
        ("pass", "PASS", "Pass", "pwd", "PWD", "ecret", "ECRET", "oken", "OKEN", "uth", "UTH", "key", "KEY", "Key"),
        (
            r"(?i)((?:pass(?:word|wd|phrase)?|pwd|secret|token|auth|(?:api|access|private)[_-]?key|authorization)[\"']?\s*"
            r"(?:[=:]|:=)\s*(?:bearer |basic )?[\"'`]?)(?:<id>|[^\s,;\"'`<>]{8,})[^\s,;\"'`]*"
        ),
        r"\1<id>",
    ),
)
_MARKS = (
    ("‹email", r"‹email[^›\n]{0,80}›", "<email>"),
    ("‹ip", r"‹ip:[^›\n]{0,80}›", "<ip>"),
    ("‹phone", r"‹phone:[^›\n]{0,80}›", "<n>"),
    ("‹card", r"‹card:[^›\n]{0,80}›", "<n>"),
    ("‹", r"‹[a-z]+[^›\n]{0,80}›", "<id>"),
)
_DIGIT_STEPS: tuple[tuple[str, str], ...] = (
    (
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d[:_]\d\d(?:[:_]\d\d(?:[.,_]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\d])",
        "<time>",
    ),
    (r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b", "<time>"),
    (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
    (r"(?i)\b0x[0-9a-f]+\b", "<id>"),
    (
        (
            r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|gl[a-z]{2,5}-|xox[a-z][-.]|xapp-|sk-|[sr]k_(?:live|test)_|A(?:KI|SI|BI|CC)A|AIza|"
            r"ya29\.|GOCSPX-|whsec_|npm_|pypi-AgE|hf_|SG\.|(?:SB-)?Mid-server-|SK(?=[0-9a-f]{32})|do[opr]_v1_|eyJ)(?=[\w.-]*\d)[\w.-]{15,}(?<![.])"
        ),
        "<id>",
    ),
)
_OPAQUE_STEPS = (_DIGIT_STEPS[2], (r"(?i)\b0x[0-9a-f]{7,}\b", "<id>"), _DIGIT_STEPS[4])
"""What tells a reader nothing: ids, addresses in memory, tokens. A time or a small number may be what is wrong."""
_LONG_WORD = r"(?<![\w<])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{20,}(?!\w)"
_LONG_NUMBER_STEPS: tuple[tuple[str, str], ...] = (
    (NAMED_PHONE, r"\g<name><n>"),
    (PUBLIC_IPV6, "<ip>"),
    (f"{PHONE_WITH_COUNTRY}|{AMERICAN_PHONE}", "<n>"),
    (CARD, "<n>"),
)
_LATE_DIGIT_STEPS: tuple[tuple[str, str], ...] = (
    (r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])", "<ip>"),
    (r"(?<=[\w)\]>])(?::\d+(?:[:-]\d+)?|\(\d+,\d+\))(?!\w|\.\d)", ""),
    (r"(?<![\w.])v?\d+\.\d+(?:\.\d+)+(?:[-+.]\w+)*", "<version>"),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b", "<id>"),
    # A status or exit code is part of what went wrong.
    (r"(?i)\b(status(?: code)?|http(?:/[\d.]+)?|errno|exit code|signal|code)([ :=#]+)(\d+)\b", r"\1\2#\3"),
    # The number of a container or a worker belongs to its name.
    (
        r"(?<![\w<#.])(?!(?<=\w-)\d{1,2}(?!\d))[-+]?\d[\d_,.]*(?:[eE][-+]?\d+)?(?:ms|s|m|h|%|[KMGT]i?B|kB|B)?(?!\w)",
        "<n>",
    ),
)
_PATH = (
    r"(?:~|[A-Za-z]:(?=[\\/])|\.{1,2}(?=/)|(?<![\w.@>-]))(?:[\\/]+[\w.@+~-]+){1,40}[\\/]?"
    r"|(?<![@\w.+></-])(?:[\w.+-]+/)+[\w.@+-]+"
)
_TEMPORARY = r"(?i)^(?:/private)?/(?:tmp|var/folders|var/tmp|dev/shm)/|[\\/]Temp[\\/]"
_MODULE_PATH = r"(?!\.)[\w-]+(?:\.[\w-]+)*\.[a-z]{2,6}/[\w./-]*(?<=/)[\w-]+$"
"""`github.com/spf13/cobra`: a module's name, the same everywhere."""
_FILE = r"\.[A-Za-z]\w{0,5}$"
_QUOTES = str.maketrans("‘’“”`´", "''''''")
# One in every folder: the folder tells them apart.
_EVERYWHERE = frozenset("__init__ __main__ index mod page layout route +page +server +layout".split())
_PART = r"[A-Za-z]*\d{0,2}|\d{1,4}|[A-Za-z]?\d{1,2}[A-Za-z]{0,2}"
_WORD = r"[A-Z]?[a-z]{3,}|[A-Z]{3,}"
_MIN_NAMED_SHARE = 0.7


def identity(message: str) -> str:
    """The message with paths cut to their last part and numbers, ids, times and secrets masked."""
    text = unmarked(message).translate(_QUOTES)
    if "://" in text:  # First: a scrubbed address has marks inside.
        text = re.sub(_URL, _address, text)
    for words, pattern, replacement in _STEPS:
        if any(word in text for word in words):
            text = re.sub(pattern, replacement, text)
    if "/" in text or "\\" in text:
        text = tilde(text)
    digits = any(character.isdigit() for character in text)
    if digits:
        text = _replaced(text, _DIGIT_STEPS)
        if sum(map(str.isdigit, text)) >= MIN_PHONE_DIGITS:
            text = _replaced(text, _LONG_NUMBER_STEPS)
    if "/" in text or "\\" in text:
        text = re.sub(_PATH, _path_name, text)
    if digits:
        text = re.sub(_LONG_WORD, _unless_name, text)
        text = _replaced(text, _LATE_DIGIT_STEPS)
    if "<id>" in text:
        text = re.sub(r"<id>[:.=&]+(?=\s|$)", "<id>", text)  # redacting takes what touches a secret with it
    return " ".join(text.split())


_REPOSITORY = r"(?<![\w/.@-])(?:git@)?(?:[\w-]+\.)+[a-z]{2,6}[:/][\w.~-]+(?=/[\w.~-])"
_HOST = r"(?<![\w./@-])(?:[\w-]+\.)+(?:com|org|net|io|dev|app|cloud|internal|local|example)\b(?![\w./(-])"
# A name of code that ends as hosts do: `src.app`, `socket.io`, `com.acme.app`; real hosts seldom end so.
_CODE_NAME = r"(?:(?:com|org|net|io)\.)?(?:[\w-]+\.)*[\w-]+\.(?:io|dev|app|local)|(?:com|org)\.(?:[\w-]+\.)*example"
_BEFORE_CODE = (
    r"(?i)\b(?:modules?|named|packages?|attribute|artifact|class|symbol|namespace|import|app|target)[ :]+[\"'`]?$"
)
_AFTER_CODE = r"[\"'`]?(?: is (?:not (?:a|an|defined)\b|undefined|null)|:[A-Za-z_]|[\"'`]? has no )"
_OF_CODE = r"(?:this|self|src|app|apps|tests?|window|process|module|exports|core|server|backend|frontend|lib)\."
_OWN_FILE = r"\bfile://(?=/)(?:/(?=[A-Za-z]:))?"
_OWN_MACHINE = (
    r"\b(?:https?|wss?)://(?P<host>localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|host\.docker\.internal)(?P<port>:\d{1,5})?"
    r"(?![\w.@:-])(?P<path>(?:/[\w.~%:-]*){0,8})(?:[?#][^\s'\"<>`)\]]*)?"
)
"""Where a program of one's own listens is nobody's secret, and says which one it was."""
# A package and its version are nobody's account.
_ACCOUNT = (
    r"(?<=account )[\w.-]+|(?<![\w.%+/-])[\w.-]{1,64}@(?!(?:latest|next|canary|nightly|workspace|npm|\d+)\b)"
    r"[\w-]{2,64}(?=[:\s'\"),]|$)(?!@)"
)
# Neither a version, nor one's own machine, nor a time.
_ADDRESS = (
    rf"(?<!ersion[ =])(?!(?:127\.0\.0\.1|0\.0\.0\.0)(?![\w.]))(?:{IPV4})"
    rf"|(?!\d{{1,2}}:\d\d:\d\d(?![\w:]))(?=(?:[0-9A-Fa-f]{{1,4}}:){{5}}|[0-9A-Fa-f:]*::)(?:{IPV6})"
)
_DEEP_PATH = r"(?:(?<![\w.@>-])|~|[A-Za-z]:)(?:[\\/][\w.@+~-]+){4,40}"


def presentable(line: str) -> str:
    """A line of output to be quoted: real words, names and numbers, but nobody's address, account, token or home."""
    text = unmarked(line)
    if "://" in text:
        text = re.sub(_OWN_MACHINE, r"\g<host>\g<port>\g<path>", re.sub(_OWN_FILE, "", text))
        text = re.sub(_URL, _address, text)
    for words, pattern, replacement in _STEPS:
        if any(word in text for word in words):
            text = re.sub(pattern, replacement, text)
    text = re.sub(_HOST, _host, re.sub(_REPOSITORY, "…", text))
    text = re.sub(r"<(?:email|host)>:[\w.~-]+(?=/)", "…", text)
    if "@" in text or "account " in text:
        text = re.sub(_ACCOUNT, "<user>", text)
    text = re.sub(r"(Permission to )[\w.-]+(/[\w.-]+ denied to )[\w.-]+", r"\1<user>\2<user>", text)
    if "/" in text or "\\" in text:
        text = _HOME_WITHIN.sub(r"\1<user>", _shortened_paths(tilde(text))).replace("……", "…")
    if any(character.isdigit() for character in text):
        text = _replaced(text, _OPAQUE_STEPS)
        text = re.sub(_ADDRESS, "<ip>", text)
        text = re.sub(_LONG_WORD, _unless_name, text)
        text = re.sub(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}\b", "<id>", text)
    return " ".join(text.split())


_NOBODYS_HOSTS = ("host.docker.internal",)


def _host(found: re.Match[str]) -> str:
    name, said = found.group(), found.string
    of_code = (
        re.match(_OF_CODE, name)
        or re.search(_BEFORE_CODE, said[: found.start()])
        or re.match(_AFTER_CODE, said[found.end() :])
    )
    product = re.fullmatch(r"[a-z]*[A-Z]\w+\.net", name)  # xUnit.net
    return name if (of_code and re.fullmatch(_CODE_NAME, name)) or product or name in _NOBODYS_HOSTS else "<host>"


_PARTS_KEPT, _PARTS_KEPT_OF_COMMON_NAMES = 2, 4
_COMMON_NAMES = frozenset(
    "index main mod lib src test tests docs dist package page route layout config utils types __init__ README".split()
)

_FOLDERS_ASIDE = frozenset("build dist out target tmp temp vendor venv .venv worktrees".split())
"""What lies below them is nobody's own work: that says more than the file."""


def _shortened_paths(text: str) -> str:
    """Deep paths by their last parts, and by as many more as it takes to say of which package or folder."""
    parts = {path: re.split(r"[\\/]", path) for path in re.findall(_DEEP_PATH, text)}

    def end(found: re.Match[str]) -> str:
        own = parts[found.group()]
        others = [other for other in parts.values() if other != own]
        least = _PARTS_KEPT_OF_COMMON_NAMES if own[-1].partition(".")[0] in _COMMON_NAMES else _PARTS_KEPT
        if "node_modules" in own:
            least = min(len(own) - own.index("node_modules"), _PARTS_KEPT_OF_COMMON_NAMES + 1)
        kept = next((n for n in range(least, len(own)) if all(other[-n:] != own[-n:] for other in others)), len(own))
        aside = next((at for at in range(2, len(own) - kept) if own[at] in _FOLDERS_ASIDE), 0)
        if aside:
            head = own[aside : aside + 2]
            return "…/" + "/".join((*head, "…", *own[-kept:]) if aside + 2 < len(own) - kept else own[aside:])
        return "…/" + "/".join(own[-kept:]) if kept < len(own) else found.group()

    return re.sub(_DEEP_PATH, end, text)


def unmarked(text: str) -> str:
    """What was redacted, by its kind alone: a mark's own colons and numbers are nothing the tool wrote."""
    for needed, pattern, replacement in _MARKS:
        if needed in text:
            text = re.sub(pattern, replacement, text)
    return text


def tail(path: str) -> str:
    """What of a path is the same on every machine: its last part, with the folder where that says too little."""
    name = base_name(path)
    if name.partition(".")[0] not in _EVERYWHERE:
        return name
    folder = base_name(tilde(path).replace("\\", "/").rstrip("/").rpartition("/")[0])
    return f"{folder}/{name}" if folder not in ("", ".", "..", "~") else name


def is_random(word: str) -> bool:
    """Whether letters and digits are mixed as nobody would in a name."""
    parts = [part for part in re.split(r"[-_.]+", word) if part]
    named = sum(len(part) for part in parts if re.fullmatch(_PART, part) or _of_words(part))
    return named < _MIN_NAMED_SHARE * sum(map(len, parts))


def _of_words(part: str) -> bool:
    return sum(len(word) for word in re.findall(_WORD, part)) >= _MIN_NAMED_SHARE * len(part)


def _replaced(text: str, steps: tuple[tuple[str, str], ...]) -> str:
    for pattern, replacement in steps:
        text = re.sub(pattern, replacement, text)
    return text


def _unless_name(found: re.Match[str]) -> str:
    return "<id>" if is_random(found.group()) else found.group()


def _address(found: re.Match[str]) -> str:
    """An address loses its host, its secrets and its query; what it points at stays."""
    _, _, rest = found.group().partition("://")
    _, _, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    name = path.rstrip("/").rpartition("/")[2]
    telling = re.fullmatch(r"(?=[^\d]*[A-Za-z]{2})[\w.+~-]{2,60}", name) and not is_random(name)
    return f"<url>/{name}" if telling else "<url>"


def _path_name(found: re.Match[str]) -> str:
    path = found.group()
    name = base_name(path)
    if re.match(_MODULE_PATH, path):
        return path
    if not re.search(_TEMPORARY, path):
        return tail(path) if re.search(_FILE, name) else name
    return "<tmp>/" + name if re.search(_FILE, name) else "<tmp>"


# Where a text speaks of a person: what follows such words is theirs, though its form alone would not tell. The
# patterns are for lowercase text.

_NUMBER = r"(?P<secret>\(?\+?\d(?:[ .()/-]{0,2}\d){6,14}(?:x\d{1,5})?)"
_SPACED_NUMBER = r"(?P<secret>\(?\+?\d{2,5}\)?(?:[ .-]\d{2,8}){1,5})"
_SITE = rf"(?P<secret>https?://[^\s<>\"'{MARK_ENDS}]{{3,256}}+)"

_LABELS = ("phone", "mobile", "cell", "desk", "fax", "tel", "whatsapp")

LABELLED_PHONE = rf"(?:{'|'.join(_LABELS)}):\s{{0,3}}{_NUMBER}{_NO_MORE}"
CALLED_PHONE = (
    r"(?:(?:call|ring|reach|contact|text|phone) (?:me|us) (?:on|at)|answering (?:on|at)"
    rf"|messages? (?:to|on my registered)) {_SPACED_NUMBER}{_NO_MORE}"
)
PHONE_OF_A_PLACE = (
    r"[(+\d](?<![\w.+-][(+\d])\d(?:[ .()-]{0,2}\d){5,14}+"
    r"(?=[ ,-]{0,2}[ -](?:office|mobile|fax)(?![\w-]))"
)
SPOKEN_CARD = (
    r"c(?:ard|(?<![a-z]c)c)\b[^\d\n]{0,24}"
    r"(?P<secret>\d{12,19}|\d{4} \d{4} \d{4}(?: \d{1,7})?|\d{4}-\d{4}-\d{4}(?:-\d{1,7})?)(?![\w-])"
)
SPOKEN_IBAN = (
    r"iban\b[^\w\n]{0,12}(?:(?:is|number|no)\b[^\w\n]{0,4})?"
    r"(?P<secret>[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?)(?![\w-])"
)
SPOKEN_SSN = r"(?:ssn|social security)\b[^\d\n]{0,24}(?P<secret>\d{3}[- ]?\d{2}[- ]?\d{4})(?![\w-])"
SPOKEN_IPV6 = r"address[ \t:=]{1,3}(?P<secret>[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){7})(?![\w:])"
OWN_SITE = (
    r"(?:(?:my|our) (?:web ?site|site|home ?page|blog|portfolio)(?: is)?:?|website:|shared files? with you"
    rf"|posted an? (?:photo|picture|video))\s{{1,2}}{_SITE}"
)

KEYWORDS = {
    LABELLED_PHONE: tuple(f"{label}:" for label in _LABELS),
    CALLED_PHONE: (
        " me on ",
        " me at ",
        " us on ",
        " us at ",
        "answering ",
        "messages to ",
        "message to ",
        " my registered ",
    ),
    PHONE_OF_A_PLACE: (" office", "-office", " mobile", "-mobile", " fax", "-fax"),
    SPOKEN_CARD: ("card", "cc "),
    SPOKEN_IBAN: ("iban",),
    SPOKEN_SSN: ("ssn", "social security"),
    SPOKEN_IPV6: ("address",),
    OWN_SITE: (
        *("website:", "with you", "posted a"),
        *(f"{whose} {what}" for whose in ("my", "our") for what in ("web", "site", "home", "blog", "portfolio")),
    ),
}
"""Pattern → words of which one stands in all that it matches."""


def speaks_of_people(text: str) -> bool:
    """Whether there may be something of a person's in it."""
    lowered = text.lower()
    for pattern, words in KEYWORDS.items():
        for word in words:  # by any() it would take twice as long
            if word in lowered:
                if re.search(pattern, lowered):
                    return True
                break
    return False
