"""A reference to a resource as a site: where another object is wanted than the one it names, the reference itself changes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gateway.core.model.json import Json
from gateway.terraform.address import Address, parse_address
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import Unknown, Value
from reconciler.rewrite.trace.inverse import then
from reconciler.rewrite.trace.sites import Cursor, TracedSite, source_of

_IDENTIFYING = frozenset({"id", "arn", "name", "key_id", "url", "invoke_arn", "endpoint", "dns_name"})
"""Attributes that say which object is meant. Any other may change with the object, and then the object is what drifted."""


def names_object(expression: Expression) -> bool:
    """Whether an expression names one resource by what says which object is meant, such as `aws_sns_topic.alerts.arn`."""
    if not isinstance(expression, e.AttributeAccess) or expression.name not in _IDENTIFYING:
        return False
    source = expression.source.source if isinstance(expression.source, e.IndexAccess) else expression.source
    match source:
        case e.AttributeAccess(source=e.Name(name=kind)):
            return kind not in e.OTHER_ROOTS
    return False


def reference(cursor: Cursor, expression: Expression) -> Iterator[TracedSite]:
    """The reference, if what it names is known to have another value than the wanted one: then the object did not change, the choice of it did."""
    if not isinstance(expression, e.AttributeAccess) or expression.name not in _IDENTIFYING:
        return
    try:
        name, key = _named(cursor, expression.source)
        known = cursor.module.recorded(name, key)
    except Unknown:
        return
    now = known.get(expression.name) if isinstance(known, Mapping) else None
    if not isinstance(now, str) or name not in cursor.module.source.resources:
        return

    def check(value: Json) -> Json:
        if not isinstance(value, str) or not value or value == now:
            raise Unknown("what the reference names has this value")
        return value

    line = f"{cursor.document.at(expression.start)} in place of {source_of(cursor.document, expression)}"
    yield replace(cursor.step(line), convert=then(check, cursor.convert)).literal(expression)


def _named(cursor: Cursor, source: Expression) -> tuple[str, Value]:
    """The resource that an expression names, and the key of the instance. Raises `Unknown` for anything else."""
    key: Value = None
    if isinstance(source, e.IndexAccess):
        key, source = value_of(source.key, cursor.scope), source.source
    match source:
        case e.AttributeAccess(source=e.Name(name=kind), name=name):
            return f"{kind}.{name}", key
    raise Unknown("no resource is named")


def text_of(module: Module, node: e.AttributeAccess, value: Json) -> str:
    """The reference to the one other resource of the same type in the module that has the value; empty if there is none."""
    source = node.source.source if isinstance(node.source, e.IndexAccess) else node.source
    kind = source.source.name if isinstance(source, e.AttributeAccess) and isinstance(source.source, e.Name) else ""
    found = [
        parsed
        for address, attributes in module.live.items()
        if attributes.get(node.name) == value and (parsed := parse_address(address)) is not None
        if not parsed.data and (parsed.resource_type, parsed.module) == (kind, module.address)
        if module.instance(address) is not None
    ]
    if len(found) != 1:
        return ""
    (other,) = found
    return f"{Address(resource_type=other.resource_type, name=other.name, key=other.key)}.{node.name}"
