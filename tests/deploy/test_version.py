"""One version: what is installed, locked, charted, composed and described is the newest version of the changelog."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_RELEASED = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$", re.MULTILINE)
_IMAGE = re.compile(r"sentinel/(?:gateway|reconciler):(\d+\.\d+\.\d+)")


def _newest() -> str:
    return str(_RELEASED.findall((ROOT / "CHANGELOG.md").read_text())[0])


def test_the_package_and_its_lock_have_it() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == _newest()
    locked = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    assert [each["version"] for each in locked if each["name"] == "sentinel-gateway"] == [_newest()]


def test_the_chart_has_it() -> None:
    chart = (ROOT / "deploy/helm/Chart.yaml").read_text()
    assert re.findall(r"^(?:version|appVersion): (.+)$", chart, re.MULTILINE) == [_newest()] * 2


@pytest.mark.parametrize("path", ["deploy/compose/compose.yaml", "deploy/image/README.md"])
def test_images_are_named_by_it(path: str) -> None:
    named = _IMAGE.findall((ROOT / path).read_text())
    assert len(named) >= 2
    assert set(named) == {_newest()}


def test_versions_descend() -> None:
    versions = [tuple(map(int, each.split("."))) for each in _RELEASED.findall((ROOT / "CHANGELOG.md").read_text())]
    assert versions == sorted(versions, reverse=True)
