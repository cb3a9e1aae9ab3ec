# Input documents for the tests.
package sentinel.fixtures

# An input document with these effects, requested by an actor of this kind.
document(kind, effects) := {
	"now_ns": 1000000000000,
	"stack": "kafka",
	"stacks": ["kafka"],
	"mode": "enforce",
	"caller": {"actor": concat("-", ["some", kind]), "kind": kind, "roles": [], "on_behalf_of": "", "open_claims": 0},
	"motive": motive("availability", "incident"),
	"mutation": {
		"id": "mut_1",
		"service": "ec2",
		"operation": "DoSomething",
		"account": "123456789012",
		"region": "us-east-1",
		"parameters": {},
		"controls": [],
		"accounts": [],
		"class": "mutation",
		"understood": count(effects) > 0,
		"effects": effects,
		"inner": [],
	},
	"security_groups": {"of": {}, "rules": {}},
	"dependants": [],
	"claims": [],
	"flips": {},
	"signals": [],
	"cost": {"monthly_cents": 0, "known_cents": 0, "unknown": [], "unknown_count": 0, "dated": ""},
}

# A motive with evidence.
motive(intent, motivation) := {
	"intent": intent,
	"motivation": motivation,
	"text": "",
	"evidence": ["ALERT-1"],
	"wanted_seconds": null,
	"proven": null,
}

# One effect on a resource `<type>.x`.
effect(type, action, attribute, value) := {
	"address": concat("", [type, ".x"]),
	"attribute": attribute,
	"action": action,
	"value": value,
	"before": null,
	"declared_value": null,
	"resource_type": type,
	"identity": {},
	"declared": true,
	"implied": false,
	"by": "",
	"upserted": false,
	"basis": "hand",
	"may_change": [],
	"may_be": [],
	"parts": [],
	"exists": action != "create",
	"changes": true,
	"contract": {"managed_by_agent": true, "critical": false, "prevent_delete": false, "owner": ""},
}

# An input document for one call, with the parameters that policies see.
calls(kind, service, operation, parameters, effects) := json.patch(document(kind, effects), [
	{"op": "replace", "path": "/mutation/service", "value": service},
	{"op": "replace", "path": "/mutation/operation", "value": operation},
	{"op": "replace", "path": "/mutation/parameters", "value": parameters},
])

# The effect, with another value of one of its members.
but(effect, member, value) := object.union(object.remove(effect, [member]), {member: value})

# The effect with its value declared in code.
as_declared(effect) := object.union(but(effect, "declared_value", effect.value), {"parts": parts}) if {
	parts := [but(part, "declared", true) | some part in effect.parts]
}

# The effect with one part of this class, which gains these texts.
with_part(effect, class, texts, accounts) := but(effect, "parts", [{
	"path": effect.attribute,
	"class": class,
	"texts": texts,
	"fresh": texts,
	"accounts": accounts,
	"declared": false,
	"named": false,
}])

# The effect, its contract naming the very attributes.
as_named(effect) := but(effect, "parts", [but(part, "named", true) | some part in effect.parts])

# The tests' own data, with one trusted account.
with_trusted(account) := object.union(config, {"principals": {"trusted_accounts": [account]}})

# The findings as a set of "ID verdict".
verdicts(findings) := {concat(" ", [finding.id, finding.verdict]) | some finding in findings}

# Whether every finding has the members that the gateway requires.
complete(findings) if {
	every finding in findings {
		is_string(finding.address)
		is_string(finding.attribute)
		count(finding.message) > 20
	}
}
