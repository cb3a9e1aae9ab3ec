"""The ids by which a created resource may be imported: values of the event, and several of them together as the provider says that it wants them."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, permutations, product
from typing import Final

from reconciler.adoption.attribute_names import named_attributes
from reconciler.adoption.likely_types import stem
from reconciler.changes.cloudtrail import letters
from reconciler.changes.event_values import EventValues, NamedValue
from reconciler.terraform.plugin.type_schemas import BlockSchema

_MOST_SINGLE: Final = 10
_MOST_TOGETHER: Final = 40
_MOST_OF_A_PART: Final = 4
_ID: Final = re.compile(r"(?!20\d{2}-\d{2}-\d{2}[T ])[^\s{}\"]{1,1024}")
"""What may be an id, at most as long as AWS's longest ARN: no document, no sentence and no time."""
_NAMING: Final = ("id", "arn", "name", "url", "identifier", "key", "alias", "family")
_SEPARATORS: Final = "/:|,#"
_ALTERNATIVE: Final = re.compile(r"\s+or\s+|\.\s|\s-\s|;")
_EXAMPLE: Final = re.compile(r"\s*\(?(?:e\.g\.|for example|where|such as)|\s\(|[/,:](?:\.\.\.|…)", re.IGNORECASE)
"""What follows the form of an id in a sentence."""
_PART: Final = re.compile(r"[A-Za-z][A-Za-z0-9_ -]*")
_ACCOUNTS: Final = frozenset({"accountid", "awsaccountid", "catalogid", "ownerid", "registryid"})
"""Parts of an id that are the account where the call does not say them."""
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
            if not isinstance(each.value, str) or not _ID.fullmatch(each.value):
                continue
            name = each.name
            if not name.removesuffix("s").endswith(_NAMING) and not named_attributes(
                each.steps[-1], resource_type, schema
            ):
                continue
            rank = 4.0 if answered else 2.0
            base = stem(name.removesuffix(_ending(name)))
            rank += 3 if base and base in noun and name != noun else 0
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
    for separators, parts in _forms(form):
        found |= dict.fromkeys(_filled(separators, parts, values))
    return tuple(found)


def _forms(form: str) -> Iterator[tuple[list[str], list[str]]]:
    """The separators and the parts of each way to write an id."""
    for alternative in _ALTERNATIVE.split(_EXAMPLE.split(form)[0]):
        written = alternative.translate(_QUOTES).strip(" .")
        separators = [each for each in written if each in _SEPARATORS] or ["_"] * written.count("_")
        pattern = re.compile("[" + re.escape("".join(set(separators))) + "]") if separators else None
        parts = [part.strip() for part in pattern.split(written)] if pattern else []
        if parts and all(_PART.fullmatch(part) for part in parts):
            yield separators, parts


def _filled(separators: list[str], parts: list[str], values: EventValues) -> Iterator[str]:
    choices = [_without(separators, _choices(part, values)) for part in parts]
    if not choices[-1] and len(choices) > 2:  # noqa: PLR2004  the last part of several may be left out
        choices = choices[:-1]
    for chosen in islice(product(*choices), _MOST_TOGETHER):
        if len(set(chosen)) == len(chosen):
            yield _joined(chosen, separators)


def _without(separators: list[str], choices: list[str]) -> list[str]:
    """The values without a separator in them, if there are any: the provider would take the others apart."""
    return [each for each in choices if not any(separator in each for separator in separators)] or choices


def _joined(chosen: Sequence[str], separators: Sequence[str]) -> str:
    return "".join(value + each for value, each in zip(chosen, [*separators[: len(chosen) - 1], ""], strict=True))


def _choices(part: str, values: EventValues) -> list[str]:
    """The values that a part of an id may be, the likeliest first."""
    wanted = letters(part).rstrip("0123456789")
    ranked: dict[str, int] = {}
    for each in (*values.answered, *values.asked):
        rank = _likeness(wanted, each, values)
        for text in _spellings(each.text) if rank else ():
            if wanted.endswith("name") and (name := _name_in_arn(text, values.account)):
                ranked[name] = max(rank, ranked.get(name, 0))
            ranked[text] = max(rank, ranked.get(text, 0))
    if not ranked and wanted in _ACCOUNTS and values.account:
        return [values.account]
    return sorted(ranked, key=lambda text: -ranked[text])[:_MOST_OF_A_PART]


def _spellings(text: str) -> Iterator[str]:
    """A value as an id may have it: Route 53's ids are also said as `/hostedzone/Z1`, and its names with a dot at the end."""
    if _ID.fullmatch(text):
        yield text.rpartition("/")[2] if re.fullmatch(r"/[a-z]+/[A-Z0-9]+", text) else text


def _name_in_arn(text: str, account: str) -> str:
    """The name at the end of an ARN of the account, which calls take in place of the name; empty for any other text."""
    parts = text.split(":", 5)
    own = len(parts) == 6 and parts[0] == "arn" and bool(account) and parts[4] == account  # noqa: PLR2004  the parts of an ARN
    return re.split("[:/]", parts[5])[-1] if own else ""


def _likeness(wanted: str, each: NamedValue, values: EventValues) -> int:
    name, noun = each.name, "".join(values.noun)
    whole = letters("".join(each.steps[-2:]))
    if name == wanted:
        return 5
    if wanted in (whole, f"{noun}{name}", f"{''.join(map(stem, values.noun))}{name}"):
        return 4
    if name in ("name", "id") and wanted.removesuffix(name) in noun:
        return 4
    if name and (wanted.endswith(name) or name.endswith(wanted)) and len(min(name, wanted, key=len)) > 1:
        return 3
    own = name.removesuffix(_ending(name))
    return 2 if own and own == wanted.removesuffix(_ending(wanted)) else 0


def tried_together(values: EventValues, resource_type: str, schema: BlockSchema, form: str = "") -> tuple[str, ...]:
    """Two or three values together, in the ways that ids are written; if the provider named a form, with its separators and as many."""
    named = [
        text
        for each in (*values.asked, *values.answered)
        for text in _spellings(each.text)
        if any(
            schema.attributes[name].required or name in {"id", "name"}
            for name in named_attributes(each.steps[-1], resource_type, schema)
            if name in schema.attributes and schema.attributes[name].kind == "string"
        )
    ]
    distinct: Sequence[str] = list(dict.fromkeys([*named[:4], *([values.account] if values.account else [])]))
    ways = list(_forms(form))
    if ways:
        found = (
            _joined(chosen, separators) for separators, parts in ways for chosen in permutations(distinct, len(parts))
        )
        return tuple(islice(found, _MOST_TOGETHER))
    together = [*combinations(distinct, 2), *combinations(distinct, 3), *permutations(distinct, 2)]
    plain = (separator.join(chosen) for chosen in dict.fromkeys(together) for separator in ("/", ":", ",", "|", "_"))
    return tuple(islice(plain, _MOST_TOGETHER))
