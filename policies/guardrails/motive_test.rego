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
