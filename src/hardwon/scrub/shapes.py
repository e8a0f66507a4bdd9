"""The shapes of secrets: a literal one or a placeholder, a name, a path in its place; how rules are written of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain

from hardwon.scrub.rule import Accepts, Candidate, Rule, compiled
from hardwon.text.normalise import MARK_ENDS, lazy_pattern

# What people write where a secret would stand: templates, masks, stand-ins, documentation's examples.

_TEMPLATE = lazy_pattern(
    r"\$(?:[A-Z_][A-Z0-9_]*|[a-z][A-Za-z_]*\d?|\d)\Z"
    r"|.{0,40}?(?:\$\{[\w.:?!#%@/\[\]\" '|*-]*\}|\$\([^()]|\$\{\{"
    r"|\{\{[\w\s.|:$\"'()!/-]*(?:\}\}|\Z)|(?<![A-Za-z0-9])\$\{?[A-Za-z_]\w*(?:\Z|/))"
    r"|%\w+%\Z|%\(\w+\)|%[a-z]\Z|<[^<>]*>?\Z|&lt;|\[[\w ./|-]+\]\Z"
    r"|#?\{(?:[\w.:-]*\}|[\"'])"
    r"|!(?:Ref|Sub|GetAtt|ImportValue|secret|vault|env)\b"
    r"|@(?:Microsoft\.KeyVault|param|secret)|(?:op|vault|ssm|secretsmanager|keychain|env|file)://?|valueFrom|(?i:enc)\("
    r"|!?(?i:process\.env|import\.meta|os\.(?:environ|getenv)|env|secrets?|vars?|config|self|this"
    r"|args|options|settings|ctx|req|request|params|props|data|exports|local|module|each)[.?\[]"
    r"|[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++\Z|@[A-Za-z][A-Za-z_]*@\Z|'\$",
    re.A,
)
_MASK = lazy_pattern(r"[*•.xX#_-]{3,}|…|0{6,}")
_NAMELESS = (
    r"^(?:(?:my|the|an?|new|old|test|fake|user|db|your|some|root|admin|bad|wrong|invalid|valid|plain|secret)[_-]?)?"
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|key|value)[_-]?\d{0,3}$"
)
_WORD_ITSELF = lazy_pattern(_NAMELESS, re.I | re.A)
_STAND_IN = lazy_pattern(
    r"(?:^|[^a-z])(?:your|insert|replace|change[_-]?me|change[_-]?this|placeholder|redacted|masked|hidden|removed|dummy"
    r"|example|todo|tbd|undefined|null|none|not[_-]?set|same[_-]?as|goes[_-]?here|(?:some|any|my)[_-]?(?:random|secure"
    rf"|strong|long|secret|super))(?:$|[^a-z])|{_NAMELESS}",
    re.I | re.A,
)
_EXAMPLES = (
    "EXAMPLE",
    "YOUR_",
    "YOUR-",
    "_YOUR",
    "-YOUR",
    "PLACEHOLDER",
    "REDACTED",
    "CHANGEME",
    "DUMMY",
    "...",
)
_FILLED_IN_LATER = lazy_pattern(
    r"<[^<>]{0,60}(?:>|\Z)|\$\{[\w.:?!#%@/\[\]\" '|*-]*(?:\}|\Z)|\{\{[\w\s.|:$\"'()!/-]*(?:\}\}|\Z)", re.A
)
_MIN_DISTINCT_CHARACTERS = 3
_VERDICTS_REMEMBERED = 2_048
"""Verdicts: the values of a session are few and come again and again."""


@lru_cache(maxsize=_VERDICTS_REMEMBERED)
def is_template(value: str) -> bool:
    """`${TOKEN}`, `<token>`, `DB_PASSWORD`, `****`: where a value would be filled in or hidden."""
    return bool(_TEMPLATE.match(value)) or (
        bool(_MASK.search(value)) and len(_MASK.sub("", value)) < min(8, len(value))
    )


@lru_cache(maxsize=_VERDICTS_REMEMBERED)
def is_stand_in(value: str) -> bool:
    """A template, or a word people write instead of a secret: `your-token`, `changeme`."""
    return is_template(value) or bool(_STAND_IN.search(value))


def is_word_itself(value: str) -> bool:
    """`password`, `my-token`: what the value is called, in place of one."""
    return bool(_WORD_ITSELF.search(value))


def is_example(token: str) -> bool:
    """A token of a known form that was never one: `AKIA…EXAMPLE`, `ghp_xxxxxxxx`."""
    if len(set(token[-12:])) < _MIN_DISTINCT_CHARACTERS:
        return True
    loud = token.upper()
    return any(word in loud for word in _EXAMPLES) or bool(_FILLED_IN_LATER.search(token))


MAX_NAME_CHARACTERS = 200
"""No name, path or placeholder is longer."""

_ADDRESS = lazy_pattern(
    r"[A-Za-z][A-Za-z0-9+.-]*+://|arn:|(?:sha|md)\d{1,3}[-:=]|\d{4}-\d\d-\d\d",
    re.A,
)
_PATH = lazy_pattern(
    r"~(?!\w)|(?:\.\.?|[A-Za-z]:)?[/\\]{1,2}"
    r"(?:[a-z._-]+|Users|Applications|Library|Volumes)(?:[/\\]|\Z)",
    re.A,
)
_NUMBER = lazy_pattern(r"[+-]?[\d.,_]+(?:e[+-]?\d+|[a-z%]{0,3})", re.I | re.A)
_PART = lazy_pattern(r"[A-Za-z]*+\d{0,2}|\d{1,4}|[A-Za-z]?\d{1,2}[A-Za-z]{0,2}|[A-Za-z]{2,}(?:64|128|256|512)", re.A)
_CASED_BY_CHANCE = lazy_pattern(r"(?=[A-Za-z]{4})(?![A-Z]?[a-z]+(?![A-Za-z])|[A-Z]+s?(?![A-Za-z]))", re.A)
"""`kqHk94`: of four letters and more, neither small, nor large, nor with a large first."""
_PART_BREAK = lazy_pattern(r"[-_./:@+]+")
_WORD = lazy_pattern(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}", re.A)
_MIN_SHARE_OF_WORDS = 0.75
_MIN_SHARE_OF_WORDS_IN_LONG_NAME = 0.85
_MAX_SHORT_NAME_CHARACTERS = 16
_OWN_NAME = lazy_pattern(r"token|secret|passw|api_?key|credential|auth", re.I)
_IDENTIFIER = lazy_pattern(r"[A-Za-z_$][\w$]*+(?:\.[\w$]++)*+", re.A)
_CODE = lazy_pattern(r"[\w.$\]]+(?:\(|\[[\"'\w])|->|=>|\+\+|&&|\|\||;$", re.A)
_SYMBOL = lazy_pattern(r"[!@#$%^&*~]")
_BRACKET_OR_SYMBOL = lazy_pattern(r"[!@#$%^&*~(){}\[\]<>]")
_MIN_SYMBOLS_OF_SALAD = 3
_REGEX = lazy_pattern(r"\(\?|\[\^|\\[wsdbA-Z]|[)\]][+*?{]")
_RESOURCE = lazy_pattern(r"[a-z]{4,}(?:/[\w.-]++){3,}\Z", re.A)
"""`projects/12345/secrets/name`: where a cloud keeps it."""
_SELECTOR = lazy_pattern(r"[#.][a-z]+(?:-[a-z]+)*\Z")
_LITERAL_BEFORE = lazy_pattern(
    r"(?:\s|\A)--?[a-z-]*-\Z|-literal=\Z|;[ ]*\Z|\b(?:user(?:name|[ ]id)?|uid)[ ]?=[ ]?\S+[ ,]+\Z"
    r"|^[ \t|-]*(?:user(?:name)?|login|uid|host|email)[ ]?[:=][ ]?[^\s\"'(]+[ ]*\n[ \t|-]*\Z",
    re.I | re.M,
)
_USER_INFO_END = lazy_pattern(r"[\s/@?#;,(\"']")
_DIGIT = lazy_pattern(r"\d", re.A)
_LETTER = lazy_pattern(r"[A-Za-z]")
_CHANCE = lazy_pattern(r"[A-Z0-9]")
_STRONG_WORD = lazy_pattern(r"(?=\S*[A-Za-z])(?=\S*(?:\d|[^\w\s.,;:!?()'\"-]))\S{4,}", re.A)
_HASH_NAME = lazy_pattern(
    r"[_. -]id[\"']?\s*[:=]|sha\d|hash|digest|checksum|commit|revision|\brev\b|md5|etag|integrity|image|version|public"
)
_MIN_CREDENTIAL_ENTROPY = 2.4
_MIN_KEY_ENTROPY = 2.9
_MIN_LETTER_SALAD_ENTROPY = 2.6


def is_real(candidate: Candidate) -> bool:
    """Whether a token of a known form is more than documentation's example of one."""
    value = candidate.value
    return len(value) > MAX_NAME_CHARACTERS or bool(_CHANCE.search(value) and not is_example(value))


def is_drawn(candidate: Candidate) -> bool:
    """Whether the value is no mask: where a documentation's example cannot be told from a key, it goes too."""
    return not is_template(candidate.value) and bool(_CHANCE.search(candidate.value))


def is_key(candidate: Candidate) -> bool:
    """Whether a value given to a vendor's name looks drawn by chance."""
    value = candidate.value
    if is_example(value) or not _DIGIT.search(value) or not _LETTER.search(value):
        return False
    if _HASH_NAME.search(candidate.match[0][: -len(value)]):
        return False
    return entropy(value) >= _MIN_KEY_ENTROPY and not is_name(value)


def is_password(candidate: Candidate) -> bool:
    """Whether the value given to a password is a literal one."""
    value = candidate.value
    if len(value) > MAX_NAME_CHARACTERS:
        return bool(_DIGIT.search(value) or _SYMBOL.search(value))
    if _is_in_user_info(candidate):
        return False
    literal = _is_literal(candidate)
    if may_be_password(value, literal):
        return True
    return literal and not _is_beside(candidate) and is_plain_word(value, spoken=False) and not _is_no_value(value)


def _is_beside(candidate: Candidate) -> bool:
    """Whether it is the next of a list, in which the name stands as well."""
    try:
        start = candidate.match.end("name")
    except IndexError:
        return True
    return bool(re.search(r"[],]", candidate.text[start : candidate.match.start("secret")]))


@lru_cache(maxsize=_VERDICTS_REMEMBERED)
def may_be_password(value: str, literal: bool) -> bool:
    """Whether nothing but a password looks so; `literal` is what stands in quotes or in an env file."""
    if literal:
        likely = bool(_DIGIT.search(value) or _SYMBOL.search(value)) or is_letter_salad(value)
    elif _IDENTIFIER.fullmatch(value):
        likely = (bool(_DIGIT.search(value)) and not is_name(value)) or is_letter_salad(value)
    else:
        # The ends do not count: `user.password!` and `@password` are code.
        likely = bool(_DIGIT.search(value) or _SYMBOL.search(value[1:-1])) and not _CODE.search(value)
    likely = likely or is_words(value, "-._" if literal else "-")
    return likely and not _is_no_value(value) and not is_test_name(value) and not _SELECTOR.match(value)


_OF_A_PHRASE = lazy_pattern(r"[A-Za-z][a-z]{2,11}(?:([-._ ])[A-Za-z][a-z]{2,11})(?:\1[A-Za-z][a-z]{2,11}){1,4}\d{0,4}")
_NO_WORD_OF_A_PHRASE = frozenset(
    "add admin all also and any api app application are args array auth based body button can cannot card case"
    " change character characters chars check class clear client column com component conf config configs"
    " configuration confirm confirmation confirmed core create created credential credentials crt css csv data"
    " database default delete demo development dialog digit digits docs email empty encrypted enter env"
    " environment error errors example expired expires export exports field fields file files first flow for"
    " forgot forgotten form forms free from function generated generator get handler has hash hashed hashing"
    " helper helpers hidden hide host html http https icon import incorrect index ini input inputs insensitive"
    " invalid item items its java json key keys label last least length less letter letters lib line lines link"
    " list local lock log login logout logs long mail main manager map match matches max message messages method"
    " min mismatch missing mock modal model module most must name names net new next node not number oauth object"
    " old one only options org page params pass passcode passphrase passwd password passwords path pem per phone"
    " placeholder plain please policy private process production prompt props protected public pwd python read"
    " remote remove request require required requires reset response rotate rotation route router row rule rules"
    " salt sample schema screen secret secrets see self sensitive server service services set settings short show"
    " shown sign spec sql src staging state step storage store stored strength string strong table test testing"
    " tests text that the this toggle token tokens toml too two txt type unit update updated uri url use used user"
    " users using util utils valid value values vault verify version via view visible was weak web will with write"
    " wrong www xml yaml yml you your".split()
)


@lru_cache(maxsize=_VERDICTS_REMEMBERED)
def is_words(value: str, joints: str = "-._ ") -> bool:
    """`tide-reef-lamp`: three to six words by one sign, none of which code or talk of passwords is full of."""
    found = _OF_A_PHRASE.fullmatch(value)
    if not found or found[1] not in joints:
        return False
    words = value.lower().rstrip("0123456789").split(found[1])
    return len({*words}) == len(words) and _NO_WORD_OF_A_PHRASE.isdisjoint(words)


_JOINED = lazy_pattern(r"[A-Za-zÀ-ɏ]{2,24}(?:[-._&=+/^'][A-Za-zÀ-ɏ]{1,24}){0,3}\d{0,4}")
_MIN_WORD_CHARACTERS = 5
_NO_PASSWORD = lazy_pattern(
    r"(?:ed|ing|ly|able|ible|ment|tion|sion|ness|ity|ance|ence|ize|ised?|ful|less|ous|ive|ary|ory|ism|ist|ship|hood)\Z"
)
_SAID_OF_PASSWORDS = frozenset(
    "above again already always another anything automatically available because before being below blank "
    "boolean both bound case common compromised contraseña correct correcta currently different difficult "
    "disabled done down dummy either empty enabled equal errada even exactly example falsch false fine foobar "
    "foobared geheim gleich gone good guest hard hasło here heslo hidden hunter identical incorrecta "
    "incorrecte inside itself jelszó just kennwort kept known later leaked leer left like local longer made "
    "mandatory masked meant mine mongodb motdepasse mysql never nicht none nothing null nullable number "
    "obligatoire often okay optional other parola part passwort postgres postgresql present random really "
    "redacted redis richtig root safe salasana same sample secret secreta secreto secure segredo senha sent "
    "simple simply something still stored string strings such supposed sure taken temporary their them then "
    "there these they true typed unchanged undefined under unique unknown unsafe untouched vacía varchar "
    "verified vide void wachtwoord what when where which whose within without working would yours пароль".split()
)


@lru_cache(maxsize=_VERDICTS_REMEMBERED)
def is_plain_word(value: str, *, spoken: bool = True) -> bool:
    """`marmalade`, `hazelnut-cream`: words of no meaning to a program, nor to who speaks of passwords."""
    if len(value) < _MIN_WORD_CHARACTERS or not _JOINED.fullmatch(value) or _OWN_NAME.search(value):
        return False
    words = re.split(r"[-._&=+/^']", value.lower().rstrip("0123456789"))
    if not _SAID_OF_PASSWORDS.isdisjoint(words) or not _NO_WORD_OF_A_PHRASE.isdisjoint(words):
        return False
    return len(words) > 1 or not (spoken and _NO_PASSWORD.search(words[0]))


def is_passphrase(candidate: Candidate) -> bool:
    """Whether several words in quotes are a password, and not a sentence about one."""
    value = candidate.value
    if is_template(value) or not 2 <= len(value.split()) <= 8:
        return False
    if any(not is_stand_in(word) and not is_name(word) for word in _STRONG_WORD.findall(value)):
        return True
    words = value.split()
    if is_words(value, " "):
        return True
    return candidate.group("name").isupper() and len(words) >= 3 and all(word.islower() for word in words)


def is_credential(candidate: Candidate) -> bool:
    """Whether the value given to a token, a secret or a key is a literal one."""
    value = candidate.value
    if len(value) > MAX_NAME_CHARACTERS:
        return bool(_DIGIT.search(value))
    return _may_be_credential(value, _is_literal(candidate)) and not _is_in_user_info(candidate)


@lru_cache(maxsize=_VERDICTS_REMEMBERED)
def _may_be_credential(value: str, literal: bool) -> bool:
    if not _DIGIT.search(value):
        drawn = _is_mixed_case(value) or _is_symbol_salad(value)
        likely = len(value) >= 16 and literal and drawn and not _OWN_NAME.search(value)
    else:
        likely = literal or not (_OWN_NAME.search(value) or _is_camel_case(value) or _CODE.search(value))
    if not likely or _NUMBER.fullmatch(value) or is_name(value) or entropy(value) < _MIN_CREDENTIAL_ENTROPY:
        return False
    return not is_example(value) and not _is_no_value(value)


def is_given(candidate: Candidate) -> bool:
    """Whether the value is anything but a placeholder: enough where mostly secrets stand."""
    value = candidate.value
    return len(value) > MAX_NAME_CHARACTERS or not is_stand_in(value)


def is_filled_in(candidate: Candidate) -> bool:
    """Whether the value is anything but a template: enough where only a secret can stand."""
    value = candidate.value
    return len(value) > MAX_NAME_CHARACTERS or not is_template(value)


def is_given_word(candidate: Candidate) -> bool:
    """Whether the value is anything but a template or the word `password` itself."""
    value = candidate.value
    return len(value) > MAX_NAME_CHARACTERS or not (is_template(value) or is_word_itself(value))


def is_strong(candidate: Candidate) -> bool:
    """Whether a bare word is nothing but a password: letters, digits and more, and no name."""
    value = candidate.value
    if is_stand_in(value) or _PATH.match(value) or _ADDRESS.match(value) or _CODE.search(value):
        return False
    if not _DIGIT.search(value) or not _LETTER.search(value):
        return False
    return bool(_SYMBOL.search(value)) or not (is_name(value) or _PART.fullmatch(value))


def is_api_key(candidate: Candidate) -> bool:
    """Whether a prefixed key has a random part; `sk-` also begins names of CSS classes."""
    value = candidate.value
    if not _DIGIT.search(value) or is_example(value):
        return False
    return any(len(part) >= 16 for part in value.split("-"))


def is_aws_secret(candidate: Candidate) -> bool:
    """Forty characters of all three classes: a path or a commit hash lacks one."""
    value = candidate.value
    return bool(_DIGIT.search(value)) and _is_mixed_case(value) and not is_name(value) and not is_template(value)


def entropy(value: str) -> float:
    """Bits a character, by how often each occurs: chance gives more than words or repetition do."""
    total = len(value)
    shares = [value.count(sign) / total for sign in set(value)]
    return -sum(share * math.log2(share) for share in shares)


def is_name(value: str) -> bool:
    """`app-tls-cert-2024`, `config.AuthV2Client`, `src/token/v2.ts`: words with a few digits."""
    parts = _PART_BREAK.split(value)
    return len(parts) > 1 and all(
        (_PART.fullmatch(part) and not _CASED_BY_CHANCE.match(part)) or _is_camel_case(part) for part in parts
    )


def is_code(value: str) -> bool:
    """`user.password!`, `get(x)`, `a->b`: what is computed, not given."""
    return bool(_CODE.search(value))


def is_path(value: str) -> bool:
    return bool(_PATH.match(value))


def _is_no_value(value: str) -> bool:
    return is_stand_in(value) or bool(_ADDRESS.match(value) or _RESOURCE.match(value)) or is_path(value)


def is_test_name(value: str) -> bool:
    """`TestLogin/case_2`: what a test runner prints after `PASS:`."""
    return bool(re.match(r"Test[A-Z_]|test_|Benchmark[A-Z]|Example[A-Z_]", value))


def _is_in_user_info(candidate: Candidate) -> bool:
    """`https://x-access-token:…@host`: what stands there is the address's own rule to find."""
    end = candidate.match.start()
    scheme_end = candidate.text.rfind("://", max(0, end - 64), end)
    return scheme_end >= 0 and not _USER_INFO_END.search(candidate.text, scheme_end + 3, end)


def _is_literal(candidate: Candidate) -> bool:
    """A quoted value, an option's argument, or what an upper-case name gets in an env file, is not code."""
    match = candidate.match
    try:
        if match.start("quote") >= 0:
            return True
        start, end = match.span("name")
    except IndexError:  # the rule's pattern has no such part
        return False
    name = candidate.text[start:end]
    if name.isupper() or name.startswith("-"):
        return True
    return bool(_LITERAL_BEFORE.search(candidate.text[max(0, start - 32) : start]))


def _is_camel_case(value: str) -> bool:
    """Mostly runs of letters: random letters and digits change their case far more often."""
    in_words = sum(len(word) for word in _WORD.findall(value))
    share = _MIN_SHARE_OF_WORDS if len(value) <= _MAX_SHORT_NAME_CHARACTERS else _MIN_SHARE_OF_WORDS_IN_LONG_NAME
    return in_words >= share * len(value)


def is_letter_salad(value: str) -> bool:
    """`mxCQUfzHxh`: letters whose case changes as in no word."""
    return len(value) >= 8 and value.isalpha() and _is_mixed_case(value) and entropy(value) > _MIN_LETTER_SALAD_ENTROPY


def _is_symbol_salad(value: str) -> bool:
    return len(_BRACKET_OR_SYMBOL.findall(value)) >= _MIN_SYMBOLS_OF_SALAD and not _REGEX.search(value)


def _is_mixed_case(value: str) -> bool:
    return value != value.lower() and value != value.upper() and not _is_camel_case(value)


# The short notation in which the tables of rules write a token's published form, and how rules are made of it:
# `<A>` letters and digits, `<U>` these with `_` and `-`, `<H>` hex digits, `<C>` capitals and digits,
# `<L>` small letters and digits, `<B>` base64, `<J>` hex digits and `<X>` those in capitals, `<E>` letters, digits,
# `_`, `-` and `=`.
# Everything else is a regular expression. `{n,}` never gives back.

_CLASSES = {
    "A": "A-Za-z0-9",
    "U": "A-Za-z0-9_-",
    "H": "0-9a-f",
    "J": "0-9a-fA-F",
    "X": "0-9A-F",
    "E": "A-Za-z0-9_=-",
    "C": "A-Z0-9",
    "L": "a-z0-9",
    "B": "A-Za-z0-9+/",
}
_CLASS = lazy_pattern("<([AUHJXECLB])>")
_BEYOND_WORDS = ("/", "=-")
"""What tells that a form's classes hold more than letters, digits, `_` and `-`."""
_OPEN_REPETITION = lazy_pattern(r"(\{\d+,\})(?!\+)")
_LITERAL = lazy_pattern(r"(?:[A-Za-z0-9_/:%~!$-]|\\[.$+])*")

_MIN_LETTERS_FOR_PLACES = 5
_MIN_LETTERS_THAT_TELL = 6

NAME_END = r"(?:\\{0,4}[\"'`]|\*\*)?+(?:\[?\])?+"
"""What may close a name before its sign: the quote of a JSON key, Markdown's bold, a bracket."""
ASSIGNED = (
    r"(?:[ \t]{0,4}+(?:=>|!?={1,3}|[:?+.]{1,3}="
    r"|:(?:[ ]?(?:str|string|secretstr|&str|optional\[str\]|str[ ]\|[ ]none)[ ]?=(?!=)|(?!:))"
    r"|(?<=[ ])(?:string|\[\]byte)[ ]=(?!=))[ \t]{0,8}+(?:\*\*[ \t]?)?"
    r"(?:[|>]-?[ \t]{0,2}\n[ \t]{1,16})?"
    rf"|>\s{{0,24}}+(?=[^<\s{MARK_ENDS}]{{6,200}}\s{{0,24}}</)"
    r"|,?\s{1,24}[\"']?value[\"']?[ \t]{0,2}[:=][ \t]{0,4}"
    r"|[ \t]{0,2}[(,][ \t]{0,4}(?=[\"'])"
    r"|,(?=[a-z0-9_=/+.~-]{20,400}(?:,|$))"
    r"|[ \t]?\{\s{1,8}+(?:[^\n{}]{0,32}\n\s{1,8}+)?default[ \t]{1,4}=[ \t]{0,2}(?=\"))"
)
"""The sign between a name and its value: `=`, `:`, `:=`, `=>`, a tag, `value:` on the next line, a call, a comma,
Terraform's default."""
ASSIGNED_PROBE = (
    r"[\"'`\\*\[\]]*\s*(?:(?:[:=>,(+?!]|\.=)+(?:[ ]?[a-z&\[\]| ]{3,16}=)?|[\"']?value[\"']?\s*[:=]|by\s"
    r"|(?:string|\[\]byte) =|[\"']|\{[^{}]*default\s*=)[\s\"'`\\*|>@bruf-]*"
)
"""Wider and simpler than what closes a name and assigns to it."""
QUOTE = r"(?:[bruf@]{1,2}(?=[\"']))?+(?P<quote>\\{0,4}[\"'`])?+"


def begins_word(first: str, word: str = "A-Za-z0-9") -> str:
    """No word goes on before `first`; `\\n` in escaped JSON, the `-` of a diff and one letter glued on are no words."""
    glued = rf"(?<=[\s\"'`:(\[{{{{,][A-Za-z_]{first})|(?<=^[A-Za-z_]{first})"
    return rf"(?:(?<![{word}]{first})|(?<=\\[nrt]{first})|(?<=^-{first})|{glued})"


def token(
    kind: str,
    about: str,
    form: str,
    *keywords: str,
    accepts: Accepts = is_real,
    edge: str = "A",
    before: int = 0,
    probe: str = "",
    solid: bool = True,
) -> Rule:
    """A secret known by its own form, wherever it stands; `edge` is what must not stand before it."""
    literal = _LITERAL.match(form)[0]  # type: ignore[index]
    first, rest = form[0], form[1:]
    if edge and literal and len(literal) < _MIN_LETTERS_THAT_TELL:  # a longer one is no word's end
        # Its first character is searched, the rest looked at next, and what stands before it last.
        form = rf"{first}(?={literal[1:]}){begins_word(first, _CLASSES[edge])}{rest}"
    return Rule(
        kind,
        about,
        expand(form),
        keywords or (re.sub(r"\\(.)", r"\1", literal),),
        accepts,
        before=before,
        solid=solid,
        base64=any(sign in expand(form) for sign in _BEYOND_WORDS),
        probe=probe,
    )


def expand(form: str) -> str:
    """The regular expression that a form stands for."""
    text = _CLASS.sub(lambda found: f"[{_CLASSES[found[1]]}]", form)
    return _OPEN_REPETITION.sub(r"\1+", text)


def places_of(names: Sequence[str], text: str) -> Iterator[int]:
    """Where one of several names stands: one after the other they are found many times faster than any of them."""
    known = _places_by_name(text)
    for name in names:
        if name not in known:
            known[name] = [found.start() for found in compiled(re.escape(name)).finditer(text)] if name in text else []
    return iter(sorted(chain.from_iterable(map(known.__getitem__, names))))


@lru_cache(maxsize=2)
def _places_by_name(text: str) -> dict[str, list[int]]:  # noqa: ARG001 - what it is kept by
    """Filled as names are asked for: several rules look for the same names in a text, one after the other."""
    return {}


def named(kind: str, about: str, names: str, form: str, *, accepts: Accepts = is_key) -> Rule:
    """A key without a form of its own, given to a name that tells whose it is: `FASTLY_KEY=…`."""
    words = names.split()
    any_name = f"(?:{'|'.join(map(re.escape, words))})"
    value = expand(form).replace("A-Z", "")
    pattern = rf"{any_name}[\w .-]{{0,32}}+{NAME_END}{ASSIGNED}{QUOTE}(?P<secret>{value})(?![a-z0-9_=-])"
    probe = (
        rf"{any_name}[\w .-]*[\"'`\\*\[\]]*\s*(?:(?:[:=>,(+?!]|[\"']?value).*(?:[\w-]{{20}}|[|>]-?\s*\n)|>\s*\n|\{{)"
    )
    beginnings = [word for word in words if not word.startswith(tuple(other for other in words if other != word))]
    # A text of nothing but a short name has too many places.
    places = (
        partial(places_of, beginnings) if len(words) > 1 and min(map(len, words)) >= _MIN_LETTERS_FOR_PLACES else None
    )
    return Rule(kind, about, pattern, tuple(words), accepts, any_case=True, solid=True, places=places, probe=probe)


def place(
    kind: str, about: str, pattern: str, keyword: str, accepts: Accepts, *, probe: str = "", solid: bool = False
) -> Rule:
    """A secret known by what stands before it; the pattern is matched on lowercase text."""
    return Rule(kind, about, pattern, (keyword,), accepts, any_case=True, probe=probe, solid=solid)
