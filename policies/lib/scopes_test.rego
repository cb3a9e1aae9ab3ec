package sentinel.lib.scopes_test

import data.sentinel.lib.scopes

test_a_pattern_names_stacks if {
	scopes.named("prod", "prod")
	scopes.named("prod-*", "prod-shop")
	not scopes.named("prod", "prod-shop")
	not scopes.named("prod-*", "dev-shop")
}

test_the_lists_of_every_stack_hold if {
	by_stack := {"prod-*": ["a"], "prod-shop": ["b"], "dev": ["c"]}
	lists := scopes.lists(["u"], by_stack) with input as {"stacks": ["prod-shop"]}
	{list | some list in lists} == {["a"], ["b"]}
	scopes.lists(["u"], by_stack) == [["u"]] with input as {"stacks": [""]}
}
