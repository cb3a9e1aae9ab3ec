# METADATA
# title: Network
# description: What may be reachable from the whole internet. Only new openings are findings.
package sentinel.rules.network

import data.data.network

evaluated := true

# METADATA
# title: Open to the world
# custom:
#   id: SEN-N001
#   severity: critical
findings contains {
	"id": "SEN-N001",
	"verdict": "deny",
	"message": concat("", [
		ports(opening), " of ", address, " must not be open to ", text(opening.cidr), "; only tcp ports ",
		concat(", ", [text(port) | some port in network.public_ports]), " may be open to the world. ",
		"Name a narrower range or a security group.",
	]),
	"address": address,
	"attribute": attribute,
} if {
	some [address, attribute, opening] in opened
	wide(opening.cidr)
	not is_allowed(opening)
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
	"message": concat("", ["The ingress rules for ", address, " do not have the structure of the Terraform provider, so it is unknown what they open."]),
	"address": address,
	"attribute": attribute,
} if {
	some [address, attribute, value] in values
	not readable(value)
}

groups := {"aws_security_group", "aws_default_security_group"}

# Resource types for a single rule.
rule_types := {"aws_security_group_rule", "aws_vpc_security_group_ingress_rule"}

writes := [effect | some effect in input.mutation.effects; effect.action in {"set", "create"}]

# The list of rules in each effect, in the provider's structure: [address, attribute, list].
values contains [effect.address, "ingress", effect.value] if {
	some effect in writes
	effect.resource_type in groups
	effect.attribute == "ingress"
	effect.value != null
}

values contains [effect.address, "ingress", effect.value.ingress] if {
	some effect in writes
	effect.resource_type in groups
	effect.attribute == "*"
	effect.value.ingress != null
}

values contains [address, "*", [rule]] if {
	some address, rule in single
	object.get(rule, "type", "ingress") == "ingress"
}

# The content of a single-rule resource, from one effect or from one effect per attribute.
single[effect.address] := object.union(whole, parts) if {
	some effect in writes
	effect.resource_type in rule_types
	whole := object.union_n([other.value |
		some other in writes
		other.address == effect.address
		other.attribute == "*"
		is_object(other.value)
	])
	parts := {other.attribute: other.value |
		some other in writes
		other.address == effect.address
		other.attribute != "*"
	}
}

opened contains [address, attribute, opening] if {
	some [address, attribute, value] in values
	some rule in value
	some opening in openings(rule)
	not [address, opening] in already_open
}

# What is already open, so that a call that repeats it has no finding: [address, opening].
already_open contains [effect.address, opening] if {
	some effect in writes
	effect.resource_type in groups
	some rule in array.concat(listed(effect.before), listed(object.get(as_object(effect.before), "ingress", [])))
	some opening in openings(rule)
}

listed(value) := value if is_array(value)

listed(value) := [] if not is_array(value)

as_object(value) := value if is_object(value)

as_object(value) := {} if not is_object(value)

openings(rule) := {opening |
	some cidr in cidrs(rule)
	opening := {
		"cidr": cidr,
		"protocol": object.get(rule, "protocol", object.get(rule, "ip_protocol", "-1")),
		"from": object.get(rule, "from_port", null),
		"to": object.get(rule, "to_port", null),
	}
}

cidrs(rule) := {cidr |
	some key in ["cidr_blocks", "ipv6_cidr_blocks"]
	some cidr in rule[key]
} | {cidr |
	some key in ["cidr_ipv4", "cidr_ipv6"]
	cidr := rule[key]
	cidr != null
}

is_allowed(opening) if {
	opening.protocol in {"tcp", "6", 6}
	opening.from == opening.to
	opening.from in network.public_ports
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

# A CIDR range is narrow only if its prefix says so. Anything else counts as the whole internet.
wide(cidr) if not narrow(cidr)

narrow(cidr) if {
	is_string(cidr)
	[address, prefix] := split(cidr, "/")
	prefix in narrow_prefixes[family(address)]
}

family(address) := "ipv6" if contains(address, ":")

family(address) := "ipv4" if not contains(address, ":")

narrow_prefixes := {
	"ipv4": {format_int(length, 10) | some length in numbers.range(network.shortest_public_prefix.ipv4, 32)},
	"ipv6": {format_int(length, 10) | some length in numbers.range(network.shortest_public_prefix.ipv6, 128)},
}

readable(value) if {
	is_array(value)
	every rule in value {
		is_object(rule)
		every key in ["cidr_blocks", "ipv6_cidr_blocks"] {
			texts(object.get(rule, key, null))
		}
		every key in ["cidr_ipv4", "cidr_ipv6"] {
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
