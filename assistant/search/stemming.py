"""English words without their endings, so that "upscaled" finds "upscaling".

The rules are those of M. F. Porter, "An algorithm for suffix stripping" (1980), steps 1a to 5b; a
short table first replaces irregular forms by the plain form. Pure. Words of other languages stay as
they are: `words` sends only ASCII letters here.
"""

from __future__ import annotations

from typing import Final

_IRREGULAR: Final = {
    form: plain.strip()
    for plain, forms in (
        line.split(": ")
        for line in """
        become: became
        begin: began begun
        break: broke broken
        bring: brought
        build: built
        buy: bought
        catch: caught
        child: children
        choose: chose chosen
        come: came
        deal: dealt
        draw: drew drawn
        drink: drank drunk
        drive: drove driven
        eat: ate eaten
        fall: fell fallen
        feel: felt
        fight: fought
        find: found
        fly: flew flown
        foot: feet
        forget: forgot forgotten
        freeze: froze frozen
        get: got gotten
        give: gave given
        go: went gone goes
        grow: grew grown
        hear: heard
        hide: hid hidden
        hold: held
        keep: kept
        know: knew known
        lead: led
        leave: left
        lend: lent
        lose: lost
        make: made
        man: men
        mean: meant
        meet: met
        mouse: mice
        pay: paid
        person: people persons
        ride: rode ridden
        rise: rose risen
        run: ran
        say: said
        see: saw seen
        seek: sought
        sell: sold
        send: sent
        shake: shook shaken
        shoot: shot
        show: shown
        sing: sang sung
        sit: sat
        sleep: slept
        speak: spoke spoken
        spend: spent
        stand: stood
        steal: stole stolen
        swim: swam swum
        take: took taken
        teach: taught
        tell: told
        think: thought
        throw: threw thrown
        tooth: teeth
        understand: understood
        wake: woke woken
        wear: wore worn
        wife: wives
        win: won
        woman: women
        write: wrote written
        """.strip().splitlines()
    )
    for form in forms.split()
}
_STEP_2: Final = tuple(
    pair.split(">")
    for pair in (
        "ational>ate ization>ize iveness>ive fulness>ful ousness>ous tional>tion biliti>ble "
        "ation>ate alism>al aliti>al iviti>ive ousli>ous entli>ent enci>ence anci>ance izer>ize "
        "abli>able ator>ate alli>al eli>e"
    ).split()
)
_STEP_3: Final = tuple(
    pair.split(">") for pair in "icate>ic ative> alize>al iciti>ic ical>ic ness> ful>".split()
)
_STEP_4: Final = (
    "ement ance ence able ible ment ant ent ion ism ate iti ous ive ize al er ic ou".split()
)
"""Endings by falling length, so that the first that fits is the longest."""


def stem(word: str) -> str:
    """The stem of `word`, which is lower case ASCII letters; stems need not be words."""
    word = _IRREGULAR.get(word, word)
    if len(word) <= 2:
        return word
    word = _without_participle(_without_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(_replaced(word, _STEP_2), _STEP_3)
    return _without_final_e(_without_suffix(word))


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_participle(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        left = word[: -len(ending)]
        if word.endswith(ending) and _has_vowel(left):
            return _mended(left)
    return word


def _mended(word: str) -> str:
    """The word that had "ed" or "ing", from the rest: "hop" for "hopp", "file" for "fil"."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _replaced(word: str, endings: tuple[list[str], ...]) -> str:
    for ending, other in endings:
        if word.endswith(ending):
            left = word[: -len(ending)]
            return left + other if _measure(left) > 0 else word
    return word


def _without_suffix(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            left = word[: -len(ending)]
            keeps = _measure(left) <= 1 or (ending == "ion" and left[-1] not in "st")
            return word if keeps else left
    return word


def _without_final_e(word: str) -> str:
    if word.endswith("e"):
        left = word[:-1]
        measure = _measure(left)
        if measure > 1 or (measure == 1 and not _ends_short(left)):
            word = left
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _kinds(word: str) -> str:
    """A letter per letter: `v` for vowels, `c` for consonants; `y` after a consonant is a vowel."""
    kinds = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if vowel else "c"
    return kinds


def _measure(word: str) -> int:
    """How often consonants follow vowels: Porter's m."""
    return _kinds(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _kinds(word)


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant at the end, the last not w, x or y: Porter's *o."""
    return _kinds(word).endswith("cvc") and word[-1] not in "wxy"
