# METADATA
# title: Execution
# description: Calls that run code, or contain a document that runs code.
package sentinel.rules.execution

import data.data.execution as config
import data.sentinel.lib.effects

# METADATA
# title: An agent runs code only on resources it manages
# description: Held, unless every effect invokes a resource with managed_by_agent = true.
# custom:
#   id: SEN-E001
#   severity: high
findings contains {
	"id": "SEN-E001",
	"verdict": "hold",
	"message": concat("", [input.mutation.service, ":", input.mutation.operation, " runs code, and an agent may do that without approval only on resources with managed_by_agent = true; a human must approve it."]),
	"address": "",
	"attribute": "",
} if {
	input.mutation.class == "execute"
	input.caller.kind == "agent"
	not only_invokes_managed
}

# METADATA
# title: An agent does not set the state of an alarm
# description: Setting an alarm's state triggers its actions, e.g. a scaling policy, which bounds and claims do not see.
# custom:
#   id: SEN-E002
#   severity: high
findings contains {
	"id": "SEN-E002",
	"verdict": "hold",
	"message": "Setting the state of an alarm triggers the alarm's actions, and an agent may not do that without approval; a human must approve it.",
	"address": "",
	"attribute": "",
} if {
	input.caller.kind == "agent"
	input.mutation.service == "cloudwatch"
	input.mutation.operation == "SetAlarmState"
}

# METADATA
# title: What runs with a role is replaced
# description: |
#   Code, layers, user data and containers run with rights that their author need not have. Passes where the Terraform code declares the
#   value, for a pipeline where it declares the resource (that was reviewed), and for an agent as far as a contract lets it.
# custom:
#   id: SEN-E003
#   severity: high
findings contains {
	"id": "SEN-E003",
	"verdict": "hold",
	"message": concat("", ["This replaces what ", effect.address, " runs (", effect.attribute, ") with the rights of its role; a human must approve it."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	effect.changes
	effect.value != null
	effect.attribute in object.get(config.code, effect.resource_type, [])
	not trusted(effect)
}

# METADATA
# title: What runs with a role loads something else at its start
# description: |
#   A variable of the environment that names a program or a library to load first is code by another name. Only the names of variables are
#   shown to policies. Passes as SEN-E003 does.
# custom:
#   id: SEN-E004
#   severity: high
findings contains {
	"id": "SEN-E004",
	"verdict": "hold",
	"message": concat("", ["This makes ", effect.address, " load at its start what ", effects.few(loaded), " names, with the rights of its role; a human must approve it."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	effect.changes
	loaded := loaders(effect)
	count(loaded) > 0
	not trusted(effect)
}

loaders(effect) := {name |
	effect.resource_type == "aws_lambda_function"
	effect.attribute in {"environment.variables", "environment", "*"}
	effects.is_block(effect.value)
	walk(effect.value, [path, _])
	name := path[count(path) - 1]
	name in config.loaders
}

trusted(effect) if effects.is_declared(effect)

trusted(effect) if {
	input.caller.kind == "pipeline"
	effect.declared
}

trusted(effect) if {
	input.caller.kind == "agent"
	effect.declared
	effect.contract.managed_by_agent
}

only_invokes_managed if {
	count(input.mutation.effects) > 0
	every effect in input.mutation.effects {
		effect.action == "invoke"
		effect.contract.managed_by_agent == true
	}
}

# The resources of which a call may change what these rules judge, without showing it (see guardrails.rego).
concerned contains effect.address if {
	some effect in effects.wholes
	config.code[effect.resource_type]
}

# What runs code is not known by a derived row, whatever that says.
concerned contains effect.address if {
	input.mutation.class != "mutation"
	some effect in effects.wholes
}
