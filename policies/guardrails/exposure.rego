# METADATA
# title: Exposure
# description: Resources that anyone in the world may use, because of a resource policy or a switch. For network rules see `network`.
package sentinel.rules.exposure

import data.data.exposure

evaluated := true

# METADATA
# title: A resource policy open to everyone
# description: Allowed if the Terraform code declares the policy and the caller is not an agent.
# custom:
#   id: SEN-X001
#   severity: critical
findings contains {
	"id": "SEN-X001",
	"verdict": verdict,
	"message": concat("", [
		"This policy lets anyone in the world use ", effect.address, ": its Principal is * and no Condition narrows it to an ",
		"account, organization, ARN or VPC. ", remedy,
	]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in policies
	some statement in statements(effect.value)
	object.get(statement, "Effect", "") != "Deny"
	open_to_everyone(statement)
	not narrowed(statement)
}

# METADATA
# title: A resource policy that cannot be read
# custom:
#   id: SEN-X002
#   severity: high
findings contains {
	"id": "SEN-X002",
	"verdict": verdict,
	"message": concat("", ["The policy for ", effect.address, " is not a JSON policy document, so it is unknown whom it allows. ", remedy]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in policies
	not readable(effect.value)
}

# METADATA
# title: A switch that opens a resource to the world
# description: Allowed if the Terraform code declares the value and the caller is not an agent.
# custom:
#   id: SEN-X003
#   severity: critical
findings contains {
	"id": "SEN-X003",
	"verdict": verdict,
	"message": concat("", [effect.attribute, " = ", json.marshal(effect.value), " would open ", effect.address, " to the world. ", remedy]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in writes
	some switch in exposure.switches
	effect.attribute == switch.attribute
	effect.value in switch.open
	not is_declared(effect)
}

# METADATA
# title: Removing the public access block of a bucket
# custom:
#   id: SEN-X004
#   severity: critical
findings contains {
	"id": "SEN-X004",
	"verdict": verdict,
	"message": concat("", ["Deleting ", effect.address, " would allow the bucket to be opened to the world. ", remedy]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in input.mutation.effects
	effect.action == "delete"
	effect.resource_type in exposure.shields
}

# Agents and services act without supervision and are denied. For humans and pipelines a human can approve.
verdict := object.get({"human": "hold", "pipeline": "hold"}, input.caller.kind, "deny")

remedy := {
	"deny": "A human or a pipeline must ask for this, and a human must approve it.",
	"hold": "A human must approve it; then send the identical call again.",
}[verdict]

writes := [effect |
	some effect in input.mutation.effects
	effect.action in {"set", "create"}
	effect.changes
]

# The policies attached to resources. Those of IAM are checked in `identity`. An empty policy allows no one.
policies := [effect |
	some effect in writes
	effect.attribute == "policy"
	not startswith(effect.resource_type, "aws_iam_")
	not effect.value in {null, ""}
	not is_declared(effect)
]

is_declared(effect) if {
	input.caller.kind != "agent"
	effect.value == effect.declared_value
}

parsed(value) := value if is_object(value)

parsed(value) := json.unmarshal(value) if {
	is_string(value)
	json.is_valid(value)
}

readable(value) if {
	count(statements(value)) > 0
	every statement in statements(value) {
		is_object(statement)
	}
}

statements(value) := listed(object.get(parsed(value), "Statement", [])) if is_object(parsed(value))

listed(value) := value if is_array(value)

listed(value) := [value] if not is_array(value)

# NotPrincipal allows everyone except some.
open_to_everyone(statement) if object.get(statement, "NotPrincipal", null) != null

open_to_everyone(statement) if "*" in listed(object.get(statement, "Principal", null))

open_to_everyone(statement) if {
	principal := object.get(statement, "Principal", null)
	is_object(principal)
	"*" in listed(object.get(principal, "AWS", []))
}

# Only a condition on the identity of the caller narrows a statement. A condition that requires encryption, for example, does not.
narrowed(statement) if {
	some operator, keys in object.get(statement, "Condition", {})
	lower(operator) in {"stringequals", "stringequalsignorecase", "stringlike", "arnequals", "arnlike"}
	some key, values in keys
	lower(key) in exposure.narrowing
	count(listed(values)) > 0
	every value in listed(values) {
		is_string(value)
		not startswith(value, "*")
		not startswith(value, "arn:*")
	}
}
