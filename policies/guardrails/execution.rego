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
	"message": concat("", [input.mutation.service, ":", input.mutation.operation, " runs code, and an agent may do that without approval only on resources with managed_by_agent = true; it needs an approval."]),
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
	"message": "Setting the state of an alarm triggers the alarm's actions, and an agent may not do that without approval; it needs an approval.",
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
#   Code, images, commands, layers, templates and versions run with rights that their author need not have: attributes of the class
#   `runs_code` (gateway/effects/attribute_classes.json), but for the image of a new machine that gets no role (`without_role`). Passes where
#   the Terraform code declares the value, for a pipeline where it declares the resource (that was reviewed), and for an agent where a
#   contract names the very attribute.
# custom:
#   id: SEN-E003
#   severity: high
findings contains {
	"id": "SEN-E003",
	"verdict": "hold",
	"message": concat("", ["This ", verb(effect), " what ", effect.address, " runs (", part.path, ") with the rights of its role; it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	some part in effect.parts
	part.class == "runs_code"
	not without_role(effect, part)
	not trusted(effect, part)
}

without_role(effect, part) if {
	effect.action == "create"
	part.path in object.get(config.without_role, effect.resource_type, [])
	not gets_role[effect.address]
}

# By itself, or by a template, whose content the call does not show.
gets_role contains effect.address if {
	some effect in effects.writes
	some part in effect.parts
	part.class == "hands_role"
}

gets_role contains effect.address if {
	some effect in effects.writes
	some part in effect.parts
	startswith(part.path, "launch_template")
}

# What is created replaces nothing.
verb(effect) := "sets" if effect.action == "create"

verb(effect) := "replaces" if effect.action != "create"

# METADATA
# title: What runs with a role loads something else at its start
# description: |
#   An interpreter or a loader takes code from variables of the environment. Those that it is known to read (`loaders`) are held as code is,
#   and for an agent unless a contract names the variable. Whoever acts alone sets no other variable that neither the code nor the state
#   has, unless its name is reviewed (`plain`) or the contract names the map. Only the names of variables are shown to policies.
# custom:
#   id: SEN-E004
#   severity: high
findings contains {
	"id": "SEN-E004",
	"verdict": "hold",
	"message": concat("", ["This makes ", effect.address, " load at its start what ", effects.few(loaded), " names, with the rights of its role; it needs an approval."]),
	"address": effect.address,
	"attribute": effect.attribute,
} if {
	some effect in effects.writes
	some part in effect.parts
	part.class == "environment"
	loaded := {name | some name in part.texts; loads(name)} | unknown(effect, part)
	count(loaded) > 0
	not trusted(effect, object.union(part, {"named": false}))
}

loads(name) if fits(upper(name), config.loaders)

# A name, the beginning of names, or their end.
fits(name, patterns) if {
	some pattern in patterns
	not contains(pattern, "*")
	name == pattern
}

fits(name, patterns) if {
	some pattern in patterns
	endswith(pattern, "*")
	startswith(name, trim_suffix(pattern, "*"))
}

fits(name, patterns) if {
	some pattern in patterns
	startswith(pattern, "*")
	endswith(name, trim_prefix(pattern, "*"))
}

unknown(_, part) := {name | some name in part.texts; not fits(upper(name), config.plain)} if input.caller.kind == "service"

unknown(effect, part) := {name | some name in part.fresh; not fits(upper(name), config.plain)} if {
	input.caller.kind == "agent"
	not granted(effect, part)
}

unknown(effect, part) := set() if {
	input.caller.kind == "agent"
	granted(effect, part)
}

unknown(_, _) := set() if not input.caller.kind in {"agent", "service"}

granted(effect, part) if {
	effect.contract.managed_by_agent
	part.named
}

trusted(effect, part) if effects.may_alone(effect, part)

trusted(effect, _) if {
	input.caller.kind == "pipeline"
	effect.declared
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
	some class in {"environment", "runs_code"}
	class in effect.may_be
	not reviewed(effect)
}

# What runs code is not known by a derived row, whatever that says.
concerned contains effect.address if {
	input.mutation.class != "mutation"
	some effect in effects.wholes
}

reviewed(effect) if {
	input.caller.kind == "pipeline"
	effect.declared
}
