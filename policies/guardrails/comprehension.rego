# METADATA
# title: Comprehension
# description: A human decides about mutations whose effects Sentinel does not know.
package sentinel.rules.comprehension

import data.sentinel.lib.effects

# METADATA
# title: A mutation that is not understood is held
# description: For every kind of caller, as in the bounds check.
# custom:
#   id: SEN-C001
#   severity: high
findings contains {
	"id": "SEN-C001",
	"verdict": "hold",
	"message": "Sentinel does not know the effects of this call. Apply it with its plan (`sentinel apply`), or have it approved and keep what it did (`sentinel effects learn`).",
	"address": "",
	"attribute": "",
} if {
	not understood
}

# False also if the document says that the mutation is understood but contains no effect.
understood if {
	input.mutation.understood == true
	count(input.mutation.effects) > 0
}

# The resources of which a call may change what these rules judge, without showing it (see guardrails.rego).
concerned contains effect.address if {
	some effect in effects.wholes
	some sizes in data.data.budgets.sizes
	some types in [object.get(sizes, "set", {}), object.get(sizes, "created", {})]
	types[effect.resource_type]
}
