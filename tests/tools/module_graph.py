"""Which module of the two programs imports which: circles of imports, and modules that no program uses."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

Imports = Mapping[str, Mapping[str, int]]
"""Module → each module of the programs that it imports → the line of the import."""

_DOTTED = re.compile(r"(?:gateway|reconciler)(?:\.\w+)+")
_RUN_BY_A_TOOL = re.compile(r"\.(?:__main__|migrations\.env|migrations\.versions\.\w+)$")
"""Python runs `__main__` and Alembic runs the migrations: no module imports them."""


def module_of(path: str) -> str:
    """The dotted name of the module in a file, `a/b/__init__.py` being the package `a.b`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports_of(trees: Mapping[str, Iterable[ast.AST]]) -> Imports:
    """The imports of each module, wherever they stand in it: at its top, in a function, or for types only.

    Args:
        trees: Module → its nodes. Imports of other modules are left out.
    """
    return {
        module: {imported: line for imported, line in _imported(nodes, trees.keys()) if imported != module}
        for module, nodes in trees.items()
    }


def _imported(nodes: Iterable[ast.AST], modules: Iterable[str]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in modules or node.module in modules:
                    yield inner if inner in modules else node.module, node.lineno


def circles(imports: Imports) -> Iterator[tuple[str, ...]]:
    """Circles of imports, each from a module back to itself; none is left when one import of each is taken away."""
    left = {module: set(imported) for module, imported in imports.items()}
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            # graphlib goes from the imported module to its importer.
            circle = tuple(reversed(error.args[1]))
            left[circle[0]].discard(circle[1])
            yield circle
        else:
            return


def unused(imports: Imports, texts: Iterable[str]) -> Iterator[str]:
    """Modules that no other module of the programs imports and that nothing starts.

    Args:
        imports: The imports of the programs, without those of tests.
        texts: Texts that may start a module by its dotted name: `python -m gateway.a`, or a name to be imported later.
    """
    used = {imported for inner in imports.values() for imported in inner}
    packages = {module.rpartition(".")[0] for module in imports}
    named = {name for text in texts for name in _DOTTED.findall(text)}
    for module in imports:
        if not (module in used | packages | named or _RUN_BY_A_TOOL.search(module)):
            yield module
