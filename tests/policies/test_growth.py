"""The policies' work grows with the document and not with its square, counted in the instructions that the policies execute."""

import json
from typing import Any

import pytest
import wasmtime

from gateway.line.checks.arbitration import ENTRYPOINT as ARBITRATION
from gateway.line.checks.policy import ENTRYPOINT
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.sources import shipped
from gateway.policy.wasm_instance import WasmInstance
from tests.policies.growing import ARBITRATED, GROWING, STRICT, UNDER_STRICT_DATA, Make

pytestmark = pytest.mark.slow  # all of them together

PLENTY = 10**12
SMALL, LARGE = 200, 800
MOST = 1.6 * LARGE / SMALL
"""How much more work four times the size may be."""


class Counted:
    """A policy whose instructions are counted."""

    def __init__(self, **changed: dict[str, Any]) -> None:
        """`changed` are members of the policies' data, by the name of their file."""
        bundle = read_bundle(shipped() / SHIPPED)
        data = json.loads(bundle.data)
        data["data"] |= {name: {**data["data"][name], **members} for name, members in changed.items()}
        config = wasmtime.Config()
        config.epoch_interruption = True
        config.consume_fuel = True
        self._engine = wasmtime.Engine(config)
        module = wasmtime.Module(self._engine, bundle.wasm)
        self._instance = _Fueled(
            module, engine=self._engine, data=json.dumps(data).encode(), memory_bytes=512 * 2**20, ticks=10**6
        )

    def work(self, asked: dict[str, Any], entrypoint: str = ENTRYPOINT) -> int:
        """How many instructions a decision takes."""
        before = self._instance.fuel()
        self.answer(asked, entrypoint)
        return before - self._instance.fuel()

    def answer(self, asked: dict[str, Any], entrypoint: str = ENTRYPOINT) -> Any:
        """What is decided."""
        found = self._instance.evaluate(self._instance.entrypoints[entrypoint], json.dumps(asked).encode(), 10**6)
        return found[0]["result"]


class _Fueled(WasmInstance):
    def _link(self, module: wasmtime.Module) -> Any:
        self._store.set_fuel(PLENTY)
        return super()._link(module)

    def fuel(self) -> int:
        return int(self._store.get_fuel())


@pytest.fixture(scope="module")
def counted() -> Counted:
    return Counted()


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_work_grows_with_size(counted: Counted, make: Make) -> None:
    small, large = counted.work(make(SMALL)), counted.work(make(LARGE))
    assert large <= MOST * small, f"{large / small:.1f} times the work for {LARGE // SMALL} times the size"


@pytest.fixture(scope="module")
def strict() -> Counted:
    return Counted(**STRICT)


@pytest.mark.parametrize("make", UNDER_STRICT_DATA.values(), ids=UNDER_STRICT_DATA.keys())
def test_work_grows_with_size_under_strict_data(strict: Counted, make: Make) -> None:
    small, large = strict.work(make(SMALL)), strict.work(make(LARGE))
    assert large <= MOST * small, f"{large / small:.1f} times the work for {LARGE // SMALL} times the size"


def test_a_growing_document_reaches_every_rule(strict: Counted) -> None:
    """A rule that none of them reaches may take as long as it likes."""
    answers = [strict.answer(make(3)) for make in (*GROWING.values(), *UNDER_STRICT_DATA.values())]
    reached = {finding["id"] for answer in answers for finding in (*answer["findings"], *answer["warned"])}
    rules = read_bundle(shipped() / SHIPPED).manifest.rules
    assert (
        sorted(rule for rule, text in rules.items() if text.source.startswith("guardrails") and rule not in reached)
        == []
    )


@pytest.mark.parametrize("make", ARBITRATED.values(), ids=ARBITRATED.keys())
def test_the_work_of_arbitration_grows_with_size(counted: Counted, make: Make) -> None:
    small, large = counted.work(make(SMALL), ARBITRATION), counted.work(make(LARGE), ARBITRATION)
    assert large <= MOST * small, f"{large / small:.1f} times the work for {LARGE // SMALL} times the size"
