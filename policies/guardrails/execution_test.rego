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

test_replacing_what_runs_with_a_role if {
	every type, attributes in fixtures.config.execution.code {
		every attribute in attributes {
			effect := fixtures.effect(type, "set", attribute, "x")
			replaced("human", effect) == {"SEN-E003 hold"}
			replaced("service", effect) == {"SEN-E003 hold"}
			replaced("human", fixtures.as_declared(effect)) == set()
			replaced("pipeline", effect) == set()
			replaced("pipeline", fixtures.but(effect, "declared", false)) == {"SEN-E003 hold"}
			replaced("agent", effect) == set()
			replaced("agent", fixtures.but(effect, "contract", foreign.contract)) == {"SEN-E003 hold"}
		}
	}
}

replaced(kind, effect) := fixtures.verdicts(found) if {
	found := execution.findings with input as fixtures.document(kind, [effect]) with data.data as fixtures.config
	fixtures.complete(found)
}

test_what_is_loaded_at_the_start_is_code if {
	variables := {"STAGE": {"hmac_sha256": "ab"}, "AWS_LAMBDA_EXEC_WRAPPER": {"hmac_sha256": "cd"}}
	every effect in [
		fixtures.effect("aws_lambda_function", "set", "environment.variables", variables),
		fixtures.effect("aws_lambda_function", "set", "environment", [{"variables": variables}]),
		fixtures.effect("aws_lambda_function", "create", "*", {"environment": [{"variables": variables}]}),
	] {
		replaced("human", effect) == {"SEN-E004 hold"}
		replaced("pipeline", effect) == set()
		replaced("pipeline", fixtures.but(effect, "declared", false)) == {"SEN-E004 hold"}
		replaced("human", fixtures.as_declared(effect)) == set()
	}
	replaced("human", fixtures.effect("aws_lambda_function", "set", "environment.variables", {"STAGE": "x"})) == set()
	replaced("human", fixtures.effect("aws_lambda_function", "set", "environment.variables", null)) == set()
}
