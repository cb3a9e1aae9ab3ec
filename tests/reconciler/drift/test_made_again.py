"""A deletion and a creation are one story only where type and name leave no doubt."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.model.json import Json
from gateway.model.mutation import WHOLE, Effect, EffectAction
from reconciler.drift.applied import AppliedMutation
from reconciler.drift.classify import classify_mutation
from reconciler.drift.made_again import as_replacement, creates, deleted_by, in_place, made_before

AT = datetime(2026, 1, 2, tzinfo=UTC)
WEB, OTHER, NEW = "aws_instance.web", "aws_instance.other", "aws_instance{call=1}"
RECORDED: dict[str, dict[str, Json]] = {
    WEB: {"id": "i-1", "tags": {"Name": "web"}, "subnet_id": "s"},
    OTHER: {"id": "i-9", "tags": {"Name": "other"}, "subnet_id": "s"},
}


def _effect(address: str, attribute: str, action: EffectAction, value: Json = None, *, declared: bool = True) -> Effect:
    identity = {} if declared else {"call": "1"}
    return Effect(
        address=address, attribute=attribute, action=action, value=value, resource_type="aws_instance",
        identity=identity, declared=declared,
    )  # fmt: skip


def _applied(mutation: str, *effects: Effect, **changes: Json) -> AppliedMutation:
    applied = AppliedMutation(
        id=mutation, seq=1, stack="shop", actor="a", at=AT, operation="ec2:X", effects=effects, settled_at=AT
    )
    return replace(applied, **changes)  # type: ignore[arg-type]


DELETION = _applied("mut_d", _effect(WEB, WHOLE, EffectAction.DELETE))
VALUES: dict[str, Json] = {"ami": "ami-2", "subnet_id": "s", "tags.Name": "web"}
CREATION = _applied(
    "mut_c",
    _effect(NEW, WHOLE, EffectAction.CREATE, declared=False),
    *(_effect(NEW, name, EffectAction.CREATE, value, declared=False) for name, value in VALUES.items()),
    made="i-2",
)


def test_what_was_created_after_the_deletion_is_at_its_address() -> None:
    told = in_place(CREATION, {WEB: "mut_d"}, RECORDED)
    assert ({each.address for each in told.effects}, told.together) == ({WEB}, ("mut_d",))
    classified = classify_mutation(told, superseded={})
    ((address, created),) = classified.again
    assert created is not None
    assert (address, created.import_id) == (WEB, "i-2")
    assert {each.attribute: each.value for each in classified.wanted} == VALUES


@pytest.mark.parametrize(
    ("deleted", "recorded", "made"),
    [
        ({}, RECORDED, "i-2"),
        ({OTHER: "mut_d"}, RECORDED, "i-2"),
        ({WEB: "mut_d"}, {}, "i-2"),
        ({WEB: "mut_d"}, RECORDED, ""),
        ({WEB: "mut_d"}, RECORDED, "i-1"),
        ({WEB: "mut_d", OTHER: "mut_e"}, {WEB: RECORDED[WEB], OTHER: RECORDED[WEB]}, "i-2"),
    ],
)
def test_without_certainty_it_is_another_resource(
    deleted: dict[str, str], recorded: dict[str, dict[str, Json]], made: str
) -> None:
    told = in_place(replace(CREATION, made=made), deleted, recorded)
    assert (told.effects, told.together) == (CREATION.effects, ())


def test_a_creation_before_the_deletion_becomes_the_same_replacement() -> None:
    before = made_before(DELETION, [DELETION, CREATION], RECORDED)
    assert before is not None
    assert (before.creation.id, before.address) == ("mut_c", WEB)
    told = as_replacement(DELETION, before, RECORDED)
    assert (told.id, told.together, told.made) == ("mut_d", ("mut_c",), "i-2")
    assert {each.address for each in told.effects} == {WEB}
    assert made_before(DELETION, [CREATION, replace(CREATION, id="mut_e")], RECORDED) is None, (
        "which one is not certain"
    )
    assert made_before(CREATION, [CREATION], RECORDED) is None


def test_what_is_wanted_for_a_time_or_done_by_terraform_is_no_part_of_it() -> None:
    assert (deleted_by(DELETION), creates(CREATION)) == ((WEB,), True)
    for changes in ({"wanted_seconds": timedelta(hours=1).total_seconds()}, {"kind": "pipeline"}):
        assert deleted_by(replace(DELETION, **changes)) == ()
        assert not creates(replace(CREATION, **changes))
    assert not creates(DELETION)


def test_a_deletion_that_was_created_again_since_is_superseded() -> None:
    classified = classify_mutation(DELETION, superseded={(WEB, WHOLE): "mut_c"})
    assert (classified.wanted, classified.left) == ((), ())
    assert [each.superseded_by for each in classified.kept_out] == ["mut_c"]
