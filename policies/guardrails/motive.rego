# METADATA
# title: Motive
# description: Whoever changes infrastructure on its own says why.
package sentinel.rules.motive

evaluated := true

# METADATA
# title: An agent states its motive
# custom:
#   id: SEN-M001
#   severity: medium
findings contains {
	"id": "SEN-M001",
	"verdict": "deny",
	"message": concat(" ", [
		"An agent must say why it changes something, and this call says nothing.",
		"Send the signed headers x-sentinel-intent and x-sentinel-motivation (in the JSON API: the field motive),",
		"or start the agent with `sentinel session --intent availability --motivation incident -- COMMAND`.",
	]),
	"address": "",
	"attribute": "",
} if {
	input.caller.kind == "agent"
	input.motive == null
}
