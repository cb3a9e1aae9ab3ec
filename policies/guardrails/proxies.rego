# METADATA
# title: Calls by proxy
# description: |
#   Calls that a call makes AWS carry out: the target of a schedule, the task of a state machine, the step of a document. Every other
#   guardrail judges each of them as if it had been sent alone. Here is what only such calls have.
package sentinel.rules.proxies

# METADATA
# title: A call with the rights of another role
# description: |
#   AWS makes the call with the rights of a role that the caller names, which may be wider than those the caller has here. What a plan makes
#   AWS do and nobody can unpack (a stack set, the target of a pipe) counts too. Passes for a
#   pipeline where the Terraform code declares everything that the call itself changes: that was reviewed.
# custom:
#   id: SEN-P001
#   severity: high
findings contains {
	"id": "SEN-P001",
	"verdict": verdict,
	"message": message(inner),
	"address": "",
	"attribute": "",
} if {
	some inner in input.mutation.inner
	inner.role != ""
	not reviewed
}

message(inner) := concat("", [
	input.mutation.service, ":", input.mutation.operation, " makes AWS call ", inner.service, ":", inner.operation,
	" with the rights of another role; it needs an approval.",
]) if {
	not unread(inner)
}

message(inner) := concat("", [
	input.mutation.service, ":", input.mutation.operation, " makes AWS do, by ", inner.service, ":", inner.operation,
	", what cannot be unpacked, so nobody knows what it changes; it needs an approval.",
]) if {
	unread(inner)
}

unread(inner) if inner.role == "rights that nobody can tell"

reviewed if {
	input.caller.kind == "pipeline"
	own := [effect | some effect in input.mutation.effects; effect.by == ""]
	count(own) > 0
	every effect in own {
		effect.declared
	}
}

# Agents are denied. For any other caller a human can approve.
verdict := object.get({"human": "hold", "pipeline": "hold", "service": "hold"}, input.caller.kind, "deny")

# These rules judge no attribute (see guardrails.rego).
concerned := set()
