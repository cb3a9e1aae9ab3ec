"""A large plan is read in another process, with the same result."""

import pytest

from gateway.doors.api.plan_reader import SMALL, answer_of, read_apart
from gateway.effects.plan_document import read_plan
from gateway.errors import Malformed
from tests.gateway.effects.test_plan_document import document, entry

CHANGE = entry("aws_db_instance.a", ["update"], {}, {"allocated_storage": 5, "password": "hunter2-plain"})
PAD = {"variables": {"pad": "x" * SMALL}}


async def test_a_large_plan_is_read_as_a_small_one_is() -> None:
    large = document(CHANGE, **PAD)
    assert len(large) > SMALL
    assert await read_apart(large) == read_plan(document(CHANGE)) == await read_apart(document(CHANGE))


async def test_why_a_large_plan_is_refused_is_told() -> None:
    with pytest.raises(Malformed, match="could not complete"):
        await read_apart(document(errored=True, **PAD))


async def test_a_process_that_fails_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(Malformed, match="could not be read; nothing of it was checked"):
        await read_apart(document(CHANGE, **PAD))


def test_the_answer_of_the_process_has_no_secret() -> None:
    assert "hunter2" not in str(answer_of(document(CHANGE)))
    assert answer_of(b"{")["code"] == "malformed"
