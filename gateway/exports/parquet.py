"""Makes Parquet of lines of JSON, by DuckDB, which is an extra (`sentinel-gateway[export]`)."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gateway.errors import SettingsInvalid
from gateway.exports.columns import COLUMNS

if TYPE_CHECKING:
    import duckdb

_CLOSED: Final = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "threads": "1",
    "memory_limit": "512MB",
}
"""DuckDB loads nothing from the network, and leaves room for a gateway on the same machine."""


def parquet_file(lines: bytes) -> bytes:
    """The content of a Parquet file, compressed with zstd, of lines with one JSON object each.

    Raises `errors.SettingsInvalid` if DuckDB is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="sentinel-export-") as directory:
        source, made = Path(directory) / "lines.json", Path(directory) / "made.parquet"
        source.write_bytes(lines)
        write_parquet(source, made)
        return made.read_bytes()


def write_parquet(source: Path, made: Path) -> None:
    """Write the lines of a file as Parquet to another. Raises `errors.SettingsInvalid` if DuckDB is not installed."""
    columns = ", ".join(f"{name}: '{kind}'" for name, (kind, _) in COLUMNS.items())
    read = f"read_json(?, format = 'newline_delimited', columns = {{{columns}}}, maximum_object_size = 67108864)"
    with open_duckdb() as connection:
        copy = f"COPY (SELECT * FROM {read} ORDER BY seq) TO '{str(made).replace(chr(39), chr(39) * 2)}' (FORMAT parquet, COMPRESSION zstd)"  # noqa: S608  names of ours
        connection.execute(copy, [str(source)])


def open_duckdb() -> "duckdb.DuckDBPyConnection":
    """A database in memory that reaches nothing but local files. Raises `errors.SettingsInvalid` if DuckDB is not installed."""
    try:
        import duckdb as driver  # noqa: PLC0415  an extra, which only Parquet needs
    except ImportError as error:
        raise SettingsInvalid(
            "Parquet needs DuckDB, which is not installed: pip install 'sentinel-gateway[export]'. Nothing was written."
        ) from error
    settings: dict[str, Any] = dict(_CLOSED)
    return driver.connect(":memory:", config=settings)
