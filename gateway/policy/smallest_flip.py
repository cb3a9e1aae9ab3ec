"""The smallest changes of an input that change the verdict, where they are of a number or of a set: found by asking, so each is one."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.model.json import Json
from gateway.core.model.verdict import Verdict

Ask = Callable[[Mapping[str, Json]], Awaitable[Verdict]]
"""The verdict of the policies about an input."""
_ASKED: Final = ("mutation", "claims", "flips")
_WITHIN_CALLER: Final = "open_claims"
_MOST_QUESTIONS: Final = 3000
_MOST_NUMBERS: Final = 200
"""Values that are tried for one number."""
_MOST_MEMBERS: Final = 60

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
        text = ".".join(map(str, path))
        if _is_number(value):
            for near in _near(value, numbers):
                after = await asking.at(path, near)
                if after is not verdict:
                    found.append(Flip(path=text, before=value, after=near, verdict=after))
                    break
        elif isinstance(value, list) and 0 < len(value) <= _MOST_MEMBERS:
            kept = await _kept(asking, path, value, verdict)
            if kept is not None:
                found.append(Flip(path=text, before=value, after=kept, verdict=await asking.at(path, kept)))
    return tuple(found)


class _Asking:
    """Asks about the input with one member replaced; about the input itself once nothing more may be asked."""

    def __init__(self, document: Mapping[str, Json], ask: Ask) -> None:
        self._document, self._ask, self._left = document, ask, _MOST_QUESTIONS
        self._first: Verdict | None = None

    async def at(self, path: Path, value: Json = None) -> Verdict:
        if self._first is None:
            self._first = await self._ask(self._document)
        if not path or self._left <= 0:
            return self._first
        self._left -= 1
        changed: Any = _replaced(self._document, path, value)
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
