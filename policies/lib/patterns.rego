# METADATA
# title: Patterns
# description: |
#   What a pattern of an IAM policy can match, compared by meaning: `*`, `**`, `?*` and `arn:aws:*` grant the same. Where an exact
#   answer would need a search, the answer is that it matches, so that no spelling hides a grant.
package sentinel.lib.patterns

import data.data.patterns as config

wild(text) if contains(text, "*")

wild(text) if contains(text, "?")

# A policy variable stands for any text: `${aws:PrincipalTag/none, ''}` may be empty.
wild(text) if contains(text, "${")

# The text before the first wildcard.
literal(pattern) := split(stars(pattern), "*")[0]

# The pattern with `*` for every wildcard, and for all that follows a variable.
stars(pattern) := replace(pattern, "?", "*") if not contains(pattern, "${")

stars(pattern) := concat("", [replace(split(pattern, "${")[0], "?", "*"), "*"]) if contains(pattern, "${")

# Whether the pattern may match the text, both in lower case.
matches(pattern, text) if text in among(pattern, {text})

# Those of the texts that the pattern may match, all in lower case. The order of the parts in the middle is not looked at.
among(pattern, texts) := {text |
	wild(pattern)
	parts := split(stars(pattern), "*")
	tail := parts[count(parts) - 1]
	inner := {part | some part in parts; part != ""}
	some text in texts
	startswith(text, parts[0])
	endswith(text, tail)
	every part in inner {
		contains(text, part)
	}
}

# Whether a resource pattern singles nothing out: it means everything, a whole service, or every role of an account.
everywhere(resource) if {
	wild(resource)
	not particular(resource)
	not own(resource)
}

# Whether the name is that of the one who asks, which is never empty: `arn:aws:iam::*:user/${aws:username}`.
own(resource) if {
	some variable in config.own
	endswith(resource, concat("", ["/", variable]))
	parts := split(trim_suffix(resource, variable), ":")
	count(parts) > 5
	not wild(parts[2])
	not wild(concat(":", array.slice(parts, 5, count(parts))))
}

# A name that begins with fewer letters than that counts as none: a policy has room for every letter of the alphabet.
particular(resource) if {
	parts := split(resource, ":")
	count(parts) > 5
	path := literal(concat(":", array.slice(parts, 5, count(parts))))
	count(name(parts[2], path)) >= config.shortest_name
}

# What a path says beyond its type: `app-` of `role/app-`. Few services have names without a type.
name(service, _) := "" if wild(service)

name(service, path) := path if service in config.services_without_types

name(service, path) := trim_left(concat("/", array.slice(parts, 1, count(parts))), "/") if {
	not wild(service)
	not service in config.services_without_types
	parts := split(replace(path, ":", "/"), "/")
}
