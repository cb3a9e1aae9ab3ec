package sentinel.rules.disruption_test

import data.sentinel.fixtures
import data.sentinel.rules.disruption

verdicts(document) := fixtures.verdicts(found) if {
	found := disruption.findings with input as document with data.data as fixtures.config
	fixtures.complete(found)
}

critical := fixtures.but(
	fixtures.effect("aws_example", "invoke", "*", null), "contract",
	{"managed_by_agent": true, "critical": true, "prevent_delete": false, "owner": ""},
)

plain := fixtures.effect("aws_example", "invoke", "*", null)

called(kind, name, parameters, effects) := fixtures.calls(kind, parts[0], parts[1], parameters, effects) if {
	parts := split(name, ":")
}

test_who_acts_alone_disrupts_nothing if {
	every name, _ in fixtures.config.disruption.disrupting {
		every kind in ["agent", "service"] {
			verdicts(called(kind, name, {}, [plain])) == {"SEN-S001 hold"}
			verdicts(called(kind, name, {}, [critical])) == {"SEN-S001 hold"}
		}
	}
}

test_others_disrupt_nothing_critical if {
	every name, _ in fixtures.config.disruption.disrupting {
		every kind in ["human", "pipeline"] {
			verdicts(called(kind, name, {}, [plain])) == set()
			verdicts(called(kind, name, {}, [plain, critical])) == {"SEN-S001 hold"}
		}
	}
}

test_what_disrupts_nothing_passes if {
	verdicts(called("agent", "sqs:SendMessage", {}, [critical])) == set()
}

test_messages_are_not_hidden_for_hours if {
	config := {"reading": ["sqs:ReceiveMessage"], "longest_hidden_seconds": 900}
	every kind in ["agent", "service"] {
		long := disruption.findings with input as called(kind, "sqs:ReceiveMessage", {"VisibilityTimeout": 901}, [plain]) with data.data.data_plane as config
		fixtures.complete(long)
		fixtures.verdicts(long) == {"SEN-S005 hold"}
		short := disruption.findings with input as called(kind, "sqs:ReceiveMessage", {"VisibilityTimeout": 900}, [plain]) with data.data.data_plane as config
		short == set()
		usual := disruption.findings with input as called(kind, "sqs:ReceiveMessage", {}, [plain]) with data.data.data_plane as config
		usual == set()
	}
	human := disruption.findings with input as called("human", "sqs:ReceiveMessage", {"VisibilityTimeout": 901}, [plain]) with data.data.data_plane as config
	human == set()
}

test_a_critical_resource_is_not_stopped_by_a_number if {
	effect := fixtures.but(fixtures.effect("aws_lambda_function", "set", "reserved_concurrent_executions", 0), "contract", critical.contract)
	verdicts(fixtures.document("human", [effect])) == {"SEN-S002 hold"}
	verdicts(fixtures.document("human", [fixtures.as_declared(effect)])) == set()
	verdicts(fixtures.document("human", [fixtures.but(effect, "value", 1)])) == set()
	verdicts(fixtures.document("human", [fixtures.but(effect, "contract", plain.contract)])) == set()
}

test_locks_are_held_for_everybody if {
	every kind in ["agent", "service", "human", "pipeline"] {
		every parameters in [
			{"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": "2120-01-01T00:00:00Z"},
			{"ObjectLockLegalHoldStatus": "ON"},
		] {
			verdicts(called(kind, "s3:PutObject", parameters, [plain])) == {"SEN-S003 hold"}
		}
		verdicts(called(kind, "s3:PutObject", {"ObjectLockLegalHoldStatus": "OFF"}, [plain])) == set()
	}
}

controlled(kind, class, as_declared, effects) := json.patch(fixtures.document(kind, effects), [{
	"op": "replace",
	"path": "/mutation/controls",
	"value": [{"parameter": "ForceIt", "class": class, "as_declared": as_declared}],
}])

test_who_acts_alone_does_no_more_than_the_name_says if {
	every kind in ["agent", "service"] {
		every class, _ in fixtures.config.disruption.controls {
			verdicts(controlled(kind, class, false, [plain])) == {"SEN-S006 hold"}
		}
		verdicts(controlled(kind, "of another release", false, [plain])) == {"SEN-S006 hold"}
		verdicts(controlled(kind, "applies_pending", true, [critical])) == set()
	}
}

test_others_do_so_to_nothing_critical if {
	every kind in ["human", "pipeline"] {
		verdicts(controlled(kind, "applies_pending", false, [plain])) == set()
		verdicts(controlled(kind, "applies_pending", false, [plain, critical])) == {"SEN-S006 hold"}
		verdicts(controlled(kind, "applies_pending", true, [critical])) == set()
	}
}

test_what_nothing_brings_back_is_held_for_everybody if {
	every kind in ["agent", "service", "human", "pipeline"] {
		verdicts(controlled(kind, "irrevocable", true, [plain])) == {"SEN-S006 hold"}
	}
}

test_restoring_to_another_place if {
	verdicts(called("human", "s3:RestoreObject", {"RestoreRequest": ["Days", "OutputLocation"]}, [plain])) == {"SEN-S004 hold"}
	verdicts(called("human", "s3:RestoreObject", {"RestoreRequest": ["SelectParameters", "Type"]}, [plain])) == {"SEN-S004 hold"}
	verdicts(called("agent", "s3:RestoreObject", {"RestoreRequest": ["Days"]}, [plain])) == set()
}

test_copying_from_another_bucket if {
	every source in ["theirs/key", "/theirs/key", {"Bucket": "theirs", "Key": "k"}, {}, 7] {
		verdicts(called("agent", "s3:CopyObject", {"Bucket": "ours", "CopySource": source}, [plain])) == {"SEN-S004 hold"}
		verdicts(called("human", "s3:CopyObject", {"Bucket": "ours", "CopySource": source}, [plain])) == set()
	}
	every source in ["ours/key", "/ours/key", {"Bucket": "ours", "Key": "k"}] {
		verdicts(called("agent", "s3:CopyObject", {"Bucket": "ours", "CopySource": source}, [plain])) == set()
	}
}

targets(ids) := {"Targets": [{"Id": id} | some id in ids]}

test_targets_elsewhere if {
	every id in ["203.0.113.9", "2001:db8::1", "nonsense", "arn:aws:lambda:us-east-1:999999999999:function:f"] {
		every kind in ["agent", "service", "human", "pipeline"] {
			verdicts(called(kind, "elbv2:RegisterTargets", targets([id]), [plain])) == {"SEN-S004 hold"}
			verdicts(called(kind, "elbv2:RegisterTargets", targets(["i-1", id]), [plain])) == {"SEN-S004 hold"}
		}
	}
	every id in ["10.0.0.9", "fd00::1", "arn:aws:lambda:us-east-1:123456789012:function:f"] {
		verdicts(called("agent", "elbv2:RegisterTargets", targets([id]), [plain])) == {"SEN-S004 hold"}
		verdicts(called("human", "elbv2:RegisterTargets", targets([id]), [plain])) == set()
	}
	verdicts(called("human", "elbv2:RegisterTargets", {"Targets": [{}]}, [plain])) == {"SEN-S004 hold"}
	verdicts(called("agent", "elbv2:RegisterTargets", targets(["i-1"]), [plain])) == set()
}
