# METADATA
# title: Cost
# description: What a change adds to the monthly bill, by the price table in data/prices.json. Estimates; what is not known is never taken for nothing.
package sentinel.rules.cost

import data.data.costs

# METADATA
# title: A change that costs much
# description: The resources with a known price add more a month than this kind of actor may add without being asked.
# custom:
#   id: SEN-K001
#   severity: medium
findings contains {
	"id": "SEN-K001",
	"verdict": "hold",
	"message": sprintf(
		"This adds about %s USD a month by list prices of %s%s, and a person decides from %s USD on. Ask for less, or have it approved.",
		[dollars(input.cost.known_cents), input.cost.dated, unknown_part, dollars(limit)],
	),
	"address": "",
	"attribute": "",
} if {
	limit := costs.held_from_cents[input.caller.kind]
	limit != null
	input.cost.known_cents >= limit
}

dollars(cents) := sprintf("%d.%02d", [floor(cents / 100), cents % 100])

unknown_part := "" if input.cost.unknown_count == 0

unknown_part := concat("", [" (not counting ", concat(", ", input.cost.unknown), ")"]) if input.cost.unknown_count > 0

# METADATA
# title: A change of unknown cost
# description: No price is known for a resource that the change creates or resizes, and a person decides for this kind of actor.
# custom:
#   id: SEN-K002
#   severity: low
findings contains {
	"id": "SEN-K002",
	"verdict": "hold",
	"message": concat("", [
		"What this costs is not known for ", concat(", ", input.cost.unknown), ". ",
		"A person decides; or add the price to data/prices.json.",
	]),
	"address": "",
	"attribute": "",
} if {
	input.caller.kind in costs.hold_unknown
	input.cost.dated != ""
	input.cost.unknown_count > 0
}

# What only touches a resource has an unknown cost, and these rules judge nothing else (see guardrails.rego).
concerned := set()
