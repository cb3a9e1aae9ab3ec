"""One leaf attribute of a configuration: the value that it has in each run, distinct from that of every other attribute."""

from dataclasses import dataclass, field
from typing import Any, Final

from tests.tools.effects_tracing.forms import FORMS, forms_for, token
from tests.tools.effects_tracing.seeds import filled_in

Path = tuple[str, ...]
"""Names of attributes and blocks, without places in lists."""
RUNS: Final = 4
"""Runs with different values. Booleans and enumerations have their first value in run 0 and follow a code in the others."""
ANOTHER_MEMBER: Final = 10
"""What the second member of a list adds to the run, so that its values differ; the code of finite values does not see it."""


@dataclass(slots=True, kw_only=True)
class Slot:
    """A leaf attribute, and what is known so far about the values that the provider accepts."""

    path: Path
    kind: str
    """`string`, `number` or `bool`: of the value, or of the members of the collection."""
    container: str
    """`list`, `set`, `map`, or empty."""
    required: bool
    """Whether it is required in its block."""
    number: int = 0
    """Its place among the slots of its kind, which the code of finite values follows."""
    forms: list[str] = field(default_factory=list)
    at: int = 0
    """The place of the form that is tried now."""
    enumeration: list[Any] | None = None
    low: float | None = None
    high: float | None = None
    shortest: int = 0
    longest: int = 0
    step: int = 1
    count: int = 1
    """How many members a collection has."""
    same: Path = ()
    """The path whose value it shares."""
    seed: Any = None
    """The value that a seed gives it."""

    def __post_init__(self) -> None:
        self.forms = self.forms or forms_for(self.path[-1])

    def value(self, run: int) -> Any:
        """The value in a run."""
        if self.seed is not None and not isinstance(self.seed, str):
            return self.seed
        if self.container in ("list", "set"):
            return [self._scalar(run + ANOTHER_MEMBER * extra) for extra in range(self.count)]
        if self.container == "map":
            return {token((*self.path, "key"), run): self._scalar(run)}
        return self._scalar(run)

    def next_form(self) -> bool:
        """Move to the next form; False if there is none left."""
        if self.kind != "string" or self.enumeration or self.seed is not None or self.at + 1 >= len(self.forms):
            return False
        self.at += 1
        return True

    def _scalar(self, run: int) -> Any:
        marker = token(self.same or self.path, run)
        if self.seed is not None:
            text = filled_in(self.seed, marker)
            return int(text) if self.kind == "number" else text
        if self.enumeration:
            return self.enumeration[self._digit(run, len(self.enumeration))]
        if self.kind == "bool":
            return self._digit(run, 2) == 0
        if self.kind == "number":
            return self._number(run)
        text = FORMS[self.forms[self.at]](marker)
        text += "x" * (self.shortest - len(text))
        return text[: self.longest] if self.longest else text

    def _number(self, run: int) -> float:
        low = self.low if self.low is not None else (11 if self.high is None or self.high > 3000 else 1)
        high = self.high if self.high is not None else low + 2900
        low = min(low, high)
        count = max(1, int((high - low) // self.step) + 1)
        if count > 1:
            return int(low) + self.step * ((self.number * 37 + run * 11 + 3) % count)
        return int(low) if float(low).is_integer() else low

    def _digit(self, run: int, base: int) -> int:
        """The place in a finite set: a code that differs between slots, so that the columns over all runs can be told apart."""
        column = run % ANOTHER_MEMBER
        if column == 0 or base == 1:
            return 0
        codes: int = base ** (RUNS - 1) - 1
        code = self.number % codes + 1  # never zero in all runs: the value would be a constant
        place: int = base ** (column - 1)
        return code // place % base
