"""Each name by which AWS takes what Sentinel decides by is found in the states, and a name that none records counts as one of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from gateway.core.model.mutation import Call
from gateway.line.own_handles import OwnHandles, databases_of, handles_of

ROLE = "arn:aws:iam::123456789012:role/sentinel"
USER = "arn:aws:iam::123456789012:user/sentinel"
KEY = "arn:aws:kms:us-east-1:123456789012:key/"


def policy(name: str) -> str:
    return f"arn:aws:iam::123456789012:policy/{name}"


RECORDED: Mapping[str, list[Mapping[str, Any]]] = {
    "aws_iam_role": [
        {"name": "sentinel", "managed_policy_arns": [policy("own")], "permissions_boundary": policy("boundary")},
        {"name": "app", "managed_policy_arns": [policy("app")]},
    ],
    "aws_iam_role_policy_attachment": [
        {"role": "sentinel", "policy_arn": policy("attached")},
        {"role": "app", "policy_arn": policy("app")},
    ],
    "aws_iam_policy_attachment": [{"roles": ["app", "sentinel"], "groups": ["doors"], "policy_arn": policy("shared")}],
    "aws_iam_policy": [{"arn": policy(name)} for name in ("own", "app", "shared")],
    "aws_iam_user_group_membership": [{"user": "sentinel", "groups": ["doors"]}],
    "aws_iam_group_membership": [{"users": ["sentinel"], "group": "gates"}, {"users": ["app"], "group": "apps"}],
    "aws_iam_group_policy_attachment": [{"group": "gates", "policy_arn": policy("gates")}],
    "aws_iam_group": [{"name": "apps"}],
    "aws_iam_instance_profile": [{"role": "sentinel", "name": "door"}, {"role": "app", "name": "app"}],
    "aws_kms_alias": [
        {"name": "alias/states", "target_key_id": "1-2", "target_key_arn": KEY + "1-2"},
        {"name": "alias/same", "target_key_id": "1-2"},
        {"name": "alias/other", "target_key_id": "3-4"},
    ],
    "aws_kms_key": [{"key_id": "1-2"}, {"key_id": "3-4"}],
    "aws_s3_bucket_server_side_encryption_configuration": [
        {"bucket": "audit", "rule": [{"apply_server_side_encryption_by_default": [{"kms_master_key_id": KEY + "3-4"}]}]},
        {"bucket": "mine", "rule": [{"apply_server_side_encryption_by_default": [{"kms_master_key_id": "9-9"}]}]},
    ],
    "aws_db_instance": [
        {"identifier": "ledger", "resource_id": "db-LEDGER"},
        {"identifier": "shop", "resource_id": "db-SHOP"},
    ],
    "aws_rds_cluster": [{"cluster_identifier": "ledger", "cluster_resource_id": "cluster-LEDGER"}],
    "aws_rds_cluster_instance": [
        {"cluster_identifier": "ledger", "dbi_resource_id": "db-ONE", "identifier": "ledger-one"}
    ],
}  # fmt: skip


@dataclass
class States:
    recorded: Mapping[str, list[Mapping[str, Any]]]

    def recorded_of(self, resource_type: str) -> Iterator[Mapping[str, Any]]:
        return iter(self.recorded.get(resource_type, []))


def found(identity: str = "", **asked: list[str]) -> OwnHandles:
    given = {"databases": [], "keys": [], "buckets": [], **asked}
    return handles_of(States(RECORDED), identity=identity, **given)


def test_what_is_attached_to_a_role_is_its_own() -> None:
    handles = found(ROLE)
    assert handles.policies == {policy(name) for name in ("own", "boundary", "attached", "shared")}
    assert handles.profiles == {"sentinel", "door"}
    assert handles.groups == frozenset()


def test_what_is_attached_to_the_groups_of_a_user_is_its_own() -> None:
    handles = found(USER)
    assert handles.groups == {"doors", "gates"}
    assert handles.policies == {policy("shared"), policy("gates")}
    assert handles.profiles == frozenset()


@pytest.mark.parametrize(
    "asked", ["1-2", KEY + "1-2", "alias/states", "arn:aws:kms:us-east-1:123456789012:alias/states"]
)
def test_a_key_has_an_id_and_every_alias(asked: str) -> None:
    assert found(keys=[asked]).keys == {asked: {"1-2", "alias/states", "alias/same"}}


def test_the_key_of_a_bucket_is_found() -> None:
    assert found(buckets=["audit"]).keys == {KEY + "3-4": {"3-4", "alias/other"}}


def test_a_database_has_resource_ids() -> None:
    assert found(databases=["Ledger"]).databases == {"db-LEDGER", "cluster-LEDGER", "db-ONE", "ledger-one"}


UNKNOWN: list[tuple[str, dict[str, Any]]] = [
    ("iam:CreatePolicyVersion", {"PolicyArn": policy("strange")}),
    ("iam:DeletePolicy", {"PolicyArn": policy("strange")}),
    ("iam:SetDefaultPolicyVersion", {"PolicyArn": policy("strange"), "VersionId": "v1"}),
    ("iam:DeleteInstanceProfile", {"InstanceProfileName": "strange"}),
    ("kms:PutKeyPolicy", {"KeyId": "7-7"}),
    ("kms:PutKeyPolicy", {"KeyId": KEY + "7-7"}),
    ("rds:RestoreDBInstanceToPointInTime", {"SourceDbiResourceId": "db-STRANGE"}),
]
TOLD: list[tuple[str, dict[str, Any]]] = [
    ("iam:CreatePolicyVersion", {"PolicyArn": policy("app")}),
    ("iam:CreatePolicy", {"PolicyName": "new"}),
    ("iam:CreateInstanceProfile", {"InstanceProfileName": "new"}),
    ("iam:AttachRolePolicy", {"RoleName": "app", "PolicyArn": policy("strange")}),
    ("iam:PutGroupPolicy", {"GroupName": "strange"}),
    ("iam:TagPolicy", {"PolicyArn": "arn:aws:iam::aws:policy/ReadOnlyAccess"}),
    ("kms:PutKeyPolicy", {"KeyId": "3-4"}),
    ("kms:CreateKey", {}),
    ("kms:DeleteAlias", {"AliasName": "alias/strange"}),
    ("rds:RestoreDBInstanceToPointInTime", {"SourceDbiResourceId": "db-SHOP"}),
    ("ec2:StopInstances", {"InstanceIds": ["i-1"]}),
]


def said(handles: OwnHandles, name: str, parameters: dict[str, Any]) -> str:
    service, _, operation = name.partition(":")
    return handles.unknown_in(Call(service=service, operation=operation, parameters=parameters, region="us-east-1"))


@pytest.mark.parametrize(("name", "parameters"), UNKNOWN)
def test_a_name_that_no_state_records_may_be_its_own(name: str, parameters: dict[str, Any]) -> None:
    assert said(found(ROLE, keys=["alias/unrecorded"], databases=["ledger"]), name, parameters)
    assert said(found(), name, parameters) == "", "there is nothing that it could be"


@pytest.mark.parametrize(("name", "parameters"), TOLD)
def test_a_name_that_is_told_is_not(name: str, parameters: dict[str, Any]) -> None:
    assert said(found(ROLE, keys=["alias/unrecorded"], databases=["ledger"]), name, parameters) == ""


def test_where_the_key_is_told_others_are_not_doubted() -> None:
    assert said(found(keys=["alias/states"]), "kms:PutKeyPolicy", {"KeyId": "7-7"}) == ""


def test_a_group_may_be_one_of_a_user() -> None:
    assert said(found(USER), "iam:PutGroupPolicy", {"GroupName": "strange"})
    assert said(found(USER), "iam:PutGroupPolicy", {"GroupName": "apps"}) == ""
    assert said(found(USER), "iam:AddUserToGroup", {"GroupName": "strange", "UserName": "app"}) == ""


@pytest.mark.parametrize(
    ("url", "names", "untold"),
    [
        ("sqlite:///x/ledger.db", set(), False),
        ("postgresql+psycopg://localhost/x", set(), False),
        ("postgresql+psycopg:///x?host=/var/run/postgresql", set(), False),
        ("postgresql+psycopg://s@one.abc1.eu-west-1.rds.amazonaws.com:5432/x", {"one"}, False),
        ("postgresql+psycopg://s@One.abc1.eu-west-1.RDS.amazonaws.com./x", {"one"}, False),
        ("postgresql+psycopg://s@one.cluster-ro-abc1.cn-north-1.rds.amazonaws.com.cn/x", {"one"}, False),
        ("postgresql+psycopg://s@one.a1.x-1.rds.amazonaws.com,two.a1.x-1.rds.amazonaws.com/x", {"one", "two"}, False),
        ("postgresql+psycopg:///x?host=one.a1.x-1.rds.amazonaws.com:5432,two.a1.x-1.rds.amazonaws.com", {"one", "two"}, False),
        ("postgresql+psycopg://s@pool.proxy-abc1.eu-west-1.rds.amazonaws.com/x", {"pool"}, True),
        ("postgresql+psycopg://s@one.shardgrp-abc1.eu-west-1.rds.amazonaws.com/x", {"one"}, True),
        ("postgresql+psycopg://s@ledger.example.com/x", set(), True),
        ("postgresql+psycopg://s@10.0.0.7/x", set(), True),
    ],
)  # fmt: skip
def test_the_database_of_a_ledger_is_told_or_asked_for(url: str, names: set[str], *, untold: bool) -> None:
    assert databases_of(url, ()) == (frozenset(names), untold)
    assert databases_of(url, ("Named",)) == (
        frozenset() if url.startswith("sqlite") else frozenset({*names, "named"}),
        False,
    )
