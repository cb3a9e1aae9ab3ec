"""Settings of the table of effects: where the rows are that were learned in use."""

from pathlib import Path

from gateway.core.settings.table import SettingsTable


class EffectsSettings(SettingsTable):
    """What Sentinel knows about operations beside the rows that ship with it."""

    learned: Path | None = None
    """Directory of the rows that `sentinel effects accept` writes, in a repository where they are reviewed; default: none are read."""
