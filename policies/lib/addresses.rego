# METADATA
# title: Addresses
# description: How much of the world a range of addresses is. What cannot be read counts as the world.
package sentinel.lib.addresses

import data.data.network as config

# Whether one range is as good as the world.
world(cidr) if not narrow(cidr)

narrow(cidr) if {
	range := parsed(cidr)
	range.length >= config.shortest_public_prefix[range.family]
	range.reach != "unknown"
}

# Whether public ranges, each of them narrow, are together more than the widest that may be alone.
much(cidrs) if {
	some family, limit in config.shortest_public_prefix
	sum([size(family, range.length) |
		some cidr in cidrs
		range := parsed(cidr)
		range.family == family
		range.reach == "public"
	]) > size(family, limit)
}

# How many smallest ranges lie in one with a prefix of this length: single addresses of IPv4, sites (/48) of IPv6.
size("ipv4", length) := sizes[32 - length]

size("ipv6", length) := sizes[48 - length] if length <= 48

size("ipv6", length) := 1 if length > 48

sizes := [bits.lsh(1, exponent) | some exponent in numbers.range(0, 48)]

# A range taken apart; undefined for what is none. Numbers that some read as octal are none.
parsed(cidr) := {"family": "ipv4", "length": to_number(parts[1]), "reach": reach4(cidr)} if {
	is_string(cidr)
	regex.match(`^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(\.|/)){4}(3[0-2]|[12]?[0-9])$`, cidr)
	parts := split(cidr, "/")
	count(parts) == 2
}

parsed(cidr) := {"family": "ipv6", "length": to_number(parts[1]), "reach": reach6(lower(split(parts[0], ":")[0]))} if {
	is_string(cidr)
	contains(cidr, ":")
	parts := split(cidr, "/")
	count(parts) == 2
	regex.match(`^(12[0-8]|1[01][0-9]|[1-9]?[0-9])$`, parts[1])
}

# Private ranges are those that no router of the internet knows.
reach4(cidr) := "private" if {
	some block in config.private_ranges[split(cidr, ".")[0]]
	net.cidr_contains(block, cidr)
} else := "public"

# Unique local and link-local addresses (fc00::/7, fe80::/10) are private, and global ones begin with 2 or 3. All others, and those of
# 6to4 (2002::/16), stand for ranges of IPv4 or for everything.
reach6(head) := "private" if {
	count(head) == 4
	substring(head, 0, 2) in {"fc", "fd"}
} else := "private" if {
	count(head) == 4
	substring(head, 0, 3) in {"fe8", "fe9", "fea", "feb"}
} else := "public" if {
	count(head) == 4
	substring(head, 0, 1) in {"2", "3"}
	head != "2002"
} else := "unknown"
