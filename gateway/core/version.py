"""The version of Sentinel."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def software_version() -> str:
    """The version of the installed package; 0 if it is not installed."""
    try:
        return version("sentinel-gateway")
    except PackageNotFoundError:
        return "0"
