"""Compares the code's declarations with wanted values by our own evaluator, without running terraform."""

import contextlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from gateway.core.model.json import Json
from gateway.terraform.config.module import Module, ResourceInstance, declared, lifecycle_arguments, load_module
from gateway.terraform.lang.evaluate import Unknown
from gateway.terraform.lang.values import EvaluationFailed
from reconciler.model import Wanted, is_gone, is_new, is_replacement
from reconciler.rewrite.editors.hcl_text import to_hcl
from reconciler.rewrite.imports import import_expressions
from reconciler.terraform.compare import agrees
from reconciler.terraform.json_documents import document_in, is_policy, same_document


class Declaration(Enum):
    """The code's declaration compared with a wanted value."""

    THIS = "this"
    """It declares the wanted value."""
    OTHER = "other"
    """It declares another value, or no value."""
    UNSURE = "unsure"
    """The declaration cannot be evaluated without the live system."""
    NOTHING = "nothing"
    """It does not declare the resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The code's declaration for one wanted value."""

    says: Declaration
    value: Json = None
    reason: str = ""
    """Why the declaration is unsure."""


def read_declared(root: Path, wanted: Sequence[Wanted], sources: Mapping[Path, bytes] | None = None) -> list[Declared]:
    """What the code at `root` declares for each wanted value, in their order; `sources` replaces files on disk.

    Raises `gateway.core.errors.CodeInvalid` if the code cannot be read.
    """
    module = load_module(root, sources)
    return [
        _imported(module, want) if is_replacement(want) else _declared(module.instance(want.address), want)
        for want in wanted
    ]


def addresses(root: Path) -> Collection[str]:
    """The address of every resource instance that the code declares, if its key is known."""
    return frozenset(instance.address for instance in load_module(root).instances())


def ignored_changes(root: Path) -> frozenset[tuple[str, str]]:
    """(address, attribute) of what the code tells Terraform to ignore; `all` stands for every attribute."""
    found: set[tuple[str, str]] = set()
    for instance in load_module(root).instances():
        for document, listed in lifecycle_arguments(instance, "ignore_changes"):
            names = re.findall(r"[a-z_][a-z0-9_]*", document.text(document.expression(listed)))
            found |= {(instance.address, name) for name in names}
    return frozenset(found)


def written_as_null(root: Path, attributes: Collection[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Those of (address, attribute) that a block writes and that are null in this instance, which is as if they were not written."""
    module = load_module(root) if attributes else None
    found: set[tuple[str, str]] = set()
    for address, attribute in attributes:
        instance = module.instance(address) if module is not None else None
        with contextlib.suppress(Unknown):
            if instance is not None and attribute in instance.names and declared(instance, attribute) is None:
                found.add((address, attribute))
    return frozenset(found)


def captures(wanted: Json, found: Json) -> bool:
    """Whether both values agree wherever both are set. Policies agree if AWS reads the same in both: a list of one action is that action."""
    one, other = document_in(wanted), document_in(found)
    if is_policy(one) and is_policy(other):
        return same_document(one, other)
    wanted, found = _set_in_blocks(wanted), _set_in_blocks(found)
    return agrees(wanted, found) and agrees(found, wanted)


def _set_in_blocks(value: Json) -> Json:
    """The value without the switches in its blocks that are off: a provider says so of each one that a block does not set."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value
    return [
        {name: _set_in_blocks(each) for name, each in item.items() if each is not False}
        if isinstance(item, Mapping)
        else item
        for item in value
    ]


def _imported(module: Module, want: Wanted) -> Declared:
    """Whether the code imports the resource that took the place of another."""
    if module.instance(want.address) is None:
        return Declared(says=Declaration.NOTHING)
    asked = want.value["import_id"] if isinstance(want.value, Mapping) else None
    written = import_expressions(module).get(want.address)
    return Declared(says=Declaration.THIS if written == to_hcl(asked) else Declaration.OTHER, value=written)


def _declared(instance: ResourceInstance | None, want: Wanted) -> Declared:
    if is_gone(want):
        return Declared(says=Declaration.THIS if instance is None else Declaration.OTHER)
    if instance is None:
        return Declared(says=Declaration.NOTHING)
    if is_new(want):
        return Declared(says=Declaration.THIS)
    try:
        found = declared(instance, want.attribute)
    except EvaluationFailed:
        found = None
    except Unknown as error:
        return Declared(says=Declaration.UNSURE, reason=str(error))
    return Declared(says=Declaration.THIS if captures(want.value, found) else Declaration.OTHER, value=found)
