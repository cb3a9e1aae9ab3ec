"""`sentinel doctor`: what the settings, this host and a simulated account show, and the exit code."""

import json
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError, NoCredentialsError

from gateway.cli.doctor import OPEN
from gateway.cli.doctor_account import MOST_NAMED, Account
from gateway.cli.doctor_settings import settings_openings
from gateway.core.settings import ReconcileSettings, ServerSettings, Settings, StackSettings
from tests.kit.moto import MotoUpstream

Document = Callable[..., tuple[int, Any]]
GATEWAY = "arn:aws:iam::123456789012:role/sentinel"
WRITES = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": ["s3:Get*", "s3:PutObject"], "Resource": "*"}],
}
READS = {
    "Version": "2012-10-17",
    "Statement": {"Effect": "Allow", "Action": ["s3:Get*", "ec2:DescribeInstances"], "Resource": "*"},
}


def codes(settings: Settings) -> set[str]:
    found = list(settings_openings(settings))
    assert all(each.what.endswith(".") and each.close for each in found)
    return {each.code for each in found}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A git checkout with a stack."""
    subprocess.run(["git", "init", "-q", tmp_path / "infra"], check=True)
    return tmp_path / "infra"


def test_settings_as_the_document_says_have_nothing_open(checkout: Path, tmp_path: Path) -> None:
    settings = Settings(
        data=tmp_path,
        ledger="postgresql+psycopg://sentinel@ledger.abc123.eu-central-1.rds.amazonaws.com/sentinel",
        ledger_databases=("ledger",),
        server=ServerSettings(host="0.0.0.0", public_url="https://sentinel.example"),  # noqa: S104  what a container listens on
        reconcile=ReconcileSettings(gateway_identity=GATEWAY),
        stacks=(StackSettings(name="prod", path=checkout, protected_branch="origin/main"),),
    )
    assert codes(settings) == set()


def test_each_mistake_of_the_settings_is_named(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    state = checkout / "terraform.tfstate"
    state.write_text("{}")
    state.chmod(0o644)
    settings = Settings(
        data=tmp_path,
        server=ServerSettings(host="10.0.0.1"),
        stacks=(
            StackSettings(name="a", path=checkout, mode="observe"),
            StackSettings(name="b", path=tmp_path / "plain"),
        ),
    )
    assert codes(settings) == {
        "checkpoint_beside_ledger",
        "master_key_beside_ledger",
        "own_identity_unknown",
        "plain_http",
        "stack_observes",
        "stack_without_git",
        "no_protected_branch",
        "state_readable",
    }
    state.chmod(0o600)
    assert "state_readable" not in codes(settings)
    assert "no_stack" in codes(Settings(data=tmp_path))


def test_a_file_that_others_read_is_named(tmp_path: Path) -> None:
    key = tmp_path / "master.key"
    key.write_text("m" * 40)
    key.chmod(0o640)
    assert "readable_by_others" in codes(Settings(data=tmp_path))


@pytest.fixture
async def aws() -> AsyncIterator[MotoUpstream]:
    upstream = MotoUpstream()
    runner = await upstream.start()
    # Its state is that of this process.
    async with httpx.AsyncClient() as client:
        (await client.post(f"{upstream.url}/moto-api/reset")).raise_for_status()
    yield upstream
    await runner.cleanup()


def _account(aws: MotoUpstream, **members: Any) -> Account:
    return Account(client=aws.client, gateway_identity=GATEWAY, **members)


@pytest.fixture
def filled(aws: MotoUpstream) -> MotoUpstream:
    """An account with a gateway, a reader, a writer, a bounded writer, a group that writes, a key, and two endpoints."""
    iam, ec2 = aws.client("iam"), aws.client("ec2")
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    bound = iam.create_policy(PolicyName="bound", PolicyDocument=json.dumps(READS))["Policy"]["Arn"]
    managed = iam.create_policy(PolicyName="managed", PolicyDocument=json.dumps(WRITES))["Policy"]["Arn"]
    for name, policy, more in (
        ("sentinel", WRITES, {}),
        ("reader", READS, {}),
        ("writer", WRITES, {}),
        ("bounded", WRITES, {"PermissionsBoundary": bound}),
    ):
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust, **more)
        iam.put_role_policy(RoleName=name, PolicyName="own", PolicyDocument=json.dumps(policy))
    iam.create_role(RoleName="attached", AssumeRolePolicyDocument=trust)
    iam.attach_role_policy(RoleName="attached", PolicyArn=managed)
    iam.create_group(GroupName="admins")
    iam.put_group_policy(GroupName="admins", PolicyName="own", PolicyDocument=json.dumps(WRITES))
    iam.create_user(UserName="ana")
    iam.add_user_to_group(GroupName="admins", UserName="ana")
    iam.create_access_key(UserName="ana")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    closed: dict[str, Any] = {"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*", "Condition": {"ArnEquals": {"aws:PrincipalArn": GATEWAY}}}]}  # fmt: skip
    anybody: dict[str, Any] = {
        "Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "*", "Resource": "*"}]
    }
    for passing in (closed, anybody):
        text = json.dumps(passing)
        ec2.create_vpc_endpoint(VpcId=vpc, ServiceName="com.amazonaws.us-east-1.s3", PolicyDocument=text)
    return aws


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_an_account_shows_who_can_write_with_which_keys_and_through_what(filled: MotoUpstream) -> None:
    account = _account(filled)
    found = {each.code: each for each in account.openings()}
    writers = {arn.rpartition("/")[2] for arn in found["principals_can_write"].where}
    assert writers >= {"writer", "attached", "ana"}
    assert not writers & {"sentinel", "reader", "bounded"}
    (key,) = found["access_keys"].where
    assert key.startswith("ana (")
    assert "never used" in key
    # Not the whole id of a key.
    assert "…" in key
    (endpoint,) = found["open_endpoints"].where
    assert "com.amazonaws.us-east-1.s3" in endpoint
    assert "no_trail" in found


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_the_command_says_all_and_ends_with_2(
    filled: MotoUpstream, elsewhere: Path, document: Document, sentinel: Callable[..., Any]
) -> None:
    (elsewhere / "sentinel.toml").write_text(
        f'[upstream]\nsimulated = "{filled.url}"\n[reconcile]\ngateway_identity = "{GATEWAY}"\n[[stacks]]\nname = "a"\npath = "."\n'
    )
    code, said = document("doctor")
    assert code == OPEN
    assert {"checkpoint_beside_ledger", "stack_without_git", "principals_can_write", "access_keys"} <= {
        each["code"] for each in said["open"]
    }
    # Nobody may look into the organization here, and that is said.
    assert "the organization's policies" in {each["what"] for each in said["unread"]}
    shown = sentinel("doctor")
    assert shown.exit_code == OPEN
    assert "To close it: Attach deploy/lockdown/scp" in shown.stdout.replace("\n", " ")
    assert "Not looked at: the organization's policies." in shown.stdout.replace("\n", " ")
    without = {each["code"] for each in document("doctor", "--no-account")[1]["open"]}
    assert "principals_can_write" not in without


def test_where_nothing_is_open_it_ends_with_0(
    elsewhere: Path, document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", elsewhere / "infra"], check=True)
    monkeypatch.setenv("SENTINEL_MASTER_KEY", "m" * 40)
    (elsewhere / "sentinel.toml").write_text(
        'ledger = "postgresql+psycopg://s@127.0.0.1/s"\n[upstream]\nsimulated = "http://127.0.0.1:9"\n'
        '[[stacks]]\nname = "a"\npath = "infra"\nprotected_branch = "HEAD"\n'
    )
    assert document("doctor", "--no-account") == (0, {"open": [], "unread": []})


class _Scripted:
    """Clients whose every call fails, or answers what is scripted."""

    def __init__(self, answers: dict[str, Any], error: Exception) -> None:
        self._answers, self._error = answers, error

    def __call__(self, service: str) -> "_Scripted":
        return self

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def answer(*_: Any, **__: Any) -> Any:
            if name in self._answers:
                return self._answers[name]
            raise self._error

        return answer


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ClientError({"Error": {"Code": "AccessDenied"}}, "ListUsers"), "AWS answered AccessDenied to ListUsers."),
        (NoCredentialsError(), "AWS could not be asked (NoCredentialsError)."),
    ],
)
def test_what_may_not_be_read_is_listed_and_not_taken_for_closed(error: Exception, why: str) -> None:
    account = Account(client=_Scripted({}, error), gateway_identity=GATEWAY)
    assert list(account.openings()) == []
    assert {each.what for each in account.unread} == {
        "the organization's policies",
        "principals and their policies",
        "access keys",
        "VPC endpoints",
        "trails",
    }
    assert {each.why for each in account.unread} == {why}


def _with_scp(statement: dict[str, Any], identity: str = GATEWAY) -> set[str]:
    answers = {
        "get_caller_identity": {"Account": "123456789012"},
        "list_policies_for_target": {"Policies": [{"Id": "p-1"}]},
        "describe_policy": {"Policy": {"Content": json.dumps({"Statement": statement})}},
    }
    account = Account(client=_Scripted(answers, NoCredentialsError()), gateway_identity=identity)
    list(account.openings())
    return {each.what for each in account.unread}


def test_a_service_control_policy_closes_the_account_only_for_all_but_the_gateway() -> None:
    """Where it does, principals are not looked at any more."""
    closing = {
        "Effect": "Deny",
        "NotAction": ["s3:Get*"],
        "Resource": "*",
        "Condition": {"ArnNotLike": {"aws:PrincipalArn": [GATEWAY]}},
    }
    looked = "principals and their policies"
    assert looked not in _with_scp(closing)
    assert looked in _with_scp(closing, identity="")
    assert looked in _with_scp(closing, identity="arn:aws:iam::123456789012:role/other")
    assert looked in _with_scp({**closing, "Effect": "Allow"})
    assert looked in _with_scp({**closing, "Condition": {"ArnNotLike": {"aws:SourceArn": [GATEWAY]}}})


def test_many_findings_of_one_kind_are_counted() -> None:
    users = [{"UserName": f"u{number:03}"} for number in range(MOST_NAMED + 7)]

    class Pages:
        def paginate(self) -> list[Any]:
            return [{"Users": users}]

    answers = {
        "get_paginator": Pages(),
        "list_access_keys": {"AccessKeyMetadata": [{"AccessKeyId": "AKIA0000000000000000", "Status": "Active"}]},
        "get_access_key_last_used": {"AccessKeyLastUsed": {}},
        "get_account_summary": {"SummaryMap": {"AccountAccessKeysPresent": 1}},
    }
    account = Account(client=_Scripted(answers, NoCredentialsError()), gateway_identity=GATEWAY)
    found = {each.code: each for each in account._keys()}
    assert len(found["access_keys"].where) == MOST_NAMED + 1
    assert found["access_keys"].where[-1] == "and 7 more"
    assert "root_keys" in found
