package sentinel.drift_test

import data.sentinel.drift

lists := {
	"drift": {"trusted": ["arn:aws:iam::111122223333:role/break-glass*", "arn:aws:iam::1:user/ann"], "listed": ["aws_instance"], "guarded": ["aws_iam_*"], "reverted": ["aws_security_group"]},
	"data_loss": {"stores": ["aws_dynamodb_table"]},
	"priorities": {"urgent": ["incident"]},
}

document(changes) := object.union(
	{
		"now_ns": 0,
		"stack": "shop",
		"stacks": ["shop"],
		"drift": {
			"id": "fgn_1",
			"address": "aws_sqs_queue.a",
			"attribute": "delay_seconds",
			"resource_type": "aws_sqs_queue",
			"live": 5,
			"declared": 0,
			"sensitive": false,
			"origin": {"actor": "arn:aws:iam::111122223333:user/bob", "event": "sqs:SetQueueAttributes", "at_ns": 0, "service": false},
		},
		"contract": {"managed_by_agent": true, "critical": false, "prevent_delete": false, "owner": ""},
		"claims": [],
	},
	changes,
)

ruled(changes) := [answer.action, answer.rule] if {
	answer := drift.result with input as document(changes) with data.data as lists
	answer.evaluated
}

claim(motivation, value) := {"id": "clm_1", "actor": "agent-scaler", "kind": "agent", "intent": "availability", "motivation": motivation, "value": value}

test_an_ordinary_value_is_proposed_for_the_code if ruled({}) == ["codify", "SEN-F010"]

test_a_secret_goes_to_a_human if ruled({"drift": {"sensitive": true}}) == ["human", "SEN-F001"]

test_a_change_over_an_urgent_claim_is_quarantined if {
	ruled({"claims": [claim("routine", 9), claim("incident", 9)]}) == ["quarantine", "SEN-F002"]
}

test_a_change_over_another_claim_goes_to_a_human if ruled({"claims": [claim("routine", 9)]}) == ["human", "SEN-F003"]

test_what_is_urgent_may_differ_by_stack if {
	layer := {"name": "shop", "stacks": ["shop"], "priorities": {"urgent": ["routine"]}}
	answer := drift.result with input as document({"claims": [claim("routine", 9)]})
		with data.data as object.union(lists, {"priorities": {"layers": [layer]}})
	answer.rule == "SEN-F002"
}

test_a_claim_on_the_live_value_is_no_rival if ruled({"claims": [claim("incident", 5)]}) == ["codify", "SEN-F010"]

test_what_a_service_set_is_left if ruled({"drift": {"origin": {"service": true}}}) == ["leave", "SEN-F004"]

test_whole_resources_go_to_a_human if ruled({"drift": {"attribute": "*"}}) == ["human", "SEN-F005"]

replacement := {"attribute": "*", "live": {"import_id": "i-2", "replaces": "i-1"}, "declared": "i-1"}

test_what_was_replaced_is_proposed_for_the_code if {
	ruled({"drift": object.union(replacement, {"resource_type": "aws_instance"})}) == ["codify", "SEN-F010"]
}

test_what_was_replaced_and_protects_something_goes_to_a_human if {
	ruled({"drift": object.union(replacement, {"resource_type": "aws_security_group"})}) == ["human", "SEN-F011"]
	ruled({"drift": object.union(replacement, {"resource_type": "aws_iam_role"})}) == ["human", "SEN-F008"]
	ruled({"drift": object.union(replacement, {"origin": null}), "contract": {"critical": true}}) == ["quarantine", "SEN-F007"]
}

created(adopt, owner) := {"attribute": "*", "declared": null, "live": {"created": "x-1", "adopt": adopt, "of": owner}}

test_what_was_created_and_belongs_to_the_stack_is_proposed_for_the_code if {
	ruled({"drift": created(true, "aws_sqs_queue.a")}) == ["codify", "SEN-F013"]
	ruled({"drift": created(true, "")}) == ["codify", "SEN-F013"]
}

test_what_was_created_and_is_not_to_be_written_goes_to_a_human if {
	ruled({"drift": created(false, "aws_sqs_queue.a")}) == ["human", "SEN-F005"]
	ruled({"drift": object.union(created(true, ""), {"live": {"created": "", "adopt": "true"}})}) == ["human", "SEN-F005"]
}

test_what_was_created_and_gives_rights_or_opens_the_network_goes_to_a_human if {
	ruled({"drift": object.union(created(true, "aws_iam_role.a"), {"resource_type": "aws_iam_role_policy"})}) == ["human", "SEN-F008"]
	ruled({"drift": object.union(created(true, "aws_sqs_queue.a"), {"resource_type": "aws_security_group"})}) == ["human", "SEN-F012"]
	ruled({"drift": object.union(created(true, "aws_sqs_queue.a"), {"resource_type": "aws_instance"})}) == ["human", "SEN-F012"]
}

test_trusted_actors_are_codified_even_on_what_is_guarded if {
	trusted := {"actor": "arn:aws:iam::111122223333:role/break-glass-1"}
	ruled({"drift": {"resource_type": "aws_iam_role", "origin": trusted}}) == ["codify", "SEN-F006"]
	ruled({"drift": {"origin": {"actor": "arn:aws:iam::1:user/ann"}}}) == ["codify", "SEN-F006"]
	ruled({"drift": {"origin": {"actor": "arn:aws:iam::1:user/anne"}}}) == ["codify", "SEN-F010"]
}

test_an_unknown_hand_on_what_is_critical_is_quarantined if {
	ruled({"drift": {"origin": null}, "contract": {"critical": true}}) == ["quarantine", "SEN-F007"]
	ruled({"contract": {"critical": true}}) == ["codify", "SEN-F010"]
}

test_rights_keys_and_data_need_a_human if {
	ruled({"drift": {"resource_type": "aws_iam_policy"}}) == ["human", "SEN-F008"]
	ruled({"drift": {"resource_type": "aws_dynamodb_table", "origin": null}}) == ["human", "SEN-F008"]
}

test_what_protects_the_network_is_set_back if {
	ruled({"drift": {"resource_type": "aws_security_group"}}) == ["revert", "SEN-F009"]
}
