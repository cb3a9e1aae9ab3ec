"""Finds the state files of other stacks that code reads with `terraform_remote_state` and the `local` backend: a copy of the code needs them too.

Source of the paths: https://developer.hashicorp.com/terraform/language/backend/local. They are relative to where Terraform runs, the root module.
"""

import contextlib
import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.module import Module, expand, load_module
from gateway.terraform.file_tree import DEFAULT_WORKSPACE
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown, Value
from reconciler.rewrite.surroundings import reached_directories

_DATA: Final = b"terraform_remote_state"
_STATE: Final = "terraform.tfstate"
_WORKSPACES: Final = "terraform.tfstate.d"
LARGEST: Final = 64 * 2**20
"""Bytes of a file that is taken for a state: it is copied for each plan, and code may name any file."""


def read_states(root: Path) -> frozenset[Path]:
    """The state files that the code of the root module at `root` reads by a relative path, without that of `root` itself, as absolute paths.

    What is larger than `LARGEST` is none of them: a plan of a copy then says that it is not there.
    """
    named = (path for path in _paths(root) if not posixpath.isabs(path))
    found = (Path(posixpath.normpath(root.resolve() / path)) for path in named)
    return frozenset(
        path for path in found if path.parent != root.resolve() and path.is_file() and path.stat().st_size <= LARGEST
    )


def _paths(root: Path) -> Iterator[str]:
    directories = {root.resolve(), *reached_directories(root)}
    if not any(_DATA in file.read_bytes() for each in directories for file in each.glob("*.tf*") if file.is_file()):
        return
    with contextlib.suppress(CodeInvalid):
        for module in load_module(root).modules():
            yield from _of_module(module)


def _of_module(module: Module) -> Iterator[str]:
    for name, (document, block) in module.source.data.items():
        if name.startswith("terraform_remote_state."):
            with contextlib.suppress(Unknown):
                for _, scope in expand(module, document, block):
                    yield from _of_block(document, block, scope)


def _of_block(document: Document, block: Node, scope: EvaluationScope) -> Iterator[str]:
    with contextlib.suppress(Unknown):
        given = {name: read_attribute(document, node) for name, node in document.attributes(block).items()}
        if "backend" not in given or values.text(value_of(given["backend"], scope)) != "local":
            return
        written: Mapping[str, Value] = (
            values.mapping(value_of(given["config"], scope), "config") if "config" in given else {}
        )
        workspace = values.text(value_of(given["workspace"], scope)) if "workspace" in given else DEFAULT_WORKSPACE
        if workspace == DEFAULT_WORKSPACE:
            yield values.text(written.get("path", _STATE))
        else:
            yield posixpath.join(values.text(written.get("workspace_dir", _WORKSPACES)), workspace, _STATE)
