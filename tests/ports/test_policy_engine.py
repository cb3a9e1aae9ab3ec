"""One suite for every policy engine: the same inputs, the same answers, on embedded Wasm and on a real OPA server."""

import random
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, Relation, StandingClaim
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import Json, canonical
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass, Effect, EffectAction, Mutation
from gateway.core.model.verdict import Mode
from gateway.core.ports import PolicyEngine
from gateway.line.checks.approvers import ENTRYPOINT as APPROVERS
from gateway.line.checks.arbitration import ENTRYPOINT as ARBITRATION
from gateway.line.checks.contest import ENTRYPOINT as EXPLANATION
from gateway.line.checks.policy import ENTRYPOINT as GUARDRAILS
from gateway.line.checks.policy_input import policy_input
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.embedded import Embedded
from gateway.policy.opa_server import OpaServer
from gateway.policy.sources import shipped
from tests.kit.opa import opa_server

INPUTS = 700
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
IDS = {
    *(f"SEN-A00{number}" for number in (*range(1, 8), 9)),
    *(f"SEN-I{number:03}" for number in range(1, 13)),
    *(f"SEN-X00{number}" for number in range(1, 7)),
    *(f"SEN-D00{number}" for number in range(1, 7)),
    *(f"SEN-S00{number}" for number in range(1, 7)),
    *(f"SEN-T00{number}" for number in range(1, 6)),
    *("SEN-C001", "SEN-E001", "SEN-E002", "SEN-E003", "SEN-M001", "SEN-N001", "SEN-N002", "SEN-N003"),
}
OPEN: dict[str, Json] = {
    "from_port": 22,
    "to_port": 22,
    "protocol": "tcp",
    "cidr_blocks": ["0.0.0.0/0"],
    "ipv6_cidr_blocks": [],
}
STARS = '{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}'
WORLD = '{"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": "*"}]}'
STRANGER = (
    '{"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": ["999999999999", "arn:x"]}}}'
)
FEDERATED = '{"Statement": {"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity", "Principal": {"Federated": "arn:aws:iam::1:oidc-provider/h"}, "Condition": {"StringLike": {"h:sub": "*"}}}}'
EXPIRES: dict[str, Json] = {"id": "x", "status": "Enabled", "expiration": [{"days": 1}], "filter": [{"prefix": ""}]}
ADMIN = "arn:aws:iam::aws:policy/AdministratorAccess"

WRITES: tuple[tuple[str, str, EffectAction, tuple[Json, ...]], ...] = (
    ("aws_autoscaling_group", "desired_capacity", EffectAction.SET, (3, 4, 6, 2.5, -0.0, 1e21)),
    ("aws_autoscaling_group", "tags.owner", EffectAction.SET, ("a", 'é\n"\\', "\u2028", "")),
    ("aws_autoscaling_group", "*", EffectAction.DELETE, (None,)),
    ("aws_dynamodb_table", "*", EffectAction.DELETE, (None,)),
    ("aws_dynamodb_table", "deletion_protection_enabled", EffectAction.SET, (True, False)),
    ("aws_security_group", "ingress", EffectAction.SET, ([OPEN], [], [{**OPEN, "from_port": None}], [OPEN, {**OPEN, "to_port": 23}], "odd", [{"cidr_blocks": [1]}])),
    ("aws_vpc_security_group_ingress_rule", "*", EffectAction.CREATE, ({"cidr_ipv4": "0.0.0.0/0", "ip_protocol": "-1"}, {"cidr_ipv6": "::/0", "from_port": 443, "to_port": 443, "ip_protocol": "tcp"})),
    ("aws_iam_role_policy", "policy", EffectAction.SET, (STARS, "{", 7, STARS.replace('"*"', '"sqs:*"', 1))),
    ("aws_iam_role", "assume_role_policy", EffectAction.SET, (WORLD, "[]")),
    ("aws_iam_role_policy_attachment", "policy_arn", EffectAction.CREATE, (ADMIN, "arn:aws:iam::aws:policy/ReadOnlyAccess")),
    ("aws_lambda_function", "*", EffectAction.INVOKE, (None,)),
    ("aws_autoscaling_group", "desired_capacity", EffectAction.INVOKE, (None,)),
    ("aws_sqs_queue", "policy", EffectAction.SET, (WORLD, "{", WORLD.replace("}]", ', "Condition": {"StringEquals": {"aws:SourceAccount": "1"}}}]'), "")),
    ("aws_s3_bucket_public_access_block", "block_public_acls", EffectAction.SET, (True, False)),
    ("aws_s3_bucket_public_access_block", "*", EffectAction.DELETE, (None,)),
    ("aws_iam_role", "permissions_boundary", EffectAction.SET, (None, "arn:aws:iam::123456789012:policy/p")),
    ("aws_iam_role", "assume_role_policy", EffectAction.CREATE, (STRANGER, FEDERATED, FEDERATED.replace("sub", "aud"))),
    ("aws_lambda_function", "role", EffectAction.CREATE, ("arn:aws:iam::123456789012:role/r",)),
    ("aws_iam_user_policy_attachment", "policy_arn", EffectAction.CREATE, ("arn:aws:iam::123456789012:policy/p", 7)),
    ("aws_s3_bucket_policy", "policy", EffectAction.SET, (STRANGER, STARS)),
    ("aws_s3_bucket_acl", "access_control_policy.grant", EffectAction.SET, ([{"grantee": [{"uri": "http://acs.amazonaws.com/groups/global/AllUsers"}]}], [{"grantee": [{"id": "é"}]}])),
    ("aws_db_instance", "backup_retention_period", EffectAction.SET, (0, 1, 6.5, 30, "1", None)),
    ("aws_s3_bucket_lifecycle_configuration", "rule", EffectAction.SET, ([EXPIRES], [{**EXPIRES, "prefix": "logs/"}], [{"prefix": 7}], EXPIRES, "x", [[]])),
    ("aws_flow_log", "*", EffectAction.DELETE, (None,)),
    ("aws_lambda_function", "source_code_hash", EffectAction.SET, ("x",)),
    ("aws_security_group", "ingress", EffectAction.SET, ([{"prefix_list_ids": ["pl-1"]}], [{"prefix_list_ids": "pl-1"}], [{**OPEN, "cidr_blocks": ["8.0.0.0/8", "9.0.0.0/8"]}])),
    ("aws_lambda_function", "reserved_concurrent_executions", EffectAction.SET, (0, 5)),
    ("aws_lambda_function", "timeout", EffectAction.SET, (3, 900)),
    ("aws_sqs_queue", "kms_master_key_id", EffectAction.SET, tuple(f"arn:aws:kms:us-east-1:{owner}:key/k" for owner in ("999999999999", "888888888888", "123456789012"))),
    ("aws_lambda_function", "layers", EffectAction.SET, (["arn:aws:lambda:us-east-1:999999999999:layer:l:1"], ["arn:aws:lambda:us-east-1:888888888888:layer:l:1"], [])),
)  # fmt: skip
CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("ec2", "DoSomething", {}),
    ("iam", "SetDefaultPolicyVersion", {}),
    ("sqs", "PurgeQueue", {}),
    ("rds", "ModifyDBInstance", {"ApplyImmediately": True}),
    ("x", "Y", {"Z": "arn:aws:sqs:us-east-1:999999999999:q"}),
    ("sqs", "ReceiveMessage", {"VisibilityTimeout": 43_200}),
    ("cloudwatch", "SetAlarmState", {}),
    ("cloudtrail", "StopLogging", {}),
    ("dynamodb", "DeleteItem", {}),
    ("s3", "PutObject", {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": NOW}),
    ("s3", "RestoreObject", {"RestoreRequest": {"OutputLocation": {"S3": {}}}}),
    ("s3", "CopyObject", {"Bucket": "a", "CopySource": "b/c"}),
    ("elbv2", "RegisterTargets", {"Targets": [{"Id": "203.0.113.9"}, {"Id": "arn:aws:lambda:x"}]}),
)


@pytest.fixture
async def embedded() -> AsyncIterator[Embedded]:
    engine = Embedded(read_bundle(shipped() / SHIPPED), deadline_ms=1000, memory_mb=64)
    yield engine
    await engine.close()


@pytest.fixture
def opa_url() -> Iterator[str]:
    """A real OPA server with the policies' sources, on loopback."""
    with opa_server(shipped()) as url:
        yield url


def _motive(dice: random.Random) -> Motive | None:
    if dice.random() < 0.2:
        return None
    return Motive(
        intent=dice.choice(list(Intent)),
        motivation=dice.choice(list(Motivation)),
        text=dice.choice(["", 'quote " and \\ and é', "x" * 900]),
        evidence=dice.choice([(), ("ALERT-1",), ("CVE-2026-12345", "T-1"), ("",), ("cve-2026-1",)]),
        wanted_for=dice.choice([None, timedelta(seconds=90), timedelta(days=400), timedelta(seconds=0.2)]),
    )  # fmt: skip


def _subject(dice: random.Random) -> Subject:
    kind, attribute, action, values = dice.choice(WRITES)
    value = dice.choice(values)
    effect = Effect(
        address=f"{kind}.x", attribute=attribute, action=action, value=value, resource_type=kind, identity={"name": "x"}
    )
    contract = Contract(managed_by_agent=dice.random() < 0.5, critical=dice.random() < 0.3, owner="team")
    before, declared = dice.choice([None, value, *values]), dice.choice([None, value])
    return Subject(
        effect=effect, before=before, declared=declared, attributes_before={}, attributes_after={}, contract=contract
    )


def _claim(dice: random.Random, number: int, subjects: tuple[Subject, ...]) -> StandingClaim:
    near = dice.choice(subjects).effect if subjects and dice.random() < 0.8 else None
    claim = Claim(
        id=f"clm_{number}",
        mutation_id="mut_0",
        address=near.address if near else "aws_sqs_queue.other",
        attribute=dice.choice([near.attribute, "*", "tags", "tags.owner.x", "max_size", "memory_size"])
        if near
        else "name",
        value={"deep": [1, {"a": None}]},
        actor=dice.choice(["me", "you", "them"]),
        kind=dice.choice(list(ActorKind)),
        motive=_motive(dice),
        since=NOW - timedelta(hours=1),
        until=dice.choice([None, NOW + timedelta(hours=1, microseconds=1)]),
        unsettled=dice.random() < 0.1,
    )
    return StandingClaim(claim=claim, relation=Relation.SAME if near else Relation.DEPENDANT)


def random_document(seed: int) -> Json:
    """A policy input that the pipeline could have made."""
    dice = random.Random(seed)  # noqa: S311  inputs of a test
    subjects = tuple(_subject(dice) for _ in range(dice.choice([0, 1, 1, 1, 2, 4])))
    service, operation, parameters = dice.choice(CALLS)
    caller = Caller(actor="me", kind=dice.choice(list(ActorKind)), key_id="SNTL", roles=("approver",))
    mutation = Mutation(
        id="mut_1",
        caller=caller,
        call=Call(
            service=service, operation=operation, parameters=parameters, account=dice.choice(["", "123456789012"])
        ),
        call_class=dice.choice([CallClass.MUTATION, CallClass.EXECUTE]),
        motive=_motive(dice),
        effects=tuple(subject.effect for subject in subjects),
    )
    flips = {f"{each.effect.address}.{each.effect.attribute}": dice.randrange(8) for each in subjects}
    claims = tuple(_claim(dice, number, subjects) for number in range(dice.choice([0, 1, 2, 8])))
    return policy_input(
        mutation,
        Facts(
            now=NOW,
            stack="s",
            mode=Mode.ENFORCE,
            subjects=subjects,
            claims=claims,
            flips=flips,
            held_before=frozenset(name for name in flips if dice.random() < 0.3),
            open_claims=dice.choice([0, 3, 49, 50, 10_001]),
        ),
    )


def _findings(answer: Json) -> list[dict[str, Any]]:
    assert isinstance(answer, dict)
    findings: list[dict[str, Any]] = answer["findings"]
    return findings


@pytest.mark.opa
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_embedded_and_server_give_the_same_answers(embedded: Embedded, opa_url: str) -> None:
    server = OpaServer(opa_url, deadline_ms=5000, bundle=embedded.bundle)
    await server.open()
    assert server.flip_window == embedded.flip_window
    seen: set[str] = set()
    verdicts: set[str] = set()
    superseding = quiet = 0
    try:
        for seed in range(INPUTS):
            given = random_document(seed)
            for entrypoint in (GUARDRAILS, ARBITRATION):
                ours, theirs = await embedded.ask(entrypoint, given), await server.ask(entrypoint, given)
                assert canonical(ours) == canonical(theirs), f"seed {seed}, {entrypoint}"
                seen |= {finding["id"] for finding in _findings(ours)}
                verdicts |= {finding["verdict"] for finding in _findings(ours)}
                quiet += not _findings(ours)
                superseding += bool(isinstance(ours, dict) and ours.get("supersedes"))
    finally:
        await server.close()
    assert seen == IDS
    assert verdicts == {"deny", "hold"}
    assert quiet > 50
    assert superseding > 20


@pytest.mark.opa
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_both_explain_contests_and_name_approvers_alike(embedded: Embedded, opa_url: str) -> None:
    server = OpaServer(opa_url, deadline_ms=5000, bundle=embedded.bundle)
    await server.open()
    contested = two = 0
    try:
        for seed in range(INPUTS // 4):
            document: Any = random_document(seed)
            given = {**document, "held": []}
            explained: Any = await embedded.ask(EXPLANATION, given)
            assert canonical(explained) == canonical(await server.ask(EXPLANATION, given)), f"seed {seed}"
            assert _scores_add_up(explained)
            contested += bool(explained["rivals"])
            named: Any = await embedded.ask(APPROVERS, given)
            assert canonical(named) == canonical(await server.ask(APPROVERS, given)), f"seed {seed}"
            two += named["people"] == 2
    finally:
        await server.close()
    assert contested > 10
    assert two > 10


def _scores_add_up(explained: Any) -> bool:
    sides = [explained["incoming"], *explained["rivals"].values()]
    return all(side["score"] == sum(side["terms"].values()) for side in sides)


@pytest.mark.parametrize("seed", [1, 7, 42])
async def test_the_answer_depends_on_the_document_alone(embedded: Embedded, seed: int) -> None:
    """No evaluation depends on an earlier one."""
    first = [
        await embedded.ask(ARBITRATION, random_document(seed)),
        await embedded.ask(GUARDRAILS, random_document(seed)),
    ]
    for other in range(50):
        await embedded.ask(GUARDRAILS, random_document(other))
        await embedded.ask(ARBITRATION, random_document(other))
    again = [
        await embedded.ask(ARBITRATION, random_document(seed)),
        await embedded.ask(GUARDRAILS, random_document(seed)),
    ]
    assert first == again


async def _undefined(engine: PolicyEngine) -> None:
    for entrypoint in ("sentinel/nothing/result", "sentinel/guardrails/nothing", "", "../v1/policies"):
        with pytest.raises(PolicyUnavailable):
            await engine.ask(entrypoint, {})
    with pytest.raises(PolicyUnavailable):
        await engine.ask(GUARDRAILS, float("nan"))


async def test_embedded_refuses_an_undefined_rule(embedded: Embedded) -> None:
    await _undefined(embedded)


@pytest.mark.opa
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_server_refuses_an_undefined_rule(opa_url: str) -> None:
    server = OpaServer(opa_url, deadline_ms=5000, bundle=read_bundle(shipped() / SHIPPED))
    await server.open()
    try:
        await _undefined(server)
    finally:
        await server.close()
