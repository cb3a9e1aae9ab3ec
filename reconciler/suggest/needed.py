"""Whether everything that a suggestion changes is needed for the value: what is not, such as a local that only an output shows, is refused."""

from collections.abc import Mapping
from pathlib import Path

from gateway.terraform.config.module import load_module
from gateway.terraform.lang.hcl import parse
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.rewrite.footprint import differences
from reconciler.rewrite.footprint_changes import footprint_changes
from reconciler.suggest.frozen_parts import open_attributes


def check_needed(root: Path, before: Mapping[Path, bytes], after: Mapping[Path, bytes]) -> None:
    """Raise `CannotEdit` if a changed attribute could stay as it was, and every resource had the same attributes.

    `after` holds all files with the changes. Raises `gateway.errors.CodeInvalid` for files that do not parse.
    """
    edited = load_module(root, dict(after))
    for path in sorted(path for path in after if after[path] != before[path]):
        for name, content in _one_less(path, before[path], after[path]).items():
            without = load_module(root, {**after, path: content})
            if not any(
                change.before is None
                or change.after is None
                or any(differences(dict(change.before), dict(change.after)))
                for change in footprint_changes(edited, without)
            ):
                raise CannotEdit(f"The suggestion would also change {name} in {path}, which the value does not need.")


def _one_less(path: Path, before: bytes, after: bytes) -> Mapping[str, bytes]:
    """For each attribute that changed or was added, the file without that change."""
    old, new = parse(path, before), parse(path, after)
    texts = {name: old.text(node) for name, node in open_attributes(old)}
    return {
        ".".join(name): after[: node.start_byte] + texts.get(name, "").encode() + after[node.end_byte :]
        for name, node in open_attributes(new)
        if texts.get(name) != new.text(node)
    }
