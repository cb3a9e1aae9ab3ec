"""One running gateway for each test module, in front of a scripted AWS."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from gateway.core.model.verdict import Mode

if TYPE_CHECKING:
    from tests.kit.gate import Gate


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Gate"]:
    """A gateway that enforces."""
    from tests.kit.gate import Gate  # noqa: PLC0415  a second, which a file of tests without a gateway need not wait

    with Gate(directory=tmp_path_factory.mktemp("gate")) as running:
        yield running


@pytest.fixture(scope="module")
def observing(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Gate"]:
    """A gateway that only observes."""
    from tests.kit.gate import Gate  # noqa: PLC0415  as above

    with Gate(directory=tmp_path_factory.mktemp("observing"), mode=Mode.OBSERVE) as running:
        yield running


@pytest.fixture
def clean(gate: "Gate") -> Iterator[None]:
    """No test meets calls, holds, claims or failures of AWS that another test left in the gateway of its file."""
    for kept in (gate.upstream.asked, gate.upstream.bodies, gate.upstream.headers):
        kept.clear()
    gate.upstream.behaviour = "ok"
    yield
    gate.upstream.behaviour = "ok"
    gate.release_all()
