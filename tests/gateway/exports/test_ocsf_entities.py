"""Every stage that is not about a call names an entity and what happened to it."""

from gateway.exports.ocsf_calls import CALL_STAGES
from gateway.exports.ocsf_entities import _ENTITIES, entity_management
from gateway.model.record import Stage
from tests.kit.exported import record


def test_every_other_stage_has_an_entity() -> None:
    assert set(_ENTITIES) == set(Stage) - CALL_STAGES


def test_an_approval_is_activated_by_a_person_and_a_broken_glass_is_severe() -> None:
    event = entity_management(record(Stage.APPROVED, {"approval": "apr_1", "reason": "Fine."}, actor="ana"))
    assert (event["activity_id"], event["entity"]["uid"], event["comment"]) == (10, "apr_1", "Fine.")
    assert event["actor"]["user"]["uid"] == "ana"
    assert entity_management(record(Stage.BROKE_GLASS, {"approval": "apr_1"}))["severity_id"] == 4


def test_what_is_known_of_the_call_is_there() -> None:
    decided = {"call": {"service": "sqs", "operation": "SetQueueAttributes"}}
    event = entity_management(record(Stage.EXPIRED, {"claim": "clm_1"}, decided=decided))
    assert event["api"]["operation"] == "SetQueueAttributes"
    assert event["entity"] == {"uid": "clm_1", "name": "clm_1", "type": "claim", "data": {"claim": "clm_1"}}
