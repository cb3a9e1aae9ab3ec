"""A call without a hand-made row is understood exactly, as touching one declared resource, or not at all; what is left open never helps it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin, ValueForm
from gateway.core.model.json import Json
from gateway.core.model.mutation import Basis, Call, EffectAction
from gateway.core.model.path import WHOLE
from gateway.effects.operation import Operation
from gateway.effects.registry import SERVICES
from gateway.effects.resolver import EffectResolver, Explanation
from tests.gateway.effects.conftest import ACCOUNT, REGION, FakeInventory

CREATE, SET, DELETE, INVOKE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE, EffectAction.INVOKE
USER, ARN = "aws_elasticache_user.app", f"arn:aws:elasticache:{REGION}:{ACCOUNT}:user:app"
STATE: Mapping[str, Mapping[str, Json]] = {
    USER: {"id": "app", "user_id": "app", "arn": ARN, "user_name": "app", "engine": "redis", "access_string": "on ~*"},
    "aws_elasticache_user_group.g": {"id": "g", "user_group_id": "g", "user_ids": ["a", "b"], "engine": "redis"},
    "aws_cloudwatch_event_rule.r": {
        "id": "r",
        "name": "r",
        "event_bus_name": "default",
        "arn": f"arn:aws:events:{REGION}:{ACCOUNT}:rule/r",
        "description": "old",
    },
    "aws_cloudwatch_event_bus.r": {
        "id": "bus",
        "name": "bus",
        "arn": f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/bus",
        "tags": {"team": "a"},
    },
    "aws_api_gateway_stage.prod": {"id": "ags-a1-prod", "rest_api_id": "a1", "stage_name": "prod"},
    "aws_guardduty_ipset.s": {"id": "d1:s1", "detector_id": "d1", "name": "s"},
    "aws_guardduty_ipset.odd": {"id": "d1:s:2", "detector_id": "d1", "name": "odd"},
    "aws_glue_job.j": {"id": "j", "name": "j", "default_arguments": {"--a": "1", "--b": "2"}},
}


def same(**attributes: str) -> dict[str, AttributeSource]:
    return {name: AttributeSource(attribute=attribute) for name, attribute in attributes.items()}


def row(operation: str, resource_type: str, *actions: EffectAction, **members: Any) -> DerivedRow:
    usual: dict[str, Any] = {
        "service": "elasticache",
        "origin": Origin.TRACED,
        "confidence": Confidence.ATTRIBUTES,
    }
    return DerivedRow(operation=operation, resource_type=resource_type, actions=frozenset(actions), **(usual | members))


_USER = {"identity": same(UserId="user_id")}
_RULE = {"identity": same(Name="name"), "service": "events"}
_ARN = {"identity": same(ResourceName="arn")}
MODIFY_USER = row(
    "ModifyUser", "aws_elasticache_user", SET, attributes=same(AccessString="access_string", Engine="engine"), **_USER
)
PUT_RULE = row(
    "PutRule",
    "aws_cloudwatch_event_rule",
    CREATE,
    SET,
    attributes={
        **same(Description="description", RoleArn="role_arn", ScheduleExpression="schedule_expression"),
        "EventPattern": AttributeSource(attribute="event_pattern", form=ValueForm.JSON),
    },
    **_RULE,
)
ROWS = (
    MODIFY_USER,
    PUT_RULE,
    row("DeleteUser", "aws_elasticache_user", DELETE, **_USER),
    row(
        "CreateUser",
        "aws_elasticache_user",
        CREATE,
        attributes=same(UserId="user_id", UserName="user_name", Engine="engine", AccessString="access_string"),
    ),
    row(
        "ModifyUserGroup",
        "aws_elasticache_user_group",
        SET,
        identity=same(UserGroupId="user_group_id"),
        attributes=same(UserIdsToAdd="user_ids", Engine="engine"),
        removes={"UserIdsToRemove": "user_ids"},
    ),
    row("RebootUser", "aws_elasticache_user", SET, confidence=Confidence.RESOURCE, origin=Origin.MODEL, **_USER),
    row("ResetUser", "aws_elasticache_user", SET, confidence=Confidence.TYPE, origin=Origin.MODEL),
    row("RestoreThing", "AWS::ElastiCache::Thing", CREATE, confidence=Confidence.RESOURCE, origin=Origin.MODEL),
    *(
        row(
            "AddTagsToResource",
            name,
            SET,
            attributes={
                "Tags.Key": AttributeSource(attribute="tags.{key}"),
                "Tags.Value": AttributeSource(attribute="tags.{}"),
            },
            **_ARN,
        )
        for name in ("aws_elasticache_user", "aws_elasticache_user_group")
    ),
    row("RemoveTagsFromResource", "aws_elasticache_user", SET, removes={"TagKeys": "tags.{key}"}, **_ARN),
    row(
        "UpdateStage",
        "aws_api_gateway_stage",
        SET,
        service="apigateway",
        identity=same(restApiId="rest_api_id"),
        attributes=same(description="description"),
    ),
    row(
        "UpdateJob",
        "aws_glue_job",
        SET,
        service="glue",
        identity=same(JobName="name"),
        attributes={
            "JobUpdate.DefaultArguments": AttributeSource(attribute="default_arguments"),
            "JobUpdate.GlueVersion": AttributeSource(attribute="glue_version"),
        },
    ),
)


_PART = AttributeSource(attribute="id", form=ValueForm.PART)
_IP_SET: dict[str, Any] = {"service": "guardduty", "id_form": "{DetectorId}:{IpSetId}"}
PARTS = (
    row(
        "DeleteIPSet",
        "aws_guardduty_ipset",
        DELETE,
        identity={"DetectorId": AttributeSource(attribute="detector_id"), "IpSetId": _PART},
        **_IP_SET,
    ),
    row("UpdateIPSet", "aws_guardduty_ipset", DELETE, SET, identity={"DetectorId": _PART, "IpSetId": _PART}, **_IP_SET),
)


def rows_of(rows: Sequence[DerivedRow] = ROWS) -> Callable[[str, str], Sequence[DerivedRow]]:
    return lambda service, operation: [each for each in rows if (each.service, each.operation) == (service, operation)]


NO_TABLES: Mapping[str, Mapping[str, Operation]] = {}


def explained(
    operation: str,
    parameters: Mapping[str, Any],
    service: str = "elasticache",
    state: Mapping[str, Mapping[str, Json]] = STATE,
    rows: Sequence[DerivedRow] = ROWS,
    *,
    services: Mapping[str, Mapping[str, Operation]] = NO_TABLES,
) -> Explanation:
    resolver = EffectResolver(FakeInventory(state), services=services, rows=rows_of(rows))
    call = Call(service=service, operation=operation, parameters=parameters, account=ACCOUNT, region=REGION)
    return resolver.explain(call)


def written(found: Explanation) -> list[tuple[str, str, EffectAction, Json]]:
    return [(effect.address, effect.attribute, effect.action, effect.value) for effect in found.effects]


def test_a_call_whose_parameters_all_are_known_is_understood_exactly() -> None:
    found = explained("ModifyUser", {"UserId": "app", "AccessString": "off"})

    assert written(found) == [(USER, "access_string", SET, "off")]
    assert (found.basis, found.row, found.by_hand, found.reason) == (Basis.DERIVED, MODIFY_USER, False, "")


def test_a_parameter_that_the_row_does_not_name_leaves_the_resource_alone_known() -> None:
    found = explained("ModifyUser", {"UserId": "app", "AccessString": "off", "AuthenticationMode": {"Type": "iam"}})

    assert written(found) == [(USER, WHOLE, INVOKE, None)]
    assert (found.basis, found.reason) == (Basis.RESOURCE, "parameter AuthenticationMode.Type")
    assert "access_string" in found.effects[0].may_change


def test_the_matcher_guesses_nothing_for_a_derived_row() -> None:
    assert explained("ModifyUser", {"UserId": "app", "NoPasswordRequired": True}).basis is Basis.RESOURCE


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        (ARN, True),
        ("user:app", True),
        (f"{ACCOUNT}:user:app", True),
        (ARN.replace(ACCOUNT, "999999999999"), False),
        (ARN.replace(REGION, "us-east-1"), False),
        ("999999999999:user:app", False),
        ("other:user:app", False),
        ("er:app", False),
        ("App", False),
        ("", False),
    ],
)
def test_a_resource_is_found_by_every_form_that_is_certain(text: str, *, understood: bool) -> None:
    found = explained("ModifyUser", {"UserId": text, "AccessString": "off"})

    assert [each.address for each in found.effects] == ([USER] if understood else [])


@pytest.mark.parametrize(
    ("detector", "ip_set", "address"),
    [
        ("d1", "s1", "aws_guardduty_ipset.s"),
        ("d1", "s:2", "aws_guardduty_ipset.odd"),
        ("s1", "d1", ""),
        ("d1:s", "2", ""),
        ("d1", "s2", ""),
        ("d1", "", ""),
        ("", "s1", ""),
        ("", "d1:s1", ""),
    ],
)
def test_a_resource_is_found_by_the_parts_of_its_id_in_their_places(detector: str, ip_set: str, address: str) -> None:
    found = explained("DeleteIPSet", {"DetectorId": detector, "IpSetId": ip_set}, "guardduty", rows=PARTS)

    assert [each.address for each in found.effects] == ([address] if address else [])


def test_parts_of_an_id_that_could_be_divided_in_another_way_name_nothing() -> None:
    def named(detector: str, ip_set: str) -> Explanation:
        return explained("UpdateIPSet", {"DetectorId": detector, "IpSetId": ip_set}, "guardduty", rows=PARTS)

    assert named("d1", "s1").effects
    assert not named("d1", "s:2").effects
    assert not named("d1:s", "2").effects


def test_the_id_of_one_that_is_the_name_of_another_is_ambiguous() -> None:
    state = {**STATE, "aws_elasticache_user.other": {"id": "x", "user_id": "x", "name": "app"}}

    found = explained("ModifyUser", {"UserId": "app", "AccessString": "off"}, state=state)

    assert (found.effects, "may be about" in found.reason) == ((), True)


def test_who_names_a_resource_like_the_id_of_another_is_not_taken_for_it() -> None:
    """An agent's own resource `mine` has the id of a foreign one as its name."""
    state = {"aws_elasticache_user.mine": {"id": "m", "user_id": "m", "name": "victim", "user_name": "victim"}}

    assert explained("ModifyUser", {"UserId": "victim", "AccessString": "off"}, state=state).effects == ()


def test_a_name_that_is_not_all_of_the_id_is_not_understood() -> None:
    found = explained("UpdateStage", {"restApiId": "a1", "description": "x"}, "apigateway")

    assert (found.effects, "not all of the resource's id" in found.reason) == ((), True)


def test_an_unknown_identifier_may_name_another_resource() -> None:
    assert explained("ModifyUser", {"UserId": "app", "ServerlessCacheName": "other"}).effects == ()
    assert explained("ModifyUser", {"UserId": "app", "UserName": "app"}).basis is Basis.RESOURCE


def test_what_no_code_declares_is_not_understood_as_a_whole() -> None:
    assert explained("RebootUser", {"UserId": "app"}).basis is Basis.RESOURCE
    assert explained("RebootUser", {"UserId": "other"}).effects == ()
    assert explained("ModifyUser", {"UserId": "other", "AccessString": "off"}).effects == ()
    assert explained("CreateUser", {"UserId": "other", "Odd": 1}).effects == ()


def test_a_row_that_knows_the_resource_only_says_that_it_is_touched() -> None:
    found = explained("RebootUser", {"UserId": "app"})

    assert written(found) == [(USER, WHOLE, INVOKE, None)]
    assert "knows the resource" in found.reason


def test_a_row_that_knows_the_type_only_says_so() -> None:
    found = explained("ResetUser", {"UserId": "app"})

    assert (found.effects, [each.confidence for each in found.rows]) == ((), [Confidence.TYPE])
    assert found.reason.startswith("only the type of what it changes is known (aws_elasticache_user)")


def test_a_type_that_terraform_does_not_have_is_not_understood() -> None:
    assert "no resource type" in explained("RestoreThing", {}).reason


def test_an_operation_without_any_row_says_so() -> None:
    assert explained("Nothing", {}).reason == "no row has this operation"


def test_a_deletion_is_exact_only_if_every_parameter_is_known() -> None:
    plain, odd = explained("DeleteUser", {"UserId": "app"}), explained("DeleteUser", {"UserId": "app", "Force": True})

    assert written(plain) == written(odd) == [(USER, WHOLE, DELETE, None)]
    assert (plain.basis, odd.basis) == (Basis.DERIVED, Basis.RESOURCE)


def test_an_operation_that_the_provider_sends_before_it_deletes_deletes_nothing() -> None:
    stop = row("StopUser", "aws_elasticache_user", DELETE, **_USER)

    assert written(explained("StopUser", {"UserId": "app"}, rows=(stop,))) == [(USER, WHOLE, INVOKE, None)]


@pytest.mark.parametrize("operation", ["DisableUser", "EnableUser", "StartUser", "RotateUser", "DeleteUserPassword"])
def test_an_operation_whose_name_says_more_than_its_parameters_is_not_exact(operation: str) -> None:
    odd = row(operation, "aws_elasticache_user", SET, attributes=same(AccessString="access_string"), **_USER)

    assert explained(operation, {"UserId": "app", "AccessString": "x"}, rows=(odd,)).basis is Basis.RESOURCE


def test_a_creation_is_exact_on_what_nothing_declares_as_by_hand() -> None:
    found = explained("CreateUser", {"UserId": "new", "UserName": "new", "Engine": "redis"})

    assert [effect.attribute for effect in found.effects] == [WHOLE, "user_id", "user_name", "engine"]
    assert {effect.action for effect in found.effects} == {CREATE}
    assert not any(effect.declared for effect in found.effects)


def test_an_omitted_parameter_that_may_be_reset_leaves_the_resource_alone_known() -> None:
    """`PutRule` resets what it is not given, and no trace shows whether another operation does."""
    complete = {"Name": "r", "Description": "new", "ScheduleExpression": "rate(1 day)"}
    state = {"aws_cloudwatch_event_rule.r": {**STATE["aws_cloudwatch_event_rule.r"], "role_arn": "arn:x"}}

    assert explained("PutRule", complete, "events").basis is Basis.DERIVED
    assert explained("PutRule", {"Name": "r", "ScheduleExpression": "rate(1 day)"}, "events").basis is Basis.RESOURCE
    assert explained("PutRule", complete, "events", state=state).basis is Basis.RESOURCE


def test_an_omitted_parameter_that_is_known_to_reset_is_never_exact() -> None:
    resetting = replace(MODIFY_USER, resets=frozenset({"Engine"}))

    def of(**parameters: str) -> Basis | None:
        return explained("ModifyUser", {"UserId": "app", **parameters}, rows=(resetting,)).basis

    assert of(AccessString="x") is Basis.RESOURCE
    assert of(AccessString="x", Engine="redis") is Basis.DERIVED


def test_what_an_operation_takes_away_by_itself_leaves_the_resource_alone_known() -> None:
    clearing = replace(MODIFY_USER, clears=frozenset({"passwords"}))

    assert explained("ModifyUser", {"UserId": "app", "AccessString": "x"}, rows=(clearing,)).basis is Basis.RESOURCE


def test_a_switch_that_is_off_may_be_reset_too() -> None:
    update = row("UpdateUser", "aws_elasticache_user", SET, attributes=same(A="access_string", N="no_password_required"), **_USER)  # fmt: skip
    state = {USER: {**STATE[USER], "no_password_required": False}}

    assert explained("UpdateUser", {"UserId": "app", "A": "x"}, state=state, rows=(update,)).basis is Basis.RESOURCE


def test_an_upsert_of_what_the_state_does_not_have_is_not_understood() -> None:
    """It may be there all the same, and lose what the call leaves out."""
    assert explained("PutRule", {"Name": "new", "ScheduleExpression": "rate(1 day)"}, "events").effects == ()


def test_a_document_is_taken_as_it_is() -> None:
    pattern = '{"source": ["x"]}'
    call = {"Name": "r", "Description": "d", "EventPattern": pattern}

    assert ("aws_cloudwatch_event_rule.r", "event_pattern", SET, pattern) in written(explained("PutRule", call, "events"))  # fmt: skip


def test_lists_are_added_to_and_taken_from() -> None:
    def of(**parameters: Any) -> Json:
        return explained("ModifyUserGroup", {"UserGroupId": "g", **parameters}).effects[0].value

    assert of(UserIdsToAdd=["c"]) == ["a", "b", "c"]
    assert of(UserIdsToRemove=["a"]) == ["b"]
    both = explained("ModifyUserGroup", {"UserGroupId": "g", "UserIdsToAdd": ["c"], "UserIdsToRemove": ["a"]})
    assert both.basis is Basis.RESOURCE


def test_tags_are_found_by_the_arn_among_several_types() -> None:
    found = explained("AddTagsToResource", {"ResourceName": ARN, "Tags": [{"Key": "team", "Value": "b"}]})
    gone = explained("RemoveTagsFromResource", {"ResourceName": ARN, "TagKeys": ["team"]})

    assert written(found) == [(USER, "tags.team", SET, "b")]
    assert written(gone) == [(USER, "tags.team", SET, None)]


def test_a_name_that_may_mean_resources_of_two_types_is_not_understood() -> None:
    rows = tuple(
        row("Touch", name, SET, identity=same(Name=attribute), confidence=Confidence.RESOURCE)
        for name, attribute in (("aws_elasticache_user", "user_id"), ("aws_elasticache_user_group", "user_group_id"))
    )
    state = {**STATE, "aws_elasticache_user_group.app": {"id": "app", "user_group_id": "app"}}

    assert explained("Touch", {"Name": "app"}, rows=rows).effects[0].address == USER
    assert "may be about" in explained("Touch", {"Name": "app"}, rows=rows, state=state).reason


def test_a_part_that_is_a_resource_of_its_own_is_meant_and_not_its_owner() -> None:
    options = {"identity": same(Id="vpc_peering_connection_id"), "service": "ec2", "confidence": Confidence.RESOURCE}
    connection = {**options, "identity": same(Id="id")}
    rows = (
        row("Touch", "aws_vpc_peering_connection", SET, **connection),
        row("Touch", "aws_vpc_peering_connection_options", SET, **options),
    )
    state: Mapping[str, Mapping[str, Json]] = {"aws_vpc_peering_connection.c": {"id": "pcx-1"}}
    own = {"aws_vpc_peering_connection_options.o": {"id": "pcx-1", "vpc_peering_connection_id": "pcx-1"}}

    def touched(declared: Mapping[str, Mapping[str, Json]]) -> list[str]:
        return [each.address for each in explained("Touch", {"Id": "pcx-1"}, "ec2", declared, rows).effects]

    assert touched(state) == ["aws_vpc_peering_connection.c"]
    assert touched({**state, **own}) == ["aws_vpc_peering_connection_options.o"]


def test_a_creation_that_may_be_of_several_types_needs_a_declared_one() -> None:
    rows = tuple(row("CreateDBCluster", name, CREATE, attributes=same(Id="cluster_identifier")) for name in ("aws_rds_cluster", "aws_docdb_cluster"))  # fmt: skip

    assert explained("CreateDBCluster", {"Id": "c"}, rows=rows).effects == ()


def test_a_map_that_loses_a_key_may_keep_it() -> None:
    def of(**arguments: str) -> Basis | None:
        update = {"JobName": "j", "JobUpdate": {"DefaultArguments": arguments}}
        return explained("UpdateJob", update, "glue").basis

    assert of(**{"--a": "1", "--b": "3"}) is Basis.DERIVED
    assert of(**{"--a": "2"}) is Basis.RESOURCE


def test_constants_explain_a_call_only_with_their_value() -> None:
    fixed = replace(MODIFY_USER, constants={"Mode": "safe"})

    def of(mode: str) -> Basis | None:
        return explained("ModifyUser", {"UserId": "app", "AccessString": "x", "Mode": mode}, rows=(fixed,)).basis

    assert (of("safe"), of("wild")) == (Basis.DERIVED, Basis.RESOURCE)


def test_a_hand_made_row_wins_over_every_derived_one() -> None:
    wrong = row("PurgeQueue", "aws_sqs_queue", SET, service="sqs", confidence=Confidence.RESOURCE, identity=same(QueueUrl="name"))  # fmt: skip
    found = explained("PurgeQueue", {"QueueUrl": f"https://q/{ACCOUNT}/x"}, "sqs", {}, (wrong,), services=SERVICES)

    assert (found.by_hand, found.basis, found.rows) == (True, Basis.HAND, ())


def test_a_call_that_a_hand_made_row_does_not_understand_is_not_read_by_a_derived_one() -> None:
    wrong = row("PurgeQueue", "aws_sqs_queue", SET, service="sqs", identity=same(QueueUrl="name"))
    state = {"aws_sqs_queue.x": {"id": "x", "name": "x"}}

    assert explained("PurgeQueue", {"QueueUrl": "x", "Odd": 1}, "sqs", state, (wrong,), services=SERVICES).effects == ()


def test_secrets_are_masked() -> None:
    keyed = row("ModifyUser", "aws_elasticache_user", SET, attributes=same(Passwords="passwords"), **_USER)
    found = explained("ModifyUser", {"UserId": "app", "Passwords": ["hush-hush-hush-hush"]}, rows=(keyed,))

    assert found.basis is Basis.DERIVED
    assert found.effects[0].sensitive
    assert "hush" not in repr(found)


@pytest.mark.parametrize(
    ("form", "value", "attribute", "written_as"),
    [
        (ValueForm.BASE64, b"text", "access_string", "text"),
        (ValueForm.NEGATED, True, "no_password_required", False),
        (ValueForm.TEXT, "true", "no_password_required", True),
        (ValueForm.ARN, f"arn:aws:x:{REGION}:{ACCOUNT}:kind/n", "access_string", "n"),
        (ValueForm.CASE, "ON ~*", "access_string", "on ~*"),
        (ValueForm.JSON, {"a": 1}, "access_string", '{"a": 1}'),
    ],
)
def test_each_form_becomes_the_value_of_the_attribute(
    form: ValueForm, value: object, attribute: str, written_as: Json
) -> None:
    source = {"P": AttributeSource(attribute=attribute, form=form)}
    found = explained("ModifyUser", {"UserId": "app", "P": value}, rows=(replace(MODIFY_USER, attributes=source),))

    assert written(found) == [(USER, attribute, SET, written_as)]


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (ValueForm.BASE64, b"\xff"),
        (ValueForm.NEGATED, "true"),
        (ValueForm.ARN, f"arn:aws:x:{REGION}:999999999999:kind/n"),
        (ValueForm.ARN, f"arn:aws:x:{REGION}:{ACCOUNT}:kind/path/n"),
        (ValueForm.CASE, "OFF"),
        (ValueForm.DATE, "yesterday"),
    ],
)
def test_what_does_not_have_its_form_leaves_the_resource_alone_known(form: ValueForm, value: object) -> None:
    source = {"P": AttributeSource(attribute="access_string", form=form)}
    found = explained("ModifyUser", {"UserId": "app", "P": value}, rows=(replace(MODIFY_USER, attributes=source),))

    assert found.basis is Basis.RESOURCE


def test_a_list_of_blocks_is_one_value() -> None:
    group = "aws_elasticache_parameter_group.p"
    modify = row(
        "ModifyCacheParameterGroup",
        "aws_elasticache_parameter_group",
        SET,
        identity=same(CacheParameterGroupName="name"),
        attributes={
            "ParameterNameValues.ParameterName": AttributeSource(attribute="parameter.name"),
            "ParameterNameValues.ParameterValue": AttributeSource(attribute="parameter.value"),
        },
    )
    call = {"CacheParameterGroupName": "p", "ParameterNameValues": [{"ParameterName": "a", "ParameterValue": "1"}]}

    def of(*recorded: Json) -> Explanation:
        state = {group: {"id": "p", "name": "p", "parameter": list(recorded)}}
        return explained("ModifyCacheParameterGroup", call, state=state, rows=(modify,))

    assert written(of()) == [(group, "parameter", SET, [{"name": "a", "value": "1"}])]
    assert of({"name": "a", "value": "1"}).basis is Basis.DERIVED
    assert of({"name": "b", "value": "1"}).basis is Basis.RESOURCE


def test_a_structure_that_the_call_alone_has_stands_around_the_blocks() -> None:
    database = "aws_glue_catalog_database.d"
    update = row(
        "UpdateDatabase",
        "aws_glue_catalog_database",
        SET,
        service="glue",
        identity=same(Name="name"),
        attributes={
            f"DatabaseInput.CreateTableDefaultPermissions.{member}": AttributeSource(
                attribute=f"create_table_default_permission.{attribute}"
            )
            for member, attribute in (
                ("Permissions", "permissions"),
                ("Principal.DataLakePrincipalIdentifier", "principal.data_lake_principal_identifier"),
            )
        },
    )
    given = [{"Permissions": ["ALL"], "Principal": {"DataLakePrincipalIdentifier": "me"}}]
    call = {"Name": "d", "DatabaseInput": {"CreateTableDefaultPermissions": given}}

    found = explained("UpdateDatabase", call, "glue", {database: {"id": "d", "name": "d"}}, (update,))

    block: Json = {"permissions": ["ALL"], "principal": [{"data_lake_principal_identifier": "me"}]}
    assert written(found) == [(database, "create_table_default_permission", SET, [block])]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data())
def test_no_parameters_make_it_raise(data: st.DataObject) -> None:
    known = data.draw(st.sampled_from(ROWS))
    names = sorted({path.split(".")[0] for path in (*known.identity, *known.attributes, *known.removes)} | {"Odd"})
    parameters = data.draw(st.dictionaries(st.sampled_from(names), _JSON | st.sampled_from(["app", "g", ARN])))

    explained(known.operation, parameters, known.service)
