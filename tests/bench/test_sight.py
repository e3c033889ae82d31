"""The definition of *in sight*: nine tenths of a message's words, in order and without a gap."""

from plugin.bench.sight import Sight, words

TEN = "one two three four five six seven eight nine ten"


def sight(*texts: str, role: str = "assistant") -> Sight:
    shown = [{"role": role, "content": text} for text in texts]
    return Sight([*shown, {"role": "user", "content": "asked"}])


def test_a_message_with_marks_and_line_breaks_of_its_own_is_in_sight() -> None:
    assert sight(f"r3 user:\n> {TEN[:20].upper()}\n> {TEN[20:]} (end)").has(TEN)


def test_nine_tenths_of_the_words_are_enough_and_fewer_are_not() -> None:
    assert sight(TEN.removesuffix(" ten")).has(TEN)
    assert sight(TEN.removeprefix("one ")).has(TEN)
    assert not sight(TEN.removesuffix(" nine ten")).has(TEN)


def test_words_with_a_gap_or_in_two_messages_do_not_count() -> None:
    assert not sight(TEN.replace("five", "...")).has(TEN)
    assert not sight(TEN[:20], TEN[20:]).has(TEN)
    assert not sight("".join(reversed(TEN))).has(TEN)


def test_a_part_of_a_word_is_no_word() -> None:
    assert not sight("seed 4711").has("seed 471")


def test_each_chinese_character_is_a_word() -> None:
    said = "雪地狐狸用种子 4711 最好"
    assert words(said) == [*"雪地狐狸用种子", "4711", *"最好"]
    assert sight("好的。雪地狐狸用种子 4711 最好！").has(said)
    assert not sight("雪地狐狸的种子是 4711").has(said)


def test_the_question_and_the_system_message_are_not_looked_at() -> None:
    assert not Sight([{"role": "user", "content": TEN}]).has(TEN)
    assert not sight(TEN, role="system").has(TEN)
    assert sight(TEN, role="user").has(TEN)


def test_a_text_without_words_is_never_in_sight() -> None:
    assert not sight("...").has("...")
