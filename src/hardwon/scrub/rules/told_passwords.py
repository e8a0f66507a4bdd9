"""Passwords wherever a text speaks of one, be they plain words: points for how a value is handed over and its form."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from hardwon.scrub.prefilter import Keywords
from hardwon.scrub.rule import Candidate, Rule
from hardwon.scrub.shapes import is_code, is_letter_salad, is_path, is_stand_in, is_test_name, is_words, places_of
from hardwon.text.normalise import MARK_ENDS, lazy_pattern

# What a password is called; beyond ASCII capitals are written out, for a lowercase copy of a text keeps them.

_PASSWORDS = (
    *(
        "password passwort passord passcode passwd pasword passwrd passowrd pssword passw0rd passphrase"
        " passwrod passward пасс kennwort contrase senha palavra-passe wachtwoord lösenord adgangskode salasana"
        " kodeord hasło hasła hasłem"
        " hasłu heslo heslem hesla jelszó jelszav jelszót parola parolă parolayı parolası parool paroliet şifre Şifre"
        " mdp geslo gesla šifra sifra zaporka lozinka lozinku slaptažod парол Парол ПАРОЛ лозинк παρολα κωδικό"
        " nenosiri باسورد"
        " 密码 密碼 口令 合言葉 パスワード 暗証番号 비밀번호 암호 비번 패스워드 पासवर्ड পাসওয়ার্ড รหัสผ่าน סיסמה סיסמא"
        " سیسما گذرواژه Κωδικό keyphrase salasõna parolu пароль Гасло гасло sandi"
    ).split(),
    *(
        "pass code|pass word|pass phrase|mot de passe|phrase secrète|phrase de passe|frase de paso|door code|backup"
        " code"
        "|access code|lock code|zugangscode|la clave|clave de|clave:|clave es|clave =|la contra|kata laluan|رمز عبور"
        "|پاس ورڈ"
        "|het ww|mật khẩu|كلمة المرور|كلمة السر|secret word|magic word is|magic word for|parola d'ordine|κωδικός"
    ).split("|"),
)
_SHORT = ("pwd", "pw", "psw", "p/w", "psk")
_PASS = ("pass",)
_PINS = ("pin", "pincode", "pin code", "pin kodu", "пин", "Пин", "ПИН", "пин-код", "Пин-код", "pin码")
_SECRETS = ("secret|секрет|Секрет|segredo|pre-shared key|clé secrète|chave secreta|wifi|creds|credential").split("|")
_KEYS = tuple(
    f"{whose}{sign}key"
    for whose in (
        "api secret access private auth encryption signing master account shared license session jwt hmac app wifi wpa"
    ).split()
    for sign in ("_", " ", "-", "")
)
_ASKED = (
    "sudo prompt|sudo ask|sudo will|when asked|it asks|when prompted|prompts you|prompt you|at the prompt|fragt"
    "|demande|спросит|запросит"
    "|聞かれたら|提示|물으면|frågar"
).split("|")
_LOCKED = (
    "protected with|locked with|encrypted with|log in with|logs in with|logging in with|sign in with|authenticate"
    " with|unlock it with"
    "|geschützt mit|verschlüsselt mit|protégé par|chiffré avec|зашифрован|защищен|加密"
).split("|")
_ENTRIES = (
    "login is|login |log in |sign in |get in |credentials |creds |acesso |acceso |логин|войти|登录|登入|ログイン|로그인"
).split("|")
_KIND_OF = {
    name: kind
    for kind, names in (
        ("password", _PASSWORDS),
        ("short", _SHORT),
        ("pass", _PASS),
        ("pin", _PINS),
        ("secret", _SECRETS),
        ("key", ("token", *_KEYS)),
        ("asked", _ASKED),
        ("locked", _LOCKED),
        ("entry", _ENTRIES),
    )
    for name in names
}
NAMES = tuple(_KIND_OF)
_FEW = ("pass", "token", *_KEYS)
"""Of which code is full: most texts that speak of a secret have no other of the names."""
_OTHERS = tuple(name for name in NAMES if name not in _FEW)
_GATES = (
    *(name for name in _OTHERS if name not in ("pin", "pw")),
    *(f"pin{sign}" for sign in (" ", ":", "码")),
    *(f"pw{sign}" for sign in (" ", ":", "=", "?", "'", "4", "|", ">", "を", "は")),
)
"""Two that are parts of many a word."""
_FEW_NAMES = Keywords(_FEW, ("key",))
_ANY_NAME = Keywords(
    NAMES,
    (
        "passw",
        "passe",
        "pass",
        "key",
        "clave",
        "prompt",
        "asks",
        " with",
        "parol",
        "log",
        " in ",
        "esl",
        "lozink",
        " code",
        "phrase",
    ),
)
_LINKED = lazy_pattern(
    r"['’s]{0,2}[\"'`*)\]]{0,3}(?:[ ]?(?:[:=>|(：]|[-=]>|<-|→)|[ ](?:is|was|are|for|of|on|to)[ ]|[ ][\"'`]|["
    r" ](?=\S{3,40}(?:\n|\Z))|[ ](?=\S*\d)|\n)"
)
_WHOLE = frozenset((*_SHORT, *_PASS, *_PINS, "mdp", "sandi", "creds"))
"""Also parts of other words: they stand by themselves, or as a part of a name."""


_LAST_GREEK_OR_SLAVIC, _LAST_LATIN = "\u0530", "\u024f"


class Mention(NamedTuple):
    start: int
    end: int
    kind: str


_GOES_ON = frozenset("abcdefghijklmnopqrtuvwxyz0123456789(.[{,;<&+~^!\\/")
"""Behind `token` or `pass` it is another word, or code."""
_OTHER_WORD = lazy_pattern(
    r"1password\Z|error token\Z|(?:next|page|continuation|csrf|xsrf|public|publickey|max|input|output|map|num"
    r"|cancellation)[_-]?token\Z|(?:by|com|tres|sur|over|under|im|en)pass\Z|[a-z0-9](?:pin|mdp|psk|p/w|ww|sandi)\Z"
    r"|[a-z]{9}pwd?\Z"
    r"|[^\W\d_](?:senha|parola|hesl[oa]|gesl[oa]|hasł[oa]|zaporka)\Z"
)
_READ = lazy_pattern(r"\$[{(]?[\w:.]*\Z")
_SET_THERE = lazy_pattern(r"\w*[\"'\]]{0,2}[ ]?[=:]")


_WHOSE = lazy_pattern(
    r"(?:admin|user|db|database|smtp|ftp|root|mail|sudo|vault|ldap|bind|mysql|pg|postgres|redis|my|svc|service|login"
    r"|become|ssh"
    r"|key|store|proxy|sql|auth|su|wifi|rdp|vnc|sa|rabbit|mongo|client|keystore|encryption|app|cert|account"
    r"|wpa)[_.-]?\Z"
)
"""What makes `dbPass` and `root_pw` a password, which `first_pass` is not."""


@lru_cache(maxsize=4)
def mentions(lowered: str, few: bool = False) -> list[Mention]:
    """In order, none within another; not where a shell reads a variable."""
    found: list[Mention] = []
    reads_variables = "$" in lowered
    for name in (_FEW_NAMES if few else _ANY_NAME).present(lowered):
        start, size, kind, whole = lowered.find(name), len(name), _KIND_OF[name], name in _WHOLE
        left = _MAX_WORDS  # more are not looked at
        while start >= 0 and left:
            end = start + size
            if not (whole and lowered[end : end + 1].isalpha() and lowered[end] <= _LAST_GREEK_OR_SLAVIC):
                whose = kind != "password" and _WHOSE.search(lowered, max(0, start - 16), start) is not None
                is_word = lowered.startswith("less", end)
                if kind != "password" and not whose:
                    is_word |= lowered[end : end + 1] in _GOES_ON or (name in _FEW and not _LINKED.match(lowered, end))
                if not is_word and reads_variables:
                    read = _READ.search(lowered, max(0, start - 40), end)
                    is_word = read is not None and not _SET_THERE.match(lowered, end)
                if not is_word and not _OTHER_WORD.search(lowered, max(0, start - 16), end):
                    found.append(Mention(start, end, "password" if whose and kind in ("short", "pass") else kind))
                    left -= 1
            start = lowered.find(name, end)
    kept: list[Mention] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


# What stands near it.

_REACH_BEFORE, _REACH_AFTER, _LINE = 60, 100, 160
_MAX_WORDS = 3_000
_OPENING = "\"'`“„«「『‘"
_QUOTES = _OPENING + "”»」』’"
_FAR_EAST = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_BEGINS = lazy_pattern(
    rf"(?<![^\s{_QUOTES}(（\[{{:=,;|>/、，：。@%*{_FAR_EAST}])[^\s{_QUOTES}()（）\[\]{{}}:=,;|<>/\\、，：。{_FAR_EAST}]"
)
_PATTERN = (
    rf"(?P<secret>(?<=[{_OPENING}])(?:\\(?![{_QUOTES}])|[^\n{_QUOTES}\\{MARK_ENDS}]){{3,80}}(?=\\{{0,4}}[{_QUOTES}])"
    rf"|(?:(?![,;&][\w. -]{{1,24}}=|[,;|](?:[\s{_QUOTES}]|\Z))"
    rf"[^\s\xa0{_QUOTES}<>、。，：（）{_FAR_EAST}{MARK_ENDS}]){{3,80}}(?<![.:;!?()\]}}…\\*,]))"
)


def _near(lowered: str, few: bool = False) -> Iterator[int]:
    """Where the words near a mention begin, in its line and the two below."""
    done, left = 0, _MAX_WORDS
    for mention in mentions(lowered, few):
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


# Words that hand a value over, and words that only link others.

_SAYS = frozenset(
    "is was be are now remains it's its will ist wird lautet war jetzt est c'est était sera es era será é foi è e'"
    " sarà diventa är var er on oli reads equals jest je este fost olarak adalah là most yra bo był będzie будет это"
    " был"
    " είναι هي היא है hai still just only currently noch immer toujours siempre sigue ainda sempre wciąż becomes"
    " became itself namely called pedig wäre sería seria sarebbe blir heter heißt wordt sinds теперь сейчас якi"
    " maintenant ahora agora adesso teraz nu nun nyt şimdi artık brzmi zostało siendo sendo continua stays defaults"
    " ser zijn sein être essere olmalı быть бути są ha idi imiş то thats that's dat nadal neu это вона она es' been"
    " being remained fue fu blev było volt ficou fica queda quedó reste resta bleibt blieb war's lautete".split()
)
_FILLERS = frozenset(
    "plain old good just really always still simply currently actually literally now probably only merely basically"
    " again"
    " einfach nur immer noch wirklich aktuell toujours juste simplement encore siempre solo simplemente sempre solo"
    " ancora"
    " ainda só apenas altijd nog gewoon zawsze po prostu wciąż nadal просто всегда hep hala maybe perhaps like the"
    " same".split()
)
_TO = frozenset("to as auf als à comme como come jako как para naar till til için zu".split())
_INTO = _TO | frozenset("na en in into на a op from von de z с".split())
"""Behind a verb that changes it, also these give a value."""
_GIVE = frozenset(
    "type enter use using try with answer give send say put paste set choose pick take has have uses used got typed"
    " chose chosen"
    " picked selected entered tried gave given keep made puse usé usei pus mis ho avevo habe hatten probier prueba"
    " prova tente"
    " tippe gib nimm nutze verwende mit utilise tape saisis mets avec usa usá use pon con escribe digite digita"
    " coloca com"
    " usando metti inserisci gebruik met typ wpisz ustaw użyj z ze použij zadej с введи введите используй поставь"
    " använd skriv med brug käytä ile kullan gunakan pakai dùng 用 输入 使用 输 入力".split()
)
_LINKS = frozenset(
    "for of on at from by via per für von bei an pour sur de du des del della di su dla do для от and or the"
    " der die das dem den le la el il het los las this that your my our their his und et y e i oder if when od od"
    " na en in into на в у med a not no every each any against than before after bir ve ko k ke u v w o da do dos"
    " das um uma un una".split()
)
_OTHER_THING = lazy_pattern(
    r"(?:columns?|fields?|hash\w*|polic\w+|reset\w*|strength|managers?|length|valid\w*|tests?|files?|input|forms?"
    r"|page|flow|box"
    r"|expir\w*|confirm\w*|generat\w+|encrypt\w*|protection|count|usage|limit|budget|type|name|id|url|endpoint|rules?"
    r"|rotation|handling|support|config(?:uration)?|auth\w*|check\w*|errors?|screen|dialog|modal|button|handler"
    r"|component|schema"
    r"|variable|logic|hygiene|security|complexity|requirements?|docs?|section|history|recovery|feature|provider|based"
    r"|cracking|driver|adapter|chip|module|network|oubli\w*|vergess\w*|olvid\w*|primaria|for[aá]nea|p[uú]blica|única"
    r"|meter|toggle|hint|store[ds]?|status|change[sd]?|changing|update[sd]?|recovery|entry|entries|attempts?|grant"
    r"|credentials?)(?![a-z])"
)
"""Behind `password` it is about something else."""
_SAYS_OTHERWISE = lazy_pattern(
    r"(?<!\w)(?:must|require\w*|characters?|chars|minimum|maximum|forgot\w*|missing|empty|wrong|incorrect|invalid"
    r"|optional"
    r"|expire\w*|failed|failure|generated|encrypted|hashed|stored|muss|doit|debe|deve|должен|falsch|zeichen"
    r"|caracteres|caractères"
    r"|символ\w*|文字|长度|不能|not|nicht|pas|no|não|non|nie|niet|inte|ikke|без|не|never|without|whether|read|logged)(?!\w)"
)
_TAIL = lazy_pattern(r"[a-zß-ÿа-яёіїα-ωίόά]*(?:[_-]\w+)*(?:'s|’s)?", re.A)
_WORDS = lazy_pattern(r"[^\W_]+(?:['’][a-z]+)?")
_CODE_LINE = lazy_pattern(
    r"[{};]\s*\Z|\)\s*[;{]\s*\Z|^\s*(?:def|class|import|from|const|let|var|if|return|function|public|private|func|fn)\s"
    r"|=>|\w\(|#include|</?\w+>|^\s*[+-]\s?\w+[(.=]|^\s*(?:#|//|\*)"
)

# What a value looks like.

_TECHNICAL = lazy_pattern(
    r"(?-i:[A-Z]{2,10})-\d+|(?:argon2|pbkdf2|[bs]crypt|sha-?\d|md\d|base\d|utf-?\d|aes-?\d|hmac|rsa|ed25519|pkcs#?"
    r"|socksv?|oauth|saml|jwt|scram)[a-z\d._+-]*"
    r"|(?:x|i|v|k|h|l|es)\d{1,4}n?|1password|py\d+|text\d+|[a-z]{1,3}\d+\.\d+|(?:python|node|java|rfc|cve|cwe|iso"
    r"|ipv|http|tls|ssh|log4j|step|phase|level|test|user|case"
    r"|line|item|page|issue|task|part|arg|var|role|port|varchar|char|int|string|utf|schritt|paso|étape)[-_. ]?[\d.]*",
    re.I | re.A,
)
_QUANTITY = lazy_pattern(r"[<>≥≤~+#-]?\d[\d.,]*[-–+]?[A-Za-z%°*]{0,2}|\d+[/x:]\d+\S*|\d{4}-\d\d.*|v?\d+\.\d+\S*", re.A)
_FILE = lazy_pattern(r"[\w./\\~@*-]+\.[a-z]{1,5}\d?(?::\d+.*)?", re.A)
_FILE_ENDINGS = frozenset(
    "py js ts tsx jsx mjs go rs rb java kt c h cpp cs php sh md txt json yml yaml toml ini cfg conf env lock html"
    " css scss sql xml log pem key crt jks p12 gpg zip gz tgz tar bak vue svelte swift dart ex exs lua pl r ps1"
    " bat net io com org dev local lan internal so dll exe pdf csv tf enc db example test prod".split()
)
_OWN = lazy_pattern(r"passw|passphr|(?<![a-z])pass(?![a-z])|token|secret|credential|login|api_?key|passwd|pwd", re.I)
_PARTS = lazy_pattern(r"[-_./&+'^=]+")
_SYMBOL = lazy_pattern(r"[!@#$%^&*~?+]")
_WORD_NUMBER = lazy_pattern(r"[^\W\d_]{3,}\d+")
_LETTERS = lazy_pattern(r"[^\W\d_]")
_DIGITS = lazy_pattern(r"\d", re.A)
_FORMAT = lazy_pattern(r"(?<![\w%!@#$^&*~?])%[a-zA-Z](?!\w)|%\(")
_ADDRESS = lazy_pattern(
    r"[\w.-]+:\d+/|\d+\.\d+\.\d+|[#.][a-z-]+\Z|[^|]*\|[^|]*\||.*\\[nt]|![a-z_]+\Z|@[A-Za-z_./-]+\Z|\d+:[a-z]"
    r"|[A-Za-z_][\w.-]*=[^=]|[A-Za-z][\w.-]*:[^\s:]+\Z|.*@[\w-]+\.\w+|.*@v?\d"
)
_HASH = lazy_pattern(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}")
_NO_PHRASE = lazy_pattern(r"[(){}<>%=:;?,/]|[.][ ]|\A[A-Z][a-z]+[ ][a-z]")
_CHUNK = lazy_pattern(r"[^\W\d_]\d+[^\W\d_]|\d[^\W\d_]{2}|[a-z][A-Z]+\d")
_MIXED = lazy_pattern(r"[A-Z]{2,}[a-z]|[a-z][A-Z]")
_BRACKET = lazy_pattern(r"[(){}\[\]]")
_CALL = lazy_pattern(r"[(.]|->|&&|=>")
_CAMEL = lazy_pattern(r"[a-zß-ÿ][A-ZÀ-Þ]")
_CALLED = lazy_pattern(
    r"\A(?:get|set|is|has|on|use|handle|fetch|load|create|update|validate|check|self|this|user|req|form"
    r"|config)(?:[A-Z_.]|\Z)"
)
_MIN_CHARACTERS = 4
_INFLECTED = lazy_pattern(
    r"(?:ed|ing|ly|able|ible|ments?|tions?|sions?|ness|ity|[ae]nces?|i[sz]es?|ators?|less|ous|ives?|isms?|ships?"
    r"|i[sz]ers?|ical"
    r"|ung(?:en)?|lich\w{0,2}|isch\w{0,2}|iert\w{0,2}|mente|ci[oó]n(?:es)?|ção|ções|zion[ei]|ée?s?|ować|ość"
    r"|owan[aey]?|mek|mak|iyor|adı|edi|ildi|ılı|eerd|heid|lijk|ovat|ován[oaíy]?|ený|ená|tava|ttu|tty|inen|ható|hető"
    r"|oires?"
    r"|óri[oa]s?|gatori[oae]s?|igt|lig[at]|ost[ií]|ый|ая|ое|ые|ий|ие|ен|ена|ено|ены|ть|ся|ет|ют|ит|ат|ого|ным|ной"
    r"|ных|ия|ом)\Z"
)


@cache
def _common() -> frozenset[str]:
    """Words of those who write programs and speak of passwords, in many languages."""
    return frozenset((Path(__file__).parents[1] / "common_words.txt").read_text(encoding="utf-8").split())


@lru_cache(maxsize=4096)
def is_common(word: str) -> bool:
    word = word.lower()
    common = _common()
    return (
        word in common
        or len(word) < _MIN_CHARACTERS
        or word in _SAYS
        or word in _GIVE
        or word in _LINKS
        or (word.endswith("s") and word[:-1] in common)
        or (word.endswith("es") and word[:-2] in common)
        or bool(_INFLECTED.search(word))
    )


class Form(NamedTuple):
    points: int
    """The more, the less the value looks like anything but a password."""
    name: str


_NO_FORM = Form(0, "")


_OWN_ID = lazy_pattern(r"[A-Za-z][0-9a-f]{16}")
"""Of a lesson or a session, as an export writes it."""


@lru_cache(maxsize=4096)
def form(value: str) -> Form:
    value = value.strip("*:_")
    if (
        not value
        or value[0] in "-&"
        or "/" in value
        or "\\" in value
        or "%0A" in value
        or is_stand_in(value)
        or _OWN_ID.fullmatch(value)
        or _FORMAT.search(value)
        or "://" in value
        or is_test_name(value)
    ):
        return _NO_FORM
    if is_path(value) and not (value[0] == "~" and _SYMBOL.search(value[1:])):
        return _NO_FORM
    if _ADDRESS.match(value) or _TECHNICAL.fullmatch(value):
        return _NO_FORM
    if _HASH.fullmatch(value):
        return Form(2, "hash")
    if " " in value:
        return _phrase(value)
    digits, symbols = bool(_DIGITS.search(value)), bool(_SYMBOL.search(value[1:-1]))
    if (is_code(value) or _CALLED.search(value)) and not (digits and symbols and not _CALL.search(value)):
        return _NO_FORM
    if "|" in value or (not digits and _BRACKET.search(value)):
        return _NO_FORM
    if _FILE.fullmatch(value) and value.rpartition(".")[2].partition(":")[0].lower() in _FILE_ENDINGS:
        return _NO_FORM
    if value.isdigit():
        return Form(1, "digits") if len(value) >= _MIN_CHARACTERS else _NO_FORM
    if value[0] > _LAST_GREEK_OR_SLAVIC and not digits:
        return _NO_FORM
    if len(value) < _MIN_CHARACTERS or not _LETTERS.search(value) or _QUANTITY.fullmatch(value):
        return _NO_FORM
    if _OWN.search(value) or any(name in value.lower() for name in _PASSWORDS):
        if not digits or (not symbols and (_CAMEL.search(value) or re.search(r"[._]", value))):
            return _NO_FORM
        return Form(3, "own-9") if symbols else Form(1, "own-9")
    if value.isalpha():
        return _letters(value)
    if digits and _LOOKS_LIKE_NOTHING_ELSE.fullmatch(value):
        return Form(4, "unlike")
    if symbols:
        return Form(3, "symbols-9") if digits else Form(2, "symbols")
    return _parts(value, digits)


def _phrase(value: str) -> Form:
    words = re.findall(r"[^\W\d_]+", value)
    if not 2 <= len(words) <= 10 or not value[0].isalnum() or _OWN.search(value) or _NO_PHRASE.search(value):
        return _NO_FORM
    if 2 * sum(map(is_common, words)) > len(words) and not is_words(value, " "):
        return _NO_FORM
    return Form(1, "phrase")


def _letters(value: str) -> Form:
    if value.isascii() and is_letter_salad(value) and 3 * len(_PIECE.findall(value)) >= len(value):
        return Form(3, "salad")
    if _CAMEL.search(value):
        words = [word for word in re.findall(r"[A-Z]?[a-zß-ÿ]+|[A-Z]+", value) if len(word) >= _MIN_CHARACTERS]
        if any(not _VOWEL.search(word) for word in words):
            return Form(3, "salad")
        return _NO_FORM if not words or any(map(is_common, words)) else Form(2, "camel")
    if is_common(value):
        return _NO_FORM
    if value[0] > _LAST_LATIN:
        return Form(-1, "word")
    if value.islower():
        return Form(1, "word")
    return Form(1, "WORD") if value.isupper() else Form(1, "Word")


_VOWEL = lazy_pattern("[aeiouyà-ÿ]", re.I)
_PIECE = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+")
"""Many in `lUZKqrGVja`, few in a name."""
_LOOKS_LIKE_NOTHING_ELSE = lazy_pattern(
    r"(?=\S*\d)(?=\S*[^\W\d_])(?=\S[^\s!@#$%^&*~+?]{0,40}[!@#$%^&*~+?]\S)[^\s=(){}\[\]<>/\\:;,.|]{8,40}"
    r"|(?=\w*\d\w*\d)(?=\w*[a-z]\w*[a-z])(?=\w*[A-Z]\w*[A-Z])[A-Za-z0-9]{10,40}",
    re.A,
)


def _parts(value: str, digits: bool) -> Form:
    ended = _SYMBOL.search(value[-1:]) is not None
    parts = [part for part in _PARTS.split(value.rstrip("!@#$%^&*~?+")) if part]
    words = [part for part in parts if part.isalpha()]
    common = sum(map(is_common, words))
    if not digits:
        if ended and len(parts) == 1:
            return _NO_FORM if common else Form(2, "word!")
        if is_words(value) and (common < len(words) or "-" in value):
            return Form(2, "words") if common else Form(3, "words")
        if common:
            return _NO_FORM
        return Form(2, "joined")
    if len(parts) > 1:
        if any(_CHUNK.search(part) or _MIXED.search(part) for part in parts) or (_CAMEL.search(value) and not common):
            return Form(3, "chunks")
        if not common or is_words(value, "-_"):
            return Form(3, "joined-9")
        if common == len(words):
            return Form(1, "name-9") if not re.search("[._]", value) else _NO_FORM
        return Form(2, "mixed-9")
    if ended and len(value) > _MIN_CHARACTERS:
        return Form(3, "word-9!")
    if _WORD_NUMBER.fullmatch(value):
        return Form(2, "common-9") if is_common(value.rstrip("0123456789")) else Form(3, "word-9")
    if value.isupper() or not _CHUNK.search(value):
        return Form(2, "code-9")
    return Form(3, "drawn")


# How it is handed over.

LEAST = {"password": 3, "short": 4, "pass": 4, "pin": 3, "secret": 4, "key": 5, "asked": 5, "locked": 5, "entry": 4}
"""Points that are enough, by what the value is called."""
_PLAIN = frozenset("word Word WORD joined camel phrase name-9 mixed-9 common-9 digits own-9 symbols code-9".split())


_NO_POINTS = -9
_IN_A_TEMPLATE = lazy_pattern(r"(?:\$\{[^}\s]*|%\()\Z")
_IN_AN_ADDRESS = lazy_pattern(r"@\S*\Z")
_MEMBER = lazy_pattern(r"\.\w")
_ASKS = lazy_pattern(r"[?:>.]\s*\n")
_SENTENCE_ENDS = lazy_pattern(r"[.;!?。；！？](?:[ ]|\Z)(?!.*[.;!?。；！？][ ])|[{}]|\?(?=[a-z])")
_SEPARATORS = lazy_pattern(r"[=:,;&]")
_SENTENCE_OR_LINE_ENDS = lazy_pattern(r"[.;!?\n]")
_BRACKET_OPENS = lazy_pattern(r"\s*[(（]\s*(?:the\s|das\s|la\s|le\s)?\Z")
_CLAUSE_ENDS = lazy_pattern(r"[.;:=!。]")
_SERVES_AS = lazy_pattern(r"\s?(?:作为|作為|当|當|做|という|を)")


def judged(candidate: Candidate, few: bool = False) -> int:
    """The most points of any mention that the value may belong to."""
    lowered, (start, end) = candidate.match.string, candidate.match.span("secret")
    shape = form(candidate.value)
    if (
        not shape.name
        or candidate.value.lower() in _KIND_OF
        or lowered[start - 1 : start] == "/"
        or _IN_A_TEMPLATE.search(lowered, max(0, start - 48), start)
    ):
        return _NO_POINTS
    best = _NO_POINTS
    after = _after(lowered, end, start > 0 and lowered[start - 1] in _OPENING)
    if after == "code":
        return best
    line = _line(lowered, start, end)
    for mention in _nearest(mentions(lowered, few), lowered, start, end):
        best = max(best, _points(lowered, mention, start, end, shape, after, line, candidate))
    return best


def _line(lowered: str, start: int, end: int) -> str:
    line_start = max(lowered.rfind("\n", 0, start) + 1, start - _LINE)
    line_end = lowered.find("\n", end, end + _LINE)
    return lowered[line_start : line_end if line_end >= 0 else end + _LINE]


def _says_nothing(lowered: str, mention: Mention, start: int, shape: Form, link: str, points: int) -> bool:
    """Whether a word of other meanings, too, is not linked to the value as only a password would be."""
    kind, form_name = mention.kind, shape.name
    if (link, kind) in _NO_LINK or (form_name == "hash" and link not in _OF_HASHES):
        return True
    if kind in ("asked", "locked"):
        return form_name in _NAMES_OF_THINGS or link not in _OF_KIND[kind]
    if kind == "entry":
        return form_name not in _NOTHING_ELSE or link not in _OF_KIND[kind]
    if kind == "key":
        is_header = link == "sign" and _HEADER.search(lowered, max(0, mention.start - 24), mention.start)
        return link not in _OF_KIND[kind] and not is_header
    if kind == "pass":
        if link == "adjacent" and points < _ALONE_POINTS:
            return form_name in _PLAIN or lowered[max(0, mention.start - 2) : mention.start] not in _LISTED
        is_far = link == "sign" and start - mention.end > _ADJOINS
        return link not in _OF_KIND[kind] or is_far or (link == "changed" and form_name in _PLAIN)
    return kind == "secret" and form_name in _NO_TOKEN


_OF_HASHES = ("is", "sign", "adjacent", "changed", "as-behind")
_OF_KIND = {
    "asked": ("verb", "given-behind"),
    "locked": ("adjacent",),
    "entry": ("verb", "is", "changed", "next"),
    "key": ("is", "changed"),
    "pass": ("sign", "is", "changed", "adjacent"),
}
_NAMES_OF_THINGS = frozenset("word Word WORD digits hash name-9 common-9 code-9".split())
_LISTED = (", ", "/ ", "; ", "- ", "| ")


def _points(
    lowered: str, mention: Mention, start: int, end: int, shape: Form, after: str, line: str, candidate: Candidate
) -> int:
    ahead = mention.end <= start
    link, points = _ahead(lowered, mention, start, end) if ahead else _behind(lowered, mention, start, end)
    if link in ("none", "") or _says_nothing(lowered, mention, start, shape, link, points):
        return _NO_POINTS
    is_part = mention.kind == "pin" and link in ("adjacent", "far") and after != "end"
    if is_part and not _is_large(candidate.text, mention):
        return _NO_POINTS
    between = lowered[mention.end : start] if ahead else lowered[end : mention.start]
    plain = shape.name in _PLAIN
    adjoins = start - mention.end < _ADJOINS
    total = shape.points + points
    quoted = start > 0 and lowered[start - 1] in _OPENING
    if (
        lowered[mention.start] > _LAST_LATIN
        and shape.name in ("word", "Word", "joined", "camel", "WORD")
        and shape.points > 0
    ):
        total += 1
    if quoted and link not in ("far", "far-behind", "adjacent-behind"):
        total += 1
    if after == "end":
        total += 1
    elif after == "word" and plain and shape.name != "digits" and lowered.startswith(_ENGLISH, mention.start):
        total -= 1
    if plain:
        if _CODE_LINE.search(line) and not (quoted and link == "sign"):
            total -= 2
        if line.rstrip(" \"'`)*").endswith("?"):
            total -= 1
        if mention.kind == "secret" and not (
            link in _PLAINLY
            and (
                lowered.startswith("secret", mention.start)
                or (adjoins and (quoted or link != "sign" or "=" in between))
            )
        ):
            total -= 2
        elif mention.kind == "pin":
            total += 1 if shape.name == "digits" else -2
        elif mention.kind == "pass" and link != "sign":
            total -= 1 if link == "is" else 0 if link == "adjacent" and points == _ALONE_POINTS else 2
    behind = lowered[mention.end : mention.end + 24]
    thing = _SAYS_OTHERWISE.search(between) or (
        _OTHER_THING.match(behind.lstrip(" _-")) if behind[:1] in " _-" else None
    )
    if thing and thing[0] not in _GIVE and link != "changed" and mention.kind not in ("asked", "locked"):
        total -= 4
    return total - LEAST[mention.kind]


def _is_large(text: str, mention: Mention) -> bool:
    return text[mention.start : mention.end].isupper()


_NO_LINK = frozenset(
    (link, kind)
    for kind in ("secret", "short", "pin", "pass")
    for link in ("slash", "cell", "comma", "far", "far-behind", "adjacent-behind", "line", "other-key", "bracket", "to")
    if (link, kind)
    not in (("cell", "short"), ("slash", "short"), ("far", "pin"), ("to", "pin"), ("to", "short"), ("bracket", "short"))
)
_NO_TOKEN = frozenset(("digits", "hash", "phrase", "name-9", "own-9", "code-9", "common-9"))
_HEADER = lazy_pattern(r"(?<![\w-])x-[\w-]*\Z")
_NOTHING_ELSE = frozenset("unlike symbols-9 word-9! word-9 joined-9 drawn chunks mixed-9 symbols salad".split())
_ADJOINS = 8
_PLAINLY = frozenset(("sign", "is", "changed", "as-behind", "is-behind"))
_KEY_TAIL = lazy_pattern(r"[_-]?(?:key|base|value|default|prod\w*|dev|staging|test)")
_NAME_TAIL = lazy_pattern(
    r"[_-]?(?:key|base|value|default|prod\w*|dev|staging|test|live|old|new|\d{1,3})|e?s|en|['’]s|[a-zа-яё]{1,3}"
)
_SIGNS = ":=：＝→"
_CHANGES = lazy_pattern(
    r"(?:змін|постав|ustaw|set|gesetzt|staat|hardcod|defin|chos|configur|creat|put|poner|mettr|chang|reset|rotat"
    r"|updat|geänd|chang|mud|troqu|cambi|zmien|помен|смен|wijzig|ändr|改|vaiht|değiş)"
)


_ENDS_IN_IS = lazy_pattern(r"[\"'`”»]?[ ]?(?:te zijn|zu sein|sein|idi|imiş|oldu|です|でした|입니다|이야|है|hai)(?!\w)")
"""In languages whose verb is the last word."""
_NEXT_WORDS = 4
_OF_USER = lazy_pattern(
    r"(?:user ?(?:name|id)?|login|port|url|e-?mail|benutzer(?:name)?|usuario|usuário|utente|utilisateur|identifiant"
    r"|gebruiker(?:snaam)?|użytkownik|логин|用户名|账号|ユーザー名|사용자)[ ]{0,2}"
    r"(?:is|ist|est|es|é|è|to|defaults to|called|=|:|：|—|-|\"){0,3}[ ]{0,2}[\"'`]?\Z"
)


_SET = lazy_pattern(
    r"\A[\"'`\])]{0,2}(?:(?:\s*,\s*|\s*=\s*[\w:.]{1,24}\(|[ ]?[=:][ ]?[@brufln])[@brufln]?[\"'`]"
    r"|(?:\s*<-\s*|\s*:\s*(?:&?str|string)\s*=\s*|\s*:\s*!!str\s+"
    r"|[\"']?,?\s*\n\s*[\"']?(?:value|default)[\"']?\s*[:=]\s*)[\"'`]?)\Z"
)
_CALLS = lazy_pattern(r"\(\s*(?:[\w.]+,\s*)?[\"'`][#.\[\w=-]*\Z")
"""How code and settings give a value, but for a plain sign."""


def _ahead(lowered: str, mention: Mention, start: int, end: int) -> tuple[str, int]:
    between = lowered[mention.end : start]
    tail = _TAIL.match(between)[0]  # type: ignore[index]
    if between and len(tail) == len(between):
        return "none", 0
    rest = between[len(tail) :]
    is_thing = mention.kind in ("secret", "key") and tail not in ("", "'s", "’s") and not _KEY_TAIL.fullmatch(tail)
    if is_thing and not (tail == "s" and lowered.startswith("cred", mention.start)):
        return "none", 0
    if tail and not _NAME_TAIL.fullmatch(tail) and (mention.kind != "password" or not tail.isalpha()):
        return "none", 0
    if (
        MARK_ENDS[0] in rest
        or _IN_AN_ADDRESS.search(rest)
        or _MEMBER.match(rest)
        or ("\n" not in rest and not rest.startswith((" for ", " of ")) and _OF_USER.search(rest))
    ):
        return "none", 0
    if _SET.search(rest) and ("," not in rest or _CALLS.search(lowered, max(0, mention.start - 40), mention.start)):
        return "sign", 3
    if "\n" in rest:
        if not _is_alone(lowered, start, end):
            return "none", 0
        return ("asked", 2) if _ASKS.search(rest) else ("line", -2)
    bare = rest.rstrip(_QUOTES + "*([{<@ \t(（" if rest[-1:] in _QUOTES else _QUOTES + "* \t")
    if not bare and tail in ("'s", "’s"):
        return "is", 3
    if not bare:
        return "adjacent", 2 if mention.kind == "locked" else _is_given(
            lowered, mention.start, _ends_line(lowered, end)
        )
    if ended := _SENTENCE_ENDS.search(bare):
        words = _WORDS.findall(bare[ended.end() :])
        if ended[0] in "{}" or len(words) > _NEXT_WORDS:
            return "far", -1
        if not words:
            return "next", 1
        return ("next", 2) if words[-1] in _SAYS or words[-1] in _GIVE or words[-1] in _FILLERS else ("far", -1)
    words = _WORDS.findall(bare)
    sign = bare[-1]
    if sign in _SIGNS or bare.endswith(("->", "=>", "–", "—", " -", ":-")) or bare == "-":
        if _SEPARATORS.search(bare[:-1].rstrip(" -=:>")) or bare.count(")") > bare.count("("):
            return "other-key", 0
        return "sign", 3 if len(words) <= 6 else 2
    if bare.strip(_QUOTES + " ") == ">":
        return "sign", 3
    if sign in "|\t":
        return "cell", 2
    if sign in "(（[":
        return "bracket", 2 if len(words) <= 3 and lowered.startswith(_ENGLISH, mention.start) else 1
    if sign in ",，、;":
        return "comma", 1 if len(words) <= 4 else 0
    if sign in "?!？":
        return "asked", 2
    if sign in "/%+":
        return ("slash", 1) if bare.strip() == sign else ("none", 0)
    if sign in "是为為はがを는은이가를을成了也叫คือ就":
        return "is", 3
    if sign in "在存":
        return "far", -2
    if not words:
        return "far", 0
    while len(words) > 1 and words[-1] in _FILLERS:
        words.pop()
    last = words[-1]
    changes = _CHANGES.search(lowered, max(0, mention.start - 40), end + 24) if last in _INTO else None
    if changes:
        return "changed", 3
    if last in _SAYS:
        return "is", 3
    if last in _TO:
        return ("to", 1) if "," not in bare else ("far", -1)
    if last in _GIVE:
        return "verb", 2
    if _ENDS_IN_IS.match(lowered, end):
        return "is", 3
    if last in _LINKS:
        return "far", -2
    if words[0] in _OF and 2 <= len(words) <= 4 and lowered.startswith(_ENGLISH, mention.start):
        return "of", 1
    return ("far", 0) if len(words) <= 4 else ("far", -1)


_USER = lazy_pattern(
    r"(?:user|login|account|usuario|usuário|utente|benutzer|utilisateur|gebruiker|użytkownik|kullanıcı|логин|польз"
    r"|root|admin|用户|帐|账|ユーザ|사용자)"
)


_ALONE_POINTS = 3


def _ends_line(lowered: str, end: int) -> bool:
    return not lowered[end : end + 40].partition("\n")[0].strip(_QUOTES + " .!*,;)")


_KNOWN = frozenset(
    "default old new current temporary initial master same correct right real my our his her their admin root shared"
    " mein neues"
    " altes standard mon notre ancien nouveau mi nuestra minha nossa mia nostra".split()
)
_WITHOUT_IS = ("şifresi", "parolası", "jelszav", "jelszó")


def _is_given(lowered: str, start: int, ends: bool) -> int:
    """Points for what gives the value before the mention: `log in with user bob and the password …`."""
    before = _SENTENCE_OR_LINE_ENDS.split(lowered[max(0, start - 48) : start])[-1]
    words = _WORDS.findall(before)
    if _USER.search(before):
        return 3
    if lowered.startswith(_WITHOUT_IS, start) or lowered[start] > _LAST_LATIN:
        return 2
    if not words:
        return _ALONE_POINTS if ends else 0
    return 2 if not _GIVE.isdisjoint(words[-4:]) or words[-1] in _KNOWN or before.endswith("-") else 0


_OF = frozenset(("for", "of", "on", "to", "at"))
_ENGLISH = ("pass", "pw", "pin", "secret")
_AS = frozenset("as als como comme come jako как som 作为 作為 kuin".split())


def _behind(lowered: str, mention: Mention, start: int, end: int) -> tuple[str, int]:
    rest = lowered[end : mention.start].lstrip(_QUOTES + "*")
    if MARK_ENDS[0] in rest or "\n" in rest:
        return "none", 0
    before = _WORDS.findall(lowered[max(0, start - 24) : start].rpartition("\n")[2])
    given = bool(before) and before[-1] in _GIVE
    words = _WORDS.findall(rest)
    if not rest.strip():
        return "adjacent-behind", 0
    if _BRACKET_OPENS.match(rest):
        return "bracket-behind", 2
    if _CLAUSE_ENDS.search(rest):
        return "far-behind", -1
    first = words[0] if words else ""
    if first in _AS and len(words) <= 4:
        return "as-behind", 3
    if _SERVES_AS.match(rest):
        return "as-behind", 3
    if (first in _SAYS or rest.startswith((", that", ", das ist", ", c'est"))) and len(words) <= 5:
        return "is-behind", 3
    if given and len(words) <= 7 and mention.kind in ("password", "short", "asked"):
        return "given-behind", 3
    return ("far-behind", 0) if len(words) <= 3 else ("far-behind", -1)


_ALONE = lazy_pattern(r"[\s>|*-]*(?:\w{1,10}:)?[\s\"'`*-]*\Z")


def _is_alone(lowered: str, start: int, end: int) -> bool:
    """Whether it is all that its line has, but for `>`, `User:` or `value:`."""
    before, after = lowered[max(0, start - 40) : start].rpartition("\n")[2], lowered[end : end + 8].partition("\n")[0]
    return bool(_ALONE.match(before)) and not after.strip(_QUOTES + " .!*;,)\\rn")


def _after(lowered: str, end: int, quoted: bool = False) -> str:
    after = lowered[end : end + 24]
    rest = after.lstrip(_QUOTES + "*")
    if after[:1] in _QUOTES and after:
        return "end" if quoted or not rest[:1].isalnum() else "linked"
    if (rest.startswith(("...", "…", "(", "[", "{")) and rest[1:2] <= _LAST_LATIN) or rest[:2] in ("=>", "->"):
        return "code"
    if not rest or rest[0] in "\n|\t" or rest.startswith("</"):
        return "end"
    if rest[0] in ".,;!?)）。，、":
        return (
            "end"
            if len(rest) == 1 or not (rest[1].isalnum() and rest[1].isascii()) or rest[0] in "）。，、"
            else "code"
        )
    if rest[0] in "=<>{/@\\":
        return "code"
    if rest[0].isalnum() and rest[0].isascii():
        return "code"
    if not rest[0].isspace():
        return "linked"
    word = _WORDS.match(rest.lstrip())
    if not word:
        return "end" if rest.lstrip()[:1] in "(-–—|#/" else "linked"
    if word[0][0] > _LAST_LATIN and lowered[end - 1] <= _LAST_LATIN:
        return "linked"
    return (
        "linked" if word[0] in _GOES_ON_AS or any(word[0] in some for some in (_LINKS, _GIVE, _TO, _SAYS)) else "word"
    )


_GOES_ON_AS = frozenset(
    "hasn't isn't doesn't didn't won't works worked still again yesterday today tomorrow please right btw lol until"
    " since because so"
    " which who here there everywhere but though although then while after before if once too also instead"
    " since".split()
)


def _nearest(known: list[Mention], lowered: str, start: int, end: int) -> Iterator[Mention]:
    """The last before and the first behind it, in its line; else the last of the two lines above."""
    at = bisect_left(known, start, key=_start)
    for before in known[max(0, at - 2) : at]:
        if 0 <= start - before.end <= _REACH_AFTER and lowered.count("\n", before.end, start) <= 2:
            yield before
    at = bisect_left(known, end, key=_start)
    if at < len(known) and known[at].start <= end + _REACH_BEFORE and "\n" not in lowered[end : known[at].start]:
        yield known[at]


_start = itemgetter(0)


def is_handed_over(candidate: Candidate, few: bool = False) -> bool:
    return judged(candidate, few) >= 0


# A login in two words: `log in as admin / hunter2`, `credentials: bob:hunter2`.

_LOGINS = (
    "login|log in|logged in|logging in|logs in|sign in|credential|creds|basic auth|auth:|wifi:|u/p|vpn|ftp |ftp:|smtp"
    "|identifiant|zugang|anmeldung|einloggen|melde dich|connecte-toi|connexion|accès|acceso|accedi|accesso|inicia"
    " sesión|entra con"
    "|entre com|entra com|acesse|acesso|inloggen|inloggning|logga in|zaloguj|přihlás|logowani|giriş|логин|залогин"
    "|учётк|учетк|вход"
    "|войди|доступ|登录|登入|账号|帳號|ログイン|アカウント|로그인|계정|đăng nhập|masuk"
).split("|")
_USERS = "admin administrator root".split()
_VALUE = rf"[\"'`]?(?P<secret>[^\s\"'`“”«»<>(),;|、，。{_FAR_EAST}{MARK_ENDS}]{{4,64}}(?<![.:;!?)\]}}…\\*,]))"
_PAIR = (
    r"[^\n]{0,32}?(?:[ ](?:with|as|using|are|is|it's|its|enter|use|mit|in|user|username|mit|als|avec|sont|con|son"
    r"|como|com|met|med|jako|pod|под|с|用|ile|usuario"
    r"|benutzer|utilisateur)|[:=：]|[-=]>|→|(?<=login)|(?<=creds)|(?<=vpn)|(?<=ftp ))[ ]{0,2}\(?[\"'`]?"
    r"(?P<user>[a-z][\w.@+\\-]{1,24}?)[\"'`]?"
    r"(?P<and>[ ]?(?://|[/|:、])[ ]?|,[ ]?|[ ](?:and|with|und|et|y|e|i|a|en|och|ve|и|和|con|mit|/|-|–)[ ])"
)
_STRONG_AND = lazy_pattern(r"[ ]?(?://|[/|:])[ ]?")
_NO_LOGIN = lazy_pattern(r"[\w.-]+\.[a-z]{2,4}(?:[/:]|\Z)|.*@[\w-]+\.|.*/.*/|https?\b|.*::")


def is_login_password(candidate: Candidate) -> bool:
    """Whether the second of two words behind `login` is a password, and not a path, a port, a branch or a name."""
    user, value, text = candidate.group("user"), candidate.value, candidate.text
    end = candidate.match.end("secret")
    shape = form(value)
    if (
        not shape.name
        or shape.name in ("hash", "digits", "code-9", "phrase")
        or _after(candidate.match.string, end) == "code"
    ):
        return False
    if candidate.group("and") == ": " or "\\r" in user or "\\n" in user:
        return False
    if _NO_LOGIN.match(value) or "/" in value or text[candidate.match.start("user") - 1] in "/.\\":
        return False
    strong = _STRONG_AND.fullmatch(candidate.group("and"))
    if candidate.group("and") == "/" and user not in _USERS:
        return shape.points >= 3 and not is_common(user)  # else the name of a repository
    if is_common(user) and user not in (*_USERS, "postgres", "guest", "demo", "deploy", "test"):
        return shape.points >= 3 and bool(strong)
    return shape.points >= 1


_INTRODUCED = lazy_pattern(r"(?:it's|its|is|are|use|using|with|enter|as|mit|avec|con|com|met|als|ist|sind)[ ][\"'`]?\Z")


def is_pair(candidate: Candidate) -> bool:
    """The same without the word `login`, behind a user whom every program has."""
    lowered, (start, end) = candidate.match.string, candidate.match.span()
    shape = form(candidate.value)
    if (
        not shape.name
        or shape.name in ("hash", "digits", "code-9")
        or "/" in candidate.value
        or _after(lowered, end) == "code"
    ):
        return False
    line = _line(lowered, start, end)
    near = lowered[max(0, start - _LINE) : end + _LINE]
    said = any(word in near for word in _LOGINS) or bool(_INTRODUCED.search(lowered, max(0, start - 12), start))
    return shape.points >= (1 if said and not _CODE_LINE.search(line) else 3)


def _logins(lowered: str) -> Iterator[int]:
    """Each as far from the last as a pair may stand behind it."""
    done = -_APART
    for place in places_of(_LOGINS, lowered):
        if place >= done + _APART and _HAS_PAIR.search(lowered, place, place + _REACH_AFTER):
            done = place
            yield place


_APART = 40
_HAS_PAIR = lazy_pattern(r"[/|:、,][ ]?[^\s,]|[ ](?:and|with|und|et|y|e|i|a|en|och|ve|и|和|con|mit|/|-|–)[ ]")
_USER_BEGINS = lazy_pattern(rf"(?<![\w.@/\\$-])(?:{'|'.join(_USERS)})(?=[ ]?[/:]|, | (?:and|und|with|mit) )")


def _users(lowered: str) -> Iterator[int]:
    return (found.start() for found in _USER_BEGINS.finditer(lowered))


# A table with a column of passwords.

_HEADING = lazy_pattern(r"(?P<before>(?:[^\n,;|\t]{0,40}[,;|\t]){1,8})[ ]{0,20}[^\n,;|\t]{0,24}\Z")
_ENDS_HEADING = lazy_pattern(r"[a-zа-я]{0,4}[\"'`*]{0,2}(?:[ ]\([^)\n]{0,20}\))?[ ]{0,20}(?:[,;|\t]|$)", re.M)
_RULED = lazy_pattern(r"[-+|:= ]{3,}")
_MAX_ROWS = 200


def is_in_column(candidate: Candidate) -> bool:
    shape = form(candidate.value)
    return shape.points >= 1 and shape.name != "hash"


def _cells_below(text: str) -> Iterator[int]:
    """Where the cells of a column of passwords begin, row by row below its heading."""
    done = 0
    for mention in mentions(text):
        if (
            mention.start < done
            or mention.kind in ("asked", "locked", "entry")
            or not _ENDS_HEADING.match(text, mention.end)
        ):
            continue
        heading = _HEADING.match(
            text, max(text.rfind("\n", 0, mention.start) + 1, mention.start - _LINE), mention.start
        )
        if not heading or re.search(r"[({}&=]", heading[0]):
            continue
        before = heading["before"]
        sign = before[-1]
        above = text.rfind("\n", 0, max(0, heading.start() - 1)) + 1
        if sign == "|" and "|" in text[max(above, heading.start() - _LINE) : heading.start()]:
            continue  # a row, not the heading
        column, begin = before.count(sign), text.find("\n", mention.end) + 1
        for _ in range(_MAX_ROWS):
            end = text.find("\n", begin) if begin else -1
            row = text[begin : end if end >= 0 else len(text)] if begin else ""
            cells = row.split(sign)
            if _RULED.fullmatch(row) and end >= 0:
                begin = end + 1
                continue
            if len(cells) <= column:
                break
            at = begin + sum(len(cell) + 1 for cell in cells[:column])
            yield at + len(cells[column]) - len(cells[column].lstrip())
            done = begin = end + 1 if end >= 0 else 0


# Several words that are said to be it, up to the end of the clause.

_SAID_WORDS = r"(?P<secret>[^\W\d_]{2,12}(?: [^\W\d_]{2,12}){1,5})(?=[ ]?[,.;!)\n]|[ ]?\Z| -)"


def is_said_in_words(candidate: Candidate) -> bool:
    """Half of the words with some letters are none of those that speak of passwords."""
    lowered, (start, end) = candidate.match.string, candidate.match.span("secret")
    words = candidate.value.lower().split()
    long = [word for word in words if len(word) >= _MIN_CHARACTERS]
    if (
        not long
        or words[0] in _LINKS
        or words[0] in _SAYS
        or words[0] in _GIVE
        or words[0] in _TO
        or words[0] in _FILLERS
    ):
        return False
    if 2 * sum(map(is_common, long)) > len(long) or any(name in candidate.value.lower() for name in _PASSWORDS):
        return False
    before = [
        one
        for one in _nearest(mentions(lowered), lowered, start, end)
        if one.end <= start and one.kind in ("password", "short")
    ]
    for mention in before:
        between = lowered[mention.end : start]
        link = _ahead(lowered, mention, start, end)[0]
        if (
            link in ("is", "sign", "changed", "next")
            and not _SAYS_OTHERWISE.search(between)
            and not _CODE_LINE.search(_line(lowered, start, end))
        ):
            return True
    return False


TOLD = (
    Rule(
        "password",
        "What is handed over as a password, where a text speaks of one",
        _PATTERN,
        _GATES,
        is_handed_over,
        any_case=True,
        places=_near,
        probe=f"(?:{'|'.join(map(re.escape, _GATES))})",
    ),
    Rule(
        "password",
        "What is handed over as a pass, a token or a key",
        rf"(?=.){_PATTERN}",
        (
            *_KEYS,
            *(f"{name}{sign}" for name in ("pass", "token") for sign in (*" :=\"'’`>|)]*-<\n\t(_：→",)),
        ),
        partial(is_handed_over, few=True),
        any_case=True,
        places=partial(_near, few=True),
        probe=rf"(?:pass|token)(?:'s|’s)?[\"'`*)\]]{{0,3}}(?: ?(?:[:=>|(<]|->|：|→)"
        rf"| (?:is|was|are|for|of|on|to) | [\"'`]| \S+$"
        rf"| \S*\d|\n)"
        rf"|{_WHOSE.pattern[:-2]}(?:pass|token)(?:[ :=\"'`>|)\]*<\n\t(_-]|’|：|→)|{'|'.join(map(re.escape, _KEYS))}",
    ),
    Rule(
        "password",
        "Some words that are said to be the password",
        _SAID_WORDS,
        _GATES,
        is_said_in_words,
        any_case=True,
        places=_near,
        probe=f"(?:{'|'.join(map(re.escape, _GATES))})",
    ),
    Rule(
        "password",
        "USER / PASSWORD behind a word such as `login`",
        rf"(?:{'|'.join(_LOGINS)})(?:(?<= in)(?![a-z])|(?<! in)[a-z]{{0,3}}){_PAIR}{_VALUE}",
        tuple(_LOGINS),
        is_login_password,
        any_case=True,
        places=_logins,
        probe=f"(?:{'|'.join(_LOGINS)})",
    ),
    Rule(
        "password",
        "admin / PASSWORD",
        rf"(?:{'|'.join(_USERS)})(?P<and>[ ]?(?://|[/:])[ ]?|,[ ]|[ ](?:and|und|with|mit|/)[ ]){_VALUE}",
        ("admin", "root"),
        is_pair,
        any_case=True,
        places=_users,
        probe=rf"(?:{'|'.join(_USERS)})(?:[ ]?[/:]|, | and | with | und | mit )",
    ),
    Rule(
        "password",
        "Below a heading `password` in a table",
        rf"[\"'`]?(?P<secret>[^\s,;|\"'`{MARK_ENDS}]{{4,128}})[\"'`]?(?=[ \t]*(?:[,;|\t\n]|\Z))",
        (*_PASSWORDS, "psw", "pwd", *(f"{sign}{name}" for name in ("pass", "pw") for sign in (",", "|", "| ", "\t"))),
        is_in_column,
        any_case=True,
        places=_cells_below,
        probe=rf"(?:,|;|\||\t)[ *`]*(?:{'|'.join(map(re.escape, (*_PASSWORDS, *_SHORT, 'pin', 'pass')))})",
    ),
)
