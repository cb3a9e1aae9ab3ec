# METADATA
# title: Priorities
# description: |
#   The numbers that arbitration decides by (`policies/data/priorities.json`): a base, and above it the layers that hold for the stacks of a
#   change, in their order. A layer overrides what it names; objects are joined member by member, lists are replaced.
package sentinel.priorities

import data.data.priorities as base

# METADATA
# title: The numbers in force
# entrypoint: true
result := {
	"layers": concat(" ", [layer.name | some layer in in_force]),
	"numbers": object.remove(numbers, ["layers"]),
	"every": {layer.name: layer.stacks | some layer in all_layers},
}

# regal ignore:rule-shadows-builtin
numbers := base if count(in_force) == 0

# regal ignore:rule-shadows-builtin
numbers := object.union_n(array.concat([base], [layer.priorities | some layer in in_force])) if count(in_force) > 0

# METADATA
# title: Whether the stacks of the change have different layers
# description: Then only what all of them share is in force, and no rank may decide alone.
disagree if {
	some stack in input.stacks
	some layer in all_layers
	holds(layer, stack)
	not everywhere(layer)
}

all_layers := object.get(base, "layers", [])

in_force := [layer | some layer in all_layers; everywhere(layer)]

everywhere(layer) if {
	count(input.stacks) > 0
	every stack in input.stacks {
		holds(layer, stack)
	}
}

holds(layer, stack) if {
	some pattern in layer.stacks
	matches(pattern, stack)
}

matches(pattern, stack) if pattern == stack

matches(pattern, stack) if {
	endswith(pattern, "*")
	startswith(stack, trim_suffix(pattern, "*"))
}
