"""Finds the provider's attribute for a parameter of an AWS call by name alone, and only where the name is beyond doubt.

AWS's names in snake case are the provider's, some of them inside wrapper structures that the provider leaves out. Which wrappers
those are is written down here: AWS adds structures all the time whose members are called like other attributes
(`DurableConfig.KMSKeyArn` is not `kms_key_arn`). Whatever this does not find stands in a service's own table; nothing is ever guessed
from similar words.
"""

from collections.abc import Iterator

from gateway.effects.schema import TypeSchema
from gateway.effects.spelling import folded, snake

_NEVER = frozenset({"id", "arn", "tags_all"})
"""Attributes that say which thing it is, or that the provider keeps for itself."""

_WRAPPERS = frozenset({
    "accelerate_configuration", "awsvpc_configuration", "bucket_logging_status", "code", "deployment_configuration",
    "hosted_zone_config", "launch_template_data", "lifecycle_configuration", "logging_enabled", "placement",
    "public_access_block_configuration", "server_side_encryption_configuration", "stream_specification", "value",
})  # fmt: skip
"""Structures that the provider leaves out."""

_WRAPPERS_IN_BLOCKS = frozenset({"ebs", "metric", "projection", "provisioned_throughput"})
"""Structures that it leaves out inside of what became a block."""


def match(schema: TypeSchema, steps: tuple[str, ...]) -> str | None:
    """The attribute path for the parameter at `steps` (e.g. `("VpcConfig", "SubnetIds")`), None where no name fits exactly one."""
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
    """The path itself, then without wrappers."""
    yield names
    without = tuple(name for name in names if name not in _WRAPPERS)
    for dropped in range(len(names) - 1, 0, -1):
        # One wrapper after the other from the left, so that a block that is called like a wrapper is still found.
        head = tuple(name for name in names[:dropped] if name not in _WRAPPERS)
        if len(head) < dropped:
            yield head + names[dropped:]
    if without and without != names:
        yield without


def match_member(schema: TypeSchema, attribute: str, name: str) -> str | None:
    """The attribute path for the member `name` of a structure that became the block `attribute`, None where no name fits."""
    exact = f"{attribute}.{snake(name)}"
    if exact in schema.kinds:
        return exact
    fold = (*(folded(step) for step in attribute.split(".")), folded(snake(name)))
    paths = schema.folds.get(fold, ())
    return paths[0] if len(paths) == 1 else None


def is_wrapper_in_block(name: str) -> bool:
    """Whether the provider leaves this structure out, so that its members are members of the block."""
    return snake(name) in _WRAPPERS_IN_BLOCKS
