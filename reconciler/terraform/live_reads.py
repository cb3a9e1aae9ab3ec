"""Reads live resources: through their providers where that works, else by a refresh-only plan."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from reconciler.errors import PluginUnavailable
from reconciler.terraform.cli import Terraform
from reconciler.terraform.plugin.reads import PluginReads
from reconciler.terraform.refresh import Refreshed


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveReads:
    """Reads as `Terraform.refresh` does, and faster if the provider can be read directly."""

    terraform: Terraform
    plugin: PluginReads

    @classmethod
    @asynccontextmanager
    async def beside(cls, terraform: Terraform, kept: Path | None = None) -> "AsyncIterator[LiveReads]":
        """Readers for the same code and environment as `terraform`; at the end no provider is left running.

        `kept` is a directory of ours that outlives the run, by default that of `terraform`. A provider is compared with the lock file where
        the code is guarded, because it is not the user's own.
        """
        guarded = terraform.guard is not None
        plugin = PluginReads(environment=terraform.environment, workdir=kept or terraform.workdir, check_lock=guarded)
        try:
            yield cls(terraform=terraform, plugin=plugin)
        finally:
            await plugin.close()

    async def refresh(self, root: Path, *, state: Path | None, targets: Sequence[str]) -> Refreshed:
        """Read the live attributes of resources; nothing is changed, not even the state. Raises as `Terraform.refresh`."""
        await self.terraform.check(root)
        try:
            return await self.plugin.refresh(root, state=state, targets=targets, data=self.terraform.plugin_data)
        except PluginUnavailable as error:
            import structlog  # noqa: PLC0415  it takes long to import, and is seldom needed here

            structlog.get_logger().info("provider_not_read_directly", reason=str(error))
            return await self.terraform.refresh(root, state=state, targets=targets)
