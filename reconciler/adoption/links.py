"""Which declared resource a created one belongs to: one of its attributes names that resource, and means one of its type.

ARNs, URLs and ids that AWS chose mean one resource anywhere. A plain name means one only where the attribute speaks of the type: `role` is an
IAM role's name, and a topic of the same name is none.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.core.model.json import Json
from gateway.terraform.address import parse_address
from reconciler.adoption.likely_types import stem
from reconciler.changes.event_creations import Created
from reconciler.terraform.json_documents import texts_in
from reconciler.terraform.plugin.type_schemas import BlockSchema, rows

_CHOSEN_BY_AWS: Final = re.compile(
    r"arn:\S+|https?://\S+|[a-z]{1,12}-[0-9a-f]{8,17}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_OF_OTHERS: Final = ("arn:aws:iam::aws:",)
"""What belongs to AWS itself."""
_SUFFIXES: Final = ("_identifier", "_ids", "_id", "_arns", "_arn", "_names", "_name", "_urls", "_url")
_NAMING: Final = (
    "id",
    "arn",
    "name",
    "url",
    "bucket",
    "function_name",
    "key_id",
    "zone_id",
    "identifier",
    "cluster_name",
    "workgroup",
)
_OWN: Final = frozenset({"id", "arn", "name", "url", "tags", "tags_all", "owner_id", "name_prefix"})
_SAME_WORD: Final[Mapping[str, str]] = {"balancer": "lb", "lb": "lb", "eip": "allocation", "asg": "group"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The reference of a created resource to a declared one."""

    address: str
    attribute: str
    value: str


def owner_link(
    resource_type: str, attributes: Mapping[str, Json], schema: BlockSchema, declared: Mapping[str, Mapping[str, Json]]
) -> Link | None:
    """The link to what a resource belongs to; None if it refers to nothing that is declared. `declared` has the attributes by address."""
    links = list(_links(attributes, schema, declared))
    return max(links, key=lambda link: _closeness(resource_type, link, schema), default=None)


def _links(
    attributes: Mapping[str, Json], schema: BlockSchema, declared: Mapping[str, Mapping[str, Json]]
) -> Iterator[Link]:
    names: dict[str, list[tuple[str, str]]] = {}
    for address, own in declared.items():
        parsed = parse_address(address)
        if parsed is None or parsed.data:
            continue
        for key in _NAMING:
            if isinstance(value := own.get(key), str) and value:
                names.setdefault(value, []).append((address, parsed.resource_type))
    for attribute, value in _references(attributes, schema):
        for text in (value, value.rpartition("/")[2]) if attribute == "resource_id" else (value,):
            for address, kind in names.get(text, ()):
                if means(attribute, value, kind):
                    yield Link(address=address, attribute=attribute, value=text)


def _references(attributes: Mapping[str, Json], schema: BlockSchema) -> Iterator[tuple[str, str]]:
    for name, attribute in schema.attributes.items():
        if attribute.settable and (name == "arn" or name not in _OWN):
            yield from ((name, text) for text in _texts(attributes.get(name)))
            yield from _entries(attributes.get(name))
    for name, nested in schema.blocks.items():
        for row in rows(attributes.get(name)):
            yield from _references(row, nested.block)


def _entries(value: Json) -> Iterator[tuple[str, str]]:
    """The entries of a map, whose keys say what they mean as attributes do: `dimensions = { QueueName = … }`."""
    for key, text in value.items() if isinstance(value, Mapping) else ():
        if isinstance(text, str) and text:
            yield re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower(), text


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, list):
        yield from (each for each in value if isinstance(each, str))


def is_chosen_by_aws(value: str) -> bool:
    """Whether a text has the form of a name that means one resource anywhere: an ARN, a URL, or an id that AWS chose."""
    return _CHOSEN_BY_AWS.fullmatch(value) is not None


def names(one: Created, other: Created) -> bool:
    """Whether an argument of one creation names another one."""
    return not set(other.named_by.values()).isdisjoint(texts_in(one.attributes))


def means(attribute: str, value: str, resource_type: str) -> bool:
    """Whether a value of the attribute may name a resource of the type."""
    if value.startswith(_OF_OTHERS):
        return False
    if is_chosen_by_aws(value) and not resource_type.startswith(("aws_s3_bucket_", "aws_iam_role_policy")):
        return True
    if attribute == "resource_id":
        return bool(set(value.split("/")[:-1]) & set(resource_type.split("_")))
    base = next((attribute.removesuffix(each) for each in _SUFFIXES if attribute.endswith(each)), attribute)
    last = stem(base.rpartition("_")[2]) if base != attribute or base in resource_type else ""
    own = stem(resource_type.rpartition("_")[2])
    return bool(last) and _SAME_WORD.get(last, last) == _SAME_WORD.get(own, own)


def _closeness(resource_type: str, link: Link, schema: BlockSchema) -> tuple[int, int, str]:
    parsed = parse_address(link.address)
    owner = set(parsed.resource_type.split("_")) if parsed else set[str]()
    required = link.attribute in schema.attributes and schema.attributes[link.attribute].required
    return len(owner & set(resource_type.split("_"))), int(required), link.address
