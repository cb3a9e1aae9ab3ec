"""The declared value at a path that may lead into a JSON document in a text."""

from gateway.model.json import Json
from gateway.model.path import AttributePath
from gateway.terraform.config.instance import ResourceInstance, declared
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import find
from gateway.terraform.lang.values import EvaluationFailed
from reconciler.rewrite.json_text import document_in


def declared_inside(instance: ResourceInstance, path: AttributePath) -> Json:
    """The declared value at a path such as `policy.Statement.0.Action`. Raises `Unknown`, `EvaluationFailed` if there is none."""
    try:
        return declared(instance, path)
    except EvaluationFailed:
        for length in range(len(path.steps) - 1, 0, -1):
            try:
                document = document_in(declared(instance, ".".join(path.steps[:length])))
            except EvaluationFailed:
                continue
            if document is not None:
                return values.to_json(find(document, path.steps[length:]))
        raise
