# METADATA
# title: Data loss
# description: Things that hold data are not deleted, and not stripped of what protects them, without a human.
package sentinel.rules.data_loss

import data.data.data_loss as law

evaluated := true

# Agents and services act alone; humans and pipelines have somebody behind them who can be asked.
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
	effect.resource_type in law.stores
}

# METADATA
# title: Removing what protects data
# description: Passes where the Terraform code itself declares the value and nobody but an agent asks.
# custom:
#   id: SEN-D002
#   severity: high
findings contains {
	"id": "SEN-D002",
	"verdict": verdict,
	"message": concat("", [
		effect.attribute, " = ", json.marshal(effect.value), " would take away what protects the data of ",
		effect.address, ". ", remedy,
	]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in input.mutation.effects
	effect.action == "set"
	effect.changes
	some protection in law.protections
	effect.attribute == protection.attribute
	effect.value in protection.unsafe
	not declared_so(effect)
}

# METADATA
# title: Destroying data by calls on the data itself
# description: Whoever acts alone asks a human first; an application that consumes its own data does not go through Sentinel.
# custom:
#   id: SEN-D003
#   severity: high
findings contains {
	"id": "SEN-D003",
	"verdict": "hold",
	"message": concat("", [operation, " destroys or overwrites data, which no plan brings back; a human must approve it."]),
	"address": "",
	"attribute": "",
} if {
	input.caller.kind in {"agent", "service"}
	operation := concat(":", [input.mutation.service, input.mutation.operation])
	operation in law.destructive
}

declared_so(effect) if {
	input.caller.kind != "agent"
	effect.value == effect.declared_value
}

remedy := {
	"deny": "A human or a pipeline must ask for this, and a human must approve it.",
	"hold": "A human must approve it; then send the identical call again.",
}[verdict]
