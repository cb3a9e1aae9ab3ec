package sentinel.guardrails_test

import data.sentinel.fixtures
import data.sentinel.guardrails

# Of the shipped guardrails: yours answer and find beside them.
test_every_package_answers if {
	document := fixtures.document("human", [fixtures.effect("aws_instance", "set", "instance_type", "t3.micro")])
	answer := guardrails.result with input as document with data.data as fixtures.config
	every name in ["comprehension", "data_loss", "disruption", "execution", "exposure", "identity", "motive", "network"] {
		answer.evaluated[name] == true
	}
}

test_findings_of_all_packages_are_joined if {
	document := json.patch(
		fixtures.document("agent", [fixtures.effect("aws_dynamodb_table", "delete", "*", null)]),
		[{"op": "replace", "path": "/motive", "value": null}],
	)
	answer := guardrails.result with input as document with data.data as fixtures.config
	{"SEN-D001 deny", "SEN-M001 deny"} - fixtures.verdicts(answer.findings) == set()
}
