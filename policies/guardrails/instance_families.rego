# METADATA
# title: Instance families
# description: Instances are only of the families that data/instance_families.json lists.
package sentinel.rules.instance_families

import data.data.instance_families as config
import data.sentinel.lib.effects
import data.sentinel.lib.scopes

# METADATA
# title: An instance family that is not allowed
# description: A resource is created with an instance type of another family, or changed to one.
# custom:
#   id: SEN-Y001
#   severity: medium
findings contains {
	"id": "SEN-Y001",
	"verdict": "deny",
	"message": concat("", [
		effect.address, " would be a ", value, ", and the family ", family(value), " is not allowed. Allowed: ",
		concat(", ", sort({name | some list in allowed; some name in list})), ".",
	]),
	"address": effect.address,
	"attribute": attribute,
} if {
	some effect in effects.writes
	effect.changes
	some attribute in attributes(effect)
	some [_, value, _] in effects.given(effect, {attribute: true})
	is_string(value)
	some list in allowed
	count(list) > 0
	not fits(list, value)
}

attributes(effect) := {attribute | attribute := config.attributes[effect.resource_type]}

allowed := scopes.lists(config.allowed, config.by_stack)

fits(list, value) if {
	some pattern in list
	scopes.named(pattern, family(value))
}

# `m7g` of `m7g.large`, `db.m7g.large`, `cache.m7g.large` and `m7g.large.search`.
family(value) := regex.find_n(`[a-z]+[0-9][a-z0-9-]*`, value, 1)[0]

concerned contains effect.address if {
	some effect in effects.wholes
	some list in allowed
	count(list) > 0
	effects.may_change(effect, config.attributes[effect.resource_type])
}
