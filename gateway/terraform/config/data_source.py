"""The value of a data source: that of a policy document comes from the code, any other only from the provider."""

from collections.abc import Callable, Sequence

from gateway.terraform.config.instance import META, body
from gateway.terraform.config.policy_document import TYPE, check_readable, policy_json
from gateway.terraform.config.source import Declared
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.values import Unknown, Value


def data_value(
    declared: Declared, rows: Sequence[tuple[str | int | None, EvaluationScope]], recorded: Callable[[Value], Value]
) -> Value:
    """The value of a data block, by key if it has `count` or `for_each`; `rows` are its instances. Raises `Unknown`."""
    document, block = declared
    found = {key: _one(declared, scope, recorded(key)) for key, scope in rows}
    if set(found) == {None}:
        return found[None]
    if "count" in document.attributes(block):
        return list(found.values())
    return {str(key): value for key, value in found.items()}


def _one(declared: Declared, scope: EvaluationScope, recorded: Value) -> Value:
    document, block = declared
    if document.header(block)[1] == TYPE:
        own = body(document, block, scope, META)
        check_readable(own)
        policy = policy_json(own)
        return {"json": policy, "minified_json": policy}
    if recorded is None:
        raise Unknown("data is not known here")
    return recorded
