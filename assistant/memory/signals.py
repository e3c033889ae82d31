"""Which messages of a person may hold something to remember, found without a model. Pure.

A message is flagged when it corrects, says what holds always or never, what the person prefers or
has, names a name or a path, or sets a value that another message of the chat set before. English,
German, French, Spanish, Russian, Chinese, Japanese, Korean.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST_READ: Final = 4_000
"""Characters of a message that are read; a longer message is a document."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_LASTING: Final = _any(
    r"\b(?:always|never|from now on|every time|by default|in (?:the )?future|remember)\b",
    r"\b(?:immer|nie(?:mals)?|ab (?:jetzt|sofort)|von nun an|künftig|merk dir|standardmäßig)\b",
    r"\b(?:toujours|jamais|désormais|dorénavant|à partir de maintenant|souviens-toi|retiens)\b",
    r"\b(?:siempre|nunca|a partir de ahora|de ahora en adelante|recuerda)\b",
    r"\b(?:всегда|никогда|отныне|впредь|с этого момента|запомни\w*)\b",
    r"总是|總是|永远|永遠|从现在|從現在|以后都|以後都|每次都|记住|記住|从不|從不|默认",
    r"いつも|常に|必ず|絶対に|これからは|今後は|覚えて|毎回|二度と",
    r"항상|언제나|절대|앞으로(?:는)?|이제부터|기억해|매번",
)
_PREFERRED: Final = _any(
    r"\bi (?:(?:really|usually|mostly|often) )?"
    r"(?:prefer|like|love|hate|dislike|use|want|need|work|own|have|am|live|call)\b"
    r"|\bi['’](?:m|ve|d)\b",
    r"\bich (?:bevorzuge|mag|liebe|hasse|(?:be)?nutze|verwende|will|möchte|brauche|habe|bin)\b",
    r"\bje (?:préfère|n['’]aime|utilise|veux|travaille|suis)\b|\bj['’](?:aime|ai|utilise|adore)\b",
    r"\b(?:prefiero|me gusta|odio|uso|utilizo|quiero|necesito|tengo|trabajo|soy)\b",
    r"\b(?:я (?:предпочитаю|люблю|ненавижу|использую|хочу|работаю)|мне нравится|у меня)\b",
    r"我(?:更)?(?:喜欢|喜歡|偏好|讨厌|討厭|用|想要|需要|有|是|在)",
    r"(?:が|は)(?:好き|嫌い|欲しい)|を使って(?:い|る|ま)|私は|僕は|俺は|使っています",
    r"(?:좋아|싫어|선호|원해|사용해|써요|쓰고|필요해)|(?:저는|나는|제가|내가)",
)
_OWN: Final = _any(
    r"\b(?:my|our|mine)\b",
    r"\b(?:mein\w*|unser\w*)\b",
    r"\b(?:mon|ma|mes|notre|nos)\b",
    r"\b(?:mi|mis|nuestr[oa]s?)\b",
    r"\b(?:мо[йяёеиюх]\w*|наш\w*)\b",
    r"我的|我们的|我們的",
    r"(?:私|僕|俺|うち)の",
    r"(?:제|내|우리) ",
)
_CORRECTED: Final = _any(
    r"\b(?:no,|not that|wrong|instead|actually|i (?:said|meant)|don['’]t|stop)\b",
    r"\b(?:nein|falsch|sondern|stattdessen|eigentlich|ich meinte|nicht so)\b",
    r"\b(?:non,|faux|plutôt|en fait|je voulais dire|pas ça)\b",
    r"\b(?:no,|incorrecto|mal|en realidad|quise decir|en vez de)\b",
    r"\b(?:нет,|неправильно|не то|вместо|на самом деле|я имел)\b",
    r"不对|不對|错了|錯了|不是|应该是|應該是|而是|其实",
    r"違う|違います|じゃなくて|ではなく|間違|実は",
    r"아니|틀렸|말고|대신|사실은",
)
_NAMED: Final = re.compile(
    r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-ÝА-Я][a-zà-ÿа-я]{2,}(?: [A-ZÀ-ÝА-Я][a-zà-ÿа-я]+)*\b"
)
"""A word with a capital that begins no sentence."""
_PATH: Final = re.compile(
    r"[A-Za-z]:\\[\w.\\ -]+|(?:~|\.{0,2})/[\w.-]+/[\w./-]+"
    r"|\b[\w.-]+\.(?:safetensors|gguf|ckpt|pt)\b"
)
_VALUE: Final = re.compile(
    r"\b(seed|steps|cfg|denoise|width|height|size|resolution|fps|sampler|scheduler|strength)\b"
    r"\D{0,12}(\d[\w.:x×]*)",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(r"[?？]\s*\Z")


def signals(text: str, earlier: tuple[str, ...] = ()) -> frozenset[str]:
    """The signals of a message; `earlier` are the person's messages before it in this chat."""
    text = text[:LONGEST_READ]
    found = {
        name
        for name, pattern in (
            ("lasting", _LASTING),
            ("preferred", _PREFERRED),
            ("own", _OWN),
            ("corrected", _CORRECTED),
            ("path", _PATH),
        )
        if pattern.search(text)
    }
    if not _QUESTION.search(text) and _NAMED.search(text):
        found.add("named")
    values = {name.lower() for name, _ in _VALUE.findall(text)}
    before = {name.lower() for other in earlier for name, _ in _VALUE.findall(other[:LONGEST_READ])}
    if values & before:
        found.add("value set again")
    return frozenset(found)


def is_flagged(text: str, earlier: tuple[str, ...] = ()) -> bool:
    return bool(signals(text, earlier))
