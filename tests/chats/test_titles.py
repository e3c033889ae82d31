"""A chat's title, by rule or by a model, as one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.chats.titles import NEW_CHAT, TITLE_CHARS, clean_title, title_for, title_from
from plugin.assistant.messages.parts import DataPart, Message

from .examples import attachment, skill, user


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Explain this workflow", "Explain this workflow"),
        ("Explain this workflow.", "Explain this workflow"),
        ("Why is it black? I changed nothing.", "Why is it black?"),
        ("Hi! What does KSampler do? Be short.", "Hi! What does KSampler do?"),
        ("Use SD 1.5 with cfg 7.5 please", "Use SD 1.5 with cfg 7.5 please"),
        ("\n\n  First line\nsecond line", "First line"),
        ("## Make **it** `bigger`", "Make it bigger"),
        ("1. load [the model](https://x.example/y) now", "load the model now"),
        ("> *quoted* words are here", "quoted words are here"),
        ("Load my_best_model_v2.safetensors", "Load my_best_model_v2.safetensors"),
        ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
        ("```\nTraceback here\n```", "Traceback here"),
        (
            "为什么这张图片是黑色的？请帮我检查一下工作流。",
            "为什么这张图片是黑色的？请帮我检查一下工作流",
        ),
        ("/skill sdxl", "Skill: sdxl"),
        ("/frobnicate now", "/frobnicate now"),
        ("a\x00b\u202ec", "abc"),
        ("broken \ud83d emoji", "broken emoji"),
        ("", NEW_CHAT),
        ("  \n ** \n", "**"),
        ("---", NEW_CHAT),
    ],
)
def test_the_first_sentence_without_markdown_is_the_title(text: str, title: str) -> None:
    assert title_for(user("u", text)) == title


def test_a_long_sentence_ends_at_a_word_with_an_ellipsis() -> None:
    title = title_for(user("u", "Please upscale the second picture " * 5))
    assert title == "Please upscale the second picture Please upscale the second…"


def test_text_without_spaces_is_cut_where_it_is_long_enough() -> None:
    assert title_for(user("u", "图" * 100)) == "图" * TITLE_CHARS + "…"


def test_a_cut_does_not_take_an_accent_from_its_letter() -> None:
    title = title_for(user("u", "e\u0301" * 100))
    assert title.endswith("e\u0301…")


def test_an_expanded_skill_gives_its_name() -> None:
    assert title_for(user("u", "/skill up", skill("Upscaling well"))) == "Skill: Upscaling well"


def test_a_question_after_a_skill_is_the_title() -> None:
    text = "/skill up Which upscaler keeps skin natural?"
    data = {"name": "Upscaling well", "request": "Which upscaler keeps skin natural?"}
    assert title_for(user("u", text, DataPart("skill", data))) == data["request"]


def test_a_message_of_attachments_alone_is_called_by_the_first_name() -> None:
    message = Message("u", "user", (attachment(None), attachment("cat\n.png")))
    assert title_for(message) == "cat .png"


def test_an_attachment_without_a_name_is_a_new_chat() -> None:
    assert title_for(Message("u", "user", (attachment(None),))) == NEW_CHAT


def test_a_typed_title_becomes_one_line() -> None:
    assert clean_title("  My\nchat \x07 ") == "My chat"
    assert clean_title(" \n") == NEW_CHAT


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Sharper foxes in the snow", "Sharper foxes in the snow"),
        (' "Sharper foxes."\n', "Sharper foxes"),
        ("**Title: Sharper foxes**", "Sharper foxes"),
        ("\n# Titel: «Schärfere Füchse»\n\nMore", "Schärfere Füchse"),
        ("「雪中的狐狸」", "雪中的狐狸"),
        ("word " * 40, "word " * 11 + "word…"),
        ("", None),
        (' "" \n', None),
        ("\x07", None),
    ],
)
def test_a_model_s_title_loses_what_models_put_around_it(written: str, title: str | None) -> None:
    assert title_from(written) == title


@given(st.text(st.characters(), max_size=400))
def test_any_text_of_a_model_gives_a_short_line_or_none(text: str) -> None:
    title = title_from(text)
    assert title is None or (0 < len(title) <= TITLE_CHARS + 1 and "\n" not in title)


@given(st.text(st.characters(), max_size=400))
def test_any_text_gives_a_short_printable_line(text: str) -> None:
    title = title_for(user("u", text))
    assert 0 < len(title) <= len("Skill: ") + TITLE_CHARS + 1
    assert title == title.strip() and "\n" not in title
    title.encode("utf-8")
