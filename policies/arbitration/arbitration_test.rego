package sentinel.arbitration_test

import data.sentinel.arbitration
import data.sentinel.fixtures

set_capacity := fixtures.effect("aws_autoscaling_group", "set", "desired_capacity", 3)

unchanged := json.patch(set_capacity, [{"op": "replace", "path": "/changes", "value": false}])

delete := fixtures.effect("aws_autoscaling_group", "delete", "*", null)

claim(id, actor, kind, intent, motivation) := {
	"id": id,
	"address": "aws_autoscaling_group.x",
	"resource_type": "aws_autoscaling_group",
	"attribute": "desired_capacity",
	"value": 6,
	"actor": actor,
	"kind": kind,
	"intent": intent,
	"motivation": motivation,
	"evidence": ["ALERT-1"],
	"since_ns": 1,
	"until_ns": 2000000000000,
	"until": "1970-01-01T00:33:20Z",
	"unsettled": false,
	"relation": "same",
}

incident := claim("clm_i", "rescuer", "agent", "availability", "incident")

changed(claim, path, value) := json.patch(claim, [{"op": "replace", "path": path, "value": value}])

request(kind, why, effects, claims, flips) := object.union(
	fixtures.document(kind, effects),
	{"motive": why, "claims": claims, "flips": flips},
)

answer(document) := found if {
	found := arbitration.result with input as document with data.data as fixtures.config
	found.evaluated == true
	fixtures.complete(found.findings)
}

# The verdicts, and the superseded claims, for a motive that meets these claims.
outcome_of(kind, why, claims) := [fixtures.verdicts(found.findings), found.supersedes] if {
	found := answer(request(kind, why, [set_capacity], claims, {}))
}

denied := [{"SEN-A001 deny"}, set()]

held := [{"SEN-A002 hold"}, set()]

test_no_claim_in_the_way if {
	outcome_of("agent", fixtures.motive("cost", "experiment"), []) == [set(), set()]
}

test_terraform_does_not_undo_a_live_incident if {
	outcome_of("pipeline", fixtures.motive("consistency", "routine"), [incident]) == denied
}

test_cost_loses_clearly_against_an_incident if {
	outcome_of("agent", fixtures.motive("cost", "budget"), [incident]) == denied
	outcome_of("human", fixtures.motive("cost", "budget"), [changed(incident, "/evidence", [])]) == denied
}

test_a_denial_names_the_holder_and_the_end_of_its_claim if {
	found := answer(request("pipeline", fixtures.motive("consistency", "routine"), [set_capacity], [incident], {}))
	some finding in found.findings
	finding.holder == "rescuer"
	finding.retry_after_ns == 2000000000000
	finding.address == "aws_autoscaling_group.x"
	finding.attribute == "desired_capacity"
	every word in ["rescuer", "availability/incident", "1970-01-01T00:33:20Z"] {
		contains(finding.message, word)
	}
}

test_an_incident_supersedes_routine if {
	outcome_of("agent", fixtures.motive("availability", "incident"), [claim("clm_r", "terraform", "pipeline", "consistency", "routine")]) == [set(), {"clm_r"}]
}

test_equal_ranks_are_held if {
	outcome_of("agent", fixtures.motive("availability", "incident"), [incident]) == held
	outcome_of("agent", {"intent": "security", "motivation": "vulnerability", "text": "", "evidence": ["CVE-2026-1234"], "wanted_seconds": null}, [incident]) == held
}

test_a_human_outranks_an_agent_with_the_same_motive if {
	outcome_of("human", fixtures.motive("availability", "incident"), [incident]) == [set(), {"clm_i"}]
}

# Where signals are kept, evidence is proof only if the gateway found it open; the text alone is none.
test_only_a_signal_proves_where_the_gateway_checks if {
	checked := object.union(fixtures.motive("availability", "incident"), {"proven": true})
	claimed := object.union(checked, {"proven": false})
	proven := object.union(incident, {"proven": true})
	downgraded := object.union(incident, {"proven": false})
	outcome_of("agent", claimed, [proven]) == denied
	outcome_of("agent", checked, [proven]) == held
	outcome_of("agent", checked, [downgraded]) == [set(), {"clm_i"}]
	outcome_of("agent", claimed, [downgraded]) == held
	outcome_of("agent", object.union(checked, {"evidence": []}), [proven]) == held
}

test_without_a_source_of_signals_the_text_is_proof if {
	unchecked := object.union(fixtures.motive("availability", "incident"), {"proven": null})
	outcome_of("agent", unchecked, [object.union(incident, {"proven": null})]) == held
	outcome_of("agent", object.union(unchecked, {"evidence": []}), [incident]) == denied
}

test_an_unproven_motivation_ranks_lower if {
	unproven := changed(fixtures.motive("availability", "incident"), "/evidence", [])
	outcome_of("agent", unproven, [incident]) == denied
	empty := changed(fixtures.motive("availability", "incident"), "/evidence", [""])
	outcome_of("agent", empty, [incident]) == denied
	no_cve := fixtures.motive("security", "vulnerability")
	outcome_of("agent", no_cve, [incident]) == denied
	outcome_of("agent", fixtures.motive("availability", "incident"), [changed(incident, "/evidence", [])]) == [set(), {"clm_i"}]
}

test_the_end_of_a_claim_is_told_to_the_second if {
	precise := changed(incident, "/until", "1970-01-01T00:33:20.761795Z")
	found := answer(request("pipeline", fixtures.motive("consistency", "routine"), [set_capacity], [precise], {}))
	some finding in found.findings
	contains(finding.message, " until 1970-01-01T00:33:20Z. ")
}

test_no_motive_ranks_lowest if {
	outcome_of("agent", null, [claim("clm_c", "saver", "agent", "cost", "experiment")]) == denied
	outcome_of("agent", fixtures.motive("cost", "experiment"), [claim("clm_n", "somebody", "agent", null, null)]) == [set(), {"clm_n"}]
	endless := changed(changed(claim("clm_n", "somebody", "human", null, null), "/until", null), "/until_ns", null)
	found := answer(request("agent", null, [set_capacity], [endless], {}))
	some finding in found.findings
	finding.retry_after_ns == null
	contains(finding.message, "until it is superseded")
}

# Whether a caller of this kind that loses to an incident is told so.
told_motive(kind) if {
	found := answer(request(kind, fixtures.motive("cost", "experiment"), [set_capacity], [changed(incident, "/kind", "human")], {}))
	some finding in found.findings
	contains(finding.message, "availability/incident")
}

test_only_people_and_pipelines_are_told_the_motive_that_outranks_theirs if {
	{kind | some kind in ["human", "pipeline", "agent", "service"]; told_motive(kind)} == {"human", "pipeline"}
	nameless := changed(claim("clm_n", "somebody", "human", null, null), "/until", null)
	found := answer(request("pipeline", null, [set_capacity], [nameless], {}))
	some finding in found.findings
	contains(finding.message, "no stated motive")
}

test_an_actor_supersedes_its_own_claim if {
	own := changed(incident, "/actor", "some-agent")
	outcome_of("agent", fixtures.motive("cost", "experiment"), [own]) == [set(), {"clm_i"}]
}

test_every_claim_in_the_way_must_be_outranked if {
	routine := claim("clm_r", "terraform", "pipeline", "consistency", "routine")
	found := answer(request("agent", fixtures.motive("performance", "schedule"), [set_capacity], [routine, incident], {}))
	fixtures.verdicts(found.findings) == {"SEN-A001 deny"}
	found.supersedes == {"clm_r"}
}

test_agreeing_with_a_settled_claim_contests_nothing_and_gives_it_back if {
	routine := fixtures.motive("consistency", "routine")
	agreed := changed(unchanged, "/value", 6)
	found := answer(request("pipeline", routine, [agreed], [incident], {}))
	[count(found.findings), found.supersedes] == [0, {"clm_i"}]

	# The holder's change is still under way, another part of the value changes, or the claim is on more than the attribute.
	moving := answer(request("pipeline", routine, [agreed], [unsettled(incident)], {}))
	fixtures.verdicts(moving.findings) == {"SEN-A005 deny"}
	part := fixtures.effect("aws_autoscaling_group", "set", "desired_capacity.part", 1)
	partly := answer(request("pipeline", routine, [agreed, part], [incident], {}))
	fixtures.verdicts(partly.findings) == {"SEN-A001 deny"}
	whole := answer(request("pipeline", routine, [agreed], [changed(incident, "/attribute", "*")], {}))
	fixtures.verdicts(whole.findings) == {"SEN-A001 deny"}
}

test_restating_what_a_claim_does_not_want_contests_it if {
	loses := answer(request("pipeline", fixtures.motive("consistency", "routine"), [unchanged], [incident], {}))
	fixtures.verdicts(loses.findings) == {"SEN-A001 deny"}
	close := answer(request("agent", fixtures.motive("availability", "incident"), [unchanged], [incident], {}))
	fixtures.verdicts(close.findings) == {"SEN-A002 hold"}
	beside := answer(request("pipeline", fixtures.motive("consistency", "routine"), [unchanged], [changed(incident, "/attribute", "max_size")], {}))
	count(beside.findings) == 0
}

unsettled(claim) := json.patch(claim, [
	{"op": "replace", "path": "/unsettled", "value": true},
	{"op": "replace", "path": "/until", "value": null},
	{"op": "replace", "path": "/until_ns", "value": null},
])

test_nobody_sets_an_attribute_whose_change_is_not_settled if {
	routine := unsettled(claim("clm_r", "terraform", "pipeline", "consistency", "routine"))
	every effect in [set_capacity, unchanged, delete, fixtures.effect("aws_autoscaling_group", "invoke", "desired_capacity", null)] {
		found := answer(request("human", fixtures.motive("availability", "incident"), [effect], [routine], {}))
		fixtures.verdicts(found.findings) == {"SEN-A005 deny"}
		count(found.supersedes) + count(found.on_approval) == 0
	}
	part := answer(request("human", fixtures.motive("availability", "incident"), [set_capacity], [changed(routine, "/attribute", "desired_capacity.0")], {}))
	fixtures.verdicts(part.findings) == {"SEN-A005 deny"}
	another := answer(request("human", fixtures.motive("availability", "incident"), [set_capacity], [changed(routine, "/attribute", "max_size")], {}))
	count(another.findings) == 0
}

test_an_approval_of_a_close_call_ends_the_claim_that_it_was_about if {
	other := changed(claim("clm_o", "saver", "agent", "cost", "experiment"), "/attribute", "desired_capacity.x")
	found := answer(request("agent", fixtures.motive("availability", "incident"), [set_capacity], [incident, other], {}))
	found.on_approval == {"clm_i"}
	found.supersedes == {"clm_o"}
}

holding(open, effects, claims) := object.union(
	request("agent", fixtures.motive("availability", "incident"), effects, claims, {}),
	{"caller": {"actor": "some-agent", "kind": "agent", "roles": [], "on_behalf_of": "", "open_claims": open}},
)

test_the_number_of_claims_is_limited if {
	limit := fixtures.config.priorities.claims_per_actor.agent
	count(answer(holding(limit - 1, [set_capacity], [])).findings) == 0
	fixtures.verdicts(answer(holding(limit, [set_capacity], [])).findings) == {"SEN-A006 deny"}
	fixtures.verdicts(answer(holding(limit, [delete], [])).findings) == {"SEN-A006 deny"}
	restated := answer(holding(limit, [unchanged], []))
	count(restated.findings) == 0
	own := changed(incident, "/actor", "some-agent")
	replaced := answer(holding(limit, [set_capacity], [own]))
	count(replaced.findings) == 0
	answer(holding(0, [set_capacity], [])).obligations.claims_limit == limit
}

frozen_message(kind) := finding.message if {
	found := answer(request(kind, fixtures.motive("cost", "experiment"), [set_capacity], [], flips))
	some finding in found.findings
	finding.id == "SEN-A003"
}

test_only_who_is_no_person_is_told_to_ask_one if {
	contains(frozen_message("agent"), "ask a human")
	not contains(frozen_message("human"), "ask a human")
}

test_the_length_of_a_claim_is_limited if {
	longest := fixtures.config.priorities.longest_claim_seconds.agent

	count(answer(request("agent", wanted(longest), [set_capacity], [], {})).findings) == 0
	long := answer(request("agent", wanted(longest + 1), [set_capacity], [], {}))
	fixtures.verdicts(long.findings) == {"SEN-A007 deny"}
	restated := answer(request("agent", wanted(longest + 1), [unchanged], [], {}))
	count(restated.findings) == 0
}

test_invoking_an_attribute_contests_the_claims_on_it if {
	moved := fixtures.effect("aws_autoscaling_group", "invoke", "desired_capacity", null)
	found := answer(request("agent", fixtures.motive("cost", "routine"), [moved], [incident], {}))
	fixtures.verdicts(found.findings) == {"SEN-A001 deny"}
}

test_invoking_contests_nothing if {
	invoke := fixtures.effect("aws_autoscaling_group", "invoke", "*", null)
	found := answer(request("agent", fixtures.motive("cost", "routine"), [invoke], [incident], {}))
	count(found.findings) == 0
}

test_nested_attributes_overlap if {
	cost := fixtures.motive("cost", "budget")
	tags := fixtures.effect("aws_autoscaling_group", "set", "tags", {})
	found := answer(request("agent", cost, [tags], [changed(incident, "/attribute", "tags.owner")], {}))
	fixtures.verdicts(found.findings) == {"SEN-A001 deny"}
	inner := fixtures.effect("aws_autoscaling_group", "set", "tags.owner", "x")
	outer := answer(request("agent", cost, [inner], [changed(incident, "/attribute", "tags")], {}))
	fixtures.verdicts(outer.findings) == {"SEN-A001 deny"}
	whole := answer(request("agent", cost, [inner], [changed(incident, "/attribute", "*")], {}))
	fixtures.verdicts(whole.findings) == {"SEN-A001 deny"}
	beside := answer(request("agent", cost, [inner], [changed(incident, "/attribute", "tagset")], {}))
	count(beside.findings) == 0
}

test_deleting_what_an_urgent_claim_depends_on if {
	near := object.union(incident, {"address": "aws_cloudwatch_metric_alarm.y", "relation": "dependant"})
	loses := answer(request("agent", fixtures.motive("cost", "budget"), [delete], [near], {}))
	fixtures.verdicts(loses.findings) == {"SEN-A004 deny"}
	close := answer(request("agent", fixtures.motive("availability", "incident"), [delete], [near], {}))
	fixtures.verdicts(close.findings) == {"SEN-A004 hold"}
	wins := answer(request("human", fixtures.motive("availability", "incident"), [delete], [near], {}))
	count(wins.findings) == 0
	calm := answer(request("agent", fixtures.motive("cost", "budget"), [delete], [changed(near, "/motivation", "schedule")], {}))
	count(calm.findings) == 0
	both := answer(request("agent", fixtures.motive("cost", "budget"), [delete, changed(delete, "/address", "aws_autoscaling_group.y")], [near], {}))
	some finding in both.findings
	contains(finding.message, "one of 1 other resources")
	setting := answer(request("agent", fixtures.motive("cost", "budget"), [set_capacity], [near], {}))
	count(setting.findings) == 0
}

flips := {"aws_autoscaling_group.x.desired_capacity": fixtures.config.priorities.oscillation.limit}

test_an_attribute_that_oscillates_is_frozen if {
	found := answer(request("agent", fixtures.motive("availability", "incident"), [set_capacity], [], flips))
	fixtures.verdicts(found.findings) == {"SEN-A003 deny"}
	some finding in found.findings
	finding.holder == ""
	finding.retry_after_ns > 1000000000000
}

test_a_frozen_attribute_stays_with_its_best_claim if {
	other := claim("clm_o", "zed", "agent", "cost", "budget")
	found := answer(request("agent", fixtures.motive("cost", "budget"), [set_capacity], [incident, other], flips))
	fixtures.verdicts(found.findings) == {"SEN-A001 deny", "SEN-A002 hold", "SEN-A003 deny"}
	some finding in found.findings
	finding.id == "SEN-A003"
	finding.holder == "rescuer"
	contains(finding.message, "held by rescuer")
}

test_the_holder_and_a_clearly_stronger_motive_may_set_a_frozen_attribute if {
	own := changed(incident, "/actor", "some-agent")
	holder := answer(request("agent", fixtures.motive("cost", "budget"), [set_capacity], [own], flips))
	count(holder.findings) == 0
	routine := claim("clm_r", "terraform", "pipeline", "consistency", "routine")
	stronger := answer(request("agent", fixtures.motive("availability", "incident"), [set_capacity], [routine], flips))
	count(stronger.findings) == 0
}

returning(kind, rival) := object.union(
	request(kind, fixtures.motive("availability", "incident"), [set_capacity], [rival], flips),
	{"caller": {"held_before": ["aws_autoscaling_group.x.desired_capacity"]}},
)

test_who_took_part_in_the_back_and_forth_cannot_outbid_the_holder_of_a_frozen_attribute if {
	routine := claim("clm_r", "terraform", "pipeline", "consistency", "routine")
	agent := answer(returning("agent", routine))
	fixtures.verdicts(agent.findings) == {"SEN-A003 deny"}
	human := answer(returning("human", routine))
	count(human.findings) == 0
}

test_fewer_flips_do_not_freeze if {
	few := {"aws_autoscaling_group.x.desired_capacity": fixtures.config.priorities.oscillation.limit - 1}
	found := answer(request("agent", fixtures.motive("cost", "budget"), [set_capacity], [], few))
	count(found.findings) == 0
}

granted(why) := found.obligations.claim_seconds if {
	found := answer(request("agent", why, [set_capacity], [], {}))
}

test_the_duration_of_a_claim if {
	granted(fixtures.motive("availability", "incident")) == fixtures.config.priorities.claim_seconds.incident
	granted(fixtures.motive("cost", "budget")) == fixtures.config.priorities.longest_claim_seconds.agent
	granted(null) == fixtures.config.priorities.claim_seconds_without_motive
	short := changed(fixtures.motive("availability", "incident"), "/wanted_seconds", 60)
	granted(short) == 60
	only_wanted := changed(fixtures.motive("cost", "budget"), "/wanted_seconds", 60)
	granted(only_wanted) == 60
	longer := changed(fixtures.motive("availability", "incident"), "/wanted_seconds", 999999999)
	granted(longer) == fixtures.config.priorities.claim_seconds.incident
}

test_a_claim_without_rank_leaves_evaluated_undefined if {
	document := request("agent", fixtures.motive("cost", "budget"), [set_capacity], [object.remove(incident, ["intent"])], {})
	count([answer | answer := arbitration.evaluated with input as document with data.data as fixtures.config]) == 0
}

wanted(seconds) := changed(fixtures.motive("security", "vulnerability"), "/wanted_seconds", seconds)
