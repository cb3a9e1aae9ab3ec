package sentinel.rules.exposure_test

import data.sentinel.fixtures
import data.sentinel.rules.exposure

verdicts := {"agent": "deny", "service": "deny", "human": "hold", "pipeline": "hold"}

policy(type, statement) := fixtures.effect(type, "set", "policy", json.marshal({"Version": "2012-10-17", "Statement": statement}))

found(kind, effect) := findings if {
	findings := exposure.findings with input as fixtures.document(kind, [effect]) with data.data as fixtures.config
	fixtures.complete(findings)
}

everybody := {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"}

with_condition(condition) := object.union(everybody, {"Condition": condition})

test_a_policy_for_everybody if {
	every type in ["aws_s3_bucket_policy", "aws_sqs_queue", "aws_sns_topic_policy", "aws_kms_key", "aws_secretsmanager_secret_policy"] {
		every kind, verdict in verdicts {
			fixtures.verdicts(found(kind, policy(type, [everybody]))) == {concat(" ", ["SEN-X001", verdict])}
		}
	}
}

test_every_way_to_say_everybody if {
	every statement in [
		everybody,
		object.union(everybody, {"Principal": ["*"]}),
		object.union(everybody, {"Principal": {"AWS": "*"}}),
		object.union(everybody, {"Principal": {"AWS": ["arn:aws:iam::123456789012:root", "*"]}}),
		object.union(object.remove(everybody, ["Principal"]), {"NotPrincipal": {"AWS": "arn:aws:iam::123456789012:root"}}),
		with_condition({"Bool": {"aws:SecureTransport": "true"}}),
		with_condition({"StringNotEquals": {"aws:SourceAccount": "123456789012"}}),
		with_condition({"StringLike": {"aws:SourceArn": "*"}}),
		with_condition({"ArnLike": {"aws:SourceArn": ["arn:aws:sns:us-east-1:123456789012:x", "arn:*:s3:::x"]}}),
		with_condition({"StringEqualsIfExists": {"aws:SourceAccount": "123456789012"}}),
	] {
		"SEN-X001 deny" in fixtures.verdicts(found("agent", policy("aws_sqs_queue", statement)))
	}
}

test_narrow_policies_pass if {
	every statement in [
		object.union(everybody, {"Principal": {"AWS": "arn:aws:iam::123456789012:root"}}),
		object.union(everybody, {"Principal": {"Service": "sns.amazonaws.com"}}),
		object.union(everybody, {"Effect": "Deny"}),
		with_condition({"StringEquals": {"aws:SourceAccount": ["123456789012"]}}),
		with_condition({"ArnLike": {"AWS:SourceArn": "arn:aws:sns:us-east-1:123456789012:*"}}),
	] {
		count(found("agent", policy("aws_sqs_queue", statement))) == 0
	}
}

test_a_policy_that_cannot_be_read if {
	every value in ["no JSON", "[]", "{}", {"hmac_sha256": "x"}, 7, "{\"Statement\": [1]}"] {
		"SEN-X002 deny" in fixtures.verdicts(found("agent", fixtures.effect("aws_s3_bucket_policy", "create", "policy", value)))
	}
}

test_no_policy_lets_nobody_in if {
	every value in [null, ""] {
		count(found("agent", fixtures.effect("aws_sqs_queue", "set", "policy", value))) == 0
	}
}

test_policies_of_iam_are_left_to_identity if {
	count(found("human", policy("aws_iam_policy", [everybody]))) == 0
}

# Its policy is a name, or a block of its own.
test_what_is_no_document_lets_nobody_in if {
	every type in fixtures.config.exposure.no_documents {
		count(found("agent", fixtures.effect(type, "create", "policy", "reading"))) == 0
	}
	count(found("agent", fixtures.effect("aws_sqs_queue", "set", "policy", "reading"))) > 0
}

test_every_switch if {
	every attribute, open in fixtures.config.exposure.switches {
		every value in open {
			every kind, verdict in verdicts {
				said := fixtures.verdicts(found(kind, fixtures.effect("aws_example", "set", attribute, value)))
				said == {concat(" ", ["SEN-X003", verdict])}
			}
		}
	}
}

test_what_the_code_declares_passes_for_all_but_agents if {
	every effect in [
		fixtures.as_declared(policy("aws_s3_bucket_policy", [everybody])),
		fixtures.as_declared(fixtures.effect("aws_db_instance", "create", "publicly_accessible", true)),
	] {
		count(found("pipeline", effect)) == 0
		count(found("agent", effect)) == 1
	}
}

test_closing_passes if {
	every effect in [
		fixtures.effect("aws_db_instance", "set", "publicly_accessible", false),
		fixtures.effect("aws_s3_bucket_public_access_block", "set", "block_public_acls", true),
		fixtures.effect("aws_s3_bucket_acl", "set", "acl", "private"),
	] {
		count(found("agent", effect)) == 0
	}
}

test_conditions_that_narrow_nothing_by_a_wildcard if {
	every condition in [
		{"ArnLike": {"aws:SourceArn": "arn:aws:iam::*:*"}},
		{"StringLike": {"aws:PrincipalOrgID": "o-*"}},
		{"StringLike": {"aws:SourceAccount": "?*"}},
		{"StringLike": {"aws:SourceArn": "arn:aws:s3:::*"}},
		{"ArnLike": {"aws:SourceArn": "arn:aws:s3:::logs-*"}},
		{"ArnLike": {"aws:SourceArn": "arn:aws:s3:::our-logs"}},
		{"StringLike": {"aws:SourceVpce": "vpce-*"}},
		{"StringEquals": {"aws:PrincipalAccount": "${aws:SourceAccount}"}},
		{"StringEquals": {"aws:SourceVpc": "vpc-"}},
		{"ForAllValues:StringEquals": {"aws:PrincipalOrgPaths": "o-a1b2c3d4e5/*"}},
		{"StringEquals": {"aws:SourceAccount": 7}},
	] {
		fixtures.verdicts(found("human", policy("aws_s3_bucket_policy", with_condition(condition)))) == {"SEN-X001 hold"}
	}
	every condition in [
		{"StringEquals": {"aws:SourceAccount": "123456789012"}, "ArnLike": {"aws:SourceArn": "arn:aws:s3:::our-logs"}},
		{"StringEquals": {"aws:SourceAccount": "123456789012", "aws:SourceVpce": "vpce-0ddba11f"}},
		{"StringEquals": {"aws:SourceVpce": "vpce-0a1b2c3d"}},
		{"ForAnyValue:StringLike": {"aws:PrincipalOrgPaths": "o-a1b2c3d4e5/r-1/*"}},
	] {
		count(found("human", policy("aws_s3_bucket_policy", with_condition(condition)))) == 0
	}
}

by_service(condition) := object.union(with_condition(condition), {"Principal": {"Service": "sns.amazonaws.com"}})

provider := "arn:aws:iam::123456789012:oidc-provider/ci.example"

singled_out := object.union(
	with_condition({"StringEquals": {"ci.example:aud": "sts.amazonaws.com", "ci.example:sub": "repo:ours/app"}}),
	{"Principal": {"Federated": provider}},
)

test_what_is_ours_is_no_stranger if {
	every statement in [
		singled_out,
		by_service({"StringEquals": {"aws:SourceAccount": "123456789012"}}),
		by_service({"ArnLike": {"aws:SourceArn": "arn:aws:s3:::any-bucket"}}),
		by_service({"Bool": {"aws:SecureTransport": "true"}}),
	] {
		count(found("agent", policy("aws_sqs_queue", statement))) == 0
	}
}

test_other_accounts_are_strangers if {
	every statement in [
		object.union(everybody, {"Principal": {"AWS": "999999999999"}}),
		object.union(everybody, {"Principal": "arn:aws:iam::999999999999:role/x"}),
		object.union(everybody, {"Principal": {"CanonicalUser": "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be"}}),
		with_condition({"StringEquals": {"aws:SourceAccount": "999999999999"}}),
		with_condition({"ArnLike": {"aws:SourceArn": "arn:aws:sns:us-east-1:999999999999:*"}}),
		with_condition({"StringEquals": {"aws:PrincipalOrgID": "o-attacker123"}}),
		with_condition({"StringEquals": {"aws:PrincipalOrgID": ["o-a1b2c3d4e5", "o-attacker123"]}}),
		with_condition({"ForAnyValue:StringLike": {"aws:PrincipalOrgPaths": "o-attacker123/r-1/*"}}),
		with_condition({"StringEquals": {"aws:SourceVpce": "vpce-0ddba11f"}}),
		with_condition({"StringEquals": {"aws:SourceVpc": "vpc-0ddba11f"}}),
		by_service({"StringEquals": {"aws:SourceAccount": "999999999999"}}),
		by_service({"ArnLike": {"aws:SourceArn": "arn:aws:sns:us-east-1:999999999999:x"}}),
		object.union(everybody, {"Principal": {"Federated": "cognito-identity.amazonaws.com"}}),
		object.union(everybody, {"Principal": {"Federated": "arn:aws:iam::999999999999:saml-provider/x"}}),
		object.union(everybody, {"Principal": {"Federated": provider}}),
		object.union(singled_out, {"Principal": {"Federated": replace(provider, "123456789012", "999999999999")}}),
	] {
		every kind, verdict in verdicts {
			fixtures.verdicts(found(kind, policy("aws_s3_bucket_policy", statement))) == {concat(" ", ["SEN-X005", verdict])}
		}
	}
}

permission(principal) := fixtures.effect("aws_lambda_permission", "create", "principal", principal)

test_permissions_of_functions if {
	fixtures.verdicts(found("human", permission("999999999999"))) == {"SEN-X005 hold"}
	fixtures.verdicts(found("human", permission("arn:aws:iam::999999999999:root"))) == {"SEN-X005 hold"}
	fixtures.verdicts(found("human", permission("*"))) == {"SEN-X003 hold"}
	count(found("human", permission("123456789012"))) == 0
	count(found("pipeline", fixtures.as_declared(permission("999999999999")))) == 0
}

test_a_service_calls_on_behalf_of_somebody if {
	every principal in ["events.amazonaws.com", "events.amazonaws.com.cn"] {
		every kind in ["agent", "service", "human"] {
			fixtures.verdicts(found(kind, permission(principal))) == {"SEN-X007 hold"}
			every attribute in ["source_arn", "source_account", "principal_org_id"] {
				source := fixtures.effect("aws_lambda_permission", "create", attribute, "123456789012")
				among := exposure.findings with input as fixtures.document(kind, [permission(principal), source])
					with data.data as fixtures.config
				count(among) == 0
			}
		}
		fixtures.verdicts(found("human", permission(principal))) == {"SEN-X007 hold"}
		count(found("pipeline", permission(principal))) == 0
		count(found("human", fixtures.as_declared(permission(principal)))) == 0
		fixtures.verdicts(found("pipeline", fixtures.but(permission(principal), "declared", false))) == {"SEN-X007 hold"}
	}
}

acl(grantee) := fixtures.effect("aws_s3_bucket_acl", "create", "access_control_policy.grant", [{"grantee": [grantee], "permission": "FULL_CONTROL"}])

owned := fixtures.effect("aws_s3_bucket_acl", "create", "access_control_policy.owner.id", "me")

test_access_control_lists if {
	every grantee in [
		{"type": "Group", "uri": "http://acs.amazonaws.com/groups/global/AllUsers"},
		{"type": "Group", "uri": "http://acs.amazonaws.com/groups/global/AuthenticatedUsers"},
		{"type": "CanonicalUser", "id": "somebody"},
		{"type": "AmazonCustomerByEmail", "email_address": "x@example.com"},
	] {
		every kind, verdict in verdicts {
			findings := exposure.findings with input as fixtures.document(kind, [owned, acl(grantee)]) with data.data as fixtures.config
			fixtures.verdicts(findings) == {concat(" ", ["SEN-X006", verdict])}
			fixtures.complete(findings)
		}
	}
	every grantee in [{"type": "CanonicalUser", "id": "me"}, {"type": "Group", "uri": "http://acs.amazonaws.com/groups/s3/LogDelivery"}] {
		findings := exposure.findings with input as fixtures.document("agent", [owned, acl(grantee)]) with data.data as fixtures.config
		count(findings) == 0
	}
}

test_switches_inside_a_block if {
	every effect in [
		fixtures.effect("aws_instance", "set", "metadata_options", [{"http_tokens": "optional"}]),
		fixtures.effect("aws_instance", "create", "*", {"metadata_options": [{"http_tokens": "optional"}]}),
		fixtures.effect("aws_db_instance", "create", "*", {"publicly_accessible": true}),
	] {
		fixtures.verdicts(found("human", effect)) == {"SEN-X003 hold"}
	}
	count(found("human", fixtures.effect("aws_instance", "set", "metadata_options", [{"http_tokens": "required"}]))) == 0
}

test_removing_the_shield if {
	every kind, verdict in verdicts {
		shield := fixtures.effect("aws_s3_bucket_public_access_block", "delete", "*", null)
		fixtures.verdicts(found(kind, shield)) == {concat(" ", ["SEN-X004", verdict])}
	}
}

test_a_switch_is_found_wherever_it_stands if {
	block := [{"other": 1, "vpc_config": [{"endpoint_public_access": true}, {"x": "y"}]}]
	opening(fixtures.effect("aws_eks_cluster", "create", "settings", block)) == {"SEN-X003 hold"}
	opening(fixtures.effect("aws_eks_cluster", "create", "vpc_config.endpoint_public_access", true)) == {"SEN-X003 hold"}
	opening(fixtures.effect("aws_eks_cluster", "create", "*", {"vpc_config": [{"endpoint_public_access": true}]})) == {"SEN-X003 hold"}
	opening(fixtures.effect("aws_eks_cluster", "create", "vpc_config.endpoint_public_access", false)) == set()
}

test_a_name_that_means_it_for_one_type_only if {
	opening(fixtures.effect("aws_api_gateway_method", "create", "authorization", "NONE")) == {"SEN-X003 hold"}
	opening(fixtures.effect("aws_other", "create", "authorization", "NONE")) == set()
	opening(fixtures.effect("aws_ssm_document", "create", "permissions", {"account_ids": "All"})) == {"SEN-X003 hold"}
}

test_a_resource_policy_is_known_by_what_it_says if {
	everyone := json.marshal({"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "es:*", "Resource": "*"}]})
	opening(fixtures.effect("aws_opensearch_domain", "create", "access_policies", everyone)) == {"SEN-X001 hold"}
	opening(fixtures.effect("aws_any", "create", "settings", [{"text": everyone}])) == {"SEN-X001 hold"}
	opening(fixtures.effect("aws_any", "create", "text", "Principal Statement")) == set()
}

own := object.union(fixtures.config, {"exposure": object.union(fixtures.config.exposure, {
	"names": {"endpoint_public_access": [true]},
	"of_types": {"aws_api_gateway_method": {"authorization": ["NONE"]}, "aws_ssm_document": {"permissions.account_ids": ["All"]}},
})})

opening(effect) := fixtures.verdicts(found) if {
	found := exposure.findings with input as fixtures.document("pipeline", [fixtures.but(effect, "declared_value", null)]) with data.data as own
}

test_of_a_whole_resource_its_names_and_its_type_count if {
	every type, steps in {"aws_eks_cluster": ["vpc_config", "endpoint_public_access"], "aws_api_gateway_method": ["authorization"]} {
		whole := object.union(fixtures.effect(type, "set", "*", null), {"basis": "resource", "may_change": steps})
		exposure.concerned == {concat("", [type, ".x"])} with input as fixtures.document("human", [whole])
	}
}
