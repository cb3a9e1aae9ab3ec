"""The module tree of a stack's code: variables, locals, module calls and every resource instance whose key is known."""

import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal as OneOf

from tree_sitter import Node

from gateway.model.json import Json
from gateway.terraform.config.carried import Carried
from gateway.terraform.config.data_source import data_value
from gateway.terraform.config.expansion import Expansion, expand
from gateway.terraform.config.instance import (
    ResourceInstance,
    attributes,
    bracket,
    declared,
    instance_address,
    instance_of,
)
from gateway.terraform.config.source import Source, load_sources
from gateway.terraform.config.templates import read_template
from gateway.terraform.files import FileTree
from gateway.terraform.lang import types, values
from gateway.terraform.lang.evaluate import EvaluationScope, Visiting, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.steps import MOST, Steps, take_for
from gateway.terraform.lang.values import Unknown, Value

__all__ = ["Definition", "Module", "ResourceInstance", "attributes", "declared", "expand", "load_module"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Where the value of a variable comes from."""

    kind: OneOf["tfvars", "argument", "default", "json"]
    document: Document | None
    """None for a value in a JSON file, which Sentinel does not edit."""
    attribute: Node | None
    scope: EvaluationScope
    value: Json = None
    """The value from a JSON file."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Module:
    """One instance of a module: the root, or a module that a `module` block calls, for one of its keys."""

    source: Source
    sources: Mapping[str, Source]
    """Every local module of the stack by directory."""
    address: str = ""
    """`module.jobs["a"]`, empty for the root."""
    parent: "Module | None" = None
    call: Node | None = None
    """The `module` block that calls this one, in `call_document`."""
    call_document: Document | None = None
    call_scope: EvaluationScope = field(default_factory=EvaluationScope)
    """Scope of the call's arguments in the parent."""
    evaluated: dict[str, "Value | Unknown"] = field(default_factory=dict)
    """Cache of values by name, such as `var.size`."""
    child_modules: "dict[str, Module]" = field(default_factory=dict)
    """Cache of called modules by name and key, so that each exists only once."""
    expansions: "dict[tuple[str, ...], Expansion | Unknown]" = field(default_factory=dict)
    """Cache of the keys and scopes of resource and module blocks, by the block's header."""
    expanded_resources: "dict[str, tuple[ResourceInstance, ...]]" = field(default_factory=dict)
    """Cache of the instances of this module's resource blocks, by `type.name`."""
    carried: Carried | None = None
    """The version of the code before an edit, whose values stay valid where the edit cannot reach."""
    live: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """Attributes of resources and data sources by address, as the provider knows them; empty where only the code counts."""

    @property
    def scope(self) -> EvaluationScope:
        """The scope of expressions at the top level of this module."""
        return EvaluationScope(module=self)

    # ---- names

    def variable(self, name: str, visiting: Visiting = frozenset()) -> Value:
        """The value of `var.name`, converted to its type. Raises `Unknown`."""
        return self._once(f"var.{name}", visiting, self._variable, name)

    def local(self, name: str, visiting: Visiting = frozenset()) -> Value:
        """The value of `local.name`. Raises `Unknown`."""
        return self._once(f"local.{name}", visiting, self._local, name)

    def outputs(self, name: str, visiting: Visiting = frozenset()) -> Value:
        """The value of `module.name`, in which unknown outputs are `Opaque`. Raises `Unknown`."""
        return self._once(f"module.{name}", visiting, self._outputs, name)

    def resource(self, name: str, visiting: Visiting = frozenset()) -> Value:
        """The keys of the resource `type.name`: a list with an item for each index, a map, or None if it has one instance without a key.

        Raises `Unknown` if the keys are not known.
        """
        return self._once(f"keys.{name}", visiting, self._keys, name)

    def _keys(self, name: str, visiting: Visiting) -> Value:
        if name not in self.source.resources:
            raise Unknown(f"{name.partition('.')[0]} is not known here")
        keys = [key for key, _ in expand(self, *self.source.resources[name], visiting)]
        if keys == [None]:
            return None
        has_count = "count" in self.source.resources[name][0].attributes(self.source.resources[name][1])
        return [None for _ in keys] if has_count else dict.fromkeys((str(key) for key in keys), None)

    def recorded(self, name: str, key: Value) -> Value:
        """The live attributes of one instance of a resource or (with `data.`) a data source; None if they are not known."""
        prefix = f"{self.address}." if self.address else ""
        written = "" if key is None else bracket(key if isinstance(key, int) else values.text(key))
        return self.live.get(f"{prefix}{name}{written}")

    def data(self, name: str, visiting: Visiting = frozenset()) -> Value:
        """The value of `data.type.name`: a policy document is evaluated, any other data source is known only if it is live.

        Raises `Unknown`.
        """
        return self._once(f"data.{name}", visiting, self._data, name)

    def _data(self, name: str, visiting: Visiting) -> Value:
        if name not in self.source.data:
            raise Unknown("data is not known here")
        rows = expand(self, *self.source.data[name], visiting)
        return data_value(self.source.data[name], rows, lambda key: self.recorded(f"data.{name}", key))

    def path(self, name: str) -> Value:
        """The value of `path.module` or `path.root`, relative to the directory in which Terraform runs. Raises `Unknown`."""
        if name == "root":
            return "."
        if name != "module":
            raise Unknown(f"path.{name} depends on the directory in which Terraform runs")
        return self.source.directory

    def terraform(self, name: str) -> Value:
        """The value of `terraform.workspace`. Raises `Unknown` for another name."""
        if name != "workspace":
            raise Unknown(f"terraform.{name} is not known here")
        return self.source.workspace

    def template(self, path: str) -> Expression:
        """The text of a template file of this module. Raises `Unknown`."""
        return self.template_file(path)[1]

    def template_file(self, path: str) -> tuple[Document, Expression]:
        """A template file of this module, and the expression of its text. Raises `Unknown`."""
        name = Path(posixpath.normpath(path))
        content = self.source.templates.get(name)
        if content is None:
            raise Unknown("templatefile() is not evaluated: it reads no template in the module's own directory")
        return read_template(name, content)

    def _once(self, key: str, visiting: Visiting, evaluate_name: Callable[[str, Visiting], Value], name: str) -> Value:
        definition = (id(self), key)
        if definition in visiting:
            raise Unknown(f"{key} refers to itself")
        if key not in self.evaluated:
            try:
                value = evaluate_name(name, visiting | {definition})
                take_for((value,), Steps(MOST))
                self.evaluated[key] = value
            except Unknown as error:
                self.evaluated[key] = error
        found = self.evaluated[key]
        if isinstance(found, Unknown):
            raise type(found)(str(found))
        return found

    def definition(self, name: str) -> Definition:
        """Where `var.name` gets its value. Raises `Unknown` if the code gives it none."""
        if name not in self.source.variables:
            raise Unknown(f"there is no variable {name}")
        if self.parent is not None and self.call is not None and self.call_document is not None:
            overridden = self.parent.source.overridden_in(self.call_document.header(self.call))
            argument = self.call_document.attributes(self.call).get(name)
            if name in overridden:
                raise Unknown(f"var.{name} comes from an override file")
            if argument is not None:
                return Definition(
                    kind="argument", document=self.call_document, attribute=argument, scope=self.call_scope
                )
        elif self.parent is None:
            given = self.source.given.get(name)
            if given is not None:
                document, attribute, value = given
                kind: OneOf["json", "tfvars"] = "json" if document is None else "tfvars"
                return Definition(
                    kind=kind, document=document, attribute=attribute, scope=EvaluationScope(), value=value
                )
        document, block = self.source.variables[name]
        if {"default", "type"} & self.source.overridden_in(("variable", name)):
            raise Unknown(f"var.{name} comes from an override file")
        default = document.attributes(block).get("default")
        if default is None:
            raise Unknown(f"var.{name} has no value in the code (-var or TF_VAR_{name} gives it)")
        return Definition(kind="default", document=document, attribute=default, scope=EvaluationScope())

    def _variable(self, name: str, visiting: Visiting) -> Value:
        definition = self.definition(name)
        document, block = self.source.variables[name]
        value = self._defined_value(definition, visiting)
        if value is None and not self._flag(document, block, "nullable", default=True):
            default = document.attributes(block).get("default")
            value = None if default is None else value_of(read_attribute(document, default), EvaluationScope())
        return types.convert(value, self.constraint(name))

    def _defined_value(self, definition: Definition, visiting: Visiting) -> Value:
        if definition.document is None or definition.attribute is None:
            return definition.value
        expression = read_attribute(definition.document, definition.attribute)
        return value_of(expression, replace(definition.scope, visiting=visiting))

    def constraint(self, name: str) -> Expression | None:
        """The type constraint of a variable, None if it has none."""
        document, block = self.source.variables[name]
        attribute = document.attributes(block).get("type")
        return None if attribute is None else read_attribute(document, attribute)

    def _flag(self, document: Document, block: Node, name: str, *, default: bool) -> bool:
        attribute = document.attributes(block).get(name)
        return (
            default
            if attribute is None
            else values.truth(value_of(read_attribute(document, attribute), EvaluationScope()))
        )

    def _local(self, name: str, visiting: Visiting) -> Value:
        if name not in self.source.locals:
            raise Unknown(f"there is no local {name}")
        if name in self.source.overridden_in(("locals",)):
            raise Unknown(f"local.{name} comes from an override file")
        document, attribute = self.source.locals[name]
        return value_of(read_attribute(document, attribute), replace(self.scope, visiting=visiting))

    def _outputs(self, name: str, visiting: Visiting) -> Value:
        children = self.children(name, visiting)
        if len(children) == 1 and None in children:
            return children[None].own_outputs(visiting)
        if all(isinstance(key, int) for key in children):
            return [child.own_outputs(visiting) for child in children.values()]
        return {str(key): child.own_outputs(visiting) for key, child in children.items()}

    def own_outputs(self, visiting: Visiting = frozenset()) -> Mapping[str, Value]:
        """The values of the outputs by name; `Opaque` if unknown."""
        result: dict[str, Value] = {}
        for name in self.source.outputs:
            try:
                result[name] = self._once(f"output.{name}", visiting, self._output, name)
            except Unknown as error:
                written = self.written_output(name)
                result[name] = values.Opaque(str(error), None if written is None else (written, self.scope))
        return result

    def _output(self, name: str, visiting: Visiting) -> Value:
        written = self.written_output(name)
        if "value" in self.source.overridden_in(("output", name)):
            raise Unknown(f"output {name} comes from an override file")
        if written is None:
            raise Unknown(f"output {name} has no value")
        return value_of(written, replace(self.scope, visiting=visiting))

    def written_output(self, name: str) -> Expression | None:
        """The expression of an output; None if it has none, which Terraform refuses."""
        document, block = self.source.outputs[name]
        value = document.attributes(block).get("value")
        return None if value is None else read_attribute(document, value)

    def documents(self) -> Mapping[Path, Document]:
        """Every document of this stack, by path relative to the root."""
        found = {path: document for source in self.sources.values() for path, document in source.documents.items()}
        given = (document for source in self.sources.values() for document, _, _ in source.given.values())
        return found | {document.path: document for document in given if document is not None}

    # ---- children and resources

    def children(self, name: str, visiting: Visiting = frozenset()) -> "Mapping[str | int | None, Module]":
        """The instances of a called module by key; the key is None if the call has neither `count` nor `for_each`.

        Raises `Unknown` if the module is not local or its keys are not known.
        """
        if name not in self.source.calls:
            raise Unknown(f"there is no module {name}")
        document, block = self.source.calls[name]
        directory = self.source.called_directory(name)
        if directory is None or directory not in self.sources:
            raise Unknown(f"module.{name} is not part of this code")
        found: dict[str | int | None, Module] = {}
        for key, scope in expand(self, document, block, visiting):
            call = f"{name}.{key!r}"
            if call not in self.child_modules:
                self.child_modules[call] = self._child(
                    f"module.{name}{bracket(key)}", directory, (document, block), scope
                )
            found[key] = self.child_modules[call]
        return found

    def _child(self, step: str, directory: str, call: tuple[Document, Node], scope: EvaluationScope) -> "Module":
        address = f"{self.address}.{step}" if self.address else step
        earlier = None if self.carried is None else self.carried.earlier(address, scope, directory)
        return Module(
            source=self.sources[directory],
            sources=self.sources,
            address=address,
            parent=self,
            call=call[1],
            call_document=call[0],
            call_scope=scope,
            carried=None if earlier is None else self.carried,
            live=self.live,
            evaluated={} if earlier is None or self.carried is None else self.carried.values(earlier),
        )

    def instances(self) -> "tuple[ResourceInstance, ...]":
        """Every resource instance whose key is known, of this module and all below it, in the order of the files."""
        return tuple(instance for module in self.modules() for instance in module.own_instances())

    def instance(self, address: str) -> ResourceInstance | None:
        """The instance at an address, of this module or one below it; None if there is none whose key is known."""
        own = address.removeprefix(f"{self.address}.") if self.address else address
        if own.startswith("module."):
            below = (child for child in self.called() if address.startswith(f"{child.address}."))
            return next((found for child in below if (found := child.instance(address)) is not None), None)
        name = ".".join(own.partition("[")[0].split(".")[:2])
        if name in self.expanded_resources:
            return next((each for each in self.expanded_resources[name] if each.address == address), None)
        rows = self._expanded(name) if name in self.source.resources else ()
        named = ((key, scope) for key, scope in rows if instance_address(self, name, key) == address)
        return next((instance_of(self, name, key, scope) for key, scope in named), None)

    def own_instances(self) -> "tuple[ResourceInstance, ...]":
        """Every resource instance of this module itself whose key is known."""
        return tuple(instance for name in self.source.resources for instance in self.instances_of(name))

    def instances_of(self, name: str) -> "tuple[ResourceInstance, ...]":
        """The instances of the resource block `type.name`; none if its keys are not known."""
        if name not in self.expanded_resources:
            rows = self._expanded(name)
            self.expanded_resources[name] = tuple(instance_of(self, name, key, scope) for key, scope in rows)
        return self.expanded_resources[name]

    def _expanded(self, name: str) -> Expansion:
        """Key and scope of each instance of a resource block; none if they are not known."""
        try:
            return expand(self, *self.source.resources[name])
        except Unknown:
            return ()

    def called(self) -> "Iterator[Module]":
        """The directly called modules whose keys are known."""
        for name in self.source.calls:
            try:
                yield from self.children(name).values()
            except Unknown:
                continue

    def modules(self) -> "Iterator[Module]":
        """This module and all below it."""
        yield self
        for child in self.called():
            yield from child.modules()


def load_module(
    root: Path | FileTree, sources: Mapping[Path, bytes] | None = None, known: Module | None = None
) -> Module:
    """The root module of the stack at a directory, with all its local modules.

    `sources`, by path relative to the root, replace or add to the files on disk. Files with the same bytes as in `known`,
    an earlier version of the same stack, are not parsed again.
    Raises `CodeInvalid` with file and line if Terraform code cannot be read. Remote modules are not an error.
    """
    loaded = load_sources(root, sources or {}, {} if known is None else known.documents())
    return Module(source=loaded["."], sources=loaded)


def informed(module: Module, live: Mapping[str, Mapping[str, Json]]) -> Module:
    """The same root module, in whose expressions resources and data sources have their live attributes.

    It tells what an expression is now. What an edit changes is told by the module without them, where a value that depends on
    another resource stays tied to the code of that resource.
    """
    return Module(source=module.source, sources=module.sources, live=live) if live else module
