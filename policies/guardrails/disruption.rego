# METADATA
# title: Disruption
# description: |
#   Calls that drain, stop, fail over, lock for years or send elsewhere: they leave every attribute as it was, so that no bound sees
#   them. The lists are data/disruption.json.
package sentinel.rules.disruption

import data.data.data_plane
import data.data.disruption as config
import data.sentinel.lib.addresses
import data.sentinel.lib.effects
import data.sentinel.lib.principals

# METADATA
# title: Draining, stopping or failing over
# description: Held for whoever acts alone, whatever the contract; of a critical resource for everybody.
# custom:
#   id: SEN-S001
#   severity: high
findings contains {
	"id": "SEN-S001",
	"verdict": "hold",
	"message": concat("", [operation, " ", config.disrupting[operation], disrupted.reason, "; it needs an approval."]),
	"address": disrupted.address,
	"attribute": disrupted.attribute,
} if {
	config.disrupting[operation]
	some disrupted in disruptions
}

disruptions contains {"reason": "", "address": "", "attribute": ""} if input.caller.kind in {"agent", "service"}

disruptions contains {"reason": concat("", [", and ", effect.address, " is critical"]), "address": effect.address, "attribute": effect.attribute} if {
	not input.caller.kind in {"agent", "service"}
	some effect in input.mutation.effects
	effect.contract.critical
}

# METADATA
# title: Hiding messages for long
# description: Who reads a queue hides what it gets from the others. For a while that is how queues work; for hours it drains one.
# custom:
#   id: SEN-S005
#   severity: high
findings contains {
	"id": "SEN-S005",
	"verdict": "hold",
	"message": concat("", [operation, " hides messages from those who wait for them for ", json.marshal(seconds), " seconds; it needs an approval."]),
	"address": "",
	"attribute": "",
} if {
	input.caller.kind in {"agent", "service"}
	operation in data_plane.reading
	seconds := input.mutation.parameters.VisibilityTimeout
	seconds > data_plane.longest_hidden_seconds
}

# METADATA
# title: Stopping by a number
# description: A critical resource of which nothing is left running. Passes where the Terraform code itself declares the value.
# custom:
#   id: SEN-S002
#   severity: high
findings contains {
	"id": "SEN-S002",
	"verdict": "hold",
	"message": concat("", [effect.attribute, " = ", json.marshal(effect.value), " stops ", effect.address, ", which is critical; it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in input.mutation.effects
	effect.action == "set"
	effect.changes
	effect.contract.critical
	effect.value in object.get(config.stopping, effect.attribute, [])
	effect.value != effect.declared_value
}

# METADATA
# title: Locking data
# description: A compliance lock ends at its time and by nobody's will, not even AWS's. Held for everybody.
# custom:
#   id: SEN-S003
#   severity: critical
findings contains {
	"id": "SEN-S003",
	"verdict": "hold",
	"message": concat("", [operation, " locks data (", name, " = ", json.marshal(value), "), and nobody can undo a compliance lock; it needs an approval."]),
	"address": "",
	"attribute": "",
} if {
	some name, value in input.mutation.parameters
	name in config.locking
	not value in {null, "", "OFF", false}
}

# METADATA
# title: A call that does more than its name says
# description: |
#   By a parameter that forces, restarts, cascades, overwrites or lifts a safeguard (gateway/effects/reviewed_controls.json). Held for whoever
#   acts alone unless the Terraform code declares it, so that Terraform would send it too; of a critical resource for everybody; and always if
#   nothing brings back what is lost.
# custom:
#   id: SEN-S006
#   severity: high
findings contains {
	"id": "SEN-S006",
	"verdict": "hold",
	"message": concat("", [operation, " with ", control.parameter, " ", object.get(config.controls, control.class, "does what nobody reviewed"), "; it needs an approval."]),
	"address": "",
	"attribute": "",
} if {
	some control in input.mutation.controls
	not harmless(control)
}

harmless(control) if {
	control.class != "irrevocable"
	control.as_declared
}

harmless(control) if {
	control.class != "irrevocable"
	not input.caller.kind in {"agent", "service"}
	not any_critical
}

any_critical if {
	some effect in input.mutation.effects
	effect.contract.critical
}

# METADATA
# title: Sending data or traffic elsewhere
# description: Restoring into another bucket, copying out of another one, and targets that are no instances of this account.
# custom:
#   id: SEN-S004
#   severity: high
findings contains {
	"id": "SEN-S004",
	"verdict": "hold",
	"message": concat("", [operation, " ", reason, "; it needs an approval."]),
	"address": "",
	"attribute": "",
} if {
	some reason in elsewhere
}

operation := concat(":", [input.mutation.service, input.mutation.operation])

elsewhere contains "writes what it restores to another place" if {
	some name in ["OutputLocation", "SelectParameters"]
	name in input.mutation.parameters.RestoreRequest
}

elsewhere contains concat("", ["copies from ", source]) if {
	input.caller.kind in {"agent", "service"}
	source := source_bucket(input.mutation.parameters.CopySource)
	source != input.mutation.parameters.Bucket
}

elsewhere contains concat("", ["sends traffic to ", address]) if {
	some target in input.mutation.parameters.Targets
	address := object.get(target, "Id", "nobody knows where")
	foreign(address)
}

source_bucket(source) := split(trim_left(source, "/"), "/")[0] if is_string(source)

source_bucket(source) := object.get(source, "Bucket", "a source that nobody can read") if is_object(source)

source_bucket(source) := "a source that nobody can read" if {
	not is_string(source)
	not is_object(source)
}

foreign(address) if {
	not startswith(address, "i-")
	input.caller.kind in {"agent", "service"}
}

foreign(address) if {
	not startswith(address, "i-")
	not startswith(address, "arn:")
	not private(address)
}

foreign(address) if {
	startswith(address, "arn:")
	not principals.ours[principals.account(address)]
}

private(address) if {
	some length in ["/32", "/128"]
	addresses.parsed(concat("", [address, length])).reach == "private"
}

# The resources of which a call may change what these rules judge, without showing it (see guardrails.rego).
concerned contains effect.address if {
	some effect in effects.wholes
	effect.contract.critical
}
