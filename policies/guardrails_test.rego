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

whole(type, action, names) := json.patch(fixtures.effect(type, action, "*", null), [
	{"op": "replace", "path": "/basis", "value": "resource"},
	{"op": "replace", "path": "/may_change", "value": names},
	{"op": "replace", "path": "/may_be", "value": names},
])

blind(kind, effect) := {finding.message |
	some finding in guardrails.result.findings with input as fixtures.document(kind, [effect]) with data.data as fixtures.config
	finding.id == "SEN-C002"
}

test_a_touched_resource_is_held_where_a_guardrail_judges_its_attributes if {
	every case in [
		["aws_mq_broker", ["publicly_accessible"], "exposure"],
		["aws_sfn_state_machine", ["hands_role"], "identity"],
		["aws_ecr_repository", ["sends_to"], "destinations"],
		["aws_elasticache_replication_group", ["deletion_protection"], "data_loss"],
		["aws_security_group", ["name"], "network"],
		["aws_s3_bucket_lifecycle_configuration", [], "data_loss"],
		["aws_sns_topic_subscription", ["protocol", "sends_to"], "destinations"],
		["aws_ecr_registry", ["policy"], "exposure"],
		["aws_wafv2_web_acl", [], "exposure"],
		["aws_iam_role", [], "identity"],
	] {
		every kind in ["human", "agent", "pipeline", "service"] {
			found := blind(kind, whole(case[0], "invoke", case[1]))
			count(found) == 1
			every message in found {
				contains(message, case[2])
			}
		}
	}
}

# Your own packages may be concerned by it, the shipped ones are not.
test_a_touched_resource_without_such_attributes_passes if {
	every message in blind("human", whole("aws_athena_workgroup", "invoke", ["description", "tags"])) {
		every name in ["comprehension", "data_loss", "destinations", "disruption", "execution", "exposure", "identity", "motive", "network"] {
			not contains(message, name)
		}
	}
}

test_a_touched_resource_is_held_for_calls_on_identity_and_of_other_classes if {
	every change in [["/mutation/service", "iam", "identity"], ["/mutation/class", "execute", "execution"]] {
		document := json.patch(
			fixtures.document("human", [whole("aws_athena_workgroup", "invoke", [])]),
			[{"op": "replace", "path": change[0], "value": change[1]}],
		)
		findings := guardrails.result.findings with input as document with data.data as fixtures.config
		count([finding | some finding in findings; finding.id == "SEN-C002"; contains(finding.message, change[2])]) == 1
	}
}

test_a_call_whose_attributes_are_known_is_not_held_for_what_it_may_change if {
	effect := fixtures.effect("aws_mq_broker", "set", "publicly_accessible", false)
	count(blind("human", effect)) == 0
	count(blind("human", json.patch(effect, [{"op": "replace", "path": "/basis", "value": "derived"}]))) == 0
}

test_a_deletion_is_judged_as_such if {
	count(blind("human", whole("aws_mq_broker", "delete", ["publicly_accessible"]))) == 0
}

test_a_critical_resource_is_held if {
	effect := json.patch(whole("aws_athena_workgroup", "invoke", []), [{"op": "replace", "path": "/contract/critical", "value": true}])
	count(blind("human", effect)) == 1
}

test_a_guardrail_that_does_not_say_what_concerns_it_is_concerned_by_all if {
	document := json.patch(fixtures.document("human", [whole("aws_athena_workgroup", "invoke", [])]), [{"op": "add", "path": "/yours", "value": true}])
	findings := guardrails.result.findings with input as document with data.data as fixtures.config
	"SEN-C002" in {finding.id | some finding in findings}
}

test_a_touched_resource_with_a_budget_is_held if {
	config := json.patch(fixtures.config, [{"op": "add", "path": "/budgets", "value": {"sizes": {"instances": {"set": {"aws_ecs_service": ["desired_count"]}}}}}])
	findings := guardrails.result.findings with input as fixtures.document("human", [whole("aws_ecs_service", "invoke", [])]) with data.data as config
	"SEN-C002" in {finding.id | some finding in findings}
}
