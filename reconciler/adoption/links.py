"""Which declared resource a created one belongs to: one of its attributes names that resource, and means one of its type.

ARNs, URLs and ids that AWS chose mean one resource anywhere. A plain name means one only where the attribute speaks of the type: `role` is an
IAM role's name, and a topic of the same name is none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Final

from gateway.core.model.json import Json
from gateway.terraform.address import parse_address
from reconciler.adoption.likely_types import stem
from reconciler.changes.event_creations import Created, may_belong
from reconciler.terraform.json_documents import document_in
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
_PAIR_KEYS: Final = ("name", "Name", "key", "Key")
_PAIR_VALUES: Final = ("value", "Value")
"""How lists of names and values call both."""
_DOCUMENT: Final = "json"
"""The only member of a value that is written as a document."""
_SAYS_NOTHING: Final = frozenset({"value", "values", "input", "default"})
_PATH: Final = "resource_id"
"""An attribute whose value says the kind before the name: `table/orders`."""
_TAGS: Final = frozenset({"tags", "tags_all"})
"""What they say is no reference."""
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
        for text in (value, value.rpartition("/")[2]) if attribute == _PATH else (value,):
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
            yield _as_attribute(key), text


def _as_attribute(key: str) -> str:
    """The key of a map or a document in the form of an attribute: `DBInstanceIdentifier` is `db_instance_identifier`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", key)
    return re.sub(r"\W+", "_", words).strip("_").lower()


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, list):
        yield from (each for each in value if isinstance(each, str))


def is_chosen_by_aws(value: str) -> bool:
    """Whether a text has the form of a name that means one resource anywhere: an ARN, a URL, or an id that AWS chose."""
    return _CHOSEN_BY_AWS.fullmatch(value) is not None


@dataclass(slots=True)
class Texts:
    """The texts of a value, read once, to ask which resources they name."""

    value: InitVar[Json]
    spoken: tuple[tuple[str, str], ...] = field(init=False)
    joined: str = field(init=False)

    def __post_init__(self, value: Json) -> None:
        """Read them."""
        self.spoken = tuple(spoken(value))
        self.joined = "\n".join(text for _, text in self.spoken)

    def name(self, other: Created) -> bool:
        """Whether one of them names another creation."""
        return self.name_resource(other.resource_type, other.named_by)

    def name_resource(self, resource_type: str, named_by: Mapping[str, str]) -> bool:
        """Whether one of them names a resource: as a whole, or as a part of an ARN. `named_by` as in `Created`."""
        there = {attribute: name for attribute, name in named_by.items() if name in self.joined}
        chosen = [name for name in there.values() if is_chosen_by_aws(name)]
        return bool(there) and any(
            naming_attribute(key, text, resource_type, there)
            or (key == _PATH and text.rpartition("/")[2] in there.values() and means(key, text, resource_type))
            or any(_holds(text, name) for name in chosen)
            for key, text in self.spoken
        )


def named_addresses(made: Created, said: Texts, declared: Mapping[str, Mapping[str, Json]]) -> Iterator[str]:
    """The addresses of the declared resources that a creation names: the one it belongs to, and those whose ARN, URL or id is one of its texts."""
    chosen = {text for _, text in said.spoken if is_chosen_by_aws(text)} | {made.import_id}
    for address, own in declared.items():
        parsed = parse_address(address)
        if parsed is None or parsed.data:
            continue
        names = {own.get(key) for key in ("arn", "id", "url")} - {None}
        belongs = bool(made.parent) and made.parent in (*names, own.get("name"))
        if (belongs and may_belong(made.resource_type, parsed.resource_type)) or not chosen.isdisjoint(names):
            yield address


def naming_attribute(key: str, text: str, resource_type: str, named_by: Mapping[str, str]) -> str:
    """The attribute of a resource that a text is, where it stands under a key; empty if it does not name the resource.

    A name that AWS chose means it anywhere, and one that somebody gave it only under a key that speaks of its type.
    """
    found = sorted((name for name, value in named_by.items() if value == text), key=lambda name: name == "id")
    chosen = next((name for name in found if is_chosen_by_aws(text)), "")
    return chosen or next((name for name in found if _speaks_of(key, text, resource_type)), "")


def spoken(value: Json, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value, also in the JSON documents that texts hold, each with the attribute or key that says what it means."""
    if isinstance(value, str):
        document = document_in(value)
        yield from ((key, value),) if document is None else spoken(document, key)
        return
    for member, keys, item in members(value, key):
        if member in _TAGS:
            continue
        yield from spoken(item, keys[0])
        if isinstance(item, str):
            yield from ((each, item) for each in keys[1:])


def members(value: Json, key: str) -> Iterator[tuple[str | int, Sequence[str], Json]]:
    """The members of a map or the items of a list, with the keys that may say what each means, in the form of attributes.

    Lists of names and values (`[{"name": "TABLE", "value": "orders"}]`, `["QueueName", "jobs"]`) say it beside the value.
    """
    match value:
        case Mapping():
            told = next((str(value[each]) for each in _PAIR_KEYS if isinstance(value.get(each), str)), "")
            for name, item in value.items():
                own = key if name == _DOCUMENT else _as_attribute(name)
                yield name, (own, _as_attribute(told)) if told and name in _PAIR_VALUES else (own,), item
        case list():
            before = ""
            for place, item in enumerate(value):
                yield place, (key, _as_attribute(before)) if before else (key,), item
                before = item if isinstance(item, str) else ""


def _holds(text: str, name: str) -> bool:
    """Whether a longer text has a name that AWS chose as a part: the bucket in `arn:aws:s3:::logs/*`, the function in the address of its invocations."""
    return name in text and re.search(rf"(?<![\w:.-]){re.escape(name)}(?![\w.-])", text) is not None


def _speaks_of(key: str, text: str, resource_type: str) -> bool:
    """Whether a key speaks of a type: `StreamName`, `ORDERS_TABLE`; or says nothing, and the text is a name of several words."""
    if means(key, text, resource_type):
        return True
    own = stem(resource_type.rpartition("_")[2])
    words = {stem(word) for word in key.split("_")}
    if any(_SAME_WORD.get(word, word) == _SAME_WORD.get(own, own) for word in words):
        return True
    return key in _SAYS_NOTHING and re.search(r"\w[-_./]\w", text) is not None


def means(attribute: str, value: str, resource_type: str) -> bool:
    """Whether a value of the attribute may name a resource of the type."""
    if value.startswith(_OF_OTHERS):
        return False
    if is_chosen_by_aws(value) and not resource_type.startswith(("aws_s3_bucket_", "aws_iam_role_policy")):
        return True
    if attribute == _PATH:
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
