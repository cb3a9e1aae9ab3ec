# METADATA
# title: Effects
# description: What the rules ask of effects.
package sentinel.lib.effects

# The effects that set something or make it.
writes := [effect | some effect in input.mutation.effects; effect.action in {"set", "create"}]

# The effects of which only the resource is known, by a derived row: any of its attributes may change, and the call does not show which. What
# is deleted is judged as a whole anyway.
wholes := [effect |
	some effect in input.mutation.effects
	object.get(effect, "basis", "hand") == "resource"
	effect.action != "delete"
]

# Whether such an effect may change an attribute: the type has all names of its path.
may_change(effect, attribute) if {
	every step in split(attribute, ".") {
		step in effect.may_change
	}
}

# Whether people have reviewed the value: the code declares it, and nobody but an agent asks for it.
is_declared(effect) if {
	input.caller.kind != "agent"
	effect.declared_value != null
	effect.value == effect.declared_value
}

# Whether people have let the caller set the part: the code declares it and nobody but an agent asks for it, or the contract of an agent names
# this very attribute. (What declares it in the code is enough for an agent too, if the resource is its to manage.)
may_alone(_, part) if {
	input.caller.kind != "agent"
	part.declared
}

may_alone(effect, part) if {
	input.caller.kind == "agent"
	effect.declared
	effect.contract.managed_by_agent
	some let in [part.declared, part.named]
	let
}

# The values that an effect gives to the attributes of a table (`ttl.enabled`), whether it sets one, its block or the whole:
# [attribute, value, entry of the table].
given(effect, table) := [[effect.attribute, effect.value, table[effect.attribute]] | table[effect.attribute]] if {
	not is_object(effect.value)
	not is_array(effect.value)
}

given(effect, table) := array.concat(
	[[effect.attribute, effect.value, table[effect.attribute]] | table[effect.attribute]],
	[[attribute, value, entry] |
		some attribute, entry in table
		some value in found(effect, attribute)
	],
) if {
	is_block(effect.value)
}

is_block(value) if is_object(value)

is_block(value) if is_array(value)

# What stands at the attribute inside a block that the effect sets.
found(effect, attribute) := [value |
	startswith(attribute, concat("", [effect.attribute, "."]))
	name := trim_prefix(attribute, concat("", [effect.attribute, "."]))
	some value in members(effect.value, name)
] if effect.attribute != "*"

found(effect, attribute) := [value |
	path := split(attribute, ".")
	some value in inside(effect.value, path)
] if effect.attribute == "*"

inside(value, path) := members(value, path[0]) if count(path) == 1

inside(value, path) := [inner |
	some outer in members(value, path[0])
	some inner in members(outer, path[1])
] if count(path) == 2

# The member of a block, or of each of a list of blocks.
members(value, name) := [value[name] | value[name] != null] if is_object(value)

members(value, name) := [item[name] | some item in value; is_object(item); item[name] != null] if is_array(value)

# The path of a part of what an effect gives, without the places in lists.
place(effect, steps) := concat(".", array.concat(root(effect.attribute), [step | some step in steps; is_string(step)]))

root("*") := []

root(attribute) := [attribute] if attribute != "*"

# The key of a map that a step of a path stands for: a dot in a key is written `%2E`.
key_of(step) := replace(replace(step, "%2E", "."), "%25", "%")

last(path) := steps[count(steps) - 1] if steps := split(path, ".")

# A set of texts for a message: all of a few, of many the first and how many more.
few(texts) := concat(", ", sort(texts)) if count(texts) < 6

few(texts) := concat("", [min(texts), " and ", format_int(count(texts) - 1, 10), " more"]) if count(texts) > 5
