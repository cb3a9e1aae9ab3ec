# METADATA
# title: Guardrails
# description: |
#   Joins the findings of every package below `sentinel.rules`. `evaluated` contains the packages whose findings could be
#   evaluated: the gateway compares it with the packages in the bundle and refuses the change if one is missing.
#   `warned` are the findings of rules that are only tried: they refuse and hold nothing (`policies/data/stages.json`).
package sentinel.guardrails

import data.data.stages
import data.sentinel.lib.effects

# METADATA
# title: All guardrails together
# entrypoint: true
result := {"evaluated": evaluated, "findings": enforced, "warned": warned}

evaluated[name] := true if {
	some name
	is_set(data.sentinel.rules[name].findings)
}

enforced contains finding if {
	some finding in findings
	stage(finding) == "enforce"
}

warned contains finding if {
	some finding in findings
	stage(finding) == "warn"
}

findings contains finding if some finding in data.sentinel.rules[_].findings

# METADATA
# title: The stage of a finding's rule
# scope: document
# description: |
#   That of the last entry that fits, else that of the rule's pack. A rule that denies in every mode is always enforced, and so is one of
#   no pack.
default stage(_) := "enforce"

stage(finding) := last if {
	not startswith(finding.id, "never.")
	fitting := [entry.stage | some entry in stages.entries; fits(entry, finding)]
	count(fitting) > 0
	last := fitting[count(fitting) - 1]
} else := packs[pack_of[finding.id]].stage if not startswith(finding.id, "never.")

packs := data.data.packs.by_name

# The pack of a rule; by the data, a rule is in one.
pack_of[rule] := name if {
	some name, pack in packs
	some rule, _ in pack.controls
}

fits(entry, finding) if {
	object.get(entry, "rule", finding.id) == finding.id
	in_pack(entry, finding)
	object.get(entry, "kind", input.caller.kind) == input.caller.kind
	everywhere(object.get(entry, "stack", "*"))
}

in_pack(entry, _) if not entry.pack

in_pack(entry, finding) if pack_of[finding.id] == entry.pack

everywhere("*")

everywhere(pattern) if {
	count(input.stacks) > 0
	every stack in input.stacks {
		stack != ""
		named(pattern, stack)
	}
}

named(pattern, stack) if pattern == stack

named(pattern, stack) if {
	endswith(pattern, "*")
	startswith(stack, trim_suffix(pattern, "*"))
}

# METADATA
# title: Only the resource is known
# scope: rule
# description: |
#   A derived row knows the resource of a call and not what becomes of its attributes. So rules over attributes see nothing, and a person
#   decides wherever a package says that it is `concerned`, or does not say of which calls it is.
# custom:
#   id: SEN-C002
#   severity: high
findings contains {
	"id": "SEN-C002",
	"verdict": "hold",
	"message": concat("", [
		"Sentinel knows of this call only that it touches ", effect.address, ", and the guardrails ", concat(", ", sort(blind)),
		" judge attributes that it may change without showing it. ",
		"Apply it with its plan (`sentinel apply`), or have it approved.",
	]),
	"address": effect.address,
	"attribute": "*",
} if {
	some effect in effects.wholes
	blind := {name | some name, _ in evaluated; unseen(name, effect)}
	count(blind) > 0
}

unseen(name, effect) if data.sentinel.rules[name].concerned[effect.address]

unseen(name, _) if not says_what_concerns_it[name]

says_what_concerns_it[name] := true if {
	some name
	is_set(data.sentinel.rules[name].concerned)
}
