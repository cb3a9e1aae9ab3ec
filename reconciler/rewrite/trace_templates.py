"""Traces into the file of `templatefile`: what stands in the file, and what its variables are given at the call."""

from collections.abc import Iterator
from dataclasses import replace

from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from reconciler.rewrite.follow import Follow
from reconciler.rewrite.place import Alias, Cursor, Place, source_of


def in_template_file(cursor: Cursor, call: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[Place]:
    """Places in the template, and behind the names that it is given. Raises `Unknown` if the file cannot be read."""
    name, given = call.arguments
    document, written = cursor.module.template_file(values.text(value_of(name, cursor.scope)))
    table = values.mapping(value_of(given, cursor.scope), "templatefile()")
    here = replace(cursor, chain=(), entry=None)
    line = f"{cursor.document.at(call.start)} {source_of(cursor.document, name)} is {document.path}"
    there = replace(
        cursor.step(line),
        document=document,
        scope=EvaluationScope(bound=table),
        aliases={each: Alias(cursor.document, given, here, each, whole=True) for each in table},
        entry=None,
    )
    yield from follow(there, written, path)
