"""What a call gives to attributes with a value that the plan does not tell."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.derived_rows import Confidence, DerivedRow, Origin
from gateway.core.model.masking import PER_RUN
from gateway.core.model.mutation import Basis, EffectAction
from gateway.core.model.plan import PlannedAction
from gateway.effects.schema import read_schemas
from gateway.plans.call_match import by_effects
from gateway.plans.row_match import by_rows
from gateway.plans.untold_values import with_untold
from tests.gateway.plans.test_row_match import C, change, row, session_call, source
from tests.kit import nouns

POLICY = '{"Statement": []}'


def untold(*rows: DerivedRow, free: str, made: dict[str, str] | None = None, **parameters: Any) -> dict[str, Any]:
    """Attribute → value of what nobody has judged, of a call that creates a repository beside a planned role."""
    role = change("fresh", kind="aws_iam_role", values={"name": "fresh"})
    asked = session_call(*rows, changes=(change(free=frozenset({free})), role), made=made, **parameters)
    asked = replace(asked, there=frozenset({role.address}))
    found = by_rows(asked)
    assert found.uses, found.objection
    effects, keys = with_untold(asked, found, PER_RUN)
    values = {each.attribute: each.value for each in effects if (each.address, each.attribute) in keys}
    assert all(each.basis is Basis.DERIVED for each in effects if each.attribute in values)
    assert len({(each.address, each.attribute) for each in effects}) == len(effects)
    return values


@pytest.mark.parametrize(
    "known",
    [
        row(C, confidence=Confidence.TYPE, origin=Origin.MODEL),
        row(C, attributes={"policy": source("policy")}),
        row(C, confidence=Confidence.ATTRIBUTES, attributes={"policy": source("policy")}),
    ],
)
def test_a_value_is_found_whatever_row_explains_the_call(known: DerivedRow) -> None:
    assert untold(known, free="policy", policy=POLICY) == {"policy": POLICY}
    assert untold(known, free="policy", name="app") == {}


def test_the_name_of_the_parameter_is_enough() -> None:
    assert untold(row(C), free="settings.policy", Deep={"Policy": POLICY}) == {"settings.policy": POLICY}


def test_a_member_of_a_block_is_known_by_those_beside_it() -> None:
    kind = "aws_ami"
    devices = {"BlockDeviceMappings.Ebs.VolumeSize": source("ebs_block_device.volume_size")}
    registers = replace(row(C, attributes=devices), resource_type=kind, service="ec2", operation="RegisterImage")
    planned = change(kind=kind, values={"name": "app"}, free=frozenset({"ebs_block_device"}))
    given: dict[str, Any] = {
        "Name": "app",
        "BlockDeviceMappings": [{"Ebs": {"VolumeSize": 10, "SnapshotId": "snap-1"}}],
    }
    asked = replace(session_call(registers, changes=(planned,), **given), schemas=read_schemas({kind}))
    found = by_rows(asked)
    assert found.uses, found.objection
    effects, keys = with_untold(asked, found, PER_RUN)
    values = {each.attribute: each.value for each in effects if (each.address, each.attribute) in keys}
    assert values == {"ebs_block_device.volume_size": 10, "ebs_block_device.snapshot_id": "snap-1"}
    told = replace(asked, session=replace(asked.session, changes=(change(kind=kind, values={"name": "app"}),)))
    assert by_rows(told).objection, "the plan knows all devices, and this one is not among them"


def test_user_data_is_judged_where_the_plan_masks_its_digest() -> None:
    kind = "aws_instance"
    planned = change("app", PlannedAction.UPDATE, kind=kind, values={"monitoring": True}, free=frozenset({"user_data"}))
    effect = nouns.effect(f"{kind}.app", "user_data_base64", "masked", resource_type=kind)
    asked = replace(session_call(changes=(planned,), UserData={"Value": b"second"}), effects=(effect,))
    found = by_effects(asked)
    assert found.uses, found.objection
    assert with_untold(asked, found, PER_RUN)[1] == {(f"{kind}.app", "user_data_base64")}


def test_none_of_several_values_is_overlooked() -> None:
    given = [{"Policy": "first"}, {"Policy": "second"}]
    assert untold(row(C), free="policy", Each=given) == {"policy": ["first", "second"]}


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("arn:aws:iam::123456789012:role/fresh", True),
        ("arn:aws:iam::123456789012:role/path/fresh", True),
        ("arn:aws:iam::123456789012:role/other", False),
        ("arn:aws:iam::210987654321:role/fresh", False),
        ("arn:aws:iam::123456789012:user/fresh", False),
        ("arn:aws:sts::123456789012:role/fresh", False),
        ("arn:aws:sqs::123456789012:fresh", False),
        ("fresh", True),
        ("other", False),
        ("role-0123", True),
    ],
)
def test_what_names_a_resource_of_the_plan_was_judged_with_it(text: str, *, is_named: bool) -> None:
    made = {"aws_iam_role.fresh": "role-0123"}
    assert untold(row(C), free="role", made=made, Role=text) == ({} if is_named else {"role": text})
    assert untold(row(C), free="role", made=made, Role=[text, "other"]) == {"role": [text, "other"]}


@pytest.mark.parametrize(
    ("text", "kind", "name", "is_named"),
    [
        ("arn:aws:logs:us-east-1:123456789012:log-group:/aws/x/seed", "aws_cloudwatch_log_group", "/aws/x/seed", True),
        (
            "arn:aws:logs:us-east-1:123456789012:log-group:/aws/x/seed:*",
            "aws_cloudwatch_log_group",
            "/aws/x/seed",
            True,
        ),
        (
            "arn:aws:logs:us-east-1:123456789012:log-group:/aws/x/other",
            "aws_cloudwatch_log_group",
            "/aws/x/seed",
            False,
        ),
        ("arn:aws:logs:us-east-1:123456789012:destination:seed", "aws_cloudwatch_log_group", "seed", False),
        ("arn:aws:iam::123456789012:policy/seed", "aws_iam_policy", "seed", True),
        # An inline policy is no managed one of the same name, which may say anything.
        ("arn:aws:iam::123456789012:policy/seed", "aws_iam_role_policy", "seed", False),
    ],
)
def test_an_arn_names_what_the_plan_makes_by_its_whole_name(text: str, kind: str, name: str, *, is_named: bool) -> None:
    planned = (change(free=frozenset({"destination_arn"})), change("fresh", kind=kind, values={"name": name}))
    asked = session_call(row(C), changes=planned, DestinationArn=text)
    found = by_rows(asked)
    assert with_untold(asked, found, PER_RUN)[1], "until it is created, what has its name is another's"
    _, keys = with_untold(replace(asked, there=frozenset({planned[1].address})), found, PER_RUN)
    assert bool(keys) is not is_named


def test_what_a_document_names_is_made_by_the_plan_too() -> None:
    def redrive(queue: str, **more: object) -> str:
        return json.dumps(
            {"deadLetterTargetArn": f"arn:aws:iam:us-east-1:123456789012:{queue}", "maxReceiveCount": 3} | more
        )

    assert untold(row(C), free="redrive", Redrive=redrive("fresh")) == {}
    for document in (
        redrive("other"),
        redrive("fresh", Statement=[]),
        redrive("fresh", more="x"),
        redrive("fresh", on=["x"]),
    ):
        assert untold(row(C), free="redrive", Redrive=document) == {"redrive": document}


def test_a_name_alone_is_of_the_type_that_the_attribute_says() -> None:
    assert untold(row(C), free="bucket", Bucket="fresh") == {"bucket": "fresh"}


def test_a_secret_is_masked() -> None:
    found = untold(row(C), free="password", Password="hunter2-hunter2")
    assert "hunter2" not in str(found["password"])


def test_a_deletion_gives_nothing() -> None:
    gone = replace(change("old", PlannedAction.DELETE), free=frozenset({"policy"}))
    asked = session_call(row(EffectAction.DELETE), changes=(gone,))
    found = by_rows(asked)
    assert found.uses
    assert with_untold(asked, found, PER_RUN) == (found.effects, frozenset())
