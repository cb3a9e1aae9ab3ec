"""`sentinel deliveries` and `sentinel resend`, against a running gateway with records of a reconciler."""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.ids import digest_id
from gateway.core.records.notice import notice_id
from gateway.core.records.record import Stage
from gateway.core.settings.notices import WebhookSettings
from gateway.core.times import SystemClock
from tests.gateway.doors.api.test_waiting import cancel_replay, mutation_of
from tests.kit.bodies import sample_record
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with two webhooks; one was tried."""
    hooks = [
        WebhookSettings.model_validate({"name": name, "url": "https://ops.example/", "secret": SECRET})
        for name in ("ops", "audit")
    ]
    with Gate(directory=tmp_path_factory.mktemp("told"), webhooks=tuple(hooks)) as gate:
        gate.issue("chief", kind=ActorKind.HUMAN, roles=("operator",))
        held = mutation_of(cancel_replay(gate, "cli"))
        [record] = gate.records(mutation_id=held)
        result = {
            "id": notice_id(record), "seq": record.seq, "asked": 0, "type": "mutation.held", "mutation_id": held, "state": "retrying",
            "attempt": 2, "status": 503, "error": "It answered 503.", "again_at": None,
        }  # fmt: skip
        body: Any = {
            "receiver": "ops",
            "read": 1,
            "based_on": 0,
            "failures": 2,
            "resume_at": 0,
            "open": [{}],
            "results": [result],
        }
        made = sample_record(
            stage=Stage.NOTIFIED, at=SystemClock().now(), mutation_id=digest_id("whk", "ops"), body=body
        )
        gate.run(gate.ledger.record_event(made))
        yield gate


def _id(document: Callable[..., Any]) -> str:
    code, reply = document("deliveries", "--receiver", "ops", "--failed")
    assert code == 0
    return str(reply["deliveries"][0]["id"])


def test_failures_and_receivers_are_listed(
    told: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Callable[..., Any]
) -> None:
    speak_as(told, "human")
    shown = sentinel("deliveries").stdout
    assert all(part in shown for part in ("mutation.held", "retrying (attempt 2)", "It answered 503.", _id(document)))
    assert "ops: 1 waiting, not available 2 times in a row" in shown
    assert "audit: not begun." in shown


def test_an_operator_has_it_sent_again(
    told: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Callable[..., Any]
) -> None:
    speak_as(told, "human")
    identifier = _id(document)
    assert sentinel("resend", "ops", identifier).exit_code == 1
    speak_as(told, "chief")
    assert sentinel("resend", "ops", identifier, identifier).stdout.startswith("Asked for 2 to be sent again to ops.")
    assert document("resend", "ops", identifier)[1]["asked"][0]["id"] == identifier
    code, reply = document("resend", "nobody", identifier)
    assert (code, reply["code"]) == (1, "not_found")
    assert len(told.records(stage=Stage.RESEND_ASKED)) == 3


def test_without_receivers_it_says_so(gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any]) -> None:
    speak_as(gate, "human")
    assert sentinel("deliveries").stdout == "No webhook and no chat is set ([[webhooks]], [chat.slack]).\n"
