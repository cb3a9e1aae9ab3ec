# METADATA
# title: Tags
# description: New resources carry the tags that data/tags.json requires, and nobody takes them away.
package sentinel.rules.tags

import data.data.tags as config
import data.sentinel.lib.effects
import data.sentinel.lib.scopes

# METADATA
# title: A required tag is missing
# description: A resource is created without it, its tags are replaced by others without it, or it is taken away.
# custom:
#   id: SEN-G001
#   severity: medium
findings contains {
	"id": "SEN-G001",
	"verdict": "deny",
	"message": concat("", [
		address, " would be without the required tag ", concat(", ", sort(names)), ". Add it to the call, or to the code.",
	]),
	"address": address,
	"attribute": "tags",
} if {
	some address, names in missing
}

# METADATA
# title: A tag with a value that is not listed
# description: The values of some tags are a closed list, such as cost centres.
# custom:
#   id: SEN-G002
#   severity: low
findings contains {
	"id": "SEN-G002",
	"verdict": "deny",
	"message": concat("", ["The tag ", name, " of ", address, " must be one of ", concat(", ", sort(listed)), "."]),
	"address": address,
	"attribute": "tags",
} if {
	some address, tags in written
	some name, listed in config.values
	value := tags[name]
	not value in listed
}

required := {name | some list in scopes.lists(config.required, config.by_stack); some name in list}

# Address → the required tags that it would be without.
missing[address] contains name if {
	some address, tags in tagged
	some name in required
	object.get(tags, name, "") == ""
}

missing[effect.address] contains name if {
	some effect in effects.writes
	effect.changes
	some tags in one_of(effect)
	some name in required
	tags[name] in {null, ""}
}

# Address → the tags that it would have: of what is created, and of what gets other tags as a whole.
tagged[effect.address] := object.get(written, effect.address, {}) if {
	some effect in input.mutation.effects
	effect.action == "create"
	effect.attribute == "*"
	not effect.resource_type in config.untagged
}

tagged[effect.address] := effect.value if {
	some effect in input.mutation.effects
	replaces(effect)
}

# Address → the tags that the call writes, whole or one by one.
written[address] := {name: max(values) | some name, values in names} if some address, names in writes

writes[effect.address][name] contains value if {
	some effect in effects.writes
	some tags in tags_of(effect)
	some name, value in tags
}

replaces(effect) if {
	effect.action == "set"
	effect.attribute == "tags"
	effect.changes
	is_object(effect.value)
}

tags_of(effect) := [effect.value] if {
	effect.attribute == "tags"
	is_object(effect.value)
}

tags_of(effect) := [effect.value.tags] if {
	effect.attribute == "*"
	is_object(effect.value.tags)
}

tags_of(effect) := one_of(effect)

# The tag that an effect sets by itself.
one_of(effect) := [{effects.key_of(trim_prefix(effect.attribute, "tags.")): effect.value}] if startswith(effect.attribute, "tags.")

concerned contains effect.address if {
	some effect in effects.wholes
	count(required) > 0
	effects.may_change(effect, "tags")
}
