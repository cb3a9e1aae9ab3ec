"""Which attribute of a resource type a parameter of a call names: by its letters, with or without the words of the type."""

from functools import lru_cache
from typing import Final

from reconciler.changes.cloudtrail import letters
from reconciler.terraform.plugin.type_schemas import BlockSchema

_IDENTIFIERS: Final = ("id", "arn", "name", "identifier", "url", "key")


def named_attributes(parameter: str, resource_type: str, schema: BlockSchema) -> tuple[str, ...]:
    """The attributes and nested blocks that the parameter may mean, the surest first; empty if there is none."""
    own = letters(parameter)
    names = (*schema.attributes, *schema.blocks)
    exact = tuple(name for name in names if own in _spellings(name, resource_type))
    # `hostedZoneId` is the `zone_id` of a record: more words say the same if there are two at least.
    return exact or tuple(name for name in names if "_" in name and own.endswith(letters(name)))


@lru_cache(maxsize=65536)
def _spellings(attribute: str, resource_type: str) -> frozenset[str]:
    """What calls may call the attribute: `name` of `aws_cloudwatch_log_group` is `logGroupName` too."""
    plain = letters(attribute)
    words = resource_type.removeprefix("aws_").split("_")
    tails = {"".join(words[index:]) for index in range(len(words))}
    found = {plain, f"{plain}s", plain.removesuffix("s")}
    found |= {f"{tail}{plain}" for tail in tails}
    for tail in tails:
        if plain.startswith(tail) and len(plain) > len(tail):
            found.add(plain[len(tail) :])
    for ending in _IDENTIFIERS:
        if plain.endswith(ending) and len(plain) > len(ending):
            found.add(plain.removesuffix(ending))
        else:
            found.add(f"{plain}{ending}")
    return frozenset(found)


def identifies(attribute: str) -> bool:
    """Whether an attribute tells a resource from others, or names one."""
    return attribute.endswith(_IDENTIFIERS) or attribute in {
        "bucket",
        "role",
        "user",
        "group",
        "rule",
        "function",
        "family",
    }
