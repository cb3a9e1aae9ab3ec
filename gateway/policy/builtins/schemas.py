"""`json.match_schema` and `json.verify_schema`: JSON Schema up to draft 7, with the sentences of the library that OPA uses (gojsonschema)."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from gateway.core import go_regexp
from gateway.policy.builtins.documents import as_json
from gateway.policy.builtins.evaluation import BuiltinError, Evaluation
from gateway.policy.rego_values import RegoObject, Term, parse_json

_TYPES: Final = ("array", "boolean", "integer", "number", "null", "object", "string")
_SENTENCES: Final[Mapping[str, tuple[str, str]]] = {
    "required": ("required", "{property} is required"),
    "type": ("invalid_type", "Invalid type. Expected: {expected}, given: {given}"),
    "enum": ("enum", "{field} must be one of the following: {allowed}"),
    "const": ("const", "{field} does not match: {value}"),
    "additionalProperties": ("additional_property_not_allowed", "Additional property {property} is not allowed"),
    "additionalItems": ("array_no_additional_items", "No additional items allowed on array"),
    "pattern": ("pattern", "Does not match pattern '{value}'"),
    "format": ("format", "Does not match format '{value}'"),
    "minLength": ("string_gte", "String length must be greater than or equal to {value}"),
    "maxLength": ("string_lte", "String length must be less than or equal to {value}"),
    "minimum": ("number_gte", "Must be greater than or equal to {value}"),
    "maximum": ("number_lte", "Must be less than or equal to {value}"),
    "exclusiveMinimum": ("number_gt", "Must be greater than {value}"),
    "exclusiveMaximum": ("number_lt", "Must be less than {value}"),
    "multipleOf": ("multiple_of", "Must be a multiple of {value}"),
    "minItems": ("array_min_items", "Array must have at least {value} items"),
    "maxItems": ("array_max_items", "Array must have at most {value} items"),
    "uniqueItems": ("unique", "array items[{indexes}] must be unique"),
    "minProperties": ("array_min_properties", "Must have at least {value} properties"),
    "maxProperties": ("array_max_properties", "Must have at most {value} properties"),
    "oneOf": ("number_one_of", "Must validate one and only one schema (oneOf)"),
    "anyOf": ("number_any_of", "Must validate at least one schema (anyOf)"),
    "not": ("number_not", "Must not validate the schema (not)"),
    "contains": ("contains", "At least one of the items must match"),
    "dependencies": ("missing_dependency", "Has a dependency on {property}"),
}


def _match(evaluation: Evaluation, document: Term, schema: Term) -> Term:
    checked = _document(document)
    rules = _document(schema)
    problem = _problem_of(evaluation, rules)
    if problem:
        raise BuiltinError(problem)
    errors = [_told(error) for error in _flat(_validator(evaluation)(rules).iter_errors(checked))]
    return [not errors, list(errors)]


def _verify(evaluation: Evaluation, schema: Term) -> Term:
    try:
        rules = _document(schema)
    except BuiltinError as error:
        return [False, f"jsonschema: {error}"]
    problem = _problem_of(evaluation, rules)
    return [False, f"jsonschema: {problem}"] if problem else [True, None]


def _document(value: Term) -> Any:
    match value:
        case str():
            try:
                return as_json(parse_json(value))
            except ValueError:
                raise BuiltinError("invalid JSON string") from None
        case dict() | RegoObject() | list():
            return as_json(value)
        case _:
            raise BuiltinError("wrong type, expected string or object")


def _problem_of(evaluation: Evaluation, schema: Any) -> str:
    """Why it is no schema, in the library's words for the commonest mistake; empty if it is one."""
    exceptions: Any = import_module("jsonschema.exceptions")  # most policies judge by no schema
    for each in _parts(evaluation, schema):
        kinds = each.get("type", ())
        for kind in [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else ():
            if kind not in _TYPES:
                return f"has a primitive type that is NOT VALID -- given: /{kind}/ Expected valid values are:[{' '.join(_TYPES)}]"
        if isinstance(each.get("pattern"), str):
            try:
                go_regexp.compiled(each["pattern"])
            except go_regexp.NotARegexp:
                return f"Invalid regex pattern '{each['pattern']}'"
    try:
        _validator(evaluation).check_schema(schema)
    except exceptions.SchemaError as error:
        return str(error.message)[:500]
    return ""


def _parts(evaluation: Evaluation, schema: Any) -> Iterator[Mapping[str, Any]]:
    todo = [schema]
    while todo:
        part = todo.pop()
        evaluation.step()
        if isinstance(part, Mapping):
            yield part
            todo += [each for name, each in part.items() if name not in {"enum", "const", "default", "examples"}]
        elif isinstance(part, list):
            todo += part


def _validator(evaluation: Evaluation) -> Any:
    """Draft 7 with patterns in linear time, whose every keyword costs a step."""
    library: Any = import_module("jsonschema")
    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
    }

    def measured(check: Callable[..., Any]) -> Callable[..., Any]:
        def checked(validator: Any, rule: Any, instance: Any, schema: Any) -> Any:
            evaluation.step(1 + len(instance) if isinstance(instance, dict | list) else 1)
            return check(validator, rule, instance, schema) or ()

        return checked

    keywords = {name: measured(check) for name, check in ({**library.Draft7Validator.VALIDATORS, **own}).items()}
    return library.validators.extend(library.Draft7Validator, keywords)


def _pattern(validator: Any, rule: str, instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not go_regexp.compiled(rule).search(instance):
        yield _error(rule)


def _pattern_properties(validator: Any, rule: Mapping[str, Any], instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        for pattern, part in rule.items():
            for name, value in instance.items():
                if go_regexp.compiled(pattern).search(name):
                    yield from validator.descend(value, part, path=name, schema_path=pattern)


def _additional_properties(validator: Any, rule: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in known or any(go_regexp.compiled(each).search(name) for each in patterns):
            continue
        if rule is False:
            yield _error(name)
        elif rule is not True:
            yield from validator.descend(value, rule, path=name)


def _error(message: str) -> Any:
    exceptions: Any = import_module("jsonschema.exceptions")
    return exceptions.ValidationError(message)


def _flat(errors: Iterator[Any]) -> Iterator[Any]:
    """The errors, without those that only sum up others: `allOf` and `if` tell what is wrong within them."""
    for error in errors:
        if error.validator in {"allOf", "if", "$ref"} and error.context:
            yield from _flat(iter(error.context))
        else:
            yield error


def _told(error: Any) -> dict[str, Term]:
    field = ".".join(str(step) for step in error.absolute_path) or "(Root)"
    kind, sentence = _SENTENCES.get(error.validator, (str(error.validator), "Is not valid"))
    described = sentence.format(
        field=field,
        value=_written(error.validator_value),
        property=_property(error),
        expected=_expected(error.validator_value) if error.validator == "type" else "",
        given=_type_of(error.instance),
        allowed=", ".join(_written(each, quoted=True) for each in error.validator_value)
        if error.validator == "enum"
        else "",
        indexes=_repeated(error.instance) if error.validator == "uniqueItems" else "",
    )
    return {"desc": described, "error": f"{field}: {described}", "field": field, "type": kind}


def _property(error: Any) -> str:
    if error.validator == "required":
        return next((name for name in error.validator_value if error.message.startswith(repr(name))), "")
    return str(error.message) if error.validator == "additionalProperties" else ""


def _expected(types: str | Sequence[str]) -> str:
    return types if isinstance(types, str) else "/".join(types)


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if math.isfinite(value) and value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _written(value: Any, *, quoted: bool = False) -> str:
    return value if isinstance(value, str) and not quoted else json.dumps(value, ensure_ascii=False)


def _repeated(values: Sequence[Any]) -> str:
    seen: dict[str, int] = {}
    for number, each in enumerate(values):
        name = json.dumps(each, sort_keys=True)
        if name in seen:
            return f"{seen[name]},{number}"
        seen[name] = number
    return ""


MEASURED: Final[Mapping[str, Callable[..., Term]]] = {"json.match_schema": _match, "json.verify_schema": _verify}
