"""Makes every edit for the wanted values: new resources first, then values, then deletions, since a value may refer to a deleted resource."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gateway.core.model.json import Json
from reconciler.model import Edited, Wanted, is_gone, is_new
from reconciler.rewrite.create import create_resources
from reconciler.rewrite.delete import delete_resources
from reconciler.rewrite.edited_code import read_code
from reconciler.rewrite.new_references import names_of, with_references
from reconciler.rewrite.surroundings import Surroundings
from reconciler.rewrite.unset_blocks import add_blocks, is_unset_block
from reconciler.rewrite.value_edits import Live, edit_values


def edit_code(
    root: Path, wanted: Sequence[Wanted], around: Surroundings | None = None, live: Live | None = None
) -> Edited:
    """Edit values as `value_edits.edit_values` does, add new resources, and remove deleted ones. `live` as there. Raises `CodeInvalid`."""
    new, gone = [each for each in wanted if is_new(each)], [each for each in wanted if is_gone(each)]
    values = [each for each in wanted if not is_new(each) and not is_gone(each)]
    live = {**(live or {}), **{each.address: names_of(each) for each in new}}
    expected = _by_address(values)
    done = create_resources(root, new, around=around, expected=expected, known=live) if new else Edited()
    if gone and values:
        # One switch may take an instance away and give others the values that they have without it.
        together = delete_resources(root, gone, done.files, around, expected=expected, known=live, giving=True)
        done, gone = _both(done, replace(together, left=())), [each.wanted for each in together.left]
        if together.edits:
            code = read_code(root, done.files, around, expected=expected, known=live)
            values = [each for each in values if not code.gives(each.address, each.attribute)]
    unset = is_unset_block(root, values)
    added = add_blocks(root, unset, done.files, around) if unset else Edited()
    done = _both(done, replace(added, left=()))
    known = {left.wanted.key: left for left in added.left}
    # A block that others would have too can still be given to one call of the module.
    values = [each for each in values if each not in unset or each.key in known]
    edited = edit_values(root, values, done.files, around, live) if values else Edited()
    done = _both(done, replace(edited, left=tuple(known.get(left.wanted.key, left) for left in edited.left)))
    if new and edited.edits:
        done = with_references(root, new, done, around)
    return _both(done, delete_resources(root, gone, done.files, around, known=live)) if gone else done


def _by_address(values: Sequence[Wanted]) -> Mapping[str, Mapping[str, Json]]:
    found: dict[str, dict[str, Json]] = {}
    for each in values:
        found.setdefault(each.address, {})[each.attribute] = each.value
    return found


def _both(first: Edited, then: Edited) -> Edited:
    """The first edits and then the second ones, which were made on the result of the first."""
    return Edited(
        files={**first.files, **then.files},
        edits=(*first.edits, *then.edits),
        left=(*first.left, *then.left),
        proposed=then.proposed,
    )
