"""The tools for agents, by the Model Context Protocol: the same line, the same readers and the same rules as the JSON API."""
