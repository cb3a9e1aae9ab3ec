# METADATA
# title: Principals
# description: Whom a statement lets in, and the one meaning of a condition that narrows it.
package sentinel.lib.principals

import data.data.principals as config
import data.sentinel.lib.documents
import data.sentinel.lib.patterns

# Allowing all but somebody is allowing everybody. So is a pattern: AWS documents `*` alone, and nobody can tell what others mean to it.
everybody(statement) if object.get(statement, "NotPrincipal", null) != null

everybody(statement) if {
	some kind in ["AWS", "CanonicalUser", "Federated", "Service"]
	some text in named(statement, kind)
	patterns.wild(text)
}

# The principals of a kind, as texts. A bare text names an AWS principal.
named(statement, kind) := [text |
	some text in documents.listed(by_kind(object.get(statement, "Principal", {}), kind))
	is_string(text)
]

by_kind(principal, kind) := object.get(principal, kind, []) if is_object(principal)

by_kind(principal, "AWS") := principal if not is_object(principal)

by_kind(principal, kind) := [] if {
	not is_object(principal)
	kind != "AWS"
}

# Whether the world may use what the statement allows.
open(statement) if {
	everybody(statement)
	not narrowed(statement)
}

# Whom the statement lets in although they are neither ours nor trusted: principals, and what a condition names in the place of everybody,
# or of those for whom a service acts.
strangers(statement) := {text |
	some kind in ["AWS", "CanonicalUser"]
	some text in named(statement, kind)
	not patterns.wild(text)
	not ours[account(text)]
} | {who(text) |
	indirect(statement)
	not confined(statement)
	some [key, text] in demanded(statement)
	kind := config.narrowing[key]
	exact(kind, text)
	not is_ours(kind, text)
}

indirect(statement) if everybody(statement)

indirect(statement) if count(named(statement, "Service")) > 0

# Whether a condition demands what is ours, whatever else it demands.
confined(statement) if {
	some operator, keys in object.get(statement, "Condition", {})
	demands(operator)
	some key, values in keys
	kind := config.narrowing[lower(key)]
	concrete(kind, documents.listed(values))
	every value in documents.listed(values) {
		is_ours(kind, value)
	}
}

is_ours("account", value) if ours[value]

is_ours("arn", value) if ours[account(value)]

is_ours("organization", value) if split(value, "/")[0] in config.trusted_organizations

is_ours("network", value) if value in config.trusted_networks

who(text) := text if account(text) == "unknown"

who(text) := account(text) if account(text) != "unknown"

# The federated identities that the statement lets in: strangers, but for those of a provider of our account that a condition singles out.
federated(statement) := {provider |
	some provider in named(statement, "Federated")
	not patterns.wild(provider)
	not singled_out(statement, provider)
}

singled_out(statement, provider) if {
	ours[account(provider)]
	every key in expected(provider) {
		demands_key(statement, key)
	}
}

# The keys by which a condition says whom of all that a provider vouches for it means.
expected(provider) := [concat("", [issuer, ":sub"]), concat("", [issuer, ":aud"])] if {
	contains(provider, ":oidc-provider/")
	issuer := lower(split(provider, ":oidc-provider/")[1])
}

expected(provider) := ["saml:aud"] if contains(provider, ":saml-provider/")

expected(provider) := [concat("", [lower(provider), ":aud"])] if {
	not contains(provider, ":oidc-provider/")
	not contains(provider, ":saml-provider/")
}

# Where no account is known nothing is ours.
ours := {object.get(input.mutation, "account", "")} | {account | some account in config.trusted_accounts}

# The account of an account id or an ARN, as far as it shows; `unknown` where it does not.
account(text) := text if {
	twelve_digits(text)
} else := parts[4] if {
	parts := split(text, ":")
	parts[0] == "arn"
	twelve_digits(parts[4])
} else := "unknown"

twelve_digits(text) if {
	count(text) == 12
	trim(text, "0123456789") == ""
}

# Only a condition that must hold and names an account, an organization, an ARN or a network narrows a statement. One that is met by a
# missing key (`…IfExists`, `ForAllValues:`), one that excludes, and one with a wildcard where the account stands narrow nothing.
narrowed(statement) if {
	some operator, keys in object.get(statement, "Condition", {})
	demands(operator)
	some key, values in keys
	kind := config.narrowing[lower(key)]
	concrete(kind, documents.listed(values))
}

demands(operator) if trim_prefix(lower(operator), "foranyvalue:") in config.demanding_operators

concrete(kind, values) if {
	count(values) > 0
	every value in values {
		is_string(value)
		exact(kind, value)
	}
}

exact("account", value) if twelve_digits(value)

exact("organization", value) if {
	id := split(value, "/")[0]
	startswith(id, "o-")
	count(id) >= 12
	trim(trim_prefix(id, "o-"), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

# A wildcard may stand behind the account only, since it matches colons too.
exact("arn", value) if {
	parts := split(value, ":")
	count(parts) > 5
	not patterns.wild(concat(":", array.slice(parts, 0, 4)))
	twelve_digits(parts[4])
}

exact("network", value) if {
	startswith(value, "vpc")
	count(value) > 8
	not patterns.wild(value)
}

# Every value that a condition demands, with its key in lower case.
demanded(statement) := {[lower(key), value] |
	some operator, keys in object.get(statement, "Condition", {})
	demands(operator)
	some key, values in keys
	some value in documents.listed(values)
	is_string(value)
}

# Whether the statement demands that the key, in lower case, has one of these values, and the values single something out.
demands_key(statement, wanted) if {
	some operator, keys in object.get(statement, "Condition", {})
	demands(operator)
	some key, values in keys
	lower(key) == wanted
	count(documents.listed(values)) > 0
	every value in documents.listed(values) {
		is_string(value)
		subject(value)
	}
}

# A subject or audience that singles out somebody: exact, or with a wildcard behind a whole name.
subject(value) if {
	value != ""
	not patterns.wild(value)
	not contains(value, "$")
}

subject(value) if {
	patterns.wild(value)
	not contains(value, "$")
	some head, end in config.subjects
	startswith(value, head)
	name := split(trim_prefix(patterns.literal(value), head), end)
	count(name) > 1
	name[0] != ""
}
