"""Changes a configuration by one diagnostic of the provider: the next form, a range, an enumeration, or without the attribute."""

import re
from typing import Final

from tests.tools.effects_tracing.configuration import Configuration
from tests.tools.effects_tracing.known_enumerations import enumeration_for
from tests.tools.effects_tracing.slots import Path, Slot

_MOST_MEMBERS: Final = 8
_ONE_OF: Final = re.compile(
    r"(?:only one of|one of|Exactly one of these attributes must be configured:|one \(and only one\) of|"
    r"cannot be configured together:|at most one of)\s*(?:`([^`]+)`|\[((?:[^\[\]]|\[\d+\])+)\])",
    re.IGNORECASE,
)
_CONFLICT: Final = re.compile(
    r'"([\w.]+)": conflicts with ([\w.]+)|Attribute "([^"]+)" cannot be specified when "([^"]+)"'
)
_TOGETHER: Final = re.compile(r"all of `([^`]+)` must be specified")
_AT_LEAST: Final = re.compile(r"requires (\d+) item minimum|at least (\d+) (?:element|item|block)")
_ENUMERATION: Final = re.compile(
    r"(?:to be one of|must be one of|valid values|valid value is|valid values are):? [\[`]([^\]`]*)[\]`]", re.IGNORECASE
)
_EXPECTED: Final = re.compile(r"expected (?:value of |length of )?([a-z_][a-z0-9_.]+) to ")
"""How a diagnostic of SDK v2 names the attribute, which its path often does not."""
_LENGTH: Final = re.compile(
    r"length of \S+ to be in the range \((\d+) - (\d+)\)|length must be between (\d+) and (\d+)|"
    r"between (\d+) and (\d+) characters"
)
_SHORTEST: Final = re.compile(r"length (?:must be|of \S+ to be) at (?:most|least) \(?(\d+)\)?")
_RANGE: Final = re.compile(r"range \((-?[\d.]+) - (-?[\d.]+)\)|between (-?[\d.]+) and (-?[\d.]+)")
_NOT_HERE: Final = ("Too many", "No more than", "unconfigurable", "Unsupported")


class Repairs:
    """The repairs of one configuration."""

    def __init__(self, config: Configuration) -> None:
        self._config = config
        self._brought_back: set[Path] = set()
        self._returned: dict[Path, int] = {}

    def repair(self, path: Path, message: str) -> bool:
        """Change the configuration for one diagnostic. False if nothing could be done."""
        text = " ".join(message.split())
        config = self._config
        told = _EXPECTED.search(text)
        slot = config.slots.get(_path(told[1])) if told else None
        slot = slot or config.slots.get(path) or self._closest(path) or self._named(path, text)
        where = slot.path if slot is not None else path
        if "must have a configuration value" in text and self._bring_back(where):
            return True
        if (
            "does not match any valid values" in text
            and "Valid Values" not in text
            and slot is not None
            and not slot.enumeration
        ):
            slot.enumeration = enumeration_for(config.resource_type, slot.path[-1])
            if slot.enumeration:
                return True
        solved = self._by_combination(where, text)
        if solved is not None:
            return solved
        if any(words in text for words in _NOT_HERE):
            return config.drop(where)
        if found := _AT_LEAST.search(text):
            return self._more(where, slot, int(found[1] or found[2]))
        if slot is not None and self._by_value(slot, text):
            return True
        return bool(where) and config.drop(where)

    def _bring_back(self, path: Path) -> bool:
        if self._returned.get(path, 0) >= 2:
            return False
        self._returned[path] = self._returned.get(path, 0) + 1
        config = self._config
        config.off = {one for one in config.off if one[: len(path)] != path and path[: len(one)] != one}
        config.needed.add(path)
        return True

    def _by_combination(self, path: Path, text: str) -> bool | None:
        """Solve what several attributes together do wrong; None if the text does not say that."""
        config = self._config
        if (found := _ONE_OF.search(text)) and "to be one of" not in text and "value must be one of" not in text:
            return self._choose(found[1] or found[2], path)
        if found := _CONFLICT.search(text):
            first, second = _path(found[1] or found[3]), _path(found[2] or found[4])
            if second in config.prefer and first and first not in config.prefer and not config.is_required(first):
                return config.drop(first)
            if second and not config.is_required(second) and not config.is_off(second):
                return config.drop(second)
            return bool(first) and config.drop(first)
        if found := _TOGETHER.search(text):
            named = [one for one in map(_path, found[1].split(",")) if one]
            back = {one for one in named if one in config.off and one not in self._brought_back}
            config.off -= back
            self._brought_back |= back
            return bool(back) or config.drop(path)
        return None

    def _choose(self, written: str, path: Path) -> bool:
        """Set exactly one of several paths: the one that is required, preferred, or was dropped the fewest times."""
        config = self._config
        paths = [one for one in map(_path, re.split(r"[,\s]+", written)) if one]
        if len(path) > 1:
            known = [one in config.slots or config.schema.has(one) for one in paths]
            paths = [one if is_known else (*path[:-1], one[-1]) for one, is_known in zip(paths, known, strict=True)]
        on = [one for one in paths if not config.is_off(one)]
        if not on:
            off = [one for one in sorted(paths, key=lambda one: config.drops[one]) if one in config.off]
            config.off -= {*off[:1]}
            return bool(off)
        by_use = min(on, key=lambda one: (config.drops[one], not config.is_preferred(one)))
        keep = next((one for one in on if config.is_required(one)), by_use)
        dropped = [config.drop(one) for one in on if one != keep]
        return any(dropped)

    def _more(self, path: Path, slot: Slot | None, amount: int) -> bool:
        if amount <= _MOST_MEMBERS:
            if slot is not None and slot.count < amount:
                slot.count = amount
                return True
            if slot is None and self._config.counts.get(path, 1) < amount:
                self._config.counts[path] = amount
                return True
        return self._config.drop(path)

    def _by_value(self, slot: Slot, text: str) -> bool:
        """Give one attribute another value."""
        if (found := _ENUMERATION.search(text)) and _take_enumeration(slot, found[1]):
            return bool(slot.enumeration)
        if slot.kind == "number":
            return _narrow(slot, text)
        if found := _LENGTH.search(text):
            least, most = (int(each) for each in found.groups() if each is not None)
            if (slot.shortest, slot.longest) != (least, most):
                slot.shortest, slot.longest = least, most
                return True
        if found := _SHORTEST.search(text):
            amount = int(found[1])
            if "least" in text and slot.shortest != amount:
                slot.shortest = amount
                return True
            if "most" in text and slot.longest != amount:
                slot.longest = amount
                return True
        return slot.next_form()

    def _named(self, path: Path, text: str) -> Slot | None:
        """Inside a set the diagnostic's path ends at the set, and only the text names the attribute."""
        if "map_block_key" in text and (*path, "map_block_key") in self._config.slots:
            return self._config.slots[*path, "map_block_key"]
        for key, slot in self._config.slots.items():
            below = path and key[: len(path)] == path and not self._config.is_off(key)
            if below and re.search(rf"\b{re.escape(key[-1])}\b", text):
                return slot
        return None

    def _closest(self, path: Path) -> Slot | None:
        lengths = range(len(path), 0, -1)
        return next(
            (self._config.slots[path[:length]] for length in lengths if path[:length] in self._config.slots), None
        )


def _take_enumeration(slot: Slot, written: str) -> bool:
    """Whether the values were new to the slot."""
    quoted = re.findall(r'"((?:[^"\\]|\\.)*)"', written)
    values = [each for each in quoted or re.split(r"[ ,]+", written.strip()) if each]
    if not values or slot.enumeration == values:
        return False
    slot.enumeration = [int(each) for each in values if each.lstrip("-").isdigit()] if slot.kind == "number" else values
    return True


def _narrow(slot: Slot, text: str) -> bool:
    before = slot.low, slot.high, slot.step
    if found := _RANGE.search(text):
        low, high = (float(each.rstrip(".")) for each in found.groups() if each is not None)
        slot.low, slot.high = max(low, slot.low if slot.low is not None else low), high
    elif found := re.search(r"at least \(?(-?[\d.]+)\)?", text):
        slot.low = float(found[1].rstrip("."))
    elif found := re.search(r"at most \(?(-?[\d.]+)\)?", text):
        slot.high = float(found[1].rstrip("."))
    if found := re.search(r"divisible by \(?(\d+)", text):
        slot.step = int(found[1])
        slot.low = float(slot.step if slot.low is None else -(-slot.low // slot.step) * slot.step)
    return before != (slot.low, slot.high, slot.step)


def _path(written: str) -> Path:
    """The path that a diagnostic writes as `a.0.b` or `a[0].b`; empty if it names none."""
    found: list[str] = []
    for step in re.split(r"[.\[\]]+", written.strip().strip('"`')):
        if step == "<":  # the block around: what follows stands beside what was named
            found = found[:-1]
        elif step and not step.isdigit():
            found.append(step)
    return tuple(found)
