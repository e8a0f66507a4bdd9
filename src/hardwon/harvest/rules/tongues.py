"""The same phrases in other languages: a table of words, so that a language is a row and not code."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from hardwon.harvest.rules import lazily


class Tongue(NamedTuple):
    """Alternatives are parted by `|`; each part is a pattern."""

    always: str
    from_now_on: str
    use: str
    """How an order to do something begins."""
    instead: str
    """What stands between what to use and what not to."""
    remember: str
    we_use: str
    prefer: str
    moment: str
    """What makes a sentence one about the moment, or tells that something still happens."""
    subjects: str
    """A sentence that begins with one tells what is, not what to do."""
    negations: str
    common: str
    """Words by which the language is known; of none where its script tells."""
    every_must: str
    """All or each of something, and what it must."""
    not_without_me: str
    """What is not to be done before the user was asked."""
    tasks: str
    """How an order begins that is done with once it is done."""


TONGUES = {
    "de": Tongue(
        "immer|nie|niemals|grundsätzlich|stets|ausschließlich",
        "ab jetzt|ab sofort|von nun an|künftig|in zukunft|zukünftig|jedes mal",
        "(?:bitte )?(?:nutze?|verwende|benutze?|nimm|führe|mach|leg|schreib|starte)",
        "statt|anstatt|anstelle von|und nicht|nicht",
        "denk daran|denke daran|merk dir|merke dir|vergiss nicht",
        "wir (?:nutzen|verwenden|benutzen|arbeiten mit)",
        "ich bevorzuge|wir bevorzugen|mir ist .{2,40} lieber",
        "immer noch|immer wieder|nie wieder funktioniert|heute|diesmal|vorerst|erstmal|gerade",
        "der|die|das|es|ich|er|sie|hier|da|warum|wieso|wie|was|ist|hat|kann|können|soll",
        "nicht|nie|niemals|kein|keine|keinen|ohne",
        "der|die|das|und|ist|ein|eine|mit|für|zu|den|bitte|wir|im|auf|von|diesem|dann|alle|jede|jeder|muss|müssen|über",
        r"(?:jede[rsnm]?|alle|sämtliche)\b.{3,80}\b(?:muss|müssen|soll|sollen|darf|dürfen)",
        r"ohne (?:meine|vorherige) (?:zustimmung|erlaubnis|freigabe|bestätigung)|ohne (?:mich )?zu fragen|"
        r"frag mich (?:vorher|zuerst)",
        "ersetze|füge|korrigiere|erstelle|entferne|lösche|ändere|verschiebe|aktualisiere|behebe|baue|benenne",
    ),
    "fr": Tongue(
        "toujours|jamais|systématiquement|uniquement|exclusivement",
        "désormais|dorénavant|à partir de maintenant|à l['’]avenir|chaque fois que",
        "(?:utilise[rz]?|mets|mettez|lance[rz]?|exécute[rz]?|écris|passe)",
        "au lieu d[eu']|plutôt que|et pas|, pas",
        "souviens-toi|rappelle-toi|n['’]oublie pas|garde en tête",
        "(?:nous|on) (?:utilisons|utilise)",
        "je préfère|nous préférons|on préfère",
        "toujours pas|aujourd['’]hui|cette fois|pour l['’]instant|pour le moment|jamais marché",
        "le|la|les|l|il|elle|je|ça|cela|ce|c|pourquoi|comment|est|a|faut",
        "ne|n|pas|jamais|sans|aucun|aucune",
        "le|la|les|des|un|une|et|est|pour|dans|avec|nous|ce|du|pas|ne|avant|chaque|tous|toutes|doit|doivent",
        r"(?:chaque|tou[ts]e?s?)\b.{3,80}\b(?:doit|doivent|devra|devront)",
        r"sans (?:mon|ma) (?:accord|permission|validation|confirmation|autorisation)|sans me demander|"
        r"demande-moi (?:avant|d['’]abord)",
        "remplace|ajoute|corrige|crée|supprime|modifie|renomme|déplace|change|mets à jour|génère|affiche",
    ),
    "es": Tongue(
        "siempre|nunca|jamás|únicamente|solamente|exclusivamente",
        "a partir de ahora|de ahora en adelante|en el futuro|en adelante|cada vez que",
        "(?:usa[dr]?|use|utiliza[dr]?|pon|ejecuta|corre|escribe)",
        "en lugar de|en vez de|y no|, no",
        "recuerda que|recuerda|ten en cuenta|no olvides",
        "(?:usamos|utilizamos|en este proyecto usamos)",
        "prefiero|preferimos",
        "hoy|esta vez|por ahora|de momento|por el momento",
        "el|la|los|las|lo|esto|eso|yo|ella|por qué|cómo|es|está|ha",
        "no|nunca|jamás|sin|ningún|ninguna",
        "el|los|las|un|una|y|es|para|en|con|de|del|que|por|antes|este|cada|su|debe|deben|todos|todas",
        r"(?:cada|tod[oa]s?)\b.{3,80}\b(?:debe|deben|tiene que|tienen que)",
        r"sin (?:mi|pedir) (?:permiso|confirmación|aprobación|autorización)|sin preguntar|pregúntame antes",
        "reemplaza|agrega|añade|corrige|arregla|crea|elimina|borra|cambia|mueve|actualiza|genera|muestra",
    ),
    "pt": Tongue(
        "sempre|nunca|jamais|somente|unicamente|exclusivamente",
        "a partir de agora|de agora em diante|daqui em diante|no futuro|toda vez que",
        "(?:use|usa|utilize|coloque|rode|execute|escreva|faça)",
        "em vez de|ao invés de|e não|, não",
        "lembre-se|lembra que|tenha em mente|não esqueça",
        "(?:usamos|utilizamos|neste projeto usamos)",
        "prefiro|preferimos",
        "hoje|desta vez|por enquanto|por agora",
        "o|a|os|as|isso|isto|eu|ele|ela|por que|como|é|está",
        "não|nunca|jamais|sem|nenhum|nenhuma",
        "os|um|uma|e|é|para|em|com|de|do|da|que|não|antes|neste|cada|seu|deve|devem|todos|todas",
        r"(?:cada|tod[oa]s?|qualquer)\b.{3,80}\b(?:deve|devem|precisa|precisam|tem que|têm que)",
        r"sem (?:a )?(?:minha|pedir) (?:permissão|confirmação|aprovação|autorização)|sem (?:me )?perguntar|"
        r"me pergunte antes",
        "substitua|adicione|corrija|arrume|crie|remova|apague|mude|mova|atualize|ajuste|gere|mostre|implemente",
    ),
    "it": Tongue(
        "sempre|mai|esclusivamente|unicamente",
        "d['’]ora in poi|da ora in poi|in futuro|ogni volta che",
        "(?:usa|usate|utilizza|metti|esegui|lancia|scrivi)",
        "invece di|al posto di|e non|, non",
        "ricorda che|ricordati|tieni presente|non dimenticare",
        "(?:usiamo|utilizziamo|in questo progetto usiamo)",
        "preferisco|preferiamo",
        "oggi|questa volta|per ora|per adesso",
        "il|lo|la|i|gli|le|questo|io|perché|come|è|ha",
        "non|mai|senza|nessun|nessuna",
        "il|gli|un|una|e|è|per|in|con|di|del|che|prima|questo|ogni|tutti|tutte|deve|devono",
        r"(?:ogni|tutt[ie])\b.{3,80}\b(?:deve|devono)",
        r"senza (?:il mio|la mia|chiedere) (?:consenso|permesso|conferma|approvazione)|senza chiedere|chiedimi prima",
        "sostituisci|aggiungi|correggi|crea|rimuovi|elimina|cambia|sposta|aggiorna|genera|mostra",
    ),
    "ru": Tongue(
        "всегда|никогда|только|исключительно",
        "отныне|с этого момента|в дальнейшем|впредь|каждый раз",
        "(?:используй|используйте|ставь|запускай|пиши|делай)",
        "вместо|а не",
        "запомни|помни|имей в виду|не забудь|не забывай",
        "мы (?:используем|пользуемся)",
        "я предпочитаю|мы предпочитаем|лучше использовать",
        "сегодня|в этот раз|пока что|сейчас",
        "он|она|оно|это|я|почему|как|что",
        "не|никогда|без|нельзя",
        "",
        r"(?:кажд\w+|все|любо\w+)\b.{3,80}\b(?:долж\w+|нужно|надо|следует)",
        r"без мо(?:его|ей) (?:подтвержд\w+|разрешен\w+|согласи\w+|одобрен\w+)|не спросив|(?:прос\w+|дожд\w+|"
        r"жди) моего (?:подтвержд|разрешен|согласи)\w+|сначала (?:спроси|согласуй)",
        "замени|добавь|исправь|создай|удали|измени|перемести|обнови|покажи|сделай",
    ),
    "zh": Tongue(
        "总是|總是|始终|始終|永远|永遠|一律|务必|務必|必须|必須|禁止|绝对不|絕對不|千万不要|千萬不要",
        "以后|以後|今后|今後|从现在开始|從現在開始|从现在起|從現在起|每次",
        "(?:不要|别|別|请|請)?(?:再)?(?:使用|用|改用)",
        "代替|而不是|而非|不要用|别用|別用|改用|要用|请用|請用|应该用|，用|,用|, 用",
        "记住|記住|请记住|請記住|牢记",
        "(?:我们|我們|本项目|本專案|这个项目|這個專案)(?:都|只|统一|統一)?(?:使用|用)",
        "我更喜欢|我更喜歡|我喜欢|我喜歡|我希望以后",
        "现在|現在|这次|這次|暂时|暫時|今天|先不要",
        "为什么|為什麼|怎么|怎麼|是不是",
        "不|别|別|勿|禁止|没有|沒有",
        "",
        r"(?:所有|每个|每個|全部).{1,40}(?:都要|必须|必須|都应该|都應該)|必[配填选選]",
        r"(?:未经|没有|沒有)我?的?(?:允许|允許|同意|确认|確認)|先问我|先問我",
        "(?:帮我|請|请)?(?:替换|添加|增加|修复|创建|删除|修改成|更新)|再加|加一个|改成|改为",
    ),
    "ja": Tongue(
        "常に|必ず|絶対に|いつも|決して",
        "今後は|今後|これからは|以後|毎回",
        "",
        "(?:ではなく|じゃなくて|の代わりに|を使わず).*(?:使っ|使う|使用|利用)",
        "覚えておいて|忘れないで|念頭に",
        "(?:このプロジェクトでは|私たちは|うちでは).*(?:使っています|使います|使用し)",
        "の方が(?:好き|いい|良い)|を優先",
        "今回は|とりあえず|今は|今日",
        "なぜ|どうして|どうやって",
        "ない|ません|ず|しないで|禁止",
        "",
        r"(?:すべて|全て|各).{1,60}(?:べき|必要|してください)",
        r"(?:許可|確認|承認)なし(?:に|で)",
        "(?:追加|修正|作成|削除|変更|更新)して",
    ),
    "ko": Tongue(
        "항상|절대|반드시|무조건",
        "앞으로|이제부터|다음부터|매번",
        "",
        "(?:말고|대신).*(?:사용|써|쓰)",
        "기억해|잊지 마|명심",
        "(?:이 프로젝트는|우리는).*(?:사용|씁니다|써요)",
        "선호",
        "지금은|이번에는|일단|오늘",
        "왜|어떻게",
        "않|말고|마세요|금지|안",
        "",
        r"(?:모든|각).{1,60}(?:해야|하세요)",
        r"(?:허락|확인|승인) ?없이",
        "(?:추가|수정|삭제|변경)해|만들어",
    ),
}
_NO_SPACES = frozenset(("zh", "ja", "ko"))
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
)
_ENGLISH = frozenset(
    "the is are be to of and in that it for on with as this you we do not don't use should can from at or an if so but "
    "just when what how i my have has was no".split()
)
_MOST_ENGLISH = 2
_WORD = lazily.pattern(r"(?<![\w/.@-])[^\W\d_]+(?:['’][^\W\d_]+)?(?![\w/-])")
"""A word of prose: the letters of a path or an identifier are of no language."""
_EARLY = r"(?:\S+\s+){0,3}"
"""An adverb that orders stands early; later it tells how often something happened."""


class Marks(NamedTuple):
    directive: re.Pattern[str]
    correction: re.Pattern[str]
    remember: re.Pattern[str]
    house_rule: re.Pattern[str]
    preference: re.Pattern[str]
    passing: re.Pattern[str]
    condition: re.Pattern[str]
    permission: re.Pattern[str]
    contrast: re.Pattern[str]
    task: re.Pattern[str]


@cache
def _compiled(name: str) -> Marks:
    words = TONGUES[name]
    early, edge = (".*", "") if name in _NO_SPACES else (_EARLY, r"\b")

    def one(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return Marks(
        one(rf"^(?!(?:{words.subjects}){edge}){early}(?:{words.always}){edge}|^\W*(?:{words.from_now_on})"),
        one(rf"^(?:\w+[,.!，。、]\s*)?(?:{words.use}){edge}.*(?:{words.instead})"),
        one(rf"^\W*(?:{words.remember})"),
        one(rf"^(?:\w+ )?(?:{words.we_use}){edge}"),
        one(rf"^(?:\w+ )?(?:{words.prefer})" if name not in _NO_SPACES else words.prefer),
        one(rf"{edge}(?:{words.moment}){edge}|[?？]\W*$"),
        one(rf"^\W*(?:{words.every_must})" if name not in _NO_SPACES else words.every_must),
        one(words.not_without_me),
        one(rf"(?:{words.instead})"),
        one(words.tasks if name in _NO_SPACES else rf"^\W*(?:\w+[,:]\s*)?(?:{words.tasks})\b"),
    )


def _own(words: Tongue) -> frozenset[str]:
    parts = (words.common, words.always, words.negations, words.subjects)
    return frozenset(word for part in parts for word in part.split("|") if word) - _ENGLISH - {"a"}


_OWN = {name: _own(words) for name, words in TONGUES.items() if words.common}
NEGATIONS = frozenset(
    word for name, words in TONGUES.items() if name not in _NO_SPACES for word in words.negations.split("|")
)


ANSWER_IN_IT = lazily.pattern(
    r"antworte\w*\b.{0,20}\bauf deutsch|réponds?\b.{0,20}\ben français|respond\w+\b.{0,20}\ben español|"
    r"respond\w+\b.{0,20}\bem português|rispondi\w*\b.{0,20}\bin italiano|отвеча\w+\b.{0,20}\bпо[- ]русски|"
    r"отвеча\w+\b.{0,20}\bна русском|"
    r"用(?:简体|繁體|繁体)?(?:中文|英文|英语|英語)(?:来|來)?(?:回答|回复|回覆|交流|沟通|溝通)|"
    r"日本語で(?:回答|返信|答え|お願い|話し)|한국어로 ?(?:답|말|대답|설명)",
    re.IGNORECASE,
)
"""An order to speak the user's language, which is of use in every session."""


def marks(sentence: str) -> tuple[Marks, ...]:
    """How a sentence may lay something down in its language; none when that is English or not known."""
    if not sentence.isascii():
        script = next((name for name, letters in _SCRIPTS if letters.search(sentence)), "")
        if script:
            return (_compiled(script),)
    elif len(_ENGLISH.intersection(sentence.lower().split())) > _MOST_ENGLISH:
        return ()
    words = {word.casefold() for word in _WORD.findall(sentence)}
    english = len(words & _ENGLISH)
    if english > _MOST_ENGLISH:
        return ()
    found = {name: len(words & own) for name, own in _OWN.items()}
    most = max(found.values())
    if most <= english or (most == 1 and english):
        return ()
    return tuple(_compiled(name) for name, count in found.items() if count == most)
