package sentinel.stages_test

import data.sentinel.fixtures
import data.sentinel.guardrails

# An agent's call without a motive, on a stack, with these stages: the findings that count and those that are only noted.
asked(stack, kind, entries) := {"findings": fixtures.verdicts(answer.findings), "warned": fixtures.verdicts(answer.warned)} if {
	effect := fixtures.effect("aws_dynamodb_table", "delete", "*", null)
	document := object.union(fixtures.document(kind, [effect]), {"stack": stack, "stacks": [stack]})
	answer := guardrails.result with input as json.patch(document, [{"op": "replace", "path": "/motive", "value": null}])
		with data.data as object.union(fixtures.config, {"stages": {"entries": entries}})
}

counts(stack, kind, entries, finding) if finding in asked(stack, kind, entries).findings

warns(stack, kind, entries, finding) if finding in asked(stack, kind, entries).warned

test_without_an_entry_a_rule_counts if {
	counts("kafka", "agent", [], "SEN-M001 deny")
	not warns("kafka", "agent", [], "SEN-M001 deny")
}

test_a_rule_that_warns_is_noted_and_refuses_nothing if {
	entries := [{"rule": "SEN-M001", "stage": "warn"}]
	warns("kafka", "agent", entries, "SEN-M001 deny")
	not counts("kafka", "agent", entries, "SEN-M001 deny")
	counts("kafka", "agent", entries, "SEN-D001 deny")
}

with_pack(stage, entries) := {"findings": fixtures.verdicts(answer.findings), "warned": fixtures.verdicts(answer.warned)} if {
	document := json.patch(fixtures.document("agent", []), [{"op": "replace", "path": "/motive", "value": null}])
	packs := {"by_name": {"conduct": {"stage": stage, "controls": {"SEN-M001": []}}, "others": {"stage": "off", "controls": {}}}}
	answer := guardrails.result with input as document
		with data.data as object.union(fixtures.config, {"stages": {"entries": entries}, "packs": packs})
}

test_without_an_entry_a_rule_has_the_stage_of_its_pack if {
	"SEN-M001 deny" in with_pack("warn", []).warned
	"SEN-M001 deny" in with_pack("enforce", []).findings
	answer := with_pack("off", [])
	not "SEN-M001 deny" in answer.findings
	not "SEN-M001 deny" in answer.warned
}

test_an_entry_may_be_for_a_pack if {
	"SEN-M001 deny" in with_pack("enforce", [{"pack": "conduct", "stage": "warn"}]).warned
	"SEN-M001 deny" in with_pack("enforce", [{"pack": "others", "stage": "warn"}]).findings
	"SEN-M001 deny" in with_pack("warn", [{"pack": "conduct", "stage": "off"}, {"rule": "SEN-M001", "stage": "enforce"}]).findings
}

test_a_rule_that_is_off_is_not_even_noted if {
	entries := [{"rule": "SEN-M001", "stage": "off"}]
	not warns("kafka", "agent", entries, "SEN-M001 deny")
	not counts("kafka", "agent", entries, "SEN-M001 deny")
}

test_an_entry_is_for_its_stacks_and_its_kind if {
	entries := [{"rule": "SEN-M001", "stack": "dev-*", "kind": "agent", "stage": "warn"}]
	warns("dev-shop", "agent", entries, "SEN-M001 deny")
	counts("kafka", "agent", entries, "SEN-M001 deny")
	counts("", "agent", entries, "SEN-M001 deny")
	other := [{"rule": "SEN-M001", "stack": "kafka", "kind": "human", "stage": "warn"}]
	counts("kafka", "agent", other, "SEN-M001 deny")
	warns("kafka", "agent", [{"rule": "SEN-M001", "stack": "kafka", "kind": "agent", "stage": "warn"}], "SEN-M001 deny")
}

test_the_last_entry_that_fits_holds if {
	entries := [{"stage": "warn"}, {"rule": "SEN-M001", "stage": "enforce"}]
	counts("kafka", "agent", entries, "SEN-M001 deny")
	warns("kafka", "agent", entries, "SEN-D001 deny")
}

test_a_rule_that_denies_in_every_mode_has_no_stage if {
	every staged in ["warn", "off"] {
		guardrails.stage({"id": "never.x"}) == "enforce" with input as fixtures.document("agent", [])
			with data.data as object.union(fixtures.config, {"stages": {"entries": [{"stage": staged}]}})
	}
}

test_data_without_stages_enforce_every_rule if {
	guardrails.stage({"id": "x"}) == "enforce" with input as fixtures.document("agent", []) with data.data as fixtures.config
}
