# A package such as `sentinel policy new approver` drafts, which demands what its test says.
package sentinel.approver_rules.yours_test

roles contains demanded if some demanded in input.demands.roles

people contains demanded if some demanded in input.demands.people
