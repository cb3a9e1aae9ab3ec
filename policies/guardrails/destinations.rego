# METADATA
# title: Destinations
# description: |
#   Where data goes, whose key, queue or image it depends on, and who is let in: nothing of that may be a stranger's unseen, and whoever acts
#   alone changes none of it. Attributes are judged by their class (gateway/effects/attribute_classes.json); accounts of `trusted_accounts`
#   in data/principals.json are no strangers.
package sentinel.rules.destinations

import data.data.destinations as config
import data.sentinel.lib.addresses
import data.sentinel.lib.effects
import data.sentinel.lib.principals

# METADATA
# title: Data is sent to a stranger
# description: |
#   By an attribute of the class `sends_to`: a web or mail address, a phone, a public address, a host, another account's ARN or a bucket's,
#   which says no account, or a masked value. Passes where the Terraform code itself declares the value and nobody but an agent asks.
# custom:
#   id: SEN-T001
#   severity: critical
findings contains {
	"id": "SEN-T001",
	"verdict": "hold",
	"message": concat("", ["This sends what ", effect.address, " passes on to ", effects.few({told(text) | some text in strangers}), " (", part.path, "), which is neither of this account nor trusted (data/principals.json); it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	some part in effect.parts
	part.class == "sends_to"
	strangers := {text | some text in part.texts; outside(text)}
	count(strangers) > 0
	not reviewed(part)
}

# METADATA
# title: A stranger's key, queue, image or function
# description: |
#   Its owner decides who may read what it encrypts, gets what it is handed, or runs with what it is told. Strangers are known by their account
#   in any ARN, host or path of any attribute. Passes as SEN-T001 does.
# custom:
#   id: SEN-T002
#   severity: high
findings contains {
	"id": "SEN-T002",
	"verdict": "hold",
	"message": concat("", [effect.address, " would depend on the account ", effects.few(strangers), " (", part.path, "), which is neither this one nor trusted (data/principals.json); it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	some part in effect.parts
	strangers := {account | some account in part.accounts; not principals.ours[account]}
	count(strangers) > 0
	not reviewed(part)
}

# METADATA
# title: A call that names a stranger
# description: |
#   In a parameter that is the value of no attribute, of a call that invokes, deletes or is known only to touch its resource. For people and
#   pipelines only of the last kind.
# custom:
#   id: SEN-T005
#   severity: high
findings contains {
	"id": "SEN-T005",
	"verdict": "hold",
	"message": concat("", ["A parameter of this call names the account ", effects.few(strangers), ", which is neither this one nor trusted (data/principals.json); it needs an approval."]),
	"address": "",
	"attribute": "",
} if {
	strangers := {account | some account in input.mutation.accounts; not principals.ours[account]}
	count(strangers) > 0
	unseen
}

unseen if input.caller.kind in {"agent", "service"}

unseen if count(effects.wholes) > 0

# METADATA
# title: Whoever acts alone changes who is let in, what is depended on, or where something goes
# description: |
#   By attributes of the classes of `alone`. Passes where the Terraform code declares the value, or a contract names the very attribute for an
#   agent: a block that holds it grants its plain parts only.
# custom:
#   id: SEN-T003
#   severity: high
findings contains {
	"id": "SEN-T003",
	"verdict": "hold",
	"message": concat("", ["This changes ", config.words[part.class], " of ", effect.address, " (", part.path, "), and nobody who acts alone may do that; it needs an approval, or the contract must name the attribute."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	some part in effect.parts
	part.class in object.get(config.alone, input.caller.kind, [])
	not startswith(effect.resource_type, "aws_iam_") # `identity` judges those
	not effects.may_alone(effect, part)
}

# METADATA
# title: Whoever acts alone sets what nobody classified
# description: |
#   An attribute that is in no class, of a resource that has a role or a network. `python -m tests.tools.attribute_classes` prints such
#   attributes of the provider. Passes as SEN-T003 does.
# custom:
#   id: SEN-T004
#   severity: high
findings contains {
	"id": "SEN-T004",
	"verdict": "hold",
	"message": concat("", ["Nobody reviewed what ", part.path, " of ", effect.address, " may do, and the resource has a role or a place in a network; it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	input.caller.kind in {"agent", "service"}
	some effect in effects.writes
	some part in effect.parts
	part.class == "unclassified"
	not effects.may_alone(effect, part)
}

# Whether people have reviewed the value; an agent's contract names an attribute, and no strangers.
reviewed(part) if {
	input.caller.kind != "agent"
	part.declared
}

outside(text) if {
	startswith(text, "arn:")
	not principals.ours[principals.account(text)]
	principals.account(text) != "unknown"
}

# The ARN of a bucket says no account.
outside(text) if {
	parts := split(text, ":")
	parts[0] == "arn"
	parts[2] == "s3"
}

outside(text) if {
	contains(text, "://")
	not own_url(text)
}

outside(text) if {
	contains(text, "@")
	not contains(text, "://")
	not startswith(text, "arn:")
}

outside(text) if {
	startswith(text, "+")
}

# Nobody can tell where a masked value leads.
outside(text) if masked(text)

masked(text) if startswith(text, "hmac_sha256:")

told(text) := "a value that is kept secret" if masked(text)

told(text) := text if not masked(text)

outside(text) if {
	bare(text)
	contains(text, ".")
	not private(text)
	not within_aws(text)
}

outside(text) if {
	bare(text)
	contains(text, ":")
	addresses.parsed(concat("", [text, "/128"]))
	not private(text)
}

# A host or an address, without anything around it.
bare(text) if {
	every mark in ["/", "@", " ", "+", "{", "$"] {
		not contains(text, mark)
	}
	not startswith(text, "arn:")
}

private(text) if {
	some length in ["/32", "/128"]
	addresses.parsed(concat("", [text, length])).reach == "private"
}

# Nobody can tell by the name of a host of AWS whose it is. For whoever acts alone SEN-T003 holds it.
within_aws(text) if {
	some ending in config.hosts_of_aws
	endswith(trim_suffix(lower(text), "."), ending)
}

# The URL of a queue has its account.
own_url(text) if {
	parts := split(text, "/")
	startswith(text, "https://sqs.")
	endswith(parts[2], ".amazonaws.com")
	principals.ours[parts[3]]
}

# The resources of which a call may change what these rules judge, without showing it (see guardrails.rego).
concerned contains effect.address if {
	some effect in effects.wholes
	some class in object.get(config.alone, input.caller.kind, ["sends_to"])
	class in effect.may_be
}
