"""Edits one resource: what the tests of the editors share."""

from pathlib import Path

from gateway.core.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.value_edits import edit_values


def resource(body: str) -> str:
    """The resource `r.a` with these attributes."""
    return 'resource "r" "a" {\n' + body + "}\n"


def edited_attribute(root: Path, body: str, path: str, value: Json) -> str:
    """The code of the resource after the edit, or the reason why there is none."""
    wanted = Wanted(address="r.a", attribute=path, value=value)
    result = edit_values(root, [wanted], {Path("main.tf"): resource(body).encode()})
    return result.left[0].reason if result.left else result.files[Path("main.tf")].decode()
