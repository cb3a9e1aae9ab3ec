package sentinel.lib.effects_test

import data.sentinel.fixtures
import data.sentinel.lib.effects

table := {"a": [1], "b.c": [2]}

given(attribute, value) := {[path, found] | some [path, found, _] in effects.given(fixtures.effect("aws_example", "set", attribute, value), table)}

test_the_same_attribute_in_every_form if {
	given("a", 7) == {["a", 7]}
	given("b.c", 7) == {["b.c", 7]}
	given("b", {"c": 7}) == {["b.c", 7]}
	given("b", [{"c": 7}, {"c": 8}, {"d": 9}, 10]) == {["b.c", 7], ["b.c", 8]}
	given("*", {"a": 7, "b": [{"c": 8}]}) == {["a", 7], ["b.c", 8]}
	given("a", [7]) == {["a", [7]]}
	given("z", 7) == set()
	given("b", 7) == set()
}

test_nothing_is_declared_by_silence if {
	effect := fixtures.effect("aws_example", "set", "a", null)
	not effects.is_declared(effect) with input as fixtures.document("pipeline", [effect])
	declared := fixtures.as_declared(fixtures.effect("aws_example", "set", "a", 1))
	effects.is_declared(declared) with input as fixtures.document("pipeline", [declared])
	not effects.is_declared(declared) with input as fixtures.document("agent", [declared])
}

test_few_of_many if {
	effects.few({"b", "a"}) == "a, b"
	effects.few({"f", "e", "d", "c", "b", "a"}) == "a and 5 more"
}
