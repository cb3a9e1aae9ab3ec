"""Identifiers sort by time and do not repeat."""

import re
import time

from gateway.core.model.ids import digest_id, new_id


def test_an_id_names_its_kind_and_has_26_characters() -> None:
    assert re.fullmatch(r"mut_[0-9a-hjkmnp-tv-z]{26}", new_id("mut"))


def test_the_same_event_has_the_same_id() -> None:
    assert digest_id("prp", "a", "b") == digest_id("prp", "a", "b") != digest_id("prp", "ab", "")
    assert re.fullmatch(r"prp_[0-9a-hjkmnp-tv-z]{26}", digest_id("prp", "a"))


def test_ids_do_not_repeat() -> None:
    assert len({new_id("mut") for _ in range(1000)}) == 1000


def test_a_later_id_sorts_after_an_earlier_one() -> None:
    first = new_id("mut")
    time.sleep(0.002)
    assert first < new_id("mut")
