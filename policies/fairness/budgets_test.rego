package sentinel.budgets_test

import data.data.budgets as shipped
import data.sentinel.budgets

test_every_kind_has_an_answer if {
	every kind in {"human", "agent", "service", "pipeline"} {
		answer := budgets.result with input as {"kind": kind}
		answer.evaluated
		answer.mutations == shipped.mutations[kind]
		answer.questions == shipped.questions[kind]
		answer.breaker == shipped.breaker[kind]
		answer.open_holds == shipped.open_holds[kind]
	}
}

test_reads_that_are_charged_have_a_budget_where_the_data_give_one if {
	agent := budgets.result with input as {"kind": "agent"}
	agent.billed_reads == shipped.billed_reads.agent
	service := budgets.result with input as {"kind": "service"}
	service.billed_reads == {}
	without := object.remove(shipped, {"billed_reads"})
	older := budgets.result with input as {"kind": "agent"} with data.data.budgets as without
	older.billed_reads == {}
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

test_money_is_measured_by_the_price_table if {
	answer := budgets.result with input as {"kind": "agent"} with data.data.budgets.added_per_day as {"agent": {"monthly_usd": 200}}
	answer.added_per_day == {"monthly_usd": 200}
}
