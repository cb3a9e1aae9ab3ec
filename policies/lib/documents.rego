# METADATA
# title: Policy documents
# description: Reads IAM's policy language. What is not exactly of its form is not readable, and nobody can tell what it grants.
package sentinel.lib.documents

import data.data.documents as config

# The document, given as text or as an object.
parsed(value) := value if is_object(value)

parsed(value) := json.unmarshal(value) if {
	is_string(value)
	json.is_valid(value)
}

# IAM takes one item wherever it takes a list of them.
listed(value) := value if is_array(value)

listed(value) := [value] if not is_array(value)

statements(value) := [statement |
	document := parsed(value)
	is_object(document)
	some statement in listed(object.get(document, "Statement", []))
]

# The statements that allow something. Whatever does not say Deny counts.
allowing(value) := [statement |
	some statement in statements(value)
	is_object(statement)
	object.get(statement, "Effect", "") != "Deny"
]

# Whether the value is a policy document of this kind (`identity`, `trust` or `resource`), through and through.
readable(value, kind) if {
	document := parsed(value)
	is_object(document)
	object.keys(document) - members == set()
	found := statements(value)
	count(found) > 0
	every statement in found {
		understood(statement, kind)
	}
}

understood(statement, kind) if {
	is_object(statement)
	statement.Effect in {"Allow", "Deny"}
	names := object.keys(statement)
	names - elements == set()
	count(names & {"Action", "NotAction"}) == 1
	complete(names, kind)
	every name in names & {"Action", "NotAction", "Resource", "NotResource"} {
		texts(statement[name])
	}
	every name in names & {"Principal", "NotPrincipal"} {
		principals(statement[name])
	}
	conditions(object.get(statement, "Condition", {}))
}

complete(names, "identity") if {
	count(names & {"Resource", "NotResource"}) == 1
	count(names & {"Principal", "NotPrincipal"}) == 0
}

complete(names, kind) if {
	kind in {"trust", "resource"}
	count(names & {"Principal", "NotPrincipal"}) == 1
	count(names & {"Resource", "NotResource"}) < 2
}

elements := {name | some name in config.elements}

members := {name | some name in config.members}

texts(value) if {
	found := listed(value)
	count(found) > 0
	every item in found {
		is_string(item)
		item != ""
	}
}

principals(value) if is_string(value)

principals(value) if {
	is_object(value)
	count(value) > 0
	every kind, named in value {
		kind in config.principals
		texts(named)
	}
}

conditions(value) if {
	is_object(value)
	every keys in value {
		is_object(keys)
	}
}
