"""Gives a module a new variable for a value that only one of its callers wants: what the others get stays as it is.

The expression in the module becomes the variable, with today's value as its default; the call gets an argument. If the call stands
in a module that others use too, the variable is passed on from its caller.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.terraform.config.module import Module, ResourceInstance
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from reconciler.model import Wanted
from reconciler.rewrite.editors.attribute import attribute_line
from reconciler.rewrite.editors.hcl_text import CannotEdit, to_hcl
from reconciler.rewrite.editors.nested_blocks import add_dynamic_block, is_blocks, rows_of_value
from reconciler.rewrite.editors.override import conditional
from reconciler.rewrite.editors.splice import Splice, indent_at
from reconciler.rewrite.editors.variable import Variable, add_variable, document_of, type_of
from reconciler.rewrite.names import variable_name
from reconciler.rewrite.trace.inverse import unchanged
from reconciler.rewrite.trace.overrides import condition_of
from reconciler.rewrite.trace.sites import (
    ArgumentSite,
    AttributeSite,
    EntrySite,
    ListSite,
    LiteralSite,
    NoSite,
    Only,
    TracedSite,
)

_Change = tuple[Document, Splice]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableUse:
    """Where the new variable is used, and what it has to be so that nothing changes for who does not set it."""

    document: Document
    splices: Callable[[str], Sequence[Splice]]
    """From the reference (`var.x`) to the changes that use it."""
    default: str
    """HCL."""
    given: Callable[[Json], Json] = unchanged
    """From the wanted value to the variable's."""
    name: str = ""
    """The variable's name, if it passes on another one."""
    about: str = ""
    chain: tuple[str, ...] = ()


def uses_at_site(site: TracedSite, instance: ResourceInstance, wanted: Wanted, about: str) -> Iterator[VariableUse]:
    """The variable in place of a literal, beside the entries of a map, or as an attribute that was not there."""
    if not isinstance(site, NoSite) and any(site.document.around):
        return  # a template has no variables of the module
    match site:
        case LiteralSite(document=document, convert=convert, node=e.LiteralValue() as node, chain=chain) if (
            convert is unchanged and document.source[node.start : node.start + 2] != b"<<"
        ):
            yield from _of_expression(document, node, chain, instance, about)
        case ListSite(document=document, convert=convert, node=node, chain=chain) if convert is unchanged:
            yield from _of_expression(document, node, chain, instance, about)
        case EntrySite(document=document, convert=convert, node=node, key=key, chain=chain) if convert is unchanged:
            yield VariableUse(
                document=document,
                splices=lambda ref: (Splice(node.start, node.start, "merge("), Splice(node.end, node.end, f", {ref})")),
                default="{}",
                given=lambda value: {key: value},
                name=wanted.path.steps[-2] if len(wanted.path.steps) > 1 else "",
                about=about.removesuffix(f".{key}"),
                chain=chain,
            )
        case AttributeSite(document=document, block=block, path=path, chain=chain) if len(path.steps) == 1:
            made = (
                _new_block(document, block, path.top, wanted)
                if is_blocks(wanted.value)
                else _new_attribute(document, block, path.top, _key(instance.scope))
            )
            yield replace(made, about=about, chain=chain)
        case ArgumentSite(document=document, block=block, name=name, only=None) as found:
            yield VariableUse(
                document=document,
                splices=lambda ref: (attribute_line(document, block, name, ref),),
                default=found.default,
                given=found.convert,
                about=f"{name} of module.{document.header(block)[1]}",
                chain=found.chain,
                name=name,
            )
        case _:
            return


def _of_expression(
    document: Document, node: Expression, chain: tuple[str, ...], instance: ResourceInstance, about: str
) -> Iterator[VariableUse]:
    """The variable in place of an expression without names; for one of several instances of a block, looked up by its key."""
    source = document.source[node.start : node.end].decode()
    if "\n" in source:
        return
    yield VariableUse(
        document=document,
        splices=lambda ref: (Splice(node.start, node.end, ref),),
        default=source,
        about=about,
        chain=chain,
    )
    if document is instance.document and (keyed := _key(instance.scope))[0]:
        yield _looked_up(document, node, keyed, about, chain)


def uses_of_attribute(instance: ResourceInstance, wanted: Wanted, about: str) -> Iterator[VariableUse]:
    """The variable before the whole expression of an attribute: it counts where it is set."""
    document, steps = instance.document, wanted.path.steps
    node = document.attributes(instance.block).get(steps[0])
    if node is None or len(steps) > 2:  # noqa: PLR2004  an entry of a map
        return
    written = read_attribute(document, node)
    if isinstance(e.bare(written), e.LiteralValue):
        return
    if len(steps) > 1:
        if isinstance(wanted.value, str) and not isinstance(e.bare(written), e.Tuple):
            yield VariableUse(
                document=document,
                splices=lambda ref: (
                    Splice(written.start, written.start, "merge("),
                    Splice(written.end, written.end, f", {ref})"),
                ),
                default="{}",
                given=lambda value: {steps[1]: value},
                name=steps[0],
                about=about.removesuffix(f".{steps[1]}"),
            )
        return
    source = document.source[written.start : written.end].decode()
    keyed = _key(instance.scope)
    if keyed[0] and "\n" not in source:
        yield _looked_up(document, written, keyed, about, ())
    if isinstance(wanted.value, bool) or not isinstance(wanted.value, str | int | float) or wanted.value == "":
        if "\n" not in source:
            yield VariableUse(
                document=document,
                splices=lambda ref: (Splice(written.start, written.end, f"{ref} != null ? {ref} : {source}"),),
                default="null",
                about=about,
            )
        return
    yield VariableUse(
        document=document,
        splices=lambda ref: (
            Splice(written.start, written.start, f"coalesce({ref}, "),
            Splice(written.end, written.end, ")"),
        ),
        default="null",
        about=about,
    )


def _key(scope: EvaluationScope) -> tuple[str, str]:
    """HCL and value of the key of an instance; empty for a block with one instance."""
    if scope.each is not None:
        return "each.key", scope.each[0]
    return ("", "") if scope.count is None else ("tostring(count.index)", str(scope.count))


def _looked_up(
    document: Document, node: Expression, keyed: tuple[str, str], about: str, chain: tuple[str, ...]
) -> VariableUse:
    source = document.source[node.start : node.end].decode()
    return VariableUse(
        document=document,
        splices=lambda ref: (Splice(node.start, node.end, f"try({ref}[{keyed[0]}], {source})"),),
        default="{}",
        given=lambda value: {keyed[1]: value},
        about=f"{about}, by key",
        chain=chain,
    )


def _new_block(document: Document, block: Node, name: str, wanted: Wanted) -> VariableUse:
    """A dynamic block, one for each item of the variable: none for those who do not set it. If the attribute is no block, the plan says so."""

    def splices(ref: str) -> Sequence[Splice]:
        names = list(dict.fromkeys(each for row in rows_of_value(wanted.value) for each in row))
        return (add_dynamic_block(document, block, name, names, ref),)

    return VariableUse(document=document, splices=splices, default="[]", given=lambda value: list(rows_of_value(value)))


def _new_attribute(document: Document, block: Node, name: str, keyed: tuple[str, str]) -> VariableUse:
    if not keyed[0]:
        return VariableUse(
            document=document,
            splices=lambda ref: (attribute_line(document, block, name, ref),),
            default="null",
        )
    return VariableUse(
        document=document,
        splices=lambda ref: (attribute_line(document, block, name, f"try({ref}[{keyed[0]}], null)"),),
        default="{}",
        given=lambda value: {keyed[1]: value},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleVariable:
    """A value as a new variable of a module, set at its call."""

    chain: tuple[str, ...]
    use: VariableUse
    name: str
    levels: tuple[Module, ...]
    """The modules that get the variable, the innermost first; the call of the last one gets the value."""

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every file that is edited."""
        parents = [level.call_document for level in self.levels]
        own = [document_of(level.source, self.use.document) for level in self.levels]
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
            text = Variable(name=self.name, type=type_of(given), default=self.use.default, about=self.use.about)
            yield add_variable(level.source, text, self.use.document)
            if level.call is None or level.call_document is None:
                raise CannotEdit("There is no call that could set the variable.")
            new = f"var.{self.name}"
            if level is self.levels[-1]:
                condition = condition_of(level.call_scope)
                only = Only(condition, self.use.default) if condition else None
                new = conditional(only, to_hcl(given, indent_at(level.call_document, level.call.start_byte) + "  "))
            yield level.call_document, attribute_line(level.call_document, level.call, self.name, new)


def module_variables(root: Module, wanted: Wanted, sites: Sequence[TracedSite]) -> Iterator[ModuleVariable]:
    """Every way to give this value to a module by a new variable, the plainest first; none for a resource of the root module."""
    instance = root.instance(wanted.address)
    if instance is None or instance.module.parent is None:
        return
    about = f"{wanted.attribute} of {instance.resource_type}.{instance.name}"
    for site in sites:
        module = getattr(site, "module", None)
        if module is not None and module.parent is not None:
            for use in uses_at_site(site, instance, wanted, about):
                yield from _at_calls(use, module, wanted, instance)
    for use in uses_of_attribute(instance, wanted, about):
        yield from _at_calls(use, instance.module, wanted, instance)


def _at_calls(use: VariableUse, module: Module, wanted: Wanted, instance: ResourceInstance) -> Iterator[ModuleVariable]:
    """The variable set at the module's call, then passed on to it by ever more callers."""
    levels: tuple[Module, ...] = ()
    level: Module | None = module
    while level is not None and level.parent is not None:
        levels = (*levels, level)
        name = variable_name(levels, wanted, instance, use.name)
        yield ModuleVariable(
            chain=(*use.chain, f"{use.document.path} a new variable {name}"), use=use, name=name, levels=levels
        )
        level = level.parent
