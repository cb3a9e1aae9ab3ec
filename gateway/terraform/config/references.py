"""References between resources in the code: direct, or through locals, data sources, module arguments and outputs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown

Targets = frozenset[str]
_NONE: Targets = frozenset()


def references(module: Module) -> Mapping[str, Targets]:
    """The addresses of the resources that each resource refers to, by its address.

    Addresses have the keys of their modules but no key of their own: `module.jobs["a"].aws_sqs_queue.this`.
    """
    reader = _Reader()
    result: dict[str, Targets] = {}
    for each in module.modules():
        inherited = reader.call(each)
        for name, declared in each.source.resources.items():
            address = _address(each, name)
            written = (reader.block(each, *block) for block, _ in each.source.layers(declared))
            result[address] = inherited.union(*written) - {address}
    return result


def _address(module: Module, name: str) -> str:
    return f"{module.address}.{name}" if module.address else name


@dataclass(frozen=True, slots=True)
class _Reader:
    """Follows names to resources; caches each name it has followed."""

    done: dict[tuple[int, str], Targets] = field(default_factory=dict)

    def block(self, module: Module, document: Document, block: Node) -> Targets:
        """The resources that the expressions inside a block refer to."""
        found = [self.expression(module, read) for read in _expressions(document, block)]
        return _NONE.union(*found)

    def call(self, module: Module) -> Targets:
        """The resources that the `count`, `for_each` and `depends_on` of a module call refer to, and of the calls above it."""
        if module.parent is None or module.call is None or module.call_document is None:
            return _NONE
        arguments = module.call_document.attributes(module.call)
        nodes = [arguments[name] for name in ("count", "for_each", "depends_on") if name in arguments]
        found = [self.expression(module.parent, read_attribute(module.call_document, node)) for node in nodes]
        return self.call(module.parent).union(*found)

    def expression(self, module: Module, expression: Expression, bound: frozenset[str] = frozenset()) -> Targets:
        """The resources that an expression refers to; `bound` are the variables of enclosing `for` expressions."""
        traversal = (
            e.steps_of(expression)
            if isinstance(expression, e.AttributeAccess | e.IndexAccess | e.Splat | e.Name)
            else None
        )
        found = _NONE
        if traversal is not None and traversal[0] not in bound:
            found = self.name(module, *traversal)
        inner = bound | set(expression.names) if isinstance(expression, e.For) else bound
        return found.union(
            *(
                self.expression(module, child, inner)
                for child in e.children(expression)
                if not _same_traversal(expression, child)
            ),
            *(self.expression(module, key, bound) for key in _keys(expression)),
        )

    def name(self, module: Module, root: str, steps: tuple[str | Expression, ...]) -> Targets:
        """The resources that a name refers to."""
        names = [step for step in steps if isinstance(step, str)]
        if not names:
            return _NONE
        match root:
            case "var":
                return self.once(module, f"var.{names[0]}", lambda: self.variable(module, names[0]))
            case "local":
                return self.once(module, f"local.{names[0]}", lambda: self.local(module, names[0]))
            case "module":
                return self.outputs(module, names[0], names[1] if len(names) > 1 else "")
            case "data":
                key = ".".join(names[:2])
                return self.once(module, f"data.{key}", lambda: self.data(module, key))
        key = f"{root}.{names[0]}"
        return frozenset({_address(module, key)}) if key in module.source.resources else _NONE

    def once(self, module: Module, name: str, follow: Callable[[], Targets]) -> Targets:
        """The resources behind a name, followed only the first time. A cycle adds nothing."""
        key = (id(module), name)
        if key not in self.done:
            self.done[key] = _NONE
            self.done[key] = follow()
        return self.done[key]

    def variable(self, module: Module, name: str) -> Targets:
        """The resources that a variable's argument refers to, in the calling module."""
        try:
            definition = module.definition(name)
        except Unknown:
            return _NONE
        if definition.kind != "argument":
            return _NONE
        if module.parent is None:
            return _NONE
        argument = read_attribute(definition.document, definition.attribute)
        return self.expression(module.parent, argument) | self.call(module)

    def local(self, module: Module, name: str) -> Targets:
        """The resources that a local refers to."""
        if name not in module.source.locals:
            return _NONE
        return self.expression(module, read_attribute(*module.source.locals[name]))

    def data(self, module: Module, key: str) -> Targets:
        """The resources that a data source refers to."""
        return self.block(module, *module.source.data[key]) if key in module.source.data else _NONE

    def outputs(self, module: Module, call: str, name: str) -> Targets:
        """The resources that an output of a called module refers to; every output if `name` is empty."""
        try:
            children = tuple(module.children(call).values())
        except Unknown:
            return _NONE
        found = []
        for child in children:
            for output, (document, block) in child.source.outputs.items():
                if name in (output, ""):
                    follow = _following(self, child, document, block)
                    found.append(self.once(child, f"output.{output}", follow))
        return _NONE.union(*found)


def _following(reader: _Reader, module: Module, document: Document, block: Node) -> Callable[[], Targets]:
    return lambda: reader.block(module, document, block)


def _same_traversal(expression: Expression, child: Expression) -> bool:
    """Whether a child is the beginning of the same traversal, which was followed already."""
    linked = isinstance(expression, e.AttributeAccess | e.IndexAccess | e.Splat) and child is expression.source
    return linked and e.steps_of(expression) is not None


def _keys(expression: Expression) -> Iterator[Expression]:
    """The index expressions inside a traversal, without its last."""
    while isinstance(expression, e.AttributeAccess | e.IndexAccess | e.Splat):
        expression = expression.source
        if isinstance(expression, e.IndexAccess):
            yield expression.key


def _expressions(document: Document, block: Node) -> Iterator[Expression]:
    for attribute in document.attributes(block).values():
        yield read_attribute(document, attribute)
    for inner in document.blocks(block):
        yield from _expressions(document, inner)
