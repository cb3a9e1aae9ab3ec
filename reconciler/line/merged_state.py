"""Brings the state up to date once written-back values are in the protected branch, so that its plan is empty, outputs included.

Only the protected code is used: people have reviewed it, and what only our branch says may never be merged. It is done before the merge is
recorded; a process that dies in between does it again, and finds nothing to do.
"""

from collections.abc import Sequence
from pathlib import Path

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.module import load_module
from reconciler.errors import CodeRefused, StateNotUpdated, TerraformFailed, TerraformMissing
from reconciler.rewrite.imports import import_expressions
from reconciler.terraform.cli import Terraform
from reconciler.terraform.state_update import (
    adopt_replacements,
    apply_to_state,
    beyond_state,
    import_only,
    imported_in,
    moved_in,
    recreated_in,
    refresh_state,
)

_NOTHING_ALONE = (
    "The plan of the protected code would change more than the state, and nothing that was merged can be refreshed without it. The next "
    "apply brings the state up to date."
)


async def update_merged_state(terraform: Terraform, root: Path, *, state: Path | None, addresses: Sequence[str]) -> str:
    """Why the state was not brought up to date with the protected code in `root`; empty if it was.

    If the plan shows more than the state, such as a change that nobody applied yet, only the resources at `addresses` and the outputs
    that follow from them are refreshed. The resources that the plan would change stay as they are in the state: it may be a change from
    outside that shows only while they do.
    """
    try:
        saved = await terraform.saved_plan(root, state=state)
        document = await terraform.plan_document(root, saved.file) if saved.changes else {}
        moved = moved_in(document)
        if there := recreated_in(document) & import_expressions(load_module(root)).keys():
            # Another resource took its place, and the import of that one is merged. What else the plan shows stays as it is.
            saved.file.unlink(missing_ok=True)
            only = sorted(there) if moved - there else ()
            await adopt_replacements(terraform, root, state=state, gone=sorted(there), targets=only)
            return ""
        if not beyond_state(document):
            await apply_to_state(terraform, root, saved, state=state)
            return ""
        saved.file.unlink(missing_ok=True)
        if waiting := imported_in(document):
            await import_only(terraform, root, state=state, addresses=sorted(waiting))
        targets = [address for address in addresses if address not in moved]
        if not targets:
            return "" if waiting else _NOTHING_ALONE
        await refresh_state(terraform, root, state=state, targets=targets, keep=moved)
    except (StateNotUpdated, TerraformFailed, TerraformMissing, CodeRefused, CodeInvalid) as error:
        return str(error)
    return ""
