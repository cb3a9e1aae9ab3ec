# METADATA
# title: Budgets
# description: |
#   What one actor of a kind may do and ask in a span of time, how many claims it may hold for each motivation, how many of its calls may wait for people, how many reads it may send that AWS charges for, and when its circuit breaker opens.
#   The numbers are data (`policies/data/budgets.json`). The gateway counts; it asks when the policies change, not for each call.
package sentinel.budgets

import data.data.budgets

# METADATA
# title: The complete result about the budgets of a kind of actor
# entrypoint: true
result := {
	"evaluated": evaluated,
	"mutations": budgets.mutations[input.kind],
	"questions": budgets.questions[input.kind],
	"mutations_by_motivation": object.get(budgets.mutations_by_motivation, input.kind, {}),
	"added_per_day": object.get(budgets.added_per_day, input.kind, {}),
	"sizes": budgets.sizes,
	"claims_by_motivation": object.get(budgets.claims_by_motivation, input.kind, {}),
	"open_holds": budgets.open_holds[input.kind],
	"billed_reads": object.get(object.get(budgets, "billed_reads", {}), input.kind, {}),
	"breaker": budgets.breaker[input.kind],
}

# A size that nothing measures would be a budget that nobody ever uses.
evaluated if {
	every kind in object.keys(budgets.added_per_day) {
		every size in object.keys(budgets.added_per_day[kind]) {
			measured(size)
		}
	}
}

measured(size) if budgets.sizes[size]

# By the price table (data/prices.json).
measured("monthly_usd")
