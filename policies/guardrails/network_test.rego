package sentinel.rules.network_test

import data.sentinel.fixtures
import data.sentinel.rules.network

rule(from, to, protocol, cidrs) := {
	"from_port": from,
	"to_port": to,
	"protocol": protocol,
	"cidr_blocks": cidrs,
	"ipv6_cidr_blocks": [],
	"security_groups": [],
	"self": false,
}

ingress(value) := fixtures.effect("aws_security_group", "set", "ingress", value)

verdicts(effects) := fixtures.verdicts(found) if {
	found := network.findings with input as fixtures.document("pipeline", effects) with data.data as fixtures.config
	fixtures.complete(found)
}

denied := {"SEN-N001 deny"}

unreadable := {"SEN-N002 deny"}

test_what_must_not_be_open_to_the_world if {
	every rules in [
		[rule(22, 22, "tcp", ["0.0.0.0/0"])],
		[rule(0, 0, "-1", ["0.0.0.0/0"])],
		[rule(0, 65535, "tcp", ["0.0.0.0/0"])],
		[rule(80, 443, "tcp", ["0.0.0.0/0"])],
		[rule(443, 443, "udp", ["0.0.0.0/0"])],
		[rule(22, 22, "tcp", ["0.0.0.0/1", "128.0.0.0/1"])],
		[rule(22, 22, "tcp", ["10.0.0.0/8", "16.0.0.0/4"])],
		[rule(22, 22, "tcp", ["everywhere"])],
		[rule(22, 22, "tcp", ["10.0.0.0/x"])],
		[{"from_port": 22, "to_port": 22, "protocol": "tcp", "ipv6_cidr_blocks": ["::/0"]}],
		[rule(443, 443, "tcp", ["0.0.0.0/0"]), rule(22, 22, "tcp", ["0.0.0.0/0"])],
		[{"cidr_blocks": ["0.0.0.0/0"]}],
	] {
		verdicts([ingress(rules)]) == denied
	}
}

test_what_may_be_open if {
	every rules in [
		[],
		[rule(443, 443, "tcp", ["0.0.0.0/0"])],
		[rule(80, 80, "6", ["0.0.0.0/0"])],
		[rule(22, 22, "tcp", ["10.0.0.0/8"])],
		[rule(22, 22, "tcp", ["203.0.113.7/32"])],
		[{"from_port": 22, "to_port": 22, "protocol": "tcp", "ipv6_cidr_blocks": ["2001:db8::/32"]}],
		[rule(22, 22, "tcp", [])],
	] {
		verdicts([ingress(rules)]) == set()
	}
}

test_only_new_openings_are_findings if {
	open := rule(22, 22, "tcp", ["0.0.0.0/0"])
	effect := json.patch(ingress([open, rule(443, 443, "tcp", ["0.0.0.0/0"])]), [{"op": "replace", "path": "/before", "value": [open]}])
	verdicts([effect]) == set()
	whole := json.patch(
		fixtures.effect("aws_security_group", "set", "*", {"ingress": [open]}),
		[{"op": "replace", "path": "/before", "value": {"ingress": [open]}}],
	)
	verdicts([whole]) == set()
	wider := json.patch(ingress([open, rule(23, 23, "tcp", ["0.0.0.0/0"])]), [{"op": "replace", "path": "/before", "value": [open]}])
	verdicts([wider]) == denied
}

test_other_forms_of_a_rule if {
	every effects in [
		[fixtures.effect("aws_security_group", "create", "*", {"ingress": [rule(22, 22, "tcp", ["0.0.0.0/0"])]})],
		[fixtures.effect("aws_default_security_group", "create", "ingress", [rule(22, 22, "tcp", ["0.0.0.0/0"])])],
		[fixtures.effect(
			"aws_security_group_rule", "create", "*",
			{"type": "ingress", "from_port": 22, "to_port": 22, "protocol": "tcp", "cidr_blocks": ["0.0.0.0/0"]},
		)],
		[fixtures.effect(
			"aws_vpc_security_group_ingress_rule", "create", "*",
			{"from_port": 22, "to_port": 22, "ip_protocol": "tcp", "cidr_ipv4": "0.0.0.0/0", "cidr_ipv6": null},
		)],
		[
			fixtures.effect("aws_vpc_security_group_ingress_rule", "create", "cidr_ipv6", "::/0"),
			fixtures.effect("aws_vpc_security_group_ingress_rule", "create", "ip_protocol", "-1"),
		],
	] {
		verdicts(effects) == denied
	}
}

test_egress_is_not_judged if {
	rules := {"type": "egress", "from_port": 0, "to_port": 0, "protocol": "-1", "cidr_blocks": ["0.0.0.0/0"]}
	verdicts([fixtures.effect("aws_security_group_rule", "create", "*", rules)]) == set()
	verdicts([fixtures.effect("aws_security_group", "set", "egress", [rules])]) == set()
}

test_deleting_rules_passes if {
	verdicts([fixtures.effect("aws_security_group", "delete", "*", null)]) == set()
}

test_rules_in_another_form_are_denied if {
	every value in [
		"0.0.0.0/0",
		{"cidr_blocks": ["0.0.0.0/0"]},
		["0.0.0.0/0"],
		[{"cidr_blocks": "10.0.0.0/8"}],
		[{"cidr_blocks": [7]}],
		[{"cidr_ipv4": ["10.0.0.0/8"]}],
	] {
		unreadable - verdicts([ingress(value)]) == set()
	}
}

halves := ["0.0.0.0/1", "128.0.0.0/1"]

eighths := [concat("", [format_int(first, 10), ".0.0.0/8"]) | some first in numbers.range(16, 31)]

sixteenths := [concat("", ["2", substring("0123456789abcdef", digit, 1), "00::/16"]) | some digit in numbers.range(0, 15)]

test_ranges_are_judged_together if {
	every rules in [
		[rule(22, 22, "tcp", halves)],
		[rule(22, 22, "tcp", [cidr]) | some cidr in array.slice(eighths, 0, 4)],
		[rule(port, port, "tcp", [cidr]) | some port, cidr in array.slice(eighths, 1, 3)],
		[rule(22, 22, "tcp", ["8.0.0.0/8", "9.0.0.0/32"])],
		[{"from_port": 22, "to_port": 22, "protocol": "tcp", "ipv6_cidr_blocks": sixteenths}],
	] {
		verdicts([ingress(rules)]) == denied
	}
}

test_a_part_of_the_world_in_eighths if {
	verdicts([ingress([rule(22, 22, "tcp", eighths)])]) == denied
}

test_private_ranges_are_not_the_world if {
	verdicts([ingress([rule(22, 22, "tcp", [cidr | some blocks in fixtures.config.network.private_ranges; some cidr in blocks])])]) == set()
	verdicts([ingress([{"from_port": 22, "to_port": 22, "protocol": "tcp", "ipv6_cidr_blocks": ["fd00::/16", "fd12:3456::/32", "fe80::/16"]}])]) == set()
}

test_ranges_that_only_look_narrow if {
	every cidr in ["::ffff:0.0.0.0/96", "64:ff9b::/96", "2002::/16", "0::/16", "10.0.0.0/7", "1.2.3/8", "1.2.3.4.5/8", "256.0.0.0/8", "010.0.0.0/8", "10.0.0.0/33", "::/48", ":/48", "10.0.0.0", "10.0.0.0/08"] {
		verdicts([ingress([rule(22, 22, "tcp", [cidr])])]) == denied
	}
}

test_the_world_in_two_calls if {
	standing := [rule(22, 22, "tcp", ["8.0.0.0/8"])]
	second := fixtures.but(ingress([rule(22, 22, "tcp", ["8.0.0.0/8", "9.0.0.0/8"])]), "before", standing)
	verdicts([second]) == denied
	repeated := fixtures.but(ingress(standing), "before", standing)
	verdicts([repeated]) == set()
}

one(address, cidr) := [
fixtures.but(fixtures.effect("aws_vpc_security_group_ingress_rule", "create", attribute, value), "address", address) |
	some attribute, value in {"security_group_id": "sg-1", "cidr_ipv4": cidr, "from_port": 22, "to_port": 22, "ip_protocol": "tcp"}
]

test_rules_of_their_own_add_up_in_their_group if {
	verdicts(array.concat(one("a.x", "8.0.0.0/8"), one("a.y", "9.0.0.0/8"))) == denied
	verdicts(array.concat(one("a.x", "8.0.0.0/9"), one("a.y", "9.0.0.0/9"))) == set()
}

test_prefix_lists_are_held if {
	listed := object.union(rule(22, 22, "tcp", []), {"prefix_list_ids": ["pl-1"]})
	verdicts([ingress([listed])]) == {"SEN-N003 hold"}
	verdicts([fixtures.as_declared(ingress([listed]))]) == set()
	verdicts([fixtures.but(ingress([listed]), "before", [listed])]) == set()
	verdicts([ingress([object.union(listed, {"from_port": 443, "to_port": 443})])]) == set()
	single := fixtures.effect("aws_vpc_security_group_ingress_rule", "create", "prefix_list_id", "pl-1")
	verdicts([single]) == {"SEN-N003 hold"}
	verdicts([fixtures.as_declared(single)]) == set()
	unreadable - verdicts([ingress([object.union(listed, {"prefix_list_ids": "pl-1"})])]) == set()
}

test_groups_of_other_accounts if {
	foreign := "999999999999/sg-1"
	held := {"SEN-N004 hold"}
	inline := ingress([object.union(rule(443, 443, "tcp", []), {"security_groups": ["sg-1", "123456789012/sg-2", foreign]})])
	verdicts([inline]) == held
	verdicts([fixtures.but(inline, "before", inline.value)]) == set()
	verdicts([fixtures.as_declared(inline)]) == set()
	every attribute in ["source_security_group_id", "referenced_security_group_id"] {
		single := fixtures.effect("aws_vpc_security_group_ingress_rule", "create", attribute, foreign)
		verdicts([single]) == held
		verdicts([fixtures.as_declared(single)]) == set()
		verdicts([fixtures.but(single, "value", "sg-1")]) == set()
	}
	trusted := network.findings with input as fixtures.document("pipeline", [inline])
		with data.data as fixtures.with_trusted("999999999999")
	count(trusted) == 0
}
