"""Gives the AWS provider of a stack to import through it: the one that runs for Terraform's commands, or one of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from reconciler.errors import PluginUnavailable
from reconciler.terraform.cli import Terraform
from reconciler.terraform.plugin.imports import ProviderImports
from reconciler.terraform.plugin.reads import PluginReads
from reconciler.terraform.plugin.warm import aws_source


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSession:
    """Imports for the code in one root. Nothing is started before the first one."""

    terraform: Terraform
    root: Path
    reads: PluginReads

    async def open(self) -> ProviderImports:
        """The imports of the provider in its default configuration. Raises `errors.PluginUnavailable`."""
        data = self.terraform.plugin_data
        if data is None:
            raise PluginUnavailable.because("The stack is not initialised.")
        warm = self.terraform.warm.process if self.terraform.warm is not None else None
        if warm is None:
            warm = await self.reads.provider(f'provider["{aws_source(data)}"]', self.root, data)
        return await ProviderImports.of(warm)


@asynccontextmanager
async def import_session(terraform: Terraform, root: Path, kept: Path | None = None) -> AsyncIterator[ImportSession]:
    """A session for the code in `root`; at its end no provider of its own runs. `kept` is as for `LiveReads.beside`."""
    guarded = terraform.guard is not None
    reads = PluginReads(environment=terraform.environment, workdir=kept or terraform.workdir, check_lock=guarded)
    try:
        yield ImportSession(terraform=terraform, root=root, reads=reads)
    finally:
        await reads.close()
