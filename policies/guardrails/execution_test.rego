package sentinel.rules.execution_test

import data.sentinel.fixtures
import data.sentinel.rules.execution

executes(kind, effects) := json.patch(
	fixtures.document(kind, effects),
	[{"op": "replace", "path": "/mutation/class", "value": "execute"}],
)

invoke := fixtures.effect("aws_lambda_function", "invoke", "*", null)

foreign := json.patch(invoke, [{"op": "replace", "path": "/contract/managed_by_agent", "value": false}])

test_an_agent_that_executes_is_held if {
	every effects in [[], [foreign], [invoke, foreign], [fixtures.effect("aws_lambda_function", "set", "handler", "x")]] {
		found := execution.findings with input as executes("agent", effects) with data.data as fixtures.config
		fixtures.verdicts(found) == {"SEN-E001 hold"}
		fixtures.complete(found)
	}
}

test_invoking_a_resource_managed_by_agents_passes if {
	found := execution.findings with input as executes("agent", [invoke]) with data.data as fixtures.config
	count(found) == 0
}

test_others_pass if {
	every kind in ["human", "pipeline", "service"] {
		found := execution.findings with input as executes(kind, [foreign]) with data.data as fixtures.config
		count(found) == 0
	}
}

test_other_classes_pass if {
	found := execution.findings with input as fixtures.document("agent", [foreign]) with data.data as fixtures.config
	count(found) == 0
}

test_a_false_alarm_by_an_agent_is_held if {
	every kind, wanted in {"agent": {"SEN-E002 hold"}, "human": set(), "pipeline": set(), "service": set()} {
		document := json.patch(fixtures.document(kind, [fixtures.effect("aws_cloudwatch_metric_alarm", "invoke", "*", null)]), [
			{"op": "replace", "path": "/mutation/service", "value": "cloudwatch"},
			{"op": "replace", "path": "/mutation/operation", "value": "SetAlarmState"},
		])
		found := execution.findings with input as document with data.data as fixtures.config
		fixtures.verdicts(found) == wanted
		fixtures.complete(found)
	}
}

code := fixtures.with_part(fixtures.effect("aws_lambda_function", "set", "handler", "x"), "runs_code", [], [])

test_replacing_what_runs_with_a_role if {
	replaced("human", code) == {"SEN-E003 hold"}
	replaced("service", code) == {"SEN-E003 hold"}
	replaced("human", fixtures.as_declared(code)) == set()
	replaced("pipeline", code) == set()
	replaced("pipeline", fixtures.but(code, "declared", false)) == {"SEN-E003 hold"}
}

test_an_agent_replaces_code_where_a_contract_names_it if {
	replaced("agent", code) == {"SEN-E003 hold"}
	replaced("agent", fixtures.as_named(code)) == set()
	replaced("agent", fixtures.as_declared(code)) == set()
	replaced("agent", fixtures.but(fixtures.as_named(code), "contract", foreign.contract)) == {"SEN-E003 hold"}
	replaced("agent", fixtures.but(fixtures.as_named(code), "declared", false)) == {"SEN-E003 hold"}
}

test_what_is_no_code_passes if {
	replaced("human", fixtures.with_part(code, "grants", [], [])) == set()
	replaced("human", fixtures.but(code, "parts", [])) == set()
}

test_a_new_machine_without_a_role_has_any_image if {
	image := fixtures.with_part(fixtures.effect("aws_instance", "create", "ami", "ami-1"), "runs_code", [], [])
	role := fixtures.with_part(fixtures.effect("aws_instance", "create", "iam_instance_profile", "x"), "hands_role", [], [])
	template := fixtures.with_part(fixtures.effect("aws_instance", "create", "launch_template.id", "x"), "grants", [], [])
	replaced("human", image) == set()
	replaced("human", fixtures.but(image, "action", "set")) == {"SEN-E003 hold"}
	every other in [role, template] {
		found := execution.findings with input as fixtures.document("human", [image, other]) with data.data as fixtures.config
		fixtures.verdicts(found) == {"SEN-E003 hold"}
	}
}

test_what_is_created_replaces_nothing if {
	every action, verb in {"create": "This sets what", "set": "This replaces what"} {
		found := execution.findings with input as fixtures.document("human", [fixtures.but(code, "action", action)])
			with data.data as fixtures.config
		[only] := [each | some each in found]
		startswith(only.message, verb)
	}
}

test_a_pipeline_creates_what_the_code_declares if {
	replaced("pipeline", fixtures.but(code, "action", "create")) == set()
}

replaced(kind, effect) := fixtures.verdicts(found) if {
	found := execution.findings with input as fixtures.document(kind, [effect]) with data.data as fixtures.config
	fixtures.complete(found)
}

variables(names) := fixtures.with_part(fixtures.effect("aws_lambda_function", "set", "environment", [{}]), "environment", names, [])

known(names) := fixtures.but(variables(names), "parts", [fixtures.but(part, "fresh", []) | some part in variables(names).parts])

test_what_is_loaded_at_the_start_is_code if {
	every name in ["LD_PRELOAD", "ld_preload", "NODE_OPTIONS", "PATH"] {
		every kind in ["human", "agent", "service"] {
			replaced(kind, variables(["STAGE", name])) == {"SEN-E004 hold"}
			replaced(kind, known([name])) == {"SEN-E004 hold"}
		}
		replaced("agent", fixtures.as_named(variables([name]))) == {"SEN-E004 hold"}
		replaced("pipeline", variables([name])) == set()
		replaced("pipeline", fixtures.but(variables([name]), "declared", false)) == {"SEN-E004 hold"}
		replaced("human", fixtures.as_declared(variables([name]))) == set()
	}
}

test_who_acts_alone_sets_no_unknown_variable if {
	replaced("agent", variables(["PLUGINS"])) == {"SEN-E004 hold"}
	replaced("service", variables(["PLUGINS"])) == {"SEN-E004 hold"}
	replaced("service", known(["PLUGINS"])) == {"SEN-E004 hold"}
	replaced("agent", known(["PLUGINS"])) == set()
	replaced("agent", fixtures.as_named(variables(["PLUGINS"]))) == set()
	replaced("human", variables(["PLUGINS"])) == set()
	every kind in ["agent", "service", "human"] {
		replaced(kind, variables(["STAGE", "LOG_LEVEL"])) == set()
	}
}

test_a_reviewed_resource_is_no_concern_of_a_pipeline if {
	whole := object.union(
		fixtures.effect("aws_instance", "invoke", "*", null),
		{"basis": "resource", "may_be": ["runs_code"]},
	)
	every kind, wanted in {"human": {"aws_instance.x"}, "pipeline": set()} {
		execution.concerned == wanted with input as fixtures.document(kind, [whole]) with data.data as fixtures.config
	}
	execution.concerned == {"aws_instance.x"} with input as executes("pipeline", [whole]) with data.data as fixtures.config
}
