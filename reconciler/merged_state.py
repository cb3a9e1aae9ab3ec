"""Brings the state up to date once written-back values are in the protected branch, so that its plan is empty, outputs included.

Only the protected code is used: people have reviewed it, and what only our branch says may never be merged. It is done before the merge is
recorded; a process that dies in between does it again, and finds nothing to do.
"""

from collections.abc import Sequence
from pathlib import Path

from reconciler.errors import CodeRefused, StateNotUpdated, TerraformFailed, TerraformMissing
from reconciler.terraform.cli import Terraform
from reconciler.terraform.state_update import apply_to_state, beyond_state, refresh_state


async def update_merged_state(terraform: Terraform, root: Path, *, state: Path | None, addresses: Sequence[str]) -> str:
    """Why the state was not brought up to date with the protected code in `root`; empty if it was.

    If the plan shows more than the state, such as a change that nobody applied yet, only the resources at `addresses` and the outputs
    that follow from them are refreshed: the rest stays as it is, for whoever applies it.
    """
    try:
        saved = await terraform.saved_plan(root, state=state)
        more = beyond_state(await terraform.plan_document(root, saved.file)) if saved.changes else ()
        if not more:
            await apply_to_state(terraform, root, saved, state=state)
        else:
            saved.file.unlink(missing_ok=True)
            await refresh_state(terraform, root, state=state, targets=addresses)
    except (StateNotUpdated, TerraformFailed, TerraformMissing, CodeRefused) as error:
        return str(error)
    return ""
