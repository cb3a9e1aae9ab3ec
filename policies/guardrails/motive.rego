# METADATA
# title: Motive
# description: An agent must state why it changes infrastructure.
package sentinel.rules.motive

import data.data.data_plane as config

# METADATA
# title: An agent states its motive
# description: Not to read data, such as the messages of a queue; other guardrails and contracts say who may.
# custom:
#   id: SEN-M001
#   severity: medium
findings contains {
	"id": "SEN-M001",
	"verdict": "deny",
	"message": concat(" ", [
		"An agent must state its motive, and this call has none.",
		"Send the signed headers x-sentinel-intent and x-sentinel-motivation (in the JSON API: the field motive),",
		"or start the agent with `sentinel session --intent availability --motivation incident -- COMMAND`.",
	]),
	"address": "",
	"attribute": "",
} if {
	input.caller.kind == "agent"
	input.motive == null
	not reads_data
}

reads_data if {
	input.mutation.class == "data"
	concat(":", [input.mutation.service, input.mutation.operation]) in config.reading
}

# These rules judge no attribute (see guardrails.rego).
concerned := set()
