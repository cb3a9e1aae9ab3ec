# METADATA
# title: Scopes
# description: Which entries of a table of stacks hold for a change.
package sentinel.lib.scopes

# Whether a pattern names a stack; `*` at the end is any text.
named(pattern, stack) if pattern == stack

named(pattern, stack) if {
	endswith(pattern, "*")
	startswith(stack, trim_suffix(pattern, "*"))
}

# The lists that hold for a change: those of every entry of `by_stack` that names one of its stacks, or the usual one if none does.
lists(usual, by_stack) := found if {
	found := [list |
		some pattern, list in by_stack
		some stack in input.stacks
		named(pattern, stack)
	]
	count(found) > 0
} else := [usual]
