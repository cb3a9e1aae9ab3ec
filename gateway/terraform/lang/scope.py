"""What the names in an expression refer to: those of its module, of the instance, of enclosing dynamic blocks and `for` expressions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from gateway.model.json import Json
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.steps import Steps
from gateway.terraform.lang.values import Value

Visiting = frozenset[tuple[int, str]]


class Names(Protocol):
    """Looks up the names of a module. Each method raises `Unknown`; `visiting` stops cycles."""

    def variable(self, name: str, visiting: Visiting) -> Value:
        """The value of `var.name`."""

    def local(self, name: str, visiting: Visiting) -> Value:
        """The value of `local.name`."""

    def outputs(self, name: str, visiting: Visiting) -> Value:
        """The value of `module.name`: its outputs, by key if it has `count` or `for_each`."""

    def resource(self, name: str, visiting: Visiting) -> Value:
        """The instances of the resource `type.name`, each `Opaque`, by key if it has `count` or `for_each`."""

    def recorded(self, name: str, key: Value) -> Value:
        """The attributes of one instance of the resource `type.name`, if they are known from elsewhere than the code; else None."""

    def data(self, name: str, visiting: Visiting) -> Value:
        """The value of the data source `type.name`, by key if it has `count` or `for_each`."""

    def path(self, name: str) -> Value:
        """The value of `path.name`."""

    def terraform(self, name: str) -> Value:
        """The value of `terraform.name`."""

    def template(self, path: str) -> Expression:
        """The text of a template file of the module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationScope:
    """The context of an expression: what its names refer to."""

    module: Names | None = None
    each: tuple[str, Value] | None = None
    """Key and value of the instance, if its block has `for_each`."""
    count: int | None = None
    """Index of the instance, if its block has `count`."""
    iterators: Mapping[str, tuple[Value, Value]] = field(default_factory=dict)
    """Key and value of each enclosing dynamic block, by the iterator's name."""
    names: Mapping[str, Json] = field(default_factory=dict)
    """Further roots such as `self` and `before`. They take precedence over all but `bound`."""
    bound: Mapping[str, Value] = field(default_factory=dict)
    """Variables of the enclosing `for` expressions."""
    visiting: Visiting = frozenset()
    """Definitions that are being evaluated, to detect cycles."""
    steps: Steps | None = field(default=None, compare=False)
    """How much more may be evaluated; None where an evaluation begins."""
