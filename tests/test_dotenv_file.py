"""A `.env` file: lines as people write and paste them, and lines that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin.assistant.dotenv_file import LARGEST_FILE, DotenvFile, parse_dotenv, read_dotenv


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("X=plain", "plain"),
        ("X = plain  ", "plain"),
        ("\tX\t=\tplain", "plain"),
        ("export X=plain", "plain"),
        ("set X=plain", "plain"),
        ("X=", ""),
        ("X= # nothing", ""),
        ("X=a # comment", "a"),
        ("X=#a", "#a"),
        ("X=a#b", "a#b"),
        ('X="a # b"  # comment', "a # b"),
        ("X='a \"b\" c'", 'a "b" c'),
        ('X="say" # "hi"', "say"),
        (r'X="C:\Users\tom\new"', r"C:\Users\tom\new"),
        (r'X="C:\models\"', "C:\\models\\"),
        (r"X='C:\Users\tom\new'", r"C:\Users\tom\new"),
        (r"X=C:\Users\tom\new folder", r"C:\Users\tom\new folder"),
        (r'X="\\server\share\new"', r"\\server\share\new"),
        (r'X="{\"a\": \"1/2/3\"}"', '{"a": "1/2/3"}'),
        ('X={"a": "1/2/3"}', '{"a": "1/2/3"}'),
        ("X=${HOME}/a", "/home/tom/a"),
        ('set X="%Home%\\new"', "/home/tom\\new"),
        ("X=%NOBODY%\\50% of %", "%NOBODY%\\50% of %"),
        ("X=${PORT:-8080}", "8080"),
        ("X=5 $ for ${EARLIER}", "5 $ for one"),
    ],
)
def test_a_line_is_read_as_it_is_meant(line: str, value: str) -> None:
    read = parse_dotenv(f"EARLIER=one\n{line}\n# comment\n\n", {"HOME": "/home/tom"})
    assert read == DotenvFile({"EARLIER": "one", "X": value})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("X plain", "not of the form NAME=value"),
        ("X: plain", "not of the form"),
        ("just words", "not of the form"),
        ("1X=plain", "not of the form"),
        ('X="open', "a quote is not closed"),
        ("X='open", "a quote is not closed"),
        ('X=open"', "closed that is not opened"),
        ('X="a" and more', "text behind the closing quote"),
        ("X=a\x00b", "control character"),
        ("X=${NOBODY}/a", "no variable NOBODY"),
        ("X=" + "a" * 40_000, "longer than 32,768 characters"),
    ],
)
def test_a_line_that_cannot_be_read_is_a_fault_and_the_next_one_is_read(
    line: str, reason: str
) -> None:
    read = parse_dotenv(f"A=1\n{line}\nB=2", {})
    assert read.values == {"A": "1", "B": "2"}
    (fault,) = read.faults
    assert fault.line == 2 and reason in fault.reason


def test_a_quote_that_is_not_closed_takes_no_other_line_with_it() -> None:
    read = parse_dotenv('A="one\nB=two\nC="three"', {})
    assert read.values == {"B": "two", "C": "three"}
    assert [fault.line for fault in read.faults] == [1]


def test_a_fault_has_the_names_in_its_line() -> None:
    (fault,) = parse_dotenv("openai_base_url http://host/v1", {}).faults
    assert "OPENAI_BASE_URL" in fault.names


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_file_of_windows_tools_is_read(tmp_path: Path, encoding: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    (tmp_path / ".env").write_bytes(mark + "X=ü\r\nY=2\r\n".encode(encoding))
    assert read_dotenv(tmp_path / ".env", {}) == DotenvFile({"X": "ü", "Y": "2"})


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"X=\xff\xfe", "not UTF-8 text"), (b"X=1\n" + b"#" * LARGEST_FILE, "larger than 256 kB")],
)
def test_a_file_that_cannot_be_read_is_one_fault(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / ".env").write_bytes(content)
    read = read_dotenv(tmp_path / ".env", {})
    assert read.values == {}
    (fault,) = read.faults
    assert fault.line is None and reason in fault.reason


@pytest.mark.parametrize("content", ["A=" + " " * 30_000 + "x", "A=" + "${A" * 9_000, "'" * 30_000])
def test_no_line_takes_long(content: str) -> None:
    """The time must not grow with the square of a line's length: these took minutes then."""
    parse_dotenv("\n".join([content] * 7), {})


def test_references_do_not_grow_without_end() -> None:
    lines = ["A0=" + "x" * 100, *(f"A{n}=${{A{n - 1}}}${{A{n - 1}}}" for n in range(1, 40))]
    read = parse_dotenv("\n".join(lines), {})
    assert max(map(len, read.values.values())) <= 32_768
    assert read.faults
