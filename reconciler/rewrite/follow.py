"""The type of the function that follows an expression, which the modules of tracing hand to each other."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from gateway.terraform.lang.expression import Expression
from reconciler.rewrite.place import Cursor, Place

Follow: TypeAlias = Callable[[Cursor, Expression, tuple[str, ...]], Iterator[Place]]
"""Yields the places that define the value at a path inside an expression."""
