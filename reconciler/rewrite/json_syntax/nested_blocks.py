"""Asks the providers of code in JSON syntax which of its objects are nested blocks, since the code does not say.

The AWS provider's blocks ship with Sentinel. What no provider says stays a value, and is left to a human where only a block would do.
"""

import asyncio
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import structlog

from gateway.terraform.json_syntax.shapes import is_known
from gateway.terraform.json_syntax.view import learn_blocks
from reconciler.errors import TerraformFailed
from reconciler.rewrite.surroundings import reached_directories
from reconciler.terraform.cli import Terraform

log = structlog.get_logger()

_KINDS: Final = {
    "resource": "resource_schemas",
    "data": "data_source_schemas",
    "ephemeral": "ephemeral_resource_schemas",
}
"""The kinds of blocks that have a type, each with its member of a provider's schema."""


async def learn_nested_blocks(terraform: Terraform, root: Path) -> None:
    """Have code in JSON syntax read as the schemas of its providers say. They are asked only for types that are not known yet.

    If they cannot be asked, the code is read as before, which is logged. Raises `errors.TerraformMissing`, `errors.CodeRefused`.
    """
    unknown = await asyncio.to_thread(_unknown_types, root)
    if not unknown:
        return
    try:
        schemas = await terraform.provider_schemas(root)
    except TerraformFailed as error:
        log.warning("provider_schemas_not_read", types=sorted(name for _, name in unknown), reason=str(error))
        return
    learn_blocks(dict(blocks_in(schemas, unknown)))


def blocks_in(
    schemas: Mapping[str, Any], types: Collection[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], Mapping[str, Any]]]:
    """The nested blocks of the types, by kind and type, in what `terraform providers schema -json` prints."""
    for provider in schemas.get("provider_schemas", {}).values():
        for kind, name in types:
            schema = provider.get(_KINDS[kind], {}).get(name)
            if schema is not None:
                yield (kind, name), _names(schema.get("block", {}))


def _names(block: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: _names(nested.get("block", {})) for name, nested in block.get("block_types", {}).items()}


def _unknown_types(root: Path) -> frozenset[tuple[str, str]]:
    """The kinds and types in JSON code of the stack and the modules it uses, of which nobody said what their blocks are."""
    files = [file for each in (root, *reached_directories(root)) for file in sorted(each.glob("*.tf.json"))]
    return frozenset(
        (kind, name) for file in files for kind, name in _types(_document(file)) if not is_known(kind, name)
    )


def _document(file: Path) -> Any:
    """What a file holds; nothing if it is not JSON: reading the code says so, with its line."""
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}


def _types(document: Any) -> Iterator[tuple[str, str]]:
    """The kinds and types of the blocks at the top of a file. A list holds several of one kind."""
    for kind in _KINDS:
        of_kind = document.get(kind) if isinstance(document, Mapping) else None
        for each in of_kind if isinstance(of_kind, list) else [of_kind]:
            yield from ((kind, name) for name in (each if isinstance(each, Mapping) else ()))
