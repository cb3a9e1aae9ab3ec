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
	found := network.findings with input as fixtures.document("pipeline", effects)
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
