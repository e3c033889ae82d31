"""Keys, paths and names are taken out of texts that somebody else reads; the rest stays."""

import asyncio
import json
import time

import pytest
from plugin.assistant.messages.private_text import AHEAD, PIECE, PrivateText
from plugin.tests.growth import MOST_GROWTH, growth
from plugin.tests.hostile import LONGEST_STALL, Ticks

HEX = "0123456789abcdef" * 4
KEYS = [
    "sk-abcdefghijklmnop1234",
    "sk-proj-Ab1_" + "x" * 40,
    "sk-ant-api03-" + "a1" * 20,
    "sk-or-v1-" + HEX,
    "gsk_" + "A1b2" * 12,
    "xai-" + "A1b2" * 12,
    "nvapi-" + "A1b2-_" * 10,
    "hf_" + "AbCd1" * 7,
    "r8_" + "AbCd1" * 7,
    "AIza" + "Sy0-_" * 7,
    "ghp_" + "Ab1" * 12,
    "github_pat_" + "Ab1_" * 12,
    "glpat-Ab1_Ab1_Ab1_Ab1_",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-AbCdEf",
    "comfyui-" + HEX,
    HEX[:32],
    "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
    "123456789:" + "Ab1_-" * 7,
    "12345678-1234-1234-1234-123456789abc:" + HEX[:32],
    "sk-abcd****wxyz",
]


def cleaned(text: str, *names: str, secrets: tuple[str, ...] = ()) -> str:
    taker = PrivateText(secrets, names)
    taker.learn(text)
    return taker.without(text)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_a_known_shape_is_taken_out(key: str) -> None:
    for text in (f"My key is {key}.", f'{{"a": "{key}"}}', f"({key})", key):
        assert cleaned(text).replace("[key]", "").strip('.(){}": a') in ("", "My key is")
        assert key not in cleaned(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abc12345678", "[key]"),
        ("curl -H 'authorization: Bearer abcdefgh12'", "[key]"),
        ("api_key=abc123def", "api_key=[key]"),
        ('"apiKey": "abc123def"', '"apiKey": "[key]"'),
        ("OPENAI_API_KEY = 'abc123def'", "OPENAI_API_KEY = '[key]'"),
        ("password: hunter", "password: [key]"),
        ("my_secret=qwertzuiopasdfghjklyx", "my_secret=[key]"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\nabc\n-----END PRIVATE KEY-----", "[key]"),
        ("https://hooks.slack.com/services/T00/B00/abcdef", "/services/[key]"),
        ("https://discord.com/api/webhooks/12345678901/abcdefghijklmnopqrstu", "webhooks/[key]"),
    ],
)
def test_what_is_assigned_to_the_name_of_a_secret_is_taken_out(text: str, expected: str) -> None:
    found = cleaned(text)
    assert expected in found
    for secret in ("abc123def", "hunter", "qwertz", "abc12345678", "abcdefgh12", "MIIE", "abcdefg"):
        assert secret not in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://tom:pw@example.com/x.png", "https://example.com/x.png"),
        (
            "see https://example.com/a?token=1&b=2#c, or not",
            "see https://example.com/a?..., or not",
        ),
        ("(http://127.0.0.1:8188/view?filename=a.png)", "(http://127.0.0.1:8188/view?...)"),
        ("https://example.com/docs.", "https://example.com/docs."),
        ("postgres://u:p@db/x", "postgres://db/x"),
        ("![a](data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==)", "![a]([data])"),
    ],
)
def test_addresses_lose_what_signs_in(text: str, expected: str) -> None:
    assert cleaned(text) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (r"C:\Users\Tom Smith\Pictures\fox.png", "[path]/fox.png"),
        (r"C:\\Users\\Tom Smith\\Pictures\\fox.png", "[path]/fox.png"),
        ("C:/Users/Tom Smith/Pictures/fox.png", "[path]/fox.png"),
        (r"c:\users\tomsmi~1\AppData\Local", "[path]"),
        (r"\\?\C:\Users\Tom Smith\fox.png", "[path]/fox.png"),
        (
            r"D:\AI\ComfyUI\models\loras\fox.safetensors",
            "[path]/ComfyUI/models/loras/fox.safetensors",
        ),
        (r"\\wsl$\Ubuntu\home\tom\fox.png", "[path]/fox.png"),
        (r"\\nas\share\tom\fox.png", "[path]/fox.png"),
        ("/home/tom/ComfyUI/output/fox.png", "[path]/ComfyUI/output/fox.png"),
        ("/home/tom/clients/acme/plan.txt", "[path]/plan.txt"),
        ("/home/output/ComfyUI", "[path]/ComfyUI"),
        ("/home/tom", "[path]"),
        ("/Users/tom/Library/Application Support/x/fox.json", "[path]/fox.json"),
        (r"\/Users\/tom\/fox.json", "[path]/fox.json"),
        ("/mnt/c/Users/tom/fox.png", "[path]/fox.png"),
        ("/Volumes/Toms Disk/fox.png", "[path]/fox.png"),
        ("/root/.cache/huggingface", "[path]"),
        ("/raid/alice", "[path]"),
        ("/data2/alice/ComfyUI/output/fox.png", "[path]/ComfyUI/output/fox.png"),
        ("/volume1/Photos of Alice/fox.png", "[path]/fox.png"),
        ("/cluster7/alice/fox.png", "[path]/fox.png"),
        ("/cluster7/alice/clients/acme", "[path]"),
        (r"\/cluster7\/alice\/fox.json", "[path]/fox.json"),
        ("~/private/fox.png", "[path]/fox.png"),
        ("file:///C:/Users/Tom%20Smith/fox.png", "[path]/fox.png"),
        ("file:///home/tom/fox.png", "[path]/fox.png"),
    ],
)
def test_paths_are_taken_out_but_for_what_helps(path: str, expected: str) -> None:
    assert cleaned(path) == expected
    assert cleaned(f"Error in {path}, line 3") == f"Error in {expected}, line 3"
    assert cleaned(f'File "{path}"') == f'File "{expected}"'


def test_a_user_name_in_a_path_is_taken_out_everywhere() -> None:
    text = "Look in /home/tomsmith/x, TomSmith said; tomsmith@tower:~$ ls. Not tomsmithson."
    assert cleaned(text) == "Look in [path], [user] said; [user]:~$ ls. Not tomsmithson."
    assert cleaned(r"C:\Users\Tom Smith\a.png by Tom Smith, Mrs Smith's son") == (
        "[path]/a.png by [user], Mrs [user]'s son"
    )
    assert cleaned("/home/tom-smith/x by Tom-Smith (not tom-smithson), [tom-smith]") == (
        "[path] by [user] (not tom-smithson), [[user]]"
    )
    assert cleaned("USER=anna and USERNAME=Anna") == "USER=[user] and USERNAME=[user]"


@pytest.mark.parametrize(
    "text",
    [
        "GET https://example.com/users/list, then list the users/list",
        "I am at home/office today; the office is red",
        "POST /api/users/list gives a list",
        "/extensions/fox/web/fox.js and /v1/chat/completions were asked",
        "It is yes/no/maybe, /compact or /skill sdxl, 1/2/3, a / b / c, and <b>/</b>.",
    ],
)
def test_no_name_is_learned_where_there_is_no_home_folder(text: str) -> None:
    assert cleaned(text) == text


@pytest.mark.parametrize(
    "path",
    [
        r"C:\Users\annabel\x.png",
        "D:/Users/annabel/x.png",
        "/home/annabel/x.png",
        "/Users/annabel/x.png",
        "/mnt/c/Users/annabel/x.png",
        "/Volumes/Disk/Users/annabel/x.png",
        "/export/home/annabel/x.png",
        "/raid/home/annabel/x.png",
        r"\\wsl$\Ubuntu\home\annabel\x.png",
        r"\\tower\Users\annabel\x.png",
        "file:///home/annabel/x.png",
        "file:///C:/Users/annabel/x.png",
        r"C:\Documents and Settings\annabel\x.png",
    ],
)
def test_a_name_is_learned_from_a_home_folder(path: str) -> None:
    assert cleaned(f"annabel's picture is {path}") == "[user]'s picture is [path]/x.png"


def test_given_names_and_secrets_are_taken_out() -> None:
    assert cleaned("Anna's key is blue-moon", "anna", secrets=("blue-moon",)) == (
        "[user]'s key is [key]"
    )
    assert cleaned("anna@example.org") == "[e-mail]"
    assert cleaned("The root user is default", "root", "user", "default", "", "a") == (
        "The root user is default"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Set cfg to 7 and/or steps to 20; seed 123456789012345.",
        "KSampler (euler, karras) at 1024x1024, denoise 0.45",
        "models/checkpoints/sd_xl_base_1.0.safetensors",
        "max_tokens: 128000, tokens=77, token: masterpiece",
        "Use `/skill 20_model_sdxl` or /help. A ratio of 1/2, or 16:9.",
        "sha256 " + HEX,
        "commit 7fee8eb1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7",
        "The colour of a bearer is red. See node 4:KSampler and a:b.",
        "https://docs.comfy.org/get_started",
        "Windows \\o/ and C: is a drive",
        "sk-learn and hf_hub are libraries",
        "POST /api/chats/c1/share",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert cleaned(text) == text


def test_it_counts_what_it_takes_out() -> None:
    taker = PrivateText(("blue-moon",), ("anna",))
    taker.without("blue-moon, sk-abcdefghijklmnop1234, /home/anna/x.png, anna, a@b.org")
    assert dict(taker.found) == {"keys": 2, "paths": 1, "names": 2}


@pytest.mark.parametrize("before", [PIECE - 60, PIECE - 5, PIECE + AHEAD - 30, 2 * PIECE - 1])
def test_what_is_private_is_found_across_the_pieces_of_a_long_text(before: int) -> None:
    text = " ".join((*KEYS, "/home/anna/" + "a b/" * 1_000 + "x.png", "see https://a:b@c.de/f?g"))
    assert cleaned("." * before + " " + text) == "." * before + " " + cleaned(text)


async def test_the_event_loop_goes_on_while_a_long_text_is_cleaned() -> None:
    async with Ticks() as ticks:
        await asyncio.to_thread(cleaned, "a b/c " * 200_000)
    assert ticks.longest < LONGEST_STALL


def test_a_text_that_was_cleaned_stays_so() -> None:
    text = "\n".join((*KEYS, r"C:\Users\tom\a.png", "https://a:b@c.de/f?g", "USER=tom", "a@b.org"))
    once = cleaned(text)
    assert cleaned(once) == once


def test_json_stays_json() -> None:
    text = json.dumps({"path": "C:\\Users\\Tom Smith\\a.png", "url": "https://u:p@x.de/?k=1"})
    assert json.loads(cleaned(text)) == {"path": "[path]/a.png", "url": "https://x.de/?..."}


@pytest.mark.parametrize(
    "unit",
    ["C:\\a ", "C:\\Users\\", "/home/", "/a", "/a/b ", "/a/b/c d", "/tmp/a b c d e ", "~/",
     "\\\\a\\", "sk-a", "api_key=", "https://", "a@b.", "data:", "-----BEGIN PRIVATE KEY-----",
     "bearer ", "a b ", "eyJ.", "https://a?"],
)  # fmt: skip
def test_the_time_grows_with_the_text_alone(unit: str) -> None:
    assert growth(cleaned, unit, 20_000) < MOST_GROWTH


def test_keys_that_begin_again_and_again_take_no_longer_than_other_text() -> None:
    """The pattern may look ahead over 10,000 characters, but not from each of them."""
    begun = "-----BEGIN PRIVATE KEY-----"
    assert seconds(begun * 4_000) < MOST_GROWTH * seconds("-----begin private key-----" * 4_000)
    assert cleaned(f"{begun}MIIE{begun}MIIF") == "[key][key]"


def test_thousands_of_names_take_no_longer_than_one() -> None:
    def text(names: int) -> str:
        homes = (f"/home/{chr(97 + n % 26)}anna{n}x" for n in range(names))
        return " ".join(homes).ljust(160_000) + "word " * 20_000

    assert seconds(text(8_000)) < MOST_GROWTH * seconds(text(1))


def seconds(text: str) -> float:
    began = time.process_time()
    cleaned(text)
    return time.process_time() - began
