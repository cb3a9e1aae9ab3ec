"""Parameters that force, restart, cascade or lift a safeguard: found at any depth, and every candidate of AWS's models is reviewed."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import botocore.session
import pytest

from gateway.aws.models import call_classes
from gateway.core.derived_rows import derived_rows, operations_of, services
from gateway.core.model.mutation import Call
from gateway.effects.call_controls import FILE, Control, controls_of, is_reviewed
from gateway.effects.registry import SERVICES

SUGGESTS = re.compile(
    r"force|skip|immediate|cascad|bypass|ignore|overwrit|restart|reboot|recurs|purge|without|failover|dataloss|destroy|evict|takeover"
    r"|reassoc|reassign|hard|pending|retain|cleanup|deleteall|deleteassoc",
    re.IGNORECASE,
)


def given(name: str, **parameters: Any) -> list[tuple[str, Control]]:
    service, _, operation = name.partition(":")
    found = controls_of(Call(service=service, operation=operation, parameters=parameters))
    return [(each.parameter, each.control) for each in found]


def test_a_control_is_found_at_any_depth() -> None:
    assert given("rds:ModifyDBInstance", ApplyImmediately=True) == [("ApplyImmediately", Control.APPLIES_PENDING)]
    nested = {"WindowsConfiguration": {"SkipFinalBackup": True}, "List": [{"Force": True}, "Force"]}
    assert given("fsx:DeleteFileSystem", **nested) == [
        ("SkipFinalBackup", Control.SKIPS_BACKUP),
        ("Force", Control.FORCES),
    ]


def test_a_control_counts_with_the_value_that_acts() -> None:
    assert given("rds:ModifyDBInstance", ApplyImmediately=False) == []
    assert given("ec2:CreateImage", NoReboot=True) == []
    assert given("ec2:CreateImage", NoReboot=False) == [("NoReboot", Control.RESTARTS)]
    assert given("mwaa:UpdateEnvironment", WorkerReplacementStrategy="FORCED") == [
        ("WorkerReplacementStrategy", Control.RESTARTS)
    ]
    assert given("mwaa:UpdateEnvironment", WorkerReplacementStrategy="GRACEFUL") == []


def test_where_a_name_says_something_else_it_is_plain() -> None:
    assert given("ssm:PutParameter", Overwrite=True) == []
    assert given("s3:Other", Overwrite=True) == [("Overwrite", Control.OVERWRITES)]


def _members(shape: Any, inside: frozenset[str] = frozenset()) -> Iterator[tuple[str, bool]]:
    """Every boolean member of a shape, and whether it stands at the top."""
    if shape.type_name == "structure" and shape.name not in inside:
        for name, member in shape.members.items():
            if member.type_name == "boolean":
                yield name, not inside
            yield from _members(member, inside | {shape.name})
    elif shape.type_name in ("list", "map"):
        yield from _members(shape.member if shape.type_name == "list" else shape.value, inside | {"*"})


@pytest.mark.slow
def test_every_boolean_parameter_of_aws_is_reviewed() -> None:
    """All that stand at the top of a mutation's parameters, and deeper ones whose names suggest it."""
    session, classes, unreviewed = botocore.session.get_session(), call_classes.shipped(), set()
    for service in session.get_available_services():
        model = session.get_service_model(service)
        for operation in model.operation_names:
            if not classes.of(service, operation).changes_state:
                continue
            shape = model.operation_model(operation).input_shape
            for name, top in _members(shape) if shape is not None else ():
                if (top or SUGGESTS.search(name)) and not is_reviewed(name):
                    unreviewed.add(f"{service}:{operation}.{name}")
    assert unreviewed == set(), "review these: do they force, cascade, restart, overwrite or lift a safeguard?"


def test_every_control_of_a_row_is_reviewed() -> None:
    unreviewed = {
        f"{service}:{operation}.{name}"
        for service, rows in SERVICES.items()
        for operation, row in rows.items()
        for name in (*row.controls, *row.arguments)
        if not is_reviewed(name)
    }
    for service in services():
        for operation in operations_of(service):
            for row in derived_rows(service, operation):
                switches = (name for name, value in row.constants.items() if isinstance(value, bool))
                unreviewed |= {
                    f"{service}:{operation}.{name}" for name in (*row.controls, *switches) if not is_reviewed(name)
                }
    assert unreviewed == set(), "review these in gateway/effects/reviewed_controls.json"


def test_each_name_is_reviewed_once() -> None:
    entries = json.loads((files("gateway.effects") / FILE).read_bytes())
    lists = [*entries["when_true"].values(), *entries["when_false"].values(), entries["plain"]]
    names = [name for lines in lists for line in lines for name in line.split()]
    assert len(names) == len(set(names))
    assert all(reason.endswith(".") for reason in entries["plain_in"].values())
