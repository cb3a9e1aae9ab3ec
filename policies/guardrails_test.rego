package sentinel.guardrails_test

import data.sentinel.fixtures
import data.sentinel.guardrails

test_every_package_answers if {
	document := fixtures.document("human", [fixtures.effect("aws_instance", "set", "instance_type", "t3.micro")])
	answer := guardrails.result with input as document
	answer.findings == set()
	answer.evaluated == {name: true |
		some name in ["comprehension", "data_loss", "disruption", "execution", "exposure", "identity", "motive", "network"]
	}
}

test_findings_of_all_packages_are_joined if {
	document := json.patch(
		fixtures.document("agent", [fixtures.effect("aws_dynamodb_table", "delete", "*", null)]),
		[{"op": "replace", "path": "/motive", "value": null}],
	)
	answer := guardrails.result with input as document
	fixtures.verdicts(answer.findings) == {"SEN-D001 deny", "SEN-M001 deny"}
}
