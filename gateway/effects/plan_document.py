"""Reads a plan as `terraform show -json` prints it, into the changes that Sentinel judges. Secrets end here."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.effects.limits import MOST_EFFECTS
from gateway.effects.plan_values import PlannedDifference
from gateway.effects.schema import TypeSchema, known_schemas
from gateway.errors import Malformed
from gateway.model.plan import Plan, PlannedAction, PlannedChange
from gateway.terraform.address import parse_address

LARGEST_PLAN: Final = 64 * 1024 * 1024
"""Bytes of a plan in JSON."""

LARGEST_VALUES: Final = 256 * 1024
"""Characters of all new values of a plan together, in JSON: the policies see them twice, beside the values of before."""

_SPLIT: Final = "Plan a part of it with `-target`, and check each part."
_ACTIONS: Final[Mapping[tuple[str, ...], PlannedAction | None]] = {
    ("no-op",): None,
    ("read",): None,
    ("forget",): None,
    ("create",): PlannedAction.CREATE,
    ("update",): PlannedAction.UPDATE,
    ("delete",): PlannedAction.DELETE,
    ("delete", "create"): PlannedAction.REPLACE,
    ("create", "delete"): PlannedAction.REPLACE,
    ("create", "forget"): PlannedAction.CREATE,
}
_HOW: Final = "Make it with `terraform plan -out=plan.bin` and `terraform show -json plan.bin`."


def read_plan(source: bytes) -> Plan:
    """The plan in `source`. Raises `errors.Malformed` with what is wrong and what to do."""
    if len(source) > LARGEST_PLAN:
        raise Malformed(f"The plan has {len(source)} bytes, and {LARGEST_PLAN} are the most. {_SPLIT}")
    try:
        document = json.loads(source)
    except (ValueError, RecursionError):
        raise Malformed(f"The plan is not JSON. {_HOW}") from None
    if not isinstance(document, Mapping) or not str(document.get("format_version", "")).startswith("1."):
        raise Malformed(f"This is no plan in Terraform's JSON format 1. {_HOW}")
    if document.get("errored") is True:
        raise Malformed(
            "Terraform could not complete this plan (`errored`), so what it would change is not known. Plan again."
        )
    try:
        changes = tuple(_changes(document))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"The plan cannot be read ({type(error).__name__}). {_HOW}") from None
    plan = Plan(changes=changes, terraform_version=str(document.get("terraform_version", ""))[:32])
    refuse_large_plan(plan)
    return plan


def refuse_large_plan(plan: Plan) -> None:
    """Raise `errors.Malformed` if the plan changes more than one decision can judge."""
    size = sum(change.size for change in plan.changes)
    text = sum(len(json.dumps(change.values)) for change in plan.changes)
    if size > MOST_EFFECTS or text > LARGEST_VALUES:
        raise Malformed(
            f"The plan changes {size} attributes and resources, with {text} characters of values; {MOST_EFFECTS} with "
            f"{LARGEST_VALUES} characters are the most that one decision judges. Nothing was checked. {_SPLIT}",
            code="plan_too_large",
        )


def _changes(document: Mapping[str, Any]) -> Iterator[PlannedChange]:
    entries = [entry for entry in document.get("resource_changes") or [] if entry["mode"] == "managed"]
    planned = [(entry, action) for entry in entries if (action := _action(entry)) is not None]
    schemas = known_schemas({str(entry["type"]) for entry, _ in planned})
    written = _written(document)
    for entry, action in planned:
        yield _change(entry, action, schemas.get(entry["type"]), written)


def _action(entry: Mapping[str, Any]) -> PlannedAction | None:
    actions = tuple(entry["change"]["actions"])
    if actions not in _ACTIONS:
        raise Malformed(
            f"The plan does {'/'.join(map(str, actions))[:64]} to {entry['address']}, which this Sentinel does not know."
        )
    return _ACTIONS[actions]


def _change(
    entry: Mapping[str, Any],
    action: PlannedAction,
    schema: TypeSchema | None,
    written: Mapping[str, frozenset[str]] | None,
) -> PlannedChange:
    address, change = str(entry["address"]), entry["change"]
    where = parse_address(address)
    if where is None:
        raise ValueError(address)
    bare = PlannedChange(
        address=address,
        resource_type=str(entry["type"]),
        action=action,
        previous=str(entry.get("previous_address") or ""),
    )
    if action is PlannedAction.DELETE:
        return bare
    differences = PlannedDifference(
        resource_type=bare.resource_type,
        schema=schema,
        before=None if action is PlannedAction.CREATE else change["before"],
        after=change["after"],
        after_unknown=change.get("after_unknown"),
        before_sensitive=change.get("before_sensitive"),
        after_sensitive=change.get("after_sensitive"),
        written=None if written is None else written.get(str(where.bare), frozenset()),
    ).differences()
    return PlannedChange(
        address=address,
        resource_type=bare.resource_type,
        action=action,
        previous=bare.previous,
        values=differences.values,
        secrets=tuple(differences.secrets),
        unknown=tuple(differences.unknown),
    )


def _written(document: Mapping[str, Any]) -> Mapping[str, frozenset[str]] | None:
    """The attributes that the code gives to each block, by address without keys; None if the plan has no configuration."""
    root = (document.get("configuration") or {}).get("root_module")
    return None if root is None else dict(_written_in(root, ""))


def _written_in(module: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, frozenset[str]]]:
    for resource in module.get("resources") or []:
        yield f"{prefix}{resource['address']}", frozenset(resource.get("expressions") or {})
    for name, call in (module.get("module_calls") or {}).items():
        yield from _written_in(call.get("module") or {}, f"{prefix}module.{name}.")
