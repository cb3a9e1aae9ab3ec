"""Every edit for what is wanted: what is new, then values, then what is gone, since a value may still refer to that."""

from collections.abc import Sequence
from pathlib import Path

from reconciler.model import Edited, Wanted, is_gone, is_new
from reconciler.rewrite.create import create
from reconciler.rewrite.delete import delete
from reconciler.rewrite.edit import Live, edit
from reconciler.rewrite.unset_block import add_blocks, is_unset_block


def edit_all(root: Path, wanted: Sequence[Wanted], live: Live | None = None) -> Edited:
    """As `edit`, with the resources that are new, and without those that are wanted gone. `live` as in `edit`. Raises `CodeInvalid`."""
    new, gone = [each for each in wanted if is_new(each)], [each for each in wanted if is_gone(each)]
    done = create(root, new) if new else Edited()
    values = [each for each in wanted if not is_new(each) and not is_gone(each)]
    unset = is_unset_block(root, values)
    done = _both(done, add_blocks(root, unset, done.files)) if unset else done
    values = [each for each in values if each not in unset]
    done = _both(done, edit(root, values, done.files, live)) if values else done
    return _both(done, delete(root, gone, done.files)) if gone else done


def _both(first: Edited, then: Edited) -> Edited:
    """Edits, and those made on their result."""
    return Edited(
        files={**first.files, **then.files}, edits=(*first.edits, *then.edits), left=(*first.left, *then.left)
    )
