# METADATA
# title: Exposure
# description: Resources that anyone in the world may use, because of a resource policy or a switch. For network rules see `network`.
package sentinel.rules.exposure

import data.data.exposure as config
import data.sentinel.lib.documents
import data.sentinel.lib.effects
import data.sentinel.lib.principals

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
		"This policy lets anyone in the world use ", effect.address, ": its Principal is everybody and no Condition narrows it to an ",
		"account, organization, ARN or VPC. ", remedy,
	]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in policies
	some statement in documents.allowing(effect.value)
	principals.open(statement)
}

# METADATA
# title: A resource policy that cannot be read
# custom:
#   id: SEN-X002
#   severity: high
findings contains {
	"id": "SEN-X002",
	"verdict": verdict,
	"message": concat("", ["The policy for ", effect.address, " is not a policy document of IAM's grammar, so it is unknown whom it allows. ", remedy]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in policies
	not documents.readable(effect.value, "resource")
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
	"message": concat("", [attribute, " = ", json.marshal(value), " would open ", effect.address, " to the world. ", remedy]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in writes
	some [attribute, value] in opening(effect)
	not effects.is_declared(effect)
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
	effect.resource_type in config.shields
}

# METADATA
# title: A resource for another account
# description: |
#   Accounts listed in data/principals.json are not strangers. Passes where the Terraform code itself declares the policy and nobody but
#   an agent asks.
# custom:
#   id: SEN-X005
#   severity: high
findings contains {
	"id": "SEN-X005",
	"verdict": verdict,
	"message": concat("", [
		"This lets ", effects.few(strangers), " use ", effect.address,
		", and that is neither of this account nor trusted (data/principals.json). ", remedy,
	]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some [effect, strangers] in lets_in
	count(strangers) > 0
}

# METADATA
# title: An access control list that lets strangers in
# description: A grantee is the owner itself or a stranger; of a group, only AWS's log delivery is none.
# custom:
#   id: SEN-X006
#   severity: critical
findings contains {
	"id": "SEN-X006",
	"verdict": verdict,
	"message": concat("", ["The access control list of ", effect.address, " grants something to ", effects.few(grantees), ". ", remedy]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in writes
	not effects.is_declared(effect)
	grantees := granted(effect)
	count(grantees) > 0
}

# METADATA
# title: A service may call on anybody's behalf
# description: |
#   A permission of Lambda for an AWS service that names neither the source's ARN, account nor organization: the service calls for whoever asks
#   it to. Passes where the Terraform code declares it and nobody but an agent asks, and for a pipeline where it declares the resource.
# custom:
#   id: SEN-X007
#   severity: high
findings contains {
	"id": "SEN-X007",
	"verdict": "hold",
	"message": concat("", ["This lets ", effect.value, " call a function on behalf of anybody: it names no source account, ARN or organization (", effect.address, "); it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in writes
	effect.resource_type == "aws_lambda_permission"
	effect.attribute == "principal"
	is_string(effect.value)
	service(effect.value)
	not on_behalf_of_somebody[effect.address]
	not effects.is_declared(effect)
	not reviewed(effect)
}

on_behalf_of_somebody contains effect.address if {
	some effect in effects.writes
	effect.attribute in {"source_arn", "source_account", "principal_org_id"}
	not effect.value in {null, ""}
}

reviewed(effect) if {
	input.caller.kind == "pipeline"
	effect.declared
}

# Agents and services act without supervision and are denied. For humans and pipelines a human can approve.
verdict := object.get({"human": "hold", "pipeline": "hold"}, input.caller.kind, "deny")

remedy := {
	"deny": "A human or a pipeline must ask for this, and it needs an approval.",
	"hold": "It needs an approval; then send the identical call again.",
}[verdict]

writes := [effect | some effect in effects.writes; effect.changes]

# What an effect opens: by a path of the table, by the name of an attribute wherever it stands, or by an attribute of this type.
opening(effect) := ({[attribute, value] |
	some [attribute, value, open] in effects.given(effect, config.switches)
	value in open
} | {[path, leaf] |
	some [path, leaf] in telling(effect)
	leaf in config.names[effects.last(path)]
}) | {[path, leaf] |
	some [path, leaf] in telling(effect)
	leaf in config.of_types[effect.resource_type][path]
}

# What of an effect may open something, by its value: few parts of a large one, so that paths are made of these only.
telling(effect) := [[path, leaf] |
	walk(effect.value, [steps, leaf])
	leaf in open_values
	path := effects.place(effect, steps)
]

open_values := {value | some values in config.names; some value in values} | {value |
	some attributes in config.of_types
	some values in attributes
	some value in values
}

# The policies attached to resources. Those of IAM are checked in `identity`. An empty policy allows no one.
policies := [effect |
	some written in writes
	not startswith(written.resource_type, "aws_iam_")
	not written.resource_type in config.no_documents
	not effects.is_declared(written)
	some effect in documented(written)
	not effect.value in {null, ""}
]

documented(effect) := [effect] if effect.attribute in config.policy_attributes

# Whatever its attribute is called: a document that says to whom it allows something is a resource policy.
documented(effect) := [object.union(effect, {"attribute": path, "value": leaf}) |
	walk(effect.value, [steps, leaf])
	names_somebody(leaf)
	path := effects.place(effect, steps)
] if {
	not effect.attribute in config.policy_attributes
}

names_somebody(text) if {
	is_string(text)
	contains(text, "Principal")
	some statement in documents.statements(text)
	is_object(statement)
	some member in ["Principal", "NotPrincipal"]
	statement[member]
}

lets_in := array.concat(
	[[effect, strangers] |
		some effect in policies
		strangers := {stranger |
			some statement in documents.allowing(effect.value)
			some stranger in (principals.strangers(statement) | principals.federated(statement))
		}
	],
	[[effect, strangers] |
		some effect in writes
		effect.resource_type == "aws_lambda_permission"
		effect.attribute == "principal"
		not effects.is_declared(effect)
		strangers := principals.strangers({"Principal": callers(effect.value)})
	],
)

# A permission of Lambda names a service, an account or an ARN in one text.
callers(value) := {"Service": value} if service(value)

callers(value) := {"AWS": value} if not service(value)

service(value) if endswith(value, ".amazonaws.com")

service(value) if endswith(value, ".amazonaws.com.cn")

granted(effect) := {text |
	endswith(effect.resource_type, "_acl")
	startswith(effect.attribute, "access_control_policy")
	walk(effect.value, [path, text])
	is_string(text)
	path[count(path) - 1] in {"uri", "id", "email_address"}
	path[count(path) - 2] != "owner"
	not owners[text]
	not endswith(text, "/groups/s3/LogDelivery")
	text != ""
}

# AWS refuses a list that names another owner than the bucket's.
owners := {effect.value |
	some effect in writes
	effect.attribute == "access_control_policy.owner.id"
}

# The resources of which a call may change what these rules judge, without showing it (see guardrails.rego).
concerned contains effect.address if {
	some effect in effects.wholes
	some attribute, _ in config.switches
	effects.may_change(effect, attribute)
}

concerned contains effect.address if {
	some effect in effects.wholes
	some name, _ in config.names
	effects.may_change(effect, name)
}

concerned contains effect.address if {
	some effect in effects.wholes
	config.of_types[effect.resource_type]
}

concerned contains effect.address if {
	some effect in effects.wholes
	some attribute in config.policy_attributes
	effects.may_change(effect, attribute)
}

concerned contains effect.address if {
	some effect in effects.wholes
	some ending in ["_acl", "_permission", "_policy"]
	endswith(effect.resource_type, ending)
}
