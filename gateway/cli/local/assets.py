"""Where the files that ship with Sentinel are: in a checkout beside the package, in a wheel inside it."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]


def example() -> Path:
    """The example stack."""
    packed = _PACKAGE / "_assets" / "example"
    return packed if packed.is_dir() else _PACKAGE.parent / "deploy" / "example"
