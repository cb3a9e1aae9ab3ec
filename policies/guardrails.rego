# METADATA
# title: Guardrails
# description: |
#   Joins the findings of every package below `sentinel.rules`. `evaluated` contains the evaluated packages: the gateway
#   compares it with the packages in the bundle and refuses the change if one is missing.
package sentinel.guardrails

# METADATA
# title: All guardrails together
# entrypoint: true
result := {"evaluated": evaluated, "findings": findings}

evaluated[name] := answer if answer := data.sentinel.rules[name].evaluated

findings contains finding if some finding in data.sentinel.rules[_].findings
