# METADATA
# title: Arbitration
# description: |
#   Decides between actors that want different values for the same attribute. The ranks are data
#   (`policies/data/priorities.json`): score = intent + motivation + kind, minus a penalty for an unproven motivation.
package sentinel.arbitration

import data.data.priorities

# METADATA
# title: The complete result of arbitration
# entrypoint: true
result := {
	"evaluated": evaluated,
	"findings": findings,
	"supersedes": supersedes,
	"obligations": {"claim_seconds": claim_seconds},
}

# Every rival claim has exactly one outcome. If a score is undefined, so is this rule, and the gateway refuses the change.
evaluated if {
	is_number(incoming)
	every id, _ in rivals {
		outcome[id] in {"wins", "close", "loses"}
	}
}

# METADATA
# title: A stronger claim on the attribute
# custom:
#   id: SEN-A001
#   severity: high
findings contains {
	"id": "SEN-A001",
	"verdict": "deny",
	"message": concat("", [claim.attribute, " of ", claim.address, " is held by ", claim.actor, " for ", motive_text(claim), ", which outranks ", incoming_text, until_text(claim), ". Ask again then, or state a stronger motive with its evidence."]),
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
	"message": concat("", [claim.attribute, " of ", claim.address, " is held by ", claim.actor, " for ", motive_text(claim), ", which ranks about as high as ", incoming_text, until_text(claim), ". A human must decide between the two."]),
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
# description: An attribute that actors keep changing back and forth is frozen, except for its holder and a clearly stronger motive.
# custom:
#   id: SEN-A003
#   severity: high
findings contains {
	"id": "SEN-A003",
	"verdict": "deny",
	"message": sprintf(
		"%s of %s changed hands %v times recently, so it is frozen%s. Agree on a value with the other actors, or ask a human.",
		[effect.attribute, effect.address, flips(effect), holder_note(effect)],
	),
	"address": effect.address,
	"attribute": effect.attribute,
	"holder": best_holders(effect),
	"retry_after_ns": input.now_ns + (priorities.oscillation.window_seconds * 1000000000),
} if {
	some effect in changing
	flips(effect) >= priorities.oscillation.limit
	not may_set_frozen(effect)
}

# METADATA
# title: An urgent claim depends on what is deleted
# custom:
#   id: SEN-A004
#   severity: high
findings contains {
	"id": "SEN-A004",
	"verdict": {"loses": "deny", "close": "hold"}[standing(id)],
	"message": concat("", [effect.address, " is needed by ", claim.address, ", and ", claim.actor, " holds its ", claim.attribute, " for ", motive_text(claim), until_text(claim), ". It cannot be deleted until then."]),
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

# The actor's own earlier claims on the attributes it sets now, and the claims of others that it outranks.
supersedes contains claim.id if {
	some claim in input.claims
	claim.actor == input.caller.actor
	some effect in setting
	overlaps(claim, effect)
}

supersedes contains id if {
	some id, _ in rivals
	outcome[id] == "wins"
}

# Duration of the claim: that of the motivation, but no longer than the change is wanted. null: until superseded.
claim_seconds := min(limits) if count(limits) > 0

claim_seconds := null if count(limits) == 0

limits := {seconds | some seconds in [usual_seconds, wanted_seconds]; seconds != null}

usual_seconds := priorities.claim_seconds_without_motive if input.motive == null

usual_seconds := priorities.claim_seconds[input.motive.motivation] if input.motive != null

wanted_seconds := null if input.motive == null

wanted_seconds := input.motive.wanted_seconds if input.motive != null

# Invoking a resource as a whole sets nothing, so it contests no claim. Invoking an attribute changes it to a value that only AWS knows.
setting := [effect | some effect in input.mutation.effects; not invokes_whole(effect)]

invokes_whole(effect) if {
	effect.action == "invoke"
	effect.attribute == "*"
}

changing := [effect | some effect in setting; effect.changes]

# The claims of others on attributes that this mutation changes, by id.
rivals[claim.id] := claim if {
	some claim in input.claims
	claim.actor != input.caller.actor
	overlaps_any(claim)
}

# The urgent claims of others on other attributes or dependants of a resource that this mutation deletes, by id.
guarding[claim.id] := claim if {
	"delete" in {effect.action | some effect in changing}
	some claim in input.claims
	claim.actor != input.caller.actor
	claim.relation in {"resource", "dependant"}
	claim.motivation in priorities.urgent
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

# Whether the attribute path `inner` is `outer` or nested in it.
nested(_, "*")

nested(inner, outer) if inner == outer

nested(inner, outer) if startswith(inner, concat("", [outer, "."]))

outcome[id] := standing(id) if some id, _ in rivals

standing(id) := "wins" if incoming - strength[id] >= priorities.close_call

standing(id) := "loses" if strength[id] - incoming >= priorities.close_call

standing(id) := "close" if abs(incoming - strength[id]) < priorities.close_call

incoming := score(motive, input.caller.kind)

# The scores of the rival and guarding claims.
strength[id] := score(claim, claim.kind) if some id, claim in rivals

strength[id] := score(claim, claim.kind) if some id, claim in guarding

# The motive; without one, a motive without intent and motivation.
motive := input.motive if input.motive != null

motive := {"intent": null, "motivation": null, "evidence": []} if input.motive == null

score(subject, kind) := sum([
	object.get(priorities.intents, subject.intent, 0),
	object.get(priorities.motivations, subject.motivation, 0),
	object.get(priorities.kinds, kind, 0),
	0 - penalty(subject),
])

penalty(subject) := priorities.unproven_penalty if unproven(subject)

penalty(subject) := 0 if not unproven(subject)

unproven(subject) if {
	prefixes := priorities.proof[subject.motivation]
	not proven(subject, prefixes)
}

proven(subject, prefixes) if {
	some reference in subject.evidence
	reference != ""
	some prefix in prefixes
	startswith(upper(reference), prefix)
}

flips(effect) := object.get(input.flips, concat(".", [effect.address, effect.attribute]), 0)

# The holder of the attribute may set it, and so may an actor that clearly outranks every holder.
may_set_frozen(effect) if {
	some claim in input.claims
	claim.actor == input.caller.actor
	overlaps(claim, effect)
}

may_set_frozen(effect) if {
	held := holders(effect)
	count(held) > 0
	every id in held {
		outcome[id] == "wins"
	}
}

holders(effect) := {id | some id, claim in rivals; overlaps(claim, effect)}

# The actors with the highest-ranked claims on the attribute; empty if there is no claim.
best_holders(effect) := concat(", ", sort({rivals[id].actor |
	some id in holders(effect)
	strength[id] == max([strength[other] | some other in holders(effect)])
}))

holder_note(effect) := "" if best_holders(effect) == ""

holder_note(effect) := concat("", [" (held by ", best_holders(effect), ")"]) if best_holders(effect) != ""

incoming_text := "a change without a motive" if input.motive == null

incoming_text := concat("", [motive.intent, "/", motive.motivation, unproven_note(motive)]) if input.motive != null

motive_text(claim) := "no stated motive" if claim.motivation == null

motive_text(claim) := concat("", [claim.intent, "/", claim.motivation, unproven_note(claim)]) if claim.motivation != null

unproven_note(subject) := " (unproven)" if unproven(subject)

unproven_note(subject) := "" if not unproven(subject)

until_text(claim) := " until it is superseded, released or merged" if claim.until == null

until_text(claim) := concat("", [" until ", claim.until]) if claim.until != null
