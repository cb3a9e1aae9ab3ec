# METADATA
# title: Destinations
# description: |
#   Where data goes, and whose key, queue or function it depends on: nothing of that may be a stranger's unseen. The lists are
#   data/destinations.json; accounts of `trusted_accounts` in data/principals.json are no strangers.
package sentinel.rules.destinations

import data.data.destinations as config
import data.sentinel.lib.documents
import data.sentinel.lib.effects
import data.sentinel.lib.principals

# METADATA
# title: Data is sent to a stranger
# description: |
#   A subscription whose endpoint is no ARN of ours: another account's, a web or mail address, a phone. Passes where the Terraform code
#   itself declares the value and nobody but an agent asks.
# custom:
#   id: SEN-T001
#   severity: critical
findings contains {
	"id": "SEN-T001",
	"verdict": "hold",
	"message": concat("", ["This sends what ", effect.address, " passes on to ", effects.few(strangers), ", which is neither of this account nor trusted (data/principals.json); a human must approve it."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in writes
	effect.attribute in object.get(config.endpoints, effect.resource_type, [])
	strangers := {text | some text in leaves(effect.value); text != ""; not ours(text)}
	count(strangers) > 0
}

# METADATA
# title: A stranger's key, queue or function
# description: |
#   Its owner decides who may read what it encrypts, gets what it is handed, or runs with what it is told. Passes as SEN-T001 does.
# custom:
#   id: SEN-T002
#   severity: high
findings contains {
	"id": "SEN-T002",
	"verdict": "hold",
	"message": concat("", [effect.address, " would depend on ", effects.few(strangers), " (", effect.attribute, "), which is neither of this account nor trusted (data/principals.json); a human must approve it."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in writes
	not effect.attribute in object.get(config.endpoints, effect.resource_type, [])
	strangers := {text | some text in named(effect); foreign(text)}
	count(strangers) > 0
}

writes := [effect |
	some effect in effects.writes
	effect.changes
	not effect.value in {null, ""}
	not effects.is_declared(effect)
]

naming := {name | some name in config.naming}

blocks := {name | some name in config.blocks}

# The texts with which the effect names something else, that it did not name before.
named(effect) := leaves(effect.value) - leaves(effect.before) if naming[last(effect.attribute)]

named(effect) := inside(effect.value) - inside(effect.before) if {
	blocks[effect.attribute]
	effects.is_block(effect.value)
}

last(attribute) := parts[count(parts) - 1] if parts := split(attribute, ".")

# Every text in a value, also in one that is JSON text.
leaves(value) := {leaf |
	walk(opened(value), [_, leaf])
	is_string(leaf)
}

inside(value) := {leaf |
	walk(value, [path, found])
	naming[path[count(path) - 1]]
	some leaf in leaves(found)
}

opened(value) := documents.parsed(value) if documents.parsed(value)

opened(value) := value if not documents.parsed(value)

ours(text) if {
	startswith(text, "arn:")
	principals.ours[principals.account(text)]
}

foreign(text) if {
	startswith(text, "arn:")
	account := principals.account(text)
	account != "unknown"
	not principals.ours[account]
}

# The resources of which a call may change what these rules judge, without showing it (see guardrails.rego).
concerned contains effect.address if {
	some effect in effects.wholes
	some name in config.naming
	effects.may_change(effect, name)
}

concerned contains effect.address if {
	some effect in effects.wholes
	config.endpoints[effect.resource_type]
}
