"""Says whose setting a planned resource is: that of another resource which the same plan makes, or of one that is there already.

`aws_s3_bucket_versioning` has no life of its own: the call that creates it changes a bucket. So does the attachment of a policy to a role. Where
the plan makes the owner, nothing was there before; else it changes somebody's resource, as the same call does alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Generic, Protocol, TypeVar

from gateway.core.model.json import Json
from gateway.core.model.plan import PlannedAction

_ENDS: Final = ("_name", "_id", "_arn", "_url", "_identifier")
_NAMES: Final = ("name", "id", "arn", "key_id", "bucket", "function_name", "identifier")
"""Attributes in which a new resource has the name that others call it by."""
_TELLING: Final = frozenset(
    {"bucket", "function", "instance_profile", "lambda_function", "log_group", "queue", "role", "s3_bucket", "topic"}
)
"""Kinds that one service has alone, so that resources of others may refer to them too."""
_MAKES: Final = (PlannedAction.CREATE, PlannedAction.REPLACE)


class AnyChange(Protocol):
    """What is asked about a planned change."""

    @property
    def address(self) -> str:
        """Its address."""

    @property
    def resource_type(self) -> str:
        """Its type."""

    @property
    def action(self) -> PlannedAction:
        """What the plan does to it."""

    @property
    def values(self) -> Mapping[str, Json]:
        """The values that the plan tells."""


C = TypeVar("C", bound=AnyChange)


class NewOwners(Generic[C]):
    """The resources that a plan makes, by the kinds and names by which others refer to them. A look-up costs as much as it finds."""

    def __init__(self, changes: Iterable[C]) -> None:
        """All changes of the plan."""
        self._named: dict[tuple[str, str], list[C]] = {}
        self._kinds: dict[str, set[str]] = {}
        for change in changes:
            if change.action in _MAKES:
                kinds = list(_kinds_of(change.resource_type))
                for kind in kinds:
                    self._kinds.setdefault(kind, set()).add(change.resource_type)
                for name in {each for attribute in _NAMES if isinstance(each := change.values.get(attribute), str)}:
                    for kind in kinds:
                        self._named.setdefault((kind, name), []).append(change)

    def called(self, change: AnyChange, attribute: str, value: Json) -> list[C]:
        """Those that the value of an attribute of another resource may name: by their own name, or by an ARN or URL that ends with it."""
        if not isinstance(value, str) or "." in attribute:
            return []
        kind = kind_of(attribute)
        names = dict.fromkeys((value, value.replace("/", ":").rpartition(":")[2]))
        found = (each for name in names for each in self._named.get((kind, name), ()))
        return [each for each in found if _may_own(each.resource_type, kind, change.resource_type)]

    def has_one(self, change: AnyChange, untold: Iterable[str]) -> bool:
        """Whether the plan makes what the change may be a setting of: it names that, or refers to such a resource by a value that it does not tell."""
        told = any(self.called(change, attribute, value) for attribute, value in change.values.items())
        return told or any(
            _may_own(each, kind, change.resource_type)
            for kind in map(kind_of, untold)
            for each in self._kinds.get(kind, ())
        )


def kind_of(attribute: str) -> str:
    """The end of the type that an attribute refers to: `function` of `function_name`."""
    return next((attribute.removesuffix(end) for end in _ENDS if attribute.endswith(end)), attribute)


def _may_own(owner: str, kind: str, resource_type: str) -> bool:
    """Whether a resource of the type may refer by such an attribute to one of the other type: of the same service, or of the only one that has such."""
    return owner != resource_type and (kind in _TELLING or _service_of(owner) == _service_of(resource_type))


def _service_of(resource_type: str) -> str:
    return resource_type.split("_")[1]


def _kinds_of(resource_type: str) -> Iterator[str]:
    """The ends of a type, each of which others may call it by: `log_group` and `group` of `aws_cloudwatch_log_group`."""
    steps = resource_type.split("_")
    return ("_".join(steps[start:]) for start in range(1, len(steps)))
