# METADATA
# title: Arbitration
# description: |
#   Who wins when several actors want the same attribute. The ranks are data (`policies/data/priorities.json`):
#   score = intent + motivation + kind, less a penalty for a motivation that lacks its proof.
package sentinel.arbitration

import data.data.priorities as law

# METADATA
# title: Arbitration, whole
# entrypoint: true
result := {
	"evaluated": evaluated,
	"findings": findings,
	"supersedes": supersedes,
	"obligations": {"claim_seconds": claim_seconds},
}

# Every claim in the way has exactly one outcome; were a score undefined, this would be too, and the gateway refuses.
evaluated if {
	is_number(incoming)
	every id, _ in rivals {
		outcome[id] in {"wins", "close", "loses"}
	}
}

# METADATA
# title: A stronger claim stands in the way
# custom:
#   id: SEN-A001
#   severity: high
findings contains {
	"id": "SEN-A001",
	"verdict": "deny",
	"message": concat("", [claim.attribute, " of ", claim.address, " is held by ", claim.actor, " for ", why(claim), ", which outranks ", mine, ending(claim), ". Ask again then, or state a stronger motive with its evidence."]),
	"address": claim.address,
	"attribute": claim.attribute,
	"holder": claim.actor,
	"retry_after_ns": claim.until_ns,
} if {
	some id, claim in rivals
	outcome[id] == "loses"
}

# METADATA
# title: Too close to call
# custom:
#   id: SEN-A002
#   severity: medium
findings contains {
	"id": "SEN-A002",
	"verdict": "hold",
	"message": concat("", [claim.attribute, " of ", claim.address, " is held by ", claim.actor, " for ", why(claim), ", which ranks about as high as ", mine, ending(claim), ". A human must decide between the two."]),
	"address": claim.address,
	"attribute": claim.attribute,
	"holder": claim.actor,
	"retry_after_ns": claim.until_ns,
} if {
	some id, claim in rivals
	outcome[id] == "close"
}

# METADATA
# title: Oscillation
# description: An attribute that keeps changing hands is frozen to whoever holds it, unless a clearly stronger motive comes.
# custom:
#   id: SEN-A003
#   severity: high
findings contains {
	"id": "SEN-A003",
	"verdict": "deny",
	"message": sprintf(
		"%s of %s changed hands %v times lately, so it stays as it is%s. Settle with the others what it should be, or ask a human.",
		[effect.attribute, effect.address, flips(effect), kept(effect)],
	),
	"address": effect.address,
	"attribute": effect.attribute,
	"holder": best(effect),
	"retry_after_ns": input.now_ns + (law.oscillation.window_seconds * 1000000000),
} if {
	some effect in changing
	flips(effect) >= law.oscillation.limit
	not settled(effect)
}

# METADATA
# title: An urgent claim depends on what is deleted
# custom:
#   id: SEN-A004
#   severity: high
findings contains {
	"id": "SEN-A004",
	"verdict": {"loses": "deny", "close": "hold"}[standing(id)],
	"message": concat("", [effect.address, " is needed by ", claim.address, ", of which ", claim.actor, " holds ", claim.attribute, " for ", why(claim), ending(claim), ". It cannot be deleted meanwhile."]),
	"address": effect.address,
	"attribute": effect.attribute,
	"holder": claim.actor,
	"retry_after_ns": claim.until_ns,
} if {
	some effect in changing
	effect.action == "delete"
	some id, claim in guarding
	standing(id) in {"loses", "close"}
}

# The actor's own earlier claims on what it sets now, and the claims of others that it outranks.
supersedes contains claim.id if {
	some claim in input.claims
	claim.actor == input.caller.actor
	some effect in settings
	overlaps(claim, effect)
}

supersedes contains id if {
	some id, _ in rivals
	outcome[id] == "wins"
}

# How long the claim stands: as the motivation says, but no longer than the change is wanted. null: until superseded.
claim_seconds := min(limits) if count(limits) > 0

claim_seconds := null if count(limits) == 0

limits := {seconds | some seconds in [usual_seconds, wanted_seconds]; seconds != null}

usual_seconds := law.claim_seconds_without_motive if input.motive == null

usual_seconds := law.claim_seconds[input.motive.motivation] if input.motive != null

wanted_seconds := null if input.motive == null

wanted_seconds := input.motive.wanted_seconds if input.motive != null

# Invoking a thing as a whole sets nothing, so it contests nothing. Invoking an attribute changes it, to a value that only AWS knows.
settings := [effect | some effect in input.mutation.effects; not idle(effect)]

idle(effect) if {
	effect.action == "invoke"
	effect.attribute == "*"
}

changing := [effect | some effect in settings; effect.changes]

# The claims of others on what this mutation changes, by id.
rivals[claim.id] := claim if {
	some claim in input.claims
	claim.actor != input.caller.actor
	overlaps_any(claim)
}

# The urgent claims of others on what is near a thing that is to be deleted, by id.
guarding[claim.id] := claim if {
	"delete" in {effect.action | some effect in changing}
	some claim in input.claims
	claim.actor != input.caller.actor
	claim.relation in {"resource", "dependant"}
	claim.motivation in law.urgent
	not overlaps_any(claim)
}

overlaps_any(claim) if {
	some effect in changing
	overlaps(claim, effect)
}

overlaps(claim, effect) if {
	claim.address == effect.address
	nested(claim.attribute, effect.attribute)
}

overlaps(claim, effect) if {
	claim.address == effect.address
	nested(effect.attribute, claim.attribute)
}

# Whether the attribute path `inner` is `outer` or lies in it.
nested(_, "*")

nested(inner, outer) if inner == outer

nested(inner, outer) if startswith(inner, concat("", [outer, "."]))

outcome[id] := standing(id) if some id, _ in rivals

standing(id) := "wins" if incoming - strength[id] >= law.close_call

standing(id) := "loses" if strength[id] - incoming >= law.close_call

standing(id) := "close" if abs(incoming - strength[id]) < law.close_call

incoming := score(motive, input.caller.kind)

# The scores of the claims that matter here.
strength[id] := score(claim, claim.kind) if some id, claim in rivals

strength[id] := score(claim, claim.kind) if some id, claim in guarding

# No motive is one without names.
motive := input.motive if input.motive != null

motive := {"intent": null, "motivation": null, "evidence": []} if input.motive == null

score(why, kind) := sum([
	object.get(law.intents, why.intent, 0),
	object.get(law.motivations, why.motivation, 0),
	object.get(law.kinds, kind, 0),
	0 - penalty(why),
])

penalty(why) := law.unproven_penalty if unproven(why)

penalty(why) := 0 if not unproven(why)

unproven(why) if {
	prefixes := law.proof[why.motivation]
	not proven(why, prefixes)
}

proven(why, prefixes) if {
	some reference in why.evidence
	reference != ""
	some prefix in prefixes
	startswith(upper(reference), prefix)
}

flips(effect) := object.get(input.flips, concat(".", [effect.address, effect.attribute]), 0)

# Whoever holds it may go on; whoever clearly outranks every holder may take it.
settled(effect) if {
	some claim in input.claims
	claim.actor == input.caller.actor
	overlaps(claim, effect)
}

settled(effect) if {
	held := holders(effect)
	count(held) > 0
	every id in held {
		outcome[id] == "wins"
	}
}

holders(effect) := {id | some id, claim in rivals; overlaps(claim, effect)}

# Who holds it for the best reason; empty where nobody does any more.
best(effect) := concat(", ", sort({rivals[id].actor |
	some id in holders(effect)
	strength[id] == max([strength[other] | some other in holders(effect)])
}))

kept(effect) := "" if best(effect) == ""

kept(effect) := concat("", [" (held by ", best(effect), ")"]) if best(effect) != ""

mine := "a change without a motive" if input.motive == null

mine := concat("", [motive.intent, "/", motive.motivation, doubt(motive)]) if input.motive != null

why(claim) := "no stated motive" if claim.motivation == null

why(claim) := concat("", [claim.intent, "/", claim.motivation, doubt(claim)]) if claim.motivation != null

doubt(why) := " (unproven)" if unproven(why)

doubt(why) := "" if not unproven(why)

ending(claim) := " until it is superseded, released or merged" if claim.until == null

ending(claim) := concat("", [" until ", claim.until]) if claim.until != null
