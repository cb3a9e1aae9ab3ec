# METADATA
# title: Comprehension
# description: A human decides about mutations whose effects Sentinel does not know.
package sentinel.rules.comprehension

# METADATA
# title: A mutation that is not understood is held
# description: For every kind of caller, as in the bounds check.
# custom:
#   id: SEN-C001
#   severity: high
findings contains {
	"id": "SEN-C001",
	"verdict": "hold",
	"message": "Sentinel does not know the effects of this call, so a human must approve it.",
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
