"""Bounds: the values that break each, malformed values, and that the offered value is legal."""

import ipaddress
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.contract import Bound
from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.contracts import bounds
from gateway.terraform.contracts.bounds import (
    LONGEST_VALUE,
    NAMES,
    NotAPattern,
    breach,
    check_pattern,
    limit_problem,
    matches_whole,
    nearest,
    shown,
)
from tests.kit.growth import assert_linear

RULE: dict[str, Json] = {"from_port": 443, "to_port": 443, "protocol": "tcp", "cidr_blocks": ["10.1.0.0/16"]}


def bound(name: str, limit: Json, *, unknown: str = "") -> Bound:
    return Bound(attribute="a", name=name, limit=limit, source="c:1", unknown=unknown)


KEPT: list[tuple[str, Json, Json, Json]] = [
    ("min", 2, 2, None),
    ("min", 2, "2", None),
    ("max", 16, 15.5, None),
    ("max", 0.3, 0.3, None),
    ("max_step", 4, 8, 4),
    ("max_step", 4, 0, 4),
    ("max_step", 0.1, 0.3, 0.2),
    ("one_of", [7, 14], 7.0, None),
    ("one_of", ["a", "b"], "b", None),
    ("one_of", ["a", "b"], ["b", "a"], None),
    ("matches", "t3\\..*", "t3.micro", None),
    ("matches", "a|b", ["a", "b"], None),
    ("cidr_within", ["10.0.0.0/8"], [RULE], None),
    ("cidr_within", ["10.0.0.0/8"], None, None),
    ("ports", [443], [RULE], None),
    ("forbid_world", True, [RULE], None),
    ("forbid_world", False, "0.0.0.0/0", None),
    ("max_items", 2, [1, 2], None),
    ("max_items", 0, None, None),
    ("max_items", 1, {"a": 1}, None),
    ("condition", True, None, None),
]


@pytest.mark.parametrize(("name", "limit", "wanted", "before"), KEPT)
def test_a_bound_that_is_kept_has_no_breach(name: str, limit: Json, wanted: Json, before: Json) -> None:
    assert breach(bound(name, limit), wanted, before) == ""


BROKEN: list[tuple[str, Json, Json, Json, str]] = [
    ("min", 2, 1, None, "is under min = 2"),
    ("max", 16, 20, None, "is over max = 16"),
    ("max", 16, 10**400, None, "is over max = 16"),
    ("max", 16, True, None, "cannot be judged by max, because true is not a number"),
    ("max", 16, None, None, "cannot be judged by max, because null is not a number"),
    ("max", 16, "16 ", None, 'cannot be judged by max, because "16 " is not a number'),
    ("max", 16, math.nan, None, "cannot be judged by max, because nan is not a number"),
    ("max", 16, -math.inf, None, "is not a number"),
    ("min", 2, [3], None, "is not a number"),
    ("max_step", 4, 9, 4, "is more than max_step = 4 away from 4"),
    ("max_step", 4, -1, 4, "is more than max_step = 4 away from 4"),
    ("max_step", 4, 5, None, "because the value before the change is not known"),
    ("max_step", 4, 5, "many", "is not a number"),
    ("one_of", [7, 14], 8, None, "is not one of [7, 14]"),
    ("one_of", [1], True, None, "is not one of [1]"),
    ("one_of", ["a"], None, None, 'is not one of ["a"]'),
    ("one_of", ["a"], [], None, 'is not one of ["a"]'),
    ("one_of", ["a"], ["a", "c"], None, "is not one of"),
    ("matches", "a|b", "ab", None, 'does not match "a|b"'),
    ("matches", "a", "a\n", None, "does not match"),
    ("matches", "a", None, None, "does not match"),
    ("matches", "\\d+", 5, None, "does not match"),
    ("matches", ".*", "x" * 5000, None, "does not match"),
    ("matches", "a", ["a", "b"], None, "does not match"),
    (
        "cidr_within",
        ["10.0.0.0/8"],
        [{**RULE, "cidr_blocks": ["11.0.0.0/8"]}],
        None,
        "opens 11.0.0.0/8, which lies outside",
    ),
    ("cidr_within", ["10.0.0.0/8"], "anything", None, "cannot be judged by cidr_within"),
    ("ports", [443], [{**RULE, "from_port": 22}], None, "opens ports 22 to 443, beyond ports = [443]"),
    ("ports", [443], [{**RULE, "protocol": "-1"}], None, "opens every port and protocol"),
    ("forbid_world", True, [{**RULE, "cidr_blocks": ["0.0.0.0/0"]}], None, "open to the whole Internet"),
    ("forbid_world", True, [{**RULE, "prefix_list_ids": ["pl-1"]}], None, "cannot be judged by forbid_world"),
    ("max_items", 1, [1, 2], None, "has 2 items, more than max_items = 1"),
    ("max_items", 9, "text", None, "is not a list"),
    ("condition", False, None, None, "does not hold"),
    ("condition", "true", None, None, "does not hold"),
]


@pytest.mark.parametrize(("name", "limit", "wanted", "before", "expected"), BROKEN)
def test_a_broken_bound_says_how(name: str, limit: Json, wanted: Json, before: Json, expected: str) -> None:
    assert expected in breach(bound(name, limit), wanted, before)


@pytest.mark.parametrize("name", [*NAMES, "condition"])
@pytest.mark.parametrize("wanted", [None, 5, "x", [], {}])
def test_every_value_breaks_an_unknown_limit(name: str, wanted: Json) -> None:
    assert "cannot be evaluated: var.x has no value" in breach(
        bound(name, None, unknown="var.x has no value"), wanted, 5
    )


def test_a_new_resource_cannot_break_max_step() -> None:
    assert breach(bound("max_step", 1), 50, None, created=True) == ""


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|aa)+b", "(.*)(.*)(.*)(.*)=x"])
def test_no_pattern_takes_long(pattern: str) -> None:
    assert breach(bound("matches", pattern), "a" * 4096, None)


@pytest.mark.parametrize(
    ("bounds", "wanted", "before", "expected"),
    [
        ([("min", 2), ("max", 16)], 20, 4, 16),
        ([("min", 2), ("max", 16)], 1, 4, 2),
        ([("max", 16), ("max_step", 4)], 20, 4, 8),
        ([("max", 16), ("max_step", 4)], "20", 4, "8"),
        ([("max", 16.5)], 20, 4, 16),
        ([("max", 16.5)], 20.5, 4, 16.5),
        ([("min", 10), ("max_step", 4)], 3, 4, None),
        ([("max", 16), ("one_of", [4, 8, 32])], 20, 4, 8),
        ([("one_of", ["t3.micro", "m6i.large"])], "t3.mikro", None, "t3.micro"),
        ([("one_of", [7, 14, 30])], 20, None, 14),
        ([("max", 16)], None, 4, None),
        ([("max", 16)], "many", 4, None),
        ([("max", 16), ("matches", "a")], 20, 4, None),
        ([("max_step", 4)], 9, None, None),
        ([("ports", [443])], [{"from_port": 22}], None, None),
    ],
)  # fmt: skip
def test_the_nearest_legal_value_is_offered(
    bounds: list[tuple[str, Json]], wanted: Json, before: Json, expected: Json
) -> None:
    offered = nearest([bound(name, limit) for name, limit in bounds], wanted, before)

    assert offered == expected
    assert type(offered) is type(expected)


def test_no_value_is_offered_if_a_limit_is_unknown() -> None:
    assert nearest([bound("max", 16), bound("min", None, unknown="?")], 20, 4) is None


NUMBERS = st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6, allow_nan=False) | st.integers(-(10**30), 10**30)


@given(
    wanted=NUMBERS,
    before=NUMBERS | st.none(),
    lows=st.lists(NUMBERS, max_size=2),
    highs=st.lists(NUMBERS, max_size=2),
    steps=st.lists(NUMBERS.map(abs), max_size=2),
    created=st.booleans(),
)
def test_the_offered_value_is_the_nearest_legal_one(
    *, wanted: float, before: float | None, lows: list[float], highs: list[float], steps: list[float], created: bool
) -> None:
    bounds = [
        bound(name, each) for name, group in (("min", lows), ("max", highs), ("max_step", steps)) for each in group
    ]

    offered = nearest(bounds, wanted, before, created=created)

    def legal(value: Json) -> bool:
        return not any(breach(each, value, before, created=created) for each in bounds)

    if offered is None:
        # Integers between integer limits are exact, so there "none" must mean none.
        assert not legal(wanted)
        if before is not None and {type(each) for each in [wanted, before, *lows, *highs, *steps]} == {int}:
            reach = [] if created else steps
            low = max([*lows, *(before - step for step in reach)], default=wanted)
            high = min([*highs, *(before + step for step in reach)], default=wanted)
            assert low > high
    else:
        assert legal(offered)
        if legal(wanted):
            assert offered == wanted
        elif type(offered) is int:
            nearer = offered + (1 if offered < wanted else -1)
            assert not legal(nearer)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("min", "5"), ("max", True), ("max", None), ("max_step", -1), ("max_items", 1.5), ("max_items", -1),
        ("one_of", []), ("one_of", "abc"), ("matches", 5), ("matches", "("), ("matches", "(?=a)"),
        ("matches", "a)|(?:.*"), ("cidr_within", []), ("cidr_within", ["x"]), ("cidr_within", "10.0.0.0/8"),
        ("ports", []), ("ports", ["443"]), ("ports", [65536]), ("ports", [-1]), ("ports", [1.5]), ("ports", [True]),
        ("forbid_world", "yes"), ("condition", 1), ("condition", None),
    ],
)  # fmt: skip
def test_a_limit_of_the_wrong_kind_is_a_problem(name: str, limit: Json) -> None:
    assert limit_problem(name, limit)


@pytest.mark.parametrize(("name", "limit", "wanted", "before"), KEPT)
def test_the_limits_of_kept_bounds_are_no_problem(name: str, limit: Json, wanted: Json, before: Json) -> None:
    assert limit_problem(name, limit) == ""


def test_values_are_shown_as_in_hcl_and_cut() -> None:
    assert shown({"a": [1, True, None, "x"]}) == '{a = [1, true, null, "x"]}'
    assert len(shown("y" * 500)) < 110


def test_the_text_that_is_held_against_a_pattern_has_a_ceiling() -> None:
    assert breach(bound("matches", "a*"), ["a" * 4096] * 16, None) == ""
    assert "has more than the 65536 characters" in breach(bound("matches", "a*"), ["a" * 4096] * 17, None)


@pytest.mark.parametrize(
    ("name", "limit", "item"),
    [
        ("one_of", list(range(20)), 7),
        ("matches", "a.*", "ab"),
        ("cidr_within", ["10.0.0.0/8", "192.168.0.0/16"], "10.1.0.0/16"),
        ("forbid_world", True, "10.1.0.0/16"),
        ("ports", [80, 443, 8443], 443),
        ("max_items", 1, "x"),
        ("cidr_within", ["10.0.0.0/8"], {"cidr_blocks": ["10.1.0.0/16"], "ipv6_cidr_blocks": []}),
        ("ports", [443], {"protocol": "tcp", "from_port": 443, "to_port": 443}),
        ("ports", [443], {"protocol": "tcp", "from_port": 0, "to_port": 65535}),
    ],
)
def test_the_cost_of_a_bound_grows_with_the_value(name: str, limit: Json, item: Json) -> None:
    assert_linear(lambda size: lambda: breach(bound(name, limit), [item] * size, None), 200)
    assert_linear(lambda size: lambda: nearest([bound(name, limit)], [item] * size, None), 200)


@pytest.mark.parametrize(
    ("written", "value", "expected"),
    [
        ("t3\\..*", "t3.micro", True),
        ("a|b", "b", True),
        ("a|b", "ab", False),
        ("a", "a\n", False),
        ("a$", "a\n", False),
        ("(?m)^a$", "b\na", False),
        (".*", "a\nb", False),
        ("(?s).*", "a\nb", True),
        ("", "", True),
        ("", "a", False),
        ("[ä-ü]+", "äöü", True),
        (".", "\ud800", False),
        (".*", "x" * LONGEST_VALUE, True),
        (".*", "x" * (LONGEST_VALUE + 1), False),
    ],
)
def test_the_whole_value_must_match(written: str, value: str, expected: bool) -> None:
    assert matches_whole(written, value) is expected


REFUSED = {
    "not closed": "(a",
    "two patterns in one": "a)|(?:.*",
    "looks ahead": "(?=a)b",
    "looks back": "(?<=a)b",
    "refers back": r"(a)\1",
    "possessive": "a++b",
    "nested repetition": "((a{0,100}){0,100}){0,5}",
    "a long repetition": "a{100000}",
    "a repetition of many letters": r"\pL{300}",
    "a wide one": "|".join(f"(?:{letter}{{900}})" for letter in "abcdef"),
    "long": "a" * 3000,
    "half a surrogate pair": "\ud800",
}


@pytest.mark.parametrize("written", REFUSED.values(), ids=REFUSED.keys())
def test_what_could_take_long_is_no_pattern(written: str) -> None:
    with pytest.raises(NotAPattern):
        check_pattern(written)
    with pytest.raises(NotAPattern):
        matches_whole(written, "a")


SLOW_ELSEWHERE = [
    "(a+)+$",
    "(a|a)*b",
    "(a*)*b",
    "(.*)*" * 100 + "b",
    "(a|b|c)*" * 200,
    "(.*a.{20})*",
    "(a?){400}a{400}",
]


@pytest.mark.parametrize("written", SLOW_ELSEWHERE)
def test_a_pattern_that_backtracks_elsewhere_is_a_small_program_without_groups(written: str) -> None:
    """The time of a match is at most program times value, and both have a ceiling."""
    compiled = bounds._compiled(written)
    assert compiled.programsize <= bounds._LARGEST_PROGRAM
    assert compiled.options.never_capture
    assert matches_whole(written, "a" * (LONGEST_VALUE - 1) + "\n") is False


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("one_of", lambda size: [f"subnet-{each}" for each in range(size)]),
        ("one_of", lambda size: list(range(size))),
        ("cidr_within", lambda size: [f"10.{each // 256}.{each % 256}.0/24" for each in range(size)]),
    ],
    ids=["texts", "numbers", "networks"],
)
def test_a_long_list_in_a_contract_is_not_gone_through_for_each_item(
    name: str, limit: Callable[[int], list[Json]]
) -> None:
    def judged(size: int) -> Callable[[], object]:
        items = limit(size)
        return lambda: breach(bound(name, items), items[::-1], None)

    assert judged(400)() == ""
    assert_linear(judged, 100)


@pytest.mark.slow
def test_texts_are_compared_with_so_many_choices_only() -> None:
    choices: list[Json] = [f"{each:05d}" + "a" * 400 for each in range(2_000)]
    assert nearest([bound("one_of", choices)], "b" * 405, None) in choices
    assert nearest([bound("one_of", ["micro", *choices])], "mikro", None) == "micro"


SCALARS = st.one_of(
    st.integers(-3, 3),
    st.booleans(),
    st.none(),
    st.sampled_from([0.5, 1.0]),
    st.sampled_from(["1", "1.0", "true", "a"]),
)


@given(st.lists(SCALARS, min_size=1, max_size=4), st.lists(SCALARS, min_size=1, max_size=4))
def test_the_items_of_a_list_are_compared_as_values_are(allowed: list[Json], wanted: list[Json]) -> None:
    each = all(any(equal(item, choice) for choice in allowed) for item in wanted)
    whole = any(equal(wanted, choice) for choice in allowed)
    assert (breach(bound("one_of", allowed), wanted, None) == "") is (each or whole)


@given(
    st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 32)), min_size=1, max_size=5),
    st.integers(0, 2**32 - 1),
)
def test_a_network_lies_in_another_as_the_library_says(allowed: list[tuple[int, int]], address: int) -> None:
    wider = [ipaddress.ip_network((start, length), strict=False) for start, length in allowed]
    for length in (0, 8, 24, 32):
        inner = ipaddress.ip_network((address, length), strict=False)
        inside = any(inner.subnet_of(each) for each in wider)  # type: ignore[arg-type]  # both are of version 4
        limit: list[Json] = [str(each) for each in wider]
        assert (breach(bound("cidr_within", limit), str(inner), None) == "") is inside
