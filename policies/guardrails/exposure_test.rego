package sentinel.rules.exposure_test

import data.sentinel.fixtures
import data.sentinel.rules.exposure

verdicts := {"agent": "deny", "service": "deny", "human": "hold", "pipeline": "hold"}

policy(type, statement) := fixtures.effect(type, "set", "policy", json.marshal({"Version": "2012-10-17", "Statement": statement}))

found(kind, effect) := findings if {
	findings := exposure.findings with input as fixtures.document(kind, [effect])
	fixtures.complete(findings)
}

open_statement := {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"}

with_condition(condition) := object.union(open_statement, {"Condition": condition})

as_declared(effect) := json.patch(effect, [{"op": "replace", "path": "/declared_value", "value": effect.value}])

test_a_policy_for_everybody if {
	every type in ["aws_s3_bucket_policy", "aws_sqs_queue", "aws_sns_topic_policy", "aws_kms_key", "aws_secretsmanager_secret_policy"] {
		every kind, verdict in verdicts {
			fixtures.verdicts(found(kind, policy(type, [open_statement]))) == {concat(" ", ["SEN-X001", verdict])}
		}
	}
}

test_every_way_to_say_everybody if {
	every statement in [
		open_statement,
		object.union(open_statement, {"Principal": ["*"]}),
		object.union(open_statement, {"Principal": {"AWS": "*"}}),
		object.union(open_statement, {"Principal": {"AWS": ["arn:aws:iam::123456789012:root", "*"]}}),
		object.union(object.remove(open_statement, ["Principal"]), {"NotPrincipal": {"AWS": "arn:aws:iam::123456789012:root"}}),
		with_condition({"Bool": {"aws:SecureTransport": "true"}}),
		with_condition({"StringNotEquals": {"aws:SourceAccount": "123456789012"}}),
		with_condition({"StringLike": {"aws:SourceArn": "*"}}),
		with_condition({"ArnLike": {"aws:SourceArn": ["arn:aws:sns:us-east-1:123456789012:x", "arn:*:s3:::x"]}}),
		with_condition({"StringEqualsIfExists": {"aws:SourceAccount": "123456789012"}}),
	] {
		fixtures.verdicts(found("agent", policy("aws_sqs_queue", statement))) == {"SEN-X001 deny"}
	}
}

test_narrow_policies_pass if {
	every statement in [
		object.union(open_statement, {"Principal": {"AWS": "arn:aws:iam::123456789012:root"}}),
		object.union(open_statement, {"Principal": {"Service": "sns.amazonaws.com"}}),
		object.union(open_statement, {"Effect": "Deny"}),
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
	count(found("human", policy("aws_iam_policy", [open_statement]))) == 0
}

test_every_switch if {
	every switch in data.data.exposure.switches {
		every value in switch.open {
			every kind, verdict in verdicts {
				reported := fixtures.verdicts(found(kind, fixtures.effect("aws_example", "set", switch.attribute, value)))
				reported == {concat(" ", ["SEN-X003", verdict])}
			}
		}
	}
}

test_what_the_code_declares_passes_for_all_but_agents if {
	every effect in [
		as_declared(policy("aws_s3_bucket_policy", [open_statement])),
		as_declared(fixtures.effect("aws_db_instance", "create", "publicly_accessible", true)),
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

test_removing_the_shield if {
	every kind, verdict in verdicts {
		shield := fixtures.effect("aws_s3_bucket_public_access_block", "delete", "*", null)
		fixtures.verdicts(found(kind, shield)) == {concat(" ", ["SEN-X004", verdict])}
	}
}
