"""The parts of an effect that policy judges by class: what it newly says, whose accounts it names, and who let it.

A part is an attribute of the provider's schema with the texts that it gains. What only repeats the recorded value is none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.core.model.contract import Contract
from gateway.core.model.facts import Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.texts import texts_in
from gateway.effects.attribute_classes import AttributeClass, class_of, has_role_or_network, is_map

UNCLASSIFIED: Final = "unclassified"
_QUIET: Final = frozenset({AttributeClass.HARMLESS, AttributeClass.LABEL})
_SHOWN: Final = frozenset({AttributeClass.ENVIRONMENT, AttributeClass.SENDS_TO})
"""The classes of which rules read the texts. The others may be whole programs."""
_ELSEWHERE: Final = frozenset({AttributeClass.OWNED_ELSEWHERE, AttributeClass.SENDS_TO})
_IN_ARN: Final = re.compile(r"arn:[a-z0-9-]*:[^:\s\"']*:[^:\s\"']*:([0-9]{12})(?![0-9])")
_ANYWHERE: Final = re.compile(r"(?<![0-9A-Za-z_-])([0-9]{12})(?![0-9A-Za-z_-])")
"""An account in an ARN, a partial ARN, a host (`….dkr.ecr.…`) or a path (a queue's URL), or alone."""
_NOTHING: Final[tuple[Json, ...]] = (None, "", [], {})


def dangerous_parts(subject: Subject, account: str) -> list[Json]:
    """The parts of the subject's effect that no rule may pass over, as policies see them (`policies/README.md`).

    `account` is the one that the call goes to.
    """
    effect = subject.effect
    if effect.action not in (EffectAction.SET, EffectAction.CREATE) or not subject.changes:
        return []
    value = effect.value if effect.judged is None else effect.judged
    if value in _NOTHING:
        return []
    gained = _texts_at(effect.resource_type, effect.attribute, value)
    if not gained:  # as of most numbers
        return []
    before, declared = _known_texts(subject, subject.before), _known_texts(subject, subject.declared)
    found = (
        _Part(subject=subject, path=path, texts=texts, before=before.get(path, {}), declared=declared.get(path, {}))
        for path, texts in gained.items()
    )
    return [shown for part in found if (shown := _shown(part, account)) is not None]


def accounts_in(parameters: object, account: str) -> list[Json]:
    """The other accounts that ARNs in the parameters name, sorted."""
    found = {each for text in texts_in(parameters) for each in _IN_ARN.findall(text)}
    return [*sorted(found - {account})]


_Texts = Mapping[str, Json]
"""Each text of an attribute. For a map: key → value."""


_SECRET: Final[Json] = {"hmac_sha256": ""}
"""In place of what a secret is: it differs from every value, so that nobody learns whether a guess is right."""


def _known_texts(subject: Subject, value: Json) -> Mapping[str, _Texts]:
    """The texts that are recorded or declared. Of a secret only the keys of maps, which are shown anyway."""
    effect = subject.effect
    found = _texts_at(effect.resource_type, effect.attribute, value)
    if not effect.sensitive:
        return found
    maps = {path: texts for path, texts in found.items() if is_map(effect.resource_type, path)}
    return {path: dict.fromkeys(texts, _SECRET) for path, texts in maps.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What an effect gives to one attribute of the schema."""

    subject: Subject
    path: str
    texts: _Texts
    before: _Texts
    declared: _Texts


def _shown(part: _Part, account: str) -> Mapping[str, Json] | None:
    """The part as policies see it; None if it says nothing new, or nothing that a rule judges."""
    effect = part.subject.effect
    found = _class_of(effect.resource_type, part.path)
    new = {text: value for text, value in part.texts.items() if _differs(part.before, text, value)}
    if not new or found in (AttributeClass.LABEL, AttributeClass.POLICY):  # rules read the documents themselves
        return None
    pattern = _IN_ARN if found in _QUIET or not account else _ANYWHERE
    said = {item for text in new for item in (text, *texts_in(new[text]))}
    accounts = {each for item in said for each in pattern.findall(item)} - {account}
    if not account and (effect.declared or found not in _ELSEWHERE):
        accounts = set()  # who knows no account of its own cannot tell it from others, and a plan's ARNs are full of it
    quiet = found in _QUIET or (found is None and not has_role_or_network(effect.resource_type))
    if quiet and not accounts:
        return None
    known = {*part.before, *part.declared}
    return {
        "path": part.path,
        "class": UNCLASSIFIED if found is None else found.value,
        "texts": [*sorted(new)] if found in _SHOWN else [],
        "fresh": [*sorted(new.keys() - known)] if found in _SHOWN else [],
        "accounts": [*sorted(accounts)],
        "declared": not any(_differs(part.declared, text, value) for text, value in new.items()),
        "named": is_named(part.subject.contract, part.path),
    }


def _differs(known: _Texts, text: str, value: Json) -> bool:
    return text not in known or known[text] != value


@lru_cache(maxsize=4096)
def _class_of(resource_type: str, path: str) -> AttributeClass | None:
    return class_of(resource_type, path)


def is_named(contract: Contract, path: str) -> bool:
    """Whether the contract lets agents set this very attribute: a block that holds it grants its plain parts only."""
    granted = (*contract.mutable, *contract.bounded)
    return any(AttributePath(path).covers(each) for each in granted)


def _texts_at(resource_type: str, attribute: str, value: Json) -> Mapping[str, _Texts]:
    """Path in the schema → its texts, of everything that a value gives."""
    found: dict[str, dict[str, Json]] = {}
    path, key = ("", "") if attribute == WHOLE else _in_schema(resource_type, attribute)
    if key:
        value = {key: value}
    for place, text, inner in _leaves(resource_type, path, value):
        found.setdefault(place, {})[text] = inner
    return found


def _in_schema(resource_type: str, attribute: str) -> tuple[str, str]:
    """The attribute's path without indexes; of a key of a map the map's path, and the key."""
    path, steps = "", [step for step in attribute.split(".") if not step.isdecimal()]
    for count, step in enumerate(steps, start=1):
        path = f"{path}.{step}" if path else step
        if is_map(resource_type, path):
            return path, ".".join(steps[count:])
    return path, ""


def _leaves(resource_type: str, path: str, value: Json) -> Iterator[tuple[str, str, Json]]:
    """(Path, text, value). Of a map the texts are its keys."""
    if isinstance(value, Mapping):
        if "hmac_sha256" in value:
            yield path, f"hmac_sha256:{value['hmac_sha256']}", None
        elif path and is_map(resource_type, path):
            yield from ((path, str(key), inner) for key, inner in value.items())
        else:
            for name, inner in value.items():
                yield from _leaves(resource_type, f"{path}.{name}" if path else str(name), inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from _leaves(resource_type, path, inner)
    elif isinstance(value, str) and value:
        yield path, value, None
    elif value is True:
        yield path, "true", None
    elif isinstance(value, int | float) and not isinstance(value, bool) and _class_of(resource_type, path) is not None:
        yield path, str(value), None  # a number counts only where it names something: a version
