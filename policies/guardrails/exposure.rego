# METADATA
# title: Exposure
# description: What anybody in the world may use, by a resource's own policy or by a switch. The network's rules are in `network`.
package sentinel.rules.exposure

import data.data.exposure as law

evaluated := true

# METADATA
# title: A resource policy for everybody
# description: Passes where the Terraform code itself declares the policy and nobody but an agent asks.
# custom:
#   id: SEN-X001
#   severity: critical
findings contains {
	"id": "SEN-X001",
	"verdict": verdict,
	"message": concat("", [
		"This policy lets anybody in the world use ", effect.address, ": its Principal is * and no Condition narrows it to an ",
		"account, organization, ARN or VPC. ", remedy,
	]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in policies
	some statement in statements(effect.value)
	object.get(statement, "Effect", "") != "Deny"
	anybody(statement)
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
	"message": concat("", ["The policy for ", effect.address, " is not a JSON policy document, so nobody can tell whom it lets in. ", remedy]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in policies
	not readable(effect.value)
}

# METADATA
# title: A switch that opens something to the world
# description: Passes where the Terraform code itself declares the value and nobody but an agent asks.
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
	some switch in law.switches
	effect.attribute == switch.attribute
	effect.value in switch.open
	not declared_so(effect)
}

# METADATA
# title: Removing what keeps a bucket private
# custom:
#   id: SEN-X004
#   severity: critical
findings contains {
	"id": "SEN-X004",
	"verdict": verdict,
	"message": concat("", ["Deleting ", effect.address, " would let the bucket be opened to the world. ", remedy]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in input.mutation.effects
	effect.action == "delete"
	effect.resource_type in law.shields
}

# Agents and services act alone; humans and pipelines have somebody behind them who can be asked.
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

# The policies that stand with resources; those of IAM are judged by `identity`. An empty one lets nobody in.
policies := [effect |
	some effect in writes
	effect.attribute == "policy"
	not startswith(effect.resource_type, "aws_iam_")
	not effect.value in {null, ""}
	not declared_so(effect)
]

declared_so(effect) if {
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

# Allowing all but somebody is allowing everybody.
anybody(statement) if object.get(statement, "NotPrincipal", null) != null

anybody(statement) if "*" in listed(object.get(statement, "Principal", null))

anybody(statement) if {
	principal := object.get(statement, "Principal", null)
	is_object(principal)
	"*" in listed(object.get(principal, "AWS", []))
}

# Only a condition that names whom it is for narrows a statement; that a connection is encrypted says nothing of who is behind it.
narrowed(statement) if {
	some operator, keys in object.get(statement, "Condition", {})
	lower(operator) in {"stringequals", "stringequalsignorecase", "stringlike", "arnequals", "arnlike"}
	some key, values in keys
	lower(key) in law.narrowing
	count(listed(values)) > 0
	every value in listed(values) {
		is_string(value)
		not startswith(value, "*")
		not startswith(value, "arn:*")
	}
}
