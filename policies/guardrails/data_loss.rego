# METADATA
# title: Data loss
# description: Deleting resources that hold data, or removing their protection, needs a human.
package sentinel.rules.data_loss

import data.data.data_loss as config
import data.sentinel.lib.documents
import data.sentinel.lib.effects

# Agents and services act without supervision and are denied. For humans and pipelines a human can approve.
verdict := object.get({"human": "hold", "pipeline": "hold"}, input.caller.kind, "deny")

# METADATA
# title: Deleting a data store
# custom:
#   id: SEN-D001
#   severity: critical
findings contains {
	"id": "SEN-D001",
	"verdict": verdict,
	"message": concat("", ["Deleting ", effect.address, " destroys data. ", remedy]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in input.mutation.effects
	effect.action == "delete"
	effect.resource_type in config.stores
}

# METADATA
# title: Removing the protection of data
# description: Allowed if the Terraform code declares the value and the caller is not an agent.
# custom:
#   id: SEN-D002
#   severity: high
findings contains {
	"id": "SEN-D002",
	"verdict": verdict,
	"message": concat("", [
		attribute, " = ", json.marshal(value), " would remove the protection of the data in ",
		effect.address, ". ", remedy,
	]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	effect.changes
	some [attribute, value, unsafe] in effects.given(effect, config.protections)
	value in unsafe
	lowers(effect)
	not effects.is_declared(effect)
}

# METADATA
# title: Destroying data with data-plane calls
# description: |
#   Agents and services need a human's approval. Applications that process their own data have keys of kind service, whose calls pass
#   unless the setting data_plane says policy.
# custom:
#   id: SEN-D003
#   severity: high
findings contains {
	"id": "SEN-D003",
	"verdict": "hold",
	"message": concat("", [operation, " destroys or overwrites data, and no Terraform plan can restore it; it needs an approval."]),
	"address": "",
	"attribute": "",
} if {
	input.caller.kind in {"agent", "service"}
	operation := concat(":", [input.mutation.service, input.mutation.operation])
	operation in config.destructive
}

# METADATA
# title: Keeping data for too short a time
# description: |
#   Backups, logs and messages are kept for at least what `least` in data/data_loss.json says; 0 means for ever where `endless` says so.
#   Longer than before is never too short. Allowed if the Terraform code declares the value and the caller is not an agent.
# custom:
#   id: SEN-D004
#   severity: high
findings contains {
	"id": "SEN-D004",
	"verdict": verdict,
	"message": concat("", [
		attribute, " = ", json.marshal(value), " would keep the data of ", effect.address, " for less than the least of ",
		json.marshal(least), ". ", remedy,
	]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	effect.changes
	some [attribute, value, least] in effects.given(effect, config.least)
	too_short(attribute, value, least)
	not longer(effect, value)
	not effects.is_declared(effect)
}

# METADATA
# title: A lifecycle that expires everything
# description: |
#   A rule that is on, deletes, and singles out neither a prefix nor a tag. Passes where the Terraform code itself declares the value and
#   nobody but an agent asks.
# custom:
#   id: SEN-D005
#   severity: critical
findings contains {
	"id": "SEN-D005",
	"verdict": verdict,
	"message": concat("", ["A rule of this lifecycle would delete all that ", effect.address, " holds, with time. ", remedy]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	effect.changes
	effect.resource_type in config.lifecycles
	not effects.is_declared(effect)
	before := standing(effect)
	some rule in documents.listed(rules(effect))
	expires(rule)
	not singled_out(rule)
	not before[rule]
}

# METADATA
# title: Blinding what watches, or what brings data back
# custom:
#   id: SEN-D006
#   severity: critical
findings contains {
	"id": "SEN-D006",
	"verdict": verdict,
	"message": concat("", [blinded.what, " takes away what records, watches or restores. ", remedy]),
	"address": blinded.address,
	"attribute": blinded.attribute,
} if {
	some blinded in blinding
}

blinding contains {"what": operation, "address": "", "attribute": ""} if {
	operation := concat(":", [input.mutation.service, input.mutation.operation])
	operation in config.watching
}

blinding contains {"what": concat(" ", ["Deleting", effect.address]), "address": effect.address, "attribute": effect.attribute} if {
	some effect in input.mutation.effects
	effect.action == "delete"
	effect.resource_type in config.guards
}

# The same by the resource that a plan declares for it.
blinding contains {"what": concat("", [attribute, " = ", json.marshal(value), " of ", effect.address]), "address": effect.address, "attribute": effect.attribute} if {
	some effect in effects.writes
	effect.changes
	some [attribute, value, blind] in effects.given(effect, blinds(effect.resource_type))
	value in blind
	not effects.is_declared(effect)
}

blinds(type) := object.get(object.get(config, "blinded_by", {}), type, {})

# To create without a protection takes none away where the attribute starts off so, and where AWS would refuse to create what exists.
lowers(effect) if effect.action == "set"

lowers(effect) if effect.upserted

lowers(effect) if {
	effect.action == "create"
	not effect.attribute in config.off_at_first
}

too_short(_, value, _) if {
	value != null
	not is_number(value)
}

too_short(attribute, value, least) if {
	is_number(value)
	value < least
	not endless(attribute, value)
}

endless(attribute, 0) if attribute in config.endless

longer(effect, value) if {
	is_number(value)
	is_number(effect.before)
	effect.before < value
	effect.before > 0
}

rules(effect) := effect.value if effect.attribute == "rule"

rules(effect) := object.get(effect.value, "rule", []) if {
	effect.attribute == "*"
	is_object(effect.value)
}

standing(effect) := {rule | some rule in documents.listed(effect.before)} if effect.attribute == "rule"

standing(effect) := set() if effect.attribute != "rule"

# What cannot be read may do anything.
expires(rule) if not is_object(rule)

expires(rule) if {
	is_object(rule)
	object.get(rule, "status", "Enabled") != "Disabled"
	some key in ["expiration", "noncurrent_version_expiration"]
	some block in documents.listed(object.get(rule, key, []))
	some name in ["days", "date", "noncurrent_days"]
	is_object(block)
	not object.get(block, name, null) in {null, 0, ""}
}

# Size singles nothing out, and a prefix shorter than the shortest name of a family is one of few that cover everything.
singled_out(rule) if {
	is_object(rule)
	some place in places(rule)
	some name in ["prefix", "tag", "tags"]
	value := place[name]
	sized(value)
	count(value) >= config.shortest[name]
}

sized(value) if is_string(value)

sized(value) if effects.is_block(value)

places(rule) := array.concat([rule], array.concat(filters, [both |
	some filter in filters
	some both in documents.listed(object.get(filter, "and", []))
	is_object(both)
])) if {
	filters := [filter | some filter in documents.listed(object.get(rule, "filter", [])); is_object(filter)]
}

remedy := {
	"deny": "A human or a pipeline must ask for this, and it needs an approval.",
	"hold": "It needs an approval; then send the identical call again.",
}[verdict]

# The resources of which a call may change what these rules judge, without showing it (see guardrails.rego).
concerned contains effect.address if {
	some effect in effects.wholes
	some table in [config.protections, config.least]
	some attribute, _ in table
	effects.may_change(effect, attribute)
}

concerned contains effect.address if {
	some effect in effects.wholes
	some attribute, _ in blinds(effect.resource_type)
	effects.may_change(effect, attribute)
}

concerned contains effect.address if {
	some effect in effects.wholes
	effect.resource_type in config.lifecycles
}
