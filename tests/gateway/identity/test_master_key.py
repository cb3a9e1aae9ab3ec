"""The master key is generated once and stored privately. One that others can read, or that is too short, is refused."""

import stat
from pathlib import Path

import pytest

from gateway.core.errors import SettingsInvalid
from gateway.identity.master_key import FILE_NAME, derived_key, master_key


def test_it_is_created_once_with_mode_0600(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"
    first = master_key("", data)
    assert len(first) >= 32
    assert master_key("", data) == first
    assert stat.S_IMODE((data / FILE_NAME).stat().st_mode) == 0o600
    assert [path.name for path in data.iterdir()] == [FILE_NAME]


def test_two_places_have_different_keys(tmp_path: Path) -> None:
    assert master_key("", tmp_path / "a") != master_key("", tmp_path / "b")


def test_the_given_key_wins_and_makes_no_file(tmp_path: Path) -> None:
    assert master_key("g" * 32, tmp_path) == b"g" * 32
    assert list(tmp_path.iterdir()) == []


def test_each_purpose_has_a_key_of_its_own() -> None:
    """The vector is what another library makes of it: HKDF-SHA256 (RFC 5869) with the salt `sentinel` and the purpose as info."""
    master = b"m" * 32
    keys = {
        derived_key(master, "masking"),
        derived_key(master, "call digest"),
        derived_key(b"n" * 32, "masking"),
        master,
    }
    assert len(keys) == 4
    assert derived_key(master, "masking") == bytes.fromhex(
        "d41e0ed5e328ed8792519fbc6a915fee62521c2d3a0c21b104802c2d668f5090"
    )


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o601])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    master_key("", tmp_path)
    (tmp_path / FILE_NAME).chmod(mode)
    with pytest.raises(SettingsInvalid, match="chmod 600"):
        master_key("", tmp_path)


@pytest.mark.parametrize("content", ["", "short", "x" * 31, " " * 40, "é" * 40])
def test_a_short_or_garbled_key_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / FILE_NAME
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(SettingsInvalid):
        master_key("", tmp_path)


def test_a_short_given_key_is_refused_without_showing_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="31 characters") as caught:
        master_key("k" * 31, tmp_path)
    assert "kkk" not in str(caught.value)


def test_a_directory_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(SettingsInvalid):
        master_key("", tmp_path)
