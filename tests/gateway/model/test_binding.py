"""An approval fits only the circumstances it was given in; fewer reasons to hold the call do not matter."""

from dataclasses import replace

import pytest

from gateway.model.binding import binding_from_json, binding_to_json, misfits
from tests.kit.bindings import BOUND

HELD = replace(BOUND, reasons=("r1", "r2"), contests=("clm_1", "clm_2"))


def test_it_reads_back() -> None:
    assert binding_from_json(binding_to_json(HELD)) == HELD
    assert binding_from_json(binding_to_json(None)) is None


@pytest.mark.parametrize("same", [HELD, replace(HELD, reasons=("r1",)), replace(HELD, contests=())])
def test_what_still_fits(same: object) -> None:
    assert isinstance(same, type(HELD))
    assert misfits(HELD, same) == ()


@pytest.mark.parametrize("part", ["caller", "motive", "effects", "code", "bundle", "approvers"])
def test_a_changed_part_is_named(part: str) -> None:
    [words] = misfits(HELD, replace(HELD, **{part: "another"}))  # type: ignore[arg-type]  # each part is a text
    assert words


@pytest.mark.parametrize("part", ["reasons", "contests"])
def test_a_new_reason_or_contest_does_not_fit(part: str) -> None:
    [words] = misfits(HELD, replace(HELD, **{part: (*getattr(HELD, part), "new")}))  # type: ignore[arg-type]  # both are tuples
    assert words


def test_an_approval_of_unknown_circumstances_fits_nothing() -> None:
    assert misfits(None, HELD)
