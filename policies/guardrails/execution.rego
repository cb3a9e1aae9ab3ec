# METADATA
# title: Execution
# description: Calls that run code, or carry a document that does.
package sentinel.rules.execution

evaluated := true

# METADATA
# title: An agent runs code only on what it manages
# description: Held, unless the call does nothing but invoke resources that a contract gives to agents.
# custom:
#   id: SEN-E001
#   severity: high
findings contains {
	"id": "SEN-E001",
	"verdict": "hold",
	"message": concat("", [input.mutation.service, ":", input.mutation.operation, " runs code, and an agent may do that alone only on resources with managed_by_agent = true; a human must approve it."]),
	"address": "",
	"attribute": "",
} if {
	input.mutation.class == "execute"
	input.caller.kind == "agent"
	not only_invokes_managed
}

# METADATA
# title: An agent does not give false alarm
# description: An alarm that is set by hand does what the alarm does, e.g. executes a scaling policy, unseen by bounds and claims.
# custom:
#   id: SEN-E002
#   severity: high
findings contains {
	"id": "SEN-E002",
	"verdict": "hold",
	"message": "Setting the state of an alarm by hand sets off whatever the alarm does, and an agent may not do that alone; a human must approve it.",
	"address": "",
	"attribute": "",
} if {
	input.caller.kind == "agent"
	input.mutation.service == "cloudwatch"
	input.mutation.operation == "SetAlarmState"
}

only_invokes_managed if {
	count(input.mutation.effects) > 0
	every effect in input.mutation.effects {
		effect.action == "invoke"
		effect.contract.managed_by_agent == true
	}
}
