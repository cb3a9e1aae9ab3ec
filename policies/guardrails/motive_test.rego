package sentinel.rules.motive_test

import data.sentinel.fixtures
import data.sentinel.rules.motive

without_motive(kind) := json.patch(fixtures.document(kind, []), [{"op": "replace", "path": "/motive", "value": null}])

test_an_agent_without_motive_is_denied_with_instructions if {
	found := motive.findings with input as without_motive("agent")
	fixtures.verdicts(found) == {"SEN-M001 deny"}
	fixtures.complete(found)
	some finding in found
	contains(finding.message, "x-sentinel-intent")
	contains(finding.message, "sentinel session")
}

test_others_need_none if {
	every kind in ["human", "pipeline", "service"] {
		found := motive.findings with input as without_motive(kind)
		count(found) == 0
	}
}

test_a_stated_motive_is_enough if {
	found := motive.findings with input as fixtures.document("agent", [])
	count(found) == 0
}

test_reading_data_needs_none if {
	config := {"reading": ["sqs:ReceiveMessage"], "longest_hidden_seconds": 900}
	document := json.patch(fixtures.calls("agent", "sqs", "ReceiveMessage", {}, []), [{"op": "replace", "path": "/motive", "value": null}])
	data_call := json.patch(document, [{"op": "replace", "path": "/mutation/class", "value": "data"}])
	reading := motive.findings with input as data_call with data.data.data_plane as config
	reading == set()
	writing := motive.findings with input as json.patch(data_call, [{"op": "replace", "path": "/mutation/operation", "value": "SendMessage"}])
		with data.data.data_plane as config
	fixtures.verdicts(writing) == {"SEN-M001 deny"}
	changing := motive.findings with input as document with data.data.data_plane as config
	fixtures.verdicts(changing) == {"SEN-M001 deny"}
}
