package sentinel.explanation_test

import data.sentinel.explanation
import data.sentinel.fixtures

capacity := fixtures.effect("aws_autoscaling_group", "set", "desired_capacity", 3)

claim := {
	"id": "clm_i",
	"address": "aws_autoscaling_group.x",
	"attribute": "desired_capacity",
	"value": 6,
	"actor": "rescuer",
	"kind": "agent",
	"intent": "availability",
	"motivation": "launch",
	"evidence": ["ALERT-1"],
	"since_ns": 1,
	"until_ns": 2000000000000,
	"until": "1970-01-01T00:33:20Z",
	"unsettled": false,
	"relation": "same",
}

explained(why, effects, claims) := found if {
	document := object.union(fixtures.document("agent", effects), {"motive": why, "claims": claims})
	found := explanation.result with input as document with data.data as fixtures.config
	found.evaluated == true
}

budget := fixtures.motive("cost", "budget")

test_every_score_is_the_sum_of_its_terms if {
	found := explained(budget, [capacity], [claim])
	every side in [found.incoming, found.rivals.clm_i] {
		side.score == sum([term | some term in side.terms])
	}
	found.rivals.clm_i.outcome == "loses"
}

test_what_would_have_won_outranks_every_rival_by_a_close_call if {
	found := explained(budget, [capacity], [claim])
	found.needed == found.rivals.clm_i.score + fixtures.config.priorities.close_call
	some motive in found.winning
	motive.intent == "availability"
	motive.motivation == "incident"
	every each in found.winning {
		each.score >= found.needed
	}
	not won(found, "cost", "budget")
}

won(found, intent, motivation) if {
	some motive in found.winning
	motive.intent == intent
	motive.motivation == motivation
}

test_while_a_rival_is_unsettled_nothing_would_have_won if {
	found := explained(budget, [capacity], [fixtures.but(claim, "unsettled", true)])
	found.rivals.clm_i.outcome == "unsettled"
	found.needed == null
	found.winning == set()
}

test_without_rivals_there_is_nothing_to_win if {
	found := explained(budget, [capacity], [])
	found.rivals == {}
	found.needed == null
}

test_an_urgent_claim_on_what_depends_on_a_deleted_resource_is_a_rival if {
	other := object.union(claim, {"address": "aws_autoscaling_policy.y", "motivation": "incident", "relation": "dependant"})
	found := explained(budget, [fixtures.effect("aws_autoscaling_group", "delete", "*", null)], [other])
	found.rivals.clm_i.outcome == "loses"
}
