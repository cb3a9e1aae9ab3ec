# METADATA
# title: Regions
# description: Changes go only to the regions that data/regions.json lists.
package sentinel.rules.regions

import data.data.regions as config
import data.sentinel.lib.scopes

# METADATA
# title: A region that is not allowed
# description: The call goes to a region in which nothing is to be run. Services without regions are not judged.
# custom:
#   id: SEN-R001
#   severity: high
findings contains {
	"id": "SEN-R001",
	"verdict": "deny",
	"message": concat("", [
		"The region ", input.mutation.region, " is not allowed", where, ". Allowed: ",
		concat(", ", sort({region | some list in allowed; some region in list})), ". Nothing was sent.",
	]),
	"address": "",
	"attribute": "",
} if {
	input.mutation.region != ""
	not input.mutation.service in config.without_regions
	count(refusing) > 0
}

allowed := scopes.lists(config.allowed, config.by_stack)

# The lists without the region; an empty list allows all.
refusing := [list | some list in allowed; count(list) > 0; not input.mutation.region in list]

where := "" if input.stack == ""

where := concat("", [" for the stack ", input.stack]) if input.stack != ""

# These rules judge no attribute (see guardrails.rego).
concerned := set()
