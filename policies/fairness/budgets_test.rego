package sentinel.budgets_test

import data.data.budgets as shipped
import data.sentinel.budgets

test_every_kind_has_an_answer if {
	every kind in {"human", "agent", "service", "pipeline"} {
		answer := budgets.result with input as {"kind": kind}
		answer.evaluated
		answer.mutations == shipped.mutations[kind]
		answer.breaker == shipped.breaker[kind]
	}
}

test_what_a_kind_has_not_is_empty if {
	answer := budgets.result with input as {"kind": "pipeline"}
	answer.claims_by_motivation == {}
	answer.mutations_by_motivation == {}
}

test_an_unknown_kind_has_no_answer if {
	not budgets.result with input as {"kind": "robot"}
}

test_a_size_that_nothing_measures_is_no_answer if {
	not budgets.result with input as {"kind": "agent"} with data.data.budgets.sizes as {}
}
