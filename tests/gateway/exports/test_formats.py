"""Each format makes whole files, the same ones from the same records."""

import gzip
import json
from collections.abc import Sequence

import pytest

from gateway.core.model.export_format import ExportFormatName
from gateway.exports.formats import FORMATS
from gateway.ledger.ask.exports import ExportedRecord


def test_every_format_is_there() -> None:
    assert set(FORMATS) == set(ExportFormatName)


@pytest.mark.parametrize("name", [each for each in ExportFormatName if each is not ExportFormatName.PARQUET])
def test_the_same_records_make_the_same_file(name: ExportFormatName, records: Sequence[ExportedRecord]) -> None:
    form = FORMATS[name]
    content = form.content([form.line(each) for each in records if form.has(each)])
    assert form.pack(content) == form.pack(content)
    assert gzip.decompress(form.pack(content)) == content


def test_a_file_of_cloudtrail_is_one_document_and_the_others_are_lines(records: Sequence[ExportedRecord]) -> None:
    for name in (ExportFormatName.CLOUDTRAIL, ExportFormatName.OCSF, ExportFormatName.JSONL):
        form = FORMATS[name]
        lines = [form.line(each) for each in records if form.has(each)]
        text = form.content(lines).decode()
        found = (
            json.loads(text)["Records"]
            if name is ExportFormatName.CLOUDTRAIL
            else [*map(json.loads, text.splitlines())]
        )
        assert len(found) == len(lines) > 0
