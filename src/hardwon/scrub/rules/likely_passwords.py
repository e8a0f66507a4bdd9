"""Passwords wherever a text speaks of one: each word nearby is weighed by its form and its link to the mention."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from operator import itemgetter
from typing import NamedTuple

from hardwon.scrub.rule import Candidate, Rule
from hardwon.scrub.rules.value_forms import BELONGS, FUNCTION, MAKES, SAYS, shape
from hardwon.text.normalise import MARK_ENDS

# How a text speaks of it; beyond ASCII capitals are written out, for a lowercase copy of a text keeps them.

PASSWORDS = (
    *(
        "password passwort passord passcode passwd pasword passwrd passowrd pssword pswd psswd passw0rd"
        " kennwort contrase senha palavra-passe wachtwoord lösenord adgangskode salasana kodeord hasło hasła hasłem"
        " hasłu heslo heslem hesla jelszó jelszav jelszót parola parolă parolayı parool paroliet şifre Şifre mdp"
        " geslo gesla zaporka lozinka lozinku sifra slaptažod парол Парол ПАРОЛ лозинка παρολα κωδικό nenosiri باسورد"
        " 密码 密碼 口令 合言葉 パスワード 暗証番号 비밀번호 암호 비번 패스워드 पासवर्ड পাসওয়ার্ড รหัสผ่าน סיסמה סיסמא"
        " گذرواژه assword:"
    ).split(),
    *(
        "pass code|pass word|mot de passe|door code|backup code|access code|zugangscode|clave del|la clave|clave="
        "| clave:|la contra|kata sandi|kata laluan|رمز عبور|پاس ورڈ|het ww|mật khẩu|كلمة المرور|كلمة السر|shared secret"
        "|secret word|magic word|secret partagé|segredo compartilhado|pre-shared key|wifi key|wi-fi key|wlan key"
        "|wpa key|master key"
    ).split("|"),
)
_PHRASES = "passphrase|pass phrase|phrase secrète|phrase de passe|frase de paso|арольная фраза|keyphrase".split("|")
_SHORT = ("pwd", "pw", "psw", "p/w", "psk")
_PASS = ("pass",)
_PINS = ("pin", "пин", "Пин")
_SECRETS = ("secret", "секрет", "Секрет", "bindcredential")
_TOKENS = (
    "token|api key|api-key|access key|encryption key|unseal key|signing key|schlüssel|clé secrète|clé api|chiave api"
    "|clave api|chave|klucz api|api ключ|wifi|wi-fi|wlan"
).split("|")
_CLASSES: dict[str, Sequence[str]] = {
    "password": PASSWORDS,
    "phrase": _PHRASES,
    "short": _SHORT,
    "pass": _PASS,
    "pin": _PINS,
    "secret": _SECRETS,
    "token": _TOKENS,
}
_CLASS_OF = {name: kind for kind, names in _CLASSES.items() for name in names}
KEYWORDS = tuple(_CLASS_OF)
_WHOLE = frozenset((*_SHORT, *_PASS, *_PINS, "mdp"))
"""Also parts of other words: they stand by themselves, or as a part of a name."""


class Mention(NamedTuple):
    start: int
    end: int
    kind: str


_OTHER_WORD = re.compile(
    r"(?:by|com|tres|sur|over|under|im)pass\Z|[a-z0-9](?:pin|mdp|psk|p/w)\Z"
    r"|[a-z0-9+/](?<!root)(?<!admin)(?<!user)(?<!bind)(?<!db)(?<!my)(?<!sudo)(?<!smtp)(?<!ldap)(?<!ftp)(?:pwd?|psw)\Z"
    r"|[^\W\d_](?:senha|parola|hesl[oa]|gesl[oa]|hasł[oa]|zaporka)\Z"
)
_READ = re.compile(r"\$[{(]?[\w:.]*\Z")
_GIVEN = re.compile(r"\w*[ ]?[=:]")


@lru_cache(maxsize=2)
def mentions(lowered: str) -> list[Mention]:
    """In order, none within another; not where a shell reads a variable."""
    found: list[Mention] = []
    for name in (name for name in KEYWORDS if name in lowered):
        start = lowered.find(name)
        while start >= 0:
            end = start + len(name)
            before = lowered[max(0, start - 16) : end]
            is_word = _OTHER_WORD.search(before) or (name in _WHOLE and lowered[end : end + 1].isalpha())
            is_read = _READ.search(before, 0, len(before) - len(name)) and not _GIVEN.match(lowered, end)
            if not is_word and not is_read:
                found.append(Mention(start, end, _CLASS_OF[name]))
            start = lowered.find(name, end)
    kept: list[Mention] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


WEIGHTS = "likely_passwords.json"
LEAST = 1.0
"""The sum of weights above which a word is taken: wrong in less than one of 10,000 real texts."""

# What stands near it.

_REACH_BEFORE, _REACH_AFTER, _LINE = 60, 100, 160
_MAX_WORDS = 5_000
_OPENING = "\"'`“„«「『‘"
_QUOTES = _OPENING + "”»」』’"
_FAR_EAST = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_BEGINS = re.compile(
    rf"(?<![^\s{_QUOTES}(（\[{{:=,;|>/、，：。@%{_FAR_EAST}])[^\s{_QUOTES}()（）\[\]{{}}:=,;|<>/\\、，：。{_FAR_EAST}]|(?<=[“„«「『])[^\s]"
)
_PATTERN = (
    rf"(?P<secret>(?<=[{_OPENING}])(?:\\(?![{_QUOTES}])|[^\n{_QUOTES}\\{MARK_ENDS}]){{3,80}}(?=\\{{0,4}}[{_QUOTES}])"
    rf"|(?:(?![,;&][\w. -]{{1,24}}=|[,;|](?:[\s{_QUOTES}]|\Z))"
    rf"[^\s\xa0{_QUOTES}<>、。，（）{_FAR_EAST}{MARK_ENDS}]){{3,80}}(?<![.:;!?)\]}}…\\]))"
)


def _near(lowered: str) -> Iterator[int]:
    """Where the words near a mention begin, in its line and the two below."""
    done, left = 0, _MAX_WORDS
    for mention in mentions(lowered):
        begin = max(done, mention.start - _REACH_BEFORE, lowered.rfind("\n", 0, mention.start) + 1)
        end = mention.end
        for _ in range(3):
            end = lowered.find("\n", end + 1, mention.end + _REACH_AFTER)
            if end < 0:
                end = min(len(lowered), mention.end + _REACH_AFTER)
                break
        for found in _BEGINS.finditer(lowered, begin, max(end, begin)):
            yield found.start()
            left -= 1
            if not left:
                return
        done = max(done, end)


# What links it to the mention.

_OTHER_THING = re.compile(
    r"(?<![a-z])(?:column|field|hash\w*|policy|reset\w*|strength|manager|length|valid\w*|tests?|file|input|form|page|flow|box"
    r"|prompt|must|should|require\w*|characters?|chars|min\w*|max\w*|confirm\w*|forgot\w*|change|toggle|missing|empty"
    r"|wrong|incorrect|invalid|optional|rotate|expire\w*|failed|failure|generate\w*|encrypt\w*|store[ds]?|protection|count"
    r"|usage|limit|budget|type|name|id|url|endpoint|muss|doit|debe|deve|must|должен|falsch|zeichen|caracteres|caractères"
    r"|символ\w*|文字|长度|不能)(?![a-z])"
)
_TAIL = re.compile(r"[a-zß-ÿа-я]*(?:[_-]?\w+)*(?:'s|’s)?", re.A)
_WORDS = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_CODE_LINE = re.compile(
    r"[{};]\s*\Z|\)\s*[;:{]?\s*\Z|^\s*(?:def|class|import|from|const|let|var|if|return|function|public|private|func|fn)\s|=>|\w\(|#include|</?\w+>"
)
_ASKS = re.compile(r"\?[\"'`)*]*\s*\Z")


_OTHER_KEY = re.compile(r"[=,;{&]")


def _link(between: str) -> tuple[str, str]:
    """How the words between end: the kind of link, and the last word if it is one of ours."""
    bare = between.rstrip(_QUOTES + "*([{<>@bBrfuNL" if between[-1:] in _QUOTES else "*")
    stripped = bare.rstrip()
    if "\n" in between:
        return ("line-asked" if re.search(r"[?:.>]\s*\n", between) else "line"), ""
    if not stripped:
        return ("blank" if between[:1].isspace() else "glued"), ""
    sign = stripped[-1]
    if sign in "=:：＝":
        if _OTHER_KEY.search(stripped[:-1]):
            return "other-key", ""
        return ("equals" if sign in "=＝" else "colon"), ""
    if stripped.endswith(("->", "=>", "→", "–", "—", " -")) or stripped == "-":
        return "arrow", ""
    if sign in "|\t":
        return "cell", ""
    if sign in ",;，、":
        return "comma", ""
    if sign in "/%":
        return "slash", ""
    if sign in "([（":
        return "bracket", ""
    if sign in "?!.。":
        return "sentence", ""
    if sign in "是为為はがを는은이가를을成了คือ":
        return "says", ""
    last = (_WORDS.findall(stripped) or [""])[-1]
    if last in SAYS:
        return "says", last
    if last in MAKES:
        return "makes", last
    if last in BELONGS:
        return "belongs", last
    return "word", ""


_ASSIGNED = ("equals", "colon", "other-key", "line", "line-asked")
"""To a token, other rules know what is given."""
_MAY_BE_VERB, _WORDY = (
    ("blank", "word", "belongs", "makes"),
    frozenset("word Word said-word camelCase joined joined-mixed".split()),
)
_SAYS_SO = ("says", "colon", "equals", "arrow")
_IN_ADDRESS = re.compile(r"@\S*\Z")
_ALONE = re.compile(r"[\s>|*-]*(?:\w{1,10}:)?[\s\"'`*-]*\Z")


def _is_alone(lowered: str, start: int, end: int) -> bool:
    """Whether it is all that its line has, but for `>`, `User:` or `value:`."""
    before, after = lowered[max(0, start - 40) : start].rpartition("\n")[2], lowered[end : end + 8].partition("\n")[0]
    return bool(_ALONE.match(before)) and not after.strip(_QUOTES + " .!*;,)\\rn")


def _before(rest: str, first: str) -> str:
    if "." in rest or ";" in rest:
        return "sentence"
    if not rest.strip(_QUOTES + " *"):
        return "blank"
    if rest.lstrip(_QUOTES)[:1] in ",(:=/":
        return "sign"
    if first in ("as", "als", "como", "comme", "come", "jako", "как", "作为"):
        return "as"
    return "says" if first in SAYS else "belongs" if first in BELONGS else "word"


def _tail(tail: str) -> str:
    if not tail:
        return "none"
    if tail in ("s", "en", "s'", "es"):
        return "plural"
    if tail in ("'s", "’s"):
        return "whose"
    if _OTHER_THING.search(tail.replace("_", " ").replace("-", " ")):
        return "thing"
    return "ending" if len(tail) <= 3 else "name"


def _after(after: str) -> str:
    rest = after.lstrip(_QUOTES + "*")
    closed = "q" if rest != after and after[:1] in _QUOTES else ""
    if rest.startswith(("...", "…")):
        return "cut"
    if not rest or rest[0] == "\n":
        return closed + "end"
    if rest[0] in ".,;!?)。，、":
        return closed + ("stop" if len(rest) == 1 or not rest[1].isalnum() else "glued")
    if rest[0] in "(:=[<>{/@":
        return closed + rest[0]
    if not rest[0].isspace():
        return closed + "glued"
    word = _WORDS.match(rest.lstrip())
    if not word:
        return closed + "sign"
    return closed + ("function" if word[0] in BELONGS or word[0] in SAYS else "word")


def _head(lowered: str, mention: Mention) -> str:
    before = lowered[max(0, mention.start - 12) : mention.start]
    name = re.search(r"[\w.-]*\Z", before)
    head = name[0] if name else ""
    sign = before[: len(before) - len(head)][-1:]
    if head.startswith("-") or head.endswith("--"):
        return "option"
    if head.endswith("."):
        return "attribute"
    if sign in ("$", "{", "%"):
        return "variable"
    if sign in ("<", "["):
        return "tag"
    if sign and sign in _QUOTES:
        return "quoted"
    return "name" if head else "none"


def relations(candidate: Candidate) -> Iterator[list[str]]:
    """What speaks for and against a word, for each mention that it may belong to."""
    lowered, (start, end) = candidate.match.string, candidate.match.span("secret")
    form = shape(candidate.value)
    if not form or lowered[start - 2 : start] == "${":
        return
    quoted = "quoted" if lowered[start - 1 : start] in _OPENING and start else "bare"
    after = _after(lowered[end : end + 24])
    always = _alone(lowered, start, end, f"form:{form}", quoted, f"after:{after}")
    for mention in _nearest(mentions(lowered), lowered, start, end):
        large = candidate.text[mention.start : mention.end].isupper()
        linked = _linked(lowered, mention, start, end, form)
        if linked:
            kind, link, rest = "kind:" + mention.kind, "link:" + linked[0], linked[1:]
            yield [
                *always,
                *(link, f"form:{form}|{link}", f"{kind}|{link}", f"{kind}|form:{form}", f"{link}|{quoted}"),
                *(f"{link}|after:{after}", f"form:{form}|{link}|{quoted}"),
                *rest,
                *([f"large:{mention.kind}|{link}"] if large else ()),
                *([f"code|{link}", f"code|{kind}"] if "code" in always else ()),
            ]


def _alone(lowered: str, start: int, end: int, form: str, quoted: str, after: str) -> list[str]:
    """What a word and its line say of it, whatever it belongs to."""
    line_start = max(lowered.rfind("\n", 0, start) + 1, start - _LINE)
    line_end = lowered.find("\n", end, end + _LINE)
    line = lowered[line_start : line_end if line_end >= 0 else end + _LINE]
    prior = (_WORDS.findall(lowered[max(line_start, start - 24) : start]) or [""])[-1]
    found = [form, f"{form}|{quoted}", f"{form}|{after}", after, f"length:{min(end - start, 8)}"]
    found.append("prior:" + (prior if prior in FUNCTION else "other" if prior else "none"))
    if (glued := lowered[start - 1 : start]) and glued in "/:@%.=,>":
        found += ["glued:" + glued, f"glued:{glued}|{form}"]
    if _CODE_LINE.search(line):
        found += ["code", f"code|{form}", f"code|{quoted}"]
    if _ASKS.search(line):
        found += ["asks", f"asks|{form}"]
    return found


def _linked(lowered: str, mention: Mention, start: int, end: int, form: str) -> list[str]:
    """The kind of link first, then what else stands between the two says; nothing if they have nothing to do with
    each other."""
    kind, ahead = mention.kind, mention.end <= start
    between = lowered[mention.end : start] if ahead else lowered[end : mention.start]
    tail = _TAIL.match(between)[0] if ahead else ""  # type: ignore[index]
    tail = "" if len(tail) == len(between) else tail
    rest = between[len(tail) :]
    if ahead:
        link, last = _link(rest)
        if _IN_ADDRESS.search(rest) or ("\n" in rest and not _is_alone(lowered, start, end)):
            return []
        if (kind == "token" and link in _ASSIGNED) or (
            kind == "secret" and (tail or lowered[mention.start - 1 : mention.start] == ":")
        ):
            return []
        if kind == "pass" and form in _WORDY and (link in _MAY_BE_VERB or len(_WORDS.findall(rest)) > 2):
            return []
    else:
        first = (_WORDS.findall(rest) or [""])[0]
        link, last = "before-" + _before(rest, first), "before " + first if first in FUNCTION else ""
    if MARK_ENDS[0] in between or (form == "hash" and link not in _SAYS_SO):
        return []
    if form in _WORDY and (kind == "token" or (not ahead and kind not in ("password", "phrase"))):
        return []
    words, tail, head = min(len(_WORDS.findall(rest)), 7), "tail:" + _tail(tail), "head:" + _head(lowered, mention)
    found = [
        link,
        f"words:{words}",
        f"link:{link}|words:{words}",
        tail,
        f"{tail}|link:{link}",
        head,
        f"{head}|link:{link}",
    ]
    if last:
        found += ["last:" + last, f"last:{last}|form:{form}"]
    if _OTHER_THING.search(rest) or _OTHER_THING.match(lowered[mention.end : mention.end + 16].lstrip()):
        found += ["thing", f"thing|form:{form}", f"thing|link:{link}"]
    return found


def _nearest(known: list[Mention], lowered: str, start: int, end: int) -> Iterator[Mention]:
    """The last before and the first behind it, in its line; else the last of the two lines above."""
    at = bisect_left(known, start, key=_start)
    if at and 0 <= start - known[at - 1].end <= _REACH_AFTER and lowered.count("\n", known[at - 1].end, start) <= 2:
        yield known[at - 1]
    at = bisect_left(known, end, key=_start)
    if at < len(known) and known[at].start <= end + _REACH_BEFORE and "\n" not in lowered[end : known[at].start]:
        yield known[at]


_start = itemgetter(0)


@cache
def _weights() -> dict[str, float]:
    known: dict[str, float] = json.loads(files("hardwon.scrub").joinpath(WEIGHTS).read_text(encoding="utf-8"))
    return known


def is_likely(candidate: Candidate) -> bool:
    weight = _weights().get
    least = LEAST - weight("bias", 0.0)
    return any(sum(weight(name, 0.0) for name in names) > least for names in relations(candidate))


LIKELY = (
    Rule(
        "password",
        "What is most likely given as a password, where a text speaks of one",
        _PATTERN,
        KEYWORDS,
        is_likely,
        any_case=True,
        places=_near,
        probe=f"(?:{'|'.join(map(re.escape, KEYWORDS))})",
    ),
)
