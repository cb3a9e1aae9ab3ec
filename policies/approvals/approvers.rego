# METADATA
# title: Who may approve a held change
# description: |
#   Says for a change that is held which roles may approve it, how many people must, and how long their approval may last. The numbers and
#   roles are data (`policies/data/approvals.json`). The input is that of the guardrails, with the rules that hold the change in `held`.
#   Packages below `sentinel.approver_rules` may demand more: roles (a set of lists) and people (a set of numbers); never less.
package sentinel.approvers

import data.data.approvals
import data.data.data_loss

# METADATA
# title: The complete result about who may approve
# entrypoint: true
result := {
	"evaluated": evaluated,
	"roles": roles,
	"people": people,
	"longest_seconds": longest_seconds,
	"rejected_seconds": approvals.rejected_seconds,
	"reason": reason,
}

evaluated if {
	is_number(people)
	every demanded in demanded_people {
		is_number(demanded)
	}
	every demanded in demanded_roles {
		is_array(demanded)
		count(demanded) > 0
	}
	is_number(longest_seconds)
	every effect in input.mutation.effects {
		count(roles_of(effect)) > 0
	}
}

# Lists of roles. Who approves has one role of each list: a change of two owners' resources needs somebody who may approve both.
roles contains roles_of(effect) if some effect in input.mutation.effects

roles contains roles_of({}) if count(input.mutation.effects) == 0

# The roles for one effect: those of its type, else of its contract's owner, else of the stack, else the usual ones.
roles_of(effect) := named if {
	named := approvals.roles_by_type[effect.resource_type]
} else := named if {
	named := approvals.roles_by_owner[effect.contract.owner]
} else := named if {
	named := approvals.roles_by_stack[input.stack]
} else := approvals.roles

roles contains demanded if some demanded in demanded_roles

demanded_roles contains demanded if some demanded in data.sentinel.approver_rules[_].roles

demanded_people contains demanded if some demanded in data.sentinel.approver_rules[_].people

people := max({usual_people} | demanded_people)

usual_people := approvals.people_for_stores if stores_changed

usual_people := approvals.people if not stores_changed

longest_seconds := approvals.longest_seconds_for_stores if stores_changed

longest_seconds := approvals.longest_seconds if not stores_changed

stores := {type | some type in data_loss.stores}

changed_stores := {effect.address |
	some effect in input.mutation.effects
	effect.changes
	stores[effect.resource_type]
}

stores_changed if count(changed_stores) > 0

reason := sprintf("%s holds data, so %v people must approve.", [min(changed_stores), people]) if {
	stores_changed
	people > 1
} else := sprintf("%v people must approve.", [people]) if {
	people > 1
} else := "One person must approve."
