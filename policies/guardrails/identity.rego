# METADATA
# title: Identity
# description: Changes of IAM. Pipelines may create roles, agents may not, and unrestricted permissions need a human's approval.
package sentinel.rules.identity

import data.data.identity as config
import data.sentinel.lib.documents
import data.sentinel.lib.effects
import data.sentinel.lib.patterns
import data.sentinel.lib.principals

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

writes_iam if input.mutation.service in config.services

writes_iam if {
	some effect in input.mutation.effects
	startswith(effect.resource_type, "aws_iam_")
}

# METADATA
# title: A policy that grants too much on everything
# description: |
#   A pipeline may grant a whole service on everything, but nothing that its holder could use to gain the rights of others
#   (`escalating` in data/identity.json). The grants of all statements are judged together.
# custom:
#   id: SEN-I002
#   severity: critical
findings contains {
	"id": "SEN-I002",
	"verdict": verdict,
	"message": concat("", [
		"This policy allows ", effects.few(actions), " on every resource. ",
		"Name the needed actions and resources, or have it approved.",
	]),
	"address": policy.effect.address,
	"attribute": policy.effect.attribute,
} if {
	some policy in policies
	policy.kind == "identity"
	actions := excessive(policy.document)
	count(actions) > 0
}

# METADATA
# title: An AWS-managed administrator policy
# description: Known by its name in every partition; `*` in the data stands for any text.
# custom:
#   id: SEN-I003
#   severity: critical
findings contains {
	"id": "SEN-I003",
	"verdict": verdict,
	"message": concat("", [arn, " grants administrator permissions, or a way to them; it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	startswith(effect.resource_type, "aws_iam_")
	some arn in leaves([effect.value, effect.identity])
	administrator(arn)
}

# METADATA
# title: A policy that cannot be read
# custom:
#   id: SEN-I004
#   severity: high
findings contains {
	"id": "SEN-I004",
	"verdict": verdict,
	"message": concat("", ["The policy for ", policy.effect.address, " is not a policy document of IAM's grammar, so it is unknown what it allows."]),
	"address": policy.effect.address,
	"attribute": policy.effect.attribute,
} if {
	some policy in policies
	not documents.readable(policy.document, policy.kind)
}

# METADATA
# title: A role that anyone may assume
# description: A condition helps only where it narrows the statement to an account, an organization, an ARN or a network.
# custom:
#   id: SEN-I005
#   severity: critical
findings contains {
	"id": "SEN-I005",
	"verdict": verdict,
	"message": concat("", ["This policy lets anyone in the world assume ", policy.effect.address, ": its Principal is everybody, and no Condition narrows it to an account, organization, ARN or VPC."]),
	"address": policy.effect.address,
	"attribute": policy.effect.attribute,
} if {
	some policy in policies
	policy.kind == "trust"
	some statement in documents.allowing(policy.document)
	principals.open(statement)
}

# METADATA
# title: Another version of a policy becomes the default
# custom:
#   id: SEN-I006
#   severity: high
findings contains {
	"id": "SEN-I006",
	"verdict": verdict,
	"message": "This makes another version of a policy the default, and the call does not contain its text; it needs an approval.",
	"address": "",
	"attribute": "",
} if {
	input.mutation.service == "iam"
	input.mutation.operation == "SetDefaultPolicyVersion"
}

# METADATA
# title: A permissions boundary is lifted or replaced
# description: |
#   Also where the state knows of no boundary: one that was set past Terraform counts. Passes where the Terraform code itself declares
#   the value and nobody but an agent asks.
# custom:
#   id: SEN-I007
#   severity: critical
findings contains {
	"id": "SEN-I007",
	"verdict": verdict,
	"message": concat("", ["This changes the permissions boundary of ", effect.address, ", which keeps its other policies from granting more; it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	effect.action == "set"
	effect.attribute == "permissions_boundary"
	startswith(effect.resource_type, "aws_iam_")
	not effects.is_declared(effect)
}

# METADATA
# title: A role for another account
# description: Accounts listed in data/principals.json are not strangers.
# custom:
#   id: SEN-I008
#   severity: critical
findings contains {
	"id": "SEN-I008",
	"verdict": verdict,
	"message": concat("", [
		"This policy lets ", effects.few(strangers), " assume ", policy.effect.address,
		", and that is neither of this account nor trusted (data/principals.json); it needs an approval.",
	]),
	"address": policy.effect.address,
	"attribute": policy.effect.attribute,
} if {
	some policy in policies
	policy.kind == "trust"
	strangers := {stranger |
		some statement in documents.allowing(policy.document)
		some stranger in (principals.strangers(statement) | foreign_providers(statement))
	}
	count(strangers) > 0
}

# METADATA
# title: A federated role without its audience and subject
# description: An OpenID Connect provider serves many; only a condition on `sub` and `aud` says who of them is meant. SAML needs `SAML:aud`.
# custom:
#   id: SEN-I009
#   severity: critical
findings contains {
	"id": "SEN-I009",
	"verdict": verdict,
	"message": concat("", [
		"Whoever ", provider, " vouches for could assume ", policy.effect.address, ": the statement demands no exact ",
		concat(" and ", lacking), ". Name them in its Condition, or have it approved.",
	]),
	"address": policy.effect.address,
	"attribute": policy.effect.attribute,
} if {
	some policy in policies
	policy.kind == "trust"
	some statement in documents.allowing(policy.document)
	some provider in principals.named(statement, "Federated")
	lacking := [key | some key in principals.expected(provider); not principals.demands_key(statement, key)]
	count(lacking) > 0
}

# METADATA
# title: A role is handed to a resource
# description: |
#   Who may give a role to something that runs gains its rights. Passes where the Terraform code declares the value, and for a pipeline
#   where it declares the resource: that was reviewed.
# custom:
#   id: SEN-I010
#   severity: high
findings contains {
	"id": "SEN-I010",
	"verdict": verdict,
	"message": concat("", ["This gives ", effect.address, " a role (", effect.attribute, "), and whoever controls the one gains the rights of the other; it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	effect.changes
	hands_role(effect)
	not reviewed(effect)
}

# METADATA
# title: A policy is attached whose content the call does not show
# description: Policies of AWS's own are known by name. Passes as SEN-I010 does.
# custom:
#   id: SEN-I011
#   severity: high
findings contains {
	"id": "SEN-I011",
	"verdict": verdict,
	"message": concat("", ["This attaches ", effect.value, ", and the call does not say what that allows; it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	startswith(effect.resource_type, "aws_iam_")
	effect.attribute == "policy_arn"
	is_string(effect.value)
	effect.changes
	not contains(effect.value, ":aws:policy/")
	not reviewed(effect)
}

# METADATA
# title: Others may assume an existing role
# description: The role keeps its rights and gains holders. Passes as SEN-I010 does.
# custom:
#   id: SEN-I012
#   severity: high
findings contains {
	"id": "SEN-I012",
	"verdict": verdict,
	"message": concat("", ["This changes who may assume ", effect.address, ", which has its rights already; it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	effect.action == "set"
	effect.attribute == "assume_role_policy"
	effect.changes
	not reviewed(effect)
}

# METADATA
# title: What keeps an identity small is taken away
# description: |
#   A policy that denies is detached, deleted or loses a statement that denies. A detached policy of one's own counts, since the call does
#   not show what it says. For a pipeline it passes where the Terraform code declares the resource or the state has it.
# custom:
#   id: SEN-I013
#   severity: high
findings contains {
	"id": "SEN-I013",
	"verdict": verdict,
	"message": concat("", ["This takes away from ", lifted.address, " what may keep an identity from using its other rights; it needs an approval."]),
	"address": lifted.address,
	"attribute": lifted.attribute,
} if {
	some lifted in input.mutation.effects
	startswith(lifted.resource_type, "aws_iam_")
	lifts(lifted)
}

# METADATA
# title: A credential is made or changed
# description: |
#   With it somebody signs in to AWS past Sentinel, as whom it belongs to. The code says that it is to be, not who gets to know it, so a person
#   decides, about a plan once for its apply. To switch one off, tag it or delete it takes nobody's consent.
# custom:
#   id: SEN-I014
#   severity: critical
findings contains {
	"id": "SEN-I014",
	"verdict": verdict,
	"message": concat("", ["This makes or changes ", address, ", a credential with which its holder signs in to AWS; it needs an approval."]),
	"address": address,
	"attribute": "",
} if {
	some effect in effects.writes
	effect.resource_type in config.credentials
	not keeps_out(effect)
	address := effect.address
}

keeps_out(effect) if {
	effect.action == "set"
	startswith(effect.attribute, "tags")
}

keeps_out(effect) if {
	effect.action == "set"
	effect.attribute == "status"
	lower(effect.value) == "inactive"
}

# AWS's own policies that deny are attached by people, or by AWS itself, in an emergency: whoever declares the attachment.
lifts(effect) if {
	effect.action == "delete"
	endswith(effect.resource_type, "_policy_attachment")
	some pattern in config.denying_policies
	parts := split(object.get(effect.identity, "policy_arn", ""), "/")
	same(lower(pattern), lower(parts[count(parts) - 1]))
}

lifts(effect) if {
	effect.action == "delete"
	endswith(effect.resource_type, "_policy_attachment")
	not contains(object.get(effect.identity, "policy_arn", ""), ":aws:policy/")
	not reviewed(effect)
}

lifts(effect) if {
	effect.action == "delete"
	effect.resource_type in {"aws_iam_group_policy", "aws_iam_role_policy", "aws_iam_user_policy"}
	not reviewed(effect)
}

lifts(effect) if {
	effect.action == "set"
	effect.changes
	effect.attribute == "policy"
	not reviewed(effect)
	kept := denying(effect.value)
	some statement in denying(effect.before)
	not kept[statement]
}

denying(value) := {statement | some statement in documents.statements(value); is_object(statement); object.get(statement, "Effect", "") == "Deny"}

# Agents are denied. For any other caller a human can approve.
verdict := object.get({"human": "hold", "pipeline": "hold", "service": "hold"}, input.caller.kind, "deny")

hands_role(effect) if {
	not startswith(effect.resource_type, "aws_iam_")
	some part in effect.parts
	part.class == "hands_role"
}

# Whatever the attribute is called: one of a role that has the ARN of a role.
hands_role(effect) if {
	not startswith(effect.resource_type, "aws_iam_")
	walk(effect.value, [steps, leaf])
	is_string(leaf)

	# Asked before the patterns: each evaluation compiles those that it asks anew, which takes as long as a dozen rules, and few values are ARNs.
	startswith(leaf, "arn:")
	regex.match(`^arn:[a-z-]+:iam::[0-9]{12}:(role|instance-profile)/`, leaf)
	path := effects.place(effect, steps)
	regex.match(`(^|_)(roles?|instance_profile)(_arns?|_names?)?$`, effects.last(path))
}

hands_role(effect) if {
	not effect.value in {null, ""}
	effect.resource_type == "aws_iam_instance_profile"
	effect.attribute == "role"
}

reviewed(effect) if effects.is_declared(effect)

reviewed(effect) if {
	input.caller.kind == "pipeline"
	effect.declared
}

# The policy documents in IAM effects, each with its kind.
policies := [{"effect": effect, "kind": config.documents[attribute], "document": document} |
	some effect in effects.writes
	startswith(effect.resource_type, "aws_iam_")
	some [attribute, document] in brought(effect)
	document != null
]

brought(effect) := [[effect.attribute, effect.value]] if {
	effect.attribute in {"policy", "assume_role_policy"}
}

brought(effect) := inlined(effect.value) if effect.attribute == "inline_policy"

brought(effect) := array.concat(
	[[attribute, effect.value[attribute]] | some attribute in ["policy", "assume_role_policy"]],
	inlined(object.get(effect.value, "inline_policy", [])),
) if {
	effect.attribute == "*"
	is_object(effect.value)
}

inlined(value) := [["inline_policy", inline.policy] | some inline in documents.listed(value)]

escalating := {action | some action in config.escalating}

# The actions that a policy allows on everything and that are too much for the caller to grant.
excessive(document) := {action |
	some statement in documents.allowing(document)
	on_everything(statement)
	some action in allowed(statement)
	too_much(action)
}

on_everything(statement) if {
	some resource in documents.listed(object.get(statement, "Resource", []))
	is_string(resource)
	patterns.everywhere(resource)
}

# Allowing all but something is allowing everything.
on_everything(statement) if object.get(statement, "NotResource", null) != null

allowed(statement) := {lower(action) |
	some action in documents.listed(object.get(statement, "Action", []))
	is_string(action)
} | {"*" | object.get(statement, "NotAction", null) != null}

too_much(action) if escalating[action]

too_much(action) if {
	patterns.wild(action)
	input.caller.kind != "pipeline"
}

too_much(action) if {
	patterns.wild(action)
	input.caller.kind == "pipeline"
	count(patterns.among(action, escalating)) > 0
}

administrator(arn) if {
	startswith(arn, "arn:")
	contains(arn, ":aws:policy/")
	parts := split(arn, "/")
	name := lower(parts[count(parts) - 1])
	some pattern in config.admin_policies
	same(lower(pattern), name)
}

same(pattern, name) if pattern == name

same(pattern, name) if patterns.matches(pattern, name)

foreign_providers(statement) := {provider |
	some provider in principals.named(statement, "Federated")
	startswith(provider, "arn:")
	not principals.ours[principals.account(provider)]
}

leaves(value) := {leaf |
	walk(value, [_, leaf])
	is_string(leaf)
}

# The resources of which a call may change what these rules judge, without showing it (see guardrails.rego).
concerned contains effect.address if {
	some effect in effects.wholes
	"hands_role" in effect.may_be
}

concerned contains effect.address if {
	some effect in effects.wholes
	startswith(effect.resource_type, "aws_iam_")
}

concerned contains effect.address if {
	input.mutation.service in config.services
	some effect in effects.wholes
}
