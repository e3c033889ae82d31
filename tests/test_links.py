"""The links of the tests themselves."""

from pathlib import Path

import pytest

from .links import MISSING_RIGHT, link_file, link_folder


def test_links_lead_to_their_targets(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("x", encoding="utf-8")
    link_folder(tmp_path / "a", tmp_path / "folder")
    link_file(tmp_path / "b", tmp_path / "folder" / "file")
    assert (tmp_path / "a" / "file").read_text(encoding="utf-8") == "x"
    assert (tmp_path / "b").resolve() == (tmp_path / "folder" / "file").resolve()


@pytest.mark.parametrize("winerror", [MISSING_RIGHT, 5])
def test_only_a_missing_right_skips_a_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, winerror: int
) -> None:
    def refuse(_link: Path, _target: Path) -> None:
        error = OSError(22, "A required privilege is not held by the client")
        error.winerror = winerror  # type: ignore[attr-defined, unused-ignore]
        raise error

    monkeypatch.setattr(Path, "symlink_to", refuse)
    expected = pytest.skip.Exception if winerror == MISSING_RIGHT else OSError
    with pytest.raises(expected):
        link_file(tmp_path / "link", tmp_path / "target")
