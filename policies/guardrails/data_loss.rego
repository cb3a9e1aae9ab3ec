# METADATA
# title: Data loss
# description: Deleting resources that hold data, or removing their protection, needs a human.
package sentinel.rules.data_loss

import data.data.data_loss

evaluated := true

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
	effect.resource_type in data_loss.stores
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
		effect.attribute, " = ", json.marshal(effect.value), " would remove the protection of the data in ",
		effect.address, ". ", remedy,
	]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in input.mutation.effects
	effect.action == "set"
	effect.changes
	some protection in data_loss.protections
	effect.attribute == protection.attribute
	effect.value in protection.unsafe
	not is_declared(effect)
}

# METADATA
# title: Destroying data with data-plane calls
# description: Agents and services need a human's approval. Applications that process their own data do not call AWS through Sentinel.
# custom:
#   id: SEN-D003
#   severity: high
findings contains {
	"id": "SEN-D003",
	"verdict": "hold",
	"message": concat("", [operation, " destroys or overwrites data, and no Terraform plan can restore it; a human must approve it."]),
	"address": "",
	"attribute": "",
} if {
	input.caller.kind in {"agent", "service"}
	operation := concat(":", [input.mutation.service, input.mutation.operation])
	operation in data_loss.destructive
}

is_declared(effect) if {
	input.caller.kind != "agent"
	effect.value == effect.declared_value
}

remedy := {
	"deny": "A human or a pipeline must ask for this, and a human must approve it.",
	"hold": "A human must approve it; then send the identical call again.",
}[verdict]
