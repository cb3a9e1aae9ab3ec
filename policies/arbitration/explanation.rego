# METADATA
# title: Why a contest ended as it did
# description: |
#   What `sentinel explain` shows of a contest: the scores of the change and of every claim in its way, each as the sum of its terms,
#   and the motives that would have won. It decides nothing; it repeats what `sentinel.arbitration` decided.
package sentinel.explanation

import data.sentinel.arbitration
import data.sentinel.priorities as layered

priorities := layered.numbers

# METADATA
# title: The complete result of the explanation
# entrypoint: true
result := {
	"evaluated": evaluated,
	"incoming": incoming,
	"rivals": rivals,
	"needed": needed,
	"winning": winning,
}

evaluated if {
	is_number(arbitration.incoming)
	every id, _ in arbitration.rivals {
		rivals[id]
	}
}

incoming := {
	"score": arbitration.incoming,
	"terms": arbitration.terms(arbitration.motive, input.caller.kind),
}

# Every claim of another actor in the way, by id.
rivals[id] := shown(claim, outcome, "direct") if {
	some id, claim in arbitration.rivals
	outcome := arbitration.outcome[id]
}

rivals[id] := shown(claim, outcome, "indirect") if {
	some id, claim in arbitration.guarding
	outcome := arbitration.standing(id)
}

rivals[id] := shown(claim, outcome, "indirect") if {
	some id, _ in arbitration.indirect
	not arbitration.guarding[id]
	claim := arbitration.shown_claims[id]
	outcome := arbitration.standing(id)
}

shown(claim, outcome, class) := {
	"class": class,
	"address": claim.address,
	"attribute": claim.attribute,
	"actor": claim.actor,
	"kind": claim.kind,
	"intent": claim.intent,
	"motivation": claim.motivation,
	"since_ns": claim.since_ns,
	"until_ns": claim.until_ns,
	"outcome": outcome,
	"score": arbitration.strength[claim.id],
	"terms": arbitration.terms(claim, claim.kind),
}

# The score that would have won against every claim in the way. While one of them is unsettled, no score wins.
needed := null if unsettled

needed := max(scores) + priorities.close_call if {
	not unsettled
	count(scores) > 0
}

needed := null if count(scores) == 0

# Those of the claims that want something else.
scores := [rival.score | some rival in rivals; rival.outcome != "agrees"]

unsettled if {
	some rival in rivals
	rival.outcome == "unsettled"
}

# The motives with which this caller would have won, if their evidence held.
winning contains {"intent": intent, "motivation": motivation, "score": score} if {
	is_number(needed)
	some intent, _ in priorities.intents
	some motivation, _ in priorities.motivations
	terms := arbitration.terms({"intent": intent, "motivation": motivation, "evidence": []}, input.caller.kind)
	score := (terms.intent + terms.motivation) + terms.kind
	score >= needed
}
