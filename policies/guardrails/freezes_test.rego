package sentinel.rules.freezes_test

import data.sentinel.fixtures
import data.sentinel.rules.freezes

year_end := {
	"name": "year-end", "verdict": "deny", "stacks": ["prod-*"], "kinds": ["agent", "pipeline"], "except_motivations": ["incident"],
	"begins": "2026-12-18T00:00:00Z", "ends": "2027-01-04T00:00:00Z",
}

weekends := {
	"name": "weekends", "verdict": "hold", "stacks": ["*"], "kinds": ["human"], "except_motivations": [],
	"zone": "Europe/Berlin", "weekdays": ["Saturday", "Sunday"], "from_hour": 8, "until_hour": 20,
}

found(kind, stack, at, patches) := findings if {
	document := json.patch(fixtures.document(kind, [fixtures.effect("aws_instance", "set", "ami", "x")]), array.concat(
		[
			{"op": "replace", "path": "/stacks", "value": [stack]},
			{"op": "replace", "path": "/motive", "value": fixtures.motive("cost", "routine")},
			{"op": "replace", "path": "/now_ns", "value": time.parse_rfc3339_ns(at)},
		],
		patches,
	))
	findings := freezes.findings with input as document with data.data as {"freezes": {"calendar": [year_end, weekends]}}
	fixtures.complete(findings)
}

test_a_freeze_has_a_beginning_and_an_end if {
	fixtures.verdicts(found("agent", "prod-shop", "2026-12-18T00:00:00Z", [])) == {"SEN-W001 deny"}
	found("agent", "prod-shop", "2026-12-17T23:59:59Z", []) == set()
	found("agent", "prod-shop", "2027-01-04T00:00:00Z", []) == set()
}

test_it_is_for_its_stacks_and_kinds if {
	found("agent", "dev-shop", "2026-12-20T00:00:00Z", []) == set()
	found("agent", "", "2026-12-20T00:00:00Z", []) == set()
	found("service", "prod-shop", "2026-12-20T00:00:00Z", []) == set()
	unknown := [{"op": "replace", "path": "/mutation/understood", "value": false}]
	fixtures.verdicts(found("agent", "", "2026-12-20T00:00:00Z", unknown)) == {"SEN-W001 deny"}
}

test_a_proven_motivation_is_excepted if {
	incident := fixtures.motive("availability", "incident")
	found("agent", "prod-shop", "2026-12-20T00:00:00Z", [{"op": "replace", "path": "/motive", "value": incident}]) == set()
	unproven := object.union(incident, {"proven": false})
	some finding in found("agent", "prod-shop", "2026-12-20T00:00:00Z", [{"op": "replace", "path": "/motive", "value": unproven}])
	contains(finding.message, "The change freeze year-end holds until 2027-01-04T00:00:00Z")
	contains(finding.message, "state a proven motivation (incident)")
	none := [{"op": "replace", "path": "/motive", "value": null}]
	fixtures.verdicts(found("agent", "prod-shop", "2026-12-20T00:00:00Z", none)) == {"SEN-W001 deny"}
}

test_a_weekly_freeze_goes_by_the_clock_of_its_zone if {
	# 2026-11-28 is a Saturday. Berlin is an hour ahead of UTC.
	fixtures.verdicts(found("human", "dev", "2026-11-28T07:00:00Z", [])) == {"SEN-W001 hold"}
	found("human", "dev", "2026-11-28T06:59:00Z", []) == set()
	found("human", "dev", "2026-11-28T19:00:00Z", []) == set()
	found("human", "dev", "2026-11-27T12:00:00Z", []) == set()
	some finding in found("human", "dev", "2026-11-29T12:00:00Z", [])
	contains(finding.message, "holds on Saturday, Sunday. Change it afterwards, or have it approved")
}

test_it_concerns_no_attribute if count(freezes.concerned) == 0
