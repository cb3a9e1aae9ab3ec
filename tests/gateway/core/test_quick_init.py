"""A class that is made quickly is made as before."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, InitVar, dataclass, field, fields, replace
from typing import Any

import pytest

from gateway.core.quick_init import maker, quick_init


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    name: str
    size: int = 3
    parts: dict[str, int] = field(default_factory=dict)
    own: tuple[int, ...] = ()
    hidden: str = field(default="", repr=False, compare=False)


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Quick:
    name: str
    size: int = 3
    parts: dict[str, int] = field(default_factory=dict)
    own: tuple[int, ...] = ()
    hidden: str = field(default="", repr=False, compare=False)


@quick_init
@dataclass(frozen=True, slots=True)
class Positional:
    first: int
    second: int = field(default=2, kw_only=True)


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Deriving:
    name: str
    length: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        made: Any = self
        made.length = len(self.name)


@quick_init
@dataclass(frozen=True)
class WithDict:
    name: str = "n"


GIVEN: list[dict[str, Any]] = [{"name": "a"}, {"name": "a", "size": 4, "parts": {"x": 1}, "hidden": "h"}]


@pytest.mark.parametrize("given", GIVEN)
def test_values_are_the_same(given: dict[str, Any]) -> None:
    slow, quick = Slow(**given), Quick(**given)
    assert [getattr(quick, each.name) for each in fields(quick)] == [getattr(slow, each.name) for each in fields(slow)]
    assert repr(quick) == repr(slow).replace("Slow", "Quick")
    assert quick == Quick(**given) == replace(quick, hidden="other") != replace(quick, size=9)
    assert copy.copy(quick) == pickle.loads(pickle.dumps(quick)) == quick  # noqa: S301  our own
    assert type(quick) is Quick


def test_the_signature_is_the_same() -> None:
    quick, slow = inspect.signature(Quick.__init__), inspect.signature(Slow.__init__)
    assert [(each.name, each.kind, each.annotation) for each in quick.parameters.values()] == [
        (each.name, each.kind, each.annotation) for each in slow.parameters.values()
    ]


def test_each_value_has_a_list_of_its_own() -> None:
    assert Quick(name="a").parts is not Quick(name="a").parts


@pytest.mark.parametrize("value", [Quick(name="a"), Positional(1), WithDict(), Deriving(name="abc")])
def test_nothing_changes_a_value(value: object) -> None:
    first = fields(value)[0].name  # type: ignore[arg-type]
    with pytest.raises(FrozenInstanceError):
        setattr(value, first, None)
    with pytest.raises(FrozenInstanceError):
        delattr(value, first)
    with pytest.raises((FrozenInstanceError, TypeError)):  # with slots, dataclasses refuse other names so
        value.__class__ = Slow


@pytest.mark.parametrize("given", [{}, {"name": "a", "other": 1}])
def test_what_is_missing_or_unknown_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"Quick\.__init__\(\)"):
        Quick(**given)


def test_fields_may_be_given_by_position() -> None:
    assert (Positional(1).first, Positional(1, second=5).second) == (1, 5)


def test_what_is_derived_follows_what_is_given() -> None:
    value = Deriving(name="abc")
    assert (value.length, replace(value, name="a").length, copy.copy(value).length) == (3, 1, 3)
    with pytest.raises(FrozenInstanceError):
        value.length = 4  # type: ignore[misc]  # it is frozen
    with pytest.raises(TypeError):
        Deriving(name="abc", length=3)  # type: ignore[call-arg]  # it is derived


def test_what_the_end_of_the_making_refuses_is_not_made() -> None:
    @quick_init
    @dataclass(frozen=True)
    class Checking:
        first: int

        def __post_init__(self) -> None:
            if self.first < 0:
                raise ValueError("negative")

    assert Checking(1).first == 1
    with pytest.raises(ValueError, match="negative"):
        Checking(-1)


def test_nothing_inherits() -> None:
    with pytest.raises(TypeError, match="inherits"):
        type("Sub", (Quick,), {})
    with pytest.raises(TypeError, match="more to its making"):
        quick_init(dataclass(frozen=True)(type("Sub", (Slow,), {})))


def test_a_class_whose_making_does_more_is_refused() -> None:
    @dataclass(frozen=True)
    class Taking:
        seed: InitVar[int]

    @dataclass(frozen=True)
    class Keeping:
        kept: list[int] = field(default_factory=list, init=False)

    for kind in (Taking, Keeping):
        with pytest.raises(TypeError, match="more to its making"):
            quick_init(kind)


@pytest.mark.parametrize("given", GIVEN)
def test_a_maker_makes_the_same_value(given: dict[str, Any]) -> None:
    made, usual = maker(Quick)(**given), Quick(**given)
    assert (made, type(made), hash(made.name), repr(made)) == (usual, Quick, hash(usual.name), repr(usual))
    assert maker(Quick)(name="a").parts is not maker(Quick)(name="a").parts
    with pytest.raises(FrozenInstanceError):
        made.name = "b"  # type: ignore[misc]
    assert replace(made, size=9) == replace(usual, size=9)
    assert copy.copy(made) == pickle.loads(pickle.dumps(made)) == usual  # noqa: S301  made here


def test_a_maker_takes_what_its_class_takes() -> None:
    assert maker(Positional)(1, second=3) == Positional(1, second=3)
    assert maker(Deriving)(name="abc").length == 3
    assert maker(WithDict)() == WithDict()
    for wrong in ({}, {"name": "a", "other": 1}):
        with pytest.raises(TypeError):
            maker(Quick)(**wrong)  # type: ignore[arg-type]
