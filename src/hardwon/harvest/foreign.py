"""The same words in other languages, for telling whether two sentences say the same; see `vocabulary`."""

from __future__ import annotations

SIGNS = frozenset(
    "nutze nutz verwende benutze statt anstatt nicht keine keinen für utilise utilisez usa usar usamos neste nesta não "
    "siempre nunca jamais toujours sempre immer niemals para con los las del der und mit les dans avec sur della cada "
    "vermeide évite evita".split()
)
"""No word of these is an English one."""
FILLERS = frozenset(
    """bitte immer stets grundsätzlich grundsatzlich wir der die das den dem des ein eine einen einem einer und oder ist
    sind wird werden wurde im in auf mit von zu zum zur fur für als es man muss müssen mussen soll sollen darf dürfen
    durfen kann können konnen hier diesem dieses dieser diese projekt toujours le la les l un une des du de d et ou est
    sont pour dans avec sur nous on ce cet cette il faut doit doivent être etre projet siempre el los las una y o
    es son para en con del que por este esta debe deben hay proyecto sempre os as um uma e ou é com do da dos das em no
    na neste nesta deve devem projeto il lo gli i un uno e o è sono per nel nella di del della che questo questa si deve
    progetto всегда и или в во на с для это этом этот нужно надо проекте""".split()
)
PLAIN = frozenset(
    "nutz benutz verwend gebrauch utilis emplo us usa use uses usar usad uso usamos utiliz использ примен".split()
)
"""Stems of to use."""
NEGATORS = frozenset(
    """nicht nie niemals kein keine keinen keinem keiner keines ne n pas jamais aucun aucune no nunca jamás jamas ningún
    ningun ninguna não nao nenhum nenhuma non mai nessun nessuna не никогда нельзя""".split()
)
WITHOUT = frozenset(
    "ohne vermeide vermeiden sans évite évitez éviter sin evita evitar evite sem senza без избегай избегайте".split()
)
ENDINGS = (
    "уйте айте ейте ándolo ando endo iendo issez issons amos emos imos áis éis iamo ate ete ite are ere ire ons ent "
    "ant ez er ar ir as es is an en em et st te ti to ai ei a e i o s t n м йте ть ешь ете ют уй ай ей й и ь ы у а я "
    "е ом ов"
).split()
UNSPACED = (
    (r"(?:请|請)?(?:一律|总是|總是|始终|必须|必須|务必|務必|应该|應該|都|请|請)", False),
    (r"不要再?|请勿|禁止|不得|不能|不可以?|别再?|別再?|勿|不", True),
    (r"(?:常に|必ず|いつも|絶対に|決して)", False),
    (
        r"(?:わ|さ|ら|か|せ|め|べ|し|れ)?(?:ないで(?:ください)?|ないこと|ない|ません|ず|てはいけない|てはならない)",
        True,
    ),
    (r"(?:っています|ってください|して(?:ください|います)|います|します|する|う|ます|ること)(?=\W|$)", False),
    (r"(?:항상|반드시|절대|무조건)\s*", False),
    (r"하?지\s*(?:않는다|않습니다|않아요|마세요|말 것|마라|마)", True),
    (r"(?:하세요|한다|합니다|해요|할 것|하기)(?=\W|$)", False),
)
"""What is left out of a script without spaces, and whether it negates."""
