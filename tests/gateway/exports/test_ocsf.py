"""Every record is a valid event of OCSF 1.8, judged by OCSF's own schema, and the schema would notice."""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

from gateway.exports.ocsf import ocsf_event, ocsf_place
from gateway.ledger.exported import ExportedRecord
from gateway.model.record import Stage

CLASSES = {6003: "api_activity", 3004: "entity_management"}


@cache
def judge(class_uid: int) -> Any:
    """The schema of a class, with the profiles that events name."""
    schema = OcsfJsonSchemaEmbedded(get_ocsf_schema("1.8.0"))
    profiles = ["cloud", "datetime", "security_control"]
    return jsonschema.Draft202012Validator(schema.get_class_schema(CLASSES[class_uid], profiles=profiles))


def objections(event: Mapping[str, Any]) -> list[str]:
    """What the schema has against an event."""
    return [error.message for error in judge(event["class_uid"]).iter_errors(event)]


def test_every_stage_is_a_valid_event(records: Sequence[ExportedRecord]) -> None:
    assert {record.row.stage for record in records} == set(Stage)
    for record in records:
        event = json.loads(ocsf_event(record))
        assert not objections(event), (record.row.stage, event)
        assert event["metadata"]["sequence"] == record.row.seq
        assert event["metadata"]["uid"] == record.row.hash
        assert event["unmapped"]["sentinel"]["previous"] == record.row.previous


@pytest.mark.parametrize(
    "spoil",
    [
        lambda event: event.pop("api"),
        lambda event: event.pop("time"),
        lambda event: event.pop("src_endpoint"),
        lambda event: event.update(actor={}),
        lambda event: event.update(severity_id=77),
        lambda event: event.update(why="because"),
    ],
)
def test_the_schema_refuses_what_is_not_valid(
    records: Sequence[ExportedRecord], spoil: Callable[[dict[str, Any]], object]
) -> None:
    decided = next(record for record in records if record.row.stage == Stage.DECIDED)
    event = json.loads(ocsf_event(decided))
    spoiled = copy.deepcopy(event)
    spoil(spoiled)
    assert not objections(event)
    assert objections(spoiled)


def test_each_class_is_a_source_of_its_own(records: Sequence[ExportedRecord]) -> None:
    for record in records:
        source, region, account, day = ocsf_place(record).split("/")
        assert source == CLASSES[json.loads(ocsf_event(record))["class_uid"]]
        assert (region, account, day) == ("region=global", "accountId=unknown", "eventDay=20260301")
