"""Which Terraform type manages the resources of a CloudFormation type: derived from at least two signs that agree, kept as reviewed data.

`python -m tests.tools.effect_sources.terraform_types` adds to `terraform_types.json` what the rows of today show. It never changes an
entry that is there: somebody has reviewed it.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

from gateway.aws.models import routing_index
from gateway.core.derived_rows import Origin, derived_rows, operations_of, services
from gateway.core.model.mutation import EffectAction
from gateway.effects.registry import SERVICES
from tests.tools.effect_sources.all_services import service_kinds, terraform_attributes
from tests.tools.effect_sources.cloudformation import CloudFormationType, Phase, cloudformation_types
from tests.tools.effect_sources.counterpart import MAPPING, Counterpart, entry, mapping_text
from tests.tools.effect_sources.kinds import ServiceKinds
from tests.tools.effect_sources.operation_names import fold

_EVERYWHERE = frozenset({"arn", "id", "tag", "tagall", "timeout"})
"""Attributes that say nothing about a type, because nearly all have them."""
_ENOUGH = 0.5
"""The part of a type's properties that the other has too, from which on the two agree."""


def creating_actions() -> Mapping[str, frozenset[str]]:
    """Terraform type → the IAM actions (in lower case) that create it, by hand-made and traced rows."""
    signing = {name: service.signing for name, service in routing_index.shipped().services.items()}
    found: dict[str, set[str]] = defaultdict(set)
    for service, table in SERVICES.items():
        for operation, row in table.items():
            if row.action is EffectAction.CREATE or row.upserts:
                found[row.resource_type].add(f"{signing[service]}:{operation}".lower())
    for service in services():
        for operation in operations_of(service):
            for derived in derived_rows(service, operation):
                if derived.origin is Origin.TRACED and EffectAction.CREATE in derived.actions:
                    found[derived.resource_type].add(f"{signing[service]}:{operation}".lower())
    return {name: frozenset(actions) for name, actions in found.items()}


def counterparts(
    types: Collection[CloudFormationType],
    attributes: Mapping[str, frozenset[str]],
    creates: Mapping[str, frozenset[str]],
) -> Mapping[str, Counterpart]:
    """CloudFormation type → its counterpart, for the types where two signs agree on exactly one, and no other type claims that one better."""
    folded = {name: fold(name.removeprefix("aws_")) for name in attributes}
    prefixes = _prefixes(types, folded, creates)
    found: dict[str, Counterpart] = {}
    for each in types:
        candidates = [
            Counterpart(terraform=name, signs=signs)
            for name in attributes
            if len(
                signs := _signs(
                    each, folded[name], prefixes[each.namespace], attributes[name], creates.get(name, frozenset())
                )
            )
            > 1
        ]
        named = [each for each in candidates if "name" in each.signs] or candidates
        if len(named) == 1:
            found[each.name] = named[0]
    return _without_rivals(found)


def by_operation(kinds: ServiceKinds, taken: Collection[str]) -> Mapping[str, Counterpart]:
    """The counterparts of kinds without one, by name: Terraform's type has the service's name and the kind's, and an operation creates it.

    `taken` are Terraform types that have a counterpart.
    """
    found: dict[str, Counterpart] = {}
    for kind in kinds.kinds:
        names = kinds.names.get(kind.noun, frozenset())
        if not kind.resource_type and kind.noun in kinds.made and len(names) == 1 and not names & {*taken}:
            found[kind.source] = Counterpart(terraform=next(iter(names)), signs=("name", "operation"))
    return found


def _signs(
    each: CloudFormationType,
    folded: str,
    prefixes: Collection[str],
    attributes: frozenset[str],
    creates: frozenset[str],
) -> tuple[str, ...]:
    noun = fold(each.noun)
    signs = []
    if folded.endswith(noun) and folded.removesuffix(noun) in prefixes:
        signs.append("name")
    if any(Phase.CREATE in each.handlers.get(action, ()) and _noun(action).endswith(noun) for action in creates):
        signs.append("create")
    if not signs:
        return ()
    theirs = {fold(name) for name in attributes} - _EVERYWHERE
    ours = {fold(name) for name in each.properties} - _EVERYWHERE
    shared = len(theirs & ours)
    if shared > 1 and shared >= _ENOUGH * min(len(theirs), len(ours)):
        signs.append("attributes")
    return tuple(signs)


def _noun(action: str) -> str:
    """The folded end of an action, which begins with a verb."""
    return fold(action.partition(":")[2])


def _prefixes(
    types: Iterable[CloudFormationType], folded: Mapping[str, str], creates: Mapping[str, frozenset[str]]
) -> Mapping[str, frozenset[str]]:
    """Namespace → how the Terraform types of that service begin: as it does, or as types begin that the same operations create."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for each in types:
        noun = fold(each.noun)
        seen[each.namespace][fold(each.namespace)] += 2
        for name, actions in creates.items():
            own = folded.get(name, "")
            if own.endswith(noun) and any(
                Phase.CREATE in each.handlers.get(action, ()) and _noun(action).endswith(noun) for action in actions
            ):
                seen[each.namespace][own.removesuffix(noun)] += 1
    return {name: frozenset(prefix for prefix, count in found.items() if count > 1) for name, found in seen.items()}


def _without_rivals(found: Mapping[str, Counterpart]) -> Mapping[str, Counterpart]:
    """Without pairs whose Terraform type another CloudFormation type has more signs for; of equals, none stays."""
    claims: dict[str, list[int]] = defaultdict(list)
    for each in found.values():
        claims[each.terraform].append(len(each.signs))
    return {
        name: each
        for name, each in found.items()
        if claims[each.terraform].count(max(claims[each.terraform])) == 1
        and len(each.signs) == max(claims[each.terraform])
    }


def main() -> None:
    """Add new counterparts to the mapping and print them."""
    kept = json.loads(MAPPING.read_text()) if MAPPING.exists() else {}
    attributes = terraform_attributes()
    new = {
        name: each
        for name, each in counterparts(tuple(cloudformation_types()), attributes, creating_actions()).items()
        if name not in kept
    }
    MAPPING.write_text(mapping_text(kept | {name: entry(each) for name, each in new.items()}))
    taken = {each["terraform"] for each in json.loads(MAPPING.read_text()).values()}
    for kinds in service_kinds().values():
        new |= {name: each for name, each in by_operation(kinds, taken).items() if name not in kept}
    MAPPING.write_text(mapping_text(kept | {name: entry(each) for name, each in new.items()}))
    for name, each in sorted(new.items()):
        sys.stdout.write(f"{name}: {each.terraform} ({', '.join(each.signs)})\n")
    sys.stdout.write(f"{len(new)} new counterparts, {len(kept) + len(new)} in all. Review the new ones.\n")


if __name__ == "__main__":
    main()
