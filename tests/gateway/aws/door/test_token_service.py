"""The token service at the AWS endpoint gives keys of the gateway, which are never more than the key that asked."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation
from gateway.core.ports import Key
from gateway.core.records.record import Stage
from gateway.core.settings.roles import RoleSettings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from tests.kit.applying import opened, planned
from tests.kit.gate import ASG, Gate
from tests.kit.moto import MotoUpstream

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ARN = "arn:aws:iam::123456789012:role/"
ROLES = (
    RoleSettings(name="scaler", kind=ActorKind.AGENT, trusts=("*",)),
    RoleSettings(
        name="capped",
        trusts=("agent", "human", "ci"),
        intent=Intent.COST,
        motivation=Motivation.BUDGET,
        wanted_for="2h",
        only=True,
    ),
    RoleSettings(name="shop", trusts=("ci",), roles=("stack/shop",), longest_hours=2),
    RoleSettings(name="human-role", kind=ActorKind.HUMAN, trusts=("*",)),
    RoleSettings(name="plain", trusts=("*",)),
    RoleSettings(name="of-nobody"),
    RoleSettings(name="moved", arn="arn:aws:iam::123456789012:role/teams/moved", trusts=("*",)),
)


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    with Gate(
        tmp_path_factory.mktemp("tokens"), upstream=MotoUpstream(), roles=ROLES, account="123456789012"
    ) as running:
        running.keys["ci"] = running.run(
            running.ring.issue(actor="ci", kind=ActorKind.PIPELINE, roles=("stack/shop", "stack/net"))
        )
        running.keys["lead"] = running.run(
            running.ring.issue(actor="lead", kind=ActorKind.HUMAN, roles=("approver", "operator", "break-glass"))
        )
        yield running


def _client(gate: Gate, service: str, credentials: dict[str, Any]) -> Any:
    return boto3.client(
        service,
        endpoint_url=gate.url,
        region_name="us-east-1",
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
        config=Config(retries={"total_max_attempts": 1}),
    )


def _sts(gate: Gate, actor: str) -> Any:
    return gate.client("sts", actor, motive=None)


def _assume(gate: Gate, actor: str, role: str, name: str = "run-1", **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = _sts(gate, actor).assume_role(RoleArn=ARN + role, RoleSessionName=name, **more)
    return found


def _refused(call: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        call()
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def _tags(**motive: str) -> list[dict[str, str]]:
    return [{"Key": f"sentinel:{name}", "Value": value} for name, value in motive.items()]


def _bearer(gate: Gate, credentials: dict[str, Any], path: str, body: dict[str, Any]) -> httpx.Response:
    token = f"{credentials['AccessKeyId']}.{credentials['SecretAccessKey']}"
    return httpx.post(f"{gate.url}{path}", json=body, headers={"authorization": f"Bearer {token}"})


def _scale(gate: Gate, credentials: dict[str, Any], wanted: int) -> Any:
    client = _client(gate, "autoscaling", credentials)
    return client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=wanted)


def _decided(gate: Gate) -> Any:
    return gate.records(stage=Stage.DECIDED)[-1]


def test_each_key_learns_who_it_is_here(gate: Gate) -> None:
    who = _sts(gate, "agent").get_caller_identity()
    assert (who["Account"], who["Arn"]) == ("123456789012", "arn:aws:iam::123456789012:user/agent")
    assumed = _assume(gate, "agent", "scaler")
    who = _client(gate, "sts", assumed["Credentials"]).get_caller_identity()
    assert who["Arn"] == assumed["AssumedRoleUser"]["Arn"] == "arn:aws:sts::123456789012:assumed-role/scaler/run-1"
    assert who["UserId"] == assumed["AssumedRoleUser"]["AssumedRoleId"]


def test_session_tags_are_the_motive_of_every_call(gate: Gate) -> None:
    tags = _tags(intent="cost", motivation="budget", evidence="TICKET-7 TICKET-8", wanted_for="1h")
    credentials = _assume(gate, "agent", "scaler", "tagged", Tags=[*tags, {"Key": "team", "Value": "x"}])["Credentials"]
    _refused(lambda: _scale(gate, credentials, 9_999))  # above the group's bounds, whoever asks
    record = _decided(gate)
    motive = record.body.motive
    assert (record.actor, motive.intent, motive.motivation, motive.evidence, motive.wanted_seconds) == (
        "agent",
        "cost",
        "budget",
        ("TICKET-7", "TICKET-8"),
        3600,
    )
    issued: list[Any] = [each.body for each in gate.records(stage=Stage.KEY_ISSUED)]
    assumed = next(each.assumed for each in issued if each.key == credentials["AccessKeyId"])
    assert (assumed.role, assumed.name, assumed.parent) == ("scaler", "tagged", gate.keys["agent"].id)


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        (_tags(intent="cost"), "sentinel:motivation"),
        (_tags(intent="cost", motivation="fun"), "not an allowed motivation"),
        (_tags(intent="cost", motivation="budget", evidense="A-1"), "no session tag 'sentinel:evidense'"),
        ([{"Key": "Sentinel:Intent", "Value": "cost"}], "no session tag 'Sentinel:Intent'"),
        (_tags(intent="cost", motivation="budget") + _tags(intent="security"), "twice"),
    ],
)
def test_a_motive_in_tags_is_whole_or_refused(gate: Gate, tags: list[dict[str, str]], said: str) -> None:
    code, message = _refused(lambda: _assume(gate, "agent", "scaler", Tags=tags))
    assert code == "ValidationError"
    assert said in message


def test_a_ceiling_holds_for_tags_headers_and_chains(gate: Gate) -> None:
    _, message = _refused(
        lambda: _assume(gate, "agent", "capped", Tags=_tags(intent="availability", motivation="incident"))
    )
    assert "no other motive than cost/budget" in message
    _, message = _refused(
        lambda: _assume(gate, "agent", "capped", Tags=_tags(intent="cost", motivation="budget", wanted_for="3h"))
    )
    assert "for at most 2:00:00" in message
    capped = _assume(gate, "agent", "capped")["Credentials"]
    chained = _client(gate, "sts", capped)
    for role in ("plain", "scaler"):
        _, message = _refused(
            lambda role=role: chained.assume_role(
                RoleArn=ARN + role,
                RoleSessionName="up",
                Tags=_tags(intent="availability", motivation="incident"),
            )
        )
        assert "no other motive" in message
        below = chained.assume_role(RoleArn=ARN + role, RoleSessionName="same")["Credentials"]
        body = {
            "service": "autoscaling",
            "operation": "SetDesiredCapacity",
            "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 4},
            "motive": {"intent": "availability", "motivation": "incident"},
        }
        answer = _bearer(gate, below, "/v1/mutations", body)
        assert answer.status_code == 403, answer.text
        assert "no other motive" in answer.text


@pytest.mark.parametrize("actor", ["agent", "service", "ci"])
def test_nobody_becomes_a_person(gate: Gate, actor: str) -> None:
    code, message = _refused(lambda: _assume(gate, actor, "human-role"))
    assert code == "AccessDenied"
    assert "keeps the kind" in message


def test_a_person_who_became_an_agent_stays_one(gate: Gate) -> None:
    agent = _client(gate, "sts", _assume(gate, "human", "scaler")["Credentials"])
    code, _ = _refused(lambda: agent.assume_role(RoleArn=ARN + "human-role", RoleSessionName="back"))
    assert code == "AccessDenied"
    key = agent.assume_role(RoleArn=ARN + "plain", RoleSessionName="plain")["Credentials"]["AccessKeyId"]
    assert _key(gate, key).kind is ActorKind.AGENT


def _key(gate: Gate, key_id: str) -> Key:
    found = gate.run(gate.ring.find(key_id))
    assert found is not None
    return found


def test_a_role_gives_no_role_that_the_key_has_not(gate: Gate) -> None:
    key = _key(gate, _assume(gate, "ci", "shop")["Credentials"]["AccessKeyId"])
    assert (key.roles, key.actor, key.kind) == (("stack/shop",), "ci", ActorKind.PIPELINE)
    plain = _client(gate, "sts", _assume(gate, "ci", "plain")["Credentials"])
    code, message = _refused(lambda: plain.assume_role(RoleArn=ARN + "shop", RoleSessionName="again"))
    assert code == "AccessDenied"
    assert "`stack/shop`, which your key has not" in message


@pytest.mark.parametrize("role", ["shop", "of-nobody", "absent", "moved"])
def test_a_role_that_does_not_trust_answers_like_one_that_is_not_there(gate: Gate, role: str) -> None:
    code, message = _refused(lambda: _assume(gate, "agent", role))
    assert code == "AccessDenied"
    assert message.replace(role, "X") == _refused(lambda: _assume(gate, "agent", "missing"))[1].replace("missing", "X")
    turned = gate.records(stage=Stage.TURNED_AWAY)[-1]
    assert turned.actor == "agent"


def test_a_role_of_aws_keeps_its_arn(gate: Gate) -> None:
    sts = _sts(gate, "agent")
    assumed = sts.assume_role(RoleArn="arn:aws:iam::123456789012:role/teams/moved", RoleSessionName="there")
    assert assumed["AssumedRoleUser"]["Arn"] == "arn:aws:sts::123456789012:assumed-role/moved/there"
    assert _client(gate, "sts", assumed["Credentials"]).get_caller_identity()["Account"] == "123456789012"


@pytest.mark.parametrize(
    "more",
    [
        {"Policy": '{"Version":"2012-10-17","Statement":[]}'},
        {"PolicyArns": [{"arn": "arn:aws:iam::aws:policy/ReadOnlyAccess"}]},
        {"SerialNumber": "arn:aws:iam::123456789012:mfa/a", "TokenCode": "123456"},
        {"DurationSeconds": 7200},
        {"RoleSessionName": "a b"},
    ],
)
def test_what_a_key_would_not_keep_is_refused(gate: Gate, more: dict[str, Any]) -> None:
    given = {"RoleArn": ARN + "plain", "RoleSessionName": "run-1", **more}
    code, message = _refused(lambda: _sts(gate, "agent").assume_role(**given))
    assert code == "ValidationError"
    assert "No key was made" in message


def test_the_source_identity_is_the_actor(gate: Gate) -> None:
    assert _assume(gate, "agent", "plain", "same", SourceIdentity="agent")["SourceIdentity"] == "agent"
    code, _ = _refused(lambda: _assume(gate, "agent", "plain", "other", SourceIdentity="human"))
    assert code == "AccessDenied"


def test_a_session_token_and_a_federated_user(gate: Gate) -> None:
    plain = _sts(gate, "ci").get_session_token(DurationSeconds=900)["Credentials"]
    key = _key(gate, plain["AccessKeyId"])
    assert (key.actor, key.roles, key.assumed) == ("ci", ("stack/shop", "stack/net"), None)
    federated = _sts(gate, "ci").get_federation_token(Name="bob", Tags=_tags(intent="cost", motivation="budget"))
    assert federated["FederatedUser"]["Arn"] == "arn:aws:sts::123456789012:federated-user/bob"
    key = _key(gate, federated["Credentials"]["AccessKeyId"])
    assert (key.actor, key.roles) == ("ci", ())
    for credentials in (plain, federated["Credentials"]):
        again = _client(gate, "sts", credentials)
        assert _refused(again.get_session_token)[0] == "AccessDenied"
        assert _refused(lambda again=again: again.get_federation_token(Name="bob"))[0] == "AccessDenied"


def test_saml_and_iam_keys_stay_refused(gate: Gate) -> None:
    answer = httpx.post(
        gate.url + "/",
        data={
            "Action": "AssumeRoleWithSAML",
            "Version": "2011-06-15",
            "RoleArn": ARN + "plain",
            "PrincipalArn": "arn:aws:iam::123456789012:saml-provider/x",
            "SAMLAssertion": "PHNhbWw+",
        },
    )
    assert answer.status_code == 403
    assert "verifies no assertions of SAML" in answer.text
    for service, call in (
        ("iam", lambda client: client.create_access_key(UserName="somebody")),
        (
            "sts",
            lambda client: client.assume_root(
                TargetPrincipal="123456789012", TaskPolicyArn={"arn": "arn:aws:iam::aws:policy/x"}
            ),
        ),
    ):
        for actor in ("agent", "human"):
            client = gate.client(service, actor, motive=None)
            assert _refused(lambda call=call, client=client: call(client))[0] == "AccessDenied"


def test_an_assumed_key_decides_nothing(gate: Gate) -> None:
    """A held call of a person's agent is approved neither with the assumed key nor by the person behind it."""
    agent = _assume(gate, "lead", "scaler", Tags=_tags(intent="availability", motivation="incident"))["Credentials"]
    person = _assume(gate, "lead", "plain")["Credentials"]
    _, message = _refused(lambda: _client(gate, "autoscaling", agent).put_warm_pool(AutoScalingGroupName=ASG))
    held = _decided(gate)
    assert (held.actor, held.body.decision.verdict) == ("lead", "hold"), message
    approve = f"/v1/mutations/{held.mutation_id}/approve"
    for credentials, said in ((agent, "decides nothing"), (person, "decides nothing")):
        answer = _bearer(gate, credentials, approve, {})
        assert answer.status_code == 403
        assert said in answer.text
    own = gate.keys["lead"]
    answer = _bearer(gate, {"AccessKeyId": own.id, "SecretAccessKey": own.secret}, approve, {})
    assert answer.status_code == 403
    assert "your own" in answer.text
    answer = _bearer(gate, person, "/v1/stops", {"scope": "all", "reason": "x"})
    assert answer.status_code == 403, answer.text


def test_a_stop_of_an_actor_reaches_what_it_assumed(gate: Gate) -> None:
    tags = _tags(intent="availability", motivation="incident", evidence="A-1")
    credentials = _assume(gate, "rival", "scaler", Tags=tags)["Credentials"]
    lead = gate.keys["lead"]
    own = {"AccessKeyId": lead.id, "SecretAccessKey": lead.secret}
    answer = _bearer(gate, own, "/v1/stops", {"scope": "actor", "name": "rival", "reason": "runs wild"})
    assert answer.status_code == 200, answer.text
    code, message = _refused(lambda: _scale(gate, credentials, 5))
    assert code == "AccessDenied"
    assert "runs wild" in message


def test_keys_end_with_the_key_that_assumed_them(gate: Gate) -> None:
    standing = gate.run(gate.ring.issue(actor="brief", kind=ActorKind.AGENT))
    gate.keys["brief"] = standing
    first = _assume(gate, "brief", "plain", "first")["Credentials"]
    other = _assume(gate, "brief", "plain", "other")["Credentials"]
    second = _client(gate, "sts", first).assume_role(RoleArn=ARN + "scaler", RoleSessionName="second")["Credentials"]
    third = _client(gate, "sts", second).assume_role(RoleArn=ARN + "plain", RoleSessionName="third")["Credentials"]
    gate.run(gate.ring.revoke(first["AccessKeyId"]))
    time.sleep(1.1)  # a gateway may know a key for a second longer
    for ended in (first, second, third):
        assert _refused(_client(gate, "sts", ended).get_caller_identity)[0] == "InvalidClientTokenId"
    assert _client(gate, "sts", other).get_caller_identity()
    gate.run(gate.ring.revoke(standing.id))
    time.sleep(1.1)
    assert _refused(_client(gate, "sts", other).get_caller_identity)[0] == "InvalidClientTokenId"


def test_a_chained_key_ends_no_later_than_its_parent(gate: Gate) -> None:
    first = _assume(gate, "ci", "plain", DurationSeconds=900)["Credentials"]
    second = _client(gate, "sts", first).assume_role(RoleArn=ARN + "plain", RoleSessionName="xx", DurationSeconds=3600)
    assert second["Credentials"]["Expiration"] <= first["Expiration"]


def test_processes_that_ask_again_get_the_same_key(gate: Gate) -> None:
    one = _assume(gate, "agent", "plain", "botocore-session-1764000000")["Credentials"]
    two = _assume(gate, "agent", "plain", "botocore-session-1764000777")["Credentials"]
    assert one == two
    tagged = _assume(
        gate, "agent", "plain", "botocore-session-1764000000", Tags=_tags(intent="cost", motivation="budget")
    )["Credentials"]
    assert tagged["AccessKeyId"] != one["AccessKeyId"]
    assert _assume(gate, "rival", "plain", "botocore-session-1764000000")["Credentials"] != one


def test_a_presigned_url_gives_nobody_a_key(gate: Gate) -> None:
    url = _sts(gate, "agent").generate_presigned_url(
        "assume_role", Params={"RoleArn": ARN + "plain", "RoleSessionName": "seen"}, HttpMethod="GET"
    )
    answer = httpx.get(url)
    assert answer.status_code == 403
    assert "presigned URL gives nobody a key" in answer.text
    assert "<SecretAccessKey>" not in answer.text


def test_a_request_that_was_seen_gives_nobody_a_key(gate: Gate) -> None:
    sent: list[Any] = []
    sts = gate.new_client("sts", "agent", motive=None)
    sts.meta.events.register("before-send.sts.AssumeRole", lambda request, **_: sent.append(request))
    sts.assume_role(RoleArn=ARN + "plain", RoleSessionName="replayed")
    request = sent[0]
    answer = httpx.post(request.url, content=request.body, headers=dict(request.headers))
    assert "used before" in answer.text, answer.text


def test_what_is_no_token_of_sentinel_is_told_so(gate: Gate) -> None:
    for body in ({"Action": "GetCallerIdentity", "Version": "2011-06-15"}, {"Action": "AssumeRole"}):
        assert "missing an authentication token" in httpx.post(gate.url + "/", data=body).text


def test_the_ledger_proves_the_assumed_keys(gate: Gate) -> None:
    assert gate.run(gate.ledger.verify()) > 0


def test_a_key_of_a_role_that_is_gone_has_ended(gate: Gate) -> None:
    key = _key(gate, _assume(gate, "agent", "plain", "gone")["Credentials"]["AccessKeyId"])
    ring = replace_roles(gate, frozenset({"scaler"}))
    found = gate.run(ring.find(key.id))
    assert found is not None
    assert found.revoked
    assert replace(found, revoked=False) == key


def replace_roles(gate: Gate, roles: frozenset[str]) -> Any:
    return SqlKeyRing(gate.ledger, master=gate.ring._master, clock=SystemClock(), roles=roles)


def test_the_api_gives_the_same_keys(gate: Gate) -> None:
    lead, ci = (
        {"AccessKeyId": gate.keys[name].id, "SecretAccessKey": gate.keys[name].secret} for name in ("lead", "ci")
    )
    own = _bearer(gate, lead, "/v1/credentials", {}).json()
    assert _key(gate, own["access_key_id"]).roles == ()  # what decides is not handed on
    assert _bearer(gate, lead, "/v1/credentials", {}).json() == own
    assert _key(gate, _bearer(gate, ci, "/v1/credentials", {}).json()["access_key_id"]).roles == (
        "stack/shop",
        "stack/net",
    )
    motive = {"intent": "cost", "motivation": "budget"}
    shop = _bearer(gate, ci, "/v1/credentials", {"role": "shop", "name": "by-api", "motive": motive}).json()
    key = _key(gate, shop["access_key_id"])
    assert key.assumed is not None
    assert (key.assumed.role, key.assumed.name, key.motive is not None) == ("shop", "by-api", True)
    assert shop["session_token"] == f"sentinel/{key.id}"
    session = {"AccessKeyId": key.id, "SecretAccessKey": key.secret}
    assert _bearer(gate, session, "/v1/credentials", {}).status_code == 403
    assert _bearer(gate, session, "/v1/sessions", {"motive": motive}).status_code == 403
    assert _bearer(gate, session, "/v1/credentials", {"role": "plain"}).status_code == 200
    assert _bearer(gate, lead, "/v1/credentials", {"role": "shop"}).status_code == 403


def test_in_the_session_of_a_plan_every_key_is_the_plans_own(gate: Gate) -> None:
    """Terraform's `assume_role` in the code leads out of no plan."""
    gate.keys["applier"] = gate.run(gate.ring.issue(actor="applier", kind=ActorKind.PIPELINE))
    motive = {"intent": "consistency", "motivation": "routine"}
    session = opened(
        gate, planned("aws_sqs_queue.more", "create", values={"name": "more"}), actor="applier", motive=motive
    )
    sts = session.client("sts")
    assumed = sts.assume_role(RoleArn=ARN + "plain", RoleSessionName="terraform")
    credentials = assumed["Credentials"]
    assert credentials["AccessKeyId"] == session.key["access_key_id"]
    sqs = _client(gate, "sqs", credentials)
    assert "[plan.not_planned]" in _refused(lambda: sqs.create_queue(QueueName="another"))[1]
    for refused in (sts.get_session_token, lambda: sts.get_federation_token(Name="bob")):
        assert _refused(refused)[0] == "AccessDenied"
    assert _bearer(gate, credentials, "/v1/credentials", {"role": "plain"}).status_code == 403
    assert session.end().status_code == 200
