"""The location of the files shipped with Sentinel."""

from pathlib import Path

import pytest

from gateway.cli.local import assets


def test_in_a_checkout_the_example_is_the_one_beside_the_package() -> None:
    assert (assets.example() / "kafka.sentinel.hcl").is_file()


def test_in_a_wheel_it_is_the_one_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "_assets" / "example"
    packed.mkdir(parents=True)
    monkeypatch.setattr(assets, "_PACKAGE", tmp_path)
    assert assets.example() == packed
