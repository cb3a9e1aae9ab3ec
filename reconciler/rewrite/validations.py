"""Refuses an edit that gives a variable a value which a `validation` block of the code does not accept; the block itself is never edited.

https://developer.hashicorp.com/terraform/language/validate: Terraform plans nothing while a condition is false.
"""

from collections.abc import Iterator, Mapping, Sequence

from gateway.core.model.json import Json
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.hcl_text import CannotEdit, RefusedByRule, inline
from reconciler.rewrite.trace.sites import shorten

_MOST_SHOWN = 10
_MOST_CANDIDATES = 100
"""How many values that a condition names are tried for one that passes."""


def refuse_invalid(before: Module, after: Module) -> None:
    """Raise `RefusedByRule` if a variable has a value now that its validations refuse, and had none before.

    The error has the rule's text, file and line, and the nearest value that passes, if the condition names one.
    """
    checked = tuple(_with_validations(after))
    earlier = {module.address: module for module in before.modules()} if checked else {}
    for module, variable in checked:
        value = _value(module, variable)
        old = _value(earlier[module.address], variable) if module.address in earlier else None
        if value is not None and value != old:
            _refuse(module, variable, value, old)


def _refuse(module: Module, variable: str, value: Json, old: Json) -> None:
    from gateway.terraform.contracts.conditions import validated, validation_rules  # noqa: PLC0415  it takes long to import

    rules = tuple(validation_rules(module, variable))
    for rule, bound in zip(rules, validated(module, variable, value), strict=True):
        if bound.limit is not False or bound.unknown:
            continue
        named = [part.value for part in e.walk(rule.condition.parsed) if isinstance(part, e.LiteralValue)]
        passing = [
            each
            for each in _candidates(named, value, old)
            if all(other.limit is True and not other.unknown for other in validated(module, variable, each))
        ]
        shown = f"{module.address}: var.{variable}" if module.address else f"var.{variable}"
        rule_text = f"{bound.source}: the validation {shorten(rule.condition.text)} of {shown}"
        raise RefusedByRule(
            f"{rule_text} refuses {_refused(value, bound.message, passing)} The rule of the code is not edited."
        )


def _with_validations(root: Module) -> Iterator[tuple[Module, str]]:
    for module in root.modules():
        for name, (document, block) in module.source.variables.items():
            if b"validation" in document.source and document.blocks(block, "validation"):
                yield module, name


def _value(module: Module, variable: str) -> Json:
    try:
        return values.to_json(module.variable(variable))
    except Unknown:
        return None


def _refused(value: Json, message: Json, passing: Sequence[Json]) -> str:
    said = f" ({message})" if message else ""
    near = ""
    if passing and isinstance(value, str):
        near = f" Values that pass: {', '.join(map(_shown, passing[:_MOST_SHOWN]))}."
    elif passing:
        near = f" The nearest value that passes is {_shown(passing[0])}."
    return f"{_shown(value)}{said}.{near}"


def _shown(value: Json) -> str:
    try:
        return inline(value)
    except CannotEdit:
        return "the value"


def _candidates(named: Sequence[Json], value: Json, old: Json) -> Sequence[Json]:
    """What may stand in place of `value`, the nearest first: what a condition names, the numbers beside them, and their multiples. In a map, in place of what differs."""
    match value:
        case bool():
            return [not value]
        case int() | float():
            numbers = [each for each in named if isinstance(each, int | float) and not isinstance(each, bool)]
            near = [number + by for number in numbers[:_MOST_CANDIDATES] for by in (0, -1, 1)]
            # A condition such as `var.seconds % 60 == 0` names the step, and the value lies between two of its multiples.
            steps = [number for number in numbers[:_MOST_CANDIDATES] if number > 1]
            near += [(value // step + by) * step for step in steps for by in (0, 1)]
            return sorted(near, key=lambda each: abs(each - value))
        case str():
            return [each for each in named[:_MOST_CANDIDATES] if isinstance(each, str)]
        case Mapping():
            before = old if isinstance(old, Mapping) else {}
            different = [key for key in value if key not in before or value[key] != before[key]]
            if len(different) == 1:
                key = different[0]
                return [{**value, key: each} for each in _candidates(named, value[key], before.get(key))]
    return []
