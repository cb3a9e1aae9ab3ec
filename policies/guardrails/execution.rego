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

only_invokes_managed if {
	count(input.mutation.effects) > 0
	every effect in input.mutation.effects {
		effect.action == "invoke"
		effect.contract.managed_by_agent == true
	}
}
