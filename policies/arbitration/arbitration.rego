# METADATA
# title: Arbitration
# description: |
#   Decides between actors that want different values for the same attribute. The ranks are data
#   (`policies/data/priorities.json`): score = intent + motivation + kind, minus a penalty for an unproven motivation.
package sentinel.arbitration

import data.sentinel.priorities as layered

priorities := layered.numbers

# METADATA
# title: The complete result of arbitration
# entrypoint: true
result := {
	"evaluated": evaluated,
	"findings": findings,
	"supersedes": supersedes,
	"on_approval": on_approval,
	"obligations": {"claim_seconds": claim_seconds, "claims_limit": claims_limit},
}

# Every rival claim has exactly one outcome. If a score is undefined, so is this rule, and the gateway refuses the change.
evaluated if {
	is_number(incoming)
	is_number(claim_seconds)
	is_number(claims_limit)
	every id, _ in rivals {
		outcome[id] in {"wins", "close", "loses", "unsettled", "agrees"}
	}
	every id, _ in indirect {
		standing(id) in {"wins", "close", "loses"}
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
	"message": concat("", [claim.attribute, " of ", claim.address, " is held by ", claim.actor, purpose(claim), ", whose claim outranks ", incoming_text, until_text(claim), ". ", way_out]),
	"address": claim.address,
	"attribute": claim.attribute,
	"holder": claim.actor,
	"retry_after_ns": claim.until_ns,
	"conflict": "direct",
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
	"message": concat("", [claim.attribute, " of ", claim.address, " is held by ", claim.actor, purpose(claim), ", whose claim ranks about as high as ", incoming_text, until_text(claim), ". An approver must decide between the two."]),
	"address": claim.address,
	"attribute": claim.attribute,
	"holder": claim.actor,
	"retry_after_ns": claim.until_ns,
	"conflict": "direct",
} if {
	some id, claim in rivals
	outcome[id] == "close"
}

# METADATA
# title: Oscillation
# description: An attribute that actors keep changing back and forth is frozen, except for its holder, and for a clearly stronger motive of somebody new or human.
# custom:
#   id: SEN-A003
#   severity: high
findings contains {
	"id": "SEN-A003",
	"verdict": "deny",
	"message": sprintf(
		"%s of %s changed hands %v times recently, so it is frozen%s. Agree on a value with the other actors%s.",
		[effect.attribute, effect.address, flips(effect), holder_note(effect), or_ask],
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
	"message": concat("", [deleted_text, " is needed by ", claim.address, ", and ", claim.actor, " holds its ", claim.attribute, purpose(claim), until_text(claim), ". It cannot be deleted until then."]),
	"address": first_deleted,
	"attribute": "*",
	"holder": claim.actor,
	"retry_after_ns": claim.until_ns,
	"conflict": "indirect",
} if {
	some id, claim in guarding
	standing(id) in {"loses", "close"}
}

# METADATA
# title: Another change of the attribute is not settled
# description: |
#   While a change is in flight or in doubt nobody knows the attribute's value, so nobody else sets it, whatever their rank and
#   whatever value they ask for.
# custom:
#   id: SEN-A005
#   severity: high
findings contains {
	"id": "SEN-A005",
	"verdict": "deny",
	"message": concat("", [claim.actor, " is changing ", claim.attribute, " of ", claim.address, purpose(claim), ", and the outcome is not known yet. Nobody else can set it until then, so ask again in a moment; if AWS gave no answer, the value must be read back first."]),
	"address": claim.address,
	"attribute": claim.attribute,
	"holder": claim.actor,
	"retry_after_ns": null,
	"conflict": "direct",
} if {
	some id, claim in rivals
	outcome[id] == "unsettled"
}

# METADATA
# title: Too many claims
# custom:
#   id: SEN-A006
#   severity: medium
findings contains {
	"id": "SEN-A006",
	"verdict": "deny",
	"message": sprintf(
		"%s holds %v claims and would take %v more, but may hold no more than %v. Release claims that you no longer need, or ask again when some have ended.",
		[input.caller.actor, input.caller.open_claims - count(replaced), count(taking), claims_limit],
	),
	"address": "",
	"attribute": "",
} if {
	count(taking) > 0
	(input.caller.open_claims - count(replaced)) + count(taking) > claims_limit
}

# METADATA
# title: A claim for too long
# custom:
#   id: SEN-A007
#   severity: medium
findings contains {
	"id": "SEN-A007",
	"verdict": "deny",
	"message": sprintf(
		"The change is wanted for %v seconds, but a claim may last no longer than %v. Ask for it for a shorter time.",
		[input.motive.wanted_seconds, longest_seconds],
	),
	"address": "",
	"attribute": "",
} if {
	count(taking) > 0
	input.motive.wanted_seconds > longest_seconds
}

# METADATA
# title: Stacks that rank differently
# description: A change of resources in several stacks contests a claim, and the stacks do not have the same layers of priorities.
# custom:
#   id: SEN-A008
#   severity: medium
findings contains {
	"id": "SEN-A008",
	"verdict": "hold",
	"message": concat("", ["This change is of several stacks (", concat(", ", input.stacks), ") whose priorities differ, and ", claim.actor, " holds ", claim.attribute, " of ", claim.address, ". An approver must decide; or change one stack at a time."]),
	"address": claim.address,
	"attribute": claim.attribute,
	"holder": claim.actor,
	"retry_after_ns": claim.until_ns,
	"conflict": "direct",
} if {
	layered.disagree
	some id, claim in rivals
	outcome[id] == "wins"
}

# The actor's own earlier claims on the attributes it sets now, and the claims of others that it outranks.
supersedes contains claim.id if {
	some claim in input.claims
	claim.actor == input.caller.actor
	touched(claim, set_attributes)
}

supersedes contains id if {
	some id, _ in rivals
	outcome[id] == "wins"
}

# The claims of others that it agrees with. They stand in the way of no call, and a call that only restates a value holds its attribute
# no longer than it is under way: then the gateway gives these claims back. Until then their holders wait too, else a call that set
# the old value late would undo the new one.
supersedes contains id if {
	some id, _ in rivals
	outcome[id] == "agrees"
}

# The claims of others that end too if a human approves the change: approving it decides between the two.
on_approval contains id if {
	some id, _ in rivals
	outcome[id] == "close"
}

# Duration of the claim: that of the motivation, but no longer than the change is wanted and than any claim may last.
claim_seconds := min({seconds | some seconds in [usual_seconds, wanted_seconds, longest_seconds]; seconds != null})

longest_seconds := priorities.longest_claim_seconds[input.caller.kind]

claims_limit := priorities.claims_per_actor[input.caller.kind]

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

# The attributes that this mutation claims if it is carried out. Setting a value that nobody disputes claims nothing.
taking := {[effect.address, effect.attribute] | some effect in changing; effect.action in {"set", "delete"}}

# The actor's own claims that a new one replaces.
replaced contains claim.id if {
	some claim in input.claims
	claim.actor == input.caller.actor
	touched(claim, changed_attributes)
}

# The claims of others on attributes that this mutation sets, by id.
rivals[claim.id] := claim if {
	some claim in input.claims
	claim.actor != input.caller.actor
	touched(claim, set_attributes)
}

deleted := {effect.address | some effect in changing; effect.action == "delete"}

first_deleted := min(deleted) if count(deleted) > 0

deleted_text := first_deleted if count(deleted) == 1

deleted_text := sprintf("%s, or one of %v other resources deleted with it,", [first_deleted, count(deleted) - 1]) if count(deleted) > 1

# The urgent claims of others on other attributes or dependants of a resource that this mutation deletes, by id.
guarding[claim.id] := claim if {
	count(deleted) > 0
	some claim in input.claims
	claim.actor != input.caller.actor
	claim.relation in {"resource", "dependant"}
	claim.motivation in priorities.urgent
	not touched(claim, changed_attributes)
}

set_attributes := attributes(setting)

changed_attributes := attributes(changing)

# The attributes of some effects, arranged so that finding the claims on them takes time in proportion to both, not to their product.
# A look-up (`found.exact[…]`) does; `… in found.exact` compares with every member in Wasm.
attributes(effects) := {
	"exact": {[effect.address, effect.attribute] | some effect in effects},
	"around": {[effect.address, outer] | some effect in effects; some outer in enclosing(effect.attribute)},
	"addresses": {effect.address | some effect in effects},
}

# Whether a claim is on one of the attributes, on a part of it, or on what it is a part of. `*` is the whole resource.
touched(claim, found) if {
	claim.attribute == "*"
	found.addresses[claim.address]
}

touched(claim, found) if found.exact[[claim.address, "*"]]

touched(claim, found) if found.around[[claim.address, claim.attribute]]

touched(claim, found) if {
	some outer in enclosing(claim.attribute)
	found.exact[[claim.address, outer]]
}

# The path itself and those it is nested in: `a.b` and `a` for `a.b`.
enclosing(attribute) := {concat(".", array.slice(steps, 0, index + 1)) |
	steps := split(attribute, ".")
	some index, _ in steps
}

outcome[id] := "unsettled" if {
	some id, claim in rivals
	claim.unsettled
}

outcome[id] := "agrees" if {
	some id, claim in rivals
	not claim.unsettled
	agrees(claim)
}

outcome[id] := standing(id) if {
	some id, claim in rivals
	not claim.unsettled
	not agrees(claim)
}

# Whether the mutation sets the attribute to exactly the value that it has and that the claim wants, and changes nothing of it.
agrees(claim) if {
	restated[[claim.address, claim.attribute, claim.value]]
	not touched(claim, changed_attributes)
}

restated := {[effect.address, effect.attribute, effect.value] |
	some effect in setting
	effect.action == "set"
	not effect.changes
}

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

score(subject, kind) := ((found.intent + found.motivation) + found.kind) + found.unproven if {
	found := terms(subject, kind)
}

# What a score is the sum of, by name.
terms(subject, kind) := {
	"intent": object.get(priorities.intents, subject.intent, 0),
	"motivation": object.get(priorities.motivations, subject.motivation, 0),
	"kind": object.get(priorities.kinds, kind, 0),
	"unproven": 0 - penalty(subject),
}

penalty(subject) := priorities.unproven_penalty if unproven(subject)

penalty(subject) := 0 if not unproven(subject)

# Where a source of signals is set, only an open signal that concerns the resource is proof.
unproven(subject) if subject.proven == false

unproven(subject) if {
	not is_boolean(object.get(subject, "proven", null))
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

# The holder of the attribute may set it, and so may an actor that clearly outranks every holder, unless it took part in the back and forth:
# agents that outbid each other would otherwise go on until one of them has the highest rank of all.
may_set_frozen(effect) if {
	some claim in on_address[effect.address]
	claim.actor == input.caller.actor
	touched(claim, attributes([effect]))
}

may_set_frozen(effect) if {
	not returns(effect)
	held := holders(effect)
	count(held) > 0
	every id in held {
		outcome[id] == "wins"
	}
}

# The caller held the attribute before, and it is no human who decides between others.
returns(effect) if {
	input.caller.kind != "human"
	concat(".", [effect.address, effect.attribute]) in object.get(input.caller, "held_before", [])
}

holders(effect) := {id |
	found := attributes([effect])
	some id, claim in on_address[effect.address]
	rivals[id]
	touched(claim, found)
}

on_address[claim.address][claim.id] := claim if some claim in input.claims

# The actors with the highest-ranked claims on the attribute; empty if there is no claim.
best_holders(effect) := concat(", ", sort({rivals[id].actor |
	some id in holders(effect)

	# regal ignore:prefer-some-in-iteration
	strength[id] == max([strength[other] | some other in holders(effect)])
}))

holder_note(effect) := "" if best_holders(effect) == ""

holder_note(effect) := concat("", [" (held by ", best_holders(effect), ")"]) if best_holders(effect) != ""

incoming_text := "a change without a motive" if input.motive == null

incoming_text := concat("", [motive.intent, "/", motive.motivation, unproven_note(motive)]) if input.motive != null

# Why a claim is held. Agents and services are not told with which motives others win.
purpose(claim) := concat("", [" for ", motive_text(claim)]) if input.caller.kind in {"human", "pipeline"}

purpose(_) := "" if not input.caller.kind in {"human", "pipeline"}

motive_text(claim) := "no stated motive" if claim.motivation == null

motive_text(claim) := concat("", [claim.intent, "/", claim.motivation, unproven_note(claim)]) if claim.motivation != null

unproven_note(subject) := " (unproven)" if unproven(subject)

unproven_note(subject) := "" if not unproven(subject)

# What to do about a claim that ranks higher. People and pipelines get the cures that exist for them from the gateway.
way_out := "Ask again then." if input.caller.kind in {"human", "pipeline"}

way_out := "Ask again then, or let a human decide." if not input.caller.kind in {"human", "pipeline"}

# A person has nobody else to ask.
or_ask := "" if input.caller.kind == "human"

or_ask := ", or ask a human" if input.caller.kind != "human"

until_text(claim) := " until it is superseded, released or merged" if claim.until == null

# To the second: people read it. The exact end is in `retry_after`.
until_text(claim) := concat("", [" until ", trim_suffix(split(claim.until, ".")[0], "Z"), "Z"]) if claim.until != null
