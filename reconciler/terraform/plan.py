"""Reads the JSON of a Terraform plan: what the plan would change, and what drifted since the state was written."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE, AttributePath
from gateway.terraform.address import resource_type_of
from gateway.terraform.secrets import is_secret, may_hold_secret, shows_secret
from reconciler.terraform.compare import differences
from reconciler.terraform.own_defaults import sets_own_defaults
from reconciler.terraform.plain_settings import is_plain_setting

if TYPE_CHECKING:
    from reconciler.terraform.cli import Terraform

_KEY = re.compile(r'\[(?:[0-9]+|"(?:[^"\\]|\\.)*")\]')
_NO_CHANGE = {("no-op",), ("read",)}
_UPDATE_OR_REPLACE = {("update",), ("delete", "create"), ("create", "delete")}
_DERIVED = "tags_all"
"""The provider computes it from `tags` and its default tags, on every resource type; it is never written into code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChange:
    """One attribute that a plan would change, or one that drifted."""

    address: str
    attribute: str
    """The deepest dotted path that covers the whole change, or `*` for a whole resource."""
    live: Json = None
    """The value that the provider read."""
    other: Json = None
    """The value that the code declares; in `TerraformPlan.drift`, the value in the state."""
    sensitive: bool = False
    """Whether the plan marks it as sensitive, or the value is or may hold a secret; then no value of it is shown or written."""
    actions: tuple[str, ...] = ("update",)

    @property
    def top(self) -> str:
        """The resource's own attribute or block that the path begins with."""
        return AttributePath(self.attribute).top

    @property
    def top_key(self) -> tuple[str, str]:
        """(address, top)."""
        return self.address, self.top

    @property
    def resource_type(self) -> str:
        """E.g. `aws_sqs_queue`."""
        return resource_type_of(self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedValue:
    """The value of one attribute before and after the plan."""

    live: Json = None
    after: Json = None
    unknown: Json = None
    """Which parts are only known after the apply, as the plan marks them; None if all of it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerraformPlan:
    """A plan that is not empty."""

    changes: tuple[ResourceChange, ...]
    """The changes, in the order of the plan."""
    drift: tuple[ResourceChange, ...]
    """The differences between state and live."""
    configured: Mapping[str, frozenset[str]]
    """Attributes and blocks that the code sets, by address without instance keys."""
    outputs: tuple[str, ...]
    """Outputs whose values would change."""
    objects: Mapping[str, Mapping[str, Json]]
    """The live attributes of every resource that the plan would change, by address; of one that is gone, those it had."""
    planned: Mapping[str, Mapping[str, PlannedValue]] = field(default_factory=dict)
    """What each attribute that the plan would change becomes, by address and name, also where `changes` does not list it: values
    that are only known after the apply, and those that are derived."""
    live_values: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """The live attributes of every resource and data source by address, without those that are or may hold a secret."""

    lost_values: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """The attributes that each resource had which is gone, by address, without those that are or may hold a secret."""
    drifted: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """The live attributes of every resource that drifted, by address."""
    imports: tuple[str, ...] = ()
    """Addresses that would be imported into the state."""

    @property
    def waiting(self) -> str:
        """What would change in the state alone, as half a sentence; empty if nothing would."""
        outputs = f"the outputs {', '.join(self.outputs)} follow what is live" if self.outputs else ""
        imports = f"{', '.join(self.imports)} would be imported" if self.imports else ""
        return " and ".join(part for part in (outputs, imports) if part)

    def sets(self, change: ResourceChange) -> bool:
        """Whether the code sets the attribute that would change."""
        return change.top in self.configured.get(without_keys(change.address), frozenset())

    def is_open(self, change: ResourceChange) -> bool:
        """Whether what the attribute becomes is only known after an apply."""
        planned = self.planned.get(change.address, {}).get(change.top)
        return planned is not None and planned.unknown is not None

    def gone(self) -> frozenset[str]:
        """Addresses that the state has, and that do not exist any more."""
        return frozenset(change.address for change in self.drift if change.actions == ("delete",))

    def live(self, address: str, attribute: str) -> Json:
        """The live value of an attribute of a resource that the plan would change."""
        return AttributePath(attribute).value_at(self.objects.get(address))


async def plan_of(terraform: "Terraform", root: Path, state: Path | None) -> TerraformPlan | None:
    """The plan of the code in `root`; None if it is empty. Raises `errors.TerraformFailed`, `errors.TerraformMissing`."""
    file = await terraform.plan(root, state=state)
    return read_plan(await terraform.show(root, file)) if file else None


def read_plan(document: Mapping[str, Any]) -> TerraformPlan:
    """The plan in the output of `terraform show -json` ("JSON Output Format", format version 1)."""
    entries = [entry for entry in document.get("resource_changes", []) if entry.get("mode") != "data"]
    return TerraformPlan(
        changes=tuple(change for entry in entries for change in _planned(entry)),
        drift=tuple(
            change
            for entry in document.get("resource_drift", [])
            for change in _changes(entry, live="after", other="before")
        ),
        configured=dict(_configured(document.get("configuration", {}).get("root_module", {}), "")),
        outputs=tuple(
            name for name, output in document.get("output_changes", {}).items() if output.get("actions") != ["no-op"]
        ),
        objects={entry["address"]: entry["change"]["before"] or {} for entry in (*entries, *_gone(document))},
        lost_values={entry["address"]: _without_secrets(entry) for entry in _gone(document)},
        drifted={entry["address"]: entry["change"]["after"] or {} for entry in document.get("resource_drift", [])},
        imports=tuple(entry["address"] for entry in entries if entry["change"].get("importing")),
        planned={entry["address"]: dict(_planned_values(entry["change"])) for entry in entries if _moves(entry)},
        live_values=dict(_live_values(document.get("prior_state", {}).get("values", {}).get("root_module", {}))),
    )


def _live_values(module: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for resource in module.get("resources", []):
        marks = resource.get("sensitive_values")
        secret = marks if isinstance(marks, Mapping) else {}
        yield (
            resource["address"],
            {
                name: value
                for name, value in resource.get("values", {}).items()
                if not _marked(secret.get(name)) and not _is_secret(resource["address"], name, value)
            },
        )
    for child in module.get("child_modules", []):
        yield from _live_values(child)


def _gone(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The entries of resources that do not exist any more, which have the attributes they had."""
    return [entry for entry in document.get("resource_drift", []) if entry["change"]["actions"] == ["delete"]]


def _without_secrets(entry: Mapping[str, Any]) -> Mapping[str, Json]:
    marks = entry["change"].get("before_sensitive")
    secret = marks if isinstance(marks, Mapping) else {}
    values = entry["change"]["before"] or {}
    return {
        name: value
        for name, value in values.items()
        if not _marked(secret.get(name)) and not _is_secret(entry["address"], name, value)
    }


def without_keys(address: str) -> str:
    """An address without its instance keys: `module.a["x"].aws_b.c[0]` is `module.a.aws_b.c`."""
    return _KEY.sub("", address)


def _moves(entry: Mapping[str, Any]) -> bool:
    return tuple(entry["change"]["actions"]) not in _NO_CHANGE


def _planned_values(change: Mapping[str, Any]) -> Iterator[tuple[str, PlannedValue]]:
    before, after, unknown = (change.get(side) or {} for side in ("before", "after", "after_unknown"))
    for name in sorted({*before, *after, *unknown}):
        if before.get(name) != after.get(name) or _marked(unknown.get(name)):
            marks = unknown.get(name) if _marked(unknown.get(name)) else None
            yield name, PlannedValue(live=before.get(name), after=after.get(name), unknown=marks)


def _planned(entry: Mapping[str, Any]) -> list[ResourceChange]:
    """The changes of one resource in a plan; at least one change if Terraform says it would change the resource."""
    if sets_own_defaults(entry):
        return []
    found = list(_changes(entry, live="before", other="after"))
    actions = tuple(entry["change"]["actions"])
    if not found and actions not in _NO_CHANGE:
        before, after = entry["change"]["before"] or {}, entry["change"]["after"] or {}
        names = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)] or [WHOLE]
        found = [
            ResourceChange(
                address=entry["address"],
                attribute=name,
                live=before.get(name),
                other=after.get(name),
                sensitive=any(_is_secret(entry["address"], name, side.get(name)) for side in (before, after)),
                actions=actions,
            )
            for name in names
        ]
    return found


def _changes(entry: Mapping[str, Any], *, live: str, other: str) -> Iterator[ResourceChange]:
    change = entry["change"]
    actions = tuple(change["actions"])
    if actions in _NO_CHANGE:
        return
    if actions not in _UPDATE_OR_REPLACE:
        yield ResourceChange(address=entry["address"], attribute=WHOLE, actions=actions)
        return
    live_values, other_values = change[live] or {}, change[other] or {}
    unknown = change.get("after_unknown") or {}
    for name in sorted({*live_values, *other_values}):
        if name == _DERIVED or _marked(unknown.get(name)):
            continue
        for path, one, two in differences(live_values.get(name), other_values.get(name), (name,)):
            yield ResourceChange(
                address=entry["address"],
                attribute=str(AttributePath.of(path)),
                live=one,
                other=two,
                sensitive=_is_sensitive(entry, path, (one, two)),
                actions=actions,
            )


def _is_sensitive(entry: Mapping[str, Any], path: Sequence[str], both: tuple[Json, Json]) -> bool:
    """Whether a value that differs, at a path, may not be shown or written."""
    change, attribute = entry["change"], str(AttributePath.of(path))
    marked = any(_marked(_mark_at(change.get(f"{side}_sensitive"), path)) for side in ("before", "after"))
    if not marked and not any(_is_secret(entry["address"], attribute, value) for value in both):
        return False
    resource_type = resource_type_of(entry["address"])
    if marked and not is_secret(resource_type, attribute):
        return True  # The code marks it, not the provider.
    live = change["before"] or {}
    return not all(is_plain_setting(resource_type, path, value, live) for value in both)


def _mark_at(marks: Any, path: Sequence[str]) -> Any:
    """The marks at a path, which passes over the index of a single block; all of them from where they do not follow it."""
    if isinstance(marks, Sequence) and len(marks) == 1:
        return _mark_at(marks[0], path)
    if path and isinstance(marks, Mapping):
        return _mark_at(marks.get(path[0]), path[1:])
    return marks


def _is_secret(address: str, attribute: str, value: Json) -> bool:
    resource_type = resource_type_of(address)
    return may_hold_secret(resource_type, attribute) or shows_secret(
        value, resource_type=resource_type, attribute=attribute
    )


def _marked(marks: Any) -> bool:
    """Whether any part is marked true; the marks have the shape of the value."""
    match marks:
        case bool():
            return marks
        case Mapping():
            return any(_marked(item) for item in marks.values())
        case Sequence() if not isinstance(marks, str):
            return any(_marked(item) for item in marks)
        case _:
            return False


def _configured(module: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, frozenset[str]]]:
    for resource in module.get("resources", []):
        yield prefix + resource["address"], frozenset(resource.get("expressions", {}))
    for name, call in module.get("module_calls", {}).items():
        yield from _configured(call.get("module", {}), f"{prefix}module.{name}.")
