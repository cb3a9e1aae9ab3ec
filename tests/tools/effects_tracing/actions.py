"""Tells what an operation does to a resource as a whole, by the phases in which the provider calls it and by its name."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from gateway.core.model.mutation import EffectAction
from tests.tools.effects_tracing.evidence import Evidence
from tests.tools.effects_tracing.traces import Phase

CREATE, SET, DELETE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE
_DELETES: Final = re.compile(
    r"^(Batch)?(Delete|Remove|Terminate|Deregister|Release|Destroy|Disassociate|Detach|Revoke|Unsubscribe|Cancel|Disable|Untag|Leave|"
    r"Unassign|Deprovision|Purge|Reject|Schedule\w*Deletion|Unlink|Withdraw|Deny|Decline|Unregister)"
)
"""How the names of operations begin that take away."""
_CREATES: Final = re.compile(
    r"^(Batch)?(Create|Allocate|Request|Run|Register|Import|Copy|Publish|Provision|Generate|Purchase|Restore)"
)
_RENEWS: Final = re.compile(r"^(Import|Publish|Register)")
"""Those of them that also change what has the name already: they register it anew, or make its next version."""
_LOOSENS: Final = re.compile(r"^(Batch)?(Detach|Disassociate|Untag|Unassign|Disable|Revoke|Unlink)")
"""Those that only loosen one resource from another; where the create begins with `Create`, they end nothing."""
_BESIDE: Final = re.compile(rf"{_DELETES.pattern}|Tag(?![a-z])|\w*Tags(?![a-z])")
"""What a create may call before it creates anything."""
_VERB: Final = re.compile(r"^(?:Batch)?[A-Z][a-z]+")

Key = tuple[str, str]
"""Service and operation."""


def actions_of(found: Mapping[Key, Evidence]) -> Mapping[Key, frozenset[EffectAction]]:
    """The actions of each operation that was seen with a type."""
    creators, deleter = _creators(found), _deleter(found)
    return {key: frozenset(_actions(key, each, creators, deleter)) for key, each in found.items()}


def _actions(key: Key, evidence: Evidence, creators: frozenset[Key], deleter: Key | None) -> set[EffectAction]:
    in_place = bool(evidence.phases & {Phase.UPDATE, Phase.EACH, Phase.OMIT})
    takes_away = bool(_DELETES.match(key[1]))
    actions = set()
    if key in creators:
        actions.add(CREATE)
        if in_place and (not _CREATES.match(key[1]) or _RENEWS.match(key[1])):
            actions.add(SET)
    if key == deleter:
        actions.add(DELETE)
        if not takes_away:
            # The operation changes something to nothing: a policy, a switch, an entry of a list.
            actions.add(SET)
    return actions or {SET}


def _creator(found: Mapping[Key, Evidence]) -> Key | None:
    """The operation that the provider calls first to create; None if a create calls nothing."""
    first = _first_of_creates(found)
    return first[min(first)] if first else None


def _creators(found: Mapping[Key, Evidence]) -> frozenset[Key]:
    """All operations that create: the first one, and those that other values of the configuration lead to instead of it."""
    first, creator = _first_of_creates(found), _creator(found)
    if creator is None:
        return frozenset()
    with_it = {(each.variant, each.run) for each in found[creator].of(Phase.CREATE)}
    instead = {key for run, key in first.items() if run not in with_it and _CREATES.match(key[1])}
    return frozenset({creator, *instead})


def _first_of_creates(found: Mapping[Key, Evidence]) -> Mapping[tuple[int, str], Key]:
    """(Variant, run) of each create → the operation that it calls first; one that takes away, or tags, counts only if there is no other."""
    calls: dict[tuple[int, str], list[tuple[bool, int, Key]]] = defaultdict(list)
    for key, evidence in found.items():
        for each in evidence.of(Phase.CREATE):
            calls[each.variant, each.run].append((bool(_BESIDE.match(key[1])), each.place, key))
    return {run: min(each)[2] for run, each in calls.items()}


def _deleter(found: Mapping[Key, Evidence]) -> Key | None:
    """The operation that ends the resource: of several, the one named after the creating one, else the last that takes away."""
    places = {
        key: max(each.place for each in evidence.of(Phase.DELETE))
        for key, evidence in found.items()
        if Phase.DELETE in evidence.phases
    }
    if not places:
        return None
    named = {key: place for key, place in places.items() if _DELETES.match(key[1])}
    creator = _creator(found)
    if creator is not None:
        noun = _VERB.sub("", creator[1])
        if _CREATES.match(creator[1]):
            named = {key: place for key, place in named.items() if not _LOOSENS.match(key[1])}
            if not named and all(_LOOSENS.match(key[1]) for key in places):
                return None
        same = [key for key in named if _VERB.sub("", key[1]) == noun and key[0] == creator[0]]
        if same:
            return same[0]
        # What another service takes away is something else, also where nothing but that ends the resource.
        places = {key: place for key, place in places.items() if key[0] == creator[0]}
        named = {key: place for key, place in named.items() if key[0] == creator[0]}
    return max(named or places, key=lambda key: places[key], default=None)
