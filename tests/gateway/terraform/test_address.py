"""Addresses are parsed and written without loss."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.terraform.address import Address, fits, in_stack, parse_address, split_stack, written_key
from tests.kit.growth import assert_linear


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aws_sqs_queue.q", Address(resource_type="aws_sqs_queue", name="q")),
        ("aws_sqs_queue.q[3]", Address(resource_type="aws_sqs_queue", name="q", key=3)),
        ('aws_sqs_queue.q["a.b"]', Address(resource_type="aws_sqs_queue", name="q", key="a.b")),
        ("data.aws_ami.x", Address(resource_type="aws_ami", name="x", data=True)),
        (
            'module.jobs["a]"].module.in-ner[0].aws_sqs_queue.q',
            Address(modules=(("jobs", "a]"), ("in-ner", 0)), resource_type="aws_sqs_queue", name="q"),
        ),
    ],
)
def test_an_address_is_parsed(text: str, expected: Address) -> None:
    assert parse_address(text) == expected
    assert str(expected) == text


@pytest.mark.parametrize(
    "text",
    ["", "aws_sqs_queue", "aws_sqs_queue{name=x}", "aws_sqs_queue.q[", "a.b.c", "module.x", "a.b[x]", "a.b\n", "1a.b"],
)
def test_any_other_text_is_not_an_address(text: str) -> None:
    assert parse_address(text) is None


@given(st.none() | st.integers(0, 10**6) | st.text())
def test_every_key_survives(key: int | str | None) -> None:
    address = Address(modules=(("m", key),), resource_type="aws_x", name="y", key=key)

    assert parse_address(str(address)) == address


def test_blocks_and_bare_addresses_omit_keys() -> None:
    address = parse_address('module.a["x"].aws_sqs_queue.q[1]')
    assert address is not None

    assert str(address.block) == 'module.a["x"].aws_sqs_queue.q'
    assert str(address.bare) == "module.a.aws_sqs_queue.q"
    assert address.module == 'module.a["x"]'


def test_a_key_is_written_as_terraform_writes_it() -> None:
    assert written_key('say "${hi}"\n') == r'["say \"$${hi}\"\n"]'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prod:aws_sqs_queue.a", ("prod", "aws_sqs_queue.a")),
        ('dev-2:module.x["a:b"].aws_sqs_queue.a', ("dev-2", 'module.x["a:b"].aws_sqs_queue.a')),
        ("aws_sqs_queue.a", ("", "aws_sqs_queue.a")),
        ('aws_sqs_queue.a["x:y"]', ("", 'aws_sqs_queue.a["x:y"]')),
        ("aws_sqs_queue{url=https://sqs/1/x}", ("", "aws_sqs_queue{url=https://sqs/1/x}")),
        ("", ("", "")),
    ],
)
def test_an_address_may_name_its_stack(text: str, expected: tuple[str, str]) -> None:
    assert split_stack(text) == expected
    assert (in_stack(*expected) if expected[0] else text) == text


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*b", "*" * 50 + "b", "?*" * 20 + "b", "a*" * 20 + "b"])
def test_no_pattern_is_slow_for_a_long_name(pattern: str) -> None:
    def compared(size: int) -> None:
        assert not fits(pattern, "a" * size)

    assert_linear(lambda size: lambda: compared(size), 200)


@given(pattern=st.text("ab*?", max_size=8), text=st.text("ab", max_size=8))
def test_a_pattern_fits_what_fnmatchfits(pattern: str, text: str) -> None:
    assert fits(pattern, text) is fnmatch.fnmatchcase(text, pattern)
