"""Every edit for what is wanted: values first, then what is gone, since a value may still refer to that."""

from collections.abc import Sequence
from pathlib import Path

from gateway.model.mutation import WHOLE
from reconciler.model import Edited, Wanted
from reconciler.rewrite.delete import delete
from reconciler.rewrite.edit import edit


def edit_all(root: Path, wanted: Sequence[Wanted]) -> Edited:
    """As `edit`, and without the resources that are wanted gone. Raises `CodeInvalid`."""
    gone = [each for each in wanted if is_gone(each)]
    values = edit(root, [each for each in wanted if not is_gone(each)])
    if not gone:
        return values
    rest = delete(root, gone, values.files)
    return Edited(
        files={**values.files, **rest.files},
        edits=(*values.edits, *rest.edits),
        left=(*values.left, *rest.left),
    )


def is_gone(wanted: Wanted) -> bool:
    """Whether the code must not declare the resource any more."""
    return wanted.attribute == WHOLE and wanted.value is None
