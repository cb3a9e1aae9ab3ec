"""A record as one row of columns, for CSV and Parquet, and as the ledger has it, for JSON lines."""

import csv
import io
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gateway.core.errors import SettingsInvalid
from gateway.exports.record_facts import (
    account_of,
    day_of,
    door_of,
    kind_of,
    member,
    objection_of,
    outcome_of,
    region_of,
)
from gateway.ledger.ask.exports import ExportedRecord

_encode: Final = msgspec.json.Encoder().encode

COLUMNS: Final[Mapping[str, tuple[str, Callable[[ExportedRecord], Any]]]] = {
    "seq": ("BIGINT", lambda record: record.row.seq),
    "time": ("TIMESTAMP", lambda record: record.row.at),
    "stage": ("VARCHAR", lambda record: record.row.stage),
    "mutation": ("VARCHAR", lambda record: record.row.mutation_id),
    "actor": ("VARCHAR", lambda record: record.row.actor),
    "kind": ("VARCHAR", kind_of),
    "key_id": ("VARCHAR", lambda record: member(record, "caller").get("key_id") or record.body.get("key_id") or ""),
    "on_behalf_of": ("VARCHAR", lambda record: member(record, "caller").get("on_behalf_of") or ""),
    "stack": ("VARCHAR", lambda record: record.row.stack),
    "door": ("VARCHAR", door_of),
    "peer": ("VARCHAR", lambda record: member(record, "sender").get("peer") or record.body.get("peer") or ""),
    "user_agent": ("VARCHAR", lambda record: member(record, "sender").get("user_agent") or ""),
    "service": ("VARCHAR", lambda record: member(record, "call").get("service") or ""),
    "operation": ("VARCHAR", lambda record: member(record, "call").get("operation") or record.body.get("about") or ""),
    "class": ("VARCHAR", lambda record: member(record, "call").get("class") or ""),
    "account": ("VARCHAR", lambda record: member(record, "call").get("account") or ""),
    "region": ("VARCHAR", lambda record: member(record, "call").get("region") or ""),
    "intent": ("VARCHAR", lambda record: member(record, "motive").get("intent") or ""),
    "motivation": ("VARCHAR", lambda record: member(record, "motive").get("motivation") or ""),
    "why": ("VARCHAR", lambda record: member(record, "motive").get("text") or ""),
    "evidence": ("VARCHAR", lambda record: " ".join(member(record, "motive").get("evidence") or ())),
    "verdict": ("VARCHAR", lambda record: member(record, "decision").get("verdict") or ""),
    "mode": ("VARCHAR", lambda record: member(record, "decision").get("mode") or ""),
    "rule": ("VARCHAR", lambda record: objection_of(record).get("rule") or ""),
    "reason": ("VARCHAR", lambda record: record.body.get("reason") or objection_of(record).get("reason") or ""),
    "outcome": ("VARCHAR", outcome_of),
    "code": ("VARCHAR", lambda record: record.body.get("code") or ""),
    "request_id": ("VARCHAR", lambda record: record.body.get("request_id") or ""),
    "resources": ("VARCHAR", lambda record: " ".join(dict.fromkeys(address for address, _ in record.resources))),
    "body": ("VARCHAR", lambda record: record.row.body),
    "previous": ("VARCHAR", lambda record: record.row.previous),
    "hash": ("VARCHAR", lambda record: record.row.hash),
}
"""Type in Parquet, and value, of each column. `time` is not called `at`, which is a reserved word of DuckDB."""
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a cell begins with that a spreadsheet takes for a formula. Clients choose some of the texts."""


def column_values(record: ExportedRecord) -> dict[str, Any]:
    """The value of each column, by name."""
    return {name: value(record) for name, (_, value) in COLUMNS.items()}


def csv_row(record: ExportedRecord) -> bytes:
    """The record as a line of CSV (RFC 4180). A text that a spreadsheet would run as a formula has a `'` before it."""
    return _line([_cell(value) for value in column_values(record).values()])


def csv_head() -> bytes:
    """The names of the columns as a line of CSV."""
    return f"{','.join(COLUMNS)}\r\n".encode()


def _line(cells: list[Any]) -> bytes:
    text = io.StringIO()
    # Each text is quoted: where a spreadsheet separates by `;`, what follows one in a text would else be a cell of its own, and a formula.
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC).writerow(cells)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value


def column_line(record: ExportedRecord) -> bytes:
    """The record's columns as one JSON object, from which Parquet is target."""
    return _encode(column_values(record))


def json_line(record: ExportedRecord) -> bytes:
    """The whole record as it is hashed, as one JSON object: with its resources, and the exact text of its body as an object."""
    row = record.row
    fields = {name: value for name, value in row._asdict().items() if name != "body"}
    head = _encode({**fields, "resources": record.resources})
    return b'%s,"body":%s}' % (head[:-1], row.body.encode())


def row_place(record: ExportedRecord) -> str:
    """Its directory: by region, account and day, as Hive and what learned from it name them."""
    return f"region={region_of(record)}/accountId={account_of(record)}/eventDay={day_of(record)}"


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
        source, target = Path(directory) / "lines.json", Path(directory) / "lines.parquet"
        source.write_bytes(lines)
        write_parquet(source, target)
        return target.read_bytes()


def write_parquet(source: Path, target: Path) -> None:
    """Write the lines of a file as Parquet to another. Raises `errors.SettingsInvalid` if DuckDB is not installed."""
    columns = ", ".join(f"{name}: '{kind}'" for name, (kind, _) in COLUMNS.items())
    read = f"read_json(?, format = 'newline_delimited', columns = {{{columns}}}, maximum_object_size = 67108864)"
    with open_duckdb() as connection:
        copy = f"COPY (SELECT * FROM {read} ORDER BY seq) TO '{str(target).replace(chr(39), chr(39) * 2)}' (FORMAT parquet, COMPRESSION zstd)"  # noqa: S608  names of ours
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
