"""Finds the provider's attribute for a parameter of an AWS call by name alone, and only where the name is beyond doubt.

AWS's names in snake case are the provider's, mostly inside wrapper structures that the provider leaves out. Measured over 54 operations
(facts/terraform.md d): 230 of 282 attributes found, none wrong. Whatever this does not find stands in a service's own table;
nothing is ever guessed from similar words.
"""

from collections.abc import Iterator

from gateway.effects.schema import TypeSchema
from gateway.effects.words import folded, snake

_NEVER = frozenset({"id", "arn", "tags_all"})
"""Attributes that say which thing it is, or that the provider keeps for itself."""


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
    """The path itself, then without a `.Value` behind it, without wrappers in front, without one wrapper in the middle."""
    yield names
    if len(names) > 1 and names[-1] == "value":
        yield names[:-1]
    for dropped in range(1, len(names)):
        yield names[dropped:]
    for dropped in range(1, len(names) - 1):
        yield names[:dropped] + names[dropped + 1 :]


def match_member(schema: TypeSchema, attribute: str, name: str) -> str | None:
    """The attribute path for the member `name` of a structure that became the block `attribute`, None where no name fits."""
    exact = f"{attribute}.{snake(name)}"
    if exact in schema.kinds:
        return exact
    fold = (*(folded(step) for step in attribute.split(".")), folded(snake(name)))
    paths = schema.folds.get(fold, ())
    return paths[0] if len(paths) == 1 else None
