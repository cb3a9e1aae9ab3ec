"""Parameters that force, restart, cascade or lift a safeguard: found at any depth, and every candidate of AWS's models is reviewed."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from gateway.aws.models import call_classes
from gateway.aws.models.routing_index import models
from gateway.core.derived_rows import derived_rows, operations_of, services
from gateway.core.model.mutation import Call
from gateway.effects.call_controls import FILE, Control, controls_of, is_reviewed
from gateway.effects.registry import SERVICES

SUGGESTS = re.compile(
    r"force|skip|immediate|cascad|bypass|ignore|overwrit|restart|reboot|recurs|purge|without|failover|dataloss|destroy|evict|takeover"
    r"|reassoc|reassign|hard|pending|retain|cleanup|deleteall|deleteassoc",
    re.IGNORECASE,
)

BOOLEANS = 5_000
"""Boolean parameters that AWS's mutations have at least."""


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


def _members(shapes: dict[str, Any], top: str) -> Iterator[tuple[str, bool]]:
    """Every boolean member of the shape `top` at any depth, and whether it stands at the top. Each shape is looked at once."""
    seen, found = {top}, [top]
    for name in found:
        shape = shapes[name]
        for member, target in shape.get("members", {}).items():
            if shapes[target["shape"]]["type"] == "boolean":
                yield member, name == top
        below = [*shape.get("members", {}).values(), *(shape[part] for part in ("member", "value") if part in shape)]
        new = {each["shape"] for each in below} - seen
        seen |= new
        found += new


@pytest.mark.slow
def test_every_boolean_parameter_of_aws_is_reviewed() -> None:
    """All that stand at the top of a mutation's parameters, and deeper ones whose names suggest it."""
    classes, unreviewed, looked_at = call_classes.shipped(), set(), 0
    for service, model in models():
        for operation, definition in model["operations"].items():
            if not classes.of(service, operation).changes_state or "input" not in definition:
                continue
            for name, top in _members(model["shapes"], definition["input"]["shape"]):
                looked_at += 1
                if (top or SUGGESTS.search(name)) and not is_reviewed(name):
                    unreviewed.add(f"{service}:{operation}.{name}")
    assert looked_at > BOOLEANS
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
