"""Makes every edit for the wanted values: new resources first, then values, then deletions, since a value may refer to a deleted resource."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reconciler.model import Edited, Wanted, is_gone, is_new
from reconciler.rewrite.create import create_resources
from reconciler.rewrite.delete import delete_resources
from reconciler.rewrite.surroundings import Surroundings
from reconciler.rewrite.unset_blocks import add_blocks, is_unset_block
from reconciler.rewrite.value_edits import Live, edit_values


def edit_code(
    root: Path, wanted: Sequence[Wanted], around: Surroundings | None = None, live: Live | None = None
) -> Edited:
    """Edit values as `value_edits.edit_values` does, add new resources, and remove deleted ones. `live` as there. Raises `CodeInvalid`."""
    new, gone = [each for each in wanted if is_new(each)], [each for each in wanted if is_gone(each)]
    done = create_resources(root, new, around=around) if new else Edited()
    values = [each for each in wanted if not is_new(each) and not is_gone(each)]
    unset = is_unset_block(root, values)
    added = add_blocks(root, unset, done.files, around) if unset else Edited()
    done = _both(done, replace(added, left=()))
    known = {left.wanted.key: left for left in added.left}
    # A block that others would have too can still be given to one call of the module.
    values = [each for each in values if each not in unset or each.key in known]
    edited = edit_values(root, values, done.files, around, live) if values else Edited()
    done = _both(done, replace(edited, left=tuple(known.get(left.wanted.key, left) for left in edited.left)))
    if new and edited.edits:
        from reconciler.rewrite.new_references import with_references  # noqa: PLC0415  few runs have new resources

        done = with_references(root, new, done, around)
    return _both(done, delete_resources(root, gone, done.files, around)) if gone else done


def _both(first: Edited, then: Edited) -> Edited:
    """The first edits and then the second ones, which were made on the result of the first."""
    return Edited(
        files={**first.files, **then.files},
        edits=(*first.edits, *then.edits),
        left=(*first.left, *then.left),
        proposed=then.proposed,
    )
