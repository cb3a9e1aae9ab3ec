package sentinel.rules.comprehension_test

import data.sentinel.fixtures
import data.sentinel.rules.comprehension

test_a_mutation_that_is_not_understood_is_held_for_every_kind if {
	every kind in ["human", "agent", "pipeline", "service"] {
		found := comprehension.findings with input as fixtures.document(kind, [])
		fixtures.verdicts(found) == {"SEN-C001 hold"}
		fixtures.complete(found)
	}
}

test_claimed_understanding_without_effects_is_held if {
	document := json.patch(fixtures.document("human", []), [{"op": "replace", "path": "/mutation/understood", "value": true}])
	found := comprehension.findings with input as document
	fixtures.verdicts(found) == {"SEN-C001 hold"}
}

test_a_mutation_that_is_understood_passes if {
	effects := [fixtures.effect("aws_instance", "set", "instance_type", "t3.micro")]
	found := comprehension.findings with input as fixtures.document("agent", effects)
	count(found) == 0
}
