package sentinel.priorities_test

import data.sentinel.arbitration
import data.sentinel.arbitration_test
import data.sentinel.fixtures
import data.sentinel.priorities

dev := {
	"name": "dev",
	"stacks": ["dev", "dev-*"],
	"priorities": {"intents": {"cost": 700}, "urgent": ["incident"], "close_call": 50},
}

payments := {"name": "payments", "stacks": ["dev-payments"], "priorities": {"intents": {"cost": 650}}}

layered := object.union(fixtures.config, {"priorities": {"layers": [dev, payments]}})

in_force(stacks) := found if {
	found := priorities.result with input as {"stacks": stacks} with data.data as layered
}

base := fixtures.config.priorities

test_without_layers_the_base_is_in_force if {
	found := priorities.result with input as {"stacks": ["kafka"]} with data.data as fixtures.config
	found == {"layers": "", "numbers": object.remove(base, ["layers"]), "every": {}}
}

test_a_layer_overrides_what_it_names if {
	found := in_force(["dev-shop"])
	found.layers == "dev"
	found.numbers.intents.cost == 700
	found.numbers.intents.security == base.intents.security
	found.numbers.urgent == ["incident"]
	found.numbers.close_call == 50
	not "layers" in object.keys(found.numbers)
}

test_the_later_layer_wins if {
	found := in_force(["dev-payments"])
	found.layers == "dev payments"
	found.numbers.intents.cost == 650
	found.numbers.close_call == 50
}

test_another_stack_has_the_base if {
	every stack in ["kafka", "prod-dev", "devil", ""] {
		in_force([stack]).layers == ""
		in_force([stack]).numbers.intents.cost == base.intents.cost
	}
	in_force([]).layers == ""
}

test_several_stacks_share_what_all_of_them_have if {
	in_force(["dev", "dev-payments"]).layers == "dev"
	in_force(["dev", "kafka"]).layers == ""
}

test_stacks_disagree_only_if_their_layers_differ if {
	disagrees(["dev", "dev-payments"])
	disagrees(["dev", "kafka"])
	not disagrees(["dev", "dev-shop"])
	not disagrees(["kafka", "orders"])
}

disagrees(stacks) if {
	priorities.disagree with input as {"stacks": stacks} with data.data as layered
}

# In dev, cost outranks availability: the same two motives, decided the other way round.
contest(stacks) := found if {
	claim := json.patch(arbitration_test.incident, [{"op": "replace", "path": "/motivation", "value": "budget"}])
	document := object.union(
		fixtures.document("agent", [arbitration_test.set_capacity]),
		{"motive": fixtures.motive("cost", "budget"), "claims": [claim], "stacks": stacks},
	)
	found := arbitration.result with input as document with data.data as layered
}

test_a_stack_may_rank_cost_above_availability if {
	fixtures.verdicts(contest(["kafka"]).findings) == {"SEN-A001 deny"}
	contest(["dev"]).findings == set()
	contest(["dev"]).supersedes == {"clm_i"}
}

test_no_rank_decides_between_stacks_that_differ if {
	strong := object.union(
		fixtures.document("agent", [arbitration_test.set_capacity]),
		{"claims": [arbitration_test.changed(arbitration_test.incident, "/motivation", "routine")], "stacks": ["dev", "kafka"]},
	)
	found := arbitration.result with input as strong with data.data as layered
	fixtures.verdicts(found.findings) == {"SEN-A008 hold"}
	alone := arbitration.result with input as object.union(strong, {"stacks": ["kafka"]}) with data.data as layered
	alone.findings == set()
}
