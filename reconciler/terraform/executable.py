"""Which executable runs the code: Terraform, or OpenTofu where only that is installed."""

import shutil
from collections.abc import Callable

DEFAULT = "terraform"
_INSTEAD = "tofu"


def found_executable(wanted: str, which: Callable[[str], str | None] = shutil.which) -> str:
    """The executable to run: the one that is wanted, or `tofu` if that is the default and is not installed, but `tofu` is."""
    if wanted == DEFAULT and which(DEFAULT) is None and which(_INSTEAD) is not None:
        return _INSTEAD
    return wanted
