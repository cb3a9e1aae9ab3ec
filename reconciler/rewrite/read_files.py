"""Which templates an expression may read, so that an edit of one shows in values that are not known."""

import hashlib
import posixpath

from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.functions import READING
from gateway.terraform.lang.values import Unknown


def files_of(expression: Expression, scope: EvaluationScope) -> tuple[tuple[str, str], ...]:
    """Names and digests of the module's templates that a function may read; all of them if its path is not known."""
    module = scope.module
    if not isinstance(expression, e.FunctionCall) or not expression.arguments or not isinstance(module, Module):
        return ()
    if expression.name.removeprefix("core::") not in READING:
        return ()
    try:
        path = posixpath.normpath(values.text(value_of(expression.arguments[0], scope)))
    except Unknown:
        path = ""
    read = {name: content for name, content in module.source.templates.items() if path in ("", name.as_posix())}
    return tuple((name.as_posix(), hashlib.sha256(content).hexdigest()) for name, content in sorted(read.items()))
