# METADATA
# title: Network
# description: What may be reachable from the whole internet. Only new openings are findings.
package sentinel.rules.network

import data.data.network as config
import data.sentinel.lib.addresses
import data.sentinel.lib.effects
import data.sentinel.lib.principals

# METADATA
# title: Open to the world
# description: |
#   By one range, or by all ranges of a group together. Ranges that are open already count towards the sum, and are not blamed on a call
#   that repeats them.
# custom:
#   id: SEN-N001
#   severity: critical
findings contains {
	"id": "SEN-N001",
	"verdict": "deny",
	"message": concat("", [reason, "; only tcp ports ", public_ports, " may be open to the world. Name a narrower range or a security group."]),
	"address": opened.address,
	"attribute": opened.attribute,
} if {
	some opened in lists
	some reason in to_the_world(opened)
}

# METADATA
# title: Ingress that cannot be read
# description: Rules that do not have the Terraform provider's structure cannot be checked.
# custom:
#   id: SEN-N002
#   severity: high
findings contains {
	"id": "SEN-N002",
	"verdict": "deny",
	"message": concat("", ["The ingress rules for ", opened.address, " do not have the structure of the Terraform provider, so it is unknown what they open."]),
	"address": opened.address,
	"attribute": opened.attribute,
} if {
	some opened in lists
	not readable(opened.rules)
}

# METADATA
# title: Open to a prefix list
# description: |
#   The call does not show what ranges a prefix list has, and they change without a call to this one. Passes where the Terraform code
#   itself declares the value and nobody but an agent asks.
# custom:
#   id: SEN-N003
#   severity: high
findings contains {
	"id": "SEN-N003",
	"verdict": "hold",
	"message": concat("", [opened.address, " would be open to the prefix list ", text(prefix), ", and the call does not show what ranges that has; it needs an approval."]),
	"address": opened.address,
	"attribute": opened.attribute,
} if {
	some opened in lists
	not opened.reviewed
	some rule in opened.rules
	not harmless(object.union(rule, {"protocol": protocol(rule)}))
	some prefix in prefixes(rule)
	not opened.prefixes[prefix]
}

# METADATA
# title: Open to a group of another account
# description: |
#   What that group holds is for the other account to say. Accounts of `trusted_accounts` in data/principals.json are ours. Passes where the
#   Terraform code itself declares the value and nobody but an agent asks.
# custom:
#   id: SEN-N004
#   severity: high
findings contains {
	"id": "SEN-N004",
	"verdict": "hold",
	"message": concat("", [opened.address, " would be open to ", group, ", a security group of an account that is neither ours nor trusted (data/principals.json); it needs an approval."]),
	"address": opened.address,
	"attribute": opened.attribute,
} if {
	some opened in lists
	not opened.reviewed
	some rule in opened.rules
	some group in sources(rule)
	parts := split(group, "/")
	count(parts) > 1
	not principals.ours[parts[0]]
	not opened.sources[group]
}

public_ports := concat(", ", [text(port) | some port in config.public_ports])

# Why a list of rules opens something to the world, if it does: the first range that does so alone, or all together.
to_the_world(opened) := {concat("", [ports(opening), " of ", opened.address, " must not be open to ", text(opening.cidr)])} if {
	wide := {opening.cidr | some opening in opened.added; worlds[opening.cidr]}
	count(wide) > 0
	first := min(wide)
	opening := min({opening | some opening in opened.added; opening.cidr == first})
}

to_the_world(opened) := {concat("", ["All ranges together would open ", opened.group, " to a large part of the world"])} if {
	count([opening | some opening in opened.added; worlds[opening.cidr]]) == 0
	count(opened.added) > 0
	crowded[opened.group]
}

# The ranges that are as good as the world by themselves; each is read once.
worlds contains cidr if {
	some cidr in {opening.cidr | some opened in lists; some opening in opened.added}
	addresses.world(cidr)
}

# The groups whose ranges add up to too much.
crowded contains group if {
	some group, cidrs in ranges
	addresses.much(cidrs)
}

ranges[opened.group] contains opening.cidr if {
	some opened in lists
	some opening in (opened.added | opened.standing)
}

# What the other rules of these groups open, as far as it is recorded or was applied.
ranges[group] contains opening.cidr if {
	some group, rules in input.security_groups.rules
	some opening in openings(rules)
}

group_of(address, otherwise) := text(object.get(input, ["security_groups", "of", address], otherwise))

groups := {"aws_security_group", "aws_default_security_group"}

# Resource types for a single rule.
rule_types := {"aws_security_group_rule", "aws_vpc_security_group_ingress_rule"}

# Every list of rules that the mutation writes, with what it adds to what was open before.
lists := array.concat(
	[opened |
		some effect in effects.writes
		effect.resource_type in groups
		some [rules, before] in of_group(effect)
		opened := listed(effect, rules, before)
	],
	[{
		"address": address,
		"attribute": "*",
		"group": group_of(address, object.get(rule, "security_group_id", address)),
		"rules": [rule],
		"added": openings([rule]),
		"standing": set(),
		"prefixes": set(),
		"sources": set(),
		"reviewed": count({address} & declared_sources) == 1,
	} |
		some address, _ in parts
		rule := single(address)
		object.get(rule, "type", "ingress") == "ingress"
	],
)

of_group(effect) := [[effect.value, effect.before]] if {
	effect.attribute == "ingress"
	effect.value != null
}

of_group(effect) := [[effect.value.ingress, object.get(as_object(effect.before), "ingress", [])]] if {
	effect.attribute == "*"
	effect.value.ingress != null
}

listed(effect, rules, before) := {
	"address": effect.address,
	"attribute": "ingress",
	"group": group_of(effect.address, effect.address),
	"rules": rules,
	"added": openings(rules) - standing,
	"standing": standing,
	"prefixes": {prefix | some rule in as_list(before); some prefix in prefixes(rule)},
	"sources": {group | some rule in as_list(before); some group in sources(rule)},
	"reviewed": count([effect | effects.is_declared(effect)]) == 1,
} if {
	standing := openings(as_list(before))
}

as_list(value) := value if is_array(value)

as_list(value) := [] if not is_array(value)

as_object(value) := value if is_object(value)

as_object(value) := {} if not is_object(value)

# The content of a single-rule resource, from one effect or from one effect per attribute.
single(address) := object.union_n(array.concat(
	[as_object(value) | some [attribute, value] in pairs; attribute == "*"],
	[{attribute: value} | some [attribute, value] in pairs; attribute != "*"],
)) if {
	pairs := sort(parts[address])
}

parts[effect.address] contains [effect.attribute, effect.value] if {
	some effect in effects.writes
	effect.resource_type in rule_types
}

declared_sources := {effect.address |
	some effect in effects.writes
	effect.attribute in {"prefix_list_id", "prefix_list_ids", "source_security_group_id", "referenced_security_group_id"}
	effects.is_declared(effect)
}

# What the rules open to ranges of addresses, but for what anybody may reach.
openings(rules) := {opening |
	some rule in as_list(rules)
	base := {
		"protocol": protocol(rule),
		"from": object.get(rule, "from_port", null),
		"to": object.get(rule, "to_port", null),
	}
	not harmless(rule_ports(base))
	some cidr in cidrs(rule)
	opening := object.union(base, {"cidr": cidr})
}

rule_ports(base) := {"protocol": base.protocol, "from_port": base.from, "to_port": base.to}

protocol(rule) := object.get(rule, "protocol", object.get(rule, "ip_protocol", "-1"))

cidrs(rule) := {cidr |
	some key in ["cidr_blocks", "ipv6_cidr_blocks"]
	some cidr in rule[key]
} | {cidr |
	some key in ["cidr_ipv4", "cidr_ipv6"]
	cidr := rule[key]
	cidr != null
}

prefixes(rule) := {prefix | some prefix in rule.prefix_list_ids} | {rule.prefix_list_id | not rule.prefix_list_id in {null, ""}}

# The security groups that the rule names as sources, as texts.
sources(rule) := {group | some group in rule.security_groups; is_string(group)} | {group |
	some key in ["source_security_group_id", "referenced_security_group_id"]
	group := rule[key]
	is_string(group)
}

harmless(rule) if {
	rule.protocol in {"tcp", "6", 6}
	rule.from_port == rule.to_port
	rule.from_port in config.public_ports
}

ports(opening) := concat("", ["Port ", text(opening.from), " (", text(opening.protocol), ")"]) if {
	opening.from == opening.to
	not opening.protocol in {"-1", -1}
}

ports(opening) := concat("", ["Ports ", text(opening.from), " to ", text(opening.to), " (", text(opening.protocol), ")"]) if {
	opening.from != opening.to
	not opening.protocol in {"-1", -1}
}

ports(opening) := "Every port" if opening.protocol in {"-1", -1}

text(value) := value if is_string(value)

text(value) := json.marshal(value) if not is_string(value)

readable(value) if {
	is_array(value)
	every rule in value {
		is_object(rule)
		every key in ["cidr_blocks", "ipv6_cidr_blocks", "prefix_list_ids"] {
			texts(object.get(rule, key, null))
		}
		every key in ["cidr_ipv4", "cidr_ipv6", "prefix_list_id"] {
			text_or_null(object.get(rule, key, null))
		}
	}
}

texts(null)

texts(value) if {
	is_array(value)
	every item in value {
		is_string(item)
	}
}

text_or_null(null)

text_or_null(value) if is_string(value)

# The resources of which a call may change what these rules judge, without showing it (see guardrails.rego).
concerned contains effect.address if {
	some effect in effects.wholes
	effect.resource_type in (groups | rule_types)
}
