"""An agent gets AWS's reply to its change without what hands out a secret, in every form of reply, and byte for byte otherwise."""

import json
from collections.abc import Callable

import pytest

from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, Failed, InDoubt, Reply
from gateway.effects.sensitive_members import handed_out
from gateway.line.withheld import HEADER, _without, outcome_for_agent
from tests.kit.growth import assert_linear

JSON = (("content-type", "application/x-amz-json-1.1"), ("content-length", "1"), ("x-amz-crc32", "7"))
XML = (("content-type", "text/xml"), ("content-length", "1"))


def reply(body: bytes | str, headers: tuple[tuple[str, str], ...] = JSON) -> Reply:
    return Reply(status=200, headers=headers, body=body if isinstance(body, bytes) else body.encode())


def without(given: Reply, *places: str) -> Reply:
    return _without(given, frozenset(places))


def test_a_member_is_taken_out_wherever_its_parent_stands() -> None:
    body = {
        "Environment": {"Variables": {"PASSWORD": "x"}, "Error": None},
        "Name": "f",
        "Variables": 1,
        "More": [{"Environment": {"Variables": {}}}],
    }
    told = without(reply(json.dumps(body)), "Environment/Variables")
    assert json.loads(told.body) == {
        "Environment": {"Error": None},
        "Name": "f",
        "Variables": 1,
        "More": [{"Environment": {}}],
    }
    assert dict(told.headers) == {"content-type": JSON[0][1], "content-length": str(len(told.body)), HEADER: "Variables"}  # fmt: skip


def test_what_is_in_a_list_has_the_name_of_the_list_and_the_keys_of_a_map_are_any() -> None:
    body = {
        "environmentVariables": [{"name": "A", "value": "x"}],
        "tags": [{"value": "kept"}],
        "keys": {"one": {"key": "x"}},
    }
    told = without(reply(json.dumps(body)), "environmentVariables/value", "*/key")
    assert json.loads(told.body) == {"environmentVariables": [{"name": "A"}], "tags": [{"value": "kept"}], "keys": {"one": {}}}  # fmt: skip


def test_a_reply_that_has_nothing_of_it_stays_byte_for_byte() -> None:
    given = reply('{ "Name" : 1.0 }')
    assert without(given, "Environment/Variables") == given
    empty = reply(b"")
    assert without(empty, "/Key", "*") == empty


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("<R><Key>x</Key><Name>n</Name></R>", "<R><Name>n</Name></R>"),
        ("<R><Key/><Name>n</Name></R>", "<R><Name>n</Name></R>"),
        ('<R><Key a="1"><B/></Key>t</R>', "<R>t</R>"),
        ("<R><Key><Key>x</Key></Key></R>", "<R></R>"),
        ('<a:R xmlns:a="u"><a:Key>x</a:Key></a:R>', '<a:R xmlns:a="u"></a:R>'),
        ("<?xml version='1.0'?>\n<R><Other><Key>x</Key></Other></R>", "<?xml version='1.0'?>\n<R><Other><Key>x</Key></Other></R>"),
        ("<R><Key>x</Key><Name>n</Name><Key>y</Key></R>", "<R><Name>n</Name></R>"),
        ("<R><Key>é</Key><Name>é</Name></R>", "<R><Name>é</Name></R>"),
    ],
)  # fmt: skip
def test_an_element_is_taken_out_of_xml(body: str, kept: str) -> None:
    assert without(reply(body, XML), "R/Key").body.decode() == kept


@pytest.mark.parametrize(
    ("body", "kind", "left"),
    [
        (b"{broken", "application/json", b"{}"),
        (b"\xa1\x63Key\x61x", "application/cbor", b"\xa0"),
        (b"<R><Key>x", "text/xml", b""),
        (b"\x1f\x8b\x08", "", b""),
    ],
)
def test_a_body_that_cannot_be_read_is_withheld_whole(body: bytes, kind: str, left: bytes) -> None:
    told = without(reply(body, (("content-type", kind), ("content-encoding", "x"))), "R/Key")
    assert (told.body, dict(told.headers)) == (
        left,
        {"content-type": kind, "content-length": str(len(left)), HEADER: "body"},
    )


@pytest.mark.parametrize("form", [XML, JSON])
def test_the_cost_is_linear_in_the_reply(form: tuple[tuple[str, str], ...]) -> None:
    def told(size: int) -> Callable[[], object]:
        xml = "<R>" + "<item><Key>x</Key><Name>n</Name></item>" * size + "</R>"
        given = reply(xml if form is XML else json.dumps({"item": [{"Key": "x", "Name": "n"}] * size}), form)
        return lambda: without(given, "item/Key")

    assert_linear(told, 2_000)


def test_a_body_that_is_the_secret_is_withheld_whole_and_headers_too() -> None:
    told = without(reply(b"password=x", (("Content-Type", "text/plain"), ("X-Key", "x"))), "*", "@x-key")
    assert told.body == b""
    assert dict(told.headers) == {"Content-Type": "text/plain", "content-length": "0", HEADER: "body, x-key"}


def test_only_sentinel_says_what_it_withheld() -> None:
    forged = reply("{}", (*JSON, (HEADER, "nothing")))
    assert HEADER not in dict(without(forged, "/Key").headers)


CREATED = Call(service="cognito-idp", operation="CreateUserPoolClient")
BODY = '{"UserPoolClient": {"ClientId": "c", "ClientSecret": "s"}}'


def test_outcomes_of_changes_that_hand_out_a_secret() -> None:
    applied = Applied(reply=reply(BODY), request_id="r", made="c")
    told = outcome_for_agent(CREATED, applied)
    assert isinstance(told, Applied)
    assert (json.loads(told.reply.body), told.request_id, told.made) == (
        {"UserPoolClient": {"ClientId": "c"}},
        "r",
        "c",
    )
    doubt = outcome_for_agent(CREATED, InDoubt(reason="?", reply=reply(BODY)))
    assert isinstance(doubt, InDoubt)
    assert doubt.reply is not None
    assert b"ClientSecret" not in doubt.reply.body


def test_other_outcomes_are_as_they_were() -> None:
    failed = Failed(code="X", message="x", reply=reply(BODY))
    assert outcome_for_agent(CREATED, failed) is failed
    assert outcome_for_agent(CREATED, None) is None
    other = Applied(reply=reply(BODY), request_id="r")
    assert outcome_for_agent(Call(service="sqs", operation="CreateQueue"), other) is other


@pytest.mark.parametrize(
    ("service", "operation", "place"),
    [
        ("lambda", "UpdateFunctionConfiguration", "Environment/Variables"),
        ("cognito-idp", "CreateUserPoolClient", "UserPoolClient/ClientSecret"),
        ("ec2", "CreateKeyPair", "CreateKeyPairResponse/keyMaterial"),
        ("ec2", "CreateVpnConnection", "item/preSharedKey"),
        ("cloudfront", "UpdateDistribution", "OriginCustomHeader/HeaderValue"),
        ("apigateway", "CreateApiKey", "/value"),
        ("iot", "CreateKeysAndCertificate", "keyPair/PrivateKey"),
        ("appconfig", "CreateHostedConfigurationVersion", "*"),
    ],
)
def test_the_table_names_the_places_as_they_are_on_the_wire(service: str, operation: str, place: str) -> None:
    assert place in handed_out(service, operation)


@pytest.mark.parametrize("operation", ["rds:ModifyDBInstance", "autoscaling:SetDesiredCapacity", "x:Y"])
def test_of_other_changes_nothing_is_withheld(operation: str) -> None:
    assert handed_out(*operation.split(":")) == frozenset()
