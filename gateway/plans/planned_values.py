"""Compares what a call gives to an attribute with what the plan says about it."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from gateway.core.derived_rows import ValueForm
from gateway.core.model.equality import equal
from gateway.core.model.json import Json, canonical_text, is_document, is_list, to_json
from gateway.core.model.masking import is_masked, without_digests
from gateway.core.model.path import AttributePath, Overlaps, put_all
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import SessionChange
from gateway.effects.schema import folded, snake

_TAGS: Final = "tags"
_OFF: Final = frozenset({"default", "disabled", "inactive", "none", "off", "suspended"})
"""How AWS writes that a feature is not on, or that something has what AWS gives it if nobody says anything."""
_EMPTY: Final = (None, "", False, 0)
_BODY: Final = frozenset({"bytes", "sha256"})
_PEM: Final = "-----BEGIN "
_PAIR_NAMES: Final = (frozenset({"key", "value"}), frozenset({"name", "value"}))
"""How AWS names the two members of a pair, where it writes a map as a list of pairs; in lower case."""


_MOST_COMPARED: Final = 200
"""Items of a list with which each item of another one is compared if it has no exact twin there."""


@dataclass(frozen=True)  # without slots, so that the indexes are built once: a plan and a call may both be long
class PlannedResource:
    """One planned change beside what the state records of its resource."""

    change: SessionChange
    recorded: Mapping[str, Json] = field(repr=False)
    made: str = ""
    """The id that AWS chose for it in this session; empty if it chose none, or nobody knows."""

    def may_be(self, name: object) -> bool:
        """Whether an id or an ARN may name the resource, as far as its id is known."""
        return not self.made or self.made in (str(name), str(name).replace("/", ":").rpartition(":")[2])

    @property
    def remains(self) -> Mapping[str, Json]:
        """The recorded attributes that the resource has afterwards too, unless the plan changes them; a replacement gets them again."""
        return {} if self.change.action is PlannedAction.CREATE else self.recorded

    @cached_property
    def after(self) -> Mapping[str, Json]:
        """All attributes as the plan leaves them, as far as it tells them."""
        return put_all(self.remains, list(self.change.values.items()))

    @cached_property
    def written(self) -> "WrittenPlaces":
        """The same by what calls name, documents and blocks opened."""
        return WrittenPlaces((self.after,))

    def known(self, attribute: str) -> tuple[Json, ...]:
        """The values that the attribute may have before, while or after the plan is applied; empty if nobody knows."""
        found = [self.change.values.get(attribute)]
        if self.change.action is not PlannedAction.CREATE:
            found.append(AttributePath(attribute).value_at(self.recorded))
        return tuple(value for value in found if value is not None)

    def is_free(self, attribute: str) -> bool:
        """Whether the plan changes the attribute, or what is around it, to a value that it does not tell."""
        return any(around in self.change.free for around in AttributePath(attribute).enclosing)

    @cached_property
    def _around_free(self) -> frozenset[str]:
        """The attributes with an untold value, and those around them."""
        return frozenset(around for free in self.change.free for around in AttributePath(free).enclosing)

    @cached_property
    def free_names(self) -> Mapping[str, Sequence[str]]:
        """Last step → the attributes with an untold value that end with it."""
        found: dict[str, list[str]] = {}
        for free in self.change.free:
            found.setdefault(free.rpartition(".")[2], []).append(free)
        return found

    def has(self, value: Json) -> bool:
        """Whether the plan or the state has the value, or a document that says the same, anywhere."""
        return _key(value) in self._keys

    @cached_property
    def _keys(self) -> frozenset[str]:
        found: set[str] = set()
        todo: list[Json] = [*self.change.values.values(), *self.remains.values()]
        while todo:
            value = todo.pop()
            if isinstance(value, Mapping):
                todo.extend(value.values())
                continue
            if is_list(value):
                todo.extend(value)
            if not is_list(value) or not any(isinstance(item, Mapping) or is_list(item) for item in value):
                found.add(_key(value))
        return frozenset(found)

    @cached_property
    def _planned(self) -> Overlaps[str]:
        return Overlaps(("", name, name) for name in self.change.values)

    def keeps(self, attribute: str) -> bool:
        """Whether the plan leaves a recorded attribute of a resource as it is."""
        is_kept = self.change.action is PlannedAction.UPDATE and not self.is_untold(attribute)
        return is_kept and same(
            AttributePath(attribute).value_at(self.after), AttributePath(attribute).value_at(self.recorded)
        )

    def is_untold(self, attribute: str) -> bool:
        """Whether the plan does not tell the value of the attribute, or of a part of it."""
        return self.is_free(attribute) or attribute in self._around_free

    def fits(self, attribute: str, value: Json) -> bool:
        """Whether an apply may give this value to the attribute: the planned one, or the one it has; to what it deletes, none or off."""
        if self.change.action is PlannedAction.DELETE:
            recorded = AttributePath(attribute).value_at(self.recorded)
            return same(value, recorded) or _is_off(value)
        if self.is_free(attribute):
            return True
        if AttributePath(attribute).top == _TAGS:
            return self._fits_tags(attribute, value)
        path = AttributePath(attribute)
        inside = {name: self.change.values[name] for name in self._planned.of("", attribute)}
        if attribute in self._around_free:
            return all(
                same(AttributePath(name[len(attribute) + 1 :]).value_at(value), planned)
                for name, planned in inside.items()
                if name != attribute and path.covers(name)
            )
        after = path.value_at(put_all(self.remains, list(inside.items())))
        return same(value, after) or self._on_the_way(value, inside.get(attribute), path.value_at(self.recorded))

    def _on_the_way(self, value: Json, planned: Json, recorded: Json) -> bool:
        """Whether a list has only items of before or after, and all of both: calls that add and remove items reach the planned list in steps."""
        if not (is_list(value) and is_list(planned)):
            return False
        before = recorded if is_list(recorded) else ()
        return are_among(value, (*planned, *before), same) and are_among(in_both(planned, before), value, same)

    def _fits_tags(self, attribute: str, value: Json) -> bool:
        """Whether the tags are those of the code or of the provider, or stay; none that stays may be taken away."""
        if attribute != _TAGS:
            key = AttributePath(attribute).key
            known = self._known_tags
            return key not in self.kept_tags if value is None else key in known and same(value, known[key])
        given = value if isinstance(value, Mapping) else {}
        return self.fits_some_tags(given) and self.kept_tags <= given.keys()

    def fits_some_tags(self, given: Mapping[str, Json]) -> bool:
        """Whether each of these tags is one of the code or of the provider, or stays; what else is there is not said."""
        free = {AttributePath(name).key for name in self.change.free if name.startswith(f"{_TAGS}.")}
        known = self._known_tags
        return _TAGS in self.change.free or all(
            key in free or (key in known and same(each, known[key])) for key, each in given.items()
        )

    @cached_property
    def kept_tags(self) -> frozenset[str]:
        """The keys of the tags that an update leaves as they are."""
        if self.change.action is not PlannedAction.UPDATE or _TAGS in self.change.free:
            return frozenset()
        own, whole = _mapping(self.recorded.get(_TAGS)), self.change.values.get(_TAGS)
        after = _mapping(whole) if _TAGS in self.change.values else {**own, **self._planned_tags}
        after = {key: each for key, each in {**after, **self.change.tags}.items() if each is not None}
        before = {**own, **_mapping(self.recorded.get("tags_all"))}
        return frozenset(key for key, each in after.items() if key in before and same(before[key], each))

    @cached_property
    def _known_tags(self) -> Mapping[str, Json]:
        kept = _mapping(self.recorded.get("tags_all") or self.recorded.get(_TAGS)) if self.remains else {}
        return {**kept, **self.change.tags, **_mapping(self.change.values.get(_TAGS)), **self._planned_tags}

    @cached_property
    def _planned_tags(self) -> Mapping[str, Json]:
        told = self.change.values.items()
        return {AttributePath(name).key: each for name, each in told if name.startswith(f"{_TAGS}.")}


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


class WrittenPlaces:
    """What stands at one path of a plan, in all items of the lists on the way; parsed and indexed as far as it is asked for, once."""

    def __init__(self, places: Sequence[Json]) -> None:
        self._places = places
        self._children: dict[str, WrittenPlaces] = {}
        self._blocks: dict[str, WrittenPlaces] = {}

    def has(self, steps: Sequence[str], value: Json) -> bool:
        """Whether the value stands at the steps of a parameter from here, or in the block that one of them names."""
        if not steps:
            return as_twin(value) in self._twins or are_among((value,), self._few, same)
        names = dict.fromkeys((*((steps[0],) if steps[0] in self._members else ()), *self._alike(steps[0])))
        return any(self._child(name).has_here_or_in_a_block(steps[1:], value) for name in names)

    def has_here_or_in_a_block(self, steps: Sequence[str], value: Json) -> bool:
        """Whether the value stands at the steps, of which the first may be the name of a block."""
        if self.has(steps, value):
            return True
        return bool(steps) and steps[0] in self._named and self._block(steps[0]).has(steps[1:] or ("value",), value)

    def _child(self, name: str) -> "WrittenPlaces":
        if name not in self._children:
            self._children[name] = WrittenPlaces(self._members[name])
        return self._children[name]

    def _block(self, name: str) -> "WrittenPlaces":
        if name not in self._blocks:
            self._blocks[name] = WrittenPlaces(self._named[name])
        return self._blocks[name]

    def _alike(self, step: str) -> Sequence[str]:
        return self._folded.get(folded(snake(step)), ())

    @cached_property
    def _twins(self) -> frozenset[str]:
        return frozenset(map(as_twin, self._places))

    @property
    def _few(self) -> Sequence[Json]:
        return self._places if len(self._places) <= _MOST_COMPARED else ()

    @cached_property
    def _opened(self) -> Sequence[Mapping[str, Json]]:
        found: list[Mapping[str, Json]] = []
        waiting = list(self._places)
        while waiting:
            place = waiting.pop()
            if isinstance(place, str) and is_document(place):
                waiting.append(json.loads(place))
            elif is_list(place):
                waiting += place
            elif isinstance(place, Mapping):
                found.append(place)
        return found

    @cached_property
    def _members(self) -> Mapping[str, list[Json]]:
        found: dict[str, list[Json]] = {}
        for place in self._opened:
            for name, item in place.items():
                found.setdefault(name, []).append(item)
        return found

    @cached_property
    def _folded(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self._members:
            found.setdefault(folded(name), []).append(name)
        return found

    @cached_property
    def _named(self) -> Mapping[str, list[Json]]:
        """Blocks of lists by the attributes with which a call, that has a map in their place, names them."""
        found: dict[str, list[Json]] = {}
        for place in self._places:
            for block in place if is_list(place) else ():
                names = (block.get("name"), block.get("key")) if isinstance(block, Mapping) else ()
                for name in names:
                    if isinstance(name, str):
                        found.setdefault(name, []).append(block)
        return found


def is_body(value: object) -> bool:
    """Whether a parameter is a body of which only the head of the request is read: its length, and perhaps its digest."""
    return isinstance(value, Mapping) and value.keys() == _BODY


def fits_body(resource: PlannedResource, body: object) -> bool:
    """Whether an upload may be what the plan puts there: the content of plan or state, or that of a file, which neither tells."""
    contents = [str(each).encode() for each in resource.known("content") if each]
    contents += [decoded.encode() for each in resource.known("content_base64") if each and (decoded := _decoded(each))]
    if contents:
        heads = [{"bytes": len(each), "sha256": hashlib.sha256(each).hexdigest()} for each in contents]
        return body in heads or body in [{**head, "sha256": None} for head in heads]
    told = ("content", "content_base64", "source")
    return any(any(resource.known(name)) or resource.is_free(name) for name in told)


def are_among(values: Sequence[Json], items: Sequence[Json], is_same: Callable[[Json, Json], bool]) -> bool:
    """Whether each value is one of the items. Between long lists only exact twins are found: else the cost would be their product."""
    exact = {as_twin(item) for item in items}
    few = items if len(items) <= _MOST_COMPARED else ()
    return all(as_twin(one) in exact or any(is_same(one, item) for item in few) for one in values)


def in_both(items: Sequence[Json], others: Sequence[Json]) -> Sequence[Json]:
    """The items that others are too."""
    twins = set(map(as_twin, others))
    return [item for item in items if as_twin(item) in twins]


def _key(value: Json) -> str:
    return as_twin(value) if isinstance(value, str) and is_document(value) else canonical_text(value)


def as_twin(value: Json) -> str:
    """A text that two values share if they are one to AWS, but for the forms that `same` knows beyond that."""
    return canonical_text(_plain(value))


def _is_off(value: Json) -> bool:
    """Whether the value switches something off: some resources are deleted so, and others must be let go of before they are."""
    plain = _plain(value)
    return plain is None or (isinstance(plain, str) and plain.casefold() in _OFF)


def same(one: Json, other: Json) -> bool:
    """Whether two values are one to AWS: documents by what they say, lists in any order, and nothing, false, zero and empty alike."""
    left, right = _plain(one), _plain(other)
    return left == right or equal(left, right)


def _plain(value: Json) -> Json:
    """The value without what makes no difference, and with the digests of its masks blanked."""
    if isinstance(value, str):
        if is_document(value):
            return {"document": _said(json.loads(value))}
        # White space around the blocks of PEM says nothing (RFC 7468), and Terraform cuts it off in its plan.
        return value.strip() if value.lstrip().startswith(_PEM) else value or None
    if is_masked(value):
        return without_digests(value)
    if isinstance(value, Mapping):
        members = {str(key): _plain(item) for key, item in value.items()}
        return {key: item for key, item in sorted(members.items()) if item is not None} or None
    if is_list(value):
        items = [item for item in map(_plain, value) if item is not None]
        # A list with one block is the block.
        return None if not items else items[0] if len(items) == 1 else sorted(items, key=canonical_text)
    if isinstance(value, bool | int | float) and value in _EMPTY:
        return None
    return value


def as_map(value: Json) -> Json:
    """A list of pairs as the map that they write; any other value, and pairs of which two have one key, as it is."""
    if not (is_list(value) and value):
        return value
    found: dict[str, Json] = {}
    for pair in value:
        if not isinstance(pair, Mapping):
            return value
        members = {str(name).lower(): item for name, item in pair.items()}
        key = members.get("key", members.get("name"))
        if len(members) != len(pair) or members.keys() not in _PAIR_NAMES or not isinstance(key, str) or key in found:
            return value
        found[key] = members["value"]
    return found


def _said(value: Json) -> Json:
    """What a document says. Nothing is left out: a condition that is missing allows more than one that is empty."""
    if isinstance(value, Mapping):
        return without_digests(value) if is_masked(value) else {key: _said(item) for key, item in value.items()}
    if is_list(value):
        items = [_said(item) for item in value]
        return items[0] if len(items) == 1 else sorted(items, key=canonical_text)
    return without_digests(value)


def same_in_form(given: object, attribute: Json, form: ValueForm) -> bool:
    """Whether a parameter's value is the attribute's, which the provider writes in this form."""
    value = to_json(given)
    match form:
        case ValueForm.CASE:
            return str(value).casefold() == str(attribute).casefold()
        case ValueForm.NEGATED:
            return bool(value) is not bool(attribute)
        case ValueForm.ARN:
            ends = str(value).replace("/", ":").rpartition(":")[2]
            return value == attribute or ends == str(attribute).replace("/", ":").rpartition(":")[2]
        case ValueForm.BASE64 | ValueForm.DATE:
            texts = (_text_of(given), _decoded(given)) if form is ValueForm.BASE64 else (_text_of(given),)
            return value == attribute or str(attribute) in texts
        case ValueForm.TEXT:
            return _text(value) == _text(attribute) or same(value, attribute)
        case _:
            return same(value, attribute)


def _text(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text_of(given: object) -> str:
    return given.decode(errors="replace") if isinstance(given, bytes) else str(given)


def _decoded(given: object) -> str | None:
    """The text that a parameter has in base 64; None if it has none."""
    try:
        return base64.b64decode(str(given), validate=True).decode()
    except ValueError:
        return None
