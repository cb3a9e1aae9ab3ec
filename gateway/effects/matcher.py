"""Finds the provider's attribute for a parameter of an AWS call by name alone, and only if the name leaves no doubt.

The provider's names are AWS's names in snake case. Some of AWS's wrapper structures have no counterpart in the provider. Those wrappers
are listed here, because AWS keeps adding structures whose members have the names of other attributes (`DurableConfig.KMSKeyArn` is not
`kms_key_arn`). Parameters that this does not match belong in the service's own table; nothing is guessed from similar names.
"""

from collections.abc import Iterator

from gateway.core.model.path import AttributePath
from gateway.effects.limits import LONGEST_NAME
from gateway.effects.schema import TypeSchema, folded, snake

_NEVER = frozenset({"id", "arn", "tags_all"})
"""Attributes that identify the resource, or that only the provider writes."""

_WRAPPERS = frozenset({
    "accelerate_configuration", "awsvpc_configuration", "bucket_logging_status", "code", "deployment_configuration",
    "hosted_zone_config", "launch_template_data", "lifecycle_configuration", "logging_enabled", "placement",
    "public_access_block_configuration", "server_side_encryption_configuration", "stream_specification", "value",
})  # fmt: skip
"""Structures that have no counterpart in the provider."""

_WRAPPERS_IN_BLOCKS = frozenset({"ebs", "metric", "projection", "provisioned_throughput"})
"""Structures inside a block that have no counterpart in the provider."""


def match(schema: TypeSchema, steps: tuple[str, ...]) -> str | None:
    """The attribute path for the parameter at `steps`, e.g. `("VpcConfig", "SubnetIds")`; None unless exactly one attribute fits."""
    if any(len(step) > LONGEST_NAME for step in steps):
        return None
    names = tuple(snake(step) for step in steps)
    for candidate in _variants(names):
        path = ".".join(candidate)
        if path in schema.kinds and path not in _NEVER:
            return path
    for candidate in _variants(names):
        paths = schema.folds.get(tuple(folded(name) for name in candidate), ())
        if len(paths) == 1 and paths[0] not in _NEVER:
            return paths[0]
    return None


def _variants(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The path itself, then the path without wrappers."""
    yield names
    without = tuple(name for name in names if name not in _WRAPPERS)
    for dropped in range(len(names) - 1, 0, -1):
        # Drop wrappers only from the first steps, so that a block with the name of a wrapper is still found.
        head = tuple(name for name in names[:dropped] if name not in _WRAPPERS)
        if len(head) < dropped:
            yield head + names[dropped:]
    if without and without != names:
        yield without


def match_member(schema: TypeSchema, attribute: str, name: str) -> str | None:
    """The attribute path for the member `name` of a structure that the provider has as the block `attribute`; None if no name fits."""
    exact = f"{attribute}.{snake(name)}"
    if exact in schema.kinds:
        return exact
    fold = (*(folded(step) for step in AttributePath(attribute).steps), folded(snake(name)))
    paths = schema.folds.get(fold, ())
    return paths[0] if len(paths) == 1 else None


def is_wrapper_in_block(name: str) -> bool:
    """Whether the provider omits this structure, so that its members are members of the block."""
    return snake(name) in _WRAPPERS_IN_BLOCKS
