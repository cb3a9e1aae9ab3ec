"""Gives a module a new variable for a value that only one of its callers wants: what the others get stays as it is.

The expression in the module becomes the variable, with today's value as its default; the call gets an argument. If the call stands
in a module that others use too, the variable is passed on from its caller.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway.model.json import Json
from gateway.terraform.config.instance import ResourceInstance
from gateway.terraform.config.module import Module
from gateway.terraform.lang.hcl import Document
from reconciler.model import Wanted
from reconciler.rewrite.editors import attribute, variable
from reconciler.rewrite.editors.override import conditional
from reconciler.rewrite.editors.splice import Splice, indent_at
from reconciler.rewrite.editors.text import CannotEdit, to_hcl
from reconciler.rewrite.lift_uses import Use, uses_of_attribute, uses_of_place
from reconciler.rewrite.place import Only, Place
from reconciler.rewrite.trace_call import condition_of
from reconciler.rewrite.variable_name import variable_name

_Change = tuple[Document, Splice]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """A value as a new variable of a module, set at its call."""

    chain: tuple[str, ...]
    use: Use
    name: str
    levels: tuple[Module, ...]
    """The modules that get the variable, the innermost first; the call of the last one gets the value."""

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every file that is edited."""
        parents = [level.call_document for level in self.levels]
        own = [variable.document_of(level.source, self.use.document) for level in self.levels]
        return (self.use.document, *own, *(document for document in parents if document is not None))

    def splices(self, value: Json) -> Iterator[tuple[Document, tuple[Splice, ...]]]:
        """The changes of each file. Raises `CannotEdit`."""
        changes: dict[str, tuple[Document, list[Splice]]] = {}
        for document, splice in self._changes(self.use.given(value)):
            changes.setdefault(document.path.as_posix(), (document, []))[1].append(splice)
        for document, found in changes.values():
            yield document, tuple(found)

    def _changes(self, given: Json) -> Iterator[_Change]:
        for splice in self.use.splices(f"var.{self.name}"):
            yield self.use.document, splice
        for level in self.levels:
            text = variable.Variable(
                name=self.name, type=variable.type_of(given), default=self.use.default, about=self.use.about
            )
            yield variable.added(level.source, text, self.use.document)
            if level.call is None or level.call_document is None:
                raise CannotEdit("There is no call that could set the variable.")
            new = f"var.{self.name}"
            if level is self.levels[-1]:
                condition = condition_of(level.call_scope)
                only = Only(condition, self.use.default) if condition else None
                new = conditional(only, to_hcl(given, indent_at(level.call_document, level.call.start_byte) + "  "))
            yield level.call_document, attribute.row(level.call_document, level.call, self.name, new)


def lifts(root: Module, wanted: Wanted, places: Sequence[Place]) -> Iterator[Lift]:
    """Every way to give this value to a module by a new variable, the plainest first; none for a resource of the root module."""
    instance = root.instance(wanted.address)
    if instance is None or instance.module.parent is None:
        return
    about = f"{wanted.attribute} of {instance.resource_type}.{instance.name}"
    for place in places:
        module = getattr(place, "module", None)
        if module is not None and module.parent is not None:
            for use in uses_of_place(place, instance, wanted, about):
                yield from _at_calls(use, module, wanted, instance)
    for use in uses_of_attribute(instance, wanted, about):
        yield from _at_calls(use, instance.module, wanted, instance)


def _at_calls(use: Use, module: Module, wanted: Wanted, instance: ResourceInstance) -> Iterator[Lift]:
    """The variable set at the module's call, then passed on to it by ever more callers."""
    levels: tuple[Module, ...] = ()
    level: Module | None = module
    while level is not None and level.parent is not None:
        levels = (*levels, level)
        name = variable_name(levels, wanted, instance, use.name)
        yield Lift(chain=(*use.chain, f"{use.document.path} a new variable {name}"), use=use, name=name, levels=levels)
        level = level.parent
