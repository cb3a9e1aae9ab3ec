package sentinel.rules.data_loss_test

import data.sentinel.fixtures
import data.sentinel.rules.data_loss

verdicts := {"agent": "deny", "service": "deny", "human": "hold", "pipeline": "hold"}

test_deleting_each_kind_of_store if {
	every type in fixtures.config.data_loss.stores {
		every kind, verdict in verdicts {
			found := data_loss.findings with input as fixtures.document(kind, [fixtures.effect(type, "delete", "*", null)]) with data.data as fixtures.config
			fixtures.verdicts(found) == {concat(" ", ["SEN-D001", verdict])}
			fixtures.complete(found)
		}
	}
}

test_deleting_another_resource_passes if {
	found := data_loss.findings with input as fixtures.document("agent", [fixtures.effect("aws_sns_topic", "delete", "*", null)]) with data.data as fixtures.config
	count(found) == 0
}

test_creating_a_store_passes if {
	found := data_loss.findings with input as fixtures.document("agent", [fixtures.effect("aws_s3_bucket", "create", "*", {})]) with data.data as fixtures.config
	count(found) == 0
}

test_removing_protection if {
	effect := fixtures.effect("aws_dynamodb_table", "set", "deletion_protection_enabled", false)
	every kind, verdict in verdicts {
		found := data_loss.findings with input as fixtures.document(kind, [effect]) with data.data as fixtures.config
		fixtures.verdicts(found) == {concat(" ", ["SEN-D002", verdict])}
		fixtures.complete(found)
	}
}

test_removing_protection_as_the_code_declares if {
	effect := json.patch(
		fixtures.effect("aws_db_instance", "set", "deletion_protection", false),
		[{"op": "replace", "path": "/declared_value", "value": false}],
	)
	by_pipeline := data_loss.findings with input as fixtures.document("pipeline", [effect]) with data.data as fixtures.config
	count(by_pipeline) == 0
	by_agent := data_loss.findings with input as fixtures.document("agent", [effect]) with data.data as fixtures.config
	fixtures.verdicts(by_agent) == {"SEN-D002 deny"}
}

test_keeping_or_adding_protection_passes if {
	unchanged := json.patch(
		fixtures.effect("aws_db_instance", "set", "deletion_protection", false),
		[{"op": "replace", "path": "/changes", "value": false}],
	)
	every effect in [unchanged, fixtures.effect("aws_db_instance", "set", "deletion_protection", true)] {
		found := data_loss.findings with input as fixtures.document("agent", [effect]) with data.data as fixtures.config
		count(found) == 0
	}
}

test_destroying_data_itself if {
	every name in fixtures.config.data_loss.destructive {
		[service, operation] := split(name, ":")
		every kind, wanted in {"agent": {"SEN-D003 hold"}, "service": {"SEN-D003 hold"}, "human": set(), "pipeline": set()} {
			document := json.patch(fixtures.document(kind, [fixtures.effect("aws_example", "invoke", "*", null)]), [
				{"op": "replace", "path": "/mutation/service", "value": service},
				{"op": "replace", "path": "/mutation/operation", "value": operation},
			])
			found := data_loss.findings with input as document with data.data as fixtures.config
			fixtures.verdicts(found) == wanted
			fixtures.complete(found)
		}
	}
}

reported(kind, effects) := fixtures.verdicts(found) if {
	found := data_loss.findings with input as fixtures.document(kind, effects) with data.data as fixtures.config
	fixtures.complete(found)
}

test_protections_inside_a_block if {
	every effect in [
		fixtures.effect("aws_dynamodb_table", "set", "ttl.enabled", true),
		fixtures.effect("aws_dynamodb_table", "set", "ttl", [{"enabled": true, "attribute_name": "x"}]),
		fixtures.effect("aws_dynamodb_table", "set", "ttl", {"enabled": true}),
		fixtures.effect("aws_dynamodb_table", "set", "*", {"ttl": [{"enabled": true}]}),
		fixtures.effect("aws_dynamodb_table", "create", "ttl.enabled", true),
		fixtures.effect("aws_dynamodb_table", "set", "point_in_time_recovery", [{"enabled": false}]),
		fixtures.effect("aws_s3_bucket_versioning", "set", "versioning_configuration", [{"status": "Suspended"}]),
		fixtures.effect("aws_kms_key", "set", "enable_key_rotation", false),
	] {
		every kind, verdict in verdicts {
			reported(kind, [effect]) == {concat(" ", ["SEN-D002", verdict])}
		}
		reported("pipeline", [fixtures.as_declared(effect)]) == set()
	}
	reported("agent", [fixtures.effect("aws_dynamodb_table", "set", "ttl", [{"enabled": false}])]) == set()
	reported("human", [fixtures.effect("aws_db_instance", "create", "deletion_protection", false)]) == set()
}

test_a_put_may_meet_what_exists if {
	put := fixtures.effect("aws_s3_bucket_versioning", "create", "versioning_configuration.status", "Suspended")
	reported("pipeline", [put]) == set()
	reported("pipeline", [fixtures.but(put, "upserted", true)]) == {"SEN-D002 hold"}
	reported("pipeline", [fixtures.as_declared(fixtures.but(put, "upserted", true))]) == set()
}

test_what_is_kept_too_short if {
	every effect in [
		fixtures.effect("aws_db_instance", "set", "backup_retention_period", 1),
		fixtures.effect("aws_db_instance", "set", "backup_retention_period", 0),
		fixtures.effect("aws_db_instance", "create", "backup_retention_period", 6),
		fixtures.effect("aws_rds_cluster", "set", "backup_retention_period", -1),
		fixtures.effect("aws_rds_cluster", "set", "backup_retention_period", "1"),
		fixtures.effect("aws_cloudwatch_log_group", "set", "retention_in_days", 1),
		fixtures.effect("aws_sqs_queue", "set", "message_retention_seconds", 60),
		fixtures.but(fixtures.effect("aws_db_instance", "set", "backup_retention_period", 1), "before", 35),
	] {
		every kind, verdict in verdicts {
			concat(" ", ["SEN-D004", verdict]) in reported(kind, [effect])
		}
		reported("pipeline", [fixtures.as_declared(effect)]) == set()
	}
	every effect in [
		fixtures.effect("aws_db_instance", "set", "backup_retention_period", 7),
		fixtures.but(fixtures.effect("aws_db_instance", "set", "backup_retention_period", 3), "before", 1),
		fixtures.effect("aws_cloudwatch_log_group", "set", "retention_in_days", 0),
		fixtures.effect("aws_db_instance", "create", "backup_retention_period", null),
	] {
		reported("agent", [effect]) == set()
	}
}

lifecycle(rules) := fixtures.effect("aws_s3_bucket_lifecycle_configuration", "create", "rule", rules)

test_a_lifecycle_that_expires_everything if {
	on := {"id": "x", "status": "Enabled", "expiration": [{"days": 1}]}
	every changed in [
		{},
		{"filter": []},
		{"filter": [{}]},
		{"filter": [{"prefix": ""}]},
		{"filter": [{"prefix": "a"}]},
		{"filter": [{"object_size_greater_than": 0}]},
		{"filter": [{"and": [{"prefix": "", "object_size_greater_than": 1}]}]},
		{"prefix": ""},
		{"expiration": [{"date": "2026-01-01T00:00:00Z"}]},
		{"expiration": [], "noncurrent_version_expiration": [{"noncurrent_days": 1}]},
		{"status": "enabled"},
	] {
		every kind, verdict in verdicts {
			reported(kind, [lifecycle([object.union(on, changed)])]) == {concat(" ", ["SEN-D005", verdict])}
		}
	}
	every changed in [
		{"status": "Disabled"},
		{"expiration": []},
		{"expiration": [{"expired_object_delete_marker": true}]},
		{"filter": [{"prefix": "logs/"}]},
		{"filter": [{"tag": [{"key": "a", "value": "b"}]}]},
		{"filter": [{"and": [{"prefix": "", "tags": {"a": "b"}}]}]},
		{"prefix": "tmp/"},
	] {
		reported("agent", [lifecycle([object.union(on, changed)])]) == set()
	}
	reported("human", [fixtures.but(lifecycle([on]), "before", [on])]) == set()
	reported("human", [lifecycle("nonsense")]) == {"SEN-D005 hold"}
	reported("human", [fixtures.effect("aws_s3_bucket_lifecycle_configuration", "create", "*", {"rule": [on]})]) == {"SEN-D005 hold"}
	reported("pipeline", [fixtures.as_declared(lifecycle([on]))]) == set()
}

test_blinding_what_watches if {
	every name in fixtures.config.data_loss.watching {
		parts := split(name, ":")
		every kind, verdict in verdicts {
			found := data_loss.findings with input as fixtures.calls(kind, parts[0], parts[1], {}, []) with data.data as fixtures.config
			fixtures.verdicts(found) == {concat(" ", ["SEN-D006", verdict])}
			fixtures.complete(found)
		}
	}
	every type in fixtures.config.data_loss.guards {
		reported("human", [fixtures.effect(type, "delete", "*", null)]) == {"SEN-D006 hold"}
	}
}

test_blinding_by_what_a_plan_declares if {
	every type, table in fixtures.config.data_loss.blinded_by {
		every attribute, values in table {
			every value in values {
				every action in ["create", "set"] {
					given := fixtures.effect(type, action, attribute, value)
					"SEN-D006 hold" in reported("pipeline", [given])
					"SEN-D006 deny" in reported("agent", [fixtures.as_declared(given)])
					not "SEN-D006 hold" in reported("pipeline", [fixtures.as_declared(given)])
				}
				reported("pipeline", [fixtures.effect(type, "set", attribute, "OTHER")]) == set()
				reported("pipeline", [fixtures.effect("aws_sqs_queue", "set", attribute, value)]) - {"SEN-D002 hold"} == set()
			}
		}
	}
}

test_calls_that_may_blind_without_showing_it_concern_it if {
	every type, names in {"aws_guardduty_filter": ["action"], "aws_sqs_queue": ["action"], "aws_ebs_encryption_by_default": ["id"]} {
		whole := object.union(fixtures.effect(type, "set", "*", null), {"basis": "resource", "may_change": names})
		found := data_loss.concerned with input as fixtures.document("human", [whole]) with data.data as fixtures.config
		found == {whole.address | type == "aws_guardduty_filter"}
	}
}
