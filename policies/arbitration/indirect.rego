# Indirect conflicts. A change of one attribute can undo what another one was claimed for: fewer instances than the claim counted with, or
# smaller ones. Which attributes belong together is data (`policies/data/couplings.json`); who wins is ranked as for one attribute. A
# claim that loses stands all the same, because its own attribute keeps its value.
package sentinel.arbitration

import data.data.couplings
import data.sentinel.priorities as layered

# METADATA
# title: A claim on an attribute that belongs together with this one
# custom:
#   id: SEN-A009
#   severity: high
findings contains {
	"id": "SEN-A009",
	"verdict": verdict,
	# `verdict` is an output of the body. regal ignore:use-some-for-output-vars
	"message": concat("", [pair.attribute, " of ", pair.address, " belongs together with ", claim.attribute, " of ", claim.address, ": ", pair.why, ". ", claim.actor, " holds that", purpose(claim), until_text(claim), ", so ", incoming_text, " may not undo what it was set for. ", advice[verdict]]),
	"address": claim.address,
	"attribute": claim.attribute,
	"holder": claim.actor,
	"retry_after_ns": claim.until_ns,
	"conflict": "indirect",
} if {
	some id, verdict in against_indirect
	pair := indirect[id]
	claim := shown_claims[id]
}

advice := {"deny": way_out, "hold": "An approver must decide between the two."}

against_indirect[id] := {"loses": "deny", "close": "hold"}[standing(id)] if {
	some id, _ in indirect
	standing(id) in {"loses", "close"}
}

# Several stacks with different layers: no rank lets the change win.
against_indirect[id] := "hold" if {
	layered.disagree
	some id, _ in indirect
	standing(id) == "wins"
}

# The claims of others on the other end of a pair, by id: what of the change it is the other end of, and why the two belong together.
# A claim on what the change sets itself is a direct conflict and none of these.
indirect[claim.id] := min(found) if {
	some claim in input.claims
	claim.actor != input.caller.actor
	not rivals[claim.id]
	found := {coupled |
		some attribute in enclosing(claim.attribute)
		some coupled in partners[[claim.resource_type, attribute]]
		beside(claim, coupled)
	}
	count(found) > 0
}

# What the change sets, by type and attribute of the other end of each pair.
partners[[there.type, there.attribute]] contains coupled if {
	some effect in changing
	effect.action in {"set", "invoke"}
	effect.attribute != "*"
	some pair in couplings.pairs
	some [here, there] in [[pair.one, pair.other], [pair.other, pair.one]]
	here.type == effect.resource_type
	here.attribute in enclosing(effect.attribute)
	coupled := {
		"name": pair.name,
		"why": pair.why,
		"address": effect.address,
		"attribute": effect.attribute,
		"same_type": there.type == effect.resource_type,
	}
}

# Two attributes of one type belong together on one resource; attributes of two types, where one resource depends on the other. The claims
# that policies are shown are on affected resources and on those connected with them.
beside(claim, coupled) if {
	coupled.same_type
	claim.address == coupled.address
}

beside(claim, coupled) if {
	not coupled.same_type
	claim.address != coupled.address
}

shown_claims[claim.id] := claim if some claim in input.claims

strength[id] := score(claim, claim.kind) if {
	some id, _ in indirect
	claim := shown_claims[id]
}
