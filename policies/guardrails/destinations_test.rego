package sentinel.rules.destinations_test

import data.sentinel.fixtures
import data.sentinel.rules.destinations

verdicts(kind, effect) := fixtures.verdicts(found) if {
	found := destinations.findings with input as fixtures.document(kind, [effect]) with data.data as fixtures.config
	fixtures.complete(found)
}

subscribed(endpoint) := fixtures.effect("aws_sns_topic_subscription", "create", "endpoint", endpoint)

test_data_for_strangers_is_held if {
	every endpoint in [
		"https://evil.example", "mallory@evil.example", "+15550100", "arn:aws:sqs:us-east-1:999999999999:q", "arn:aws:s3:::any",
		"arn:aws:lambda:us-east-1:999999999999:function:f",
	] {
		every kind in ["agent", "service", "human", "pipeline"] {
			verdicts(kind, subscribed(endpoint)) == {"SEN-T001 hold"}
		}
		verdicts("pipeline", fixtures.as_declared(subscribed(endpoint))) == set()
		verdicts("agent", fixtures.as_declared(subscribed(endpoint))) == {"SEN-T001 hold"}
	}
	filter := fixtures.effect("aws_cloudwatch_log_subscription_filter", "set", "destination_arn", "arn:aws:logs:us-east-1:999999999999:destination:x")
	verdicts("human", filter) == {"SEN-T001 hold"}
}

test_data_for_ourselves_passes if {
	every endpoint in ["arn:aws:sqs:us-east-1:123456789012:q", "arn:aws:lambda:us-east-1:123456789012:function:f", ""] {
		verdicts("human", subscribed(endpoint)) == set()
	}
	found := destinations.findings with input as fixtures.document("human", [subscribed("arn:aws:sqs:us-east-1:999999999999:q")])
		with data.data as fixtures.with_trusted("999999999999")
	count(found) == 0
}

key := "arn:aws:kms:us-east-1:999999999999:key/evil"

encrypted(arn) := [{"apply_server_side_encryption_by_default": [{"sse_algorithm": "aws:kms", "kms_master_key_id": arn}]}]

redrive(account) := json.marshal({"deadLetterTargetArn": concat(":", ["arn:aws:sqs:us-east-1", account, "dlq"]), "maxReceiveCount": 5})

test_what_strangers_own_is_held if {
	every effect in [
		fixtures.effect("aws_s3_bucket_server_side_encryption_configuration", "set", "rule", encrypted(key)),
		fixtures.effect("aws_s3_bucket_server_side_encryption_configuration", "create", "*", {"rule": encrypted(key)}),
		fixtures.effect("aws_cloudwatch_log_group", "set", "kms_key_id", key),
		fixtures.effect("aws_sqs_queue", "set", "redrive_policy", redrive("999999999999")),
		fixtures.effect("aws_sns_topic_subscription", "create", "redrive_policy", redrive("999999999999")),
		fixtures.effect("aws_secretsmanager_secret_rotation", "set", "rotation_lambda_arn", "arn:aws:lambda:us-east-1:999999999999:function:f"),
		fixtures.effect("aws_cloudwatch_metric_alarm", "set", "alarm_actions", ["arn:aws:sns:us-east-1:999999999999:t"]),
	] {
		verdicts("human", effect) == {"SEN-T002 hold"}
		verdicts("pipeline", effect) == {"SEN-T002 hold"}
		verdicts("pipeline", fixtures.as_declared(effect)) == set()
		verdicts("human", fixtures.but(effect, "before", effect.value)) == set()
	}
}

test_what_we_own_passes if {
	every effect in [
		fixtures.effect("aws_s3_bucket_server_side_encryption_configuration", "set", "rule", encrypted("alias/aws/s3")),
		fixtures.effect("aws_cloudwatch_log_group", "set", "kms_key_id", "1234abcd-12ab-34cd-56ef-1234567890ab"),
		fixtures.effect("aws_sqs_queue", "set", "redrive_policy", redrive("123456789012")),
		fixtures.effect("aws_sqs_queue", "set", "redrive_policy", ""),
		fixtures.effect("aws_cloudwatch_metric_alarm", "set", "alarm_actions", ["arn:aws:automate:us-east-1:ec2:recover"]),
		fixtures.effect("aws_lambda_function", "set", "description", key),
	] {
		verdicts("human", effect) == set()
	}
}
