# METADATA
# title: Regions
# description: Changes go only to the regions that data/regions.json lists.
package sentinel.rules.regions

import data.data.regions as config
import data.sentinel.lib.scopes

# METADATA
# title: A region that is not allowed
# description: |
#   The call goes to a region in which nothing is to be run, or a plan changes something there: by the configuration of its providers, the
#   state, or the stack's settings. Services without regions are not judged.
# custom:
#   id: SEN-R001
#   severity: high
findings contains {
	"id": "SEN-R001",
	"verdict": "deny",
	"message": concat("", [
		"The region ", region, " is not allowed", where, ". Allowed: ",
		concat(", ", sort({name | some list in allowed; some name in list})), ". Nothing was sent.",
	]),
	"address": "",
	"attribute": "",
} if {
	some region in regions
	some list in allowed
	count(list) > 0 # an empty list allows all
	not region in list
}

regions contains input.mutation.region if {
	input.mutation.region != ""
	not input.mutation.service in config.without_regions
}

regions contains region if {
	some region, types in object.get(input.mutation, "regions", {})
	some type in types
	every service in config.without_regions {
		not startswith(type, concat("", ["aws_", service, "_"]))
	}
}

allowed := scopes.lists(config.allowed, config.by_stack)

where := "" if input.stack == ""

where := concat("", [" for the stack ", input.stack]) if input.stack != ""

# These rules judge no attribute (see guardrails.rego).
concerned := set()
