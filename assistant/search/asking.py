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
    if any(map(_BACK.search, questions)):
        return Need.ASKS
    asking = [question for question in questions if not _REQUEST.search(question)]
    if asking and not any(map(_REQUEST.search, others)):
        return Need.REFERS if all(map(_ADVICE.search, asking)) else Need.ASKS
    if any(_BACK.search(other) and not _KEEP.search(other) for other in others):
        # Only English words are weighed well enough to tell how much of them a message has.
        return Need.REFERS if _ENGLISH.search(text) else Need.ASKS
    return Need.NAMES


def _words(*alternatives: str) -> str:
    return rf"\b(?:{'|'.join(alternatives)})\b"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
"""Code and addresses: a question mark in them asks nothing."""
_SENTENCE = re.compile(r"[^.!?\n\u3002\uff01\uff1f\u061f]+(?:[.!?\u3002\uff01\uff1f\u061f]+|\n|$)")
_ENGLISH = _any(_words("the", "that", "what", "we", "i", "you", "it", "as", "my", "same"))

_QUESTION = _any(
    r"[?\uff1f\u061f]",
    r"^\W*(?:who|whose|whom|what|when|where|which|why|how|did|does|was|were|remind me)\b",
    r"^\W*(?:wer|was|wann|wo|welche[rsnm]?|warum|wieso|wie|hatte[nst]?|erinnerst)\b",
    r"^\W*(?:qui|que|quoi|quand|o\u00f9|quel(?:le)?s?|pourquoi|comment|combien|est-ce)\b",
    r"^\W*(?:qui\u00e9n|qu\u00e9|cu\u00e1ndo|d\u00f3nde|cu\u00e1l(?:es)?|por qu\u00e9|c\u00f3mo)\b",
    r"^\W*(?:\u043a\u0442\u043e|\u0447\u0442\u043e|\u043a\u043e\u0433\u0434\u0430|\u0433\u0434\u0435"
    r"|\u043a\u0430\u043a\w*|\u043f\u043e\u0447\u0435\u043c\u0443|\u0441\u043a\u043e\u043b\u044c\u043a\u043e)\b",
    # Chinese: 吗 呢 at an end; 什么 哪 几个 多少 谁 何时 怎么 为什么 是不是 有没有
    r"[\u5417\u5462\u55ce](?:[\u3002\uff01!.\s]|$)",
    r"\u4ec0\u4e48|\u4ec0\u9ebc|\u54ea|\u51e0\u4e2a|\u591a\u5c11|\u8c01|\u8ab0|\u4f55\u65f6|\u600e\u4e48"
    r"|\u4e3a\u4ec0\u4e48|\u662f\u4e0d\u662f|\u6709\u6ca1\u6709",
    # Japanese: ですか ますか でしたか at an end; 何 誰 どこ どの どれ いつ いくつ なぜ
    r"(?:\u3059|\u305f|\u306e|\u3093)\u304b(?:\u306a)?(?:[\u3002\uff01!.\s]|$)",
    r"\u4f55(?:\u3067|\u3092|\u304c|\u8272|\u756a|\u6642|\u6b73|\u4eba|\u56de)|\u3069\u3053|\u3069\u306e"
    r"|\u3069\u308c|\u3044\u3064\u3067|\u306a\u305c",
    # Korean: 까 나요 니 at an end; 무엇 뭐 언제 어디 누구 어떤 몇 왜
    r"(?:\uae4c|\ub098\uc694|\uac00\uc694|\uc8e0|\ub2c8)(?:[.!\s]|$)",
    r"\ubb34\uc5c7|\ubb50\uc600|\ubb50\uc9c0|\uc5b8\uc81c|\uc5b4\ub514|\ub204\uad6c|\uc5b4\ub5a4",
)
_BACK = _any(
    _words(
        "did",
        "was",
        "were",
        "had",
        "said",
        "told",
        "mentioned",
        "earlier",
        "before",
        "previous",
        "previously",
        "last",
        "ago",
        "yesterday",
        "remember",
        "remind",
        "recall",
        "back to",
        "used to",
        "originally",
        "already",
        r"(?:i|we|you) (?:liked|gave|told|used|chose|made|found|wanted|wrote|decided|agreed)",
        r"(?:have|has) (?:i|we|you)",
        r"at the (?:beginning|start)",
        r"same \w+(?: \w+)? as",
    ),
    _words(
        "hatte",
        "hatten",
        "hattest",
        "habe ich",
        "haben wir",
        "hast du",
        "haben sie",
        "war",
        "waren",
        "sagte",
        "gesagt",
        "genannt",
        "vorhin",
        "fr\u00fcher",
        "vorher",
        "letzte[nrsm]?",
        "zuletzt",
        "gestern",
        "anfang",
        "erinner\\w*",
        "gefallen hat",
        "gefiel",
        "wie zuvor",
    ),
    _words(
        "avais",
        "avait",
        "avons",
        "avez",
        "j'ai",
        "tu as",
        "\u00e9tait",
        "\u00e9taient",
        "dit",
        "mentionn\u00e9\\w*",
        "avant",
        "pr\u00e9c\u00e9dent\\w*",
        "derni\u00e8?re?s?",
        "hier",
        "d\u00e9but",
        "rappel\\w*",
        "souvien\\w*",
    ),
    _words(
        "era",
        "eran",
        "fue",
        "fueron",
        "estaba",
        "ten\u00eda",
        "dije",
        "dijiste",
        "dijimos",
        "mencion\\w*",
        "antes",
        "anterior\\w*",
        "\u00faltim[oa]s?",
        "ayer",
        "principio",
        "recuerd\\w*",
        "acuerd\\w*",
        "gust\u00f3",
        "hab\u00eda\\w*",
    ),
    r"\b(?:\u0431\u044b\u043b\w?|\u0440\u0430\u043d\u044c\u0448\u0435|\u0440\u0430\u043d\u0435\u0435"
    r"|\u043f\u0440\u0435\u0434\u044b\u0434\u0443\u0449\w+|\u043f\u0440\u043e\u0448\u043b\w+"
    r"|\u0433\u043e\u0432\u043e\u0440\w+|\u0441\u043a\u0430\u0437\u0430\u043b\w*|\u0432\u0447\u0435\u0440\u0430"
    r"|\u043f\u043e\u043c\u043d\w+|\u043d\u0430\u043f\u043e\u043c\u043d\w+|\u0432\u043d\u0430\u0447\u0430\u043b\u0435"
    r"|\u043f\u043e\u043d\u0440\u0430\u0432\w+|\u043d\u0430\u0437\u044b\u0432\u0430\w+)\b",
    # Chinese: 之前 以前 刚才 上次 先前 早些 最初 一开始 记得 提到 说过 用过 喜欢的那 曾经
    r"\u4e4b\u524d|\u4ee5\u524d|\u521a\u624d|\u4e0a\u6b21|\u5148\u524d|\u65e9\u4e9b|\u6700\u521d"
    r"|\u4e00\u5f00\u59cb|\u8bb0\u5f97|\u63d0\u5230|[\u8bf4\u7528\u8bb2\u95ee\u9009]\u8fc7|\u7684\u90a3\u4e2a"
    r"|\u66fe\u7ecf|\u8a18\u5f97|\u525b\u624d",
    # Japanese: 前に 以前 さっき 先ほど 前回 最初 覚えて 言った 話した でした ました
    r"\u524d\u306b|\u4ee5\u524d|\u3055\u3063\u304d|\u5148\u307b\u3069|\u524d\u56de|\u6700\u521d"
    r"|\u899a\u3048|\u8a00\u3063\u305f|\u8a71\u3057\u305f|\u3067\u3057\u305f|\u307e\u3057\u305f",
    # Korean: 아까 전에 이전 지난 처음 기억 말했 했던 였던 좋아했
    r"\uc544\uae4c|\uc804\uc5d0|\uc774\uc804|\uc9c0\ub09c|\ucc98\uc74c|\uae30\uc5b5|\ub9d0\ud588|\ud588\ub358"
    r"|\uc600\ub358|\uc88b\uc544\ud588",
)
_KEEP = _any(
    r"\bremember (?:for|that|this|to)\b",
    r"\bmerk(?:e)? dir\b",
    r"\u8bb0\u4f4f|\u8a18\u4f4f",
)
"""Words that give something to keep, rather than point back."""
_REQUEST = _any(
    r"\b(?:can|could|would|will) you\b(?! (?:still )?(?:remember|recall|remind|repeat))",
    r"\b(?:please|have a look|let me know)\b",
    r"\b(?:kannst du|k\u00f6nnen sie|k\u00f6nntest du|bitte|machst du)\b",
    r"\b(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|s'il (?:te|vous) pla\u00eet)\b",
    r"\b(?:puedes|podr\u00edas|puede usted|por favor)\b",
    r"\b(?:\u043c\u043e\u0436\u0435\u0448\u044c|\u043c\u043e\u0436\u0435\u0442\u0435"
    r"|\u043f\u043e\u0436\u0430\u043b\u0443\u0439\u0441\u0442\u0430)\b",
    # Chinese: 能不能 可以帮 请帮 能帮 请把
    r"\u80fd\u4e0d\u80fd|\u53ef\u4ee5\u5e2e|\u8bf7\u5e2e|\u80fd\u5e2e|\u8bf7\u628a",
    # Japanese: てくれ てもらえ ていただけ てください
    r"\u3066(?:\u304f\u308c|\u3082\u3089\u3048|\u3044\u305f\u3060\u3051|\u304f\u3060\u3055\u3044)",
    # Korean: 줄 수 주세요 줄래
    r"\uc904 \uc218|\uc8fc\uc138\uc694|\uc904\ub798",
)
_ADVICE = _any(
    r"\b(?:would|should|do|can|could|must|may|shall) (?:i|we)\b(?! (?:assume|conclude|say|tell))",
    r"\b(?:soll|sollte|kann|muss|k\u00f6nnte)n? (?:ich|wir|man)\b",
    r"\b(?:dois-je|puis-je|devrais-je|comment faire)\b",
    r"\b(?:debo|deber\u00eda|puedo|podr\u00eda|necesito)\b",
    r"\b(?:\u043c\u043e\u0433\u0443|\u043c\u043e\u0436\u043d\u043e|\u043d\u0443\u0436\u043d\u043e|\u0441\u0442\u043e\u0438\u0442)\b",
    # Chinese: 我该 我应该 需要 / Japanese: べき すれば 必要 / Korean: 해야 하면 될
    r"\u6211\u8be5|\u6211\u5e94\u8be5|\u9700\u8981|\u3079\u304d|\u3059\u308c\u3070|\u5fc5\u8981"
    r"|\ud574\uc57c|\ud558\uba74 \ub420",
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
