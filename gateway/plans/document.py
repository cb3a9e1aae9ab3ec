"""Reads a plan, as `terraform show -json` prints it, into the changes that Sentinel judges. No secret leaves this module."""

import hmac
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gateway.core.errors import Malformed
from gateway.core.json_reader import JsonRefused, read_json
from gateway.core.model.json import Json, is_document
from gateway.core.model.masking import PER_RUN
from gateway.core.model.path import step_of
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.effects.limits import MOST_EFFECTS
from gateway.effects.schema import TypeSchema, known_schemas
from gateway.terraform.address import parse_address
from gateway.terraform.secrets import masked, may_hold_secret

_CONSEQUENCES: Final = frozenset({"id", "arn"})
"""Attributes that follow from others, unless the code gives them."""
_NEVER: Final = frozenset({"tags_all", "timeouts"})
"""Attributes that follow from others, or that only Terraform itself has."""


@dataclass(slots=True)
class Differences:
    """The changed attributes of one resource."""

    values: dict[str, Json] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    computed: list[str] = field(default_factory=list)
    hidden: dict[str, Any] = field(default_factory=dict, repr=False)
    """The values of the secrets, which only their marks leave this module with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDifference:
    """The member `change` of a planned change, and what is known about the resource's type."""

    resource_type: str
    schema: TypeSchema | None
    """None if the provider's schema that ships with Sentinel does not have the type."""
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]
    after_unknown: Any = False
    before_sensitive: Any = False
    after_sensitive: Any = False
    written: frozenset[str] | None = None
    """The attributes that the code gives to the resource; None if the plan does not say."""

    def differences(self) -> Differences:
        """The changed attributes with their new values; of secrets and of what is not known yet only the names."""
        found = Differences()
        for name in dict.fromkeys((*(self.before or {}), *self.after, *_members(self.after_unknown))):
            if not self._ignored(name):
                for leaf in self._leaves(self._of(name)):
                    self._add(leaf, found)
        return found

    def _ignored(self, name: str) -> bool:
        if name in _CONSEQUENCES and name not in (self.written or ()):
            return True
        return name in _NEVER or (self.schema is not None and not self.schema.knows(name))

    def _of(self, name: str) -> "_Leaf":
        return _Leaf(
            path=name,
            before=(self.before or {}).get(name),
            after=self.after.get(name),
            unknown=_member(self.after_unknown, name),
            marks=(_member(self.before_sensitive, name), _member(self.after_sensitive, name)),
        )

    def _leaves(self, leaf: "_Leaf") -> Iterator["_Leaf"]:
        """The leaf itself, or its parts where a call of AWS sets them one by one: tags, and the members of a single block."""
        if leaf.path == "tags" and isinstance(leaf.before or {}, Mapping) and isinstance(leaf.after, Mapping):
            yield from (leaf.part(key) for key in dict.fromkeys((*(leaf.before or {}), *leaf.after)))
        elif self.schema is not None and self.schema.kinds.get(leaf.path) == "block" and leaf.is_block:
            inside = leaf.inside()
            for key in inside.members:
                yield from self._leaves(inside.part(key))
        else:
            yield leaf

    def _add(self, leaf: "_Leaf", found: Differences) -> None:
        if _marks(leaf.unknown):
            # A value that AWS chooses and no code asks for is a consequence.
            is_asked = self.written is None or leaf.path.partition(".")[0] in self.written
            (found.unknown if is_asked else found.computed).append(leaf.path)
        elif leaf.after == leaf.before or (self.before is None and leaf.after in (None, [], {}, "")):
            return
        elif leaf.sensitive or (shown := _shown(leaf.after, self.resource_type, leaf.path)) is None:
            found.secrets.append(leaf.path)
            found.hidden[leaf.path] = leaf.after
        else:
            found.values[leaf.path] = shown[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaf:
    """One attribute, or a part of one, before and after."""

    path: str
    before: Any
    after: Any
    unknown: Any
    marks: tuple[Any, Any]
    """What Terraform marks as sensitive in it, before and after."""

    @property
    def sensitive(self) -> bool:
        """Whether anything in it is marked as sensitive."""
        return any(map(_marks, self.marks))

    @property
    def is_block(self) -> bool:
        """Whether it is at most one block on both sides."""
        sides = [side for side in (self.before, self.after) if side]
        blocks = all(isinstance(side, list) and len(side) == 1 and isinstance(side[0], Mapping) for side in sides)
        return bool(sides) and blocks and self.unknown is not True

    def inside(self) -> "_Leaf":
        """The one block in it."""
        first = [_first(side) for side in (self.before, self.after, self.unknown, *self.marks)]
        return _Leaf(
            path=self.path,
            before=first[0],
            after=first[1],
            unknown=first[2],
            marks=(first[3], first[4]),
        )

    @property
    def members(self) -> tuple[str, ...]:
        """The names of its members on either side."""
        return tuple(dict.fromkeys((*_members(self.before), *_members(self.after), *_members(self.unknown))))

    def part(self, key: str) -> "_Leaf":
        """One member of it."""
        marks = (_member(self.marks[0], key), _member(self.marks[1], key))
        return _Leaf(
            path=f"{self.path}.{step_of(key)}",
            before=_value(self.before, key),
            after=_value(self.after, key),
            unknown=_member(self.unknown, key),
            marks=marks,
        )


def _shown(value: Any, resource_type: str, path: str) -> tuple[Json] | None:
    """The value as it may be told, in a tuple; None if it is a secret, or a document in which masks could hide what it grants."""
    shown = masked(value, resource_type=resource_type, attribute=path, masker=PER_RUN)
    if shown == value:
        return (value,)
    if isinstance(value, str) and isinstance(shown, str) and is_document(value) == may_hold_secret(resource_type, path):
        return (shown,)
    return None


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else (True if value is True else None)


def _value(container: Any, key: str) -> Any:
    return container.get(key) if isinstance(container, Mapping) else None


def _members(container: Any) -> tuple[str, ...]:
    return tuple(container) if isinstance(container, Mapping) else ()


def _member(container: Any, key: str) -> Any:
    """A member of Terraform's marks: `true` marks all members."""
    return True if container is True else _value(container, key)


def _marks(container: Any) -> bool:
    """Whether anything inside is marked."""
    if isinstance(container, Mapping):
        return any(_marks(item) for item in container.values())
    return any(_marks(item) for item in container) if isinstance(container, list) else container is True


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
_REGION: Final = re.compile(r"[a-z]{2,4}(-[a-z]{2,12}){1,3}-\d{1,2}")
_HOW: Final = "Make it with `terraform plan -out=plan.bin` and `terraform show -json plan.bin`."


def read_plan(source: bytes, *, mark_key: bytes = b"") -> Plan:
    """The plan in `source`; with a key, what it does not tell has marks. Raises `errors.Malformed` with what is wrong and what to do."""
    if len(source) > LARGEST_PLAN:
        raise Malformed(f"The plan has {len(source)} bytes, and {LARGEST_PLAN} are the most. {_SPLIT}")
    try:
        document = read_json(source)
    except JsonRefused:
        raise Malformed(f"The plan is not JSON. {_HOW}") from None
    if not isinstance(document, Mapping) or not str(document.get("format_version", "")).startswith("1."):
        raise Malformed(f"This is no plan in Terraform's JSON format 1. {_HOW}")
    if document.get("errored") is True:
        raise Malformed(
            "Terraform could not complete this plan (`errored`), so what it would change is not known. Plan again."
        )
    try:
        changes = tuple(_changes(document, mark_key))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"The plan cannot be read ({type(error).__name__}). {_HOW}") from None
    plan = Plan(changes=changes, terraform_version=str(document.get("terraform_version", ""))[:32])
    refuse_large_plan(plan)
    return plan


def refuse_large_plan(plan: Plan) -> None:
    """Raise `errors.Malformed` if the plan changes more than one decision can judge."""
    size = sum(change.size for change in plan.changes)
    text = sum(len(json.dumps([change.values, change.computed, dict(change.tags)])) for change in plan.changes)
    if size > MOST_EFFECTS or text > LARGEST_VALUES:
        raise Malformed(
            f"The plan changes {size} attributes and resources, with {text} characters of values; {MOST_EFFECTS} with "
            f"{LARGEST_VALUES} characters are the most that one decision judges. Nothing was checked. {_SPLIT}",
            code="plan_too_large",
        )


def _changes(document: Mapping[str, Any], mark_key: bytes) -> Iterator[PlannedChange]:
    entries = [entry for entry in document.get("resource_changes") or [] if entry["mode"] == "managed"]
    planned = [(entry, action) for entry in entries if (action := _action(entry)) is not None]
    schemas = known_schemas({str(entry["type"]) for entry, _ in planned})
    written, regions = _written(document), provider_regions(document)
    for entry, action in planned:
        change = _change(entry, action, schemas.get(entry["type"]), written, mark_key)
        where = parse_address(change.address)
        yield replace(change, region=regions.get(str(where.bare), "") if where else "")


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
    written: Mapping[str, Mapping[str, Any]] | None,
    mark_key: bytes,
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
        tags=_provider_tags(str(entry["type"]), change["after"] or {}, change.get("after_sensitive")),
    )
    if action is PlannedAction.DELETE:
        return bare
    expressions: Mapping[str, Any] = {} if written is None else written.get(str(where.bare), {})
    differences = PlannedDifference(
        resource_type=bare.resource_type,
        schema=schema,
        # A replacement is a new resource: it is given every value again, and while it is made the state has none of it.
        before=change["before"] if action is PlannedAction.UPDATE else None,
        after=change["after"],
        after_unknown=change.get("after_unknown"),
        before_sensitive=change.get("before_sensitive"),
        after_sensitive=change.get("after_sensitive"),
        written=None if written is None else frozenset(expressions),
    ).differences()
    return replace(
        bare,
        values=differences.values,
        secrets=tuple(differences.secrets),
        unknown=tuple(differences.unknown),
        computed=tuple(differences.computed),
        marks=_marks_of(address, differences, expressions, mark_key) if mark_key else {},
    )


def _marks_of(address: str, differences: Differences, expressions: Mapping[str, Any], key: bytes) -> Mapping[str, str]:
    """The marks of what is not told: without the key nobody can try out secrets, and with it the same ones give the same marks."""
    told = {path: ["secret", value] for path, value in differences.hidden.items()}
    told |= {path: ["code", expressions.get(path.partition(".")[0])] for path in differences.unknown}
    return {
        path: hmac.new(key, json.dumps([address, path, *said], sort_keys=True).encode(), "sha256").hexdigest()
        for path, said in told.items()
    }


def _provider_tags(resource_type: str, after: Mapping[str, Any], sensitive: Any) -> Mapping[str, str]:
    """The tags that only `tags_all` has, without secrets."""
    marks = _member(sensitive, "tags_all")
    own, every = after.get("tags") or {}, after.get("tags_all") or {}
    return {
        key: value
        for key, value in every.items()
        if isinstance(value, str)
        and key not in own
        and not _marks(_member(marks, key))
        and _shown(value, resource_type, f"tags.{step_of(key)}") == (value,)
    }


def provider_regions(document: Mapping[str, Any]) -> Mapping[str, str]:
    """The region of each block whose provider's configuration says it, by address without keys."""
    configuration = document.get("configuration") or {}
    variables = document.get("variables") or {}
    told = {
        key: region
        for key, each in (configuration.get("provider_config") or {}).items()
        if (region := _region(each, variables))
    }
    blocks = _providers_in(configuration.get("root_module") or {}, "")
    return {address: told[key] for address, key in blocks if key in told}


def _region(provider: Mapping[str, Any], variables: Mapping[str, Any]) -> str:
    """A region that is written out, or that of a variable of the root module."""
    given = (provider.get("expressions") or {}).get("region") or {}
    value = given.get("constant_value")
    for reference in given.get("references") or ():
        name = str(reference).removeprefix("var.")
        if value is None and "module_address" not in provider and name in variables and name != reference:
            value = variables[name].get("value")
    return value if isinstance(value, str) and _REGION.fullmatch(value) else ""


def _providers_in(module: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for resource in module.get("resources") or []:
        yield f"{prefix}{resource['address']}", str(resource.get("provider_config_key", ""))
    for name, call in (module.get("module_calls") or {}).items():
        yield from _providers_in(call.get("module") or {}, f"{prefix}module.{name}.")


def _written(document: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]] | None:
    """The expressions that the code gives to each block, by address without keys; None if the plan has no configuration."""
    root = (document.get("configuration") or {}).get("root_module")
    return None if root is None else dict(_written_in(root, ""))


def _written_in(module: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for resource in module.get("resources") or []:
        yield f"{prefix}{resource['address']}", resource.get("expressions") or {}
    for name, call in (module.get("module_calls") or {}).items():
        yield from _written_in(call.get("module") or {}, f"{prefix}module.{name}.")
