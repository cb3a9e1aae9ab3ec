package sentinel.rules.proxies_test

import data.sentinel.fixtures
import data.sentinel.rules.proxies

schedule := fixtures.effect("aws_scheduler_schedule", "set", "target", [{}])

undeclared := fixtures.but(schedule, "declared", false)

capacity := fixtures.but(fixtures.effect("aws_ecs_service", "set", "desired_count", 3), "by", "ecs:UpdateService")

foreign_capacity := fixtures.but(capacity, "declared", false)

inner(role) := {"service": "ecs", "operation": "UpdateService", "class": "mutation", "role": role, "understood": true}

by_proxy(kind, role, effects) := fixtures.verdicts(found) if {
	document := json.patch(fixtures.document(kind, effects), [{"op": "replace", "path": "/mutation/inner", "value": [inner(role)]}])
	found := proxies.findings with input as document
	fixtures.complete(found)
}

test_a_role_for_the_call_is_held_and_denied_to_agents if {
	every kind, wanted in {"agent": "SEN-P001 deny", "human": "SEN-P001 hold", "service": "SEN-P001 hold"} {
		by_proxy(kind, "arn:aws:iam::123456789012:role/r", [schedule, capacity]) == {wanted}
	}
}

test_a_pipeline_passes_where_the_code_declares_what_carries_the_call if {
	by_proxy("pipeline", "arn:aws:iam::123456789012:role/r", [schedule, capacity]) == set()
	by_proxy("pipeline", "arn:aws:iam::123456789012:role/r", [schedule, foreign_capacity]) == set()
	by_proxy("pipeline", "arn:aws:iam::123456789012:role/r", [undeclared, capacity]) == {"SEN-P001 hold"}
	by_proxy("pipeline", "arn:aws:iam::123456789012:role/r", [capacity]) == {"SEN-P001 hold"}
}

test_what_nobody_can_unpack_is_held_and_denied_to_agents if {
	every kind, wanted in {"agent": "SEN-P001 deny", "human": "SEN-P001 hold", "service": "SEN-P001 hold"} {
		by_proxy(kind, "rights that nobody can tell", [schedule]) == {wanted}
	}
	by_proxy("pipeline", "rights that nobody can tell", [schedule]) == set()
	by_proxy("pipeline", "rights that nobody can tell", [undeclared]) == {"SEN-P001 hold"}
	contains(proxies.message(inner("rights that nobody can tell")), "cannot be unpacked") with input as fixtures.document("human", [schedule])
}

test_without_a_role_it_passes if {
	every kind in ["agent", "human", "pipeline", "service"] {
		by_proxy(kind, "", [undeclared, capacity]) == set()
	}
}
