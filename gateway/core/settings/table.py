"""What every table of the settings is based on."""

from typing import Self

from pydantic import BaseModel, ConfigDict


class SettingsTable(BaseModel):
    """A table. Frozen; an unknown name is an error.

    What validates it is made with that of the whole settings only: made for each table as well, it took 40 ms of every command that reads them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def default(cls) -> Self:
        """The table where the settings have none. Defaults are not validated in any case, so nothing that validates is made for it."""
        return super().model_construct()
