# METADATA
# title: Change freezes
# description: Times in which nothing is changed, from the calendar in data/freezes.json. The clock is the decision's.
package sentinel.rules.freezes

import data.data.freezes as config
import data.sentinel.lib.scopes

# METADATA
# title: A change in a freeze
# description: A freeze of the calendar holds for the stack and the kind of actor, and the proven motivation is not one that it excepts.
# custom:
#   id: SEN-W001
#   severity: medium
findings contains {
	"id": "SEN-W001",
	"verdict": freeze.verdict,
	"message": concat("", [
		"The change freeze ", freeze.name, " holds ", ending(freeze), ". Change it afterwards",
		excepted(freeze), ", or have it approved where a person decides.",
	]),
	"address": "",
	"attribute": "",
} if {
	some freeze in config.calendar
	input.caller.kind in freeze.kinds
	reaches(freeze)
	holds_now(freeze)
	not excepts(freeze)
}

reaches(freeze) if "*" in freeze.stacks

reaches(freeze) if {
	some pattern in freeze.stacks
	some stack in input.stacks
	stack != ""
	scopes.named(pattern, stack)
}

# A call that nobody understands may be about any stack.
reaches(_) if not input.mutation.understood

# A freeze with a beginning and an end.
holds_now(freeze) if {
	input.now_ns >= time.parse_rfc3339_ns(freeze.begins)
	input.now_ns < time.parse_rfc3339_ns(freeze.ends)
}

# A weekly one, by the clock of its zone.
holds_now(freeze) if {
	zone := object.get(freeze, "zone", "UTC")
	time.weekday([input.now_ns, zone]) in freeze.weekdays
	[hour, _, _] := time.clock([input.now_ns, zone])
	hour >= object.get(freeze, "from_hour", 0)
	hour < object.get(freeze, "until_hour", 24)
}

# A motivation that nothing proves excepts nobody.
excepts(freeze) if {
	input.motive.motivation in freeze.except_motivations
	input.motive.proven != false
}

ending(freeze) := concat(" ", ["until", freeze.ends]) if freeze.ends

ending(freeze) := concat(" ", ["on", concat(", ", freeze.weekdays)]) if freeze.weekdays

excepted(freeze) := "" if count(freeze.except_motivations) == 0

excepted(freeze) := concat("", [", state a proven motivation (", concat(", ", freeze.except_motivations), ")"]) if {
	count(freeze.except_motivations) > 0
}

# These rules judge no attribute (see guardrails.rego).
concerned := set()
