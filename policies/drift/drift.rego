# METADATA
# title: Drift from outside
# description: |
#   Decides what becomes of a change that did not go through Sentinel: `codify` proposes it for the code, `revert` sets the declared value
#   again, `quarantine` keeps everybody but people off the resource until a human decides, `human` asks one, `leave` ignores it because an
#   AWS service owns the value. The lists are data (`policies/data/drift.json`). The first rule that applies decides.
package sentinel.drift

import data.data.data_loss
import data.data.drift
import data.sentinel.priorities

# METADATA
# title: The answer about one drifted value
# entrypoint: true
result := {"evaluated": true, "action": answer.action, "rule": answer.rule, "message": answer.message}

answer := {
	"action": "human",
	"rule": "SEN-F001",
	"message": "The value is or may hold a secret, so it is neither written into code nor sent by Sentinel.",
} if {
	input.drift.sensitive
} else := {
	"action": "quarantine",
	"rule": "SEN-F002",
	"message": sprintf("%s holds this value for %s/%s, and somebody changed it round Sentinel. Only people may change the resource until one of them has decided.", [contested.actor, contested.intent, contested.motivation]),
} if {
	count(urgent_claims) > 0
} else := {
	"action": "human",
	"rule": "SEN-F003",
	"message": sprintf("%s holds a claim on this value, and somebody changed it round Sentinel. A human must say whose value counts.", [holder]),
} if {
	count(rivals) > 0
} else := {
	"action": "leave",
	"rule": "SEN-F004",
	"message": "An AWS service set the value, so a controller owns it and it stays out of code.",
} if {
	input.drift.origin.service
} else := {
	"action": "human",
	"rule": "SEN-F005",
	"message": "A whole resource was created, deleted or would be replaced outside of Terraform. A human must say what it should be.",
} if {
	input.drift.attribute == "*"
	not replaced
	not adopted
} else := {
	"action": "codify",
	"rule": "SEN-F006",
	"message": sprintf("%s is trusted to change what it likes, so the change is proposed for the code.", [input.drift.origin.actor]),
} if {
	trusted
} else := {
	"action": "quarantine",
	"rule": "SEN-F007",
	"message": "The resource is critical, and nobody knows who changed it. Only people may change it until one of them has decided.",
} if {
	input.contract.critical
	input.drift.origin == null
} else := {
	"action": "human",
	"rule": "SEN-F008",
	"message": "Rights, keys and stores of data are neither set back nor written into code without a human.",
} if {
	guarded
} else := {
	"action": "human",
	"rule": "SEN-F011",
	"message": "Another resource took the place of one that protects the network or data. It cannot be set back, so a human must say whether the code takes it in.",
} if {
	replaced
	input.drift.resource_type in drift.reverted
} else := {
	"action": "human",
	"rule": "SEN-F012",
	"message": "Somebody created something that protects the network or data, or that is listed for people. A human must say whether the code takes it in.",
} if {
	adopted
	for_people
} else := {
	"action": "codify",
	"rule": "SEN-F013",
	"message": sprintf("It was created outside, and %s, so its block is proposed for the code.", [belonging]),
} if {
	adopted
} else := {
	"action": "revert",
	"rule": "SEN-F009",
	"message": "The value protects the network or data, so the declared one is set again.",
} if {
	input.drift.resource_type in drift.reverted
} else := {
	"action": "codify",
	"rule": "SEN-F010",
	"message": "Nothing speaks against the change, so it is proposed for the code, where a human reviews it.",
}

# Claims whose value is not the live one: the holder's change was overwritten.
rivals contains claim if {
	some claim in input.claims
	claim.value != input.drift.live
}

urgent_claims contains claim if {
	some claim in rivals
	claim.motivation in priorities.numbers.urgent
}

contested := sort(urgent_claims)[0]

holder := sort({claim.actor | some claim in rivals})[0]

# Another resource stands in the place of the one that the state has, and events leave no doubt which.
replaced if {
	input.drift.attribute == "*"
	input.drift.live.import_id
}

# A resource that was created beside the code, and that the setting `reconcile.adopt` wants written.
adopted if {
	input.drift.attribute == "*"
	input.drift.live.created
	input.drift.live.adopt == true
}

belonging := sprintf("belongs to %s", [input.drift.live.of]) if {
	input.drift.live.of != ""
} else := "all that is created is to be written"

for_people if input.drift.resource_type in drift.reverted

for_people if {
	some pattern in drift.listed
	matches(pattern, input.drift.resource_type)
}

trusted if {
	some pattern in drift.trusted
	matches(pattern, input.drift.origin.actor)
}

guarded if input.drift.resource_type in data_loss.stores

guarded if {
	some pattern in drift.guarded
	matches(pattern, input.drift.resource_type)
}

matches(pattern, text) if pattern == text

matches(pattern, text) if {
	endswith(pattern, "*")
	startswith(text, trim_suffix(pattern, "*"))
}
