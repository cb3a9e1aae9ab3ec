"""The ids by which a created resource may be imported: values of the event, and several of them together as the provider says that it wants them."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, permutations, product
from typing import Final

from reconciler.adoption.attribute_names import named_attributes
from reconciler.adoption.likely_types import stem
from reconciler.changes.cloudtrail import letters
from reconciler.changes.event_values import EventValues, NamedValue
from reconciler.terraform.plugin.type_schemas import BlockSchema

_MOST_SINGLE: Final = 10
_MOST_TOGETHER: Final = 40
_MOST_OF_A_PART: Final = 4
_LONGEST: Final = 1_024
"""Characters of an id, which is more than AWS's longest ARN."""
_NAMING: Final = ("id", "arn", "name", "url", "identifier", "key", "alias", "family")
_SEPARATORS: Final = "/:|,#"
_ALTERNATIVE: Final = re.compile(r"\s+or\s+|\.\s|\s-\s|;")
_PART: Final = re.compile(r"[A-Za-z][A-Za-z0-9_ -]*")
_QUOTES: Final = str.maketrans("", "", "\"'`<>[](){}")


def single_ids(values: EventValues, resource_type: str, schema: BlockSchema) -> tuple[str, ...]:
    """The values of the event that may be an id by themselves, the likeliest first."""
    ranked: dict[str, float] = {}
    for each, rank in _ranked(values, resource_type, schema):
        ranked[each] = max(rank, ranked.get(each, 0))
    found = sorted(ranked, key=lambda each: -ranked[each])
    return tuple(found[:_MOST_SINGLE])


def _ranked(values: EventValues, resource_type: str, schema: BlockSchema) -> Iterator[tuple[str, float]]:
    noun = "".join(map(stem, values.noun))
    for answered, group in ((True, values.answered), (False, values.asked)):
        for each in group:
            if not isinstance(each.value, str) or not 0 < len(each.value) <= _LONGEST:
                continue
            name = each.name
            if not name.endswith(_NAMING) and not named_attributes(each.steps[-1], resource_type, schema):
                continue
            rank = 4.0 if answered else 2.0
            rank += 3 if stem(name.removesuffix(_ending(name))) in noun and name != noun else 0
            rank += 2 if name in _NAMING else 0
            rank -= 0.5 * len(each.steps)
            yield each.value, rank
            if answered and each.value.startswith("/") and "/" in each.value[1:]:
                yield each.value.rpartition("/")[2], rank - 0.1  # Route 53 answers `/hostedzone/Z1`


def _ending(name: str) -> str:
    return next((each for each in _NAMING if name.endswith(each)), "")


def ids_of_form(form: str, values: EventValues) -> tuple[str, ...]:
    """The ids that values of the event give in a form that the provider named, as `<function-name>/<alias>`."""
    found: dict[str, None] = {}
    for alternative in _ALTERNATIVE.split(form):
        found |= dict.fromkeys(_filled(alternative.translate(_QUOTES).strip(" ."), values))
    return tuple(found)


def _filled(form: str, values: EventValues) -> Iterator[str]:
    separators = [each for each in form if each in _SEPARATORS] or (["_"] if form.count("_") else [])
    if not separators:
        return
    pattern = re.compile("[" + re.escape("".join(set(separators))) + "]")
    parts = [part.strip() for part in pattern.split(form)]
    if not all(_PART.fullmatch(part) for part in parts):
        return
    choices = [_choices(part, values) for part in parts]
    for chosen in islice(product(*choices), _MOST_TOGETHER):
        if len(set(chosen)) == len(chosen):
            yield "".join(value + separator for value, separator in zip(chosen, [*separators, ""], strict=False))


def _choices(part: str, values: EventValues) -> list[str]:
    """The values that a part of an id may be, the likeliest first."""
    wanted = letters(part)
    ranked: dict[str, int] = {}
    for each in (*values.answered, *values.asked):
        rank = _likeness(wanted, each, values)
        if rank and len(each.text) <= _LONGEST:
            ranked[each.text] = max(rank, ranked.get(each.text, 0))
    return sorted(ranked, key=lambda text: -ranked[text])[:_MOST_OF_A_PART]


def _likeness(wanted: str, each: NamedValue, values: EventValues) -> int:
    name = each.name
    noun = "".join(map(stem, values.noun))
    whole = letters("".join(each.steps[-2:]))
    if name == wanted:
        return 5
    if wanted in (whole, f"{noun}{name}"):
        return 4
    if name == "name" and wanted.removesuffix("name") in noun:
        return 4
    if name == "id" and wanted.removesuffix("id") in noun:
        return 4
    if name and (wanted.endswith(name) or name.endswith(wanted)) and len(min(name, wanted, key=len)) > 1:
        return 3
    if name.removesuffix(_ending(name)) and name.removesuffix(_ending(name)) == wanted.removesuffix(_ending(wanted)):
        return 2
    return 0


def tried_together(values: EventValues, resource_type: str, schema: BlockSchema) -> tuple[str, ...]:
    """Two or three values together, in the ways that ids are written, where the provider does not say how."""
    named = [
        each.text
        for each in (*values.asked, *values.answered)
        if each.text
        and len(each.text) <= _LONGEST
        and any(
            schema.attributes[name].required or name in {"id", "name"}
            for name in named_attributes(each.steps[-1], resource_type, schema)
            if name in schema.attributes and schema.attributes[name].kind == "string"
        )
    ]
    distinct: Sequence[str] = list(dict.fromkeys([*named[:4], *([values.account] if values.account else [])]))
    found = [
        separator.join(chosen)
        for count in (2, 3)
        for chosen in permutations(distinct, count)
        for separator in ("/", ":", ",", "|", "_")
    ]
    return tuple(found[:_MOST_TOGETHER])
