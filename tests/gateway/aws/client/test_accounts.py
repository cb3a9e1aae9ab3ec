"""Calls are signed for the account that they were judged for, and with no more rights than a session of the call has."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.aws.client.accounts import Accounts, AssumedAccount, session_tags
from gateway.aws.models.session_actions import shipped
from gateway.core.errors import NotSendable
from gateway.core.model.caller import source_identity
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, Failed, InDoubt, Reply, Sent
from gateway.core.ports import SentFor
from gateway.core.service_models import ServiceModels

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OTHER = AssumedAccount(role="arn:aws:iam::222222222222:role/sentinel", external_id="x-1")
OWN = AssumedAccount(role="arn:aws:iam::111111111111:role/changes")
MOTIVE = Motive(intent=Intent.COST, motivation=Motivation.BUDGET, evidence=("TICKET-7", "A,B"))
REASON = SentFor(actor="team/ana", motive=MOTIVE, approvers=("bob", "eve"))


def _reply(key: str, ends: datetime) -> Reply:
    body = (
        "<AssumeRoleResponse><AssumeRoleResult><Credentials>"
        f"<AccessKeyId>{key}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
        f"<Expiration>{ends:%Y-%m-%dT%H:%M:%SZ}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"
    )
    return Reply(status=200, headers=(), body=body.encode())


@dataclass
class Sts:
    """What is asked of AWS's token service, and what it says."""

    now: datetime = NOON
    asked: list[Call] = field(default_factory=list)
    says: Sent | None = None

    async def prepare(self, call: Call, _name: str) -> Call:
        """The call itself."""
        return call

    async def send(self, prepared: Call) -> Sent:
        """A session, or what is set."""
        self.asked.append(prepared)
        given: Any = prepared.parameters
        lasts = timedelta(seconds=given["DurationSeconds"])
        return self.says or Applied(request_id="r", reply=_reply(f"ASIA{len(self.asked)}", self.now + lasts))


@dataclass
class Hands:
    """A clock that is moved."""

    at: datetime = NOON

    def now(self) -> datetime:
        """The time."""
        return self.at


def _accounts(sts: Sts, clock: Hands | None = None, **more: Any) -> Accounts:
    aws: Any = sts
    given: dict[str, Any] = {"account": "111111111111", "roles": {"222222222222": OTHER}, **more}
    return Accounts(
        aws=aws, models=ServiceModels(), actions=shipped, clock=clock or Hands(), region="us-east-1", **given
    )


def _change(account: str = "") -> Call:
    return Call(
        service="sqs", operation="SetQueueAttributes", parameters={"QueueUrl": "q"}, account=account, region="us-east-1"
    )


async def test_each_account_has_its_own_credentials() -> None:
    sts, clock = Sts(), Hands()
    accounts = _accounts(sts, clock)
    for own in ("", "111111111111"):
        assert await accounts.of(own) is None
    with pytest.raises(NotSendable, match="no credentials of the account 333333333333"):
        await accounts.of("333333333333")
    first = await accounts.of("222222222222")
    assert first is not None
    assert (await accounts.of("222222222222"), first.access_key_id, first.token) == (first, "ASIA1", "t")
    asked = sts.asked[0].parameters
    assert (asked["RoleArn"], asked["ExternalId"], "Policy" in asked) == (OTHER.role, "x-1", False)
    clock.at += timedelta(minutes=51)
    renewed = await accounts.of("222222222222")
    assert renewed is not None
    assert renewed.access_key_id == "ASIA2"


async def test_a_mutation_has_a_session_of_its_own() -> None:
    sts = Sts()
    accounts = _accounts(sts, own=OWN, per_mutation=True)
    credentials, scope = await accounts.of_mutation(_change(), "mut_1", REASON)
    again, _ = await accounts.of_mutation(_change("222222222222"), "mut_2", REASON)
    assert credentials is not None
    assert again is not None
    assert credentials.access_key_id != again.access_key_id
    parameters: list[Any] = [each.parameters for each in sts.asked]
    own, other = parameters
    assert (own["RoleArn"], own["RoleSessionName"], own["DurationSeconds"]) == (OWN.role, "mut_1", 900)
    assert (other["RoleArn"], other["ExternalId"]) == (OTHER.role, "x-1")
    assert own["SourceIdentity"] == "team-ana"
    assert json.loads(own["Policy"])["Statement"][0]["Action"] == "sqs:SetQueueAttributes"
    assert {tag["Key"]: tag["Value"] for tag in own["Tags"]} == {
        "sentinel:mutation": "mut_1",
        "sentinel:actor": "team/ana",
        "sentinel:intent": "cost",
        "sentinel:motivation": "budget",
        "sentinel:evidence": "TICKET-7 A-B",
        "sentinel:approver": "bob eve",
    }
    assert "any resource" in scope


async def test_without_the_setting_a_mutation_uses_the_role_of_the_account() -> None:
    sts = Sts()
    accounts = _accounts(sts, own=OWN)
    credentials, scope = await accounts.of_mutation(_change(), "mut_1", REASON)
    assert credentials is not None
    assert scope == ""
    assert "Policy" not in sts.asked[0].parameters
    assert await _accounts(Sts()).of_mutation(_change(), "mut_1", REASON) == (None, "")


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (Failed(code="AccessDenied", message="not authorized to perform: sts:AssumeRole"), "not authorized"),
        (Failed(code="PackedPolicyTooLarge", message="exceeds 100%"), "PackedPolicyTooLarge"),
        (InDoubt(reason="cut"), "its answer was lost"),
        (
            Applied(request_id="r", reply=Reply(status=200, headers=(), body=b"<AssumeRoleResponse/>")),
            "cannot be read",
        ),
    ],
)
async def test_a_session_that_aws_refuses_is_no_reason_for_wider_rights(says: Sent, told: str) -> None:
    accounts = _accounts(Sts(says=says), own=OWN, per_mutation=True)
    with pytest.raises(NotSendable, match="so nothing was sent") as caught:
        await accounts.of_mutation(_change(), "mut_1", REASON)
    assert told in str(caught.value)
    with pytest.raises(NotSendable, match="so nothing was sent"):
        await accounts.of("222222222222")


def test_names_and_tags_are_what_aws_takes() -> None:
    assert source_identity("a") == "a_"
    assert source_identity("ä/b c" + "x" * 100) == "--b-c" + "x" * 59
    tags = session_tags("mut_1", SentFor(actor="a", motive=None))
    assert [tag["Key"] for tag in tags] == ["sentinel:mutation", "sentinel:actor"]
    long = Motive(intent=Intent.COST, motivation=Motivation.BUDGET, evidence=("x" * 200, "y" * 200))
    assert max(len(tag["Value"]) for tag in session_tags("mut_1", SentFor(actor="a", motive=long))) == 256
