"""Reads contracts, the `*.sentinel.hcl` files beside the Terraform code, into rules. Strict: any unknown name is an error."""

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from gateway.core.errors import CodeInvalid
from gateway.core.model.equality import number
from gateway.core.model.path import written_path
from gateway.terraform.contracts.bounds import NAMES, limit_problem
from gateway.terraform.contracts.operation_names import operation_problem
from gateway.terraform.contracts.text import (
    ContractAttribute,
    ContractBlock,
    ContractBody,
    WrittenExpression,
    parse_body,
)
from gateway.terraform.lang.expression import NOT_LITERAL, NotLiteral, Unsupported, walk
from gateway.terraform.lang.grammar import TOO_DEEP

SUFFIX = ".sentinel.hcl"

_ROOTS = ("self", "before", "var", "local")
_OF_A_RESOURCE = (
    *("managed_by_agent", "critical", "prevent_delete", "mutable", "immutable"),
    *("allow_delete", "allow_invoke"),
)
_PATH = re.compile(r"[A-Za-z_][\w-]*(\.[^\s.*?]+)*")
_TYPE = re.compile(r"[a-z0-9_*?]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundRule:
    """One bound of an attribute, e.g. `max = self.max_size`."""

    attribute: str
    name: str
    limit: WrittenExpression


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionRule:
    """A condition and the message for when it is false.

    Written in an `enforce` block of a contract, or in a `validation`, `precondition` or `postcondition` block of the code.
    """

    condition: WrittenExpression
    message: WrittenExpression
    fallback_message: str = ""
    """The message if `message` cannot be evaluated to text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRule:
    """A `resource` block of a contract."""

    contract: str
    owner: str
    types: str
    """Glob on the resource type."""
    names: str
    """Glob on the name; on the whole address if it contains a dot or a bracket."""
    source: str
    managed_by_agent: bool = False
    mutable: tuple[str, ...] = ()
    immutable: tuple[str, ...] = ()
    allow_delete: bool = False
    allow_invoke: frozenset[str] = frozenset()
    """Operations, each as `Operation` or `service:Operation`."""
    critical: bool = False
    prevent_delete: bool = False
    bounds: tuple[BoundRule, ...] = ()
    enforcements: tuple[ConditionRule, ...] = ()
    """The `enforce` blocks of this block."""
    shared: tuple[ConditionRule, ...] = ()
    """The `enforce` blocks of its contract. Each applies to the resources that have the attributes it refers to."""


@lru_cache(maxsize=16)  # code is read again until its version is known, and whenever a file beside it changes
def parse_contracts(text: str, file: str) -> tuple[ResourceRule, ...]:
    """The resource blocks of every contract in `text`, in order. `file` is the name in messages and sources.

    Raises `errors.CodeInvalid` for any name or form that contracts do not have, with file, line and the known alternatives.
    """
    try:
        return tuple(_rules(parse_body(text, file), file))
    except RecursionError as error:
        raise _wrong(f"{file}:1", "The file is nested too deeply to be read.") from error


def _rules(body: ContractBody, file: str) -> list[ResourceRule]:
    _check_names(body, attributes=(), blocks=("contract",), within="the file")
    rules: list[ResourceRule] = []
    contracts: dict[str, ContractBlock] = {}
    for block in body.blocks:
        (name,) = _labels(block, "a name")
        if name in contracts:
            raise _wrong(block.source, f"The contract {name!r} is already in {contracts[name].source}.")
        contracts[name] = block
        rules += _contract(block, name)
    if not rules:
        raise _wrong(f"{file}:1", "The file holds no contract for any resource, so it would have no effect.")
    return rules


def _contract(block: ContractBlock, name: str) -> list[ResourceRule]:
    _check_names(block.body, attributes=("owner",), blocks=("resource", "enforce"), within="a contract")
    owner = _owner(block.body)
    enforcements = _enforcements(block.body)
    rules: list[ResourceRule] = []
    for inner in block.body.of_kind("resource"):
        rule = _resource(inner, name, owner, enforcements)
        if any((rule.types, rule.names) == (other.types, other.names) for other in rules):
            raise _wrong(inner.source, f'The contract has two blocks for resource "{rule.types}" "{rule.names}".')
        rules.append(rule)
    return rules


def _resource(block: ContractBlock, contract: str, owner: str, shared: tuple[ConditionRule, ...]) -> ResourceRule:
    types, names = _labels(block, "a resource type", "a name pattern")
    if not _TYPE.fullmatch(types):
        raise _wrong(
            block.source, f'"{types}" is not a resource type or a pattern of one, such as "aws_sqs_queue" or "aws_*".'
        )
    _check_names(block.body, attributes=_OF_A_RESOURCE, blocks=("attribute", "enforce"), within="a resource")
    mutable, immutable = _paths(block.body, "mutable"), _paths(block.body, "immutable")
    bounds = _bounds(block.body)
    for path in immutable:
        if path in mutable or any(bound.attribute == path for bound in bounds):
            raise _wrong(
                block.body.attributes["immutable"].source, f'"{path}" cannot be immutable and mutable or bounded.'
            )
    return ResourceRule(
        contract=contract,
        owner=owner,
        types=types,
        names=names,
        source=block.source,
        managed_by_agent=_flag(block.body, "managed_by_agent"),
        allow_delete=_delete(block.body),
        allow_invoke=_operations(block.body),
        critical=_flag(block.body, "critical"),
        prevent_delete=_flag(block.body, "prevent_delete"),
        mutable=mutable,
        immutable=immutable,
        bounds=bounds,
        enforcements=_enforcements(block.body),
        shared=shared,
    )


def _bounds(body: ContractBody) -> tuple[BoundRule, ...]:
    bounds: dict[str, list[BoundRule]] = {}
    for block in body.of_kind("attribute"):
        (path,) = _labels(block, "an attribute's path")
        path = _path(path, block.source)
        if path in bounds:
            raise _wrong(block.source, f'The attribute "{path}" has two blocks; put all its bounds into one.')
        _check_names(block.body, attributes=NAMES, blocks=(), within="an attribute", noun="bound")
        if not block.body.attributes:
            raise _wrong(block.source, f'The attribute "{path}" has no bound. Known bounds: {", ".join(NAMES)}.')
        bounds[path] = [_bound(path, attribute) for attribute in block.body.attributes.values()]
        _check_interval(block)
    return tuple(bound for group in bounds.values() for bound in group)


def _bound(path: str, attribute: ContractAttribute) -> BoundRule:
    value = attribute.literal
    problem = "" if isinstance(value, NotLiteral) else limit_problem(attribute.name, value)
    if problem:
        raise _wrong(attribute.source, f'The bound {attribute.name} of "{path}" is wrong: {problem}.')
    return BoundRule(attribute=path, name=attribute.name, limit=_checked(attribute))


def _check_interval(block: ContractBlock) -> None:
    """Refuse a literal `min` over a literal `max`: no number lies between them."""
    low, high = (_literal_number(block.body.attributes.get(name)) for name in ("min", "max"))
    if low is not None and high is not None and low > high:
        raise _wrong(block.body.attributes["min"].source, f"No value is legal: min = {low} is over max = {high}.")


def _literal_number(attribute: ContractAttribute | None) -> Fraction | None:
    value = None if attribute is None else attribute.literal
    return None if isinstance(value, NotLiteral) else number(value)


def _enforcements(body: ContractBody) -> tuple[ConditionRule, ...]:
    return tuple(_enforcement(block) for block in body.of_kind("enforce"))


def _enforcement(block: ContractBlock) -> ConditionRule:
    _labels(block)
    members = ("condition", "error_message")
    _check_names(block.body, attributes=members, blocks=(), within="enforce")
    for name in members:
        if name not in block.body.attributes:
            raise _wrong(block.source, f"This enforce block has no {name}.")
    condition, message = (block.body.attributes[name] for name in members)
    if condition.literal is not NOT_LITERAL:
        raise _wrong(condition.source, "The condition is always the same; it must refer to self, before, var or local.")
    if not isinstance(message.literal, str | NotLiteral):
        raise _wrong(message.source, "The error_message must be text.")
    return ConditionRule(
        condition=_checked(condition), message=_checked(message), fallback_message=message.expression.text
    )


def _checked(attribute: ContractAttribute) -> WrittenExpression:
    """The attribute's expression. Raises `errors.CodeInvalid` if it refers to anything that contracts do not have."""
    if any(isinstance(part, Unsupported) and part.reason == TOO_DEEP for part in walk(attribute.expression.parsed)):
        raise _wrong(attribute.source, "The expression is nested too deeply to be read.")
    for root, name in sorted(attribute.expression.references):
        if root not in _ROOTS:
            raise _wrong(
                attribute.source,
                f"{root} cannot be referred to in a contract{_instead(root, _ROOTS)} Known: {', '.join(_ROOTS)}.",
            )
        if not name:
            raise _wrong(attribute.source, f"{root} must be followed by a name, as in {root}.something.")
    return attribute.expression


def _check_names(
    body: ContractBody, *, attributes: Collection[str], blocks: Collection[str], within: str, noun: str = "attribute"
) -> None:
    for attribute in body.attributes.values():
        if attribute.name not in attributes:
            raise _wrong(attribute.source, _unknown(noun, attribute.name, within, attributes, blocks))
    for block in body.blocks:
        if block.kind not in blocks:
            raise _wrong(block.source, _unknown("block", block.kind, within, blocks, attributes))


def _unknown(noun: str, name: str, within: str, known: Collection[str], others: Collection[str]) -> str:
    listed = f"Known {noun}s in {within}: {', '.join(known)}." if known else f"There are no {noun}s in {within}."
    return f"There is no {noun} {name!r} in {within}{_instead(name, [*known, *others])} {listed}"


def _instead(name: str, known: Sequence[str]) -> str:
    """The end of the sentence: a full stop, or the known name that is most like this one."""
    cut_short = [other for other in known if name.startswith(other)]
    close = cut_short or difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else "."


def _labels(block: ContractBlock, *wanted: str) -> Sequence[str]:
    if len(block.labels) != len(wanted) or not all(block.labels):
        needs = " and ".join(wanted) if wanted else "no label"
        raise _wrong(block.source, f"{block.kind} takes {needs}, and here it has {len(block.labels)} label(s).")
    return block.labels


def _flag(body: ContractBody, name: str) -> bool:
    """A literal bool, false if absent. It is never evaluated: a reader of the file must see which contracts apply."""
    attribute = body.attributes.get(name)
    value = False if attribute is None else attribute.literal
    if not isinstance(value, bool):
        raise _wrong(body.attributes[name].source, f"{name} must be true or false, written out.")
    return value


def _delete(body: ContractBody) -> bool:
    """Whether agents may delete the resource. A block that also prevents every deletion contradicts itself."""
    allowed = _flag(body, "allow_delete")
    if allowed and _flag(body, "prevent_delete"):
        raise _wrong(body.attributes["allow_delete"].source, "allow_delete and prevent_delete contradict each other.")
    return allowed


def _operations(body: ContractBody) -> frozenset[str]:
    """The operations that agents may invoke. Each is written out, so that a reader of the file sees all of them."""
    attribute = body.attributes.get("allow_invoke")
    value = [] if attribute is None else attribute.literal
    source = "" if attribute is None else attribute.source
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise _wrong(
            source, 'allow_invoke must be a list of operations in quotes, such as ["PurgeQueue"], written out.'
        )
    for name in value:
        if problem := operation_problem(name):
            raise _wrong(source, f"allow_invoke: {problem}")
    if len(set(value)) != len(value):
        raise _wrong(source, "allow_invoke names an operation twice.")
    return frozenset(value)


def _owner(body: ContractBody) -> str:
    attribute = body.attributes.get("owner")
    value = "" if attribute is None else attribute.literal
    if not isinstance(value, str):
        raise _wrong(body.attributes["owner"].source, "owner must be text in quotes, written out.")
    return value


def _paths(body: ContractBody, name: str) -> tuple[str, ...]:
    attribute = body.attributes.get(name)
    if attribute is None:
        return ()
    value = attribute.literal
    if not isinstance(value, list) or not all(isinstance(path, str) for path in value):
        raise _wrong(attribute.source, f"{name} must be a list of attribute paths in quotes, written out.")
    paths = tuple(_path(path, attribute.source) for path in value)
    if len(set(paths)) != len(paths):
        raise _wrong(attribute.source, f"{name} names an attribute twice.")
    return paths


def _path(written: str, source: str) -> str:
    """The path that a contract writes, with each dot of a key escaped. Raises `errors.CodeInvalid`."""
    path = written_path(written)
    if not _PATH.fullmatch(path):
        raise _wrong(source, f'"{written}" is not an attribute path such as "desired_capacity" or "tags.owner".')
    return path


def _wrong(source: str, sentence: str) -> CodeInvalid:
    return CodeInvalid(f"{source}: {sentence}")
