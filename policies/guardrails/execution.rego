# METADATA
# title: Execution
# description: Calls that run code, or contain a document that runs code.
package sentinel.rules.execution

evaluated := true

# METADATA
# title: An agent runs code only on resources it manages
# description: Held, unless every effect invokes a resource with managed_by_agent = true.
# custom:
#   id: SEN-E001
#   severity: high
findings contains {
	"id": "SEN-E001",
	"verdict": "hold",
	"message": concat("", [input.mutation.service, ":", input.mutation.operation, " runs code, and an agent may do that without approval only on resources with managed_by_agent = true; a human must approve it."]),
	"address": "",
	"attribute": "",
} if {
	input.mutation.class == "execute"
	input.caller.kind == "agent"
	not only_invokes_managed
}

# METADATA
# title: An agent does not set the state of an alarm
# description: Setting an alarm's state triggers its actions, e.g. a scaling policy, which bounds and claims do not see.
# custom:
#   id: SEN-E002
#   severity: high
findings contains {
	"id": "SEN-E002",
	"verdict": "hold",
	"message": "Setting the state of an alarm triggers the alarm's actions, and an agent may not do that without approval; a human must approve it.",
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
