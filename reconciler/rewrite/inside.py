"""The declared value at a path that may lead into a JSON document in a text."""

from collections.abc import Sequence

from gateway.model.equality import equal
from gateway.model.json import Json
from gateway.model.path import AttributePath
from gateway.terraform.config.instance import ResourceInstance, declared
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import find
from gateway.terraform.lang.values import EvaluationFailed
from reconciler.rewrite.json_text import document_in, is_policy, statement_form
from reconciler.rewrite.parts import holds


def declared_inside(instance: ResourceInstance, path: AttributePath) -> Json:
    """The declared value at a path such as `policy.Statement.0.Action`. Raises `Unknown`, `EvaluationFailed` if there is none."""
    try:
        return declared(instance, path)
    except EvaluationFailed:
        found = _document_above(instance, path)
        if found is None:
            raise
        return values.to_json(find(found[0], found[1]))


def declares(instance: ResourceInstance, path: AttributePath, wanted: Json) -> bool:
    """Whether the code declares a value. In a policy a text is equal to the list of it, and lists are in any order.

    Raises `Unknown`, `EvaluationFailed` if nothing is declared.
    """
    now = declared_inside(instance, path)
    if holds(now, wanted):
        return True
    found = _document_above(instance, path)
    in_policy = found is not None and is_policy(found[0])
    return in_policy and equal(statement_form({"Action": now}), statement_form({"Action": wanted}))


def _document_above(
    instance: ResourceInstance, path: AttributePath
) -> tuple[dict[str, Json] | list[Json], Sequence[str]] | None:
    """The document that the path leads into, and the steps inside it."""
    for length in range(len(path.steps) - 1, 0, -1):
        try:
            document = document_in(declared(instance, ".".join(path.steps[:length])))
        except EvaluationFailed:
            continue
        if document is not None:
            return document, path.steps[length:]
    return None
