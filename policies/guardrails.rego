# METADATA
# title: Guardrails
# description: |
#   Joins the findings of every package below `sentinel.rules`. `evaluated` contains the packages whose findings could be
#   evaluated: the gateway compares it with the packages in the bundle and refuses the change if one is missing.
package sentinel.guardrails

# METADATA
# title: All guardrails together
# entrypoint: true
result := {"evaluated": evaluated, "findings": findings}

evaluated[name] := true if is_set(data.sentinel.rules[name].findings)

findings contains finding if some finding in data.sentinel.rules[_].findings
