"""What a time-boxed change looks like in an answer, and how long it may be extended."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core.errors import NotAllowed, PolicyUnavailable
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.time_box import TimeBoxPart, TimeBoxState
from gateway.core.ports import DueChange
from gateway.doors.api.time_boxes import TimeBoxes, part_to_json, with_ends
from tests.kit import nouns
from tests.kit.history import HOUR

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PART = nouns.time_box_part(address="aws_x.y", attribute="size", since=NOW, until=NOW + HOUR)
CEILING = Motive(intent=Intent.COST, motivation=Motivation.BUDGET, wanted_for=2 * HOUR)


class _Ledger:
    async def time_boxes(self, **_: Any) -> list[TimeBoxPart]:
        return [PART]

    async def extend_time_box(self, _mutation: str, until: datetime, **_more: Any) -> list[Any]:
        return [until]

    def __init__(self, before: Any = None) -> None:
        self.before = before
        self.left: list[Any] = []

    async def due_change(self, _now: datetime, mutation_id: str) -> DueChange | None:
        back = () if self.left else (PART,)
        return DueChange(mutation_id=mutation_id, stack="shop", until=NOW, back=back)

    async def declared_before(self, parts: Sequence[TimeBoxPart]) -> dict[tuple[str, str], Any]:
        return {part.key: self.before for part in parts}

    async def leave_time_box(
        self, mutation_id: str, left: Sequence[TimeBoxPart], state: TimeBoxState, **more: Any
    ) -> bool:
        self.left += [(mutation_id, [part.attribute for part in left], state, more["by"])]
        return True


class _Policy:
    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers

    async def ask(self, _entrypoint: str, _document: Any) -> Any:
        if self._numbers is None:
            raise PolicyUnavailable("It does not answer.")
        return {"layers": "", "numbers": self._numbers, "every": {}}


async def _refusal(_mutation: str, wanted: timedelta, _caller: Caller) -> str:
    return "Not so long." if wanted > 20 * HOUR else ""


def _boxes(numbers: Any) -> TimeBoxes:
    unused: Any = None
    made: Any = TimeBoxes(
        ledger=_Ledger(),  # type: ignore[arg-type]  # what is asked of it
        pipeline=unused,
        decoder=unused,
        resolver=unused,
        inventory=unused,
        declared=lambda _address, _attribute: 6,
        policy=_Policy(numbers),  # type: ignore[arg-type]  # what is asked of it
        longer=SimpleNamespace(refusal=_refusal),  # type: ignore[arg-type]  # what is asked of it
        clock=SimpleNamespace(now=lambda: NOW),
    )
    boxes: TimeBoxes = made
    return boxes


def _agent(**members: Any) -> Caller:
    return Caller(actor="agent", kind=ActorKind.AGENT, key_id="k", **members)


async def test_policy_limits_how_long_a_change_is_wanted_from_its_beginning() -> None:
    boxes = _boxes({"longest_claim_seconds": {"agent": 3 * 3600}})
    [until] = await boxes.extend(_agent(), "mut_1", 3 * HOUR, "")
    assert str(until) == str(NOW + 3 * HOUR)
    with pytest.raises(NotAllowed, match="3:00:00"):
        await boxes.extend(_agent(), "mut_1", 4 * HOUR, "")


async def test_what_the_policies_object_to_the_longer_time_is_said() -> None:
    boxes = _boxes({"longest_claim_seconds": {"agent": 90 * 3600}})
    with pytest.raises(NotAllowed, match=r"Not so long\."):
        await boxes.extend(_agent(), "mut_1", 21 * HOUR, "")


async def test_what_the_code_has_come_to_declare_stays() -> None:
    boxes = replace(_boxes({}), ledger=(ledger := _Ledger(before=4)))  # type: ignore[arg-type]  # what is asked of it
    service = replace(_agent(), kind=ActorKind.SERVICE, roles=("reconciler",))
    with pytest.raises(NotAllowed, match="nothing is put back"):
        await boxes.put_back(service, "mut_1")
    assert ledger.left == [("mut_1", ["size"], TimeBoxState.SUPERSEDED, "")]


@pytest.mark.parametrize(("before", "declared"), [(6, 6), (4, 4), (4, None)])
async def test_what_the_code_declared_already_or_does_not_is_put_back(before: Any, declared: Any) -> None:
    ledger: Any = _Ledger(before=before)
    boxes = replace(_boxes({}), ledger=ledger, declared=lambda _address, _attribute: declared)
    with pytest.raises(AttributeError):  # it goes on to ask for the call
        await boxes.put_back(replace(_agent(), kind=ActorKind.SERVICE, roles=("reconciler",)), "mut_1")
    assert not ledger.left


async def test_a_key_with_a_ceiling_extends_no_further() -> None:
    boxes = _boxes({"longest_claim_seconds": {"agent": 9 * 3600}})
    caller = _agent(motive=CEILING, motive_only=True)
    assert await boxes.extend(caller, "mut_1", 2 * HOUR, "")
    with pytest.raises(NotAllowed):
        await boxes.extend(caller, "mut_1", 3 * HOUR, "")


async def test_nobody_extends_where_the_policies_do_not_say_how_long() -> None:
    with pytest.raises(NotAllowed, match="do not say"):
        await _boxes(None).extend(_agent(), "mut_1", HOUR, "")


def test_a_claim_shows_when_its_change_goes_back() -> None:
    box = part_to_json(PART)
    assert (box["goes_back_to"], box["goes_back_at"], box["ended_by"]) == (4, "2026-03-01T01:00:00Z", None)
    claims = [{"mutation_id": "mut_1", "address": "aws_x.y", "attribute": name} for name in ("size", "other")]
    assert [claim["goes_back_at"] for claim in with_ends(claims, [box])] == ["2026-03-01T01:00:00Z", None]
