"""The formats of an export by name: an option of a command and a setting."""

from enum import StrEnum


class ExportFormatName(StrEnum):
    """The formats of an export by name."""

    OCSF = "ocsf"
    """Events of OCSF 1.8."""
    CLOUDTRAIL = "cloudtrail"
    """Calls as events of CloudTrail."""
    JSONL = "jsonl"
    """Whole records as they are hashed."""
    CSV = "csv"
    PARQUET = "parquet"
    """Needs the extra `export`."""
