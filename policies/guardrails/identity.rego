# METADATA
# title: Identity
# description: Who may do what in AWS itself. Pipelines may build roles; agents may not; nobody gets everything unseen.
package sentinel.rules.identity

import data.data.identity as law

evaluated := true

# METADATA
# title: An agent does not write IAM
# custom:
#   id: SEN-I001
#   severity: critical
findings contains {
	"id": "SEN-I001",
	"verdict": "deny",
	"message": concat("", [input.mutation.service, ":", input.mutation.operation, " changes who may do what, and an agent may never do that. Ask a human or a pipeline to do it."]),
	"address": "",
	"attribute": "",
} if {
	input.caller.kind == "agent"
	writes_iam
}

writes_iam if input.mutation.service == "iam"

writes_iam if {
	some effect in input.mutation.effects
	startswith(effect.resource_type, "aws_iam_")
}

# METADATA
# title: A policy with wildcards in action and resource
# description: A pipeline may grant a whole service on everything, but not everything on everything.
# custom:
#   id: SEN-I002
#   severity: critical
findings contains {
	"id": "SEN-I002",
	"verdict": stern,
	"message": concat("", [
		"This policy allows ", concat(", ", sort(actions)), " on every resource. ",
		"Name the actions and resources it is for, or let a human approve it.",
	]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some [effect, statement] in grants
	everywhere(statement)
	actions := wild(statement)
	too_much(actions)
}

# METADATA
# title: An AWS-managed administrator policy
# custom:
#   id: SEN-I003
#   severity: critical
findings contains {
	"id": "SEN-I003",
	"verdict": stern,
	"message": concat("", [arn, " gives the powers of an administrator; a human must approve that."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in writes
	startswith(effect.resource_type, "aws_iam_")
	some arn in law.admin_policies
	arn in leaves([effect.value, effect.identity])
}

# METADATA
# title: A policy that cannot be read
# custom:
#   id: SEN-I004
#   severity: high
findings contains {
	"id": "SEN-I004",
	"verdict": stern,
	"message": concat("", ["The policy for ", effect.address, " is not a JSON policy document, so nobody can tell what it allows."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some [effect, value] in policies
	not readable(value)
}

# METADATA
# title: An older version of a policy comes into force
# custom:
#   id: SEN-I006
#   severity: high
findings contains {
	"id": "SEN-I006",
	"verdict": stern,
	"message": "This puts another version of a policy in force, and the call does not say what it allows; a human must approve it.",
	"address": "",
	"attribute": "",
} if {
	input.mutation.service == "iam"
	input.mutation.operation == "SetDefaultPolicyVersion"
}

# METADATA
# title: A role that the whole world may assume
# custom:
#   id: SEN-I005
#   severity: critical
findings contains {
	"id": "SEN-I005",
	"verdict": stern,
	"message": concat("", ["This policy lets anybody in the world assume ", effect.address, ": its Principal is * and it has no Condition."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some [effect, statement] in grants
	anybody(object.get(statement, "Principal", null))
	object.get(statement, "Condition", {}) == {}
}

# Agents are refused; for everybody else a human can say yes.
stern := object.get({"human": "hold", "pipeline": "hold", "service": "hold"}, input.caller.kind, "deny")

writes := [effect | some effect in input.mutation.effects; effect.action in {"set", "create"}]

documents := {"policy", "assume_role_policy", "inline_policy"}

# The policy documents an IAM effect brings, as text or as an object: [effect, document].
policies contains [effect, effect.value] if {
	some effect in writes
	startswith(effect.resource_type, "aws_iam_")
	effect.attribute in documents
	effect.attribute != "inline_policy"
	effect.value != null
}

policies contains [effect, value] if {
	some effect in writes
	startswith(effect.resource_type, "aws_iam_")
	effect.attribute == "*"
	some key in documents
	key != "inline_policy"
	value := effect.value[key]
	value != null
}

policies contains [effect, inline.policy] if {
	some effect in writes
	startswith(effect.resource_type, "aws_iam_")
	some inline in inlined(effect)
	inline.policy != null
}

inlined(effect) := effect.value if effect.attribute == "inline_policy"

inlined(effect) := object.get(effect.value, "inline_policy", []) if {
	effect.attribute == "*"
	is_object(effect.value)
}

parsed(value) := value if is_object(value)

parsed(value) := json.unmarshal(value) if {
	is_string(value)
	json.is_valid(value)
}

readable(value) if {
	document := parsed(value)
	is_object(document)
	statements(document) != []
	every statement in statements(document) {
		is_object(statement)
		object.get(statement, "Effect", "") in {"Allow", "Deny"}
		every action in listed(object.get(statement, "Action", [])) {
			is_string(action)
		}
	}
}

statements(document) := listed(object.get(document, "Statement", [])) if is_object(document)

statements(document) := [] if not is_object(document)

# IAM takes one thing wherever it takes a list of them.
listed(value) := value if is_array(value)

listed(value) := [value] if not is_array(value)

# The statements that allow something: [effect, statement].
grants contains [effect, statement] if {
	some [effect, value] in policies
	some statement in statements(parsed(value))
	statement.Effect == "Allow"
}

everywhere(statement) if "*" in listed(object.get(statement, "Resource", []))

# Allowing all but something is allowing everything.
everywhere(statement) if object.get(statement, "NotResource", null) != null

wild(statement) := {action |
	some action in listed(object.get(statement, "Action", []))
	is_string(action)
	endswith(action, "*")
} | {"*" | object.get(statement, "NotAction", null) != null}

too_much(actions) if {
	count(actions) > 0
	input.caller.kind != "pipeline"
}

too_much(actions) if count(actions & {"*", "*:*"}) > 0

anybody(principal) if "*" in listed(principal)

anybody(principal) if {
	is_object(principal)
	"*" in listed(object.get(principal, "AWS", []))
}

leaves(value) := {leaf |
	walk(value, [_, leaf])
	is_string(leaf)
}
