"""A context whose plans are made against the state as it will be without resources that others took the place of."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import replace

from reconciler.proof.propose import ProofContext
from reconciler.terraform.scratch_state import planning_against, state_without


@asynccontextmanager
async def without_old(context: ProofContext, addresses: Collection[str]) -> AsyncIterator[ProofContext]:
    """The context without the resources at the addresses, until the block ends; the same one if there are none.

    Terraform imports nothing to an address that the state has, so the import of what took its place shows in no other plan.
    Raises `errors.TerraformFailed`, `errors.TerraformMissing`.
    """
    if not addresses:
        yield context
        return
    terraform, root, is_file = context.terraform, context.root, context.state is not None
    scratch = await state_without(terraform, root, context.state, addresses)
    with planning_against(terraform, root, scratch, is_file=is_file) as planning:
        yield replace(context, terraform=planning, state=scratch if is_file else None, keep_plan=False)
