"""What a message wants of earlier messages: whether a search for it is worth its tokens. Pure.

    need_of("Which seed did I like?")                ASKS
    need_of("Go back to the seed that I liked.")     REFERS
    need_of("Make it brighter.")                     NAMES

The words are those of English, German, French, Spanish, Russian, Chinese, Japanese and Korean. A
message in another language asks when it has a question mark.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from .stemming import stem

LONGEST_READ: Final = 2_000
"""Characters of a message that are read; a longer message is a document."""


class Need(Enum):
    """ASKS is a question whose answer may stand anywhere in the chat. REFERS points back, or asks
    for advice: earlier messages count when they have most of its words. NAMES is anything else:
    earlier messages count when they have all its words, or a rare name of it."""

    ASKS = "asks"
    REFERS = "refers"
    NAMES = "names"


def need_of(text: str) -> Need:
    """What the message needs."""
    text = _QUOTED.sub(" ", text[:LONGEST_READ])
    questions: list[str] = []
    others: list[str] = []
    for sentence in _SENTENCE.findall(text):
        (questions if _QUESTION.search(sentence) else others).append(sentence)
    if _FORGOT.search(text) or any(map(_BACK.search, questions)):
        return Need.ASKS
    asking = [question for question in questions if not _REQUEST.search(question)]
    if asking and not any(map(_REQUEST.search, others)):
        return Need.REFERS if all(map(_ADVICE.search, asking)) else Need.ASKS
    if any(_BACK.search(other) and not _KEEP.search(other) for other in others):
        # Only English words are weighed well enough to tell how much of them a message has.
        return Need.REFERS if _ENGLISH.search(text) else Need.ASKS
    return Need.NAMES


def _words(alternatives: str) -> str:
    """A pattern of whole words; `alternatives` are patterns between bars."""
    return rf"\b(?:{alternatives})\b"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
"""Code and addresses: a question mark in them asks nothing."""
_END = r".!?\n\u3002\uff01\uff1f\u061f"
_SENTENCE = re.compile(rf"[^{_END}]+(?:[{_END}]+|$)")
_ENGLISH = _any(_words("the|that|what|we|i|you|it|as|my|same"))

# In each of the patterns below: English, German, French, Spanish, Russian, Chinese, Japanese,
# Korean.
_QUESTION = _any(
    r"[?\uff1f\u061f]",
    r"^\W*" + _words("who|whose|whom|what|when|where|which|why|how|did|does|was|were"),
    r"^\W*" + _words("wer|was|wann|wo|welche[rsnm]?|warum|wieso|wie|hatte[nst]?|erinnerst"),
    r"^\W*" + _words("qui|que|quoi|quand|où|quel(?:le)?s?|pourquoi|comment|combien|est-ce"),
    r"^\W*" + _words("quién|qué|cuándo|dónde|cuál(?:es)?|por qué|cómo|cuánt[oa]s?"),
    r"^\W*" + _words(r"кто|что|когда|где|как\w*|почему|сколько"),
    r"[吗呢嗎](?:[\u3002\uff01!.\s]|$)|什么|什麼|哪|几个|多少|谁|誰|何时|怎么|为什么|是不是|有没有",
    r"(?:す|た|の|ん)か(?:な)?(?:[\u3002\uff01!.\s]|$)|何(?:で|を|が|色|番|時|歳|人|回)|どこ|どの|どれ|なぜ",
    r"(?:까|나요|가요|죠|니)(?:[.!\s]|$)|무엇|뭐였|뭐지|언제|어디|누구|어떤",
)
_FORGOT = _any(
    _words(r"forgot|forgotten|remind me|can(?:no|['\u2019])t remember|don['\u2019]t remember"),
    _words("tell me (?:again )?(?:the|my|its|our|where|which|who|when|how)"),
    _words("vergessen|sag mir|erinnere mich"),
    _words("oublié|rappelle-moi|rappelez-moi|dis-moi"),
    _words("olvid[éó]|olvidado|recuérdame|dime"),
    _words(r"забыл\w?|напомни\w*"),
    "忘|教えて|잊|알려",
)
"""Words of somebody who wants to be told again."""
_BACK = _any(
    _words(
        "did|was|were|had|said|told|mentioned|earlier|before|previous|previously|last|ago|yesterday"
        "|remember|remind|recall|back to|used to|originally|already|at the (?:beginning|start)"
        "|(?:i|we|you) (?:liked|gave|told|used|chose|made|found|wanted|wrote|decided|agreed)"
        r"|(?:have|has) (?:i|we|you)|same \w+(?: \w+)? as"
    ),
    _words(
        "hatten?|hattest|habe ich|haben wir|hast du|haben sie|waren?|sagte|gesagt|genannt|vorhin"
        r"|früher|vorher|letzte[nrsm]?|zuletzt|gestern|anfang|erinner\w*|gefallen hat|gefiel"
    ),
    _words(
        "avais|avait|avons|avez|j'ai|tu as|étai(?:t|ent)|mentionnée?s?|avant|précédente?s?"
        r"|derni(?:er|ère)s?|début|rappel\w*|souvien\w*|plu|plaisait"
    ),
    _words(
        "eran?|fue|fueron|estaba|tenía|dije|dijiste|dijimos|antes|último|última|ayer|principio"
        r"|mencion\w*|anterior\w*|recuerd\w*|acuerd\w*|gustó|gustaba|había\w*"
    ),
    _words(
        r"был\w?|раньше|ранее|предыдущ\w+|прошл\w+|говорил\w*|сказал\w*|вчера|помн\w+|вначале"
        r"|понрав\w+|называ\w+"
    ),
    "之前|以前|刚才|剛才|上次|先前|早些|最初|开始的|记得|記得|提到|[说用讲问选]过|喜欢的|的那个|曾经",
    "前に|以前|さっき|先ほど|前回|最初|覚え|言った|話した|でした|ました",
    "아까|전에|이전|지난|처음|기억|말했|했던|였던|좋아했",
)
_KEEP = _any(_words("remember (?:for|that|this|to)|merke? dir"), "记住|記住")
"""Words that give something to keep, rather than point back."""
_REQUEST = _any(
    _words("(?:can|could|would|will) you") + "(?! (?:still )?(?:remember|recall|remind|repeat))",
    _words("please|have a look|let me know"),
    _words("kannst du|können sie|könntest du|bitte|machst du"),
    _words("peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|s'il (?:te|vous) plaît"),
    _words("puedes|podrías|puede usted|por favor"),
    _words("можешь|можете|пожалуйста"),
    "能不能|可以帮|请帮|能帮|请把",
    "て(?:くれ|もらえ|いただけ|ください)",
    "줄 수|주세요|줄래",
)
_ADVICE = _any(
    _words("(?:would|should|can|could|must|may|shall) (?:i|we)")
    + "(?! (?:assume|conclude|say|tell))",
    _words("how do (?:i|we)|do (?:i|we) (?:need|have to)"),
    _words("(?:soll|sollte|kann|muss|könnte)n? (?:ich|wir|man)"),
    _words("dois-je|puis-je|devrais-je|comment faire"),
    _words("debo|debería|puedo|podría|necesito"),
    _words("могу|можно|нужно|стоит"),
    "我该|我应该|需要",
    "べき|すれば|必要",
    "해야|하면 될",
)
FILLERS: Final = frozenset(
    stem(word)
    for word in """
    again back before bring change earlier first go have keep like make more need now one only
    please previous put return same set start still take thing turn use want way without would
    """.split()
)
"""Terms that point or ask, and say nothing about what is wanted; left out of the shares of words
that REFERS and NAMES compare."""
