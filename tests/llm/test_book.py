"""The file of providers, and keys that stay bound to their addresses."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.errors import InvalidRequest, NotFound, StoreError
from plugin.assistant.llm.book import Choice, ProviderBook, provider_from
from plugin.tests.windows_rules import WindowsRules

pytestmark = pytest.mark.usefixtures("files_as_on_windows")
OLLAMA = {"base_url": "http://127.0.0.1:11434/v1", "model": "qwen3", "context_window": 8192}
HOSTED = {"base_url": "https://api.example.com/v1", "model": "big", "api_key": "sk-hosted-0123456"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "providers.json"


@pytest.fixture
def book(path: Path) -> ProviderBook:
    return ProviderBook(path)


def test_a_new_book_is_empty_and_writes_nothing(book: ProviderBook, path: Path) -> None:
    assert book.list() == ()
    assert book.active is None
    assert book.problems == ()
    assert not path.exists()


def test_what_is_put_is_there_after_a_restart(book: ProviderBook, path: Path) -> None:
    book.put("Home", OLLAMA)
    book.put("Cloud", HOSTED)
    book.activate("Cloud")
    again = ProviderBook(path)
    assert again.list() == book.list()
    assert again.active == "Cloud"
    assert again.get("Cloud").api_key == HOSTED["api_key"]
    assert again.get("Home").context_window == 8192


def test_the_first_provider_becomes_the_active_one(book: ProviderBook) -> None:
    book.put("Home", OLLAMA)
    book.put("Cloud", HOSTED)
    assert book.active == "Home"


def test_changing_the_model_keeps_the_key(book: ProviderBook) -> None:
    book.put("Cloud", HOSTED)
    book.put("Cloud", {"base_url": HOSTED["base_url"], "model": "small"})
    assert book.get("Cloud").api_key == HOSTED["api_key"]


@pytest.mark.parametrize(
    "base_url",
    [
        "https://api.example.org/v1",
        "http://api.example.com/v1",
        "https://api.example.com:8443/v1",
        "https://api.example.com/other",
    ],
)
def test_changing_the_address_drops_the_key(book: ProviderBook, base_url: str) -> None:
    book.put("Cloud", HOSTED)
    book.put("Cloud", {"base_url": base_url, "model": "big"})
    assert book.get("Cloud").api_key == ""


def test_a_dropped_key_does_not_come_back_with_the_address(book: ProviderBook, path: Path) -> None:
    book.put("Cloud", HOSTED)
    book.put("Cloud", {"base_url": "https://elsewhere.example/v1", "model": "big"})
    book.put("Cloud", {"base_url": HOSTED["base_url"], "model": "big"})
    assert book.get("Cloud").api_key == ""
    assert HOSTED["api_key"] not in path.read_text(encoding="utf-8")


def test_an_empty_key_removes_it(book: ProviderBook) -> None:
    book.put("Cloud", HOSTED)
    book.put("Cloud", {**HOSTED, "api_key": ""})
    assert book.get("Cloud").api_key == ""


def test_a_deleted_provider_stays_the_choice_until_the_user_chooses(
    book: ProviderBook, path: Path
) -> None:
    book.put("Home", OLLAMA)
    book.put("Cloud", HOSTED)
    book.delete("Home")
    assert [provider.name for provider in book.list()] == ["Cloud"]
    assert book.choice == ProviderBook(path).choice == Choice("Home")
    book.put("Cloud", {**HOSTED, "model": "other"})
    book.put("Third", OLLAMA)
    assert book.choice == Choice("Home")
    book.activate("Cloud")
    assert book.choice == Choice("Cloud")


def test_a_provider_made_after_the_only_one_was_deleted_becomes_the_active_one(
    book: ProviderBook,
) -> None:
    book.put("Home", OLLAMA)
    book.delete("Home")
    book.put("Cloud", HOSTED)
    assert book.active == "Cloud"


def test_a_choice_of_another_source_stays_when_the_first_provider_is_made(
    book: ProviderBook,
) -> None:
    book.activate("Ollama (local)")
    book.put("Home", OLLAMA)
    assert book.active == "Ollama (local)"


def test_who_chose_nothing_is_told_from_who_lost_the_choice(path: Path) -> None:
    assert ProviderBook(path).choice == Choice()
    path.parent.mkdir()
    path.write_text("{", encoding="utf-8")
    assert "providers.json" in ProviderBook(path).choice.lost
    assert "providers.json" in ProviderBook(path).choice.lost, "the next start forgot the damage"


def test_saved_providers_of_which_none_is_active_are_a_lost_choice(
    book: ProviderBook, path: Path
) -> None:
    book.put("Home", OLLAMA)
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "active": None}), encoding="utf-8")
    assert ProviderBook(path).choice.lost


def test_what_is_not_there_cannot_be_read_or_deleted(book: ProviderBook) -> None:
    with pytest.raises(NotFound):
        book.get("Nobody")
    with pytest.raises(NotFound):
        book.delete("Nobody")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no owner bits")
def test_the_file_is_its_owner_s_alone_after_every_change(book: ProviderBook, path: Path) -> None:
    for values in (HOSTED, OLLAMA):
        book.put("One", values)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_other_file_is_left_beside_it(book: ProviderBook, path: Path) -> None:
    for number in range(3):
        book.put(f"P{number}", OLLAMA)
    assert os.listdir(path.parent) == [path.name]


def test_a_failed_write_changes_nothing_and_says_so(
    book: ProviderBook, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.put("Home", OLLAMA)
    before = path.read_bytes()

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StoreError, match="disk is full"):
        book.put("Cloud", HOSTED)
    assert [provider.name for provider in book.list()] == ["Home"]
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def held(path: Path) -> bytes:
    raise PermissionError(13, "Zugriff verweigert", str(path))


def test_a_file_that_is_held_for_a_moment_is_read(
    book: ProviderBook, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.put("Home", OLLAMA)
    pauses: list[float] = []
    monkeypatch.setattr("plugin.assistant.files.time.sleep", pauses.append)
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: (held if len(pauses) < 2 else real)(path))
    assert [provider.name for provider in ProviderBook(path).list()] == ["Home"]
    assert len(pauses) == 2


def test_a_file_that_stays_held_is_read_when_it_is_free(
    book: ProviderBook, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then nothing replaces it, and only the first use waits."""
    book.put("Home", OLLAMA)
    before = path.read_bytes()
    pauses: list[float] = []
    monkeypatch.setattr("plugin.assistant.files.time.sleep", pauses.append)
    again = ProviderBook(path)
    with monkeypatch.context() as holding:
        holding.setattr(Path, "read_bytes", held)
        assert again.list() == () and sum(pauses) == pytest.approx(1.0)
        assert again.choice.lost
        with pytest.raises(StoreError) as refused:
            again.put("Cloud", HOSTED)
        assert sum(pauses) == pytest.approx(1.0)
        assert refused.value.message == (
            "The providers cannot be saved. providers.json cannot be read:"
            " access is denied; check the folder and its permissions."
        )
        assert [problem.code for problem in again.problems] == ["providers_unreadable"]
    assert path.read_bytes() == before
    assert [provider.name for provider in again.list()] == ["Home"] and again.problems == ()
    assert again.choice == Choice("Home")


def test_a_damaged_file_that_is_held_is_set_aside_when_it_is_free(
    path: Path, windows_file_rules: WindowsRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugin.assistant.files.time.sleep", lambda _seconds: None)
    path.parent.mkdir()
    path.write_text("{", encoding="utf-8")
    windows_file_rules.hold(path)
    book = ProviderBook(path)
    (problem,) = book.problems
    assert "damaged and could not be renamed: another program has" in problem.message
    with pytest.raises(StoreError):
        book.put("Home", OLLAMA)
    assert path.read_text(encoding="utf-8") == "{"
    windows_file_rules.release(path)
    book.put("Home", OLLAMA)
    assert path.with_name("providers.json.damaged-1").read_text(encoding="utf-8") == "{"


def test_a_byte_order_mark_of_an_editor_is_no_damage(book: ProviderBook, path: Path) -> None:
    book.put("Home", OLLAMA)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    again = ProviderBook(path)
    assert [provider.name for provider in again.list()] == ["Home"] and again.problems == ()


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "null", '{"providers": 7}', '{"providers": [{"name": 1}]}', "[" * 100_000],
)
def test_a_damaged_file_is_set_aside_and_told(path: Path, damage: str) -> None:
    path.parent.mkdir()
    path.write_text(damage, encoding="utf-8")
    book = ProviderBook(path)
    assert book.list() == ()
    (problem,) = book.problems
    assert problem.code == "providers_damaged"
    book.put("Home", OLLAMA)
    assert path.with_name("providers.json.damaged-1").read_text(encoding="utf-8") == damage


def test_what_can_be_read_of_a_damaged_file_still_serves(book: ProviderBook, path: Path) -> None:
    book.put("Home", OLLAMA)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["providers"].append({"name": "../evil", "base_url": "x"})
    path.write_text(json.dumps(content), encoding="utf-8")
    for start in ("first", "second"):
        read = ProviderBook(path)
        assert [provider.name for provider in read.list()] == ["Home"], start
        assert read.choice == Choice("Home"), start


def test_a_file_of_another_encoding_is_set_aside(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe{\x00}\x00")
    assert ProviderBook(path).choice.lost
    assert path.with_name("providers.json.damaged-1").read_bytes() == b"\xff\xfe{\x00}\x00"


def test_a_second_damaged_file_does_not_replace_the_first(path: Path) -> None:
    path.parent.mkdir()
    for damage in ("first", "second"):
        path.write_text(damage, encoding="utf-8")
        assert ProviderBook(path).problems
    kept = sorted(file.read_text(encoding="utf-8") for file in path.parent.iterdir())
    assert kept == ["first", "second"]


def test_a_file_that_cannot_be_read_is_never_overwritten(path: Path) -> None:
    path.mkdir(parents=True)
    book = ProviderBook(path)
    assert book.problems[0].code == "providers_unreadable"
    with pytest.raises(StoreError):
        book.put("Home", OLLAMA)
    assert path.is_dir()


@pytest.mark.parametrize(
    "name",
    ["", " ", " a", "a ", "a/b", "a\\b", "ü", "a\nb", "a\x00", "x" * 65, "%2E", "a(b)", None, 7],
)
def test_a_name_outside_the_allowed_characters_is_refused(book: ProviderBook, name: Any) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        book.put(name, OLLAMA)
    assert refusal.value.where == "name"


@pytest.mark.parametrize("name", ["a", "My Ollama", "gpt-4.1_x", "x" * 64, "...", "CON"])
def test_a_name_of_allowed_characters_is_only_a_name(book: ProviderBook, name: str) -> None:
    book.put(name, OLLAMA)
    assert book.get(name).name == name


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({}, "base_url"),
        ({"base_url": ""}, "base_url"),
        ({"base_url": 7}, "base_url"),
        ({"base_url": "ftp://host/v1"}, "base_url"),
        ({"base_url": "http://"}, "base_url"),
        ({"base_url": "http://host:99999/v1"}, "base_url"),
        ({"base_url": "http://user:word@host/v1"}, "base_url"),
        ({"base_url": "http://host/v1?key=1"}, "base_url"),
        ({"base_url": "http://ho st/v1"}, "base_url"),
        ({"base_url": "http://host/v1\n"}, "base_url"),
        ({"base_url": "http://host/v1", "model": ["m"]}, "model"),
        ({"base_url": "http://host/v1", "model": "m" * 201}, "model"),
        ({"base_url": "http://host/v1", "context_window": "8192"}, "context_window"),
        ({"base_url": "http://host/v1", "context_window": 12}, "context_window"),
        ({"base_url": "http://host/v1", "context_window": True}, "context_window"),
        ({"base_url": "http://host/v1", "api_key": "schlüssel"}, "api_key"),
        ({"base_url": "http://host/v1", "api_key": "two words"}, "api_key"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(values: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        provider_from("p", values)
    assert refusal.value.where == where


def test_a_refused_key_is_not_repeated() -> None:
    with pytest.raises(InvalidRequest) as refusal:
        provider_from("p", {"base_url": "http://host/v1", "api_key": "secret words"})
    assert "secret" not in str(refusal.value)


def test_changes_from_several_threads_are_all_kept(book: ProviderBook, path: Path) -> None:
    threads = [
        threading.Thread(target=book.put, args=(f"P{number}", OLLAMA)) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {provider.name for provider in ProviderBook(path).list()} == {
        f"P{number}" for number in range(8)
    }
