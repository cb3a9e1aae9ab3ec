"""The version is that of the installed package."""

from importlib.metadata import PackageNotFoundError

import pytest

from gateway.core import version
from gateway.core.version import software_version


def test_it_is_a_version() -> None:
    assert software_version()[0].isdecimal()


def test_without_an_installed_package_it_is_0(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> str:
        raise PackageNotFoundError

    software_version.cache_clear()
    monkeypatch.setattr(version, "version", missing)
    assert software_version() == "0"
    software_version.cache_clear()
