"""The smallest changes of an input that change the verdict, where they are of numbers or of sets: found by asking, so each is one.

Where no member alone changes it, several do together: the rules that object each ask for another one, or one rule asks for two.
"""

import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.model.json import Json
from gateway.core.model.verdict import Verdict

Judged = tuple[Verdict, frozenset[str]]
"""The verdict of the policies, and what objects: each rule with its place."""
Ask = Callable[[Mapping[str, Json]], Awaitable[Judged]]
"""What the policies say of an input."""
_ASKED: Final = ("mutation", "claims", "flips")
_WITHIN_CALLER: Final = "open_claims"
_MOST_QUESTIONS: Final = 3000
_MOST_NUMBERS: Final = 200
"""Values that are tried for one number."""
_MOST_MEMBERS: Final = 60
_MOST_CHOICES: Final = 6
"""Values of one member that are tried together with those of others: the nearest."""
_MOST_PAIRED: Final = 40
"""Members that are tried with each other: the first, which are those of the call."""
_MOST_PAIRS: Final = _MOST_QUESTIONS // 2
_MOST_TOGETHER: Final = 8

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A change of one member of the input, and the verdict after it."""

    path: str
    """e.g. `mutation.effects.0.value`."""
    before: Json
    after: Json
    """The nearest number; of a list what stays of it."""
    verdict: Verdict


async def smallest_flips(document: Mapping[str, Json], ask: Ask, compared: Sequence[Json]) -> tuple[Flip, ...]:
    """For each number and each list in the input the smallest change that gives another verdict; only those that there are.

    Of a number the nearest of the values in `compared` and beside them is taken. At most some thousand questions are asked.
    """
    asking = _Asking(document, ask)
    verdict = await asking.at(())
    numbers = [each for each in compared if _is_number(each)]
    found: list[Flip] = []
    for path, value in _members(document):
        if _is_number(value):
            for near in _near(value, numbers):
                after = await asking.at(path, near)
                if after is not verdict:
                    found.append(Flip(path=_text(path), before=value, after=near, verdict=after))
                    break
        elif isinstance(value, list) and 0 < len(value) <= _MOST_MEMBERS:
            kept = await _kept(asking, path, value, verdict)
            if kept is not None:
                found.append(Flip(path=_text(path), before=value, after=kept, verdict=await asking.at(path, kept)))
    return tuple(found)


async def smallest_set(document: Mapping[str, Json], ask: Ask, compared: Sequence[Json]) -> tuple[Flip, ...]:
    """Changes of several members that give another verdict together, none of which can be left out; empty if none are found.

    For an input of which no member alone changes the verdict. First every pair is tried, the nearest values first; then what takes away most
    of what objects is changed, member by member. Each has the verdict of all together.
    """
    asking = _Asking(document, ask)
    numbers = [each for each in compared if _is_number(each)]
    several = ((path, value, _choices(value, numbers)) for path, value in _members(document))
    choices = [*itertools.islice((each for each in several if each[2]), _MOST_PAIRED)]
    return await _pair(asking, choices) or await _many(asking, choices)


Choices = tuple[Path, Json, Sequence[Json]]
"""A member, its value, and others that it may have, the nearest first."""


def _choices(value: Json, numbers: Sequence[Any]) -> list[Json]:
    if _is_number(value):
        return _near(value, numbers)[:_MOST_CHOICES] + _far(value, numbers)
    if isinstance(value, list) and 0 < len(value) <= _MOST_MEMBERS:
        fewer: list[Json] = [
            [*value[:number], *value[number + 1 :]] for number in range(min(len(value), _MOST_CHOICES))
        ]
        return [*fewer, []] if len(value) > 1 else fewer
    return []


def _far(value: Any, numbers: Sequence[Any]) -> list[Any]:
    """The least and the largest number: a rule that a near one does not satisfy may be by one of them."""
    near = _near(value, numbers)
    return [each for each in dict.fromkeys((min(near), max(near))) if each not in near[:_MOST_CHOICES]] if near else []


async def _pair(asking: "_Asking", choices: Sequence[Choices]) -> tuple[Flip, ...]:
    verdict = await asking.at(())
    pairs = [
        (near + other_near, (path, value, after), (other, other_value, other_after))
        for number, (path, value, afters) in enumerate(choices)
        for other, other_value, other_afters in choices[number + 1 :]
        if not _within(path, other)
        for near, after in enumerate(afters)
        for other_near, other_after in enumerate(other_afters)
    ]
    for _, *both in sorted(pairs, key=lambda each: each[0])[:_MOST_PAIRS]:
        after, _ = await asking.with_all([(path, wanted) for path, _, wanted in both])
        if after is not verdict:
            return tuple(
                Flip(path=_text(path), before=value, after=wanted, verdict=after) for path, value, wanted in both
            )
    return ()


async def _many(asking: "_Asking", choices: Sequence[Choices]) -> tuple[Flip, ...]:
    """Step by step the change that leaves least to object, until the verdict is another one; then without those that it does not need."""
    verdict, objecting = await asking.with_all([])
    after, changes = verdict, dict[Path, tuple[Json, Json]]()
    while after is verdict and len(changes) < _MOST_TOGETHER:
        best: tuple[int, Path, Json, Json, Judged] | None = None
        for path, value, afters in choices:
            if any(_within(path, other) for other in changes):
                continue
            for wanted in afters:
                judged = await asking.with_all([*_wanted(changes), (path, wanted)])
                left = len(judged[1]) if judged[0] is verdict else -1
                if left < len(objecting) and (best is None or left < best[0]):
                    best = left, path, value, wanted, judged
        if best is None:
            return ()
        _, path, value, wanted, (after, objecting) = best
        changes[path] = value, wanted
    if after is verdict:
        return ()
    for path in list(changes):
        fewer = {other: change for other, change in changes.items() if other != path}
        without, _ = await asking.with_all(_wanted(fewer))
        if without is not verdict:
            changes, after = fewer, without
    return tuple(
        Flip(path=_text(path), before=value, after=wanted, verdict=after) for path, (value, wanted) in changes.items()
    )


def _wanted(changes: Mapping[Path, tuple[Json, Json]]) -> list[tuple[Path, Json]]:
    return [(path, wanted) for path, (_, wanted) in changes.items()]


def _within(one: Path, other: Path) -> bool:
    """Whether one of the members is a part of the other, or the same."""
    return one[: len(other)] == other or other[: len(one)] == one


def _text(path: Path) -> str:
    return ".".join(map(str, path))


class _Asking:
    """Asks about the input with members replaced; about the input itself once nothing more may be asked."""

    def __init__(self, document: Mapping[str, Json], ask: Ask) -> None:
        self._document, self._ask, self._left = document, ask, _MOST_QUESTIONS
        self._first: Judged | None = None

    async def at(self, path: Path, value: Json = None) -> Verdict:
        verdict, _ = await self.with_all([(path, value)] if path else [])
        return verdict

    async def with_all(self, wanted: Sequence[tuple[Path, Json]]) -> Judged:
        if self._first is None:
            self._first = await self._ask(self._document)
        if not wanted or self._left <= 0:
            return self._first
        self._left -= 1
        changed: Any = self._document
        for path, value in wanted:
            changed = _replaced(changed, path, value)
        return await self._ask(changed)


async def _kept(asking: _Asking, path: Path, members: list[Json], verdict: Verdict) -> list[Json] | None:
    """What stays of a list whose members are taken out, as few as give another verdict; None if none do."""
    for number in range(len(members)):
        fewer = [*members[:number], *members[number + 1 :]]
        if await asking.at(path, fewer) is not verdict:
            return fewer
    if len(members) == 1 or await asking.at(path, []) is verdict:
        return None
    kept: list[Json] = []
    for member in members:  # what can come back while the verdict stays another one
        if await asking.at(path, [*kept, member]) is not verdict:
            kept.append(member)
    return kept


def _near(value: Any, numbers: Sequence[Any]) -> list[Any]:
    """The numbers to try, the nearest first."""
    whole = isinstance(value, int)
    tried = {each + step for each in (value, *numbers) for step in (-1, 0, 1)} - {value}
    fitting = (int(each) if whole else each for each in tried if not whole or each == int(each))
    return sorted(fitting, key=lambda each: (abs(each - value), each))[:_MOST_NUMBERS]


def _members(document: Mapping[str, Json]) -> Iterator[tuple[Path, Json]]:
    """Every number and list in the parts of the input that are the caller's or the world's, and no time."""
    for name in _ASKED:
        yield from _inside((name,), document.get(name))
    caller = document.get("caller")
    if isinstance(caller, Mapping) and _WITHIN_CALLER in caller:
        yield ("caller", _WITHIN_CALLER), caller[_WITHIN_CALLER]


def _inside(path: Path, value: Json) -> Iterator[tuple[Path, Json]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if not name.endswith("_ns"):
                yield from _inside((*path, name), item)
    elif isinstance(value, list):
        # The effects and claims themselves are no values: without one of them it would be another call.
        if path not in (("mutation", "effects"), ("mutation", "inner"), ("claims",)):
            yield path, value
        for number, item in enumerate(value):
            yield from _inside((*path, number), item)
    elif _is_number(value):
        yield path, value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _replaced(value: Any, path: Path, new: Json) -> Any:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        return {**value, step: _replaced(value[step], rest, new)}
    return [_replaced(item, rest, new) if number == step else item for number, item in enumerate(value)]
