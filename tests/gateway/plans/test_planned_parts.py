"""Calls whose rows name another resource than the planned one: what runs is declared beside it, and what a deleted resource keeps goes with it."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.plan import PlannedAction
from gateway.effects.schema import read_schemas
from gateway.plans.call_match import CallMatch
from gateway.plans.planned_parts import by_keeper, by_state, with_deleted
from gateway.plans.row_match import by_rows
from gateway.terraform.resource_index import ResourceIndex
from tests.gateway.plans.test_provider_forms import called
from tests.gateway.plans.test_row_match import C, change, row, session_call

STATE = "aws_ec2_instance_state"


def stopped(
    values: dict[str, Any],
    *,
    operation: str = "StopInstances",
    free: frozenset[str] = frozenset(),
    made: dict[str, str] | None = None,
    action: PlannedAction = PlannedAction.CREATE,
    **given: Any,
) -> CallMatch:
    planned = change("s", action, STATE, values=values, free=free)
    asked = session_call(changes=(planned,), made=made, **given)
    return by_state(called(asked, "ec2", operation))


def test_an_instance_is_stopped_as_the_planned_state_says() -> None:
    planned = {"instance_id": "i-1", "state": "stopped"}
    found = stopped(planned, InstanceIds=["i-1"])
    assert [(use.address, use.action) for use in found.uses] == [(f"{STATE}.s", "set")]
    assert stopped(planned, InstanceIds=["i-2"]).objection, "another instance"
    assert stopped(planned, InstanceIds=["i-1", "i-2"]).objection, "one more"
    assert stopped(planned, InstanceIds=["i-1"], operation="StartInstances").objection, "the other way"
    assert stopped(planned, InstanceIds=["i-1"], operation="TerminateInstances").objection
    assert stopped(planned, InstanceIds=["i-1"], Force=True).objection, "the code does not force it"
    assert stopped({**planned, "force": True}, InstanceIds=["i-1"], Force=True).uses
    assert stopped(planned, InstanceIds=["i-1"], Hibernate=True).objection
    assert stopped(planned, InstanceIds=["i-1"], action=PlannedAction.DELETE).objection


def test_an_instance_that_the_plan_makes_too_is_the_one_that_the_session_made() -> None:
    planned, free = {"state": "stopped"}, frozenset({"instance_id"})
    made = {"aws_instance.i": "i-new"}
    assert stopped(planned, free=free, made=made, InstanceIds=["i-new"]).uses
    assert stopped(planned, free=free, made=made, InstanceIds=["i-other"]).objection
    assert stopped(planned, free=free, InstanceIds=["i-new"]).objection


def deleted(
    snapshot: str, *, manages: bool = True, action: PlannedAction = PlannedAction.DELETE, **more: Any
) -> CallMatch:
    kind = "aws_ami_copy"
    asked = session_call(changes=(change("c", action, kind),), SnapshotId=snapshot, **more)
    blocks: list[Json] = [{"snapshot_id": "snap-1"}, {"snapshot_id": ""}]
    state: dict[str, Json] = {"id": "ami-1", "manage_ebs_snapshots": manages, "ebs_block_device": blocks}
    return by_keeper(called(asked, "ec2", "DeleteSnapshot", c=state))


def test_the_snapshots_that_a_deleted_image_keeps_go_with_it() -> None:
    assert deleted("snap-1").uses
    assert deleted("snap-2").objection, "somebody else's"
    assert deleted("").objection
    assert deleted("snap-1", manages=False).objection, "the image was made of a snapshot that stays"
    assert deleted("snap-1", action=PlannedAction.UPDATE).objection, "the image stays"
    assert deleted("snap-1", Elsewhere="x").objection


def test_a_subnet_goes_back_to_the_default_acl_and_to_no_other() -> None:
    kind = "aws_network_acl_association"

    def given_back(association: str, acl: str, action: PlannedAction = PlannedAction.DELETE) -> CallMatch:
        changes = (change("a", action, kind), change("v", PlannedAction.UPDATE, "aws_vpc"))
        asked = session_call(changes=changes, AssociationId=association, NetworkAclId=acl)
        state: dict[str, dict[str, Json]] = {"a": {"id": "aclassoc-1"}, "v": {"default_network_acl_id": "acl-default"}}
        asked = called(asked, "ec2", "ReplaceNetworkAclAssociation", **state)
        stack = asked.stack
        resources = stack.state.resources
        index = ResourceIndex(
            ((each.partition(".")[0], each) for each in resources), lambda each: resources[each].attributes
        )
        return with_deleted(replace(asked, stack=replace(stack, recorded_index=index)))

    assert given_back("aclassoc-1", "acl-default").uses
    assert given_back("aclassoc-1", "acl-open").objection, "another list"
    assert given_back("aclassoc-2", "acl-default").objection, "another subnet"
    assert given_back("aclassoc-1", "acl-default", PlannedAction.UPDATE).objection


@pytest.mark.parametrize(("value", "passes"), [("snap-made", True), ("snap-other", False)])
def test_an_id_inside_blocks_that_the_plan_does_not_tell_is_that_of_what_the_session_made(
    value: str, *, passes: bool
) -> None:
    kind = "aws_ami"
    planned = change(kind=kind, values={"name": "seed"}, free=frozenset({"ebs_block_device"}))
    asked = session_call(
        row(C, resource_type=kind),
        changes=(planned,),
        made={"aws_ebs_snapshot.s": "snap-made"},
        Name="seed",
        BlockDeviceMappings=[{"Ebs": {"SnapshotId": value}}],
    )
    assert bool(by_rows(replace(asked, schemas=read_schemas({kind}))).uses) is passes
