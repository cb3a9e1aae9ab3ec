# METADATA
# title: Comprehension
# description: What Sentinel does not understand or cannot foresee is for a human to decide.
package sentinel.rules.comprehension

evaluated := true

# METADATA
# title: A mutation that is not understood is held
# description: For every kind of caller, as the bounds check does too.
# custom:
#   id: SEN-C001
#   severity: high
findings contains {
	"id": "SEN-C001",
	"verdict": "hold",
	"message": "What nobody can foresee needs the consent of a human.",
	"address": "",
	"attribute": "",
} if {
	not understood
}

# Also false when the document should claim to understand a mutation of which it shows no effect.
understood if {
	input.mutation.understood == true
	count(input.mutation.effects) > 0
}
