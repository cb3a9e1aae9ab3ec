"""Derivation of rows from traces: what is certain becomes a mapping, everything else is listed as unexplained."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, ValueForm
from gateway.core.model.mutation import CallClass, EffectAction
from gateway.core.model.path import AttributePath
from gateway.core.service_models import ServiceModels
from gateway.effects.schema import TypeSchema
from tests.tools.effects_tracing.actions import actions_of
from tests.tools.effects_tracing.derivation import rows_of_type
from tests.tools.effects_tracing.evidence import evidence_of
from tests.tools.effects_tracing.forms import token
from tests.tools.effects_tracing.traces import Phase, RecordedCall, Run, Summary, Trace

CREATE, SET, DELETE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE
STATE = {"id": "mk0a1b2c", "arn": "arn:aws:efs:us-east-1:123456789012:x/mk0a1b2c"}


class AnyParameters:
    """Models of operations that have every parameter: what a case sends is its own."""

    type_name = "map"
    members: Mapping[str, Any] = {}
    required_members: Sequence[str] = ()

    enum: Sequence[str] = ()

    @property
    def value(self) -> "AnyParameters":
        return self

    def shape(self, _service: str, _operation: str) -> "AnyParameters":
        return self


INVENTED = cast(ServiceModels, AnyParameters())


def marker(name: str, run: int) -> str:
    return token((name,), run)


def call(operation: str, parameters: Mapping[str, Any], service: str = "efs") -> RecordedCall:
    return RecordedCall(
        service=service, operation=operation, call_class=CallClass.MUTATION.value, parameters=parameters
    )


def run(
    phase: Phase,
    name: str,
    calls: Sequence[RecordedCall],
    *,
    config: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
) -> Run:
    return Run(phase=phase, run=name, config=config, state=state, calls=[*calls], reads=[])


def rows(
    runs: Sequence[Run], kinds: Mapping[str, str], create_only: Sequence[str] = (), models: ServiceModels = INVENTED
) -> dict[str, DerivedRow]:
    schema = TypeSchema(kinds=kinds, sensitive=frozenset[AttributePath]())
    summary = Summary(resource_type="aws_x", variant=1, reached=True, create_only=[*create_only])
    found = rows_of_type([Trace(summary=summary, runs=[*runs])], schema, models)
    return {row.operation: row for row in found}


def source(attribute: str, form: ValueForm = ValueForm.SAME) -> AttributeSource:
    return AttributeSource(attribute=attribute, form=form)


def created(*calls: Mapping[str, Any], operation: str = "CreateFileSystem", **configs: Any) -> list[Run]:
    """Creates with these parameters, each with the configuration of its place."""
    return [
        run(
            Phase.CREATE,
            str(at),
            [call(operation, each)],
            config={name: values[at] for name, values in configs.items()},
        )
        for at, each in enumerate(calls)
    ]


def test_a_marker_is_followed_from_the_attribute_to_the_parameter() -> None:
    names = [marker("name", at) for at in range(2)]
    keys = [marker("key", at) for at in range(2)]
    runs = created(*({"Title": a, "KeyId": b} for a, b in zip(names, keys, strict=True)), name=names, kms_key_id=keys)
    row = rows(runs, {"name": "string", "kms_key_id": "string"})["CreateFileSystem"]
    assert row.attributes == {"Title": source("name"), "KeyId": source("kms_key_id")}
    assert row.actions == {CREATE}
    assert row.confidence is Confidence.ATTRIBUTES


def test_the_delete_shows_the_identity_and_the_create_has_it_only_if_it_names_the_whole_of_it() -> None:
    names = [marker("name", at) for at in range(2)]
    base = {**STATE, "name": names[0]}
    runs = [
        *created(*({"Name": each} for each in names), name=names),
        run(Phase.DELETE, "0", [call("DeleteFileSystem", {"FileSystemId": names[0]})], state={**base, "id": names[0]}),
    ]
    found = rows(runs, {"name": "string"}, ["name"])
    assert found["DeleteFileSystem"].identity == {"FileSystemId": source("name")}
    assert found["CreateFileSystem"].identity == {"Name": source("name")}
    by_id = [*runs[:2], run(Phase.DELETE, "0", [call("DeleteFileSystem", {"FileSystemId": STATE["id"]})], state=base)]
    found = rows(by_id, {"name": "string"}, ["name"])
    assert found["DeleteFileSystem"].identity == {"FileSystemId": source("id")}
    assert found["CreateFileSystem"].identity == {}


def test_what_no_attribute_explains_leaves_only_the_resource_certain() -> None:
    names = [marker("name", at) for at in range(2)]
    runs = created({"Name": names[0], "Mode": "abc"}, {"Name": names[1], "Mode": "xyz"}, name=names)
    row = rows(runs, {"name": "string"})["CreateFileSystem"]
    assert row.unexplained == {"Mode"}
    assert row.confidence is Confidence.RESOURCE


def test_a_call_whose_resource_is_not_seen_is_certain_of_the_type_only() -> None:
    runs = [
        *created({"Name": marker("name", 0)}, name=[marker("name", 0)]),
        run(Phase.DELETE, "0", [call("DeleteFileSystem", {"FileSystemId": "something-else"})], state=STATE),
    ]
    row = rows(runs, {"name": "string"})["DeleteFileSystem"]
    assert row.actions == {DELETE}
    assert row.confidence is Confidence.TYPE
    assert row.unexplained == {"FileSystemId"}


def test_a_constant_is_recorded_and_what_an_attribute_has_too_is_none() -> None:
    names = [marker("name", at) for at in range(2)]
    runs = created(*({"Name": each, "Kind": "fixed", "Zone": "eu"} for each in names), name=names, place=["eu", "eu"])
    row = rows(runs, {"name": "string", "place": "string"})["CreateFileSystem"]
    assert row.constants == {"Kind": "fixed"}
    assert row.unexplained == {"Zone"}


def test_an_empty_text_and_a_document_are_no_constants() -> None:
    names = [marker("name", at) for at in range(2)]
    runs = created(*({"Name": each, "Rules": "", "Body": "[1]"} for each in names), name=names)
    row = rows(runs, {"name": "string", "policy": "string"})["CreateFileSystem"]
    assert row.constants == {}
    assert row.unexplained == {"Body", "Rules"}


def test_what_the_tracer_made_up_is_no_constant() -> None:
    names = [marker("name", at) for at in range(2)]
    runs = created(*({"Name": each, "Region": "us-east-1", "Zone": "us-east-1b", "Bot": "mkejbfpjcj"} for each in names), name=names)  # fmt: skip
    row = rows(runs, {"name": "string"})["CreateFileSystem"]
    assert row.constants == {}
    assert row.unexplained == {"Bot", "Region", "Zone"}


def test_finite_values_need_a_column_over_the_runs_and_a_name_that_fits() -> None:
    on = [True, False, True, False]
    runs = created(*({"Encrypted": each, "Backup": each} for each in on), encrypted=on)
    row = rows(runs, {"encrypted": "bool"})["CreateFileSystem"]
    assert row.attributes == {"Encrypted": source("encrypted")}
    assert row.unexplained == {"Backup"}


def test_a_switch_that_is_sent_only_when_it_is_on_is_told_by_the_runs_without_it() -> None:
    on = [True, False, True, False]
    parameters: list[dict[str, Any]] = [{"Encrypted": True} if each else {} for each in on]
    row = rows(created(*parameters, encrypted=on, backup=[True] * 4), {"encrypted": "bool"})["CreateFileSystem"]
    assert row.attributes == {"Encrypted": source("encrypted")}
    row = rows(created(*parameters, encrypted=[True] * 4), {"encrypted": "bool"})["CreateFileSystem"]
    assert row.unexplained == {"Encrypted"}


def update(changed: str, parameters: Mapping[str, Any], config: Mapping[str, Any], phase: Phase = Phase.EACH) -> Run:
    return run(phase, changed, [call("UpdateFileSystem", parameters)], config=config, state=OLD)


OLD = {**STATE, "first": marker("first", 0), "second": marker("second", 0), "enabled": True, "mode": "a"}
CONFIG = {name: OLD[name] for name in ("first", "second", "enabled", "mode")}


def test_a_parameter_that_comes_with_one_attribute_alone_is_caused_by_it() -> None:
    identity = {"FileSystemId": OLD["id"]}
    runs = [
        update("enabled", {**identity, "BackupOff": True}, {**CONFIG, "enabled": False}),
        update("mode", {**identity, "Mode": "b"}, {**CONFIG, "mode": "b"}),
    ]
    row = rows(runs, {"enabled": "bool", "mode": "string"})["UpdateFileSystem"]
    assert row.attributes == {"BackupOff": source("enabled", ValueForm.NEGATED), "Mode": source("mode")}
    assert row.identity == {"FileSystemId": source("id")}
    assert row.confidence is Confidence.ATTRIBUTES


def test_attributes_that_the_provider_swaps_where_both_change_at_once_are_not_explained() -> None:
    """As Cognito's `pre_token_generation` and `pre_token_generation_config.lambda_arn`, which the provider keeps equal."""
    first, second = ([marker(name, at) for at in range(3)] for name in ("first", "second"))
    nested = {"config.first": "string", "config.second": "string", "config": "block"}
    creates = [
        run(
            Phase.CREATE,
            str(at),
            [call("CreateFileSystem", {"A": first[at], "B": second[at]})],
            config=both(first[at], second[at]),
        )
        for at in range(3)
    ]
    swapped = run(
        Phase.UPDATE,
        "1",
        [call("UpdateFileSystem", {"FileSystemId": STATE["id"], "A": second[1], "B": first[1]})],
        config=both(first[1], second[1]),
        state={**STATE, **both(first[0], second[0])},
    )
    found = rows([*creates, swapped], nested)
    assert found["UpdateFileSystem"].unexplained == {"A", "B"}
    assert found["CreateFileSystem"].unexplained == {"A", "B"}


def both(first: str, second: str) -> dict[str, Any]:
    return {"config": [{"first": first, "second": second}]}


def test_an_operation_that_takes_away_names_old_values() -> None:
    old = {**STATE, "tags": {marker("key", 0): marker("tags", 0)}}
    new = {"tags": {marker("key", 1): marker("tags", 1)}}
    runs = [
        run(
            Phase.UPDATE,
            "1",
            [
                call(
                    "TagResource",
                    {"ResourceId": STATE["id"], "Tags": [{"Key": marker("key", 1), "Value": marker("tags", 1)}]},
                ),
                call("UntagResource", {"ResourceId": STATE["id"], "TagKeys": [marker("key", 0)]}),
            ],
            config=new,
            state=old,
        )
    ]
    found = rows(runs, {"tags": "map(string)"})
    assert found["TagResource"].attributes == {"Tags": source("tags")}
    assert found["UntagResource"].removes == {"TagKeys": "tags"}
    assert {row.confidence for row in found.values()} == {Confidence.ATTRIBUTES}


def test_the_old_name_of_what_is_renamed_identifies_it() -> None:
    old, new = marker("name", 0), marker("name", 1)
    state = {**STATE, "name": old}
    renamed = call("UpdateFileSystem", {"FileSystemId": old, "NewName": new})
    row = rows([run(Phase.UPDATE, "1", [renamed], config={"name": new}, state=state)], {"name": "string"})
    assert row["UpdateFileSystem"].identity == {"FileSystemId": source("name")}
    assert row["UpdateFileSystem"].attributes == {"NewName": source("name")}


def test_an_attribute_that_is_unset_by_silence_is_said_to_be_reset() -> None:
    identity = {"FileSystemId": OLD["id"]}
    kinds = {"first": "string", "second": "string"}
    new = marker("first", 1)
    without = {name: value for name, value in CONFIG.items() if name != "first"}
    runs = [
        update("first", {**identity, "First": new, "Second": OLD["second"]}, {**CONFIG, "first": new}),
        update("second", {**identity, "Second": marker("second", 1)}, {**CONFIG, "second": marker("second", 1)}),
        update("first", {**identity, "Second": OLD["second"]}, without, Phase.OMIT),
    ]
    row = rows(runs, kinds)["UpdateFileSystem"]
    assert row.attributes == {"First": source("first"), "Second": source("second")}
    assert row.resets == {"First"}


def test_an_operation_that_is_called_only_where_an_attribute_is_left_out_clears_it() -> None:
    without = {name: value for name, value in CONFIG.items() if name != "first"}
    cleared = call("DeleteFileSystemPolicy", {"FileSystemId": OLD["id"]})
    found = rows([run(Phase.OMIT, "first", [cleared], config=without, state=OLD)], {"first": "string"})
    row = found["DeleteFileSystemPolicy"]
    assert row.clears == {"first"}
    assert row.actions == {SET}
    assert row.confidence is Confidence.ATTRIBUTES


def test_tokens_of_idempotency_are_controls() -> None:
    names = [marker("name", at) for at in range(2)]
    runs = created(*({"Name": each, "CreationToken": f"t-{each}x"} for each in names), name=names)
    found = rows(runs, {"name": "string"}, models=ServiceModels())
    assert found["CreateFileSystem"].controls == {"CreationToken"}


def test_what_an_sdk_computes_of_the_body_is_a_control() -> None:
    names = [marker("key", at) for at in range(2)]
    sent = {"ChecksumAlgorithm": "CRC32", "ChecksumCRC32": "AAAAAA==", "ContentLength": 0, "ContentMD5": "x"}
    put = [
        call("PutObject", {"Bucket": "b", "Key": each, "ContentType": "text", **sent}, service="s3") for each in names
    ]
    runs = [run(Phase.CREATE, str(at), [each], config={"key": names[at]}) for at, each in enumerate(put)]
    row = rows(runs, {"key": "string"}, models=ServiceModels())["PutObject"]
    assert row.controls == sent.keys()
    assert row.constants == {"Bucket": "b", "ContentType": "text"}


def test_the_algorithm_of_a_checksum_is_the_attribute_that_says_it() -> None:
    algorithms = ["CRC32", "CRC32C", "SHA256", "CRC32C"]
    runs = [
        run(
            Phase.CREATE,
            str(at),
            [call("PutObject", {"Key": marker("key", at), "ChecksumAlgorithm": algorithm}, service="s3")],
            config={"key": marker("key", at), "checksum_algorithm": algorithm},
        )
        for at, algorithm in enumerate(algorithms)
    ]
    row = rows(runs, {"key": "string", "checksum_algorithm": "string"}, models=ServiceModels())["PutObject"]
    assert row.attributes["ChecksumAlgorithm"] == source("checksum_algorithm")


def test_members_of_a_json_document_are_not_parameters() -> None:
    names = [marker("name", at) for at in range(2)]
    runs = created(*({"Tags": [{"Key": each, "Odd": {"a": each}}]} for each in names), name=names)
    row = rows(runs, {"name": "string"}, models=ServiceModels())["CreateFileSystem"]
    assert row.attributes == {"Tags.Key": source("name")}
    assert row.unexplained == {"Tags"}


def test_reads_and_secrets_give_no_rows() -> None:
    read = RecordedCall(service="efs", operation="DescribeFileSystems", call_class=CallClass.READ.value, parameters={})
    assert rows([run(Phase.CREATE, "0", [read], config={})], {}) == {}


def test_only_the_operation_that_ends_the_resource_is_a_delete() -> None:
    ends = [call("DeleteTags", {"FileSystemId": STATE["id"]}), call("DeleteFileSystem", {"FileSystemId": STATE["id"]})]
    runs = [
        *created({"Name": marker("name", 0)}, name=[marker("name", 0)]),
        run(Phase.DELETE, "0", ends, state=STATE),
    ]
    found = rows(runs, {"name": "string"})
    assert found["DeleteFileSystem"].actions == {DELETE}
    assert found["DeleteTags"].actions == {SET}


def test_an_operation_that_undoes_by_a_change_is_a_delete_that_sets() -> None:
    runs = [
        *created({"FileSystemId": marker("file", 0)}, operation="PutBackupPolicy", file=[marker("file", 0)]),
        run(
            Phase.DELETE,
            "0",
            [call("PutBackupPolicy", {"FileSystemId": marker("file", 0)})],
            state={"id": marker("file", 0), "file": marker("file", 0)},
        ),
    ]
    assert rows(runs, {"file": "string"}, ["file"])["PutBackupPolicy"].actions == {CREATE, SET, DELETE}


def test_what_only_loosens_a_created_resource_does_not_delete_it() -> None:
    """As DetachInternetGateway, where the provider then waits before it sends DeleteInternetGateway."""
    runs = [
        *created({"Name": marker("name", 0)}, operation="CreateAccessPoint", name=[marker("name", 0)]),
        run(
            Phase.DELETE,
            "0",
            [call("DisassociateAccessPoint", {"FileSystemId": STATE["id"]}, "detective")],
            state=STATE,
        ),
    ]
    found = rows_of_operations(runs)
    assert found["DisassociateAccessPoint"] == {SET}


def rows_of_operations(runs: Sequence[Run]) -> Mapping[str, frozenset[EffectAction]]:
    """The actions of each operation, also of names that no service has."""
    trace = Trace(summary=Summary(resource_type="aws_x", variant=1), runs=[*runs])
    return {name: found for (_, name), found in actions_of(evidence_of([trace])).items()}


def test_an_attribute_that_the_names_contradict_is_no_explanation() -> None:
    """As the domain name that the provider sends among the alternative names of a certificate."""
    names = [marker("name", at) for at in range(2)]
    runs = created(*({"OtherNames": [each]} for each in names), domain=names)
    row = rows(runs, {"domain": "string", "other_names": "set(string)"})["CreateFileSystem"]
    assert row.unexplained == {"OtherNames"}
    assert rows(runs, {"domain": "string"})["CreateFileSystem"].attributes == {"OtherNames": source("domain")}


def test_what_names_only_the_surroundings_of_a_resource_does_not_identify_it() -> None:
    """As the instance of a Connect user, where the user's id is only a part of an attribute."""
    user, instance = "mk11aa22", marker("instance_id", 0)
    state = {"id": f"{instance}:{user}:mk33cc44", "instance_id": instance}
    delete = run(Phase.DELETE, "0", [call("DeleteMountTarget", {"InstanceId": instance, "UserId": user})], state=state)
    row = rows([delete], {"instance_id": "string"}, ["instance_id"])["DeleteMountTarget"]
    assert row.confidence is Confidence.TYPE
    whole = run(
        Phase.DELETE, "0", [call("DeleteMountTarget", {"InstanceId": instance})], state={**state, "id": instance}
    )
    assert (
        rows([whole], {"instance_id": "string"}, ["instance_id"])["DeleteMountTarget"].confidence is not Confidence.TYPE
    )


def test_a_column_does_not_outweigh_the_whole_name_of_another_attribute() -> None:
    """As `PointInTimeRecoveryEnabled`, which the provider also sends for each replica of a table."""
    on = [True, False, True, False]
    kinds = {"replica": "set(block)", "replica.backup": "bool", "backup": "block", "backup.enabled": "bool"}
    runs = created(*({"BackupEnabled": each} for each in on), replica=[[{"backup": each}] for each in on])
    assert rows(runs, kinds)["CreateFileSystem"].unexplained == {"BackupEnabled"}
    kinds = {"replica": "set(block)", "replica.backup": "bool"}
    assert rows(runs, kinds)["CreateFileSystem"].attributes == {"BackupEnabled": source("replica.backup")}


def test_a_constant_value_is_the_attributes_whose_whole_name_it_has() -> None:
    names = [marker("name", at) for at in range(2)]
    kinds = {"name": "string", "engine": "string", "settings": "block", "settings.mode": "string", "kind": "string"}
    parameters = [{"Name": each, "Engine": "redis", "Settings": {"Mode": "on"}, "Odd": "on"} for each in names]
    runs = created(*parameters, name=names, engine=["redis"] * 2, kind=["redis"] * 2, settings=[[{"mode": "on"}]] * 2)
    row = rows(runs, kinds)["CreateFileSystem"]
    assert row.attributes == {
        "Name": source("name"),
        "Engine": source("engine"),
        "Settings.Mode": source("settings.mode"),
    }
    assert row.unexplained == {"Odd"}


def test_a_whole_name_outweighs_a_column_that_says_another_attribute() -> None:
    """As the branch of an Amplify app, whose performance mode had the column of its previews."""
    on = [True, False, True]
    kinds = {"preview_mode": "bool", "performance_mode": "bool"}
    runs = created(*({"PerformanceMode": each} for each in on), preview_mode=on, performance_mode=on)
    assert rows(runs, kinds)["CreateFileSystem"].attributes == {"PerformanceMode": source("performance_mode")}
    other = created(*({"PerformanceMode": each} for each in on), preview_mode=on, performance_mode=[True] * 3)
    assert rows(other, kinds)["CreateFileSystem"].unexplained == {"PerformanceMode"}


def test_a_name_counts_in_the_block_that_markers_of_the_same_structure_belong_to() -> None:
    names = [marker("name", at) for at in range(2)]
    kinds = {"plan_setting": "block", "plan_setting.name": "string", "plan_setting.type": "string", "type": "string"}
    parameters = [{"Plan": {"Setting": {"Title": each, "Type": "EC2"}}} for each in names]
    config = [[{"name": each, "type": "EC2"}] for each in names]
    row = rows(created(*parameters, plan_setting=config, type=["EC2"] * 2), kinds)["CreateFileSystem"]
    assert row.attributes["Plan.Setting.Type"] == source("plan_setting.type")
    alone = [{"Plan": {"Setting": {"Type": "EC2"}}}] * 2
    row = rows(created(*alone, plan_setting=config, type=["EC2"] * 2), kinds)["CreateFileSystem"]
    assert row.unexplained == {"Plan.Setting.Type"}


def test_the_parts_of_an_id_identify_the_resource_together() -> None:
    first, second = marker("detector", 0), "mk11aa22"
    state = {"id": f"{first}:{second}", "finding": "x"}
    parameters = {"DetectorId": first, "IpSetId": second}
    row = rows([run(Phase.DELETE, "0", [call("DeleteFileSystem", parameters)], state=state)], {})["DeleteFileSystem"]
    part = source("id", ValueForm.PART)
    assert (row.identity, row.id_form) == ({"DetectorId": part, "IpSetId": part}, "{DetectorId}:{IpSetId}")
    assert row.confidence is Confidence.ATTRIBUTES
    known = {**state, "detector_id": first}
    row = rows(
        [run(Phase.DELETE, "0", [call("DeleteFileSystem", parameters)], state=known)], {"detector_id": "string"}
    )["DeleteFileSystem"]
    assert row.identity == {"DetectorId": source("detector_id"), "IpSetId": part}


@pytest.mark.parametrize(
    "own", ["mk11aa22", "mk0a0b0c:mk11aa22:mk33cc44", "mk0a0b0c:us-east-1:mk11aa22", "mk0a0b0cmk11aa22"]
)
def test_an_id_that_is_made_of_more_than_the_parameters_has_no_form(own: str) -> None:
    deleted = call("DeleteFileSystem", {"DetectorId": "mk0a0b0c", "IpSetId": "mk11aa22"})
    row = rows([run(Phase.DELETE, "0", [deleted], state={"id": own})], {})["DeleteFileSystem"]
    assert row.id_form == ""


def test_what_is_the_id_in_the_delete_is_not_another_attribute_that_has_its_value_by_chance() -> None:
    """As the framework of an assessment, to which the stub gave the assessment's id."""
    own = STATE["id"]
    changed = call("UpdateFileSystem", {"FileSystemId": own, "Title": marker("name", 1)})
    runs = [
        run(Phase.UPDATE, "1", [changed], config={"name": marker("name", 1), "other_id": "x"}, state={**STATE, "other_id": own}),
        run(Phase.DELETE, "0", [call("DeleteFileSystem", {"FileSystemId": own})], state=STATE),
    ]  # fmt: skip
    found = rows(runs, {"name": "string", "other_id": "string"}, ["other_id"])
    assert found["UpdateFileSystem"].identity == {"FileSystemId": source("id")}


def test_the_operation_that_another_choice_leads_to_creates_too_and_what_comes_before_a_create_does_not() -> None:
    first, second = ({"Name": marker("name", at)} for at in range(2))
    loosens = call("DisassociateAccessPoint", first)
    runs = [
        run(Phase.CREATE, "0", [loosens, call("CreateDirectory", first), call("PutPolicy", first)], config={}),
        run(Phase.CREATE, "1", [call("CreateOtherDirectory", second), call("PutPolicy", second)], config={}),
        run(Phase.CREATE, "2", [call("StartSearch", second)], config={}),
    ]
    assert rows_of_operations(runs) == {
        "DisassociateAccessPoint": {SET},
        "CreateDirectory": {CREATE},
        "CreateOtherDirectory": {CREATE},
        "PutPolicy": {SET},
        "StartSearch": {SET},
    }


def test_what_a_delete_empties_or_takes_from_another_service_is_no_delete() -> None:
    emptied = call("DeleteMountTarget", {"FileSystemId": STATE["id"], "MountTargetId": "mk33cc44"})
    runs = [
        *created({"Name": marker("name", 0)}, name=[marker("name", 0)]),
        run(Phase.DELETE, "0", [emptied, call("DeleteFileSystem", {"FileSystemId": STATE["id"]})], state=STATE),
    ]
    assert rows(runs, {"name": "string"})["DeleteMountTarget"].confidence is Confidence.TYPE
    elsewhere = call("DeleteServiceLinkedRole", {"RoleName": "own"}, "iam")
    runs = [*runs[:1], run(Phase.DELETE, "0", [elsewhere], state=STATE)]
    assert rows_of_operations(runs)["DeleteServiceLinkedRole"] == {SET}


def test_an_identity_that_is_a_part_of_the_id_beside_a_marker_names_nothing() -> None:
    """As the application of a deployment: who starts it does not say which deployment."""
    started = call("UpdateFileSystem", {"FileSystemId": "mk0a0b0c", "Flag": marker("flag", 1)})
    state = {"id": "mk0a0b0c,mk11aa22", "app_id": "mk0a0b0c", "flag": marker("flag", 0)}
    runs = [run(Phase.UPDATE, "1", [started], config={"app_id": "mk0a0b0c", "flag": marker("flag", 1)}, state=state)]
    assert rows(runs, {"app_id": "string", "flag": "string"})["UpdateFileSystem"].confidence is Confidence.TYPE


def test_a_parameter_with_one_accepted_value_is_a_constant() -> None:
    names = [marker("name", at) for at in range(2)]
    runs = created(*({"domainName": each, "domainNameConfigurations": [{"endpointType": "X"}]} for each in names), name=names, place=["X"] * 2)  # fmt: skip
    row = rows(runs, {"name": "string", "place": "string"})["CreateFileSystem"]
    assert row.unexplained == {"domainNameConfigurations.endpointType"}

    class OneValue(AnyParameters):
        enum = ("X",)

    row = rows(runs, {"name": "string", "place": "string"}, models=cast(ServiceModels, OneValue()))["CreateFileSystem"]
    assert row.constants == {"domainNameConfigurations.endpointType": "X"}


def test_what_was_the_id_in_every_run_identifies_also_where_another_attribute_repeats_it() -> None:
    """As the settings of a Pinpoint application, which its create sends after the application."""
    own = {"id": "mk11aa22", "application_id": "mk11aa22"}
    sent = [call("CreateFileSystem", {"Name": marker("name", 0)}), call("PutFileSystemPolicy", {"ApplicationId": own["id"], "Policy": marker("policy", 0)})]  # fmt: skip
    config = {"name": marker("name", 0), "policy": marker("policy", 0)}
    made = Run(phase=Phase.CREATE, run="0", config=config, state=None, after={**config, **own}, calls=sent, reads=[])
    changed = run(Phase.UPDATE, "1", sent[1:], config={**config, "policy": "mk55ee66"}, state={**config, **own})
    found = rows([made, changed], {"name": "string", "policy": "string"})
    assert found["PutFileSystemPolicy"].identity == {"ApplicationId": source("application_id")}
    other = run(Phase.UPDATE, "1", sent[1:], config={**config, "application_id": "mk33cc44"}, state={**config, **own})
    kinds = {"name": "string", "policy": "string", "application_id": "string"}
    assert rows([other], kinds)["PutFileSystemPolicy"].identity != {"ApplicationId": source("id")}


def test_what_the_provider_makes_itself_is_the_computed_attribute_of_its_name() -> None:
    """A password that no code sets: the state had what was sent, before AWS had answered anything."""
    users = [marker("user", at) for at in range(3)]
    kinds = {"user": "string"}

    def makes(kept: Sequence[str], sent: Sequence[str]) -> DerivedRow:
        runs = created(*({"User": a, "Password": b} for a, b in zip(users, sent, strict=True)), user=users)
        made = [
            msgspec.structs.replace(each, after={"id": user, "user": user, "password": word})
            for each, user, word in zip(runs, users, kept, strict=True)
        ]
        return rows(made, kinds)["CreateFileSystem"]

    words = ["a-first-word!", "a-second-word!", "a-third-word!"]
    assert makes(words, words).attributes["Password"] == source("password")
    assert makes([words[0]] * 3, words).unexplained == {"Password"}, "the state has another one"
    assert "password" not in str(makes(words, [words[0]] * 3).attributes), "the same in every run"


def test_a_name_that_another_call_changed_before_identifies() -> None:
    """Tags are sent by the new name where everything changes at once, and by the name as it stays where only they change."""
    old, new = marker("name", 0), marker("name", 1)
    before = {**STATE, "name": old, "tags": {"a": "1"}}

    def change(phase: Phase, which: str, calls: Sequence[RecordedCall], **config: Any) -> Run:
        return run(phase, which, calls, config={"name": old, "tags": {"a": "1"}, **config}, state=before)

    renames = call("RenameCertificate", {"CertificateName": old, "NewName": new})
    runs = [
        run(Phase.CREATE, "0", [call("UploadCertificate", {"CertificateName": old})], config={"name": old}),
        change(
            Phase.UPDATE, "1", [renames, call("TagCertificate", {"CertificateName": new})], name=new, tags={"a": "2"}
        ),
        change(Phase.EACH, "name", [renames], name=new),
        change(Phase.EACH, "tags", [call("TagCertificate", {"CertificateName": old})], tags={"a": "2"}),
        run(Phase.DELETE, "0", [call("DeleteCertificate", {"CertificateName": old})], state=before),
    ]
    kinds = {"name": "string", "tags": "map(string)"}
    assert rows(runs, kinds)["TagCertificate"].identity == {"CertificateName": source("name")}
    alone = [each for each in runs if each.phase is not Phase.EACH]
    assert rows(alone, kinds)["TagCertificate"].identity == {}, "it may be what is changed"


def test_what_is_registered_anew_under_its_name_is_changed() -> None:
    """A job definition gets its next revision so; what `Create` makes in an update is something else."""
    names = [marker("name", at) for at in range(3)]
    values = [marker("value", at) for at in range(3)]
    for operation, actions in (("RegisterThing", {CREATE, SET}), ("CreateThing", {CREATE})):
        given = [{"Name": name, "Value": value} for name, value in zip(names, values, strict=True)]
        changed = {"Name": names[0], "Value": values[1]}
        state = {**STATE, "id": names[0], "name": names[0], "value": values[0]}
        runs = [
            *created(*given, operation=operation, name=names, value=values),
            run(
                Phase.EACH,
                "value",
                [call(operation, changed)],
                config={"name": names[0], "value": values[1]},
                state=state,
            ),
        ]
        assert rows(runs, {"name": "string", "value": "string"}, ["name"])[operation].actions == actions


def test_what_the_stub_answers_in_the_place_of_a_configured_value_identifies_nothing_beside_the_id() -> None:
    """The parent of a unit is read back with the id of the unit itself."""
    parents = [f"r-{marker('parent', at)}" for at in range(3)]
    read = {**STATE, "parent_id": STATE["id"]}
    runs = [
        run(
            Phase.CREATE,
            str(at),
            [call("CreateUnit", {"ParentId": each})],
            config={"parent_id": each, "tags": {"a": "b"}},
        )
        for at, each in enumerate(parents)
    ]
    runs = [msgspec.structs.replace(each, after=read) for each in runs]
    tags = {"k": marker("tag", 0)}
    runs.append(
        run(
            Phase.UPDATE,
            "1",
            [call("TagResource", {"ResourceId": STATE["id"], "Tags": tags})],
            config={"parent_id": parents[0], "tags": tags},
            state=read,
        )
    )
    kinds = {"parent_id": "string", "tags": "map(string)"}
    assert rows(runs, kinds, ["parent_id"])["TagResource"].identity == {"ResourceId": source("id")}
    same = [
        msgspec.structs.replace(each, after={**read, "parent_id": (each.config or {})["parent_id"]})
        for each in runs[:-1]
    ]
    found = rows([*same, runs[-1]], kinds, ["parent_id"])["TagResource"]
    assert found.identity == {"ResourceId": source("parent_id")}, (
        "what is read back as it was configured says more than the id"
    )


def test_a_create_that_names_what_was_there_before_does_not_name_what_it_creates() -> None:
    """An association is replaced by the new one, which has another id."""
    lists = [marker("list", at) for at in range(3)]
    before, made = marker("before", 0), marker("made", 0)
    runs = [
        *created(*({"AssociationId": before, "ListId": each} for each in lists), operation="ReplaceAssociation", list_id=lists),
        run(
            Phase.DELETE,
            "0",
            [call("ReplaceAssociation", {"AssociationId": made, "ListId": lists[0]})],
            state={"id": made, "list_id": lists[0]},
        ),
    ]  # fmt: skip
    row = rows(runs, {"list_id": "string"}, ["list_id"])["ReplaceAssociation"]
    assert ("AssociationId" in row.identity, row.confidence) == (False, Confidence.TYPE)
    assert row.unexplained == {"AssociationId"}
