"""Where a new variable of a module is used: in place of a literal, beside the entries of a map, before an expression, as a new attribute."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from gateway.model.json import Json
from gateway.terraform.config.instance import ResourceInstance
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from reconciler.model import Wanted
from reconciler.rewrite.editors import attribute, dynamic
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.inverse import unchanged
from reconciler.rewrite.place import ArgumentPlace, AttributePlace, EntryPlace, ListPlace, LiteralPlace, NoPlace, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
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


def uses_of_place(place: Place, instance: ResourceInstance, wanted: Wanted, about: str) -> Iterator[Use]:
    """The variable in place of a literal, beside the entries of a map, or as an attribute that was not there."""
    if not isinstance(place, NoPlace) and any(place.document.around):
        return  # a template has no variables of the module
    match place:
        case LiteralPlace(document=document, convert=convert, node=e.LiteralValue() as node, chain=chain) if (
            convert is unchanged and document.source[node.start : node.start + 2] != b"<<"
        ):
            yield from _of_expression(document, node, chain, instance, about)
        case ListPlace(document=document, convert=convert, node=node, chain=chain) if convert is unchanged:
            yield from _of_expression(document, node, chain, instance, about)
        case EntryPlace(document=document, convert=convert, node=node, key=key, chain=chain) if convert is unchanged:
            yield Use(
                document=document,
                splices=lambda ref: (Splice(node.start, node.start, "merge("), Splice(node.end, node.end, f", {ref})")),
                default="{}",
                given=lambda value: {key: value},
                name=wanted.path.steps[-2] if len(wanted.path.steps) > 1 else "",
                about=about.removesuffix(f".{key}"),
                chain=chain,
            )
        case AttributePlace(document=document, block=block, path=path, chain=chain) if len(path.steps) == 1:
            made = (
                _new_block(document, block, path.top, wanted)
                if is_blocks(wanted.value)
                else _new_attribute(document, block, path.top, _key(instance.scope))
            )
            yield replace(made, about=about, chain=chain)
        case ArgumentPlace(document=document, block=block, name=name, only=None) as found:
            yield Use(
                document=document,
                splices=lambda ref: (attribute.row(document, block, name, ref),),
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
) -> Iterator[Use]:
    """The variable in place of an expression without names; for one of several instances of a block, looked up by its key."""
    source = document.source[node.start : node.end].decode()
    if "\n" in source:
        return
    yield Use(
        document=document,
        splices=lambda ref: (Splice(node.start, node.end, ref),),
        default=source,
        about=about,
        chain=chain,
    )
    if document is instance.document and (keyed := _key(instance.scope))[0]:
        yield _looked_up(document, node, keyed, about, chain)


def uses_of_attribute(instance: ResourceInstance, wanted: Wanted, about: str) -> Iterator[Use]:
    """The variable before the whole expression of an attribute: it counts where it is set."""
    document, steps = instance.document, wanted.path.steps
    node = document.attributes(instance.block).get(steps[0])
    if node is None or len(steps) != 1:
        return
    written = read_attribute(document, node)
    if isinstance(e.bare(written), e.LiteralValue):
        return
    source = document.source[written.start : written.end].decode()
    keyed = _key(instance.scope)
    if keyed[0] and "\n" not in source:
        yield _looked_up(document, written, keyed, about, ())
    if isinstance(wanted.value, bool) or not isinstance(wanted.value, str | int | float) or wanted.value == "":
        if "\n" not in source:
            yield Use(
                document=document,
                splices=lambda ref: (Splice(written.start, written.end, f"{ref} != null ? {ref} : {source}"),),
                default="null",
                about=about,
            )
        return
    yield Use(
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


def _looked_up(document: Document, node: Expression, keyed: tuple[str, str], about: str, chain: tuple[str, ...]) -> Use:
    source = document.source[node.start : node.end].decode()
    return Use(
        document=document,
        splices=lambda ref: (Splice(node.start, node.end, f"try({ref}[{keyed[0]}], {source})"),),
        default="{}",
        given=lambda value: {keyed[1]: value},
        about=f"{about}, by key",
        chain=chain,
    )


def is_blocks(value: Json) -> bool:
    """Whether a value is a list of maps, which code writes as blocks."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    return any(isinstance(row, Mapping) for row in value)


def _new_block(document: Document, block: Node, name: str, wanted: Wanted) -> Use:
    """A dynamic block, one for each item of the variable: none for those who do not set it. If the attribute is no block, the plan says so."""

    def splices(ref: str) -> Sequence[Splice]:
        names = list(dict.fromkeys(each for row in dynamic.rows_of(wanted.value) for each in row))
        return (dynamic.edit(document, block, name, names, ref),)

    return Use(document=document, splices=splices, default="[]", given=lambda value: list(dynamic.rows_of(value)))


def _new_attribute(document: Document, block: Node, name: str, keyed: tuple[str, str]) -> Use:
    if not keyed[0]:
        return Use(
            document=document,
            splices=lambda ref: (attribute.row(document, block, name, ref),),
            default="null",
        )
    return Use(
        document=document,
        splices=lambda ref: (attribute.row(document, block, name, f"try({ref}[{keyed[0]}], null)"),),
        default="{}",
        given=lambda value: {keyed[1]: value},
    )
