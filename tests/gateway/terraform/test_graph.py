"""The dependency graph: direct before indirect dependants, the state's keyless dependencies within their module, and no explosion."""

from collections.abc import Callable

from gateway.terraform.address import parse_address
from gateway.terraform.graph import Graph
from gateway.terraform.state import Recorded
from tests.kit.growth import assert_linear, work


def resource(address: str, *dependencies: str) -> Recorded:
    where = parse_address(address)
    assert where is not None
    return Recorded(address=address, where=where, attributes={}, dependencies=dependencies)


CHAIN = (resource("t.a"), resource("t.b", "t.a"), resource("t.c", "t.a", "t.b"), resource("t.d", "t.a", "t.b", "t.c"))


def test_direct_dependants_come_first() -> None:
    assert Graph(CHAIN, [], {}).dependants("t.a") == (("t.b", True), ("t.c", False), ("t.d", False))
    assert Graph(CHAIN, [], {}).dependants("t.c") == (("t.d", True),)
    assert Graph(CHAIN, [], {}).dependants("t.d") == ()
    assert Graph(CHAIN, [], {}).dependants("t.unknown") == ()


def test_a_reference_in_the_code_makes_a_dependant_direct() -> None:
    graph = Graph(CHAIN, ["t.new"], {"t.d": {"t.a"}, "t.new": {"t.d"}})

    assert graph.dependants("t.a") == (("t.b", True), ("t.d", True), ("t.c", False), ("t.new", False))


def test_a_cycle_ends() -> None:
    graph = Graph([], ["t.a", "t.b"], {"t.a": {"t.b"}, "t.b": {"t.a"}})

    assert graph.dependants("t.a") == (("t.b", True),)


def test_instances_of_a_module_depend_on_their_own_only() -> None:
    recorded = [
        resource(f'module.m["{key}"].t.{name}', *(["module.m.t.a"] if name == "b" else []))
        for key in ("x", "y")
        for name in ("a", "b")
    ]

    assert Graph(recorded, [], {}).dependants('module.m["x"].t.a') == (('module.m["x"].t.b', True),)


def test_a_dependency_on_another_module_refers_to_all_its_instances() -> None:
    recorded = [resource("module.m[0].t.a"), resource("module.m[1].t.a"), resource("t.root", "module.m.t.a")]

    assert Graph(recorded, [], {}).dependants("module.m[1].t.a") == (("t.root", True),)


def test_every_instance_of_a_dependant_block_is_named() -> None:
    recorded = [resource("t.a"), resource("t.b[0]", "t.a"), resource("t.b[1]", "t.a")]

    assert Graph(recorded, ["t.b[0]", "t.b[1]"], {}).dependants("t.a") == (("t.b[0]", True), ("t.b[1]", True))
    assert Graph(recorded, [], {}).dependants("t.b[0]") == ()


def test_ten_thousand_resources_are_walked_quickly() -> None:
    recorded = [resource("t.hub")]
    for at in range(5000):
        recorded += [resource(f"t.near{at}", "t.hub"), resource(f"t.far{at}", "t.hub", f"t.near{at}")]
    graph = Graph(recorded, [], {})

    assert len(graph.dependants("t.hub")) == 10_000
    assert work(lambda: graph.dependants("t.hub")) < 10, "the second answer is remembered"


def test_the_walk_is_linear() -> None:
    def walk(size: int) -> Callable[[], object]:
        recorded = [resource("t.hub")]
        for at in range(size):
            recorded += [resource(f"t.near{at}", "t.hub"), resource(f"t.far{at}", "t.hub", f"t.near{at}")]
        return lambda: Graph(recorded, [], {}).dependants("t.hub")

    assert_linear(walk, 50)


def test_what_a_resource_depends_on_is_found_in_state_and_code() -> None:
    graph = Graph(CHAIN, ["t.new", "t.other"], {"t.new": {"t.c"}})

    assert graph.dependencies("t.new") == ("t.a", "t.b", "t.c")
    assert graph.dependencies("t.a") == ()
    assert graph.needs("t.new") == tuple(sorted({other for one, other in graph.edges() if one == "t.new"}))
    assert graph.needs("t.a") == ()
    assert Graph([], ["t.a", "t.b"], {"t.a": {"t.b"}, "t.b": {"t.a"}}).dependencies("t.a") == ("t.b",)
