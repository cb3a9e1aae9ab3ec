"""An expression as written in a contract or in Terraform code: its text, its place, and its value or why it has none."""

from dataclasses import dataclass, replace

from gateway.model.json import Json
from gateway.terraform.lang.evaluate import EvaluationScope, evaluate
from gateway.terraform.lang.expression import Expression, root_references
from gateway.terraform.lang.steps import Steps
from gateway.terraform.lang.values import Unknown

_MOST_SHOWN = 80
_MOST_STEPS = 20_000
"""Some 50 ms. An author's nested loops over lists of a caller's may not take as long as the caller likes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenExpression:
    """An HCL expression and where it is written."""

    text: str
    source: str
    """`file:line`."""
    parsed: Expression
    references: frozenset[tuple[str, str]]
    """What it refers to: (root, first attribute), e.g. `("self", "max_size")`."""
    constant: tuple[Json, str] | None
    """The outcome of an expression that refers to nothing, evaluated once; None for any other."""

    def evaluate(self, scope: EvaluationScope) -> tuple[Json, str]:
        """The value and an empty text, or None and the reason why it cannot be evaluated. Never raises."""
        return self.constant or _outcome(self.parsed, self.text, replace(scope, steps=Steps(_MOST_STEPS)))


def written_expression(parsed: Expression, *, text: str, source: str) -> WrittenExpression:
    """The expression with its references; evaluated already if it has none. `source` is `file:line`."""
    references = frozenset(root_references(parsed))
    constant = None if references else _outcome(parsed, text, EvaluationScope())
    return WrittenExpression(text=text, source=source, parsed=parsed, references=references, constant=constant)


def _outcome(parsed: Expression, text: str, scope: EvaluationScope) -> tuple[Json, str]:
    try:
        return evaluate(parsed, scope), ""
    except Unknown as error:
        return None, str(error)
    except Exception as error:  # noqa: BLE001  an expression that fails in any way is unknown, and what is unknown denies
        return None, f"{type(error).__name__} while evaluating `{text[:_MOST_SHOWN]}`"
