"""The formats of an export: how a record becomes a line, lines become a file, and where the file belongs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.core.gzip_bytes import gzipped
from gateway.core.model.export_format import ExportFormatName
from gateway.exports.cloudtrail import cloudtrail_event, cloudtrail_place, is_call
from gateway.exports.columns import column_line, csv_head, csv_row, json_line, parquet_file, row_place
from gateway.exports.ocsf import ocsf_event, ocsf_place
from gateway.ledger.ask.exports import ExportedRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """One format. A file is `head`, the lines with `between` between them, and `tail`."""

    line: Callable[[ExportedRecord], bytes]
    place: Callable[[ExportedRecord], str]
    """The directory of a record's file, by which the files are partitioned."""
    has: Callable[[ExportedRecord], bool] = lambda _: True
    """Whether the format has a form for the record."""
    head: bytes = b""
    between: bytes = b"\n"
    tail: bytes = b"\n"
    suffix: str = ".json.gz"
    pack: Callable[[bytes], bytes] = gzipped
    """What a file of a partition holds for the plain content. The same content gives the same file."""
    streams: bool = True
    """Whether the plain content can be printed as it is made."""

    def content(self, lines: Sequence[bytes]) -> bytes:
        """The plain content of a file with these lines."""
        return self.head + self.between.join(lines) + self.tail


FORMATS: Final[Mapping[ExportFormatName, ExportFormat]] = {
    ExportFormatName.OCSF: ExportFormat(line=ocsf_event, place=ocsf_place),
    ExportFormatName.CLOUDTRAIL: ExportFormat(
        line=cloudtrail_event,
        place=cloudtrail_place,
        has=is_call,
        head=b'{"Records":[',
        between=b",\n",
        tail=b"]}\n",
    ),
    ExportFormatName.JSONL: ExportFormat(line=json_line, place=row_place),
    ExportFormatName.CSV: ExportFormat(
        line=csv_row, place=row_place, head=csv_head(), between=b"", tail=b"", suffix=".csv.gz"
    ),
    ExportFormatName.PARQUET: ExportFormat(
        line=column_line, place=row_place, suffix=".parquet", pack=parquet_file, streams=False
    ),
}
