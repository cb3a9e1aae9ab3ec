package sentinel.rules.destinations_test

import data.sentinel.fixtures
import data.sentinel.rules.destinations

verdicts(kind, effect) := fixtures.verdicts(found) if {
	found := destinations.findings with input as fixtures.document(kind, [effect]) with data.data as fixtures.config
	fixtures.complete(found)
}

part(class, texts, accounts) := fixtures.with_part(fixtures.effect("aws_example", "set", "x", "y"), class, texts, accounts)

test_data_for_strangers_is_held if {
	every text in [
		"https://evil.example", "mallory@evil.example", "+15550100", "arn:aws:sqs:us-east-1:999999999999:q", "arn:aws:s3:::any",
		"203.0.113.9", "2001:db8::1", "evil.example", "evil.example.",
		"https://sqs.us-east-1.amazonaws.com/999999999999/q", "https://evil.example/123456789012",
	] {
		every kind in ["human", "pipeline"] {
			verdicts(kind, part("sends_to", [text], [])) == {"SEN-T001 hold"}
			verdicts(kind, part("sends_to", ["ours", text], [])) == {"SEN-T001 hold"}
			verdicts(kind, fixtures.as_declared(part("sends_to", [text], []))) == set()
		}
		every kind in ["agent", "service"] {
			"SEN-T001 hold" in verdicts(kind, part("sends_to", [text], []))
		}
		verdicts("agent", fixtures.as_named(part("sends_to", [text], []))) == {"SEN-T001 hold"}
	}
}

test_a_masked_destination_is_held_and_not_shown if {
	masked := part("sends_to", ["hmac_sha256:41b67c050d766eda"], [])
	verdicts("pipeline", masked) == {"SEN-T001 hold"}
	some finding in destinations.findings with input as fixtures.document("pipeline", [masked]) with data.data as fixtures.config
	finding.id == "SEN-T001"
	contains(finding.message, "passes on to a value that is kept secret (")
}

test_data_for_ourselves_passes if {
	every text in [
		"arn:aws:sqs:us-east-1:123456789012:q", "arn:aws:automate:us-east-1:ec2:recover", "arn:aws:scheduler:::aws-sdk:sqs:x",
		"https://sqs.us-east-1.amazonaws.com/123456789012/q", "10.0.0.9", "fd00::1", "a-name", "/aws/lambda/x.y", "tgw-1",
		"lb-1.us-east-1.elb.amazonaws.com", "$context.x.y",
	] {
		verdicts("human", part("sends_to", [text], [])) == set()
	}
	found := destinations.findings with input as fixtures.document("human", [part("sends_to", ["arn:aws:sqs:us-east-1:999999999999:q"], [])])
		with data.data as fixtures.with_trusted("999999999999")
	count(found) == 0
}

test_what_strangers_own_is_held if {
	every class in ["harmless", "owned_elsewhere", "runs_code", "grants"] {
		every kind in ["human", "pipeline"] {
			verdicts(kind, part(class, [], ["999999999999"])) == {"SEN-T002 hold"}
			verdicts(kind, fixtures.as_declared(part(class, [], ["999999999999"]))) == set()
			verdicts(kind, part(class, [], ["123456789012"])) == set()
		}
	}
	verdicts("agent", fixtures.as_named(part("owned_elsewhere", [], ["999999999999"]))) == {"SEN-T002 hold"}
}

test_who_acts_alone_changes_neither_friends_nor_places if {
	every class in ["grants", "owned_elsewhere", "sends_to"] {
		verdicts("agent", part(class, ["ours"], [])) == {"SEN-T003 hold"}
		verdicts("service", part(class, ["ours"], [])) == {"SEN-T003 hold"}
		verdicts("agent", fixtures.as_named(part(class, ["ours"], []))) == set()
		verdicts("agent", fixtures.as_declared(part(class, ["ours"], []))) == set()
		verdicts("service", fixtures.as_named(part(class, ["ours"], []))) == {"SEN-T003 hold"}
		verdicts("service", fixtures.as_declared(part(class, ["ours"], []))) == set()
		verdicts("human", part(class, ["ours"], [])) == set()
	}
	verdicts("agent", part("reach", [], [])) == set()
	verdicts("service", part("reach", [], [])) == {"SEN-T003 hold"}
	verdicts("agent", part("runs_code", [], [])) == set()
	verdicts("service", fixtures.but(part("grants", [], []), "resource_type", "aws_iam_role")) == set()
}

test_who_acts_alone_sets_nothing_that_nobody_classified if {
	every kind in ["agent", "service"] {
		verdicts(kind, part("unclassified", [], [])) == {"SEN-T004 hold"}
		verdicts(kind, fixtures.as_declared(part("unclassified", [], []))) == set()
	}
	verdicts("human", part("unclassified", [], [])) == set()
}

named(kind, accounts, effects) := fixtures.verdicts(found) if {
	document := json.patch(fixtures.document(kind, effects), [{"op": "replace", "path": "/mutation/accounts", "value": accounts}])
	found := destinations.findings with input as document with data.data as fixtures.config
	fixtures.complete(found)
}

whole := object.union(
	fixtures.effect("aws_example", "invoke", "*", null),
	{"basis": "resource", "may_be": ["owned_elsewhere", "sends_to"]},
)

test_a_stranger_in_any_parameter if {
	invoked := fixtures.effect("aws_example", "invoke", "*", null)
	named("agent", ["999999999999"], [invoked]) == {"SEN-T005 hold"}
	named("service", ["999999999999"], [invoked]) == {"SEN-T005 hold"}
	named("human", ["999999999999"], [invoked]) == set()
	named("human", ["999999999999"], [whole]) == {"SEN-T005 hold"}
	named("agent", ["123456789012"], [invoked]) == set()
}

test_what_a_touched_resource_may_be if {
	every kind in ["human", "agent"] {
		destinations.concerned == {"aws_example.x"} with input as fixtures.document(kind, [whole]) with data.data as fixtures.config
	}
	keyed := fixtures.but(whole, "may_be", ["owned_elsewhere"])
	destinations.concerned == set() with input as fixtures.document("human", [keyed]) with data.data as fixtures.config
}
