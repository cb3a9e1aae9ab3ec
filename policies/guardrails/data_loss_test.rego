package sentinel.rules.data_loss_test

import data.sentinel.fixtures
import data.sentinel.rules.data_loss

verdicts := {"agent": "deny", "service": "deny", "human": "hold", "pipeline": "hold"}

test_deleting_each_kind_of_store if {
	every type in data.data.data_loss.stores {
		every kind, verdict in verdicts {
			found := data_loss.findings with input as fixtures.document(kind, [fixtures.effect(type, "delete", "*", null)])
			fixtures.verdicts(found) == {concat(" ", ["SEN-D001", verdict])}
			fixtures.complete(found)
		}
	}
}

test_deleting_another_resource_passes if {
	found := data_loss.findings with input as fixtures.document("agent", [fixtures.effect("aws_sns_topic", "delete", "*", null)])
	count(found) == 0
}

test_creating_a_store_passes if {
	found := data_loss.findings with input as fixtures.document("agent", [fixtures.effect("aws_s3_bucket", "create", "*", {})])
	count(found) == 0
}

test_removing_protection if {
	effect := fixtures.effect("aws_dynamodb_table", "set", "deletion_protection_enabled", false)
	every kind, verdict in verdicts {
		found := data_loss.findings with input as fixtures.document(kind, [effect])
		fixtures.verdicts(found) == {concat(" ", ["SEN-D002", verdict])}
		fixtures.complete(found)
	}
}

test_removing_protection_as_the_code_declares if {
	effect := json.patch(
		fixtures.effect("aws_db_instance", "set", "deletion_protection", false),
		[{"op": "replace", "path": "/declared_value", "value": false}],
	)
	by_pipeline := data_loss.findings with input as fixtures.document("pipeline", [effect])
	count(by_pipeline) == 0
	by_agent := data_loss.findings with input as fixtures.document("agent", [effect])
	fixtures.verdicts(by_agent) == {"SEN-D002 deny"}
}

test_keeping_or_adding_protection_passes if {
	unchanged := json.patch(
		fixtures.effect("aws_db_instance", "set", "deletion_protection", false),
		[{"op": "replace", "path": "/changes", "value": false}],
	)
	every effect in [unchanged, fixtures.effect("aws_db_instance", "set", "deletion_protection", true)] {
		found := data_loss.findings with input as fixtures.document("agent", [effect])
		count(found) == 0
	}
}

test_destroying_data_itself if {
	every name in data.data.data_loss.destructive {
		[service, operation] := split(name, ":")
		every kind, wanted in {"agent": {"SEN-D003 hold"}, "service": {"SEN-D003 hold"}, "human": set(), "pipeline": set()} {
			document := json.patch(fixtures.document(kind, [fixtures.effect("aws_example", "invoke", "*", null)]), [
				{"op": "replace", "path": "/mutation/service", "value": service},
				{"op": "replace", "path": "/mutation/operation", "value": operation},
			])
			found := data_loss.findings with input as document
			fixtures.verdicts(found) == wanted
			fixtures.complete(found)
		}
	}
}
