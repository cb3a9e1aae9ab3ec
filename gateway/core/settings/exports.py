"""Settings of the exports that `sentinel export` keeps up to date."""

from typing import Annotated, Self

from pydantic import AwareDatetime, Field, model_validator

from gateway.core.model.export_format import ExportFormatName
from gateway.core.settings.table import SettingsTable


class ExportSettings(SettingsTable):
    """One export: a format, and where its files go."""

    format: ExportFormatName
    """The form of the files."""
    to: Annotated[str, Field(min_length=1)]
    """A directory, or `s3://bucket/prefix`."""
    since: AwareDatetime | None = None
    """Where it begins when it first runs; default: the first record."""
    region: str = ""
    """Region of the bucket; default: that of the AWS environment."""

    @model_validator(mode="after")
    def _known_place(self) -> Self:
        if "://" in self.to and not self.to.startswith("s3://"):
            raise ValueError("`to` is a directory or s3://bucket/prefix.")
        return self
