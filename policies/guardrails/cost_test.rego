package sentinel.rules.cost_test

import data.sentinel.fixtures
import data.sentinel.rules.cost

limits := {"costs": {"held_from_cents": {"agent": 10000, "human": null}, "hold_unknown": ["agent"]}}

costing(known, unknown) := {
	"monthly_cents": null,
	"known_cents": known,
	"unknown": unknown,
	"unknown_count": count(unknown),
	"dated": "2026-06-01",
}

found(kind, added) := findings if {
	findings := cost.findings with input as object.union(fixtures.document(kind, []), {"cost": added}) with data.data as limits
	fixtures.complete(findings)
}

test_what_costs_much_is_held if {
	fixtures.verdicts(found("agent", costing(10000, []))) == {"SEN-K001 hold"}
	fixtures.verdicts(found("agent", costing(9999, []))) == set()
	fixtures.verdicts(found("agent", costing(-10000, []))) == set()
	some finding in found("agent", costing(123456, []))
	contains(finding.message, "1234.56 USD a month by list prices of 2026-06-01, and a person decides from 100.00 USD on")
}

test_a_kind_without_a_limit_or_an_entry_is_not_asked if {
	found("human", costing(10000000, [])) == set()
	found("pipeline", costing(10000000, ["aws_x.y"])) == set()
}

test_what_is_not_known_is_said_and_held if {
	fixtures.verdicts(found("agent", costing(0, ["aws_x.y"]))) == {"SEN-K002 hold"}
	fixtures.verdicts(found("agent", costing(20000, ["aws_x.y"]))) == {"SEN-K001 hold", "SEN-K002 hold"}
	some finding in found("agent", costing(20000, ["aws_x.y"]))
	finding.id == "SEN-K001"
	contains(finding.message, "(not counting aws_x.y)")
}

test_without_a_table_nothing_is_held if {
	found("agent", object.union(costing(0, ["aws_x.y"]), {"dated": ""})) == set()
}

test_it_concerns_no_attribute if count(cost.concerned) == 0
