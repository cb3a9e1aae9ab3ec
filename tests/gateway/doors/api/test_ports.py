"""AWS's reply as JSON; an unreadable reply is None, because the change is already settled."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.outcome import Reply
from gateway.core.ports import Key, RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.core.service_models import ServiceModels
from gateway.doors.api.mutations import reply_to_json
from gateway.doors.api.ports import ApiPorts, without_contest
from gateway.doors.api.request_bodies import SessionBody
from gateway.doors.api.sessions import open_session
from tests.kit.bodies import sample_record, unreadable
from tests.kit.doubles import AGENT, HUMAN, NOW, FixedClock


@pytest.fixture(scope="module")
def models() -> ServiceModels:
    return ServiceModels()


def _reply(body: bytes, status: int = 200) -> Reply:
    return Reply(status=status, headers=(("Content-Type", "application/x-amz-json-1.1"),), body=body)


@pytest.mark.parametrize(
    ("service", "operation", "body", "value"),
    [
        ("logs", "PutRetentionPolicy", b"", {}),
        ("logs", "PutDestination", b'{"destination": {"arn": "a", "creationTime": 1}}', {"destination": {"arn": "a", "creationTime": 1}}),
        ("sns", "CreateTopic", b"<CreateTopicResponse><CreateTopicResult><TopicArn>t</TopicArn></CreateTopicResult></CreateTopicResponse>", {"TopicArn": "t"}),
        ("kms", "CreateKey", b'{"KeyMetadata": {"CreationDate": 0}}', {"KeyMetadata": {"CreationDate": "1970-01-01T00:00:00Z"}}),
        ("sns", "CreateTopic", b"<html", None),
        ("logs", "PutDestination", b'{"destination": 3}', None),
    ],
)  # fmt: skip
def test_it_is_json_or_nothing(models: ServiceModels, service: str, operation: str, body: bytes, value: object) -> None:
    found = reply_to_json(models.operation(service, operation), _reply(body))
    if service == "kms":
        assert "1970-01-01T00:00:00" in str(found)
    else:
        assert found == value


OWN = sample_record(stage=Stage.DECIDED, at=NOW, mutation_id="mut_1", actor="agent")
OTHERS = sample_record(stage=Stage.DECIDED, at=NOW, mutation_id="mut_2", actor="rival")
APPROVED = sample_record(stage=Stage.APPROVED, at=NOW, mutation_id="mut_2", actor="agent")


@dataclass
class Store:
    """Records, and a key ring."""

    queries: list[RecordQuery] = field(default_factory=list)
    issued: list[dict[str, Any]] = field(default_factory=list)
    found: Sequence[Record] = (OWN, OTHERS, APPROVED)

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """Those that match by actor and mutation."""
        self.queries.append(query)
        return [
            record
            for record in self.found
            if query.actor in ("", record.actor) and query.mutation_id in ("", record.mutation_id)
        ]

    async def archived(self) -> None:
        """Nothing left the database."""

    async def issue(self, **what: Any) -> Key:
        """A session key."""
        self.issued.append(what)
        return Key(id="SNTSX", secret="s" * 40, actor=what["actor"], kind=what["kind"], expires_at=NOW)

    async def blame(self, address: str, attribute: str) -> object | None:
        """Nothing known."""
        return None


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def ports(store: Store) -> ApiPorts:
    unused: Any = SimpleNamespace()
    ports: Any = {
        "standing": unused,
        "queries": store,
        "keys": store,
        "blamer": store,
        "doubts": store,
        "drift": unused,
        "intake": unused,
    }
    return ApiPorts(
        stops=unused,
        budgets=unused,
        limits=unused,
        pipeline=unused,
        authenticator=unused,
        decoder=unused,
        commands=unused,
        plans=unused,
        opener=unused,
        run_task=unused,
        chat=unused,
        deliveries=unused,
        replays=unused,
        roles=unused,
        playground=unused,
        searches=unused,
        catalogue=unused,
        rule_tally=unused,
        who_wins=unused,
        readers=unused,
        maps=unused,
        time_boxes=unused,
        clock=FixedClock(),
        max_body_bytes=100,
        **ports,
    )


SERVICE = Caller(actor="agent", kind=ActorKind.SERVICE, key_id="SNTLS")
PIPELINE = Caller(actor="pipeline", kind=ActorKind.PIPELINE, key_id="SNTLP")


@pytest.mark.parametrize(
    ("caller", "query", "seen"),
    [
        (HUMAN, RecordQuery(), [OWN, OTHERS, APPROVED]),
        (PIPELINE, RecordQuery(actor="agent"), [OWN, APPROVED]),
        (AGENT, RecordQuery(), [OWN, APPROVED]),
        (SERVICE, RecordQuery(), [OWN, APPROVED]),
        (AGENT, RecordQuery(actor="agent"), [OWN, APPROVED]),
        (AGENT, RecordQuery(actor="rival"), []),
        (AGENT, RecordQuery(mutation_id="mut_1"), [OWN]),
        # That it once did something to another's mutation does not make it its own.
        (AGENT, RecordQuery(mutation_id="mut_2"), []),
        (HUMAN, RecordQuery(mutation_id="mut_2"), [OTHERS, APPROVED]),
    ],
)
async def test_who_sees_which_records(ports: ApiPorts, caller: Caller, query: RecordQuery, seen: list[Record]) -> None:
    assert list(await ports.visible_records(caller, query)) == seen


async def test_a_session_is_the_callers_own_for_a_while(ports: ApiPorts, store: Store) -> None:
    body = SessionBody.model_validate({"motive": {"intent": "cost", "motivation": "budget"}, "lasts": "12h"})
    session = await open_session(ports.keys, replace(AGENT, roles=("r",), on_behalf_of="eve"), body)
    assert session == {"access_key_id": "SNTSX", "secret_access_key": "s" * 40, "expires_at": "2026-11-21T00:00:00Z"}
    (issued,) = store.issued
    assert (issued["actor"], issued["kind"], issued["roles"], issued["on_behalf_of"]) == ("agent", ActorKind.AGENT, ("r",), "eve")  # fmt: skip
    assert (issued["lasts"], issued["session_of"]) == (timedelta(hours=12), AGENT.key_id)


async def test_a_session_key_makes_no_session(ports: ApiPorts, store: Store) -> None:
    body = SessionBody.model_validate({"motive": {"intent": "cost", "motivation": "budget"}})
    with pytest.raises(NotAllowed):
        await open_session(ports.keys, replace(AGENT, key_id="SNTSAAAAAAAAAAAAAAAA"), body)
    assert store.issued == []


async def test_an_attribute_that_was_never_set_is_not_found(ports: ApiPorts) -> None:
    with pytest.raises(NotFound, match=r"a\.b"):
        await ports.blame(AGENT, "a", "b")


def test_a_decision_that_cannot_be_read_is_not_shown_to_those_who_may_not_see_its_contest() -> None:
    body = unreadable(Stage.DECIDED, {"call": 3, "decision": {"contest": {"winner": "ann"}}})
    record = Record(at=NOW, body=body)
    assert without_contest(record).body.members == {"call": 3}
    assert without_contest(record).stage is Stage.DECIDED
