"""Locates the files shipped with Sentinel: beside the package in a checkout, inside it in a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]


def example() -> Path:
    """The directory of the example stack."""
    packed = _PACKAGE / "_assets" / "example"
    return packed if packed.is_dir() else _PACKAGE.parent / "deploy" / "example"
