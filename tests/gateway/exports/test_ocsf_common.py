"""Who did what, where and why, in the members that all events have."""

from gateway.exports.ocsf_common import actor_of, chain_members, common_members, labels_of, milliseconds
from gateway.model.record import Stage
from tests.kit.exported import record

DECIDED = {
    "caller": {"kind": "agent", "key_id": "SNTL1", "on_behalf_of": "carol"},
    "call": {"service": "sqs", "operation": "SetQueueAttributes", "account": "123456789012", "region": "eu-west-1"},
    "motive": {"intent": "cost", "motivation": "budget"},
}


def test_the_common_members_say_who_where_and_when() -> None:
    members = common_members(record(Stage.DECIDED, DECIDED))
    assert members["time"] == milliseconds("2026-11-22T12:00:00.000001Z") == 1795348800000
    assert members["cloud"] == {
        "provider": "AWS",
        "region": "eu-west-1",
        "account": {"uid": "123456789012", "type_id": 10, "type": "AWS Account"},
    }
    assert members["metadata"]["labels"] == ["intent:cost", "motivation:budget", "stack:shop"]
    assert members["metadata"]["correlation_uid"] == "mut_1"


def test_the_actor_is_named_with_its_key_and_principal() -> None:
    actor = actor_of(record(Stage.DECIDED, DECIDED))
    assert actor["user"] == {"uid": "agent", "name": "agent", "type_id": 4, "type": "Service"}
    assert actor["session"] == {"uid": "SNTL1"}
    assert actor["invoked_by"] == "carol"


def test_a_human_is_a_user_and_a_stranger_is_unknown() -> None:
    assert actor_of(record(Stage.APPROVED, {}, actor="ana"))["user"]["type"] == "User"
    assert actor_of(record(Stage.TURNED_AWAY, {}, actor=""))["user"]["uid"] == "unknown"


def test_an_outcome_has_the_motive_of_its_decision() -> None:
    settled = record(Stage.SETTLED, {"outcome": "applied"}, decided=DECIDED)
    assert labels_of(settled)["intent"] == "cost"
    assert actor_of(settled)["user"]["type"] == "Service"


def test_an_event_says_where_it_stands_in_the_chain() -> None:
    assert chain_members(record(Stage.EXPIRED, {})) == {
        "seq": 7,
        "version": 2,
        "previous": "0" * 64,
        "hash": "ab" * 32,
    }
