package sentinel.indirect_test

import data.sentinel.arbitration
import data.sentinel.explanation
import data.sentinel.fixtures

group := "aws_autoscaling_group.x"

template := "aws_launch_template.x"

smaller := fixtures.effect("aws_launch_template", "set", "instance_type", "t3.nano")

claim(address, attribute, relation) := {
	"id": "clm_1",
	"address": address,
	"resource_type": split(address, ".")[0],
	"attribute": attribute,
	"value": 6,
	"actor": "rescuer",
	"kind": "agent",
	"intent": "availability",
	"motivation": "incident",
	"evidence": ["ALERT-1"],
	"since_ns": 1,
	"until_ns": 2000000000000,
	"until": "1970-01-01T00:33:20Z",
	"unsettled": false,
	"relation": relation,
}

capacity := claim(group, "desired_capacity", "dependant")

request(kind, why, effect, claims) := object.union(fixtures.document(kind, [effect]), {"motive": why, "claims": claims})

answer(document) := found if {
	found := arbitration.result with input as document with data.data as fixtures.config
	found.evaluated == true
	fixtures.complete(found.findings)
}

verdicts(kind, why, effect, claims) := fixtures.verdicts(found.findings) if {
	found := answer(request(kind, why, effect, claims))
	count(found.supersedes) + count(found.on_approval) == 0
}

cheap := fixtures.motive("cost", "budget")

urgent := fixtures.motive("availability", "incident")

test_a_weaker_change_of_the_other_end_is_denied if {
	verdicts("agent", cheap, smaller, [capacity]) == {"SEN-A009 deny"}
}

test_pairs_count_in_both_directions if {
	fewer := fixtures.effect("aws_autoscaling_group", "set", "desired_capacity", 3)
	verdicts("agent", cheap, fewer, [claim(template, "instance_type", "dependency")]) == {"SEN-A009 deny"}
}

test_equals_are_held_and_the_stronger_passes if {
	verdicts("agent", urgent, smaller, [capacity]) == {"SEN-A009 hold"}
	verdicts("human", urgent, smaller, [capacity]) == set()
}

test_the_finding_names_both_ends_the_reason_and_the_class if {
	found := answer(request("agent", cheap, smaller, [capacity]))
	some finding in found.findings
	finding.conflict == "indirect"
	finding.holder == "rescuer"
	finding.retry_after_ns == 2000000000000
	every text in ["instance_type of aws_launch_template.x", "desired_capacity of aws_autoscaling_group.x", "how many are enough"] {
		contains(finding.message, text)
	}
	not contains(finding.message, "incident")
}

test_what_no_pair_names_is_no_conflict if {
	verdicts("agent", cheap, smaller, [claim(group, "min_size", "dependant")]) == set()
	verdicts("agent", cheap, fixtures.effect("aws_launch_template", "set", "tags", {}), [capacity]) == set()
}

test_attributes_of_one_type_belong_together_on_one_resource_only if {
	cut := fixtures.effect("aws_autoscaling_group", "set", "max_size", 3)
	verdicts("agent", cheap, cut, [claim(group, "desired_capacity", "resource")]) == {"SEN-A009 deny"}
	verdicts("agent", cheap, cut, [claim("aws_autoscaling_group.y", "desired_capacity", "dependant")]) == set()
}

test_parts_of_an_attribute_belong_to_it if {
	part := fixtures.effect("aws_launch_template", "set", "instance_type.0", "t3.nano")
	verdicts("agent", cheap, part, [claim(group, "desired_capacity.x", "dependant")]) == {"SEN-A009 deny"}
}

test_restating_and_deleting_and_the_own_claim_are_no_indirect_conflict if {
	verdicts("agent", cheap, fixtures.but(smaller, "changes", false), [capacity]) == set()
	verdicts("agent", cheap, fixtures.effect("aws_launch_template", "invoke", "*", null), [capacity]) == set()
	verdicts("agent", cheap, smaller, [fixtures.but(capacity, "actor", "some-agent")]) == set()
}

test_a_claim_on_what_is_set_is_a_direct_conflict if {
	fewer := fixtures.effect("aws_autoscaling_group", "set", "desired_capacity", 3)
	found := answer(request("agent", cheap, fewer, [claim(group, "desired_capacity", "same")]))
	[finding.conflict | some finding in found.findings] == ["direct"]
}

layers := [{"name": "dev", "stacks": ["dev"], "priorities": {"intents": {"cost": 900}}}]

test_stacks_that_rank_differently_win_nothing if {
	config := json.patch(fixtures.config, [{"op": "add", "path": "/priorities/layers", "value": layers}])
	document := object.union(request("human", urgent, smaller, [capacity]), {"stacks": ["dev", "kafka"]})
	found := arbitration.result with input as document with data.data as config
	fixtures.verdicts(found.findings) == {"SEN-A009 hold"}
}

test_policies_without_the_data_know_no_pairs if {
	config := object.remove(fixtures.config, ["couplings"])
	found := arbitration.result with input as request("agent", cheap, smaller, [capacity]) with data.data as config
	found.evaluated == true
	count(found.findings) == 0
}

test_the_explanation_takes_it_apart if {
	found := explanation.result with input as request("agent", cheap, smaller, [capacity]) with data.data as fixtures.config
	found.evaluated == true
	found.rivals.clm_1.class == "indirect"
	found.rivals.clm_1.outcome == "loses"
	found.needed == 1600
}
