package sentinel.lib.addresses_test

import data.sentinel.fixtures
import data.sentinel.lib.addresses

test_how_far_a_range_reaches if {
	every cidr, reach in {
		"10.1.2.0/24": "private",
		"100.127.255.0/24": "private",
		"100.128.0.0/24": "public",
		"172.31.0.0/16": "private",
		"172.32.0.0/16": "public",
		"10.0.0.0/7": "public",
		"fd00::/32": "private",
		"FE80::/64": "private",
		"2001:db8::/32": "public",
		"2002::/48": "unknown",
		"::ffff:1.2.3.4/128": "unknown",
		"2:3::/48": "unknown",
	} {
		addresses.parsed(cidr).reach == reach with data.data as fixtures.config
	}
}

test_what_is_no_range_is_the_world if {
	every cidr in ["", "x", "/", "1.2.3.4", "1.2.3.4/33", "1.2.3.4/-1", "::/129", "1.2.3.4/8/8", 7, null, ["1.2.3.4/8"]] {
		addresses.world(cidr) with data.data as fixtures.config
	}
}

test_ranges_add_up if {
	addresses.much({"8.0.0.0/8", "9.0.0.0/32"}) with data.data as fixtures.config
	addresses.much({"2001::/16", "2003::/48"}) with data.data as fixtures.config
	not addresses.much({"8.0.0.0/8", "10.0.0.0/8", "192.168.0.0/16"}) with data.data as fixtures.config
	not addresses.much({"8.0.0.0/9", "2001::/17", "2001:db8::1/128"}) with data.data as fixtures.config
}
