package sentinel.approvers_test

import data.sentinel.approvers
import data.sentinel.fixtures

config := object.union(fixtures.config, {"approvals": {
	"roles": ["approver"],
	"roles_by_stack": {"kafka": ["streaming"]},
	"roles_by_owner": {"team-data": ["dba", "approver"]},
	"roles_by_type": {"aws_iam_role": ["security"]},
	"people": 1,
	"people_for_stores": 2,
	"longest_seconds": 86400,
	"longest_seconds_for_stores": 14400,
	"rejected_seconds": 3600,
}})

queue := fixtures.effect("aws_sqs_queue", "set", "delay_seconds", 5)

table := fixtures.effect("aws_dynamodb_table", "set", "read_capacity", 5)

owned := fixtures.but(queue, "contract", {"managed_by_agent": true, "critical": false, "prevent_delete": false, "owner": "team-data"})

found(document, data_given) := answer if {
	answer := approvers.result with input as document with data.data as data_given
	answer.evaluated == true
}

asked(effects) := found(fixtures.document("agent", effects), config)

test_one_person_approves_a_usual_change if {
	answer := asked([queue])
	answer.people == 1
	answer.longest_seconds == 86400
	answer.rejected_seconds == 3600
	answer.reason == "One person must approve."
}

test_two_people_approve_a_change_of_a_data_store if {
	answer := asked([queue, table])
	answer.people == 2
	answer.longest_seconds == 14400
	answer.reason == "aws_dynamodb_table.x holds data, so 2 people must approve."
}

test_a_store_that_is_not_changed_needs_no_second_person if {
	asked([queue, fixtures.but(table, "changes", false)]).people == 1
}

test_two_may_be_demanded_of_everything if {
	given := object.union(config, {"approvals": {"people": 2}})
	found(fixtures.document("agent", [queue]), given).reason == "2 people must approve."
}

test_roles_are_those_of_the_type_then_the_owner_then_the_stack_then_the_usual_ones if {
	asked([fixtures.effect("aws_iam_role", "set", "path", "/")]).roles == {["security"]}
	asked([owned]).roles == {["dba", "approver"]}
	asked([queue]).roles == {["streaming"]}
	elsewhere := fixtures.but(fixtures.document("agent", [queue]), "stack", "shop")
	found(elsewhere, config).roles == {["approver"]}
}

test_a_change_of_several_resources_needs_a_role_of_each if {
	asked([queue, owned]).roles == {["streaming"], ["dba", "approver"]}
}

test_a_change_whose_effects_are_unknown_has_the_roles_of_its_stack if {
	asked([]).roles == {["streaming"]}
}

test_nobody_may_approve_where_no_role_is_named if {
	given := object.union(config, {"approvals": {"roles_by_stack": {"kafka": []}}})
	not approvers.evaluated with input as fixtures.document("agent", [queue]) with data.data as given
}

# What a package below `sentinel.approver_rules` demands; see `yours_test.rego`.
demanding(demands) := fixtures.but(fixtures.document("agent", [queue]), "demands", demands)

test_a_further_package_may_demand_more_and_never_less if {
	answer := found(demanding({"roles": {["security"]}, "people": {3}}), config)
	answer.roles == {["streaming"], ["security"]}
	answer.people == 3
	answer.reason == "3 people must approve."
	found(demanding({"roles": set(), "people": {0}}), config).people == 1
}

test_an_odd_demand_is_no_answer if {
	not found(demanding({"roles": {[]}, "people": set()}), config)
	not found(demanding({"roles": {"security"}, "people": set()}), config)
	not found(demanding({"roles": set(), "people": {"two"}}), config)
}
