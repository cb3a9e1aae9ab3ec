package sentinel.rules.identity_test

import data.sentinel.fixtures
import data.sentinel.rules.identity

allows(action, resource) := {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": resource}]}

role_policy(value) := fixtures.effect("aws_iam_role_policy", "set", "policy", value)

verdicts(kind, effects) := fixtures.verdicts(found) if {
	found := identity.findings with input as fixtures.document(kind, effects)
	fixtures.complete(found)
}

test_an_agent_writes_no_iam if {
	verdicts("agent", [role_policy(json.marshal(allows("sqs:SendMessage", "arn:aws:sqs:::q")))]) == {"SEN-I001 deny"}
	document := json.patch(fixtures.document("agent", []), [{"op": "replace", "path": "/mutation/service", "value": "iam"}])
	found := identity.findings with input as document
	fixtures.verdicts(found) == {"SEN-I001 deny"}
}

test_a_pipeline_builds_roles if {
	trust := {"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}}
	effects := [
		fixtures.effect("aws_iam_role", "create", "*", {"assume_role_policy": json.marshal(trust), "inline_policy": []}),
		role_policy(json.marshal(allows(["sqs:*"], "*"))),
		fixtures.effect("aws_iam_role_policy_attachment", "create", "*", {"policy_arn": "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"}),
	]
	verdicts("pipeline", effects) == set()
}

test_wildcards_are_held if {
	every policy in [
		allows("sqs:*", "*"),
		allows(["sqs:Get*", "sqs:SendMessage"], ["*"]),
		allows("*", "*"),
		{"Statement": [{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}]},
		{"Statement": [{"Effect": "Allow", "Action": "sqs:*", "NotResource": "arn:aws:sqs:::q"}]},
	] {
		verdicts("human", [role_policy(json.marshal(policy))]) == {"SEN-I002 hold"}
		verdicts("service", [role_policy(policy)]) == {"SEN-I002 hold"}
		verdicts("agent", [role_policy(policy)]) == {"SEN-I001 deny", "SEN-I002 deny"}
	}
}

test_everything_on_everything_is_held_for_a_pipeline_too if {
	every action in ["*", "*:*", ["sqs:SendMessage", "*"]] {
		verdicts("pipeline", [role_policy(allows(action, "*"))]) == {"SEN-I002 hold"}
	}
}

test_narrow_policies_pass if {
	every policy in [
		allows("sqs:SendMessage", "*"),
		allows("sqs:*", "arn:aws:sqs:::q"),
		{"Statement": [{"Effect": "Deny", "Action": "*", "Resource": "*"}]},
	] {
		verdicts("human", [role_policy(json.marshal(policy))]) == set()
	}
}

test_policies_inside_a_role_are_seen if {
	whole := {"inline_policy": [{"name": "x", "policy": json.marshal(allows("*", "*"))}]}
	verdicts("pipeline", [fixtures.effect("aws_iam_role", "create", "*", whole)]) == {"SEN-I002 hold"}
	verdicts("pipeline", [fixtures.effect("aws_iam_role", "set", "inline_policy", whole.inline_policy)]) == {"SEN-I002 hold"}
}

test_administrator_policies_are_held if {
	every arn in data.data.identity.admin_policies {
		verdicts("pipeline", [fixtures.effect("aws_iam_role_policy_attachment", "create", "policy_arn", arn)]) == {"SEN-I003 hold"}
		verdicts("human", [fixtures.effect("aws_iam_role", "create", "*", {"managed_policy_arns": [arn]})]) == {"SEN-I003 hold"}
	}
}

test_administrator_policies_are_seen_in_the_identity_too if {
	attached := object.union(
		fixtures.effect("aws_iam_role_policy_attachment", "create", "*", null),
		{"identity": {"role": "x", "policy_arn": "arn:aws:iam::aws:policy/AdministratorAccess"}},
	)
	verdicts("pipeline", [attached]) == {"SEN-I003 hold"}
}

test_another_version_of_a_policy_is_held if {
	document := json.patch(fixtures.document("human", []), [
		{"op": "replace", "path": "/mutation/service", "value": "iam"},
		{"op": "replace", "path": "/mutation/operation", "value": "SetDefaultPolicyVersion"},
	])
	found := identity.findings with input as document
	fixtures.verdicts(found) == {"SEN-I006 hold"}
	fixtures.complete(found)
}

test_what_cannot_be_read_is_held if {
	every value in ["not json", "[]", {}, 7, {"Statement": []}, {"Statement": ["x"]}, {"Statement": {"Effect": "Allow", "Action": [7], "Resource": "*"}}, {"Statement": [{"Effect": "Maybe"}]}] {
		verdicts("pipeline", [role_policy(value)]) == {"SEN-I004 hold"}
	}
}

test_a_role_for_the_whole_world_is_held if {
	every principal in ["*", {"AWS": "*"}, {"AWS": ["arn:aws:iam::111111111111:root", "*"]}] {
		trust := {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}]}
		verdicts("pipeline", [fixtures.effect("aws_iam_role", "set", "assume_role_policy", json.marshal(trust))]) == {"SEN-I005 hold"}
	}
}

test_a_condition_narrows_the_world if {
	trust := {"Statement": [{
		"Effect": "Allow",
		"Action": "sts:AssumeRole",
		"Principal": {"AWS": "*"},
		"Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-1"}},
	}]}
	verdicts("pipeline", [fixtures.effect("aws_iam_role", "set", "assume_role_policy", json.marshal(trust))]) == set()
}
