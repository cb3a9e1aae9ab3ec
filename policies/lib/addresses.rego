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
size("ipv4", length) := bits.lsh(1, 32 - length)

size("ipv6", length) := bits.lsh(1, max([0, 48 - length]))

# A range taken apart; undefined for what is none.
parsed(cidr) := {"family": "ipv4", "length": length, "reach": reach4(first, length)} if {
	is_string(cidr)
	not contains(cidr, ":")
	[address, prefix] := split(cidr, "/")
	length := lengths[prefix]
	length <= 32
	first := number(address)
}

parsed(cidr) := {"family": "ipv6", "length": length, "reach": reach6(head)} if {
	is_string(cidr)
	contains(cidr, ":")
	[address, prefix] := split(cidr, "/")
	length := lengths[prefix]
	head := lower(split(address, ":")[0])
}

number(address) := (((a * 16777216) + (b * 65536)) + (c * 256)) + d if {
	[a, b, c, d] := [octets[octet] | some octet in split(address, ".")]
}

lengths := {format_int(length, 10): length | some length in numbers.range(0, 128)}

octets := {format_int(octet, 10): octet | some octet in numbers.range(0, 255)}

# Private ranges are those that no router of the internet knows.
reach4(first, length) := "private" if {
	some block in private_blocks
	length >= block.length
	first >= block.first
	first < block.end
} else := "public"

private_blocks := [{"first": first, "end": first + size("ipv4", length), "length": length} |
	some cidr in config.private_ranges
	[address, prefix] := split(cidr, "/")
	first := number(address)
	length := lengths[prefix]
]

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
