# METADATA
# title: Identity
# description: Changes of IAM. Pipelines may create roles, agents may not, and unrestricted permissions need a human's approval.
package sentinel.rules.identity

import data.data.identity

evaluated := true

# METADATA
# title: An agent does not write IAM
# custom:
#   id: SEN-I001
#   severity: critical
findings contains {
	"id": "SEN-I001",
	"verdict": "deny",
	"message": concat("", [input.mutation.service, ":", input.mutation.operation, " changes permissions, and an agent may never do that. Ask a human or a pipeline to do it."]),
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
# description: A pipeline may allow all actions of a service on all resources, but not all actions on all resources.
# custom:
#   id: SEN-I002
#   severity: critical
findings contains {
	"id": "SEN-I002",
	"verdict": verdict,
	"message": concat("", [
		"This policy allows ", concat(", ", sort(actions)), " on every resource. ",
		"Name the needed actions and resources, or let a human approve it.",
	]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some [effect, statement] in grants
	on_every_resource(statement)
	actions := wildcard_actions(statement)
	too_broad(actions)
}

# METADATA
# title: An AWS-managed administrator policy
# custom:
#   id: SEN-I003
#   severity: critical
findings contains {
	"id": "SEN-I003",
	"verdict": verdict,
	"message": concat("", [arn, " grants administrator permissions; a human must approve that."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in writes
	startswith(effect.resource_type, "aws_iam_")
	some arn in identity.admin_policies
	arn in strings_in([effect.value, effect.identity])
}

# METADATA
# title: A policy that cannot be read
# custom:
#   id: SEN-I004
#   severity: high
findings contains {
	"id": "SEN-I004",
	"verdict": verdict,
	"message": concat("", ["The policy for ", effect.address, " is not a JSON policy document, so it is unknown what it allows."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some [effect, value] in policies
	not readable(value)
}

# METADATA
# title: Another version of a policy becomes the default
# custom:
#   id: SEN-I006
#   severity: high
findings contains {
	"id": "SEN-I006",
	"verdict": verdict,
	"message": "This makes another version of a policy the default, and the call does not contain its text; a human must approve it.",
	"address": "",
	"attribute": "",
} if {
	input.mutation.service == "iam"
	input.mutation.operation == "SetDefaultPolicyVersion"
}

# METADATA
# title: A role that anyone may assume
# custom:
#   id: SEN-I005
#   severity: critical
findings contains {
	"id": "SEN-I005",
	"verdict": verdict,
	"message": concat("", ["This policy lets anyone in the world assume ", effect.address, ": its Principal is * and it has no Condition."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some [effect, statement] in grants
	open_to_everyone(object.get(statement, "Principal", null))
	object.get(statement, "Condition", {}) == {}
}

# Agents are denied. For any other caller a human can approve.
verdict := object.get({"human": "hold", "pipeline": "hold", "service": "hold"}, input.caller.kind, "deny")

writes := [effect | some effect in input.mutation.effects; effect.action in {"set", "create"}]

documents := {"policy", "assume_role_policy", "inline_policy"}

# The policy documents in an IAM effect, as text or as an object: [effect, document].
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

# IAM accepts a single value in place of a list.
listed(value) := value if is_array(value)

listed(value) := [value] if not is_array(value)

# The statements that allow something: [effect, statement].
grants contains [effect, statement] if {
	some [effect, value] in policies
	some statement in statements(parsed(value))
	statement.Effect == "Allow"
}

on_every_resource(statement) if "*" in listed(object.get(statement, "Resource", []))

# NotResource allows everything except some resources.
on_every_resource(statement) if object.get(statement, "NotResource", null) != null

wildcard_actions(statement) := {action |
	some action in listed(object.get(statement, "Action", []))
	is_string(action)
	endswith(action, "*")
} | {"*" | object.get(statement, "NotAction", null) != null}

too_broad(actions) if {
	count(actions) > 0
	input.caller.kind != "pipeline"
}

too_broad(actions) if count(actions & {"*", "*:*"}) > 0

open_to_everyone(principal) if "*" in listed(principal)

open_to_everyone(principal) if {
	is_object(principal)
	"*" in listed(object.get(principal, "AWS", []))
}

strings_in(value) := {leaf |
	walk(value, [_, leaf])
	is_string(leaf)
}
