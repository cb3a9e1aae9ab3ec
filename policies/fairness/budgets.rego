# METADATA
# title: Budgets
# description: |
#   What one actor of a kind may do in a span of time, how many claims it may hold for each motivation, and when its circuit breaker opens.
#   The numbers are data (`policies/data/budgets.json`). The gateway counts; it asks when the policies change, not for each call.
package sentinel.budgets

import data.data.budgets

# METADATA
# title: The complete result about the budgets of a kind of actor
# entrypoint: true
result := {
	"evaluated": evaluated,
	"mutations": budgets.mutations[input.kind],
	"mutations_by_motivation": object.get(budgets.mutations_by_motivation, input.kind, {}),
	"added_per_day": object.get(budgets.added_per_day, input.kind, {}),
	"sizes": budgets.sizes,
	"claims_by_motivation": object.get(budgets.claims_by_motivation, input.kind, {}),
	"breaker": budgets.breaker[input.kind],
}

# A size that nothing measures would be a budget that nobody ever uses.
evaluated if {
	every kind in object.keys(budgets.added_per_day) {
		every size in object.keys(budgets.added_per_day[kind]) {
			budgets.sizes[size]
		}
	}
}
