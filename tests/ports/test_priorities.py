"""Layers of priorities on both engines: the same numbers and decisions for each stack, and their revision in the record."""

import json
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.verdict import Verdict
from gateway.core.records.record import Stage
from gateway.core.settings import PolicySettings
from gateway.line.checks.arbitration import ArbitrationCheck
from gateway.line.checks.chain import CheckChain
from gateway.line.checks.priorities import priorities_of
from gateway.policy.bundle import Bundle, build
from gateway.policy.embedded import Embedded
from gateway.policy.opa_command import find_opa
from gateway.policy.opa_server import OpaServer
from gateway.policy.sources import read_sources, shipped
from tests.gateway.line.checks.test_arbitration import BUDGET, facts, mutation
from tests.kit.gate import Gate
from tests.kit.opa import opa_server

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
LAYERS = [
    {"name": "dev", "stacks": ["dev", "dev-*"], "priorities": {"intents": {"cost": 700}}},
    {"name": "strict", "stacks": ["payments"], "priorities": {"close_call": 999}},
]
HOLDER = Motive(intent=Intent.AVAILABILITY, motivation=Motivation.BUDGET)
"""Availability ranks 400 above cost in the base, and 100 below it in `dev`."""
CASES = [
    (("kafka",), "", Verdict.DENY, ()),
    (("dev",), "dev", Verdict.ALLOW, ("clm_1",)),
    (("dev-shop",), "dev", Verdict.ALLOW, ("clm_1",)),
    (("payments",), "strict", Verdict.HOLD, ()),
    (("dev", "kafka"), "", Verdict.DENY, ()),
]


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped policies with two layers."""
    return layered(tmp_path_factory.mktemp("layered") / "policies", LAYERS)


def layered(path: Path, layers: object) -> Path:
    """A copy of the shipped policies with these layers."""
    shutil.copytree(shipped(), path)
    data = path / "data" / "priorities.json"
    document = json.loads(data.read_text())
    document["priorities"]["layers"] = layers
    data.write_text(json.dumps(document))
    return path


@pytest.fixture(scope="module")
def bundle(policies: Path) -> Bundle:
    return build(read_sources(policies), tool())


def tool() -> Path:
    """Opa."""
    found = find_opa()
    assert found is not None
    return found


@pytest.fixture
async def embedded(bundle: Bundle) -> AsyncIterator[Embedded]:
    engine = Embedded(bundle, deadline_ms=10_000, memory_mb=64)
    yield engine
    await engine.close()


@pytest.fixture
def opa_url(policies: Path) -> Iterator[str]:
    with opa_server(policies) as url:
        yield url


@pytest.fixture
async def server(opa_url: str, bundle: Bundle) -> AsyncIterator[OpaServer]:
    made = OpaServer(opa_url, deadline_ms=10_000, bundle=bundle)
    await made.open()
    yield made
    await made.close()


@pytest.mark.slow
async def test_both_engines_rank_by_the_layers_of_the_stack(embedded: Embedded, server: OpaServer) -> None:
    revisions = set()
    for stacks, layers, verdict, supersedes in CASES:
        asked, known = (
            mutation("saver", ActorKind.AGENT, BUDGET),
            replace(facts(HOLDER), stacks=stacks, stack=stacks[0]),
        )
        for engine in (embedded, server):
            decision = await CheckChain([ArbitrationCheck(engine)]).decide(asked, known)
            assert (decision.verdict, decision.supersedes) == (verdict, supersedes), (stacks, engine)
            assert decision.priorities == (await priorities_of(engine, stacks)).revision
        here, there = await priorities_of(embedded, stacks), await priorities_of(server, stacks)
        assert (here, " ".join(here.layers)) == (there, layers)
        revisions.add(here.revision)
    assert len(revisions) == 3


def test_the_layer_decides_through_the_whole_line_and_is_recorded(tmp_path: Path) -> None:
    thrifty = {"name": "thrifty", "stacks": ["kafka"], "priorities": {"intents": {"cost": 700}}}
    policies = layered(tmp_path / "policies", [thrifty])
    group = "kafka-consumer-processor-asg"
    with Gate(directory=tmp_path, policy=PolicySettings(path=policies, green_tests=False, deadline_ms=10_000)) as gate:
        gate.client("autoscaling", "agent", ("availability", "budget")).set_desired_capacity(
            AutoScalingGroupName=group, DesiredCapacity=6
        )
        gate.client("autoscaling", "rival", ("cost", "budget")).set_desired_capacity(
            AutoScalingGroupName=group, DesiredCapacity=4
        )
        decided = gate.records(stage=Stage.DECIDED)
    # In the base, availability would have kept the attribute (see CASES).
    decision = decided[-1].body.members["decision"]
    assert isinstance(decision, dict)
    assert (decision["verdict"], len(decision["supersedes"])) == ("allow", 1)
    assert str(decision["priorities"]).startswith("thrifty@")


@pytest.mark.slow
def test_a_mistake_in_a_layer_is_not_built(tmp_path: Path) -> None:
    wrong = layered(tmp_path / "policies", [{"name": "dev", "stacks": ["dev"], "priorities": {"intents": {"cots": 1}}}])
    with pytest.raises(PolicyInvalid, match=r"data/priorities.json: layer 'dev': intents.cots: "):
        build(read_sources(wrong), tool())
