# METADATA
# title: Guardrails
# description: |
#   Joins the findings of every package below `sentinel.rules`. `evaluated` names the packages that were asked: the
#   gateway compares it with those in the bundle and refuses the change when one is missing.
package sentinel.guardrails

# METADATA
# title: All guardrails together
# entrypoint: true
result := {"evaluated": evaluated, "findings": findings}

evaluated[name] := answer if answer := data.sentinel.rules[name].evaluated

findings contains finding if some finding in data.sentinel.rules[_].findings
