package sentinel.rules.identity_test

import data.sentinel.fixtures
import data.sentinel.rules.identity

allows(action, resource) := {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": resource}]}

role_policy(value) := fixtures.effect("aws_iam_role_policy", "set", "policy", value)

verdicts(kind, effects) := fixtures.verdicts(found) if {
	found := identity.findings with input as fixtures.document(kind, effects) with data.data as fixtures.config
	fixtures.complete(found)
}

test_an_agent_writes_no_iam if {
	verdicts("agent", [role_policy(json.marshal(allows("sqs:SendMessage", "arn:aws:sqs:::q")))]) == {"SEN-I001 deny"}
	document := json.patch(fixtures.document("agent", []), [{"op": "replace", "path": "/mutation/service", "value": "iam"}])
	found := identity.findings with input as document with data.data as fixtures.config
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
	every arn in [
		"arn:aws:iam::aws:policy/AdministratorAccess",
		"arn:aws-cn:iam::aws:policy/AdministratorAccess",
		"arn:aws-us-gov:iam::aws:policy/PowerUserAccess",
		"arn:aws:iam::aws:policy/administratoraccess",
		"arn:aws:iam::aws:policy/AdministratorAccess-Amplify",
		"arn:aws:iam::aws:policy/IAMFullAccess",
		"arn:aws:iam::aws:policy/job-function/SystemAdministrator",
		"arn:aws:iam::aws:policy/AWSLambda_FullAccess",
	] {
		verdicts("pipeline", [fixtures.effect("aws_iam_role_policy_attachment", "create", "policy_arn", arn)]) == {"SEN-I003 hold"}
		verdicts("human", [fixtures.effect("aws_iam_role", "create", "*", {"managed_policy_arns": [arn]})]) == {"SEN-I003 hold"}
	}
	every arn in ["arn:aws:iam::aws:policy/ReadOnlyAccess", "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"] {
		verdicts("human", [fixtures.effect("aws_iam_role_policy_attachment", "create", "policy_arn", arn)]) == set()
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
	found := identity.findings with input as document with data.data as fixtures.config
	fixtures.verdicts(found) == {"SEN-I006 hold"}
	fixtures.complete(found)
}

test_what_cannot_be_read_is_held if {
	every value in ["not json", "[]", {}, 7, {"Statement": []}, {"Statement": ["x"]}, {"Statement": {"Effect": "Allow", "Action": [7], "Resource": "*"}}, {"Statement": [{"Effect": "Maybe"}]}] {
		verdicts("pipeline", [role_policy(value)]) == {"SEN-I004 hold"}
	}
}

test_a_role_for_the_whole_world_is_held if {
	every principal in ["*", {"AWS": "*"}, {"AWS": ["arn:aws:iam::123456789012:root", "*"]}] {
		trust := {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}]}
		verdicts("pipeline", [fixtures.effect("aws_iam_role", "set", "assume_role_policy", json.marshal(trust))]) == {"SEN-I005 hold"}
	}
}

test_a_condition_narrows_the_world if {
	trust := {"Statement": [{
		"Effect": "Allow",
		"Action": "sts:AssumeRole",
		"Principal": {"AWS": "*"},
		"Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}},
	}]}
	verdicts("pipeline", [fixtures.effect("aws_iam_role", "set", "assume_role_policy", json.marshal(trust))]) == set()
}

# Everything, by whatever spelling, in action and in resource.
test_wildcards_mean_what_they_match if {
	every action in ["*", "**", "?*", "*?", "*:*", "?*:?*", "i*:*", "*m:*", "iam:*", "IAM:Pass*", "iam:P?ssRole", "iam:*Role", "s*", "sts:*"] {
		verdicts("pipeline", [role_policy(json.marshal(allows(action, "*")))]) == {"SEN-I002 hold"}
	}
	every resource in [
		"*", "**", "?*", "arn:*", "arn:aws:*", "arn:aws:iam:*", "arn:aws:iam::*", "arn:aws:iam::*:*", "arn:aws:iam::123456789012:*",
		"arn:aws:iam::123456789012:role/*", "arn:aws:iam::*:role/?*", "arn:aws:iam::*:role*", "arn:aws:iam::123456789012:r*",
		"arn:*:*:*:*:*", "arn:aws:iam::123456789012:role/a*", "*role*", "arn:aws:i*::123456789012:*", "arn:aws:*:::role",
	] {
		verdicts("pipeline", [role_policy(json.marshal(allows("iam:PassRole", ["arn:aws:iam::123456789012:role/app", resource])))]) == {"SEN-I002 hold"}
	}
}

test_what_is_particular_passes if {
	every resource in [
		"arn:aws:iam::123456789012:role/app-*", "arn:aws:iam::123456789012:role/app", "arn:aws:iam::123456789012:role/service-role/*",
		"arn:aws:iam::*:user/${aws:username}", "arn:aws:iam::123456789012:role/app-${aws:PrincipalTag/team}",
	] {
		verdicts("pipeline", [role_policy(json.marshal(allows("iam:PassRole", resource)))]) == set()
	}
	every resource in [
		"arn:aws:iam::*:role/${aws:PrincipalTag/none, ''}*", "arn:aws:iam::123456789012:role/${aws:PrincipalTag/none}",
		"arn:aws:iam::123456789012:user/${aws:username}*", "${aws:PrincipalTag/x}", "arn:aws:*:::*/${aws:username}",
	] {
		verdicts("pipeline", [role_policy(json.marshal(allows("iam:PassRole", resource)))]) == {"SEN-I002 hold"}
	}
	every resource in ["arn:aws:s3:::logs-*", "arn:aws:s3:::logs/*", "arn:aws:sqs:us-east-1:123456789012:orders-*", "arn:aws:dynamodb:*:*:table/orders*"] {
		verdicts("human", [role_policy(json.marshal(allows("s3:*", resource)))]) == set()
	}
	every resource in ["arn:aws:s3:::*", "arn:aws:s3:::*/*", "arn:aws:sqs:*:*:*", "arn:aws:dynamodb:us-east-1:123456789012:table/*"] {
		verdicts("human", [role_policy(json.marshal(allows("s3:*", resource)))]) == {"SEN-I002 hold"}
	}
}

test_grants_are_judged_together if {
	harmless := {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "*"}
	pass := {"Effect": "Allow", "Action": ["iam:PassRole"], "Resource": "*"}
	run := {"Effect": "Allow", "Action": ["lambda:CreateFunction"], "Resource": "*"}
	every statements in [
		[harmless, pass, run],
		[harmless, {"Effect": "Allow", "Action": "iam:CreateAccessKey", "Resource": "*"}],
		[harmless, {"Effect": "Allow", "Action": ["sts:AssumeRole"], "Resource": "**"}],
		[{"Effect": "Allow", "NotAction": "sqs:*", "Resource": "*"}],
		[{"Effect": "Allow", "Action": "iam:PutRolePolicy", "NotResource": "arn:aws:iam::123456789012:role/admin"}],
		[{"Effect": "Deny", "Action": "*", "Resource": "*"}, pass],
	] {
		verdicts("pipeline", [role_policy(json.marshal({"Statement": statements}))]) == {"SEN-I002 hold"}
	}
	verdicts("pipeline", [role_policy({"Statement": [harmless, run]})]) == set()
}

test_each_escalating_action_is_held_for_a_pipeline if {
	every action in fixtures.config.identity.escalating {
		verdicts("pipeline", [role_policy(allows(upper(action), "*"))]) == {"SEN-I002 hold"}
	}
}

test_words_that_are_not_of_the_language_cannot_be_read if {
	statement := allows("sqs:SendMessage", "*").Statement[0]
	every document in [
		{"Statement": [statement], "statement": [statement]},
		{"Statement": [object.union(statement, {"action": "*"})]},
		{"Statement": [object.union(statement, {"NotAction": "*"})]},
		{"Statement": [object.union(statement, {"NotResource": "*"})]},
		{"Statement": [object.union(statement, {"Principal": "*"})]},
		{"Statement": [object.union(statement, {"Condition": "x"})]},
		{"Statement": [object.union(statement, {"Condition": {"StringEquals": "x"}})]},
		{"Statement": [object.remove(statement, ["Resource"])]},
		{"Statement": [object.union(statement, {"Action": []})]},
		{"Statement": [object.union(statement, {"Action": ""})]},
		{"Statement": [object.union(statement, {"Effect": "allow"})]},
	] {
		"SEN-I004 hold" in verdicts("pipeline", [role_policy(json.marshal(document))])
	}
	trust := {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}
	every broken in [
		object.remove(trust, ["Principal"]),
		fixtures.but(trust, "Principal", {}),
		fixtures.but(trust, "Principal", {"Aws": "x"}),
		fixtures.but(trust, "Principal", {"AWS": [7]}),
		fixtures.but(trust, "Principal", 7),
	] {
		trusts("pipeline", "create", broken) == {"SEN-I004 hold"}
	}
}

trusts(kind, action, statement) := verdicts(kind, [fixtures.effect("aws_iam_role", action, "assume_role_policy", json.marshal({"Statement": [statement]}))])

assumes(principal, condition) := {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal, "Condition": condition}

test_conditions_that_narrow_nothing if {
	every condition in [
		{},
		{"Bool": {"aws:MultiFactorAuthPresent": "true"}},
		{"StringNotEquals": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}},
		{"StringLike": {"aws:PrincipalOrgID": "o-*"}},
		{"StringEquals": {"aws:PrincipalOrgID": ["o-a1b2c3d4e5", "*"]}},
		{"StringEqualsIfExists": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}},
		{"ForAllValues:StringEquals": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}},
		{"StringLike": {"aws:PrincipalArn": "arn:aws:iam::*:*"}},
		{"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/app"}},
		{"StringLike": {"aws:PrincipalArn": "arn:aws:*:123456789012:role/app"}},
		{"StringLike": {"aws:PrincipalAccount": "?*"}},
		{"StringEquals": {"aws:PrincipalAccount": []}},
		{"StringEquals": {"aws:PrincipalAccount": "${aws:PrincipalAccount}"}},
		{"StringEquals": {"sts:ExternalId": "secret"}},
		{"IpAddress": {"aws:SourceIp": "0.0.0.0/0"}},
		{"Null": {"aws:PrincipalOrgID": "false"}},
	] {
		trusts("pipeline", "create", assumes({"AWS": "*"}, condition)) == {"SEN-I005 hold"}
	}
}

test_every_spelling_of_everybody if {
	every principal in ["*", {"AWS": "**"}, {"AWS": "arn:aws:iam::*:root"}, {"Service": "*"}, {"CanonicalUser": "*"}, {"AWS": ["?*"]}] {
		"SEN-I005 hold" in trusts("pipeline", "create", assumes(principal, {}))
	}
	except := {"Effect": "Allow", "Action": "sts:AssumeRole", "NotPrincipal": {"AWS": "arn:aws:iam::123456789012:root"}}
	trusts("pipeline", "create", except) == {"SEN-I005 hold"}
}

test_other_accounts_are_strangers if {
	every principal in ["999999999999", "arn:aws:iam::999999999999:root", "arn:aws:iam::999999999999:role/x", "AROAEXAMPLEEXAMPLE", "arn:aws:iam::cloudfront:user/x"] {
		trusts("pipeline", "create", assumes({"AWS": principal}, {"StringEquals": {"sts:ExternalId": "x"}})) == {"SEN-I008 hold"}
	}
	trusts("pipeline", "create", assumes("*", {"StringEquals": {"aws:PrincipalAccount": "999999999999"}})) == {"SEN-I008 hold"}
	trusts("pipeline", "create", assumes("*", {"StringEquals": {"aws:PrincipalAccount": "123456789012"}})) == set()
	trusts("pipeline", "create", assumes({"AWS": "arn:aws:iam::123456789012:root"}, {})) == set()
}

test_trusted_accounts_are_no_strangers if {
	document := fixtures.document("pipeline", [fixtures.effect("aws_iam_role", "create", "assume_role_policy", {"Statement": [assumes({"AWS": "999999999999"}, {})]})])
	found := identity.findings with input as document with data.data as fixtures.with_trusted("999999999999")
	count(found) == 0
}

provider := "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"

federated(condition) := {"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity", "Principal": {"Federated": provider}, "Condition": condition}

git(key) := concat(":", ["token.actions.githubusercontent.com", key])

test_federation_needs_subject_and_audience if {
	audience := {git("aud"): "sts.amazonaws.com"}
	every condition in [
		{},
		{"StringEquals": audience},
		{"StringEquals": {git("sub"): "repo:acme/app:ref:refs/heads/main"}},
		{"StringEquals": audience, "StringLike": {git("sub"): "*"}},
		{"StringEquals": audience, "StringLike": {git("sub"): "repo:*"}},
		{"StringEquals": audience, "StringLike": {git("sub"): "repo:acme*"}},
		{"StringEquals": audience, "StringLike": {git("sub"): "repo:*/app:*"}},
		{"StringEquals": audience, "StringLike": {git("sub"): ["repo:acme/app:*", "?*"]}},
		{"StringEquals": audience, "StringLikeIfExists": {git("sub"): "repo:acme/app:*"}},
		{"StringEquals": audience, "StringNotLike": {git("sub"): "repo:evil/*"}},
		{"StringEquals": audience, "StringEquals ": {git("sub"): ["repo:acme/app:*"]}},
		{"StringEquals": {"other:aud": "sts.amazonaws.com", "other:sub": "x"}},
		{"StringLike": {git("aud"): "*", git("sub"): "repo:acme/app:*"}},
	] {
		trusts("pipeline", "create", federated(condition)) == {"SEN-I009 hold"}
	}
	every subject in ["repo:acme/app:ref:refs/heads/main", "repo:acme/app:*", "repo:acme/*"] {
		trusts("pipeline", "create", federated({"StringEquals": audience, "StringLike": {git("sub"): subject}})) == set()
	}
	trusts("pipeline", "create", object.union(federated({}), {"Principal": {"Federated": "accounts.google.com"}})) == {"SEN-I009 hold"}
	trusts("pipeline", "create", object.union(federated({"StringEquals": {"accounts.google.com:aud": "1"}}), {"Principal": {"Federated": "accounts.google.com"}})) == set()
	saml := {"Principal": {"Federated": "arn:aws:iam::123456789012:saml-provider/corp"}}
	trusts("pipeline", "create", object.union(federated({}), saml)) == {"SEN-I009 hold"}
	trusts("pipeline", "create", object.union(federated({"StringEquals": {"SAML:aud": "https://signin.aws.amazon.com/saml"}}), saml)) == set()
	theirs := {"Principal": {"Federated": "arn:aws:iam::999999999999:saml-provider/corp"}}
	"SEN-I008 hold" in trusts("pipeline", "create", object.union(federated({}), theirs))
}

test_a_boundary_is_not_lifted_unseen if {
	lifted := fixtures.effect("aws_iam_role", "set", "permissions_boundary", null)
	verdicts("pipeline", [lifted]) == {"SEN-I007 hold"}
	verdicts("human", [lifted]) == {"SEN-I007 hold"}
	verdicts("human", [fixtures.but(lifted, "changes", false)]) == {"SEN-I007 hold"}
	replaced := fixtures.effect("aws_iam_user", "set", "permissions_boundary", "arn:aws:iam::123456789012:policy/wide")
	verdicts("pipeline", [replaced]) == {"SEN-I007 hold"}
	verdicts("pipeline", [fixtures.as_declared(replaced)]) == set()
}

undeclared(effect) := fixtures.but(effect, "declared", false)

test_handing_a_role_to_a_resource if {
	every effect in [
		fixtures.effect("aws_lambda_function", "create", "role", "arn:aws:iam::123456789012:role/admin"),
		fixtures.with_part(fixtures.effect("aws_instance", "set", "iam_instance_profile", "admin"), "hands_role", [], []),
		fixtures.with_part(fixtures.effect("aws_launch_template", "create", "iam_instance_profile.name", "admin"), "hands_role", [], []),
		fixtures.with_part(fixtures.effect("aws_ecs_task_definition", "create", "task_role_arn", "arn:aws:iam::123456789012:role/admin"), "hands_role", [], []),
		fixtures.effect("aws_iam_instance_profile", "set", "role", "admin"),
		fixtures.effect("aws_iam_role_policy_attachment", "create", "policy_arn", "arn:aws:iam::123456789012:policy/unseen"),
	] {
		held := {concat(" ", [id, "hold"]) | some id in ["SEN-I010", "SEN-I011"]}
		count(verdicts("human", [effect]) & held) == 1
		count(verdicts("service", [effect]) & held) == 1
		count(verdicts("pipeline", [undeclared(effect)]) & held) == 1
		verdicts("pipeline", [effect]) == set()
		verdicts("human", [fixtures.as_declared(effect)]) == set()
		count(verdicts("agent", [effect]) & {"SEN-I010 deny", "SEN-I011 deny"}) == 1
	}
	verdicts("human", [fixtures.effect("aws_iam_role_policy", "create", "role", "app")]) == set()
	verdicts("human", [fixtures.effect("aws_instance", "set", "iam_instance_profile", null)]) == set()
}

test_others_assume_an_existing_role if {
	own := assumes({"AWS": "arn:aws:iam::123456789012:role/x"}, {})
	trusts("human", "set", own) == {"SEN-I012 hold"}
	trusts("human", "create", own) == set()
	trusts("pipeline", "set", own) == set()
}

detached(arn) := fixtures.but(
	fixtures.effect("aws_iam_role_policy_attachment", "delete", "*", null),
	"identity", {"role": "r", "policy_arn": arn},
)

test_what_keeps_an_identity_small_is_not_taken_away if {
	every effect in [
		detached("arn:aws:iam::aws:policy/AWSDenyAll"),
		detached("arn:aws:iam::aws:policy/AWSCompromisedKeyQuarantineV3"),
	] {
		verdicts("human", [effect]) == {"SEN-I013 hold"}
		verdicts("pipeline", [effect]) == {"SEN-I013 hold"}
	}
	every effect in [
		detached("arn:aws:iam::123456789012:policy/boundary"),
		fixtures.effect("aws_iam_role_policy", "delete", "*", null),
	] {
		verdicts("human", [effect]) == {"SEN-I013 hold"}
		verdicts("pipeline", [effect]) == set()
		verdicts("pipeline", [fixtures.but(effect, "declared", false)]) == {"SEN-I013 hold"}
	}
	verdicts("human", [detached("arn:aws:iam::aws:policy/ReadOnlyAccess")]) == set()
}

deny_deletion := {"Effect": "Deny", "Action": "s3:DeleteObject", "Resource": "*"}

rewritten(statements) := fixtures.but(
	fixtures.effect("aws_iam_role_policy", "set", "policy", json.marshal({"Statement": statements})),
	"before", json.marshal({"Statement": [read_logs, deny_deletion]}),
)

read_logs := {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::logs/*"}

test_a_statement_that_denies_stays if {
	verdicts("human", [rewritten([read_logs])]) == {"SEN-I013 hold"}
	verdicts("human", [rewritten([deny_deletion])]) == set()
	verdicts("human", [fixtures.as_declared(rewritten([read_logs]))]) == set()
	verdicts("pipeline", [rewritten([read_logs])]) == set()
}

test_a_role_is_known_by_its_arn_in_an_attribute_of_roles if {
	arn := "arn:aws:iam::123456789012:role/r"
	held := {"SEN-I010 hold"}
	verdicts("human", [fixtures.effect("aws_amplify_app", "create", "iam_service_role_arn", arn)]) == held
	verdicts("human", [fixtures.effect("aws_any", "create", "settings", [{"access_role": arn}])]) == held
	verdicts("human", [fixtures.effect("aws_any", "create", "environment", [{"variables": {"ROLE_ARN": arn}}])]) == set()
	verdicts("human", [fixtures.effect("aws_any", "create", "iam_service_role_arn", "some-text")]) == set()
}

test_a_credential_is_made_by_nobody_alone if {
	every effect in [
		fixtures.effect("aws_iam_user_login_profile", "create", "*", null),
		fixtures.effect("aws_iam_user_login_profile", "set", "password_reset_required", false),
		fixtures.effect("aws_iam_user_ssh_key", "create", "public_key", "ssh-rsa AAAA"),
		fixtures.as_declared(fixtures.effect("aws_iam_user_ssh_key", "set", "status", "Active")),
		fixtures.effect("aws_iam_access_key", "create", "*", null),
	] {
		every kind in ["human", "pipeline", "service"] {
			verdicts(kind, [effect]) == {"SEN-I014 hold"}
		}
		verdicts("agent", [effect]) == {"SEN-I001 deny", "SEN-I014 deny"}
	}
	every effect in [
		fixtures.effect("aws_iam_user_ssh_key", "set", "status", "Inactive"),
		fixtures.effect("aws_iam_virtual_mfa_device", "set", "tags.team", "x"),
		fixtures.effect("aws_iam_user_login_profile", "delete", "*", null),
		fixtures.effect("aws_iam_user", "create", "*", null),
	] {
		verdicts("pipeline", [effect]) == set()
	}
}
