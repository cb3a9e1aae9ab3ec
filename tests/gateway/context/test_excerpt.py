"""What is too long is cut, and digests are blanked before a part of one could be cut off."""

import pytest

from gateway.context.excerpt import LONGEST_TEXT, MOST_ITEMS, excerpt
from gateway.core.model.masking import Masker, holds_mask
from gateway.terraform.secrets import masked_text
from tests.kit.doubles import AGENT, HUMAN


@pytest.mark.parametrize("value", [None, 1, 2.5, True, "text", [1, "a"], {"a": {"b": [None]}}])
def test_what_is_short_stays(value: object) -> None:
    assert excerpt(value, HUMAN) == value  # type: ignore[arg-type]  # JSON


def test_a_long_text_says_how_long_it_was() -> None:
    assert excerpt("x" * 5_000, AGENT) == "x" * LONGEST_TEXT + "… (5000 characters)"


def test_a_long_list_and_a_large_map_say_how_many_more_they_have() -> None:
    assert excerpt(list(range(MOST_ITEMS + 7)), AGENT)[-1] == "… (7 more)"
    large = excerpt({str(number): number for number in range(MOST_ITEMS + 3)}, AGENT)
    assert (len(large), large["…"]) == (MOST_ITEMS + 1, "(3 more)")


def test_what_is_deep_ends() -> None:
    value: object = 1
    for _ in range(40):
        value = [value]
    assert "too deep" in str(excerpt(value, AGENT))  # type: ignore[arg-type]  # JSON


def test_an_agent_gets_no_digest_and_no_part_of_one() -> None:
    masker = Masker(key=b"k" * 32)
    mask = masker.mask("hunter2")
    assert holds_mask(excerpt(mask, HUMAN))
    assert excerpt(mask, HUMAN) != excerpt(mask, AGENT)
    text = masked_text("x" * (LONGEST_TEXT - 22) + " password=hunter2hunter2", masker)
    cut, digest = excerpt(text, AGENT), text.rpartition("hmac_sha256:")[2]
    assert digest[:4] not in cut
    assert digest[:4] in text
